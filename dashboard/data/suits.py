"""Which of the four questions some data suit, and one click to each."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import streamlit as st

from dashboard import session, words
from dashboard.data.routes import Choice, possible, route
from dpcore.datasets import QUESTIONS, Question, Schema, Suited, questions_for

_PAGES = Path(__file__).parents[1] / "app_pages"
TITLES: dict[Question, tuple[str, str]] = {
    "selection": ("Selection", ":material/how_to_vote:"),
    "thresholding": ("Thresholding", ":material/notifications_active:"),
    "experts": ("Online experts", ":material/groups:"),
    "training": ("Private training", ":material/model_training:"),
}


def built(question: Question) -> bool:
    return (_PAGES / f"{question}.py").exists()


def button(label: str, question: Question, choices: list[Choice], data: str, **look: Any) -> None:
    """A button that opens a page with these data and these choices made; ``look`` is the rest of ``st.button``."""
    if st.button(label, on_click=_choose, args=(choices, data), **look):
        linked = {choice.key: choice.label for choice in choices if choice.label is not None}
        st.switch_page(f"app_pages/{question}.py", query_params=linked)


def _choose(choices: list[Choice], data: str) -> None:
    session.put("data", data)
    for choice in choices:
        session.put(choice.key, choice.value)


def questions(schema: Schema, name: str | None = None) -> list[Suited]:
    """What can be asked, by page; with ``name``, only what can be asked about that column."""
    if name is None:
        return [suited for suited in questions_for(schema) if possible(suited, schema)]
    rest = [column for column in schema.columns if column.name != name]
    about = replace(schema, columns=(schema.column(name), *rest))
    return [
        suited
        for suited in questions_for(about)
        if possible(suited, about) and name in [names[0] for _, names in suited.columns if names]
    ]


def show(schema: Schema, data: str, source_key: str | None, *, key: str) -> None:
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
    for question in QUESTIONS:
        here = [suited for suited in found if suited.question == question and built(question)]
        if here:
            title, icon = TITLES[question]
            with st.container(gap="xsmall"):
                st.markdown(f"{icon} **{title}**")
                for place, suited in enumerate(here):
                    _ask(suited, data, source_key, f"{key}-{question}-{place}")


def _ask(suited: Suited, data: str, source_key: str | None, key: str) -> None:
    lacking = words.safe(suited.lacking, 200) or None
    button(
        f"{words.safe(suited.sentence.rstrip('.'), 120)}?",
        suited.question,
        route(suited, source_key or data),
        data,
        key=key,
        type="tertiary",
        icon=":material/arrow_forward:",
        disabled=source_key is None,
        help="Decide first how the data may be used." if source_key is None else lacking,
    )
