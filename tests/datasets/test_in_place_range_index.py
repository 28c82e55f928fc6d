"""An index with a name is a column of a folder, whichever of its files hold it and whichever state it as a rule."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dpcore.datasets import Column, Declaration
from dpcore.datasets.in_place import open_folder, range_columns, shape
from dpcore.errors import UnreadableFile
from dpcore.releases.count import NoisyCount
from dpcore.releases.selection import MostCommonOption, QuantileValue
from tests.datasets.test_range_index import LESS, NUMBERED
from tests.datasets.test_unnamed_index import in_a_folder

WHO = Column(name="who", type="integer", low=0, high=60)
PERSON = Column(name="who", type="text")
WORD = Column(name="word", type="category", categories=("a", "b"))
QUANTILE = QuantileValue.of(Declaration(columns=(WHO,)), "who", epsilon=1.0, points=61)
COUNT = NoisyCount.of(Declaration(columns=(WORD,)), epsilon=1.0)
OF_PEOPLE = MostCommonOption.of(
    Declaration(columns=(WORD, PERSON), id_column="who", rows_per_person=1), "word", epsilon=1.0
)
OTHER = NUMBERED.set_axis(pd.RangeIndex(30, 54, name="who"))
FOLDERS: dict[str, Sequence[pd.DataFrame]] = {
    "one file": (NUMBERED,),
    "two files": (NUMBERED, OTHER),
    "the same numbers": (NUMBERED, NUMBERED),
    "another step": (NUMBERED, LESS["every second"], LESS["the other way round"]),
    "points in milliseconds": tuple(
        one.assign(t=pd.Series(pd.Timestamp("2024-01-01"), index=one.index, dtype="datetime64[ms]"))
        for one in (NUMBERED, OTHER)
    ),
    "decimals in one": (NUMBERED, OTHER.set_axis(OTHER.index.astype("float64"))),
    "whole numbers elsewhere": (NUMBERED, OTHER.assign(answer=7)),
    "a name with signs": tuple(one.assign(**{"x'\"y": 1}) for one in (NUMBERED, OTHER)),
    "names of DuckDB's own": tuple(
        one.assign(filename="a", FILE_ROW_NUMBER=7, file_index=7, rowid=7, c0=7) for one in (NUMBERED, OTHER)
    ),
    "a column of lists": tuple(one.assign(tags=[["a"]] * len(one)) for one in (NUMBERED, OTHER)),
    "gaps elsewhere": (NUMBERED, OTHER.assign(word=None)),
}


def answers(folder: Path, frames: Sequence[pd.DataFrame]) -> tuple[set[str], list[list[int]]]:
    rows = in_a_folder(folder, *frames)
    for one in (QUANTILE, COUNT, OF_PEOPLE):
        rows.check(one.reads)
    found = [pd.Series(one.read(rows)).tolist() for one in (QUANTILE, OF_PEOPLE, COUNT)]
    return set(open_folder(folder).names), found


@pytest.mark.thorough
@pytest.mark.parametrize("name", FOLDERS)
def test_it_is_a_column_whichever_rows_are_left_out(name: str, tmp_path: Path) -> None:
    frames = FOLDERS[name]
    as_columns = [frame.reset_index() for frame in frames]
    assert answers(tmp_path / "whole", frames) == answers(tmp_path / "columns", as_columns)
    for at in range(len(frames)):
        less = [frame.drop(frame.index[7]) if place == at else frame for place, frame in enumerate(frames)]
        found = answers(tmp_path / f"less {at}", less)
        assert found == answers(tmp_path / f"columns {at}", [frame.reset_index() for frame in less])
        assert found[0] == {"who", *frames[0].columns}
        assert found[1][-1] == [sum(map(len, frames)) - 1]


def test_a_folder_that_takes_no_rule_for_a_column_is_found_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shape, "rules", lambda *_: {})
    rows = in_a_folder(tmp_path / "p", NUMBERED, OTHER.drop(33))
    with pytest.raises(UnreadableFile, match=shape.UNLIKE):
        rows.check(COUNT.reads)


def test_files_without_such_an_index_differ_from_those_that_have_one(tmp_path: Path) -> None:
    """As they do where it is a column."""
    for at, one in enumerate((NUMBERED, NUMBERED.drop(7))):
        with pytest.raises(UnreadableFile, match=shape.UNLIKE):
            in_a_folder(tmp_path / f"{at}", one, NUMBERED.reset_index(drop=True)).check(COUNT.reads)


OF_DUCKDB = ("filename", "File_Row_Number", "file_index", "rowid", "c0", "t")
NAMES = ("who", *OF_DUCKDB, "file_row_number", "ID", "id_1", "Word", "word", "", "x'\"y")


def read(folder: Path, name: str, *as_columns: bool) -> tuple[dict[str, str], list[Any]]:
    """Columns and cells of files in which such an index is held as a column, or stated as a rule."""
    folder.mkdir(parents=True)
    for at, held in enumerate(as_columns):
        frame = pd.DataFrame({own: [f"{own} {row}" for row in range(3)] for own in ("id", "Word", "word", *OF_DUCKDB)})
        numbered = frame.set_axis(pd.RangeIndex(at, 9 + at, 3, name=name))
        pq.write_table(pa.Table.from_pandas(numbered, preserve_index=held or None), folder / f"{at}.parquet")
    shape.one_table.cache_clear()
    found = open_folder(folder)
    return dict(found.kinds), sorted(found.run(f"SELECT * FROM {found.source}"), key=repr)  # noqa: S608 - of this test


def names_that_tell(folder: Path, names: Sequence[str]) -> set[str]:
    """Those of an index by which it shows how a file holds it."""
    folder.mkdir()
    found = set()
    for at, name in enumerate(names):
        for files in (1, 2):
            of = [read(folder / f"{at} {files} {held}", name, *[held] * files) for held in (True, False)]
            if files == 2:
                of.append(read(folder / f"{at} mixed", name, True, False))
            if any(one != of[0] for one in of):
                found.add(name)
    return found


@pytest.mark.thorough
def test_whatever_its_name_and_those_of_the_columns_it_is_held_or_stated_alike(tmp_path: Path) -> None:
    assert names_that_tell(tmp_path / "p", NAMES) == set()


def test_so_it_is_where_a_folder_is_called_so(tmp_path: Path) -> None:
    found = [read(tmp_path / f"{held}" / "who=3", "who", held) for held in (True, False)]
    assert found[0] == found[1]
    assert found[0][0]["who"] == "text"


def test_a_name_that_is_taken_for_another_is_found_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In capitals for a column's, and DuckDB's of a file for a column."""
    with monkeypatch.context() as small:
        small.setattr(shape, "rules", lambda *given: {file: [] for file in range_columns.rules(*given)})
        with pytest.raises(UnreadableFile, match=shape.UNLIKE):
            names_that_tell(tmp_path / "small", ["ID"])
    of_a_column = f"c{('id', 'Word', 'word', *OF_DUCKDB).index('filename')}"
    monkeypatch.setattr(shape, "by_rule", lambda of: range_columns.by_rule(of).replace("filename", of_a_column))
    assert names_that_tell(tmp_path / "p", ["who"]) == {"who"}
