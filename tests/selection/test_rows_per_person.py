"""A person with several rows is hidden with all of them: every question needs as many times the ε."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dpcore.errors import InvalidArgument
from dpcore.selection import FiniteClassProblem, MostCommon, QuantileProblem

ROWS = 3
EPSILON = np.array([0.3, 1.5])
VALUES = np.random.default_rng(2).uniform(0, 10, 80)


def problems(rows: int) -> dict[str, tuple[Any, str, str]]:
    return {
        "quantile": (QuantileProblem(values=VALUES, low=0, high=10, rows_per_person=rows), "quantile", "rank_error"),
        "rule": (
            FiniteClassProblem(errors=np.array([20.0, 24.0, 40.0]), people=80, rows_per_person=rows),
            "permute_and_flip",
            "error",
        ),
        "most common": (
            MostCommon(scores=np.array([40.0, 35.0, 5.0]), sensitivity=float(rows)),
            "permute_and_flip",
            "success",
        ),
    }


@pytest.mark.parametrize("name", ["quantile", "rule", "most common"])
def test_k_rows_at_k_times_epsilon_are_one_row_at_epsilon(name: str) -> None:
    """Exact: every law here depends on ε and sensitivity through their quotient alone."""
    size = np.array([80.0, 80.0])
    one, method, metric = problems(1)[name]
    several = problems(ROWS)[name][0]
    want = one.evaluate(method, metric, EPSILON, size).value
    assert several.evaluate(method, metric, ROWS * EPSILON, size).value == pytest.approx(want, rel=1e-12)
    assert several.evaluate(method, metric, EPSILON, size).value != pytest.approx(want, rel=1e-3)


@pytest.mark.parametrize("relation", ["add_remove", "replace_one"])
def test_the_median_with_three_rows_keeps_its_promise_on_neighbours(relation: str) -> None:
    """Worst-case neighbours, three rows at one end added or moved: the exact laws differ by at most e^ε."""
    epsilon = 0.9
    base = np.full(21, 5.0)
    other = np.append(base, [0.0] * ROWS) if relation == "add_remove" else np.where(np.arange(21) < ROWS, 0.0, base)
    question = QuantileProblem(values=base, low=0, high=10, relation=relation, rows_per_person=ROWS)
    mechanism = question.mechanism(epsilon)
    grid = np.array([1.0, 4.999, 5.001, 9.0])
    densities = []
    for values in (base, other):
        law = mechanism.law(values)
        place = np.searchsorted(law.intervals.edges, grid, side="right") - 1
        densities.append(np.log(law.density[place]))
    assert np.abs(densities[0] - densities[1]).max() <= epsilon + 1e-12


def test_rows_per_person_are_checked() -> None:
    with pytest.raises(InvalidArgument, match="rows_per_person"):
        QuantileProblem(values=VALUES, low=0, high=10, rows_per_person=0)
    with pytest.raises(InvalidArgument, match="rows_per_person"):
        FiniteClassProblem(errors=np.array([1.0]), people=3, rows_per_person=0)
