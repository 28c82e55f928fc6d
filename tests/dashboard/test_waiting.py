"""Work beside the page is drawn by what is there when it is drawn, whenever it ends."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from dashboard.data import upload
from dashboard.widgets import waiting
from dashboard.widgets.waiting import Running


class Late:
    """A job that ends just after somebody asked for what is there."""

    error, crowded, crowded_out, cancelled, finished = None, False, False, False, False
    complete, done, total = True, 1, 1

    def __init__(self) -> None:
        self.asked = 0

    def results(self) -> list[Any]:
        self.asked += 1
        return ["found"] if self.asked > 1 else []


def drawn_late() -> None:
    import streamlit as st

    from dashboard.widgets.waiting import in_background

    in_background(
        "place",
        "key",
        len,
        list,
        lambda results: st.text(results[0]),
        what="Writing",
        own=False,
        nothing_yet=lambda: st.text("nothing yet"),
    )


def test_what_ends_while_it_is_asked_for_is_drawn_whole_or_not_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    """One report of 240 was drawn by what had been there before it was known to be ready: nothing."""
    late = Late()

    def begin(slot: str, key: str, *_: Any, what: str, **__: Any) -> Running:
        jobs: Any = None
        job: Any = late
        return Running(slot=slot, key=key, job=job, jobs=jobs, what=what)

    monkeypatch.setattr(waiting, "begin", begin)
    app = AppTest.from_function(drawn_late).run()
    assert not app.exception
    assert [one.value for one in app.text] == ["nothing yet"]
    app.run()
    assert [one.value for one in app.text] == ["found"]


class Again(Exception):
    """The whole page is asked for."""


@pytest.mark.parametrize("part", ["results", "a file that is read"])
def test_a_part_that_draws_itself_ends_with_the_login(part: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A chart that filled in went on to show a file to who had logged out in another tab."""
    drawn: list[str] = []
    out = [False]

    def rerun() -> None:
        raise Again

    for module in (waiting, upload):
        monkeypatch.setattr(module.st, "fragment", lambda run_every: lambda part: part)
        monkeypatch.setattr(module.st, "rerun", rerun)
        monkeypatch.setattr(module.login, "needed", lambda: out[0])
    monkeypatch.setattr(upload.st, "progress", lambda *_, **__: drawn.append("progress"))
    job: Any = Late()
    running = Running(slot="place", key="key", job=job, jobs=job, what="Adding")
    task: Any = SimpleNamespace(title="Reading", words="Rows", fraction=0.5, finished=False, cancel=lambda: None)

    def go() -> None:
        if part == "results":
            running.live(lambda: drawn.append("results"))
        else:
            upload.progress(task, lambda: False)

    go()
    assert len(drawn) == 1
    out[0] = True
    with pytest.raises(Again):
        go()
    assert len(drawn) == 1


WAITS_FOR_A_WHOLE = """
import operator
from threading import Thread

import streamlit as st

from dashboard.background import compute
from dashboard.widgets.waiting import begin

told = []


def common():
    other = Thread(target=compute.shelf().runs, args=("another's",), daemon=True)
    other.start()
    other.join(5)
    told.append("waited" if other.is_alive() else "did not wait")
    return 1


if __name__ == "__main__":
    job = begin("place", "a whole", operator.add, common, lambda: [2], what="Adding", own=False).job
    job.wait(30, bool)
    st.text(f"{job.results()} {told}")
"""


def test_nobody_waits_for_what_anothers_slices_need() -> None:
    """It was worked out while the shelf that all share was locked: a second for everybody."""
    app = AppTest.from_string(WAITS_FOR_A_WHOLE, default_timeout=60).run()
    assert not app.exception
    assert [one.value for one in app.text] == ["[3] ['did not wait']"]
