"""The Thresholding page, driven as a person would, without a browser."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from dashboard.background import compute
from dashboard.controls import Setting
from dashboard.question import Offer
from dashboard.questions.thresholding.alarm import Alarm
from dashboard.questions.thresholding.alarm_controls import METHODS
from dashboard.questions.thresholding.watched import offered, series_of
from dashboard.words import alarm as said
from dpcore.datasets import load_sample
from dpcore.ledger import Ledger
from tests.dashboard.conftest import TOKEN, text
from tests.questions.samples import sample_case

Open = Callable[..., AppTest]
OUTBREAK = "An outbreak, 120 days (simulated)"


@pytest.mark.parametrize("epsilon", [0.5, 0.2])
def test_the_page_draws_the_question(open_app: Open, epsilon: float) -> None:
    """Headline and forecast are those of the question as a value, which other tests check against exact laws."""
    app = open_app("thresholding", data=OUTBREAK)
    app.number_input(key="epsilon-typed").set_value(epsilon).run()
    question = Alarm.ask(sample_case("outbreak", epsilon), Setting())
    assert question.headline in text(app)
    assert question.caption in text(app)


@pytest.mark.parametrize("method", METHODS)
def test_every_method_opens(open_app: Open, method: str) -> None:
    app = open_app("thresholding", data=OUTBREAK)
    app.selectbox(key="alarm_method").set_value(method).run()
    assert not app.exception
    question = Alarm.ask(sample_case("outbreak"), Setting({"alarm_method": method}))
    assert question.headline in text(app)


def test_the_release_tab_says_what_is_drawn(open_app: Open) -> None:
    app = open_app("thresholding", data=OUTBREAK, thresholding_open="release")
    offer = Alarm.ask(sample_case("outbreak"), Setting()).offer
    assert isinstance(offer, Offer)
    assert offer.forecast in text(app)
    assert said.LINE_ON_SAMPLE in text(app)


@pytest.mark.parametrize(("data", "start"), [("clinic", "entries of “day” is the first with"), ("outbreak", "“cases”")])
def test_an_alarm_is_released_and_charged_once(open_app: Open, data: str, start: str) -> None:
    app = open_app("thresholding", data=data, thresholding_open="release")
    app.selectbox(key="data").set_value(data).run()  # the page opens with its own example until one chooses
    app.button(key="thresholding-begin").click().run()
    app.button(key="thresholding-confirm").click().run()
    assert not app.exception
    assert any(found in text(app) for found in ("Alarm at ", "No alarm was raised."))
    (entry,) = compute.ledger().history(Ledger.practice_lineage(TOKEN, data))
    assert start in entry.what


@pytest.mark.parametrize("tab", ["how", "what_if", "alpha", "goes_wrong", "instead", "release"])
def test_every_tab_opens_by_a_link(open_app: Open, tab: str) -> None:
    app = open_app("thresholding", data=OUTBREAK, thresholding_open=tab)
    assert not app.exception


def test_the_line_is_in_the_link_of_a_sample(open_app: Open) -> None:
    app = open_app("thresholding", data=OUTBREAK, **{"line-outbreak-column:cases": "40"})
    assert app.number_input(key="line-outbreak-column:cases").value == 40.0
    app.number_input(key="line-outbreak-column:cases").set_value(30.0).run()
    assert app.query_params["line-outbreak-column:cases"] == "30"


@pytest.mark.thorough
@pytest.mark.parametrize("axis", ["when", "epsilon", "n", "both"])
@pytest.mark.parametrize("metric", ["on_time", "false_alarm", "late", "missed", "alpha"])
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
    app = open_app("thresholding", data="election", alarms="10")
    assert not app.exception
    assert len(app.info) == 1
    assert "This cannot be watched" in app.info[0].value
    app.number_input(key="alarms").set_value(2).run()
    assert not app.info


def test_a_line_nobody_reaches_is_said(open_app: Open) -> None:
    app = open_app("thresholding", data=OUTBREAK)
    app.number_input(key="line-outbreak-column:cases").set_value(5000.0).run()
    assert "The line is never reached" in text(app)


def test_counts_per_day_hold_every_day_and_every_row() -> None:
    """A day without rows is an answer of 0, not a gap."""
    table = load_sample("clinic")
    rows, yes = (series_of(table, one) for one in offered(table.schema)[:2])
    assert not isinstance(rows, str)
    assert not isinstance(yes, str)
    assert rows.answers.sum() == table.rows
    assert (rows.answers == 0).any()
    assert rows.one_way("add_remove")
    assert not rows.one_way("replace_one")
    assert yes.answers.sum() == int(table.frame["returned"].sum())
    assert (yes.answers <= rows.answers).all()


@pytest.mark.parametrize("name", ["clinic", "town", "stocks", "election", "outbreak"])
def test_every_offered_series_can_be_read(name: str) -> None:
    table = load_sample(name)
    for one in offered(table.schema):
        series = series_of(table, one)
        assert not isinstance(series, str)
        assert len(series.names) == series.answers.size > 0
        assert np.isfinite(series.answers).all()
