"""Which of the four questions some data suit, and the way there with the columns already chosen."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import streamlit as st

from dashboard import session, words
from dpcore.datasets import QUESTIONS, Question, Schema, Suited, questions_for

_PAGES = Path(__file__).parents[2] / "app_pages"
TITLES: dict[Question, tuple[str, str]] = {
    "selection": ("Selection", ":material/how_to_vote:"),
    "thresholding": ("Thresholding", ":material/notifications_active:"),
    "experts": ("Online experts", ":material/groups:"),
    "training": ("Private training", ":material/model_training:"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """One control of a page set in advance: its key, the value, and how the value is written in the link."""

    key: str
    value: str
    label: str


def _choice(key: str, value: str) -> Choice:
    return Choice(key=key, value=value, label=words.visible(value))


def _first(suited: Suited, role: str) -> str | None:
    return next(iter(suited.choices(role)), None)


def _selection(kind: str, role: str, key: str) -> Callable[[Suited], list[Choice]]:
    def choices(suited: Suited) -> list[Choice]:
        name = _first(suited, role)
        return [_choice("question", kind), *([] if name is None else [_choice(key, name)])]

    return choices


# The controls that each page's form of a question has for its columns.
_CHOICES: Mapping[tuple[Question, str], Callable[[Suited], list[Choice]]] = {
    ("selection", "most_common"): _selection("Most common or best", "column", "column"),
    ("selection", "scores"): _selection("Most common or best", "score", "column"),
    ("selection", "quantile"): _selection("Median or quantile", "column", "quantile_column"),
    ("selection", "rule"): _selection("Best simple rule", "label", "rule_target"),
}


def built(question: Question) -> bool:
    return (_PAGES / f"{question}.py").exists()


def button(label: str, question: Question, choices: list[Choice], data: str, **look: Any) -> None:
    """A button that opens a page with these data and these choices made; ``look`` is the rest of ``st.button``."""
    if st.button(label, on_click=_choose, args=(choices, data), **look):
        st.switch_page(f"app_pages/{question}.py", query_params={choice.key: choice.label for choice in choices})


def _choose(choices: list[Choice], data: str) -> None:
    session.put("data", data)
    for choice in choices:
        session.put(choice.key, choice.value)


def about(schema: Schema, name: str | None) -> Schema:
    """The schema with one column first, so that questions are about it where they can be."""
    if name is None or name not in schema.names:
        return schema
    rest = [column for column in schema.columns if column.name != name]
    return replace(schema, columns=(schema.column(name), *rest))


def show(schema: Schema, data: str, *, ready: bool, key: str) -> None:
    """The questions these columns suit, by page; each goes there when the data are ``ready`` to be used."""
    named = [column.name for column in schema.columns if column.type != "text"]
    name = None
    if len(named) > 1:
        place = st.selectbox(
            "Ask about",
            range(len(named) + 1),
            key=f"{key}-about",
            format_func=lambda one: "any column" if one == 0 else words.visible(named[one - 1]),
        )
        name = named[place - 1] if place else None
    found = tuple(suited for suited in questions_for(about(schema, name)) if _possible(suited, schema))
    if name is not None:
        found = tuple(suited for suited in found if name in [names[0] for _, names in suited.columns if names])
    if not found:
        st.caption(
            "No question suits these columns yet. Give some column the type options, number, yes or no, or date."
        )
    for question in QUESTIONS:
        here = [suited for suited in found if suited.question == question and built(question)]
        if not here:
            continue
        title, icon = TITLES[question]
        with st.container(gap="xsmall"):
            st.markdown(f"{icon} **{title}**")
            for place, suited in enumerate(here):
                button(
                    f"{words.safe(suited.sentence.rstrip('.'), 120)}?",
                    question,
                    route(suited),
                    data,
                    key=f"{key}-{question}-{place}",
                    type="tertiary",
                    icon=":material/arrow_forward:",
                    disabled=not ready,
                    help=words.safe(suited.lacking, 200) or None if ready else "Decide first how the data may be used.",
                )


def _possible(suited: Suited, schema: Schema) -> bool:
    """A rule predicts one of two answers; whether a column of options has two is known once they are declared."""
    if suited.kind != "rule":
        return True
    label = schema.column(suited.choices("label")[0])
    return label.type == "yes/no" or len(label.categories) in (0, 2)


def route(suited: Suited) -> list[Choice]:
    """The controls to set for one question; none where its page chooses by itself."""
    choose = _CHOICES.get((suited.question, suited.kind))
    return [] if choose is None else choose(suited)
