"""A column that exists only because rows name it is in no release, whatever is said of it and whatever step makes it.

One row more could bring such a column. So two files that differ in that row must offer the same private answers, and
no word of the row may be in what is declared, saved or remembered.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from itertools import product
from typing import Any, get_args

import pytest

from dashboard import offering
from dashboard.case import Case
from dashboard.controls import Setting
from dashboard.data import bulk, read_again, template
from dashboard.data import source as data_source
from dashboard.data.decisions import typed_as
from dashboard.data.own_file import OwnFile
from dashboard.data.remembered import Remembered
from dashboard.question import Offer
from dashboard.questions.selection.most_common import MostCommon
from dashboard.words.release import NAMED_BY_LINE, NAMED_BY_ROWS, answers_for
from dpcore.datasets import (
    Declaration,
    LeaveOutTotals,
    MonthsToRows,
    OneRowPer,
    ReadAsMissing,
    Reading,
    SplitOptions,
    Step,
    TicksToRows,
    fitted,
    loaded,
    read_csv,
    read_table,
    saved,
)
from dpcore.datasets.schema import Column, ColumnType, EachRow
from dpcore.datasets.steps import KINDS
from dpcore.errors import InvalidArgument
from dpcore.release import question_digest, sentence
from dpcore.releases.selection import MostCommonOption

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
    own = read_again.opened("a.csv", text, (), reading, None, None)
    return read_again.worked(own, reading.after(steps), steps)


def stated(own: OwnFile, kind: ColumnType, each_row: EachRow) -> OwnFile:
    """Everything called right that can be, every column as this type with all that it needs."""
    schema = replace(own.schema, each_row=each_row, id_column=None, rows_per_person=2)
    for name in schema.names:
        schema = typed_as(schema, name, kind)
        schema = schema.with_column(replace(schema.column(name), **NEEDS.get(kind, {}), from_file=False))
    whose = MADE if MADE in schema.names and each_row == "record" else None
    settled = frozenset(schema.names) | frozenset(own.doubts)
    schema = replace(schema, id_column=whose)
    said = {"settled": settled, "binary": settled if kind == "yes/no" else frozenset()}
    return own.decide(replace(own.decisions, schema=schema, **said, said_rows=True, said_row=True))


def private(own: OwnFile) -> tuple[object, ...]:
    """All about columns that a private answer, its receipt or a saved declaration is given."""
    assert own.reading is not None
    declared = own.columns.declared
    names = () if declared is None else declared.names
    return (
        names,
        own.reading.private.has([MADE]),
        WORD in saved(template.template(own)),
        any(WORD in column.name for column in own.columns.spoken_of),
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
    kept = template.template(opened([*ROWS, f"x,{WORD},1"], (SPLIT,)))
    columns = (*kept.schema.columns, Column(name=MADE, type="yes/no"))
    brought = loaded(saved(replace(kept, schema=replace(kept.schema, columns=columns))))
    assert MADE in brought.schema.names
    found = []
    for rows in ([*ROWS, f"x,{WORD},1"], ROWS):
        own = opened(rows, brought.steps)
        assert own.reading is not None
        fit = fitted(brought, own.reading)
        every = frozenset(fit.schema.names)
        own = own.decide(replace(own.decisions, schema=fit.schema, settled=every, binary=every))
        assert all(own.schema.column(name).from_file for name in own.from_rows)
        found.append(own)
    assert not leaks(*found)


def test_stated_options_are_asked_as_before() -> None:
    own = opened(ROWS, (replace(SPLIT, options=("Gym", WORD)),))
    assert own.columns.declared is not None
    assert own.columns.declared.names == ("likes: Gym", MADE)
    assert private(own)[1]


def test_what_is_blank_but_for_such_columns_counts_alike() -> None:
    """Whether rows without anything in them count must not hang on the columns that another row brings."""

    def counted(rows: list[str]) -> int:
        own = stated(opened(rows, (SPLIT,)), "integer", "record")
        assert own.reading is not None
        assert own.columns.declared is not None
        reads = Declaration.of(own.columns.declared).reads("age")
        return own.reading.private.opened(reads).rows

    assert counted([",;,"] * 5 + ["a,Tea,1"]) == counted([",;,"] * 5 + ["a,;,1"]) == 1


def test_these_tests_can_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    """As it was: a type that is chosen by hand took the mark away."""
    monkeypatch.setattr(OwnFile, "from_rows", frozenset())
    own, neighbour = (opened(rows, (SPLIT,)) for rows in ([*ROWS, f"x,{WORD},1"], ROWS))
    assert leaks(stated(own, "yes/no", "record"), stated(neighbour, "yes/no", "record"))


EXTRA = "methadone"
PEOPLE = [{"ward": "north" if at % 3 else "south", "age": str(20 + at)} for at in range(40)]


def _in_columns(rows: list[dict[str, str]]) -> str:
    names = dict.fromkeys(name for row in rows for name in row)
    return json.dumps({name: [row.get(name) for row in rows] for name in names})


FORMS: dict[str, Callable[[list[dict[str, str]]], str]] = {
    "a list": json.dumps,
    "lines": lambda rows: "\n".join(map(json.dumps, rows)),
    "a list under a name": lambda rows: json.dumps({"people": rows}),
    "columns": _in_columns,
}


def json_file(form: str, last: dict[str, str]) -> OwnFile:
    """A file of JSON with this last person, its columns as they are suggested."""
    data = FORMS[form]([*PEOPLE, {"ward": "north", "age": "50"} | last]).encode()
    return read_again.opened("a.json", data, (), read_table(data), None, None)


@pytest.mark.parametrize("form", FORMS)
def test_a_column_that_one_record_names_decides_neither_refusal_nor_receipt(form: str) -> None:
    """The very question is asked of both files, and read: where nobody names the column, it is missing everywhere."""
    declared = Declaration(columns=(Column(name=EXTRA, type="yes/no"),), named_by_rows=True)
    asked = MostCommonOption.of(declared, EXTRA, epsilon=1.0)
    found = []
    for last in ({EXTRA: "yes"}, {}):
        reading = json_file(form, last).reading
        assert reading is not None
        assert (EXTRA in reading.frame.columns) == bool(last)
        assert reading.private.has(asked.reads.names)
        reading.private.check(asked.reads)
        found.append(asked.read(reading.private).tolist())
    assert found == [[0, 1], [0, 0]]
    reading = read_csv(f"ward,{EXTRA}\nnorth,yes\n".encode())
    assert not reading.private.has(["age"]), "a header is public, and so is what it lacks"


def test_its_receipt_says_that_the_rows_name_it() -> None:
    """Whatever was declared by hand: the name came out of the file."""
    own = json_file("lines", {EXTRA: "yes"})
    own = own.decide(own.decisions.says(own.schema.column(EXTRA), binary={EXTRA}))
    own = own.decide(replace(own.decisions, settled=frozenset(own.schema.names), said_row=True, said_rows=True))
    own = replace(own.decide(own.confirm(own.columns.open)), lineage="people", use="what_if")
    assert own.named_by_rows
    assert own.columns.declared is not None
    table = replace(own.schema, columns=own.columns.declared.columns)
    plain, told = (
        MostCommonOption.of(Declaration.of(table, named_by_rows=by_rows), EXTRA, epsilon=1.0)
        for by_rows in (False, own.named_by_rows)
    )
    note = f"That the file has “{EXTRA}” was told by its rows, which name their own cells: not covered by ε."
    assert note in sentence(told)
    assert note not in sentence(plain)
    assert question_digest(plain) != question_digest(told)
    source = data_source._own_source(own, own.reading.table(own.schema))  # type: ignore[union-attr]
    assert source is not None
    assert source.declared is not None
    assert source.declared.named_by_rows
    offered = offering.ask(MostCommon, Case(source=source, epsilon=1.0), Setting({"column": EXTRA})).question
    assert isinstance(offered.offer, Offer)
    assert NAMED_BY_LINE in answers_for(offered.offer.request.notes)
    assert NAMED_BY_LINE not in answers_for(plain.notes)
    assert NAMED_BY_ROWS in offered.protected.not_protected


@pytest.mark.parametrize("form", FORMS)
def test_what_is_saved_names_no_column_that_nobody_spoke_of(form: str) -> None:
    both = [json_file(form, last) for last in ({EXTRA: "yes"}, {})]
    assert EXTRA in both[0].schema.names
    needs: dict[str, dict[str, Any]] = {"ward": {"categories": ("north", "south")}, "age": {"low": 0.0, "high": 120.0}}
    for settled in (frozenset(), frozenset({"ward"}), frozenset({"ward", "age"})):
        owns = []
        for own in both:
            says = own.decisions.says(*(replace(own.schema.column(name), **needs[name]) for name in settled))
            own = own.decide(replace(says, settled=settled, said_row=True))
            assert own.columns.spoken_of == (), "nothing is kept before it is called right"
            owns.append(own.decide(own.confirm(own.columns.open)))
        texts = {saved(template.template(own)) for own in owns}
        assert len(texts) == 1
        assert EXTRA not in texts.pop()
        assert len({Remembered.of(own).written() for own in owns if own.columns.spoken_of}) == bool(settled)
    loaded(saved(template.template(both[0])))


def test_the_tests_of_json_can_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    """As it was: what the records name was taken for a header."""
    monkeypatch.setattr(Reading, "named_by_rows", False)
    one, other = (json_file("lines", last) for last in ({EXTRA: "yes"}, {}))
    assert one.reading is not None
    assert other.reading is not None
    assert one.reading.private.has([EXTRA]) != other.reading.private.has([EXTRA])
    assert saved(template.template(one)) != saved(template.template(other))


def test_nothing_is_asked_of_a_column_that_only_rows_fill() -> None:
    """It is in no private answer, whatever is said of it."""
    rows = "".join(f"{'ab'[n % 2]},{n % 7}.5,{n % 9}.5\n" for n in range(30))
    own = read_again.opened("a", b"", (), read_table(f"kind,age,\n{rows}".encode(), header_rows=1), None, None)
    assert own.from_rows == {"column 3"}
    assert own.schema.column("column 3").type == own.schema.column("age").type
    assert [column.name for column in bulk.undeclared(own)] == ["kind", "age"]
