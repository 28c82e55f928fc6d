"""An index of pandas is no column of a folder, whichever of its files hold cells of it and whichever only state it."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import cache, partial
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest

from dpcore.datasets import Column, Declaration
from dpcore.datasets.in_place import PrivateSource, open_folder, shape
from dpcore.datasets.pandas_index import Noted
from dpcore.errors import UnreadableFile
from dpcore.releases.selection import QuantileValue
from tests.datasets.test_pandas_index import DONE, INDEXES, LESS, NAMES, WHOLE, indexed, without
from tests.datasets.typed_files import as_parquet

pytestmark = pytest.mark.filterwarnings("ignore:The DataFrame has")
Seen = tuple[list[tuple[str, str]], list[tuple[str, ...]]]
Expected = Callable[..., Seen]
PLACES: dict[str, Sequence[str]] = {
    "one file": ("a",),
    "two files": ("a", "b"),
    "by year": ("year=2020/a", "year=2021/b"),
    "by month and year": ("year=2020/month=3/a", "year=2020/month=4/b"),
    "not all by year": ("year=2020/a", "b"),
}
KINDS = {
    "milliseconds": pd.Series(pd.Timestamp("2024-01-01"), WHOLE.index, dtype="datetime64[ms]"),
    "decimals": WHOLE["age"] / 3,
    "nothing": pd.Series(None, WHOLE.index, dtype=object),
}


def seen(folder: Path, tables: Sequence[pa.Table], places: Sequence[str]) -> Seen:
    """Columns with their kinds, in order, and all rows."""
    for table, place in zip(tables, places, strict=True):
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        (folder / f"{place}.parquet").write_bytes(as_parquet(table))
    stored = open_folder(folder)
    rows = stored.run(f"SELECT * FROM {stored.quoted(stored.name)}")  # noqa: S608 - a name that is quoted
    return list(stored.kinds.items()), sorted(tuple(map(str, row)) for row in rows)


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> Expected:
    """As a folder whose files pandas wrote without an index."""

    @cache
    def of(done: str, place: str, *frames: str) -> Seen:
        tables = [DONE[done](without(LESS[less])) for less in frames]
        return seen(tmp_path_factory.mktemp("without"), tables, PLACES[place])

    return of


@pytest.mark.thorough
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("done", ["as written", "sorted", "columns in order of their names"])
def test_a_folder_reads_as_without_it_whichever_row_is_left_out(
    expected: Expected, place: str, done: str, tmp_path: Path
) -> None:
    for number, name in enumerate(NAMES):
        for less in ("whole", "without row 1"):
            frames = (less, "whole")[: len(PLACES[place])]
            tables = [DONE[done](pa.Table.from_pandas(indexed(LESS[one], name))) for one in frames]
            found = seen(tmp_path / f"{number} {less}", tables, PLACES[place])
            assert found == expected(done, place, *frames), (name, less)


@pytest.mark.thorough
@pytest.mark.parametrize("index", INDEXES)
def test_so_it_is_with_an_index_of_any_kind(expected: Expected, index: str, tmp_path: Path) -> None:
    frame = LESS["without row 1"]
    other = pa.Table.from_pandas(frame.set_axis(INDEXES[index](len(frame))))
    for place in ("two files", "by year"):
        tables = [pa.Table.from_pandas(indexed(WHOLE, "patient")), other]
        assert seen(tmp_path / place, tables, PLACES[place]) == expected("as written", place, "whole", "without row 1")


@pytest.mark.thorough
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", [5, "C2"])
def test_cells_that_are_read_otherwise_stay_those_of_their_column(kind: str, name: Hashable, tmp_path: Path) -> None:
    """Beside an index that is called as their column is, in one of two files whose types differ."""
    whole = WHOLE.drop(columns="5").assign(**{"5": KINDS[kind], "C2": [1, 2, 3, 4]})
    other = whole.assign(C2=[0.5, 1, 2, 3])
    for less in (whole, whole.drop(1)):
        frames = [less, other]
        with_it = [pa.Table.from_pandas(indexed(frame, name)) for frame in frames]
        found = seen(tmp_path / f"with {len(less)}", with_it, PLACES["by year"])
        assert found == seen(tmp_path / f"without {len(less)}", [*map(without, frames)], PLACES["by year"])


def test_a_folder_that_keeps_it_is_found_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shape, "noted", lambda _: Noted(levels=0, names=(), held=(), fields=()))
    tables = [pa.Table.from_pandas(indexed(LESS[less], "patient")) for less in ("whole", "without row 1")]
    with pytest.raises(UnreadableFile, match=shape.UNLIKE):
        seen(tmp_path / "two", tables, PLACES["two files"])
    assert ("patient", "number") in seen(tmp_path / "one", tables[1:], PLACES["one file"])[0]


def test_a_folder_that_looks_at_no_names_of_folders_is_found_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    frames = [LESS["without row 1"]] * 2
    with_it = [pa.Table.from_pandas(indexed(frame, "year")) for frame in frames]
    plain = seen(tmp_path / "without", [*map(without, frames)], PLACES["by year"])
    assert seen(tmp_path / "with", with_it, PLACES["by year"]) == plain
    monkeypatch.setattr(shape, "_keys_of_folders", lambda _: {})
    assert seen(tmp_path / "found out", with_it, PLACES["by year"]) != plain


@pytest.mark.parametrize("less", ["whole", "without row 1"])
def test_a_folder_of_nothing_else_is_refused_alike(less: str, tmp_path: Path) -> None:
    for number, place in enumerate(("one file", "two files", "by year")):
        for name in (None, "patient"):
            tables = [pa.Table.from_pandas(indexed(LESS[one], name)[[]]) for one in (less, "whole")]
            with pytest.raises(UnreadableFile, match=shape.UNLIKE):
                seen(tmp_path / f"{number} {name}", tables[: len(PLACES[place])], PLACES[place])


def test_a_declaration_that_names_it_is_refused_alike(tmp_path: Path) -> None:
    patient = Column(name="patient", type="integer", low=0, high=9)
    asked = QuantileValue.of(Declaration(columns=(patient,)), "patient", epsilon=1.0, points=10)
    for less in ("whole", "without row 1"):
        seen(tmp_path / less, [pa.Table.from_pandas(indexed(LESS[less], "patient"))], PLACES["one file"])
        with pytest.raises(UnreadableFile, match="columns of this source are no longer what they were"):
            PrivateSource(partial(open_folder, tmp_path / less)).check(asked.reads)


def test_each_layout_is_named_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a folder of many files with an index takes does not grow by a connection for each."""
    opened = []
    monkeypatch.setattr(shape, "duckdb_names", lambda *asked: opened.append(asked) or list(asked[-1]))
    held = pa.Table.from_pandas(indexed(LESS["without row 1"].rename(columns=lambda name: f"{name} "), "patient"))
    seen(tmp_path / "p", [held] * 5, [f"{number}" for number in range(5)])
    assert len(opened) == 1
