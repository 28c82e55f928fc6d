"""What is written down is read again by every program, however much of recursion and digits it allows itself."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dpcore.costs import Cost
from dpcore.errors import InvalidArgument, LedgerUnsound
from dpcore.ledger import Ledger, charging, records
from dpcore.ledger.__main__ import main
from dpcore.ledger.charging import MOST_BYTES
from dpcore.ledger.records import DEEPEST, MOST_DIGITS, canonical, next_record
from dpcore.ledger.recovery import restore


def nested(depth: int, *, named: bool = False) -> Any:
    """A value within so many lists, or objects."""
    found: Any = '[{\\"]}' * 100
    for _ in range(depth):
        found = {"[": found} if named else [found]
    return found


ALLOWED = {
    "lists": nested(DEEPEST - 1),
    "objects": nested(DEEPEST - 1, named=True),
    "many beside each other": [[]] * 100_000,
    "a long number": -(10**MOST_DIGITS - 1),
    "digits in a text": "7" * 5000,
    "a small number": 5e-324,
    "signs": ['"', "\\", '\\"[', "😀", "\x00", "\\ud800"],
}
REFUSED = {
    "lists": nested(DEEPEST),
    "objects": nested(DEEPEST, named=True),
    "as many as a frame allows": nested(600),
    "more than any": nested(20_000),
    "a number": 10**MOST_DIGITS,
    "a longer one": [-(10**5000)],
    "a name that is a number": {10**MOST_DIGITS: {"x": 10**MOST_DIGITS}},
    "half a letter": {"x": ["\ud800"]},
    "its other half": "\udfff",
    "half a letter in a name": {"\ud83d": 1},
    "a name twice": {1: 1, type("Other", (int,), {"__hash__": object.__hash__, "__eq__": object.__eq__})(1): 2},
    "names that are texts and numbers": {1: 1, "2": 2},
    "no number": float("nan"),
    "itself": (lambda one: one.append(one) or one)([]),  # type: ignore[func-returns-value]
}
NAMED_BY_NUMBERS: dict[str, Any] = {
    "whole ones": {9: 3, 10: 4},
    "below zero": {-1: 0, -10: 0, 5: 0},
    "any": {10.5: 1, 9.0: 2, 1e300: 3},
    "yes and a number": {True: 1, 2: 3, False: 0},
    "within others": {"counts": [{100: {20: 1, 3: 2}, 11: {}}]},
    "texts of theirs": {"9": 3, "10": 4},
}
"""Which JSON writes as texts, that are in another order than the numbers."""


@pytest.fixture
def lavish() -> Iterator[None]:
    """As scientific programs do: it is told Python for all that runs in it."""
    before = sys.getrecursionlimit(), sys.get_int_max_str_digits()
    sys.setrecursionlimit(30_000)
    sys.set_int_max_str_digits(0)
    yield
    sys.setrecursionlimit(before[0])
    sys.set_int_max_str_digits(before[1])


def charged(file: Path) -> Ledger:
    ledger = Ledger.open(file, create=True)
    ledger.open_budget("people", epsilon=1.0)
    ledger.charge("r", "people", Cost.pure(0.1), "How many?")
    return ledger


def elsewhere(file: Path) -> Any:
    """What a program reads that allows itself as little as Python does."""
    before = sys.getrecursionlimit(), sys.get_int_max_str_digits()
    sys.setrecursionlimit(1000)
    sys.set_int_max_str_digits(MOST_DIGITS)
    try:
        with Ledger.open(file) as ledger:
            return json.loads(ledger.receipts()[0].to_json())["answer"]
    finally:
        sys.setrecursionlimit(before[0])
        sys.set_int_max_str_digits(before[1])


@pytest.mark.usefixtures("lavish")
@pytest.mark.parametrize("what", ALLOWED)
def test_an_answer_that_is_kept_is_read_by_every_program(what: str, tmp_path: Path) -> None:
    with charged(tmp_path / "l.db") as ledger:
        ledger.store_answer("r", ALLOWED[what])
    assert elsewhere(tmp_path / "l.db") == ALLOWED[what]


@pytest.mark.usefixtures("lavish")
@pytest.mark.parametrize("what", [*ALLOWED, *NAMED_BY_NUMBERS])
def test_a_ledger_with_any_answer_comes_back_from_its_backup(what: str, tmp_path: Path) -> None:
    """Whoever wrote one whose names were numbers had no back-up from then on, though each said that it was written."""
    answer = (ALLOWED | NAMED_BY_NUMBERS)[what]
    with charged(tmp_path / "l.db") as ledger:
        ledger.store_answer("r", answer)
        ledger.backup(tmp_path / "backup")
        assert all(record.body == canonical(record.content) for record in ledger.records())
    restore(tmp_path / "new" / "l.db", source=tmp_path / "backup", new_journal=True)
    assert elsewhere(tmp_path / "new" / "l.db") == json.loads(json.dumps(answer))


def as_before(value: Any) -> str:
    """Names that are numbers in the order of the numbers."""
    return canonical(value)


@pytest.mark.parametrize("what", NAMED_BY_NUMBERS)
def test_so_does_one_with_an_answer_from_before(
    what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(records, "readable", as_before)
    with charged(tmp_path / "l.db") as ledger:
        ledger.store_answer("r", NAMED_BY_NUMBERS[what])
        found = [record for record in ledger.records() if record.body != canonical(record.content)]
        assert bool(found) is (what != "texts of theirs"), "or these tests cannot fail"
        ledger.backup(tmp_path / "backup")
    restore(tmp_path / "new" / "l.db", source=tmp_path / "backup", new_journal=True)
    with Ledger.open(tmp_path / "new" / "l.db") as ledger:
        ledger.backup(tmp_path / "again")
    if found:
        monkeypatch.setattr(records.Record, "is_plain", lambda record: record.body == canonical(record.content))
        command = ["--ledger", str(tmp_path / "l.db"), "backup", str(tmp_path / "refused")]
        assert main(command) == 1, "what could not be brought back is not called a backup"
        assert f"Record {found[0].seq} of the ledger could not be read" in capsys.readouterr().err
        assert not list(tmp_path.glob("refused*"))


@pytest.mark.usefixtures("lavish")
@pytest.mark.parametrize("what", REFUSED)
def test_any_other_is_refused_and_the_ledger_goes_on(what: str, tmp_path: Path) -> None:
    """It was committed, and closed the ledger to every program for good."""
    with charged(tmp_path / "l.db") as ledger:
        with pytest.raises(InvalidArgument, match="nothing was stored"):
            ledger.store_answer("r", REFUSED[what])
        assert ledger.verify().seq == 2
        ledger.store_answer("r", 7)
    assert elsewhere(tmp_path / "l.db") == 7


def test_so_is_an_answer_near_what_a_program_allows_itself(tmp_path: Path) -> None:
    with charged(tmp_path / "l.db") as ledger:
        for depth in range(sys.getrecursionlimit(), 0, -5):
            try:
                ledger.store_answer("r", nested(depth))
                break
            except InvalidArgument:
                continue
        assert DEEPEST - 6 < depth < DEEPEST
    assert elsewhere(tmp_path / "l.db") == nested(depth)


@pytest.mark.usefixtures("lavish")
@pytest.mark.parametrize("what", ["more than any", "a longer one"])
def test_a_bound_that_is_not_kept_is_found_out(what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(charging, "readable", records.canonical)
    monkeypatch.setattr(records, "readable", records.canonical)
    with charged(tmp_path / "l.db") as ledger:
        ledger.store_answer("r", REFUSED[what])
        assert ledger.verify().seq == 3
    with pytest.raises(LedgerUnsound):
        elsewhere(tmp_path / "l.db")


@pytest.mark.parametrize("what", [one for one in REFUSED if one != "itself"])
def test_no_record_holds_it_whoever_writes_it(what: str, tmp_path: Path) -> None:
    with pytest.raises((TypeError, ValueError, RecursionError)):
        next_record(1, records.FIRST, "answer", body={"answer": REFUSED[what]})
    answer: list[Any] = []
    with charged(tmp_path / "l.db") as ledger:
        put = charging._Put(ledger._store, "r", answer, lambda: None, lambda receipt: None)
        answer.append(REFUSED[what])  # as of one that is kept until the ledger is back
        with pytest.raises((TypeError, ValueError, RecursionError)):
            put()
        assert ledger.verify().seq == 2


def test_the_largest_answer_is_looked_through() -> None:
    """Whatever it holds: nobody waits, nor runs out of memory."""
    for one in ("\\" * (MOST_BYTES // 2), '"' * (MOST_BYTES // 2), [[]] * (MOST_BYTES // 3)):
        assert records.readable(one)
