"""No step makes a table larger than there is room for: how large it will be is told before it is made.

The kinds of step are found, not listed: one without an example here fails.
"""

from __future__ import annotations

import inspect
from dataclasses import replace
from itertools import groupby
from typing import get_args

import pandas as pd
import pytest

from dpcore import datasets
from dpcore.datasets import (
    LeaveOutTotals,
    MonthsToRows,
    OneRowPer,
    ReadAsMissing,
    Reading,
    Size,
    SplitOptions,
    Step,
    Template,
    TicksToRows,
    read_table,
    recognised,
    steps,
)
from dpcore.datasets.steps import KINDS
from dpcore.errors import DpcoreError, NoRoom

LONG = "Ä" * 300
CELLS = ["a;b;c", "b", "", "c; a", "a;a;b", ";", f"{LONG};a", "a,b;c;b;a"]
READ = read_table(
    (
        '"who","day","x","1999","2000","2001"\n'
        + "".join(
            f'"p{i % 7}","2024-0{1 + i % 9}-01T0{i % 5}:00","{CELLS[i % 8]}",{i},{i * 999},{i}.25\n' for i in range(90)
        )
        + '"","","Subtotal",1,2,3\n'
    ).encode()
)
MONTHS = MonthsToRows(columns=("1999", "2000", "2001"))
EXAMPLES: dict[type, tuple[Step, ...]] = {
    LeaveOutTotals: (LeaveOutTotals(column="x"),),
    ReadAsMissing: (ReadAsMissing(column="x", word="b"),),
    SplitOptions: (
        SplitOptions(column="x"),
        SplitOptions(column="x", most=1),
        SplitOptions(column="x", options=("a", LONG)),
        SplitOptions(column="who", options=tuple(f"p{i}" for i in range(200))),
    ),
    TicksToRows: tuple(TicksToRows(column="x", most=most) for most in (1, 2, 200)),
    MonthsToRows: (
        MONTHS,
        replace(MONTHS, columns=("2000", "x", "1999")),
        replace(MONTHS, time="who", columns=("who", "x")),
    ),
    OneRowPer: (OneRowPer(by="who"), OneRowPer(by="day", day=True), OneRowPer(by="x", of="2001", how="mean")),
}
BEFORE = Size.of(READ.frame)
ALL = [step for examples in EXAMPLES.values() for step in examples]


def made(step: Step, frame: pd.DataFrame = READ.frame) -> Size:
    return Size.of(step.apply(frame, READ.lines[: len(frame)]).frame)


def multiplies(step: Step) -> bool:
    real = made(step)
    return real.rows > BEFORE.rows or real.bytes > 1.5 * BEFORE.bytes


def named(step: Step) -> str:
    return type(step).__name__


def test_every_kind_of_step_is_tried_and_can_be_saved_and_imported() -> None:
    with_rows = {each for _, each in inspect.getmembers(steps, inspect.isclass) if hasattr(each, "apply")}
    assert with_rows == set(get_args(Step)) == set(KINDS.values()) == set(EXAMPLES)
    assert all(getattr(datasets, name) is kind and name in datasets.__all__ for name, kind in KINDS.items())


@pytest.mark.parametrize("step", ALL, ids=named)
def test_what_a_step_makes_is_told_before(step: Step) -> None:
    """Rows exactly where they can become more; memory at least, and never far above."""
    said, real = step.size(READ.frame), made(step)
    if real.rows > BEFORE.rows:
        assert said.rows == real.rows
    assert real.rows <= said.rows <= max(real.rows, BEFORE.rows)
    assert real.bytes <= said.bytes <= 2 * max(real.bytes, BEFORE.bytes)


def refusing(most: Size) -> tuple[list[Size], datasets.Fits]:
    """A room for ``most``, and what it was asked about."""
    seen: list[Size] = []

    def fits(size: Size) -> None:
        seen.append(size)
        if size.rows > most.rows or size.bytes > most.bytes:
            raise NoRoom("There is no room.")

    return seen, fits


class Made(DpcoreError):
    """The rows were about to be made."""


def never(self: Step, frame: pd.DataFrame, lines: object, look: object) -> None:
    raise Made


@pytest.mark.parametrize("step", [step for step in ALL if multiplies(step)], ids=named)
def test_a_step_that_makes_too_much_is_refused_before(step: Step, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its mutant says of itself that it makes no more than there was; then what it made is refused all the same."""
    _, fits = refusing(BEFORE)
    with monkeypatch.context() as patch:
        patch.setattr(type(step), "apply", never)
        with pytest.raises(NoRoom):
            READ.after((step,), fits)
        patch.setattr(type(step), "size", lambda self, frame, look: Size.of(frame))
        with pytest.raises(Made):
            READ.after((step,), fits)
    monkeypatch.setattr(type(step), "size", lambda self, frame, look: Size.of(frame))
    with pytest.raises(NoRoom):
        READ.after((step,), fits)


def test_each_of_several_steps_is_looked_at() -> None:
    """Ticks first, then months: a table of three times as many rows; undoing what made it smaller is looked at too."""
    ticks = TicksToRows(column="x", most=3)
    seen, fits = refusing(Size(rows=10**9, bytes=10**12, largest=0))
    after = READ.after((ticks, MONTHS), fits)
    each = groupby(size.rows for size in seen)
    steps = [(rows, len(list(looks))) for rows, looks in each]
    first, then = made(ticks).rows, after.rows
    assert [rows for rows, _ in steps] == [first, then, first, then], "before it is made, and while it is"
    assert steps[-1][1] > len(after.columns), "and again while what was made is looked at"
    _, fits = refusing(Size(rows=after.rows - 1, bytes=10**12, largest=0))
    with pytest.raises(NoRoom):
        READ.after((ticks, MONTHS), fits)
    assert READ.after((OneRowPer(by="who"),), fits).rows == 7


def test_a_declaration_for_which_there_is_no_room_is_not_done_to_a_table() -> None:
    ticks = (TicksToRows(column="x", most=3),)
    known = Template(schema=replace(READ.after(ticks).suggested(), rows_per_person=3), steps=ticks)
    assert recognised(READ, [known]) == (known,)
    _, fits = refusing(BEFORE)
    with pytest.raises(NoRoom):
        recognised(READ, [known], fits)
    other = Template(schema=READ.suggested())
    assert recognised(READ, [known, other], fits) == (other,)


def test_cells_of_many_parts_are_counted_without_being_kept() -> None:
    """One cell of 40,000 options in a table of few rows; the other cells are not repeated with it."""
    parts = ";".join(f"o{i}" for i in range(20_000))
    wide: Reading = read_table(f"k,x\n{LONG},{parts}\nb,c\nd,e\n".encode())
    step = TicksToRows(column="x", most=20_000)
    assert step.size(wide.frame).rows == 20_002
    long = step.apply(wide.frame, wide.lines)
    assert long.frame["x"].tolist() == [*parts.split(";"), "c", "e"]
    assert list(long.frame.columns) == ["k", "x"]
    assert Size.of(long.frame).bytes <= step.size(wide.frame).bytes < 1.2 * Size.of(long.frame).bytes
