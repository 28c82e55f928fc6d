"""Work in the background on a page: progress, what is there so far, cancel, and the finished picture."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

import streamlit as st

from dashboard import compute, session
from dashboard.jobs import Job, Jobs

POLL = 0.6  # seconds


def in_background(
    slot: str,
    key: Hashable,
    work: Callable[[Any], Any],
    parts: Callable[[], Sequence[Any]],
    draw: Callable[[list[Any], bool], None],
    *,
    what: str,
) -> None:
    """Run ``work`` over ``parts()`` in worker processes and draw what is there.

    ``draw(results, finished)`` draws the results so far, at least one. While work goes on the place redraws itself;
    the rest of the page, and other people, are not held up. ``key`` names the data and every parameter.
    """
    jobs: Jobs = session.remember("_jobs", Jobs)
    job = jobs.get(slot, key, lambda: Job(compute.pool(), work, parts()))
    if job.finished:
        _show(slot, key, job, jobs, draw, what)
        return

    @st.fragment(run_every=POLL)
    def poll() -> None:
        if job.finished:
            st.rerun()
        _show(slot, key, job, jobs, draw, what)

    poll()


def _show(slot: str, key: Hashable, job: Job, jobs: Jobs, draw: Callable[[list[Any], bool], None], what: str) -> None:
    if job.error is not None:
        st.error("This could not be computed: a worker stopped. Try again; if it happens again, use fewer rows.")
        st.button("Try again", key=f"{slot}-again", on_click=jobs.forget, args=(key,))
        return
    if not job.complete:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.progress(job.done / max(job.total, 1), text=f"{what}: {job.done} of {job.total} parts")
            if job.cancelled:
                st.button("Go on", key=f"{slot}-resume", on_click=jobs.forget, args=(key,))
            else:
                st.button("Cancel", key=f"{slot}-cancel-job", on_click=job.cancel, icon=":material/close:")
    results = job.results()
    if results:
        draw(results, job.complete)
    elif not job.cancelled:
        st.skeleton(height=320)
