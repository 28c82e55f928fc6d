"""The form that opens a budget says how many answers each way of counting would allow: as many as are then paid for."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from dashboard import usual
from dashboard.budget import opening, tracker
from dashboard.budget.kinds import Wish, gaussian
from dashboard.budget.kinds import planned as planned_answers
from dashboard.words import tracker as said
from dpcore.calibration import gaussian_noise_multiplier, zcdp_rho
from dpcore.costs import Cost
from dpcore.ledger import Budget
from dpcore.releases import catalog
from tests.contract.test_release_contract import asked, questions

KINDS = {
    "choices or counts": ("most_common", "best_rule", "count", "model_confusion"),
    "medians": ("quantile",),
    "trainings": ("model", "scaled_model", "bought_model", "paired_model", "model_confusion_gaussian"),
}
"""Which requests each line is about."""
CAPS = ((1.0, 1e-6), (3.0, 1e-5), (10.0, 1e-5), *((3.0, delta) for delta in opening.DELTAS), (3.0, 7e-9), (3.0, 1e-15))


def begins_with(planned: Budget) -> float:
    """The δ that pages ask for until another is chosen."""
    case: Any = SimpleNamespace(delta=planned.request_delta(), source=SimpleNamespace(public=False))
    control = usual.delta(case, "delta", "δ")
    assert control.default in control.options
    return control.default


def paid_for(planned: Budget, key: str, epsilon: float) -> int:
    """How many of such a request, as a page asks it, the budget takes."""
    request: Any = replace(asked(questions(catalog()[key])[0]), epsilon=epsilon)
    if hasattr(request, "delta"):
        request = replace(request, delta=begins_with(planned))
    return planned.answers_left(request.cost, request.neighbours)


def differing(epsilon: float, delta: float, counting: Any) -> set[str]:
    """The lines that tell more, or fewer, answers than a budget takes."""
    planned = Budget.planned(epsilon=epsilon, delta=delta, counting=counting, neighbours="add_remove")
    return {
        kind
        for kind, each, many in opening.allowed(planned, "add_remove")
        for key in KINDS[kind]
        if many != paid_for(planned, key, each)
    }


@pytest.mark.parametrize("counting", opening.KINDS)
@pytest.mark.parametrize(("epsilon", "delta"), CAPS)
def test_as_many_are_told_as_the_budget_takes(epsilon: float, delta: float, counting: str) -> None:
    assert differing(epsilon, delta, counting) == set()


def at_other_costs(epsilon: float, delta: float) -> dict[str, Cost]:
    """Those of mechanisms that no such page begins with."""
    return {
        "choices or counts": Cost.bounded_range(epsilon),
        "medians": Cost.pure(epsilon),
        "trainings": Cost.gaussian(gaussian_noise_multiplier(epsilon, delta), delta),
    }


def test_these_tests_can_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(opening, "requested", lambda delta: delta)
        assert differing(3.0, 7e-9, "sum") == {"trainings"}, "the δ of no control"
    monkeypatch.setattr(opening, "_usual", at_other_costs)
    assert differing(1.0, 1e-6, "zcdp") == set(KINDS)
    assert differing(1.0, 1e-6, "sum") == set(), "where ε adds up they cost the same"


@pytest.mark.parametrize("counting", opening.KINDS)
@pytest.mark.parametrize("delta", [*opening.DELTAS, 1e-15])
def test_no_budget_is_opened_whose_delta_pays_for_nothing(delta: float, counting: Any) -> None:
    """Ten answers as a page begins; one of a plan asks for a δ of that control, and for all no more than there is."""
    planned = Budget.planned(epsilon=3.0, delta=delta, counting=counting, neighbours="add_remove")
    least = begins_with(planned)
    assert least == pytest.approx(delta / 10)
    assert planned.answers_left(gaussian(0.3, least), "add_remove") >= 10
    for count in (1, 5, 30):
        (answer,) = planned_answers([Wish(kind="count_gaussian", count=count, epsilon=0.05)], delta, None) or ()
        assert usual.requested(answer.cost(0.05).delta) == answer.cost(0.05).delta <= least
        assert count * answer.cost(0.05).delta <= delta or answer.cost(0.05).delta == min(usual.DELTAS)


def test_where_delta_is_what_does_not_fit_it_is_told() -> None:
    planned = Budget.planned(epsilon=3.0, delta=1e-12, counting="sum", neighbours="add_remove")
    told = tracker.answers_words(planned, gaussian(0.5, 1e-9), "add_remove", "person")
    assert told == said.no_delta(1e-9, 1e-12)
    assert "takes δ = 10⁻⁹, and 10⁻¹² is left" in told
    assert tracker.answers_words(planned, gaussian(5.0, 1e-13), "add_remove", "person") == said.NOT_ENOUGH
    assert "more answer" in tracker.answers_words(planned, gaussian(0.5, 1e-13), "add_remove", "person")


def test_half_the_epsilon_costs_what_is_said_of_it() -> None:
    assert "a quarter, with a δ up to a third" in said.counted("zcdp", pure=False)
    for epsilon in (0.05, 0.5, 1.0, 3.0, 10.0):
        assert Cost.pure(epsilon / 2).zcdp == pytest.approx(Cost.pure(epsilon).zcdp / 4)
        for delta in (1e-5, 1e-6, 1e-12):
            assert 0.25 <= zcdp_rho(epsilon / 2, delta) / zcdp_rho(epsilon, delta) <= 1 / 3
