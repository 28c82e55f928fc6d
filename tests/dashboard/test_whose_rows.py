"""What was said of rows, persons and entries counts for what it was said of, and for nothing that these become."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dashboard.data.decisions import Decisions, carried
from dashboard.data.own_file import OwnFile
from dashboard.data.read_again import opened
from dashboard.data.template import template
from dpcore.datasets import Column, Declaration, MonthsToRows, ReadAsMissing, Schema, read_csv
from dpcore.releases.alarm import AlarmRun
from dpcore.releases.cells import entry_sensitivity
from dpcore.releases.selection import MostCommonOption
from tests.questions.test_names_of_rows import alarm_over

SHOP = Column(name="shop", type="text")
VOTES = Column(name="votes", type="integer", low=0, high=100, sensitivity=1.0, counts=True)
SAID = Decisions(schema=Schema(columns=(SHOP, VOTES)), said_rows=True)


@pytest.mark.parametrize(
    "change", [{"each_row": "step"}, {"each_row": "option"}, {"unit": "month"}, {"unit": "clinic"}]
)
def test_nothing_of_a_row_is_said_of_another_thing_or_of_others(change: dict[str, str]) -> None:
    """Of one row each that was said of people a month of thirty was charged 0.1 for 2.2, and a clinic for 3."""
    old = replace(SAID, schema=replace(SAID.schema, id_column="shop", people=40))
    found = old.rows_are(**change)  # type: ignore[arg-type]
    assert not found.said_rows
    assert found.schema.id_column is None
    assert found.schema.people is None
    same = {"each_row": old.schema.each_row, "unit": old.schema.unit}
    assert old.rows_are(**{name: same[name] for name in change}).schema == old.schema  # type: ignore[arg-type]
    assert old.rows_are(**{name: same[name] for name in change}).said_rows  # type: ignore[arg-type]


def test_a_number_that_a_column_kept_to_is_asked_anew_without_it() -> None:
    kept = SAID.rows_of("shop")
    assert kept.said_rows, "what was promised is enforced from now on"
    assert not kept.rows_of(None).said_rows
    assert kept.rows_of("votes").said_rows
    assert SAID.rows_of(None).said_rows, "it is a promise as before"


def test_a_column_that_is_gone_when_a_file_is_read_anew_keeps_to_nothing() -> None:
    one, other = read_csv(b"shop,votes\na,1\nb,2\n"), read_csv(b"other,votes\na,1\nb,2\n")
    kept = replace(SAID.rows_of("shop"), said_row=True)
    assert carried(kept, one, one).said_rows
    assert not carried(kept, one, other).said_rows


def test_what_was_said_of_one_sheet_is_not_said_of_another() -> None:
    """One row each, of a sheet of people, counted for the sheet of their visits: charged 0.1 for 1.2."""
    people, visits = (
        read_csv(f"{names}\n".encode() + b"".join(b"a%d,%d\n" % (place, place) for place in range(12)))
        for names in ("who,age", "who,cost")
    )
    for other, kept in ((people, True), (visits, False)):
        said = Decisions(schema=people.suggested(), said_rows=True, said_row=True)
        before = OwnFile(name="f", data=b"", choices=(), reading=people, decisions=said)
        age = replace(before.schema.column("age"), sensitivity=1.0)
        before = before.decide(before.decisions.moved(age, before.entries))
        assert before.schema.column("age").sensitivity == 1.0
        found = opened("f", b"", (), other, None, before).decisions
        assert (found.said_rows, found.said_row) == (kept, kept)
        assert any(column.sensitivity is not None for column in found.schema.columns) == kept


@pytest.mark.parametrize("word", ["17", "not asked"])
def test_where_a_step_reads_a_word_as_missing_entries_count_nobody(word: str) -> None:
    """One person more made 17 of 16, which is none: charged 0.1 for 99. Whatever word it was: what a request is made of
    must tell of none."""
    rows = "".join(f"shop {place};{place}\n" for place in range(12))
    reading = read_csv(f"shop;votes\n{rows}".encode())
    schema = Schema(columns=(SHOP, VOTES), each_row="option")
    decisions = Decisions(schema=schema, said_row=True, settled=frozenset(("shop", "votes")))
    step = ReadAsMissing(column="votes", word=word)
    found = []
    for steps in ((), (step,)):
        own = OwnFile(name="f.csv", data=b"", choices=(), reading=reading, decisions=decisions, steps=steps)
        own = own.decide(own.decisions.moved(VOTES, own.entries))
        assert own.schema.column("votes") == VOTES
        assert own.columns.declared is not None
        found.append(Declaration.of(own.columns.declared).column("votes"))
    assert [one.reads_as_counts for one in found] == [True, False]
    assert [entry_sensitivity(one) for one in found] == [1.0, 100.0]
    assert word not in found[1].missing_words


def test_words_that_say_of_nobody_whose_row_it_is_stay_so() -> None:
    """All rows of nobody were those of one person, of whom one row counts: one more took another's place."""
    anonymous = Column(name="who", type="category", missing_words=("", "anon"))
    colour = Column(name="colour", type="category", categories=("blue", "red"))
    schema = Schema(columns=(anonymous, colour), id_column="who")
    reading = read_csv(b"who,colour\n" + b"anon,blue\n" * 5 + b"a,red\n")
    for who in (anonymous, replace(anonymous, type="text")):
        decisions = Decisions(schema=schema.with_column(who), said_rows=True, said_row=True)
        own = OwnFile(name="f.csv", data=b"", choices=(), reading=reading, decisions=decisions)
        assert own.columns.declared is not None
        declared = Declaration.of(own.columns.declared)
        assert declared.column("who").missing_words == ("", "anon")
        assert MostCommonOption.of(declared, "colour", epsilon=1.0).read(reading.private).tolist() == [0, 1]
        assert own.columns.spoken_of[0].missing_words == ("", "anon")


@pytest.mark.parametrize("different", [12, 13])
def test_what_says_whose_row_it_is_leads_no_page(different: int) -> None:
    """What a file took it for, options or text, decided with which column a page began."""
    rows = "".join(f"p{place % different},{'blue' if place % 3 else 'red'}\n" for place in range(24))
    reading = read_csv(f"who,colour\n{rows}".encode())
    colour = Column(name="colour", type="category", categories=("blue", "red"))
    schema = Schema(columns=(reading.suggested().column("who"), colour), id_column="who")
    decisions = Decisions(schema=schema, said_row=True, said_rows=True, settled=frozenset({"colour"}))
    own = OwnFile(name="f.csv", data=b"", choices=(), reading=reading, decisions=decisions)
    assert own.columns.leading.names == ("colour", "who")


def test_a_number_that_nobody_said_is_saved_by_nobody() -> None:
    """Saved and brought again it was one that somebody had said, of others than it was said of."""
    reading = read_csv(b"shop,votes\na,1\nb,2\n")
    said = replace(SAID, schema=replace(SAID.schema, rows_per_person=7))
    own = OwnFile(name="f.csv", data=b"", choices=(), reading=reading, decisions=Decisions(schema=SAID.schema))
    own = own.decide(said)
    assert template(own).schema.rows_per_person == 7
    for changed in (own.decisions.rows_are(unit="clinic"), own.decisions.rows_of("shop").rows_of(None)):
        after = own.decide(changed)
        assert (after.schema.rows_per_person, after.decisions.said_rows) == (1, False)
        assert template(replace(own, decisions=changed)).schema.rows_per_person == 1, "whatever way it came"


def test_a_word_that_a_step_reads_as_missing_is_none_under_another_name() -> None:
    rows = "".join(f"s{place},{place},{place}\n" for place in range(12))
    reading = read_csv(f"shop,2024-01,2024-02\n{rows}".encode())
    months = MonthsToRows(columns=("2024-01", "2024-02"), time="time", value="votes")
    steps = (ReadAsMissing(column="2024-01", word="999"), months)
    schema = Schema(columns=(SHOP, Column(name="time", type="text"), VOTES), each_row="option")
    own = OwnFile(
        name="f.csv",
        data=b"",
        choices=(),
        reading=reading.after(steps),
        decisions=Decisions(schema=schema, said_row=True, settled=frozenset(schema.names)),
        steps=steps,
    )
    assert own.columns.declared is not None
    assert not own.columns.declared.column("votes").reads_as_counts


@pytest.mark.parametrize("kinds", [12, 13])
def test_no_text_names_options_before_somebody_says_that_it_is_text(kinds: int) -> None:
    """Whether a file held twelve or thirteen different words decided whether their cells were given out."""
    rows = "".join(f"kind {place % kinds};{place}\n" for place in range(24))
    reading = read_csv(f"kind;votes\n{rows}".encode())
    suggested = reading.suggested().column("kind")
    assert (suggested.type == "text") == (kinds == 13)
    columns = (suggested, replace(VOTES, counts=False))
    schema = Schema(columns=columns, each_row="option")
    decisions = Decisions(schema=schema, said_row=True, settled=frozenset({"votes"}))
    own = OwnFile(name="f.csv", data=b"", choices=(), reading=reading, decisions=decisions)
    assert own.columns.declared is not None
    assert own.columns.declared.names == ("votes",)
    if kinds == 13:
        assert "kind" in own.columns.unconfirmed(own.columns.suggested), "it is asked"
        own = own.decide(own.confirm(own.columns.suggested))
        assert own.columns.declared is not None
        assert own.columns.declared.names == ("kind", "votes")
        assert "kind" in own.columns.suggested, "and the receipt says who said so first"
        declared = Declaration.of(own.columns.declared, suggested=own.columns.suggested, hidden="replace_one")
        alarm = alarm_over(declared, "votes", reading.private)
        assert isinstance(alarm, AlarmRun)
        assert "How the cells of “kind”" in " ".join(alarm.notes)


def test_a_text_is_called_by_no_declaration() -> None:
    """Saved and brought, or chosen by hand, it was text that somebody had called right, and its cells were given out:
    that a column names options is said of this very table."""
    schema = Schema(columns=(SHOP, replace(VOTES, counts=False)), each_row="option")
    marked = frozenset({("shop", "text")})
    settled = Decisions(schema=schema, said_row=True, settled=frozenset(schema.names), marked=marked)
    reading = read_csv(b"shop,votes\na,1\nb,2\n")
    for decisions in (settled, replace(settled, marked=frozenset())):
        own = OwnFile(name="f.csv", data=b"", choices=(), reading=reading, decisions=decisions)
        assert own.columns.declared is not None
        assert "shop" not in own.columns.declared.names
        assert "shop" in own.columns.open
        called = own.decide(own.confirm(own.columns.to_call_right))
        assert called.columns.declared is not None
        assert "shop" in called.columns.declared.names
