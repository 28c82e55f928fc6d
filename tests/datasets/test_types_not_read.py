"""Whether a file or a folder opens, and which columns it has, hangs on no type that one row makes of its column.

A column of nothing but gaps has no type, and one cell gives it any. Where no cell of that type is read the column is as
it was: without a value.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.feather as ft
import pyarrow.parquet as pq
import pytest

from dpcore.datasets import PrivateRows, read_table
from dpcore.datasets.in_place import file_types, open_folder, shape
from dpcore.datasets.in_place.file_types import FileType
from dpcore.datasets.reading import arrow_files, engine
from dpcore.errors import UnreadableFile
from tests.datasets.test_types_of_one_row import WARD, far, folder_of, said, told

GAPS = 3
WARDS = ["a", "b", "b", "a"]
PAIR = pa.array([{"a": 1, "b": "x"}])


def of_words(cells: pa.Array) -> pa.Array:
    return pa.DictionaryArray.from_arrays(pa.array([0], pa.int8()), cells)


def runs(cells: pa.Array) -> pa.Array:
    return pa.RunEndEncodedArray.from_arrays(pa.array([1], pa.int32()), cells)


def extension(kind: pa.DataType, cells: pa.Array) -> pa.Array:
    return pa.ExtensionArray.from_storage(kind, cells.cast(kind.storage_type))


def union(sparse: bool) -> pa.Array:
    kinds = pa.array([0], pa.int8())
    if sparse:
        return pa.UnionArray.from_sparse(kinds, [pa.array([5]), pa.array(["x"])])
    return pa.UnionArray.from_dense(kinds, pa.array([0], pa.int32()), [pa.array([5]), pa.array(["x"])])


NESTED: dict[str, pa.Array] = {
    "list": pa.array([["q"]]),
    "empty list": pa.array([[]]),
    "list of gaps": pa.array([[None]]),
    "large list": pa.array([[1]], pa.large_list(pa.int8())),
    "list of two": pa.array([[1, 2]], pa.list_(pa.int8(), 2)),
    "list view": pa.array([[1]], pa.list_view(pa.int8())),
    "large list view": pa.array([[1]], pa.large_list_view(pa.int8())),
    "lists of records": pa.array([[{"a": [1]}]]),
    "record": PAIR,
    "record of nothing": pa.array([{}]),
    "map": pa.array([[("a", 1)]], pa.map_(pa.string(), pa.int8())),
    "interval of pandas": pa.array([{"left": 0.5, "right": 1.5}]),
    "tensor": extension(pa.fixed_shape_tensor(pa.int8(), (2,)), pa.array([[1, 2]], pa.list_(pa.int8(), 2))),
}
UNIONS = {"sparse union": union(True), "dense union": union(False)}
IN_NO_LIST_OF_PARQUET = {f"word {name}": of_words(NESTED[name]) for name in ("list", "record", "large list", "map")}
IN_RUNS = {f"run of {name}": runs(NESTED[name]) for name in ("record", "list", "map")}
NEVER_READ = {**NESTED, **UNIONS, **IN_NO_LIST_OF_PARQUET, **IN_RUNS}
BYTES: dict[str, pa.Array] = {
    "bytes of one size": pa.array([b"abcd"], pa.binary(4)),
    "word UUID": of_words(pa.array([b"a" * 16], pa.uuid())),
}
"""Of these no cell is read in an uploaded file, and a folder may say by them whose row it is."""
TIMES: dict[str, pa.Array] = {
    **{f"time in {unit}": pa.array([time(3)]).cast(pa.time32(unit)) for unit in ("s", "ms")},
    **{f"time in {unit}": pa.array([time(3)]).cast(pa.time64(unit)) for unit in ("us", "ns")},
    **{f"span in {unit}": pa.array([timedelta(days=3)]).cast(pa.duration(unit)) for unit in ("s", "ms", "us", "ns")},
    "word span": of_words(pa.array([timedelta(days=3)])),
    "JSON": extension(pa.json_(), pa.array(['{"a": 1}'])),
    "word JSON": of_words(extension(pa.json_(), pa.array(['{"a": 1}']))),
}
"""Of these an uploaded file has texts, and a folder nothing."""
READ: dict[str, pa.Array] = {
    "yes": pa.array([True]),
    **{f"whole {kind}": pa.array([5]).cast(kind) for kind in ("int8", "int32", "int64", "uint8", "uint64")},
    "half": pa.array([np.float16(1.5)], pa.float16()),
    "word half": of_words(pa.array([np.float16(1.5)], pa.float16())),
    "single": pa.array([1.5], pa.float32()),
    "double": pa.array([1.5]),
    "decimal": pa.array([Decimal("1.50")]),
    "small decimal": pa.array([Decimal("1.5")], pa.decimal32(4, 1)),
    "long decimal": pa.array([Decimal("1.5")], pa.decimal256(60, 2)),
    "text": pa.array(["Ann"]),
    "long text": pa.array(["Ann"], pa.large_string()),
    "bytes": pa.array([b"Ann"]),
    "bytes that are no text": pa.array([b"\xff"]),
    "word": of_words(pa.array(["Ann"])),
    "day": pa.array([date(2024, 1, 2)]),
    **{f"moment in {unit}": pa.array([datetime(2024, 1, 2)]).cast(pa.timestamp(unit)) for unit in ("s", "ms", "ns")},
    "zoned": pa.array([datetime(2024, 1, 2)], pa.timestamp("us", "UTC")),
    "zoned in ns": pa.array([datetime(2024, 1, 2)], pa.timestamp("ns", "UTC")),
    "UUID": pa.array([b"a" * 16], pa.uuid()),
    "months": pa.array([(1, 15, -30)], pa.month_day_nano_interval()),
    "yes of eight bits": extension(pa.bool8(), pa.array([1])),
    "of another program": extension(pa.opaque(pa.string(), "a", "b"), pa.array(["Ann"])),
}
CELLS = {**NEVER_READ, **BYTES, **TIMES, **READ}


WRITES: dict[str, Callable[[pa.Table, io.BytesIO], Any]] = {
    "Parquet": pq.write_table,
    "Feather": ft.write_feather,
    "stream": lambda table, made: pa.ipc.new_stream(made, table.schema).write_table(table),
}


def table(cells: pa.Array) -> pa.Table:
    return pa.table({"ward": pa.array(WARDS[: len(cells)], pa.string()), "c": cells})


def with_gaps(cell: pa.Array) -> pa.Array:
    """Cells that are missing, and this one as the last; of a union, which has no missing ones, this one again."""
    kind = cell.type
    if pa.types.is_union(kind):
        return cell.take(pa.array([0] * (GAPS + 1)))
    if pa.types.is_dictionary(kind):
        return pa.DictionaryArray.from_arrays(pa.array([*[None] * GAPS, 0], pa.int8()), cell.dictionary)
    if pa.types.is_run_end_encoded(kind):
        values = pa.concat_arrays([pa.nulls(1, cell.values.type), cell.values])
        return pa.RunEndEncodedArray.from_arrays(pa.array([GAPS, GAPS + 1], pa.int32()), values)
    return pa.concat_arrays([pa.nulls(GAPS, kind), cell])


Read = Callable[[Path, pa.Table], tuple[list[str], PrivateRows]]


def uploaded(write: str) -> Read:
    def read(_: Path, rows: pa.Table) -> tuple[list[str], PrivateRows]:
        made = io.BytesIO()
        WRITES[write](rows, made)
        found = read_table(made.getvalue())
        return list(found.frame.columns), found.private

    return read


def beside(*others: pa.Table, first: bool = False) -> Read:
    """A file of a folder."""

    def read(folder: Path, rows: pa.Table) -> tuple[list[str], PrivateRows]:
        private = folder_of(folder, *([rows, *others] if first else [*others, rows]))
        return list(open_folder(folder).names), private

    return read


EMPTY = table(pa.nulls(0))
HOMES = {
    **{write: uploaded(write) for write in WRITES},
    "folder": beside(),
    "folder of two": beside(table(pa.nulls(2))),
    "the first of two": beside(table(pa.nulls(2)), first=True),
    "beside an empty file": beside(EMPTY),
    "beside another list": beside(table(pa.array([[1], None]))),
    "beside another record": beside(table(pa.array([{"c": 2}, None]))),
}
FOLDERS = [home for home in HOMES if home not in WRITES]
NOT_IN_PARQUET = {
    *("record of nothing", "months", "word UUID", "word JSON"),
    *UNIONS,
    *IN_NO_LIST_OF_PARQUET,
    *IN_RUNS,
}
"""Arrow writes none of these."""


def written(home: str, names: Iterable[str]) -> list[str]:
    """Those of these cells that Arrow writes there."""
    return [name for name in names if home in ("Feather", "stream") or name not in NOT_IN_PARQUET]


Outcome = tuple[list[str], Any, dict[tuple[str, int, str], Any]]


def outcome(home: str, folder: Path, cells: pa.Array) -> Outcome | str:
    """What the columns are, what is answered of another column, and of this one whatever it is declared as."""
    try:
        names, rows = HOMES[home](folder, table(cells))
    except UnreadableFile as error:
        return str(error)
    return names, said(rows, WARD), told(rows, ["c"])


def check_not_read(home: str, folder: Path, names: Iterable[str]) -> None:
    usual = outcome(home, folder / "gaps", pa.nulls(GAPS + 1))
    assert not isinstance(usual, str)
    for at, name in enumerate(names):
        assert outcome(home, folder / f"{at}", with_gaps(CELLS[name])) == usual, name


@pytest.mark.thorough
@pytest.mark.parametrize("home", HOMES)
def test_a_column_of_which_no_cell_is_read_is_as_one_without_a_value(home: str, tmp_path: Path) -> None:
    check_not_read(home, tmp_path, written(home, {**NEVER_READ, **(TIMES if home in FOLDERS else BYTES)}))


OTHERS: dict[str, pa.Array] = {
    "whole": pa.array([5, 7]),
    "large": pa.array([2**64 - 1, 7], pa.uint64()),
    "number": pa.array([1.5, None]),
    "long": pa.array([Decimal("1.5"), None], pa.decimal256(60, 2)),
    "yes": pa.array([True, False]),
    "text": pa.array(["Ann", "true"]),
    "bytes": pa.array([b"Ann", b"4"]),
    "day": pa.array([date(2024, 1, 2), None]),
    "late": pa.array([datetime(2024, 1, 2), None], pa.timestamp("ms")),
    "zoned": pa.array([datetime(2024, 1, 2), None], pa.timestamp("us", "UTC")),
    "UUID": pa.array([b"a" * 16, None], pa.uuid()),
    "of one size": pa.array([b"abcd", None], pa.binary(4)),
}
"""What another file of a folder holds in that column."""


@pytest.mark.thorough
@pytest.mark.parametrize("which", OTHERS)
def test_beside_cells_that_are_read_it_is_as_a_file_without_a_value(
    which: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(HOMES, which, beside(table(OTHERS[which])))
    check_not_read(which, tmp_path, ("list", "record", "map", "time in us", "span in us", "JSON"))
    assert outcome(which, tmp_path / "usual", pa.nulls(1, OTHERS[which].type)) == outcome(
        which, tmp_path / "gap", pa.nulls(1)
    )


@pytest.mark.thorough
@pytest.mark.parametrize("home", HOMES)
def test_one_value_of_any_other_type_moves_its_own_row_alone(home: str, tmp_path: Path) -> None:
    """As what a column of that type may be declared is a word of a schema; as text it may be whatever it is."""
    whole = outcome(home, tmp_path / "gaps", pa.nulls(GAPS + 1))
    less = outcome(home, tmp_path / "less", pa.nulls(GAPS))
    for at, name in enumerate(written(home, {**READ, **(BYTES if home in FOLDERS else TIMES)})):
        found = outcome(home, tmp_path / f"{at}", with_gaps(CELLS[name]))
        assert found[:2] == whole[:2], name
        for key, cells in found[2].items():
            if cells == "refused":
                assert home in FOLDERS, (name, key)
                assert key[2] != "text", (name, key)
            else:
                assert far(less[2][key], cells) <= 1, (name, key)


def of_texts(leaf: tuple[Any, ...]) -> FileType:
    """Cells of which none is read are texts."""
    kind = file_types.file_type(leaf)
    return FileType(family="text", name="VARCHAR") if kind == file_types.NOTHING else kind


class Nothing:
    def fullmatch(self, _: str) -> bool:
        return False


MUTANTS: dict[str, tuple[str, str, Any, str, Any]] = {
    "records are read as texts": ("Parquet", "record", engine, "_NOT_READ", Nothing()),
    "lists of Arrow are read": ("stream", "run of list", arrow_files, "is_read", lambda _: True),
    "an extension type stays one of words": ("stream", "word UUID", arrow_files, "as_stored", lambda stream: stream),
    "what is inside tells files apart": ("beside another record", "list", shape, "file_type", of_texts),
    "spans are numbers": ("folder", "span in us", shape, "spans", lambda _: {}),
    "times are read": ("folder of two", "time in us", shape, "file_type", of_texts),
}


@pytest.mark.thorough
@pytest.mark.parametrize("which", MUTANTS)
def test_these_tests_can_fail(which: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home, name, module, called, value = MUTANTS[which]
    usual = outcome(home, tmp_path / "gaps", pa.nulls(GAPS + 1))
    monkeypatch.setattr(module, called, value)
    try:
        found: Outcome | str = outcome(home, tmp_path / "with", with_gaps(CELLS[name]))
    except duckdb.Error:
        found = "damaged"
    assert found != usual


LONG = pa.array([[f"word {at}" for at in range(2000)]])


def damaged(write: str, cells: pa.Array) -> bytes:
    """A file of which nothing can be unpacked that is kept of the last column."""
    made = io.BytesIO()
    if write == "Parquet":
        pq.write_table(table(with_gaps(cells)), made)
        last = pq.read_metadata(made).row_group(0).column(1)
        start = last.dictionary_page_offset if last.has_dictionary_page else last.data_page_offset
        data, size = made.getvalue(), last.total_compressed_size
        return data[:start] + b"\xff" * size + data[start + size :]
    ft.write_feather(table(with_gaps(cells)), made, compression="zstd")
    before, mark, after = made.getvalue().rpartition(ZSTANDARD)
    return before + b"\xff" * len(mark) + after


ZSTANDARD = b"\x28\xb5\x2f\xfd"


@pytest.mark.parametrize("write", ["Parquet", "Feather"])
def test_cells_that_are_not_read_are_not_unpacked(write: str) -> None:
    """However large they are, they take no memory."""
    found = read_table(damaged(write, LONG))
    assert found.frame["c"].tolist() == [""] * (GAPS + 1)
    assert found.frame["ward"].tolist() == WARDS
    with pytest.raises(UnreadableFile, match="damaged"):
        read_table(damaged(write, pa.array(["word " * 2000])))


@pytest.mark.parametrize("write", [pq.write_table, ft.write_feather])
def test_a_file_says_whose_cells_are_not_read(write: Callable[[pa.Table, io.BytesIO], None]) -> None:
    """By the names that they have here."""
    made = io.BytesIO()
    found = table(with_gaps(NESTED["list"]))
    write(found.append_column("C", found["c"]).append_column("a", pa.array(["x"] * len(found))), made)
    reading = read_table(made.getvalue())
    (notice,) = reading.report.notices
    assert (notice.what, notice.columns) == ("noticed", ("c", "C_1"))
    assert {*notice.columns} < {*reading.frame.columns}
    assert "are not read" in notice.sentence
