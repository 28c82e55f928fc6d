"""Simple rules over declared grids: errors counted fast against every prediction, covariances, words, refusals."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpcore.errors import InvalidArgument
from dpcore.selection import Categories, Cuts, RuleClass


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 30), st.integers(1, 9), st.randoms(use_true_random=False))
def test_error_counts_are_those_of_each_rule(n: int, cuts: int, chance: object) -> None:
    """Counting through cumulative sums against predicting with every rule, ties with cuts included."""
    rng = np.random.default_rng(chance.randrange(2**32))
    rules = RuleClass(
        columns=(Cuts(column="x", low=-2, high=3, count=cuts), Categories(column="c", values=("a", "b", "never")))
    )
    table = {
        "x": np.r_[rng.uniform(-4, 4, size=n - n // 2), rng.choice(rules.columns[0].grid, size=n // 2)],
        "c": rng.choice(["a", "b", "other", ""], size=n),
    }
    answers = rng.random(n) < 0.4
    listed = rules.rules
    assert rules.size == len(listed)
    expected = [int((rules.predict(rule, table, n) != answers).sum()) for rule in listed]
    assert rules.errors(table, answers).tolist() == expected


def test_covariances_of_mistakes() -> None:
    """Counted in blocks of rows, against NumPy on all predictions."""
    rng = np.random.default_rng(7)
    rules = RuleClass(columns=(Cuts(column="x", low=0, high=1, count=4), Categories(column="c", values=("a", "b"))))
    table = {"x": rng.uniform(size=9000), "c": rng.choice(["a", "b", "c"], size=9000)}
    answers = rng.random(9000) < table["x"]
    mistakes = np.array([rules.predict(rule, table, 9000) != answers for rule in rules.rules])
    assert np.allclose(rules.covariance(table, answers), np.cov(mistakes, bias=True), atol=1e-12)


def test_rules_read_as_sentences() -> None:
    rules = RuleClass(columns=(Cuts(column="age", low=0, high=100, count=3), Categories(column="sex", values=("f",))))
    assert [str(rule) for rule in rules.rules] == [
        "always no",
        "always yes",
        "yes when age is at least 25",
        "yes when age is below 25",
        "yes when age is at least 50",
        "yes when age is below 50",
        "yes when age is at least 75",
        "yes when age is below 75",
        "yes when sex is f",
        "yes when sex is not f",
    ]


@settings(max_examples=200, deadline=None)
@given(st.floats(-1e9, 1e9), st.floats(1e-3, 1e12), st.integers(1, 200))
def test_cuts_are_short_numbers_evenly_spaced_within_the_bounds(low: float, width: float, count: int) -> None:
    cuts = Cuts(column="x", low=low, high=low + width, count=count)
    step = (cuts.high - cuts.low) / (count + 1)
    assert cuts.grid.shape == (count,)
    assert np.all(np.diff(cuts.grid, prepend=cuts.low, append=cuts.high) > 0)
    evenly = cuts.low + step * np.arange(1, count + 1)
    assert np.allclose(cuts.grid, evenly, rtol=1e-12, atol=step / 19)


def test_a_cut_is_said_in_few_digits_and_in_full() -> None:
    said = [
        str(rule)
        for low, high, count in ((0, 100, 20), (0, 2e6, 20))
        for rule in RuleClass(columns=(Cuts(column="x", low=low, high=high, count=count),)).rules[-2:]
    ]
    assert said == [
        "yes when x is at least 95.2",
        "yes when x is below 95.2",
        "yes when x is at least 1,905,000",
        "yes when x is below 1,905,000",
    ]
    assert Cuts(column="x", low=0, high=1e-200, count=3).grid.tolist() == pytest.approx([2.5e-201, 5e-201, 7.5e-201])


def test_rules_refuse_by_name() -> None:
    for make, name in [
        (lambda: Cuts(column="x", low=1, high=1), "high"),
        (lambda: Cuts(column="x", low=float("nan"), high=1), "low"),
        (lambda: Cuts(column="x", low=0, high=1, count=0), "count"),
        (lambda: Categories(column="c", values=()), "values"),
        (lambda: Categories(column="c", values=("a", "a")), "values"),
        (lambda: RuleClass(columns=()), "columns"),
        (lambda: RuleClass(columns=(Cuts(column="x", low=0, high=1),) * 2), "columns"),
    ]:
        with pytest.raises(InvalidArgument, match=rf"^{name} "):
            make()
    rules = RuleClass(columns=(Cuts(column="x", low=0, high=1),))
    for table, answers, name in [
        ({"x": [0.1]}, [2], "target"),
        ({"x": [0.1]}, ["yes"], "target"),
        ({"y": [0.1]}, [1], "table"),
        ({"x": [0.1, 0.2]}, [1], "table"),
        ({"x": [float("nan")]}, [1], "table"),
    ]:
        with pytest.raises(InvalidArgument, match=rf"^{name} "):
            rules.errors(table, answers)
