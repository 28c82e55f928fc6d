"""An index with a name is a column of a folder, whichever of its files hold it and whichever state it as a rule."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd
import pytest

from dpcore.datasets import Column, Declaration
from dpcore.datasets.in_place import open_folder, shape
from dpcore.datasets.in_place.range_columns import RangeColumns
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
    monkeypatch.setattr(shape, "range_columns", lambda *_: RangeColumns())
    rows = in_a_folder(tmp_path / "p", NUMBERED, OTHER.drop(33))
    with pytest.raises(UnreadableFile, match=shape.UNLIKE):
        rows.check(COUNT.reads)


def test_files_without_such_an_index_differ_from_those_that_have_one(tmp_path: Path) -> None:
    """As they do where it is a column."""
    for at, one in enumerate((NUMBERED, NUMBERED.drop(7))):
        with pytest.raises(UnreadableFile, match=shape.UNLIKE):
            in_a_folder(tmp_path / f"{at}", one, NUMBERED.reset_index(drop=True)).check(COUNT.reads)
