"""Whole numbers read of numbers with a fraction move as far as these do, and no farther than the next whole step."""

from __future__ import annotations

import io
import json
import math
from collections.abc import Callable
from dataclasses import replace
from decimal import Context, Decimal
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet as pq

from dpcore.audit.interference import spent
from dpcore.datasets import Column, Declaration, PrivateRows, Schema, apply, conversion, read_table
from dpcore.datasets.numerals import integers, numbers
from dpcore.releases.alarm import AlarmRun
from dpcore.releases.cells import entry_rules
from dpcore.releases.selection import BestScore
from dpcore.validate import BoolArray, FloatArray, IntArray

POINTS = Column(name="points", type="integer", low=-1000, high=1000, sensitivity=1.0)
TEAMS = Column(name="team", type="category", categories=tuple("abcdefgh"))
WHOLE = (0, 1, 6, 7, 10, 11, 98, 1023, 2**31, 2**47, 2**48 - 1, 2**51, 2**52 - 1, 2**52, 2**53, 2**53 + 1, 2**62)
PARTS = ("0", "0.125", "0.4999999999999995", "0.49999999999999999999", "0.5", "0.50000000000000000001", "0.75", "0.9")
MOVES = tuple(map(Decimal, ("1", "2", "3", "8", "1024", "0.5", "1.5", "0.001", "0.99999999999999999999", "2.25")))
PLACES = Context(prec=60)
CELLS = tuple(PLACES.add(sign * whole, sign * Decimal(part)) for whole in WHOLE for part in PARTS for sign in (1, -1))


def _point(cell: Decimal) -> str:
    return f"{cell:f}"


def _comma(cell: Decimal) -> str:
    return _point(cell).replace(".", ",")


def _exponent(cell: Decimal) -> str:
    """From 2⁵³ on that is how a double is written, with other digits than it has."""
    return f"{cell:e}" if abs(cell) < 2**53 - 1 else _point(cell)


def _currency(cell: Decimal) -> str:
    return f"({-cell:f} €)" if cell < 0 else f"{cell:f} €"


WRITTEN = (_point, _comma, _exponent, _currency)
Nearest = Callable[[pd.Series, Any], tuple[IntArray, BoolArray]]


def _by_doubles(rounded: Callable[[FloatArray], FloatArray]) -> Nearest:
    """Whole numbers of doubles: digits that these have no room for are lost before."""

    def nearest(text: pd.Series, decimal: Any) -> tuple[IntArray, BoolArray]:
        values, good = integers(text, decimal)
        there = ~np.isnan(numbers(text, decimal))
        rest = np.flatnonzero(there & ~good)
        values[rest] = rounded(numbers(text, decimal)[rest]).astype(np.int64)
        return values, there

    return nearest


def _to_even(values: FloatArray) -> FloatArray:
    return np.asarray(np.rint(values))


def _away_from_zero(values: FloatArray) -> FloatArray:
    return np.asarray(np.copysign(np.floor(np.abs(values) + 0.5), values))


def _halves_up(values: FloatArray) -> FloatArray:
    return np.asarray(np.floor(values + 0.5))


BROKEN = {rule.__name__: _by_doubles(rule) for rule in (_to_even, _away_from_zero, np.trunc, _halves_up)}


def _read(cells: list[Decimal], write: Callable[[Decimal], str]) -> list[int]:
    column = replace(POINTS, low=None, high=None, decimal="," if write is _comma else ".")
    text = pd.Series([write(cell) for cell in cells], dtype="str")
    return [int(value) for value in apply(Schema(columns=(column,)), text.to_frame("points")).frame["points"]]


def _too_far(write: Callable[[Decimal], str]) -> list[tuple[str, str]]:
    """Cells that a move reads farther apart than the next whole step, or in the other order."""
    here = _read(list(CELLS), write)
    found = []
    for move in MOVES:
        moved = [PLACES.add(a, move) for a in CELLS]
        for a, b, first, second in zip(CELLS, moved, here, _read(moved, write), strict=True):
            least = int(move) if move == int(move) else 0
            if not least <= second - first <= math.ceil(move):
                found.append((write(a), write(b)))
    return found


@pytest.mark.parametrize("write", WRITTEN)
def test_a_number_moved_by_whole_steps_is_read_so_and_by_any_other_no_farther(
    write: Callable[[Decimal], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """10.5 was 10 and 11.5 was 12; as doubles 7.4999999999999995 is below its half, and 8.4999999999999995 is one."""
    assert not _too_far(write)
    for name, nearest in BROKEN.items():
        monkeypatch.setattr(conversion, "nearest", nearest)
        assert _too_far(write), name


def test_it_is_the_nearest_one() -> None:
    for cell, value in zip(CELLS, _read(list(CELLS), _point), strict=True):
        assert Decimal("-0.5") < PLACES.subtract(value, cell) <= Decimal("0.5")
    halves = [Decimal(half) / 2 for half in range(-5, 6, 2)]
    assert _read(halves, _point) == [-2, -1, 0, 1, 2, 3]


def test_beyond_64_bits_it_is_the_last_that_fits() -> None:
    cells = [sign * Decimal(far) for sign in (1, -1) for far in (2**63 - 1, 2**63, "9223372036854775807.5", "1e300")]
    assert _read(cells, _point) == [2**63 - 1] * 4 + [-(2**63 - 1), -(2**63), -(2**63 - 1), -(2**63)]
    assert _read([Decimal("0." + "0" * 9000 + "1"), Decimal("1." + "9" * 70_000)], _point) == [0, 2]


def _text(cells: list[str]) -> bytes:
    return "\n".join(
        ["team,points", *(f"{team},{cell}" for team, cell in zip("abcdefgh", cells, strict=True))]
    ).encode()


def _document(cells: list[str]) -> bytes:
    rows = [f'{{"team": {json.dumps(team)}, "points": {cell}}}' for team, cell in zip("abcdefgh", cells, strict=True)]
    return f"[{', '.join(rows)}]".encode()


def _book(cells: list[str]) -> bytes:
    made = io.BytesIO()
    pd.DataFrame({"team": list("abcdefgh"), "points": list(map(float, cells))}).to_excel(made, index=False)
    return made.getvalue()


def _parquet(kind: pa.DataType) -> Callable[[list[str]], bytes]:
    def write(cells: list[str]) -> bytes:
        made = io.BytesIO()
        points = pa.array([Decimal(cell) for cell in cells], pa.decimal128(38, 20)).cast(kind)
        pq.write_table(pa.table({"team": list("abcdefgh"), "points": points}), made)
        return made.getvalue()

    return write


FILES = {
    "text": _text,
    "JSON": _document,
    "workbook": _book,
    "doubles": _parquet(pa.float64()),
    "singles": _parquet(pa.float32()),
    "decimals": _parquet(pa.decimal128(38, 20)),
}


STARTS = ("10.5", "-11.5", "10.25", "11.5", "-10.5", "0.5", "-0.5", "7.75")


@pytest.mark.parametrize("kind", FILES)
def test_in_every_kind_of_file(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    cells = [[str(Decimal(start) + move) for start in STARTS] for move in range(3)]
    asked = BestScore.of(
        Declaration(columns=(TEAMS, POINTS), each_row="option"), option="team", score="points", epsilon=1.0
    )
    readings = [read_table(FILES[kind](some)).private for some in cells]
    first, second, third = (asked.read(rows) for rows in readings)
    assert first.tolist() == [11, -11, 10, 12, -10, 1, 0, 8]
    assert (second - first == 1).all()
    assert (third - first == 2).all()
    monkeypatch.setattr(conversion, "nearest", BROKEN["_to_even"])
    assert set(asked.read(readings[1]) - asked.read(readings[0])) == {0, 1, 2}


def _asked(column: Column) -> list[Any]:
    of_options = Declaration(columns=(TEAMS, column), each_row="option")
    of_steps = Declaration(columns=(column,), each_row="step")
    return [
        *(
            BestScore.of(of_options, option="team", score="points", epsilon=1.0, rule=rule)  # type: ignore[arg-type]
            for rule in ("permute_and_flip", "exponential")
        ),
        *(
            AlarmRun.of(of_steps, "points", threshold=11.0, epsilon=1.0, entries=8, noise=noise)  # type: ignore[arg-type]
            for noise in ("exponential", "laplace")
        ),
    ]


def _rows(cells: list[str]) -> PrivateRows:
    return PrivateRows(pd.DataFrame({"team": list("abcdefgh"), "points": cells}, dtype="str"))


def _most_spent(sensitivity: str, **says: Any) -> float:
    """Of one person who moves every entry by as much as is stated."""
    column = replace(POINTS, sensitivity=float(sensitivity), **says)
    found = []
    for low in STARTS[:3]:
        high = str(Decimal(low) + Decimal(sensitivity))
        one_way = ([low] * 8, [low] + [high] * 7)
        apart = ([high] + [low] * 7, [low] + [high] * 7)
        here, there = map(_rows, one_way if column.counts else apart)
        found += [spent(one, one.read(here), one.read(there)) for one in _asked(column)]
    return max(found)


SAYS: tuple[dict[str, Any], ...] = ({}, {"better": "lower"}, {"counts": True})


@pytest.mark.parametrize("says", SAYS)
@pytest.mark.parametrize("sensitivity", ["1", "3", "0.5", "2", "1.5"])
def test_who_moves_entries_with_fractions_is_hidden_as_stated(sensitivity: str, says: dict[str, Any]) -> None:
    """At ε = 1 one person who moved 10.5 by the stated 1 moved the law by e^1.97."""
    assert 0.9 < _most_spent(sensitivity, **says) <= 1 + 1e-9


def test_halves_to_the_even_one_would_move_them_farther(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conversion, "nearest", BROKEN["_to_even"])
    assert _most_spent("1") > 1.97
    assert _most_spent("3") > 1.3
    assert _most_spent("2") <= 1 + 1e-9


def test_a_receipt_says_what_a_half_counts_as() -> None:
    said = [rule for rule in entry_rules(POINTS) if "fraction" in rule]
    assert said == [
        "A number with a fraction counts in “points” as the nearest whole one, one halfway between two as the larger."
    ]
    assert not [rule for rule in entry_rules(replace(POINTS, type="number")) if "fraction" in rule]
