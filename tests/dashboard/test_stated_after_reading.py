"""Once a file was read, whatever its session states of a table without one was stated by a person who had seen it: the
very bounds typed under “No file: describe a table” came back to the file as if nobody had looked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from dashboard import catalogue, offering
from dashboard.controls import Setting
from dashboard.data import actions, private_answer, source
from dashboard.data.decisions import Decisions
from dashboard.data.own_file import OwnFile
from dashboard.data.template import template
from dashboard.question import Offer
from dpcore.datasets import Column, Schema
from dpcore.release import sentence
from tests.dashboard.test_data_page import declare, drop, held, press, shown
from tests.dashboard.test_marks_kept import clinic, kept

Open = Callable[..., AppTest]
__all__ = ["clinic", "kept"]

FILE = ("age,colour\n" + "".join(f"{20 + n % 50},{('red', 'blue')[n % 2]}\n" for n in range(60)) + "104,red\n").encode()
TOLD = "by a person who had seen the file or an earlier one"
CHANGES: dict[str, Callable[[Decisions], Decisions]] = {
    "bounds": lambda old: old.says(replace(old.schema.column("n"), low=0.0, high=9.0)),
    "options": lambda old: old.says(replace(old.schema.column("c"), categories=("a", "b"))),
    "missing": lambda old: old.says(replace(old.schema.column("n"), missing_words=("997",))),
    "type": lambda old: old.retyped("c", "date", None),
    "yes or no": lambda old: old.says(Column(name="c", type="yes/no"), binary=("c",)),
    "a column": lambda old: replace(
        old, schema=replace(old.schema, columns=(*old.schema.columns, Column(name="x", type="number")))
    ),
    "people": lambda old: replace(old, schema=replace(old.schema, people=61)),
    "rows": lambda old: replace(old, schema=replace(old.schema, rows_per_person=3), said_rows=True),
    "unit": lambda old: old.rows_are(unit="household"),
    "each row": lambda old: old.rows_are(each_row="step"),
}
SCHEMA = Schema(columns=(Column(name="n", type="number"), Column(name="c", type="category")))


def described() -> OwnFile:
    return OwnFile(name="d", data=b"", choices=(), reading=None, decisions=Decisions(schema=SCHEMA))


@pytest.mark.parametrize("read", [True, False])
@pytest.mark.parametrize("what", CHANGES)
def test_all_that_is_stated_after_a_file_was_read_is_marked(
    what: str, read: bool, monkeypatch: pytest.MonkeyPatch, kept: list[OwnFile]
) -> None:
    own = described()
    monkeypatch.setattr(actions.source, "own_file", lambda: own)
    monkeypatch.setattr(actions, "OWN_READ", Always(read))
    actions.decide(CHANGES[what])
    found = template(kept[-1])
    rows = what in ("people", "rows", "unit", "each row")
    changed = {"bounds": "n", "missing": "n", "a column": "x"}.get(what, "c")
    assert found.row_suggested is (read and rows)
    assert found.suggested == ((changed,) if read and not rows else ())
    if read:
        assert not private_answer.asks_confirmation(kept[-1])
        assert kept[-1].columns.unconfirmed(kept[-1].columns.suggested) == (), "whoever stated it is asked nothing more"


class Always:
    def __init__(self, value: bool) -> None:
        self.value = value

    def get(self) -> bool:
        return self.value


def test_of_a_source_too(clinic: OwnFile, monkeypatch: pytest.MonkeyPatch, kept: list[OwnFile]) -> None:
    monkeypatch.setattr(source, "own_file", lambda: clinic)
    for read in (True, False):
        monkeypatch.setattr(actions, "OWN_READ", Always(read))
        one = replace(clinic.schema.column("ward"), type="category", categories=("a", "b"))
        actions.decide(lambda old, one=one: old.says(one))  # type: ignore[misc]
        assert kept[-1].columns.suggested == (("ward",) if read else ())
        assert not private_answer.asks_confirmation(kept[-1])


def test_what_was_stated_before_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    old = described().decisions
    early = old.says(replace(old.schema.column("n"), low=0.0, high=9.0))
    late = CHANGES["options"](early).after_looking(early)
    assert late.marked == {("c", "category")}
    assert not late.marked_row


@pytest.mark.parametrize("first", ["the file", "the description"])
def test_bounds_that_were_typed_without_the_file_in_its_session(open_app: Open, first: str) -> None:
    app = open_app("data")
    if first == "the file":
        press(drop(app, FILE), "own-remove")
    app.segmented_control(key="from").set_value("described").run()
    app.text_input(key="own-new-name-0").set_value("age")
    app.selectbox(key="own-new-type-0").set_value("integer")
    press(app, "own-describe-go")
    declare(app, "age", low=20.0, high=104.0)
    seen = first == "the file"
    assert (template(held(app)).suggested, template(held(app)).row_suggested) == (("age",) if seen else (), seen)
    app.segmented_control(key="from").set_value("file").run()
    drop(app, FILE)
    press(app, "own-declaration-known-0")
    assert held(app).columns.suggested == (("age",) if seen else ())
    app.number_input(key="own-rows-None").set_value(1).run()
    press(app, "own-right")
    press(app, "own-twin-open")
    press(app, "own-twin-go")
    case = offering.Case(source=shown(app), epsilon=0.5)
    question: Any = offering.ask(catalogue.questions("selection")["quantile"], case, Setting()).question
    assert isinstance(question.offer, Offer)
    told = sentence(question.offer.request)
    assert ("“age” are read and what they can hold" in told and TOLD in told) is seen
