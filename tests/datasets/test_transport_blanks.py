"""A SAS transport file ends with blanks, which are a number too: rows of them hold nothing, wherever they stand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pyreadstat
import pytest

from dpcore.datasets import Column, Declaration, Reading, read_table
from dpcore.datasets.reading import labelled_files
from dpcore.releases.selection import MostCommonOption

BLANKS = int.from_bytes(b" " * 7, "big") / 2**56 * 16.0 ** (0x20 - 0x40)
WARD = Column(name="ward", type="category", categories=("north", "south"))
AGE = Column(name="age", type="yes/no", yes_words=("1",), no_words=("0",))


def read(folder: Path, blank: int, more: bool) -> Reading:
    """Thirty rows, so many of blanks, and perhaps one more."""
    rows = [("north", 1.0)] * 20 + [("south", 0.0)] * 10 + [("", BLANKS)] * blank + [("north", 1.0)] * more
    frame = pd.DataFrame(rows, columns=["ward", "age"])
    pyreadstat.write_xport(frame, str(folder / "a.xpt"), file_format_version=5)
    return read_table((folder / "a.xpt").read_bytes())


def counted(reading: Reading) -> np.ndarray:
    """What two private answers are drawn from."""
    columns = Declaration(columns=(WARD, AGE))
    found = [MostCommonOption.of(columns, name, epsilon=1.0).read(reading.private) for name in ("ward", "age")]
    return np.concatenate(found)


def test_the_number_is_the_one_that_blanks_are() -> None:
    assert BLANKS in labelled_files._BLANK_NUMBERS
    assert len(labelled_files._BLANK_NUMBERS) == 7


@pytest.mark.parametrize("blank", [0, 1, 20])
def test_one_row_behind_blanks_counts_as_one(blank: int, tmp_path: Path) -> None:
    moved = counted(read(tmp_path, blank, more=True)) - counted(read(tmp_path, blank, more=False))
    assert np.abs(moved).max() <= 1
    assert read(tmp_path, blank, more=True).report.open_ended, "the number of rows is called right where it shows"


def test_blanks_that_are_a_number_would_be_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(labelled_files, "_BLANK_NUMBERS", frozenset())
    before, after = read(tmp_path, 20, more=False), read(tmp_path, 20, more=True)
    filled = [int((one.frame["age"] != "").sum()) for one in (before, after)]
    assert filled == [30, 51]
