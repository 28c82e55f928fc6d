"""A table of few long cells, or of many small pieces, is no more work and no more memory than any other of its size.

A server does what follows a reading itself, and others wait for it: in between it must be asked whether to go on.
"""

from __future__ import annotations

import encodings
import io
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dpcore.datasets import (
    Column,
    LeaveOutTotals,
    MonthsToRows,
    OneRowPer,
    Reading,
    Schema,
    SplitOptions,
    Step,
    TicksToRows,
    load_sample,
    loaded,
    read_table,
    steps,
)
from dpcore.datasets.apart import crossing
from dpcore.datasets.catalog import census
from dpcore.datasets.conversion import MOST_LETTERS, apply
from dpcore.datasets.different import among, encoded
from dpcore.datasets.reading.kinds import table_of
from dpcore.errors import InvalidArgument, UnavailableSample
from tests.peak import peak

CELLS = 24
LETTERS = 100_000


def long(part: str) -> Reading:
    """Cells of a hundred thousand letters, each another."""
    cells = [f"{number}{part * (LETTERS // len(part))}" for number in range(CELLS)]
    return read_table(_parquet({"name": [f"p{number % 3}" for number in range(CELLS)], "cells": cells}))


def _parquet(columns: dict[str, list[str]], **form: Any) -> bytes:
    file = io.BytesIO()
    pq.write_table(pa.table(columns), file, **form)
    return file.getvalue()


ASKED: tuple[tuple[str, Step], ...] = (
    ("total ", LeaveOutTotals(column="cells")),
    ("a;", SplitOptions(column="cells", options=("a", "b"))),
    ("a;", TicksToRows(column="cells", most=2)),
)


@pytest.mark.parametrize(("part", "step"), ASKED, ids=lambda one: type(one).__name__)
def test_a_step_over_long_cells_asks_again_and_again(part: str, step: Step, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two hundred megabytes in few cells took 26 s without a look, and others waited for the thread."""
    reading, looks = long(part), list[int]()
    monkeypatch.setattr(steps, "_PORTION", 2 * LETTERS)
    size = step.size(reading.frame, lambda: looks.append(1))
    sized = len(looks)
    worked = step.apply(reading.frame, reading.lines, lambda: looks.append(1))
    assert len(looks) - sized >= CELLS // 3
    assert sized >= CELLS // 3 or isinstance(step, LeaveOutTotals | SplitOptions), "what is sized cell by cell"
    assert size.rows >= len(worked.frame)


@pytest.mark.parametrize("part", ["total ", "a;"])
def test_what_a_table_seems_to_want_is_found_with_looks_in_between(part: str, monkeypatch: pytest.MonkeyPatch) -> None:
    reading, looks = long(part), list[int]()
    monkeypatch.setattr(steps, "_PORTION", 2 * LETTERS)
    found = reading.suggest(lambda: looks.append(1))
    assert len(looks) >= CELLS // 3
    looks.clear()
    assert reading.suggested_steps is found
    assert reading.suggest(lambda: looks.append(1)) is found
    assert not looks, "it is worked out once"

    def no_more() -> None:
        raise KeyboardInterrupt

    other = long(part)
    with pytest.raises(KeyboardInterrupt):
        other.suggest(no_more)
    assert other.suggested_steps == found, "and anew where it was stopped"


def test_rows_of_one_day_are_put_together_without_a_word_of_python_for_each() -> None:
    """A sign beyond the usual makes Python keep four bytes a letter: 206 MB of text became 2.5 GB."""
    words = [f"2024-01-0{number} \N{SLIGHTLY SMILING FACE}{'x' * 500}" for number in range(1, 7)]
    frame = pd.DataFrame({"a": pd.Series(words * 10_000, dtype="str")})
    text, lines = int(frame.memory_usage(index=False).sum()), np.arange(len(frame))
    found: list[steps.Worked] = []
    step = OneRowPer(by="a", day=True)
    assert peak(lambda: found.append(step.apply(frame, lines))) < 0.5 * text
    assert found[0].frame["a"].tolist() == [f"2024-01-0{number}" for number in range(1, 7)]
    assert found[0].frame["rows"].tolist() == ["10000"] * 6
    assert found[0].lines.tolist() == list(range(6))


@pytest.mark.parametrize("asked", [encoded, lambda text: among(text, [f"{at}" for at in range(100)])])
def test_long_words_are_looked_up_without_holding_them(asked: Callable[[pd.Series], Any]) -> None:
    """Up to a thousand were all held as words of Python, and else 65,536 rows of them at once."""
    text = pd.Series([f"{at % 300}\N{SLIGHTLY SMILING FACE}{'x' * 20_000}" for at in range(900)], dtype="str")
    found: list[Any] = []
    assert peak(lambda: found.append(asked(text))) < 20 << 20 < 3.5 * int(text.memory_usage(index=False))
    if asked is encoded:
        codes, different = found[0]
        assert len(different) == 300
        assert codes.tolist() == [at % 300 for at in range(900)]
    else:
        assert set(found[0].tolist()) == {-1}


def test_months_to_rows_leave_each_column_in_one_piece() -> None:
    """Blocks stayed blocks: three steps made one for each of a million rows, and each look took a minute."""
    names = [f"m{number}" for number in range(12)]
    frame = pd.DataFrame({name: pd.Series(["1", "2"], dtype="str") for name in ["id", *names]})
    for part in (names[:4], names[4:8], names[8:]):
        step = MonthsToRows(columns=tuple(part), time=f"t{part[0]}", value=f"v{part[0]}")
        frame = step.apply(frame, np.arange(len(frame))).frame
    assert len(frame) == 2 * 4**3
    assert {pa.chunked_array(pa.array(frame[name])).num_chunks for name in frame} == {1}


@pytest.mark.parametrize("most", [1, 10, 1_000])
def test_a_file_in_many_pieces_is_handed_on_in_one(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A Parquet file may hold each row in a group of its own, and all that is done to a column is done to each."""
    monkeypatch.setattr(crossing, "_MOST_PIECES", most)
    words = [f"{'é' * (number % 3)}{number}" * (number % 7 != 0) for number in range(40)]
    data = _parquet({"a": words}, row_group_size=1)
    from dpcore.datasets.reading.choices import Choices

    table = table_of(data, Choices(), lambda part, what: None)
    pieces = pa.chunked_array([pa.array(words[at : at + 3], pa.large_string()) for at in range(0, 40, 3)])
    for cells in (pa.array(table.frame["a"]), pieces, pa.chunked_array([pa.array(["x", *words])[1:]])):
        frame = table.frame.assign(a=pd.array(cells, dtype="str"))
        file = io.BytesIO()
        crossing.write(replace(table, frame=frame), file)
        told = crossing.taken(file)
        read = crossing.read(file.getvalue(), told)
        assert pa.chunked_array(pa.array(read.frame["a"])).num_chunks == 1
        assert read.frame["a"].tolist() == words


def test_the_name_of_an_encoding_that_is_none_is_remembered_by_nobody() -> None:
    """Python notes whatever name of an encoding it is asked for, for ever: 0.9 MB with each declaration."""
    declaration = '{"epsilon-lab declaration": 1, "columns": [{"name": "a", "type": "yes/no"}], "choices": %s}'
    known = set(encodings._cache)  # type: ignore[attr-defined]
    other = "no such name " * 10
    for attempt in (
        lambda: loaded(declaration % f'{{"encoding": "{other}"}}'),
        lambda: read_table(b"a,b\n1,2\n", encoding=other),
    ):
        with pytest.raises(InvalidArgument):
            attempt()
    assert not {name for name in set(encodings._cache) - known if "such" in name}  # type: ignore[attr-defined]


def test_long_words_of_a_file_are_no_options() -> None:
    """Sixteen hundred words of 130,000 letters became options of a column: one page held 2.6 GB."""
    each = MOST_LETTERS // 10
    for number, options in ((9, 9), (12, 0)):
        frame = pd.DataFrame({"a": pd.Series([f"{at}{'x' * each}" for at in range(number)], dtype="str")})
        found = apply(Schema(columns=(Column(name="a", type="category"),)), frame).schema.columns[0]
        assert len(found.categories) == options


def test_a_table_of_long_cells_in_place_of_the_census_is_refused_before_it_is_compared(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(_: Any) -> str:
        raise AssertionError

    monkeypatch.setattr(census, "edition", never)
    monkeypatch.setattr(census, "_MOST_BYTES", 500_000)
    names = census._ADULT.schema.names
    file = tmp_path / "adult.csv"
    file.write_bytes(_parquet({name: ["x" * 2000] * 50 for name in names}))
    with pytest.raises(UnavailableSample):
        load_sample("adult", path=file)
