"""The form that opens a budget says how many answers each way of counting would allow: as many as are then paid for."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from dashboard.budget import opening
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
CAPS = ((1.0, 1e-6), (3.0, 1e-5), (10.0, 1e-5))


def paid_for(planned: Budget, key: str, epsilon: float) -> int:
    """How many of such a request, as a page asks it, the budget takes."""
    request: Any = replace(asked(questions(catalog()[key])[0]), epsilon=epsilon)
    if hasattr(request, "delta"):
        request = replace(request, delta=planned.request_delta())
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
    monkeypatch.setattr(opening, "_usual", at_other_costs)
    assert differing(1.0, 1e-6, "zcdp") == set(KINDS)
    assert differing(1.0, 1e-6, "sum") == set(), "where ε adds up they cost the same"


def test_half_the_epsilon_costs_what_is_said_of_it() -> None:
    assert "a quarter, with a δ up to a third" in said.counted("zcdp", pure=False)
    for epsilon in (0.05, 0.5, 1.0, 3.0, 10.0):
        assert Cost.pure(epsilon / 2).zcdp == pytest.approx(Cost.pure(epsilon).zcdp / 4)
        for delta in (1e-5, 1e-6, 1e-12):
            assert 0.25 <= zcdp_rho(epsilon / 2, delta) / zcdp_rho(epsilon, delta) <= 1 / 3
