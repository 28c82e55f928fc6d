"""Requests of several addresses begin one of each in turn, however many each of them has."""

from __future__ import annotations

import asyncio
from collections import OrderedDict, deque

import pytest

from dashboard.serving import plain_requests
from dashboard.serving.heads import plain
from dashboard.serving.plain_requests import IN_A_TURN, PlainRequests, _Fairly


def began(requests: list[str], late: str) -> tuple[list[str], int]:
    """In which order these addresses' requests began, and in which turn of the loop that of one who came last did."""
    order: list[str] = []
    turn = [0]

    async def one(fairly: _Fairly, whose: str) -> None:
        await fairly.turn(whose)
        order.append(whose)

    async def story() -> int:
        fairly = _Fairly()
        tasks = [asyncio.ensure_future(one(fairly, whose)) for whose in [*requests, late]]
        while late not in order:
            turn[0] += 1
            await asyncio.sleep(0)
        found = turn[0]
        await asyncio.gather(*tasks)
        assert not fairly._waiting
        return found

    return order, asyncio.run(story())


def test_whoever_asks_once_waits_for_one_of_each() -> None:
    """Four addresses of 400 connections, each at its pace, kept a fifth waiting for half a minute."""
    many = [f"10.0.0.{number}" for number in range(4) for _ in range(400)]
    order, turn = began(many, "10.0.9.9")
    assert turn <= 4
    assert order.index("10.0.9.9") <= IN_A_TURN + 4, "after those that began before anybody waited"
    assert len(order) == 1601
    later = order[IN_A_TURN + 5 : 1000]
    assert all(len(set(later[at : at + 4])) == 4 for at in range(0, len(later) - 4, 4)), "one of each"


def test_as_they_came_it_would_be_the_last(monkeypatch: pytest.MonkeyPatch) -> None:
    """What shows that the test above can fail."""
    monkeypatch.setattr(plain_requests, "OrderedDict", _AsTheyCame)
    order, turn = began([f"10.0.0.{number}" for number in range(4) for _ in range(400)], "10.0.9.9")
    assert order.index("10.0.9.9") == 1600
    assert turn > 1600 / IN_A_TURN


class _AsTheyCame(OrderedDict):  # type: ignore[type-arg]
    """All are one address."""

    def setdefault(self, key: object, default: object = None) -> object:
        return super().setdefault("all", default)

    def popitem(self, last: bool = True) -> tuple[object, deque[object]]:
        return super().popitem(last)


def test_a_turn_that_was_given_up_is_nobodys() -> None:
    async def story() -> list[str]:
        fairly, order = _Fairly(), list[str]()

        async def one(whose: str) -> None:
            await fairly.turn(whose)
            order.append(whose)

        before = [asyncio.ensure_future(fairly.turn("before")) for _ in range(IN_A_TURN)]
        left, stays = asyncio.ensure_future(one("a")), asyncio.ensure_future(one("b"))
        await asyncio.sleep(0)
        left.cancel()
        await asyncio.gather(*before, left, stays, return_exceptions=True)
        await one("c")
        return order

    assert asyncio.run(story()) == ["b", "c"]


def test_few_begin_in_a_turn_of_the_loop() -> None:
    async def story() -> int:
        requests, here = PlainRequests(), [0]

        async def one(whose: str) -> None:
            async with requests.turn(whose):
                here[0] += 1

        tasks = [asyncio.ensure_future(one(f"10.0.0.{number}")) for number in range(100)]
        most, before = 0, 0
        while not all(task.done() for task in tasks):
            await asyncio.sleep(0)
            most, before = max(most, here[0] - before), here[0]
        return most

    assert 0 < asyncio.run(story()) <= IN_A_TURN


def _kept(cookie: bytes) -> bytes:
    return dict(plain([(b"cookie", cookie)]))[b"cookie"]


@pytest.mark.parametrize(
    ("sent", "left"),
    [
        (b"a=1; _streamlit_xsrf=x; b=2", b"_streamlit_xsrf=x"),
        (b"epsilon_lab_visitor=1;epsilon_lab_phone=2", b"epsilon_lab_visitor=1; epsilon_lab_phone=2"),
        (b'="";' * 8_000, b""),
        (b"_streamlit_user=a\\b; _streamlit_user_1=c", b"_streamlit_user_1=c"),
    ],
)
def test_no_cookie_but_ours_is_taken_apart(sent: bytes, left: bytes) -> None:
    """A head has room for thousands, each of which takes longer than all else of a usual head."""
    assert _kept(sent) == left
