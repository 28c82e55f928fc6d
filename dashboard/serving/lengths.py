"""A request whose body does not say how long it is is refused with its head, and so is one whose head is long.

Such a body comes in pieces, of one byte if its sender likes: six bytes on the way and an event of some twenty
millionths of a second each, forty thousand of them in one read, and uvicorn is through with all of them before anybody
else has a turn, whether or not anybody wants the body. Browsers say how long a file or a form is. A head of four bytes
a line is gone through line by line as well, by four who each look for something else, eighty times as long as a usual
one. Such a request, and what is none at all, is answered when it is its sender's turn (``refused``).
"""

from __future__ import annotations

import socket
import sys
from collections.abc import Callable, Sequence
from typing import Any

import h11
from h11._receivebuffer import ReceiveBuffer, blank_line_regex
from uvicorn import config
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

from dashboard.serving import reads, refused
from dashboard.serving.heads import network
from dashboard.serving.pace import Paces

OTHER = "this server reads requests with h11; start it with epsilon-lab, or uninstall httptools"
MOST_LINES, LONGEST = 100, 32 << 10
"""Lines and bytes of a head. A browser sends some twenty, of 8 kB with the cookies of a login and an address of ours as
long as they come; HAProxy takes as many lines, and half as many bytes."""
BEGUN, AT_ONCE = 160.0, 30.0
"""Connections a second that one address may begin, and of how many seconds what it did not make use of at once: as
through HAProxy (``replicas``). A class of 400 that opens the page has 2,800, on seven each."""
SENT = 128 << 10
"""Bytes that the system keeps of what a connection does not read, or twice that; by itself it keeps up to 4 MB."""
_begun: Callable[..., None] = H11Protocol.__init__
_made: Callable[[H11Protocol, Any], None] = H11Protocol.connection_made
_received: Callable[[H11Protocol, bytes], None] = H11Protocol.data_received
_answered: Callable[[H11Protocol, str], None] = H11Protocol.send_400_response


def choose() -> None:
    """Before a server is made: uvicorn would take another reader of requests where a package brings one."""
    config.HTTP_PROTOCOLS["auto"] = config.HTTP_PROTOCOLS["h11"]


def guard() -> None:
    """From now on, in this process. Again does nothing. Raises RuntimeError where another reader was chosen already."""
    chosen = sys.modules.get("uvicorn.protocols.http.auto")
    if chosen is not None and chosen.AutoHTTPProtocol is not H11Protocol:
        raise RuntimeError(OTHER)
    H11Protocol.__init__ = _measured  # type: ignore[assignment, method-assign]
    H11Protocol.connection_made = _bounded  # type: ignore[assignment, method-assign]
    H11Protocol.send_400_response = _refused  # type: ignore[assignment, method-assign]
    H11Protocol.data_received = _read  # type: ignore[assignment, method-assign]
    RequestResponseCycle.send = reads.last_of  # type: ignore[assignment, method-assign]


def unguard() -> None:
    """As uvicorn does it; for tests."""
    H11Protocol.__init__ = _begun  # type: ignore[method-assign]
    H11Protocol.connection_made = _made  # type: ignore[assignment, method-assign]
    H11Protocol.send_400_response = _answered  # type: ignore[assignment, method-assign]
    H11Protocol.data_received = _received  # type: ignore[assignment, method-assign]
    RequestResponseCycle.send = reads.sent  # type: ignore[assignment, method-assign]


class Arrived(ReceiveBuffer):
    """What arrived of a connection; keeps the lines of a head that was taken out of it until it is looked at again."""

    lines: list[bytearray] | None = None

    def maybe_extract_lines(self) -> list[bytearray] | None:
        """As of all: the lines of a whole head, or None. Raises RemoteProtocolError where it is long or has too many,
        before any of them is looked at."""
        found = blank_line_regex.search(self._data, self._multiple_lines_search)
        end = found.start() if found else len(self._data)
        if end > LONGEST or self._data.count(b"\n", 0, end) > MOST_LINES:
            raise h11.RemoteProtocolError("a long head", error_status_hint=431)
        self.lines = super().maybe_extract_lines()
        return self.lines

    def head(self) -> bytes:
        """The head that was taken last, or what is there of the next one, without the line of its request."""
        return (bytes(self) if self.lines is None else b"\n".join(self.lines)).partition(b"\n")[2]


class Measured(h11.Connection):
    """The requests of one connection, without input or output."""

    over = False
    """Whether one was refused: it is the last."""
    head: Sequence[tuple[bytes, bytes]] | None = None
    """The headers of the one that was refused, as far as they could be read; None where none could be."""
    no_body = False
    """Whether it is answered by a head alone: more than that h11 does not write."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._receive_buffer = self._arrived = Arrived()

    def next_event(self) -> Any:
        """As of all connections. Raises RemoteProtocolError at such a request, upon which uvicorn answers 400."""
        if self.over:
            return h11.NEED_DATA
        between = self.their_state is h11.IDLE  # what arrives then is a head, and nothing that a visitor sends in it
        try:
            event = super().next_event()
        except h11.RemoteProtocolError:
            self.over, self.head = True, (refused.said(self._arrived.head()) or None) if between else None
            raise
        finally:
            self._arrived.lines = None
        if isinstance(event, h11.Request) and any(name == b"transfer-encoding" for name, _ in event.headers):
            self.over, self.head, self.no_body = True, list(event.headers), event.method == b"HEAD"
            raise h11.RemoteProtocolError("no length", error_status_hint=411)
        return event


def _measured(connection: H11Protocol, *arguments: Any, **options: Any) -> None:
    _begun(connection, *arguments, **options)
    connection.conn = Measured(h11.SERVER, LONGEST)


class Begun:
    """How fast each address begins connections, of those that began any just now."""

    def __init__(self) -> None:
        self._paces = Paces(BEGUN, AT_ONCE)

    def too_many(self, whose: str) -> bool:
        """Whether one more of this address is one too many; else it counts."""
        pace = self._paces.of(whose)
        if pace.wait(0.0) > 0.0:
            return True
        pace.wait(1.0)
        return False


_started = Begun()


def _bounded(connection: H11Protocol, transport: Any) -> None:
    """A connection begins, that of a page among them, which goes on from it. One that is one too many of its address
    ends before anything of it is read; a proxy, which brings those of all its visitors, bounds them itself."""
    peer = transport.get_extra_info("peername")
    if peer and not reads.is_proxy(connection.app, peer[0]) and _started.too_many(network(str(peer[0]))):
        connection.transport = transport  # uvicorn looks at it as it ends
        transport.abort()
        return
    found = transport.get_extra_info("socket")
    if found is not None:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SENT)
    reading = reads.Reading(transport, connection.loop)
    reading.set_protocol(connection)
    _made(connection, reading)


def _read(connection: H11Protocol, data: bytes) -> None:
    """What came counts, whoever takes it."""
    _received(connection, data)
    reads.arrived(connection)


def _refused(connection: H11Protocol, message: str) -> None:
    head: Sequence[tuple[bytes, bytes]] | None = None
    if isinstance(connection.conn, Measured):
        head, message = connection.conn.head, "" if connection.conn.no_body else message
    refused.in_turn(connection, head, lambda: _answered(connection, message))
