"""A column that exists only because rows name it is in no release, whatever is said of it and whatever step makes it.

One row more could bring such a column. So two files that differ in that row must offer the same private answers, and
no word of the row may be in what is declared, saved or remembered.
"""

from __future__ import annotations

import inspect
from dataclasses import replace
from datetime import date
from itertools import product
from typing import Any, get_args

import pytest

from dashboard.data import own_file, remembered
from dashboard.data.own_file import OwnFile, typed_as
from dpcore.datasets import (
    Declaration,
    LeaveOutTotals,
    MonthsToRows,
    OneRowPer,
    ReadAsMissing,
    SplitOptions,
    Step,
    TicksToRows,
    fitted,
    loaded,
    read_csv,
    saved,
)
from dpcore.datasets.schema import Column, ColumnType, EachRow
from dpcore.datasets.steps import KINDS
from dpcore.errors import InvalidArgument

ROWS = [f"p{at},{'Gym; Tea' if at % 2 else 'Tea'},{at}" for at in range(30)]
WORD, MADE = "Methadone", "likes: Methadone"
SPLIT = SplitOptions(column="likes")
NEEDS: dict[str, dict[str, Any]] = {
    "number": {"low": 0.0, "high": 9.0, "sensitivity": 1.0},
    "integer": {"low": 0.0, "high": 9.0, "sensitivity": 1.0},
    "date": {"earliest": date(2020, 1, 1), "latest": date(2021, 1, 1)},
    "category": {"categories": ("no", "yes")},
}
AFTER: tuple[Step, ...] = (
    ReadAsMissing(column=MADE, word="no"),
    LeaveOutTotals(column=MADE),
    OneRowPer(by=MADE),
    OneRowPer(by=MADE, day=True),
    OneRowPer(by="who", of=MADE, how="sum"),
    SplitOptions(column=MADE, options=("yes",)),
    TicksToRows(column=MADE, most=1),
    MonthsToRows(columns=(MADE, "likes: Tea")),
)


def opened(rows: list[str], steps: tuple[Step, ...]) -> OwnFile:
    text = ("who,likes,age\n" + "\n".join(rows) + "\n").encode()
    reading = read_csv(text)
    own = own_file.opened("a.csv", text, (), reading, None, None)
    return own_file.worked(own, reading.after(steps), steps)


def stated(own: OwnFile, kind: ColumnType, each_row: EachRow) -> OwnFile:
    """Everything called right that can be, every column as this type with all that it needs."""
    schema = replace(own.schema, each_row=each_row, id_column=None, rows_per_person=2)
    for name in schema.names:
        schema = typed_as(schema, name, kind)
        schema = schema.with_column(replace(schema.column(name), **NEEDS.get(kind, {}), from_file=False))
    whose = MADE if MADE in schema.names and each_row == "record" else None
    settled = frozenset(schema.names) | frozenset(own.doubts)
    schema = replace(schema, id_column=whose)
    return own.decide(replace(own.decisions, schema=schema, settled=settled, said_rows=True, said_row=True))


def private(own: OwnFile) -> tuple[object, ...]:
    """All about columns that a private answer, its receipt or a saved declaration is given."""
    assert own.reading is not None
    declared = own.declared
    names = () if declared is None else declared.names
    return (
        names,
        own.reading.private.has([MADE]),
        WORD in saved(own_file.template(own)),
        any(WORD in column.name for column in remembered._chosen(own)),
    )


def leaks(one: OwnFile, other: OwnFile) -> bool:
    return private(one) != private(other) or any(private(one)[1:]) or WORD in repr(private(one)[0])


TYPES: tuple[ColumnType, ...] = get_args(ColumnType)


@pytest.mark.parametrize(("kind", "each_row"), list(product(TYPES, get_args(EachRow))))
def test_no_type_that_is_chosen_makes_it_a_column_to_ask_about(kind: ColumnType, each_row: EachRow) -> None:
    own, neighbour = (stated(opened(rows, (SPLIT,)), kind, each_row) for rows in ([*ROWS, f"x,{WORD},1"], ROWS))
    assert MADE in own.schema.names
    assert own.schema.column(MADE).from_file
    assert not leaks(own, neighbour)
    assert own.reading is not None
    assert own.reading.frame[MADE].eq("yes").sum() == 1, "charts have it"


@pytest.mark.parametrize("step", AFTER, ids=lambda step: type(step).__name__)
def test_no_step_washes_it(step: Step) -> None:
    """Without that row the step could not be done, and a declaration would hold its word."""
    with pytest.raises(InvalidArgument, match="only rows name") as caught:
        opened([*ROWS, f"x,{WORD},1"], (SPLIT, step))
    assert WORD not in str(caught.value)


def test_every_kind_of_step_is_tried() -> None:
    assert {type(step) for step in (SPLIT, *AFTER)} == set(KINDS.values())
    naming = {name for name, kind in KINDS.items() if "from_file=" in inspect.getsource(kind)}
    assert naming == {"SplitOptions"}, "another step that names columns by rows needs its own cases here"


def test_a_declaration_that_is_brought_does_not_either() -> None:
    """One that names the column as declared, with the step that takes options from the rows."""
    kept = own_file.template(opened([*ROWS, f"x,{WORD},1"], (SPLIT,)))
    columns = (*kept.schema.columns, Column(name=MADE, type="yes/no"))
    brought = loaded(saved(replace(kept, schema=replace(kept.schema, columns=columns))))
    assert MADE in brought.schema.names
    found = []
    for rows in ([*ROWS, f"x,{WORD},1"], ROWS):
        own = opened(rows, brought.steps)
        assert own.reading is not None
        fit = fitted(brought, own.reading)
        own = own.decide(replace(own.decisions, schema=fit.schema, settled=frozenset(fit.schema.names)))
        assert all(own.schema.column(name).from_file for name in own.from_rows)
        found.append(own)
    assert not leaks(*found)


def test_stated_options_are_asked_as_before() -> None:
    own = opened(ROWS, (replace(SPLIT, options=("Gym", WORD)),))
    assert own.declared is not None
    assert own.declared.names == ("likes: Gym", MADE)
    assert private(own)[1]


def test_what_is_blank_but_for_such_columns_counts_alike() -> None:
    """Whether rows without anything in them count must not hang on the columns that another row brings."""

    def counted(rows: list[str]) -> int:
        own = stated(opened(rows, (SPLIT,)), "integer", "record")
        assert own.reading is not None
        assert own.declared is not None
        reads = Declaration.of(own.declared).reads("age")
        return own.reading.private.opened(reads).rows

    assert counted([",;,"] * 5 + ["a,Tea,1"]) == counted([",;,"] * 5 + ["a,;,1"]) == 1


def test_these_tests_can_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    """As it was: a type that is chosen by hand took the mark away."""
    monkeypatch.setattr(OwnFile, "from_rows", frozenset())
    own, neighbour = (opened(rows, (SPLIT,)) for rows in ([*ROWS, f"x,{WORD},1"], ROWS))
    assert leaks(stated(own, "yes/no", "record"), stated(neighbour, "yes/no", "record"))
