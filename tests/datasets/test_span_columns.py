"""A span of time in a Parquet file is a bare number there, in a unit that one row decides: it is read as a span, or not
at all."""

from __future__ import annotations

import base64
import io
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dpcore.datasets import Column, Declaration, read_table
from dpcore.datasets.in_place import open_folder, shape
from dpcore.datasets.reading import parquet_cells
from dpcore.datasets.span_columns import NOTE, spans
from dpcore.releases.selection import QuantileValue
from tests.datasets.test_rewritten_columns import in_bytes

HOURS = 20
STAY = Declaration(columns=(Column(name="stay", type="number", low=0, high=1e14),))
MEDIAN = QuantileValue.of(STAY, "stay", epsilon=1.0)
UNITS = ("s", "ms", "us", "ns")


def stays(unit: str) -> pd.DataFrame:
    held = pa.array([*range(HOURS), None], pa.int64())
    hours = pa.compute.multiply(held, 3600 * {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[unit])
    return pa.table({"row": range(HOURS + 1), "stay": hours.cast(pa.duration(unit))}).to_pandas()


def as_list_of_words(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.assign(stay=frame["stay"].astype("category"))


KEPT: tuple[Callable[[pd.DataFrame], pd.DataFrame], ...] = (lambda frame: frame, as_list_of_words)


def as_parquet(frame: pd.DataFrame) -> bytes:
    return in_bytes(frame, "to_parquet")


def as_feather(frame: pd.DataFrame) -> bytes:
    return in_bytes(frame, "to_feather")


def cells(data: bytes) -> list[str]:
    found: list[str] = read_table(data).frame["stay"].tolist()
    return found


def one_row_more() -> pd.DataFrame:
    """Of a stay of one nanosecond, for which pandas takes another unit."""
    more = pd.DataFrame({"row": [HOURS + 1], "stay": [pd.Timedelta(nanoseconds=1)]})
    found = pd.concat([stays("us"), more], ignore_index=True)
    assert found["stay"].dtype != stays("us")["stay"].dtype
    return found


@pytest.mark.parametrize("kept", KEPT)
@pytest.mark.parametrize("unit", UNITS)
def test_a_span_reads_the_same_in_every_unit_and_as_of_arrow(unit: str, kept: Callable[..., pd.DataFrame]) -> None:
    frame = kept(stays(unit))
    assert cells(as_parquet(frame)) == cells(as_feather(frame)) == [*(f"{hour:02}:00:00" for hour in range(HOURS)), ""]


@pytest.mark.parametrize("kept", KEPT)
def test_one_row_moves_no_other(kept: Callable[..., pd.DataFrame]) -> None:
    here, there = (as_parquet(kept(frame)) for frame in (stays("us"), one_row_more()))
    assert cells(there)[: HOURS + 1] == cells(here)
    scores = [MEDIAN.read(read_table(data).private) for data in (here, there)]
    assert (scores[0] == scores[1]).all()


def test_a_reader_that_takes_them_for_numbers_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet_cells, "spans", lambda _: {})
    here, there = (as_parquet(frame) for frame in (stays("us"), one_row_more()))
    assert cells(there)[1] == cells(here)[1] + "000"


@pytest.mark.parametrize("kept", KEPT)
def test_in_a_folder_such_a_column_is_without_a_value(kept: Callable[..., pd.DataFrame], tmp_path: Path) -> None:
    for at, frames in enumerate(((stays("us"),), (one_row_more(),), (stays("us"), one_row_more()))):
        folder = tmp_path / f"{at}"
        folder.mkdir()
        for nth, frame in enumerate(frames):
            kept(frame).to_parquet(folder / f"{nth}.parquet")
        assert dict(open_folder(folder).kinds) == {"row": "number", "stay": "nothing"}


def test_a_folder_that_takes_them_for_numbers_is_found_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shape, "spans", lambda _: {})
    stays("us").to_parquet(tmp_path / "a.parquet")
    assert open_folder(tmp_path).kinds["stay"] == "number"


@pytest.mark.parametrize("note", [b"", b"no note", base64.b64encode(b"no schema"), b"\xff"])
def test_a_note_that_none_can_read_says_nothing(note: bytes) -> None:
    assert spans(note) == {}


def test_what_a_note_calls_a_span_and_is_none_is_read_as_it_is(tmp_path: Path) -> None:
    noted = pq.read_metadata(io.BytesIO(as_parquet(stays("us")))).metadata[NOTE]
    table = pa.table({"row": ["a", "b"], "stay": ["x", "y"]}).replace_schema_metadata({NOTE: noted})
    pq.write_table(table, tmp_path / "a.parquet", store_schema=False)
    assert cells((tmp_path / "a.parquet").read_bytes()) == ["x", "y"]


def test_without_a_note_numbers_are_numbers(tmp_path: Path) -> None:
    table = pa.table({"row": [1, 2], "stay": [3, 4]})
    pq.write_table(table, tmp_path / "a.parquet", store_schema=False)
    assert cells((tmp_path / "a.parquet").read_bytes()) == ["3", "4"]
    assert open_folder(tmp_path).kinds["stay"] == "number"
