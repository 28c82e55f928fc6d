"""Private training as a value: it fills in as results come, and promises what its release draws."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dashboard import session, words
from dashboard.blocks import Ask, Block, Download, Picture, Rows, Slow, Text
from dashboard.case import Case
from dashboard.controls import Choice, Setting
from dashboard.question import CannotAsk, NoOffer, Offer, Question, Work
from dashboard.questions.training import PAGE, curves, predict_controls
from dashboard.questions.training.gentle_problems import LEVELS as GENTLE_LEVELS
from dashboard.questions.training.predict import Predict
from dashboard.questions.training.prepared_rows import prepared
from dashboard.questions.training.released_model import charted_epsilon
from dashboard.questions.training.training_code import rows_code
from dashboard.view import AXES, EPSILON_HIGH, EPSILON_LOW
from dashboard.widgets import finger
from dashboard.words import measured as measured_words
from dashboard.words import predict as said
from dpcore.calibration import gaussian_noise_multiplier
from dpcore.datasets import Column, Declaration, PrivateRows, Schema, Table, apply
from dpcore.release import question_digest
from dpcore.releases import draws
from dpcore.releases.whole_rows import SUM_UNIT
from dpcore.training import (
    RADIUS,
    RATES,
    BookGradientDescent,
    BoughtSteps,
    NoisyGradientDescent,
    ProvedDescent,
    ScaledSteps,
    book_spend,
    count_not_positive,
    rate,
    suitable,
)
from dpcore.training.losses import LOGISTIC, SQUARED
from dpcore.training.sweep import run_slice, trained
from dpcore.training.training_problem import BOUND
from tests.questions.following import same
from tests.questions.samples import KEYS, sample_case

TARGET = "training_accuracy_target-{}-{}"
FEW = ("mean radius", "mean texture", "mean smoothness")
ON_FEW = {"training_columns-breast_cancer-diagnosis": FEW, "training_seeds": 8, "training_drawn-accuracy-False": ()}


def asked_of(sample: str, epsilon: float = 0.5, **values: Any) -> Question:
    """The question before anything is simulated."""
    return Predict.ask(sample_case(sample, epsilon), Setting(values))


def with_results(case: Case, works: Iterable[Work], *, complete: bool = True) -> Case:
    found = {
        work.slot: tuple(work.run(work.common(), part) for part in (work.parts() if complete else work.parts()[:4]))
        for work in works
    }
    done = frozenset(found) if complete else frozenset()
    return replace(case, results=found, complete=done, finished=done)


def answered(case: Case, values: Mapping[str, Any], *, complete: bool = True) -> Question:
    """The question with its work done, here and now; not ``complete``, with the first few slices of it."""
    works = Predict.ask(case, Setting(values)).works
    return Predict.ask(with_results(case, works, complete=complete), Setting(values))


@cache
def on_few(epsilon: float, axis: str = "epsilon") -> Question:
    return answered(sample_case("breast_cancer", epsilon), {**ON_FEW, "training_axis": axis})


@cache
def few_curves() -> Case:
    """The case with all that is simulated along ε."""
    case = sample_case("breast_cancer", 0.5)
    return with_results(case, Predict.ask(case, Setting(ON_FEW)).works)


# -- following the finger ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("level", [EPSILON_LOW, 0.12, EPSILON_HIGH])
def test_whole_curves_follow_the_finger_and_say_what_the_page_says(
    level: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "Reader", lambda: Setting(ON_FEW))
    found = finger.told(Predict, few_curves(), level, dark=False)
    there = Predict.ask(replace(few_curves(), epsilon=level), Setting(ON_FEW))
    assert there.follows
    same(found, there)


def test_half_a_curve_does_not() -> None:
    case = sample_case("breast_cancer")
    assert not answered(case, ON_FEW, complete=False).follows
    assert not Predict.ask(case, Setting(ON_FEW)).follows


def test_two_uncertainties_are_two_numbers() -> None:
    """The noise by the models that were trained, the rows by the binomial law on those left out."""
    question = Predict.ask(few_curves(), Setting(ON_FEW))
    assert question.uncertain is not None
    assert question.outcomes is not None
    right, tested = question.outcomes.chances[0], int(question.caption.split("judged on ")[1].split()[0])
    spread = 1.28155**2 / tested  # Wilson's interval
    half = 1.28155 * ((right * (1 - right) + spread / 4) / tested) ** 0.5 / (1 + spread)
    assert question.uncertain.people == pytest.approx(half, rel=1e-5)
    low, high = (
        float(one) / 100 for one in re.findall(r"reach ([\d.]+) to ([\d.]+) right of", question.uncertain.sentence)[0]
    )
    assert question.uncertain.noise == pytest.approx((high - low) / 2, abs=1e-3)
    assert low <= right <= high


ON_NUMBER = {
    "training_columns-diabetes-progression": ("bmi", "s5", "bp"),
    "training_seeds": 8,
    "training_drawn-squared_error-False": (),
    "training_drawn-squared_error-True": (),
}


@cache
def number_curves() -> Case:
    """A number to predict, with all that is simulated along ε."""
    case = sample_case("diabetes", 1.0)
    return with_results(case, Predict.ask(case, Setting(ON_NUMBER)).works)


def test_two_uncertainties_of_a_number(monkeypatch: pytest.MonkeyPatch) -> None:
    """The rows' by the models themselves, trained once more: how far off they are, on rows drawn anew."""
    question = Predict.ask(number_curves(), Setting(ON_NUMBER))
    found = question.uncertain
    assert found is not None
    assert found.sign == "±"
    assert not found.in_100
    between = re.findall(
        r"an error of ([\d.]+) to ([\d.]+), each with noise of its own \(estimated from 8", found.sentence
    )[0]
    low, high = map(float, between)
    assert found.noise == pytest.approx((high - low) / 2, rel=0.02)
    assert low <= float(re.findall(r"is about \*\*([\d.]+)", question.headline)[0]) <= high
    assert "80 in 100" not in question.caption, "what is uncertain has a place of its own"
    sweep = question.works[0].common()
    errors = np.square(np.clip(trained(sweep, "noisy_gradient_descent", 1.0, 200), -1, 1) - sweep.y_test[:, None])
    rng = np.random.Generator(np.random.SFC64(1))
    anew = errors[rng.integers(0, len(errors), (2000, len(errors)))].mean(axis=1) - errors.mean(axis=0)
    assert found.people == pytest.approx(np.quantile(np.abs(anew), 0.8), rel=0.15)
    assert Predict.ask(replace(number_curves(), complete=frozenset()), Setting(ON_NUMBER)).uncertain is None
    monkeypatch.setattr(session, "Reader", lambda: Setting(ON_NUMBER))
    same(
        finger.told(Predict, number_curves(), 0.12, dark=False),
        Predict.ask(replace(number_curves(), epsilon=0.12), Setting(ON_NUMBER)),
    )


# -- filling in --------------------------------------------------------------------------------------------------------


def test_before_there_is_anything_nothing_is_claimed() -> None:
    question = asked_of("breast_cancer")
    assert "the first private models are being trained" in question.headline
    assert question.view.empty
    assert question.outcomes is None
    assert question.need.found is None
    assert question.need.waiting == said.WAITING
    assert isinstance(question.offer, Offer)
    assert question.offer.forecast == said.FORECAST_WAITING


def test_half_done_has_a_headline_and_no_reading() -> None:
    case = sample_case("breast_cancer")
    question = answered(case, ON_FEW, complete=False)
    assert "is right about **" in question.headline
    assert not question.view.empty
    assert question.view.picture("epsilon").figure(False)["data"]
    assert question.outcomes is None
    assert question.need.found is None
    works = Predict.ask(case, Setting(ON_FEW)).works
    stopped = replace(with_results(case, works, complete=False), finished=frozenset({"training-epsilon"}))
    assert Predict.ask(stopped, Setting(ON_FEW)).need.waiting == said.STOPPED


@pytest.mark.parametrize("axis", AXES)
def test_the_first_work_carries_the_headline_and_the_last_the_chart(axis: str) -> None:
    question = asked_of("breast_cancer", training_axis=axis)
    assert question.works[0].slot == curves.slot("epsilon")
    assert question.works[-1].slot == curves.slot(axis)
    sweep = question.works[-1].common()
    assert question.view.about.endswith(f", {sweep.seeds} models at each point")


def test_the_curves_over_epsilon_are_no_map() -> None:
    """Results along ε say nothing about a chart against rows: it stays empty until its own come."""
    values = {**ON_FEW, "training_axis": "n"}
    case = sample_case("breast_cancer")
    works = Predict.ask(case, Setting(values)).works
    question = Predict.ask(with_results(case, works[:1]), Setting(values))
    assert "is right about **" in question.headline
    assert question.view.empty


@pytest.mark.parametrize("axis", AXES)
def test_every_axis_is_drawn(axis: str) -> None:
    picture = on_few(0.5, axis).view.picture(axis)
    assert picture.alt
    for dark in (False, True):
        assert picture.figure(dark)["data"]


def test_one_number_everywhere() -> None:
    """Headline, dot, card and alternative text are one number."""
    question = on_few(0.5)
    found = question.headline.split("is right about **")[1].split(" times")[0]
    picture = question.view.picture("epsilon")
    dot = next(trace for trace in picture.figure(False)["data"] if trace.get("mode") == "markers")
    assert question.outcomes is not None
    assert f"{dot['y'][0]:.3g}" == found
    assert f"{100 * question.outcomes.chances[0]:.3g}" == found
    assert f"Noisy gradient descent {found} in 100" in picture.alt


def test_the_levels_reach_to_the_ends_of_the_slider() -> None:
    for levels in (curves.LEVELS, curves.COARSE, GENTLE_LEVELS):
        assert min(levels) == pytest.approx(EPSILON_LOW)
        assert max(levels) == pytest.approx(EPSILON_HIGH)


@pytest.mark.parametrize("sample", ["breast_cancer", "gapminder", "diabetes", "clinic"])
def test_what_a_widget_gives_back_is_the_same_question(sample: str) -> None:
    """A widget checks a default and gives it back: were it another value then, all would be simulated again."""
    read = Setting()
    plain = Predict.ask(sample_case(sample), read)
    given = {key: control.checked(control.default) for key, (_, control) in read.seen.items()}
    assert all(value == read.seen[key][1].default for key, value in given.items())
    assert [work.key for work in asked_of(sample, **given).works] == [work.key for work in plain.works]


# -- the verdict -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "guessing", "plain", "verdict"),
    [
        (0.726, 0.714, 0.73, "hardly better than always guessing the commonest (71.4): these columns tell little"),
        (0.714, 0.714, 0.95, "no better than always guessing the commonest (71.4): the noise drowns"),
        (0.60, 0.714, 0.95, "worse than always guessing the commonest (71.4): the noise drowns"),
        (
            0.95,
            0.60,
            0.97,
            ": enough for the goal of 90 set under “I need”, and better than always guessing the commonest (60)",
        ),
        (
            0.85,
            0.60,
            0.97,
            ": less than the goal of 90 set under “I need”, and better than always guessing the commonest (60)",
        ),
    ],
)
def test_the_headline_says_whether_it_is_good(value: float, guessing: float, plain: float, verdict: str) -> None:
    headline = measured_words.headline_right(0.5, value, guessing, plain, 0.9)
    assert verdict in headline
    assert ("enough for the" in headline) == (value >= 0.9)
    unsure = measured_words.headline_right(0.5, value, guessing, plain, 0.9, low=0.8)
    assert ("more than 1 in 10 models fall short" in unsure) == (value >= 0.9)


@pytest.mark.parametrize(
    ("value", "plain", "verdict"),
    [
        (0.095, 0.094, "hardly better than always guessing the average (0.1): these columns tell little"),
        (0.2, 0.01, "no better than always guessing the average (0.1): the noise drowns"),
        (0.02, 0.01, ": within the limit of 0.03 set under “I accept”"),
        (0.05, 0.01, ": more than the limit of 0.03 set under “I accept”"),
    ],
)
def test_so_does_that_of_a_number(value: float, plain: float, verdict: str) -> None:
    assert verdict in measured_words.headline_error(0.5, value, 0.1, plain, 0.03)


def test_the_page_opens_with_a_model_clearly_better_than_guessing() -> None:
    question = answered(sample_case(PAGE.example), {"training_drawn-accuracy-False": (), "training_seeds": 8})
    value, guess = question.outcomes.chances[0], float(question.headline.split("commonest (")[1].split(")")[0]) / 100
    assert value > guess + 0.15
    assert ": enough for the" in question.headline
    assert EPSILON_LOW < question.need.found.epsilon < EPSILON_HIGH


@pytest.mark.thorough
def test_a_method_that_does_clearly_better_is_named() -> None:
    """On a sample, with what it reaches; not of a person's own file, whose picture must not choose for them."""
    few = {"training_seeds": 8}
    question = answered(sample_case(PAGE.example), few)
    found = question.need.better
    assert found is not None
    assert "Noisy descent on steps" in found.sentence
    taken = answered(sample_case(PAGE.example), few | {found.control: found.value})
    assert taken.view.main == found.value, "the click takes what was named"
    assert taken.need.better is None
    alone = answered(sample_case(PAGE.example), few | {"training_drawn-accuracy-False": ()})
    assert alone.need.better is None


@pytest.mark.parametrize(
    ("goal", "epsilon"),
    [(99.99, None), (1.0, EPSILON_LOW)],
)
def test_beyond_what_was_simulated_nothing_is_claimed(goal: float, epsilon: float | None) -> None:
    key = TARGET.format("breast_cancer", "diagnosis")
    found = answered(sample_case("breast_cancer"), {**ON_FEW, key: goal}).need.found
    assert found.epsilon == epsilon
    assert not found.sized
    assert found.possible == (goal == 1.0)


def test_how_many_rows_would_do_is_said_where_they_were_simulated() -> None:
    found = on_few(0.5, "n").need.found
    assert found.sized
    assert found.searched[0] < 455 < found.searched[1]
    assert on_few(0.5).need.hint == said.HINT_ROWS
    assert on_few(0.5, "n").need.hint == ""


# -- the release -------------------------------------------------------------------------------------------------------


def released_accuracy(question: Question, sample: str, epsilon: float, times: int) -> tuple[float, float]:
    """Mean accuracy, and its standard error, of what the offer's own request would draw from the training rows."""
    request = question.offer.request
    case = sample_case(sample, epsilon)
    split = np.random.Generator(np.random.SFC64(7)).permutation(case.table.rows)
    cut = round(0.2 * split.size)
    train, test = split[cut:], split[:cut]
    rows = request.read(PrivateRows(case.table.frame.iloc[train].reset_index(drop=True)))
    rng = np.random.Generator(np.random.PCG64(5))
    noise = request.sensitivity * request.noise_multiplier
    counted = request.count_sensitivity * request.noise_multiplier
    weights = [
        request.descend(
            lambda at: rows.sums(at) + np.rint(rng.normal(0.0, noise, request.features.d)).astype(np.int64),
            max(2, round(len(train) + rng.normal(0.0, counted))),  # the count is bought
        )
        for _ in range(times)
    ]
    found = request.features.prepare(case.table)
    right = [float((np.sign(found.X[test] @ one) == found.y[test]).mean()) for one in weights]
    return float(np.mean(right)), float(np.std(right) / times**0.5)


def forecast_is_of_the_request(question: Question, epsilon: float) -> bool:
    """Whether what the page promises is what the request draws, within the luck of both simulations."""
    promised = float(question.offer.forecast.split("right about ")[1].split(".")[0].split(" ")[0]) / 100
    truth, error = released_accuracy(question, "breast_cancer", epsilon, 16)
    return abs(promised - truth) < 0.02 + 4 * error


@pytest.mark.parametrize("epsilon", [0.2, 1.0])
def test_the_forecast_is_of_the_very_release(epsilon: float) -> None:
    question = on_few(epsilon)
    assert isinstance(question.offer, Offer)
    assert forecast_is_of_the_request(question, epsilon)
    assert question.offer.request.cost.epsilon == epsilon
    assert question.offer.request.cost.delta == 1e-6  # a tenth of the practice budget's


def test_a_swapped_request_is_caught() -> None:
    question = on_few(1.0)
    other = replace(question.offer, request=replace(question.offer.request, epsilon=0.02))
    assert not forecast_is_of_the_request(replace(question, offer=other), 1.0)


@pytest.mark.parametrize("epsilon", [0.05, 0.5, 5.0])
def test_the_release_has_the_noise_the_forecast_is_read_at(epsilon: float) -> None:
    request = asked_of("breast_cancer", epsilon).offer.request
    level = charted_epsilon(request)
    charted = NoisyGradientDescent(epsilon=level, delta=request.delta)
    assert level <= epsilon
    assert charted.noise_multiplier == pytest.approx(request.noise_multiplier, rel=1e-6)
    assert gaussian_noise_multiplier(level, request.delta, request.steps) == pytest.approx(charted.noise_multiplier)
    assert request.releases == request.steps + 1  # nobody declared how many rows there are: the count is one more
    assert (charted.steps, charted.clip, charted.momentum, charted.tail) == (
        request.steps,
        request.clip,
        request.momentum,
        request.tail,
    )
    assert request.sensitivity * SUM_UNIT == pytest.approx(charted.sensitivity, rel=1e-6)
    assert request.sensitivity * request.noise_multiplier < draws.LARGEST_SCALE


@pytest.mark.parametrize(("sample", "target", "loss"), [("clinic", "returned", LOGISTIC), ("diabetes", "bmi", SQUARED)])
def test_what_no_release_draws_says_so_and_names_the_nearest(sample: str, target: str, loss: Any) -> None:
    metric = "accuracy" if loss is LOGISTIC else "squared_error"
    kinds = suitable(loss, 10)
    for method, kind in kinds.items():
        values = {"training_target": target, f"training_method-{metric}": method}
        offer = asked_of(sample, **values).offer
        if kind.about.release is None:
            assert isinstance(offer, NoOffer)
            key, value, _ = offer.instead
            assert isinstance(asked_of(sample, **values | {key: value}).offer, Offer)
        else:
            assert isinstance(offer, Offer)
            assert offer.request.key == kind.about.release


def test_what_is_shown_beside_it_never_changes_the_release() -> None:
    plain = asked_of("breast_cancer", **ON_FEW).offer.request
    seen = {"training_metric-accuracy": "excess_risk", "training_seeds": 20, "seed": 9.0, "training_axis": "both"}
    seen |= {"training_drawn-accuracy-False": ("dp_sgd",), "training_settings": 3.0, "training_lesson": "clip"}
    assert asked_of("breast_cancer", **(ON_FEW | seen)).offer.request == plain


def own(case: Case, table: Table, people: int | None = None) -> Case:
    """A person's own file, whose columns were all declared."""
    mine = replace(
        case.source,
        key="own-1",
        mode="what_if",
        practice=False,
        table=table,
        declared=replace(Declaration.of(table.schema), people=people),
        rows=lambda: PrivateRows(table.frame.astype(str)),
    )
    return replace(case, source=mine)


@pytest.mark.parametrize(
    ("smokes", "age", "why"),
    [
        (["yes"] * 40, range(40), "has only one class"),
        (["yes", "no"] * 20, [30] * 40, "has the same value in every row"),
        (["yes", "no"] * 5, range(10), "at least 20"),
    ],
)
def test_bad_tables_are_refused_in_one_sentence(smokes: list[str], age: Iterable[int], why: str) -> None:
    """One class, a constant column alone, too few rows."""
    columns = (Column(name="smokes", type="yes/no"), Column(name="age", type="integer", low=0.0, high=100.0))
    schema = Schema(columns=columns)
    frame = apply(schema, pd.DataFrame({"smokes": smokes, "age": [str(one) for one in age]})).frame
    table = Table(frame=frame, schema=schema, fingerprint=f"test {why}", lineage="test")
    with pytest.raises(CannotAsk, match=why) as refused:
        Predict.ask(own(sample_case("clinic"), table), Setting({"training_target": "smokes"}))
    assert str(refused.value).count(".") == 1


def own_table(rows: int, constant: bool = False, ages: int = 50) -> Table:
    schema = Schema(
        columns=(
            Column(name="smokes", type="yes/no"),
            Column(name="age", type="integer", low=0.0, high=100.0),
            Column(name="ward", type="category", categories=("a", "b")),
        )
    )
    wards = ["a"] * rows if constant else ["a", "b"] * (rows // 2) + ["a"] * (rows % 2)
    written = {
        "smokes": (["yes", "no", "no"] * rows)[:rows],
        "age": [str(20 + place % ages) for place in range(rows)],
        "ward": wards,
    }
    return Table(
        frame=apply(schema, pd.DataFrame(written)).frame,
        schema=schema,
        fingerprint=f"own {rows} {constant} {ages}",
        lineage=None,
    )


NEIGHBOURS = (own_table(40), own_table(41), own_table(40, constant=True), own_table(41, ages=1))


def promised(question: Question) -> tuple[Any, ...]:
    """All that a person is told about a release before it is drawn."""
    offer = question.offer
    if isinstance(offer, NoOffer):
        return (offer.sentence, offer.instead)
    return (offer.request, offer.request.cost, offer.forecast, offer.before, question.protected)


def begun(case: Case, values: Mapping[str, Any]) -> tuple[Question, dict[str, Any]]:
    """The question after its work, and what every control begins with and offers."""
    read = Setting(values)
    done = with_results(case, Predict.ask(case, Setting(values)).works)
    question = Predict.ask(done, read)
    controls = {key: (control.default, getattr(control, "options", None)) for key, (_, control) in read.seen.items()}
    return question, controls


def interferes(cases: Iterable[Case], values: Mapping[str, Any]) -> bool:
    """Whether what is promised, or what the controls begin with, differs between neighbouring files."""
    first, *others = [begun(case, values) for case in cases]
    return any(promised(one) != promised(first[0]) or controls != first[1] for one, controls in others)


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"training_target": "age"},
        {"training_method-accuracy": "objective_perturbation"},
        {"training_numbers": "steps", "training_pairs-own~11-smokes": ('["age", "ward"]',)},
    ],
)
@pytest.mark.parametrize("people", [None, 45])
def test_neighbouring_files_are_promised_the_same(values: Mapping[str, Any], people: int | None) -> None:
    """The same clicks give equal requests, costs, forecasts, sentences and defaults, whatever the rows hold."""
    few = {"training_seeds": 8, "training_drawn-accuracy-False": (), "training_drawn-squared_error-False": ()}
    tables = NEIGHBOURS[:3] if values.get("training_target") == "age" else NEIGHBOURS
    cases = [own(sample_case("clinic"), table, people) for table in tables]
    assert not interferes(cases, few | values)
    if "training_method-accuracy" not in values:
        offer = Predict.ask(cases[0], Setting(values)).offer
        assert isinstance(offer, Offer)
        assert offer.request.people == people
        assert offer.request.features.paired == ((("age", "ward"),) if "training_numbers" in values else ())
        assert ("bought" in offer.before[-1].markdown) == (people is None)


def test_the_picture_and_the_release_cut_numbers_alike() -> None:
    """The choice is one: the chart trains on what the request trains on, and another choice is another request."""
    line, steps = (asked_of("breast_cancer", **ON_FEW, training_numbers=how) for how in ("line", "steps"))
    assert asked_of("breast_cancer", **ON_FEW).works[0].key == line.works[0].key
    for question, cut in ((line, False), (steps, True)):
        request = question.offer.request
        assert all(bool(column.levels) == cut for column in request.features.columns)
        assert question.works[0].common().X.shape[1] == request.features.d
    assert line.works[0].key != steps.works[0].key
    assert question_digest(line.offer.request) != question_digest(steps.offer.request)
    assert line.offer.request.cost == steps.offer.request.cost


@pytest.mark.parametrize("method", ["noisy_gradient_descent", "scaled_descent"])
def test_columns_that_act_together_do_so_in_the_picture_the_request_and_the_script(method: str) -> None:
    """Chosen among the columns in use; they are said before the release and cost nothing."""
    values = {**ON_FEW, "training_method-accuracy": method}
    key, pair = "training_pairs-breast_cancer-diagnosis", '["mean radius", "mean smoothness"]'
    read = Setting({**values, key: (pair,)})
    alone, together = asked_of("breast_cancer", **values), Predict.ask(sample_case("breast_cancer", 0.5), read)
    _, control = read.seen[key]
    assert len(control.options) == 3
    assert control.names(pair) == "mean radius with mean smoothness"
    request = together.offer.request
    assert request.features.paired == (("mean radius", "mean smoothness"),)
    assert alone.offer.request.features.paired == ()
    assert question_digest(request) != question_digest(alone.offer.request)
    assert request.cost == alone.offer.request.cost
    sweeps = [question.works[0].common() for question in (alone, together)]
    cells = request.features.pairs[0].cells
    assert sweeps[1].X.shape[1] == sweeps[0].X.shape[1] + cells
    assert sweeps[1].coded.shape[1] == sweeps[0].coded.shape[1] + cells
    if method == "noisy_gradient_descent":
        assert sweeps[1].X.shape[1] == request.features.d
    case = sample_case("breast_cancer", 0.5)
    task = prepared(case, "diagnosis", FEW, "malignant", steps=True, pairs=request.features.paired)
    script: dict[str, Any] = {}
    exec(rows_code(case, task, 40, (), ""), script)  # noqa: S102 - our own script, as a person would run it
    np.testing.assert_array_equal(script["rows"].X, task.rows.X[:40])
    assert together.works[0].key != alone.works[0].key
    assert [block.markdown for block in together.offer.before if "act together" in block.markdown]
    assert len(together.offer.before) == len(alone.offer.before) + 1
    assert control.checked([pair, '["mean radius", "mean area"]']) == (pair,), "without a column its pairs go, alone"


def test_no_list_of_pairs_that_nobody_reads() -> None:
    read = Setting()
    chosen, group = predict_controls.columns(sample_case("digits"), "digit", read)
    assert chosen.pairs == ()
    assert len(chosen.columns) > predict_controls.MOST_PAIRED
    assert not any(key.startswith("training_pairs") for key in read.seen)
    assert group.notes == (said.TOO_MANY_TO_PAIR,)


def test_the_forecast_of_a_cut_model_is_of_the_very_release() -> None:
    question = answered(sample_case("breast_cancer", 1.0), {**ON_FEW, "training_numbers": "steps"})
    assert forecast_is_of_the_request(question, 1.0)


def test_an_exact_number_of_rows_in_the_request_is_caught() -> None:
    cases = [own(sample_case("clinic"), table, table.rows) for table in NEIGHBOURS]
    assert interferes(cases, {"training_seeds": 8, "training_drawn-accuracy-False": ()})


def test_a_column_that_never_varies_is_left_out_of_the_picture_alone() -> None:
    case = own(sample_case("clinic"), own_table(40, constant=True))
    question = Predict.ask(case, Setting())
    assert any("“ward” has the same value in every row" in note for note in question.notes)
    sweep = question.works[0].common()
    assert sweep.X.shape[1] == 2  # the age and the constant 1


# -- theory ------------------------------------------------------------------------------------------------------------


def of_excess(**values: Any) -> tuple[Question, pd.DataFrame]:
    """The question about excess risk with the proved method drawn, and the numbers of its chart."""
    drawn = {"training_drawn-accuracy-False": ("proved_descent",), "training_metric-accuracy": "excess_risk"}
    question = answered(sample_case("breast_cancer"), ON_FEW | drawn | values)
    picture = question.view.picture("epsilon")
    assert isinstance(picture.data, pd.DataFrame)
    return question, picture.data


def test_theorems_are_about_the_ball_that_risk_is_measured_over() -> None:
    question, data = of_excess()
    lines = {key: part.set_index("epsilon")["value"] for key, part in data.groupby("method")}
    n, d = int(data["n"].iloc[0]), len(FEW) + 1
    steepest = LOGISTIC.lipschitz(RADIUS)
    for level in (0.1, 1.0):
        for name in RATES:
            height = rate(name, d=d, epsilon=level, n=n, delta=1e-6, radius=RADIUS, lipschitz=steepest)
            assert lines[name][level] == pytest.approx(float(height))
        proved = ProvedDescent(epsilon=level, delta=1e-6)
        assert lines[BOUND][level] == pytest.approx(proved.excess_bound(n, d))
    assert (lines[BOUND] >= lines["proved_descent"]).all()
    assert all("up to a constant" in about.name for about in RATES.values())
    assert question.headline


def test_how_loose_the_bound_is_stands_below_the_chart() -> None:
    question, data = of_excess()
    lines = {key: part[["epsilon", "value"]] for key, part in data.groupby("method")}
    at = [
        np.interp(np.log(0.5), np.log(lines[key]["epsilon"]), lines[key]["value"]) for key in (BOUND, "proved_descent")
    ]
    note = question.view.picture("epsilon").note
    assert f"loose by ×{at[0] / at[1]:.3g}" in note
    assert f"R = {RADIUS:g}" in note
    without, _ = of_excess(**{"training_drawn-accuracy-False": ()})
    assert "draw “Noisy gradient descent, as proved” beside it" in without.view.picture("epsilon").note
    assert "loose" not in on_few(0.5).view.picture("epsilon").note


def textbook_tab(question: Question) -> tuple[str, list[Picture]]:
    """The tab about the textbook with its work done: its words, and its pictures."""
    blocks = list(next(tab for tab in question.tabs if tab.key == "textbook").blocks())
    for block in list(blocks):
        blocks += block.show(block.work(block.common(), None)) if isinstance(block, Slow) else []
    assert pictures(blocks) >= 2
    told = " ".join(block.markdown for block in blocks if isinstance(block, Text))
    return told, [block for block in blocks if isinstance(block, Picture)]


@pytest.mark.parametrize(("step_epsilon", "steps"), [(0.1, 10), (0.001, 100), (0.01, 1)])
def test_the_textbook_s_run_under_every_accountant(step_epsilon: float, steps: int) -> None:
    told, drawn = textbook_tab(
        asked_of("clinic", training_delta=1e-5, textbook_step_epsilon=step_epsilon, textbook_steps=steps)
    )
    spent = book_spend([step_epsilon], steps=steps).iloc[0]
    assert f"cost ε = {words.no_less(spent['exact'])}" in told.replace("the exact cost is ε", "cost ε")
    assert steps == 1 or f"loose by ×{spent['added_up'] / spent['exact']:.3g}" in told
    shown = drawn[0].data
    assert isinstance(shown, pd.DataFrame)
    assert {"basic", "advanced", "zcdp", "rdp", "pld", "added_up", "exact"} <= set(shown.columns)
    for never in ("wrong", "most of the difference"):
        assert never not in told


def test_the_count_that_the_textbook_divides_by() -> None:
    told, _ = textbook_tab(asked_of("clinic", textbook_step_epsilon=0.01))
    chance = float(count_not_positive(253, 0.01))
    assert f"about {100 * chance:.3g} times in 100" in told  # 4 in 100


def test_the_textbook_s_accuracy_is_one_curve_on_three_axes() -> None:
    beside = {"training_drawn-accuracy-False": ("book_gradient_descent",), "training_seeds": 8}
    _, drawn = textbook_tab(answered(sample_case("clinic"), beside))
    shown = drawn[1].data
    assert isinstance(shown, pd.DataFrame)
    values = [part["value"].tolist() for _, part in shown.groupby("method")]
    assert values[0] == values[1] == values[2]
    levels = {key: part["epsilon"].to_numpy() for key, part in shown.groupby("method")}
    np.testing.assert_allclose(levels["step"] * 11, levels["added"])
    for place in (0, 5):
        run = BookGradientDescent(epsilon=levels["added"][place], delta=1e-6)
        assert levels["exact"][place] == pytest.approx(run.true_epsilon)


@pytest.mark.parametrize(("sample", "largest"), [("town", "too few steps"), ("clinic", "accounting")])
def test_what_keeps_the_textbook_from_the_best_is_computed(sample: str, largest: str) -> None:
    """On one table the ten steps are the limit, on the other the noise that the plain sum asks for."""
    told, drawn = textbook_tab(asked_of(sample))
    named = told.split("largest part of that: ")[-1] if "largest part" in told else told.split("larger: ")[1]
    assert largest in named.split("In all")[0]
    parts = drawn[-1].data
    assert isinstance(parts, pd.DataFrame)
    assert f"{parts['excess_risk'].sum():.3g} to the best one" in told


# -- everything asks ---------------------------------------------------------------------------------------------------


def opened(sample: str, **values: Any) -> Question | str:
    """The question, or the sentence that says why it cannot be asked."""
    try:
        return asked_of(sample, **values)
    except CannotAsk as error:
        return str(error)


@pytest.mark.parametrize("sample", KEYS)
def test_every_sample_opens_or_says_why_not(sample: str) -> None:
    question = opened(sample)
    if isinstance(question, str):
        assert question.endswith(".")
        return
    for tab in question.tabs:
        assert tab.blocks()
    assert question.works[0].parts()


@pytest.mark.parametrize("sample", ["clinic", "wine"])
def test_lessons_and_gentle_problems_show_what_they_worked_out(sample: str) -> None:
    values = {"training_lesson": "clip", "simple_about": "line"}
    question = asked_of(sample, **(values if sample == "wine" else {}))
    slow = [block for tab in question.tabs for block in tab.blocks() if isinstance(block, Slow)]
    assert len(slow) == 7
    for block in slow:
        assert pictures(block.show(block.work(block.common(), None)))


def pictures(blocks: Iterable[Block]) -> int:
    drawn = [block.figure(dark) for block in blocks if hasattr(block, "figure") for dark in (False, True)]
    assert all(figure["data"] for figure in drawn)
    return len(drawn)


def test_every_option_of_every_control_asks() -> None:
    read = Setting()
    Predict.ask(sample_case("gapminder"), read)
    for key, (_, control) in read.seen.items():
        for option in list(control.options)[:6] if isinstance(control, Choice) else []:
            question = opened("gapminder", **{key: option})
            assert question.endswith(".") if isinstance(question, str) else question.works[0].parts()


@pytest.mark.parametrize("numbers", ["line", "steps"])
def test_a_model_can_be_tried_below_its_answer(numbers: str) -> None:
    question = asked_of("gapminder", 5.0, training_numbers=numbers)
    answer = question.offer.request.answer(question.offer.data())
    receipt: Any = SimpleNamespace(answer=answer, request_id="a" * 32, journal_hash="b")
    blocks = question.offer.below(receipt)
    assert any(isinstance(block, Download) for block in blocks)
    assert len(next(block for block in blocks if isinstance(block, Ask)).controls) == 3
    assert any(isinstance(block, Text) and block.markdown.startswith("It predicts **") for block in blocks)
    assert question.offer.describe(answer).startswith("A model that predicts “continent: ")


# -- descent on steps, and how far a model can be trusted --------------------------------------------------------------

ON_STEPS = {**ON_FEW, "training_method-accuracy": "scaled_descent"}


def test_a_model_on_steps_is_forecast_and_asked_for_as_it_is_drawn() -> None:
    """The request cuts all numbers at the public cuts, whatever the others do with them; its forecast is read at the
    level at which the chart's models have its noise."""
    question = answered(sample_case("breast_cancer", 1.0), ON_STEPS)
    request = question.offer.request
    assert request.key == "scaled_model"
    assert all(len(column.levels) == 2 for column in request.features.columns)
    level = charted_epsilon(request)
    assert level < 1.0
    charted = ScaledSteps(epsilon=level, delta=request.delta).descent()
    assert charted.noise_multiplier == pytest.approx(request.noise_multiplier, rel=1e-6)
    assert charted.step_noise == pytest.approx(request.noise_of(request.steps_share / request.steps), rel=1e-6)
    assert charted.calibration_noise == pytest.approx(request.noise_of(request.calibrated), rel=1e-6)
    found = float(question.headline.split("is right about **")[1].split(" times")[0])
    assert f"right about {found:.2g}"[:13] in question.offer.forecast
    lines = asked_of("breast_cancer", 1.0, **(ON_STEPS | {"training_numbers": "steps"})).offer.request
    assert lines == request


ON_BOUGHT = {
    **ON_FEW,
    "training_columns-breast_cancer-diagnosis": FEW[:2],
    "training_method-accuracy": "bought_steps",
    "training_drawn-accuracy-True": ("scaled_descent",),
}


@pytest.mark.thorough
def test_a_model_on_bought_cuts_is_forecast_as_it_is_drawn_beside_the_free_ones(monkeypatch) -> None:
    """The page's models spend the share that the request spends, at the request's noise; the free line is there, and a
    sentence says when buying pays."""
    monkeypatch.setattr(curves, "LEVELS", (EPSILON_LOW, 0.5, 1.0, EPSILON_HIGH))  # each model buys its own: few do
    question = answered(sample_case("breast_cancer", 1.0), ON_BOUGHT)
    request = question.offer.request
    assert request.key == "bought_model"
    assert not any(column.levels for column in request.features.columns)
    level = charted_epsilon(request)
    charted = BoughtSteps(epsilon=level, delta=request.delta).descent()
    assert charted.noise_multiplier == pytest.approx(request.noise_multiplier, rel=1e-6)
    assert charted.step_noise == pytest.approx(request.noise_of(request.steps_share / request.steps), rel=1e-6)
    assert charted.cuts_noise == pytest.approx(request.noise_of(request.cuts_share), rel=1e-6)
    found = float(question.headline.split("is right about **")[1].split(" times")[0])
    assert f"right about {found:.2g}"[:13] in question.offer.forecast
    assert {"bought_steps", "scaled_descent"} <= set(question.view.frame["method"])
    (told,) = [note for note in question.notes if said.WORTH_BUYING in note]
    assert told.startswith(f"With bought cuts: right {found:.3g} times in 100; with free ones at round numbers: right ")
    assert any("2 columns are cut is bought** with 10 in 100" in block.markdown for block in question.offer.before)
    free = asked_of("breast_cancer", 1.0, **(ON_BOUGHT | {"training_method-accuracy": "scaled_descent"}))
    assert free.offer.request.cost == request.cost
    assert not any(said.WORTH_BUYING in note for note in free.notes)
    (slow,) = next(tab for tab in question.tabs if tab.key == "trust").blocks()
    assert slow.work(slow.common(), None).confusion.sum() == pytest.approx(114)


def test_cuts_are_bought_by_what_is_declared_alone() -> None:
    """Offered where a chosen column is a number or a date, though it has one value in this very file; else not."""
    values = {"training_method-accuracy": "bought_steps"}
    asked = [Predict.ask(own(sample_case("clinic"), table), Setting(values)) for table in NEIGHBOURS]
    assert len({repr(promised(question)) for question in asked}) == 1
    assert asked[0].offer.request.key == "bought_model"
    words = Setting({"training_columns-own~11-smokes": ("ward",)})
    Predict.ask(own(sample_case("clinic"), NEIGHBOURS[0]), words)
    _, control = words.seen["training_method-accuracy"]
    assert "scaled_descent" in control.options
    assert "bought_steps" not in control.options


@pytest.mark.parametrize(
    ("method", "kind", "told", "worth"),
    [
        ("paired_steps", "paired_model", "Which 3 pairs of columns act together is bought", said.WORTH_PAIRING),
        (
            "chosen_steps",
            "chosen_model",
            "Choosing among 4 ways to build the model costs 10 in 100",
            said.WORTH_CHOOSING,
        ),
    ],
)
def test_what_pairs_and_ways_cost_is_said_before_the_click(method, kind, told, worth) -> None:
    """The release's noise is the simulated one's; the price, when it pays, and no more on the first screen."""
    chosen = ON_FEW | {"training_method-accuracy": method}
    question = asked_of("breast_cancer", 1.0, **chosen)
    request = question.offer.request
    assert request.key == kind
    before = " ".join(block.markdown for block in question.offer.before)
    assert told in before
    assert worth in question.notes
    if kind == "chosen_model":
        assert "built as at ε = 0.945 instead of 1" in before
    first = asked_of("breast_cancer", 1.0, **ON_FEW)
    assert [one.key for one in question.sentence[2].controls] == [one.key for one in first.sentence[2].controls]
    assert worth not in first.notes
    sweep = question.works[0].common()
    level = charted_epsilon(request)
    made = sweep.method(method, level).descent()
    assert made.noise_multiplier == pytest.approx(request.noise_multiplier, rel=1e-6)
    part = next(one for one in sweep.parts() if one.method == method)
    found = run_slice(sweep, replace(part, epsilon=(4.0,), replicas=1)).values["accuracy"]
    assert found.shape == (1, 1)
    assert 0.8 < found[0, 0] <= 1.0


def test_lines_cut_into_steps_leave_the_models_on_steps_as_they_are() -> None:
    """Whether numbers are cut for the other methods is theirs alone: those on steps train on all public cuts."""
    rows = [
        asked_of("breast_cancer", 1.0, **ON_STEPS, training_numbers=way).works[0].common().coded.shape
        for way in ("line", "steps")
    ]
    assert rows[0] == rows[1]


ALL_CLASSES = {"training_apart-wine-cultivar": True, "training_seeds": 8}


@cache
def all_classes() -> Question:
    return answered(sample_case("wine", 2.0), ALL_CLASSES)


@pytest.mark.thorough
def test_all_classes_are_told_apart_by_one_model_on_the_page_and_in_the_release() -> None:
    """A folded choice: it changes the model that is simulated, asked for and forecast, never its cost."""
    question, read = all_classes(), Setting(ALL_CLASSES)
    first = Predict.ask(sample_case("wine", 2.0), read)
    place, control = read.seen["training_apart-wine-cultivar"]
    assert (place, control.default) == ("sentence", False)
    assert "training_class-wine-cultivar" not in read.seen
    assert read.seen["training_metric-classes"][1].options == ("accuracy",)
    sweep, request = first.works[0].common(), question.offer.request
    assert (sweep.classes, sweep.methods) == (3, ("scaled_descent",))
    assert request.key == "scaled_model"
    assert request.features.apart
    assert request.features.classes == sample_case("wine").table.schema.column("cultivar").categories
    one = asked_of("wine", 2.0, **{"training_method-accuracy": "scaled_descent"}).offer.request
    assert one.cost == request.cost
    assert question_digest(one) != question_digest(request)
    level = charted_epsilon(request)
    charted = ScaledSteps(epsilon=level, delta=request.delta, classes=3).descent()
    assert charted.step_noise == pytest.approx(request.noise_of(request.steps_share / request.steps), rel=1e-6)
    assert charted.calibration_noise == pytest.approx(request.noise_of(request.calibrated), rel=1e-6)
    found = float(question.headline.split("is right about **")[1].split(" times")[0])
    assert found > 80.0
    assert "right about" in question.offer.forecast
    assert "always guessing the commonest" in question.headline
    assert not question.view.empty
    assert [tab.key for tab in question.tabs] == ["trust", "what_if", "others"]


def test_neighbouring_files_are_promised_the_same_model_of_all_classes() -> None:
    """Whatever the rows hold, a class that nobody has among them: classes are those that were declared."""
    schema = Schema(
        columns=(
            Column(name="job", type="category", categories=("office", "farm", "school")),
            Column(name="age", type="integer", low=0.0, high=100.0),
            Column(name="smokes", type="yes/no"),
        )
    )
    found = []
    for rows, jobs in ((40, ("office", "farm")), (41, ("office", "farm")), (41, ("farm", "school"))):
        written = {
            "job": [jobs[place % 2] for place in range(rows)],
            "age": [str(20 + place) for place in range(rows)],
            "smokes": ["yes", "no", "no"] * (rows // 3) + ["no"] * (rows % 3),
        }
        frame = apply(schema, pd.DataFrame(written)).frame
        table = Table(frame=frame, schema=schema, fingerprint=f"jobs {rows} {jobs}", lineage=None)
        values = {"training_target": "job", "training_apart-own~11-job": True}
        question = Predict.ask(own(sample_case("clinic"), table), Setting(values))
        assert question.offer.request.features.apart
        found.append(repr(promised(question)))
    assert len(set(found)) == 1


@pytest.mark.thorough
def test_the_tab_says_which_classes_are_confused() -> None:
    (slow,) = next(tab for tab in all_classes().tabs if tab.key == "trust").blocks()
    found = slow.work(slow.common(), None)
    assert found.confusion.shape == (3, 3)
    blocks = slow.show(found)
    classes, whole = (block.frame for block in blocks if isinstance(block, Rows))
    assert len(classes) == len(whole) == 3
    assert float(classes.iloc[0, 2]) == pytest.approx(100 * found.confusion[0, 0] / found.confusion[0].sum(), rel=0.01)
    assert float(whole.iloc[1, 1]) == pytest.approx(found.confusion[1, 0], rel=0.01)
    text = " ".join(block.markdown for block in blocks if isinstance(block, Text))
    assert f"tells {np.trace(found.confusion):.3g} of {found.confusion.sum():.3g} rows right" in text
    assert f"**{100 * found.balanced.mean():.3g} in 100** (balanced accuracy; guessing reaches 33.3)" in text
    picture = next(block for block in blocks if isinstance(block, Picture))
    assert len(picture.figure(False)["data"]) == 2


def test_a_model_of_all_classes_can_be_tried_below_its_answer() -> None:
    offer = all_classes().offer
    answer = replace(offer.request, steps=20).answer(offer.data())
    receipt: Any = SimpleNamespace(answer=answer, request_id="a" * 32, journal_hash="b")
    told = [block.markdown for block in offer.below(receipt) if isinstance(block, Text)]
    assert any(text.startswith("It predicts **") for text in told)
    assert offer.describe(answer).startswith("A model that predicts “cultivar: which of 3 classes” from 13 columns")


def test_excess_risk_keeps_a_chart_where_the_method_has_none() -> None:
    values = {**ON_STEPS, "training_metric-accuracy": "excess_risk"}
    question = answered(sample_case("breast_cancer", 1.0), values)
    assert "is right about **" in question.headline
    assert question.need.waiting == said.NOT_MEASURED
    assert not question.view.empty
    drawn = question.view.picture("epsilon")
    assert "Noisy gradient descent" in drawn.alt


@pytest.mark.parametrize("method", ["noisy_gradient_descent", "scaled_descent"])
def test_the_tab_tells_how_far_to_trust_it(method) -> None:
    """One number everywhere: the confusion table adds up to the test rows and gives the accuracy of the models."""
    values = {**ON_FEW, "training_method-accuracy": method}
    question = Predict.ask(sample_case("breast_cancer", 1.0), Setting(values))
    (slow,) = next(tab for tab in question.tabs if tab.key == "trust").blocks()
    found = slow.work(slow.common(), None)
    assert found.confusion.sum() == pytest.approx(114)
    blocks = slow.show(found)
    picture = next(block for block in blocks if isinstance(block, Picture))
    for dark in (False, True):
        assert len(picture.figure(dark)["data"]) == 2
    text = " ".join(block.markdown for block in blocks if isinstance(block, Text))
    assert f"finds {found.confusion[1, 1]:.3g} and misses {found.confusion[1, 0]:.3g}" in text
    assert f"**{100 * found.balanced.mean():.3g} in 100** (balanced accuracy" in text
    assert f"{100 * found.gap:.3g} in 100 away" in text


def test_a_number_has_its_error_in_its_own_unit() -> None:
    question = asked_of("diabetes", 2.0)
    (slow,) = next(tab for tab in question.tabs if tab.key == "trust").blocks()
    errors = slow.work(slow.common(), None)
    (block,) = slow.show(errors)
    column = sample_case("diabetes").table.schema.column("progression")
    own = float(errors.mean()) * (column.high - column.low) / 2
    assert f"off by about {own:.3g} in “progression”" in block.markdown


def test_no_picture_of_a_lesson_has_the_name_of_what_follows_the_finger() -> None:
    """The page has a part of that name itself, and both are in one run where the lesson was worked out before."""
    question = Predict.ask(sample_case("clinic"), Setting({"training_seeds": 8}))
    (tab,) = [one for one in question.tabs if one.key == "lessons"]
    slow = next(block for block in tab.blocks() if isinstance(block, Slow))
    pictures = [one for one in slow.show(slow.work(slow.common(), None)) if isinstance(one, Picture)]
    assert pictures
    assert f"{question.view.page}-steps" not in [one.key for one in pictures]
