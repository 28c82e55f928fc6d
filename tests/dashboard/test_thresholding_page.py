"""The Thresholding page, driven as a person would, without a browser."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from dashboard.questions.thresholding.series import read, sensible_threshold, sources
from dpcore.datasets import load_sample
from dpcore.thresholding.problem import AlarmProblem
from tests.dashboard.conftest import text

Open = Callable[..., AppTest]
OUTBREAK = "An outbreak, 120 days (simulated)"


def outbreak(epsilon: float) -> float:
    """Chance of an alarm on time on the page's first view, from the engine alone."""
    series = read(load_sample("outbreak"), "column:cases")
    problem = AlarmProblem(
        answers=series.answers, threshold=sensible_threshold(series), people=series.people, late_by=3
    )
    at = np.array([epsilon]), np.array([float(series.people)])
    return float(problem.evaluate("exponential", "on_time", *at).value[0])


@pytest.mark.parametrize("epsilon", [0.5, 0.2])
def test_the_headline_is_the_exact_law(open_app: Open, epsilon: float) -> None:
    app = open_app("thresholding", data=OUTBREAK)
    app.number_input(key="epsilon").set_value(epsilon).run()
    assert f"on time **{round(100 * outbreak(epsilon))} times in 100**" in text(app)


@pytest.mark.parametrize("axis", ["When it stops", "Privacy level ε", "Sample size", "Both"])
@pytest.mark.parametrize("metric", ["on_time", "false_alarm", "missed", "alpha"])
def test_every_measure_draws_every_axis(open_app: Open, axis: str, metric: str) -> None:
    app = open_app("thresholding", data=OUTBREAK)
    app.segmented_control(key="alarm_metric").set_value(metric).run()
    app.segmented_control(key="thresholding_axis").set_value(axis).run()
    assert not app.exception
    assert len(app.get("plotly_chart")) >= 3


@pytest.mark.parametrize(
    "name", ["clinic", "town", "gapminder", "stocks", "election", "meeting_dates", "wine", "digits"]
)
def test_every_sample_gets_a_picture_or_a_sentence(open_app: Open, name: str) -> None:
    app = open_app("thresholding")
    app.selectbox(key="data").set_value(name).run()
    assert not app.exception
    assert len(app.get("plotly_chart")) >= 3 or len(app.info) == 1


@pytest.mark.parametrize("limit", [1, 3, 20])
def test_several_alarms(open_app: Open, limit: int) -> None:
    app = open_app("thresholding", data=OUTBREAK)
    app.number_input(key="alarms").set_value(limit).run()
    assert not app.exception


def test_more_alarms_than_entries_is_one_sentence(open_app: Open) -> None:
    app = open_app("thresholding")
    app.selectbox(key="data").set_value("election").run()
    app.selectbox(key="series").set_value("rows:winner").run()
    app.number_input(key="alarms").set_value(10).run()
    assert not app.exception
    assert len(app.warning) == 1
    assert "This cannot be watched" in app.warning[0].value


def test_a_line_nobody_reaches_is_said(open_app: Open) -> None:
    app = open_app("thresholding", data=OUTBREAK)
    app.number_input(key="line-outbreak-column:cases").set_value(5000.0).run()
    assert "The series never reaches the line" in text(app)


def test_counts_per_day_hold_every_day_and_every_row() -> None:
    """A day without rows is an answer of 0, not a gap."""
    table = load_sample("clinic")
    series = read(table, "rows:day")
    assert series.answers.sum() == table.rows
    assert (series.answers == 0).any()
    assert series.one_way
    yes = read(table, "yes:day:returned")
    assert yes.answers.sum() == int(table.frame["returned"].sum())
    assert (yes.answers <= series.answers).all()


def test_every_offered_series_can_be_read() -> None:
    for name in ("clinic", "town", "stocks", "election", "outbreak"):
        table = load_sample(name)
        for key in sources(table):
            series = read(table, key)
            assert len(series.names) == series.answers.size > 0
            assert np.isfinite(series.answers).all()
