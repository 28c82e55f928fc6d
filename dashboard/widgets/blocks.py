"""Draws what a question's tabs are made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from dashboard import blocks, session, traces
from dashboard.blocks import Block
from dashboard.case import Source
from dashboard.catalogue import address
from dashboard.charts.theme import Figure
from dashboard.controls import Control, Numbers
from dashboard.replay import Same, kept, unchanging
from dashboard.scenes.held import PICTURE_HEIGHT
from dashboard.widgets import controls, handles, onward, scenarios
from dashboard.widgets.download import download
from dashboard.widgets.picture import picture
from dashboard.widgets.waiting import in_background
from dashboard.words import number
from dpcore.datasets.text import safe_cells


@dataclass(frozen=True, slots=True, kw_only=True)
class Around:
    """The page that blocks are drawn on: its key, the mark it puts on charts, and the data in use."""

    page: str
    mark: str | None
    source: Source
    question: object = None
    """What they are about, for what is found out about it."""

    @property
    def own(self) -> bool:
        """Whether these data are a person's own."""
        return not self.source.public


def draw_all(parts: Sequence[Block], around: Around) -> None:
    """Blocks one below the other."""
    for part in parts:
        draw(part, around)


def draw(part: Block, around: Around) -> None:
    """One block, by its kind. Raises TypeError for a kind that has no drawing."""
    match part:
        case blocks.Text():
            st.markdown(part.markdown)
        case blocks.Small():
            st.caption(part.markdown)
        case blocks.Note():
            (st.warning if part.warning else st.info)(part.markdown)
            onward.way(part.markdown)
        case blocks.Picture():
            chart(part, around.mark)
        case blocks.Formula():
            with st.expander("The formula and its source"):
                if part.latex:
                    st.latex(part.latex)
                st.caption(part.source)
        case blocks.Rows():
            st.dataframe(
                kept(("cells", Same(part.frame)), lambda: unchanging(safe_cells(part.frame)), large=True),
                hide_index=True,
                alt=part.alt,
            )
        case blocks.Ask():
            _ask(part)
        case blocks.Undo():
            keys = [key for control in part.controls for key in _keys(control)]
            st.button(
                part.label,
                icon=":material/undo:",
                disabled=not part.enabled,
                on_click=session.unset,
                args=keys,
            )
        case blocks.Go():
            st.page_link(address(part.page), label=part.label, icon=":material/arrow_forward:")
        case blocks.Keep():
            scenarios.show_scenarios(around.page, part.current, around.mark, linked=not around.own)
        case blocks.Download():
            download(part.label, part.data, part.name, part.mime)
        case blocks.Slow():
            _slow(part, around)
        case _:
            raise TypeError(f"no widget draws a {type(part).__name__}")


def chart(found: blocks.Picture, mark: str | None) -> Figure:
    """A picture with its note; where it can be clicked, a click sets the control. Returns what was drawn."""
    click, dark = found.click, session.dark()
    figure = kept(("figure", Same(found), dark), lambda: found.figure(dark), large=True)
    picture(
        figure,
        key=found.key,
        alt=found.alt,
        data=found.data,
        code=found.code,
        mark=mark,
        at=f"ε = {number(session.epsilon())}",
        on_select=None if click is None else lambda: session.clicked(found.key, click.values, click.key),
    )
    if found.drag is not None:
        handles.attach(found.key, found.drag)
    if found.note and PICTURE_HEIGHT.get() is None:  # small print is not for the back of a room
        st.caption(found.note)
    return figure


def _ask(part: blocks.Ask) -> None:
    if len(part.controls) == 1:
        controls.draw(part.controls[0])
        return
    with st.grid(min(len(part.controls), 3), min_column_width=220):
        for control in part.controls:
            with st.container():
                controls.draw(control)


def _keys(control: Control[Any]) -> list[str]:
    parts = [f"{control.key}.{place}" for place in range(len(control.names))] if isinstance(control, Numbers) else []
    return [control.key, *parts]


def _slow(part: blocks.Slow, around: Around) -> None:
    in_background(
        part.slot,
        part.key,
        part.work,
        part.common,
        lambda results: draw_all(
            traces.followed(
                around.question,
                ("shown", Same(part), *map(Same, results)),
                lambda: part.show(part.put(results)),
                around.source,
            ),
            around,
        ),
        what=part.what,
        own=around.own,
        parts=part.parts,
        far=True,
        nothing_yet=lambda: _keep(part.height),
    )


def _keep(height: int) -> None:
    """An empty place of the height of what will come."""
    st.skeleton(height=height)
