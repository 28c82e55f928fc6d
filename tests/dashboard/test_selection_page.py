"""The Selection page and the frame around it, driven as a person would, without a browser."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from dashboard.words import times_in_100
from dpcore.datasets import load_sample
from dpcore.selection import PermuteAndFlip
from tests.dashboard.conftest import text, widget

Open = Callable[..., AppTest]


def said_chance(epsilon: float) -> str:
    """What the headline must say: the exact law on the clinic's complaints, people added or removed."""
    counts = load_sample("clinic").counts("complaint")
    law = PermuteAndFlip(epsilon=epsilon, monotonic=True).probabilities(counts)
    return f"**{times_in_100(float(law[np.argmax(counts)]))}**"


def test_start_shows_a_living_example_and_the_way_on(open_app: Open) -> None:
    app = open_app()
    assert "How much privacy can you afford" in app.title[0].value
    before = text(app)
    app.number_input(key="epsilon-typed").set_value(0.1).run()
    assert not app.exception
    assert text(app) != before
    assert "ε = 0.1" in text(app)


@pytest.mark.parametrize("epsilon", [0.5, 0.1])
def test_the_headline_is_the_exact_law(open_app: Open, epsilon: float) -> None:
    app = open_app("selection")
    app.number_input(key="epsilon-typed").set_value(epsilon).run()
    assert said_chance(epsilon) in text(app)


def test_slider_and_typed_entry_are_one_value(open_app: Open) -> None:
    app = open_app("selection")
    for _ in range(2):
        widget(app, "epsilon-slider").set_value(0.2).run()
        assert widget(app, "epsilon-typed").value == 0.2
        widget(app, "epsilon-typed").set_value(0.123).run()
        assert widget(app, "epsilon-slider").value == 0.123


def test_a_widget_of_epsilon_keeps_its_place_while_it_is_moved_and_the_others_are_drawn_anew(open_app: Open) -> None:
    """Told of its own move, a widget would go back under the hand; one that is told of another's sends what it had."""
    app = open_app("selection")
    drawn: list[set[str]] = []
    for level in (0.4, 0.3, 0.25):
        slider = widget(app, "epsilon-slider")
        slider.set_value(level).run()
        assert widget(app, "epsilon-slider").proto.id == slider.proto.id
        others = [widget(app, name).proto for name in ("epsilon-typed", "epsilon-at-the-edge")]
        assert not any(one.set_value for one in [slider.proto, *others])
        drawn.append({one.id for one in others})
    assert len(set().union(*drawn)) == 6


def test_a_link_reopens_the_same_picture(open_app: Open) -> None:
    app = open_app("selection", epsilon="0.2", selection_axis="Both")
    assert widget(app, "epsilon-typed").value == 0.2
    assert "At ε = 0.2" in text(app)


@pytest.mark.parametrize("value", ["0", "1e9", "-1"])
def test_a_link_with_a_wrong_epsilon_gets_one_sentence(open_app: Open, value: str) -> None:
    app = open_app("start", epsilon=value)
    assert [warning.value for warning in app.warning] == [
        "ε must be a number from 0.01 to 10; the pages use 0.5 until you change it."
    ]
    assert "At ε = 0.5" in text(app)
    assert not app.run().warning, "said once"


@pytest.mark.parametrize("value", ["nan", "abc", ""])
def test_a_link_without_a_number_changes_nothing(open_app: Open, value: str) -> None:
    assert "At ε = 0.5" in text(open_app("selection", epsilon=value))


@pytest.mark.thorough
def test_every_question_draws_every_axis(open_app: Open) -> None:
    app = open_app("selection")
    asked = {"Most common or best": "selection", "Median or quantile": "quantile", "Best simple rule": "rule"}
    for question, page in asked.items():
        app.segmented_control(key="question").set_value(question).run()
        for axis in ("Privacy level ε", "Sample size", "Both"):
            app.segmented_control(key=f"{page}_axis").set_value(axis).run()
            assert not app.exception, (question, axis)
            assert len(app.get("plotly_chart")) >= 3, (question, axis)


@pytest.mark.thorough
@pytest.mark.parametrize("question", ["Most common or best", "Median or quantile", "Best simple rule"])
def test_every_sample_gets_a_picture_or_a_sentence(open_app: Open, question: str) -> None:
    app = open_app("selection")
    for name in (
        *("clinic", "town", "meeting_dates", "census_marital_status"),
        *("breast_cancer", "wine", "diabetes", "gapminder"),
    ):
        app.selectbox(key="data").set_value(name).run()
        app.segmented_control(key="question").set_value(question).run()
        assert not app.exception, name
        assert len(app.get("plotly_chart")) >= 3 or len(app.info) == 1, name


def test_the_census_says_that_privacy_is_free(open_app: Open) -> None:
    app = open_app("selection")
    app.selectbox(key="data").set_value("census_marital_status").run()
    assert "With 32,561 people privacy is free here" in text(app)


def test_editing_a_count_moves_the_answer_and_back(open_app: Open) -> None:
    app = open_app("selection")
    app.session_state["selection_tab"] = "What if"
    app.run()
    before = app.number_input(key="edit-clinic-complaint.1").value
    app.number_input(key="edit-clinic-complaint.1").set_value(20.0).run()
    assert "practically always" in text(app) or "in 1,000" in text(app)
    app.number_input(key="edit-clinic-complaint.1").set_value(before).run()
    assert said_chance(0.5) in text(app)


def test_the_needed_epsilon_is_used_by_its_button(open_app: Open) -> None:
    app = open_app("selection")
    app.button(key="selection-use").click().run()
    used = widget(app, "epsilon-typed").value
    counts = load_sample("clinic").counts("complaint")
    assert PermuteAndFlip(epsilon=used, monotonic=True).probabilities(counts)[np.argmax(counts)] >= 0.95
    assert PermuteAndFlip(epsilon=used * 0.99, monotonic=True).probabilities(counts)[np.argmax(counts)] < 0.95


def test_scenarios_are_kept_up_to_four_and_survive_nonsense(open_app: Open) -> None:
    app = open_app("selection", selection_kept="scenario = A; ε = 0.5 | nonsense | = ; | scenario = <b>B</b>; ε = 2")
    app.run()
    assert not app.exception


@pytest.mark.defects
def test_a_question_that_fails_inside_is_one_sentence_and_its_options_stay(
    open_app: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody's new measure lacks something: the budget, the data and the options are still there to change it."""

    def broken(*_: object) -> None:
        raise KeyError("wheezing, a value of the file")

    monkeypatch.setattr("dashboard.view.View.at", broken)
    app = open_app("selection")
    assert "Something in this program went wrong with this question" in text(app)
    assert "wheezing" not in text(app)
    assert any(box.label == "What counts for you" for box in (*app.selectbox, *app.segmented_control, *app.radio))
    assert "Budget" in text(app)
    monkeypatch.undo()
