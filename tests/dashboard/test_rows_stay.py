"""Of steps and options: that no row is itself who comes and goes is called right, whoever said what a row is; and where
a row may be who is protected, nothing counts that was said of how far one moves an entry."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from dashboard.data import private_answer
from dashboard.data.needed import guessed
from dashboard.data.own_file import OwnFile
from dashboard.data.people import row_is, rows_label
from dashboard.data.read_again import opened
from dashboard.questions.selection.most_common_request import most_common_request
from dashboard.questions.thresholding.alarm_request import alarm_request
from dashboard.questions.thresholding.watched import Watched
from dpcore.audit.interference import spent
from dpcore.datasets import Column, Declaration, Schema, read_table
from dpcore.datasets import declaration as declarations
from dpcore.datasets.schema import EachRow
from dpcore.releases.least_cost import LeastCost
from dpcore.releases.selection import BestScore

CLERKS = tuple(f"Clerk {number}" for number in range(12))
SALES = Column(name="sales", type="integer", low=0, high=1000)


def table(first: int = 11) -> bytes:
    return "\n".join(["clerk,sales", *(f"{clerk},{place or first}" for place, clerk in enumerate(CLERKS))]).encode()


def brought(data: bytes = b"", unit: str = "person", each_row: EachRow = "option") -> OwnFile:
    reading = read_table(data or table(), header_rows=1, header_line=1)
    own = opened("f.csv", data, (("header_rows", 1), ("header_line", 1)), reading, None, None)
    own = own.decide(own.decisions.rows_are(each_row=each_row, unit=unit))
    found = own.decisions.retyped("sales", "integer", None)
    found = replace(found, schema=found.schema.with_column(SALES), said_rows=True).stating(SALES)
    return own.decide(found)


def right(own: OwnFile) -> OwnFile:
    return own.decide(own.confirm(own.columns.to_call_right))


@pytest.mark.parametrize("each_row", ["option", "step"])
def test_that_no_row_is_one_is_called_right_also_where_the_row_was_chosen(each_row: EachRow) -> None:
    own = brought(each_row=each_row)
    assert own.decisions.said_row
    assert "none of them is itself a person" in guessed(own, own.columns.to_call_right, most=None)
    assert private_answer.lacking(own)
    called = right(own)
    assert private_answer.lacking(called) == ()
    assert "rows stay" in called.form.said_in_answers
    assert own.form.said_in_answers == tuple(
        one for one in called.form.said_in_answers if one in own.form.said_in_answers
    )


def test_of_other_people_and_other_rows_it_is_called_right_anew() -> None:
    called = right(brought(unit="clerk"))
    assert "rows stay" not in called.form.said_in_answers, "a row may be a clerk"
    other = called.decide(replace(called.decisions.rows_are(unit="person"), said_rows=True))
    assert "itself a person" in row_is(other)
    assert private_answer.lacking(other)
    assert private_answer.lacking(right(other)) == ()
    back = right(other).decide(replace(right(other).decisions.rows_are(unit="patient"), said_rows=True))
    assert private_answer.lacking(back)
    step = right(other).decide(replace(right(other).decisions.rows_are(each_row="step"), said_rows=True))
    assert private_answer.lacking(step)


def test_what_was_said_of_one_table_is_asked_of_the_next() -> None:
    called = right(brought())
    other = replace(called, reading=read_table(table(12), header_rows=1, header_line=1), read=None)
    assert private_answer.lacking(called) == ()
    assert private_answer.lacking(other)


@pytest.mark.parametrize("hidden", ["add_remove", "replace_one"])
def test_the_receipt_says_so_where_people_come_and_go(hidden: str) -> None:
    form = ("rows stay",)
    schema = Schema(columns=(SALES,), each_row="step")
    reads = Declaration.of(schema, form=form, hidden=hidden).reads("sales")  # type: ignore[arg-type]
    assert reads.form == (form if hidden == "add_remove" else ())


@pytest.mark.parametrize("unit", ["day", "clerk", "ward"])
@pytest.mark.parametrize("counts", [True, False])
def test_a_row_that_is_protected_may_hold_any_number(unit: str, counts: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """It was charged as if it moved by what one of those who are counted in it does: 55 and 466 times the claim."""
    column = replace(SALES, sensitivity=1.0, counts=counts)

    def largest() -> float:
        found = []
        for each_row in ("step", "option"):
            name = Column(name="clerk", type="category", categories=CLERKS)
            columns = (name, column) if each_row == "option" else (column,)
            declared = Declaration.of(Schema(columns=columns, each_row=each_row, unit=unit), hidden="replace_one")
            readings = [read_table(table(first), header_rows=1, header_line=1).private for first in (1, 1000)]
            how: dict[str, Any] = {"rows": lambda: readings[0], "epsilon": 0.5, "neighbours": "replace_one"}  # noqa: B023
            made = (
                most_common_request(declared, "sales", rule="permute_and_flip", **how)
                if each_row == "option"
                else alarm_request(
                    declared,
                    Watched("column", "sales"),
                    line=500.0,
                    method="laplace",
                    limit=1,
                    beta=0.05,
                    **how,
                )
            )
            assert not isinstance(made, str), made
            found.append(spent(made, *(made.read(rows) for rows in readings)))
        return max(found)

    assert largest() <= 1 + 1e-9
    monkeypatch.setattr(declarations, "unmoved", lambda columns: tuple(columns))
    assert largest() > 10


@pytest.mark.parametrize("unit", ["person", "day"])
def test_the_page_counts_the_whole_range_there_too(unit: str) -> None:
    """And asks nothing of it: what is stated is dropped, and comes back for nobody."""
    own = brought(unit=unit, each_row="step")
    column = replace(SALES, sensitivity=1.0)
    own = own.decide(own.decisions.moved(column, own.entries))
    assert own.columns.leading.column("sales").sensitivity == (1.0 if unit == "person" else None)
    assert own.rows.protected == (unit == "day")


@pytest.mark.parametrize("each_row", ["record", "step"])
def test_of_steps_it_is_asked_how_many_one_can_change(each_row: EachRow) -> None:
    """None is a person's or made by one, as the click says, so that "rows one person can have" was answered by 1:
    charged 1 for 4 of who is counted on each of 40 days."""
    own = brought(each_row=each_row)
    own = own.decide(replace(own.decisions, said_rows=False))
    steps = each_row == "step"
    assert ("can change" in rows_label(own)) == steps
    assert private_answer.say_rows(own) in private_answer.lacking(own)
    assert ("in how many steps one person can change" in private_answer.say_rows(own)) == steps
    declared = Declaration.of(Schema(columns=(SALES,), each_row=each_row, rows_per_person=3), hidden="replace_one")
    told = LeastCost.of(replace(declared, columns=(SALES, replace(SALES, name="costs"))), ("sales", "costs"), epsilon=1)
    one = "can change the numbers of at most 3 steps" if steps else "has at most 3 rows"
    assert told.rows_promise.startswith(f"That one person {one} was stated and not checked.")


def test_an_option_that_stands_twice_can_be_named() -> None:
    """It was called “1. A”, which no cell says: a paid answer never named the best one."""
    declared = Declaration.of(
        Schema(columns=(Column(name="street", type="text"), replace(SALES, sensitivity=1.0)), each_row="option")
    )
    rows = read_table(b"street,sales\nA,90\n A ,5\nB  C,10\n-,80\n", header_rows=1).private
    request = most_common_request(
        declared, "sales", rows=lambda: rows, epsilon=5.0, neighbours="add_remove", rule="permute_and_flip"
    )
    assert isinstance(request, BestScore)
    assert request.candidates == ("A", "B  C")
    assert request.read(rows).tolist() == [90, 10]
    numbered = tuple(name for name in rows.public_names(declared, "street") if name)
    other = BestScore.of(declared, option="street", score="sales", epsilon=5.0, candidates=numbered)
    assert other.read(rows).tolist() != [90, 10], "labels are no cells"
    long = read_table(f"street,sales\n{'x' * 250},90\nB,10\n".encode(), header_rows=1).private
    refused = most_common_request(
        declared, "sales", rows=lambda: long, epsilon=5.0, neighbours="add_remove", rule="permute_and_flip"
    )
    assert "at most 200 letters" in str(refused)


@pytest.mark.parametrize("heading", ["Patients", "customer group", "Staff"])
def test_rows_that_a_person_calls_by_people_are_people(heading: str) -> None:
    """That the column names them is stated, so that no cell decides it; before that its heading alone does not."""
    data = table().replace(b"clerk,", f"{heading},".encode(), 1)
    own = brought(data)
    assert own.columns.naming == (heading,)
    assert not own.rows.protected
    called = right(own)
    assert called.columns.declared is not None
    assert (called.rows.protected, called.columns.declared.protects_rows, called.columns.leading.protects_rows) == (
        True,
        True,
        True,
    )
    assert called.rows.somebody == heading
    assert not right(brought(table().replace(b"clerk,", b"street,", 1))).rows.protected


@pytest.mark.parametrize("each_row", ["record", "step"])
@pytest.mark.parametrize("unit", ["household", "visit", "*patient*"])
def test_the_list_asks_of_whom_is_protected(each_row: EachRow, unit: str) -> None:
    """Of a household it was asked how many rows one person can have: fewer than all of its members."""
    own = brought(each_row=each_row, unit=unit)
    own = own.decide(replace(own.decisions, said_rows=False))
    assert f"one {unit} can" in " ".join(private_answer.lacking(own))
    assert "one person" not in " ".join(private_answer.lacking(own))
