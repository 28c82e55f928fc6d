"""Each time something of a connection is read counts for its address, and an answer ends one that is still bringing.

A byte that comes alone takes some thirty millionths of a second, whoever it is for: a request that was answered, one
that waits for its turn, a head or a frame that never ends. None of them comes to the gate. Here a connection whose
address is ahead of what it may have read rests, and what comes meanwhile is read at once after that: a file loses
nothing. Once a request is answered nobody wants the rest of its body, so nothing of it is read any more.
"""

from __future__ import annotations

import asyncio
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
not make use of at once. A click is one; a file, of which one read takes up to 256 kB, waits by its bytes before that.
"""
HEARD = 2.0
"""Seconds in which an answer is heard before its connection is closed: whoever is still sending a body would lose the
answer with a connection that is closed at once."""
sent: Callable[[RequestResponseCycle, Any], Awaitable[None]] = RequestResponseCycle.send


class Reading:
    """The network's side of a connection, which is read when neither its protocol nor its address's pace is against
    it. All else is as it was."""

    unwanted = False
    """Whether the rest of what it brings is for nobody."""

    def __init__(self, transport: Any, loop: asyncio.AbstractEventLoop) -> None:
        self._transport, self._loop = transport, loop
        self._paused = self._rests = self._ends = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def pause_reading(self) -> None:
        self._paused = True
        self._settle()

    def resume_reading(self) -> None:
        self._paused = False
        self._settle()

    def rest(self, seconds: float) -> None:
        """Nothing is read for so long, unless it rests already."""
        if not self._rests and not self.is_closing():
            self._rests = True
            self._loop.call_later(seconds, self._rested)
            self._settle()

    def _rested(self) -> None:
        self._rests = False
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


_paces = Paces(READS, AHEAD, speed.weight)


def arrived(connection: H11Protocol | WebSocketsSansIOProtocol) -> None:
    """Something of a connection was read."""
    whose = _whose(connection)
    if whose is not None and isinstance(connection.transport, Reading):
        seconds = _paces.of(whose).wait(1.0)
        if seconds > 0.0:
            connection.transport.rest(seconds)


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
