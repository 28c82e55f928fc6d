"""Scripts take turns, whoever came first first, and none waits for ever, keeps its turn or holds up the others."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import pytest

from dashboard.background import places, turns
from dashboard.background.turns import AT_ONCE, HELD, Turn, Turns

LONG = 20.0
"""Seconds that nobody of a test waits unless the test fails."""


@pytest.fixture(autouse=True)
def fresh(monkeypatch):
    turns._turns.clear()
    monkeypatch.setattr(turns, "PATIENCE", 0.05)
    yield
    turns._turns.clear()


@pytest.fixture
def held_long(monkeypatch):
    monkeypatch.setattr(turns, "HELD", 2 * LONG)


def _failing() -> None:
    with turns.turn() as got:
        assert got is True
        raise KeyError


def _beside(does: Callable[[], None]) -> threading.Thread:
    thread = threading.Thread(target=does, daemon=True)
    thread.start()
    return thread


def _until(true: Callable[[], bool]) -> None:
    until = time.monotonic() + LONG
    while not true():
        assert time.monotonic() < until, "it never came to that"
        time.sleep(0.001)


def _full(of: Turns) -> list[Turn]:
    taken = [of.take(LONG) for _ in range(AT_ONCE)]
    assert None not in taken
    return [one for one in taken if one is not None]


def test_a_turn_is_given_back_however_the_script_ends(held_long):
    for _ in range(5 * AT_ONCE):
        with pytest.raises(KeyError):
            _failing()
    with turns.turn() as got:
        assert got


def test_whoever_gets_no_turn_goes_on_after_a_while_and_gives_none_back(held_long):
    for _ in range(3):
        first = _full(turns._turns())
        with turns.turn() as late:
            assert late is False
        with turns.turn() as later:
            assert later is False
        for one in first:
            turns._turns().give_back(one)


def test_a_waiting_script_starts_as_soon_as_a_turn_is_free_and_no_sooner(held_long):
    mine = Turns()
    first, got = _full(mine), []
    waiting = _beside(lambda: got.append(mine.take(LONG)))
    waiting.join(0.2)
    assert got == []
    mine.give_back(first[0])
    waiting.join(LONG)
    assert isinstance(got[0], Turn)


def test_whoever_came_first_is_first(held_long):
    mine = Turns()
    held, order, many = _full(mine), [], 8

    def ask(number: int) -> None:
        turn = mine.take(LONG)
        assert turn is not None
        order.append(number)
        mine.give_back(turn)

    waiting = []
    for number in range(many):
        waiting.append(_beside(lambda number=number: ask(number)))
        _until(lambda number=number: len(mine._waiting) == number + 1)
    mine.give_back(held[0])
    for thread in waiting:
        thread.join(LONG)
    assert order == list(range(many))


def test_a_script_that_takes_long_does_not_hold_up_the_others():
    """By the clock that counts: others go on beside it, even where nobody tells them to."""
    mine, got = Turns(), []
    first = _full(mine)
    start = time.monotonic()
    _beside(lambda: got.append(mine.take(LONG))).join(LONG)
    assert got[0] is not None
    assert got[0].begun >= first[0].begun + HELD
    assert time.monotonic() - start < LONG
    mine.give_back(first[0])  # late, and harmless: the other one still has its own
    assert mine._running == set(got)


def test_one_that_has_run_for_long_counts_no_more_and_one_that_has_not_does():
    now = [100.0]
    mine = Turns(lambda: now[0])
    _full(mine)
    now[0] += HELD - 0.001
    assert mine.take(0.0) is None
    assert not mine._waiting, "who goes on without a turn no longer waits for one"
    now[0] += 0.002
    assert mine.take(0.0) is not None


def test_what_waits_for_something_else_holds_up_nobody(held_long):
    """It gives its turn back for good; the end of its script gives back no other's."""
    script = places.Script(places.Visitor("an address"), "a page", lambda: None)
    places.PLACES.wait(script)
    places.enter(script)
    try:
        with turns.turn() as mine:
            assert mine
            with places.aside():
                others = _full(turns._turns())
            assert turns._turns()._running == set(others)
        assert turns._turns()._running == set(others)
    finally:
        places.PLACES.ended(script)
        places.enter(None)


def test_what_keeps_its_place_keeps_its_turn(held_long):
    """Without a place to give back there is none to step aside from: as many compute as before."""
    with turns.turn() as mine:
        assert mine
        with places.aside(), turns.turn() as other:
            assert other is False
