"""Many experts over many rounds are evaluated beside the page, to the very numbers that it would find by itself."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Hashable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dashboard.blocks import Picture, Slow
from dashboard.case import Case, unremembered
from dashboard.controls import Setting
from dashboard.question import Question
from dashboard.questions.experts import beside
from dashboard.questions.experts.follow import Follow
from dashboard.questions.experts.followed import FORECASTS, Reading, numeric
from dashboard.words import follow as said
from dpcore.experts import ExpertsProblem
from dpcore.releases.plays import KINDS
from tests.questions.test_experts import case as sample

AXES = ("whom", "epsilon", "n", "both")
STORY = {"experts_of-forecasts": "gap", "experts_count": 6.0, "experts_days": 150.0}
BOTH = {"a story": STORY, "a table": {"experts_kind-forecasts": "squared"}}


@pytest.fixture
def evaluated(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The strategies that were evaluated in this process."""
    found: list[str] = []
    look = ExpertsProblem.evaluate

    def noted(problem: ExpertsProblem, method: str, *rest: Any) -> Any:
        found.append(method)
        return look(problem, method, *rest)

    monkeypatch.setattr(ExpertsProblem, "evaluate", noted)
    return found


def fresh(epsilon: float = 0.5) -> Case:
    """Of a server that remembers only what its page asked for."""
    kept: dict[Hashable, Any] = {}

    def remembered(key: tuple[Hashable, ...], make: Callable[[], Any]) -> Any:
        if key not in kept:
            kept[key] = make()
        return kept[key]

    return replace(sample(epsilon=epsilon), memo=remembered)


def worked(case: Case, chosen: dict[str, Any]) -> Case:
    """The case with all that workers hand back, over a pipe."""
    for work in Follow.ask(case, Setting(chosen)).works:
        shared = pickle.loads(pickle.dumps(work.common()))  # noqa: S301 - our own
        found = tuple(pickle.loads(pickle.dumps(work.run(shared, part))) for part in work.parts())  # noqa: S301
        done = case.complete | {work.slot}
        case = replace(case, results={**case.results, work.slot: found}, complete=done, finished=done)
    return case


def told(question: Question, axis: str) -> list[Any]:
    """All that a page says of it, to the last digit."""
    picture, need = question.view.picture(axis), question.need
    data = picture.data() if callable(picture.data) else picture.data
    assert isinstance(data, pd.DataFrame)
    seen, unsure = question.outcomes, question.uncertain
    assert seen is not None
    assert question.view.point is not None
    return [
        question.headline,
        question.caption,
        (need.found, need.hint),
        (list(seen.names), list(seen.chances), list(seen.good)),
        None if unsure is None else (unsure.noise, unsure.people, unsure.sentence),
        question.view.point,
        data.to_csv(),
        (picture.alt, picture.note, repr(picture.figure(False))),
        [tab.key for tab in question.tabs],
    ]


@pytest.mark.thorough
@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize("data", BOTH)
def test_the_same_numbers_come_out(monkeypatch: pytest.MonkeyPatch, evaluated: list[str], data: str, axis: str) -> None:
    """To the last digit; and nothing but what a person accepts at first is evaluated while the page is drawn."""
    chosen = {**BOTH[data], "experts_axis": axis}
    at_once = Follow.ask(fresh(), Setting(chosen))
    assert at_once.works == ()
    expected, usual = told(at_once, axis), len(evaluated)
    assert usual > 5
    monkeypatch.setattr(beside, "MOST_AT_ONCE", 100)
    case = worked(fresh(), chosen)
    Follow.ask(case, Setting(chosen))
    evaluated.clear()
    question = Follow.ask(case, Setting(chosen))
    assert told(question, axis) == expected
    assert not question.view.empty
    assert not question.follows
    assert evaluated == []


def test_before_anything_is_evaluated_the_page_says_so(monkeypatch: pytest.MonkeyPatch, evaluated: list[str]) -> None:
    monkeypatch.setattr(beside, "MOST_AT_ONCE", 100)
    case, read = fresh(), Setting({**STORY, "experts_axis": "epsilon"})
    question = Follow.ask(case, read)
    assert evaluated == ["non_private"], "what a person accepts at first, once for the data"
    assert "6 experts over 150 days are being evaluated" in question.headline
    assert question.view.empty
    assert (question.need.found, question.need.waiting, question.outcomes) == (None, said.WAITING, None)
    assert [work.slot for work in question.works] == [beside.HEAD, beside.slot("epsilon")]
    assert all(tab.blocks() for tab in question.tabs)
    assert evaluated == ["non_private"]
    stopped = Follow.ask(replace(case, finished=frozenset({beside.HEAD})), read)
    assert stopped.need.waiting == said.STOPPED
    head = question.works[0]
    part = {beside.HEAD: tuple(head.run(head.common(), part) for part in head.parts())}
    half = Follow.ask(replace(case, results=part, complete=frozenset(part)), read)
    assert half.view.empty, "the chart is still to come"
    assert half.outcomes is not None


def test_a_work_is_named_by_all_that_it_hangs_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """The sweep over ε does not hang on the ε that is chosen, so that it is there after a move of the slider."""
    monkeypatch.setattr(beside, "MOST_AT_ONCE", 100)

    def keys(epsilon: float = 0.5, **chosen: Any) -> tuple[Hashable, ...]:
        works = Follow.ask(fresh(epsilon), Setting({**STORY, "experts_axis": "epsilon", **chosen})).works
        return tuple(work.key for work in works)

    head, chart = keys()
    assert keys() == (head, chart)
    assert (keys(0.6)[0] != head, keys(0.6)[1] == chart) == (True, True)
    assert keys(0.6, experts_axis="n")[1] != keys(0.7, experts_axis="n")[1]
    for other in ({"experts_days": 160.0}, {"experts_band": False}, {"experts_metric": "total_loss"}):
        assert not {head, chart} & {*keys(**other)}, other
    assert keys(seed=7.0)[0] != head


def test_what_is_lent_to_a_worker_lies_there_as_here() -> None:
    """Sums in another order end in other digits: an array that lies in one piece is sent as it lies."""
    for kind in KINDS:
        columns = tuple(numeric(sample().table.schema))
        values = (
            Reading(columns=columns, kind=kind, outcome="rain" if kind in FORECASTS else None)
            .losses(sample().table)
            .values
        )
        assert values.flags.c_contiguous or values.flags.f_contiguous, kind


def test_one_run_is_made_beside_too(monkeypatch: pytest.MonkeyPatch) -> None:
    def blocks(case: Case) -> Any:
        question = Follow.ask(case, Setting({**STORY, "experts_axis": "epsilon"}))
        return next(tab for tab in question.tabs if tab.key == "run").blocks()

    (at_once,) = (one for one in blocks(fresh()) if isinstance(one, Picture))
    monkeypatch.setattr(beside, "MOST_AT_ONCE", 100)
    case = worked(fresh(), {**STORY, "experts_axis": "epsilon"})
    (slow,) = (one for one in blocks(case) if isinstance(one, Slow))
    shared = pickle.loads(pickle.dumps(slow.common()))  # noqa: S301 - our own
    (found,) = slow.show(slow.work(shared, None))
    assert (found.alt, found.note, repr(found.figure(True))) == (at_once.alt, at_once.note, repr(at_once.figure(True)))


def test_small_ones_are_answered_at_once() -> None:
    """The page as it opens waits for nobody."""
    assert Follow.ask(fresh(), Setting({})).works == ()
    assert not beside.is_large(np.zeros((4000, 50)))
    assert beside.is_large(np.zeros((1000, 1000), np.uint8))


def test_what_nobody_found_is_evaluated(evaluated: list[str]) -> None:
    """The test of the same numbers can fail: without results a page evaluates as it did."""
    problem = beside.Remembering.of(ExpertsProblem(losses=np.eye(4)), beside.looking({}, unremembered))
    problem.evaluate("batched", "regret", np.array([1.0]), np.array([4.0]))
    assert evaluated == ["batched"]
