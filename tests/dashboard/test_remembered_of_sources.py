"""What this server remembers of a source's table: with all marks of who had seen a file, however often it is chosen."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from dashboard.data import actions, configured, declarations, remembered, source
from dashboard.data.own_file import OwnFile
from dashboard.data.remembered import Remembered
from dashboard.data.template import template
from dashboard.words import data as data_said
from dashboard.words import place as said
from dpcore.datasets import Column, Declaration, Template, loaded, saved
from dpcore.release import sentence
from dpcore.releases.asked import SEEN
from dpcore.releases.scaled_model import ScaledModel
from tests.dashboard.conftest import text
from tests.dashboard.test_configured_sources import click
from tests.dashboard.test_data_page import declare, drop, held, press
from tests.dashboard.test_marks_kept import clinic, kept

Open = Callable[..., AppTest]
__all__ = ["clinic", "kept"]
FILE = ("age,colour\n" + "".join(f"{20 + n % 70},{('red', 'blue')[n % 2]}\n" for n in range(403))).encode()
WARD = Column(name="ward", type="category", categories=("a", "b"))
FLAG = Column(name="flag", type="yes/no")
OF_SEEN = f"That there are about 403 rows was stated by {SEEN}: not covered by ε."
OF_NONE = "That there are about 403 rows was stated and not counted."


def told(own: OwnFile) -> str:
    """What a receipt says of about how many rows there are, "" where nothing."""
    assert own.columns.declared is not None
    facts = Declaration.of(own.columns.declared, suggested=own.columns.suggested, row_suggested=own.rows.suggested)
    names = ("ward", "flag") if "ward" in own.columns.declared.names else ("wait", "age")
    what = sentence(ScaledModel.of(facts, target=names[0], columns=names[1:], epsilon=1.0, delta=1e-6))
    return next((one for one in (OF_SEEN, OF_NONE) if one in what), "")


def stated(own: OwnFile, *, seen: bool) -> OwnFile:
    """With columns and about how many rows there are, by a person who had ``seen`` a file or not."""
    old = own.decisions
    new = old.says(WARD).says(FLAG, binary=("flag",))
    new = replace(new, schema=replace(new.schema, people=403))
    return own.decide(new.after_looking(old) if seen else new)


def taken(own: OwnFile, found: Remembered, patch: pytest.MonkeyPatch) -> None:
    patch.setattr(source, "own_file", lambda: replace(own, remembered=found))
    declarations._use_remembered()


WAYS: dict[str, Callable[[OwnFile, OwnFile, pytest.MonkeyPatch], None]] = {
    "remembered": lambda bare, own, patch: taken(bare, Remembered.of(own), patch),
    "written": lambda bare, own, patch: taken(bare, Remembered.read(Remembered.of(own).written()), patch),
    "saved": lambda bare, own, patch: declarations._onto(bare, *[loaded(saved(template(own)))] * 2),
    "described": lambda bare, own, patch: actions.put_in_place(declarations.described(loaded(saved(template(own))))),
}


@pytest.mark.parametrize("seen", [True, False])
@pytest.mark.parametrize("way", WAYS)
def test_about_how_many_rows_there_are_keeps_its_mark_wherever_it_goes(
    way: str, seen: bool, clinic: OwnFile, kept: list[OwnFile], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Or is said anew: what is saved may have been said of a file, of which a source has not the number."""
    own = stated(clinic, seen=seen)
    lost = way == "saved" and seen
    for _ in range(3):
        assert (template(own).row_suggested, told(own)) == (seen, OF_SEEN if seen else OF_NONE)
        WAYS[way](clinic, own, monkeypatch)
        own = kept[-1]
        assert own.schema.people == (None if lost else 403)
        if lost:
            break


def test_what_is_remembered_has_every_mark_of_what_is_saved(clinic: OwnFile) -> None:
    """A mark that a declaration comes to have is among these."""
    own = stated(clinic, seen=True)
    whole, again = template(own), Remembered.read(Remembered.of(own).written())
    marks = {one.name for one in fields(Template)} - {"schema", "steps", "choices"}
    assert marks == {"suggested", "confirmed", "row_suggested"}
    assert (again.suggested, again.confirmed) == (whole.suggested, whole.confirmed) == (("flag", "ward"),) * 2
    assert again.template.row_suggested is whole.row_suggested is True


def test_a_memory_without_the_mark_of_rows_is_found_out(
    clinic: OwnFile, kept: list[OwnFile], monkeypatch: pytest.MonkeyPatch
) -> None:
    facts = remembered._facts
    monkeypatch.setattr(remembered, "_facts", lambda own: replace(facts(own), row_suggested=False))
    with pytest.raises(AssertionError):
        test_about_how_many_rows_there_are_keeps_its_mark_wherever_it_goes(
            "remembered", True, clinic, kept, monkeypatch
        )


@pytest.fixture
def visits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ledger_file: Path) -> Iterator[Path]:
    """A listed source in which one column says whose a row is, and one holds yes or no by its schema; and where what is
    remembered of it is written."""
    file = tmp_path / "clinic.db"
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("CREATE TABLE visits (who TEXT, ill BOOLEAN, age INTEGER, wait INTEGER)")
        connection.execute("INSERT INTO visits VALUES ('p1', 1, 40, 3)")
    listed = tmp_path / "sources.toml"
    listed.write_text(
        f'[clinic]\naddress = "sqlite:///{file}"\nepsilon = 2.0\ndelta = 1e-5\nrows_per_person = 1\nid_column = "who"\n'
    )
    listed.chmod(0o600)
    monkeypatch.setenv("EPSILON_LAB_SOURCES", str(listed))
    return Path(f"{ledger_file}.journal.declared")


def choose(app: AppTest) -> AppTest:
    """Take the table, or the same one anew."""
    if any(one.label == said.OTHER for one in app.button):
        click(app, said.OTHER)
        app.segmented_control(key="from").set_value("source").run()
    return click(app, said.USE)


def on_disk(folder: Path) -> dict[str, Any]:
    (file,) = folder.glob("*/*.json")
    found: dict[str, Any] = json.loads(json.loads(file.read_text())["declaration"])
    return {one["name"]: (one.get("low"), one.get("high")) for one in found["columns"]} | {
        name: found.get(name) for name in ("people", "row_suggested")
    }


def test_who_had_seen_a_file_has_seen_it_one_click_and_one_session_later(visits: Path, open_app: Open) -> None:
    app = open_app("data")
    press(drop(app, FILE), "own-remove")
    app.segmented_control(key="from").set_value("source").run()
    click(app, said.USE)
    declare(app, "age", low=0.0, high=100.0)
    declare(app, "wait", low=0.0, high=9.0)
    next(one for one in app.number_input if str(one.key).startswith("own-people")).set_value(403).run()
    assert told(held(app)) == OF_SEEN
    for again in (app, open_app("data", **{"from": "source"})):
        choose(again)
        assert data_said.REMEMBERED in text(again)
        press(again, "own-declaration-remembered")
        assert (held(again).schema.people, told(held(again))) == (403, OF_SEEN)
        assert template(held(again)).row_suggested


def test_what_is_remembered_is_there_however_often_the_source_is_chosen(visits: Path, open_app: Open) -> None:
    """A column that stands by itself was kept as all that had been declared, before anything was offered."""
    app = open_app("data", **{"from": "source"})
    click(app, said.USE)
    declare(app, "age", low=0.0, high=100.0)
    first = on_disk(visits)
    assert first["age"] == (0.0, 100.0)
    for again in (app, open_app("data", **{"from": "source"})):
        choose(again)
        assert on_disk(visits) == first
    press(again, "own-declaration-remembered")
    assert (held(again).schema.column("age").low, held(again).schema.column("age").high) == (0.0, 100.0)
    assert on_disk(visits) == first


def test_a_source_that_is_in_place_before_it_is_known_is_found_out(
    visits: Path, open_app: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = remembered.known
    app = open_app("data", **{"from": "source"})
    click(app, said.USE)
    declare(app, "age", low=0.0, high=100.0)
    first = on_disk(visits)
    monkeypatch.setattr(configured.remembered, "known", lambda own: None)
    choose(app)
    monkeypatch.setattr(configured.remembered, "known", known)
    assert on_disk(visits) != first
