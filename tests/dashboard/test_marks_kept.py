"""What a file had suggested of a declaration stays marked wherever the declaration goes: onto a source, into what the
server remembers, into a table that is only described. Nobody states it by bringing it, and every receipt says so."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dashboard.data import actions, declarations, needed, private_answer, source
from dashboard.data.own_file import OwnFile
from dashboard.data.place import placed
from dashboard.data.remembered import Remembered
from dashboard.data.template import template
from dpcore.datasets import Column, Schema, Template, loaded, saved
from dpcore.datasets.declaration import Declaration
from dpcore.datasets.in_place import configured_sources
from dpcore.release import sentence
from dpcore.releases.selection import MostCommonOption

FLAG = Column(name="flag", type="yes/no")
WARD = Column(name="ward", type="category", categories=("a", "b"))
BROUGHT = Template(schema=Schema(columns=(FLAG, WARD)), suggested=("flag",), confirmed=("flag",), row_suggested=True)
TOLD = (
    "How the cells of “flag” are read and what they can hold were stated or called right by a person who had seen the "
    "file or an earlier one"
)


@pytest.fixture
def clinic(tmp_path: Path) -> OwnFile:
    with closing(sqlite3.connect(tmp_path / "a.db")) as connection, connection:
        connection.execute("CREATE TABLE v (who TEXT, flag TEXT, ward TEXT)")
    listed = tmp_path / "sources.toml"
    listed.write_text(f'[clinic]\naddress = "sqlite:///{tmp_path / "a.db"}"\nepsilon = 1.0\nrows_per_person = 2\n')
    listed.chmod(0o600)
    return placed(configured_sources(listed)[0], "v")


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch) -> list[OwnFile]:
    """What an action leaves in place."""
    found: list[OwnFile] = []
    for name in ("commit", "put_in_place"):
        monkeypatch.setattr(actions, name, found.append)
    return found


def receipt(own: OwnFile, column: str) -> str:
    assert own.columns.declared is not None
    declared = Declaration.of(
        own.columns.declared,
        suggested=own.columns.suggested,
        row_suggested=own.rows.suggested,
        form=own.form.said_in_answers,
    )
    return sentence(MostCommonOption.of(declared, column, epsilon=1.0))


def onto(own: OwnFile) -> None:
    declarations._onto(own, BROUGHT, BROUGHT)


def test_a_source_says_what_a_file_had_suggested(clinic: OwnFile, kept: list[OwnFile]) -> None:
    onto(clinic)
    assert TOLD in receipt(kept[-1], "flag")
    assert "are read" not in receipt(kept[-1], "ward")
    assert not private_answer.asks_confirmation(kept[-1]), "it was called right when it was saved"
    assert kept[-1].columns.suggested == ("flag",)
    by_hand = kept[-1].decide(kept[-1].decisions.retyped("flag", "category", None).retyped("flag", "yes/no", None))
    assert "are read" not in receipt(by_hand, "flag"), "chosen by hand now"
    stated = replace(BROUGHT, suggested=(), confirmed=())
    declarations._onto(kept[-1], stated, stated)
    assert "are read" not in receipt(kept[-1], "flag"), "another declaration, stated without a file"


def test_what_nobody_called_right_is_asked_of_a_source(clinic: OwnFile, kept: list[OwnFile]) -> None:
    """How a file's cells looked decided how a source is read, and no person was asked."""
    bare = replace(BROUGHT, suggested=("flag", "ward"), confirmed=())
    declarations._onto(clinic, bare, bare)
    assert private_answer.asks_confirmation(kept[-1])
    assert "“ward”" in needed.whole(kept[-1])
    assert private_answer.unreleasable(kept[-1])
    assert kept[-1].columns.declared is not None
    assert kept[-1].columns.declared.names == ("ward",), "yes or no, which needs no bounds, was declared by nobody"
    assert template(kept[-1]).confirmed == ()
    right = kept[-1].decide(kept[-1].confirm(kept[-1].columns.unconfirmed(kept[-1].columns.to_call_right)))
    assert not private_answer.asks_confirmation(right)
    assert TOLD.replace("flag", "ward") in receipt(right, "ward")
    assert template(right).confirmed == ("ward",)
    said = right.decide(right.decisions.says(right.schema.column("flag")))
    assert said.columns.declared == right.columns.declared, "its words alone do not say it"
    said = right.decide(right.decisions.says(right.schema.column("flag"), binary={"flag"}))
    assert said.columns.declared is not None
    assert said.columns.declared.names == ("flag", "ward")


def test_the_next_session_is_told_too(clinic: OwnFile, kept: list[OwnFile], monkeypatch: pytest.MonkeyPatch) -> None:
    onto(clinic)
    again = Remembered.read(Remembered.of(kept[-1]).written())
    monkeypatch.setattr(source, "own_file", lambda: replace(clinic, remembered=again))
    declarations._use_remembered()
    assert TOLD in receipt(kept[-1], "flag")


def test_saving_it_again_does_not_state_it(clinic: OwnFile, kept: list[OwnFile]) -> None:
    onto(clinic)
    assert template(kept[-1]).suggested == ("flag",)
    again = loaded(saved(template(declarations.described(BROUGHT))))
    assert (again.suggested, again.confirmed, again.row_suggested) == (BROUGHT.suggested, BROUGHT.confirmed, True)


def test_a_declaration_without_marks_is_caught(
    clinic: OwnFile, kept: list[OwnFile], monkeypatch: pytest.MonkeyPatch
) -> None:
    unmarked: Callable[..., Any] = lambda decisions, *_: decisions  # noqa: E731
    monkeypatch.setattr(declarations, "_marked", unmarked)
    onto(clinic)
    assert TOLD not in receipt(kept[-1], "flag")
    assert template(declarations.described(BROUGHT)).suggested == ()
