"""Scripts take turns, and none waits for ever or keeps its place."""

from __future__ import annotations

import threading
from types import SimpleNamespace

import pytest

from dashboard.background import turns


@pytest.fixture(autouse=True)
def fresh(monkeypatch):
    turns._places.clear()
    monkeypatch.setattr(turns, "PATIENCE", 0.05)
    yield
    turns._places.clear()


def _failing() -> None:
    with turns.turn() as got:
        assert got is True
        raise KeyError


def test_a_place_is_given_back_however_the_script_ends():
    for _ in range(5 * turns.AT_ONCE):
        with pytest.raises(KeyError):
            _failing()
    with turns.turn() as got:
        assert got


def test_whoever_finds_no_place_goes_on_after_a_while_and_gives_none_back():
    for _ in range(3):
        with turns.turn() as first, turns.turn() as second, turns.turn() as third:
            assert [first, second, third] == [True, True, False]


def test_a_waiting_script_starts_as_soon_as_a_place_is_free(monkeypatch):
    monkeypatch.setattr(turns, "PATIENCE", 20.0)
    got = []
    with turns.turn(), turns.turn():

        def late() -> None:
            with turns.turn() as place:
                got.append(place)

        waiting = threading.Thread(target=late)
        waiting.start()
        waiting.join(0.2)
        assert waiting.is_alive()
        assert got == []
    waiting.join(10)
    assert got == [True]


def test_runs_weigh_as_much_as_they_take(monkeypatch):
    """So one address gets as large a share of a fast computer as of a slow one."""
    now = [0.0]
    monkeypatch.setattr(turns, "time", SimpleNamespace(thread_time=lambda: now[0]))
    monkeypatch.setattr(turns, "_seconds", turns.USUAL)
    assert turns.weight() == 1.0
    for seconds, weight in ((turns.USUAL / 2, 0.5), (2 * turns.USUAL, 2.0), (60.0, 3.0), (0.0, 0.1)):
        for _ in range(1_000):
            with turns.turn():
                now[0] += seconds
        assert turns.weight() == pytest.approx(weight)
