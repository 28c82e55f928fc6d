"""Where rows name the columns, a declaration is offered and taken over alike, whether or not a row has its columns."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from dashboard.data import declarations
from dashboard.data.read_again import opened, worked
from dashboard.words.data import ROWS_NAME_COLUMNS
from dpcore.datasets import Column, LeaveOutTotals, Reading, Schema, Template, read_table
from tests.dashboard.test_data_page import drop, held, press
from tests.dashboard.test_form_stated import bring

Open = Callable[..., AppTest]
PEOPLE = [{"ward": "north" if at % 3 else "south", "age": 20 + at} for at in range(40)]
LAST: tuple[dict[str, Any], ...] = ({}, {"smoker": "yes"})
KNOWN = Template(
    schema=Schema(
        columns=(
            Column(name="smoker", type="yes/no"),
            Column(name="ward", type="category", categories=("north", "south")),
        )
    )
)


def people(last: dict[str, Any]) -> bytes:
    return "\n".join(map(json.dumps, [*PEOPLE, {"ward": "north", "age": 50} | last])).encode()


def told(app: AppTest) -> tuple[Any, ...]:
    own = held(app)
    assert own.reading is not None
    declared = own.columns.declared
    here = None if declared is None else declared.columns
    return own.schema.names, [one.name for one in own.reading.columns], here


def taken_over(app: AppTest, last: dict[str, Any]) -> tuple[Any, ...]:
    bring(drop(app, people(last), name="people.json"), KNOWN)
    return told(app)


def called_right(app: AppTest) -> list[tuple[Any, ...]]:
    """What stands of it then, and once the file was read in another way."""
    found = []
    press(app, "own-right")
    found.append(told(app))
    app.session_state["own-tab"] = "Read it differently"
    app.run()
    app.selectbox(key="own-again-decimal").set_value(",")
    press(app, "own-again-go")
    return [*found, told(app)]


@pytest.mark.thorough
def test_no_row_decides_what_the_page_takes_over(open_app: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    monkeypatch.setattr(declarations.session, "say", lambda _, sentence: said.append(sentence))
    apps = [open_app("data") for _ in LAST]
    found = [taken_over(app, last) for app, last in zip(apps, LAST, strict=True)]
    assert (found[0], said) == (found[1], [ROWS_NAME_COLUMNS] * 2)
    without, having = map(called_right, apps)
    assert without == having
    assert [set(names) for names, *_ in (found[0], *without)] == [{"smoker", "ward", "age"}] * 3
    with monkeypatch.context() as mutant:
        mutant.setattr(Reading, "could_hold", lambda self, name, _: name in self.frame.columns)
        assert taken_over(open_app("data"), LAST[0]) != found[1], "this test can fail"


def test_what_was_declared_stays_through_steps_and_another_reading() -> None:
    step = LeaveOutTotals(column="ward")
    found = []
    for last in LAST:
        reading = read_table(people(last))
        own = opened("a.json", b"", (), reading.after((), names=KNOWN.schema.names), None, None)
        names = own.reading.stated if own.reading is not None else frozenset[str]()
        own = worked(own, reading.after((step,), names=names), (step,))
        again = opened("a.json", b"", (), read_table(people(last)).after((), names=names), None, own)
        found.append((own.schema.names, again.schema.names, again.decisions.said_rows))
    assert found[0] == found[1]
    assert set(found[0][1]) == {"smoker", "ward", "age"}
