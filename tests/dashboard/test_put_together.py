"""Rows that a step put together are asked only where each holds what one protected unit did alone, whatever its name.

The law is checked by the rows themselves: of a table in which everybody is in several places, leaving somebody out
takes rows away where the rule allows, and what it refuses has a neighbour whose rows change.
"""

from __future__ import annotations

import functools
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from dashboard.data import own_file, private_answer, put_together, read_again, source, understood
from dashboard.data.file_form import HEADING
from dashboard.data.needed import guessed
from dashboard.data.put_together import leaving_out, refusal, whole_of
from dpcore.datasets import (
    Column,
    Declaration,
    LeaveOutTotals,
    MonthsToRows,
    OneRowPer,
    PrivateRows,
    ReadAsMissing,
    SplitOptions,
    Step,
    TicksToRows,
    read_csv,
    read_table,
    steps,
)
from dpcore.datasets.schema import MISSING_WORDS, Schema
from dpcore.datasets.steps import is_made
from dpcore.releases.quantile import QuantileValue
from dpcore.releases.selection import MostCommonOption

UNITS = ("person", "Person", "patient", "Patients", "pupil", "ward", "visit", "employee", "day", "")
COLUMNS = ("who", "ward", "Ward_ID", "visit", "patient", "PatientID", "employee no.", "e-mail", "number", "first name")
COLUMNS += ("id", "user key", "Name", "patient name", "phone", "player number", "student code", "email address", "Tel")
WHOLE = {
    "who": {"person", "Person", ""},
    "ward": {"ward"},
    "Ward_ID": {"ward"},
    "visit": {"visit"},
    "patient": {"patient", "Patients"},
    "PatientID": {"patient", "Patients"},
    "id": {"person", "Person", ""},
}
"""Two people may share what all other columns hold: a name, a family's phone or e-mail, a number of a team."""


@pytest.mark.parametrize("by", COLUMNS)
def test_a_name_must_say_for_certain_that_it_is_of_the_unit(by: str) -> None:
    assert {unit for unit in UNITS if whole_of(by, unit)} == WHOLE.get(by, set())
    for unit in UNITS:
        several: tuple[Step, ...] = (OneRowPer(by=by),)
        assert bool(refusal(several, unit)) == (unit not in WHOLE.get(by, set()))
        assert bool(refusal((*several, OneRowPer(by="ward")), unit)) or unit == "ward", "each step must be"


def as_before(by: str, unit: str) -> bool:
    return unit != "person" or by == "who"


MADE: dict[str, Step] = {
    "the months": MonthsToRows(columns=("2024-01", "2024-02"), time="patient", value="v"),
    "what stood in them": MonthsToRows(columns=("2024-01", "2024-02"), time="month", value="patient"),
    "ticks": TicksToRows(column="patient", most=3),
    "an option": SplitOptions(column="patient", options=("id",)),
    "an option of the rows": SplitOptions(column="patient"),
    "a sum": OneRowPer(by="who", of="patient", how="sum"),
    "a count": OneRowPer(by="who"),
}
NAMED = {
    "an option": "patient: id",
    "an option of the rows": "patient: id",
    "a sum": "sum of patient",
    "a count": "rows",
}


@pytest.mark.parametrize("how", MADE)
def test_a_column_that_a_step_made_names_nobody(how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A declaration that is brought may call the months "patient": each row would hold what all people did in one. A
    cell may name several people, each of which becomes a row."""
    made, name = MADE[how], NAMED.get(how, "patient")
    schema = Schema(columns=(Column(name=name, type="text"), Column(name="who", type="text")), id_column=name)
    assert refusal((made, OneRowPer(by=name, of="x", how="sum")), "person")
    assert put_together.of_made((made,), schema)
    for whose in ("who", None):
        assert not put_together.of_made((made,), replace(schema, id_column=whose))
    assert not refusal((made, OneRowPer(by="who", of="x", how="sum")), "person")
    assert not put_together.of_made((), schema)
    monkeypatch.setattr(put_together, "is_made", lambda *_: False)
    assert not put_together.of_made((made,), schema), "this test can fail"


def test_every_column_that_a_step_makes_is_known_as_made() -> None:
    """By the rows themselves: what a step adds to the names of a table, or whose cells it takes apart."""
    cells = b"a;b,x,1,2\nb,y,3,4\n"
    steps: tuple[Step, ...] = (*MADE.values(), LeaveOutTotals(column="who"), ReadAsMissing(column="who", word="x"))
    for step in steps:
        if isinstance(step, OneRowPer) and step.of:
            continue  # of no numbers here; its name is that of the others
        months = isinstance(step, MonthsToRows)
        table = read_csv((b"p" if months else b"patient") + b",who,2024-01,2024-02\n" + cells)
        after = table.after((step,)).frame
        fresh = {name for name in after.columns if name not in table.frame.columns}
        parted = {
            name
            for name in after.columns
            if name in table.frame.columns and not set(after[name]) <= set(table.frame[name])
        }
        emptied = {name for name in parted if set(after[name]) <= {*table.frame[name], ""}}
        assert {name for name in after.columns if is_made(name, (step,))} == fresh | (parted - emptied), step


def test_rows_that_were_put_together_by_a_column_that_is_gone_are_not_asked() -> None:
    """Which of its words mean missing nobody knows any more."""
    schema = Schema(columns=(Column(name="x", type="text"),))
    assert put_together.of_nobody((OneRowPer(by="patient", of="x", how="sum"),), schema)


def test_what_is_allowed_takes_rows_away_and_changes_none() -> None:
    """The table says what is so: everybody goes to both wards, on two days, each time as another visit."""
    people, wards = ("ann", "bob", "eva"), ("A", "B")
    rows: list[tuple[str, ...]] = [
        (who, ward, f"{who}{ward}{day}", f"2024-01-0{day}") for who in people for ward in wards for day in (1, 2)
    ]  # fmt: skip
    names = ("who", "ward", "visit", "day")

    @functools.cache
    def after(step: OneRowPer, kept: tuple[tuple[str, ...], ...]) -> set[tuple[str, ...]]:
        text = "\n".join(",".join(row) for row in (names, *kept)) + "\n"
        frame = read_csv(text.encode()).after((step,)).frame
        return set(frame.itertuples(index=False, name=None))

    def only_loses(step: OneRowPer, unit: str) -> bool:
        """Whether leaving out one unit, any of them, only takes rows away."""
        at = names.index("who" if unit in ("person", "patient") else unit)
        whole = after(step, tuple(rows))
        left = ((step, tuple(row for row in rows if row[at] != one)) for one in {row[at] for row in rows})
        return all(after(*each) < whole for each in left)

    wrong = set()
    for step in (*(OneRowPer(by=by) for by in names[:3]), OneRowPer(by="day", day=True)):
        for unit in ("person", "patient", "ward", "visit", "day"):
            if not refusal((step,), unit):
                assert only_loses(step, unit), (step, unit)
            if as_before(step.by, unit) and not only_loses(step, unit):
                wrong.add((step.by, unit))
    assert ("ward", "patient") in wrong, "this test can fail"


BLANKS = ("", " ", "\t", "\xa0", "\u3000")
NOBODY = sorted({word for each in MISSING_WORDS for word in (each, each.upper(), f" {each}\xa0")} | set(BLANKS))


def laws_apart(ids: list[list[str]]) -> float:
    """The largest log-ratio of the law of the most common number of rows, at ε = 1, over tables of these ids."""
    declared = Declaration(columns=(Column(name="rows", type="category", categories=("1", "2", "3")),))
    asked = MostCommonOption.of(declared, "rows", epsilon=1.0)
    laws = []
    for each in ids:
        frame = pd.DataFrame({"who": pd.Series(each, dtype="str")})
        worked = OneRowPer(by="who").apply(frame, np.arange(len(each)))
        laws.append(np.log(asked.law(PrivateRows(worked.frame, together=True))))
    return float(np.abs(laws[0] - laws[1]).max())


@pytest.mark.parametrize("word", NOBODY)
def test_rows_of_nobody_are_put_into_none(word: str) -> None:
    """One person more whose id is missing must not change a row that holds what others without one did."""
    assert laws_apart([["ann", word], ["ann", word, word]]) == 0.0


def test_rows_of_nobody_put_together_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(steps, "is_missing", lambda keys, words: (keys == "").to_numpy(dtype=bool))
    assert laws_apart([["ann", "NA"], ["ann", "NA", "NA"]]) > 1.5, "one and a half times the claim"


def test_a_word_that_is_called_missing_afterwards_needs_the_step_again() -> None:
    reading = read_csv(b"who,paid\n" + b"".join(b"%s,1\n" % who for who in (b"ann", b"ann", b"bo", b"anon", b"anon")))
    step = OneRowPer(by="who")
    own = read_again.worked(read_again.opened("a.csv", b"", (), reading, None, None), reading.after((step,)), (step,))
    assert "holds what several" not in private_answer.unreleasable(own)
    column = own.schema.column("who")
    told = replace(own.schema, columns=(replace(column, missing_words=("Anon",)), *own.schema.columns[1:]))
    later = own.decide(replace(own.decisions, schema=told))
    assert "holds what several people did" in private_answer.unreleasable(later)
    again = leaving_out((step,), told)
    worked = read_again.worked(later, reading.after(again), again)
    assert "holds what several" not in private_answer.unreleasable(worked)
    assert worked.reading is not None
    assert worked.reading.frame["who"].tolist() == ["ann", "bo"]
    word = (*again, ReadAsMissing(column="who", word="bo"))
    assert "holds what several people did" in private_answer.unreleasable(
        read_again.worked(worked, reading.after(word), word)
    )


SPELLED = ("P777", "p777", "P-777", "P 777", "P777.")


def by_patient(
    spelled: tuple[str, ...], *, unit: str = "patient", said: bool = True, by: str = "patient"
) -> own_file.OwnFile:
    """Visits of sixty patients and of one who is spelled in several ways, one row per patient, all else said."""
    lines = [f"P{n:03},{10 if n < 30 else 90}" for n in range(60)] + [f"{who},95" for who in spelled]
    reading = read_table("\n".join([f"{by},cost", *lines]).encode(), header_rows=1, header_line=1)
    own = read_again.opened("f.csv", b"", (("header_line", 1), ("header_rows", 1)), reading, None, None)
    step = OneRowPer(by=by, of="cost", how="sum")
    own = read_again.worked(own, reading.after((step,)), (step,))
    own = own.decide(own.decisions.rows_are(unit=unit))
    total = Column(name="sum of cost", type="number", low=0, high=100)
    own = own.decide(replace(own.decisions, schema=own.schema.with_column(total), said_rows=said))
    return own.decide(replace(own.decisions, settled=own.decisions.settled | {*own.doubts, *own.form.doubts}))


def asked_of(own: own_file.OwnFile) -> QuantileValue:
    called = own.decide(own.confirm(own.columns.to_call_right))
    assert private_answer.lacking(called) == ()
    assert called.columns.declared is not None
    stated = Declaration.of(called.columns.declared, together=called.together)
    return QuantileValue.of(stated, "sum of cost", epsilon=1.0, points=101)


def test_that_each_patient_is_spelled_in_one_way_is_called_right_and_on_the_receipt() -> None:
    """A step states it as an id column does: one patient in five spellings is five rows, charged 1 for 5."""
    own, without = by_patient(SPELLED), by_patient(())
    laws = [np.log(asked_of(one).law(one.reading.private)) for one in (own, without) if one.reading is not None]
    assert np.abs(laws[0] - laws[1]).max() > 4
    (step,) = own.steps
    assert "What is spelled in two ways makes two rows." in step.sentence
    told = "each “patient” is all of one patient, none a word such as “unknown”, and never spelled in two ways"
    assert told in guessed(own, own.columns.to_call_right, most=None)
    assert told in asked_of(own).promise


def test_every_step_that_puts_records_together_is_on_the_receipt() -> None:
    """Of all others each row is made of one row, by itself."""
    for step in MADE.values():
        together = isinstance(step, OneRowPer)
        assert steps.puts_rows_together((step,)) == (together or isinstance(step, TicksToRows)), step
        assert steps.together_by((step,)) == (step.by if isinstance(step, OneRowPer) else ""), step
    assert {type(step) for step in MADE.values()} | {LeaveOutTotals, ReadAsMissing} == set(steps.KINDS.values())


@pytest.mark.parametrize("said", [True, False])
@pytest.mark.parametrize("unit", ["patient", "person"])
def test_the_data_page_lists_all_that_a_questions_page_says(unit: str, said: bool) -> None:
    """It did not name that rows put together by a patient are asked of patients alone: the list was empty, and no
    private answer to be had."""
    own = by_patient((), unit=unit, said=said)
    for one in (
        own,
        own.decide(own.confirm(own.columns.to_call_right)),
        replace(own, uncompared="Nobody compared it."),
    ):
        assert private_answer.unreleasable(one) == " ".join(private_answer.lacking(one))
        assert ("take none away" in " ".join(private_answer.lacking(one))) == (unit == "person")
        assert bool(private_answer.lacking(one)) == bool(private_answer.unreleasable(one))
    last = own.decide(own.confirm(own.columns.to_call_right))
    assert (private_answer.lacking(last) == ()) == (unit == "patient" and said)


@pytest.mark.parametrize("by", ["id", "ID", "uuid", "guid", "who", "person"])
def test_whose_an_id_is_a_person_states(by: str) -> None:
    """A shop's "id" passed for a person's, and nobody was asked: who buys in fifty shops was charged 1 for 50."""
    own = by_patient((), unit="person", by=by)
    for told in (guessed(own, own.columns.to_call_right, most=None), asked_of(own).promise):
        assert f"each “{by}” is all of one person, none a word such as “unknown”, and never spelled in two ways" in told
    assert private_answer.lacking(own), "nothing before that"


def test_what_a_page_shows_is_passed_on() -> None:
    own = by_patient(())
    own = replace(own.decide(own.confirm(own.columns.to_call_right)), use="what_if", lineage="x")
    assert own.reading is not None
    shown = source._own_source(own, own.reading.table(own.schema))
    assert shown is not None
    assert shown.declared is not None
    assert (shown.declared.together, shown.declared.reads("sum of cost").together) == ("patient", "patient")


def test_of_the_file_its_own_names_are_called_right() -> None:
    """Line 1 was said to name a column that a step had made."""
    reading = read_table(b"patient,cost\n" + b"".join(b"P%d,%d\n" % (n % 7, n) for n in range(40)))
    own = read_again.opened("f.csv", b"", (), reading, None, None)
    step = OneRowPer(by="patient", of="cost", how="sum")
    for one in (own, read_again.worked(own, reading.after((step,)), (step,))):
        assert HEADING in one.form.suggested
        assert "line 1 of the file names the columns: “patient”, “cost”" in understood.form_suggested(one)
