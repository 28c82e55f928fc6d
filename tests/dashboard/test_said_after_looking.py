"""Of a file that was seen, stating how it is read and calling right what it suggests are one and the same to others.

Files come in pairs that differ in one row, by which the page asks another question, or guesses another type: whoever
does what it asks of each makes the same request, saves the same declaration, and says the same on the receipt.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Sequence
from dataclasses import fields, replace
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from dashboard import catalogue, offering
from dashboard.controls import Setting
from dashboard.data import private_answer, read_again, remembered
from dashboard.data.decisions import Decisions, read_as
from dashboard.data.file_columns import FileColumns
from dashboard.data.file_rows import FileRows
from dashboard.data.own_file import OwnFile
from dashboard.data.remembered import Remembered
from dashboard.data.template import template
from dashboard.question import CannotAsk, Offer
from dashboard.questions.selection.most_common import MostCommon
from dashboard.words.release import STEPS as STEPS_SAID
from dashboard.words.release import answers_for
from dpcore.datasets import (
    Column,
    Declaration,
    LeaveOutTotals,
    MonthsToRows,
    OneRowPer,
    ReadAsMissing,
    Reading,
    Schema,
    SplitOptions,
    Step,
    Template,
    TicksToRows,
    loaded,
    read_table,
    saved,
)
from dpcore.datasets.declaration import Reads
from dpcore.datasets.done import Done
from dpcore.datasets.schema import ColumnType
from dpcore.datasets.steps import KINDS
from dpcore.release import question_digest, sentence
from dpcore.releases.alarm import AlarmRun
from dpcore.releases.asked import Asked
from dpcore.releases.quantile import QuantileValue
from dpcore.releases.selection import MostCommonOption
from dpcore.releases.steps_chosen import steps_chosen
from tests.dashboard.test_called_right import declare
from tests.dashboard.test_data_page import declare as declare_on_page
from tests.dashboard.test_data_page import drop, held, look, press, shown

Open = Callable[..., AppTest]

FORM = {"header_rows": 1, "header_line": 1, "keep_footer": True}
BOUNDS: dict[str, dict[str, Any]] = {
    "number": {"low": 0.0, "high": 5000.0},
    "integer": {"low": 0.0, "high": 5000.0},
    "date": {"earliest": date(2024, 1, 1), "latest": date(2024, 12, 31)},
    "category": {"categories": ("red", "blue", "yes", "no")},
    "yes/no": {},
    "text": {},
}
PAIRS: dict[str, tuple[ColumnType, str, tuple[str, str]]] = {
    "which of day and month comes first": (
        "date",
        "".join(f"{n % 12 + 1:02}/{n * 5 % 12 + 1:02}/2024,a\n" for n in range(60)),
        ("11/03/2024,a\n", "25/03/2024,a\n"),
    ),
    "which mark is decimal": (
        "number",
        "".join(f"{n % 9 + 1}.{n * 37 % 900 + 100},a\n" for n in range(60)),
        ("2.345,a\n", "2.3,a\n"),
    ),
    "yes or no, or options": (
        "yes/no",
        "".join(f"{('yes', 'no')[n % 2]},a\n" for n in range(60)),
        ("yes,a\n", "maybe,a\n"),
    ),
    "options, or yes or no": (
        "category",
        "".join(f"{('yes', 'no')[n % 2]},a\n" for n in range(60)),
        ("yes,a\n", "maybe,a\n"),
    ),
    "numbers, or a code": ("integer", "".join(f"{20 + n % 17 * 2},a\n" for n in range(60)), ("7,a\n", "07,a\n")),
    "numbers, or text": (
        "integer",
        "".join(f"{20 + n % 17 * 2},a\n" for n in range(60)),
        ("7,a\n", "123456789012345678901,a\n"),
    ),
    "text, or numbers": (
        "text",
        "".join(f"{20 + n % 17 * 2},a\n" for n in range(60)),
        ("7,a\n", "123456789012345678901,a\n"),
    ),
}


@cache
def read(text: str) -> Reading:
    return read_table(text.encode(), **FORM)


def opened(text: str) -> OwnFile:
    return read_again.opened("a.csv", text.encode(), tuple(sorted(FORM.items())), read(text), None, None)


def settled(own: OwnFile, kind: ColumnType, **stated: Any) -> OwnFile:
    """Only what the page asks for: its questions answered, "x" made of this type where it was guessed otherwise, bounds
    declared, what is left called right."""
    if own.schema.column("x").type != kind and not readings(own, kind):
        assert own.reading is not None
        own = own.decide(own.decisions.retyped("x", kind, own.reading.column("x").suggestion))
    if "x" in own.doubts:
        own = own.decide(own.decisions.answered(readings(own, kind)[0]))
    column = replace(own.schema.column("x"), **BOUNDS[kind], **stated)
    says = own.decisions.says(column, binary={"x"} if kind == "yes/no" else ())
    own = own.decide(replace(says, schema=replace(says.schema, rows_per_person=1), said_rows=True))
    own = own.decide(own.confirm(own.columns.open))
    for doubt in own.form.doubts:
        own = own.decide(replace(own.decisions, settled=own.decisions.settled | {doubt}))
    assert own.columns.declared is None or not private_answer.lacking(own), private_answer.lacking(own)
    return own


def readings(own: OwnFile, kind: ColumnType) -> list[Column]:
    """What can be answered of "x", days or decimals as the pairs have them."""
    ways = [] if own.reading is None else [one.column for one in own.reading.column("x").readings]
    return [one for one in ways if one.type == kind and one.date_order in ("ymd", "dmy") and one.decimal == "."]


def declared(own: OwnFile) -> Declaration:
    assert own.columns.declared is not None
    return Declaration.of(
        own.columns.declared,
        suggested=own.columns.suggested,
        row_suggested=own.rows.suggested,
        form=own.form.said_in_answers,
        named_by_rows=own.named_by_rows,
        together=own.together,
        done=own.done,
    )


def asked(own: OwnFile, name: str = "x") -> Asked:
    facts = declared(own)
    if facts.column(name).type in ("number", "integer"):
        return QuantileValue.of(facts, name, epsilon=1.0)
    if facts.column(name).type == "date":
        return AlarmRun.of(facts, name, threshold=5, epsilon=1.0)
    return MostCommonOption.of(facts, name, epsilon=1.0)


def handed_out(own: OwnFile) -> list[str]:
    """All that anybody else may see of it: a declaration that is saved, a question and its receipt."""
    told = [saved(template(own))]
    if own.columns.declared is None:
        return told
    request = asked(own)
    return [*told, question_digest(request), sentence(request), *request.suggestions, repr(request.reads)]


def same(pair: tuple[str, str], kind: ColumnType) -> bool:
    here, there = (handed_out(settled(opened(text), kind)) for text in pair)
    return here == there


def pair_of(name: str) -> tuple[ColumnType, tuple[str, str]]:
    kind, rows, (here, there) = PAIRS[name]
    return kind, (f"x,v\n{rows}{here}", f"x,v\n{rows}{there}")


@pytest.mark.parametrize("name", PAIRS)
def test_whether_a_row_had_somebody_state_it_is_told_to_nobody(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    kind, pair = pair_of(name)
    first = [(opened(text).schema.column("x"), opened(text).doubts) for text in pair]
    assert first[0] != first[1], "one row makes the page guess, or ask, otherwise"
    assert same(pair, kind)
    if kind != "text":
        assert all("How the cells of “x” are read" in sentence(asked(settled(opened(text), kind))) for text in pair)
    monkeypatch.setattr(FileColumns, "after_looking", FileColumns.suggests)
    assert same(pair, kind) == (kind in ("integer", "yes/no")), (
        "what was stated went without a word, but for numbers without a mark, and yes or no, which is always stated"
    )


def test_nor_whether_what_one_row_is_was_chosen_or_called_right(monkeypatch: pytest.MonkeyPatch) -> None:
    right = settled(opened(pair_of("numbers, or a code")[1][0]), "integer")
    chosen = right.decide(right.decisions.rows_are(each_row="step").rows_are(each_row="record"))
    chosen = chosen.decide(replace(chosen.decisions, said_rows=True))
    chosen = chosen.decide(chosen.confirm(()))
    assert not private_answer.lacking(chosen)
    assert chosen.decisions.said_row != right.decisions.said_row
    assert handed_out(chosen) == handed_out(right)
    monkeypatch.setattr(FileRows, "suggested", property(lambda rows: not rows.own.decisions.said_row))
    assert handed_out(chosen) != handed_out(right)


COLUMNS = (Column(name="x", type="yes/no"), Column(name="v", type="category", categories=("a", "b")))
WITHOUT = Template(schema=Schema(columns=COLUMNS))
"""A declaration that was made without a file."""


def test_what_a_declaration_states_that_was_made_without_the_file_goes_without_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """For whichever file it is brought, until somebody says otherwise of the column; steps, too, leave it so."""
    _, pair = pair_of("yes or no, or options")
    brought = [declare(opened(text), loaded(saved(WITHOUT))) for text in pair]
    assert [own.columns.suggested for own in brought] == [(), ()]
    assert handed_out(settled(brought[0], "yes/no")) == handed_out(settled(brought[1], "yes/no"))
    own = brought[0]
    assert loaded(saved(template(own))).suggested == (), "saved again, too"
    steps: tuple[Step, ...] = (ReadAsMissing(column="v", word="b"),)
    assert own.as_read is not None
    assert read_again.worked(own, own.as_read.after(steps), steps).columns.suggested == ()
    retyped = own.decisions.retyped("v", "yes/no", None)
    other = own.decide(retyped.says(retyped.schema.column("v"), binary={"v"}))
    assert other.columns.suggested == ("v",), "somebody who had seen the file says otherwise"
    carried = read_again.carried
    monkeypatch.setattr(read_again, "carried", lambda *of: replace(carried(*of), brought=frozenset()))
    assert read_again.worked(own, own.as_read.after(steps), steps).columns.suggested == ("x", "v")


def test_what_was_stated_of_one_file_is_not_asked_of_the_next() -> None:
    """No click more than before: it is marked, and called right."""
    kind, pair = pair_of("which mark is decimal")
    facts = loaded(saved(template(settled(opened(pair[0]), kind))))
    assert "x" in facts.suggested
    assert "x" in facts.confirmed
    for text in pair:
        found = declare(opened(text), facts)
        assert found.doubts == ()
        assert found.columns.open == ()
        assert found.columns.suggested == ("x",)


AGES = "age;who;ticks;2024-01;2024-02;kind\n" + "".join(
    f"{20 + n % 17 * 2};p{n % 20};{('Gym,Tea', 'Pool')[n % 2]};{n % 5};{n % 7};{('a', 'b', 'Total')[n % 7 // 3]}\n"
    for n in range(60)
) + "999;p1;Pool;1;1;a\n" * 20  # fmt: skip
STEPS: dict[str, tuple[Step, str]] = {
    "missing": (ReadAsMissing(column="age", word="999"), "one word of “age” is read as missing"),
    "totals": (LeaveOutTotals(column="kind"), "rows whose “kind” says total or subtotal are left out"),
    "columns": (
        SplitOptions(column="ticks", separator=",", options=("Gym", "Tea"), most=2),
        "the first 2 options of each cell of “ticks”, with “,” between them, are columns, "
        "one for each of the 2 that are listed",
    ),
    "rows": (
        TicksToRows(column="ticks", separator=",", most=1),
        "the first option of each cell of “ticks”, with “,” between them, are rows",
    ),
    "months": (MonthsToRows(columns=("2024-01", "2024-02")), "2 columns, “2024-01” to “2024-02”, are rows"),
    "together": (
        OneRowPer(by="who", of="age", how="largest"),
        "all rows of one “who” are one row with the largest of “age”, with a decimal point",
    ),
}


@cache
def aged() -> OwnFile:
    form = FORM | {"delimiter": ";"}
    reading = read_table(AGES.encode(), **form)
    return read_again.opened("a.csv", AGES.encode(), tuple(sorted(form.items())), reading, None, None)


def after(*steps: Step) -> OwnFile:
    own = aged()
    assert own.as_read is not None
    own = read_again.worked(own, own.as_read.after(steps), steps) if steps else own
    name = own.schema.names[1] if "age" not in own.schema.names else "age"
    schema = own.schema.with_column(Column(name=name, type="integer", low=0.0, high=100.0))
    return own.decide(replace(own.decisions, schema=replace(schema, rows_per_person=own.made), said_rows=True))


@pytest.mark.parametrize("kind", STEPS)
def test_a_step_that_was_chosen_after_the_file_was_seen_is_part_of_what_is_asked(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That a page offers it hangs on the rows, and the answer on it: digest and receipt say so, by no word."""
    step, told = STEPS[kind]
    own = after(step)
    name = "age" if "age" in own.schema.names else "largest of age"
    request = asked(own, name)
    (note,) = (note for note in request.suggestions if "was chosen by" in note)
    assert note == f"That {told} was chosen by a person who had seen the file or an earlier one: not covered by ε."
    assert note in sentence(request)
    assert len(sentence(request)) <= 1100
    assert "999" not in sentence(request) + repr(request)
    bare = replace(request, reads=replace(request.reads, done=()))
    assert question_digest(request) != question_digest(bare)
    assert not any("was chosen by" in note for note in bare.suggestions)
    assert [one.kind for one in own.done] == [kind]
    every = {type(one).__name__ for one, _ in STEPS.values()}
    assert every == set(KINDS), "of every kind of step"
    monkeypatch.setattr(OwnFile, "done", ())
    assert not any("was chosen by" in note for note in asked(own, name).suggestions)


def test_with_and_without_it_are_two_questions_and_their_order_is_one_more() -> None:
    missing, totals, split = (STEPS[kind][0] for kind in ("missing", "totals", "columns"))
    ways = [(), (missing,), (totals,), (missing, totals), (totals, missing), (missing, missing), (split,)]
    ways.append((replace(split, most=1),))  # type: ignore[type-var]
    assert len({question_digest(asked(after(*steps), "age")) for steps in ways}) == len(ways)
    words = [ReadAsMissing(column="age", word=word) for word in ("20", "22")]
    assert "2 words of “age” are read as missing" in sentence(asked(after(*words), "age"))
    assert question_digest(asked(after(words[0]), "age")) == question_digest(asked(after(words[1]), "age")), "no word"


def test_many_steps_are_told_in_a_sentence_that_fits() -> None:
    long = [Done(kind="columns", columns=(f"{n} " + "a long name " * 9,), stated=(";", "17")) for n in range(9)]
    (note,) = steps_chosen(Reads(columns=(), done=tuple(long)))
    assert "and 6 more steps are done was chosen by" in note
    assert len(note) < 450


def test_a_column_that_rows_name_is_named_by_no_step() -> None:
    """Unless somebody declared it: in objects of JSON one row may have brought it."""
    rows = [{"age": 20 + n % 30, "code": 5 + n % 9, **({"odd": "a"} if n == 3 else {})} for n in range(60)]
    data = json.dumps(rows).encode()
    own = read_again.opened("a.json", data, (), read_table(data), None, None)
    assert own.named_by_rows
    assert own.as_read is not None
    steps: tuple[Step, ...] = (ReadAsMissing(column="odd", word="a"), ReadAsMissing(column="age", word="21"))
    own = read_again.worked(own, own.as_read.after(steps), steps)
    schema = own.schema.with_column(Column(name="age", type="integer", low=0.0, high=100.0))
    own = own.decide(replace(own.decisions, schema=schema, said_rows=True))
    told = sentence(asked(own, "age"))
    assert "one word of a column is read as missing and one word of “age” is read as missing" in told
    assert "odd" not in told + repr(asked(own, "age"))


def objects(*steps: Step, declared: Sequence[str] = ("age",)) -> OwnFile:
    """Objects of JSON after these steps, of which these columns were declared."""
    rows = [{"age": 20 + n % 30, "code": 5 + n % 9, "person_id": f"p{n % 20}", "odd": "ab"[n % 2]} for n in range(60)]
    data = json.dumps(rows).encode()
    own = read_again.opened("a.json", data, (), read_table(data), None, None)
    assert own.named_by_rows
    assert own.as_read is not None
    own = read_again.worked(own, own.as_read.after(steps), steps)
    schema = own.schema
    for name in declared:
        code = name in ("odd", "person_id")
        facts: dict[str, Any] = {"categories": ("a", "b")} if code else {"low": 0.0, "high": 100.0}
        schema = schema.with_column(Column(name=name, type="category" if code else "integer", **facts))
    return own.decide(replace(own.decisions, schema=replace(schema, rows_per_person=1), said_rows=True))


BESIDE: list[Step] = [
    ReadAsMissing(column="odd", word="a"),
    LeaveOutTotals(column="odd"),
    OneRowPer(by="person_id", of="code", how="sum"),
    OneRowPer(by="odd"),
]


@pytest.mark.parametrize("step", BESIDE, ids=lambda step: type(step).__name__)
def test_what_else_is_declared_is_nothing_to_a_question(step: Step, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where rows name the columns, too: else an answer is paid twice, and what was granted is drawn by nobody."""
    bare, beside = (
        objects(step, declared=()),
        [name for name in objects(step, declared=()).schema.names if name != "age"],
    )
    name = "age" if "age" in bare.schema.names else beside.pop()
    asks = [asked(objects(step, declared=(name, *beside[:more])), name) for more in range(len(beside) + 1)]
    assert len(asks) > 1
    assert len({question_digest(one) for one in asks}) == len({sentence(one) for one in asks}) == 1
    taken = Declaration.taken

    def as_before(facts: Declaration, reads: Reads, named_by: str | None = None) -> Reads:
        known = [column.name for column in facts.columns]
        return replace(taken(facts, reads, named_by), done=tuple(one.naming(known) for one in facts.done))

    monkeypatch.setattr(Declaration, "taken", as_before)
    asks = [asked(objects(step, declared=(name, *beside[:more])), name) for more in range(len(beside) + 1)]
    assert len({question_digest(one) for one in asks}) > 1


@pytest.mark.parametrize("by", ["person_id", "odd"])
def test_by_which_column_rows_were_put_together_is_said_once_as_everywhere(by: str) -> None:
    """A receipt that says what each value of it is names it where it says what was done, and that rows told it."""
    request = asked(objects(OneRowPer(by=by), declared=("rows",)), "rows")
    told = sentence(request)
    assert f"all rows of one “{by}” are one row with their number was chosen" in told
    assert f"That the file has “rows” and “{by}” was told by its rows" in told
    assert request.reads.together == by
    hidden = replace(request.reads, together="", done=(request.reads.done[0].naming(()),))
    assert "all rows of one value of a column are one row" in " ".join(steps_chosen(hidden))


def vars_of(step: Step) -> dict[str, Any]:
    return {each.name: getattr(step, each.name) for each in fields(step)}


def test_what_is_stated_with_a_step_is_part_of_the_question() -> None:
    """Every field of every kind of step but a word of the rows, and no order of words that changes no row."""
    pairs: list[tuple[Step, Step]] = [
        (OneRowPer(by="who"), OneRowPer(by="who", missing_words=("", "p1", "p2"))),
        (OneRowPer(by="who"), OneRowPer(by="who", missing_words=())),
        (OneRowPer(by="who", missing_words=("p1",)), OneRowPer(by="who", missing_words=("p2",))),
        (OneRowPer(by="who", of="age", how="sum"), OneRowPer(by="who", of="age", how="mean")),
        (OneRowPer(by="who", of="age", how="sum"), OneRowPer(by="who", of="age", how="sum", decimal=",")),
        (OneRowPer(by="who"), OneRowPer(by="who", day=True)),
        (SplitOptions(column="ticks", options=("1", "1.0")), SplitOptions(column="ticks", options=("1.0",))),
        (SplitOptions(column="ticks"), SplitOptions(column="ticks", options=("1.0",))),
        (SplitOptions(column="ticks"), SplitOptions(column="ticks", most=2)),
        (SplitOptions(column="ticks"), SplitOptions(column="ticks", separator=",")),
        (SplitOptions(column="ticks", separator=","), SplitOptions(column="ticks", separator=",", decimal=",")),
        (TicksToRows(column="ticks", most=1), TicksToRows(column="ticks", most=2)),
        (
            TicksToRows(column="ticks", most=1, separator=","),
            TicksToRows(column="ticks", most=1, separator=",", decimal=","),
        ),
        (TicksToRows(column="ticks", most=1), TicksToRows(column="ticks", most=1, separator=",")),
        (MonthsToRows(columns=("2024", "2025")), MonthsToRows(columns=("2024", "2025"), time="year")),
        (MonthsToRows(columns=("2024", "2025")), MonthsToRows(columns=("2024", "2025"), value="paid")),
        (MonthsToRows(columns=("2024", "2025")), MonthsToRows(columns=("2025", "2024"))),
        (OneRowPer(by="who"), OneRowPer(by="whose")),
        (OneRowPer(by="who", of="age", how="sum"), OneRowPer(by="who", of="code", how="sum")),
        (SplitOptions(column="ticks"), SplitOptions(column="tocks")),
        (TicksToRows(column="ticks", most=1), TicksToRows(column="tocks", most=1)),
        (LeaveOutTotals(column="ticks"), LeaveOutTotals(column="tocks")),
        (ReadAsMissing(column="age", word="9"), ReadAsMissing(column="code", word="9")),
    ]
    assert [pair for pair in pairs if pair[0].done == pair[1].done] == []
    every = {(name, each.name) for name, kind in KINDS.items() for each in fields(kind)}
    for one, other in pairs:
        every -= {(type(one).__name__, name) for name, value in vars_of(one).items() if value != vars_of(other)[name]}
    assert every == {("ReadAsMissing", "word")}
    assert pairs[0][0].done.stated == pairs[0][1].done.stated[:3], "all that a question held before"
    same = [OneRowPer(by="who", missing_words=words) for words in (("P1", "p2"), ("p2", "", "p1"))]
    assert same[0].done == same[1].done
    assert OneRowPer(by="who").done.stated == ("count", "", ""), "as a question was before"
    reads = [Reads(columns=(), done=(step.done,)) for step in (OneRowPer(by="who"), same[0])]
    assert ", with words that mean missing stated was chosen by" in steps_chosen(reads[1])[0]
    assert "stated" not in steps_chosen(reads[0])[0]
    assert "p1" not in steps_chosen(reads[1])[0]


def test_card_and_panel_say_that_steps_were_chosen(open_app: Open) -> None:
    rows = "".join(f"{('red', 'blue', 'red')[n % 3]};{20 + n % 40}\n" for n in range(90)) + "red;999\n" * 9
    app = drop(open_app("data"), f"colour;age\n{rows}".encode())
    app.number_input(key="own-rows-None").set_value(1).run()
    declare_on_page(app, "colour", categories="red\nblue\ngreen", public=True)
    look(app)
    digests = []
    for steps in (False, True):
        if steps:
            press(app, "own-step-0")
            assert held(app).steps == (ReadAsMissing(column="age", word="999"),)
            press(app, "own-right")  # what a row is, is said of these rows
        assert private_answer.lacking(held(app)) == ()
        case = offering.Case(source=shown(app), epsilon=0.5)
        question = offering.ask(MostCommon, case, Setting()).question
        assert isinstance(question.offer, Offer)
        assert (STEPS_SAID in question.protected.not_protected) == steps
        told = answers_for(question.offer.request.notes)  # type: ignore[attr-defined]
        assert ("one word of “age” is read as missing" in told) == steps
        assert "999" not in told
        digests.append(question_digest(question.offer.request))
    assert digests[0] != digests[1]


LIKE = "v,x,n\n" + "".join(f"{'ab'[n % 2]},{('yes', 'no')[n % 2]},{n % 7}\n" for n in range(60))
ONE_ROW = {"yes or no": "a,yes,3\n", "options": "a,maybe,3\n"}
"""Two files that differ in the last row, by which "x" looks like the one or the other."""
CLICKS: dict[str, Callable[[AppTest], Any]] = {
    "nothing is said of it": lambda app: None,
    "in the form of all columns": lambda app: (
        app.checkbox(key="own-bulk-x-binary").check(),
        press(app, "own-bulk-go"),
    ),
    "as options": lambda app: (
        app.text_input(key="own-bulk-x-options").set_value("yes; no"),
        next(box for box in app.checkbox if str(box.key).startswith("own-bulk-public")).check(),
        press(app, "own-bulk-go"),
    ),
    "in its own form": lambda app: declare_on_page(app, "x", binary=True),
    "in its own form with what a missing cell is": lambda app: (
        declare_on_page(app, "x", fill="no", missing="n/a"),
        declare_on_page(app, "x", binary=True),
    ),
    "in its own form after its type": lambda app: (_typed(app), declare_on_page(app, "x", fill="no", binary=True)),
    "of what a missing cell is, then in the form of all": lambda app: (
        declare_on_page(app, "x", fill="no"),
        app.checkbox(key="own-bulk-x-binary").check(),
        press(app, "own-bulk-go"),
    ),
    "that, and the type chosen": lambda app: (
        declare_on_page(app, "x", fill="no", missing="n/a"),
        _typed(app),
        declare_on_page(app, "x", binary=True),
    ),
    "its type alone": lambda app: _typed(app),
    "the other type, and this one": lambda app: (_typed(app, "category"), _typed(app)),
    "the words alone that mean missing": lambda app: declare_on_page(app, "x", missing="n/a, -"),
    "these words and its type": lambda app: (_typed(app), declare_on_page(app, "x", missing="n/a, -")),
    "its form, saved as it is": lambda app: declare_on_page(app, "x"),
    "it, and taken back": lambda app: (
        declare_on_page(app, "x", binary=True),
        declare_on_page(app, "x", **{"binary-said": False}),
    ),
    "it, and another type": lambda app: (
        declare_on_page(app, "x", binary=True),
        _typed(app, "category"),
        _typed(app),
    ),
    "it, and undone": lambda app: (declare_on_page(app, "x", binary=True), press(app, "own-undo")),
}
SAID = (
    *("in the form of all columns", "as options", "in its own form", "in its own form with what a missing cell is"),
    *("in its own form after its type", "of what a missing cell is, then in the form of all"),
    "that, and the type chosen",
)
"""By these somebody says what "x" holds."""


def _typed(app: AppTest, kind: str = "yes/no") -> None:
    app.selectbox(key="own-column").set_value("x").run()
    (box,) = (box for box in app.selectbox if str(box.key).startswith("own-type-"))
    box.set_value(kind).run()


def began(open_app: Open, last: str, said: Callable[[AppTest], Any], *others: str) -> tuple[Any, ...]:
    """What is declared of the file, and what every page begins with or says instead, all called right by one click."""
    app = drop(open_app("data"), (LIKE + last).encode())
    app.number_input(key="own-rows-None").set_value(1).run()
    said(app)
    declare_on_page(app, "v", categories="a\nb", public=True)
    for name in others:
        declare_on_page(app, name, low=0.0, high=7.0)
    look(app)
    assert private_answer.lacking(held(app)) == ()
    source = shown(app)
    assert source.declared is not None
    found: list[Any] = [
        source.declared.columns,
        held(app).columns.suggested,
        source.table.schema.names[: len(others) + 2],
    ]
    for _, kind in catalogue.every():
        try:
            offer = offering.ask(kind, offering.Case(source=source, epsilon=0.5), Setting()).question.offer
        except CannotAsk as error:
            found.append((kind.key, str(error)))
            continue
        told = (offer.request.what, question_digest(offer.request)) if isinstance(offer, Offer) else offer.sentence
        found.append((kind.key, told))
    return tuple(found)


@pytest.mark.thorough
@pytest.mark.parametrize("others", [(), ("n",)], ids=["alone", "beside numbers"])
@pytest.mark.parametrize("clicks", CLICKS)
def test_no_row_decides_what_a_page_begins_with_nor_whether_it_offers_an_answer(
    clicks: str, others: tuple[str, ...], open_app: Open
) -> None:
    here, there = (began(open_app, last, CLICKS[clicks], *others) for last in ONE_ROW.values())
    assert here == there
    assert ("x" in [column.name for column in here[0]]) == (clicks in SAID)


def test_a_look_that_counts_as_declared_is_caught(open_app: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """As it was: yes or no needs no bounds, so that its looks declared it."""
    monkeypatch.setattr(FileColumns, "stands", lambda columns, column: column.releasable)
    here, there = (began(open_app, last, CLICKS["nothing is said of it"]) for last in ONE_ROW.values())
    assert "x" in [column.name for column in here[0]]
    assert here[3:] != there[3:]


AS_BEFORE = ("its type alone", "the words alone that mean missing", "its form, saved as it is")


@pytest.mark.parametrize("clicks", AS_BEFORE)
def test_a_type_or_a_form_that_counts_as_the_statement_is_caught(
    clicks: str, open_app: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As it was: whatever was chosen or saved of a column that looks like yes or no said that it holds that."""
    retyped, said = Decisions.retyped, Decisions.says

    def chosen(old: Decisions, name: str, kind: ColumnType, read: Column | None) -> Decisions:
        new = retyped(old, name, kind, read)
        return replace(new, binary=new.binary | ({name} if kind == "yes/no" else set()))

    def saved_so(old: Decisions, *columns: Column, binary: Collection[str] = ()) -> Decisions:
        return said(old, *columns, binary={*binary, *(one.name for one in columns if one.type == "yes/no")})

    monkeypatch.setattr(Decisions, "retyped", chosen)
    monkeypatch.setattr(Decisions, "says", saved_so)
    here, there = (began(open_app, last, CLICKS[clicks]) for last in ONE_ROW.values())
    assert ("x" in [column.name for column in here[0]]) != ("x" in [column.name for column in there[0]])


@pytest.mark.parametrize("name", ["yes or no, or options", "options, or yes or no"])
def test_what_looks_like_yes_or_no_is_declared_as_options_are(name: str) -> None:
    """Of both the page's forms change the same: a missing cell's meaning stays where the type is chosen."""
    _, pair = pair_of(name)
    found = []
    for text in pair:
        own = opened(text)
        own = says(own, "x", fill="no", missing_words=("", "q"))
        assert not own.columns.stands(own.schema.column("x"))
        if own.schema.column("x").type != "yes/no":
            own = own.decide(own.decisions.retyped("x", "yes/no", None))
        assert not own.columns.stands(own.schema.column("x"))
        own = own.decide(own.decisions.says(own.schema.column("x"), binary={"x"}))
        assert own.columns.stands(own.schema.column("x"))
        found.append((own.schema.column("x"), own.decisions.settled, own.decisions.binary))
    assert found[0] == found[1]


OTHERWISE: dict[str, tuple[str, dict[str, Any]]] = {
    "a word that means missing": ("v", {"missing_words": ("", "b")}),
    "what a missing cell counts as": ("v", {"fill": "a"}),
    "a word for yes": ("x", {"yes_words": ("yes", "maybe")}),
    "a word for no": ("x", {"no_words": ("no", "maybe")}),
    "a mark before decimals": ("n", {"decimal": ","}),
    "an order of days": ("d", {"date_order": "mdy"}),
}
ALL_KINDS = (
    *COLUMNS,
    Column(name="n", type="number", low=0.0, high=9.0),
    Column(name="d", type="date", date_order="dmy", **BOUNDS["date"]),
)
MIXED = "x,v,n,d\n" + "".join(
    f"{('yes', 'no', 'maybe')[n % 3]},{'ab'[n % 2]},{n % 7}.5,0{n % 9 + 1}/03/2024\n" for n in range(60)
)


@pytest.mark.parametrize("other", OTHERWISE)
def test_whoever_reads_a_brought_column_otherwise_had_seen_the_file(
    other: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Be it by a word alone: it is said, and saved, of that column; and what was called right is asked again."""
    own = declare(opened(MIXED), loaded(saved(Template(schema=Schema(columns=ALL_KINDS)))))
    assert own.columns.suggested == ()
    name, change = OTHERWISE[other]
    binary = own.decisions.binary
    assert binary == {"x"}
    states = own.decisions.says(replace(own.schema.column(name), **change), binary=binary)
    new = own.decide(states.stating(states.schema.column(name)))
    assert new.columns.suggested == (name,)
    assert name in loaded(saved(template(new))).suggested
    back = new.decide(new.decisions.says(own.schema.column(name), binary=binary).stating(own.schema.column(name)))
    assert back.columns.suggested == ()
    right = replace(new.decisions, settled=frozenset(), notation=frozenset(), brought=frozenset())
    right = replace(own.decide(right), decisions=own.decide(right).confirm((name,)))
    assert right.columns.unconfirmed((name,)) == ()
    back = right.decide(replace(right.decisions, schema=right.schema.with_column(own.schema.column(name))))
    assert back.columns.unconfirmed((name,)) == (name,)


def test_all_by_which_cells_are_read_is_in_what_was_said_of_them() -> None:
    """A field that a column gets has to be in, or to be one of these, which say what a cell can hold or be called."""
    column = Column(name="x", type="number", low=0.0, high=9.0)
    other: dict[str, Any] = {
        **{"type": "integer", "decimal": ",", "date_order": "mdy", "fill": 1.0},
        **{"missing_words": ("?",), "yes_words": ("a",), "no_words": ("b",), "name": "y"},
    }
    assert all(read_as(column) != read_as(replace(column, **{name: to})) for name, to in other.items())
    bounds = {"low", "high", "earliest", "latest", "categories", "words_from_file", "from_file"}
    about = {"sensitivity", "counts", "better", "unit", "about"}
    assert {one.name for one in fields(Column)} == other.keys() | bounds | about


_, DAYS, ENDS = PAIRS["which of day and month comes first"]
NEEDS: dict[str, dict[str, Any]] = {"v": {"categories": ("a", "b")}}
ORDERS = {
    "all at once": ("v", "x", "right"),
    "one later": ("v", "right", "x", "right"),
    "the other later": ("x", "right", "v", "right"),
    "one alone": ("v", "right"),
    "that one alone": ("x", "right"),
    "called right first": ("right", "v", "x", "right"),
    "nothing called right": ("v", "x"),
}


def beside_options(name: str) -> tuple[ColumnType, tuple[str, str]]:
    """The pair of this name, with "a" and "b" as options of "v"."""
    kind, rows, ends = PAIRS[name]
    lines = "".join(line[:-1] + "ab"[place % 2] + "\n" for place, line in enumerate(rows.splitlines()))
    return kind, (f"x,v\n{lines}{ends[0]}", f"x,v\n{lines}{ends[1]}")


def keeps(own: OwnFile, file: Path) -> tuple[str, str]:
    """What is saved and remembered now."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(remembered, "_files", lambda *_, **__: [file])
        remembered.keep(own)
    return saved(template(own)), file.read_text(encoding="utf-8") if file.exists() else ""


def says(own: OwnFile, name: str, **needs: Any) -> OwnFile:
    return own.decide(own.decisions.says(replace(own.schema.column(name), **needs)))


def moments(
    text: str, kind: ColumnType, order: Sequence[str], at: int, file: Path, whose: str | None = None
) -> list[tuple[str, str]]:
    """What is kept after each of these, once the page's question about "x" is answered, where it raises one: before the
    one at ``at``."""
    own = opened(text)
    own = own.decide(replace(own.decisions.rows_of(whose), said_rows=True))
    needs, found = NEEDS | {"x": BOUNDS[kind]}, []
    for place, what in enumerate(order):
        if place == at and "x" in own.doubts:
            own = own.decide(own.decisions.answered(readings(own, kind)[0]))
            found += [keeps(own, file)] if at else []
        elif place == at and at:
            found.append(keeps(own, file))
        own = own.decide(own.confirm(own.columns.open)) if what == "right" else says(own, what, **needs[what])
        latest = keeps(own, file)
        found += [latest] if place >= at else []
    return found


def all_alike(folder: Path) -> set[tuple[str, str, int]]:
    """Where whoever sees what is kept can tell two files of a pair apart: in which pair, order and place."""
    told = set()
    for name in ("which of day and month comes first", "which mark is decimal"):
        kind, pair = beside_options(name)
        assert [bool(opened(text).doubts) for text in pair] == [True, False], "one row makes the page ask"
        for order, clicks in ORDERS.items():
            for at in range(len(clicks)):
                files = [folder / f"{len(told)}-{name}-{order}-{at}-{which}" / "a.json" for which in range(2)]
                for file in files:
                    file.parent.mkdir(parents=True, exist_ok=True)
                    file.unlink(missing_ok=True)
                here, there = (moments(text, kind, clicks, at, file) for text, file in zip(pair, files, strict=True))
                told |= set() if here == there else {(name, order, at)}
    return told


def test_whether_a_question_was_raised_is_kept_at_no_moment(tmp_path: Path) -> None:
    """In whatever order somebody declares, calls right and answers."""
    assert all_alike(tmp_path) == set()


def test_columns_are_kept_once_they_are_called_right(tmp_path: Path) -> None:
    """Each by itself, an answer being no such thing."""
    kind, pair = beside_options("which of day and month comes first")
    for text in pair:
        file = tmp_path / f"{len(text)}-{pair.index(text)}" / "here" / "a.json"
        found = moments(text, kind, ORDERS["one later"], 0, file)
        assert [set(loaded(kept).confirmed) for kept, _ in found] == [set(), {"v"}, {"v"}, {"v", "x"}]
        names = [set(Remembered.read(kept).template.schema.names) if kept else None for _, kept in found]
        assert names == [None, {"v"}, {"v"}, {"v", "x"}]


def test_nor_is_it_kept_of_what_says_whose_row_it_is(tmp_path: Path) -> None:
    kind, pair = beside_options("which of day and month comes first")
    here, there = (
        moments(text, kind, ORDERS["one alone"], 0, tmp_path / str(place) / "here" / "a.json", "x")
        for place, text in enumerate(pair)
    )
    assert here == there
    assert "x" in Remembered.read(here[-1][1]).template.schema.names


def test_an_answer_that_counts_as_called_right_is_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As it was: declared after the others were called right, a column that was answered took no click."""

    def as_it_was(columns: FileColumns, column: Column) -> bool:
        decisions = columns.own.decisions
        return read_as(column) in decisions.confirmed or (column.name in decisions.settled and columns.states(column))

    monkeypatch.setattr(FileColumns, "spoken", as_it_was)
    assert {order for _, order, _ in all_alike(tmp_path)} >= {"all at once", "one later", "nothing called right"}


def test_an_answer_that_undoes_what_was_called_right_is_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answered = Decisions.answered

    def undoing(old: Decisions, column: Column) -> Decisions:
        return replace(answered(old, column), confirmed=old.confirmed - {read_as(column)})

    monkeypatch.setattr(Decisions, "answered", undoing)
    assert "that one alone" not in {order for _, order, at in all_alike(tmp_path) if at == 0}
    assert "the other later" in {order for _, order, _ in all_alike(tmp_path)}


WHOLE: dict[str, dict[str, Any]] = {
    "which of day and month comes first": {**BOUNDS["date"], "fill": "2024-05-01", "about": "when"},
    "which mark is decimal": {
        **{**BOUNDS["number"], "fill": 7.0, "unit": "€"},
        **{"better": "lower", "about": "how much"},
    },
}
WORDS_OF_NOBODY = ("", "none", "q")


def answered_last(name: str, place: int, whose: str | None = None) -> OwnFile:
    """All that can be declared of "x", then called right, then the answer, where the page asks."""
    kind, pair = beside_options(name)
    own = says(opened(pair[place]), "v", **NEEDS["v"])
    own = own.decide(replace(own.decisions.rows_of(whose), said_rows=True))
    own = says(own, "x", **WHOLE[name], missing_words=WORDS_OF_NOBODY)
    own = own.decide(own.confirm(own.columns.open))
    return own.decide(own.decisions.answered(readings(own, kind)[0])) if "x" in own.doubts else own


def answers_bare(old: Decisions, column: Column) -> Decisions:
    """As it was: the column as the file suggests it took the place of what was declared."""
    return replace(old, schema=old.schema.with_column(column), settled=old.settled | {column.name}).stating(column)


@pytest.mark.parametrize("name", WHOLE)
def test_an_answer_takes_away_nothing_that_was_declared(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    owns = [answered_last(name, place) for place in (0, 1)]
    assert [own.doubts for own in owns] == [(), ()]
    assert owns[0].schema == owns[1].schema
    assert replace(owns[0].schema.column("x"), **WHOLE[name]) == owns[0].schema.column("x")
    assert handed_out(owns[0]) == handed_out(owns[1])
    monkeypatch.setattr(Decisions, "answered", answers_bare)
    owns = [answered_last(name, place) for place in (0, 1)]
    assert [own.columns.declared is not None and "x" in own.columns.declared.names for own in owns] == [False, True]


@pytest.mark.parametrize("name", WHOLE)
def test_nor_of_what_says_whose_row_it_is(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its words of nobody are in every question about another column."""

    def digests() -> set[str]:
        owns = [answered_last(name, place, "x") for place in (0, 1)]
        assert {declared(own).id_column for own in owns} == {"x"}
        return {question_digest(asked(own, "v")) for own in owns}

    assert len(digests()) == 1
    monkeypatch.setattr(Decisions, "answered", answers_bare)
    assert len(digests()) == 2


def test_what_no_whole_number_can_be_is_declared_of_numbers() -> None:
    """Whichever of two types an answer has, and whatever stands beside it."""
    wide = Column(name="x", type="number", low=0.0, high=9.0, fill=2.0, missing_words=WORDS_OF_NOBODY, about="a")
    for column, kind in (
        (wide, "integer"),
        (replace(wide, low=0.2, high=0.8, fill=None), "number"),
        (replace(wide, fill=1.5), "number"),
    ):
        new = Decisions(schema=Schema(columns=(column,))).answered(Column(name="x", type="integer", decimal=","))
        assert new.schema.column("x") == replace(column, type=kind, decimal=",")
    counted = replace(wide, type="integer", counts=True, sensitivity=1.0)
    new = Decisions(schema=Schema(columns=(counted,))).answered(Column(name="x", type="number"))
    assert new.schema.column("x") == replace(counted, type="number", counts=False)
    new = Decisions(schema=Schema(columns=(wide,))).answered(Column(name="x", type="date", date_order="mdy"))
    words = {"missing_words": WORDS_OF_NOBODY, "about": "a"}
    assert new.schema.column("x") == Column(name="x", type="date", date_order="mdy", **words)


def test_an_answer_on_the_page_leaves_what_its_form_states(open_app: Open) -> None:
    _, pair = beside_options("which of day and month comes first")
    found = []
    for text, asks in zip(pair, (True, False), strict=True):
        app = drop(open_app("data"), text.encode())
        app.number_input(key="own-rows-None").set_value(1).run()
        declare_on_page(app, "x", **BOUNDS["date"], missing="none, q", fill="2024-05-01")
        ways = [way for way in app.button if str(way.key).startswith("own-reading-") and "ay first" in way.label]
        assert bool(ways) == asks
        for way in ways:
            press(app, str(way.key))
        found.append(held(app).schema.column("x"))
    assert found[0] == found[1]
    assert (found[0].fill, found[0].missing_words) == ("2024-05-01", WORDS_OF_NOBODY)


def kept_by_clicks(open_app: Open, last: str, said: Callable[[AppTest], Any], *, later: bool) -> list[tuple[str, str]]:
    """What the page keeps after each click, "v" being called right before anything is said of "x" where it is
    ``later``."""
    app = drop(open_app("data"), (LIKE + last).encode())
    app.number_input(key="own-rows-None").set_value(1).run()
    if later:
        declare_on_page(app, "v", categories="a\nb", public=True)
        press(app, "own-right")
    found = []
    for click in (said, lambda app: press(app, "own-right") if _to_call_right(app) else None):
        click(app)
        facts = loaded(saved(template(held(app))))
        columns = held(app).columns
        whole = Remembered.of(held(app)).written() if columns.spoken_of and not held(app).rows.open else ""
        found.append((repr((facts.suggested, facts.confirmed, facts.row_suggested, facts.choices)), whole))
    return found


FIELDS: dict[str, dict[str, Any]] = {
    "as options": {"x-lines": "yes\nno", "v-lines": "a\nb"},
    "as yes or no": {"x-binary": True, "v-lines": "a\nb"},
    "not at all": {"v-lines": "a\nb"},
}


def kept_by_form(open_app: Open, last: str, fields: dict[str, Any]) -> list[tuple[Any, ...]]:
    """What is kept after the form of the first question about what predicts another column, in which all columns take
    part, and after the click for which the page then asks."""
    app = drop(open_app("data"), (LIKE + last).encode())
    press(app, next(str(button.key) for button in app.button if "predicts" in button.label))
    for field in (*app.text_area, *app.checkbox):
        name, _, part = str(field.key).removeprefix("own-asked-").partition("-")
        if (said := fields.get(f"{name}-{part.rpartition('-')[2]}")) is not None:
            field.set_value(said)
        elif name in ("public", "right"):
            field.set_value(True)
    app.number_input(key="own-asked-rows").set_value(1)
    press(app, "own-asked-go")
    found = []
    for _ in range(2):
        app.switch_page("app_pages/data.py").run()
        told = loaded(saved(template(held(app)))).confirmed
        found.append((told, tuple(one.name for one in held(app).columns.spoken_of), held(app).columns.open))
        if _to_call_right(app):
            press(app, "own-right")
    return found


@pytest.mark.parametrize("fields", FIELDS)
def test_nor_by_the_form_of_a_question(fields: str, open_app: Open) -> None:
    """It states and calls right in one, of each column as it states it, and nothing of what it leaves undeclared."""
    here, there = (kept_by_form(open_app, last, FIELDS[fields]) for last in ONE_ROW.values())
    assert here == there
    declared = ("v",) if fields == "not at all" else ("v", "x")
    assert here[0] == (declared, declared, ()), "in one click"


def _to_call_right(app: AppTest) -> bool:
    return any(button.key == "own-right" for button in app.button)


@pytest.mark.thorough
@pytest.mark.parametrize("later", [False, True], ids=["at first", "later"])
@pytest.mark.parametrize("clicks", [clicks for clicks in CLICKS if clicks != "nothing is said of it"])
def test_nor_by_the_same_clicks_after_any_of_them(clicks: str, later: bool, open_app: Open) -> None:
    here, there = (kept_by_clicks(open_app, last, CLICKS[clicks], later=later) for last in ONE_ROW.values())
    assert here == there


def test_a_type_that_counts_as_stated_by_its_options_is_found_out(
    open_app: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As it was: options were the type itself where it looked like yes or no, and what is stated was kept at once."""
    spoken = FileColumns.spoken
    monkeypatch.setattr(
        FileColumns, "spoken", lambda columns, one: spoken(columns, one) or one.name in columns.own.decisions.settled
    )
    says = Decisions.says

    def as_it_was(old: Decisions, *columns: Column, binary: Collection[str] = ()) -> Decisions:
        other = {one.name for one in columns if one.type != old.schema.column(one.name).type}
        new = says(old, *columns, binary=binary)
        return replace(new, settled=new.settled | other)

    monkeypatch.setattr(Decisions, "says", as_it_was)
    here, there = (kept_by_clicks(open_app, last, CLICKS["as options"], later=True) for last in ONE_ROW.values())
    assert here != there
    here, there = (kept_by_clicks(open_app, last, CLICKS["as options"], later=False) for last in ONE_ROW.values())
    assert here != there
