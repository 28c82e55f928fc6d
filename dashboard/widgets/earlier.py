"""The last picture of a place on a page, kept in grey while the answer to the next question is computed."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from dashboard import session
from dashboard.blocks import Picture
from dashboard.charts.earlier import faded
from dashboard.charts.theme import Figure
from dashboard.session import Slot
from dashboard.widgets.blocks import chart
from dashboard.widgets.picture import MARKED, picture


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A picture as it was drawn, and what it answered."""

    figure: Figure
    key: str
    alt: str
    mark: str | None
    about: str
    data: str | None


SHOWN_PICTURES: Slot[dict[str, Shown]] = Slot("_shown_pictures", dict, own=lambda shown: None)
"""The last picture of each place that fills in, kept in grey for the next question."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A place that shows one picture at a time. ``about`` says in Markdown what is asked there now.

    ``data`` names a person's own data and is None for a sample: a picture of one's own data is never shown to those
    who look at other data by then.
    """

    name: str
    about: str
    data: str | None

    def draw(self, found: Picture, mark: str | None) -> None:
        """Draw the answer and remember it."""
        shown = Shown(
            figure=chart(found, mark),
            key=found.key,
            alt=found.alt,
            mark=mark,
            about=self.about,
            data=self.data,
        )
        SHOWN_PICTURES.put({**SHOWN_PICTURES.get(), self.name: shown})

    def keep(self, mark: str | None, *, height: int) -> None:
        """Until there is an answer: the picture before, or a grey box of ``height`` where there was none."""
        before = SHOWN_PICTURES.get().get(self.name)
        if before is None or before.data != self.data:
            st.skeleton(height=height + MARKED * bool(mark))
            return
        figure = faded(before.figure, dark=session.dark())
        picture(figure, key=before.key, alt=f"The earlier question: {before.alt}", mark=before.mark)
        st.caption(f"In grey: {before.about}. The new picture takes its place when its first curves are there.")
