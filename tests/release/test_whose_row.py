"""Rows are told apart by the text of the column that says whose each is: how it looks, and what else it was declared
as, is in no question about another column, and in no answer."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import numpy as np
import pandas as pd
import pytest

from dpcore.audit.questions import QUESTIONS
from dpcore.datasets import Column, Declaration, PrivateRows, declaration
from dpcore.release import question_digest, sentence
from dpcore.releases.count import NoisyCount
from dpcore.releases.selection import MostCommonOption

MISSING = ("", "nobody", "9")
LOOKS = (
    Column(name="who", type="text"),
    Column(name="who", type="yes/no"),
    Column(name="who", type="integer", low=0.0, high=3.0),
    Column(name="who", type="number", low=0.0, high=3.0, decimal=","),
    Column(name="who", type="number", low=0.0, high=3.0, fill=1.0, unit="€"),
    Column(name="who", type="date", earliest=date(2024, 1, 1), latest=date(2024, 1, 5), date_order="mdy"),
    Column(name="who", type="category", categories=("1", "2", "x")),
)
"""All that one column can be declared as, be it by how its cells look."""
WHO = [replace(look, missing_words=MISSING) for look in LOOKS]
CELLS = ["1", "2", "x", "1,5", "9", "Nobody", "", "01/02/2024", "yes", "1.0", "99999999", "2024-01-02"]
ROWS = PrivateRows(
    pd.DataFrame({"who": CELLS * 5, "option": [("a", "b", "c")[n % 7 % 3] for n in range(60)]}, dtype="str")
)
NAMED = [question for question in QUESTIONS if question.schema.id_column is not None]


def as_it_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(declaration, "whose_row", lambda column: column)


@pytest.mark.parametrize("question", NAMED, ids=lambda question: question.name)
def test_how_it_was_declared_is_in_no_question(question: object, monkeypatch: pytest.MonkeyPatch) -> None:
    def told() -> set[tuple[str, str, str]]:
        found = set()
        for who in WHO:
            facts = question.declaration  # type: ignore[attr-defined]
            others = tuple(who if column.name == "who" else column for column in facts.columns)
            request = question.ask(replace(facts, columns=others), None)  # type: ignore[attr-defined]
            found.add((question_digest(request), sentence(request), repr(request)))
        return found

    assert len(told()) == 1
    as_it_looks(monkeypatch)
    assert len(told()) == len(WHO)


def test_nor_in_which_rows_count() -> None:
    option = Column(name="option", type="category", categories=("a", "b", "c"))
    counts, people = set(), set()
    for who in WHO:
        facts = Declaration(columns=(who, option), rows_per_person=2, id_column="who")
        counts.add(tuple(np.asarray(MostCommonOption.of(facts, "option", epsilon=1.0).read(ROWS)).tolist()))
        people.add(NoisyCount.of(facts, epsilon=1.0, people=True).read(ROWS))
    assert len(counts) == 1
    assert people == {8}, "1 and 1.0 are one; none of a word that says of nobody, in whatever letters"


def test_the_words_that_say_of_nobody_are_part_of_a_question() -> None:
    """Those are stated, and decide which rows count."""
    option = Column(name="option", type="category", categories=("a", "b", "c"))
    facts = [Declaration(columns=(one, option), id_column="who") for one in (LOOKS[0], WHO[0])]
    assert len({question_digest(MostCommonOption.of(one, "option", epsilon=1.0)) for one in facts}) == 2


def test_asked_about_itself_it_is_read_as_declared() -> None:
    who = replace(WHO[6], categories=("1", "2"))
    request = MostCommonOption.of(Declaration(columns=(who,), id_column="who"), "who", epsilon=1.0)
    assert request.reads.columns == (who,)
    assert request.reads.person == replace(LOOKS[0], missing_words=MISSING)
    assert np.asarray(request.read(ROWS)).tolist() == [1, 1]
