"""An entry that one person moves as far as was stated is read as moved no farther, also where a number is too large for
a float, or its cell too long to be looked at elsewhere."""

from __future__ import annotations

import io
from dataclasses import replace

import pandas as pd
import pytest

from dpcore.audit.interference import spent
from dpcore.datasets import Column, PrivateRows, conversion, read_table
from dpcore.datasets.schema import LONGEST
from tests.dashboard.test_entries_moved import NUMBERS, SCORE, STREETS, asked

EDGE = 2**1024 - 2**970  # half a step beyond the largest float
PAIRS: dict[str, tuple[str, str]] = {
    "the last float": (str(EDGE - 1), str(EDGE)),
    "far beyond": (str(EDGE), str(10**400)),
    "the last float below nothing": (str(1 - EDGE), str(-EDGE)),
    "an exponent": (str(EDGE - 1), "1e309"),
    "thousands": (f"{EDGE - 1:,}", f"{EDGE:,}"),
    "blanks before": (" " * (LONGEST - 2) + "99", " " * (LONGEST - 2) + "100"),
    "blanks behind": ("99" + " " * (LONGEST - 2), "100" + " " * (LONGEST - 2)),
    "odd blanks before": ("\u2003" * (LONGEST - 2) + "99", "\u2003" * (LONGEST - 2) + "100"),
    "zeros before": ("0" * (LONGEST - 2) + "99", "0" * (LONGEST - 1) + "100"),
    "digits behind the point": (f"99.{'9' * (LONGEST - 3)}", f"100.{'9' * (LONGEST - 3)}"),
    "more digits than are looked at": ("9" * LONGEST, "1" + "0" * LONGEST),
}


def table(entry: str, kind: str) -> bytes:
    frame = pd.DataFrame({"street": list(STREETS), "callers": [*map(str, NUMBERS[:-1]), entry]})
    if kind == "text":
        return frame.to_csv(index=False).encode()
    made = io.BytesIO()
    frame.to_parquet(made)
    return made.getvalue()


def worst(pair: str, kind: str, column: Column) -> float:
    """The largest share of the claim that is used where the last entry moves by what was stated."""
    how = {"header_rows": 1, "header_line": 1} if kind == "text" else {}
    both = [read_table(table(entry, kind), **how) for entry in PAIRS[pair]]  # type: ignore[arg-type]
    found = []
    for each in ("option", "step"):
        for here, there in zip(*(asked(one, column, each=each) for one in both), strict=True):
            assert here == there
            assert "was stated and not checked" in here.promise
            found.append(spent(here, here.read(both[0].private), here.read(both[1].private)))
    return max(found)


@pytest.mark.parametrize("kind", ["text", pytest.param("parquet", marks=pytest.mark.thorough)])
@pytest.mark.parametrize("pair", PAIRS)
def test_at_an_edge_of_reading_an_entry_moves_as_far_as_anywhere(pair: str, kind: str) -> None:
    """Charged 0.5, one person moved the law by e^15.6: one more than the last float was nothing."""
    for column in (SCORE, replace(SCORE, type="number")):
        assert worst(pair, kind, column) <= 1 + 1e-9
        low = replace(column, low=-100)
        assert worst(pair, kind, low) <= 1 + 1e-9


def test_these_tests_can_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    """As columns are read of whose entries nobody said how far they move."""
    whole = replace(SCORE, type="number")
    monkeypatch.setattr(conversion, "bounded", conversion.numbers)
    assert worst("the last float", "text", whole) > 10
    monkeypatch.undo()
    cut = PrivateRows._text
    monkeypatch.setattr(PrivateRows, "_text", lambda rows, name, reads=None: cut(rows, name))
    for pair in ("blanks before", "digits behind the point", "more digits than are looked at"):
        assert worst(pair, "text", whole) > 10, pair
