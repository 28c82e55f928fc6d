"""Inputs shared by the pages. Each checks nothing itself: what arrives is validated where it is used."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import streamlit as st

from dashboard import replay, session, words
from dashboard.charts.theme import plain
from dashboard.usual import SEED
from dashboard.view import EPSILON
from dashboard.widgets.apart import apart
from dashboard.words import glossary

SLIDER, _DOCKED, TYPED = "epsilon-slider", "epsilon-at-the-edge", "epsilon-typed"
"""What the keys of the three widgets of ε begin with, in the page's styles and scripts too."""

LONGEST_OPTIONS = 20_000
"""Characters of one column's options in a form of several things; one that needs more is declared by itself."""

FEW = 12  # options that are shown all at once


def text_box(label: str, *, key: str, most: int, lines: bool = False, value: str = "", **look: Any) -> str:
    """The one box for text on any page, never without a limit: what is sent for it is kept while the page is open.

    ``most`` characters, or as many as it begins with: nothing that was declared is cut. ``lines`` may be several.
    """
    draw = st.text_area if lines else st.text_input
    return str(draw(label, value, max_chars=max(most, len(value)), key=key, **look) or "")


def epsilon() -> None:
    """The privacy level: a log slider and a typed entry for one value, kept across pages and in the link."""
    slider, typed = session.epsilon_key(SLIDER), session.epsilon_key(TYPED)
    replay.part(("epsilon", slider, typed, session.epsilon()), partial(_epsilon, slider, typed), told=True)


def _epsilon(slider: str, typed: str) -> None:
    _slider(SLIDER, slider)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(glossary.LOSS, width="stretch")
        with replay.asking():
            st.number_input(
                EPSILON.label,
                value=session.epsilon(),
                step=EPSILON.step,
                format="%g",
                key=typed,
                on_change=session.epsilon_from,
                args=(TYPED, typed),
                label_visibility="collapsed",
                width=120,
            )


def epsilon_slider() -> None:
    """The log slider of the privacy level alone."""
    _slider(SLIDER, session.epsilon_key(SLIDER))


def docked_epsilon() -> None:
    """A second log slider of the privacy level, at the lower edge of a phone."""
    _slider(_DOCKED, session.epsilon_key(_DOCKED))


def _slider(name: str, key: str) -> None:
    with replay.asking():
        st.select_slider(
            "ε: more privacy ⟵ ⟶ more accuracy" if name == _DOCKED else "Privacy loss ε",
            options=session.epsilon_levels(),
            value=session.epsilon(),
            key=key,
            format_func=plain,
            on_change=session.epsilon_from,
            args=(name, key),
            help=None if name == _DOCKED else f"ε is {glossary.TERMS['ε']} Larger answers better.",
        )


def primary(label: str) -> str:
    """The label of a primary button that can be clicked.

    Streamlit writes it white in both appearances; no blue is dark enough for that and light enough for the dark
    appearance's own text. Leave the label of a disabled button as it is.
    """
    return f':color[{label}]{{foreground="#000000"}}' if session.dark() else label


def several(
    label: str, options: Sequence[str], *, default: Sequence[str], key: str, name: Callable[[str], str]
) -> list[str]:
    """Any of ``options``, each shown by ``name`` as plain text: all in sight while they are few, else in a list."""
    if len(options) > FEW:
        return st.multiselect(
            label,
            options,
            default=default,
            key=f"{key}-many",
            persist_state="session",
            format_func=apart(options, name),
        )
    chosen = st.pills(
        label,
        options,
        selection_mode="multi",
        default=default,
        key=key,
        persist_state="session",
        format_func=apart(options, lambda option: words.safe(name(option))),
    )
    return [option for option in options if option in chosen]


def current_seed() -> int:
    """The seed of everything simulated for pictures, as it is set on the pages of questions or in the link."""
    return int(session.ask(SEED))
