"""Columns that are read by their codes: a question says so of those that it reads or a step worked on, and of no other.

So two questions that read a column otherwise have no answer in common, and one to which it is nothing keeps its own.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from dpcore import release as module
from dpcore.audit.questions import QUESTIONS
from dpcore.datasets import Column, Declaration, LeaveOutTotals, MonthsToRows
from dpcore.datasets.declaration import Reads
from dpcore.release import question_digest
from dpcore.releases.alarm import AlarmRun
from dpcore.releases.asked import form_stated
from dpcore.releases.count import NoisyCount
from dpcore.releases.selection import BestRule, BestScore

A, B, C = (Column(name=name, type="category", categories=("x", "y")) for name in "abc")
NUMBER, WHO, NAME = Column(name="n", type="number", low=0, high=9), Column(name="w", type="text"), "name"
TABLE = Declaration(columns=(A, B, C, NUMBER, WHO))
OPTIONS = Declaration(columns=(Column(name=NAME, type="text"), NUMBER, A), each_row="option")


def rule(declared: Declaration) -> Any:
    return BestRule.of(declared, ("a", "b"), target="c", epsilon=0.5)


def counted(declared: Declaration) -> Any:
    return NoisyCount.of(replace(declared, id_column="w"), epsilon=0.5)


def best(declared: Declaration) -> Any:
    return BestScore.of(declared, option=NAME, score="n", candidates=("p", "q"), epsilon=0.5)


def alarm(declared: Declaration) -> Any:
    named = {"labels": ("p", "q"), "named_by": NAME}
    return AlarmRun.of(declared, "n", threshold=5.0, epsilon=0.5, entries=2, **named)  # type: ignore[arg-type]


def tell(declared: Declaration, ask: Any, read: set[str]) -> None:
    """Raises AssertionError unless exactly the columns that are ``read`` make another question where each is coded."""
    plain = ask(declared)
    for column in declared.columns:
        request = ask(replace(declared, coded=(column.name,)))
        assert request.reads.coded == ((column.name,) if column.name in read else ()), column.name
        assert (question_digest(request) != question_digest(plain)) == (column.name in read), column.name
        told = " ".join(form_stated(request.reads))
        assert (f"codes of “{column.name}”" in told) == (column.name in read), column.name
    each = {question_digest(ask(replace(declared, coded=(name,)))) for name in read}
    assert len(each) == len(read), "which of them it is makes a question of its own"


CASES: dict[str, tuple[Declaration, Any, set[str]]] = {
    "features and a target": (TABLE, rule, {"a", "b", "c"}),
    "whose row it is": (TABLE, counted, {"w"}),
    "a name and an entry": (OPTIONS, best, {NAME, "n"}),
    "what entries are called by": (OPTIONS, alarm, {NAME, "n"}),
    "what a step leaves rows out by": (replace(TABLE, done=(LeaveOutTotals(column="n").done,)), rule, set("abcn")),
    "what a step made rows of": (replace(TABLE, done=(MonthsToRows(columns=("w", "n")).done,)), rule, set("abcnw")),
}


@pytest.mark.parametrize("case", CASES)
def test_a_question_says_it_of_what_it_reads(case: str) -> None:
    tell(*CASES[case])


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.name)
def test_so_it_is_of_every_kind_of_request(question: Any) -> None:
    def ask(declared: Declaration) -> Any:
        return question.ask(declared, question.file(question.tables[0], from_bytes=False))

    request = ask(question.declaration)
    worked_on = {name for one in request.reads.done for name in one.columns}
    named = {name for name in question.declaration.columns if json.dumps(name.name) in json.dumps(texts(request))}
    read = {*request.reads.names, *worked_on, *(one.name for one in named)} - {""}
    for column in question.declaration.columns:
        own = ask(replace(question.declaration, coded=(column.name,)))
        assert own.reads.coded == ((column.name,) if column.name in read else ())


def texts(request: Any) -> list[str]:
    """What a request names beside what it reads: of options and steps the column by which they are called."""
    return [value for name in ("option", "named_by") if isinstance(value := getattr(request, name, None), str)]


def test_it_is_said_of_all_in_order() -> None:
    told = form_stated(rule(replace(TABLE, coded=("a", "b", "w"), form=("foot kept",))).reads)
    assert told[0].startswith(
        "That lines that look like totals or notes are rows and the codes of “a” and “b”, read instead of labels, "
        "stand for the same whoever is in the file was stated by"
    )
    assert form_stated(Reads(columns=(A,))) == ()


def of_the_whole_file(self: Declaration, reads: Reads, named_by: str | None = None) -> Reads:
    return replace(TAKEN(self, reads, named_by), coded=self.coded)


TAKEN = Declaration.taken


@pytest.mark.parametrize(
    "case", [case for case, (declared, _, read) in CASES.items() if len(read) < len(declared.columns)]
)
def test_codes_said_of_the_whole_file_are_found_out(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Declaration, "taken", of_the_whole_file)
    with pytest.raises(AssertionError):
        tell(*CASES[case])


def test_codes_in_no_digest_are_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_OF_THE_TABLE", {*module._OF_THE_TABLE, "coded"})
    with pytest.raises(AssertionError):
        tell(*CASES["features and a target"])
