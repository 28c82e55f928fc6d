"""The private answers of the Selection page, each from declared columns alone."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import streamlit as st

from dashboard import words
from dashboard.data.source import Source
from dashboard.questions.selection.options import Options, options
from dashboard.widgets.release import release_panel
from dpcore.datasets import Column, Table
from dpcore.errors import InvalidArgument
from dpcore.releases.selection import BestRule, BestScore, MostCommonOption, QuantileValue
from dpcore.validate import Neighbours

if TYPE_CHECKING:
    from dashboard.questions.selection.learned import Learned

LONGEST_SUBJECT = 60


def subject(name: str) -> str:
    return words.visible(name, LONGEST_SUBJECT)


def texts(table: Table, column: str) -> list[str]:
    """A column of categories or yes/no as text, one entry per row, "" where missing."""
    options = table.options(column)
    return [options[code] if code >= 0 else "" for code in table.codes(column)]


def _table(source: Source, *columns: str) -> Table | None:
    """The declared columns that a release may use, or None with the sentence that says why not."""
    obstacle = source.obstacle(*columns)
    if obstacle or source.released is None:
        st.info(obstacle or source.unreleased)
        return None
    return source.released()


def release_tab(source: Source, chosen: Options, neighbours: Neighbours, epsilon: float, right: float) -> None:
    """The most common option, or the option with the best score."""
    if source.table.schema.each_row == "option":
        _best_score(source, chosen, neighbours, epsilon, right)
        return
    table = _table(source, chosen.column)
    if table is None:
        return
    try:
        request = MostCommonOption(
            epsilon=epsilon,
            options=table.options(chosen.column),
            neighbours=neighbours,
            rows_per_person=table.schema.rows_per_person,
            subject=subject(chosen.column),
        )
    except InvalidArgument as error:
        st.warning(f"This cannot be released: {error}.")
        return
    release_panel(
        source,
        slot="selection",
        request=request,
        data=lambda: texts(table, chosen.column),
        forecast=_forecast(source, right),
        describe=lambda answer: f"Most common: {words.safe(str(answer['option']))}",
        relation="neighbours",
    )


def _best_score(source: Source, chosen: Options, neighbours: Neighbours, epsilon: float, right: float) -> None:
    table = _table(source, chosen.column)
    if table is None:
        return
    chosen = options(replace(source, table=table), chosen.column)
    whole = bool((chosen.scores == np.rint(chosen.scores)).all()) and chosen.sensitivity == round(chosen.sensitivity)
    one_way = chosen.counted and neighbours == "add_remove"
    try:
        request = BestScore(
            epsilon=epsilon,
            candidates=chosen.names,
            sensitivity=chosen.sensitivity,
            neighbours=neighbours,
            monotonic=one_way,
            resolution=None if whole else chosen.sensitivity / 1000,
            smallest=chosen.flipped,
            subject=subject(chosen.column),
        )
    except InvalidArgument as error:
        st.warning(f"This cannot be released: {error}.")
        return
    release_panel(
        source,
        slot="selection",
        request=request,
        data=lambda: chosen.shown,
        forecast=_forecast(source, right),
        describe=lambda answer: f"Best: {words.safe(str(answer['candidate']))}",
        relation="neighbours",
    )


def _forecast(source: Source, right: float) -> str:
    if source.mode == "demo":
        return f"right {words.times_in_100(right)}, by the exact law above."
    return "the closer the best options are, the more often a near-best one is named instead; see the chart above."


def quantile_release(
    source: Source, column: Column, q: float, neighbours: Neighbours, epsilon: float, quartiles: tuple[float, float]
) -> None:
    """A private median or quantile within declared bounds."""
    table = _table(source, column.name)
    if table is None:
        return
    declared = table.schema.column(column.name)
    try:
        request = QuantileValue(
            epsilon=epsilon,
            low=float(declared.low or 0.0),
            high=float(declared.high or 0.0),
            q=q,
            neighbours=neighbours,
            rows_per_person=table.schema.rows_per_person,
            subject=subject(column.name),
        )
    except InvalidArgument as error:
        st.warning(f"This cannot be released: {error}.")
        return
    unit = f" {column.unit}" if column.unit else ""
    release_panel(
        source,
        slot="quantile",
        request=request,
        data=lambda: table.numbers(column.name),
        forecast=(
            f"half of all private answers lie within {words.number(quartiles[1] - quartiles[0])}{unit} of each other."
        ),
        describe=lambda answer: f"{words.number(float(answer['value']))}{unit}",
        relation="quantile_neighbours",
    )


def rule_release(
    source: Source, target: str, learned: Learned, neighbours: Neighbours, epsilon: float, mean: float
) -> None:
    """The private choice of a simple rule."""
    names = [column.column for column in learned.rules.columns]
    table = _table(source, target, *names)
    if table is None:
        return
    try:
        request = BestRule(
            epsilon=epsilon,
            columns=learned.rules.columns,
            target=target,
            neighbours=neighbours,
            rows_per_person=table.schema.rows_per_person,
        )
    except InvalidArgument as error:
        st.warning(f"This cannot be released: {error}.")
        return

    def data() -> dict[str, Any]:
        rows = table.complete(*names, target)
        found: dict[str, Any] = {target: table.codes(target)[rows] == 1}
        for name in names:
            if table.schema.column(name).is_numeric:
                found[name] = table.frame[name].to_numpy(np.float64, na_value=np.nan)[rows]
            else:
                found[name] = [text for text, kept in zip(texts(table, name), rows, strict=True) if kept]
        return found

    release_panel(
        source,
        slot="rule",
        request=request,
        data=data,
        forecast=(
            f"wrong about {words.number(100 * mean)} times in 100 on these people, by the exact law above."
            if source.mode == "demo"
            else "see the chart above."
        ),
        describe=lambda answer: f"The rule: {words.safe(str(answer['rule']))}",
        relation="rule_neighbours",
    )
