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
from dpcore.ledger import Known, Ledger, charging, words
from dpcore.release import question_digest, question_digests, release, sentence
from dpcore.releases.alarm import AlarmRun
from dpcore.releases.asked import _FORM, CHOSEN, SEEN
from dpcore.releases.selection import MostCommonOption
from tests.release.granting import granting

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
    """Its receipt says what is said by now as well, also where its digest is not the one that there is now."""
    request = replace(ALARM if "threshold" in chosen else PLAIN, chosen_after_looking=True)
    olga, anna = granting(ledger)
    asked = from_before(request, chosen)
    anna.ask("r", "theirs", request.cost, what := asked.pop("what"), **asked)
    olga.grant("r")
    found = release(anna, "r", "theirs", request, ROWS)
    assert (found.question, found.what) == (asked["question"], f"{what} {CHOSEN}")


def test_what_was_granted_as_chosen_after_looking_is_drawn_so(ledger: Ledger) -> None:
    """By whoever has not looked in the session in which it is drawn; and the other way round."""
    olga, anna = granting(ledger)
    for number, (first, then) in enumerate(((LOOKED, PLAIN), (PLAIN, LOOKED))):
        asked = module.ask(anna, f"r{number}", "theirs", first)
        olga.grant(f"r{number}")
        found = release(anna, f"r{number}", "theirs", then, ROWS)
        assert (asked.what, found.what) == (sentence(first), sentence(LOOKED))
        assert found.answer is not None


WAS = "suggested by the file and confirmed by a person"
COLUMN = (
    f"How the cells of “o” are read and what they can hold were stated or called right by {SEEN}: not covered by ε."
)
ROW = (
    "How the cells of “o” are read and what they can hold, and that each row is one record and how many of them one "
    f"person has, were stated or called right by {SEEN}: not covered by ε."
)
MANY = f"Q. That there are about 9 rows was stated by {SEEN}: not covered by ε."
MOST = "That one person has at most 1 row was stated and not checked."
ALONE = (
    "So was that each row is of one person alone: without that person it is gone and no other row changes, and no "
    "number in it counts or adds up several."
)
RANGE = "Q. One person can move an entry over its whole declared range of 0 to 9"
EVEN = "no row has more cells than there are columns and no quotation mark stays open, whatever it holds"
WORDS = {
    "spelled": ("Q, named once.", "Q, named once and never spelled in two ways."),
    "looked": ("Q.", f"Q. {CHOSEN}"),
    "looked, as it was": ("Q.", "Q. ε and what is asked were chosen after looking at the data: not covered by ε."),
    "bounds": (f"Q. {COLUMN.replace(' and what they can hold', '')}", f"Q. {COLUMN}"),
    "bounds with a row": (f"Q. {ROW.replace(' and what they can hold,', '')}", f"Q. {ROW}"),
    "row": (f"Q. {ROW.replace(' and how many of them one person has,', '')}", f"Q. {ROW}"),
    "stated": (f"Q. {COLUMN.replace(f'stated or called right by {SEEN}', WAS)}", f"Q. {COLUMN}"),
    "were": (f"Q. {COLUMN.replace('were stated', 'was stated')}", f"Q. {COLUMN}"),
    "rows": ("Q. That there are about 9 rows was stated and not counted.", MANY),
    "alone": (f"Q. {MOST}", f"Q. {MOST} {ALONE}"),
    "alone, of a model": (f"Q. {MOST} {COLUMN}", f"Q. {MOST} {ALONE} {COLUMN}"),
    "whole range": (
        f"{RANGE}.",
        f"{RANGE}: nothing less was stated, or none that holds of this kind of file, as it does of CSV.",
    ),
    "lines": (f"Q. That {EVEN} was stated.", f"Q. That {_FORM['even lines']} was stated."),
    "all": (f"Q. {ROW.replace(' and what they can hold,', '')}", f"Q. {ROW} {CHOSEN}"),
}
"""One question in fewer words and in more, by what is left out where two are compared."""


def charged(ledger: Ledger, first: str, then: str) -> str:
    """What is on the record of an answer that was granted in the ``first`` words and is drawn in others."""
    olga, anna = granting(ledger)
    asked = {"mechanism": "", "neighbours": "add_remove", "question": "q"}
    anna.ask("r", "theirs", PLAIN.cost, first, **asked)
    olga.grant("r")
    return anna.charge("r", "theirs", PLAIN.cost, then, **asked).what


def test_all_that_is_left_out_of_a_comparison_is_among_these() -> None:
    """So that what comes to be left out is charged in the words that say it."""
    known = [old for old, _ in WORDS.values()], [new for _, new in WORDS.values()]
    for was, now in words._SAID:
        assert any(was in old for old in known[0]), was
        assert any(now in new for new in known[1]), now
    for pattern in (*words._SAID_LATER, *words._SAID_AFTER):
        assert any(pattern.search(new) and not pattern.search(old) for old, new in WORDS.values()), pattern
    assert all(words.same_question((old, "q"), (new, "q")) for old, new in WORDS.values())


@pytest.mark.parametrize("which", WORDS)
@pytest.mark.parametrize("turned", [False, True])
def test_of_the_words_granted_and_those_asked_the_ones_that_warn_of_more_are_charged(
    ledger: Ledger, which: str, *, turned: bool
) -> None:
    short, full = WORDS[which]
    assert charged(ledger, *((full, short) if turned else (short, full))) == full


def test_words_of_which_each_warns_of_more_are_asked_for_anew(ledger: Ledger) -> None:
    """But for a sentence that stands behind one of them, which stands behind both then."""
    short, full = WORDS["bounds"]
    assert charged(ledger, f"{short} {CHOSEN}", full) == f"{full} {CHOSEN}"
    mixed = f"Q, named once and never spelled in two ways. {short[3:]}", f"Q, named once. {full[3:]}"
    assert words.fuller(*mixed) == ""
    one, other = (f"{short[3:].replace('“o”', name)}" for name in ("“a”", "“b”"))
    more, rest = (f"{full[3:].replace('“o”', name)}" for name in ("“a”", "“b”"))
    assert words.fuller(f"Q. {more} {other}", f"Q. {one} {rest}") == "", "as many warnings, of other columns"
    assert words.fuller(f"Q. {one} {rest}", f"Q. {more} {rest}") == f"Q. {more} {rest}"


def test_a_name_that_reads_like_a_warning_is_none(ledger: Ledger) -> None:
    named = f"Q of “ {CHOSEN}”."
    assert charged(ledger, f"{named} {CHOSEN}", named) == f"{named} {CHOSEN}"
    assert not words.same_question((named, "q"), ("Q of “”.", "q"))


def test_a_charge_in_the_words_of_whoever_draws_is_found_out(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(charging, "fuller", lambda granted, asked: asked)
    short, full = WORDS["looked"]
    assert charged(ledger, full, short) == short


def test_a_line_that_makes_another_question_is_found_out(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(words, "_SAID_AFTER", ())
    release(ledger, "r", "people", PLAIN, ROWS)
    with pytest.raises(InvalidArgument, match="different question"):
        release(ledger, "r", "people", LOOKED, ROWS)


def twice(ledger: Ledger, chosen: tuple[str, ...]) -> str:
    """The request that an answer gets whose first one, from before, was granted and is not drawn yet."""
    request = replace(ALARM if "threshold" in chosen else PLAIN, chosen_after_looking=True)
    olga, anna = granting(ledger)
    asked = from_before(request, chosen)
    anna.ask("first", "theirs", request.cost, asked.pop("what"), **asked)
    olga.grant("first")
    shown, made = module.asked_before(anna, "theirs", request), module.ask(anna, "again", "theirs", request)
    assert [(one.request_id, one.unfit) for one in shown] == [("first", "")]
    if made.state == "waiting":
        olga.grant(made.request_id)
    for one in {"first", made.request_id}:
        release(anna, one, "theirs", request, ROWS)
    assert ledger.count("theirs") == len({"first", made.request_id})
    return made.request_id


@pytest.mark.parametrize("chosen", ONCE)
def test_an_open_request_from_before_is_given_back(ledger: Ledger, chosen: tuple[str, ...]) -> None:
    assert twice(ledger, chosen) == "first"


def test_an_answer_that_is_asked_for_and_charged_twice_is_found_out(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask = Ledger.ask
    monkeypatch.setattr(Ledger, "ask", lambda *told, before=(), **asked: ask(*told, **asked))
    assert twice(ledger, ("epsilon",)) == "again"
