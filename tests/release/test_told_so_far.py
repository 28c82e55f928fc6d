"""What accountants tell of an answer by its cost, ε at a δ, against the exact law of the very answer."""

from __future__ import annotations

import ast
import re
from dataclasses import replace
from functools import reduce
from pathlib import Path

import numpy as np
import pytest

from dpcore.audit.drawn import RECEIPT, drawn_model
from dpcore.calibration import zcdp_gaussian_noise_multiplier
from dpcore.costs import Cost
from dpcore.datasets import Column, Declaration
from dpcore.events import GaussianEvent
from dpcore.releases.confusion import ModelConfusion
from dpcore.releases.count import NoisyCount
from dpcore.releases.gaussian_confusion import GaussianConfusion
from dpcore.releases.selection import MostCommonOption, QuantileValue
from dpcore.running_total import RunningTotal
from dpcore.validate import FloatArray, Neighbours

AGE, ILL = Column(name="age", type="number", low=0, high=100), Column(name="ill", type="yes/no")
VOTE = Column(name="vote", type="category", categories=("A", "B"))
PEOPLE = Declaration(columns=(AGE, ILL, VOTE))
ROOT = Path(__file__).parents[2]
EPSILONS, DELTAS = (0.5, 3.5, 5.5, 8.0), (1e-3, 1e-5, 1e-6)
Told = tuple[Cost, FloatArray, FloatArray]
"""What an answer costs, and its exact laws of two neighbouring tables, over the same possible answers."""


def joint(rows: FloatArray) -> FloatArray:
    """The law of all of several independent numbers, flat."""
    return reduce(np.multiply.outer, rows).ravel()


def of_hits(kind: type[ModelConfusion | GaussianConfusion], epsilon: float, neighbours: Neighbours) -> Told:
    """Of the cells that a person moves: the others have the same law in both."""
    model = drawn_model(PEOPLE, target="ill", columns=["age"])
    how = {"delta": 1e-6} if kind is GaussianConfusion else {}
    request = kind.of(PEOPLE, model, drawn=RECEIPT, epsilon=epsilon, neighbours=neighbours, **how)
    moved = 1 if neighbours == "add_remove" else 2
    reach = 30 if epsilon > 1.0 else 60
    here, there = (request.law_of(np.array(cells), reach)[:moved] for cells in ((1, 0, 0, 0), (0, moved - 1, 0, 0)))
    return request.cost, joint(here), joint(there)


def of_gaussian_hits(epsilon: float, neighbours: Neighbours) -> Told:
    return of_hits(GaussianConfusion, epsilon, neighbours)


def of_laplace_hits(epsilon: float, neighbours: Neighbours) -> Told:
    return of_hits(ModelConfusion, epsilon, neighbours)


def of_option(epsilon: float, neighbours: Neighbours) -> Told:
    request = MostCommonOption.of(PEOPLE, "vote", epsilon=epsilon, neighbours=neighbours)
    pair = ((0, 0), (1, 0)) if neighbours == "add_remove" else ((0, 1), (1, 0))
    here, there = (request.law_of(np.array(one)) for one in pair)
    return request.cost, here, there


def of_quantile(epsilon: float, neighbours: Neighbours) -> Told:
    request = QuantileValue.of(PEOPLE, "age", epsilon=epsilon, neighbours=neighbours, points=21)
    step = request.choice.sensitivity
    here, there = (request.law_of(np.array([-40 - move, *[-40] * 20])) for move in (0, step))
    return request.cost, here, there


def of_count(epsilon: float, neighbours: Neighbours) -> Told:
    """Of people, each with one row: where one is replaced nobody counts more or fewer."""
    declared = Declaration(columns=(*PEOPLE.columns, Column(name="who", type="text")), id_column="who")
    request = NoisyCount.of(replace(declared, rows_per_person=1), epsilon=epsilon)
    return request.cost, request.law_of(100, 200), request.law_of(101, 200)


KINDS = {one.__name__: one for one in (of_gaussian_hits, of_laplace_hits, of_option, of_quantile, of_count)}


def beyond(here: FloatArray, there: FloatArray, epsilon: float) -> float:
    """The δ that two laws need at ``epsilon``."""
    return max(
        float(np.maximum(one - np.exp(min(epsilon, 700.0)) * two, 0.0).sum())
        for one, two in ((here, there), (there, here))
    )


def passed(told: Told, times: int) -> list[str]:
    """Which accountants tell less than so many answers need, at which δ."""
    cost, *laws = told
    total = RunningTotal().add(cost, times)
    here, there = (joint(np.stack([law] * times)) for law in laws)
    said = [(f"{name} at {delta}", beyond(here, there, epsilon), delta) for delta in DELTAS
            for name, epsilon in total.epsilons(delta).items()]  # fmt: skip
    levels = np.linspace(0.0, 2.0 * times * cost.epsilon, 9)
    said += [(f"δ at {level}", beyond(here, there, level), delta)
             for level, delta in zip(levels, total.deltas(levels), strict=True)]  # fmt: skip
    assert any(name.startswith(("zcdp", "basic")) for name, *_ in said)
    return [name for name, needed, delta in said if needed > delta * (1 + 1e-9) + 1e-13]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("neighbours", ["add_remove", "replace_one"])
def test_no_accountant_tells_less_of_an_answer_than_its_law_needs(kind: str, neighbours: Neighbours) -> None:
    """Nor of two. Continuous noise of the same σ is another law than noise in whole rows, which needs more ε."""
    for epsilon in EPSILONS:
        told = KINDS[kind](epsilon, neighbours)
        assert not passed(told, 1), epsilon
        if told[1].size < 500:
            assert not passed(told, 2), epsilon


def test_these_tests_can_fail() -> None:
    cost, here, there = of_gaussian_hits(8.0, "add_remove")
    noise = zcdp_gaussian_noise_multiplier(cost.zcdp)
    as_continuous = replace(cost, event=GaussianEvent(noise_multiplier=noise))
    assert any(name.startswith("pld") for name in passed((as_continuous, here, there), 1))


def called_a_failure(texts: list[str]) -> list[str]:
    """Where δ is said to be the chance that a promise of privacy fails; a theorem's β is such a chance of accuracy."""
    found = (text for text in texts if re.search(r"\bfail(s|ing)?\b", text) and re.search(r"promise|δ", text))
    return [text for text in found if not re.search("β|theorem|accuracy", text)]


def test_no_sentence_calls_delta_the_chance_that_epsilon_is_passed() -> None:
    """That chance is many times δ for Gaussian noise; δ is how much more often than ε allows a guess may be right."""
    cost, here, there = of_gaussian_hits(0.5, "add_remove")
    passing = here[here > np.exp(cost.epsilon) * there].sum()
    assert passing > 5 * cost.delta
    assert beyond(here, there, cost.epsilon) <= cost.delta
    texts = [
        node.value
        for path in sorted((ROOT / "dashboard").rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]
    assert not called_a_failure(texts)
    assert called_a_failure(["δ = 10⁻⁶ is the chance that the promise may fail."])
