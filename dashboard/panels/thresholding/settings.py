"""The options of the page: measure, method, how many alarms, and what counts as on time."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from dashboard import controls, words
from dashboard.charts.tradeoff import Scale
from dashboard.panels.thresholding.series import Series
from dpcore.thresholding.problem import ABOUT_THEORY, THEORY
from dpcore.thresholding.ways import catalog

NAMES = {key: way.about.name for key, way in catalog().items()} | {THEORY: ABOUT_THEORY.name}
METRICS = {
    "on_time": Scale(title="alarms on time, in 100", factor=100.0, unit=" times in 100", hundred=True),
    "false_alarm": Scale(title="false alarms in 100", factor=100.0, unit=" times in 100", hundred=True),
    "missed": Scale(title="missed in 100", factor=100.0, unit=" times in 100", hundred=True),
    "alpha": Scale(title="distance from the line that is told apart (α)"),
}
ASKED = {
    "on_time": "On time",
    "false_alarm": "False alarms",
    "missed": "Missed",
    "alpha": "Distance needed (α)",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What the options say."""

    main: str
    metric: str
    limit: int
    late_by: int
    one_way: bool


def options(series: Series) -> Settings:
    one_way = series.one_way and (
        st.segmented_control(
            "Who is hidden: two data sets count as neighbours when they differ by",
            ["replace_one", "add_remove"],
            default="replace_one",
            required=True,
            key="alarm_neighbours",
            bind="query-params",
            format_func=words.one_person,
            help="With one person added or removed all counts move one way, which halves the noise.",
        )
        == "add_remove"
    )
    metric = st.segmented_control(
        "Measure",
        list(METRICS),
        default="on_time",
        required=True,
        key="alarm_metric",
        bind="query-params",
        format_func=ASKED.__getitem__,
    )
    names = [key for key, way in catalog().items() if one_way or not way.monotonic]
    best = "exponential_monotone" if one_way else "exponential"
    main = st.selectbox(
        "Method used for the answer",
        names,
        index=names.index(best),
        key="alarm_method" if one_way else "alarm_method_general",
        bind="query-params",
        format_func=NAMES.__getitem__,
    )
    limit = st.number_input(
        "How many alarms before it stops (c)",
        min_value=1,
        max_value=20,
        value=1,
        key="alarms",
        bind="query-params",
        help="Each alarm gives something away, so more alarms need more noise.",
    )
    late = st.number_input(
        f"An alarm still counts as on time this many {series.step}s after the crossing",
        min_value=0,
        max_value=200,
        value=3,
        key="late_by",
        bind="query-params",
    )
    st.toggle(
        "Show what another period like this one would have given (sampling error)", key="sampling", bind="query-params"
    )
    controls.beta()
    controls.seed()
    return Settings(main=str(main), metric=str(metric), limit=int(limit or 1), late_by=int(late or 0), one_way=one_way)
