"""How far one moves an entry counts for what that was said of, by whatever path another table comes to it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from dashboard import session
from dashboard.data import actions, declarations, own_file, source
from dashboard.data.decisions import Decisions, typed_as
from dashboard.data.own_file import OwnFile
from dashboard.data.read_again import opened, worked
from dashboard.data.remembered import Remembered
from dashboard.data.template import template
from dpcore.audit.interference import spent
from dpcore.datasets import (
    Column,
    Declaration,
    LeaveOutTotals,
    ReadAsMissing,
    Schema,
    Step,
    Template,
    loaded,
    read_table,
    saved,
)
from dpcore.releases.selection import BestScore
from tests.dashboard.test_entries_moved import CALLERS, COMPLAINT, SCORE, STREET, lines

FILE = lines("heating", ("street", "complaint", "callers"))
OTHER = FILE.replace("A,heating,40", "A,heating,999")
TOTALS, WORD = LeaveOutTotals(column="complaint"), ReadAsMissing(column="callers", word="999")


def declared(text: str = FILE) -> OwnFile:
    """A table of options of which everything was declared but how far one moves an entry."""
    columns = (STREET, COMPLAINT, replace(CALLERS, sensitivity=None, counts=False))
    schema = Schema(columns=columns, each_row="option")
    decisions = Decisions(schema=schema, said_row=True, settled=frozenset(schema.names))
    reading = read_table(text.encode(), header_rows=1)
    own = OwnFile(name="f.csv", data=text.encode(), choices=(), reading=reading, decisions=decisions)
    return own.decide(own.confirm(own.columns.to_call_right))


def saying(own: OwnFile, column: Column = CALLERS) -> OwnFile:
    """As the form of the column does."""
    found = own.decide(own.decisions.moved(column, own.entries))
    assert found.schema.column("callers") == column
    return found


def after(own: OwnFile, *steps: Step) -> OwnFile:
    assert own.as_read is not None
    return worked(own, own.as_read.after(steps), steps)


def anew(own: OwnFile, text: str = FILE, **choices: Any) -> OwnFile:
    reading = read_table(text.encode(), **({"header_rows": 1} | choices))
    return opened("f.csv", text.encode(), tuple(choices.items()), reading, None, own)


def decided(own: OwnFile, change: Callable[[Decisions], Decisions]) -> OwnFile:
    return own.decide(change(own.decisions))


def brought(own: OwnFile, facts: Template, before: Remembered | None = None) -> OwnFile:
    """``own`` declared by this declaration, as the pages do it."""
    kept = [own]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(source, "own_file", lambda: own)
        patch.setattr(actions, "commit", kept.append)
        patch.setattr(session, "say", lambda where, told: None)
        assert own.reading is not None
        declarations._declare(own, own.reading, facts, before)
    return kept[-1]


def stating(own: OwnFile) -> Template:
    """A declaration that states it, as an earlier version or a person with an editor wrote it."""
    facts = template(own)
    return replace(facts, schema=facts.schema.with_column(CALLERS))


PATHS: dict[str, Callable[[OwnFile], OwnFile]] = {
    "a step is taken": lambda own: after(own, TOTALS),
    "a step is taken back": lambda own: after(saying(after(own, TOTALS))),
    "a word is read as missing": lambda own: after(own, WORD),
    "the line of the names is stated": lambda own: anew(own, header_line=1),
    "totals stay": lambda own: anew(own, keep_footer=True),
    "commas mark decimals": lambda own: anew(decided(own, lambda old: replace(old, notation=frozenset())), decimal=","),
    "a row is a step": lambda own: decided(own, lambda old: old.rows_are(each_row="step")),
    "households are protected": lambda own: decided(own, lambda old: old.rows_are(unit="household")),
    "the mark alone is changed": lambda own: decided(
        saying(own, SCORE), lambda old: old.moved(replace(SCORE, type="number", decimal=","), own.entries)
    ),
    "a declaration is brought": lambda own: brought(declared(), loaded(saved(stating(own)))),
    "a declaration is remembered": lambda own: brought(
        declared(OTHER), stating(own), replace(Remembered.of(own), template=stating(own))
    ),
    "a declaration says more": lambda own: brought(
        own, replace(stating(own), schema=own.schema.with_column(replace(CALLERS, sensitivity=2.0)))
    ),
    "other cells are there": lambda own: anew(own, OTHER),
    "another file takes it over": lambda own: replace(declared(OTHER), decisions=own.decisions),
}


def says(own: OwnFile) -> bool:
    assert own.columns.declared is not None
    column = own.columns.declared.column("callers")
    return column.sensitivity is not None or column.counts


@pytest.mark.parametrize("path", PATHS)
def test_what_was_said_of_entries_comes_along_by_no_path(path: str) -> None:
    assert not says(PATHS[path](saying(declared())))


KEPT_BY_ITSELF = {"a word is read as missing"}  # where such a step is, no statement counts


@pytest.mark.parametrize("path", PATHS)
def test_every_path_would_bring_it_along(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(own_file, "told", lambda schema, said, entries: schema.columns)
    assert says(PATHS[path](saying(declared()))) != (path in KEPT_BY_ITSELF)


def test_it_stays_while_the_entries_stay() -> None:
    own = saying(declared())
    assert says(own)
    for same in (
        anew(own),
        after(own),
        decided(own, lambda old: replace(old, copied=frozenset({"street"}))),
        decided(own, lambda old: old.rows_are(each_row="option")),
        decided(own, lambda old: replace(old, schema=old.schema.with_column(replace(CALLERS, high=200)))),
    ):
        assert says(same)
    gone = after(own, TOTALS)
    assert not says(gone)
    assert says(saying(gone)), "said of entries as the step leaves them"
    assert says(decided(own, lambda old: old.rows_are(each_row="step")).undone())


def test_no_declaration_states_it() -> None:
    own = saying(declared())
    for text in (saved(template(own)), Remembered.of(own).written()):
        assert "sensitivity" not in text
        assert "counts" not in text
    described = replace(own, reading=None, data=b"")
    assert described.described
    assert "sensitivity" in saved(template(described)), "nobody is behind it, and simulated rows follow it"


@pytest.mark.parametrize("told", [True, False])
def test_a_word_that_no_declaration_names_moves_no_entry_uncharged(told: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """With 999 read as nobody's, one caller moves 0 to 1; without that step from the bound to 1: charged 0.5 for 49."""
    if not told:
        monkeypatch.setattr(own_file, "told", lambda schema, said, entries: schema.columns)
    there = saying(after(declared(OTHER), WORD))
    facts = loaded(saved(stating(there)))
    next_time = brought(declared(OTHER), facts, replace(Remembered.of(there), template=facts))
    assert not next_time.steps
    next_time = next_time.decide(next_time.confirm(next_time.columns.to_call_right))
    assert next_time.columns.declared is not None
    request = BestScore.of(Declaration.of(next_time.columns.declared), option="street", score="callers", epsilon=0.5)
    files = (read_table(OTHER.replace("999", cell).encode(), header_rows=1).private for cell in ("999", "1"))
    assert (spent(request, *map(request.read, files)) <= 1.0 + 1e-9) == told


@pytest.mark.parametrize("kind", ["number", "text"])
def test_another_type_says_nothing_of_entries(kind: Any) -> None:
    column = typed_as(saying(declared()).schema, "callers", kind).column("callers")
    assert column.sensitivity is None
    assert not column.counts
