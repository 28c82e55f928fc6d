"""Editing the picture's ingredients in place: counts, how many people, how many such questions share the budget."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace

import numpy as np
import streamlit as st

from dashboard import session, words
from dashboard.data.source import Source
from dashboard.questions.selection.options import Options
from dashboard.widgets import scenarios
from dashboard.widgets.tradeoff import View, needed_epsilon
from dpcore.validate import FloatArray

EDITABLE = 12
FACTORS = (0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Case:
    """The options as the person has edited them."""

    names: tuple[str, ...]
    scores: FloatArray
    counted: bool
    sensitivity: float
    unit: str
    flipped: bool
    questions: int = 1
    identity: tuple[Hashable, ...] = ("as it was",)
    changed: bool = False

    @classmethod
    def of(cls, chosen: Options) -> Case:
        return cls(
            names=chosen.names,
            scores=chosen.scores,
            counted=chosen.counted,
            sensitivity=chosen.sensitivity,
            unit=chosen.unit,
            flipped=chosen.flipped,
        )

    @property
    def shown(self) -> FloatArray:
        return -self.scores if self.flipped else self.scores


def edited(source: Source, chosen: Options) -> Case:
    """The case as edited so far in this session; also when the controls are not on screen."""
    prefix = _prefix(source, chosen)
    before = chosen.shown
    values = before.copy()
    for index in _largest(chosen):
        value = session.get(f"{prefix}{index}", None)
        if value is not None and np.isfinite(value):
            values[index] = float(value)
    factor = float(session.get("what_if_factor", 1.0)) if chosen.counted else 1.0
    questions = int(session.get("what_if_questions", 1) or 1)
    if chosen.counted:
        values = np.maximum(values, 0.0) * factor
        if not values.sum() > 0:
            values = before.copy()
    changed = bool((values != before).any()) or questions != 1
    scores = -values if chosen.flipped else values
    identity = (questions, *scores.tolist()) if changed else ("as it was",)
    return replace(Case.of(chosen), scores=scores, questions=max(questions, 1), identity=identity, changed=changed)


def show(source: Source, chosen: Options, case: Case, view: View) -> None:
    """The controls, and the scenarios kept so far."""
    st.markdown("Change what the picture depends on. The chart above answers at once; the grey line is how it was.")
    prefix = _prefix(source, chosen)
    left, right = st.columns([2, 1], gap="medium")
    with left, st.grid(4, min_column_width=130):
        for index in _largest(chosen):
            st.number_input(
                words.visible(chosen.names[index], 30),
                value=float(chosen.shown[index]),
                min_value=0.0 if chosen.counted else None,
                step=1.0,
                format="%g",
                key=f"{prefix}{index}",
                persist_state="session",
            )
    with right:
        if chosen.counted:
            st.select_slider(
                f"{chosen.unit.capitalize()}: as many as now, times",
                FACTORS,
                value=1.0,
                key="what_if_factor",
                persist_state="session",
                format_func=lambda factor: f"×{factor:g}",
            )
        st.number_input(
            "How many such questions share this ε",
            min_value=1,
            max_value=1000,
            value=1,
            key="what_if_questions",
            persist_state="session",
            help="Several questions about the same people share one budget, so each gets a smaller part of ε.",
        )
        keys = [f"{prefix}{index}" for index in _largest(chosen)]
        st.button(
            "Back to the data as they are",
            icon=":material/undo:",
            disabled=not case.changed,
            on_click=session.forget,
            args=(*keys, "what_if_factor", "what_if_questions"),
        )
    if len(chosen.names) > EDITABLE:
        st.caption(f"The {EDITABLE} largest of {len(chosen.names):,} options can be edited here.")
    least = needed_epsilon(view)
    scenarios.show(
        view.page,
        {
            "ε": words.number(view.epsilon),
            view.size_word: words.whole(view.problem.n),
            "questions": str(case.questions),
            view.scale.title: _value(view),
            "ε needed": "none" if least is None else words.number(least),
        },
        view.mark,
    )


def _value(view: View) -> str:
    at = np.array([view.epsilon]), np.array([float(view.problem.n)])
    return words.number(float(view.problem.evaluate(view.main, view.metric, *at).value[0]) * view.scale.factor)


def _prefix(source: Source, chosen: Options) -> str:
    return f"edit-{source.key}-{chosen.column}-"


def _largest(chosen: Options) -> list[int]:
    return sorted(np.argsort(-chosen.scores, kind="stable")[:EDITABLE].tolist())
