"""What was declared about people with a budget is there in the next session, for whoever may use that budget."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from dashboard.background import compute
from dashboard.data import remembered
from dashboard.data import template as taken_along
from dashboard.data.decisions import Decisions
from dashboard.data.own_file import OwnFile
from dashboard.data.read_again import opened, worked
from dashboard.data.remembered import Remembered
from dashboard.data.template import template
from dashboard.people import login, visitors
from dashboard.words import data as said
from dpcore.datasets import Column, OneRowPer, ReadAsMissing, Schema, Step, Template, loaded, read_table, saved
from dpcore.errors import InvalidArgument
from dpcore.ledger import Ledger
from dpcore.ledger.roles import Person
from tests.dashboard.conftest import text
from tests.dashboard.keys import about
from tests.dashboard.test_data_page import declare, drop, held, press

Open = Callable[..., AppTest]
TABLE = b"job,age,town\n" + b"".join(
    b"%s,%d,%s\n" % ((b"canary" if n % 3 else b"baker"), 20 + n % 40, (b"Ulm" if n % 2 else b"Bern")) for n in range(90)
)


@pytest.fixture
def declared(open_app: Open, ledger_file: Path) -> tuple[AppTest, Path]:
    """A session that declared ages, took options over from the file, and has a budget; and where it was written."""
    app = drop(open_app("data"), TABLE, name="people.csv")
    own = held(app)
    with Ledger.open(f"sqlite:///{ledger_file}") as ledger:
        ledger.open_budget(str(own.lineage), epsilon=1.0, name="People of the town")
        assert own.reading is not None
        ledger.link(own.reading.fingerprint, str(own.lineage), own.marks(ledger.sketch_key))
    declare(app, "age", low=0.0, high=120.0)
    declare(app, "job", copied=True, public=True)
    assert not Path(f"{ledger_file}.journal.declared").exists(), "the types are the file's suggestion as yet"
    press(app, "own-right")
    (folder,) = Path(f"{ledger_file}.journal.declared").iterdir()
    return app, folder


def again(open_app: Open, lineage: str | None) -> AppTest:
    """The same file in another session, said to be about the same people."""
    app = drop(open_app("data"), TABLE, name="other name.csv")
    assert held(app).remembered is None, "a file is never looked up by itself"
    assert said.REMEMBERED not in text(app)
    app.radio(key=about(app, "own-whose")).set_value(lineage).run()
    return press(app, "own-whose-keep")


@pytest.mark.thorough
def test_the_next_session_takes_them_in_one_click_and_they_stay_marked(
    declared: tuple[AppTest, Path], open_app: Open
) -> None:
    first, folder = declared
    (written,) = folder.iterdir()
    assert (written.stat().st_mode & 0o777, folder.stat().st_mode & 0o777) == (0o600, 0o700)
    kept = written.read_text()
    assert "120" in kept
    assert not any(word in kept for word in ("canary", "baker", "Bern", "town")), "nobody spoke of towns"
    assert str(held(first).lineage) not in f"{kept}{written}"
    app = again(open_app, held(first).lineage)
    assert said.REMEMBERED in text(app)
    declare(app, "town", categories="Ulm\nBern", public=True)
    assert written.read_text() == kept, "what waits to be taken is not written over"
    press(app, "own-declaration-remembered")
    own = held(app)
    assert own.remembered is None
    assert (own.schema.column("age").low, own.schema.column("age").high) == (0.0, 120.0)
    assert not own.schema.column("job").categories
    assert "age" in own.columns.suggested, "that the file suggested the type is still said"
    assert own.rows.suggested
    assert "town" in own.schema.names


@pytest.mark.parametrize("right", [False, True])
def test_what_is_written_does_not_hang_on_cells_of_columns_nobody_spoke_of(
    right: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last row's income and date would be told by the type, the sign of decimals and the order of days."""
    rows = "".join(f"{20 + n % 50},{1000 + n},0{1 + n % 9}/0{1 + n % 9}/2024,yes\n" for n in range(99))
    file, written = tmp_path / "declared" / "people" / "table.json", set()
    monkeypatch.setattr(remembered, "_files", lambda *_, **__: [file])
    for last in ("30,5,01/02/2024,yes", "30,5.5,13/02/2024,maybe", "30,abc,02/13/2024,7"):
        reading = read_table(f"age,income,when,ill\n{rows}{last}\n".encode())
        schema = reading.suggested()
        age = replace(schema.column("age"), low=0.0, high=120.0, from_file=False)
        decisions = Decisions(schema=schema.with_column(age))
        own = OwnFile(name="f", data=b"", choices=(), reading=reading, decisions=decisions)
        if right:
            own = replace(own, decisions=own.confirm(["age"]))
        remembered.keep(own)
        written.add(file.read_text() if file.exists() else "")
    (kept,) = written
    assert ("120" in kept) == right


def test_a_word_that_was_read_as_missing_is_not_written() -> None:
    """It was read from the rows: one person's 999, say."""
    rows = "".join(f"{20 + n % 40},north\n" for n in range(80))
    reading = read_table(f"age,ward\n{rows}999,south\n".encode())
    steps = reading.suggested_steps
    assert [(type(step).__name__, step.holds_values) for step in steps] == [("ReadAsMissing", True)]
    own = OwnFile(name="f", data=b"", choices=(), reading=reading, decisions=Decisions(schema=reading.suggested()))
    own = worked(own, reading.after(steps), steps)
    age = replace(own.schema.column("age"), low=0.0, high=120.0)
    own = own.decide(replace(own.decisions, schema=own.schema.with_column(age)))
    own = replace(own, decisions=own.confirm(["age", "ward"]))
    assert own.steps == steps
    assert "999" not in Remembered.of(own).written()
    assert "999" not in saved(template(own))


def test_steps_that_rest_on_a_word_of_the_rows_are_neither_remembered_nor_saved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the word the rows of nobody would be put into one; nor does what was remembered before stay."""
    rows = "".join(f"{n % 40},{n % 30}\n" for n in range(90)) + "9999,10\n" * 3
    reading = read_table(f"patient_id,amount\n{rows}".encode())
    file = tmp_path / "declared" / "people" / "table.json"
    monkeypatch.setattr(remembered, "_files", lambda *_, **__: [file])
    word = ReadAsMissing(column="patient_id", word="9999")
    person = next(step for step in reading.suggested_steps if isinstance(step, OneRowPer))
    own = opened("f", b"", (), reading, None, None)

    def kept(*steps: Step) -> bool:
        after = worked(own, reading.after(steps), steps)
        after = replace(after, decisions=replace(after.confirm(after.schema.names), said_row=True))
        schema = after.schema.with_column(Column(name=after.schema.names[1], type="integer", low=0.0, high=99.0))
        after = after.decide(replace(after.decisions, schema=schema, settled=after.decisions.settled | {*schema.names}))
        remembered.keep(after)
        return file.exists()

    assert [kept(person), kept(word, person), kept(word), kept(person, word)] == [True, False, True, False]


def test_it_can_be_forgotten(declared: tuple[AppTest, Path], open_app: Open) -> None:
    first, folder = declared
    app = again(open_app, held(first).lineage)
    press(app, "own-declaration-forget")
    assert list(folder.iterdir()) == []
    assert said.REMEMBERED not in text(app)


def test_nobody_else_is_told(declared: tuple[AppTest, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """Not a visitor whom nobody vouches for, not another person who logged in, not for people without a budget."""
    own = held(declared[0])
    with Ledger.open(os.environ["EPSILON_LAB_LEDGER"]) as ledger:
        monkeypatch.setattr(compute, "ledger", lambda: ledger)
        monkeypatch.setattr(visitors, "restricted", lambda: False)
        assert remembered.known(own) is not None
        other = replace(own, lineage="another")
        assert remembered.known(other) is None
        monkeypatch.setattr(login, "person", lambda: Person(subject="ada", claimed=None))
        assert remembered.known(own) is None
        remembered.keep(own)
        assert remembered.known(own) is not None
        monkeypatch.setattr(login, "person", lambda: Person(subject="bob", claimed=None))
        assert remembered.known(own) is None
        monkeypatch.setattr(login, "person", lambda: None)
        monkeypatch.setattr(visitors, "restricted", lambda: True)
        assert remembered.known(own) is None
        before = {file: file.read_text() for file in declared[1].iterdir()}
        assert len(before) == 2, "the one of this computer, and ada's"
        remembered.forget(own)
        assert {file: file.read_text() for file in declared[1].iterdir()} == before


@pytest.mark.parametrize("roles", [{"owner"}, {"analyst"}])
@pytest.mark.parametrize("level", ["own", "ask"])
def test_who_owns_no_more_than_other_budgets_writes_and_forgets_nothing_of_everybodys(
    roles: set[str], level: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The role of an owner was enough, so that who might only ask took what the source's owner had declared from all
    and gave them other options."""
    terms = SimpleNamespace(ended=False, at_least=lambda subject, least: least == "ask" or level == "own")
    ledger = SimpleNamespace(
        journal_path=tmp_path / "journal",
        chargeable=lambda: [SimpleNamespace(lineage="wards")],
        terms=lambda lineage: terms,
        sketch_key=b"k" * 32,
    )
    monkeypatch.setattr(compute, "ledger", lambda: ledger)
    monkeypatch.setattr(compute, "roles", lambda: frozenset(roles))
    monkeypatch.setattr(visitors, "restricted", lambda: False)
    monkeypatch.setattr(login, "person", lambda: Person(subject="otto", claimed=None))
    own: Any = SimpleNamespace(lineage="wards", place=SimpleNamespace(table="visits"))
    assert len(list(remembered._files(own, writing=False))) == 2
    writes = list(remembered._files(own, writing=True))
    assert len(writes) == (2 if level == "own" and roles == {"owner"} else 1)


def test_it_goes_with_the_budget(declared: tuple[AppTest, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    own = held(declared[0])
    with Ledger.open(os.environ["EPSILON_LAB_LEDGER"]) as ledger:
        monkeypatch.setattr(compute, "ledger", lambda: ledger)
        monkeypatch.setattr(visitors, "restricted", lambda: False)
        ledger.end_budget(str(own.lineage))
        assert remembered.known(own) is None
        remembered.forget_people(str(own.lineage))
        remembered.keep(own)
        assert list(declared[1].iterdir()) == []


def test_a_file_that_is_not_ours_is_passed_over(
    declared: tuple[AppTest, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    own = held(declared[0])
    with Ledger.open(os.environ["EPSILON_LAB_LEDGER"]) as ledger:
        monkeypatch.setattr(compute, "ledger", lambda: ledger)
        monkeypatch.setattr(visitors, "restricted", lambda: False)
        (file,) = declared[1].iterdir()
        for wrong in ("", "[]", '{"declaration": "x"}', file.read_text().replace("age", "age\\u0000", 1)[:-3]):
            file.write_text(wrong)
            assert remembered.known(own) is None


def test_what_was_stated_of_the_form_is_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    """By a choice or by a click, and no more of the form than that."""
    reading = read_table(TABLE.replace(b"Ulm", b"K\x9cln"), quote='"')
    schema = reading.suggested()
    schema = schema.with_column(replace(schema.column("age"), low=0.0, high=120.0))
    decisions = Decisions(schema=schema, settled=frozenset({"file:encoding"}))
    own = OwnFile(name="f", data=b"", choices=(("quote", '"'),), reading=reading, decisions=decisions)
    own = replace(own, decisions=own.confirm(["age"]))
    stated = (("encoding", "cp1252"), ("header_line", 1), ("header_rows", 1), ("quote", '"'))
    assert Remembered.read(Remembered.of(own).written()).template.choices == template(own).choices == stated
    monkeypatch.setattr(taken_along, "stated_form", lambda _: ())
    assert Remembered.of(own).template.choices == ()


@pytest.mark.parametrize("choices", ['{"encoding": 1}', '{"keep_footer": 1}', '{"quote": "x"}', '{"new": "x"}'])
def test_a_form_that_is_none_is_no_declaration(choices: str) -> None:
    text = saved(Template(schema=Schema(columns=(Column(name="a", type="text"),))))
    with pytest.raises(InvalidArgument):
        loaded(text.replace('"choices": {}', f'"choices": {choices}'))
