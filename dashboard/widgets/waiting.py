"""Work in the background on a page: progress, what is there so far, cancel, and the finished picture."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any

import streamlit as st

from dashboard import limits, machine_memory, words
from dashboard.background import compute, lent
from dashboard.background.cluster import Cluster
from dashboard.background.held import JOBS, OWN_SHELF
from dashboard.background.in_turn import Lane
from dashboard.background.jobs import Job, Keep
from dashboard.background.lending import lend
from dashboard.background.lent import Share
from dashboard.background.shelf import Jobs, Over, Watch
from dashboard.people import login, visitors
from dashboard.question import CannotAsk
from dashboard.words import page as said
from dpcore.errors import NoRoom

POLL = 0.4  # seconds
PATIENCE = 0.2  # seconds: an answer that comes so soon is drawn at once, without a picture in between


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Running:
    """A job of this session in its place on the page. ``what`` says what is being computed, "Training models"."""

    slot: str
    key: Hashable
    job: Watch | Over
    jobs: Jobs
    what: str
    far: bool = False

    def live(self, draw: Callable[[], None]) -> None:
        """Draw the results so far, again and again while work goes on; the rest of the page is not held up.

        ``draw`` asks for them itself, once it knows that there are some: more may come at any moment. Several places
        of a page may show the same work. Widgets within ``draw`` belong to it alone.
        """
        if self.job.finished:
            with st.container():  # where a fragment would be, so that what it drew is replaced and not pushed down
                draw()
            return

        @st.fragment(run_every=POLL)
        def poll() -> None:
            if self.job.finished or login.needed():  # who logged out meanwhile sees no more of it
                st.rerun()
            draw()

        poll()

    def progress(self, nothing_yet: Callable[[], None]) -> bool:
        """How far it is, with a button to cancel or go on, or what went wrong; whether there is something to draw.

        ``nothing_yet`` keeps the place where there is not.
        """
        job = self.job
        if isinstance(job.error, NoRoom | CannotAsk):
            st.info(words.reason(job.error))
            st.button(said.TRY_AGAIN, key=f"{self.slot}-again", on_click=self.jobs.forget, args=(self.key,))
            return False
        if job.error is not None:
            st.error("This could not be computed: a worker stopped. Try again; if it happens again, use fewer rows.")
            st.button(said.TRY_AGAIN, key=f"{self.slot}-again", on_click=self.jobs.forget, args=(self.key,))
            return False
        if not job.complete:
            with st.container(horizontal=True, vertical_alignment="center"):
                told = "Stopped at" if job.cancelled else f"{self.what}:"
                st.progress(job.done / max(job.total, 1), text=f"{told} {job.done} of {job.total} parts")
                if job.cancelled:
                    st.button("Go on", key=f"{self.slot}-resume", on_click=self.jobs.forget, args=(self.key,))
                else:
                    st.button("Cancel", key=f"{self.slot}-cancel-job", on_click=job.cancel, icon=":material/close:")
            if self.far and not job.finished and compute.cluster_is_away():
                st.caption(said.CLUSTER_AWAY)
        if job.crowded:
            st.caption(said.crowded(limits.limits().jobs))
        elif job.crowded_out:
            st.caption(said.CROWDED_OUT)
        if not job.results():
            if job.cancelled:
                st.caption("Nothing was finished before it was cancelled.")
            nothing_yet()
            return False
        return True


def begin(
    slot: str,
    key: Hashable,
    work: Callable[[Any, Any], Any],
    common: Callable[[], Any],
    parts: Callable[[], Sequence[Any]],
    *,
    what: str,
    own: bool,
    far: bool = False,
    enough: Callable[[list[Any]], bool] = bool,
) -> Running:
    """Run ``work(common(), part)`` for every one of ``parts()`` in worker processes, but what was found before.

    ``key`` names the data and every parameter; ``slot`` the place, which has one job at a time. Who asks the same
    shares the job and its results, unless the data are a person's ``own``: these stay in their session. What all
    slices need is lent to the workers as long as the job runs; to those of a cluster, where there is one, for
    simulations alone (``far``). What has just begun is given a moment to have
    ``enough`` results to draw.
    """
    jobs = JOBS.once()
    shelf = OWN_SHELF.once() if own else compute.shelf()
    pool = compute.pool()
    if isinstance(pool, Cluster) and not far:
        pool = pool.local
    whose = visitors.address()
    lane = pool.turns.of(whose, alone=visitors.alone())

    def prepared(known: Mapping[int, Any]) -> tuple[Sequence[Any], list[Any]]:
        """The parts, and in a list of one what their slices need where any is missing."""
        pieces = parts()
        return pieces, [common()] if len(known) < len(pieces) else []

    def first() -> Watch:
        # not while the shelf is locked, which may be everybody's
        ahead = None if shelf.runs(key) else prepared(shelf.known(key))

        def start(known: Mapping[int, Any], keep: Keep) -> Job:
            pieces, needed = ahead or prepared(known)
            if not needed and len(known) < len(pieces):  # some of it was let go of meanwhile
                pieces, needed = prepared(known)
            return _begun(pool, lane, work, pieces, needed, whose, known=known, keep=keep)

        watch = shelf.watch(key, start, lane)
        watch.wait(PATIENCE, enough)
        return watch

    try:
        job = jobs.get(slot, key, first, limits.limits().jobs)
    except (NoRoom, CannotAsk) as error:
        job = Over.refused(error)
    return Running(slot=slot, key=key, job=job, jobs=jobs, what=what, far=far)


def _begun(
    pool: Executor,
    lane: Lane,
    work: Callable[[Any, Any], Any],
    pieces: Sequence[Any],
    needed: Sequence[Any],
    whose: str,
    *,
    known: Mapping[int, Any],
    keep: Keep,
) -> Job:
    """A job that has the room of what it is lent until it ends. Raises NoRoom."""
    shares: list[Share] = []

    def take(size: int) -> None:
        if not machine_memory.has_room(size):
            raise NoRoom(said.NO_ROOM_TO_SIMULATE)
        shares.append(lent.LENT.take(size, whose))

    def give_back() -> None:
        for share in shares:
            lent.LENT.give_back(share)

    try:
        loan = lend(pool, needed[0] if needed else None, take)
    except BaseException:
        give_back()
        raise

    def ended() -> None:
        loan.close()
        give_back()

    job = Job(lane, loan.lent(work), pieces, known=known, keep=keep, ended=ended)
    for share in shares:
        share.of(job)
    return job


def in_background(
    slot: str,
    key: Hashable,
    work: Callable[[Any, Any], Any],
    common: Callable[[], Any],
    draw: Callable[[list[Any]], None],
    *,
    what: str,
    own: bool,
    nothing_yet: Callable[[], None],
    parts: Sequence[Any] = (None,),
    far: bool = False,
) -> None:
    """``begin``, and show it in one place; ``draw(results)`` draws what came of all ``parts``."""
    here = begin(slot, key, work, common, lambda: parts, what=what, own=own, far=far)

    def shown() -> None:
        if here.progress(nothing_yet):
            draw(here.job.results())

    here.live(shown)
