"""What a page tells of an alarm is the law of the release that it offers, whoever the data belong to."""

from __future__ import annotations

import contextlib
import io
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dashboard.case import Case, Source
from dashboard.charts.theme import ENDINGS
from dashboard.controls import Setting
from dashboard.question import CannotAsk, Offer, Question
from dashboard.questions.thresholding.alarm import Alarm
from dashboard.questions.thresholding.alarm_controls import METHODS
from dashboard.report.again import twin_source
from dashboard.words import alarm as said
from dpcore.datasets import Column, Declaration, PrivateRows, Schema, Table
from dpcore.releases.alarm import AlarmRun
from dpcore.thresholding.alarm_problem import AlarmProblem
from dpcore.thresholding.units import Units
from tests.questions.samples import KEYS, sample_case

GROUPS = tuple(f"g{place}" for place in range(8))
COUNTED = Schema(
    columns=(Column(name="group", type="category", categories=GROUPS),), each_row="record", rows_per_person=1
)
SIZES = (14, 7, 13, 6, 2, 14, 3, 2)
STEPS = {
    "whole": Column(name="n", type="integer", low=0, high=50, sensitivity=2.0, counts=True),
    "decimal": Column(name="n", type="number", low=0, high=50, sensitivity=0.7),
}


def own(mode: Any = "what_if") -> Case:
    """A person's own file of groups, two of which are as large and several on a line; or rows made up from it."""
    declared = Declaration.of(COUNTED)
    if mode == "twin":
        source = twin_source(COUNTED, key="own", rows=40, seed=3, relations=(), declared=declared)
        raw = PrivateRows(pd.DataFrame({"group": list("x")}, dtype="str"))
        return Case(source=replace(source, rows=lambda: raw), epsilon=1.0)
    named = np.repeat(GROUPS, SIZES)
    frame = pd.DataFrame({"group": pd.Categorical(named, categories=GROUPS)})
    return case_of(COUNTED, frame, PrivateRows(pd.DataFrame({"group": named}, dtype="str")))


def own_steps(column: Column) -> Case:
    values = np.array([3.0, 1.0, 5.0, 2.0, 5.0, 8.0, 8.0, 4.0])
    schema = Schema(columns=(column,), each_row="step")
    return case_of(schema, pd.DataFrame({"n": values}), PrivateRows(pd.DataFrame({"n": [f"{v:g}" for v in values]})))


def case_of(schema: Schema, frame: pd.DataFrame, rows: PrivateRows) -> Case:
    source = Source(
        key="own",
        title="own.csv",
        mode="what_if",
        table=Table(frame=frame, schema=schema, fingerprint=f"own {schema}", lineage="own"),
        lineage="own",
        practice=False,
        declared=Declaration.of(schema),
        rows=lambda: rows,
    )
    return Case(source=source, epsilon=1.0)


def asked(case: Case, **values: Any) -> Question:
    """The question; ``line`` and ``method`` by themselves."""
    first = Setting({})
    Alarm.ask(case, first)
    keys = {"line": next(key for key in first.seen if key.startswith("line"))}
    keys["method"] = next(key for key in first.seen if key.startswith("alarm_method"))
    found = Alarm.ask(case, Setting({keys.get(key, key): value for key, value in values.items()}))
    assert isinstance(found, Question)
    return found


def problem_of(question: Question) -> AlarmProblem:
    found = question.view.problem  # type: ignore[union-attr]
    assert isinstance(found, AlarmProblem)
    return found


def ends(problem: AlarmProblem, law: np.ndarray) -> dict[str, float]:
    """Of one alarm, by the law of its place."""
    start, end = problem.window
    if problem.crossing is None:
        return {"on_time": law[-1], "false_alarm": law[:-1].sum()}
    parts = (law[start:end].sum(), law[end:-1].sum(), law[-1], law[:start].sum())
    return dict(zip(ENDINGS, parts, strict=True))


def checked(case: Case, question: Question, answers: np.ndarray | None = None) -> float:
    """That ``question`` tells the law of its release; by how much the continuous law is another."""
    assert isinstance(question.offer, Offer), question.offer
    request, problem = question.offer.request, problem_of(question)
    assert isinstance(request, AlarmRun)
    law = request.law_of(request.read(question.offer.data()) if answers is None else answers)[0]
    right = ends(problem, law)
    assert question.outcomes is not None
    shown = dict(zip(question.outcomes.names, question.outcomes.chances, strict=True))
    for key, chance in right.items():
        if said.ENDINGS[key] in shown:
            assert shown[said.ENDINGS[key]] == pytest.approx(chance, abs=1e-10), key
    main = question.view.main  # type: ignore[union-attr]
    np.testing.assert_allclose(problem.judged_law(main, request.epsilon), law, atol=1e-10)
    at = np.array([request.epsilon]), np.array([float(problem.n)])
    other = replace(problem, units=None).outcomes(main, *at).on_time[0]
    return float(abs(other - right["on_time"]))


@pytest.mark.thorough
@pytest.mark.parametrize("epsilon", [0.3, 1.0, 2.0, 10.0])
@pytest.mark.parametrize("mode", ["what_if", "twin"])
def test_of_a_persons_own_counts(mode: str, epsilon: float) -> None:
    """On the line, above and below it, by every method; a release of another law would be found."""
    case, apart = replace(own(mode), epsilon=epsilon), 0.0
    for line in (14.0, 12.5, 15.0):
        for method in METHODS:
            question = asked(case, line=line, method=method)
            answers = problem_of(question).answers.astype(np.int64) if mode == "twin" else None
            apart = max(apart, checked(case, question, answers))
    assert apart > 0.02


@pytest.mark.parametrize("kind", STEPS)
@pytest.mark.parametrize("relation", ["add_remove", "replace_one"])
def test_of_a_persons_own_entries(kind: str, relation: str) -> None:
    for epsilon in (0.5, 10.0):
        case = replace(own_steps(STEPS[kind]), epsilon=epsilon)
        for line in (7.99, 8.0, 9.0):
            checked(case, asked(case, line=line, alarm_neighbours=relation))


@pytest.mark.parametrize("sample", ["clinic", "election", "outbreak"])
def test_of_a_sample(sample: str) -> None:
    for epsilon in (0.5, 10.0):
        case = sample_case(sample, epsilon)
        checked(case, asked(case))


@pytest.mark.thorough
def test_of_every_sample_by_every_method() -> None:
    looked = 0
    for sample in KEYS:
        case = sample_case(sample, 2.0)
        try:
            first = asked(case)
        except CannotAsk:
            continue
        for method in first.view.methods:  # type: ignore[union-attr]
            if method in METHODS:
                question = asked(case, method=method)
                if isinstance(question.offer, Offer):
                    checked(case, question)
                    looked += 1
    assert looked > 20


@pytest.mark.parametrize("case", [own(), own("twin"), sample_case("election")], ids=["own", "made up", "sample"])
def test_an_answer_on_the_line_is_found_the_more_surely_the_less_noise_there_is(case: Case) -> None:
    """An offset below one row that is rounded up to one misses it ever more surely."""
    for method in METHODS:
        line = float(problem_of(asked(case)).answers.max())
        problem = problem_of(asked(replace(case, epsilon=10.0), line=line, method=method))
        levels = np.array([10.0, 30.0, 100.0])
        chance = problem.outcomes(method, levels, np.full(3, float(problem.n))).on_time
        assert (np.diff(chance) >= 0.0).all()
        assert chance[-1] > 0.999
    assert [Units().offset(one) for one in (0.1, 0.5, 0.51, 1.4, -0.5, -0.6)] == [0.0, 0.0, 1.0, 1.0, 0.0, -1.0]
    assert Units().bar(line + 0.1) > line + Units().offset(0.1), "what shows that it can fail: rounded up"


@pytest.mark.parametrize("sample", ["clinic", "election"])
def test_a_method_that_is_said_to_do_better_does(sample: str) -> None:
    """The page says so after the click too, and points to no other: people were sent in a circle."""
    told = 0
    for epsilon in (0.5, 2.0, 10.0):
        case = sample_case(sample, epsilon)
        top = float(problem_of(asked(case)).answers.max())
        for line in (top, top - 1.0):
            for method in METHODS:
                question = asked(case, line=line, method=method)
                better = question.need.better
                if better is None:
                    continue
                taken = asked(case, line=line, method=better.value)
                at = np.array([epsilon]), np.array([float(problem_of(taken).n)])
                chance = float(problem_of(question).outcomes(str(better.value), *at).on_time[0])
                assert taken.outcomes is not None
                assert taken.outcomes.chances[0] == pytest.approx(chance, abs=1e-12)
                assert said.better(METHODS[str(better.value)].about.name, chance, question.outcomes.chances[0]) == (  # type: ignore[union-attr]
                    better.sentence
                )
                assert taken.need.better is None
                told += 1
    assert told > 0


def test_what_is_remembered_of_one_sensitivity_is_not_told_of_another() -> None:
    """Who changes an entry moves it further than who is added; the page remembers both."""
    remembered = sample_case("clinic").memo
    case = replace(own_steps(STEPS["decimal"]), memo=remembered)
    for relation in ("add_remove", "replace_one", "add_remove"):
        checked(case, asked(case, line=8.0, alarm_neighbours=relation))


@pytest.mark.parametrize("case", [own(), sample_case("election", 10.0)], ids=["own", "sample"])
def test_the_code_of_a_chart_gives_its_numbers(case: Case) -> None:
    question = asked(case)
    written: dict[str, Any] = {}
    with contextlib.redirect_stdout(io.StringIO()):
        exec(question.view.code, written)  # type: ignore[union-attr] # noqa: S102
    for method in METHODS:
        at = np.array([0.5, 10.0]), np.ones(2)
        shown = problem_of(question).outcomes(method, at[0], np.full(2, float(problem_of(question).n)))
        assert written["problem"].outcomes(method, *at).on_time == pytest.approx(shown.on_time, abs=1e-12)


def test_with_more_people_whole_noise_meets_the_same_series() -> None:
    """At ten times the people answers and line are whole again: the law of a release about those."""
    problem = problem_of(asked(own(), line=13.0))
    large = replace(problem, answers=problem.answers * 10, threshold=130.0, people=problem.people * 10)
    for method in METHODS:
        at = np.array([0.1]), np.array([float(large.n)])
        assert problem.outcomes(method, *at).on_time == pytest.approx(large.outcomes(method, *at).on_time, abs=1e-12)
    assert [Units().met(one) for one in (13.0, 13.8, 1.3)] == [12.5, 13.5, 1.3], "never above what is reached"
    few = problem.outcomes("book", np.array([5.0]), np.array([problem.n * 0.3])).on_time
    assert 0.0 < few[0] < problem.outcomes("book", np.array([5.0]), np.array([float(problem.n)])).on_time[0]
