"""Sentences and cards about private models."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
import streamlit as st

from dashboard import words
from dashboard.questions.training.curves import Asked, at_epsilon
from dashboard.questions.training.setup import Task
from dashboard.widgets import cards

LITTLE = 0.03  # gained over always guessing the commonest


def headline(task: Task, asked: Asked, frame: pd.DataFrame, labels: Mapping[str, str]) -> tuple[str, str]:
    """The headline answer and its caption, from what has been simulated so far."""
    level = f"At ε = {words.number(asked.epsilon)}"
    found = at_epsilon(frame, asked.main, task.metric, asked.epsilon)
    plain = at_epsilon(frame, "non_private", task.metric, asked.epsilon)
    how = f"{labels[asked.main]}, {task.n:,} training rows, judged on rows it never saw."
    if found is None or plain is None:
        return f"{level}: the first private models are being trained.", how
    if not task.two_classes:
        return (
            f"{level} the private model's squared error is about **{words.number(found[0])}**.",
            f"Without privacy {words.number(plain[0])}; the range of the column is scaled to −1…1. {how}",
        )
    base = at_epsilon(frame, "majority_class", task.metric, asked.epsilon)
    always = "" if base is None else f" Always guessing the commonest: {words.number(100 * base[0])}."
    if base is not None and plain[0] - base[0] < LITTLE:
        always += " So these columns tell little about it, with or without privacy."
    spread = "" if found[2] <= found[1] else f" Eight of ten private models: {_span(found[1], found[2])}."
    return (
        f"{level} the private model is right about **{words.number(100 * found[0])} times in 100**.",
        f"Without privacy {words.number(100 * plain[0])}.{spread}{always} {how}",
    )


def _span(low: float, high: float) -> str:
    return f"{words.number(100 * low)} to {words.number(100 * high)}"


def head(task: Task, asked: Asked, frame: pd.DataFrame, labels: Mapping[str, str]) -> None:
    """The headline answer and the one line under it."""
    said, caption = headline(task, asked, frame, labels)
    st.markdown(f"### {said}")
    st.caption(caption)


def might_see(task: Task, asked: Asked, frame: pd.DataFrame) -> None:
    """Fifty predictions: right and wrong."""
    found = at_epsilon(frame, asked.main, task.metric, asked.epsilon)
    if found is None or not task.two_classes:
        return
    cards.might_see(
        ["right", "wrong"], [found[0], 1 - found[0]], [True, False], key="training", what="predictions on new people"
    )
