"""The rooms of the live games by themselves: releases from the ledger, phases, ends, and what no screen tells."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlalchemy import Connection

from dashboard.poll import desk
from dashboard.poll.answering import answer, live
from dashboard.poll.asked import Poll
from dashboard.poll.follow import FEWEST_ROUNDS, Follow
from dashboard.poll.follow_room import FollowRoom
from dashboard.poll.refused import PollRefused
from dashboard.poll.room import Room
from dashboard.poll.rooms import Declared, Rooms
from dashboard.poll.watch import Watch
from dashboard.poll.watch_room import WatchRoom
from dashboard.poll.watch_speaker import middle
from dashboard.words import live as said
from dpcore.errors import LedgerError
from dpcore.ledger import Ledger, Receipt, kept, rate
from dpcore.ledger.records import Kind
from dpcore.ledger.store import Store
from dpcore.ledger.visitor import VisitorsLedger
from tests.poll.conftest import SNACKS

HOST = "h" * 32
COIN = Follow(question="Heads or tails?", rounds=4, teams=2, people=12, epsilon=1.0, counts=True)
BREAK = Watch(question="Tap for a break", bar=3, looks=6, seconds=1.0, people=12, epsilon=5.0, counts=True)


@pytest.fixture
def ledger(ledger_file: Path) -> Any:
    with Ledger.open(f"sqlite:///{ledger_file}") as found:
        yield found


def playing(phones: int = 6, asked: Follow = COIN) -> FollowRoom:
    room = FollowRoom("CODE", asked, HOST)
    for number in range(phones):
        room.join(str(number))
    room.start(HOST)
    return room


def never(*_: Any, **__: Any) -> Receipt:
    raise LedgerError("the disk is full")


# -- whom to follow ----------------------------------------------------------------------------------------------------


def test_every_round_but_the_first_is_a_release_that_the_room_s_budget_pays(ledger: Ledger) -> None:
    room, draw = playing(), partial(live, ledger=lambda: ledger)
    with pytest.raises(PollRefused):
        room.seen().true_losses()
    for number in range(1, 5):
        for phone in range(6):
            room.predict(str(phone), phone % 2)  # the second team is always right
        room.happen(HOST, number, 1)
        room.follow(HOST, draw)
        room.follow(HOST, draw)  # a second click
    seen = room.seen()
    assert (seen.phase, len(seen.plays), len(seen.receipts)) == ("over", 4, 3)
    assert ledger.receipts() == list(seen.receipts)
    assert [one.answer for one in seen.receipts] == [
        {"team": team, "round": place} for place, team in enumerate(seen.plays[1:], 2)
    ]
    assert {one.neighbours for one in seen.receipts} == {"replace_one"}
    spent = sum(one.epsilon for one in seen.receipts)
    assert spent == pytest.approx(COIN.spends(6), rel=1e-6)
    assert spent <= COIN.epsilon
    assert ledger.budget(room.lineage).caps.cap_epsilon >= COIN.epsilon
    room.show_losses(HOST)
    seen = room.seen()
    assert seen.losses is not None
    assert seen.losses == pytest.approx(np.array([[1.0, 0.0]] * 4), abs=1e-5)
    lost, least, best = seen.true_losses()
    assert (best, least[-1]) == ("Team B", pytest.approx(0, abs=1e-5))
    assert lost[-1] == pytest.approx(seen.plays.count("Team A"), abs=1e-4)
    room.end(HOST)
    assert not room.own("0").joined
    assert room.seen().receipts == seen.receipts


def test_the_budget_covers_every_room_exactly(ledger: Ledger) -> None:
    """However many phones come, all rounds fit the budget that was declared."""
    for phones in (2, 3, 7, 30):
        room, draw = playing(phones, replace(COIN, epsilon=0.3)), partial(live, ledger=lambda: ledger)
        for number in range(1, 5):
            room.happen(HOST, number, 0)
            room.follow(HOST, draw)
        assert len(room.seen().plays) == 4


def test_a_draw_that_failed_is_drawn_again_under_its_own_id(ledger: Ledger) -> None:
    room = playing()
    room.happen(HOST, 1, 0)
    with pytest.raises(LedgerError):
        room.follow(HOST, never)
    assert room.seen().phase == "drawing"
    with pytest.raises(PollRefused):
        room.predict("0", 1)
    room.follow(HOST, partial(live, ledger=lambda: ledger))
    assert room.seen().phase == "predicting"
    assert len(ledger.receipts()) == 1


def test_a_hundred_threads_predict_and_change_their_minds() -> None:
    asked = replace(COIN, people=100)
    room, kept = FollowRoom("CODE", asked, HOST), []
    with ThreadPoolExecutor(50) as pool:
        list(pool.map(lambda number: room.join(str(number)), range(100)))
        room.start(HOST)
        for outcome in (0, 1, 0):
            list(pool.map(lambda number, now=outcome: room.predict(str(number), now), range(100)))
        room.predict("0", None)
    room.happen(HOST, 1, 1)

    def draw(name: str, lineage: str, epsilon: float, request: Any, rows: Any) -> Any:
        kept.append(rows)
        raise LedgerError("later")

    with pytest.raises(LedgerError):
        room.follow(HOST, draw)
    assert sorted(kept[0].ravel().tolist()) == [-1] + [0] * 99


def test_phases_follow_one_another() -> None:
    room = FollowRoom("CODE", COIN, HOST)
    with pytest.raises(PollRefused, match="at least 2 phones"):
        room.start(HOST)
    room.join("a")
    room.join("b")
    with pytest.raises(PollRefused, match="over"):
        room.predict("a", 0)
    with pytest.raises(PollRefused, match="Only the browser"):
        room.start("x")
    room.start(HOST)
    assert not room.join("late")
    with pytest.raises(PollRefused, match="look on"):
        room.predict("late", 0)
    with pytest.raises(PollRefused, match="not one of"):
        room.predict("a", 2)
    room.happen(HOST, 2, 0)  # a click for another round than this one
    assert room.seen().happened == ()
    with pytest.raises(PollRefused, match="not time"):
        room.show_losses(HOST)
    with pytest.raises(PollRefused, match="not announced"):
        playing(asked=replace(COIN, counts=False)).show_losses(HOST)
    room.forget()
    with pytest.raises(PollRefused, match="ended"):
        room.predict("a", 0)


def test_before_the_draw_nothing_depends_on_a_prediction() -> None:
    """``seen``, the request and the sentences of neighbouring rooms are the same up to what is drawn."""
    from dpcore.release import question_digest

    rooms = [playing(), playing()]
    for room, mine in zip(rooms, (0, 1), strict=True):
        room.predict("0", mine)
        room._plays[:] = ["Team A"]
        room.happen(HOST, 1, 1)
    first, second = (room.seen() for room in rooms)
    assert first == second
    asked = [question_digest(room.asked.request(room.seen().phones, room.seen().happened)) for room in rooms]
    assert asked[0] == asked[1]
    # the rooms do differ in what the release looks at
    assert rooms[0]._rows().tolist() != rooms[1]._rows().tolist()


def test_what_is_promised_and_simulated() -> None:
    asked = Follow(question="q", rounds=8, teams=3, people=60, epsilon=2.0)
    promised, simulated = asked.promised(60), asked.simulated(60, 70)
    assert (np.diff(promised) > 0).all()
    assert (simulated <= promised + 1e-9).all()
    assert simulated[0] == pytest.approx((0.2 + 0.2 + 0.0) / 3)  # the first round is drawn evenly
    assert asked.blind(70) == pytest.approx(8 * (0.2 + 0.2) / 3)
    assert simulated[-1] < asked.simulated(9, 70)[-1] < asked.blind(70)
    assert asked.spends(60) <= asked.epsilon
    assert asked.rate(300) >= asked.rate(60) >= asked.rate(6)


@pytest.mark.parametrize(
    "wrong",
    [
        {"question": " "},
        {"outcomes": ("heads", "Heads")},
        {"outcomes": ("heads", "")},
        {"rounds": 1},
        {"rounds": 21},
        {"teams": 6},
        {"people": 1},
        {"epsilon": 0.0},
        {"epsilon": float("nan")},
    ],
)
def test_what_cannot_be_declared_is_one_sentence(wrong: dict[str, Any]) -> None:
    with pytest.raises(PollRefused) as refused:
        replace(COIN, **wrong)
    assert str(refused.value).endswith(".")


# -- the alarm ---------------------------------------------------------------------------------------------------------


class Steps:
    """Time that a test moves: every look waits for its turn, and is done by ``tap`` before it."""

    def __init__(self, taps: Callable[[int], None]) -> None:
        self.look, self.taps = 0, taps

    def __call__(self, closed: threading.Event, seconds: float) -> None:
        self.look += 1
        self.taps(self.look)


def watched(asked: Watch, tapping: dict[int, list[str]], draw: Any) -> tuple[WatchRoom, Steps]:
    """A room whose phones tap before given looks; listened to from the first to the last."""

    def taps(look: int) -> None:
        for token in tapping.get(look, []):
            room.tap(token)
            room.tap(token)  # a second tap changes nothing

    steps = Steps(taps)
    room = WatchRoom("CODE", asked, HOST, wait=steps)
    for number in range(8):
        room.join(str(number))
    thread = room.listen(HOST, draw)
    assert thread is not None
    thread.join(60)
    assert not thread.is_alive()
    return room, steps


def test_the_alarm_is_one_release_that_stops_listening(ledger: Ledger) -> None:
    asked = replace(BREAK, bar=1, epsilon=10.0)
    draw = partial(live, ledger=lambda: ledger)
    room, steps = watched(asked, {3: [str(number) for number in range(8)]}, draw)
    seen = room.seen()
    assert seen.phase == "answered"
    assert ledger.receipts() == [seen.receipt]
    assert seen.receipt is not None
    assert seen.receipt.epsilon == 10.0
    look = seen.receipt.answer["look"]
    assert look is None or steps.look == look == seen.look
    with pytest.raises(PollRefused, match="not listening"):
        room.tap("0")
    room.show_counts(HOST)
    counts = room.seen().counts
    assert counts is not None
    assert counts.tolist() == [0, 0, *([8] * (len(counts) - 2))][: len(counts)]
    room.end(HOST)
    assert not room.own("0").joined


def test_a_silent_alarm_is_an_answer_too(ledger: Ledger) -> None:
    room, steps = watched(replace(BREAK, bar=900), {}, partial(live, ledger=lambda: ledger))
    seen = room.seen()
    assert seen.receipt is not None
    assert seen.receipt.answer == {"look": None, "looks": 6}
    assert steps.look == 6


def test_an_alarm_that_never_began_can_be_started_again_and_one_that_did_cannot(ledger: Ledger) -> None:
    room, _ = watched(BREAK, {}, never)
    seen = room.seen()
    assert (seen.phase, seen.problem) == ("joining", "the disk is full")
    thread = room.listen(HOST, partial(live, ledger=lambda: ledger))
    assert thread is not None
    thread.join(60)
    assert room.seen().phase == "answered"

    def breaks(*given: Any, **_: Any) -> Receipt:
        for _ in given[-1].counts():
            never()
        raise AssertionError

    room, _ = watched(BREAK, {}, breaks)
    assert room.seen().phase == "ended"
    assert room.listen(HOST, never) is None


def test_a_room_that_ends_stops_listening(ledger: Ledger) -> None:
    room = WatchRoom("CODE", replace(BREAK, seconds=30.0), HOST)
    room.join("a")
    thread = room.listen(HOST, partial(live, ledger=lambda: ledger))
    assert thread is not None
    assert room.listen(HOST, never) is None  # a second click
    room.end(HOST)
    thread.join(60)
    assert not thread.is_alive()
    assert (room.seen().phase, room.seen().receipt) == ("ended", None)


def test_while_it_listens_nothing_depends_on_a_tap() -> None:
    """Up to the alarm, neighbouring rooms show the same at every look."""
    shown = []
    for tapping in ({}, {2: ["0"]}):
        seen: list[Any] = []

        def draw(*given: Any, seen: list[Any] = seen, **_: Any) -> Receipt:
            room = given[-1]
            seen.extend(room.seen() for _ in room.counts())
            raise LedgerError("enough")

        watched(BREAK, tapping, draw)
        shown.append(seen)
    assert shown[0] == shown[1]
    assert len(shown[0]) == 6


def test_the_simulated_room_s_law_is_the_release_s() -> None:
    asked = replace(BREAK, looks=10, people=20, bar=5, epsilon=1.0)
    assert asked.simulated(50).tolist() == [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
    assert asked.reached(50) == 5
    assert asked.reached(0) is None
    law = asked.law(50)
    assert law.sum() == pytest.approx(1.0, abs=1e-9)
    assert asked.false_alarm == pytest.approx(1.0 - asked.request.law(np.zeros(10, dtype=np.int64))[-1])
    assert replace(asked, epsilon=3.0).false_alarm < asked.false_alarm
    low, high = middle(law)
    inside = law[low - 1 : high].sum() / law[:-1].sum()
    assert inside >= 0.8
    assert middle(np.array([0.0, 0.0, 1.0])) == (1, 0)
    assert "hardly ever" in said.watch_forecast(0, 20, None, 1, 0, 1.0, 0.0)


@pytest.mark.parametrize(
    "wrong",
    [{"question": ""}, {"bar": 0}, {"looks": 4}, {"looks": 121}, {"seconds": 0.5}, {"people": 1}, {"epsilon": 99}],
)
def test_what_cannot_be_watched_is_one_sentence(wrong: dict[str, Any]) -> None:
    with pytest.raises(PollRefused) as refused:
        replace(BREAK, **wrong)
    assert str(refused.value).endswith(".")


# -- a ledger that is away for a moment --------------------------------------------------------------------------------


class Gone:
    """A ledger that takes every record, and no answer while it is ``away``."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.away, append = True, Store.append

        def lost(store: Store, connection: Connection, kind: Kind, **parts: Any) -> Any:
            if kind == "answer" and self.away:
                raise LedgerError("The ledger's database cannot be reached.")
            return append(store, connection, kind, **parts)

        monkeypatch.setattr(Store, "append", lost)
        monkeypatch.setattr(kept, "APART", 0.02)


def answered_later(declared: Declared, ledger: Ledger, gone: Gone, draw: Any) -> Receipt | None:
    """What a room shows whose answer the ledger could not take at once, when its speaker has done what there is to do:
    to click again, or to look on."""
    match declared:
        case Poll():
            voting = Room("CODE", declared, HOST)
            voting.join("1")
            voting.close_voting(HOST)
            voting.show_forecast(HOST)
            with pytest.raises(LedgerError, match=kept.KEPT):
                voting.release(HOST, partial(answer, ledger=lambda: ledger))
            gone.away = False
            voting.release(HOST, partial(answer, ledger=lambda: ledger))
            return voting.seen().receipt
        case Follow():
            following = playing(asked=declared)
            following.happen(HOST, 1, 1)
            with pytest.raises(LedgerError, match=kept.KEPT):
                following.follow(HOST, partial(live, ledger=lambda: ledger))
            gone.away = False
            following.follow(HOST, partial(live, ledger=lambda: ledger))
            return following.seen().receipts[-1]
        case Watch():
            watching = WatchRoom("CODE", declared, HOST, wait=lambda *_: None)
            watching.join("1")
            thread = watching.listen(HOST, draw)
            assert thread is not None
            until = time.monotonic() + 60
            while watching.seen().phase == "listening" and time.monotonic() < until:
                time.sleep(0.01)
            if watching.seen().phase == "kept":
                assert watching.seen().receipt is None, "what is not stored is not shown"
                with pytest.raises(PollRefused, match="not listening"):
                    watching.tap("1")
            gone.away = False
            thread.join(60)
            return watching.seen().receipt


@pytest.mark.parametrize("declared", [SNACKS, COIN, BREAK], ids=lambda one: type(one).__name__)
def test_an_answer_that_the_ledger_takes_later_is_shown(
    declared: Declared, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In every kind of room: it is paid for, and drawn once."""
    draw = partial(live, ledger=lambda: ledger)
    found = answered_later(declared, ledger, Gone(monkeypatch), draw)
    assert found is not None
    assert [found] == ledger.receipts()
    assert [record.kind for record in ledger.records()].count("draw") == 1
    ledger.verify()


def test_an_alarm_that_does_not_wait_for_its_answer_is_found_out(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The test above can fail: as it was, the room ended, and the ledger had an answer that nobody was shown."""

    def draw(*given: Any, **_: Any) -> Receipt:
        return live(*given, ledger=lambda: ledger)

    assert answered_later(BREAK, ledger, Gone(monkeypatch), draw) is None


def test_an_alarm_whose_answer_is_lost_ends_and_says_so(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """It listened, so that nothing pays for another; and nobody is told to look again for what does not come."""
    Gone(monkeypatch)
    monkeypatch.setattr(kept, "FOR", 0.1)
    room, _ = watched(BREAK, {}, partial(live, ledger=lambda: ledger))
    seen = room.seen()
    assert (seen.phase, seen.receipt, seen.problem) == ("ended", None, kept.LOST)
    assert room.listen(HOST, never) is None


# -- what a room writes ------------------------------------------------------------------------------------------------


def played(declared: Declared, ledger: Ledger) -> None:
    """A room of two phones, to its end."""
    rooms, draw = Rooms(), partial(live, ledger=lambda: ledger.acting("room"))
    match declared:
        case Poll():
            voting = rooms.open(declared, HOST)
            for phone in ("1", "2"):
                voting.join(phone)
            voting.close_voting(HOST)
            voting.show_forecast(HOST)
            voting.release(HOST, partial(answer, ledger=lambda: ledger.acting("room")))
        case Follow():
            following = rooms.open(declared, HOST)
            for phone in ("1", "2"):
                following.join(phone)
            following.start(HOST)
            for number in range(1, declared.rounds + 1):
                following.happen(HOST, number, 1)
                following.follow(HOST, draw)
        case Watch():
            watching = WatchRoom("CODE", declared, HOST, wait=lambda *_: None)
            watching.join("1")
            listening = watching.listen(HOST, draw)
            assert listening is not None
            listening.join()


WRITES = (SNACKS, COIN, replace(COIN, rounds=FEWEST_ROUNDS), BREAK)


@pytest.mark.parametrize("declared", WRITES, ids=lambda one: type(one).__name__)
def test_a_room_counts_all_that_it_writes(declared: Declared, ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """For the network that opens it, when it is opened: it is played to its end whatever was begun meanwhile."""
    mine = VisitorsLedger(ledger, HOST, network="192.0.2.1")
    monkeypatch.setattr(desk.compute, "ledger", lambda: mine)
    monkeypatch.setattr(desk, "ROOMS", Rooms())
    before = len(ledger.records())
    desk._open(declared, HOST)
    played(declared, ledger)
    assert ledger._store.begun.records("192.0.2.1") == len(ledger.records()) - before > 0


def test_a_room_that_counts_as_one_answer_is_found_out() -> None:
    assert {type(one) for one in WRITES if rate.room(one.answers) != rate.room(1)} == {Follow}
