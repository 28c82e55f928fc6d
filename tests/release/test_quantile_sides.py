"""What is said of a private median whatever the data are, held against the exact law of the very release."""

from __future__ import annotations

import re
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from dashboard.questions.selection.quantile_law import law_picture
from dashboard.words import number, times_in_100
from dashboard.words import quantile as said
from dpcore.datasets import Column, Declaration, PrivateRows, Schema
from dpcore.in_units import to_units
from dpcore.releases.selection import QuantileValue
from dpcore.selection import QuantileProblem
from dpcore.validate import FloatArray, Neighbours

TIED = {
    "spike": [505_200.0] * 40 + [505_600.0] * 60,
    "halves at two points": [30_000.0] * 500 + [31_000.0] * 500,
    "all one": [250_400.0] * 30,
    "spread": np.linspace(1_000.0, 990_000.0, 101).tolist(),
    "two": [100.5, 700_000.5],
    "one": [42.0],
}


def asked(values: list[float], q: float, epsilon: float, neighbours: Neighbours) -> tuple[QuantileValue, FloatArray]:
    """The request as a page makes it, and the chance of each of its points."""
    schema = Schema(columns=(Column(name="income", type="number", low=0.0, high=1_000_000.0),), unit="person")
    request = QuantileValue.of(Declaration.of(schema), "income", q=q, epsilon=epsilon, neighbours=neighbours)
    rows = PrivateRows(pd.DataFrame({"income": [repr(value) for value in values]}, dtype="str"))
    return request, request.law_of(request.read(rows))


def too_many(values: list[float], grid: FloatArray, q: float) -> FloatArray:
    """How many rows too many lie on one side of each point, those with its very value on none."""
    held = np.sort(np.asarray(values))
    below = np.searchsorted(held, grid, side="left")
    above = len(held) - np.searchsorted(held, grid, side="right")
    found: FloatArray = np.abs((1 - q) * below - q * above)
    return found


@pytest.mark.parametrize("name", TIED)
@pytest.mark.parametrize("q", [0.5, 0.9])
@pytest.mark.parametrize("neighbours", ["add_remove", "replace_one"])
@pytest.mark.parametrize("epsilon", [0.02, 1.0, 20.0])
def test_no_more_rows_lie_on_one_side_than_is_said(name: str, q: float, neighbours: Neighbours, epsilon: float) -> None:
    values = TIED[name]
    request, law = asked(values, q, epsilon, neighbours)
    bound = request.error_bound(0.05)
    sides = too_many(values, request.grid, q)
    assert law[sides - sides.min() > bound.number + 1e-9].sum() <= 0.05
    for sentence in (said.conclude(q, bound), said.forecast_bound(q, bound, "")):
        found = re.search(
            rf"{times_in_100(0.95)}, of the rows as they count, "
            r"(those above and those below it differ by at most|no more than) ([\d,]+(?:\.\d+)?)",
            sentence,
        )
        assert found
        times = 1.0 if found[1] == "no more than" else 2.0  # too many on one side are as many too few on the other
        assert law[times * (sides - sides.min()) > float(found[2].replace(",", "")) + 1e-9].sum() <= 0.05


@pytest.mark.parametrize("name", TIED)
@pytest.mark.parametrize("q", [0.5, 0.9])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 20.0])
def test_what_that_is_of_as_many_as_were_declared_holds_too(name: str, q: float, epsilon: float) -> None:
    """In shares of all rows, where they are as many as that; and nothing where it would allow all of them."""
    values = TIED[name]
    request, law = asked(values, q, epsilon, "add_remove")
    bound = request.error_bound(0.05)
    claimed, forecast = said.claim(q, bound, len(values)), said.forecast_bound(q, bound, "", len(values))
    found = re.search(rf"if they are {len(values):,}, at worst ([\d.]+) in 100 on one side and ([\d.]+)", claimed)
    share = re.search(rf"which is ([\d.]+) in 100 of them if they are {len(values):,}", claimed)
    none = bound.number / len(values) + (0.5 if q == 0.5 else 0.0) >= 1.0
    assert (found is None and share is None) == none == ("says nothing" in forecast)
    assert "if they are" not in said.claim(q, bound), "nobody declared how many"
    sides = too_many(values, request.grid, q)
    excess = sides - sides.min()
    if found is not None:
        most, least = float(found[1]), float(found[2])
        assert most + least == pytest.approx(100.0)
        assert law[100 * (0.5 + excess / len(values)) > most + 1e-9].sum() <= 0.05
        assert most >= 100 * (0.5 + np.floor(2 * bound.number) / 2 / len(values)) - 1e-9, "as the number of rows says"
    if share is not None:
        assert q != 0.5
        assert float(share[1]) >= 100 * bound.number / len(values) - 1e-9


SOME = {
    "one person has most rows": ([95.0] * 1000 + [20.0, 21.0, 22.0] * 66, [1000] + [1] * 198),
    "values lie beyond the bounds": ([20.0] * 300 + np.linspace(99.91, 99.99, 150).tolist() + [250.0] * 550, []),
    "cells are missing": ([90.0] * 20 + [10.0] * 30 + [float("nan")] * 900, []),
}
"""Values, and how many rows each person has in order, where a column says whose they are."""


@pytest.mark.parametrize("name", SOME)
@pytest.mark.parametrize("fill", [None, 100.0])
def test_it_holds_of_the_rows_as_they_count(name: str, fill: float | None) -> None:
    """At most one of each person, none without a value or with the declared one, moved to the bounds; of all the
    file's rows it does not hold, which the sentence said once."""
    values, persons = SOME[name]
    columns = [Column(name="age", type="number", low=0.0, high=100.0, fill=fill), Column(name="who", type="text")]
    schema = Schema(columns=tuple(columns if persons else columns[:1]), id_column="who" if persons else None)
    request = QuantileValue.of(Declaration.of(schema), "age", epsilon=1.0)
    whose = np.repeat(np.arange(len(persons)), persons) if persons else np.arange(len(values))
    cells = {"age": ["" if np.isnan(value) else repr(value) for value in values], "who": whose.astype(str)}
    law = request.law(PrivateRows(pd.DataFrame(cells, dtype="str")))
    most = 2.0 * request.error_bound(0.05).number
    held = np.asarray(values)
    kept = held[np.unique(whose, return_index=True)[1]]
    counted = np.clip(kept[~np.isnan(kept)] if fill is None else np.nan_to_num(kept, nan=fill), 0.0, 100.0)
    written = held[~np.isnan(held)]
    beyond = [
        law[sides - sides.min() > most + 1e-9].sum()
        for sides in (2.0 * too_many(rows.tolist(), request.grid, 0.5) for rows in (counted, written))
    ]
    assert beyond[0] <= 0.05
    assert beyond[1] > 0.9 or np.array_equal(written, counted)
    assert "of the rows as they count" in said.conclude(0.5, request.error_bound(0.05))


def test_it_does_not_hold_of_rows_between_the_answer_and_the_median() -> None:
    """Where many share a value, half of all answers have them all in between: the sentence said so once."""
    values = TIED["spike"]
    request, law = asked(values, 0.5, 20.0, "add_remove")
    between = np.searchsorted(np.sort(values), 505_600.0, side="left") - np.searchsorted(
        np.sort(values), np.minimum(request.grid, 505_600.0), side="right"
    )
    assert law[between > request.error_bound(0.05).number].sum() > 0.4


# -- the number as it is shown -----------------------------------------------------------------------------------------

BOUNDS = [
    (0.0, 1_000_000.0),
    (1_700_000_000.0, 1_700_000_100.0),
    (20_000_000_000.0, 20_000_000_500.0),
    (-20_000_000_000.1, -20_000_000_000.0),
    (-0.3, 0.3),
    (-1.0 / 3.0, 2.0 / 7.0),
    (36.0, 41.5),
    (1e-90, 3e-90),
    (1e15, 1e15 + 7e3),
    (-1e100, 1e100),
]


def over(low: float, high: float, points: int = 1001) -> QuantileValue:
    schema = Schema(columns=(Column(name="v", type="number", low=low, high=high),))
    return QuantileValue.of(Declaration.of(schema), "v", epsilon=1.0, points=points)


def shown(request: QuantileValue) -> list[str]:
    """Every number that may come out, as it is shown."""
    return [said.answer(request.shortest(float(point)), "") for point in request.grid]


def off(request: QuantileValue, told: list[str]) -> int:
    """How many of the numbers, as they are read, are not what is counted by: rows lie on other sides of them."""
    read = [float(one.replace(",", "")) for one in told]
    counted = [to_units(values, request.unit_of_values) for values in (read, request.grid)]
    return int((counted[0] != counted[1]).sum())


@pytest.mark.parametrize("points", [2, 4, 1001])
@pytest.mark.parametrize(("low", "high"), BOUNDS)
def test_what_is_shown_is_the_number_that_the_bound_speaks_of(low: float, high: float, points: int) -> None:
    request = over(low, high, points)
    told = shown(request)
    assert off(request, told) == 0
    assert len(set(told)) == points
    assert "-0" not in told


def test_numbers_of_a_few_digits_are_seen_to_be_others() -> None:
    """Ten digits of times in seconds were eleven answers in one, and three of 36.735 °C were 36.7."""
    for digits, (low, high) in ((10, BOUNDS[1]), (10, BOUNDS[2]), (3, BOUNDS[6])):
        request = over(low, high)
        cut = [format(Decimal(f"{point:.{digits}g}"), ",f") for point in request.grid]
        assert off(request, cut) > 800
        assert len(set(cut)) < request.points


@pytest.mark.parametrize(
    ("low", "high", "place", "told"),
    [
        (30.0, 45.0, 449, "36.735"),
        (0.0, 1_000_000.0, 56, "56,000"),
        (0.0, 2e12, 500, "1,000,000,000,000"),
        (-0.0002469, 0.0, 500, "-0.00012345"),
        (-0.3, 0.3, 500, "0"),
        (0.0, 100.0, 3, "0.3"),
        (1_700_000_000.0, 1_700_000_100.0, 53, "1,700,000,005.3"),
    ],
)
def test_an_answer_has_as_many_digits_as_its_grid_needs(low: float, high: float, place: int, told: str) -> None:
    request = over(low, high)
    value = request.shortest(float(request.grid[place]))
    assert said.answer(value, "") == told
    assert said.answer(value, "°C") == f"{told} °C"


@pytest.mark.parametrize("q", [0.5, 0.9])
@pytest.mark.parametrize("epsilon", [0.05, 0.5, 5.0])
def test_what_is_said_of_made_up_rows_is_where_95_in_100_of_their_answers_lie(q: float, epsilon: float) -> None:
    """So that somebody knows before the click what a bound in rows may be in years; a wider law would say more."""
    ages = np.random.default_rng(20).integers(16, 76, 400).astype(float)
    problem = QuantileProblem(values=ages, q=q, low=16.0, high=75.0, tolerance=1.0)
    low, high = law_picture(problem, epsilon, 1.0).likely
    law = problem.mechanism(epsilon).law(ages)
    edges, steps = law.intervals.edges, np.concatenate([[0.0], np.cumsum(law.probabilities)])
    below, up_to = np.interp([low, high], edges, steps)
    assert up_to - below == pytest.approx(0.95, abs=1e-6)
    assert below == pytest.approx(0.025, abs=1e-6)
    bound = asked([16.0], q, epsilon, "add_remove")[0].error_bound(0.05)
    told = said.forecast_bound(q, bound, "years", 400, (low, high))
    assert f"between {number(low)} and {number(high)} years" in told
    assert "95 in 100 private answers are 44 years;" in said.forecast_bound(q, bound, "years", 400, (44.0, 44.0))
    assert "half of all private answers are 44 years" in said.forecast((44.0, 44.0), "years")
    assert "of the real ones no answer tells it" in told
    assert "made-up" not in said.forecast_bound(q, bound, "years", 400), "where no rows are made up"
