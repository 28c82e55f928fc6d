"""The Online experts page, driven as a person would, without a browser."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from dashboard.panels.experts.linear import costs
from dashboard.panels.experts.losses import numeric, read
from dpcore.datasets import Table, load_sample
from dpcore.experts import ExpertsProblem
from tests.dashboard.conftest import text

Open = Callable[..., AppTest]
FORECASTS = "Eight forecasters of rain, 2,000 days (simulated)"


@pytest.mark.parametrize("epsilon", [1.0, 0.3])
def test_the_headline_is_the_exact_regret(open_app: Open, epsilon: float) -> None:
    app = open_app("experts", data=FORECASTS)
    app.number_input(key="epsilon").set_value(epsilon).run()
    table = load_sample("forecasts")
    losses = read(table, numeric(table), "squared", "rain", 0.0, 1.0)
    problem = ExpertsProblem(losses=losses.values, assumption="oblivious")
    regret = problem.strategy("batched", epsilon).expected_regret(losses.values) / losses.rounds
    said = text(app).split("loses **")[1].split("**")[0]
    assert float(said) == pytest.approx(100 * regret, rel=6e-3)  # said to three digits


@pytest.mark.parametrize("assumption", ["any", "oblivious", "independent"])
@pytest.mark.parametrize("axis", ["Whom it follows", "Privacy level ε", "Sample size", "Both"])
def test_every_assumption_draws_every_axis(open_app: Open, assumption: str, axis: str) -> None:
    app = open_app("experts", data=FORECASTS)
    app.segmented_control(key="assumption").set_value(assumption).run()
    app.segmented_control(key="experts_axis").set_value(axis).run()
    assert not app.exception
    assert len(app.get("plotly_chart")) >= 3


def test_an_assumption_hides_what_needs_more(open_app: Open) -> None:
    app = open_app("experts", data=FORECASTS)
    for assumption, shown in (("any", False), ("independent", True)):
        app.segmented_control(key="assumption").set_value(assumption).run()
        options = app.selectbox(key=f"experts_method-{assumption}").options
        assert ("Doubling follow-the-leader" in options) is shown


@pytest.mark.parametrize("story", ["gap", "switching", "late", "drifting", "adversarial"])
def test_every_story_can_be_followed(open_app: Open, story: str) -> None:
    app = open_app("experts")
    app.selectbox(key="experts_of-clinic").set_value(f"story:{story}").run()
    assert not app.exception
    assert "more per 100 rounds" in text(app)


@pytest.mark.parametrize("question", ["Whom to follow", "Best fixed choice for a linear cost"])
@pytest.mark.parametrize("name", ["clinic", "town", "stocks", "outbreak", "meeting_dates", "wine", "election"])
def test_every_sample_gets_a_picture_or_a_sentence(open_app: Open, name: str, question: str) -> None:
    app = open_app("experts")
    app.selectbox(key="data").set_value(name).run()
    app.segmented_control(key="experts_question").set_value(question).run()
    assert not app.exception
    assert len(app.get("plotly_chart")) >= 3 or len(app.info) == 1


def test_one_expert_is_one_sentence(open_app: Open) -> None:
    app = open_app("experts")
    app.selectbox(key="data").set_value("stocks").run()
    app.multiselect(key="experts_columns-stocks-None").set_value(["GOOG"]).run()
    assert not app.exception
    assert len(app.info) == 1
    assert "with one there is nothing to choose" in app.info[0].value


def test_linear_costs_are_scaled_by_the_declared_bounds() -> None:
    """The declared ends go to −1 and 1, whatever values the data hold."""
    table = load_sample("town")
    names = ["age", "visits"]
    scaled = costs_of(table, names)
    for place, name in enumerate(names):
        column = table.schema.column(name)
        low, high = float(column.low or 0), float(column.high or 1)
        expected = 2 * (table.numbers(name)[: len(scaled)] - low) / (high - low) - 1
        np.testing.assert_allclose(scaled[:, place], expected)


def costs_of(table: Table, names: list[str]) -> np.ndarray:
    from dashboard.source import Source

    source = Source(key="town", title="", mode="demo", table=table, lineage=None, practice=True)
    return costs(source, names)
