"""A question made for tests, and a page with nothing but the release panel: run in process by AppTest."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import streamlit as st

from dashboard import session
from dashboard.data import source
from dashboard.question import Offer
from dashboard.widgets.release import release_panel
from dpcore.costs import Cost

CANARY = "canary-4711"
DRAWN = itertools.count(1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Draw:
    """Every answer is another number, so that a second draw cannot hide. ``breaks`` says where it fails."""

    key: ClassVar[str] = "test_draw"
    mechanism: ClassVar[str] = "A counter"
    neighbours: ClassVar[str] = "replace_one"

    epsilon: float
    delta: float = 0.0
    subject: str = "the *north* clinic"
    breaks: str = ""

    @property
    def what(self) -> str:
        return f"Which number is next for {self.subject}?"

    @property
    def cost(self) -> Cost:
        return Cost(epsilon=self.epsilon, rho=self.epsilon**2 / 2 if self.delta == 0.0 else None, delta=self.delta)

    def answer(self, data: Any) -> Any:
        if self.breaks == "answer":
            raise ValueError(f"{CANARY} {data}")
        return {"number": next(DRAWN)}


def page(lineage: str | None, epsilon: float, delta: float, breaks: str) -> None:
    """The panel about the clinic's people, or about others of the person's own when ``lineage`` is given."""
    session.begin()
    shown = source.current()
    if shown is None:
        return
    if lineage is not None:
        shown = replace(shown, lineage=lineage, practice=False, mode="what_if", title="own.csv")

    def data() -> list[str]:
        if breaks == "data":
            raise ValueError(CANARY)
        return ["row"]

    request = Draw(epsilon=session.entered("asked", epsilon), delta=delta, breaks=breaks)
    offer = Offer(
        request=request,
        data=data,
        forecast="not at all",
        describe=lambda answer: f"Number {answer['number']}",
        gives="one number",
    )
    release_panel(shown, offer, slot="test")
    st.number_input("asked", value=epsilon, key="asked")
