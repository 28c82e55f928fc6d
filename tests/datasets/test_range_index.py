"""An index with a name is a column, whether or not its numbers are one after the other."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dpcore.datasets import read_table
from dpcore.datasets.reading import engine
from dpcore.datasets.reading.range_index import with_range_index
from tests.datasets.test_unnamed_index import COUNT, WHOLE, Write, as_feather, as_parquet, as_stream

WRITERS: list[Write] = [as_parquet, as_feather, as_stream]
NUMBERED = WHOLE.rename_axis("who")
LESS: dict[str, pd.DataFrame] = {
    "whole": NUMBERED,
    "without the first": NUMBERED.drop(0),
    "without one between": NUMBERED.drop(7),
    "without the last": NUMBERED.drop(23),
    "every second": NUMBERED.iloc[::2],
    "the other way round": NUMBERED.iloc[::-1],
    "sorted": NUMBERED.sort_values("answer"),
    "from below 0": NUMBERED.set_axis(pd.RangeIndex(-30, 42, 3, name="who")),
    "one row": NUMBERED.iloc[4:5],
}
NAMES: list[Any] = ["who", 5, ("a", "b"), "answer", "Answer"]


def read(frame: pd.DataFrame, write: Write) -> tuple[list[str], list[list[str]], int]:
    """Columns, cells and how many rows count."""
    found = read_table(write(frame))
    return list(found.frame.columns), found.frame.to_numpy().tolist(), int(COUNT.read(found.private))


@pytest.mark.parametrize("write", WRITERS)
@pytest.mark.parametrize("less", LESS)
def test_it_is_a_column_whichever_rows_are_left_out(write: Write, less: str) -> None:
    frame = LESS[less]
    columns, cells, rows = read(frame, write)
    assert columns == ["answer", "word", "who"]
    assert [row[-1] for row in cells] == [str(number) for number in frame.index]
    assert rows == len(frame), "each row says something: whose it is"
    as_a_column = frame.set_axis(pd.Index(np.array(frame.index), name="who"))
    assert (columns, cells, rows) == read(as_a_column, write)


@pytest.mark.filterwarnings("ignore:The DataFrame has")
@pytest.mark.parametrize("write", WRITERS)
@pytest.mark.parametrize("name", NAMES, ids=str)
def test_whatever_its_name_it_is_the_same_column_as_without_a_row(write: Write, name: Any) -> None:
    """That of another column is none."""
    whole = WHOLE.set_axis(pd.RangeIndex(24, name=name))
    here, there = read(whole, write), read(whole.drop(7), write)
    assert here[0] == there[0]
    assert here[1][:7] + here[1][8:] == there[1]


@pytest.mark.parametrize("write", WRITERS)
def test_a_reader_without_it_is_found_out(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "with_range_index", lambda frame, *_: frame)
    assert read(LESS["whole"], write)[0] != read(LESS["without one between"], write)[0]


def note(**stated: Any) -> bytes:
    return json.dumps({"index_columns": [{"kind": "range", "name": "who", **stated}]}).encode()


@pytest.mark.parametrize(
    "told",
    [
        b"",
        b"no JSON",
        b"[" * 100_000,
        b"\xff",
        b"[]",
        b"{}",
        b'{"index_columns": 5}',
        b'{"index_columns": ["who"]}',
        b'{"index_columns": [{"kind": "range", "name": null, "start": 0, "stop": 24, "step": 1}]}',
        note(),
        note(start=0, stop=24, step=0),
        note(start=0, stop=23, step=1),
        note(start=0, stop=2**62, step=1),
        note(start=0, stop=10**400, step=1),
        note(start=-(10**30), stop=24, step=1),
        note(start="0", stop="24", step="1"),
        note(start=0.0, stop=24.0, step=1.0),
        note(start=None, stop=24, step=1),
    ],
)
def test_a_note_that_fits_no_row_says_nothing(told: bytes) -> None:
    """Whoever writes the file writes the note; none costs more than the rows that are there."""
    frame = WHOLE.astype("str")
    own, stated = list(frame.columns), note(start=0, stop=24, step=1)
    assert with_range_index(frame, own, told, list).columns.tolist() == own
    assert with_range_index(frame, own, stated, list).columns.tolist() == [*own, "who"]


def test_rows_that_another_program_left_out_leave_no_number_to_the_wrong_row() -> None:
    table = pa.Table.from_pandas(NUMBERED).slice(3, 20)
    made = pa.BufferOutputStream()
    pq.write_table(table, made)
    assert list(read_table(made.getvalue().to_pybytes()).frame.columns) == ["answer", "word"]
