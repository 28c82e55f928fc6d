"""How the numbers and days of a column are written: stated by a person, or called right as the file suggests.

Files come in pairs that differ in one row, by which the file reads a column the other way.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from dashboard.data import private_answer, read_again, template
from dashboard.data.decisions import Decisions
from dashboard.data.file_columns import FileColumns
from dashboard.data.own_file import OwnFile
from dashboard.data.remembered import Remembered
from dpcore.datasets import Column, Declaration, LeaveOutTotals, OneRowPer, Reading, read_table
from dpcore.release import question_digest, sentence
from dpcore.releases.quantile import QuantileValue
from tests.dashboard.test_data_page import declare, drop, held, look, press

Open = Callable[..., AppTest]
MARKS = tuple("x;v\n" + "".join(f"r{n % 7};1,{234 + n}\n" for n in range(40)) + f"r1;{one}\n" for one in ("2.5", "2,5"))
ORDERS = tuple(
    "x;v\n" + "".join(f"r{n};{1 + n % 9:02}/{1 + n % 12:02}/2024\n" for n in range(40)) + f"r40;{one}\n"
    for one in ("13/01/2024", "01/13/2024")
)
TOTALS = tuple(
    "x;v;other\n"
    + "".join(f"r{n % 7};1,{234 + n};{n % 9}\n" for n in range(60))
    + "Total;1,999;3.75\nTotal all;1,999;4,25\n"
    + f"r1;1,300;{one}\n"
    for one in ("2,5", "2")
)
"""After a step that leaves the totals out, the other column shows a decimal comma, or nothing."""
STEP = (LeaveOutTotals(column="x"),)
BOUNDS = {"low": 0.0, "high": 5000.0}


def opened(text: str, **choices: str) -> OwnFile:
    return read_again.opened("a.csv", b"", tuple(choices.items()), read(text, **choices), None, None)


@cache
def read(text: str, **choices: Any) -> Reading:
    return read_table(text.encode(), **choices)


@cache
def after(reading: Reading) -> Reading:
    return reading.after(STEP)


def typed(own: OwnFile, kind: str) -> OwnFile:
    """As the list of types does."""
    assert own.reading is not None
    return own.decide(own.decisions.retyped("v", kind, own.reading.column("v").suggestion))  # type: ignore[arg-type]


def bounded(own: OwnFile) -> OwnFile:
    schema = own.schema.with_column(replace(own.schema.column("v"), **BOUNDS))
    return own.decide(replace(own.decisions, schema=schema, said_rows=True, said_row=True))


def answered(own: OwnFile, decimal: str) -> OwnFile:
    """As a click on one of the readings side by side does."""
    assert own.reading is not None
    ways = (one.column for one in own.reading.column("v").readings)
    return own.decide(own.decisions.answered(next(one for one in ways if one.decimal == decimal)))


def asked(own: OwnFile) -> QuantileValue:
    assert own.columns.declared is not None
    declared = Declaration.of(
        own.columns.declared,
        suggested=own.columns.suggested,
        row_suggested=own.rows.suggested,
        form=own.form.said_in_answers,
    )
    return QuantileValue.of(declared, "v", epsilon=1.0)


def told(pair: tuple[OwnFile, OwnFile]) -> bool:
    """Whether the same request is asked of both, or every receipt says that the file suggested how it is read."""
    here, there = map(asked, pair)
    same = question_digest(here) == question_digest(there)
    return same or all("“v” are read" in sentence(each) for each in (here, there))


@pytest.mark.parametrize("kind", ["number", "integer"])
def test_a_type_chosen_by_hand_does_not_say_which_mark_is_decimal(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pair = tuple(bounded(typed(opened(text), kind)) for text in MARKS)
    assert len({own.schema.column("v").decimal for own in pair}) == 2
    for own in pair:
        assert own.columns.suggested == own.columns.unconfirmed(own.columns.suggested) == ("v",)
        assert private_answer.lacking(own), "a private answer waits until a person called it right"
        assert private_answer.lacking(own.decide(own.confirm(own.columns.suggested))) == ()
        assert all(one.name != "v" for one in own.columns.spoken_of), "nothing of it is remembered before"
    assert told(pair)
    own = pair[0].decide(pair[0].confirm(["v"]))
    assert (
        Remembered.of(own).suggested == Remembered.of(own).confirmed == template.template(own).suggested[-1:] == ("v",)
    )
    other = replace(own.schema.column("v"), decimal=",")
    assert private_answer.lacking(own.decide(replace(own.decisions, schema=own.schema.with_column(other)))), (
        "another mark was right"
    )
    monkeypatch.setattr(FileColumns, "states", lambda *_: True)
    monkeypatch.setattr(FileColumns, "after_looking", FileColumns.suggests)
    assert not told(pair)


def test_nor_which_of_day_and_month_comes_first() -> None:
    pair = tuple(typed(typed(opened(text), "text"), "date") for text in ORDERS)
    assert {own.schema.column("v").date_order for own in pair} == {"dmy", "mdy"}
    assert all(own.columns.suggests(own.schema.column("v")) for own in pair)
    stated = [own.decide(own.decisions.stating(own.schema.column("v"))) for own in pair]
    assert not any(own.columns.suggests(own.schema.column("v")) for own in stated)


def test_a_type_that_needs_neither_holds_neither() -> None:
    for pair in (MARKS, ORDERS):
        columns = {typed(opened(text), kind).schema.column("v") for text in pair for kind in ("text", "category")}
        assert columns == {Column(name="v", type="text"), Column(name="v", type="category")}


def test_the_question_which_mark_is_decimal_stays_open_until_it_is_answered() -> None:
    own = opened(MARKS[0].replace("2.5", "1,999"))
    assert own.doubts == ("v",)
    assert typed(own, "category").doubts == ()
    own = bounded(typed(own, "number"))
    assert own.doubts == ("v",)
    for mark in (".", ","):
        found = answered(own, mark)
        assert found.doubts == ()
        assert found.columns.open == ("v",), "answered is not called right: whether it is asked hangs on a row"
        assert found.columns.suggested == ("v",), "whoever answered had seen the file"
        assert private_answer.lacking(found.decide(found.confirm(found.columns.suggested))) == ()
        assert found.schema.column("v") == Column(name="v", type="number", decimal=mark, **BOUNDS)  # type: ignore[arg-type]


STATED: dict[str, Callable[[str, str], OwnFile]] = {
    "by an answer": lambda text, mark: answered(opened(text), mark),
    "by an answer after the type": lambda text, mark: answered(typed(opened(text), "number"), mark),
    "in the form of the column": lambda text, mark: in_form(typed(opened(text), "number"), mark),
    "for the whole file": lambda text, mark: typed(opened(text, decimal=mark), "number"),
}
NEXT: dict[str, Callable[[OwnFile], OwnFile]] = {
    "a step": lambda own: stepped(own),
    "a step and back": lambda own: read_again.worked(stepped(own), own.reading, ()),  # type: ignore[arg-type]
    "another reading": lambda own: again(own, keep_footer=True),
    "another type and back": lambda own: typed(typed(own, "text"), own.schema.column("v").type),
}


def in_form(own: OwnFile, mark: str) -> OwnFile:
    column = replace(own.schema.column("v"), decimal=mark)  # type: ignore[arg-type]
    return own.decide(replace(own.decisions, schema=own.schema.with_column(column)).stating(column))


def stepped(own: OwnFile) -> OwnFile:
    assert own.as_read is not None
    return read_again.worked(own, after(own.as_read), STEP)


def again(own: OwnFile, text: str = TOTALS[0], **choices: Any) -> OwnFile:
    merged = dict(own.choices) | choices
    return read_again.opened("a.csv", b"", tuple(merged.items()), read(text, **merged), None, own)


def kept() -> bool:
    return all(
        (later.schema.column("v"), later.doubts, later.columns.suggests(later.schema.column("v")))
        == (own.schema.column("v"), (), False)
        for text in TOTALS
        for mark in (".", ",")
        for state in STATED.values()
        for name, step in NEXT.items()
        for own in (state(text, mark) if "type" in name else bounded(state(text, mark)),)
        for later in (step(own),)
    )


def test_what_was_stated_is_kept_by_steps_readings_and_types(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where it is what the file had suggested, so that nothing seems to have been changed."""
    texts = {step.schema.column("v").decimal for step in (stepped(opened(text)) for text in TOTALS)}
    assert len(texts) == 2, "the step turns it round where nobody stated it"
    assert kept()
    carried = read_again.carried

    def forgetting(old: Decisions, *readings: object) -> Decisions:
        return carried(replace(old, notation=frozenset()), *readings)  # type: ignore[arg-type]

    monkeypatch.setattr(read_again, "carried", forgetting)
    assert not kept()


def test_what_a_step_wrote_needs_no_mark_stated() -> None:
    """It writes a point, whichever mark was stated of what it read."""
    for mark in (".", ","):
        step = OneRowPer(by="x", of="v", how="sum", decimal=mark)  # type: ignore[arg-type]
        own = opened(TOTALS[0], decimal=",")
        own = read_again.worked(own, own.reading.after((step,)), (step,))  # type: ignore[union-attr]
        own = own.decide(own.decisions.retyped(step.name, "number", None))
        assert own.schema.column(step.name).decimal == "."
        assert not own.columns.suggests(own.schema.column(step.name))


def test_what_was_called_right_is_kept() -> None:
    for text in TOTALS:
        own = bounded(opened(text.replace("1,", "1.")))
        own = own.decide(
            replace(own.decisions, schema=own.schema.with_column(Column(name="v", type="number", **BOUNDS)))
        )  # type: ignore[arg-type]
        own = own.decide(own.confirm(["v"]))
        later = stepped(own)
        assert later.schema.column("v") == own.schema.column("v")
        assert later.columns.unconfirmed(["v"]) == ()
        (column,) = {each.schema.column("v") for each in (again(own, decimal=","), again(later, decimal=","))}
        assert column.decimal == ",", "what is stated goes before what was called right"
        assert again(own, decimal=",").columns.unconfirmed(["v"]) == ("v",)


def test_the_form_of_a_column_states_a_mark_only_where_a_person_does(open_app: Open) -> None:
    app = drop(open_app("data"), MARKS[1].encode())
    app.number_input(key="own-rows-None").set_value(1).run()
    app.selectbox(key="own-column").set_value("v").run()
    kind = next(box for box in app.selectbox if str(box.key).startswith("own-type-"))
    kind.set_value("integer").run()
    declare(app, "v", **BOUNDS)
    assert held(app).columns.suggested == ("v",)
    assert "“v”: whole number with a decimal comma" in "\n".join(each.value for each in app.caption)
    declare(app, "v", decimal=",")
    assert held(app).columns.states(held(app).schema.column("v"))
    look(app)
    assert private_answer.lacking(held(app)) == ()
    assert any("“v”" in note for note in asked(held(app)).suggestions), "whoever stated it had seen the file"


def test_an_answer_on_the_page_is_kept_by_a_step(open_app: Open) -> None:
    app = drop(open_app("data"), TOTALS[0].encode())
    press(app, next(str(button.key) for button in app.button if button.label == "The comma marks thousands"))
    place = held(app).reading.suggested_steps.index(STEP[0])  # type: ignore[union-attr]
    press(app, f"own-step-{place}")
    assert held(app).steps == STEP
    assert held(app).schema.column("v") == Column(name="v", type="integer")
    assert held(app).doubts == ()
    assert not held(app).columns.suggests(held(app).schema.column("v"))
