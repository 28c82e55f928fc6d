"""That a question was chosen after looking at the data is said of it, and makes no other question: what was answered,
charged or granted without that line, or with one for each number that a button had taken, is found and drawn."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from dpcore import release as module
from dpcore.datasets import Column, PrivateRows
from dpcore.datasets.declaration import Declaration
from dpcore.errors import InvalidArgument
from dpcore.ledger import Known, Ledger, words
from dpcore.ledger.member import MembersLedger
from dpcore.ledger.roles import Person
from dpcore.release import question_digest, question_digests, release, sentence
from dpcore.releases.alarm import AlarmRun
from dpcore.releases.asked import CHOSEN
from dpcore.releases.selection import MostCommonOption

DECLARED = Declaration(columns=(Column(name="o", type="category", categories=("a", "b")),))
ROWS = PrivateRows(pd.DataFrame({"o": ["a"] * 9}))
PLAIN = MostCommonOption.of(DECLARED, "o", epsilon=0.5)
LOOKED = replace(PLAIN, chosen_after_looking=True)
ALARM = AlarmRun.of(DECLARED, "o", threshold=4.0, epsilon=0.5)
ONCE = {
    (): "",
    ("epsilon",): " ε was chosen after looking at the data: not covered by ε.",
    ("threshold",): " The line was chosen after looking at the data: not covered by ε.",
}


def from_before(request: Any, chosen: tuple[str, ...]) -> dict[str, str]:
    """A question as a program from before put it into its ledger: words and digest of what a button had taken."""
    what = sentence(replace(request, chosen_after_looking=False)) + "".join(ONCE[one,] for one in chosen)
    return module._asked(request) | {"what": what, "question": module._digest(request, module._ordered, chosen)}


@pytest.fixture
def ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Ledger]:
    monkeypatch.setenv("EPSILON_LAB_KEY", str(tmp_path / "key"))
    with Ledger.open(f"sqlite:///{tmp_path / 'ledger.db'}", create=True) as found:
        found.open_budget("people", epsilon=5.0, delta=1e-6)
        yield found


def test_it_is_said_and_is_no_other_question() -> None:
    assert sentence(LOOKED) == f"{sentence(PLAIN)} {CHOSEN}"
    assert question_digest(LOOKED) == question_digest(PLAIN)
    assert question_digests(PLAIN) == (question_digest(PLAIN),), "who has not looked is shown what they were"
    assert set(question_digests(LOOKED)) == {from_before(PLAIN, one)["question"] for one in ((), ("epsilon",))}
    alarms = {from_before(ALARM, one)["question"] for one in (*ONCE, ("threshold", "epsilon"))}
    assert set(question_digests(replace(ALARM, chosen_after_looking=True))) == alarms
    assert len(alarms) == 4


@pytest.mark.parametrize("wrong", [(), ("epsilon",), 1, None])
def test_it_is_yes_or_no(wrong: Any) -> None:
    with pytest.raises(InvalidArgument, match="chosen_after_looking"):
        replace(PLAIN, chosen_after_looking=wrong)


def test_an_answer_without_the_line_is_that_answer(ledger: Ledger) -> None:
    """Also the other way round: its receipt says what it was when it was drawn."""
    for number, (first, then) in enumerate(((PLAIN, LOOKED), (LOOKED, PLAIN))):
        one = replace(first, epsilon=0.1 * (number + 1))
        other = replace(then, epsilon=one.epsilon)
        told = release(ledger, f"r{number}", "people", one, ROWS)
        assert release(ledger, f"r{number}", "people", other, ROWS) == told
        assert release(ledger, f"s{number}", "people", other, ROWS, known=Known(answers=0, record=0)) == told
    assert len(ledger.receipts()) == 2


@pytest.mark.parametrize("chosen", ONCE)
def test_a_charge_from_before_pays_for_its_draw(ledger: Ledger, chosen: tuple[str, ...]) -> None:
    request = replace(ALARM if "threshold" in chosen else PLAIN, chosen_after_looking=True)
    asked = from_before(request, chosen)
    paid = ledger.charge("r", "people", request.cost, asked.pop("what"), **asked)
    found = release(ledger, "r", "people", request, ROWS)
    assert found.answer is not None
    assert (found.question, found.what, len(ledger.receipts())) == (paid.question, paid.what, 1)


@pytest.mark.parametrize("chosen", ONCE)
def test_a_grant_from_before_is_drawn(ledger: Ledger, chosen: tuple[str, ...]) -> None:
    request = replace(ALARM if "threshold" in chosen else PLAIN, chosen_after_looking=True)
    subjects = {name: f"{name} at https://login.example" for name in ("olga", "anna")}
    for name, roles in (("olga", ["owner"]), ("anna", ["analyst"])):
        ledger.give_roles(subjects[name], roles)
    olga, anna = (MembersLedger(ledger, Person(subject=one), token=name * 8) for name, one in subjects.items())
    olga.open_budget("theirs", epsilon=5.0, delta=1e-6, name="Theirs")
    olga.share("theirs", subjects["anna"], "ask")
    olga.set_limit("theirs", 0.1)
    asked = from_before(request, chosen)
    anna.ask("r", "theirs", request.cost, asked.pop("what"), **asked)
    olga.grant("r")
    assert release(anna, "r", "theirs", request, ROWS).question == asked["question"]


def test_a_line_that_makes_another_question_is_found_out(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(words, "_SAID_LATER", words._SAID_LATER[:1])
    release(ledger, "r", "people", PLAIN, ROWS)
    with pytest.raises(InvalidArgument, match="different question"):
        release(ledger, "r", "people", LOOKED, ROWS)
