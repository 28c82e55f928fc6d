"""Of one row more a program makes another type for a column of a Parquet, Feather or Arrow file: what the others say,
as what they can be declared, and whether there is an answer at all, does not hang on that."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather as ft
import pyarrow.parquet as pq
import pytest

from dpcore.datasets import Column, Declaration, PrivateRows, arrow_cells, read_table
from dpcore.datasets.in_place import PrivateSource, counting, file_types, open_folder, shape
from dpcore.datasets.in_place.file_types import FileType
from dpcore.datasets.in_place.tongue import FITS
from dpcore.datasets.reading import parquet_cells
from dpcore.errors import InvalidArgument, UnreadableFile
from dpcore.releases.count import NoisyCount
from dpcore.releases.selection import MostCommonOption
from tests.datasets.test_rewritten_columns import in_bytes

ROWS = 24
WARD = Column(name="ward", type="category", categories=tuple("abcdef"))


def decimals(*shapes: tuple[int, int]) -> list[pa.DataType]:
    return [(pa.decimal128 if digits <= 38 else pa.decimal256)(digits, places) for digits, places in shapes]


def listed(*kinds: pa.DataType) -> list[pa.DataType]:
    return [pa.dictionary(pa.int32(), kind) for kind in kinds]


def moments(zone: str | None) -> list[pa.DataType]:
    return [pa.timestamp(unit, zone) for unit in ("us", "ms", "s", "ns")]


WHOLE = [pa.int64(), pa.int8(), pa.int16(), pa.int32(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()]
OF_NUMBERS = [pa.float64(), pa.float32(), pa.decimal32(4, 1), pa.decimal64(12, 3)]
LONG = decimals((5, 2), (9, 4), (16, 3), (38, 2), (38, 30), (39, 2), (45, 25), (60, 40), (76, 70))
DAYS = [pa.date32(), pa.date64()]
MIDNIGHT = [datetime(2024, 1, day) for day in (1, 2, 3)]
TEXTS = [pa.string(), pa.large_string(), pa.binary(), pa.large_binary(), pa.string_view(), pa.binary_view()]
BIG = Decimal("12345678901234567890.25")
SMALL = [Decimal("0.00001"), Decimal("-0.0000015"), Decimal("0.00025"), None]
HUGE = [10**20, -(10**20), 10**23, 7, None]
IN_SMALL = decimals((10, 8), (38, 30), (39, 9), (76, 70))
SINGLES, HALVES = ([*map(float, np.array([0.1, -0.1, 1e-5, 2.5], kind)), None] for kind in (np.float32, np.float16))
FAMILIES: dict[str, tuple[list[Any], list[pa.DataType]]] = {
    "whole": ([0, 1, 2, 3, 3, None], [*WHOLE, *OF_NUMBERS, *LONG, *listed(pa.int64(), *LONG[-1:])]),
    "number": ([Decimal("0.3"), Decimal("1.15"), Decimal(4), None], [*LONG, pa.float64(), *listed(LONG[-1])]),
    "large": ([BIG, -BIG, Decimal(1), None], decimals((22, 2), (38, 15), (41, 2), (76, 50))),
    "small": (SMALL, [*IN_SMALL, pa.float64(), *listed(pa.float64())]),
    "huge": (HUGE, [*decimals((24, 0), (38, 2), (40, 1), (76, 50)), pa.float64()]),
    "single": (SINGLES, [pa.float32(), pa.float64()]),
    "half": (HALVES, [pa.float16(), pa.float32(), pa.float64(), *decimals((30, 25), (60, 30))]),
    "yes": ([True, False, True, None], [pa.bool_(), pa.float64(), pa.int8(), *LONG[:1], *LONG[-1:]]),
    "day": ([*MIDNIGHT, None], [*DAYS, *moments(None)]),
    "moment": ([datetime(2024, 1, 2, 10, 30), datetime(2024, 1, 3, 23, 59), None], moments(None)),
    "zoned": ([datetime(2024, 1, 2, 10, 30), datetime(2024, 1, 3, 23, 59), None], moments("UTC")),
    "word": (["Ann", " Ann", "é", "7.0", "", None], [*TEXTS, *listed(*TEXTS[:4])]),
}
"""Cells of a column, and as what types Arrow may keep them, of which a program takes one by all of them together."""
NUMBERS = ("1e-05", "-1.5E-6", "0.00025", "1e20", "1E+23", *map(str, (*SINGLES[:3], *HALVES[:3])))
IN_PARQUET = {pa.string_view(): pa.string(), pa.binary_view(): pa.binary()}
VARIANTS = max(len(types) for _, types in FAMILIES.values())


def kept_as(cells: list[Any], kind: pa.DataType) -> pa.Array:
    if pa.types.is_dictionary(kind):
        return kept_as(cells, kind.value_type).dictionary_encode()
    if pa.types.is_decimal(kind):
        return pa.array([None if cell is None else Decimal(cell) for cell in cells]).cast(kind)
    if pa.types.is_floating(kind):
        return pa.array([None if cell is None else float(cell) for cell in cells], kind)
    if cells[0] is True and kind != pa.bool_():
        return pa.array([None if cell is None else int(cell) for cell in cells], kind)
    return pa.array(cells, pa.string()).cast(kind) if isinstance(cells[0], str) else pa.array(cells).cast(kind)


def table(variant: int, *, flat: bool = True) -> pa.Table:
    """A column of each family, in the types of one of the ``VARIANTS``."""
    made = {"ward": [WARD.categories[row % 5] for row in range(ROWS)]}
    for name, (cells, types) in FAMILIES.items():
        kind = types[variant % len(types)]
        every = [cells[row % len(cells)] for row in range(ROWS)]
        made[name] = kept_as(every, kind if flat else IN_PARQUET.get(kind, kind))
    return pa.table(made)


def as_parquet(variant: int, _: Path) -> PrivateRows:
    made = io.BytesIO()
    pq.write_table(table(variant, flat=False), made)
    return read_table(made.getvalue()).private


def as_feather(variant: int, _: Path) -> PrivateRows:
    made = io.BytesIO()
    ft.write_feather(table(variant, flat=False), made)
    return read_table(made.getvalue()).private


def as_stream(variant: int, _: Path) -> PrivateRows:
    held, made = table(variant), io.BytesIO()
    with pa.ipc.new_stream(made, held.schema) as writer:
        writer.write_table(held)
    return read_table(made.getvalue()).private


def folder_of(folder: Path, *tables: pa.Table) -> PrivateRows:
    folder.mkdir()
    for at, rows in enumerate(tables):
        pq.write_table(rows, folder / f"{at}.parquet", row_group_size=7)
    shape.one_table.cache_clear()
    stored = open_folder(folder)
    return PrivateSource(lambda: stored)


def one_file(variant: int, folder: Path) -> PrivateRows:
    return folder_of(folder / f"{variant}", table(variant, flat=False))


def the_second(variant: int, folder: Path) -> PrivateRows:
    return folder_of(folder / f"{variant}", table(0), table(variant, flat=False))


def the_first(variant: int, folder: Path) -> PrivateRows:
    return folder_of(folder / f"{variant}", table(variant, flat=False), table(0))


READERS = [as_parquet, as_feather, as_stream, one_file, the_second, the_first]
Reader = Callable[[int, Path], PrivateRows]


def declared(name: str) -> Iterator[Column]:
    """All that somebody may declare a column as, of which its cells are something."""
    words = ("0", "1", "2", "3", "0.3", "1.15", "4", str(BIG), "Ann", "é", "2024-01-02", "2024-01-02 10:30:00")
    yield Column(name=name, type="text")
    yield Column(name=name, type="category", categories=(*words, *NUMBERS))
    yield Column(name=name, type="category", categories=("true", "false"))
    yield Column(name=name, type="yes/no", yes_words=("1", "ann", "1.15"), no_words=("0", "3", "7"))
    yield Column(name=name, type="yes/no", yes_words=("0.00001", "-1e20", *NUMBERS[5:7]), no_words=NUMBERS[8:10])
    yield Column(name=name, type="integer", low=0, high=4)
    yield Column(name=name, type="number", low=-1e21, high=1e21)
    yield Column(name=name, type="number", low=0.0, high=4.0)
    yield Column(name=name, type="date", earliest=date(2024, 1, 1), latest=date(2024, 1, 9))


def said(rows: PrivateRows, column: Column) -> list[Any] | str:
    """What an answer reads in a column; of a text, which rows count where it says whose each is."""
    try:
        if column.type == "text":
            whose = Declaration(columns=(WARD, column), id_column=column.name, rows_per_person=1)
            wards = MostCommonOption.of(whose, "ward", epsilon=1.0)
            rows.check(wards.reads)
            return [NoisyCount.of(whose, epsilon=1.0).read(rows), *np.ravel(wards.read(rows)).tolist()]
        reads = Declaration(columns=(column,)).reads(column.name)
        rows.check(reads)
        opened = rows.opened(reads)
        if column.is_numeric:
            unit = 0.05 if column.high == 4.0 else 1.0
            return [each.tolist() for each in opened.number_counts(column.name, unit=unit)]
        if column.type == "date":
            return opened.day_counts(column.name, date(2024, 1, 1), 9).tolist()
        return opened.counts(column.name).tolist()
    except InvalidArgument:
        return "refused"


def told(rows: PrivateRows, names: Iterable[str]) -> dict[tuple[str, int, str], list[Any] | str]:
    return {(name, at, column.type): said(rows, column) for name in names for at, column in enumerate(declared(name))}


def moved(read: Reader, folder: Path, *names: str) -> set[tuple[str, str, str]]:
    """The columns that are read otherwise once they are kept as another type, with that type and what was declared."""
    folder.mkdir(exist_ok=True)
    usual, found = told(read(0, folder), names or FAMILIES), set()
    for variant in range(1, VARIANTS):
        types = {name: kinds[variant] for name, (_, kinds) in FAMILIES.items() if variant < len(kinds)}
        types = {name: kind for name, kind in types.items() if not names or name in names}
        try:
            for (name, at, declared_as), cells in told(read(variant, folder), types).items():
                if cells != usual[name, at, declared_as]:
                    found.add((name, str(types[name]), declared_as))
        except UnreadableFile:
            found |= {(name, str(kind), "refused") for name, kind in types.items()}
    return found


@pytest.mark.thorough
@pytest.mark.parametrize("read", READERS)
def test_what_a_column_says_does_not_hang_on_the_type_that_one_row_makes_of_it(read: Reader, tmp_path: Path) -> None:
    assert moved(read, tmp_path / "p") == set()


def test_the_cells_of_each_column_say_something() -> None:
    read = told(as_parquet(0, Path()), FAMILIES)
    said_so = {name for (name, _, _), cells in read.items() if cells != "refused" and np.any(np.hstack(cells))}
    assert said_so == set(FAMILIES)
    assert read["whole", 1, "category"][:4] == [4, 4, 4, 8]
    assert read["number", 1, "category"][4:7] == [6, 6, 6]
    assert read["large", 1, "category"][7] == 6
    assert read["day", 1, "category"][10] == 6
    assert read["small", 1, "category"][12:15] == [6, 6, 6]
    assert read["huge", 1, "category"][15:17] == [5, 5]
    assert read["single", 1, "category"][17:20] == read["half", 1, "category"][20:] == [5, 5, 5]
    assert read["yes", 2, "category"] == [12, 6]
    assert read["moment", 8, "date"][:3] == [0, 8, 8]
    assert read["word", 0, "text"][0] == 3


LATE = property(lambda of: of.name == "TIMESTAMP_MS")


def without(module: Any, name: str, value: Any) -> Callable[[pytest.MonkeyPatch], None]:
    return lambda patch: patch.setattr(module, name, value)


def as_it_is_called(leaf: tuple[Any, ...]) -> FileType:
    """Each type is a family of its own."""
    kind = file_types.file_type(leaf)
    return replace(kind, family=kind.name)  # type: ignore[arg-type]


WITHOUT_YES = {declared_as: kinds - {"yes/no"} for declared_as, kinds in FITS.items()}
MUTANTS: dict[str, tuple[Reader, str, str, Callable[[pytest.MonkeyPatch], None]]] = {
    "long decimals are doubles": (as_parquet, "number", "category", without(parquet_cells, "MOST_DIGITS", 99)),
    "bytes are none": (as_stream, "word", "category", without(arrow_cells, "_TEXTS", {})),
    "long decimals are those of DuckDB": (one_file, "number", "refused", without(FileType, "by_arrow", LATE)),
    "yes is no number": (one_file, "yes", "number", without(counting, "FITS", WITHOUT_YES)),
    "yes is no option": (one_file, "yes", "category", without(counting, "FITS", WITHOUT_YES)),
    "as the union of all": (the_second, "number", "category", without(shape, "read_as", lambda _: None)),
    "no type is like another": (the_second, "day", "refused", without(shape, "file_type", as_it_is_called)),
}


@pytest.mark.thorough
@pytest.mark.parametrize("which", MUTANTS)
def test_these_tests_can_fail(which: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read, name, declared_as, change = MUTANTS[which]
    change(monkeypatch)
    assert (name, declared_as) in {(name, declared_as) for name, _, declared_as in moved(read, tmp_path / "p", name)}


def with_one_more(usual: Any, more: Any, times: int = 1) -> pd.DataFrame:
    cells = pd.concat([pd.Series(usual), *[pd.Series([more])] * times], ignore_index=True)
    if any(isinstance(cell, Decimal | bytes) for cell in (*usual, more)):
        cells = pd.Series([*usual, *[more] * times], dtype=object)
    return pd.DataFrame({"ward": pd.Series(["a", "b", "c"] * ROWS)[: len(cells)], "c": cells})


T = pd.Timestamp
WRITTEN: dict[str, tuple[Any, Any, Any]] = {
    "a gap": ([0, 1, 2, 3], 4, np.nan),
    "digits": ([Decimal("1.15"), Decimal("4"), Decimal("0.30")], Decimal("2.00"), Decimal("22.222")),
    "many digits": ([Decimal("1.15"), Decimal("4"), Decimal("0.30")], Decimal("2.00"), Decimal("5." + "0" * 39 + "1")),
    "a large decimal": ([Decimal("1.15"), Decimal("4"), Decimal("0.30")], Decimal("2.00"), Decimal("1e38")),
    "a large number": ([0, 1, 2, 3], 4, 2**63 + 1),
    "a nanosecond": ([T("2024-01-02 10:30"), T("2024-01-03")], T("2024-01-03"), T("2024-01-05 00:00:00.000000001")),
    "in a zone": (
        [T("2024-01-02 10:30Z"), T("2024-01-03 00:00Z")],
        T("2024-01-03 00:00Z"),
        T("2024-01-05 00:00:00.000000001Z"),
    ),
    "a double": (np.float32([0.1, 0.25, 1e-5]), np.float32(0.25), 0.25),
    "a single": (np.float16([0.1, 0.25, 1e-5]), np.float16(0.25), np.float32(0.1)),
    "bytes": (["Ann", " Ann", "é"], "Ann", b"4"),
    "bytes that are no text": (["Ann", " Ann", "é"], "Ann", b"\xff"),
}
"""Cells of a column, and the last one: a usual one, and one by which pandas and Arrow make another type of them all."""


def in_memory(write: str) -> Callable[[Path, list[pd.DataFrame]], PrivateRows]:
    return lambda _, frames: read_table(in_bytes(frames[-1], write)).private


def in_a_folder(folder: Path, frames: list[pd.DataFrame]) -> PrivateRows:
    return folder_of(folder, *(pa.Table.from_pandas(frame) for frame in frames))


def in_a_folder_of_two(folder: Path, frames: list[pd.DataFrame]) -> PrivateRows:
    return folder_of(folder, *(pa.Table.from_pandas(frame) for frame in (frames[0], frames[-1])))


HOMES = {
    "Parquet": in_memory("to_parquet"),
    "Feather": in_memory("to_feather"),
    "folder": in_a_folder,
    "folder of two": in_a_folder_of_two,
}


@pytest.mark.thorough
@pytest.mark.parametrize("home", HOMES)
@pytest.mark.parametrize("which", WRITTEN)
def test_one_row_moves_itself_alone(which: str, home: str, tmp_path: Path) -> None:
    """Once it is there twice each number of rows is as far from that of once as once from none."""
    usual, last, odd = WRITTEN[which]
    assert pa.array(with_one_more(usual, last)["c"]).type != pa.array(with_one_more(usual, odd)["c"]).type
    first = with_one_more(usual, last)
    read = HOMES[home]
    less, once = (
        told(read(tmp_path / f"{at}", [first, frame]), ["c"])
        for at, frame in enumerate((with_one_more(usual, last, 0), with_one_more(usual, odd)))
    )
    for key, cells in once.items():
        assert far(less[key], cells) <= 1, key


def far(here: list[Any] | str, there: list[Any] | str) -> int:
    """How many rows count elsewhere; a refusal is further away than anything."""
    if isinstance(here, str) or isinstance(there, str):
        return 0 if here == there else 99
    if here and isinstance(here[0], list):  # numbers, and how often each is there
        sizes = [dict(zip(map(str, values), counts, strict=True)) for values, counts in (here, there)]
        return sum(abs(sizes[0].get(one, 0) - sizes[1].get(one, 0)) for one in {*sizes[0], *sizes[1]})
    return int(np.abs(np.subtract(here[-len(there) :], there)).sum()) // (1 + (len(here) == 7))


NOTHING: list[tuple[str, Any]] = [
    ("number", 2.0),
    ("date", date(2024, 1, 3)),
    ("category", "4"),
    ("yes/no", True),
    ("integer", 2),
    ("text", "Ann"),
    ("category", b"4"),
    ("number", Decimal(1)),
]


@pytest.mark.parametrize("files", [1, 2])
@pytest.mark.parametrize(("declared_as", "cell"), NOTHING)
def test_a_column_without_a_value_may_be_declared_as_with_one(
    declared_as: str, cell: Any, files: int, tmp_path: Path
) -> None:
    found = []
    for at, last in enumerate((None, cell)):
        frame = pd.DataFrame({"ward": ["a"] * 3, "c": pd.Series([None, None, last], dtype=object)})
        rows = in_a_folder(tmp_path / f"{at}", [frame] * files)
        found.append([said(rows, column) for column in declared("c") if column.type == declared_as])
    assert "refused" not in found[1][:1]
    assert all(far(*pair) <= 2 * files for pair in zip(*found, strict=True))


def test_a_type_that_fits_no_such_column_is_found_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counting, "FITS", {declared_as: kinds - {"nothing"} for declared_as, kinds in FITS.items()})
    with pytest.raises(AssertionError):
        test_a_column_without_a_value_may_be_declared_as_with_one("number", 2.0, 1, tmp_path)
