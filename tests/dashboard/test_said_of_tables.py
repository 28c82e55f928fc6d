"""What was said of one table is said of no other: of another sheet, below another heading, under another name."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from dashboard import session
from dashboard.background import compute
from dashboard.data import (
    actions,
    arrivals,
    bulk,
    columns,
    declarations,
    needed,
    private_answer,
    put_together,
    read_again,
    remembered,
    source,
)
from dashboard.data.columns import declared_words
from dashboard.data.decisions import Decisions, read_as
from dashboard.data.own_file import OwnFile
from dashboard.data.read_again import are_others, opened, worked
from dashboard.data.remembered import Remembered
from dashboard.data.template import template
from dashboard.words import columns as column_words
from dashboard.words import data as data_words
from dpcore.datasets import (
    Column,
    LeaveOutTotals,
    OneRowPer,
    ReadAsMissing,
    Schema,
    SplitOptions,
    Template,
    loaded,
    read_csv,
    read_table,
    saved,
)
from dpcore.datasets.schema import EachRow
from dpcore.ledger.people import Resemblance

WHO = Column(name="who", type="text")
COLOUR = Column(name="colour", type="category", categories=("blue", "red"))
ROWS = b"who,colour\n" + b"".join(b"p%d,%s\n" % (place, (b"blue", b"red")[place % 2]) for place in range(24))
STACKED = b"who,colour\n" + b"a,red\n" * 9 + b"\nwho,colour\nb,blue\nc,red\n"


def own(data: bytes = ROWS, *, schema: Schema | None = None, choices: Any = (), **facts: Any) -> OwnFile:
    reading = read_csv(data, **dict(choices))
    known = Schema(columns=(WHO, COLOUR), rows_per_person=2, id_column="who") if schema is None else schema
    decisions = replace(Decisions(schema=known, said_rows=True, said_row=True), **facts)
    return OwnFile(name="f.csv", data=data, choices=choices, reading=reading, decisions=decisions)


def test_another_heading_makes_another_table() -> None:
    """One row each, said of the table below, was said of the visits above it: charged 0.5 for 4."""
    below, above = (read_csv(STACKED, header_line=line, header_rows=1) for line in (12, 1))
    assert below.rows < above.rows
    before = replace(own(), reading=below)
    assert are_others(before, above)
    assert not are_others(before, below)
    split = SplitOptions(column="colour", options=("red",))
    assert not are_others(worked(before, below.after((split,)), (split,)), below), "a step makes no other table of it"


def test_tables_that_no_line_names_are_others_where_they_begin_elsewhere() -> None:
    """Patients above wards: the wards' names were called right, and the patients' were given out."""
    both = b"Ann,20\nBob,21\nCid,22\n\nWard A,40\nWard B,12\n"
    below, above = (read_csv(both, header_line=line, header_rows=0) for line in (5, 1))
    before = replace(own(), reading=below)
    assert {one.name for one in below.columns} == {one.name for one in above.columns}
    assert are_others(before, above)
    assert not are_others(before, below)


@pytest.mark.parametrize("fact", ["id_column", "people", "form", "types", "rows", "one row"])
def test_of_another_table_nothing_is_said(fact: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def told(found: OwnFile) -> bool:
        return {
            "id_column": found.schema.id_column is not None,
            "people": found.schema.people is not None,
            "form": "file:merged" in found.decisions.settled,
            "types": bool(found.decisions.confirmed),
            "rows": found.decisions.said_rows or found.schema.rows_per_person > 1,
            "one row": found.decisions.said_row,
        }[fact]

    schema = Schema(columns=(WHO, COLOUR), rows_per_person=2, id_column="who", people=20)
    before = own(schema=schema, settled=frozenset({"file:merged"}), confirmed=frozenset({read_as(COLOUR)}))
    assert told(before)
    assert before.reading is not None
    other = replace(before.reading, report=replace(before.reading.report, part="Visits"))
    assert told(opened("f.csv", ROWS, (), before.reading, None, before)), "the same table"
    assert not told(opened("f.csv", ROWS, (("part", "Visits"),), other, None, before))
    monkeypatch.setattr(read_again, "are_others", lambda before, reading: False)
    if fact not in ("rows",):  # which another choice alone unsays
        assert told(opened("f.csv", ROWS, (("part", "Visits"),), other, None, before))


def test_by_any_other_choice_there_can_be_other_rows() -> None:
    before = own()
    assert before.reading is not None
    for choices, stays in (((("uneven", "set aside"),), False), ((("date_order", "dmy"),), True)):
        found = opened("f.csv", ROWS, choices, before.reading, None, before)
        assert (found.decisions.said_rows, found.schema.rows_per_person) == ((True, 2) if stays else (False, 1))


def test_a_number_whose_column_is_gone_is_nobodys_word_next_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two rows that a column had kept to were the promise of somebody in the next session: charged 1 for 6."""
    teams = b"team,colour\n" + b"".join(b"%s,red\n" % (b"a", b"b", b"c")[place % 3] for place in range(24))
    schema = Schema(
        columns=(Column(name="team", type="text"), COLOUR), rows_per_person=2, id_column="team", unit="team"
    )
    before = own(teams, schema=schema, settled=frozenset({"colour"}))
    step = SplitOptions(column="team", options=("a", "b"))
    assert before.reading is not None
    after = worked(before, before.reading.after((step,)), (step,))
    assert (after.schema.id_column, after.decisions.said_rows, after.schema.rows_per_person) == (None, False, 1)
    after = after.decide(after.confirm(after.columns.open))
    found = Remembered.of(after)
    assert found.template.schema.rows_per_person == 1
    old = replace(after, decisions=replace(after.decisions, schema=replace(after.schema, rows_per_person=2)))
    assert remembered.Remembered.of(old).template.schema.rows_per_person == 1, "whatever way it came"


class Shelf:
    """What a page's callback keeps, without a page."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, own_: OwnFile) -> None:
        self.own, self.said = own_, list[str]()
        monkeypatch.setattr(source, "own_file", lambda: self.own)
        monkeypatch.setattr(actions, "commit", self._keep)
        monkeypatch.setattr(session, "say", lambda where, told: self.said.append(told))

    def _keep(self, own_: OwnFile) -> None:
        self.own = own_

    def declare(self, template: Template, before: Remembered | None = None) -> OwnFile:
        assert self.own.reading is not None
        declarations._declare(self.own, self.own.reading, template, before)
        return self.own


def test_what_a_declaration_does_not_name_stays_as_it_was_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """Text by hand was yes or no again because one cell more suggested it, and stood as chosen by hand."""
    data = b"colour,ill\n" + b"".join(b"red,%s\n" % (b"yes", b"no")[place % 2] for place in range(24))
    text = Column(name="ill", type="text")
    before = own(data, schema=Schema(columns=(COLOUR, text)), settled=frozenset({"ill"}))
    assert before.reading is not None
    assert before.reading.suggested().column("ill").type == "yes/no"
    found = Shelf(monkeypatch, before).declare(Template(schema=Schema(columns=(COLOUR,), rows_per_person=2)))
    assert found.schema.column("ill").type == "text"
    assert found.schema.column("colour") == COLOUR


@pytest.mark.parametrize("name", ["age", "Age"])
def test_what_a_file_had_suggested_stays_so_however_the_next_spells_it(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = f"{name},colour\n".encode() + b"".join(b"%d,red\n" % (20 + place) for place in range(24))
    age = Column(name="age", type="integer", low=0, high=100)
    template = Template(schema=Schema(columns=(age, COLOUR), rows_per_person=2))
    before = Remembered(
        template=template,
        suggested=("age",),
        confirmed=("age",),
    )
    reading = read_csv(data)
    bare = OwnFile(name="f", data=data, choices=(), reading=reading, decisions=Decisions(schema=reading.suggested()))
    found = Shelf(monkeypatch, bare).declare(template, before)
    assert name in found.columns.suggested, "the receipt says so"
    assert name not in found.columns.unconfirmed(found.columns.suggested), "it was called right then"


OTHERS = b"who,colour,cost\n" + b"".join(b"p%d,red,%d\n" % (place % 3, place) for place in range(24))


@pytest.mark.parametrize("way", ["known", "brought", "lacking", "without its form", "a word"])
def test_of_a_table_that_no_card_told_of_nothing_is_said_of_rows(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """At most two rows, said of patients, was said of their visits, of which one has thirty: charged 0.5 for 7."""
    before = own()
    if way == "a word":  # of whom nobody knows whose rows they are
        assert before.reading is not None
        steps = (ReadAsMissing(column="who", word="p1"),)
        before = worked(before, before.reading.after(steps), steps)
    facts = loaded(saved(template(before))) if way != "known" else template(before)
    data = OTHERS if way in ("known", "brought", "without its form") else b"who,age,cost\n" + OTHERS.split(b"\n", 1)[1]
    data = ROWS if way == "a word" else data
    reading = read_csv(data)
    bare = OwnFile(name="f", data=data, choices=(), reading=reading, decisions=Decisions(schema=reading.suggested()))
    shelf = Shelf(monkeypatch, bare)
    if way == "without its form":
        monkeypatch.setattr(source, "keep", shelf._keep)
        declarations._offer_without_form(facts, None)
        (facts,) = shelf.own.known
    found = shelf.declare(facts)
    assert not found.decisions.said_rows
    assert found.schema.id_column is None
    assert found.rows.unconfirmed, "what one row is could be another thing here"
    assert private_answer.lacking(found)
    same = Shelf(monkeypatch, replace(bare, reading=read_csv(ROWS), data=ROWS)).declare(template(own()))
    assert same.schema.id_column is None
    assert not same.decisions.said_rows
    assert same.rows.unconfirmed


def test_what_names_rows_is_told_however_many_columns_there_are() -> None:
    """Behind eight columns of numbers the click said “and 2 more”, and gave all comments out."""
    numbers = [Column(name=f"visits {place}", type="integer", low=0, high=9) for place in range(9)]
    many = naming("option", *numbers, COMMENT, settled=frozenset({COMMENT.name}), notation=frozenset())
    told = needed.guessed(many, many.columns.open)
    assert "shown with an answer" in told
    assert "more as listed" in told
    assert "visits 8" in needed.whole(many)
    texts = [Column(name=f"text {place}", type="text") for place in range(12)]
    told = needed.guessed(naming("option", *texts, CALLERS), [column.name for column in texts])
    assert all(f"“{column.name}”" in told for column in texts)


def test_a_click_on_what_is_no_longer_shown_calls_nothing_right(monkeypatch: pytest.MonkeyPatch) -> None:
    shown, other = own(said_row=False), own(b"score,ill\n" + b"".join(b"%d,yes\n" % n for n in range(24)))
    other = replace(other, decisions=Decisions(schema=other.reading.suggested()))  # type: ignore[union-attr]
    shelf = Shelf(monkeypatch, other)
    decided: list[Any] = []
    monkeypatch.setattr(actions, "decide", decided.append)
    needed._right(needed.whole(shown))
    assert not decided
    assert shelf.said == [data_words.CHANGED_MEANWHILE]
    needed._right(needed.whole(other))
    assert decided


def test_a_click_on_the_type_of_a_column_that_is_gone_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sent by hand for a table that had taken its place, it wrote a defect into the log each time."""
    shelf, decided = Shelf(monkeypatch, own()), list[Any]()
    monkeypatch.setattr(actions, "decide", decided.append)
    monkeypatch.setattr(session, "entered", lambda key, default: "category")
    columns._retype("gone", "key")
    assert not decided
    columns._retype("colour", "key")
    assert decided
    assert shelf.own.schema.names == ("who", "colour")


def test_a_tick_about_some_columns_is_none_about_others() -> None:
    assert bulk._public_key(["colour"]) != bulk._public_key(["illness"])
    assert bulk._public_key(["colour"]) == bulk._public_key(["colour"])


def naming(each_row: EachRow, *columns: Column, **facts: Any) -> OwnFile:
    cells = {"date": "2024-01-%02d", "text": "thing %d", "category": "A", "integer": "%d"}
    rows = [
        ",".join(cells[one.type] % n if "%" in cells[one.type] else cells[one.type] for one in columns)
        for n in range(1, 25)
    ]
    data = "\n".join([",".join(one.name for one in columns), *rows]).encode()
    schema = Schema(columns=columns, each_row=each_row)
    return own(data, schema=schema, said_rows=True, **facts)


STREET = Column(name="street", type="category", categories=("A", "B"))
COMMENT = Column(name="last comment", type="text")
CALLERS = Column(name="callers", type="integer", low=0, high=100)


def test_where_options_are_declared_no_text_that_a_file_suggested_names_them() -> None:
    """One comment more made text of them all, and all comments were given out in the place of the streets."""
    for facts in ({"confirmed": frozenset({read_as(COMMENT)})}, {"settled": frozenset({"last comment"})}):
        found = naming("option", STREET, CALLERS, COMMENT, **facts)
        called = found.decide(found.confirm(found.columns.to_call_right))
        assert called.columns.declared is not None
        assert called.columns.declared.names == ("street", "callers")
    alone = naming("option", CALLERS, COMMENT, settled=frozenset({"last comment", "callers"}))
    assert alone.columns.declared is not None
    assert alone.columns.declared.names == ("callers",), (
        "a type chosen by hand says of no column that it names the options"
    )
    assert "last comment" in alone.columns.open, "so it is asked"
    assert "shown with an answer" in needed.guessed(alone, ["last comment"])
    assert "shown with an answer" in declared_words(alone, alone.schema.column("last comment")), (
        "the list of columns says it too"
    )
    assert declared_words(found, found.schema.column("last comment")) == "text: not asked about"
    called = alone.decide(alone.confirm(alone.columns.to_call_right))
    assert called.columns.declared is not None
    assert called.columns.declared.names == ("callers", "last comment")


def test_declared_options_name_rows_once_somebody_calls_that_right() -> None:
    """What most complain of in each street was taken for the street: one caller more made it another, by e^15 for
    0.5."""
    complaint = Column(name="complaint", type="category", categories=("heating", "light", "noise"))
    settled = frozenset({"complaint", "callers"})
    found = naming("option", complaint, CALLERS, settled=settled, notation=frozenset(), confirmed_row=True)
    assert found.columns.declared is not None
    assert found.columns.declared.names == ("callers",), "bounds and options were declared, and not what names the rows"
    assert "complaint" in found.columns.open
    assert private_answer.asks_confirmation(found)
    assert "shown with an answer" in needed.guessed(found, ["complaint"])
    assert "shown with an answer" in declared_words(found, complaint)
    assert "nobody's data can change which option a row is" in column_words.names_shown(["complaint"], "option")
    called = found.decide(found.confirm(found.columns.to_call_right))
    assert called.columns.declared is not None
    assert called.columns.declared.names == ("complaint", "callers")
    records = called.decide(called.decisions.rows_are(each_row="record"))
    assert records.columns.naming == ()
    assert records.columns.declared is not None
    assert "complaint" in records.columns.declared.names


@pytest.mark.parametrize("heading", ["street", "userid"])
def test_the_click_says_that_no_row_is_who_is_protected(heading: str) -> None:
    """No list of headings is whole: where none tells it, a person states it, or rows that are people come and go."""
    found = naming("option", Column(name=heading, type="text"), CALLERS, said_row=False)
    told = needed.guessed(found, found.columns.to_call_right)
    assert ("none of them is itself a person" in told) == (heading == "street")
    assert found.schema.protects_rows == (heading == "userid")
    assert "itself" not in needed.guessed(naming("record", CALLERS, said_row=False), ["callers"])


def test_what_names_rows_was_said_of_cells_that_ended_like_this() -> None:
    """Where no line names columns, “Street 7;4” took the name's place once cells ended at commas: an entry in clear."""
    data = "".join(f"Street {place};{place},5\n" for place in range(24)).encode()
    found = []
    for sign in (";", ","):
        choices = {"delimiter": sign, "header_rows": 0, "columns": 2}
        reading = read_table(data, **choices)
        schema = Schema(columns=(Column(name="column 1", type="text"),), each_row="option")
        decisions = Decisions(schema=schema, said_row=True, settled=frozenset({"column 1"}))
        one = OwnFile(name="f", data=data, choices=tuple(choices.items()), reading=reading, decisions=decisions)
        found.append(one)
    right = found[0].decide(found[0].confirm(found[0].columns.to_call_right))
    assert right.columns.unconfirmed(right.columns.naming) == ()
    assert replace(found[1], decisions=right.decisions).columns.unconfirmed(right.columns.naming) == ("column 1",)


def test_days_name_steps_once_somebody_calls_that_right() -> None:
    """Bounds were stated of a date, for whatever question, and its cells were given out as the names of the rows."""
    from datetime import date

    day = Column(name="last incident", type="date", earliest=date(2024, 1, 1), latest=date(2024, 12, 31))
    settled = frozenset({"last incident", "visits"})
    visits = replace(CALLERS, name="visits")
    found = naming("step", visits, day, settled=settled, confirmed_row=True, notation=frozenset())
    assert "last incident" in found.columns.open, "whoever declared it"
    assert private_answer.asks_confirmation(found)
    assert "shown with an answer" in needed.guessed(found, ["last incident"])
    assert "shown with an answer" not in needed.guessed(found, ["visits"])
    right = found.decide(found.confirm(found.columns.to_call_right))
    assert "last incident" not in right.columns.open
    records = naming("record", visits, day, settled=settled, confirmed_row=True)
    assert records.columns.to_call_right == records.columns.suggested
    said_of_records = records.decide(replace(records.decisions, confirmed=frozenset({read_as(day)})))
    steps = said_of_records.decide(said_of_records.decisions.rows_are(each_row="step"))
    assert "last incident" in steps.columns.open, "called a date right, where nothing was named"


@pytest.mark.parametrize(
    ("by", "unit", "refused"),
    [
        ("driver_id", "person", True),
        ("driver_id", "driver", False),
        ("patient", "person", True),
        ("person_id", "person", False),
        ("who", "person", False),
    ],
)
def test_rows_of_one_kind_of_people_are_no_rows_of_another(by: str, unit: str, refused: bool) -> None:
    """A passenger who rode with thirty drivers moves thirty rows and takes none away: charged 0.5 for 7. Whom else a
    file names no heading tells for certain."""
    step = OneRowPer(by=by, of="fare", how="sum")
    assert bool(put_together.refusal((step,), unit)) == refused


def test_of_another_sheet_no_choice_holds_that_was_made_of_one() -> None:
    """Cells merged in the first row alone, answered of one sheet, stood as stated of the next."""
    known = {"part": "Areas", "merged": "first", "header_rows": 1, "encoding": "utf-8"}
    assert arrivals.chosen(known, {"merged": "each"}) == {**known, "merged": "each"}
    shown = {"part": "Incomes", "header_rows": 1, "keep_footer": True}
    assert arrivals.chosen(known, shown) == {"part": "Incomes", "encoding": "utf-8", "keep_footer": True}


def test_the_form_that_was_stated_of_a_sheet_is_asked_of_another() -> None:
    table = read_table(ROWS)
    before = own(settled=frozenset({"file:merged", "file:header", "colour"}))
    other = replace(table, report=replace(table.report, part="Areas"))
    assert opened("f.csv", ROWS, (), other, None, before).decisions.settled == frozenset()


@pytest.mark.parametrize("lacking", [True, False])
def test_of_another_table_of_theirs_what_is_remembered_says_nothing_of_rows(
    lacking: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One row each, of patients, was said of their visits, which have one column in common: charged 0.5 for 4."""
    age = Column(name="age", type="integer", low=0, high=100)
    columns = (WHO, COLOUR, age) if lacking else (WHO, COLOUR)
    schema = Schema(columns=columns, rows_per_person=1, people=40, id_column=WHO.name)
    template = Template(schema=schema)
    before = Remembered(template=template, suggested=(), confirmed=())
    bare = own(schema=Schema(columns=(WHO, COLOUR)), said_rows=False, said_row=False)
    found = Shelf(monkeypatch, bare).declare(template, before)
    assert (found.decisions.said_rows, found.decisions.said_row) == (False, False)
    assert (found.schema.people, found.schema.id_column) == (None, None), "it may be whose row it is there alone"
    assert found.schema.column("colour") == COLOUR, "its options were declared all the same"


TOTALS = b"ward,a,b\nnorth,1,0\nnorth,0,0\nsouth,0,0\nTotal,1,0\n"


@pytest.mark.parametrize("way", ["a step taken back", "a choice taken back", "a choice made"])
def test_rows_that_may_come_back_are_said_anew(way: str) -> None:
    """One row each, said of a table without its totals, stood where each total is a row of everybody's more."""
    usual: dict[str, Any] = {"header_rows": 1, "header_line": 1}
    without = usual | {"keep_footer": False}

    def read_by(choices: dict[str, Any], before: OwnFile | None = None) -> OwnFile:
        found = opened("f.csv", TOTALS, tuple(sorted(choices.items())), read_table(TOTALS, **choices), None, before)
        return found.decide(replace(found.decisions, said_rows=True)) if before is None else found

    if way == "a step taken back":
        bare = read_by(usual)
        assert bare.reading is not None
        step = LeaveOutTotals(column="ward")
        done = worked(bare, bare.reading.after((step,)), (step,))
        assert done.decisions.said_rows, "there are fewer rows"
        assert not worked(done, bare.reading, ()).decisions.said_rows
    elif way == "a choice taken back":
        assert not read_by(usual, read_by(without)).decisions.said_rows
    else:
        assert read_by(without, read_by(usual)).decisions.said_rows, "there are fewer rows"


class Ledger:
    """Knows two groups of people, one of which looks like what is read."""

    def new_lineage(self) -> str:
        return "fresh"

    def similar(self, fingerprint: str, sketch: Any, **how: Any) -> list[Any]:
        return [Resemblance(lineage="tenants of 2023", name="2023")]


@pytest.mark.parametrize(("anew", "asked"), [(True, True), (False, False)])
def test_that_people_are_others_was_said_of_the_sheet_of_which_it_was_said(
    anew: bool, asked: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """People whose budget was spent were answered about from another's: their sheet stood behind one of others."""
    monkeypatch.setattr(compute, "ledger", Ledger)
    monkeypatch.setattr(arrivals, "may_see", lambda: ["tenants of 2023", "tenants of 2024"])
    found = arrivals._with_people(replace(own(), lineage="tenants of 2024"), anew=anew)
    assert bool(found.alike) == asked
    assert (found.lineage == "fresh") == asked, "answers are charged to nobody until it is said"
