"""Labels of other rows: what a cell counts as follows from its own bytes, its own label and what a person stated.

Many programs label just the values that occur, and each column by itself, so that one row brings labels, or takes them
away. A column counts by its codes where a person says so, and nowhere else.
"""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd
import pyreadstat
import pytest

from dpcore.datasets import Column, Declaration, Reading, loaded, read_table, saved
from dpcore.datasets.reading import kinds
from dpcore.datasets.reading.labelled_files import LabelledKind, labelled_table
from dpcore.datasets.reading.tabulate import Tabulated
from dpcore.datasets.schema import ColumnType, Schema
from dpcore.datasets.steps import MonthsToRows, OneRowPer, Step
from dpcore.datasets.template import Template
from dpcore.datasets.temporary import private_folder
from dpcore.errors import InvalidArgument, UnreadableFile

Row = tuple[Any, ...]
Labels = Mapping[str, Mapping[Any, str]]
MONTHS = ("Jan_2024", "Feb_2024")


@dataclass(frozen=True)
class Case:
    """Who, and what stands for them in two months; ``more`` is the row of one person more. A file has those of the
    ``labels`` that occur; where there are none the months hold words, to which pandas gives codes of its own."""

    rows: tuple[Row, ...]
    more: Row
    labels: Labels | None


def both(labels: Mapping[Any, str]) -> Labels:
    return dict.fromkeys(MONTHS, labels)


IN_NUMBERS: dict[str, Case] = {
    "two codes of one label": Case(
        (("p", 1.0, 2.0), ("q", 2.0, 1.0), ("r", 4.0, 4.0)), ("z", 3.0, 3.0), both({1: "low", 2: "mid", 3: "low"})
    ),
    "digits of another code": Case(
        (("p", 1.0, 2.0), ("q", 2.0, 1.0), ("r", 4.0, 4.0)), ("z", 3.0, 3.0), both({1: "2", 2: "two", 3: "1"})
    ),
    "digits of a number without a label": Case(
        (("p", 1.0, 4.0), ("q", 4.0, 1.0)), ("z", 3.0, 3.0), both({1: "one", 3: "4"})
    ),
    "months of other codes": Case(
        (("p", 1.0, 1.0), ("q", 1.0, 4.0)), ("z", 2.0, 4.0), {"Jan_2024": {1: "a", 2: "b"}, "Feb_2024": {1: "b"}}
    ),
    "the ends of a scale": Case(
        (("p", 1.0, 5.0), ("q", 3.0, 3.0)), ("z", 7.0, 7.0), both({1: "not at all", 7: "completely"})
    ),
    "one end": Case((("p", 7.0, 7.0),), ("z", 1.0, 3.0), both({1: "not at all", 7: "completely"})),
}
IN_TEXT: dict[str, Case] = {
    "a word that is a label": Case(
        (("p", "low", "1"), ("p", "1", "low"), ("q", "low", "2")), ("z", "50", "50"), both({"50": "low"})
    ),
    "words in one month and codes in the other": Case(
        (("p", 2.0, "often"), ("q", 2.0, "2")), ("z", 1.0, "2"), {"Jan_2024": {1: "often", 2: "never"}}
    ),
}
IN_WORDS: dict[str, Case] = {
    "words": Case((("p", "b", "b"), ("q", "b", "c"), ("r", "c", "c")), ("z", "b", "a"), None),
    "numbers": Case((("p", "10", "20"), ("q", "20", "10")), ("z", "5", "1"), None),
}


def by_pyreadstat(write: Callable[..., None], **how: Any) -> Callable[[Sequence[Row], Labels], bytes]:
    def made(rows: Sequence[Row], labels: Labels) -> bytes:
        frame = pd.DataFrame(list(rows), columns=["who", *MONTHS])
        here = {name: {code: word for code, word in known.items() if (frame[name] == code).any()}
                for name, known in labels.items()}  # fmt: skip
        with private_folder() as folder:
            write(frame, str(folder / "a"), variable_value_labels=here, **how)
            return (folder / "a").read_bytes()

    return made


def by_pandas(version: int) -> Callable[[Sequence[Row]], bytes]:
    def made(rows: Sequence[Row]) -> bytes:
        frame, file = pd.DataFrame(list(rows), columns=["who", *MONTHS]), io.BytesIO()
        frame = frame.astype(dict.fromkeys(MONTHS, "category"))
        frame.to_stata(file, write_index=False, version=version)
        return file.getvalue()

    return made


SPSS = {
    "sav": by_pyreadstat(pyreadstat.write_sav),
    "sav, packed": by_pyreadstat(pyreadstat.write_sav, row_compress=True),
    "zsav": by_pyreadstat(pyreadstat.write_sav, compress=True),
}
STATA = {f"dta {version}": by_pyreadstat(pyreadstat.write_dta, version=version) for version in (8, 12, 13, 15)}
FILES: dict[str, tuple[Case, Callable[[Sequence[Row]], bytes]]] = {
    **{
        f"{case}, pandas {version}": (one, by_pandas(version))
        for case, one in IN_WORDS.items()
        for version in (114, 117, 118)
    },
    **{
        f"{case}, {kind}": (one, lambda rows, made=made, labels=one.labels: made(rows, labels))
        for cases, programs in ((IN_NUMBERS, SPSS | STATA), (IN_TEXT, SPSS))
        for case, one in cases.items()
        for kind, made in programs.items()
    },
}  # fmt: skip
LIGHT = (", sav", "dta 15", "pandas 118")
EVERY = [file if file.endswith(LIGHT) else pytest.param(file, marks=pytest.mark.thorough) for file in FILES]
OF_CODES = [file for file, (case, _) in FILES.items() if case.labels is not None and file.endswith(LIGHT)]
STEPS: dict[str, tuple[Step, ...]] = {
    "Jan_2024": (),
    "value": (MonthsToRows(columns=MONTHS),),
    "sum of Jan_2024": (OneRowPer(by="who", of="Jan_2024", how="sum"),),
    "largest of value": (MonthsToRows(columns=MONTHS), OneRowPer(by="who", of="value", how="largest")),
}
TYPES: tuple[ColumnType, ...] = ("number", "category", "text")


def declared(name: str, kind: ColumnType, words: Sequence[str]) -> Column:
    if kind == "category":
        return Column(name=name, type=kind, categories=tuple(sorted(set(words))))
    return (
        Column(name=name, type=kind, low=0, high=1000)
        if kind in ("number", "integer")
        else Column(name=name, type=kind)
    )


def counted(after: Reading, name: str, kind: ColumnType, words: Sequence[str]) -> list[tuple[str, Any]]:
    """Of each row that counts, whose it is and what stands there, in an answer; the same as for looking."""
    columns = Column(name="who", type="text"), declared(name, kind, words)
    rows = after.private.opened(Declaration(columns=columns).reads("who", name))
    looked = after.apply(Schema(columns=columns)).frame[name]
    pd.testing.assert_series_equal(looked, rows.typed(name), check_names=False)
    cells = zip(rows.typed("who"), looked, strict=True)
    return sorted(((str(who), None if pd.isna(cell) else cell) for who, cell in cells), key=repr)


def tell(file: str, coded: tuple[str, ...]) -> None:
    """Raises AssertionError where the row of one person more changes what another's counts as."""
    case, made = FILES[file]
    one, other = (read_table(made(rows), coded=coded) for rows in (case.rows, (*case.rows, case.more)))
    words = [str(cell) for name in MONTHS for cell in other.frame[name]]
    for name, steps in STEPS.items():
        here, there = (each.after(steps) for each in (one, other))
        for kind in TYPES:
            before, after = (counted(each, name, kind, words) for each in (here, there))
            assert before == [each for each in after if each[0] != case.more[0]], (name, kind)


def said(cell: Any) -> str:
    return cell if isinstance(cell, str) else f"{cell:g}"


@pytest.mark.parametrize("file", EVERY)
def test_no_row_changes_what_another_counts_as(file: str) -> None:
    tell(file, ())


@pytest.mark.parametrize("file", OF_CODES)
def test_nor_does_one_where_codes_are_read(file: str) -> None:
    tell(file, MONTHS)


@pytest.mark.parametrize("file", OF_CODES)
def test_a_cell_is_its_label_or_where_that_is_stated_its_code(file: str) -> None:
    case, made = FILES[file]
    assert case.labels is not None
    rows = [*case.rows, case.more]
    for coded in ((), MONTHS[:1], MONTHS):
        reading = read_table(made(rows), coded=coded)
        for place, name in enumerate(MONTHS, 1):
            labels = {} if name in coded else case.labels.get(name, {})
            assert list(reading.frame[name]) == [labels.get(row[place], said(row[place])) for row in rows]
            words = {labels[row[place]] for row in rows if row[place] in labels}
            assert set(reading.column(name).codebook) == words


@pytest.mark.parametrize("kind", ["number", "integer"])
def test_a_column_of_numbers_takes_those_that_are_written(kind: ColumnType) -> None:
    """Without what is stated a word is a missing cell there, as in CSV; a label that is a number is that number."""
    case, made = FILES["the ends of a scale, sav"]
    data = made([*case.rows, case.more])
    for coded, numbers in (((), [None, 3, None]), (MONTHS, [1, 3, 7])):
        found = counted(read_table(data, coded=coded), "Jan_2024", kind, [])
        assert [cell for _, cell in found] == numbers
    case, made = FILES["digits of another code, dta 15"]
    assert counted(read_table(made(case.rows)), "Jan_2024", kind, []) == [("p", 2), ("q", None), ("r", 4)]


def test_a_scale_read_by_its_codes_looks_like_numbers() -> None:
    rows = [(str(place), float(place % 7 + 1), float(place % 7 + 1)) for place in range(70)]
    data = SPSS["sav"](rows, both({1: "not at all", 7: "completely"}))
    for coded, numeric in (((), False), (MONTHS, True)):
        assert read_table(data, coded=coded).column("Jan_2024").suggestion.is_numeric is numeric


@pytest.mark.parametrize("kind", ["sav", "zsav"])
def test_what_the_file_declares_missing_is_missing_among_codes_too(kind: str) -> None:
    rows = [("p", 1.0, 1.0), ("q", 9.0, 8.0), ("r", 7.0, float("nan"))]
    missing = {"Jan_2024": [{"lo": 8, "hi": 9}]}
    write = by_pyreadstat(pyreadstat.write_sav, compress=kind == "zsav", missing_ranges=missing)
    frame = read_table(write(rows, both({1: "one", 9: "none"})), coded=MONTHS).frame
    assert (list(frame["Jan_2024"]), list(frame["Feb_2024"])) == (["1", "", "7"], ["1", "8", ""])


def test_where_nothing_can_have_a_label_codes_are_what_is_read_anyway() -> None:
    frame = pd.DataFrame({"who": ["p", "q"], "Jan_2024": [1.0, 2.5]})
    for write in (pyreadstat.write_xport, pyreadstat.write_por):
        with private_folder() as folder:
            write(frame, str(folder / "a"))
            data = (folder / "a").read_bytes()
        names = list(read_table(data).frame.columns)
        assert read_table(data, coded=tuple(names)).frame.equals(read_table(data).frame)
    assert read_table(b"who,a\np,1\n", coded=("b",)).rows == 1, "text has no codes, as it has no merged cells"


def test_columns_that_are_not_there_are_named() -> None:
    case, made = FILES["one end, sav"]
    with pytest.raises(UnreadableFile, match=r"no column “Mar 2024”.*choose"):
        read_table(made(case.rows), coded=("Mar 2024",))
    with pytest.raises(InvalidArgument, match="coded"):
        read_table(made(case.rows), coded="Jan_2024")  # type: ignore[arg-type]


def test_it_goes_with_a_declaration_and_in_whatever_order_it_is_one_choice() -> None:
    case, made = FILES["one end, sav"]
    keys = {read_table(made(case.rows), coded=names).key for names in (MONTHS, MONTHS[::-1], (*MONTHS, *MONTHS), ())}
    assert len(keys) == 2
    schema = Schema(columns=(Column(name="Jan_2024", type="number", low=0, high=9),))
    declaration = Template(schema=schema, choices=(("coded", MONTHS[::-1]),))
    assert loaded(saved(declaration)).choices == (("coded", tuple(sorted(MONTHS))),)
    for wrong in ('"Jan_2024"', "[1]", "[[]]", "{}", "true"):
        text = saved(Template(schema=schema, choices=(("coded", ("X",)),)))
        with pytest.raises(InvalidArgument, match="no declaration that can be read"):
            loaded(text.replace('[\n      "X"\n    ]', wrong))


@pytest.mark.parametrize(
    "file",
    [
        "a word that is a label, sav",
        "two codes of one label, dta 15",
        "words in one month and codes in the other, zsav",
    ],
)
def test_these_tests_can_fail(file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Numbers for words, looked up among the labels of all columns, as it once was where months became rows."""

    def by_words(data: bytes, kind: LabelledKind, coded: Collection[str], say: Any) -> Tabulated:
        found = read(data, kind, coded, say)
        pairs = {
            (word, code)
            for known in labelled_table(data, kind, lambda _: None).codebooks.values()
            for code, word in known.items()
        }
        times = Counter(label for label, _ in pairs)
        codes = {label: code for label, code in pairs if times[label] == 1}
        return replace(found, frame=found.frame.map(lambda word: codes.get(word, word)).astype("str"))

    read = kinds._labelled
    monkeypatch.setattr(kinds, "_labelled", by_words)
    with pytest.raises(AssertionError):
        tell(file, ())


def test_a_choice_that_nobody_heeds_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    read = kinds._labelled
    monkeypatch.setattr(kinds, "_labelled", lambda data, kind, coded, say: read(data, kind, (), say))
    with pytest.raises(AssertionError):
        test_a_cell_is_its_label_or_where_that_is_stated_its_code("the ends of a scale, sav")
