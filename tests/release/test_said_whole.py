"""What is said before a click says all that its receipt will: no sentence is cut before it says what it is about."""

from __future__ import annotations

from typing import get_args

import pytest

from dashboard import words
from dashboard.report.answer import _rules as on_paper
from dashboard.report.value import Listing
from dashboard.widgets import release as page
from dashboard.words import release as said
from dashboard.words.release import answers_for
from dpcore.datasets import Column
from dpcore.datasets.declaration import Reads, Stated
from dpcore.datasets.done import Done
from dpcore.releases.asked import _FORM, _ROW_BY_ROW, form_stated, named
from dpcore.releases.asked import suggested as types_stated
from dpcore.releases.count import NoisyCount
from dpcore.releases.steps_chosen import steps_chosen

LONG = tuple(f"{'*<_`W' * 20}{place}" for place in range(5))
MUCH = Reads(
    columns=tuple(Column(name=name, type="text") for name in LONG),
    suggested=LONG,
    suggested_row="record",
    form=tuple(sorted(_FORM)),
    named_by_rows=True,
    done=tuple(Done(kind="missing", columns=(name,)) for name in LONG)
    + tuple(Done(kind="together", columns=(name, name), stated=("mean", "day", ",")) for name in LONG),
)
REQUEST = NoisyCount(epsilon=1.0, reads=MUCH)
NOT_COVERED = "not covered by ε"


def test_there_are_words_for_all_that_can_be_stated_of_a_form() -> None:
    assert {*_FORM, _ROW_BY_ROW} == set(get_args(Stated))


@pytest.mark.parametrize("sentences", [types_stated, form_stated, steps_chosen, named])
def test_what_was_stated_is_said_whole_beside_a_release(sentences: object) -> None:
    (note,) = sentences(MUCH)  # type: ignore[operator]
    assert NOT_COVERED in note
    assert words.safe(note, 10**6) in answers_for([note])


def shown(monkeypatch: pytest.MonkeyPatch, *, sample: bool) -> list[list[str]]:
    """The lists beside a release: of each its lines."""
    written: list[str] = []
    monkeypatch.setattr(page.st, "markdown", written.append)
    page._rules(REQUEST, REQUEST.notes, sample=sample)
    return [[line[2:] for line in one.splitlines() if line.startswith("- ")] for one in written]


def test_all_of_a_receipt_is_in_one_list_beside_a_file_s_release(monkeypatch: pytest.MonkeyPatch) -> None:
    answered_for, rules = shown(monkeypatch, sample=False)
    assert answered_for == [words.safe(note, 10**6) for note in REQUEST.notes]
    assert rules == [words.safe(rule, 10**6) for rule in REQUEST.rules]
    assert sum(NOT_COVERED in line for line in answered_for) == 4


def test_of_a_sample_it_is_among_the_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    (rules,) = shown(monkeypatch, sample=True)
    assert rules == [words.safe(one, 10**6) for one in (*REQUEST.rules, *REQUEST.notes)]


def test_so_is_each_rule_on_paper() -> None:
    (_, listed) = on_paper(REQUEST.rules)
    assert isinstance(listed, Listing)
    assert ["".join(run.text for run in line) for line in listed.lines] == [
        words.visible(rule, 10**6) for rule in REQUEST.rules
    ]


def test_what_it_means_is_said_of_what_is_listed_alone() -> None:
    plain = answers_for(["One person has one row: stated and not checked."])
    assert said.IF_NOT_SO in plain
    assert said.SEEN_FIRST not in plain
    assert said.SEEN_FIRST in answers_for(steps_chosen(MUCH))
    assert said.SEEN_AFTER in answers_for(types_stated(MUCH))
    assert said.NAMED_BY_LINE in answers_for(named(MUCH))


def test_a_sentence_that_is_cut_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(said, "LONGEST_QUESTION", 700)
    (note,) = form_stated(MUCH)
    assert words.safe(note, 10**6) not in answers_for([note])
