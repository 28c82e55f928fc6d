"""The page says that the budget does not pay for an ε where it does not, and nowhere else: by the answer in view."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from dashboard import words
from dashboard.budget import tracker
from dashboard.words import needs
from dpcore.audit.drawn import RECEIPT, drawn_model
from dpcore.datasets import Column, Declaration
from dpcore.ledger import Budget
from dpcore.ledger.budget import Counting
from dpcore.releases.gaussian_confusion import GaussianConfusion
from dpcore.releases.model import PrivateModel
from dpcore.releases.selection import MostCommonOption
from tests.questions.samples import sample_case

ILL = Column(name="ill", type="yes/no")
PEOPLE = Declaration(columns=(Column(name="age", type="number", low=0, high=100), ILL), people=100)
EPSILONS = (0.01, 0.1, 0.2, 0.23, 0.3, 0.5, 0.9, 1.5, 4.0)


def requests() -> dict[str, Any]:
    model = drawn_model(PEOPLE, target="ill", columns=["age"])
    return {
        "a choice": MostCommonOption.of(PEOPLE, "ill", epsilon=0.5, neighbours="add_remove"),
        "a model": PrivateModel.of(PEOPLE, target="ill", columns=["age"], epsilon=0.5, delta=1e-7),
        "a count": GaussianConfusion.of(PEOPLE, model, drawn=RECEIPT, epsilon=0.5, delta=1e-7),
    }


@pytest.fixture(params=["sum", "zcdp", "both"])
def found(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Budget:
    counting: Counting = request.param
    made = Budget.planned(epsilon=1.0, delta=1e-6, counting=counting, neighbours="add_remove")
    monkeypatch.setattr(tracker, "budget", lambda _: made)
    return made


@pytest.mark.parametrize("kind", requests())
def test_what_is_said_to_be_too_dear_is_what_does_not_fit(kind: str, found: Budget) -> None:
    """In ρ an answer of ε = 0.26 was drawn beneath the words that 0.22 is left and that it is not to be had."""
    request, source = requests()[kind], sample_case("clinic").source
    for epsilon in EPSILONS:
        told = tracker.too_dear(source, "add_remove", request, epsilon)
        fits = found.answers_left(replace(request, epsilon=epsilon).cost, "add_remove") > 0
        assert bool(told) != fits, epsilon
        assert ("of the budget is left" in told) == bool(told)
        assert ("ε =" in told) == (bool(told) and found.counting == "sum")


def test_the_largest_pure_answer_would_say_no_of_what_fits() -> None:
    """The test above can fail."""
    found = Budget.planned(epsilon=1.0, delta=1e-6, counting="zcdp", neighbours="add_remove")
    model = requests()["a model"]
    assert model.epsilon > found.remaining.epsilon
    assert found.answers_left(model.cost, "add_remove") > 0
    assert f"ε = {words.number(0.2)}" in needs.too_dear(0.2)
