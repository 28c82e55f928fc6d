"""A row that stands far below the others makes no work of all the empty ones between, unless places are asked about."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from dpcore.datasets import Column, Declaration, PrivateRows, read_table
from dpcore.datasets.private_rows import OpenRows
from dpcore.datasets.schema import EachRow
from dpcore.releases.selection import MostCommonOption
from tests.datasets.cases.kinds import sheet

COLUMNS = (
    Column(name="colour", type="category", categories=("red", "blue")),
    Column(name="n", type="integer", low=0, high=9),
)


def far(line: int) -> bytes:
    """Four rows, and one that says that it stands in this line."""

    def fill(_: object, page: object) -> None:
        for row in (["colour", "n"], *[["red", n] for n in range(4)]):
            page.append(row)  # type: ignore[attr-defined]
        for column, cell in enumerate(("blue", 7), start=1):
            page.cell(line, column, cell)  # type: ignore[attr-defined]

    return sheet(fill)()


def opened(rows: PrivateRows, each_row: EachRow, *, in_place: bool = False) -> OpenRows:
    declared = Declaration(columns=COLUMNS, each_row=each_row)
    return rows.opened(declared.reads("colour", "n", in_place=in_place))


@pytest.mark.parametrize("line", [6, 9, 40_000])
def test_empty_rows_between_are_written_out_only_where_places_are_asked_about(
    line: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    reading = read_table(far(line), keep_footer=True)
    rows = reading.private
    assert reading.records == line - 1
    whole = PrivateRows(reading.frame.set_axis(reading.places).reindex(range(reading.records), fill_value=""))
    ways: tuple[tuple[EachRow, bool], ...] = (("step", False), ("option", True), ("option", False), ("record", False))
    for each_row, in_place in ways:
        mine, all_of_them = (opened(one, each_row, in_place=in_place) for one in (rows, whole))
        assert mine.rows == all_of_them.rows == (line - 1 if in_place or each_row == "step" else 5)
        for name in ("colour", "n"):
            pd.testing.assert_series_equal(mine.typed(name), all_of_them.typed(name))
    asked = MostCommonOption.of(Declaration(columns=COLUMNS), "colour", epsilon=1.0)
    assert np.array_equal(asked.law(rows), asked.law(whole))
    monkeypatch.setattr(PrivateRows, "_with_empty_rows", lambda *_: pytest.fail("empty rows were written out"))
    assert opened(rows, "record").typed("n").notna().sum() == 5
    with pytest.raises(pytest.fail.Exception):
        opened(rows, "step").typed("n")
