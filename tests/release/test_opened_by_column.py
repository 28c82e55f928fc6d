"""A private answer holds one column of a file at a time beside it: all, taken anew, were three times the file."""

from __future__ import annotations

import gc
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from dpcore.datasets import Column, Declaration, PrivateRows, private_rows
from dpcore.datasets.conversion import apply
from dpcore.datasets.schema import EachRow

ROWS, COLUMNS = 20_000, 12
CELL = 16
SCHEMA = tuple(Column(name=f"x{place}", type="number", low=0, high=10) for place in range(COLUMNS))


@pytest.mark.parametrize("each_row", ["record", "step"])
@pytest.mark.parametrize("blank", [False, True])
def test_no_more_than_a_few_columns_are_held_at_once(each_row: EachRow, blank: bool) -> None:
    rng = np.random.Generator(np.random.PCG64(1))
    texts = {
        column.name: pd.Series([f"{value:.14f}"[:CELL] for value in rng.uniform(1, 9, ROWS)], dtype="str")
        for column in SCHEMA
    }
    frame = pd.DataFrame(texts)
    if blank:
        frame.iloc[7] = ""
    rows = PrivateRows(frame)
    reads = Declaration(columns=SCHEMA, each_row=each_row).reads(*texts)
    gc.collect()  # what other tests left and is let go of meanwhile would count against it
    before, most = pa.total_allocated_bytes(), 0

    def applied(*given: Any) -> Any:
        nonlocal most
        most = max(most, pa.total_allocated_bytes() - before)
        return apply(*given)

    with patch.object(private_rows, "apply", applied):
        opened = rows.opened(reads)
        assert pa.total_allocated_bytes() - before < ROWS, "nothing is held of columns that nobody has asked for"
        found = np.column_stack([opened.numbers(name) for name in texts])
    assert found.shape == (ROWS - (blank and each_row == "record"), COLUMNS)
    assert np.allclose(
        np.sort(np.nan_to_num(found[:, 0]))[-9:], np.sort(frame["x0"].replace("", "0").astype(float))[-9:]
    )
    assert CELL * ROWS < most < 4 * (CELL + 8) * ROWS


def test_rows_of_which_nothing_else_is_read_are_kept_by_whose_they_are() -> None:
    who, x = Column(name="who", type="text"), SCHEMA[0]
    declared = Declaration(columns=(who, x), id_column="who", rows_per_person=1)
    for people, kept in ((["p"], 1), (["p", "q", "p"], 2), (["", "p"], 1), ([], 0)):
        frame = pd.DataFrame({"who": people, "x0": ["1"] * len(people)}, dtype="str")
        assert PrivateRows(frame).opened(declared.reads()).rows == kept
