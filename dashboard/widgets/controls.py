"""Draws controls. What each is set to is read from the session, never from here."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import Any

import streamlit as st

from dashboard import session, words
from dashboard.controls import FEW, Choice, Control, Number, Numbers, Several, Switch
from dashboard.replay import Same
from dashboard.widgets.apart import apart

_WIDE = 26  # letters of all options that fit on buttons in a row of a card


def draw(control: Control[Any]) -> None:
    """One control, by its kind. Raises TypeError for a kind that has no drawing."""
    match control:
        case Choice():
            _choice(control)
        case Several():
            _several(control)
        case Number():
            _number(control)
        case Switch():
            st.toggle(control.label, key=session.ready(control), help=control.help)
        case Numbers():
            _numbers(control)
        case _:
            raise TypeError(f"no widget draws a {type(control).__name__}")


def now(controls: Iterable[Control[Any]]) -> tuple[Hashable, ...]:
    """Which controls these are and what they are set to, 1, 1.0 and True apart: all that their drawing hangs on."""
    values = ((control, session.value(control)) for control in controls)
    return tuple((Same(control), value, repr(value)) for control, value in values)


def draw_all(controls: Iterable[Control[Any]]) -> None:
    """Controls one below the other."""
    for control in controls:
        draw(control)


def _choice(control: Choice[Any]) -> None:
    look: Mapping[str, Any] = {
        "key": session.ready(control),
        "format_func": apart(control.options, control.name),
        "help": control.help,
        "label_visibility": "collapsed" if control.hide_label else "visible",
    }
    if control.look == "buttons":
        st.segmented_control(control.label, control.options, required=True, **look)
    elif control.look == "scale":
        st.select_slider(control.label, control.options, **look)
    else:
        st.selectbox(control.label, control.options, **look, width=control.width or "stretch")


def _several(control: Several) -> None:
    if len(control.options) > FEW:
        key = session.ready(control)
        st.multiselect(
            control.label,
            control.options,
            key=key,
            format_func=apart(control.options, control.names),
            help=control.help,
        )
        return
    st.pills(
        control.label,
        control.options,
        selection_mode="multi",
        key=session.ready(control),
        format_func=apart(control.options, lambda option: words.safe(control.names(option))),
        help=control.help,
    )


def _number(control: Number) -> None:
    limits: dict[str, Any] = {"min_value": control.low, "max_value": control.high}
    st.number_input(
        control.label,
        **{name: bound for name, bound in limits.items() if abs(bound) != float("inf")},
        step=control.step,
        format="%.0f" if control.whole else "%g",
        key=session.ready(control),
        help=control.help,
        label_visibility="collapsed" if control.hide_label else "visible",
        width=control.width or "stretch",
    )


def _numbers(control: Numbers) -> None:
    """A grid of numbers; each part has a widget of its own, and together they are the control's value."""
    found = session.value(control)
    with st.grid(4, min_column_width=130):
        for place, name in enumerate(words.shortened(control.names, 30)):
            key = f"{control.key}.{place}"
            session.seed(key, found[place])
            st.number_input(
                words.safe(name, len(name)),
                min_value=control.low,
                step=control.step,
                format="%g",
                key=key,
                on_change=session.part_changed,
                args=(control, place),
            )
