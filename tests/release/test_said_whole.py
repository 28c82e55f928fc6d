"""What is said before a click says all that its receipt will: no sentence is cut before it says what it is about."""

from __future__ import annotations

from typing import get_args

import pytest

from dashboard import words
from dashboard.report.answer import _rules as on_paper
from dashboard.report.value import Listing
from dashboard.widgets import release as page
from dashboard.words import release as said
from dashboard.words.release import named_by_rows, suggested
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
NOT_COVERED = "not covered by ε"


def test_there_are_words_for_all_that_can_be_stated_of_a_form() -> None:
    assert {*_FORM, _ROW_BY_ROW} == set(get_args(Stated))


@pytest.mark.parametrize("sentences", [types_stated, form_stated, steps_chosen])
def test_what_was_stated_is_said_whole_beside_a_release(sentences: object) -> None:
    (note,) = sentences(MUCH)  # type: ignore[operator]
    assert NOT_COVERED in note
    assert words.safe(note, 10**6) in suggested(note)


def test_so_is_what_rows_name() -> None:
    (note,) = named(MUCH)
    assert NOT_COVERED in note
    assert words.safe(note, 10**6) in named_by_rows(note)


def test_so_is_each_rule_on_page_and_paper(monkeypatch: pytest.MonkeyPatch) -> None:
    request = NoisyCount(epsilon=1.0, reads=MUCH)
    shown: list[str] = []
    monkeypatch.setattr(page.st, "markdown", shown.append)
    page._rules(request)
    lines = shown[0].splitlines()
    assert len(lines) == len(page.rules_of(request))
    assert sum(NOT_COVERED in line for line in lines) == 4
    (_, listed) = on_paper(page.rules_of(request))
    assert isinstance(listed, Listing)
    assert ["".join(run.text for run in line) for line in listed.lines] == [
        words.visible(rule, 10**6) for rule in page.rules_of(request)
    ]


def test_a_sentence_that_is_cut_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(said, "LONGEST_QUESTION", 700)
    (note,) = form_stated(MUCH)
    assert words.safe(note, 10**6) not in suggested(note)
    assert NOT_COVERED not in suggested(note)
