"""A body in pieces without end is refused before a piece of it is looked at; what browsers send arrives."""

from __future__ import annotations

import asyncio
import socket
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import h11
import pytest
import uvloop
from uvicorn import config
from uvicorn.config import Config
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from dashboard.serving import lengths, reads, refused
from tests.serving.connected import Wire

PIECES = 10_000
CHUNKED = "Transfer-Encoding: chunked"


@pytest.fixture(autouse=True)
def guarded() -> Iterator[None]:
    lengths.guard()
    yield
    lengths.unguard()


@pytest.fixture
def events(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What was made of what arrived, one by one."""
    found: list[Any] = []
    look = h11.Connection.next_event

    def noted(connection: h11.Connection) -> Any:
        found.append(look(connection))
        return found[-1]

    monkeypatch.setattr(h11.Connection, "next_event", noted)
    return found


def answered(*headers: str, body: bytes, method: str = "POST") -> tuple[bytes, Wire, list[bytes]]:
    """The answer to one request that arrives in one read, what became of the connection, and which bodies arrived."""
    arrived: list[bytes] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == refused.KIND:  # as the gate says when it is somebody's turn
            await send({"type": refused.KIND})
            return
        arrived.append((await receive())["body"])
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    async def story() -> Wire:
        config = Config(app, interface="asgi3", log_config=None)
        config.load()
        assert config.http_protocol_class is H11Protocol, "requests are read by another class"
        connection, wire = H11Protocol(config, ServerState(), {}, asyncio.get_running_loop()), Wire()
        connection.connection_made(wire)
        head = "\r\n".join([f"{method} /whatever HTTP/1.1", "Host: 127.0.0.1", *headers, "", ""])
        connection.data_received(head.encode() + body)
        for _ in range(4):
            await asyncio.sleep(0)
        return wire

    wire = asyncio.run(story())
    return bytes(wire.written[:12]), wire, arrived


@pytest.mark.parametrize("header", [CHUNKED, "transfer-encoding:Chunked", f"{CHUNKED}\r\nContent-Length: 5"])
@pytest.mark.parametrize("method", ["POST", "PUT", "GET"])
def test_a_body_without_a_length_is_refused_with_its_head(header: str, method: str, events: list[Any]) -> None:
    status, wire, arrived = answered(header, body=b"1\r\nx\r\n" * PIECES, method=method)
    assert status == b"HTTP/1.1 400"
    assert (wire.closed, arrived, len(events)) == (True, [], 1)


def test_without_the_guard_every_piece_is_looked_at(events: list[Any]) -> None:
    """What shows that the test above can fail."""
    lengths.unguard()
    answered(CHUNKED, body=b"1\r\nx\r\n" * PIECES)
    assert len(events) > PIECES


LONG = {
    "lines": "x:\r\n" * 8_000,
    "lines without an end": "x:\r\n" * 8_000 + "x",
    "lines that go on": "x: y\r\n" + " z\r\n" * 8_000,
    "a cookie": f"Cookie: {'a=1;' * 10_000}\r\n",
}


def lines_of(head: str, monkeypatch: pytest.MonkeyPatch) -> tuple[bytes, int]:
    """How a request with this in its head is answered, and how many of its lines h11 was given."""
    looked = [0]
    take = h11._receivebuffer.ReceiveBuffer.maybe_extract_lines

    def noted(buffer: Any) -> Any:
        found = take(buffer)
        looked[0] += len(found or ())
        return found

    monkeypatch.setattr(h11._receivebuffer.ReceiveBuffer, "maybe_extract_lines", noted)
    return answered(head.rstrip("\r\n"), body=b"", method="GET")[0], looked[0]


@pytest.mark.parametrize("kind", LONG)
def test_a_long_head_is_refused_before_a_line_of_it_is_looked_at(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One of 62 kB took a server's one thread 80 times as long as a usual one, and counted as one."""
    assert lines_of(LONG[kind], monkeypatch) == (b"HTTP/1.1 400", 0)


def test_without_the_guard_every_line_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """What shows that the test above can fail."""
    lengths.unguard()
    assert lines_of(LONG["lines"], monkeypatch)[1] > 8_000


def test_a_body_of_many_lines_is_no_head(monkeypatch: pytest.MonkeyPatch) -> None:
    """As the file that comes in the same read as its head."""
    rows = b"a,b\n" * 10_000
    assert answered(f"Content-Length: {len(rows)}", body=rows)[2] == [rows]
    most = "".join(f"x{number}: y\r\n" for number in range(lengths.MOST_LINES - 4))
    assert lines_of(most, monkeypatch)[0] == b"HTTP/1.1 204", "more lines than any browser sends"


def test_what_a_browser_sends_arrives() -> None:
    for size in (0, 1, 50_000):
        status, wire, arrived = answered(f"Content-Length: {size}", body=b"x" * size)
        assert (status, wire.closed, arrived) == (b"HTTP/1.1 204", False, [b"x" * size])
    assert answered(body=b"", method="GET")[0] == b"HTTP/1.1 204"


def test_the_reader_of_requests_that_is_guarded_is_the_one_that_serves(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a package brought another, uvicorn took that, and bodies without a length were read again."""
    other = ModuleType("uvicorn.protocols.http.auto")
    vars(other)["AutoHTTPProtocol"] = type("Other", (), {})
    monkeypatch.setitem(sys.modules, "uvicorn.protocols.http.auto", other)
    monkeypatch.setitem(config.HTTP_PROTOCOLS, "auto", "uvicorn.protocols.http.auto:AutoHTTPProtocol")

    def served() -> object:
        found = Config(lambda: None)
        found.load()
        return found.http_protocol_class

    assert served() is other.AutoHTTPProtocol, "as it would be without a choice"
    with pytest.raises(RuntimeError, match="uninstall httptools"):
        lengths.guard()
    lengths.choose()
    assert served() is H11Protocol
    begun = Path(lengths.__file__).parents[1].joinpath("server.py").read_text()
    assert 0 < begun.find("lengths.choose()") < begun.find("app = App(")


def test_the_system_keeps_little_of_what_a_connection_does_not_read() -> None:
    """Of two hundred that read nothing it kept 752 MB, which count for the container."""
    asked: list[tuple[int, ...]] = []
    found = SimpleNamespace(setsockopt=lambda *option: asked.append(option))
    transport = SimpleNamespace(
        get_extra_info=lambda name: found if name == "socket" else None,
        is_closing=lambda: False,
        set_protocol=lambda protocol: None,
    )
    made: list[Any] = []
    connection: Any = SimpleNamespace(loop=None)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lengths, "_made", lambda *one: made.append(one))
        lengths._bounded(connection, transport)
    assert asked == [(socket.SOL_SOCKET, socket.SO_SNDBUF, lengths.SENT)]
    assert [(one, type(read), read._transport) for one, read in made] == [(connection, reads.Reading, transport)]
    assert H11Protocol.connection_made is lengths._bounded


@pytest.mark.parametrize("loop", [asyncio.new_event_loop, uvloop.new_event_loop], ids=["asyncio", "uvloop"])
@pytest.mark.parametrize("ours", [True, False])
def test_a_connection_too_many_ends_without_a_word(loop: Any, monkeypatch: pytest.MonkeyPatch, *, ours: bool) -> None:
    """Over a connection of the system: a loop that ends one tells its protocol, which was never told of it."""
    monkeypatch.setattr(lengths._started, "too_many", lambda whose: True)
    if not ours:  # what shows that it can fail
        monkeypatch.setattr(H11Protocol, "transport", property(lambda connection: None, lambda *_: None), raising=False)
    failed: list[Any] = []

    async def nobody(scope: Any, receive: Any, send: Any) -> None:
        """Is never asked."""

    def visit(port: int) -> bytes:
        with socket.create_connection(("127.0.0.1", port), timeout=10.0) as visitor, suppress(ConnectionResetError):
            return visitor.recv(100)
        return b""

    async def story() -> bytes:
        here = asyncio.get_running_loop()
        here.set_exception_handler(lambda _, told: failed.append(told))
        settings = Config(nobody, interface="asgi3", log_config=None, proxy_headers=False)
        settings.load()
        state = ServerState()
        server = await here.create_server(lambda: H11Protocol(settings, state, {}, here), "127.0.0.1", 0)
        async with server:
            heard = await asyncio.to_thread(visit, server.sockets[0].getsockname()[1])
            await asyncio.sleep(0.05)
        assert not state.connections
        return heard

    with asyncio.Runner(loop_factory=loop) as runner:
        assert runner.run(story()) == b""
    assert bool(failed) is not ours
