"""What is asked of a column of numbers: which quantile, how it is measured, who is hidden."""

from __future__ import annotations

import streamlit as st

from dashboard import words
from dashboard.questions.selection.settings import neighbours_control, sampling_control
from dashboard.widgets import inputs as controls

QUANTILES = {
    0.5: "median",
    0.1: "10th percentile",
    0.25: "lower quartile",
    0.75: "upper quartile",
    0.9: "90th percentile",
}
METRICS = {
    "success": "Chance of a close answer",
    "expected_error": "Average error",
    "rank_error": "Average error in rank",
}


def quantile_control() -> float:
    return float(
        st.selectbox(
            "Quantile",
            list(QUANTILES),
            key="quantile",
            bind="query-params",
            format_func=QUANTILES.__getitem__,
            label_visibility="collapsed",
            width=180,
        )
    )


def column_control(choices: list[str]) -> str:
    return st.selectbox(
        "Column of numbers",
        choices,
        key="quantile_column",
        bind="query-params",
        format_func=words.visible,
        label_visibility="collapsed",
        width=200,
    )


def options() -> dict[str, object]:
    with st.popover("Options", icon=":material/tune:", type="tertiary"):
        neighbours = neighbours_control("quantile_neighbours")
        metric = st.segmented_control(
            "Measure",
            list(METRICS),
            default="success",
            required=True,
            key="quantile_metric",
            bind="query-params",
            format_func=METRICS.__getitem__,
        )
        sampling_control()
        controls.seed()
    return {"neighbours": neighbours, "metric": metric}
