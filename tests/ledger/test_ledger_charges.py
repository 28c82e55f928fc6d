"""What a ledger promises about charges: never over the cap, never twice, never less than before."""

from __future__ import annotations

import errno
import json
import math
import operator
import os
import re
import resource
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from dpcore.accounting import Cost, gaussian_epsilon, zcdp_epsilon
from dpcore.errors import InvalidArgument, NotAllowed
from dpcore.events import LaplaceEvent, PureEvent, SampledGaussianEvent
from dpcore.ledger import (
    Budget,
    BudgetExceeded,
    InvalidCost,
    Known,
    Ledger,
    LedgerError,
    LedgerUnsound,
    Receipt,
    UnknownLineage,
    confirming,
)
from dpcore.ledger.journal import Journal, whole
from dpcore.ledger.records import FIRST, next_record
from tests.ledger.conftest import Place


@pytest.mark.thorough
def test_three_tenths_fit_three_tenths_and_nothing_more(ledger: Ledger) -> None:
    ledger.open_budget("people", epsilon=0.3)
    for number in range(3):
        ledger.charge(f"r{number}", "people", Cost.pure(0.1), "Which is most common?")
    assert ledger.remaining("people") == Cost(epsilon=0.0)
    with pytest.raises(BudgetExceeded, match="ε = 10⁻⁹ and ε = 0 is left; nothing was charged"):
        ledger.charge("r3", "people", Cost.pure(1e-9), "Which is most common?")
    assert len(ledger.history("people")) == 3


@pytest.mark.parametrize("where", ["its place alone", "in between"])
def test_where_the_journal_has_no_room_nothing_is_charged(
    ledger: Ledger, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The database, on another disk, had it: each click cost again what the page said had not been given out."""
    ledger.open_budget("people", epsilon=1.0)
    ledger.charge("first", "people", Cost.pure(0.1), "Which?")
    before = ledger.records()
    free = {"its place alone": 0, "in between": 300}[where]
    with monkeypatch.context() as full:
        full.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=free))
        for number in range(3):
            with pytest.raises(LedgerError, match="disk is full"):
                ledger.charge(f"r{number}", "people", Cost.pure(0.1), "Which?")
    assert ledger.records() == before
    assert ledger.remaining("people").epsilon == pytest.approx(0.9)
    ledger.charge("r0", "people", Cost.pure(0.1), "Which?")
    assert ledger.verify().charges == 2


@pytest.mark.parametrize("number", [errno.EDQUOT, errno.EFBIG, errno.ENOSPC])
def test_where_nobody_may_have_more_than_the_journal_nothing_is_charged(
    ledger: Ledger, place: Place, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A quota, or a limit of the size of files: the disk itself has room."""
    ledger.open_budget("people", epsilon=1.0)
    ledger.charge("first", "people", Cost.pure(0.1), "Which?")
    before, size = ledger.records(), place.journal.stat().st_size

    def refuse(handle: int, start: int, length: int) -> None:
        raise OSError(number, os.strerror(number))

    with monkeypatch.context() as full:
        full.setattr(os, "posix_fallocate", refuse)
        for request in ("a", "b"):
            with pytest.raises(LedgerError, match="disk is full"):
                ledger.charge(request, "people", Cost.pure(0.1), "Which?")
        full.setattr(os, "posix_fallocate", lambda *_: refuse_otherwise())
        ledger.charge("disks that know no such thing", "people", Cost.pure(0.1), "Which?")
    assert ledger.records()[:-1] == before
    assert place.journal.stat().st_size > size
    assert ledger.verify().charges == 2


def refuse_otherwise() -> None:
    raise OSError(errno.EOPNOTSUPP, os.strerror(errno.EOPNOTSUPP))


def test_a_limit_of_the_size_of_files_is_asked_for(tmp_path: Path) -> None:
    """As the system itself refuses it, to this very process; and nothing is left behind the journal's last line."""
    journal = Journal(tmp_path / "journal")
    one = next_record(1, FIRST, "rename", lineage="people", body={"name": "x"})
    journal.add([one])
    size, (soft, hard) = journal.path.stat().st_size, resource.getrlimit(resource.RLIMIT_FSIZE)
    two = next_record(2, one.hash, "rename", lineage="people", body={"name": "y"})
    resource.setrlimit(resource.RLIMIT_FSIZE, (size + 300, hard))
    try:
        with pytest.raises(OSError, match="large"):
            journal.must_fit([two])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert journal.path.stat().st_size == size
    journal.must_fit([two])
    assert journal.path.stat().st_size == size
    journal.add([two])
    assert whole(journal.path) == [one, two]


def test_the_room_is_that_of_the_disk_on_which_the_journal_lies(
    sqlite_place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file may be a link to another disk."""
    with sqlite_place.open() as ledger:
        ledger.open_budget("people", epsilon=1.0)
        elsewhere = tmp_path / "elsewhere" / "journal"
        elsewhere.parent.mkdir()
        sqlite_place.journal.rename(elsewhere)
        sqlite_place.journal.symlink_to(elsewhere)

        def free(path: Path) -> SimpleNamespace:
            return SimpleNamespace(free=0 if path.resolve() == elsewhere.resolve() else 1 << 40)

        monkeypatch.setattr("shutil.disk_usage", free)
        with pytest.raises(LedgerError, match="disk is full"):
            ledger.charge("r", "people", Cost.pure(0.1), "Which?")
        assert ledger.remaining("people").epsilon == 1.0


def only_read(monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    """The journal can be read, and opening it to write fails so."""
    opened = os.open

    def refuse(path: Any, flags: int, *more: Any, **options: Any) -> int:
        if str(path).endswith("journal") and flags & (os.O_RDWR | os.O_WRONLY):
            raise OSError(number, os.strerror(number), str(path))
        return opened(path, flags, *more, **options)

    monkeypatch.setattr(os, "open", refuse)


@pytest.mark.parametrize("number", [errno.EACCES, errno.EPERM, errno.EROFS])
@pytest.mark.parametrize("guarded", [True, False])
def test_where_the_journal_may_not_be_written_nothing_is_charged(
    ledger: Ledger, number: int, monkeypatch: pytest.MonkeyPatch, *, guarded: bool
) -> None:
    """Of another user, made read-only, on a disk that is: without a look at it before, each click costs again."""
    ledger.open_budget("people", epsilon=1.0)
    ledger.charge("first", "people", Cost.pure(0.1), "Which?")
    before = ledger.records()
    with monkeypatch.context() as patch:
        only_read(patch, number)
        if not guarded:
            patch.setattr(Journal, "must_fit", lambda self, records: None)
        for attempt in range(3):
            with pytest.raises(LedgerError, match="nothing was given out"):
                ledger.charge(f"r{attempt}", "people", Cost.pure(0.1), "Which?")
    assert (ledger.records() == before) is guarded
    assert ledger.remaining("people").epsilon == pytest.approx(0.9 if guarded else 0.6)
    ledger.charge("r0", "people", Cost.pure(0.1), "Which?")
    assert ledger.verify().charges == (2 if guarded else 4)


def test_tiny_charges_are_not_free(ledger: Ledger) -> None:
    """Amounts are whole units of 1e-9; anything above 0 costs at least one."""
    ledger.open_budget("people", epsilon=3e-9)
    for number in range(3):
        ledger.charge(f"r{number}", "people", Cost.pure(1e-30), "?")
    with pytest.raises(BudgetExceeded):
        ledger.charge("r3", "people", Cost.pure(1e-30), "?")


@pytest.mark.parametrize(
    "cost",
    [
        lambda: Cost(epsilon=0.0),
        lambda: Cost(epsilon=math.inf),
        lambda: forged(epsilon=-1.0),
        lambda: forged(epsilon=math.nan),
        lambda: forged(rho=-1.0),
        lambda: forged(rho=0.0),
        lambda: forged(delta=-0.5),
        lambda: forged(delta=1.0),
        lambda: forged(epsilon="1"),
        lambda: forged(epsilon=True),
        lambda: forged(event="something else"),
        lambda: forged(rho=1e-9),
        lambda: forged(epsilon=0.01),
        lambda: forged(event=PureEvent(epsilon=1.0)),
        lambda: 0.1,
        lambda: None,
    ],
)
@pytest.mark.parametrize("delta", [0.0, 1e-5])
def test_a_cost_that_is_no_cost_is_refused(cost: object, delta: float) -> None:
    """Also one that got around Cost's own check; nothing is charged and nothing is refunded."""
    ledger = Ledger.open("sqlite://")
    ledger.open_budget("people", epsilon=1.0, delta=delta)
    ledger.charge("first", "people", Cost.pure(0.01), "?")
    before = ledger.budget("people")
    with pytest.raises(InvalidCost):
        ledger.charge("r", "people", cost(), "?")
    assert ledger.budget("people") == before
    assert ledger.receipt("r") is None


def forged(**fields: object) -> Cost:
    """A Cost with fields that its own check refuses."""
    made = replace(Cost.pure(0.1))
    for name, value in fields.items():
        object.__setattr__(made, name, value)
    return made


def test_what_was_charged_is_told_whatever_its_event_gives(monkeypatch: pytest.MonkeyPatch) -> None:
    """Receipts from before it was refused: of noise that holds a thousandth of what it is said to hold."""
    ledger = Ledger.open("sqlite://")
    ledger.open_budget("people", epsilon=1.0, delta=1e-5, counting="zcdp")
    with monkeypatch.context() as before:
        before.setattr(Cost, "_match_event", lambda cost: None)
        cost = Cost(epsilon=1.0, rho=1e-9, event=LaplaceEvent(noise_multiplier=1.0))
        ledger.charge("r", "people", cost, "?")
    assert ledger.receipt("r").cost == cost  # type: ignore[union-attr]
    assert ledger.verify().charges == 1
    assert ledger.budget("people").answers_left(ledger.receipt("r").cost) > 0  # type: ignore[union-attr]
    with pytest.raises(InvalidCost, match="promises more"):
        ledger.charge("again", "people", cost, "?")


@pytest.mark.parametrize("epsilon", [1.0000001, 1e6, 1e300])
@pytest.mark.parametrize("delta", [0.0, 1e-5])
def test_a_huge_cost_does_not_fit(epsilon: float, delta: float) -> None:
    ledger = Ledger.open("sqlite://")
    ledger.open_budget("people", epsilon=1.0, delta=delta)
    with pytest.raises(BudgetExceeded, match="nothing was charged"):
        ledger.charge("r", "people", Cost(epsilon=epsilon), "?")
    assert ledger.remaining("people").epsilon == 1.0


def test_the_same_request_is_charged_once(ledger: Ledger) -> None:
    ledger.open_budget("people", epsilon=1.0)
    first = ledger.charge("r", "people", Cost.pure(0.4), "?", mechanism="m", neighbours="add_remove", question="q")
    again = [
        ledger.charge("r", "people", Cost.pure(0.4), "?", mechanism="m", neighbours="add_remove", question="q")
        for _ in range(50)
    ]
    assert all(receipt == first for receipt in again)
    assert ledger.remaining("people").epsilon == pytest.approx(0.6)


def test_a_request_answers_one_question_only(ledger: Ledger) -> None:
    ledger.open_budget("people", epsilon=1.0)
    ledger.open_budget("others", epsilon=1.0)
    asked = {"mechanism": "m", "neighbours": "add_remove", "question": "q"}
    ledger.charge("r", "people", Cost.pure(0.1), "what", **asked)
    different = [
        ("others", Cost.pure(0.1), "what", asked),
        ("people", Cost.pure(0.2), "what", asked),
        ("people", Cost.bounded_range(0.1), "what", asked),
        ("people", Cost.pure(0.1), "something else", asked),
        ("people", Cost.pure(0.1), "what", {**asked, "mechanism": "n"}),
        ("people", Cost.pure(0.1), "what", {**asked, "neighbours": "replace_one"}),
        ("people", Cost.pure(0.1), "what", {**asked, "question": "p"}),
    ]
    for lineage, cost, what, others in different:
        with pytest.raises(InvalidArgument, match="request_id was used for a different question"):
            ledger.charge("r", lineage, cost, what, **others)
    assert ledger.remaining("people").epsilon == pytest.approx(0.9)
    assert ledger.remaining("others").epsilon == 1.0


def test_a_repeat_still_answers_when_the_budget_is_spent(ledger: Ledger) -> None:
    ledger.open_budget("people", epsilon=0.1)
    first = ledger.charge("r", "people", Cost.pure(0.1), "?")
    assert ledger.charge("r", "people", Cost.pure(0.1), "?") == first


def test_the_first_answer_stored_is_kept(ledger: Ledger) -> None:
    ledger.open_budget("people", epsilon=1.0)
    ledger.charge("r", "people", Cost.pure(0.1), "?")
    assert ledger.receipt("r").answer_hash is None
    assert ledger.store_answer("r", {"winner": "ä"}).answer == {"winner": "ä"}
    assert ledger.store_answer("r", {"winner": "b"}).answer == {"winner": "ä"}
    assert ledger.charge("r", "people", Cost.pure(0.1), "?").answer == {"winner": "ä"}
    assert ledger.history("people")[0].answer == {"winner": "ä"}
    ledger.charge("none", "people", Cost.pure(0.1), "?")
    assert ledger.store_answer("none", None).answer_hash is not None  # None is an answer too
    for wrong in (math.nan, math.inf, object(), {1, 2}, b"x"):
        with pytest.raises(InvalidArgument, match="answer"):
            ledger.store_answer("r", wrong)
    with pytest.raises(InvalidArgument, match="has not been charged"):
        ledger.store_answer("unknown", 1)


def test_unknown_people_have_no_budget(ledger: Ledger) -> None:
    for use in (ledger.remaining, ledger.budget, ledger.history, ledger.reset_practice, ledger.undo_reset):
        with pytest.raises(UnknownLineage, match="No budget has been opened"):
            use("nobody")
    with pytest.raises(UnknownLineage):
        ledger.charge("r", "nobody", Cost.pure(0.1), "?")


def test_a_cap_is_never_changed(ledger: Ledger) -> None:
    first = ledger.open_budget("people", epsilon=1.0, name="Ward 3")
    assert ledger.open_budget("people", epsilon=1.0) == first
    for other in ({"epsilon": 2.0}, {"epsilon": 1.0, "delta": 1e-6}, {"epsilon": 1.0, "practice": True}):
        with pytest.raises(InvalidArgument, match="has a budget already"):
            ledger.open_budget("people", **other)
    assert ledger.rename("people", "Ward 4").name == "Ward 4"
    assert [budget.name for budget in ledger.budgets()] == ["Ward 4"]


@pytest.mark.parametrize(
    "wrong",
    [
        {"lineage": ""},
        {"lineage": " "},
        {"lineage": "x" * 201},
        {"lineage": "a\nb"},
        {"lineage": None},
        {"epsilon": 0.0},
        {"epsilon": -1.0},
        {"epsilon": math.nan},
        {"epsilon": math.inf},
        {"epsilon": 1e7},
        {"epsilon": 1e-10},
        {"delta": 1.0},
        {"delta": -1e-6},
        {"delta": 1e-16},
        {"delta": 0.9999999999999999},  # read to the digits that count it is 1
        {"delta": 0.9999999999999999, "counting": "zcdp"},
        {"name": "a\x00b"},
    ],
)
def test_wrong_budgets_are_refused_by_name(wrong: dict) -> None:
    ledger = Ledger.open("sqlite://")
    asked = {"lineage": "people", "epsilon": 1.0, "delta": 0.0, "name": "n"} | wrong
    with pytest.raises(InvalidArgument, match=next(iter(wrong))):
        ledger.open_budget(asked.pop("lineage"), **asked)
    assert ledger.budgets() == []


def test_practice_can_be_reset_and_the_reset_undone(ledger: Ledger) -> None:
    ledger.open_budget("sample", epsilon=1.0, practice=True)
    ledger.charge("a", "sample", Cost.pure(0.7), "?")
    assert ledger.reset_practice("sample").remaining.epsilon == 1.0
    assert ledger.history("sample") == []
    ledger.charge("b", "sample", Cost.pure(0.1), "?")
    ledger.reset_practice("sample")
    assert ledger.undo_reset("sample").remaining.epsilon == pytest.approx(0.9)
    assert ledger.undo_reset("sample").remaining.epsilon == pytest.approx(0.3)
    with pytest.raises(LedgerError, match="no reset"):
        ledger.undo_reset("sample")
    assert [receipt.request_id for receipt in ledger.history("sample")] == ["a"]
    assert len(ledger.history("sample", every_generation=True)) == 2
    assert ledger.reset_practice("sample").generation == 4
    ledger.verify()


def test_what_is_spent_about_real_people_stays_spent(ledger: Ledger) -> None:
    ledger.open_budget("people", epsilon=1.0)
    ledger.charge("a", "people", Cost.pure(0.7), "?")
    for use in (ledger.reset_practice, ledger.undo_reset):
        with pytest.raises(LedgerError, match="Only a practice budget"):
            use("people")
    assert ledger.remaining("people").epsilon == pytest.approx(0.3)


class TestSums:
    """(ε, δ) caps that add up like money: the usual way."""

    def test_a_release_takes_its_epsilon_and_its_delta(self, ledger: Ledger) -> None:
        opened = ledger.open_budget("people", epsilon=1.0, delta=1e-5)
        assert (opened.counting, opened.cap) == ("sum", Cost(epsilon=1.0, delta=1e-5))
        ledger.charge("gauss", "people", Cost.gaussian(20, 1e-6), "?")
        event = SampledGaussianEvent(noise_multiplier=2.0, sampling_rate=0.01, count=100)
        ledger.charge("sampled", "people", Cost(epsilon=0.3, delta=2e-6, event=event), "?")
        left = ledger.remaining("people")
        assert left.delta == pytest.approx(7e-6)
        assert left.epsilon == pytest.approx(0.7 - gaussian_epsilon(20, 1e-6))
        with pytest.raises(BudgetExceeded, match="δ = 7 × 10⁻⁶ are left"):
            ledger.charge("delta", "people", Cost(epsilon=0.01, delta=8e-6), "?")
        assert ledger.receipt("sampled").cost.event == event

    def test_practice_of_one_kind_does_not_lock_out_another(self, ledger: Ledger) -> None:
        """What is left can be spent by any release: pure ones before a Gaussian one, and after it."""
        ledger.open_budget("sample", epsilon=3.0, delta=1e-5, practice=True)
        for number in range(2):
            ledger.charge(f"p{number}", "sample", Cost.pure(0.5), "?")
        now = ledger.budget("sample")
        train = Cost.gaussian(5.0, now.request_delta(0.5))
        fit = now.answers_left(train)
        assert fit >= 2
        ledger.charge("g", "sample", train, "?")
        assert ledger.budget("sample").answers_left(train) == fit - 1
        ledger.charge("p", "sample", Cost.pure(0.5), "?")


class TestManySmallAnswers:
    """Budgets that count every release as ρ."""

    def test_many_small_answers_go_further_than_their_sum(self, ledger: Ledger) -> None:
        """ρ = ε²/8 for the exponential mechanism: far more answers of 0.05 than the 20 that ε alone would allow."""
        planned = Budget.planned(epsilon=1.0, delta=1e-6, counting="zcdp")
        budget = ledger.open_budget("people", epsilon=1.0, delta=1e-6, counting="zcdp")
        cost = Cost.bounded_range(0.05)
        room = budget.answers_left(cost)
        assert room == planned.answers_left(cost) > 3 * 20
        for number in range(room):
            ledger.charge(f"r{number}", "people", cost, "?")
        assert not ledger.budget("people").fits(cost)
        with pytest.raises(BudgetExceeded, match="ρ"):
            ledger.charge("more", "people", cost, "?")
        spent = sum(receipt.rho for receipt in ledger.history("people"))
        assert zcdp_epsilon(spent, 1e-6) <= 1.0

    def test_a_release_without_rho_is_refused(self, ledger: Ledger) -> None:
        ledger.open_budget("people", epsilon=1.0, delta=1e-5, counting="zcdp")
        with pytest.raises(BudgetExceeded, match=r"known by its ε and δ alone .* counts in ρ"):
            ledger.charge("loose", "people", Cost(epsilon=1e-6, delta=1e-12), "?")
        assert ledger.budget("people").answers_left(Cost(epsilon=1e-6, delta=1e-12)) == 0
        ledger.charge("any", "people", Cost.pure(0.1), "?")

    def test_it_needs_a_delta(self, ledger: Ledger) -> None:
        with pytest.raises(InvalidArgument, match="counting in ρ needs a delta above 0"):
            ledger.open_budget("people", epsilon=1.0, counting="zcdp")
        for wrong in ("both", "other"):
            with pytest.raises(InvalidArgument, match="counting must be one of sum, zcdp"):
                ledger.open_budget("people", epsilon=1.0, delta=1e-6, counting=wrong)
        ledger.open_budget("people", epsilon=1.0, delta=1e-6)
        with pytest.raises(InvalidArgument, match="has a budget already"):
            ledger.open_budget("people", epsilon=1.0, delta=1e-6, counting="zcdp")


class TestPureCaps:
    def test_a_pure_cap_takes_pure_answers_only(self, ledger: Ledger) -> None:
        ledger.open_budget("people", epsilon=1.0)
        with pytest.raises(BudgetExceeded, match="pure ε only"):
            ledger.charge("a", "people", Cost.gaussian(20, 1e-6), "?")
        with pytest.raises(BudgetExceeded):
            ledger.charge("b", "people", Cost(epsilon=math.inf, rho=1e-6), "?")
        assert ledger.remaining("people").epsilon == 1.0


def test_a_receipt_says_it_all(ledger: Ledger) -> None:
    ledger.open_budget("people", epsilon=1.0, delta=1e-6)
    receipt = ledger.charge("r", "people", Cost.bounded_range(0.1), "Which?", mechanism="EM", neighbours="replace_one")
    found = json.loads(receipt.to_json())
    assert found["epsilon"] == 0.1
    assert found["rho"] == pytest.approx(0.00125)
    assert found["mechanism"] == "EM"
    assert found["neighbours"] == "replace_one"
    assert found["time"].endswith("Z")
    assert {"python", "opendp", "numpy"} <= set(found["versions"])
    assert len(found["journal_hash"]) == 64
    assert ledger.confirms(receipt)
    assert ledger.confirms(receipt.to_json())
    answered = ledger.store_answer("r", {"winner": 1})
    assert ledger.confirms(answered.to_json())
    assert ledger.confirms(receipt)  # the one from before the answer is still true
    for name, value in (("epsilon", 0.01), ("what", "Other?"), ("answer", {"winner": 2}), ("journal_hash", "0" * 64)):
        assert not ledger.confirms(json.dumps(json.loads(answered.to_json()) | {name: value}))
    for nonsense in ("", "[]", "{}", "null", '{"request_id": 1}'):
        assert not ledger.confirms(nonsense)


def said_twice(text: str, at: str) -> list[str]:
    """A receipt that says something else first, or last, at the top and within: programs and people take either."""
    name = f'"{at}": "forged",'
    forged = text.replace("{", "{" + name, 1)
    return [forged, text.rstrip().removesuffix("}") + "," + name.rstrip(",") + "}"]


def test_a_receipt_that_can_be_read_in_two_ways_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """A name twice, at any depth, or a value that Python alone takes for the same."""
    ledger = Ledger.open("sqlite://")
    ledger.open_budget("people", epsilon=1.0)
    ledger.charge("r", "people", Cost.pure(1.0), "Which?", mechanism="EM")
    text = ledger.store_answer("r", {"winner": 1, "among": [{"n": 0}]}).to_json()
    assert ledger.confirms(text)
    assert ledger.confirms(json.dumps(json.loads(text))), "written without line ends"
    twice = [forged for name in json.loads(text) for forged in said_twice(text, name)]
    twice += [text.replace('"winner": 1', f'"winner": {other}, "winner": 1') for other in (1, 2)]
    twice += [text.replace('"n": 0', '"n": 5, "n": 0'), text.replace('"python":', '"python": "2", "python":')]
    others = {
        '"epsilon": 1.0': '"epsilon": true',
        '"generation": 1': '"generation": true',
        '"winner": 1': '"winner": "1"',
    }
    others |= {'"n": 0': '"n": false', '"delta": 0.0': '"delta": NaN', '"delta": 0.0,': '"delta": 1e-300,'}
    others |= {'"rho": 0.5': '"rho": 0.50000000000000011', '"among": [': '"among": [null, '}
    changed = [text.replace(was, now) for was, now in others.items()]
    assert text not in (*twice, *changed)
    assert not any(ledger.confirms(one) for one in (*twice, *changed))
    monkeypatch.setattr(confirming, "_each_once", dict)
    monkeypatch.setattr(confirming, "_says_the_same", operator.eq)
    assert sum(ledger.confirms(one) for one in (*twice, *changed)) > len(twice) / 2, "as it was before"


def test_a_receipt_says_every_digit_of_its_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    """A number that Python reads as the one of the journal, and a person, or another program, as another."""
    ledger = Ledger.open("sqlite://")
    ledger.open_budget("people", epsilon=1.0)
    ledger.charge("r", "people", Cost.pure(0.1), "Which?")
    answer = {"total": 2**53, "odd": 2**53 + 1, "none": 0.0, "one": 1, "half": 0.5, "many": [1e22, 0.1]}
    text = ledger.store_answer("r", answer).to_json()
    same = {'"total": 9007199254740992': ['"total": 9007199254740992.0'], '"one": 1': ['"one": 1.0', '"one": 1e0']}
    same |= {"1e+22": ["1" + "0" * 22, "1.0E22"], '"epsilon": 0.1': ['"epsilon": 0.10000000000000001']}
    others = {
        '"total": 9007199254740992': [f'"total": 900719925474099{end}' for end in ("3", "3.0", "2.7", "2.0000001")]
    }
    others |= {'"odd": 9007199254740993': ['"odd": 9007199254740992.0', '"odd": 9007199254740993.4']}
    others |= {'"none": 0.0': ['"none": 2e-324', '"none": 1e-99999999999999999999']}
    others |= {'"one": 1': ['"one": 1.00000000000000000001'], '"half": 0.5': ['"half": 0.50000000000000000001']}
    others |= {'"epsilon": 0.1': ['"epsilon": 0.09999999999999999999', '"epsilon": 0.1000000000000000000001']}

    def taken(changes: dict[str, list[str]]) -> list[str]:
        assert all(text.count(was) == 1 for was in changes)
        return [now for was, forms in changes.items() for now in forms if ledger.confirms(text.replace(was, now))]

    assert taken(same) == [now for forms in same.values() for now in forms]
    assert taken(others) == []
    monkeypatch.setattr(confirming, "_to_the_last_digit", float)
    assert len(taken(others)) > 6, "as it was before"


def set_out_anew(value: Any, number: Callable[[float], Any]) -> Any:
    """JSON as a program writes it that has one kind of number."""
    if isinstance(value, dict):
        return {name: set_out_anew(one, number) for name, one in reversed(value.items())}
    if isinstance(value, list):
        return [set_out_anew(one, number) for one in value]
    return number(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else value


def confirmed_in_every_form(ledger: Ledger, receipt: Receipt) -> bool:
    """Whether a receipt is confirmed however a common program has set it out."""
    read = json.loads(receipt.to_json())
    whole = set_out_anew(read, lambda number: int(number) if number == int(number) else number)
    forms = [json.dumps(set_out_anew(read, float), indent=1), json.dumps(whole, indent=4), receipt.to_json()]
    forms += [re.sub(r"\b1e-06\b", digits, forms[-1]) for digits in ("0.000001", "1E-6", "1.0e-006")]
    forms += [text.replace("\n", "\r\n") for text in forms]
    assert len(set(forms)) == 12
    return all(ledger.confirms(mark + text) for text in forms for mark in ("", "\ufeff", "\ufeff\r\n "))


def test_a_receipt_is_genuine_however_its_numbers_are_written(monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that sets JSON out anew writes 0.0 as 0, and an editor puts a mark in front."""
    ledger = Ledger.open("sqlite://")
    ledger.open_budget("people", epsilon=1.0, delta=1e-5)
    ledger.charge("r", "people", Cost(epsilon=0.5, delta=1e-6), "Which?")
    receipt = ledger.store_answer("r", {"value": 12.0, "half": 0.25, "yes": True, "none": None, "all": [0, -1.0, 2]})
    assert confirmed_in_every_form(ledger, receipt)
    texts = confirming.canonical
    monkeypatch.setattr(confirming, "_says_the_same", lambda one, other: texts(one) == texts(other))
    assert not confirmed_in_every_form(ledger, receipt), "as it was before"


def test_what_is_confirmed_is_handed_out_as_the_journal_has_it() -> None:
    ledger = Ledger.open("sqlite://")
    ledger.open_budget("people", epsilon=1.0)
    before = ledger.charge("r", "people", Cost.pure(0.5), "Which?")
    after = ledger.store_answer("r", 7)
    assert ledger.confirmed(after.to_json()) == after
    assert ledger.confirmed(before.to_json()) == before, "who has a receipt without the answer is not told it"
    assert ledger.confirmed(after.to_json().replace("7", "8")) is None


@pytest.mark.thorough
def test_threads_share_one_ledger(ledger: Ledger) -> None:
    """8 threads, 25 distinct requests each and 25 shared ones, for a cap of 100 charges."""
    ledger.open_budget("people", epsilon=1.0)
    granted: list[str] = []

    def work(number: int) -> None:
        for attempt in range(25):
            for request in (f"own-{number}-{attempt}", f"shared-{attempt}"):
                try:
                    ledger.charge(request, "people", Cost.pure(0.01), "?")
                except BudgetExceeded:
                    continue
                granted.append(request)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(granted)) == 100
    assert len(ledger.history("people")) == 100
    assert ledger.remaining("people").epsilon == 0.0
    ledger.verify()


def test_a_closed_ledger_stays_closed(ledger: Ledger) -> None:
    ledger.close()
    with pytest.raises(LedgerUnsound, match="has been closed"):
        ledger.budgets()


class TestAnswersThatACrashTook:
    def test_a_charge_without_an_answer_is_told_and_may_be_drawn_where_nothing_was(self, ledger: Ledger) -> None:
        ledger.open_budget("people", epsilon=1.0)
        ledger.charge("never", "people", Cost.pure(0.1), "?", question="q")
        ledger.charge("begun", "people", Cost.pure(0.1), "?", question="q")
        ledger.charge("done", "people", Cost.pure(0.1), "?", question="q")
        for name in ("begun", "begun", "done"):
            ledger.begin_draw(name)
        ledger.store_answer("done", 1)
        states = {one.request_id: one.state for one in ledger.unanswered("people")}
        assert states == {"never": "charged", "begun": "begun"}
        assert ledger.unanswered("people", "other") == []
        assert [one.request_id for one in ledger.answered("people", "q")] == ["done"]
        assert ledger.receipt("done").state == "answered"
        # the same request again: no second charge, and now an answer
        assert ledger.charge("never", "people", Cost.pure(0.1), "?", question="q").state == "charged"
        ledger.begin_draw("never")
        ledger.store_answer("never", 2)
        assert ledger.remaining("people").epsilon == pytest.approx(0.7)
        assert [one.request_id for one in ledger.unanswered("people")] == ["begun"]
        with pytest.raises(InvalidArgument, match="has not been charged"):
            ledger.begin_draw("unknown")
        ledger.verify()

    def test_it_is_the_state_since_the_last_reset(self, ledger: Ledger) -> None:
        ledger.open_budget("sample", epsilon=1.0, practice=True)
        ledger.charge("a", "sample", Cost.pure(0.1), "?")
        ledger.reset_practice("sample")
        assert ledger.unanswered("sample") == []


def test_history_comes_in_pages(ledger: Ledger) -> None:
    ledger.open_budget("sample", epsilon=1.0, practice=True)
    for number in range(5):
        ledger.charge(f"r{number}", "sample", Cost.pure(0.01), '"question":"q"', question=f"q{number % 2}")
    assert [one.request_id for one in ledger.history("sample", newest=2)] == ["r3", "r4"]
    assert [one.request_id for one in ledger.receipts(newest=1)] == ["r4"]
    assert ledger.count("sample") == 5
    ledger.reset_practice("sample")
    assert (ledger.count("sample"), ledger.count("sample", every_generation=True)) == (0, 5)
    assert ledger.answered("sample", "q") == []
    (found,) = ledger.find(ledger.receipt("r3").journal_hash[:12])
    assert found.request_id == "r3"
    assert len(ledger.find("")) == 2
    assert ledger.find("%") == []


def test_answers_of_one_kind_are_found_among_any_others(ledger: Ledger) -> None:
    """What only speaks of the kind is none of it, whatever a text holds; the newest of them are the newest found."""
    ledger.open_budget("sample", epsilon=1.0, practice=True)
    ledger.open_budget("other", epsilon=1.0)
    kind, long = 'a "kind" of model, ε', "w" * 20_000
    answers: list[Any] = [
        {"kind": kind, "weights": [1.0]},
        7,
        {"says": f'"kind":"{kind}"', "kind": "another"},
        {"about": long, "kind": kind},
        None,
        f"kind {kind}",
    ]
    for lineage in ("sample", "other"):
        for number, one in enumerate(answers):
            asked = f"{lineage}{number}"
            ledger.charge(asked, lineage, Cost.pure(0.01), f'"kind":"{kind}"')
            if one is not None:
                ledger.begin_draw(asked)
                ledger.store_answer(asked, one)
    assert [one.request_id for one in ledger.history("sample", kind=kind)] == ["sample0", "sample3"]
    assert [one.answer for one in ledger.history("sample", kind=kind, newest=1)] == [answers[3]]
    listed = ledger.history("sample", kind=kind, answers=False)
    assert [one.answer for one in listed] == [None, None]
    assert [replace(one, answer=answers[place]) for one, place in zip(listed, (0, 3), strict=True)] == ledger.history(
        "sample", kind=kind
    ), "all else is the same, the hash of the answer too"
    assert len(ledger.history("sample", kind="")) == len(answers)
    assert ledger.history("sample", kind="%") == []
    ledger.reset_practice("sample")
    assert ledger.history("sample", kind=kind) == []
    assert len(ledger.history("sample", kind=kind, every_generation=True)) == 2
    with pytest.raises(InvalidArgument, match="kind"):
        ledger.history("sample", kind=3)  # type: ignore[arg-type]


class TestPracticeOfOneVisitor:
    TOKEN, OTHER = "0123456789abcdef", "fedcba9876543210"

    def test_it_is_theirs_alone_and_changes_its_size_in_one_click(self, ledger: Ledger) -> None:
        mine = ledger.open_practice(self.TOKEN, "clinic", epsilon=3.0, name="Town clinic")
        other = ledger.open_practice(self.OTHER, "clinic", epsilon=3.0, name="Town clinic")
        assert mine.lineage != other.lineage
        assert self.TOKEN not in mine.lineage
        assert Ledger.practice_lineage(self.TOKEN, "clinic") == mine.lineage
        assert mine.practice
        ledger.charge("r", mine.lineage, Cost.pure(1.0), "?")
        assert ledger.remaining(other.lineage).epsilon == 3.0
        assert ledger.open_practice(self.TOKEN, "clinic", epsilon=3.0).remaining.epsilon == 2.0
        larger = ledger.open_practice(self.TOKEN, "clinic", epsilon=5.0, delta=1e-6)
        assert (larger.remaining.epsilon, larger.cap.delta, larger.generation) == (5.0, 1e-6, 2)
        assert ledger.reset_practice(mine.lineage).cap.epsilon == 5.0
        ledger.undo_reset(mine.lineage)
        assert ledger.undo_reset(mine.lineage).remaining.epsilon == 2.0
        ledger.verify()

    def test_any_practice_budget_can_have_another_size_and_no_real_one(self, ledger: Ledger) -> None:
        ledger.open_budget("sample", epsilon=1.0, practice=True)
        ledger.open_budget("people", epsilon=1.0)
        ledger.charge("r", "sample", Cost.pure(0.4), "?")
        before = ledger.version("sample")
        assert ledger.resize_practice("sample", epsilon=1.0).remaining.epsilon == pytest.approx(0.6)
        assert ledger.version("sample") == before
        assert ledger.resize_practice("sample", epsilon=9.0).remaining.epsilon == 9.0
        assert ledger.version("sample") > before
        assert ledger.undo_reset("sample").remaining.epsilon == pytest.approx(0.6)
        with pytest.raises(LedgerError, match="Only a practice budget"):
            ledger.resize_practice("people", epsilon=9.0)
        ledger.verify()

    def test_a_token_that_others_could_have_is_refused(self, ledger: Ledger) -> None:
        for wrong in ("", "short", None):
            with pytest.raises(InvalidArgument, match="token"):
                ledger.open_practice(wrong, "clinic", epsilon=1.0)


def test_only_of_real_budgets_it_is_kept_that_they_are_spent(ledger: Ledger) -> None:
    """There are as many for practice as there are visitors."""
    for number in range(3):
        ledger.open_budget(f"practice {number}", epsilon=1.0, practice=True)
        with pytest.raises(BudgetExceeded):
            ledger.charge(f"p{number}", f"practice {number}", Cost.pure(2.0), "?")
    assert not ledger._store.refused
    ledger.open_budget("people", epsilon=1.0)
    with pytest.raises(BudgetExceeded):
        ledger.charge("real", "people", Cost.pure(2.0), "?")
    assert set(ledger._store.refused) == {"people"}


def test_a_budget_protects_whom_its_first_charge_did(ledger: Ledger) -> None:
    """Thirty answers that each hide one visit hide nobody with thirty visits: what both cost together is not known."""
    ledger.open_budget("people", epsilon=1.0)
    ledger.open_budget("visits", epsilon=1.0)
    assert ledger.protects("people") is None
    for lineage, first, others in (("people", "", ("visit", "household")), ("visits", "visit", ("", "person"))):
        ledger.charge(f"{lineage} 1", lineage, Cost.pure(0.2), "?", unit=first)
        for place, other in enumerate(others):
            with pytest.raises(NotAllowed, match="Nothing was charged"):
                ledger.charge(f"{lineage} other {place}", lineage, Cost.pure(0.2), "?", unit=other)
        assert ledger.remaining(lineage).epsilon == pytest.approx(0.8)
        ledger.charge(f"{lineage} 2", lineage, Cost.pure(0.2), "?", unit=first or "person")
        assert ledger.protects(lineage) == (first or "person")
    ledger.verify()


class TestThoseWhoAskAtOnce:
    """Of several who knew of the same answers one is charged, and the others are told of that charge."""

    def at_once(self, ledger: Ledger, known: Known | None, lineage: str = "people") -> set[str]:
        """The requests that stand for those of twelve who ask at one moment."""
        begin = threading.Barrier(12)

        def ask(number: int) -> str:
            begin.wait()
            told = ledger.charge(f"{known} {number}", lineage, Cost.pure(0.01), "?", question="q", known=known)
            return told.request_id

        with ThreadPoolExecutor(12) as pool:
            return set(pool.map(ask, range(12)))

    def test_one_is_charged(self, ledger: Ledger) -> None:
        ledger.open_budget("people", epsilon=1.0)
        (first,) = self.at_once(ledger, Known(record=ledger.version("people")))
        assert ledger.count("people") == 1
        ledger.store_answer(first, 1)
        assert self.at_once(ledger, Known()) == {first}, "who comes late knew of none"
        (second,) = self.at_once(ledger, Known(answers=1, record=ledger.version("people")))
        assert [one.request_id for one in ledger.history("people")] == [first, second], "who knows may ask again"
        assert len(self.at_once(ledger, None)) == 12, "as it was, each was"
        ledger.verify()

    def test_another_question_other_people_and_what_was_before_a_reset_are_others(self, ledger: Ledger) -> None:
        ledger.open_budget("sample", epsilon=1.0, practice=True)
        ledger.open_budget("people", epsilon=1.0)
        ledger.store_answer(ledger.charge("a", "sample", Cost.pure(0.1), "?", question="q").request_id, 1)
        for lineage, question in (("people", "q"), ("sample", "another"), ("sample", "")):
            name = f"{lineage} {question}"
            asked = {"question": question, "known": Known()}
            assert ledger.charge(name, lineage, Cost.pure(0.1), "?", **asked).request_id == name
        assert ledger.charge("b", "sample", Cost.pure(0.1), "?", question="q", known=Known()).request_id == "a"
        ledger.reset_practice("sample")
        assert ledger.charge("b", "sample", Cost.pure(0.1), "?", question="q", known=Known()).request_id == "b"

    def test_what_a_crash_left_without_an_answer_keeps_nobody_from_asking(self, ledger: Ledger) -> None:
        ledger.open_budget("people", epsilon=1.0)
        ledger.charge("left", "people", Cost.pure(0.1), "?", question="q")
        seen = Known(record=ledger.version("people"))
        assert ledger.charge("new", "people", Cost.pure(0.1), "?", question="q", known=seen).request_id == "new"

    def test_who_comes_late_is_told_also_where_nothing_is_left(self, ledger: Ledger) -> None:
        ledger.open_budget("people", epsilon=0.1)
        ledger.store_answer(ledger.charge("all", "people", Cost.pure(0.1), "?", question="q").request_id, 1)
        for number in range(2):
            with pytest.raises(BudgetExceeded):
                ledger.charge(f"{number}", "people", Cost.pure(0.1), "?", question="q")
        assert ledger.charge("late", "people", Cost.pure(0.1), "?", question="q", known=Known()).request_id == "all"
