"""Two classes can be measured by how many of one are found, or by both alike: headline, dots, what is needed and what
is better then speak of that, and the release is the same."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest

from dashboard import session
from dashboard.case import Case
from dashboard.controls import Setting
from dashboard.question import Question
from dashboard.questions.training import measured
from dashboard.questions.training.curves import Curves, slot
from dashboard.questions.training.measured import measurable, measures
from dashboard.questions.training.predict import Predict
from dashboard.questions.training.prepared_rows import Task, prepared
from dashboard.widgets import finger
from dashboard.words import measured as said
from dashboard.words.usual import of_100
from dpcore.training import collect
from tests.questions.following import same
from tests.questions.samples import sample_case
from tests.questions.test_training import ON_FEW, few_curves, with_results

MEASURE = "training_metric-accuracy"
FOUND: Mapping[str, Any] = {**ON_FEW, MEASURE: "found"}
ALIKE: Mapping[str, Any] = {**ON_FEW, MEASURE: "balanced"}


def asked(values: Mapping[str, Any], epsilon: float = 0.5) -> Question:
    return Predict.ask(replace(few_curves(), epsilon=epsilon), Setting(values))


def wilson(share: float, rows: int) -> float:
    """The square of half of the interval that holds a share of so many rows in 80 of 100 cases, over z²."""
    z = 1.28155
    centre = (share + z * z / (2 * rows)) / (1 + z * z / rows)
    # the ends of Wilson's interval are the roots of (p − share)² = z² p (1 − p) / rows
    a, b, c = 1 + z * z / rows, -(2 * share + z * z / rows), share * share
    high = (-b + (b * b - 4 * a * c) ** 0.5) / (2 * a)
    return ((high - centre) / z) ** 2


def simulated(metric: str) -> float:
    """What the method in use reaches at ε = 0.6, a point of the curve."""
    work = Predict.ask(few_curves(), Setting(ON_FEW)).works[0]
    frame = collect(work.common(), few_curves().results[slot("epsilon")])
    here = frame[(frame["method"] == "noisy_gradient_descent") & (frame["epsilon"] == 0.6)]
    return float(here.set_index("metric")["value"][metric])


def test_the_headline_says_how_many_are_found_and_what_that_costs_the_others() -> None:
    headline = asked(FOUND, 0.6).headline
    found, alarmed = simulated("found"), 1 - (2 * simulated("balanced") - simulated("found"))
    hit, need, taken = re.fullmatch(
        r"At ε = 0\.6 the private model finds about \*\*([\d.]+) of 100 that are “malignant”\*\* on average: "
        r"(?:less than|enough for) the goal of (\d+) set under “I need”(?: \(more than 1 in 10 models fall short\))?\. "
        r"It takes (\d+|fewer than 1) of 100 that are “benign” for “malignant”\.",
        headline,
    ).groups()
    assert float(hit) == pytest.approx(100 * found, abs=0.051)
    assert need == "80"
    assert taken == said.of_100(alarmed)


@pytest.mark.parametrize(
    ("hit", "alarmed", "told"),
    [
        (0.5, 0.49, "no better than guessing: it takes 49 of 100"),
        (0.95, 0.02, ": enough for the goal of 90 set under “I need”. It takes 2 of 100"),
        (0.6, 0.0, ": less than the goal of 90 set under “I need”. It takes fewer than 1 of 100"),
    ],
)
def test_finding_by_calling_all_alike_is_guessing(hit: float, alarmed: float, told: str) -> None:
    assert told in said.headline_found(0.5, ("benign", "malignant"), (hit, alarmed), 0.9, 1.0, stays=True)


def test_what_is_found_by_luck_is_not_called_enough() -> None:
    """Where one class is rare, models that are all noise find more of it than better ones do."""
    found = partial(said.headline_found, 0.02, ("no", "yes"), (0.39, 0.33), 0.2, 1.0)
    assert (
        "reaches the goal of 20 set under “I need” is luck: at a higher ε it finds fewer. It takes 33 of 100"
        in found(stays=False)
    )
    assert ": enough for the goal of 20 set under “I need”" in found(stays=True)
    assert "need" not in found(stays=None), "before all curves are whole"


def _shown(values: Mapping[str, Any], epsilon: float) -> tuple[str, float | None]:
    question = asked(values, epsilon)
    return question.headline, question.need.found.epsilon


@pytest.mark.parametrize("target", [1.0, 20.0, 40.0, 55.0, 70.0, 90.0])
def test_headline_and_card_never_disagree(target: float) -> None:
    key = asked(FOUND).need.control.key
    for level in (0.01, 0.02, 0.05, 0.1, 0.3, 0.6, 1.0, 3.0, 10.0):
        headline, enough = _shown({**FOUND, key: target}, level)
        if ": enough for" in headline:
            assert enough is not None
            assert enough <= level * (1 + 1e-9)
        elif "luck" in headline or ": less than" in headline:
            assert enough is None or enough > level
        else:
            assert "no better than guessing" in headline


def test_more_found_by_more_alarms_is_no_better_method(monkeypatch: pytest.MonkeyPatch) -> None:
    case = sample_case("breast_cancer", 0.6)
    values = {MEASURE: "found", "training_seeds": 8}
    works = Predict.ask(case, Setting(values)).works
    case = with_results(case, works)
    found = Predict.ask(case, Setting(values)).need.better
    assert found is not None
    assert "finds " in found.sentence
    monkeypatch.setattr(measured.Measured, "_tells_more", lambda self, method: False)
    assert Predict.ask(case, Setting(values)).need.better is None


def test_who_is_told_wrong_by_privacy_stands_in_the_headline(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of one class clearly more than without it; nothing where privacy takes little."""
    missed = 1 - simulated("found")
    assert f" Yet it gets **{of_100(missed)} of 100 that are “malignant”** wrong." in asked(ON_FEW, 0.6).headline
    assert " Yet " not in asked(FOUND, 0.6).headline, "it speaks of them already"
    monkeypatch.setattr(measured, "CLEARLY", 1.0)
    assert " Yet " not in asked(ON_FEW, 0.6).headline, "privacy takes next to nothing"


def test_nine_of_ten_models_take_more_than_the_average() -> None:
    """Beyond it the edge of the band, below which one model in ten is, reaches what is needed; before it does not."""
    question = asked(ON_FEW)
    found, frame, target = question.need.found, question.view.picture("epsilon").data, question.view.asked.target
    assert found.most
    assert found.epsilon < found.most.epsilon < 10.0
    mine = frame[frame["method"] == "noisy_gradient_descent"]
    assert (mine[mine["epsilon"] > 1.5 * found.most.epsilon]["low"] >= target - 0.02).all()
    assert (mine[mine["epsilon"] < found.most.epsilon / 1.5]["low"] < target).any()


def test_of_both_classes_alike_guessing_reaches_one_half() -> None:
    question, value = asked(ALIKE, 0.6), simulated("balanced")
    assert f"**{said.number(100 * value)} times in 100, both classes alike,**" in question.headline
    assert "better than guessing (50)" in question.headline
    assert "“malignant” it misses" in question.caption, "both kinds of mistakes are told"
    assert "no better than guessing (50)" in said.headline_balanced(0.5, 0.48, 0.9, 0.8)


def test_dots_uncertainty_and_what_is_needed_are_of_the_same_measure() -> None:
    question, found = asked(FOUND, 0.6), simulated("found")
    assert question.outcomes.names == ("found", "missed")
    assert question.outcomes.chances[0] == pytest.approx(found)
    tested = int(re.search(r"Between test rows: (\d+) other rows that are “malignant”", question.uncertain.sentence)[1])
    assert question.uncertain.people == pytest.approx(1.28155 * wilson(found, tested) ** 0.5, rel=1e-4)
    assert question.need.control.label == "I need this many found, of 100 that are “malignant”"
    assert question.need.proviso.decide.startswith("decide whether taking ")
    assert question.view.scale.title == "found, of 100 that are “malignant”"
    assert "of 100" in question.view.picture("epsilon").alt

    alike, wrong = asked(ALIKE, 0.6), 1 - simulated("found")
    first = 1 - (2 * simulated("balanced") - simulated("found"))
    others = int(re.search(r"judged on (\d+)", alike.caption)[1]) - tested
    people = 1.28155 * ((wilson(wrong, tested) + wilson(first, others)) / 4) ** 0.5
    assert alike.uncertain.people == pytest.approx(people, rel=1e-4)
    assert "right of 100, both classes alike" in alike.uncertain.sentence


def test_what_is_needed_is_read_off_the_same_curve() -> None:
    """The smallest ε that finds so many finds them; what finds fewer is not enough."""
    need = {"training_found_target-breast_cancer-diagnosis": 60.0}
    control = asked(FOUND).need.control
    question = asked({**FOUND, control.key: 60.0})
    assert control.key in need, "the key that links keep"
    enough = question.need.found.epsilon
    assert enough is not None
    frame = question.view.picture("epsilon").data
    mine = frame[frame["method"] == "noisy_gradient_descent"].set_index("epsilon")["value"]
    assert (mine[mine.index > 1.5 * enough] >= 0.55).all()
    assert (mine[mine.index < enough / 1.5] <= 0.65).all()


def test_the_measure_changes_no_release_and_trains_nothing_again() -> None:
    plain = asked(ON_FEW)
    for values in (FOUND, ALIKE):
        other = asked(values)
        assert other.offer.request == plain.offer.request
        assert [work.key for work in other.works] == [work.key for work in plain.works]


@pytest.mark.parametrize("values", [FOUND, ALIKE])
def test_it_follows_the_finger(values: Mapping[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "Reader", lambda: Setting(values))
    same(finger.told(Predict, few_curves(), 0.12, dark=False), asked(values, 0.12))


def test_another_method_is_named_by_the_measure_that_is_asked_for() -> None:
    told = {"found": said.finds("malignant", 0.77), "balanced": said.right_alike(0.8)}
    assert told["found"] == "finds 77 of 100 that are “malignant”"
    assert told["balanced"] == "right 80 times in 100, both classes alike"


def test_rows_of_one_class_are_measured_by_what_is_right() -> None:
    """The choices are the same whatever rows there are; what cannot be known of one class is not shown of it."""
    case = sample_case("breast_cancer", 0.5)
    task = prepared(case, "diagnosis", ("mean radius",), None, steps=False, pairs=(), apart=False)
    assert tuple(measures(task)) == ("accuracy", "found", "balanced", "excess_risk")
    assert measures(task)["found"] == "“malignant” found"
    lonely = replace(task, rows=replace(task.rows, y_test=-np.ones(task.tested)))
    assert tuple(measures(lonely)) == tuple(measures(task))
    assert [measurable(lonely, metric) for metric in measures(lonely)] == [
        "accuracy",
        "accuracy",
        "accuracy",
        "excess_risk",
    ]
    assert [measurable(task, metric) for metric in measures(task)] == list(measures(task))
    assert measured.of_one_class(lonely)
    assert not measured.of_one_class(task)


@pytest.mark.parametrize("axis", ["epsilon", "n", "both"])
def test_a_picture_that_is_kept_holds_no_rows(axis: str) -> None:
    """Neither the curves it was read off nor the case, whose memory would hold itself."""
    view = asked(ON_FEW).view
    drawn = view._lines(view.frame) if axis != "both" else view._map(view.frame)  # type: ignore[attr-defined]
    held = [cell.cell_contents for cell in drawn.figure.__closure__]
    assert held
    assert not [one for one in held if isinstance(one, Curves | Case | Task)]
