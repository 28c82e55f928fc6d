"""Each time something of a connection is read counts for its address, and an answer ends one that is still bringing.

A byte that comes alone takes some thirty millionths of a second, whoever it is for: a request that was answered, one
that waits for its turn, a head or a frame that never ends. None of them comes to the gate. Here a connection whose
address is ahead of what it may have read rests, before anything is made of what it brings, and what comes meanwhile is
read at once after that: a file loses nothing. A read of many frames counts as many. Of an address's connections that
rest the one that brought least, of late and now, goes on first. Once a request is answered nobody wants the rest of its
body, so nothing of it is read any more.

Until somebody wants it, what was read is memory that nothing counts: of each of thousands of connections, all that one
read brings. So a read brings a head and little else; of a body that waits for its turn no more is read than that, and
more at once when it is asked for.
"""

from __future__ import annotations

import asyncio
import heapq
import threading
from collections.abc import Awaitable, Callable
from itertools import count
from typing import Any

from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware
from uvicorn.protocols.http.flow_control import CLOSE_HEADER
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from dashboard.background import speed
from dashboard.serving.heads import network
from dashboard.serving.pace import Pace, Paces

READS, AHEAD = 2_000.0, 2.0
"""Reads a second of one address, less than a tenth of a usual computer's processor, and of how many seconds what it did
not make use of at once. A click is one; a file, of which one read takes up to 64 kB, waits by its bytes before that.
"""
OWN = 20.0
"""Reads a second of one connection that it may bring and still be the first of those that rest: a person's page."""
COUNTED = 50
"""Frames of what waits that are counted, to tell how many there are."""
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
        self.own = Pace(OWN, 0.0)

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
        whose = _whose(protocol)
        if whose is not None and not self._rests and _paces.of(whose).wait(0.0) > 0.0:
            self._waits = data, protocol
            if isinstance(protocol, H11Protocol):
                protocol._unset_keepalive_if_required()  # a request is here: the connection is not idle
            self.rest(whose)
        else:
            protocol.data_received(data)

    def rest(self, whose: str) -> None:
        """Nothing is read until it is its turn of its address, unless it rests already."""
        if not self._rests and not self.is_closing():
            self._rests = True
            _lines.join(whose, self, self._loop)
            self._settle()

    def done(self, now: float) -> float:
        """When what it brought would be done at a pace of its own, with what waits: a head is one read."""
        data, protocol = self._waits or (b"", None)
        return max(self.own.until, now) + (1.0 if isinstance(protocol, H11Protocol) else about(data)) / OWN

    def goes_on(self) -> None:
        """It is its turn."""
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


def about(data: bytes) -> float:
    """How many frames these bytes seem to be, by the first of them: it is told before any is looked at."""
    at = found = 0
    while at + 1 < len(data) and found < COUNTED:
        size = data[at + 1] & 127
        more = {126: 2, 127: 8}.get(size, 0)
        at += 6 + more + (int.from_bytes(data[at + 2 : at + 2 + more]) if more else size)
        found += 1
    return found * max(1.0, len(data) / at) if at else float(len(data))


class Lines:
    """Who rests, by address: one begins again whenever the address is not ahead, first whoever brought least of late,
    so that others' reads without end keep nobody of their address waiting for long."""

    def __init__(self) -> None:
        self._came = count()
        self._resting: dict[tuple[asyncio.AbstractEventLoop, str], list[tuple[float, int, Reading]]] = {}

    def join(self, whose: str, reading: Reading, loop: asyncio.AbstractEventLoop) -> None:
        if (loop, whose) not in self._resting:
            self._resting[loop, whose] = []
            self._look(loop, whose)
        heapq.heappush(self._resting[loop, whose], (reading.done(loop.time()), next(self._came), reading))

    def _look(self, loop: asyncio.AbstractEventLoop, whose: str) -> None:
        """As soon as the address is not ahead any more."""
        loop.call_later(_paces.of(whose).wait(0.0), self._next, loop, whose)

    def _next(self, loop: asyncio.AbstractEventLoop, whose: str) -> None:
        resting = self._resting[loop, whose]
        try:
            while resting and _paces.of(whose).wait(0.0) <= 0.0:
                *_, reading = heapq.heappop(resting)
                if not reading.is_closing():
                    reading.goes_on()
        finally:  # one that fails keeps nobody behind it waiting
            if resting:
                self._look(loop, whose)
            else:
                del self._resting[loop, whose]


_lines = Lines()


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


def arrived(connection: H11Protocol | WebSocketsSansIOProtocol, times: int = 1) -> None:
    """Something of a connection was read, which was so many ``times`` as much work as one read."""
    reading, whose = connection.transport, _whose(connection)
    if not isinstance(reading, Reading):
        return
    reading.piece = _piece(connection) if isinstance(connection, H11Protocol) else A_PIECE
    if whose is not None:
        reading.own.wait(float(times))
        if _paces.of(whose).wait(float(times)) > 0.0:
            reading.rest(whose)


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
