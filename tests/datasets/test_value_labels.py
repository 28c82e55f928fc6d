"""Labels of a file's values: what a cell says follows from its own label, however many there are.

Many programs label just the values that occur, so that one row more or less has a label come or go.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np
import pandas as pd
import pyreadstat
import pytest

from dpcore.datasets import Column, Declaration, Reading, read_table
from dpcore.datasets.reading import labelled_files
from dpcore.datasets.temporary import private_folder
from dpcore.releases.selection import MostCommonOption

Write = Callable[[Sequence[str]], bytes]
TENS = tuple(f"ward {place}" for place in range(10))


def by_pandas(version: int) -> Write:
    """Codes of the categories that occur, from 0 on in their order."""

    def write(cells: Sequence[str]) -> bytes:
        file = io.BytesIO()
        frame = pd.DataFrame({"cell": pd.Series(cells).astype("category"), "row": range(len(cells))})
        frame.to_stata(file, write_index=False, version=version)
        return file.getvalue()

    return write


def labelled(program: str, codes: Sequence[float], labels: dict[int | float, str], **how: Any) -> bytes:
    write = pyreadstat.write_sav if program == "SPSS" else pyreadstat.write_dta
    with private_folder() as folder:
        frame = pd.DataFrame({"cell": codes, "row": range(len(codes))})
        write(frame, str(folder / "a"), variable_value_labels={"cell": labels}, **how)
        return (folder / "a").read_bytes()


def by_codes(program: str, first: int) -> Write:
    """Codes of the words that occur, from ``first`` on, as R's factors have them from 1."""

    def write(cells: Sequence[str]) -> bytes:
        labels: dict[int | float, str] = dict(enumerate(sorted(set(cells)), first))
        codes = {word: float(code) for code, word in labels.items()}
        return labelled(program, [codes[cell] for cell in cells], labels)

    return write


WRITE: dict[str, Write] = {
    **{f"pandas, {version}": by_pandas(version) for version in (114, 117, 118)},
    **{f"{program}, from {first}": by_codes(program, first) for program in ("SPSS", "Stata") for first in (0, 1)},
}
WORDS: dict[str, tuple[list[str], str]] = {
    "one option": (["north"] * 20, "south"),
    "one option, another before it": (["south"] * 20, "north"),
    "two options": (["east", "south"] * 10, "north"),
    "nine options": ([*TENS[1:]] * 2, TENS[0]),
    "nine options, one behind": ([*TENS[:-1]] * 2, TENS[-1]),
}


def cells(reading: Reading, column: Column) -> list[object]:
    """As they count when declared so: for looking, and the same for an answer."""
    declared = Declaration(columns=(column,))
    looked = reading.apply(declared).frame[column.name]
    answered = reading.private.opened(declared.reads(column.name)).typed(column.name)
    pd.testing.assert_series_equal(looked.iloc[: len(answered)], answered, check_names=False)
    return [None if pd.isna(cell) else cell for cell in looked]


def tell(write: Write, words: list[str], more: str) -> None:
    """Raises AssertionError where one row more changes another."""
    column = Column(name="cell", type="category", categories=tuple(sorted({*words, more})))
    request = MostCommonOption.of(Declaration(columns=(column,)), "cell", epsilon=1.0)
    one, other = read_table(write(words)), read_table(write([*words, more]))
    assert [*one.frame["cell"], more] == list(other.frame["cell"]) == [*words, more]
    assert [*cells(one, column), more] == cells(other, column)
    added = np.array([float(option == more) for option in column.categories])
    np.testing.assert_array_equal(request.read(one.private) + added, request.read(other.private))


@pytest.mark.parametrize("by", WRITE)
@pytest.mark.parametrize("words", WORDS)
def test_one_row_of_another_option_changes_no_other(by: str, words: str) -> None:
    tell(WRITE[by], *WORDS[words])


@pytest.mark.parametrize("by", WRITE)
@pytest.mark.parametrize(("answer", "more"), [("yes", "no"), ("no", "yes")])
def test_one_answer_changes_no_other(by: str, answer: str, more: str) -> None:
    column = Column(name="cell", type="yes/no")
    one, other = (cells(read_table(WRITE[by](said)), column) for said in ([answer] * 5, [*[answer] * 5, more]))
    assert [*one, more == "yes"] == other == [*[answer == "yes"] * 5, more == "yes"]


@pytest.mark.parametrize("by", WRITE)
def test_a_label_that_is_a_number_counts_as_that(by: str) -> None:
    column = Column(name="cell", type="integer", low=0, high=100)
    one, other = (cells(read_table(WRITE[by](said)), column) for said in (["10", "20"], ["10", "20", "5"]))
    assert [*one, 5] == other == [10, 20, 5]


def test_options_look_like_words() -> None:
    for by in WRITE:
        for words, _ in WORDS.values():
            found = read_table(WRITE[by](words)).column("cell")
            assert (found.type, found.codebook) == ("category", tuple(sorted(set(words))))


def test_what_the_file_declares_missing_has_no_label() -> None:
    data = labelled(
        "SPSS",
        [1.0, 7.0, 9.0],
        {1: "not at all", 7: "completely"} | {9: "none"},
        missing_ranges={"cell": [{"lo": 9, "hi": 9}]},
    )
    assert list(read_table(data).frame["cell"]) == ["not at all", "completely", ""]
    assert read_table(data).column("cell").codebook == ("not at all", "completely")


ANSWERS = labelled_files._answers


def by_their_number(*given: Any) -> dict[Hashable, tuple[str, str]]:
    """As it once was: labels in place of codes where these are counted from 0 or 1 on, are letters, or ten."""
    answers = ANSWERS(*given)
    codes = [code for code, _ in answers.values()]
    counted = {"0", "1"} <= set(codes) or {"1", "2"} <= set(codes)
    words = counted or len(codes) >= 10 or any(not re.fullmatch(r"-?\d+(\.\d+)?", code) for code in codes)
    return answers if words else {}


@pytest.mark.parametrize("by", WRITE)
def test_these_tests_can_fail(by: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(labelled_files, "_answers", by_their_number)
    with pytest.raises(AssertionError):
        tell(WRITE[by], *WORDS["one option"])
