"""What a receipt of every kind says, as somebody who signs it reads it: whole sentences, each true by itself."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any, get_args

import pytest

from dashboard.budget.receipts import in_words, plain, protected_words
from dpcore.audit.files import Question
from dpcore.audit.questions import QUESTIONS, question
from dpcore.datasets import Column, Declaration
from dpcore.datasets.declaration import Stated
from dpcore.datasets.done import Done
from dpcore.errors import InvalidArgument
from dpcore.ledger import Ledger
from dpcore.ledger import asked as charge_asked
from dpcore.ledger.asked import Asked as ChargeAsked
from dpcore.ledger.words import same_question
from dpcore.release import question_digest, release, sentence
from dpcore.releases import asked as asked_module
from dpcore.releases import steps_chosen
from dpcore.releases.asked import Asked, suggested
from dpcore.releases.scaled_model import ScaledModel
from dpcore.releases.selection import BestRule

BY_KIND: dict[str, Question] = {}
for _one in QUESTIONS:
    BY_KIND.setdefault(_one.name.split(",")[0], _one)


def request(found: Question, **changed: Any) -> Any:
    declaration = replace(found.declaration, **changed)
    return found.ask(declaration, found.file(found.tables[0], from_bytes=False))


@pytest.mark.parametrize("found", BY_KIND.values(), ids=lambda found: found.name)
def test_a_receipt_reads_as_sentences(found: Question) -> None:
    said = sentence(request(found))
    parts = re.split(r"(?<=[.?]) (?=[A-Z])", said)
    assert parts[0].startswith(("Wh", "How", "A model that predicts"))
    assert parts[0].endswith("?") != parts[0].startswith("A model")
    assert len(parts) >= 2, "whose rows count as one, and how that is known, is said too"
    assert all(part[0].isupper() and part.endswith((".", "?")) for part in parts)
    assert found.declaration.unit in " ".join(parts[1:])
    assert "stated" in said or "by the column" in said or "whole declared range" in said
    assert not re.search(r"these rules|was bought|What is hidden", said), "nothing that the receipt does not hold"


@pytest.mark.parametrize("found", BY_KIND.values(), ids=lambda found: found.name)
def test_a_receipt_says_what_the_file_suggested(found: Question) -> None:
    """Of every kind, of the columns that are read alone; where nothing was suggested the question is as it was."""
    names = tuple(column.name for column in found.declaration.columns)
    plain_one, told = request(found), request(found, suggested=names, row_suggested=True)
    (note,) = told.suggestions
    assert sentence(told).endswith(note)
    assert f"each row is {'a step' if found.schema.each_row == 'step' else 'one'}" in note
    read = {column.name for column in told.reads.columns}
    assert all((f"“{name}”" in note) <= (name in read) for name in names)
    assert plain_one.suggestions == ()
    assert question_digest(plain_one) != question_digest(told)
    assert len(sentence(told)) <= 1000


@pytest.mark.parametrize(("unit", "told"), [("person", "one person"), ("visit", "one visit"), ("day*", "one day*")])
def test_a_receipt_says_of_what_a_change_is_hidden(tmp_path: Path, unit: str, told: str) -> None:
    found = question("most common, a row added")
    file = found.file(found.tables[0], from_bytes=False)
    asked = replace(request(found), unit=unit)
    with Ledger.open(f"sqlite:///{tmp_path / 'ledger.db'}", create=True) as ledger:
        lineage = Ledger.new_lineage()
        ledger.open_budget(lineage, epsilon=5.0, delta=1e-6, counting="sum", neighbours="", name="units")
        receipt = release(ledger, "a", lineage, asked, file.private)
        assert protected_words(receipt) == f"{told} added or removed"
        assert ("unit" in receipt.to_dict()) == (unit != "person")
        assert ledger.confirms(receipt.to_json())
        assert release(ledger, "a", lineage, asked, file.private) == receipt
        if unit != "person":
            assert not ledger.confirms(receipt.to_json().replace(unit, "house"))


def test_the_sentence_stays_short_and_plain() -> None:
    columns = tuple(Column(name=f"column number {n} with a rather long name", type="yes/no") for n in range(12))
    reads = Declaration(columns=columns, suggested=tuple(one.name for one in columns)).reads(*(c.name for c in columns))
    (note,) = suggested(reads)
    assert note.count("“") == 3
    assert (
        "and 9 more columns are read and what they can hold were stated or called right by a person who had seen"
        in note
    )
    assert suggested(replace(reads, suggested=())) == ()
    (note,) = suggested(replace(reads, suggested=(), suggested_row="step"))
    assert note == (
        "That each row is a step in time and how far one person changes it were stated or called right by a person who "
        "had seen the file or an earlier one: not covered by ε."
    )


def test_what_was_said_of_a_file_before_is_the_same_question() -> None:
    """The words changed since, the digest did not: what was granted or charged then is drawn."""
    found = question("median, a row added")
    names = tuple(column.name for column in found.declaration.columns)
    now = sentence(request(found, suggested=names, row_suggested=True))
    before = now.replace(
        f"stated or called right by {steps_chosen.SEEN}", "suggested by the file and confirmed by a person"
    )
    assert before != now
    assert same_question((before, "d"), (now, "d"))


@pytest.mark.parametrize("found", BY_KIND.values(), ids=lambda found: found.name)
def test_a_receipt_of_all_that_was_said_of_a_file_can_be_kept(found: Question, monkeypatch: pytest.MonkeyPatch) -> None:
    """However much of its form was stated and many steps were done: beyond a thousand letters it was refused."""
    names = tuple(column.name for column in found.declaration.columns)
    done = [Done(kind="columns", columns=(f"{n} " + "a long name " * 9,), stated=(";", "17")) for n in range(9)]
    form = tuple(sorted(get_args(Stated)))[::2]
    told = request(found, suggested=names, row_suggested=True, form=form, named_by_rows=True, done=tuple(done))
    asked = ChargeAsked(what=sentence(told), mechanism="m", neighbours="add_remove", question="d")
    assert asked.what.endswith("not covered by ε.")
    assert len(asked.what) > 1000
    monkeypatch.setattr(charge_asked, "LONGEST_QUESTION", 1000)
    with pytest.raises(InvalidArgument, match="at most 1000"):
        replace(asked)


def test_words_of_the_file_are_said_on_the_receipt() -> None:
    """As the Data page promises where they are taken over."""
    found = question("most common, a row added")
    columns = tuple(replace(one, words_from_file=one.type == "category") for one in found.schema.columns)
    asked = request(replace(found, schema=replace(found.schema, columns=columns)))
    assert "are words of the file, or of an earlier one: that a word occurs there is not hidden." in sentence(asked)
    assert "words of the file" not in sentence(request(found))


def counted(note: str) -> int:
    """How many columns a sentence speaks of: by name, and as so many more."""
    more = re.search(r" and ([0-9]+) more columns? ", note)
    return note.count("“") + (int(more[1]) if more else 0)


def silent(count: int) -> list[str]:
    """Sentences about so many columns that speak of fewer."""
    names = [f"c{number}" for number in range(6)]
    columns = [Column(name=name, type="category", categories=("a", "b"), words_from_file=True) for name in names]
    declared = Declaration(
        columns=(*columns, Column(name="ill", type="yes/no")), suggested=tuple(names), named_by_rows=True
    )
    asked: list[Asked] = [
        ScaledModel.of(declared, target="ill", columns=names[:count], epsilon=1.0, delta=1e-6),
        BestRule.of(declared, names[:count], target="ill", epsilon=1.0),
    ]
    found = []
    for one in asked:
        told = [note for note in one.notes if "“c0”" in note]
        for what, of in (("words of the file", count), ("file has", count + 1), ("called right", count)):
            notes = [note for note in told if what in note]
            found += [what] if sum(map(counted, notes)) != of else []
    return found


def test_no_sentence_about_columns_is_silent_on_the_fourth(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not [silent(count) for count in range(1, 7) if silent(count)]
    listed = asked_module._listed
    monkeypatch.setattr(asked_module, "_listed", lambda names: listed(names[:3]))
    assert set(silent(4)) == {"words of the file", "file has", "called right"}


@pytest.mark.parametrize("name", ["alarm per day, a row added", "losses, doubling", "model, a row added"])
def test_an_answer_is_read_without_places_that_count_from_0(name: str) -> None:
    found = question(name)
    asked = request(found)
    answer = asked.draw(asked.read(found.file(found.tables[0], from_bytes=False).private))
    told = plain(in_words(answer))
    if "alarms" in answer:
        days = [date.fromisoformat(name) for name in answer["names"]]
        assert told.startswith(
            f"alarm at: {', '.join(day.isoformat() for day in days) or 'none'}; compared with the line"
        )
    elif "plays" in answer:
        first, last = answer["experts"][answer["plays"][0]], answer["experts"][answer["plays"][-1]]
        assert told.startswith(f"follow: {first} from round 1, ")
        assert told.endswith(f", {last} from round {answer['starts'][-1] + 1}")
    else:
        assert told == "a linear model that predicts “other” from 2 columns; the receipt's JSON holds all of it"
