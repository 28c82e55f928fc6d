"""That a row of records is of one alone is called right and stands on receipts; no order of rows, no number of them and
no cell decides what a table of counts is taken for."""

from __future__ import annotations

import datetime
from dataclasses import replace

import numpy as np
import pytest

from dashboard.data import private_answer, suits
from dashboard.data.needed import guessed
from dashboard.data.own_file import OwnFile
from dashboard.data.read_again import opened
from dpcore.audit.interference import spent
from dpcore.audit.questions import QUESTIONS
from dpcore.datasets import Column, Declaration, Reading, read_table
from dpcore.datasets.guessing import rows
from dpcore.datasets.schema import EachRow
from dpcore.releases.quantile import QuantileValue

DAY = datetime.date(2024, 6, 30)
CALLERS = Column(name="callers", type="integer", low=0, high=200)
HOURS = (range(9), range(9)[::-1])
HEADING = {"header_rows": 1, "header_line": 1}


def days(callers: int = 50, step: int = -1, count: int = 100) -> bytes:
    rows = (f"{DAY + datetime.timedelta(days=step * place)},{callers + place % 2}\n" for place in range(count))
    return f"day,callers\n{''.join(rows)}".encode()


def read(data: bytes) -> Reading:
    return read_table(data, header_rows=1, header_line=1)


def brought(data: bytes = b"", unit: str = "person", *, chosen: bool = True) -> OwnFile:
    """A table of which somebody chose that rows are records, and said all else."""
    own = opened("f.csv", data or days(), tuple(HEADING.items()), read(data or days()), None, None)
    if chosen:
        own = own.decide(own.decisions.rows_are(each_row="record", unit=unit))
    found = own.decisions.retyped("callers", "integer", None)
    found = replace(found, schema=found.schema.with_column(CALLERS), said_rows=True).stating(CALLERS)
    own = own.decide(found)
    return own.decide(replace(own.decisions, settled=own.decisions.settled | {*own.doubts, *own.form.doubts, "day"}))


def right(own: OwnFile) -> OwnFile:
    return own.decide(own.confirm(own.columns.to_call_right))


def test_that_each_row_is_of_one_alone_is_called_right_whoever_chose_what_a_row_is() -> None:
    own = brought()
    assert own.decisions.said_row
    told = guessed(own, own.columns.to_call_right, most=None)
    assert "one row is one person or record, of one person alone: without that person it is gone" in told
    assert "no other row changes, and no number in it counts or adds up several" in told
    assert private_answer.lacking(own)
    assert private_answer.lacking(right(own)) == ()


def test_of_other_people_and_another_table_it_is_called_right_anew() -> None:
    called = right(brought())
    other = called.decide(replace(called.decisions.rows_are(unit="visit"), said_rows=True))
    assert "of one visit alone" in guessed(other, (), most=None)
    assert private_answer.lacking(other)
    assert private_answer.lacking(right(other)) == ()
    assert private_answer.lacking(replace(called, reading=read(days(51)), read=None))


def test_a_table_of_counts_taken_for_records_would_break_the_promise() -> None:
    """Somebody who calls each day: what is stated with the click is not so of that table, and nothing else is wrong."""
    own = right(brought())
    assert own.columns.declared is not None
    asked = QuantileValue.of(Declaration.of(own.columns.declared.only("callers")), "callers", epsilon=0.5)
    readings = [read(data).private for data in (days(50), days(51))]
    assert spent(asked, *(asked.read(rows) for rows in readings)) > 20
    assert "of one person alone" in asked.promise
    assert "no number in it counts or adds up several" in asked.promise


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.name)
def test_every_receipt_about_records_says_so(question: object) -> None:
    """And none about steps or options, in which numbers may count many."""
    request = question.ask(question.declaration, question.file(question.tables[0], from_bytes=False))  # type: ignore[attr-defined]
    records = question.declaration.each_row == "record"  # type: ignore[attr-defined]
    assert ("no number in it counts or adds up several" in request.promise) == records, request.promise
    assert not records or f"of one {request.unit} alone" in request.promise


def _falling(count: int, gap: int = 1) -> bytes:
    return days(step=-gap, count=count)


def _districts(count: int, *, second: bool, columns: int = 1) -> bytes:
    names = ",".join(["cases", "deaths", "visits"][:columns])
    numbers = ",".join(["{0}"] * columns)
    return "\n".join(
        [f"district,{'region,' if second else ''}{names}"]
        + [f"D {place:03}x,{'North,' if second else ''}{numbers.format(place)}" for place in range(count)]
    ).encode()


def _gaps(count: int) -> bytes:
    places = np.cumsum(np.random.default_rng(5).integers(1, 9, count))
    rows = (f"{DAY + datetime.timedelta(days=int(place))},{place % 7}\n" for place in places)
    return f"day,callers\n{''.join(rows)}".encode()


@pytest.mark.parametrize(
    ("tables", "row"),
    [
        ([days(step=1), days(step=-1), _gaps(100), days(step=1, count=2)], "step"),
        ([data.replace(b"callers", b"litres") for data in (days(step=1), days(step=-1))], "step"),
        ([b"x,round\n" + b"".join(b"%d,%d\n" % (n % 7, n) for n in order) for order in ((1, 2, 3), (3, 1, 2))], "step"),
        ([f"when,x\n{''.join(f'2024-01-01 {h:02}:00,{h}{chr(10)}' for h in way)}".encode() for way in HOURS], "step"),
        ([_districts(n, second=second, columns=k) for n in (2, 60, 61) for second in (0, 1) for k in (1, 3)], "option"),
        ([b"film,rating\n" + b"".join(b"Film %dx,%d\n" % (n, n % 9) for n in range(m)) for m in (60, 61)], "option"),
        ([b"Name,rating\n" + b"".join(b"Ann %dx,%d\n" % (n, n % 9) for n in range(m)) for m in (60, 61)], "record"),
    ],
    ids=["days", "other numbers", "rounds", "hours", "districts", "films", "people"],
)
def test_a_guess_hangs_on_no_order_and_no_number_of_rows(tables: list[bytes], row: EachRow) -> None:
    """Days of a file that begins with the last, a 61st district and a second column of words made people of them."""
    assert [read(data).suggested().each_row for data in tables] == [row] * len(tables)


def counted_up(count: int) -> bytes:
    return b"day,amount\n" + b"".join(b"%d,%d\n" % (n, n % 97) for n in range(count))


def test_nor_on_how_many_they_are_in_a_large_file() -> None:
    """Of 100,000 rows more were looked at than of 100,001: the one row more made people of them."""
    assert {read(counted_up(count)).suggested().each_row for count in (3, 99_999, 100_000, 100_001)} == {"step"}


def test_a_guess_by_how_many_they_are_would_be_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "_FEWEST", 60)
    assert {read(counted_up(count)).suggested().each_row for count in (59, 60)} == {"record", "step"}


@pytest.mark.parametrize("heading", ["day,callers", "district,region,cases", "Store,date,number of visits"])
@pytest.mark.parametrize("cell", ["", "x", "about 10", "2024-01-01", "A", "7"])
@pytest.mark.parametrize("place", [0, 1])
def test_where_headings_say_that_rows_count_no_cell_says_otherwise(heading: str, cell: str, place: int) -> None:
    """Whoever sees what is offered would learn of that cell without any ε."""
    columns = heading.count(",") + 1
    rows = [[f"2024-01-{n + 1:02}" if "day" in heading else f"A{n}"] + [str(n)] * (columns - 1) for n in range(9)]
    other = [list(row) for row in rows]
    other[4][place] = cell
    more = [*rows, rows[3]]
    tables = ["\n".join([heading, *map(",".join, each)]).encode() for each in (rows, other, more, rows[:-1])]
    assert len({read(data).suggested().each_row for data in tables}) == 1


def test_a_column_that_one_row_brings_says_nothing_of_what_rows_are() -> None:
    plain = [f"Film {n}x,{n % 9}," for n in range(9)]
    tables = ["\n".join(["film,rating,", *plain[:4], end, *plain[5:]]).encode() for end in (plain[4], plain[4] + "!")]
    assert [read(data).suggested().each_row for data in tables] == ["option", "option"]


@pytest.mark.parametrize(
    "heading",
    [
        "age,sex,children",
        "customer_id,orders,visits",
        "date,amount",
        "patient,visits",
        "day,complaint,age",
        "name,votes",
    ],
)
def test_headings_of_people_say_of_no_row_that_it_counts(heading: str) -> None:
    rows = (",".join([str(n % 5 + 20), *["b", "7"][: heading.count(",")]]) for n in range(9))
    assert read("\n".join([heading, *rows]).encode()).suggested().each_row == "record"


def test_the_question_that_is_clicked_on_is_the_one_that_is_asked() -> None:
    """Of two columns of words the one is offered that an answer would call the options by."""
    rows = "".join(f"{('light', 'noise', 'rats')[n % 3]},Street {n},{n * 7 % 101}\n" for n in range(300))
    own = opened("f.csv", b"", (), read(f"complaint,street,calls\n{rows}".encode()), None, None)
    own = own.decide(own.decisions.rows_are(each_row="option"))
    assert own.columns.naming == ("street",)
    (best, *_) = suits.best_first(suits.questions(own.schema))
    assert suits.sentence(best) == "Which street has the largest calls?"
    listed = replace(own.schema.column("complaint"), categories=("light", "noise", "rats"))
    own = own.decide(replace(own.decisions, schema=own.schema.with_column(listed)))
    assert own.columns.naming == ("complaint",)
    assert suits.sentence(suits.best_first(suits.questions(own.schema))[0]) == "Which complaint has the largest calls?"
