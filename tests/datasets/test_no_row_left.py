"""A table without a row is one as any other: whether a file or a step is refused hangs on no single row."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pyreadstat
import pytest

from dpcore.datasets import (
    Column,
    Declaration,
    LeaveOutTotals,
    MonthsToRows,
    OneRowPer,
    ReadAsMissing,
    Reading,
    SplitOptions,
    Step,
    TicksToRows,
    read_table,
)
from dpcore.datasets.reading import engine, reader
from dpcore.datasets.reading.brought import Brought
from dpcore.datasets.steps import KINDS
from dpcore.errors import InvalidArgument, UnreadableFile
from dpcore.releases.count import NoisyCount
from dpcore.releases.selection import MostCommonOption
from tests.datasets.test_rewritten_columns import in_bytes

pytestmark = pytest.mark.usefixtures("one_connection")
STEPS: tuple[Step, ...] = (
    LeaveOutTotals(column="c"),
    ReadAsMissing(column="c", word="Gym"),
    SplitOptions(column="c"),
    SplitOptions(column="c", options=("Gym", "Tea"), most=2),
    TicksToRows(column="c", most=2),
    MonthsToRows(columns=("2023", "2024")),
    OneRowPer(by="c"),
    OneRowPer(by="c", day=True),
    OneRowPer(by="who", of="2023", how="sum"),
    OneRowPer(by="who", of="c", how="largest"),
)
DECLARED = Declaration(
    columns=(
        Column(name="c", type="category", categories=("Gym", "Tea")),
        Column(name="c: Gym", type="yes/no"),
        Column(name="value", type="number", low=0, high=9),
        Column(name="rows", type="number", low=0, high=9),
    )
)
ASKED = (
    NoisyCount.of(DECLARED, epsilon=1.0),
    MostCommonOption.of(DECLARED, "c", epsilon=1.0),
    MostCommonOption.of(DECLARED, "c: Gym", epsilon=1.0),
)
PEOPLE = [{"who": f"p{at}", "c": "", "2023": "1", "2024": ""} for at in range(20)]
ONE = {"who": "px", "c": "Gym;Tea", "2023": "2", "2024": "3"}
TABLES: dict[str, list[dict[str, str]]] = {
    "nobody": [],
    "one": [ONE],
    "none who has any": PEOPLE,
    "one who has some": [*PEOPLE, ONE],
    "one who is nobody": [*PEOPLE, {**ONE, "who": ""}],
    "a total": [{**PEOPLE[0], "c": "Total"}],
}


def in_lines(rows: list[dict[str, str]]) -> Reading:
    frame = pd.DataFrame(rows, columns=list(ONE))
    return read_table(frame.to_csv(index=False).encode(), delimiter=",", header_rows=1, keep_footer=True)


def answers(reading: Reading) -> list[list[int]]:
    held = reading.private
    return [list(map(int, pd.Series(one.read(held)).tolist())) for one in ASKED if held.has(one.reads.names)]


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.sentence)
def test_no_step_is_refused_for_what_rows_hold(step: Step) -> None:
    done = [in_lines(rows).after((step,)) for rows in TABLES.values()]
    public = [set(reading.frame.columns) - reading.from_rows for reading in done]
    assert all(names == public[0] for names in public)
    assert len({tuple(map(len, answers(reading))) for reading in done}) == 1
    for reading in done:
        assert reading.report.rows == len(reading.frame) == len(reading.places)
        assert reading.suggested().names == tuple(reading.frame.columns)
        assert reading.suggested_steps is not None
        assert sum(map(sum, answers(reading))) >= 0


def test_every_kind_of_step_is_tried() -> None:
    assert {type(step).__name__ for step in STEPS} == set(KINDS)


def test_steps_that_refuse_no_row_are_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    done = reader.done

    def refusing(*asked: Any) -> Reading:
        after = done(*asked)
        if after.frame.empty:
            raise InvalidArgument("steps", "leave no row of the table")
        return after

    monkeypatch.setattr(reader, "done", refusing)
    with pytest.raises(InvalidArgument):
        test_no_step_is_refused_for_what_rows_hold(STEPS[4])


NAMED: tuple[dict[str, Any], ...] = (
    dict.fromkeys(("c: Gym", "c: Run", "month", "value", "rows", "sum of 2023", "largest of c", "else"), 1),
    {"c": "Run", "2023": 4},
)


def in_objects(rows: list[dict[str, Any]]) -> Reading:
    return read_table(json.dumps(rows).encode())


@pytest.mark.parametrize("last", NAMED, ids=len)
@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.sentence)
@pytest.mark.parametrize("usual", [{"who": "p"}, {"who": "p", "c": "Gym", "2023": 1, "2024": 2}], ids=len)
def test_no_key_of_one_row_undoes_a_step(usual: dict[str, Any], step: Step, last: dict[str, Any]) -> None:
    rows = [{**usual, "who": f"p{at}"} for at in range(8)]
    here, there = (in_objects([*rows, *more]).after((step,)) for more in ([], [{"who": "px", **last}]))
    for one, other in zip(answers(here), answers(there), strict=True):
        assert len(one) == len(other)
        assert sum(abs(before - after) for before, after in zip(one, other, strict=True)) <= 2
    assert set(here.frame.columns) - set(there.frame.columns) <= here.from_rows


def test_a_key_that_undoes_a_step_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Brought, "ready", lambda self, frame, step: (frame, self))
    for step, last in ((STEPS[3], {"c: Gym": 1}), (STEPS[5], {"value": 1})):
        with pytest.raises(InvalidArgument):
            test_no_key_of_one_row_undoes_a_step({"who": "p", "c": "Gym", "2023": 1, "2024": 2}, step, last)


def test_a_cell_without_a_name_takes_no_name_that_a_step_makes() -> None:
    step = MonthsToRows(columns=("2023", "2024"), value="column 4")
    for more in ("", ",5"):
        reading = read_table(f"who,2023,2024,\np1,1,2{more}\n".encode(), delimiter=",", header_rows=1)
        assert list(reading.after((step,)).frame.columns) == ["who", "month", "column 4"]


def test_a_step_that_used_a_column_up_leaves_none_to_the_next() -> None:
    for rows in ([{"c": "Gym"}], [{"c": "Gym", "else": 1}]):
        for first in (SplitOptions(column="c", options=("Gym",)), OneRowPer(by="who"), OneRowPer(by="else")):
            with pytest.raises(InvalidArgument, match="one of the table's columns"):
                in_objects(rows).after((first, TicksToRows(column="c", most=1)))


def by_readstat(way: str) -> Callable[[pd.DataFrame, Path], bytes]:
    def write(frame: pd.DataFrame, folder: Path) -> bytes:
        getattr(pyreadstat, f"write_{way}")(frame, folder / "a")
        return (folder / "a").read_bytes()

    return write


def by_pandas(way: str, **how: Any) -> Callable[[pd.DataFrame, Path], bytes]:
    return lambda frame, _: in_bytes(frame, way, **how)


def in_lists(frame: pd.DataFrame, _: Path) -> bytes:
    return json.dumps([list(frame.columns), *frame.to_numpy().tolist()]).encode()


HEADED = {"header_rows": 1, "header_line": 1}
FILES: dict[str, tuple[Callable[[pd.DataFrame, Path], bytes], dict[str, Any]]] = {
    "CSV": (by_pandas("to_csv", index=False), HEADED),
    "a sheet": (by_pandas("to_excel", index=False), HEADED),
    "JSON in lists": (in_lists, HEADED),
    "JSON split": (by_pandas("to_json", orient="split", index=False), {"objects": "list"}),
    "Parquet": (by_pandas("to_parquet"), {}),
    "Feather": (by_pandas("to_feather"), {}),
    **{way: (by_readstat(way), {}) for way in ("dta", "sav", "xport", "por")},
}
WHOLE = pd.DataFrame({"C": ["Gym", "Tea"], "N": [1.5, 2.0]})


@pytest.mark.parametrize("kind", FILES)
def test_a_file_of_names_alone_is_a_table_without_rows(kind: str, tmp_path: Path) -> None:
    write, stated = FILES[kind]
    for rows in (0, 1, 2):
        reading = read_table(write(WHOLE.iloc[:rows], tmp_path), **stated)
        assert (list(reading.frame.columns), reading.rows, reading.records) == (["C", "N"], rows, rows)
        assert (reading.report.doubtful, reading.report.first_line) == ((), reading.report.first_line)
        assert reading.suggested().names == ("C", "N")
        assert reading.suggested_steps == ()
        assert len(reading.fingerprint) == 64
        assert ASKED[0].read(reading.private) == rows


def test_lines_without_anything_are_none(tmp_path: Path) -> None:
    for text in ("C,N\n", "C,N\n,\n", "C,N\n\n,\n", "C\n", "C\n\n"):
        reading = read_table(text.encode(), delimiter=",", header_rows=1)
        assert ASKED[0].read(reading.private) == 0


def test_a_reader_that_refuses_it_is_found_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def rows_in(relation: Any) -> int:
        found = int(relation.aggregate("count(*)").fetchall()[0][0])
        if not found:
            raise UnreadableFile("The file has column names but no rows.")
        return found

    monkeypatch.setattr(engine, "_rows_in", rows_in)
    with pytest.raises(UnreadableFile):
        test_a_file_of_names_alone_is_a_table_without_rows("Parquet", tmp_path)
