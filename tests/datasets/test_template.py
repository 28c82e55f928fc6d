"""A declaration is saved, read again and recognised; it holds no value of the rows, and no text breaks it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpcore.datasets import (
    Column,
    LeaveOutTotals,
    MonthsToRows,
    OneRowPer,
    ReadAsMissing,
    Schema,
    SplitOptions,
    Step,
    TicksToRows,
    completed_from,
    read_table,
    template,
)
from dpcore.datasets.reading import reader
from dpcore.datasets.reading.reader import Reading
from dpcore.datasets.steps import KINDS, rows_made
from dpcore.datasets.template import Template, fitted, loaded, loaded_file, recognised, saved, without_rows
from dpcore.datasets.text import skeleton
from dpcore.errors import InvalidArgument

CANARY = "kanarienvogel"
SCHEMA = Schema(
    columns=(
        Column(name="age", type="number", low=0, high=120, fill=40.0),
        Column(name="ward", type="category", categories=("North", "South"), about="where"),
        Column(name="day", type="date", earliest=date(2024, 1, 1), latest=date(2024, 12, 31), date_order="dmy"),
        Column(name="ill", type="yes/no", yes_words=("si",), no_words=("no",)),
    ),
    rows_per_person=3,
    unit="household",
)
FULL = Template(
    schema=SCHEMA,
    steps=(LeaveOutTotals(column="ward"),),
    choices=(("decimal", ","), ("header_rows", 1), ("keep_footer", True)),
    suggested=("age",),
    row_suggested=True,
)
MONTH = b"Ward,AGE,day,ill,new\nNorth,31,01/02/2024,si,x\nSouth,999,02/03/2024,no,y\n"


class Unread(bytes):
    """A file that must not be looked into."""

    def decode(self, *_: object, **__: object) -> str:
        raise AssertionError("it is decoded")


def test_a_file_that_is_too_large_is_refused_by_its_bytes() -> None:
    """To decode 200 MB that are no text holds a server for seconds."""
    with pytest.raises(InvalidArgument, match="it is too large"):
        loaded_file(Unread(4 * template._LARGEST + 1))
    with pytest.raises(AssertionError, match="decoded"):
        loaded_file(Unread(4 * template._LARGEST))
    assert loaded_file(saved(Template(schema=SCHEMA)).encode()).schema == loaded(saved(Template(schema=SCHEMA))).schema


def test_what_is_saved_is_what_is_loaded() -> None:
    assert loaded(saved(FULL)) == FULL
    split = Template(schema=SCHEMA, steps=(SplitOptions(column="a", options=("x", "y"), most=2),))
    assert loaded(saved(split)) == split


TICKS = TicksToRows(column="perks", most=3)
MONTHS = MonthsToRows(columns=("Jan", "Feb", "Mar", "Apr"))


@pytest.mark.parametrize(
    ("steps", "record", "other"),
    [
        ((), 1, 1),
        ((ReadAsMissing(column="age", word="999"),), 1, 1),
        ((TICKS,), 3, 3),
        ((TICKS, TicksToRows(column="meals", most=2)), 6, 6),
        ((TICKS, MONTHS), 12, 12),
        ((MONTHS, TICKS, OneRowPer(by="who")), 1, 12),  # in one row per person a count of rows is one value of theirs
        ((TICKS, OneRowPer(by="perks")), 3, 3),  # one person is in a row of each of their options
        ((MONTHS, OneRowPer(by="month")), 4, 4),
        ((TICKS, OneRowPer(by="day", day=True)), 3, 3),
        ((OneRowPer(by="who"), TicksToRows(column="who", most=2)), 2, 2),
    ],
)
def test_steps_multiply_the_rows_of_a_person_and_no_declaration_states_fewer(steps, record, other) -> None:
    columns = (Column(name="age", type="integer", low=0, high=9),)
    for each_row, least in (("record", record), ("option", other), ("step", other)):
        assert rows_made(steps, each_row) == least
        schema = Schema(columns=columns, each_row=each_row, rows_per_person=least)
        assert loaded(saved(Template(schema=schema, steps=steps))).schema == schema
        if least > 1:
            with pytest.raises(InvalidArgument, match="rows_per_person"):
                Template(schema=replace(schema, rows_per_person=least - 1), steps=steps)


def test_steps_that_make_too_many_rows_of_one_are_refused() -> None:
    with pytest.raises(InvalidArgument, match="steps"):
        rows_made((TicksToRows(column="a", most=2**20), TicksToRows(column="b", most=2**20)), "record")


def test_next_month_is_recognised() -> None:
    """Names in another case and order, and a column that is new."""
    declaration = replace(FULL, steps=(ReadAsMissing(column="AGE", word="999"),))
    other = replace(FULL, schema=SCHEMA.only("age").with_column(Column(name="age", type="integer")), steps=())
    reading = read_table(MONTH)
    found = recognised(reading, [other, declaration])
    assert found == (declaration, other), "the most columns first"
    worked = reading.after(found[0].steps)
    fit = fitted(found[0], worked)
    assert fit.undeclared == ("new",)
    assert fit.schema.names == ("AGE", "Ward", "day", "ill", "new")
    assert fit.schema.column("AGE").high == 120
    assert worked.column("AGE").missing == 1
    assert worked.table(fit.schema).numbers("AGE").tolist() == [31.0, 40.0]


def rows_of(name: str) -> Template:
    return Template(schema=Schema(columns=(Column(name=name, type="integer", low=0, high=10),)))


def test_no_row_decides_which_of_several_declarations_is_offered() -> None:
    """A cell under no name made one fit less well than another, and the page offered that by the same words."""
    plain = rows_of("rows")
    together = replace(plain, steps=(OneRowPer(by="patient"),))
    wider = replace(
        together, schema=replace(plain.schema, columns=(*plain.schema.columns, Column(name="patient", type="text")))
    )
    rows = "".join(f"p{n // 2},9\n" for n in range(40))
    offered = []
    for row in ("p20,9", "p20,9,x", "p20,", ",9", "total,9", "p20;p21,9"):
        reading = read_table(f"patient,rows,\n{rows}{row}\n".encode(), header_rows=1, header_line=1, delimiter=",")
        offered.append(recognised(reading, [plain, together, wider]))
    assert set(offered) == {(wider, together, plain)}


def test_of_two_that_say_the_same_of_columns_and_steps_the_latest_is_offered() -> None:
    reading = read_table(b"rows,who\n1,a\n2,b\n")
    first = rows_of("rows")
    later = replace(first, schema=replace(first.schema, columns=(replace(first.schema.columns[0], high=5),)))
    assert recognised(reading, [first, later]) == (later,)


def test_another_table_is_not_recognised() -> None:
    reading = read_table(b"age,ward,day\n31,North,01/02/2024\n32,South,01/02/2024\n")
    assert recognised(reading, [FULL]) == ()
    assert fitted(FULL, reading).lacking == ("ill",)
    with pytest.raises(InvalidArgument, match="column"):
        reading.after((SplitOptions(column="absent"),))
    assert recognised(reading, []) == ()


STEPS: dict[type, Step] = {
    type(step): step
    for step in (
        ReadAsMissing(column="age", word=CANARY),
        LeaveOutTotals(column="ward"),
        SplitOptions(column="ward", options=("North",)),
        TICKS,
        MONTHS,
        OneRowPer(by="who"),
    )
}


@pytest.mark.parametrize("kind", KINDS.values())
def test_no_step_that_names_a_word_of_the_rows_is_saved(kind: type, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is remembered beside the ledger is written so too; and none is loaded that somebody wrote in by hand."""
    step, kept = STEPS[kind], LeaveOutTotals(column="day")
    every = Template(schema=replace(SCHEMA, rows_per_person=12), steps=(kept, step))
    found = loaded(saved(every))
    assert found.steps == ((kept,) if step.holds_values else every.steps)
    assert CANARY not in saved(every)
    if step.holds_values:
        monkeypatch.setattr(kind, "holds_values", False)
        assert CANARY in saved(every), "a step that does not say so is seen"
        by_hand = saved(every)
        assert loaded(by_hand).steps == every.steps
        monkeypatch.undo()
        with pytest.raises(InvalidArgument, match="made from cells"):
            loaded(by_hand)


WORD = ReadAsMissing(column="who", word="9999")
OTHER = ReadAsMissing(column="age", word="9999")
PERSON = OneRowPer(by="who")
LISTED = replace(PERSON, missing_words=("", "9999"))
MELTED = MonthsToRows(columns=("who", "Feb"), value="cell")


@pytest.mark.parametrize(
    ("several", "right"),
    [
        ((WORD,), True),
        ((WORD, LeaveOutTotals(column="who"), MELTED), True),
        ((OTHER, PERSON), True),
        ((WORD, LISTED), True),
        ((WORD, ReadAsMissing(column="who", word="-1"), LISTED), False),
        ((WORD, PERSON), False),
        ((WORD, LeaveOutTotals(column="age"), TICKS, PERSON), False),
        ((PERSON, WORD), False),
        ((OTHER, OneRowPer(by="who", of="age", how="sum")), False),
        ((WORD, OneRowPer(by="who", day=True)), False),
        ((WORD, MELTED, OneRowPer(by="cell")), False),
        ((MELTED, ReadAsMissing(column="cell", word="9999")), True),
    ],
)
def test_rows_are_put_together_by_the_same_words_next_time(
    several: tuple[Step, ...], right: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of one table and the next the same words are nobody's, or nothing is saved: what is left of steps puts rows
    together as all of them do."""
    frame = pd.DataFrame(
        {"who": ["a", "a", "9999", "-1"], "age": ["1", "9999", "2", "3"], "Feb": ["b", "b", "c", "c"]}, dtype="str"
    )
    frame = frame.assign(perks="x", Jan="1", Mar="2", Apr="3")
    declaration = Template(schema=replace(SCHEMA, rows_per_person=12), steps=several)

    def made(some: tuple[Step, ...]) -> list[tuple[str, ...]]:
        worked = frame
        for step in some:
            worked = step.apply(worked, np.arange(len(worked))).frame
        return list(worked.itertuples(index=False, name=None))

    assert [kind for kind in KINDS.values() if kind.holds_values is True] == [ReadAsMissing], "others need cases here"
    if right:
        assert loaded(saved(declaration)).steps == tuple(step for step in several if not step.holds_values)
        return
    with pytest.raises(InvalidArgument, match="no word of the rows is saved"):
        saved(declaration)
    monkeypatch.setattr(template, "rests_on_words", lambda _: "")
    if several[-1] != WORD:
        assert made(loaded(saved(declaration)).steps) != made(several), "as it was, other rows were put together"


def test_no_value_of_the_rows_is_saved() -> None:
    """What was read from the file is left out; a mutant that forgets this writes the canary."""
    reading = read_table(f"k,n\n{CANARY},31\nb,47\n{CANARY},32\n".encode())
    looked = completed_from(reading.suggested(), reading.frame)
    assert CANARY in repr(looked)
    text = saved(Template(schema=looked))
    assert CANARY not in text
    assert '"low"' not in text
    assert loaded(text).schema.column("k").categories == ()


DRAFT = Column(name="ward", type="category", categories=("North", CANARY), from_file=True)
OF_ROWS = {
    "nothing": FULL,
    "a draft": replace(FULL, schema=SCHEMA.with_column(replace(DRAFT, words_from_file=True, fill=CANARY))),
    "bounds": replace(FULL, schema=SCHEMA.with_column(replace(SCHEMA.columns[0], low=1, high=2, from_file=True))),
    "a word": replace(FULL, steps=(ReadAsMissing(column="age", word=CANARY), *FULL.steps)),
    "words called not hidden": replace(
        FULL, schema=SCHEMA.with_column(replace(DRAFT, from_file=False, words_from_file=True))
    ),
}


@pytest.mark.parametrize("case", OF_ROWS)
def test_the_next_table_is_known_by_what_is_saved_and_nothing_else(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The session's own was never stripped: a word of one person of the first file was an option of the second."""
    known = without_rows(OF_ROWS[case])
    assert loaded(saved(OF_ROWS[case])) == known == without_rows(known)
    assert (CANARY in repr(known)) == (case == "words called not hidden"), "those a person calls so by hand"
    by_hand = json.dumps(json.loads(saved(FULL)) | {"columns": [{"name": "age", "type": "number", "from_file": True}]})
    assert not loaded(by_hand).schema.columns[0].from_file, "whatever somebody wrote in"
    monkeypatch.setattr(template, "_declared_only", lambda column: column)
    assert CANARY in repr(template.without_rows(OF_ROWS["a draft"])), "as it was"


@pytest.mark.parametrize(
    "change",
    [
        {"columns": []},
        {"columns": [{"name": "a"}]},
        {"columns": [{"name": "a", "type": "klingon"}]},
        {"columns": [{"name": 3, "type": "text"}]},
        {"columns": [{"name": "a", "type": "number", "low": "x"}]},
        {"columns": [{"name": "a", "type": "number", "low": True}]},
        {"columns": [{"name": "a", "type": "number", "low": 1e999}]},
        {"columns": [{"name": "a", "type": "date", "earliest": "yesterday"}]},
        {"columns": [{"name": "a", "type": "text", "evil": 1}]},
        {"columns": [{"name": "a", "type": "category", "categories": "abc"}]},
        {"columns": {"a": 1}},
        {"rows_per_person": 0},
        {"rows_per_person": 1.5},
        {"each_row": "nothing"},
        {"steps": [{"step": "Step"}]},
        {"steps": [{"step": "ReadAsMissing", "column": "a"}]},
        {"steps": ["x"]},
        {"steps": [{"step": "ReadAsMissing", "column": "age", "word": str(word)} for word in range(1001)]},
        {"choices": {"a": [1]}},
        {"epsilon-lab declaration": 2},
        {"suggested": "age"},
        {"suggested": ["nobody"]},
        {"row_suggested": 1},
        {"unit": "\ud800"},
        {"choices": {"part": "\ud800"}},
        {"steps": [{"step": "ReadAsMissing", "column": "age", "word": "\ud800"}]},
        {"columns": [{"name": "\ud800", "type": "text"}]},
        {"columns": [{"name": "a", "type": "text", "about": "\ud800"}]},
    ],
)
def test_what_is_no_declaration_is_refused(change: dict[str, object]) -> None:
    with pytest.raises(InvalidArgument):
        loaded(json.dumps(json.loads(saved(FULL)) | change))


@pytest.mark.parametrize("told", [True, False])
def test_what_headings_tell_is_no_part_of_a_declaration(told: bool) -> None:
    """Whether rows may be who is protected: a file that anybody can write took the word of a heading away."""
    schema = Schema(
        columns=(Column(name="patient", type="text"), Column(name="score", type="integer", low=0, high=9)),
        each_row="option",
        rows_protected=told,
    )
    assert schema.protects_rows == told, "it would count"
    text = saved(Template(schema=schema))
    assert "rows_protected" not in text
    for document in (text, json.dumps(json.loads(text) | {"rows_protected": told})):
        found = loaded(document).schema
        assert found.rows_protected is None
        assert found.protects_rows, "as the heading says"


@pytest.mark.parametrize("text", ["", "x", "[]", "null", "{}", "[" * 100_000, " " * (2 << 20)])
def test_text_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(InvalidArgument, match="declaration"):
        loaded(text)


@settings(max_examples=60, deadline=None, database=None)
@given(
    name=st.sampled_from(["columns", "steps", "choices", "unit", "each_row", "rows_per_person", "other"]),
    value=st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["name", "type", "low"]), inner),
        max_leaves=8,
    ),
)
def test_anything_else_is_refused_by_name(name: str, value: object) -> None:
    try:
        loaded(json.dumps(json.loads(saved(FULL)) | {name: value}))
    except InvalidArgument:
        return
    assert name in ("columns", "steps", "choices", "unit", "rows_per_person", "each_row")


WORDS = [chr(0x4E00 + n % 20_000) * 2 + str(n) for n in range(40_000)]


@pytest.mark.parametrize(
    ("columns", "problem"),
    [
        ([{"name": f"c{n}", "type": "text"} for n in range(501)], "more than 500 columns"),
        ([{"name": "a" * 501, "type": "text"}], "more than 500 characters"),
        ([{"name": "a", "type": "category", "categories": WORDS}], "too many options"),
    ],
)
def test_a_declaration_holds_no_more_than_a_table_could(columns: list[Any], problem: str) -> None:
    document = json.loads(saved(Template(schema=Schema(columns=(Column(name="a", type="text"),)))))
    text = json.dumps(document | {"columns": columns}, ensure_ascii=False)
    assert len(text) < 1 << 20
    with pytest.raises(InvalidArgument, match=problem):
        loaded(text)


def test_what_a_name_looks_like_is_told_from_its_beginning() -> None:
    """The signs of one letter are put in order in the square of their number, with all others waiting."""
    marks = "a" + "\u0301\u0316" * 100_000
    assert len(skeleton(marks)) < 2000
    assert skeleton("Colour_A") == skeleton("colour a")


LOOKALIKES = ("Colour", "COLOUR", "colour ", "_colour", "cоlour", "colour\u200b")
COLOUR = Template(
    schema=Schema(
        columns=(Column(name="colour", type="category", categories=("red", "green")), Column(name="id", type="text")),
        id_column="id",
        rows_per_person=2,
    )
)


def people(colour: str, /, **own: str) -> bytes:
    """Records of JSON, the last of them with names of its own."""
    records = [{colour: ("red", "green")[n % 3 > 1], "id": f"p{n}"} for n in range(30)]
    return json.dumps([*records, own]).encode()


@pytest.mark.parametrize("look", LOOKALIKES)
@pytest.mark.parametrize("common", ["colour", *LOOKALIKES[:2]])
def test_no_row_takes_a_declared_columns_place_by_a_name_that_looks_like_it(look: str, common: str) -> None:
    """Whichever of the names the others have, and whichever the declaration."""
    for own in ({look: "green", "id": "p30"}, {look: "green", "ID": "p30"}, {look: "green", "colour": "red"}):
        found = fitted(COLOUR, read_table(people(common, **own)))
        declared = [column.name for column in found.schema.columns if column.categories]
        assert (declared, found.schema.id_column, found.lacking) == (["colour"], "id", ())


def test_of_a_header_the_very_name_counts_before_one_that_looks_like_it() -> None:
    for header, expected in (
        ("colour,Colour,id", "colour"),
        ("Colour,colour,id", "colour"),
        ("Colour,id", "Colour"),
        ("Colour,COLOUR,id", None),
    ):
        cells = ["red"] * header.count(",") + ["p1"]
        found = fitted(COLOUR, read_table(f"{header}\n{','.join(cells)}\n{','.join(cells)}\n".encode()))
        assert [column.name for column in found.schema.columns if column.categories] == [expected] * bool(expected)
        assert found.lacking == (() if expected else ("colour",))


def test_a_name_that_only_looks_like_one_would_be_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Reading, "named_by_rows", False)
    with pytest.raises(AssertionError):
        test_no_row_takes_a_declared_columns_place_by_a_name_that_looks_like_it("Colour", "Colour")


WARDS = [{"ward": "north" if at % 3 else "south", "age": 20 + at, "2023": at % 2, "2024": 1} for at in range(9)]
LAST: tuple[dict[str, Any], ...] = (
    *({}, {"smoker": "yes"}, {"Smoker": "yes"}, {"smoker": None}, {"ward: north": "1"}, {"ward: east": "1"}),
    *({"ward": "west"}, {"ward": None, "smoker": "no"}, {"value": "3"}, {"smoker": {"since": "2020"}}, {"rows": "5"}),
)
"""What one person's record has, or has otherwise, beside what all have."""
JSON_FORMS: dict[str, Callable[[list[dict[str, Any]]], str]] = {
    "lines": lambda rows: "\n".join(map(json.dumps, rows)),
    "columns": lambda rows: json.dumps({name: [row.get(name) for row in rows] for name in {**rows[0], **rows[-1]}}),
}
STEPS_BEFORE: tuple[tuple[Step, ...], ...] = (
    *((), (SplitOptions(column="ward"),), (SplitOptions(column="ward", options=("north",), most=1),)),
    *((MonthsToRows(columns=("2023", "2024")),), (OneRowPer(by="ward"),), (LeaveOutTotals(column="ward"),)),
)
ASKED = ("ward", "smoker", "ward: north", "ward: east", "value", "rows", "2023", "rare")


def what_fits(known: list[Template], data: bytes, **stated: Any) -> list[tuple[object, ...]]:
    """Of each declaration whether it is offered of this file, what fits of it, and whether that can be read."""
    found, reading = [], read_table(data, **stated)
    offered = recognised(reading, known)
    for one in known:
        after = reading.after(one.steps, names=one.schema.names)
        fit = fitted(one, after)
        names = set(one.schema.names) - set(fit.lacking)
        here = [column for column in fit.schema.columns if column.name in names]
        declared = Schema(columns=tuple(here)) if here else None
        if declared is not None:
            assert set(after.table(declared).frame.columns) == set(declared.names)
            assert after.private.has(declared.names)
        found.append((one in offered, fit.lacking, declared))
    return found


def declarations() -> list[Template]:
    """One of a single column, and one of all after each of the steps."""
    every = [Template(schema=Schema(columns=(Column(name="rare", type="text"),)))]
    for steps in STEPS_BEFORE:
        columns = tuple(Column(name=name, type="category", categories=("1", "2")) for name in ASKED)
        every.append(Template(schema=Schema(columns=columns, rows_per_person=2), steps=steps))
    return every


def fits_that_hang_on_a_row(form: str) -> list[dict[str, Any]]:
    """The records beside which another declaration is offered, or fits otherwise, than beside none."""
    stated = {"objects": "columns"} if form == "columns" else {}
    alone, *others = (
        what_fits(declarations(), JSON_FORMS[form]([*WARDS, *rows]).encode(), **stated)
        for rows in ([], *([WARDS[0] | last] for last in LAST))
    )
    return [last for last, found in zip(LAST, others, strict=True) if found != alone]


@pytest.mark.thorough
@pytest.mark.parametrize("form", JSON_FORMS)
def test_no_record_decides_whether_a_declaration_fits(form: str) -> None:
    assert fits_that_hang_on_a_row(form) == []


def test_what_only_rows_fill_is_no_declared_column() -> None:
    """A cell in a column that the header does not name, of one row."""
    known = [Template(schema=Schema(columns=(Column(name=name, type="text"),))) for name in ("kind", "column 3")]
    for last in ("", "5"):
        data = f"kind,age,\na,1,\nb,2,{last}\n".encode()
        assert [one[:2] for one in what_fits(known, data, header_rows=1)] == [(True, ()), (False, ("column 3",))]


@pytest.mark.thorough
def test_a_fit_that_hangs_on_a_row_would_be_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as mutant:
        mutant.setattr(Reading, "could_hold", lambda self, name, _: name in self.frame.columns)
        assert {"smoker": "yes"} in fits_that_hang_on_a_row("lines")
    monkeypatch.setattr(reader, "is_made", lambda *_: False)
    assert {"ward: north": "1"} in fits_that_hang_on_a_row("lines")
