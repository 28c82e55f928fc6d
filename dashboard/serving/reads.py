"""Each time something of a connection is read counts for its address, and an answer ends one that is still bringing.

A byte that comes alone takes some thirty millionths of a second, whoever it is for: a request that was answered, one
that waits for its turn, a head or a frame that never ends. None of them comes to the gate. Here a connection whose
address is ahead of what it may have read rests, before anything is made of what it brings, and what comes meanwhile is
read at once after that: a file loses nothing. A read of many frames counts as many. Once a request is answered nobody
wants the rest of its body, so nothing of it is read any more.

Until somebody wants it, what was read is memory that nothing counts: of each of thousands of connections, all that one
read brings. So a read brings a head and little else; of a body that waits for its turn no more is read than that, and
more at once when it is asked for.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from typing import Any

from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware
from uvicorn.protocols.http.flow_control import CLOSE_HEADER
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from dashboard.background import speed
from dashboard.serving.heads import network
from dashboard.serving.pace import Paces

READS, AHEAD = 2_000.0, 2.0
"""Reads a second of one address, less than a tenth of a usual computer's processor, and of how many seconds what it did
not make use of at once. A click is one; a file, of which one read takes up to 64 kB, waits by its bytes before that.
"""
A_HEAD, A_PIECE = 4 << 10, 64 << 10
"""Bytes of one read: as long as nobody asked for what comes, and of a body that is asked for or the messages of a page.
A browser's head is shorter by far; a longer one takes several."""
HEARD = 2.0
"""Seconds in which an answer is heard before its connection is closed: whoever is still sending a body would lose the
answer with a connection that is closed at once."""
sent: Callable[[RequestResponseCycle, Any], Awaitable[None]] = RequestResponseCycle.send


class Reading:
    """The network's side of a connection, which is read when neither its protocol nor its address's pace is against
    it. All else is as it was."""

    unwanted = False
    """Whether the rest of what it brings is for nobody."""

    piece = A_HEAD
    """Bytes that one read brings at most."""

    def __init__(self, transport: Any, loop: asyncio.AbstractEventLoop) -> None:
        self._transport, self._loop = transport, loop
        self._paused = self._rests = self._ends = False
        self._waits: tuple[bytes, Any] | None = None  # what was read while its address was ahead, and for whom

    def set_protocol(self, protocol: Any) -> None:
        """Whose what is read is from now on, piece by piece."""
        self._transport.set_protocol(Pieces(self, protocol))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def pause_reading(self) -> None:
        self._paused = True
        self._settle()

    def resume_reading(self) -> None:
        self._paused = False
        self._settle()

    def brought(self, data: bytes, protocol: Any) -> None:
        """What was read goes to whose it is, once its address is not ahead."""
        seconds = ahead(protocol)
        if seconds > 0.0 and not self._rests:
            self._waits = data, protocol
            self.rest(seconds)
        else:
            protocol.data_received(data)

    def rest(self, seconds: float) -> None:
        """Nothing is read for so long, unless it rests already."""
        if not self._rests and not self.is_closing():
            self._rests = True
            self._loop.call_later(seconds, self._rested)
            self._settle()

    def _rested(self) -> None:
        self._rests = False
        waits, self._waits = self._waits, None
        if waits is not None and not self.is_closing():
            self.brought(*waits)
        self._settle()

    def _settle(self) -> None:
        if self._transport.is_closing():
            return
        if self._paused or self._rests or self._ends:
            self._transport.pause_reading()
        else:
            self._transport.resume_reading()

    def is_closing(self) -> bool:
        return self._ends or bool(self._transport.is_closing())

    def close(self) -> None:
        """Once what was written is sent; after a while, where its other side may be sending what nobody reads."""
        if not self.unwanted:
            self._transport.close()
        elif not self.is_closing():
            self._ends = True
            self._settle()
            if self._transport.can_write_eof():
                self._transport.write_eof()
            self._loop.call_later(HEARD, self._transport.close)


class Pieces(asyncio.BufferedProtocol):
    """What stands between the network and a protocol, so that a read brings no more than a piece."""

    _here = threading.local()
    """Where the network writes what it brings, for all connections of a loop in turn: it is copied at once."""

    def __init__(self, reading: Reading, protocol: Any) -> None:
        self._reading, self._protocol = reading, protocol

    def __getattr__(self, name: str) -> Any:
        return getattr(self._protocol, name)

    def get_buffer(self, sizehint: int) -> memoryview:
        if not hasattr(self._here, "bytes"):
            self._here.bytes = memoryview(bytearray(A_PIECE))
        found: memoryview = self._here.bytes
        return found[: self._reading.piece]

    def buffer_updated(self, nbytes: int) -> None:
        self._reading.brought(bytes(self._here.bytes[:nbytes]), self._protocol)

    def eof_received(self) -> bool | None:
        found: bool | None = self._protocol.eof_received()
        return found

    def connection_lost(self, exc: Exception | None) -> None:
        self._protocol.connection_lost(exc)

    def pause_writing(self) -> None:
        self._protocol.pause_writing()

    def resume_writing(self) -> None:
        self._protocol.resume_writing()


_paces = Paces(READS, AHEAD, speed.weight)


def ahead(connection: H11Protocol | WebSocketsSansIOProtocol) -> float:
    """For how many seconds nothing is to be made of what a connection brings."""
    whose = _whose(connection)
    return 0.0 if whose is None else _paces.of(whose).wait(0.0)


def arrived(connection: H11Protocol | WebSocketsSansIOProtocol, times: int = 1) -> None:
    """Something of a connection was read, which was so many ``times`` as much work as one read."""
    reading, whose = connection.transport, _whose(connection)
    if not isinstance(reading, Reading):
        return
    reading.piece = _piece(connection) if isinstance(connection, H11Protocol) else A_PIECE
    if whose is not None:
        seconds = _paces.of(whose).wait(float(times))
        if seconds > 0.0:
            reading.rest(seconds)


def _piece(connection: H11Protocol) -> int:
    """How much the next read may bring. Where a little of a body waits already it is the one that is asked for."""
    cycle = connection.cycle
    if cycle is None or cycle.response_complete or not cycle.more_body or len(cycle.body) < A_HEAD // 2:
        return A_HEAD
    connection.flow.pause_reading()
    return A_PIECE


def _whose(connection: H11Protocol | WebSocketsSansIOProtocol) -> str | None:
    """The address for which something came; None where a proxy has not said it yet."""
    if isinstance(connection, H11Protocol):
        cycle = connection.cycle
        scope = None if cycle is None or cycle.response_complete else cycle.scope
    else:
        scope = getattr(connection, "scope", None)
    client = scope["client"] if scope is not None else connection.client
    if client is None or (scope is None and is_proxy(connection.app, client[0])):
        return None
    return network(str(client[0]))


def is_proxy(app: object, address: str) -> bool:
    """Whether the word of this address about where visitors come from is taken."""
    return isinstance(app, ProxyHeadersMiddleware) and address in app.trusted_hosts


async def last_of(cycle: RequestResponseCycle, message: Any) -> None:
    """Send a part of an answer; one whose request is not here whole is the last of its connection."""
    if message["type"] == "http.response.start" and cycle.more_body:
        headers = [pair for pair in message.get("headers", ()) if pair[0].lower() != CLOSE_HEADER[0]]
        message = {**message, "headers": [*headers, CLOSE_HEADER]}
        if isinstance(cycle.transport, Reading):
            cycle.transport.unwanted = True
    await sent(cycle, message)
