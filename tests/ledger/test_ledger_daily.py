"""What one person writes into a ledger in a day comes to an end, by whatever method they write it."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path
from typing import get_args

import pytest

from dpcore.accounting import Cost
from dpcore.errors import DpcoreError, NotAllowed
from dpcore.ledger import Ledger, approvals, compared, daily, rate, records
from dpcore.ledger.member import MembersLedger
from dpcore.ledger.people import Brought
from dpcore.ledger.records import Kind
from dpcore.ledger.roles import Person
from dpcore.sketches import Sketch
from tests.ledger.conftest import Place
from tests.ledger.patients import ISSUER, person
from tests.ledger.test_ledger_compared import marks
from tests.ledger.test_ledger_roles import TRIED

FEW, TIMES = 3, 8
WHO = "otto"
SMALL = Cost.pure(1e-3)

Act = Callable[[MembersLedger, int], object]
AGAIN: dict[str, Act] = {
    "open_budget": lambda ledger, n: ledger.open_budget(f"new {n}", epsilon=1.0),
    "open_practice": lambda ledger, n: ledger.open_practice(ledger._token, f"town {n}", epsilon=1.0),
    "reset_practice": lambda ledger, n: ledger.reset_practice(practised(ledger)),
    "resize_practice": lambda ledger, n: ledger.resize_practice(practised(ledger), epsilon=4.0 + n),
    "undo_reset": lambda ledger, n: (
        Ledger(ledger._store).reset_practice(practised(ledger)),
        ledger.undo_reset(practised(ledger)),
    ),
    "charge": lambda ledger, n: ledger.charge(f"real {n}", "people", SMALL, "?"),
    "ask": lambda ledger, n: (ledger.ask(f"a{n}", "people", Cost.pure(0.9), "?"), ledger.withdraw(f"a{n}")),
    "share": lambda ledger, n: ledger.share("people", f"vera{n}{ISSUER}", "see"),
    "set_limit": lambda ledger, n: ledger.set_limit("people", 0.01 * (n + 1)),
    "rename": lambda ledger, n: (ledger.rename("people", f"x{n}"), ledger.rename(practised(ledger), f"x{n}")),
    "link": lambda ledger, n: ledger.link(f"file {n}", "people"),
    "join": lambda ledger, n: ledger.join(Brought(fingerprint=f"joined {n}"), "people"),
    "say_others": lambda ledger, n: ledger.say_others(
        Brought(fingerprint="file", because=f"They came {n} years later."), "new", than="people"
    ),
    "similar": lambda ledger, n: ledger.similar(f"f{n}", Sketch(combinations=(marks(16),)), among=["people"]),
}
"""Each method that may be called without end, as one person would to fill a ledger."""
COUNTED = {"open_budget", "share", "set_limit", "rename", "link", "join", "say_others"}
"""Those of them that are counted by ``daily`` together; answers about real people are by themselves."""
ONCE: dict[str, Act] = {
    "begin_draw": lambda ledger, n: ledger.begin_draw(f"real by {ledger._subject}"),
    "store_answer": lambda ledger, n: ledger.store_answer(f"real by {ledger._subject}", n),
    "grant": lambda ledger, n: ledger.grant("asked"),
    "refuse": lambda ledger, n: ledger.refuse("asked more", "because"),
    "withdraw": lambda ledger, n: ledger.withdraw(f"taken by {ledger._subject}"),
    "end_budget": lambda ledger, n: ledger.end_budget("people"),
}
"""Those that write one record for another that is bounded: what they spend, what was asked, a budget."""


def practised(ledger: MembersLedger) -> str:
    return Ledger.practice_lineage(ledger._token, "clinic")


def owner(whole: Ledger, name: str) -> MembersLedger:
    """Somebody who may do everything with a budget, of which somebody else has a file and asks."""
    found = person(whole, name)
    whole.give_roles(name + ISSUER, ["owner", "analyst", "auditor"])
    whole.share("people", name + ISSUER, "own")
    Ledger(whole._store).open_practice(found._token, "clinic", epsilon=3.0)
    found.charge(f"real by {found._subject}", "people", SMALL, "?")
    found.ask(f"taken by {found._subject}", "people", Cost.pure(0.9), "?")
    return found


@pytest.fixture
def whole(empty_ledger: Path, sqlite_place: Place, monkeypatch: pytest.MonkeyPatch) -> Iterator[Ledger]:
    assert sqlite_place.database is not None
    shutil.copyfile(empty_ledger, sqlite_place.database)
    with sqlite_place.open() as found:
        found.give_roles("anna" + ISSUER, ["analyst"])
        found.open_budget("people", epsilon=2.0)
        found.share("people", "anna" + ISSUER, "ask")
        anna = person(found, "anna")
        anna.link("hers", "people", Sketch(combinations=(marks(64),)))
        for name in ("asked", "asked more"):
            anna.ask(name, "people", Cost.pure(0.9), "?")
        few = (
            (daily, "MOST"),
            (daily, "MOST_ANSWERS"),
            (rate, "MOST_OF_ONE"),
            (approvals, "MOST_A_DAY"),
            (compared, "MOST_FILES"),
        )
        for module, name in (*few, (daily, "MOST_ANSWERS")):
            monkeypatch.setattr(module, name, FEW)
        yield found


def many(whole: Ledger) -> int:
    return whole.version()


def tried(ledger: MembersLedger, act: Act) -> int:
    """How many records somebody writes who tries again and again, whatever they are told."""
    before = many(ledger)
    for number in range(TIMES):
        with suppress(DpcoreError):
            act(ledger, number)
    return many(ledger) - before


def test_of_every_method_that_writes_it_is_known_how_often(whole: Ledger) -> None:
    """All others write nothing."""
    methods = {name.split()[0] for name in TRIED}
    assert not (set(AGAIN) | set(ONCE)) - methods
    ledger = owner(whole, WHO)
    whole.charge("real", "people", SMALL, "?")
    before = many(whole)
    for name, act in TRIED.items():
        if name.split()[0] not in {*AGAIN, *ONCE}:
            with suppress(DpcoreError):
                act(ledger)
            assert many(whole) == before, f"{name} writes, and nothing is known of how often it may"


class Ahead(datetime):
    """A clock that can be ahead."""

    by = timedelta()

    @classmethod
    @contextmanager
    def right(cls) -> Iterator[None]:
        """For as long as this it is not."""
        before, cls.by = cls.by, timedelta()
        yield
        cls.by = before

    @classmethod
    def now(cls, tz: tzinfo | None = None) -> datetime:  # type: ignore[override]
        return datetime.now(tz) + cls.by


@pytest.fixture
def ahead(monkeypatch: pytest.MonkeyPatch) -> type[Ahead]:
    monkeypatch.setattr(records, "datetime", Ahead)
    monkeypatch.setattr(Ahead, "by", timedelta(days=3650))
    return Ahead


BOUNDED = sorted(set(AGAIN) - {"undo_reset"})  # what is undone was reset for it by nobody who is bounded


@pytest.mark.parametrize("name", BOUNDED)
def test_a_clock_that_was_ahead_for_a_moment_keeps_nobody_out(whole: Ledger, ahead: type[Ahead], name: str) -> None:
    """The records of that moment stay for good; by the time they say they count for nobody."""
    with ahead.right():
        ledger = owner(whole, WHO)
    assert tried(ledger, AGAIN[name]) > 0
    assert tried(ledger, lambda ledger, n: AGAIN[name](ledger, TIMES + n)) == 0, "it was tried up to the limit"
    with ahead.right():
        assert tried(ledger, lambda ledger, n: AGAIN[name](ledger, 2 * TIMES + n)) > 0
        assert tried(ledger, lambda ledger, n: AGAIN[name](ledger, 3 * TIMES + n)) == 0, "the limit stands"


def practise(whole: Ledger) -> None:
    """More records of practice than all may write in an hour, of somebody whom nothing bounds."""
    lineage = whole.open_practice("another" * 4, "clinic", epsilon=3.0).lineage
    for number in range(2 * FEW):
        Ledger(whole._store).rename(lineage, f"x{number}")


def test_real_answers_keep_nobody_from_practice(whole: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """One browser's real answers, which its network's share of practice did not count, stopped all for an hour."""
    monkeypatch.setattr(rate, "MOST_OF_ALL", FEW)
    monkeypatch.setattr(rate, "MOST_OF_ONE", 100)
    for number in range(2 * FEW):
        Ledger(whole._store).rename("people", f"x{number}")
    assert not rate.refusal(whole._store, "token" * 8)
    practise(whole)
    for number in range(2 * FEW):
        Ledger(whole._store).rename("people", f"y{number}")
    assert rate.refusal(whole._store, "token" * 8) == rate.TOO_MANY_OF_ALL, "practice counts, whatever came after it"


def test_a_clock_that_was_ahead_for_a_moment_closes_no_ledger(
    whole: Ledger, ahead: type[Ahead], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What all take in an hour is taken for an hour alone."""
    monkeypatch.setattr(rate, "MOST_OF_ALL", FEW)
    monkeypatch.setattr(rate, "MOST_OF_ONE", 100)
    practise(whole)
    assert rate.refusal(whole._store, "token" * 8) == rate.TOO_MANY_OF_ALL
    with ahead.right():
        assert not rate.refusal(whole._store, "token" * 8)


LATELY = (compared, daily, approvals, rate)


def until_now(length: timedelta, now: datetime | None = None) -> tuple[str, str]:
    """As it was counted before: nothing of a time that is yet to come."""
    return records.lately(length, now)[0], records.written(now or Ahead.now(UTC))


@pytest.mark.parametrize("name", BOUNDED)
@pytest.mark.parametrize("by", [timedelta(minutes=2), timedelta(hours=20)])
def test_what_another_computer_wrote_whose_clock_is_ahead_counts(
    whole: Ledger, ahead: type[Ahead], monkeypatch: pytest.MonkeyPatch, by: timedelta, name: str
) -> None:
    """Of two computers whose clocks differ by minutes, one wrote as much as a person may in a day, and the other let
    them write as much again."""
    with ahead.right():
        ledger = owner(whole, WHO)
    monkeypatch.setattr(ahead, "by", by)
    assert tried(ledger, AGAIN[name]) > 0
    with ahead.right():
        assert tried(ledger, lambda ledger, n: AGAIN[name](ledger, TIMES + n)) == 0
        for module in LATELY:
            monkeypatch.setattr(module, "lately", until_now)
        assert tried(ledger, lambda ledger, n: AGAIN[name](ledger, 2 * TIMES + n)) > 0, "or nothing was tested"


def test_what_all_wrote_at_a_computer_whose_clock_is_ahead_counts(
    whole: Ledger, ahead: type[Ahead], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rate, "MOST_OF_ALL", FEW)
    monkeypatch.setattr(rate, "MOST_OF_ONE", 100)
    monkeypatch.setattr(ahead, "by", timedelta(minutes=2))
    practise(whole)
    with ahead.right():
        assert rate.refusal(whole._store, "token" * 8) == rate.TOO_MANY_OF_ALL
        monkeypatch.setattr(rate, "lately", until_now)
        assert not rate.refusal(whole._store, "token" * 8), "or nothing was tested"


@pytest.mark.parametrize("near", [daily.NEAR, 0])
@pytest.mark.parametrize("name", BOUNDED)
def test_what_a_computer_wrote_whose_clock_is_behind_begins_no_day_anew(
    whole: Ledger, ahead: type[Ahead], monkeypatch: pytest.MonkeyPatch, name: str, near: int
) -> None:
    """Records of anybody's, of a time that is too old, and all that was before them counted for nobody. Where none is
    looked at before one, that is so."""
    monkeypatch.setattr(daily, "NEAR", near)
    monkeypatch.setattr(ahead, "by", timedelta())
    ledger = owner(whole, WHO)
    assert tried(ledger, AGAIN[name]) > 0
    monkeypatch.setattr(ahead, "by", timedelta(hours=-25))
    for number in range(whole.version() + 1):  # as many as there are: by halves one of them is come upon
        Ledger(whole._store).rename("people", f"behind {number}")
    monkeypatch.setattr(ahead, "by", timedelta())
    found = tried(ledger, lambda ledger, n: AGAIN[name](ledger, TIMES + n))
    assert (found > 0) == (near == 0 and name in {*COUNTED, "charge"})


def test_a_limit_that_takes_any_later_record_is_found_out(
    whole: Ledger, ahead: type[Ahead], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The test above can fail: as it was, whoever had asked as much was told to go on tomorrow for ten years."""
    ledger = owner(whole, WHO)
    tried(ledger, AGAIN["ask"])
    monkeypatch.setattr(approvals, "lately", lambda length: (records.lately(length)[0], "9"))
    with ahead.right():
        assert tried(ledger, lambda ledger, n: AGAIN["ask"](ledger, TIMES + n)) == 0


@pytest.mark.thorough
def test_every_method_comes_to_an_end(whole: Ledger) -> None:
    """By somebody for each who has written nothing else."""
    written = {name: tried(owner(whole, f"{name}-er"), act) for name, act in (AGAIN | ONCE).items()}
    written["undo_reset"] -= TIMES  # what is undone was reset for it
    assert all(written.values()), "it was tried in earnest"
    assert not [name for name, records in written.items() if records > (1 if name in ONCE else 2 * FEW)]


def test_without_a_count_they_would_not(whole: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """The test above can fail: as it was when nothing was counted."""
    monkeypatch.setattr(daily, "must_be_few", lambda *_: None)
    for name in COUNTED:
        assert tried(owner(whole, f"{name}-er"), AGAIN[name]) >= TIMES


def test_all_of_them_are_counted_together(whole: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """In one sentence; nothing is written then. Others write on, what was begun ends, and they go on a day later."""
    otto = owner(whole, WHO)
    tried(otto, AGAIN["share"])
    before = many(whole)
    for name in sorted(COUNTED):
        with pytest.raises(NotAllowed) as refused:
            AGAIN[name](otto, TIMES)
        assert str(refused.value) == daily.TOO_MANY
    assert many(whole) == before
    assert otto.charge("later", "people", SMALL, "?").request_id == "later"
    assert otto.grant("asked").state == "granted"
    person(whole, "anna").link("another", "people")
    whole.rename("people", "Patients")  # who runs the program
    monkeypatch.setattr(daily, "DAY", timedelta(0))
    otto.rename("people", "These")
    assert otto.end_budget("people").ended


def test_answers_about_real_people_come_to_an_end(whole: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """A budget of 2 could be charged 10⁻¹⁰⁰ at a time: what one without a name may do so often a day, a person could
    without end. Others go on, what was charged is drawn, and so does practice."""
    otto, anna = owner(whole, WHO), person(whole, "anna")  # of whom he has one answer already
    monkeypatch.setattr(rate, "MOST_OF_ONE", 100)
    tried(otto, AGAIN["charge"])
    before = many(whole)
    with pytest.raises(NotAllowed) as refused:
        otto.charge("more", "people", Cost.pure(1e-100), "?")
    assert str(refused.value) == daily.TOO_MANY_ANSWERS
    assert many(whole) == before
    assert otto.charge("real 0", "people", SMALL, "?").request_id == "real 0", "the same again"
    assert otto.store_answer("real 0", 1).answer == 1
    assert anna.charge("hers", "people", SMALL, "?").subject == "anna" + ISSUER
    assert otto.charge("practice", practised(otto), SMALL, "?").request_id == "practice"
    assert whole.charge("whoever runs it", "people", SMALL, "?").subject == ""
    otto.rename("people", "These")
    monkeypatch.setattr(daily, "DAY", timedelta(0))
    assert otto.charge("tomorrow", "people", SMALL, "?").request_id == "tomorrow"


def test_practice_and_others_answers_do_not_count_with_these(whole: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    otto, anna = owner(whole, WHO), person(whole, "anna")
    monkeypatch.setattr(rate, "MOST_OF_ONE", 100)
    for number in range(2 * FEW):
        otto.charge(f"practice {number}", practised(otto), SMALL, "?")
        with suppress(NotAllowed):
            anna.charge(f"hers {number}", "people", SMALL, WHO + ISSUER)
    assert tried(otto, AGAIN["charge"]) == FEW - 1
    monkeypatch.setattr(daily, "must_ask_few", lambda *_: None)
    assert tried(otto, lambda ledger, n: AGAIN["charge"](ledger, TIMES + n)) == TIMES, "or nothing was counted"


def test_a_person_is_told_from_others_whose_names_look_like_theirs(whole: Ledger) -> None:
    """A name that holds another's, in quotation marks too, is a name."""
    tried(owner(whole, WHO), AGAIN["share"])
    for subject in (f"x{WHO}{ISSUER}", f'a","by":"{WHO}{ISSUER}'):
        other = MembersLedger(whole, Person(subject=subject, claimed=frozenset({"owner"})), token="o" * 20)
        assert other.open_budget(subject[:3], epsilon=1.0, name=f'"by":"{WHO}{ISSUER}"').cap.epsilon == 1.0


def test_every_kind_of_record_is_bounded_somehow() -> None:
    assert set(daily.OTHERWISE) < set(get_args(Kind))
    assert set(get_args(Kind)) - set(daily.OTHERWISE) == {"open", "rename", "link", "others", "role", "share", "limit"}
