"""The Budget page's pictures hold the numbers they are given, are valid, and stay small."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import plotly.io
import pytest

from dashboard.budget.spending import MOST_COSTS, code
from dashboard.charts.attacker import attacker
from dashboard.charts.cumulative import cumulative
from dashboard.charts.prices import prices
from dashboard.charts.theme import Figure
from dpcore.accounting import Cost, compose
from dpcore.guarantee import misses

NAMES = {"basic": "Adding up ε", "pld": "Privacy losses (if planned)"}
COLOUR = {"basic": "#1f4e9e", "pld": "#0e7490"}
RATES = np.linspace(0.0, 1.0, 201)


def lines(answers: int = 3, more: int = 40, *, dark: bool = False) -> Figure:
    count = np.arange(1, answers + more + 1)
    parts = [
        pd.DataFrame({"answers": count, "rule": rule, "epsilon": rate * count, "part": "so far"})
        for rule, rate in (("basic", 0.5), ("pld", 0.3))
    ]
    return cumulative(
        pd.concat(parts),
        names=NAMES,
        colour=COLOUR,
        planned=["pld"],
        counts_with=["basic"],
        cap=3.0,
        done=answers,
        delta=", at δ = 10⁻⁶",
        dark=dark,
    )


def curves(*, dark: bool = False) -> Figure:
    rows = [(f"{n} answers", misses(RATES, epsilon=0.5 * n)) for n in (1, 3, 10, 30)]
    return attacker(RATES, rows, worst=misses(RATES, epsilon=0.5), dark=dark)


def bars(*, dark: bool = False) -> Figure:
    return prices(["pld", "basic"], [2.0, 500.0], names=NAMES, colour=COLOUR, planned=["pld"], left=1.5, dark=dark)


@pytest.mark.parametrize("dark", [False, True])
def test_every_figure_is_valid_and_small(dark: bool) -> None:
    """Plotly's own validation accepts each, and each stays within 50 kB as the browser gets it."""
    for made in (lines(dark=dark), lines(0, 1, dark=dark), lines(1, 0, dark=dark), curves(dark=dark), bars(dark=dark)):
        go.Figure(made)
        assert len(plotly.io.to_json(made, validate=False)) < 50_000


def test_lines_start_at_nothing_and_keep_every_number() -> None:
    basic = next(trace for trace in lines()["data"] if trace["name"] == "Adding up ε")
    np.testing.assert_allclose(basic["x"], np.arange(44))
    np.testing.assert_allclose(basic["y"], 0.5 * np.arange(44), rtol=1e-6)


@pytest.mark.parametrize("most", [1, 7, 12, 40, 999])
def test_answers_are_counted_in_whole_numbers(most: int) -> None:
    ticks = lines(most, 0)["layout"]["xaxis"]["tickvals"]
    assert len(ticks) <= 10
    assert all(isinstance(tick, int) for tick in ticks)


def test_attackers_curves_lie_under_guessing_and_over_nothing() -> None:
    """Each drawn curve is the given one, in 100: from (0, 100) to (100, 0), under the diagonal."""
    for trace in curves()["data"]:
        x, y = np.asarray(trace["x"], float), np.asarray(trace["y"], float)
        assert (y <= 100 - x + 1e-4).all()
        assert (y >= -1e-6).all()


def test_a_price_beyond_the_picture_says_so() -> None:
    """A rule far above the others is cut at the edge, with its number and an arrow."""
    texts = [note["text"] for note in bars()["layout"]["annotations"]]
    assert "ε = 500 →" in texts
    assert "ε = 2" in texts
    assert "left: ε = 1.5" in texts


@pytest.mark.parametrize("charges", [0, 1, MOST_COSTS, MOST_COSTS + 1])
def test_the_code_beside_the_chart_adds_up_all_charges_or_is_not_there(charges: int) -> None:
    receipts = tuple(SimpleNamespace(cost=Cost.pure(0.001)) for _ in range(charges))
    drawn: Any = SimpleNamespace(receipts=receipts, next_cost=Cost.pure(0.1), delta=1e-6)
    text = code(drawn)
    if charges > MOST_COSTS:
        assert text == ""
        return
    found: dict[str, Any] = {}
    exec(text.replace("print(", "total = ("), found)  # noqa: S102 - this program's own
    assert found["total"] == compose([one.cost for one in receipts] or [drawn.next_cost], delta=1e-6)
