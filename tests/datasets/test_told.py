"""What a file says beside its cells is bounded, and counted as what its cells take."""

from __future__ import annotations

import gc
import io
import tracemalloc
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyreadstat
import pytest

from dpcore.datasets import Reading, UnreadableFile, read_table
from dpcore.datasets.apart import crossing
from dpcore.datasets.apart.beside import Beside
from dpcore.datasets.held import held_by
from dpcore.datasets.reading import bounds, kinds, reader
from dpcore.datasets.reading.choices import Choices
from dpcore.datasets.reading.tabulate import Tabulated
from dpcore.datasets.report import Alternative, Notice, Report
from tests.datasets.crossed import read_back

LONG = 100_000
NOTICE = Notice(what="noticed", sentence="A sentence.")
ALTERNATIVE = Alternative(argument="part", value="a", example="b")


def plain() -> Tabulated:
    return kinds.table_of(b"a,b\nx,1\ny,2\n", Choices(), lambda *_: None)


def word(number: int = 0) -> str:
    """A long one, which is made anew: what is held twice takes memory twice."""
    return f"{number}" + "x" * LONG


def report(**changes: Any) -> Callable[[Tabulated], Tabulated]:
    return lambda table: replace(table, report=replace(table.report, **changes))


SAID: dict[str, Callable[[Tabulated], Tabulated]] = {
    "codebooks": lambda table: replace(table, codebooks={"a": ("x", "y", word())}),
    "many labels": lambda table: replace(table, codebooks={"a": tuple(f"{number}" for number in range(LONG // 50))}),
    "about": lambda table: replace(table, about={"a": word()}),
    "report.part": report(part=word()),
    "report.header_lines": report(header_lines=tuple(range(1000, 1000 + LONG // 8))),
    "notice.texts": report(notices=(replace(NOTICE, texts=(word(),)),)),
    "notice.columns": report(notices=(replace(NOTICE, columns=(word(),)),)),
    "many notices": report(notices=tuple(replace(NOTICE, count=number) for number in range(LONG // 50))),
    "alternative.value": report(alternatives=(replace(ALTERNATIVE, value=word()),)),
    "alternative.example": report(alternatives=(replace(ALTERNATIVE, example=word()),)),
}


def read(table: Tabulated) -> Reading:
    return read_table(b"", tables=lambda *_: table)


def crossed(table: Tabulated) -> Tabulated:
    file = io.BytesIO()
    crossing.write(table, file)
    return read_back(file.getvalue())


@pytest.mark.parametrize("said", SAID)
def test_it_counts_and_has_a_bound_whatever_it_is(said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before, table = plain(), SAID[said](plain())
    assert read(table).size - read(before).size > 0.9 * LONG
    assert read(crossed(table)).size - read(crossed(before)).size > 0.9 * LONG

    monkeypatch.setattr(kinds, "_by_kind", lambda *_: table)
    assert kinds.table_of(b"", Choices(), lambda *_: None) is table
    monkeypatch.setattr(bounds, "MOST_TOLD", LONG // 12)
    with pytest.raises(UnreadableFile, match="says more about its columns"):
        kinds.table_of(b"", Choices(), lambda *_: None)
    with pytest.raises(UnreadableFile, match="says more about its columns"):
        crossing.write(table, io.BytesIO())
    monkeypatch.setattr(bounds, "check_told", lambda _: None)  # as a reader that was led astray
    with pytest.raises(crossing.Garbled):
        crossed(table)


def test_without_the_measure_it_counts_nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """The check above can fail."""
    monkeypatch.setattr(reader, "held_by", lambda *_: 0)
    assert all(read(SAID[said](plain())).size == read(plain()).size for said in SAID)


def test_whatever_comes_back_arrives_as_it_left() -> None:
    table = replace(
        plain(),
        codebooks={"a": ("x", "\udc80é\n\0")},
        about={"b": '"'},
        records=7,
        places=np.array([0, 5]),
        report=replace(plain().report, notices=(replace(NOTICE, lines=(1, 2)),), alternatives=(ALTERNATIVE,)),
    )
    back = crossed(table)
    pd.testing.assert_frame_equal(back.frame, table.frame)
    for name in ("report", "codebooks", "about", "records"):
        assert getattr(back, name) == getattr(table, name)
    beside_cells = {field.name for field in fields(Beside)} - {"names"}
    assert {field.name for field in fields(Tabulated)} == beside_cells | {"frame", "lines", "places", "kept"}


def test_an_answer_counts_as_long_as_it_is_and_is_no_longer_than_its_table() -> None:
    """A reader that a file has taken over can write more than cells, which would stay in memory with them."""
    file = io.BytesIO()
    crossing.write(plain(), file)
    written = file.getvalue()
    length = int.from_bytes(written[-8:], "little")
    with pytest.raises(crossing.Garbled):
        read_back(written[: -8 - length] + bytes(LONG) + written[-8 - length :])
    assert crossed(plain()).kept == len(written) - 8 - length
    assert read(replace(plain(), kept=LONG)).size > LONG > read(plain()).size


@pytest.mark.parametrize("long", ["name", "sentence"])
def test_what_no_file_says_at_such_length_comes_back_from_none(long: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Names are shortened, and sentences are the program's own."""
    table = plain()
    if long == "name":
        table = replace(table, frame=table.frame.set_axis([word(), "b"], axis=1))
        with pytest.raises(UnreadableFile, match="shorten them"):
            crossed(table)
        monkeypatch.setattr(bounds, "LONGEST_NAME", LONG + 1)
        assert read(crossed(table)).size - read(plain()).size > LONG
        return
    table = replace(table, report=replace(table.report, notices=(replace(NOTICE, sentence=f"{word()}."),)))
    with pytest.raises(crossing.Garbled):
        crossed(table)


def test_what_is_held_twice_counts_once_and_a_word_that_comes_often_is_held_once() -> None:
    shared = word()
    assert held_by((shared, shared)) < 2 * LONG < held_by((word(), word(1)))
    table = replace(plain(), codebooks={"a": (word(), "x"), "b": (word(), "y")})
    assert held_by(table.codebooks) > 2 * LONG > held_by(crossed(table).codebooks)


def test_labels_without_end_are_refused_before_they_stand_in_any_cell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Fifteen columns with 500 labels of 20,000 characters each took 1.2 MB packed and held 290 MB."""
    frame, file = pd.DataFrame({"a": [1, 2, 1]}), tmp_path / "labels.dta"
    pyreadstat.write_dta(frame, file, variable_value_labels={"a": {code: word(code)[:20_000] for code in range(1, 9)}})
    data = file.read_bytes()
    assert read_table(data).size > 8 * 20_000
    monkeypatch.setattr(bounds, "MOST_TOLD", 100_000)
    monkeypatch.setattr("dpcore.datasets.reading.labelled_files._read", None)
    with pytest.raises(UnreadableFile, match="keep fewer labels"):
        read_table(data)


def test_a_report_holds_nothing_that_is_not_counted() -> None:
    """Whatever is added to a report: another kind of thing in it fails here until ``held_by`` looks into it."""
    known = (str, int, bool, tuple, type(None), Notice, Alternative)
    table = plain()
    full = replace(table.report, notices=(NOTICE,), alternatives=(ALTERNATIVE,))
    for thing in (full, NOTICE, ALTERNATIVE):
        assert all(isinstance(getattr(thing, field.name), known) for field in fields(thing))
    assert isinstance(full, Report)


@pytest.mark.thorough
@pytest.mark.parametrize("letters", [20, 450])
def test_columns_count_beside_their_cells(letters: int) -> None:
    """Many of them and three rows took thirty times the bytes of their file."""
    names = [f"{number:03}{'n' * letters}" for number in range(120)]
    data = "\n".join([",".join(names), *[",".join("1" * 120)] * 3]).encode()
    read_table(data)
    gc.collect()
    tracemalloc.start()
    found = read_table(data)
    suggested = found.suggested()
    gc.collect()
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(suggested.columns) == 120
    assert kept <= found.size <= 5 * kept
