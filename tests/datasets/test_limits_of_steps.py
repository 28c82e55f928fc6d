"""No word and no key of one row decides whether a step is done: what is stated counts alone against its limits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import pandas as pd
import pytest

from dpcore.datasets import (
    LeaveOutTotals,
    MonthsToRows,
    OneRowPer,
    ReadAsMissing,
    Reading,
    SplitOptions,
    Step,
    TicksToRows,
    read_table,
    steps,
)
from dpcore.datasets.reading import brought
from dpcore.datasets.reading.brought import Brought
from dpcore.datasets.reading.reader import done
from dpcore.datasets.steps import Worked
from dpcore.errors import InvalidArgument
from tests.datasets.test_no_row_left import NAMED, STEPS, in_objects

pytestmark = pytest.mark.usefixtures("one_connection")
MADE = "c: Gym"
SHOWN: tuple[Step, ...] = (
    SplitOptions(column="c"),
    ReadAsMissing(column=MADE, word="no"),
    LeaveOutTotals(column="value"),
    OneRowPer(by=MADE),
    SplitOptions(column="c: Gym", options=("Run",)),
    MonthsToRows(columns=("2023", "2024"), value=MADE),
    MonthsToRows(columns=(MADE, "2024")),
    TicksToRows(column="value", most=1),
)
USUAL: tuple[dict[str, Any], ...] = ({"who": "p"}, {"who": "p", "c": "Tea", "2023": 1, "2024": 2})
LAST: tuple[dict[str, Any], ...] = (
    {"who": "px", "c": "Gym;Tea;Gym: Run"},
    {"who": "px", "c": ";".join(f"o{place}" for place in range(300))},
    {**NAMED[0], **NAMED[1], MADE: 1, "c: Gym: Run": 1},
)
MANY = tuple(f"option {place}" for place in range(120))


def in_lines(rows: list[dict[str, Any]]) -> Reading:
    """Without a line for columns that nobody named: their cells stand beyond the names, as in a line of a text."""
    names = ["who", "c", "2023", "2024"]
    lines = [",".join(names) + "," * 9]
    for row in rows:
        beyond = [str(cell) for name, cell in row.items() if name not in names]
        lines.append(",".join([*(str(row.get(name, "")) for name in names), *beyond[:9]]))
    return read_table("\n".join(lines).encode(), delimiter=",", header_rows=1, header_line=1, keep_footer=True)


KINDS: dict[str, Callable[[list[dict[str, Any]]], Reading]] = {"objects": in_objects, "lines": in_lines}


def outcome(reading: Reading, each: tuple[Step, ...]) -> Any:
    """What is public of a table after steps."""
    try:
        after = done(reading, each)
    except InvalidArgument:
        return "refused"
    return after.private.has([MADE]), reading.named_by_rows or set(after.frame.columns) - after.from_rows


@cache
def neighbours(kind: str, usual: int) -> tuple[Reading, ...]:
    """A table, and with one row more of each kind."""
    rows = [{**USUAL[usual], "who": f"p{place}"} for place in range(4)]
    return tuple(KINDS[kind]([*rows, *more]) for more in ([], *([last] for last in LAST)))


@pytest.mark.thorough
@pytest.mark.parametrize("usual", range(len(USUAL)))
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("first", [*STEPS, *SHOWN], ids=lambda step: step.sentence[:60])
def test_no_row_decides_whether_a_step_after_another_is_done(kind: str, first: Step, usual: int) -> None:
    for then in (*STEPS, *SHOWN):
        here, *there = (outcome(reading, (first, then)) for reading in neighbours(kind, usual))
        assert all(one == here for one in there), (then, here, there)


def wide(rows: int, keys: int, last: dict[str, Any] | None = None) -> list[dict[str, Any]]:
    named = {f"k{place}": 1 for place in range(keys)}
    return [*({"who": f"p{place}", "c": "Gym", **named} for place in range(rows)), *([last] if last else [])]


def test_only_what_is_stated_counts_against_the_columns_of_a_table() -> None:
    split = SplitOptions(column="c", options=MANY)
    more = {"who": "px", **{f"mine {place}": 1 for place in range(90)}}
    for last in (None, more):
        after = done(in_objects(wide(3, 400, last)), (split,))
        assert {f"c: {option}" for option in MANY} <= set(after.frame.columns)
        assert not after.from_rows
    for keys in (2, 400):
        several = (
            ReadAsMissing(column="who", word="x"),
            *(SplitOptions(column=f"k{place}", options=MANY) for place in range(5)),
        )
        with pytest.raises(InvalidArgument, match="more than 500 columns"):
            done(in_objects(wide(3, keys)), several)


def test_of_columns_that_rows_name_those_beyond_are_left_out_and_said() -> None:
    words = ";".join(f"o{place:03}" for place in range(250))
    names = [f"c{place}" for place in range(4)]
    text = "\n".join([",".join(["age", *names]), *(f"{place}," + ",".join([words] * 4) for place in range(3))])
    after = read_table(text.encode(), delimiter=",", header_rows=1).after(tuple(SplitOptions(column=c) for c in names))
    assert list(after.frame.columns[:3]) == ["age", "c0: o000", "c0: o001"]
    assert len(after.frame.columns) == 500
    assert set(after.frame.columns) - after.from_rows == {"age"}
    assert sum(notice.count for notice in after.report.notices if "more than can be shown" in notice.sentence) == 301
    assert all("The first 200 that rows name" in SplitOptions(column=name).sentence for name in names)


def test_which_options_are_shown_hangs_on_no_order_of_rows() -> None:
    cells = [f"o{place}" for place in range(1000)]
    shown = set()
    for rows in (cells, cells[::-1], [";".join(cells)]):
        frame = read_table("\n".join(["age,c", *(f"1,{cell}" for cell in rows)]).encode(), delimiter=",")
        shown.add(tuple(frame.after((SplitOptions(column="c"),)).frame.columns))
    assert shown == {("age", *sorted(f"c: {cell}" for cell in cells)[:200])}


def test_too_many_options_that_somebody_states_are_refused_whatever_rows_hold() -> None:
    step = SplitOptions(column="c", options=tuple(f"o{place}" for place in range(201)))
    for rows in ([], [{"c": "o1"}]):
        assert outcome(in_lines(rows), (step,)) == "refused"


AFTER, READY = Brought.after, Brought.ready


def counting_all(self: Brought, step: Step, before: pd.DataFrame, worked: Worked) -> tuple[pd.DataFrame, Brought]:
    if worked.frame.shape[1] > brought.MOST_COLUMNS:
        raise InvalidArgument("steps", "must not make more")
    return AFTER(self, step, before, worked)


def holding(name: str, value: frozenset[str] | tuple[()]) -> Callable[..., tuple[pd.DataFrame, Brought]]:
    """As before, with what a step brought forgotten."""

    def forgetful(self: Brought, step: Step, before: pd.DataFrame, worked: Worked) -> tuple[pd.DataFrame, Brought]:
        frame, found = AFTER(self, step, before, worked)
        kept = getattr(found, name) - worked.from_file if name == "names" else value
        return frame, replace(found, **{name: kept})

    return forgetful


def of_what_is_there(self: Brought, frame: pd.DataFrame, step: Step) -> tuple[pd.DataFrame, Brought]:
    return READY(self, frame, step)[0], self


MUTANTS: dict[str, tuple[str, Any, tuple[str, Step]]] = {
    "names": ("after", holding("names", frozenset()), ("lines", STEPS[2])),
    "split": ("after", holding("split", ()), ("objects", STEPS[2])),
    "lacking": ("ready", of_what_is_there, ("objects", LeaveOutTotals(column="value"))),
}


@pytest.mark.parametrize("mutant", MUTANTS)
def test_these_tests_can_fail(mutant: str, monkeypatch: pytest.MonkeyPatch) -> None:
    name, forgetful, (kind, first) = MUTANTS[mutant]
    monkeypatch.setattr(Brought, name, forgetful)
    with pytest.raises(AssertionError):
        test_no_row_decides_whether_a_step_after_another_is_done(kind, first, 1)


def test_a_count_of_all_columns_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Brought, "after", counting_all)
    with pytest.raises(InvalidArgument, match="must not make more"):
        test_only_what_is_stated_counts_against_the_columns_of_a_table()


def test_a_step_that_refuses_what_rows_name_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def refusing(self: SplitOptions, frame: pd.DataFrame, look: Any) -> tuple[str, ...]:
        found = options(self, frame, look)
        if len(found) == steps._MOST_SPLIT:
            raise InvalidArgument("options", "are more")
        return found

    options = SplitOptions._options
    monkeypatch.setattr(SplitOptions, "_options", refusing)
    with pytest.raises(AssertionError):
        test_no_row_decides_whether_a_step_after_another_is_done("objects", STEPS[2], 1)
