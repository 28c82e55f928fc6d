"""Non-interference in short: neighbouring files change nothing before the answer, and its law by no more than claimed.

``make audit`` does the same on more neighbours and on bytes alone.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from dpcore.audit.holes import HOLES
from dpcore.audit.interference import check, check_declared
from dpcore.audit.questions import QUESTIONS, question
from dpcore.audit.sources import SOURCES
from dpcore.audit.sources import question as of_source
from dpcore.datasets.in_place import connection, private
from dpcore.datasets.in_place.counting import by_option, counted
from dpcore.datasets.in_place.tongue import TONGUES
from dpcore.releases import catalog


@pytest.mark.thorough
@pytest.mark.parametrize("name", [found.name for found in QUESTIONS])
def test_a_neighbouring_file_changes_the_law_alone_and_by_no_more_than_claimed(name: str) -> None:
    verdict = check(question(name), most=4, from_bytes=0, every=5)
    assert verdict.good, verdict
    assert verdict.pairs >= 2


@pytest.mark.thorough
@pytest.mark.parametrize(
    "name",
    [
        "most common, two rows by who",
        "model, a row added",
        "losses, doubling",
        "alarm over revenue, exponential",
        "losses of a step, totals left out",
        *(found.name for found in QUESTIONS if found.beside),
    ],
)
def test_from_the_bytes_of_the_file(name: str) -> None:
    verdict = check(question(name), most=4, from_bytes=6, every=4)
    assert verdict.good, verdict


@pytest.mark.thorough
@pytest.mark.parametrize(
    "name",
    [
        "most common, a row added, in place",
        "median, a row replaced, in place",
        "alarm per day, two rows by who, in place",
        "best rule, two rows by who, in place",
        "least cost, a row added, in place",
        "how many, two rows by who, in place",
        "most common, two rows by who, line by line",
        "model on steps, counted, two rows by who, in place",
        "model on steps, all classes, a row added, in place",
        "median, two rows by who, not a number in several files",
        "best rule, a row added, not a number in one file of singles",
        "least cost, a row added, not a number in a file without footers of ranges",
    ],
)
def test_a_neighbouring_source_changes_the_law_alone_and_by_no_more_than_claimed(name: str) -> None:
    verdict = check(of_source(name), most=4, from_bytes=1, every=8)
    assert verdict.good, verdict
    assert verdict.pairs >= 3


@pytest.mark.parametrize("name", [found.name for found in SOURCES])
def test_every_row_of_the_long_form_can_be_laid_into_a_source(name: str) -> None:
    """Rows of files that are wider or narrower than the others too: a source has none, and the audit ended there."""
    found = of_source(name)
    for wide in ((*found.tables[0][0], "", "x"), (*found.tables[0][0], "x"), found.tables[0][0][:-1]):
        made = found.file((*found.tables[0], wide), from_bytes=False)
        assert made.frame.shape == (len(found.tables[0]) + 1, len(found.schema.names))
        assert not made.frame.isna().to_numpy().any()


@pytest.mark.thorough
@pytest.mark.parametrize("name", [found.name for found in SOURCES])
def test_every_source_answers(name: str) -> None:
    """No query goes deeper than an engine's parser does, which ends where the longest of them asked a database."""
    found = of_source(name)
    for from_bytes in (False, True):
        made = found.file(found.tables[0], from_bytes=from_bytes)
        request = found.ask(found.declaration, made)
        request.draw(request.read(made.private))


def _by_the_engines_own_groups(table, column, cell, kind, tongue, where):
    """Equal texts by the engine's comparison are one group, called as one of them: the others change its name."""
    right = by_option(column, cell, kind, tongue)
    places = {word: place for place, word in enumerate(column.categories)}
    alike = cell.collate("NOCASE")  # as SQLite compares what stands in the column itself, and not worked out of it
    return type(right)(cell=alike, places=places, count=right.count), counted(table, alike, where)


def test_sources_that_count_otherwise_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """A database that groups texts its own way, and one that counts all rows of a person, break the promise."""
    mixed = of_source("most common, a row added, in place")
    rows = (("A", "", "", "", ""), *[("a", "", "", "", "")] * 6)
    pair = [mixed.file(some, from_bytes=False).private for some in (rows, rows[1:])]
    asked = mixed.ask(mixed.declaration, mixed.file((), from_bytes=False))
    assert asked.read(pair[0]).tolist() == asked.read(pair[1]).tolist() == [6, 0, 0]  # “A” is no option
    monkeypatch.setattr(private, "options_counted", _by_the_engines_own_groups)
    assert abs(asked.read(pair[0]) - asked.read(pair[1])).max() > asked.rows_per_person
    monkeypatch.undo()
    monkeypatch.setattr(private, "counted_of_each", lambda table, place, where, **_: counted(table, place, where))
    assert not check(of_source("most common, two rows by who, in place"), most=0, from_bytes=0, every=4).good


def test_people_told_apart_by_value_and_numbered_by_text_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of one person in two spellings which rows stay hangs on the order of all rows, which one row more changes."""
    asked = of_source("most common, two rows by who, ids in two ways")
    verdict = check(asked, most=4, from_bytes=0, every=4)
    assert verdict.good, verdict
    as_is = replace(TONGUES["sqlite"], named=lambda cell, kind, trimmed: cell, plain=lambda text: text)
    monkeypatch.setitem(TONGUES, "sqlite", as_is)
    assert "more than the claim" in check(asked, most=4, from_bytes=0, every=4).trouble


@pytest.mark.thorough
@pytest.mark.parametrize(
    "name", ["best rule, a row added", "least cost, two rows by who", "model on steps, counted, a row added"]
)
def test_sources_that_are_read_by_what_footers_say_are_caught(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Footers leave out what is not a number: one infinite number more lets all such rows count otherwise."""
    asked = of_source(f"{name}, not a number in one file")
    assert check(asked, most=0, from_bytes=0, every=12).good
    monkeypatch.setattr(connection, "BELIEVING", ())
    assert "more than the claim" in check(asked, most=0, from_bytes=0, every=12).trouble


@pytest.mark.thorough
@pytest.mark.parametrize("hole", HOLES, ids=lambda hole: hole.name)
def test_every_hole_that_once_was_is_found_again(hole) -> None:
    assert not hole.dug().good


@pytest.mark.thorough
def test_every_kind_of_release_is_asked_about_files() -> None:
    kinds = {found.ask(found.declaration, found.file(found.tables[0], from_bytes=False)).key for found in QUESTIONS}
    assert kinds == set(catalog())
    assert {one.ask(one.declaration, one.file((), from_bytes=False)).key for one in SOURCES} == {
        "most_common",
        "alarm",
        "quantile",
        "best_rule",
        "least_cost",
        "count",
        "scaled_model",
    }


@pytest.mark.thorough
def test_most_promises_are_used_up() -> None:
    """Where neighbours come near the claim the check has teeth: one question of each kind uses 0.9 of it or more."""
    for name in ("most common, a row added", "alarm over net votes, exponential", "best cases", "losses, doubling"):
        assert check(question(name), most=0, from_bytes=0).used > 0.9, name


@pytest.mark.thorough
@pytest.mark.parametrize(
    "name",
    [
        "most common, two rows by who",
        "median, a row added",
        "quartile, permute-and-flip, a row added",
        "best rule, a row added",
        "least cost, a row replaced",
        "alarm per option, where yes, a row added",
        "alarm over revenue, laplace",
        "best score",
        "losses, batched",
    ],
)
def test_whatever_is_declared_leaves_an_answer_on_every_file(name: str) -> None:
    """Bounds, stand-ins and words at their extremes: refused when they are declared, or by an answer never."""
    verdict = check_declared(question(name), draws=3, every=9)
    assert verdict.good, verdict
    assert verdict.pairs >= 3
