"""Work in the background on a page: progress, what is there so far, cancel, and the finished picture."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from dashboard import compute, session
from dashboard.jobs import Job, Jobs

POLL = 0.6  # seconds


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Work:
    """A job of this session in its place on the page. ``what`` says what is being computed, "Training models"."""

    slot: str
    key: Hashable
    job: Job
    jobs: Jobs
    what: str

    def live(self, draw: Callable[[list[Any]], None]) -> None:
        """Draw the results so far, again and again while work goes on; the rest of the page is not held up.

        Several places of a page may show the same work. Widgets within ``draw`` belong to it alone.
        """
        if self.job.finished:
            draw(self.job.results())
            return

        @st.fragment(run_every=POLL)
        def poll() -> None:
            if self.job.finished:
                st.rerun()
            draw(self.job.results())

        poll()

    def progress(self, *, height: int) -> bool:
        """How far it is, with a button to cancel or go on, or what went wrong; whether there is something to draw.

        Where there is nothing yet, a grey box of ``height`` keeps its place.
        """
        job = self.job
        if job.error is not None:
            st.error("This could not be computed: a worker stopped. Try again; if it happens again, use fewer rows.")
            st.button("Try again", key=f"{self.slot}-again", on_click=self.jobs.forget, args=(self.key,))
            return False
        if not job.complete:
            with st.container(horizontal=True, vertical_alignment="center"):
                told = "Stopped at" if job.cancelled else f"{self.what}:"
                st.progress(job.done / max(job.total, 1), text=f"{told} {job.done} of {job.total} parts")
                if job.cancelled:
                    st.button("Go on", key=f"{self.slot}-resume", on_click=self.jobs.forget, args=(self.key,))
                else:
                    st.button("Cancel", key=f"{self.slot}-cancel-job", on_click=job.cancel, icon=":material/close:")
        if not job.results():
            if job.cancelled:
                st.caption("Nothing was finished before it was cancelled.")
            else:
                st.skeleton(height=height)
            return False
        return True


def begin(
    slot: str, key: Hashable, work: Callable[[Any], Any], parts: Callable[[], Sequence[Any]], *, what: str
) -> Work:
    """Run ``work`` over ``parts()`` in worker processes, unless that is being done or was done, by anybody, before.

    ``key`` names the data and every parameter; ``slot`` the place, which has one job at a time.
    """
    jobs: Jobs = session.remember("_jobs", Jobs)
    done = compute.finished()

    def start() -> Job:
        found = done.get(key)
        if found is not None:
            return Job.known(compute.pool(), found)
        return Job(compute.pool(), work, parts(), keep=lambda results: done.keep(key, results))

    return Work(slot=slot, key=key, job=jobs.get(slot, key, start), jobs=jobs, what=what)


def in_background(
    slot: str,
    key: Hashable,
    work: Callable[[Any], Any],
    parts: Callable[[], Sequence[Any]],
    draw: Callable[[list[Any]], None],
    *,
    what: str,
    height: int = 320,
) -> None:
    """``begin`` and show it in one place; ``draw(results)`` draws the results so far, at least one."""
    here = begin(slot, key, work, parts, what=what)

    def shown(results: list[Any]) -> None:
        if here.progress(height=height):
            draw(results)

    here.live(shown)
