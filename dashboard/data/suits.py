"""Which questions some data suit, and one click to each."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any

import streamlit as st

from dashboard import catalogue, session, words
from dashboard.catalogue import Page
from dashboard.controls import slug
from dashboard.question import Way
from dashboard.widgets.apart import apart
from dashboard.words import asking as said
from dpcore.datasets import Schema


@dataclass(frozen=True, slots=True, kw_only=True)
class Suited:
    """One way of asking, on its page."""

    page: Page
    way: Way


def button(label: str, page: Page, sets: Mapping[str, Hashable], data: str, **look: Any) -> None:
    """A button that opens a page with these data and these choices made; ``look`` is the rest of ``st.button``."""
    if st.button(label, on_click=choose, args=(sets, data), **look):
        st.switch_page(catalogue.address(page.key))


def choose(sets: Mapping[str, Hashable], data: str) -> None:
    """Use these data, and make these choices; from a callback or before anything is drawn."""
    session.change("data", data)
    for key, value in sets.items():
        session.change(key, value)


def choices(way: Way, source_key: str) -> dict[str, Hashable]:
    """All that a way of asking sets, with what is set for the one table ``source_key`` alone."""
    return {**way.sets, **{slug(key, source_key): value for key, value in way.own.items()}}


def questions(schema: Schema, name: str | None = None) -> list[Suited]:
    """What can be asked, by page; with ``name``, only what can be asked about that column first of all.

    The column that says whose row it is tells people apart, so nothing is asked about it.
    """
    others = [column for column in schema.names if column != schema.id_column]
    if schema.id_column is not None:
        if not others or name == schema.id_column:
            return []
        schema = schema.only(*others)
    return [
        Suited(page=page, way=way)
        for page, kind in catalogue.every()
        for way in kind.ways(schema if name is None else schema.led_by(name))
        if name is None or (way.about and way.about[0] == name)
    ]


def best_first(found: list[Suited]) -> list[Suited]:
    """What can be asked, what suits best first, then in the order of the pages."""
    return sorted(found, key=lambda suited: suited.way.fit)


def about(schema: Schema, *, key: str) -> str | None:
    """Which column is to be asked about, where there are several; None for any."""
    names = [column.name for column in schema.columns if column.type != "text" and column.name != schema.id_column]
    if len(names) < 2:
        return None
    place = st.selectbox(
        said.ABOUT,
        range(len(names) + 1),
        key=f"{key}-about",
        format_func=apart(
            range(len(names) + 1), lambda one: said.ANY_COLUMN if one == 0 else words.visible(names[one - 1])
        ),
        width=330,
    )
    return names[place - 1] if 0 < place <= len(names) else None


def sentence(suited: Suited) -> str:
    """The question in words, for a label or a heading."""
    return f"{words.safe(suited.way.sentence.rstrip('.?'), 160)}?"
