"""A number of whatever size is read and looked at without a word in the server's log, after a step too."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from dpcore.datasets import OneRowPer, ReadAsMissing, read_table
from dpcore.datasets.guessing import numerals

pytestmark = [pytest.mark.usefixtures("one_connection"), pytest.mark.filterwarnings("error")]
EXTREME = ("1.7e308", "-1.7e308", "9.9e307", "-9e307", "5e-324", "9999", "-99", "0")


@pytest.mark.parametrize("more", list(combinations(EXTREME, 2)), ids=" ".join)
def test_no_number_is_too_large_to_be_looked_at(more: tuple[str, ...]) -> None:
    rows = [f"p{place % 9},{place}" for place in range(20)]
    lines = ["who,x", *rows, *(f"p{place},{number}" for place, number in enumerate(more))]
    reading = read_table("\n".join(lines).encode(), delimiter=",", header_rows=1)
    assert reading.column("x").type in ("number", "integer")
    for step in (ReadAsMissing(column="x", word=more[0]), OneRowPer(by="who", of="x", how="largest")):
        assert reading.after((step,)).suggested_steps is not None


@pytest.mark.parametrize("others", [[0.0, 98.0], [-1.7e308, 1.7e308], [5e-324, 1.0], [3.0]])
def test_what_stands_apart_lies_further_from_the_others_than_they_from_each_other(others: list[float]) -> None:
    least, most = min(others), max(others)
    for value in (most, 2.5, 999.0, 1.79e308, -99.0):
        apart = value > 0 and value / 4 - most / 4 > max(most / 4 - least / 4, 0.25)
        assert numerals.stands_apart(value, np.array(others)) == (apart or value < 0 <= least)


def test_one_that_overflows_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numerals, "stands_apart", lambda value, others: value > others.max() + np.ptp(others))
    with pytest.raises(RuntimeWarning, match="overflow"):
        test_what_stands_apart_lies_further_from_the_others_than_they_from_each_other([-1.7e308, 1.7e308])
