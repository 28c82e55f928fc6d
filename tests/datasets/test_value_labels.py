"""Labels of a file's values: what a cell says, and counts as, follows from its own label, however many there are.

Many programs label just the values that occur, so that one row more or less has a label come or go.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd
import pyreadstat
import pytest

from dpcore.datasets import Column, Declaration, Reading, read_table
from dpcore.datasets.reading import labelled_files, reader
from dpcore.datasets.steps import MonthsToRows, OneRowPer
from dpcore.datasets.temporary import private_folder
from dpcore.datasets.value_labels import codes_of, common
from dpcore.errors import InvalidArgument
from dpcore.releases.selection import MostCommonOption

Write = Callable[[Sequence[str]], bytes]
TENS = tuple(f"ward {place}" for place in range(10))
SCALE = {1: "not at all", 7: "completely"}


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


def scale(program: str, codes: list[float], *, all_named: bool = False) -> Reading:
    """Of a scale whose ends alone have names; those that nobody says may have none."""
    names = {code: name for code, name in SCALE.items() if all_named or code in codes}
    return read_table(labelled(program, codes, names))


def tell_of_scale(program: str, codes: list[float], more: float) -> None:
    """Raises AssertionError where one row more changes another, or a name counts as another number."""
    for kind in ("integer", "number"):
        column = Column(name="cell", type=kind, low=0, high=10)
        one, other = (cells(scale(program, said), column) for said in (codes, [*codes, more]))
        assert [*one, more] == other == [*codes, more]
    text = Column(name="cell", type="text")
    one, other = (cells(scale(program, said), text) for said in (codes, [*codes, more]))
    assert one == other[:-1]


@pytest.mark.parametrize("program", ["SPSS", "Stata"])
@pytest.mark.parametrize(
    ("codes", "more"),
    [([3, 4, 7, 2, 5], 1), ([1, 2, 3, 3, 2, 4], 7), ([2, 3, 4, 5], 7), ([1, 7], 3), ([1, 1], 7), ([7], 1)],
)
def test_the_named_end_of_a_scale_is_its_number_where_numbers_are_declared(
    program: str, codes: list[int], more: int
) -> None:
    tell_of_scale(program, [float(code) for code in codes], float(more))


def test_a_scale_looks_like_numbers_and_options_like_words() -> None:
    named = scale("SPSS", [float(place % 7 + 1) for place in range(70)], all_named=True)
    assert named.column("cell").suggestion.is_numeric
    assert list(named.frame["cell"][:2]) == ["not at all", "2"]
    for by in WRITE:
        for words, _ in WORDS.values():
            found = read_table(WRITE[by](words)).column("cell")
            assert (found.type, found.codebook) == ("category", tuple(sorted(set(words))))


def test_a_word_that_means_missing_means_so_by_its_label_and_by_its_number() -> None:
    found = read_table(labelled("SPSS", [3.0, 98.0, 99.0], {98: "refused", 99: "do not know"}))
    for missing in (("", "refused", "do not know"), ("", "98", "99"), ("", "refused", "99")):
        assert cells(found, Column(name="cell", type="number", missing_words=missing)) == [3.0, None, None]


def test_a_label_of_two_codes_is_no_number_and_none_that_is_blank() -> None:
    assert codes_of({"1": "low", "2": "low", "3": "high", "4": " "}) == {"high": "3"}
    assert common([{"low": "1", "high": "2"}, {"low": "1", "high": "3"}, {}]) == {"low": "1"}
    found = read_table(labelled("Stata", [1.0, 2.0, 3.0, 4.0], {1: "low", 2: "low", 3: "high"}))
    assert cells(found, Column(name="cell", type="number", low=0, high=9)) == [None, None, 3.0, 4.0]
    assert list(found.frame["cell"]) == ["low", "low", "high", "4"]


def test_what_the_file_declares_missing_has_no_label() -> None:
    data = labelled("SPSS", [1.0, 7.0, 9.0], SCALE | {9: "none"}, missing_ranges={"cell": [{"lo": 9, "hi": 9}]})
    assert list(read_table(data).frame["cell"]) == ["not at all", "completely", ""]
    assert read_table(data).column("cell").codebook == ("not at all", "completely")


def test_steps_take_the_numbers_along() -> None:
    found = scale("Stata", [1.0, 7.0, 4.0])
    summed = found.after((OneRowPer(by="row", of="cell", how="sum"),))
    assert list(summed.frame["sum of cell"]) == ["1", "7", "4"]
    with pytest.raises(InvalidArgument):
        found.after((OneRowPer(by="row"), OneRowPer(by="rows", of="cell", how="sum")))
    long = found.after((MonthsToRows(columns=("cell", "row")),))
    assert cells(long, Column(name="value", type="number")) == [1.0, 7.0, 4.0, 0.0, 1.0, 2.0]


def by_their_number(labels: dict[str, str], is_missing: Callable[[str], bool]) -> dict[str, str]:
    """As it once was: labels in place of codes where these are counted from 0 or 1 on, are letters, or ten."""
    codes = [code for code in labels if not is_missing(code)]
    counted = {"0", "1"} <= set(codes) or {"1", "2"} <= set(codes)
    words = counted or len(codes) >= 10 or any(not re.fullmatch(r"-?\d+(\.\d+)?", code) for code in codes)
    return {code: labels[code] for code in codes} if words else {}


@pytest.mark.parametrize("by", WRITE)
def test_these_tests_can_fail(by: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(labelled_files, "_answers", by_their_number)
    with pytest.raises(AssertionError):
        tell(WRITE[by], *WORDS["one option"])


def test_without_codes_a_scale_is_no_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "codes_of", lambda labels: {})
    with pytest.raises(AssertionError):
        tell_of_scale("SPSS", [3.0, 4.0, 7.0], 1.0)
