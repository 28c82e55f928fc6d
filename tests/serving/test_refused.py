"""Requests that are refused by their head count against their address's pace, as those that come to the gate do."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import h11
import pytest
from uvicorn.config import Config
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from dashboard.background import speed
from dashboard.serving import frames, gate, lengths, pace, plain_requests, refused
from dashboard.serving.gate import Gate
from tests.put_back import changed_in_streamlit
from tests.serving.connected import Wire
from tests.serving.leaping import Leaping
from tests.serving.test_frames import REQUEST

HERE, THERE = "192.0.2.1", "192.0.2.2"
CHUNKED = b"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
REFUSED = {
    "a body without a length": CHUNKED,
    "no request": b"\xff\xfe\r\n\r\n",
    "an unknown version": b"GET / HTTP/7.0\r\n\r\n",
    "no host": b"GET / HTTP/1.1\r\n\r\n",
    "too long": b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + bytes(70_000).replace(b"\0", b"x"),
    "a page without a key": REQUEST.replace(b"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n", b""),
    "a page of another version": REQUEST.replace(b"Version: 13", b"Version: 7"),
    "a page that is asked for at length": REQUEST.replace(b"Host:", b"X: " + b"x" * 20_000 + b"\r\nHost:"),
}


@pytest.fixture
def loop(monkeypatch: pytest.MonkeyPatch) -> Iterator[Leaping]:
    """Its clock is that of paces; of an address one request a second is answered, and one ahead."""
    found = Leaping()
    monkeypatch.setattr(pace, "time", SimpleNamespace(monotonic=found.time))
    monkeypatch.setattr(speed, "seconds", lambda: speed.USUAL)
    monkeypatch.setattr(plain_requests, "REQUESTS_EACH", 1.0)
    lengths.guard()
    frames.guard()
    yield found
    lengths.unguard()
    frames.unguard()
    found.close()


class Line(Wire):
    """From an address, over a balancer of this computer where there is one."""

    def __init__(self, address: str) -> None:
        super().__init__()
        self.address = address

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return (self.address, 1) if name == "peername" else default


class Served:
    """A server before which the gate stands; each request has a connection of its own."""

    def __init__(self) -> None:
        self.config = Config(Gate(self._answer), interface="asgi3", log_config=None, ws_per_message_deflate=False)
        self.config.load()
        self.answered: list[str] = []

    async def _answer(self, scope: Any, receive: Any, send: Any) -> None:
        self.answered.append(scope["path"])
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    def asked(self, head: bytes, address: str) -> Line:
        line = Line(address)
        self.connection(head, address, line)
        return line

    def connection(self, head: bytes, address: str, line: Line | None = None) -> H11Protocol:
        found = H11Protocol(self.config, ServerState(), {}, asyncio.get_running_loop())
        found.connection_made(line or Line(address))
        if not (line and line.aborted):
            found.data_received(head)
        return found


PROPER = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"


async def answered(*lines: Line) -> list[int]:
    """In which second each is."""

    async def time(line: Line) -> int:
        while not (line.written or line.closed):
            await asyncio.sleep(0.1)
        return round(asyncio.get_running_loop().time())

    found = list(await asyncio.gather(*map(time, lines)))
    await asyncio.sleep(0.1)  # an answer has an end as well
    return found


async def story(head: bytes) -> list[int]:
    """Four of these, and after them a proper request from there, and both from elsewhere."""
    served = Served()
    asked = [*[(head, HERE)] * 4, (PROPER, HERE), (PROPER, THERE), (head, THERE)]
    return await answered(*(served.asked(*one) for one in asked))


@pytest.mark.parametrize("kind", REFUSED)
def test_what_is_refused_by_its_head_takes_its_address_s_turn(kind: str, loop: Leaping) -> None:
    assert loop.run_until_complete(story(REFUSED[kind])) == [0, 1, 2, 3, 4, 0, 1]


@pytest.mark.parametrize("kind", ["a body without a length", "no request"])
def test_as_uvicorn_does_it_nobody_waits(kind: str, loop: Leaping) -> None:
    """The test above can fail."""
    frames.unguard()
    H11Protocol.send_400_response = lengths._answered  # type: ignore[method-assign]
    assert loop.run_until_complete(story(REFUSED[kind])) == [0, 0, 0, 0, 0, 0, 0]


METHODS = (b"GET", b"HEAD", b"POST", b"PUT", b"DELETE", b"OPTIONS", b"PATCH", b"TRACE", b"CONNECT", b"WHATEVER")
HEADS = {
    "a body without a length": b"Transfer-Encoding: chunked\r\n",
    "one that waits for a word": b"Expect: 100-continue\r\nTransfer-Encoding: chunked\r\n",
    "two lengths": b"Content-Length: 1\r\nContent-Length: 2\r\n",
    "no length": b"Content-Length: much\r\n",
    "no header": b"X\x00: a\r\n",
    "too long": b"X: " + b"x" * 70_000,
}


async def all_ended(head: bytes, before: bytes = b"") -> tuple[Line, bool]:
    """A connection over which this head comes, alone or after a proper request, and whether anything failed."""
    failed: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, what: failed.append(what))
    line = Served().asked(before + head, HERE)
    await asyncio.sleep(5.0)
    return line, bool(failed)


@pytest.mark.parametrize("before", [b"", PROPER], ids=["first", "second"])
@pytest.mark.parametrize("kind", HEADS)
@pytest.mark.parametrize("method", METHODS)
def test_every_connection_that_is_refused_ends(method: bytes, kind: str, before: bytes, loop: Leaping) -> None:
    """That of a HEAD was answered with a body, which cannot be written, and stayed open for good: nothing was read
    of it any more, not even that its visitor had gone."""
    head = method + b" / HTTP/1.1\r\nHost: localhost\r\n" + HEADS[kind] + b"\r\n"
    line, failed = loop.run_until_complete(all_ended(head, before))
    assert (line.closed, failed) == (True, False)
    assert b"HTTP/1.1 400" in line.written


@pytest.mark.defects
def test_one_that_cannot_be_answered_ends_too(
    loop: Leaping, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fails(connection: H11Protocol, message: str) -> None:
        raise RuntimeError("canary")

    monkeypatch.setattr(lengths, "_answered", fails)
    line, failed = loop.run_until_complete(all_ended(CHUNKED))
    assert (line.aborted, failed) == (True, False)
    assert "canary" not in caplog.text


@pytest.mark.defects
def test_a_body_for_a_head_would_leave_its_connection_open(loop: Leaping, monkeypatch: pytest.MonkeyPatch) -> None:
    """The tests above can fail."""
    with_body = lengths._answered
    monkeypatch.setattr(lengths, "_answered", lambda connection, message: with_body(connection, message or "Invalid."))
    monkeypatch.setattr(Line, "abort", lambda line: None)
    assert not loop.run_until_complete(all_ended(CHUNKED.replace(b"POST", b"HEAD")))[0].closed


def test_who_waits_is_told_why_and_nothing_more_of_theirs_is_read(loop: Leaping) -> None:
    async def told() -> list[Line]:
        served = Served()
        lines = [served.asked(CHUNKED, HERE) for _ in range(3)]
        assert [line.reading for line in lines] == [False] * 3
        lines[1].close()  # who left meanwhile is not answered
        await answered(*lines)
        return lines

    first, left, last = loop.run_until_complete(told())
    assert first.written.startswith(b"HTTP/1.1 400")
    assert last.written == first.written
    assert not left.written


BALANCER = "127.0.0.1"


def through(head: bytes, address: str) -> bytes:
    """As a balancer sends it on."""
    return head.replace(b"\r\n", f"\r\nX-Forwarded-For: {address}\r\n".encode(), 1)


async def through_a_balancer(head: bytes) -> list[int]:
    """Two of these of one visitor and one of another, and what both and who sits at the computer ask for properly."""
    served = Served()
    asked = [(head, HERE), (head, HERE), (head, THERE), (PROPER, HERE), (PROPER, THERE), (PROPER, BALANCER)]
    return await answered(*(served.asked(through(*one), BALANCER) for one in asked))


@pytest.mark.parametrize("kind", REFUSED)
def test_through_a_balancer_it_is_the_visitor_who_waits(kind: str, loop: Leaping) -> None:
    """Of a head that could not be read it was whoever sits where the balancer is, without bound."""
    assert loop.run_until_complete(through_a_balancer(REFUSED[kind])) == [0, 1, 0, 2, 1, 0]


@pytest.mark.parametrize("kind", ["no request", "no host", "too long", "a page that is asked for at length"])
def test_a_head_that_says_nothing_would_be_the_balancer_s(
    kind: str, loop: Leaping, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The test above can fail."""
    monkeypatch.setattr(refused, "said", lambda lines: [])
    monkeypatch.setattr(refused, "_unread", lambda connection: connection.client)
    assert loop.run_until_complete(through_a_balancer(REFUSED[kind])) == [0, 1, 2, 0, 0, 3]


NOT_SAID = ["no request", "no host", "too long"]


async def from_the_balancer(head: bytes) -> list[int]:
    served = Served()
    asked = [(head, BALANCER)] * 3 + [(PROPER, BALANCER), (through(PROPER, HERE), BALANCER), (head, THERE)]
    return await answered(*(served.asked(*one) for one in asked))


@pytest.mark.parametrize("kind", NOT_SAID)
def test_of_a_head_that_says_nothing_nobody_else_waits(kind: str, loop: Leaping) -> None:
    assert loop.run_until_complete(from_the_balancer(REFUSED[kind])) == [0, 1, 2, 0, 0, 0]


@pytest.mark.parametrize("kind", NOT_SAID)
def test_it_would_be_whoever_sits_there(kind: str, loop: Leaping, monkeypatch: pytest.MonkeyPatch) -> None:
    """The test above can fail."""
    monkeypatch.setattr(refused, "_unread", lambda connection: connection.client)
    assert loop.run_until_complete(from_the_balancer(REFUSED[kind])) == [0, 1, 2, 3, 0, 0]


@pytest.mark.parametrize("before", [b"", PROPER.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")])
def test_what_stands_in_no_head_says_nothing(before: bytes) -> None:
    """After the last request of a connection comes nothing, whatever it looks like; a request's own line is none."""
    conn = lengths.Measured(h11.SERVER)
    conn.receive_data(before + b"x-forwarded-for: 192.0.2.2\r\n" + (through(b"\r\n", HERE) if before else b"\r\n"))
    if before:
        assert [type(conn.next_event()) for _ in range(2)] == [h11.Request, h11.EndOfMessage]
        conn.send(h11.Response(status_code=204, headers=[]))
        conn.send(h11.EndOfMessage())
    with pytest.raises(h11.RemoteProtocolError):
        conn.next_event()
    assert conn.head is None


def test_of_two_requests_on_one_connection_each_has_its_own() -> None:
    """A balancer sends those of many on one: what one of them said is not taken for another's."""
    conn = lengths.Measured(h11.SERVER)
    conn.receive_data(through(PROPER, HERE))
    assert [type(conn.next_event()) for _ in range(2)] == [h11.Request, h11.EndOfMessage]
    conn.send(h11.Response(status_code=204, headers=[]))
    conn.send(h11.EndOfMessage())
    conn.start_next_cycle()
    conn.receive_data(b"\x16\r\n")
    with pytest.raises(h11.RemoteProtocolError):
        conn.next_event()
    assert conn.head is None


def test_who_has_gone_by_their_turn_is_not_answered_and_keeps_nobody_waiting(
    loop: Leaping, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Connections that were reset after a head went on waiting, and the server was busy for half a minute after."""
    monkeypatch.setattr(plain_requests, "AT_ONCE", 1)
    asked: list[str] = []

    async def sent(left: int) -> int:
        asked.clear()
        served = Served()
        served.asked(PROPER, HERE)
        connections = [served.connection(PROPER, HERE) for _ in range(left)]
        for connection in connections:
            connection.connection_lost(None)
        (second,) = await answered(served.asked(PROPER, HERE))
        asked.extend(served.answered)
        return second

    assert loop.run_until_complete(sent(50)) == 1
    assert len(asked) == 2
    monkeypatch.setattr(gate, "has_gone", lambda receive: lambda: False)
    before = round(loop.time())
    assert loop.run_until_complete(sent(50)) - before > 40, "or nothing was tested"


def test_one_address_begins_so_many_connections_and_others_as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each has its head gone through before its address is asked for anything."""
    monkeypatch.setattr(lengths, "BEGUN", 1.0)
    monkeypatch.setattr(lengths, "AT_ONCE", 3.0)
    clock = [0.0]
    monkeypatch.setattr(pace, "time", SimpleNamespace(monotonic=lambda: clock[0]))
    begun = lengths.Begun()
    assert [begun.too_many(HERE) for _ in range(6)] == [False] * 4 + [True] * 2
    assert not begun.too_many(THERE)
    clock[0] = 1.0
    assert [begun.too_many(HERE) for _ in range(2)] == [False, True], "those that were one too many do not count"
    clock[0] = 100.0
    for number in range(10):
        begun.too_many(f"192.0.2.{number + 10}")
    assert HERE not in begun._paces, "whoever begins none is forgotten"


def test_a_connection_that_is_one_too_many_ends_before_it_is_read(loop: Leaping) -> None:
    lengths.guard()

    async def sent() -> tuple[Line, Line]:
        served = Served()
        return served.asked(PROPER, "198.51.100.7"), served.asked(PROPER, BALANCER)

    for too_many in (False, True):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(lengths._started, "too_many", [lambda whose: False, lambda whose: True][too_many])
            direct, proxied = loop.run_until_complete(sent())
            assert direct.aborted == too_many
            assert not proxied.aborted, "a proxy brings those of all its visitors"


def test_one_more_than_may_wait_is_answered_after_a_while(loop: Leaping, monkeypatch: pytest.MonkeyPatch) -> None:
    """Connections that ended at once began anew at once, and through a balancer each was asked three times."""
    monkeypatch.setattr(plain_requests, "WAITING", 2)

    async def sent() -> list[int]:
        served = Served()
        return await answered(*[served.asked(CHUNKED, HERE) for _ in range(6)])

    assert sorted(loop.run_until_complete(sent())) == [0, 1, 2, *[round(refused.TOLD_AFTER)] * 3]


def test_the_gate_of_the_server_itself_is_asked(loop: Leaping, request: pytest.FixtureRequest) -> None:
    """Through all that Streamlit and Starlette put around it."""
    from dashboard.server import app

    request.addfinalizer(changed_in_streamlit)  # it makes a server of this process, which never begins
    said: list[Any] = []

    async def send(message: Any) -> None:
        said.append(message)

    async def asked() -> None:
        await app({"type": refused.KIND, "path": "", "headers": (), "client": (HERE, 1), "scheme": "http"}, None, send)

    loop.run_until_complete(asked())
    assert said == [{"type": refused.KIND}]
