"""The Online experts page, driven as a person would, without a browser."""

from __future__ import annotations

import json
from collections.abc import Callable

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from dashboard import traces
from dashboard.background import compute
from dashboard.catalogue import address
from dashboard.questions.experts import beside
from dashboard.questions.experts.column_costs import costs
from dashboard.questions.experts.followed import Reading, numeric
from dashboard.words.page import too_few
from dpcore.datasets import load_sample
from dpcore.experts import ExpertsProblem, LinearProblem
from dpcore.ledger import Ledger
from tests.dashboard.conftest import TOKEN, rested, text

Open = Callable[..., AppTest]
FORECASTS = "Eight forecasters of rain, 2,000 days (simulated)"
FORECASTS_READ = Reading(columns=tuple(numeric(load_sample("forecasts").schema)), kind="squared", outcome="rain")


@pytest.mark.thorough
@pytest.mark.parametrize("epsilon", [1.0, 0.3])
def test_the_headline_is_the_exact_regret(open_app: Open, epsilon: float) -> None:
    app = open_app("experts", data=FORECASTS)
    app.number_input(key="epsilon-typed").set_value(epsilon).run()
    table = load_sample("forecasts")
    losses = FORECASTS_READ.losses(table)
    problem = ExpertsProblem(losses=losses.values, assumption="oblivious")
    regret = problem.strategy("batched", epsilon).expected_regret(losses.values) / losses.rounds
    said = text(app).split("loses **")[1].split("**")[0]
    assert float(said) == pytest.approx(100 * regret, rel=6e-3)  # said to three digits


@pytest.mark.thorough
def test_many_experts_are_followed_beside_the_page(
    open_app: Open, idle_app: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page answers meanwhile, with how far it is and a way to stop it; then it says what it says of few."""
    headline = text(open_app("experts", data=FORECASTS)).split("loses **")[1].split("\n")[0]
    monkeypatch.setattr(beside, "MOST_AT_ONCE", 100)
    traces.EVERYBODYS.clear()  # what was found of a question at once
    waiting = idle_app("experts", data=FORECASTS)
    assert "are being evaluated" in text(waiting)
    assert [button.label for button in waiting.button if button.key == "experts-head-cancel-job"] == ["Cancel"]
    app = rested(rested(open_app("experts", data=FORECASTS)))
    assert text(app).split("loses **")[1].split("\n")[0] == headline
    assert len(app.get("plotly_chart")) >= 2
    app.segmented_control(key="experts_axis").set_value("whom").run()
    assert not app.exception


@pytest.mark.thorough
def test_every_assumption_draws_every_axis(open_app: Open) -> None:
    app = open_app("experts", data=FORECASTS)
    for assumption in ("any", "oblivious", "independent"):
        app.segmented_control(key="assumption").set_value(assumption).run()
        for axis in ("whom", "epsilon", "n", "both"):
            app.segmented_control(key="experts_axis").set_value(axis).run()
            assert not app.exception, (assumption, axis)
            assert len(app.get("plotly_chart")) >= 3, (assumption, axis)


def test_an_assumption_hides_what_needs_more(open_app: Open) -> None:
    app = open_app("experts", data=FORECASTS)
    for assumption, shown in (("any", False), ("independent", True)):
        app.segmented_control(key="assumption").set_value(assumption).run()
        options = app.selectbox(key=f"experts_method-{assumption}").options
        assert any("Doubling follow-the-leader" in option for option in options) is shown


@pytest.mark.thorough
def test_every_story_can_be_followed(open_app: Open) -> None:
    app = open_app("experts")
    for story in ("gap", "switching", "late", "drifting", "adversarial"):
        app.selectbox(key="experts_of-forecasts").set_value(story).run()
        assert not app.exception, story
        assert "points more per 100 days" in text(app), story


@pytest.mark.thorough
@pytest.mark.parametrize("question", ["follow", "fixed_choice"])
def test_every_sample_gets_a_picture_or_a_sentence(open_app: Open, question: str) -> None:
    app = open_app("experts")
    for name in ("clinic", "town", "stocks", "outbreak", "meeting_dates", "wine", "election"):
        app.selectbox(key="data").set_value(name).run()
        app.segmented_control(key="experts_question").set_value(question).run()
        assert not app.exception, name
        assert len(app.get("plotly_chart")) >= 3 or len(app.info) == 1, name


def test_two_experts_stay_where_one_is_left(open_app: Open) -> None:
    app = open_app("experts")
    app.selectbox(key="data").set_value("stocks").run()
    before = list(app.pills(key="experts_columns-stocks-None").value)
    app.pills(key="experts_columns-stocks-None").set_value(["GOOG"]).run()
    assert not app.exception
    assert [warning.value for warning in app.warning] == [too_few(2)]
    assert list(app.pills(key="experts_columns-stocks-None").value) == before


def test_linear_costs_are_scaled_by_the_declared_bounds() -> None:
    """The declared ends go to −1 and 1, whatever values the data hold."""
    table = load_sample("town")
    names = ("age", "visits")
    scaled = costs(table, names)
    for place, name in enumerate(names):
        column = table.schema.column(name)
        low, high = float(column.low or 0), float(column.high or 1)
        expected = 2 * (table.numbers(name)[: len(scaled)] - low) / (high - low) - 1
        np.testing.assert_allclose(scaled[:, place], expected)


def released(app: AppTest, slot: str) -> str:
    """Click through a release and give back the private answer."""
    app.button(key=f"{slot}-begin").click().run()
    app.button(key=f"{slot}-confirm").click().run()
    assert not app.exception
    return next(str(m.value) for m in app.markdown if str(m.value).startswith("### ") and "At ε" not in str(m.value))


@pytest.mark.parametrize(("publish", "said"), [("plays", "2,000 rounds"), ("from_now_on", "from now on")])
def test_plays_are_released_and_charged_once(open_app: Open, publish: str, said: str) -> None:
    app = open_app("experts", data=FORECASTS)
    open_tab(app, "experts", "A private answer")
    app.segmented_control(key="experts_publish").set_value(publish).run()
    assert said in released(app, "experts")
    assert len(compute.ledger().history(Ledger.practice_lineage(TOKEN, "forecasts"))) == 1
    assert (
        "judged by the squared miss of “rain”, from 0 to 1"
        in compute.ledger().history(Ledger.practice_lineage(TOKEN, "forecasts"))[0].what
    )


def test_the_cheapest_column_is_released(open_app: Open) -> None:
    """At ε = 2 and 10,000 rows the answer is the true one, but for a chance below 1e-9."""
    app = open_app("experts", data="A town, 10,000 people (simulated)")
    app.number_input(key="epsilon-typed").set_value(2.0).run()
    app.segmented_control(key="experts_question").set_value("fixed_choice").run()
    open_tab(app, "linear", "A private answer")
    table = load_sample("town")
    names = numeric(table.schema)
    best = names[int(np.argmin(costs(table, tuple(names)).sum(axis=0)))]
    assert best in released(app, "linear")


def test_one_column_is_nothing_to_choose_from(open_app: Open) -> None:
    """Few columns are all in sight; taking all but one away keeps them all and leaves a sentence."""
    app = open_app("experts", data="A town, 10,000 people (simulated)")
    app.segmented_control(key="experts_question").set_value("fixed_choice").run()
    names = numeric(load_sample("town").schema)
    columns = app.pills(key="linear_columns-town")
    assert list(columns.value) == names
    columns.set_value(names[:1]).run()
    assert [warning.value for warning in app.warning] == [too_few(2)]
    assert list(app.pills(key="linear_columns-town").value) == names
    app.pills(key="linear_columns-town").set_value(names[:2]).run()
    assert not app.exception
    assert not app.info


@pytest.mark.parametrize("times", [0.2, 5.0])
def test_more_or_fewer_rows_of_the_linear_question(open_app: Open, times: float) -> None:
    """The headline is the exact excess at that many rows like these; the data as they are stay as a grey line."""
    app = open_app("experts", data="clinic")
    app.selectbox(key="data").set_value("clinic").run()
    app.number_input(key="epsilon-typed").set_value(0.02).run()
    app.segmented_control(key="experts_question").set_value("fixed_choice").run()
    open_tab(app, "linear", "What if")
    app.select_slider(key="linear_factor").set_value(times).run()
    assert not app.exception
    table = load_sample("clinic")
    problem = LinearProblem(costs=costs(table, tuple(numeric(table.schema))), band=0.0, relation="add_remove")
    main = str(app.selectbox(key="linear_method_draws").value)
    rows = np.array([float(round(times * problem.n))])
    excess = float(problem.evaluate(main, "excess", np.array([0.02]), rows).value[0])
    said = text(app).split("the private choice costs **")[1].split(" %**")[0]
    assert float(said) == pytest.approx(50 * excess, rel=6e-3)  # said to three digits, in % of the range
    figures = [json.loads(one.proto.spec) for one in app.get("plotly_chart")]
    assert "as it was" in [trace.get("name") for figure in figures for trace in figure["data"]]


def open_tab(app: AppTest, page: str, name: str) -> None:
    """Open one of the tabs below the chart."""
    app.session_state[f"{page}_tab"] = name
    app.run()
    assert not app.exception


@pytest.mark.parametrize("days", [1000, 5000])
def test_many_experts_leave_out_what_cannot_be_simulated_for_them(open_app: Open, days: int) -> None:
    many = {"experts_of-forecasts": "gap", "assumption": "any", "experts_count": "1000", "experts_days": str(days)}
    app = open_app("experts", data="forecasts", experts_axis="n", **many)
    assert app.number_input(key="experts_days").value == days
    method = app.selectbox(key="experts_method-any")
    name = "Gaussian matrix factorisation"
    offered = any(name in option for option in method.options)
    assert offered == (days == 1000)
    assert ("is left out" in text(app)) == (days == 5000)
    assert app.segmented_control(key="experts_axis").value == "n"
    assert not app.exception


def test_the_page_opens_with_its_own_example_until_somebody_chooses(open_app: Open) -> None:
    """Forecasters here, the clinic elsewhere; what was chosen stays, on this page and on the next."""
    app = open_app("experts")
    assert app.selectbox(key="data").value == "forecasts"
    app.switch_page(address("selection")).run()
    assert app.selectbox(key="data").value == "clinic"
    app.selectbox(key="data").set_value("town").run()
    app.switch_page(address("experts")).run()
    assert app.selectbox(key="data").value == "town"
    assert "hold one person a row" in text(app)


@pytest.mark.thorough
def test_what_cannot_be_released_is_not_counted(open_app: Open) -> None:
    """Neither a strategy without a release nor simulated experts; one click goes to what has one."""
    app = open_app("experts")
    assert "to this question at this ε" in text(app)
    app.selectbox(key="experts_method-oblivious").set_value("weighted_majority").run()
    assert "to this question at this ε" in text(app)
    app.selectbox(key="experts_method-oblivious").set_value("textbook").run()
    assert "to this question at this ε" not in text(app)
    open_tab(app, "experts", "A private answer")
    app.button(key="experts-instead").click().run()
    assert app.selectbox(key="experts_method-oblivious").value == "batched"
    assert "to this question at this ε" in text(app)
    app.selectbox(key="experts_of-forecasts").set_value("gap").run()
    assert "to this question at this ε" not in text(app)


@pytest.mark.parametrize(
    ("link", "key", "value"),
    [
        ({"experts_question": "Best fixed choice for a linear cost"}, "experts_question", "fixed_choice"),
        ({"assumption": "days are alike and independent"}, "assumption", "independent"),
        ({"experts_metric": "Total loss"}, "experts_metric", "total_loss"),
    ],
)
def test_an_older_link_still_opens(open_app: Open, link: dict[str, str], key: str, value: str) -> None:
    app = open_app("experts", data=FORECASTS, **link)
    assert app.segmented_control(key=key).value == value
    assert not app.warning
