"""What one of several without a name writes comes to an end, by whatever method and however many browsers they have:
a login before the server (``EPSILON_LAB_VISITORS=trusted``) vouches for people and says of nobody who they are."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import nullcontext, suppress

import pytest

from dpcore.accounting import Cost
from dpcore.errors import DpcoreError, LedgerError, NotAllowed
from dpcore.ledger import Ledger, daily, rate
from dpcore.ledger.several import SeveralLedger
from tests.ledger.patients import ISSUER
from tests.ledger.test_ledger_daily import AGAIN as OF_A_PERSON
from tests.ledger.test_ledger_daily import SMALL, practised
from tests.ledger.test_ledger_roles import TRIED

FEW, TIMES, NETWORK = 3, 12, 8
HERE, THERE = "192.0.2.1", "192.0.2.2"

Act = Callable[[SeveralLedger, int], object]
THEIRS = Ledger.practice_lineage("somebody" * 4, "clinic")
AGAIN: dict[str, Act] = {
    **{name: act for name, act in OF_A_PERSON.items() if name not in ("ask", "undo_reset", "similar")},  # type: ignore[dict-item]
    "rename": lambda ledger, n: ledger.rename("people", f"x{n}"),
    "rename practice": lambda ledger, n: ledger.rename(practised(ledger), f"x{n}"),  # type: ignore[arg-type]
    "reset_practice theirs": lambda ledger, n: ledger.reset_practice(THEIRS),
    "reset_practice another": lambda ledger, n: ledger.reset_practice("practised"),
    "undo_reset": lambda ledger, n: (ledger.reset_practice(THEIRS), ledger.undo_reset(THEIRS)),
    "resize_practice theirs": lambda ledger, n: ledger.resize_practice(THEIRS, epsilon=4.0 + n),
    "charge": lambda ledger, n: ledger.charge(f"c{ledger._token}{n}", practised(ledger), SMALL, "?"),  # type: ignore[arg-type]
    "charge real": lambda ledger, n: ledger.charge(f"r{ledger._token}{n}", "people", SMALL, "?"),
    "charge theirs": lambda ledger, n: ledger.charge(f"c{ledger._token}{n}", THEIRS, SMALL, "?"),
    "open_budget practice": lambda ledger, n: ledger.open_budget(f"p{n}", epsilon=1.0, practice=True),
    "give_roles": lambda ledger, n: ledger.give_roles(f"vera{n}{ISSUER}", ["owner"]),
}
"""Each method that may be called without end, as one browser would to fill a ledger. How many files may be compared
is in ``test_ledger_several``."""
ONCE = {"begin_draw", "store_answer", "end_budget"}
"""Those that write one record for another that is bounded: what is spent, a budget."""


@pytest.fixture
def whole(monkeypatch: pytest.MonkeyPatch) -> Iterator[Ledger]:
    ledger = Ledger.open("sqlite://")
    ledger.open_budget("people", epsilon=2.0)
    ledger.open_budget("practised", epsilon=2.0, practice=True)
    ledger.open_practice("somebody" * 4, "clinic", epsilon=3.0)
    ledger.charge("real", "people", SMALL, "?")
    monkeypatch.setattr(daily, "MOST", FEW)
    monkeypatch.setattr(rate, "MOST_OF_ONE", 2 * FEW)
    monkeypatch.setattr(daily, "MOST_OF_NETWORK", NETWORK)
    yield ledger
    ledger.close()


def browser(whole: Ledger, name: str, network: str = HERE, replicas: int = 1) -> SeveralLedger:
    return SeveralLedger(whole, name and name.ljust(20, "."), network=network, replicas=replicas)


def begin(whole: Ledger, name: str, network: str = HERE) -> SeveralLedger:
    """One who has a practice budget, which they did not have to open."""
    found = browser(whole, name, network)
    if found._token:
        whole.open_practice(found._token, "clinic", epsilon=3.0)
    return found


def tried(ledger: SeveralLedger, act: Act, first: int = 0) -> int:
    """How many records one writes who tries again and again, whatever they are told."""
    before = ledger.version()
    for number in range(first, first + TIMES):
        with suppress(DpcoreError):
            act(ledger, number)
    return ledger.version() - before


@pytest.mark.parametrize("name", AGAIN)
def test_one_browser_comes_to_an_end(whole: Ledger, name: str) -> None:
    """And others of its network go on."""
    found = tried(begin(whole, "one"), AGAIN[name])
    assert 0 < found <= 2 * FEW, "an answer is counted with what comes of it"
    assert tried(begin(whole, "two"), AGAIN[name], TIMES) > 0


@pytest.mark.parametrize("name", AGAIN)
def test_without_a_bound_it_would_not(whole: Ledger, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """The test above can fail: as it was when these had the ledger of who is here alone."""
    monkeypatch.setattr(SeveralLedger, "may_begin", Ledger.may_begin)
    monkeypatch.setattr(SeveralLedger, "_change", lambda *_: None)
    monkeypatch.setattr(SeveralLedger, "_each", lambda _: nullcontext())
    monkeypatch.setattr(SeveralLedger, "_spend", lambda _: lambda: None)
    assert tried(begin(whole, "one"), AGAIN[name]) >= TIMES


PRACTICE = {name for name in AGAIN if "practice" in name or name.startswith(("undo", "charge"))} - {
    *("open_budget practice", "charge real")
}


@pytest.mark.parametrize(
    ("name", "known"),
    [(name, "by another secret") for name in AGAIN] + [(name, "none") for name in AGAIN if name not in PRACTICE],
)
def test_whoever_drops_their_cookie_comes_to_an_end_too(
    whole: Ledger, monkeypatch: pytest.MonkeyPatch, name: str, known: str
) -> None:
    """By where they are, also where nobody knows it; who comes from elsewhere goes on."""
    monkeypatch.setattr(rate, "MOST_OF_ALL", 40)
    monkeypatch.setattr(rate, "EACH", 0.5)
    network = HERE if known != "none" else ""
    for number in range(30):
        with suppress(DpcoreError):
            AGAIN[name](begin(whole, f"b{number}" if known != "none" else "", network), number)
    before = whole.version()
    last = begin(whole, "last" if known != "none" else "", network)
    opened = whole.version() - before
    with pytest.raises(LedgerError):
        AGAIN[name](last, 99)
    assert whole.version() == before + opened
    monkeypatch.setattr(rate, "MOST_OF_ALL", 1000)  # the others of this test practised as well
    assert AGAIN[name](begin(whole, "elsewhere", THERE), 100) is not False


def test_of_every_method_that_writes_it_is_known_how_often(whole: Ledger) -> None:
    """One that is added to the ledger and writes must be bounded for them, too."""
    bounded = {name for name in vars(SeveralLedger) if not name.startswith("_")}
    for name, act in TRIED.items():
        before = whole.version()
        with suppress(DpcoreError):
            act(browser(whole, f"of {name}"))
        method = name.split()[0]
        assert whole.version() == before or method in bounded | ONCE, f"{name} writes without a bound"
    assert {name.split()[0] for name in AGAIN} == bounded - {"close", "may_begin", "note_room"}
    assert inspect.getdoc(SeveralLedger)


def test_a_sentence_says_so_and_what_was_begun_ends(whole: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is written then; a day later they go on, and who is here alone always does."""
    one = begin(whole, "one")
    for number in range(FEW):
        one.rename("people", f"x{number}")
    before = whole.version()
    with pytest.raises(NotAllowed) as refused:
        one.open_budget("new", epsilon=1.0)
    assert str(refused.value) == daily.TOO_MANY
    assert whole.version() == before
    assert one.charge("real too", "people", SMALL, "?").request_id == "real too", "that spends a budget"
    one.begin_draw("real too")
    assert one.store_answer("real too", 7).answer == 7
    for number in range(NETWORK):
        with suppress(NotAllowed):
            browser(whole, f"b{number}").rename("people", f"y{number}")
    with pytest.raises(NotAllowed) as refused:
        browser(whole, "another").rename("people", "z")
    assert str(refused.value) == daily.TOO_MANY_OF_NETWORK
    whole.rename("people", "Patients")
    assert not [one for one in whole.records() if HERE in one.line()], "no address is ever written"
    monkeypatch.setattr(whole._store.written, "_seconds", 0.0)
    assert one.open_budget("new", epsilon=1.0).cap.epsilon == 1.0


def test_a_server_that_is_one_of_two_takes_half_of_a_network(whole: Ledger) -> None:
    for number in range(NETWORK):
        with suppress(NotAllowed):
            browser(whole, f"b{number}", replicas=2).rename("people", f"x{number}")
    assert whole.budget("people").name == f"x{NETWORK // 2 - 1}"


WAYS = {"changes": lambda ledger: ledger._change(), "practice": lambda ledger: ledger.may_begin(rate.ANSWER)}


def after_one(way: str, replicas: int) -> list[str]:
    """What three others of a network are told at first, once one browser of it has begun as much as it can there."""
    whole = Ledger.open("sqlite://")
    one, told = browser(whole, "one", replicas=replicas), list[str]()
    with suppress(LedgerError):
        for _ in range(1000):
            WAYS[way](one)
    for name in ("two", "three", "four"):
        try:
            WAYS[way](browser(whole, name, replicas=replicas))
            told.append("")
        except LedgerError as error:
            told.append(str(error))
    whole.close()
    return told


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("replicas", [1, 2, 4, 7, 8, 64])
def test_one_browser_leaves_three_quarters_to_others_of_its_network(way: str, replicas: int) -> None:
    """With four replicas it had all that its network has at one of them, for a day."""
    assert after_one(way, replicas) == [""] * 3


@pytest.mark.parametrize("way", WAYS)
def test_one_that_may_begin_as_much_as_its_network_keeps_the_others_out(
    way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The test above can fail."""
    monkeypatch.setattr(daily, "MOST", daily.MOST_OF_NETWORK)
    monkeypatch.setattr(rate, "EACH_OF_NETWORK", 1.0)
    assert after_one(way, 64) == [daily.TOO_MANY_OF_NETWORK if way == "changes" else rate.TOO_MANY_OF_NETWORK] * 3


@pytest.mark.parametrize("replicas", [1, 8, 64])
def test_one_browser_may_begin_a_room_wherever_it_is(replicas: int) -> None:
    """The largest that there is; and is told whose bound it is, and for how long."""
    assert 4 * daily.MOST == daily.MOST_OF_NETWORK
    with Ledger.open("sqlite://") as whole:
        one = browser(whole, "one", replicas=replicas)
        one.may_begin(rate.room(19))
        if replicas == 64:
            with pytest.raises(LedgerError) as refused:
                one.may_begin(rate.room(19))
            assert str(refused.value) == rate.TOO_MANY_OF_ONE_NOW


def test_rooms_count_with_the_browser_that_opened_them(whole: Ledger) -> None:
    one = browser(whole, "one")
    with pytest.raises(LedgerError, match="as much as one person can"):
        one.may_begin(rate.room(FEW))
    for _ in range(2 * FEW):
        one.note_room(Ledger.room_lineage(one._token))
    with pytest.raises(LedgerError, match="as much as one person can"):
        one.may_begin()
    browser(whole, "two").may_begin()


def test_the_same_again_is_nothing_new(whole: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rate, "MOST_OF_ONE", 2 * FEW)
    one = begin(whole, "one")
    lineage = practised(one)  # type: ignore[arg-type]
    for _ in range(TIMES):
        one.open_practice(one._token, "clinic", epsilon=3.0)
        one.charge("once", lineage, Cost.pure(0.1), "?")
        one.open_budget("people", epsilon=2.0)
        one.link("file", "people")
    assert whole._store.written.records(f"network {HERE}") == 1


def test_a_class_of_200_behind_one_network_asks_and_one_of_them_cannot_fill_the_ledger(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each has 26 real answers in an hour, of three records; one browser has as many a day as it may practise."""
    whole = Ledger.open("sqlite://")
    monkeypatch.setattr(SeveralLedger, "receipt", lambda *_: None)
    monkeypatch.setattr(SeveralLedger, "_is_practice", lambda *_: False)
    written: list[str] = []
    monkeypatch.setattr(Ledger, "charge", lambda self, request_id, *_, **__: written.append(request_id))

    def asked(name: str, answers: int, replicas: int = 1) -> int:
        one, before = browser(whole, name, replicas=replicas), len(written)
        for number in range(answers):
            with suppress(LedgerError):
                one.charge(f"{name}{number}", "people", SMALL, "?")
        return len(written) - before

    assert {asked(f"pupil {number}", 26) for number in range(200)} == {26}
    assert sum(asked(f"more {number}", 200) for number in range(5)) <= 200, "the network's hour is full"
    monkeypatch.setattr(whole._store.begun, "_seconds", 0.0)
    assert asked("one", 500) == 200
    assert asked("two", 1) == 1
    assert asked("three", 500, replicas=4) == 50, "it has so many at each, and may go to all of them"
    whole.close()


def test_what_does_not_fit_its_budget_does_not_count(whole: Ledger) -> None:
    one = begin(whole, "one")
    for number in range(TIMES):
        with pytest.raises(DpcoreError):
            one.charge(f"large{number}", "people", Cost.pure(99.0), "?")
    assert one.charge("small", "people", SMALL, "?").request_id == "small"
    assert one.charge("small", "people", SMALL, "?").request_id == "small", "nor the same again"
