"""Hits of a drawn model told with discrete Gaussian noise: exact law on neighbours, sampler, and what is charged."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chisquare

from dpcore.audit.drawn import RECEIPT, drawn_model
from dpcore.calibration import zcdp_rho
from dpcore.costs import Cost
from dpcore.datasets import Column, Declaration, PrivateRows
from dpcore.errors import InvalidArgument
from dpcore.ledger import Budget, Ledger
from dpcore.release import question_digest, release
from dpcore.releases import draws
from dpcore.releases.confusion import ModelConfusion
from dpcore.releases.gaussian_confusion import GaussianConfusion
from dpcore.releases.model import PrivateModel
from dpcore.training.confusion import CELLS, Confusion
from dpcore.training.confusion_problem import TOLD, ConfusionProblem

AGE = Column(name="age", type="number", low=0, high=100)
WORD = Column(name="word", type="category", categories=("a", "b", "c"))
ILL = Column(name="ill", type="yes/no")
PEOPLE = Declaration(columns=(AGE, WORD, ILL))
EPSILON, DELTA = 1.0, 1e-6
ROWS = [("10", "a", "yes"), ("90", "b", "no"), ("", "c", "yes"), ("55", "", "no"), ("x", "z", "yes"), ("20", "a", "")]
ORDERS = (1.01, 2.0, 3.0, 40.0)
WIDE = 300
BEFORE = "a3d8c0997831f5c329f81ae9c254d7a9f9b4ac1350d3c9a372b22e72481bf9a8"
"""The digest of the count by ε alone, as it was before there was one in ρ."""


def rows(table: list[tuple[str, ...]]) -> PrivateRows:
    return PrivateRows(pd.DataFrame(table, columns=["age", "word", "ill"], dtype="str"))


def asked(declared: Declaration = PEOPLE, **how: Any) -> GaussianConfusion:
    model = drawn_model(PEOPLE, target="ill", columns=["age", "word"])
    return GaussianConfusion.of(declared, model, drawn=RECEIPT, **{"epsilon": EPSILON, "delta": DELTA, **how})


def divergence(request: GaussianConfusion, here: Any, there: Any, order: float) -> float:
    """Rényi divergence of the exact laws of all four told counts: of independent ones it adds up."""
    first, second = (request.law_of(found, WIDE) for found in (here, there))
    logs = [np.log(np.maximum(law, 1e-320)) for law in (first, second)]
    terms = np.where((first > 0.0) & (second > 0.0), order * logs[0] - (order - 1.0) * logs[1], -np.inf)
    most = terms.max(axis=1)
    return float((most + np.log(np.exp(terms - most[:, None]).sum(axis=1))).sum() / (order - 1.0))


def neighbours_of(request: GaussianConfusion, most: int) -> list[tuple[Any, Any]]:
    """What is read of neighbours: all rows of one person come, go or are written anew."""
    others, anew = [ROWS[1]] * 4, [[]] if request.neighbours == "add_remove" else [[row] * most for row in ROWS[:3]]
    pairs = itertools.product(([row] * most for row in ROWS), anew)
    found = ((request.read(rows([*others, *one])), request.read(rows([*others, *there]))) for one, there in pairs)
    known = {(tuple(one), tuple(there)) for pair in found for one, there in (pair, pair[::-1])}
    return [(np.array(one), np.array(there)) for one, there in sorted(known)]


def used(request: GaussianConfusion, most: int) -> float:
    """The largest part of α·ρ, over all neighbours and orders α."""
    return max(
        divergence(request, here, there, order) / (order * request.rho)
        for here, there in neighbours_of(request, most)
        for order in ORDERS
    )


@pytest.mark.parametrize("neighbours", ["add_remove", "replace_one"])
@pytest.mark.parametrize("most", [1, 3])
def test_the_exact_law_on_neighbours_stays_within_rho_and_uses_it_up(
    neighbours: Any, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At no order more than α·ρ, and where a person moves all they can that much. With the noise of one row, or of one
    cell alone, the same neighbours show more."""
    request = asked(replace(PEOPLE, rows_per_person=most), neighbours=neighbours)
    assert used(request, most) == pytest.approx(1.0, rel=1e-9)
    least = 1.0 if most == 1 and neighbours == "replace_one" else most**0.5
    if request.sensitivity > least:
        monkeypatch.setattr(GaussianConfusion, "sensitivity", least)
        assert used(request, most) > 1.5


@pytest.mark.parametrize("delta", [1e-3, 1e-6, 1e-9])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 8.0])
def test_the_exact_law_keeps_its_epsilon_but_for_delta(epsilon: float, delta: float) -> None:
    """By the sum of what passes e^ε, of one row more or less; at half the ε more than δ does."""
    request = asked(epsilon=epsilon, delta=delta)
    here, there = (request.law_of(np.array([cell, 0, 0, 0]), 3000)[0] for cell in (0, 1))
    beyond = [np.maximum(here - np.exp(level) * there, 0.0).sum() for level in (epsilon, epsilon / 2)]
    assert beyond[0] <= delta < beyond[1]


def test_answers_follow_the_law() -> None:
    """3,000 answers by OpenDP: a right law fails once in 10⁶ runs; the law of half the noise is rejected."""
    request = asked()
    found = request.read(rows(ROWS * 3))
    answers = [request.draw(found) for _ in range(3000)]
    assert list(answers[0]) == list(CELLS)
    for place, name in enumerate(CELLS):
        told = np.bincount(np.array([one[name] for one in answers]) + 100, minlength=201)
        for asking, right in ((request, True), (asked(epsilon=2.0), False)):
            law = asking.law_of(found)[place]
            few = law * 3000 < 10
            expected, seen = np.append(law[~few], law[few].sum()), np.append(told[~few], told[few].sum())
            assert (chisquare(seen, expected * 3000 / expected.sum()).pvalue > 1e-6) == right
    off = [abs(one["found"] + one["rightly_left"] - found[0] - found[3]) for one in answers]
    wrong = [abs(one["missed"] + one["false_alarms"] - found[1] - found[2]) for one in answers]
    beyond = np.mean(np.maximum(off, wrong) > request.error_bound(0.05).number)
    assert 0.02 < beyond < 0.075, "its promise holds, and is not idle"


def charged(cost: Cost) -> int:
    """What a budget in ρ takes of it, in its units."""
    charge = Budget.planned(epsilon=3.0, delta=1e-5, counting="zcdp").charge_for(cost)
    assert charge is not None
    return charge.spent_rho


@pytest.mark.parametrize("neighbours", ["add_remove", "replace_one"])
@pytest.mark.parametrize("most", [1, 7])
@pytest.mark.parametrize(("epsilon", "delta"), [(0.5, 1e-6), (0.5, 1e-9), (2.0, 1e-4)])
def test_it_costs_in_rho_what_a_model_at_the_same_epsilon_and_delta_does(
    epsilon: float, delta: float, most: int, neighbours: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And draws for that ρ and no other. A count by ε alone costs more of it."""
    declared = replace(PEOPLE, rows_per_person=most, hidden=neighbours, people=100)
    request = asked(declared, epsilon=epsilon, delta=delta)
    model = PrivateModel.of(declared, target="ill", columns=["age"], epsilon=epsilon, delta=delta)
    assert request.cost.rho == model.cost.rho == zcdp_rho(epsilon, delta)
    assert (request.cost.epsilon, request.cost.delta) == (model.cost.epsilon, model.cost.delta) == (epsilon, delta)
    assert charged(request.cost) == charged(model.cost)
    alone = ModelConfusion.of(declared, drawn_model(PEOPLE, target="ill", columns=["age"]), drawn="a", epsilon=epsilon)
    assert charged(alone.cost) > 2 * charged(request.cost)
    noted, gaussian = [], draws.gaussian

    def drawn(values: Any, *, sensitivity: float, rho: float) -> Any:
        noted.append((sensitivity / np.sqrt(2 * rho), rho))
        return gaussian(values, sensitivity=sensitivity, rho=rho)

    monkeypatch.setattr(draws, "gaussian", drawn)
    request.draw(np.zeros(4, dtype=np.int64))
    assert noted == [(pytest.approx(request.scale, rel=1e-12), request.cost.rho)]
    some = Confusion(found=3, missed=1, false_alarms=2, rightly_left=5)
    problem = ConfusionProblem(true=some, relation=neighbours, rows_per_person=most, delta=delta)
    assert problem.scale(epsilon) == pytest.approx(request.scale, rel=1e-12), "as its picture says"
    assert problem.abouts[TOLD].release == GaussianConfusion.key


def test_budgets_that_do_not_count_in_rho_are_charged_as_before() -> None:
    """By ε alone: the count with discrete Laplace noise is the same question, at the same price, as ever."""
    request = ModelConfusion.of(
        PEOPLE, drawn_model(PEOPLE, target="ill", columns=["age", "word"]), drawn=RECEIPT, epsilon=EPSILON
    )
    assert request.cost == Cost.pure(EPSILON)
    assert question_digest(request) == BEFORE, "or nobody is shown an answer that they paid for"
    assert request.mechanism == "Discrete Laplace noise on four counts"


def test_another_delta_is_another_question_and_reads_the_same() -> None:
    request = asked()
    model = drawn_model(PEOPLE, target="ill", columns=["age", "word"])
    alone = ModelConfusion.of(PEOPLE, model, drawn=RECEIPT, epsilon=EPSILON)
    others = (asked(delta=1e-7), asked(epsilon=0.9), alone, asked())
    assert len({question_digest(one) for one in (request, *others)}) == 4
    assert request.reading == asked(delta=1e-7).reading
    assert (request.read(rows(ROWS)) == alone.read(rows(ROWS))).all()
    assert request.what == alone.what
    for wrong, match in ((0.0, "delta"), (1.0, "delta"), (1e-200, "delta")):
        with pytest.raises(InvalidArgument, match=match):
            asked(delta=wrong)
    with pytest.raises(InvalidArgument, match="too small"):
        asked(epsilon=1e-60, delta=1e-60)


def test_a_receipt_says_by_which_noise_it_was_drawn_whatever_is_asked_later(tmp_path: Path) -> None:
    """A budget in ρ can hold counts of before beside those of now: both are read, and the record is whole."""
    model = drawn_model(PEOPLE, target="ill", columns=["age", "word"])
    alone = ModelConfusion.of(PEOPLE, model, drawn=RECEIPT, epsilon=EPSILON)
    place = f"sqlite:///{tmp_path / 'ledger.db'}"
    with Ledger.open(place, create=True) as ledger:
        ledger.open_budget("people", epsilon=9.0, delta=1e-5, counting="zcdp")
        for name, request in (("before", alone), ("now", asked())):
            release(ledger, name, "people", request, rows(ROWS))
    with Ledger.open(place) as ledger:
        before, now = ledger.history("people")
        assert [one.mechanism for one in (before, now)] == [alone.mechanism, GaussianConfusion.mechanism]
        assert [one.cost for one in (before, now)] == [alone.cost, asked().cost]
        assert set(before.answer) == set(now.answer) == set(CELLS)
