"""Plain requests of one address wait for each other, so that there is a turn for somebody else. Work is counted."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from dashboard.background import speed
from dashboard.serving import gate, pace, plain_requests
from dashboard.serving.gate import Gate
from dashboard.serving.heads import AS_MUCH, USUAL
from dashboard.serving.plain_requests import (
    A_PIECE,
    AHEAD,
    AT_ONCE,
    BYTES,
    IN_A_TURN,
    OPENING,
    TOLD_AFTER,
    WAITING,
    stays,
)
from tests.serving.leaping import Leaping

HOST = (b"host", b"localhost")
FORM = (b"content-type", b"multipart/form-data; boundary=0123456789abcdef0123456789abcdef")
PIECE = 1 << 16


class Server:
    """Stands for Streamlit's: answers with a number of pieces, and knows how many it is asked for at once."""

    def __init__(self, pieces: int = 1, *, stays: bool = False) -> None:
        self.pieces, self.stays = pieces, stays
        self.now = self.most = self.asked = 0
        self.packed = False

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        self.asked += 1
        self.now += 1
        self.most = max(self.most, self.now)
        self.packed |= any(name == b"accept-encoding" for name, _ in scope["headers"])
        try:
            if self.stays:
                await asyncio.sleep(10_000.0)
            if scope["type"] == "http":
                while (await receive()).get("more_body"):
                    pass
                await send({"type": "http.response.start", "status": 200, "headers": []})
                for left in reversed(range(self.pieces)):
                    await send({"type": "http.response.body", "body": bytes(PIECE), "more_body": left > 0})
        finally:
            self.now -= 1


@pytest.fixture
def loop(monkeypatch: pytest.MonkeyPatch) -> Iterator[Leaping]:
    """Its clock is that of paces as well; runs are of usual length, whatever ran here before."""
    found = Leaping()
    monkeypatch.setattr(pace, "time", SimpleNamespace(monotonic=found.time))
    monkeypatch.setattr(speed, "seconds", lambda: speed.USUAL)
    yield found
    left = asyncio.all_tasks(found)
    found.close()
    assert not left


async def asked(
    here: Gate, address: str, path: str = "/", *more: tuple[bytes, bytes], kind: str = "http", body: int = 0
) -> list[Any]:
    """What is sent back for one request that brings so many pieces."""
    sent: list[Any] = []
    left = [{"type": "http.request", "body": bytes(PIECE), "more_body": each > 0} for each in reversed(range(body))]

    async def receive() -> Any:
        return left.pop(0) if left else {"type": "http.request", "body": b""}

    async def send(message: Any) -> None:
        sent.append(message)

    method = "PUT" if body else "GET"
    headers = [HOST, FORM, (b"accept-encoding", b"gzip"), *more]
    path, _, query = path.partition("?")
    scope = {"type": kind, "path": path, "method": method, "headers": headers, "client": (address, 1)}
    scope |= {"raw_path": path.encode(), "query_string": query.encode()}
    await here(scope, receive, send)
    return sent


def seconds(loop: Leaping, *requests: Any) -> list[float]:
    """When each of these requests, which all come at once, was answered."""
    begun = loop.time()

    async def ended(one: Any) -> float:
        await one
        return loop.time() - begun

    async def all_of_them() -> list[float]:
        return await asyncio.gather(*map(ended, requests))

    return loop.run_until_complete(all_of_them())


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> float:
    """A pace that few requests go beyond."""
    monkeypatch.setattr(plain_requests, "REQUESTS_EACH", 5.0)
    return 5.0


def test_requests_of_one_address_are_answered_at_a_pace_and_others_at_once(loop: Leaping, slow: float) -> None:
    """2,500 requests of a hundred bytes kept everybody else waiting until the balancer took the server for dead."""
    pieces, many = 30, 20
    here, work = Gate(Server(pieces)), many * (1 + pieces * (A_PIECE + PIECE / BYTES))
    assert work > 2 * slow * AHEAD
    ours = [asked(here, "10.0.0.1") for _ in range(many)]
    took = seconds(loop, *ours, *(asked(here, f"10.0.1.{number}") for number in range(5)))
    assert took[many:] == [0.0] * 5
    assert max(took[:many]) == pytest.approx(work / slow - AHEAD, abs=0.01)


HEADS: dict[str, tuple[str, tuple[tuple[bytes, bytes], ...]]] = {
    "a cookie of many pieces": ("/", ((b"cookie", b"a=1;" * 6_000),)),
    "a long address": ("/?" + "a&" * 12_000, ()),
    "long headers": ("/", tuple((b"x-%d" % number, b"x" * 400) for number in range(60))),
}
"""What is gone through from end to end before anything is answered, each of 24 kB."""


@pytest.mark.parametrize("what", ["pieces that come", "pages that are opened", "requests that are refused", *HEADS])
def test_whatever_a_request_makes_work_by_counts(what: str, loop: Leaping, slow: float) -> None:
    here, many = Gate(Server(pieces=0)), 20
    if what == "pieces that come":
        one, work = lambda: asked(here, "10.0.0.1", body=50), 1 + 50 * (A_PIECE + PIECE / BYTES)
    elif what in HEADS:
        path, more = HEADS[what]
        one, work = lambda: asked(here, "10.0.0.1", path, *more), 1 + (24_000 - USUAL) / AS_MUCH
    elif what == "pages that are opened":
        one, work = lambda: asked(here, "10.0.0.1", kind="websocket"), OPENING
    else:
        one, work = lambda: asked(here, "10.0.0.1", "/_stcore/metrics"), 1.0
    assert many * work > 1.2 * slow * AHEAD
    took = seconds(loop, *(one() for _ in range(many)))
    assert max(took) >= many * work / slow - AHEAD - 0.01


def test_a_class_that_opens_the_page_at_once_is_answered_whole(loop: Leaping) -> None:
    """Each of 400 browsers on six connections: nobody is refused, and nobody waits for long."""
    here = Gate(server := Server())

    async def everybody() -> list[list[Any]]:
        return await asyncio.gather(*(asked(here, "10.0.0.1") for _ in range(400 * 6)))

    assert {sent[0]["status"] for sent in loop.run_until_complete(everybody())} == {200}
    assert loop.time() < 20.0, "HAProxy waits for a minute"
    assert server.asked == 400 * 6


def test_few_requests_of_one_address_are_under_way_and_who_asks_without_end_is_refused(loop: Leaping) -> None:
    """What waits holds no piece of a file, and what waits is bounded."""
    here = Gate(server := Server(stays=True))

    async def begun() -> list[Any]:
        tasks = [asyncio.ensure_future(asked(here, "10.0.0.1")) for _ in range(WAITING + 50)]
        for _ in range(2 * AT_ONCE // IN_A_TURN):
            await asyncio.sleep(0.0)
        assert server.most == AT_ONCE
        other = asyncio.ensure_future(asked(here, "10.0.0.2"))
        for _ in range(2 * AT_ONCE // IN_A_TURN):
            await asyncio.sleep(0.0)
        assert server.now == AT_ONCE + 1
        assert not any(task.done() for task in tasks), "told at once it would ask again at once"
        await asyncio.sleep(TOLD_AFTER + 1)
        refused = [task.result()[0]["status"] for task in tasks if task.done()]
        for task in (*tasks, other):
            task.cancel()
        await asyncio.gather(*tasks, other, return_exceptions=True)
        return refused

    assert loop.run_until_complete(begun()) == [429] * 50
    assert [address.here for address in here._requests._known.values()] == [0, 0]


@pytest.mark.parametrize("came", ["http.request", "websocket.connect"])
def test_who_is_refused_and_leaves_holds_nothing(came: str, loop: Leaping) -> None:
    messages = [{"type": came}, {"type": came.partition(".")[0] + ".disconnect"}]

    async def receive() -> Any:
        if messages:
            return messages.pop(0)
        return await asyncio.sleep(10_000.0)

    assert not loop.run_until_complete(stays(receive))
    assert loop.time() == 0.0
    messages.append({"type": came})
    assert loop.run_until_complete(stays(receive))
    assert loop.time() == TOLD_AFTER


def test_a_file_too_many_is_refused_at_once_and_its_connection_ends(
    loop: Leaping, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To see whether its sender stays would be to read it."""
    monkeypatch.setattr(plain_requests, "WAITING", 0)
    path, length = "/_stcore/upload_file/1/1", (b"content-length", b"%d" % PIECE)
    (begun, _) = loop.run_until_complete(asked(Gate(Server()), "10.0.0.1", path, length, body=1))
    assert begun["status"] == 429
    assert (b"connection", b"close") in begun["headers"]
    assert loop.time() == 0.0


def test_files_on_their_way_leave_the_places_to_pages(loop: Leaping, monkeypatch: pytest.MonkeyPatch) -> None:
    """They take minutes where a network is slow, and have bounds of their own."""
    monkeypatch.setattr(plain_requests, "AT_ONCE", 5)
    here = Gate(server := Server(stays=True))

    async def begun() -> None:
        files = [
            asyncio.ensure_future(asked(here, "10.0.0.1", f"/_stcore/upload_file/{number}/1", body=1))
            for number in range(15)
        ]
        for _ in range(10):
            await asyncio.sleep(0.0)
        assert server.now == 15
        for task in files:
            task.cancel()
        await asyncio.gather(*files, return_exceptions=True)

    loop.run_until_complete(begun())


def test_a_balancer_s_own_check_waits_for_no_visitor(loop: Leaping, slow: float) -> None:
    """It comes from this computer, as visitors of a proxy here may that does not say whom it speaks for."""
    here, path, through = Gate(Server()), "/_stcore/health", (b"x-forwarded-for", b"127.0.0.1")
    many = [asked(here, "127.0.0.1", path, through) for _ in range(5 * int(slow))]
    took = seconds(loop, *many, asked(here, "127.0.0.1", path))
    assert max(took[:-1]) > 0.0
    assert took[-1] == 0.0


def test_who_has_not_asked_for_a_while_is_forgotten_and_nobody_else(loop: Leaping, slow: float) -> None:
    here = Gate(Server())
    seconds(loop, *(asked(here, "10.0.0.1") for _ in range(5 * int(slow))))
    for number in range(20):
        seconds(loop, asked(here, f"10.0.1.{number}"))
    assert "10.0.0.1" in here._requests._known, "it would begin anew"
    loop.leap(1000.0)
    for number in range(20):
        seconds(loop, asked(here, f"10.0.2.{number}"))
    assert set(here._requests._known) <= {f"10.0.2.{number}" for number in range(20)}


def test_no_answer_is_packed_by_whatever_path(loop: Leaping) -> None:
    """The same file by a path with a dot took six times as long, since that was packed anew for each who asked."""
    here = Gate(server := Server())
    for path in ("/static/js/a.js", "/./static/js/a.js", "/media/1", "/_stcore/host-config"):
        seconds(loop, asked(here, "10.0.0.1", path))
    assert server.asked == 4
    assert not server.packed


def test_without_pace_and_number_all_of_it_is_there_at_once(
    loop: Leaping, slow: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Counter-check: as it was."""
    monkeypatch.setattr(plain_requests, "AT_ONCE", 10**9)
    monkeypatch.setattr(pace.Pace, "wait", lambda *_: 0.0)
    monkeypatch.setattr(gate, "not_packed", lambda scope: scope)
    here = Gate(server := Server(30))
    assert max(seconds(loop, *(asked(here, "10.0.0.1") for _ in range(20)))) == 0.0
    assert server.packed


class Long(Server):
    """Answers with one body of many pieces, the same to all or another for each."""

    def __init__(self, size: int, *, same: bool = True) -> None:
        super().__init__()
        self.size, self.same, self.body = size, same, bytes(size)
        self.ranges: list[bool] = []

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        self.ranges.append(any(name == b"range" for name, _ in scope["headers"]))
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": self.body if self.same else bytes(self.size)})


def test_a_long_answer_leaves_in_pieces_each_once_the_one_before_was_read(loop: Leaping) -> None:
    """All of it was handed over at once, a copy for each request: 750 that were not read ended a server."""
    inner = Long(3 * PIECE + 5)
    here, unread = Gate(inner), asyncio.Event()

    async def go() -> tuple[list[Any], list[Any]]:
        whole = await asked(here, "a", "/media/x.html", (b"range", b"bytes=1-"))
        sent: list[Any] = []

        async def send(message: Any) -> None:
            sent.append(message)
            if len(sent) > 2:
                await unread.wait()

        async def receive() -> Any:
            return {"type": "http.request", "body": b""}

        scope = {"type": "http", "path": "/media/x.html", "method": "GET", "headers": [HOST], "client": ("a", 1)}
        waits = asyncio.ensure_future(here(scope, receive, send))
        await asyncio.sleep(100.0)
        early = list(sent)
        unread.set()
        await waits
        return whole, early

    whole, early = loop.run_until_complete(go())
    assert inner.ranges == [False, False], "a part would be a copy"
    assert [len(part["body"]) for part in whole[1:]] == [PIECE] * 3 + [5]
    assert [part["more_body"] for part in whole[1:]] == [True, True, True, False]
    assert len(early) == 3, "a head, a piece that was read and one that waits"


@pytest.mark.parametrize(("same", "most"), [(True, 9), (False, 4)])
def test_the_bodies_that_wait_to_be_read_are_bounded(
    same: bool, most: int, loop: Leaping, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plain_requests, "LITTLE_WHOLE", 0)
    inner = Long(2 * PIECE, same=same)
    here = Gate(inner)
    here._leaving = plain_requests.Leaving(10 * PIECE)
    going: list[str] = []

    async def go() -> None:
        async def one(address: str) -> None:
            async def send(message: Any) -> None:
                if message.get("body"):
                    going.append(address)
                    await asyncio.Event().wait()

            async def receive() -> Any:
                return {"type": "http.request", "body": b""}

            scope = {"type": "http", "path": "/media/x", "method": "GET", "headers": [HOST], "client": (address, 1)}
            await here(scope, receive, send)

        every = [asyncio.ensure_future(one("a")) for _ in range(9)]
        await asyncio.sleep(100.0)
        every.append(asyncio.ensure_future(one("b")))
        await asyncio.sleep(100.0)
        for each in every:
            each.cancel()
        await asyncio.gather(*every, return_exceptions=True)

    loop.run_until_complete(go())
    assert going.count("a") == most, "one address has four fifths"
    assert going.count("b") == 1
    assert not here._leaving._whole, "and nothing is noted of who is gone"
