"""Points in time in milliseconds of Parquet files, read where they are: one moves its own row alone."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dpcore.datasets import Column, Declaration
from dpcore.datasets.in_place import InPlace, PrivateSource, arrow_beside, open_folder, shape
from dpcore.errors import UnreadableFile
from dpcore.releases.alarm import AlarmRun
from dpcore.releases.count import NoisyCount

DAY = 86_400_000
FIRST = 1_704_067_200_000
ODD = (10**16, -(10**16), 2**62, -(2**62), 2**63 - 1, -(2**63) + 1, -(2**63))
ROWS = 11


def in_milliseconds(values: Sequence[int], zone: str | None = None) -> pa.Array:
    return pa.array(values, pa.int64()).cast(pa.timestamp("ms", zone))


def folder_of(place: Path, table: pa.Table, files: int) -> InPlace:
    place.mkdir()
    for part in range(files):
        rows = table.take(np.arange(part, table.num_rows, files))
        pq.write_table(rows, place / f"{part}.parquet", row_group_size=3, write_statistics=part == 0)
    shape.one_table.cache_clear()
    return open_folder(place)


def rows_of(stored: InPlace, *names: str) -> list[tuple[Any, ...]]:
    """The cells of these columns, or of all, as texts."""
    listed = ", ".join(f'"{name}"::VARCHAR' for name in names or (*stored.names, *stored.texts.values()))
    return sorted(stored.run(f"SELECT {listed} FROM {stored.quoted(stored.name)}"), key=repr)  # noqa: S608 - this test's own


@pytest.mark.thorough
@pytest.mark.parametrize("files", [1, 3])
@pytest.mark.parametrize("zone", [None, "UTC", "Europe/Berlin"])
def test_a_point_in_time_moves_its_own_row_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, zone: str | None, files: int
) -> None:
    usual = [FIRST + DAY * (row % 3) for row in range(ROWS)]
    table = pa.table({"who": [f"p{row}" for row in range(ROWS)], "day": in_milliseconds(usual, zone)})
    before = folder_of(tmp_path / "usual", table, files)
    told = {who: cells for who, *cells in rows_of(before, "who", "day")}
    for at, odd in enumerate(ODD):
        for row in ((0, ROWS // 2, ROWS - 1)[at % 3],):
            moved = in_milliseconds([*usual[:row], odd, *usual[row + 1 :]], zone)
            stored = folder_of(tmp_path / f"{at} {row}", table.set_column(1, "day", moved), files)
            assert (stored.names, dict(stored.kinds)) == (before.names, dict(before.kinds))
            assert dict(told, **{f"p{row}": [None]}) == {who: cells for who, *cells in rows_of(stored, "who", "day")}
            assert len(rows_of(stored, "day")) == len(rows_of(stored, "who")) == ROWS
    monkeypatch.setattr(shape, "read_as", lambda _: None)
    with pytest.raises(UnreadableFile):
        rows_of(folder_of(tmp_path / "as DuckDB does", table.set_column(1, "day", moved), files), "who", "day")


@pytest.mark.thorough
def test_a_question_is_answered_whatever_a_point_in_time_is(tmp_path: Path) -> None:
    day = Column(name="day", type="date", earliest=date(2024, 1, 1), latest=date(2024, 1, 5))
    who = Column(name="who", type="text")
    declared = Declaration(columns=(day, who), id_column="who")
    alarm, people = AlarmRun.of(declared, "day", threshold=5, epsilon=1.0), NoisyCount.of(declared, epsilon=1.0)
    for at, odd in enumerate((FIRST, *ODD)):
        usual = [*(FIRST + DAY * (row % 3) for row in range(ROWS)), odd]
        table = pa.table({"who": [f"p{row}" for row in range(ROWS + 1)], "day": in_milliseconds(usual)})
        stored = folder_of(tmp_path / str(at), table, 2)
        rows = PrivateSource(lambda stored=stored: stored)
        alarm.probe(rows)
        assert np.ravel(alarm.read(rows)).tolist() == [5 if odd == FIRST else 4, 4, 3, 0, 0]
        assert people.read(rows) == ROWS + 1
        assert stored.rows() == ROWS + 1


KINDS = {
    "text": pa.array([f"word {row}" for row in range(ROWS)]),
    "of a list": pa.array(["a", None, "b"] * 3 + ["a", "a"]).dictionary_encode(),
    "yes": pa.array([row % 2 == 0 for row in range(ROWS)]),
    "whole": pa.array(range(ROWS), pa.int16()),
    "large": pa.array([2**64 - 1 - row for row in range(ROWS)], pa.uint64()),
    "number": pa.array([row / 7 for row in range(ROWS)]),
    "single": pa.array([row / 7 for row in range(ROWS)], pa.float32()),
    "half": pa.array([np.float16(row) for row in range(ROWS)], pa.float16()),
    "exact": pa.array([Decimal(f"{row}.25") for row in range(ROWS)], pa.decimal128(38, 2)),
    "day": pa.array(range(ROWS), pa.date32()),
    "ns": pa.array(range(ROWS), pa.timestamp("ns")),
    "us": pa.array(range(ROWS), pa.timestamp("us", "UTC")),
    "bytes": pa.array([bytes([row]) for row in range(ROWS)]),
    "fixed": pa.array([uuid.UUID(int=row).bytes for row in range(ROWS)], pa.uuid()),
}


@pytest.mark.thorough
@pytest.mark.parametrize("files", [1, 4])
def test_the_other_cells_of_its_row_are_what_they_are_beside_microseconds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: int
) -> None:
    late = in_milliseconds([FIRST + row for row in range(ROWS - 1)] + [None])
    for kind in ("ms", "us"):
        told = pa.table({**KINDS, "late": late.cast(pa.timestamp(kind)), "zoned": late.cast(pa.timestamp(kind, "UTC"))})
        folder_of(tmp_path / kind, told, files)
    plain, beside = open_folder(tmp_path / "us"), open_folder(tmp_path / "ms")
    assert dict(plain.kinds) == dict(beside.kinds)
    for names in ((), *((name,) for name in KINDS), ("late",), *((name, "late") for name in KINDS), ("late", "zoned")):
        assert rows_of(plain, *names) == rows_of(beside, *names), names
    crossed = arrow_beside.side_by_side
    monkeypatch.setattr(
        arrow_beside,
        "side_by_side",
        lambda *given: ((one, other.take(pa.array(range(len(other))[::-1]))) for one, other in crossed(*given)),
    )
    assert rows_of(plain, "text", "late") != rows_of(beside, "text", "late")


def test_files_and_folders_of_several_types_are_read_as_without_it(tmp_path: Path) -> None:
    """An id that is whole in one file and a double in another, a file of nothing but gaps, names of folders."""
    parts: list[dict[str, Any]] = [
        {"who": pa.array([10**17 + 1, 7]), "x": pa.array([1, 2], pa.int32())},
        {"who": pa.array([7.0, None]), "x": pa.array([1.5, None])},
        {"who": pa.array([3, 4], pa.int32()), "x": pa.array([None, None], pa.null())},
    ]
    for kind in ("ms", "us"):
        for at, part in enumerate(parts):
            late = pa.nulls(2) if at == 2 else in_milliseconds([FIRST + at, None]).cast(pa.timestamp(kind))
            place = tmp_path / kind / f"ward={at}"
            place.mkdir(parents=True)
            pq.write_table(pa.table({**part, "late": late}), place / "a.parquet")
    plain, beside = open_folder(tmp_path / "us"), open_folder(tmp_path / "ms")
    assert plain.names == beside.names == ("who", "x", "late", "ward")
    assert (dict(plain.kinds), dict(plain.texts)) == (dict(beside.kinds), dict(beside.texts))
    for names in ((), ("who", "late"), ("ward", "late", "x"), (plain.texts["who"], "late"), (plain.texts["who"],)):
        assert rows_of(plain, *names) == rows_of(beside, *names), names


def test_names_that_duckdb_tells_apart_by_a_number_are_read_as_any(tmp_path: Path) -> None:
    late = in_milliseconds([FIRST, 2**62])
    table = pa.table([[1, 2], late, [3, 4], late], names=["Seen", "seen", "other", "late"])
    inside = table.append_column("record", pa.array([{"other": 1}, None], pa.struct([("other", pa.timestamp("ms"))])))
    stored = folder_of(tmp_path / "p", inside, 1)
    assert stored.names == ("Seen", "seen_1", "other", "late", "record")
    assert [cells[0] for cells in rows_of(stored, "other", "late")] == ["3", "4"]
    assert rows_of(stored, "Seen", "seen_1") == rows_of(stored, "Seen", "late")


def test_a_folder_of_nothing_but_points_in_time(tmp_path: Path) -> None:
    stored = folder_of(
        tmp_path / "p", pa.table({"a": in_milliseconds([FIRST, 2**62]), "b": in_milliseconds([1, 2])}), 1
    )
    assert stored.rows() == 2
    assert sum(cells[0] is None for cells in rows_of(stored, "a")) == 1


@pytest.mark.parametrize("sizes", [([3, 4], [7]), ([7], [3, 4]), ([0, 3, 0, 4], [1, 1, 5]), ([], []), ([0], [])])
def test_rows_of_two_readers_stay_side_by_side(sizes: tuple[list[int], list[int]]) -> None:
    def batches(sizes: list[int]) -> list[pa.RecordBatch]:
        ends = np.cumsum(sizes).tolist()
        return [pa.record_batch({"x": range(end - size, end)}) for size, end in zip(sizes, ends, strict=True)]

    one, other = (batches(part) for part in sizes)
    for left, right in arrow_beside.side_by_side(iter(one), iter(other)):
        assert left["x"].to_pylist() == right["x"].to_pylist()
    for more in ((iter([*one, *batches([1])]), iter(other)), (iter(one), iter([*other, *batches([1])]))):
        with pytest.raises(OSError, match="other rows"):
            list(arrow_beside.side_by_side(*more))
