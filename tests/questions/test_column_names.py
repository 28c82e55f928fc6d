"""Sentences that are built from columns' names stay clear, whatever the columns are called."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from dashboard.data import suits
from dashboard.words import alarm
from dpcore.datasets import Column, Schema
from dpcore.datasets.schema import ColumnType, EachRow
from dpcore.datasets.text import within

TYPES: tuple[ColumnType, ...] = ("category", "yes/no", "integer", "date", "text")
OURS = ("day", "date", "row", "rows", "person", "people", "value", "count", "median", "line", "yes", "first", "number")
HOSTILE = ("{}", "a{0}b", "a? b", "{yes} {")
SMALL = {"is", "the", "of", "in", "to", "a", "with", "which", "what", "can", "be", "has"}


def told(name: str, kind: ColumnType, row: EachRow) -> list[str]:
    """Every sentence that offers a question about a table with such a column, and every name of a series in it."""
    others = (Column(name="weight", type="number"), Column(name="x 2", type="number"), Column(name="ok", type="yes/no"))
    schema = Schema(columns=(Column(name=name, type=kind), *others), each_row=row)
    found = [suited.way.sentence for suited in suits.questions(schema)]
    if row == "record" and kind in ("category", "date"):
        found += [alarm.series(schema, "rows", name, yes) for yes in ("", "ok")]
    return found


@pytest.mark.parametrize("row", ["record", "option", "step"])
@pytest.mark.parametrize("name", OURS)
def test_a_name_is_not_taken_for_a_word_of_the_sentence(name: str, row: EachRow) -> None:
    for kind in TYPES:
        for sentence in told(name, kind, row):
            plain = re.sub("“[^”]*”", "", sentence).casefold()
            often = Counter(re.findall(r"\w+", plain))
            assert {word for word, count in often.items() if count > 1} <= SMALL, sentence
            assert not plain.startswith(("which row ", "which person ", "which people ", "which yes ")), sentence


@pytest.mark.parametrize("name", HOSTILE)
def test_braces_and_questions_in_a_name_stay_as_they_are(name: str) -> None:
    assert any(name in sentence for kind in TYPES for sentence in told(name, kind, "record"))
    for kind in TYPES:
        told(name, kind, "option")
        told(name, kind, "step")


def test_other_names_stand_as_they_are() -> None:
    assert within("Which {} is most common?", "marital status") == "Which marital status is most common?"
    assert within("Which {} has the largest {}?", "is_member", "age") == "Which is_member has the largest age?"
    assert within("What is the median of {}?", "median age") == "What is the median of “median age”?"


def test_days_are_counted_by_the_column_they_stand_in_where_its_name_does_not_say_so() -> None:
    def asked(*names: str) -> str:
        schema = Schema(columns=tuple(Column(name=name, type="date") for name in names))
        return alarm.way(schema, "rows", names[0], "")

    assert asked("day") == "Which day is the first with many people?"
    assert asked("reported") == "Which day in reported is the first with many people?"
    assert asked("first day") == "Which day in “first day” is the first with many people?"
    assert asked("day", "date") == "Which day in “day” is the first with many people?"  # which of the two
