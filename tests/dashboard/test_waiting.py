"""Work beside the page is drawn by what is there when it is drawn, whenever it ends."""

from __future__ import annotations

from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

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
