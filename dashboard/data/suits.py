"""Which questions some data suit, and one click to each."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any

import streamlit as st

from dashboard import catalogue, session, words
from dashboard.catalogue import Page
from dashboard.question import Way
from dpcore.datasets import Schema


@dataclass(frozen=True, slots=True, kw_only=True)
class Suited:
    """One way of asking, on its page."""

    page: Page
    way: Way


def button(label: str, page: Page, sets: Mapping[str, Hashable], data: str, **look: Any) -> None:
    """A button that opens a page with these data and these choices made; ``look`` is the rest of ``st.button``."""
    if st.button(label, on_click=_choose, args=(sets, data), **look):
        st.switch_page(catalogue.address(page.key))


def _choose(sets: Mapping[str, Hashable], data: str) -> None:
    session.change("data", data)
    for key, value in sets.items():
        session.change(key, value)


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


def show_suited(schema: Schema, data: str, source_key: str | None, *, key: str) -> None:
    """The questions these columns suit, by page; they open once the data are in use, as ``source_key`` says."""
    named = [column.name for column in schema.columns if column.type != "text"]
    name = None
    if len(named) > 1:
        place = st.selectbox(
            "Ask about",
            range(len(named) + 1),
            key=f"{key}-about",
            format_func=lambda one: "any column" if one == 0 else words.visible(named[one - 1]),
        )
        name = named[place - 1] if 0 < place <= len(named) else None
    found = questions(schema, name)
    if not found:
        st.caption("No question suits these columns yet. Give one the type options, number, yes or no, or date.")
    for page in catalogue.pages():
        here = [suited for suited in found if suited.page == page]
        if here:
            with st.container(gap="xsmall"):
                st.markdown(f"{page.icon} **{page.title}**")
                for place, suited in enumerate(here):
                    _ask(suited, data, source_key, f"{key}-{page.key}-{place}")


def _ask(suited: Suited, data: str, source_key: str | None, key: str) -> None:
    lacking = words.safe(suited.way.lacking, 200) or None
    button(
        f"{words.safe(suited.way.sentence.rstrip('.?'), 120)}?",
        suited.page,
        suited.way.sets,
        data,
        key=key,
        type="tertiary",
        icon=":material/arrow_forward:",
        disabled=source_key is None,
        help="Decide first how the data may be used." if source_key is None else lacking,
    )
