"""Whether rows may be who is protected is told by headings and declarations, and by no cell."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from dashboard.data import private_answer
from dashboard.data.own_file import OwnFile
from dashboard.data.people import row_is
from dashboard.data.read_again import opened, worked
from dpcore.datasets import Column, SplitOptions, Step, read_table
from dpcore.datasets.schema import EachRow, protects_rows

STREETS = tuple(f"Street {number}" for number in range(12))


def walked(data: bytes, *steps: Step, each_row: EachRow = "option") -> OwnFile:
    """A table of streets and scores of which these two columns were declared, and all was called right."""
    how: dict[str, Any] = {"header_rows": 1, "header_line": 1} if data[:1] != b"[" else {}
    reading = read_table(data, **how)
    own = opened("a", data, (), reading, None, None)
    if steps:
        own = worked(own, reading.after(steps), steps)
    found = own.decisions.rows_are(each_row=each_row)
    for column in (
        Column(name="street", type="category", categories=STREETS),
        Column(name="score", type="integer", low=0, high=100),
    ):
        found = found.retyped(column.name, column.type, None)
        found = replace(found, schema=found.schema.with_column(column)).stating(column)
    own = own.decide(found)
    own = own.decide(replace(own.decisions, settled=own.decisions.settled | {*own.doubts, *own.form.doubts}))
    return own.decide(own.confirm(own.columns.to_call_right))


def _with_a_cell(cell: str) -> bytes:
    rows = [f"{a},{n},{cell if n == 7 else 'about 5' if n in (2, 5) else n}" for n, a in enumerate(STREETS)]
    return "\n".join(["street,score,callers", *rows]).encode()


def _with_a_key(key: str) -> bytes:
    rows = [{"street": a, "score": str(n)} | ({key: "x"} if n == 7 else {}) for n, a in enumerate(STREETS)]
    return json.dumps(rows).encode()


def _with_an_option(word: str) -> bytes:
    rows = [f"{a},{n},{word if n == 7 else 'noise; light' if n % 2 else 'light'}" for n, a in enumerate(STREETS)]
    return "\n".join(["street,score,about", *rows]).encode()


@pytest.mark.parametrize(
    ("pair", "steps"),
    [
        ((_with_a_cell("10"), _with_a_cell("about 10")), ()),
        ((_with_a_key("ward"), _with_a_key("patient")), ()),
        (
            (_with_an_option("noise; light"), _with_an_option("noise; patient")),
            (SplitOptions(column="about", separator=";"),),
        ),
    ],
    ids=["a cell decides a type", "a record names a column", "a cell names a column"],
)
def test_no_cell_of_what_nobody_declared_says_whether_rows_are_protected(
    pair: tuple[bytes, bytes], steps: tuple[Step, ...]
) -> None:
    """One did, so that who saw what is offered, refused and charged learned of it without any ε."""
    found = [walked(data, *steps) for data in pair]
    assert [private_answer.lacking(one) for one in found] == [(), ()]
    told = [
        (one.columns.declared.protects_rows, one.columns.leading.protects_rows, row_is(one))
        for one in found
        if one.columns.declared
    ]
    assert told[0] == told[1]
    assert told[0][0] == told[0][1] == ("itself a person" not in told[0][2])
    by_cells = [protects_rows("option", "person", one.schema.columns) for one in found]
    assert len(set(by_cells)) == 2 or pair[0] == _with_a_cell("10"), "by all columns it was told"


def test_a_heading_counts_where_its_column_leads_nowhere_yet() -> None:
    """As long as nobody said how its cells are read it is on no page: its heading says of rows what it says."""
    own = walked("\n".join(["street,score,patient", *(f"{a},{n},03/04/2024" for n, a in enumerate(STREETS))]).encode())
    own = own.decide(replace(own.decisions, settled=own.decisions.settled - {"patient"}))
    assert "patient" in own.doubts
    assert "patient" not in own.columns.leading.names
    assert own.rows.protected
    assert own.columns.leading.protects_rows
