"""How many rows of each person to keep: exact on given rows, and from public facts."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from dpcore.datasets import Column, Declaration, PrivateRows
from dpcore.errors import InvalidArgument
from dpcore.releases.rows_kept import levels, loss_by_rows_kept, offered, outlook, with_rows_kept
from dpcore.releases.selection import MostCommonOption

COLUMNS = (Column(name="who", type="text"), Column(name="o", type="category", categories=("a", "b", "c")))
DECLARED = Declaration(columns=COLUMNS, id_column="who", rows_per_person=30)
ASKED = MostCommonOption.of(DECLARED, "o", epsilon=0.5)


def test_the_exact_loss_falls_and_rises_again() -> None:
    """Sixty people say b once, thirty a six times. With one row each b wins, with many the noise is too large; each
    loss is the law's own expectation."""
    who = [f"p{number}" for number in range(60)] + [f"q{number}" for number in range(30) for _ in range(6)]
    words = np.array(["b"] * 60 + ["a"] * 180)
    rows = PrivateRows(pd.DataFrame({"who": who, "o": words}))
    mosts = [1, 6, 30]
    losses = loss_by_rows_kept(ASKED, rows, mosts)
    counts = np.array([(words == word).sum() for word in "abc"])
    for most, loss in zip(mosts, losses, strict=True):
        assert loss == pytest.approx(float(with_rows_kept(ASKED, most).law(rows) @ (counts.max() - counts)))
    assert losses[1] < losses[0]
    assert losses[1] < losses[2]


def test_the_offer_goes_by_public_facts() -> None:
    """What is cut off on average is that of the geometric law; the offer is the least of the sum, and moves with ε."""
    found = outlook(ASKED, people=400, average=3.0, largest=30)
    drawn = np.random.default_rng(2).geometric(1 / 3.0, 200_000)
    for one in found[:6]:
        assert one.cut == pytest.approx(400 * np.maximum(drawn - one.most, 0).mean(), rel=0.05)
        assert one.noise == with_rows_kept(ASKED, one.most).error_bound().number
    best = offered(ASKED, people=400, average=3.0, largest=30)
    assert best.together == min(one.together for one in found)
    tight = MostCommonOption.of(DECLARED, "o", epsilon=0.05)
    assert offered(tight, people=400, average=3.0, largest=30).most < best.most
    assert offered(ASKED, people=400, average=1.0, largest=30).most == 1


def test_levels_and_refusals() -> None:
    assert levels(3) == (1, 2, 3)
    assert levels(45) == (*range(1, 11), 12, 15, 20, 25, 30, 40, 45)
    nobody = MostCommonOption.of(Declaration(columns=COLUMNS), "o", epsilon=0.5)
    with pytest.raises(InvalidArgument, match="id_column"):
        with_rows_kept(nobody, 3)
    for wrong in ({"people": 0}, {"average": 0.5}, {"largest": 0}):
        with pytest.raises(InvalidArgument):
            offered(ASKED, **({"people": 9, "average": 2.0, "largest": 5} | wrong))
