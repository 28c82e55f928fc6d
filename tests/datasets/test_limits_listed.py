"""Every limit is one that no row passes, one that refuses nothing, or one where it is written what one row can do."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import dpcore.datasets
from dpcore.datasets.reading import bounds

ROOT = Path(dpcore.datasets.__file__).parent
WRITTEN = Path(__file__).parents[2] / "docs" / "integrity.md"
_LIMIT = re.compile(r"_?(?:MOST|LONGEST|LARGEST|WIDEST|DEEPEST)(?:_[A-Z0-9_]+)?")
ELSEWHERE = ("catalog", "in_place", "importing")
"""Samples, and sources, whose rows are looked at one by one (``test_lines_in_place``, ``test_importing``)."""
PASSED: dict[str, dict[str, str]] = {
    "131,072 letters": {"reading/bounds.py": "LONGEST_CELL"},
    "8 MB": {"reading/engine.py": "_LONGEST_RECORD"},
    "letters, cells": {
        "reading/bounds.py": "MOST_CELLS MOST_UNPACKED_CELLS MOST_TEXT MOST_LINES MOST_TOLD MOST_TOLD_APART",
        "reading/reader.py": "LARGEST",
        "reading/documents.py": "_LARGEST_WHOLE",
        "reading/arrow_files.py": "_MOST_UNPACKED",
        "reading/labelled_pieces.py": "_MOST_ROOM _MOST_TIMES",
        "reading/labelled_spss.py": "_MOST",
        "apart/confined.py": "_LARGEST_FILE",
    },
    "archive": {"reading/packing.py": "MOST_UNPACKED _MOST_RATIO"},
    "sheet": {
        "reading/workbook.py": "_MOST_XML _MOST_FILLED _MOST_ROWS _MOST_CELLS",
        "reading/excel_parts.py": "_MOST_ROWS _MOST_SHARED",
        "reading/old_sheets.py": "_LARGEST",
        "reading/markup.py": "_MOST_NAMES",
    },
    "keys of JSON": {"reading/bounds.py": "MOST_COLUMNS"},
}
"""A word by which docs/integrity.md says it, and the limits that one row can pass so that its file is refused."""
REFUSE_NOTHING: dict[str, str] = {
    "conversion.py": "MOST_WORDS MOST_LETTERS",
    "schema.py": "LONGEST LONGEST_PERSON",
    "short_dates.py": "LONGEST",
    "numerals.py": "_MOST",
    "plain_words.py": "LARGEST",
    "decimal_texts.py": "MOST_DIGITS",
    "arrow_cells.py": "_LARGEST",
    "private_rows.py": "MOST_LOOKED_AT",
    "text.py": "_LONGEST_LOOKED_AT",
    "steps.py": "_MOST_OPTIONS _MOST_SUMS _LONGEST_OPTION _MOST_SPLIT _LONGEST_NUMBER",
    "guessing/plain_numbers.py": "_LONGEST",
    "reading/survey.py": "WIDEST",
    "reading/documents.py": "_DEEPEST _LONGEST_NAME",
    "reading/engine.py": "_LARGEST_WHOLE",
    "reading/naming.py": "_LONGEST",
    "reading/layout.py": "_LONGEST_TOTAL",
    "reading/copies.py": "MOST_COPIES",
    "reading/likeness.py": "_WIDEST",
    "apart/crossing.py": "_MOST_PIECES",
}
NO_ROW_PASSES: dict[str, str] = {
    "apart/nursery.py": "_MOST_FILES _MOST_THREADS",
    "apart/own.py": "LONGEST",
    "apart/told.py": "LONGEST MOST MOST_LINES",
    "declaration.py": "LONGEST_NAME",
    "fetched.py": "MOST",
    "fills.py": "MOST_WHOLE",
    "private_rows.py": "LONGEST_LABEL",
    "reading/bounds.py": "MOST_SHEETS LONGEST_NAME",
    "reading/labelled_stata.py": "_LONGEST",
    "reading/packing.py": "_MOST_MEMBERS",
    "reading/zip_heads.py": "_MOST_16 _MOST_32",
    "schema.py": "MOST_PEOPLE",
    "template.py": "_LARGEST LARGEST_HELD LONGEST_NAME MOST_STEPS",
    "twin.py": "_MOST_ROWS",
}
"""Of what a person states, of names and parts of a file, of public names of rows, or of a process."""


def limits() -> Iterator[tuple[str, str]]:
    for path in sorted(ROOT.rglob("*.py")):
        file = path.relative_to(ROOT).as_posix()
        for node in () if file.startswith(ELSEWHERE) else ast.parse(path.read_text(encoding="utf-8")).body:
            targets = node.targets if isinstance(node, ast.Assign) else []
            for target in targets:
                names = target.elts if isinstance(target, ast.Tuple) else [target]
                yield from ((file, one.id) for one in names if isinstance(one, ast.Name) and _LIMIT.fullmatch(one.id))


def listed() -> list[tuple[str, str]]:
    return [
        (file, name)
        for table in (*PASSED.values(), REFUSE_NOTHING, NO_ROW_PASSES)
        for file, names in table.items()
        for name in names.split()
    ]


def test_every_limit_is_listed() -> None:
    assert sorted(listed()) == sorted(limits())


def test_what_one_row_can_do_by_its_size_is_written() -> None:
    (said,) = [line for line in WRITTEN.read_text(encoding="utf-8").splitlines() if "small enough to be held" in line]
    assert all(word in said for word in PASSED)
    assert f"{bounds.LONGEST_CELL:,} letters" in said
    assert f"{bounds.MOST_COLUMNS} in all" in said


def test_a_limit_that_nobody_listed_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(REFUSE_NOTHING, "steps.py")
    with pytest.raises(AssertionError):
        test_every_limit_is_listed()
