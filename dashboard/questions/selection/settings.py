"""Options that the three questions share."""

from __future__ import annotations

import streamlit as st

from dashboard import words
from dpcore.validate import Neighbours

BAND = (
    "Shaded: range of what you might see if as many other people of the same kind had come. "
    "That is sampling error, apart from the privacy noise, which the line itself holds."
)


def neighbours_control(key: str) -> Neighbours:
    """Who is hidden: the neighbour relation, in words."""
    relation = st.segmented_control(
        "Who is hidden: two data sets count as neighbours when they differ by",
        ["add_remove", "replace_one"],
        default="replace_one",
        required=True,
        key=key,
        bind="query-params",
        format_func=words.one_person,
        help="With one person added or removed, counts can only move one way, which often allows half the noise.",
    )
    return "add_remove" if relation == "add_remove" else "replace_one"


def sampling_control() -> bool:
    return st.toggle(
        "Show what other people of the same kind would have given (sampling error)",
        key="sampling",
        bind="query-params",
        help="A second error besides the noise: your people are themselves a draw. Shaded: 80 in 100 draws.",
    )
