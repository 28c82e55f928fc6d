"""Of one cell of bytes among texts a program makes bytes of its whole column: each says what the same text says, in a
folder of Parquet and in a file in memory, whatever signs it holds; bytes that are no text are missing in both."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from dpcore.datasets import Column, Declaration
from dpcore.datasets.in_place import file_types
from dpcore.datasets.numerals import tidy
from dpcore.datasets.schema import LONGEST
from dpcore.releases.count import NoisyCount
from dpcore.releases.selection import MostCommonOption
from tests.datasets.test_types_of_one_row import HOMES

FIRST = [chr(code) for code in range(0xA1)]
BEYOND = [chr(code) for code in (*range(0xA1, 0x110000, 1_009), 0x85, 0x2028, 0x2029, 0xFEFF, 0xFFFD, 0xFFFF, 0x10FFFF)]
SIGNS = sorted({sign for sign in (*FIRST, *BEYOND) if not 0xD800 <= ord(sign) <= 0xDFFF})
INSIDE = [f"{ord(sign):x}{sign}b" for sign in SIGNS]
CELLS = [*INSIDE, *(f"{sign}{ord(sign):x}" for sign in SIGNS), *(f"c{ord(sign):x}{sign}" for sign in SIGNS)]
CELLS += [r"\xFF", r"\x00", "x" * LONGEST, "é" * (LONGEST // 2)]
OPTIONS = tuple(word for word in [*INSIDE, "zz", r"\xFF", "�"] if "\0" not in word)
WHO = Declaration(columns=(Column(name="c", type="text"),), id_column="c", rows_per_person=1)
NO_TEXT = [b"\xff", b"a\x80", b"\xc0\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xc3"]
MORE: dict[str, tuple[list[Any], list[Any]]] = {
    "a text": ([b"zz"], ["zz"]),
    "no text": (NO_TEXT, [None] * len(NO_TEXT)),
    "texts that are there": ([word.encode() for word in CELLS], CELLS),
    "one too long": ([b"x" * (LONGEST + 1)], [None]),
}
"""Cells of bytes, and cells of none that say the same."""
ALONE = ("Parquet", "Feather", "folder")


def told(home: str, folder: Path, cells: list[Any]) -> tuple[dict[str, int], int, int]:
    """How many rows say each option, how many people there are by what they say, and rows of somebody."""
    frames = [pd.DataFrame({"c": pd.Series(each, dtype=object), "ward": "a"}) for each in (["Ann", "\x02"], cells)]
    rows = HOMES[home](folder, frames[home in ALONE :])
    counts: dict[str, int] = {}
    for at in range(0, len(OPTIONS), 300):
        column = Column(name="c", type="category", categories=("Ann", *OPTIONS[at : at + 300]))
        found = MostCommonOption.of(Declaration(columns=(column,)), "c", epsilon=1.0).read(rows)
        counts.update(zip(column.categories, found.tolist(), strict=True))
    every = Declaration(columns=WHO.columns, id_column="c", rows_per_person=100)
    return counts, *(int(NoisyCount.of(whose, epsilon=1.0).read(rows)) for whose in (WHO, every))


@pytest.mark.thorough
@pytest.mark.parametrize("home", HOMES)
@pytest.mark.parametrize("which", MORE)
def test_bytes_say_what_the_same_texts_say(which: str, home: str, tmp_path: Path) -> None:
    of_bytes, of_texts = (told(home, tmp_path / f"{at}", [*CELLS * 2, *more]) for at, more in enumerate(MORE[which]))
    assert of_bytes == of_texts


@pytest.mark.thorough
def test_they_say_in_a_folder_what_they_say_in_memory(tmp_path: Path) -> None:
    """But where a file in memory is read without marks of the writing direction, and with ordinary spaces."""
    same = (tidy(pd.Series(CELLS)) == pd.Series(CELLS).str.strip()).tolist()
    cells = [cell for cell, alike in zip(CELLS, same, strict=True) if alike]
    assert len(cells) > 0.99 * len(CELLS)
    for at, more in enumerate(([], [b"zz"], [b"\xff"])):
        first, *others = (told(home, tmp_path / f"{home} {at}", [*cells * 2, *more]) for home in ALONE)
        assert [first] * 2 == others
        assert all(first[0][word] == 2 for word in OPTIONS if word in cells)


AS_IT_WAS = "regexp_full_match({0}, '[^\\x00-\\x08\\x0e-\\x1b\\x7f]*', 's') THEN {0} ELSE CAST({1} AS VARCHAR) END"
MUTANTS = {
    "control signs as they are written": lambda cell: "CASE WHEN " + AS_IT_WAS.format(f"TRY(decode({cell}))", cell),
    "all as they are written": lambda cell: f"CAST({cell} AS VARCHAR)",
    "no text as it is written": lambda cell: f"coalesce(TRY(decode({cell})), CAST({cell} AS VARCHAR))",
}


@pytest.mark.parametrize("which", MUTANTS)
def test_these_tests_can_fail(which: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    of_bytes, of_texts = MORE["no text" if which.startswith("no text") else "a text"]
    cells = [*INSIDE[:128], r"\xFF"]
    usual = told("folder", tmp_path / "texts", [*cells, *of_texts])
    assert told("folder", tmp_path / "bytes", [*cells, *of_bytes]) == usual
    monkeypatch.setattr(file_types, "_letters", MUTANTS[which])
    assert told("folder", tmp_path / "broken", [*cells, *of_bytes]) != usual
