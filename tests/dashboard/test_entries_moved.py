"""How far one person moves an entry is said of entries as they are read, whatever another cell of the row does."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyreadstat
import pytest

from dashboard.questions.selection.candidates import candidates
from dashboard.questions.selection.most_common_request import most_common_request
from dashboard.questions.thresholding.alarm_request import alarm_request
from dashboard.questions.thresholding.watched import Watched
from dashboard.words import columns as columns_said
from dashboard.words import data as said
from dpcore.audit.interference import spent
from dpcore.datasets import (
    Column,
    Declaration,
    LeaveOutTotals,
    PrivateRows,
    Reading,
    Schema,
    conversion,
    read_table,
)
from dpcore.datasets.headings import MOVERS
from dpcore.datasets.schema import ColumnType, Decimal, protects_rows
from dpcore.errors import InvalidArgument
from dpcore.releases import cells
from dpcore.releases.alarm import AlarmRun
from dpcore.releases.cells import entry_sensitivity
from dpcore.releases.selection import BestScore

STREETS = "ABCDEFGH"
STREET = Column(name="street", type="category", categories=tuple(STREETS))
COMPLAINT = Column(name="complaint", type="text")
CALLERS = Column(name="callers", type="integer", low=0, high=100, sensitivity=1.0, counts=True)
SCORE = replace(CALLERS, counts=False)
HERE = ("heating", "light", "noise", "heating", "light", "noise", "noise")
NUMBERS = (40, 12, 30, 20, 25, 31, 22, 50)


def lines(last: str, order: tuple[str, ...]) -> str:
    """Of the last street somebody says what most complain of; her row holds the largest number."""
    table = {"street": STREETS, "complaint": (*HERE, last), "callers": tuple(map(str, NUMBERS))}
    return "\n".join([",".join(order), *(",".join(row) for row in zip(*(table[name] for name in order), strict=True))])


def asked(reading: Reading, column: Column, hidden: str = "add_remove", each: str = "option") -> list[Any]:
    """The requests about the entries of ``column`` that the pages make."""
    columns = (STREET, column) if each == "option" else (column,)
    declared = Declaration.of(Schema(columns=columns, each_row=each), hidden=hidden)  # type: ignore[arg-type]
    how: dict[str, Any] = {"rows": lambda: reading.private, "epsilon": 0.5, "neighbours": hidden}
    alarm = alarm_request(
        declared, Watched("column", column.name), line=45.0, method="laplace", limit=1, beta=0.05, **how
    )
    best = most_common_request(declared, column.name, rule="permute_and_flip", **how) if each == "option" else alarm
    found = [one for one in (alarm, best) if not isinstance(one, str)]
    assert found, (alarm, best)
    return found


def worst(left_out: str, column: Column) -> float:
    """The largest share of the claim that is used where one cell leaves a row out."""
    order = ("complaint", "street", "callers") if left_out == "foot" else ("street", "complaint", "callers")
    found: list[float] = []
    word = {"foot": "Total", "step": "Total outage", "uneven": "noise, again"}[left_out]
    readings = []
    for last in ("heating", word):
        kinds: dict[str, dict[str, Any]] = {"foot": {"keep_footer": False}, "uneven": {"uneven": "set aside"}}
        how = kinds.get(left_out, {})
        reading = read_table(lines(last, order).encode(), header_rows=1, **how)
        steps = (LeaveOutTotals(column="complaint"),) if left_out == "step" else ()
        readings.append(reading.after(steps))
    for each in ("option", "step"):
        for here, there in zip(*(asked(one, column, each=each) for one in readings), strict=True):
            assert here == there, "what is asked hangs on no cell"
            found.append(spent(here, here.read(readings[0].private), here.read(readings[1].private)))
    return max(found)


@pytest.mark.parametrize("column", [CALLERS, SCORE])
@pytest.mark.parametrize("left_out", ["step", "foot", "uneven"])
def test_a_row_that_another_cell_leaves_out_takes_its_whole_entry_along(
    left_out: str, column: Column, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Charged 0.5, one person moved the law by e^20."""
    assert worst(left_out, column) <= 1 + 1e-9
    monkeypatch.setattr(PrivateRows, "said_of_entries", lambda self, declaration, named: declaration)
    assert worst(left_out, column) > 10


def test_a_row_that_holds_its_name_alone_tells_of_its_entry() -> None:
    """Where notes are left out, an option that nobody called was none, and the names in the request told of it."""
    found = []
    for one in ("", "1"):
        data = f"option,note,callers\nKnee pain,a,4\nBack pain,,{one}\nCough,b,2\nTotal,,6\n"
        rows = read_table(data.encode(), header_rows=1, keep_footer=False).private
        declared = Declaration.of(Schema(columns=(Column(name="option", type="text"), SCORE), each_row="option"))
        with pytest.raises(InvalidArgument, match="private in name"):
            rows.public_names(declared, "option")
        found.append(rows.said_of_entries(declared, "option").column("callers").sensitivity)
    assert found == [None, None]


def test_a_row_without_a_name_is_no_option_whatever_its_entry_is() -> None:
    """With a stand-in for missing names an empty row was none, and with a 1 in it the first of that option: charged 0.5
    for 26."""
    streets = Column(name="street", type="category", categories=("A", "B", "unknown"), fill="unknown")
    declared = Declaration.of(Schema(columns=(streets, CALLERS), each_row="option"))
    request = BestScore.of(declared, option="street", score="callers", epsilon=0.5)
    scores = []
    for entry in ("", "1"):
        table = f"street,callers\n,{entry}\nA,40\nB,30\nunknown,90\n"
        scores.append(request.read(read_table(table.encode(), header_rows=1).private))
    assert spent(request, *scores) <= 1.0
    assert scores[0].tolist() == [40, 30, 90]


@pytest.mark.parametrize("listed", [False, True])
def test_what_says_that_rows_are_protected_says_it_where_it_is_not_asked_about(listed: bool) -> None:
    """With one more column declared, one employee less was one row less in an answer that hides them."""
    team = Column(name="team", type="category", categories=("a", "b"))
    schema = Schema(columns=(Column(name="Employee", type="text"), team, CALLERS), each_row="option", unit="employee")
    schema = schema.only("team", "callers") if listed else schema
    assert schema.protects_rows
    assert schema.only("callers").protects_rows
    with pytest.raises(InvalidArgument, match="are changed and never missing"):
        Declaration.of(schema).check_stay("add_remove")
    assert not replace(schema, each_row="record").only("callers").protects_rows
    assert not Schema(columns=(team, CALLERS), each_row="option", unit="employee").only("callers").protects_rows


ONE = (
    *("employee", "Employee-No", "EmployeeName", "patient", "STUDENT", "username", "EMPLOYEEID", "patient_id"),
    *("driver no.", "caseWorkerNumber", "userid", "PATIENTid", "Patient's no", "phone", "staff no", "First name"),
    *("last_name", "FullName", "Nachname", "E-mail", "e_mail address", "SSN", "Phone number", "Subject ID"),
    *("Salesperson", "Patient's name"),
)
MANY = ("callers", "people", "patients", "customer satisfaction", "emails", "Children", "Womens", "staff on duty")
NOBODY = ("street", "team", "comment", "employment", "name", "id", "subject")


@pytest.mark.parametrize(
    ("heading", "kind", "told"),
    [
        *((name, kind, True) for name in ONE for kind in ("text", "integer", "category")),
        *((name, kind, kind == "category") for name in MANY for kind in ("text", "integer", "category")),
        *((name, kind, False) for name in NOBODY for kind in ("text", "integer", "category")),
    ],
)
@pytest.mark.parametrize("unit", ["person", "employee"])
def test_a_heading_of_somebody_says_that_rows_are_protected(
    heading: str, kind: ColumnType, told: bool, unit: str
) -> None:
    """Only a text of the unit's very word did: staff numbers and patients came and went, and their number told it."""
    known: dict[str, dict[str, Any]] = {"integer": {"low": 0, "high": 9}, "category": {"categories": ("a", "b")}}
    declared = Column(name=heading, type=kind, **known.get(kind, {}))
    schema = Schema(columns=(declared, replace(CALLERS, name="n")), each_row="option", unit=unit)
    assert schema.protects_rows == told


def test_where_the_names_leave_rows_out_what_was_said_of_entries_holds() -> None:
    """A subtotal is called so by nobody: which options there are hangs on no person."""
    rows = read_table(b"complaint,callers\nheating,40\nlight,12\nTotal,52\n", header_rows=1, keep_footer=False).private
    declared = Declaration.of(Schema(columns=(COMPLAINT, CALLERS), each_row="option"))
    assert rows.said_of_entries(declared, "complaint") == declared
    assert rows.said_of_entries(declared, None) != declared


def of_codebook(place: Path, suffix: str, entry: int, says: dict[str, Any]) -> Reading:
    """The table of a program for statistics whose file says of some numbers what they mean."""
    file = place / f"{entry}{suffix}"
    table = pd.DataFrame({"street": list(STREETS), "callers": [*map(float, NUMBERS[:-1]), float(entry)]})
    (pyreadstat.write_dta if suffix == ".dta" else pyreadstat.write_sav)(table, file, **says)
    return read_table(file.read_bytes())


@pytest.mark.parametrize("column", [CALLERS, SCORE])
@pytest.mark.parametrize(
    ("suffix", "says"),
    [
        *((".sav", {"variable_value_labels": {"callers": {99: label}}}) for label in ("N/A", "0", "-", "many")),
        (".dta", {"variable_value_labels": {"callers": {99: "N/A"}}}),
        (".sav", {"missing_ranges": {"callers": [99]}}),
    ],
)
def test_what_a_file_takes_for_something_else_moves_by_any_number(
    suffix: str, says: dict[str, Any], column: Column, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """98 and one more is 99, which the file's own list calls something else: charged 0.5 for 29."""
    here, there = (of_codebook(tmp_path, suffix, entry, says) for entry in (98, 99))

    def largest() -> float:
        asked_of = [asked(here, column, each=each) for each in ("option", "step")]
        return max(spent(one, one.read(here.private), one.read(there.private)) for some in asked_of for one in some)

    assert largest() <= 1 + 1e-9
    monkeypatch.setattr(PrivateRows, "said_of_entries", lambda self, declaration, named: declaration)
    assert largest() > 10


def with_last(kind: str, entry: str) -> bytes:
    """The table with this entry last, as text or with numbers that a workbook or a document holds as such."""
    frame = pd.DataFrame({"street": list(STREETS), "callers": [*map(float, NUMBERS[:-1]), float(entry)]})
    if kind == "json":
        return frame.to_json(orient="records").encode()
    if kind == "text":
        return (
            frame.astype({"callers": "str"})
            .replace({"callers": {str(float(entry)): entry}})
            .to_csv(index=False)
            .encode()
        )
    made = io.BytesIO()
    frame.to_excel(made, index=False) if kind == "xlsx" else frame.to_parquet(made)
    return made.getvalue()


@pytest.mark.parametrize(
    ("kind", "decimal", "entries"),
    [
        *(("text", ".", ("98", entry)) for entry in ("98.5", "98.999999999", "9.85e1", "98.0000000000000001")),
        *((kind, mark, ("98", "98.5")) for kind in ("xlsx", "json", "parquet") for mark in (".", ",")),
        *((kind, ",", ("98", "98.125")) for kind in ("xlsx", "json", "parquet")),
    ],
)
@pytest.mark.parametrize("form", ["integer", "number"])
def test_a_number_a_little_larger_is_read_so(kind: str, decimal: Decimal, entries: tuple[str, str], form: Any) -> None:
    """98.5 was none among whole numbers, and Excel's 98.125 was 98,125 where a comma was stated: 675 for 0.5."""
    here, there = (read_table(with_last(kind, entry)) for entry in entries)
    for sensitivity in (1.0, 0.5):
        column = replace(SCORE, type=form, decimal=decimal, high=100_000, sensitivity=sensitivity)
        asked_of = [asked(here, column, each=each) for each in ("option", "step")]
        assert (
            max(spent(one, one.read(here.private), one.read(there.private)) for some in asked_of for one in some) <= 1
        )


def test_a_number_a_little_larger_would_be_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """As columns are read of whose entries nobody said how far they move; and a mark that is read in all files."""
    monkeypatch.setattr(conversion, "nearest", conversion.integers)
    monkeypatch.setattr(PrivateRows, "said_of_entries", lambda self, declaration, named: declaration)
    for kind, mark, last in (("text", ".", "98.5"), ("xlsx", ",", "98.125")):
        here, there = (read_table(with_last(kind, entry)) for entry in ("98", last))
        column = replace(SCORE, type="integer", decimal=mark, high=100_000)  # type: ignore[arg-type]
        (alarm, _) = asked(here, column)
        assert spent(alarm, alarm.read(here.private), alarm.read(there.private)) > 10, kind


@pytest.mark.parametrize("change", [{"missing_words": ("", "99")}, {"fill": 90.0}])
@pytest.mark.parametrize("counts", [True, False])
def test_entries_that_are_not_read_as_they_stand_move_by_any_number(change: dict[str, Any], counts: bool) -> None:
    """98 and one more is 99, which is none: charged 0.5 for 18.9."""
    column = replace(CALLERS, counts=counts)
    assert entry_sensitivity(column) == 1.0
    assert entry_sensitivity(replace(column, **change)) == 100.0


def test_who_takes_anothers_place_moves_an_entry_twice_as_far(monkeypatch: pytest.MonkeyPatch) -> None:
    """One vote against in the place of one for: charged 4 for 8."""
    readings = [
        read_table(
            b"street,complaint,callers\n" + "\n".join(f"{a},x,{n}" for a, n in zip(STREETS, row, strict=True)).encode()
        )
        for row in ((50,) + (49,) * 7, (48,) + (51,) * 7)
    ]

    def largest() -> float:
        found = []
        for here, there in zip(*(asked(one, SCORE, "replace_one") for one in readings), strict=True):
            assert here == there
            found.append(spent(here, here.read(readings[0].private), here.read(readings[1].private)))
        return max(found)

    assert 0.9 < largest() <= 1 + 1e-9
    assert "One in another's place may move it by 2." in asked(readings[0], SCORE, "replace_one")[0].promise
    assert "another's place" not in asked(readings[0], CALLERS, "replace_one")[0].promise, "both move it the same way"
    monkeypatch.setattr(cells, "_both_alike", lambda column, neighbours: True)
    assert largest() > 1.9


def test_twice_as_far_is_no_farther_than_the_range() -> None:
    wide = replace(SCORE, sensitivity=80.0)
    assert [entry_sensitivity(wide, how) for how in ("add_remove", "replace_one")] == [80.0, 100.0]


def test_the_picture_reckons_with_the_neighbours_of_the_release() -> None:
    reading = read_table(lines("heating", ("street", "complaint", "callers")).encode(), header_rows=1)
    table = reading.table(Schema(columns=(STREET, COMPLAINT, SCORE), each_row="option"))
    found = candidates(table, "callers")
    assert [found.under(one).sensitivity for one in ("add_remove", "replace_one")] == [1.0, 2.0]


@pytest.mark.parametrize(
    ("unit", "itself"), [("person", False), ("Patient", False), ("day", True), ("working day", True), ("Schicht", True)]
)
@pytest.mark.parametrize("each", ["step", "option"])
def test_what_may_be_a_row_itself_neither_comes_nor_goes(unit: str, itself: bool, each: str) -> None:
    """One working day less was one row less in what is asked, with a receipt that said it is hidden."""
    schema = Schema(columns=(STREET, CALLERS), each_row=each, unit=unit)  # type: ignore[arg-type]
    assert schema.protects_rows == itself

    def ask(hidden: str) -> object:
        declared = Declaration.of(schema, hidden=hidden)  # type: ignore[arg-type]
        if each == "step":
            return AlarmRun.of(declared, "callers", threshold=3.0, epsilon=1.0, entries=8)
        return BestScore.of(declared, option="street", score="callers", epsilon=1.0)

    assert ask("replace_one") is not None
    if itself:
        with pytest.raises(InvalidArgument, match="are changed and never missing"):
            ask("add_remove")
    else:
        assert ask("add_remove") is not None
    assert not protects_rows("record", unit)
    assert not protects_rows(each, "driver", (STREET, CALLERS))  # type: ignore[arg-type]
    assert protects_rows(each, "driver", (Column(name="Driver id", type="text"),)), "each row is one"  # type: ignore[arg-type]
    assert "person" in MOVERS


@pytest.mark.parametrize("unit", ["person", "household"])
def test_who_is_asked_about_is_who_is_protected(unit: str) -> None:
    """Asked of one person, an honest 1 counted for a household of five."""
    for told in (columns_said.moves(unit), said.moves_asked(unit), columns_said.counts_help(unit), said.id_help(unit)):
        assert f"one {unit}" in told.lower()
        assert unit == "person" or "person" not in told


def test_small_counts_that_are_hidden_are_part_of_the_question() -> None:
    """“<20” is read as nothing and 20 as itself: a stated 1 is no longer true of what is read, and the form says so."""
    reading = read_table(b"street,callers\nA,<20\nB,40\nC,25\n", header_rows=1)
    declared = Declaration.of(Schema(columns=(STREET, SCORE), each_row="option"))
    request = BestScore.of(declared, option="street", score="callers", epsilon=1.0)
    assert np.asarray(request.read(reading.private)).min() == 0
    assert "<20" in columns_said.MOVES_READ
    assert "are read as 0" in columns_said.MOVES_READ
