"""Whatever receipt a page gives out can be brought back to be checked, however large its answer is."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from dashboard.budget import receipts
from dashboard.widgets import receipt_file
from dashboard.words import report as said
from dpcore.accounting import Cost
from dpcore.audit.files import File, Question
from dpcore.audit.questions import QUESTIONS
from dpcore.ledger import Ledger, Receipt
from dpcore.ledger.charging import MOST_BYTES
from dpcore.ledger.records import DEEPEST, canonical
from dpcore.ledger.words import LONGEST_QUESTION
from dpcore.releases import catalog

KINDS = sorted(catalog())
HELD = {  # lists within each other as deep as a ledger keeps; texts; signs that JSON writes as six letters; names
    "a text": lambda n: "x" * n,
    "signs of two bytes": lambda n: "é" * (n // 6),
    "ends of lines": lambda n: "\n" * (n // 2),
    "blanks": lambda n: " " * n,
    "names": lambda n: {f"{at:06}": 0 for at in range(n // 11)},
    "numbers": lambda n: [0] * (n // 2),
    "lists": lambda n: [[]] * (n // 3),
    "numbers in lists": lambda n: within(DEEPEST - 3, [0] * ((n - 2 * DEEPEST) // 2)),
}


def within(depth: int, answer: Any) -> Any:
    return within(depth - 1, [answer]) if depth else answer


def grown(answer: Any) -> Iterator[Any]:
    """An answer with each kind of its lists alone as long as an answer that is kept can have it."""
    for path in {tuple("*" if isinstance(step, int) else step for step in one): one for one in lists(answer)}.values():
        copy = json.loads(json.dumps(answer))
        found = copy
        for step in path:
            found = found[step]
        found *= (MOST_BYTES - len(canonical(answer))) // len(canonical(found))
        yield copy


def lists(answer: Any) -> Iterator[tuple[Any, ...]]:
    """Where in an answer something is listed."""
    parts: Any = answer.items() if isinstance(answer, dict) else enumerate(answer) if isinstance(answer, list) else ()
    if isinstance(answer, list) and answer:
        yield ()
    for step, part in parts:
        for path in lists(part):
            yield (step, *path)


@pytest.fixture
def ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Ledger]:
    with Ledger.open(tmp_path / "ledger.db", create=True) as found:
        found.open_budget("people", epsilon=100.0)
        here = SimpleNamespace(ledger=lambda: found, sees_all=lambda: True)
        monkeypatch.setattr(receipts, "compute", here)
        monkeypatch.setattr(receipt_file, "compute", here)
        yield found


def kept(ledger: Ledger, answer: Any) -> Receipt:
    """The receipt of an answer to a question of as many letters as one has."""
    name = f"r{len(ledger.receipts())}"
    ledger.charge(name, "people", Cost.pure(0.01), f"{name} " + "é" * (LONGEST_QUESTION - 9))
    return ledger.store_answer(name, answer)


def given(receipt: Receipt, monkeypatch: pytest.MonkeyPatch) -> bytes:
    """The file behind the page's button."""
    made: list[Callable[[], str | bytes]] = []
    monkeypatch.setattr(receipt_file, "download", lambda label, make, *rest, **more: made.append(make))
    receipt_file.receipt_file("This receipt (JSON)", receipt, key="receipt")
    text = made[0]()
    assert isinstance(text, str)
    assert json.loads(text) == json.loads(receipt.to_json())
    return text.encode()


@pytest.mark.thorough
@pytest.mark.parametrize("shape", HELD)
def test_the_largest_answer_that_is_kept_is_confirmed(
    shape: str, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = HELD[shape](MOST_BYTES - 4)
    assert len(canonical(answer)) > 0.9 * MOST_BYTES, "or none of it was large"
    file = given(kept(ledger, answer), monkeypatch)
    assert receipts.checked(file).startswith(receipts.CONFIRMED)
    assert receipts.checked(file.replace(b'"people"', b'"others"', 1)).startswith(receipts.NOT_CONFIRMED)


@pytest.mark.thorough
@pytest.mark.parametrize("key", KINDS)
def test_a_receipt_of_each_kind_is_as_people_read_it(key: str, ledger: Ledger) -> None:
    """A line for each number and name, whichever list of the answer is the long one; and none is too large."""
    question = next(one for one in QUESTIONS if isinstance(one.ask(one.declaration, opened(one)), catalog()[key]))
    request = question.ask(question.declaration, opened(question))
    answer = json.loads(canonical(request.answer(opened(question).private)))
    receipt = kept(ledger, answer)
    for large in grown(answer):
        text = replace(receipt, answer=large).to_json()
        assert receipt_file.readable_again(text) == text
        assert len("".join(text.split()).encode()) <= receipts.LARGEST_RECEIPT


def opened(question: Question) -> File:
    return question.file(question.tables[0], from_bytes=False)


def test_what_is_larger_than_any_receipt_is_not_read(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ledger, "confirmed", lambda text: pytest.fail("it was read"))
    for large in (b"[" + b"0," * (receipts.LARGEST_RECEIPT // 2) + b"0]", b" " * (receipts.LARGEST_FILE + 1)):
        assert receipts.checked(large) == said.TOO_LARGE


def test_what_is_too_long_to_be_pasted_is_dropped(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    monkeypatch.setattr(receipts, "FOUND_RECEIPT", SimpleNamespace(put=lambda found: None))
    monkeypatch.setattr(receipts.session, "say", lambda note, sentence: told.append(sentence))
    long = kept(ledger, "x" * receipts.LARGEST_PASTED).to_json()
    monkeypatch.setattr(receipts.session, "entered", lambda key, default: long)
    receipts._check_text()
    assert told == [receipts.TOO_LONG]
    assert "Drop" in receipts.TOO_LONG
    assert receipts.checked(long.encode()).startswith(receipts.CONFIRMED)


@pytest.mark.thorough
@pytest.mark.parametrize(("name", "shape"), [("LARGEST_RECEIPT", "a text"), ("readable_again", "numbers in lists")])
def test_these_tests_can_fail(name: str, shape: str, ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a dropped receipt may be no longer than a pasted one, or each is given as a program sets it out."""
    if name == "LARGEST_RECEIPT":
        monkeypatch.setattr(receipts, name, receipts.LARGEST_PASTED)
    else:
        monkeypatch.setattr(receipt_file, name, lambda text: text)
    with pytest.raises(AssertionError):
        test_the_largest_answer_that_is_kept_is_confirmed(shape, ledger, monkeypatch)
