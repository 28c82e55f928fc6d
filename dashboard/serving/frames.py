"""What arrives on a websocket connection counts frame by frame, and the connection ends where no browser goes on.

A ping, or a part of a message without a byte, is six bytes on the way and some twenty millionths of a second here, and
it is no message that the gate could see. One read may bring forty thousand of them, or of empty messages, and uvicorn
is through with all of them before anybody else has a turn. Here a read ends at a bound, and each message that is taken
says how many frames arrived, so that the gate counts them as work of their sender. A connection that begins in a way
that is none is refused when it is its sender's turn (``refused``).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any
from weakref import WeakKeyDictionary

from uvicorn.protocols.websockets import websockets_sansio_impl
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.exceptions import ProtocolError
from websockets.frames import CTRL_OPCODES, Frame
from websockets.http11 import Request, Response
from websockets.protocol import State
from websockets.server import ServerProtocol

from dashboard.serving import reads, refused
from dashboard.serving.heads import network
from dashboard.serving.messages import MESSAGE_BYTES
from dashboard.serving.pace import Pace, fits

MOST = 1_000
"""Frames that may arrive until a message is taken. Chromium cuts the largest message of a page into 65; and while one
waits to be taken nothing more is read, so that they are parts of one message, or what one read brought."""
UNASKED = 10
"""Frames before the connection is accepted, when a browser sends none, and after it was closed: what was on its way."""
MOST_HELD = 128 << 20
"""Bytes of messages that are not passed on yet, of all pages together; one address has its share of them."""
_PIECES = 1 << 16
"""Into so many pieces that room falls: by less than one a page may hold more before it is compared again."""
CONTROL, CONTROL_AHEAD = 1.0, 60.0
"""Pings and answers to pings a second, and how many at once. A browser answers one of ours every half minute."""


@dataclass(slots=True)
class Held:
    """Bytes of a page's messages: of a frame that is not here whole, of the message of which a part is still to come,
    of those that are whole and of the one that was taken last, which waits for its sender's turn until the next is
    asked for; and what they were when they were compared with all others'."""

    visitor: str
    begun: int = 0
    unfinished: int = 0
    whole: int = 0
    taken: int = 0
    compared: int = 0

    @property
    def size(self) -> int:
        return self.begun + self.unfinished + self.whole + self.taken

    def passed_on(self) -> None:
        self.taken = 0
        self.compared = min(self.compared, self.size)


_held: WeakKeyDictionary[WebSocketsSansIOProtocol, Held] = WeakKeyDictionary()
"""Also of pages that are gone, as long as what they sent waits."""


class Counted(ServerProtocol):
    """One connection, without input or output: it fails at the first frame too many, and looks at none after that."""

    def __init__(self, *, max_size: int, **options: Any) -> None:
        super().__init__(max_size=min(max_size, MESSAGE_BYTES), **options)
        self._untaken = self._seen = 0
        self._control = Pace(CONTROL, CONTROL_AHEAD)
        self._answer: Response | None = None

    def accept(self, request: Request) -> Response:
        """The answer to how it begins, which is found once."""
        if self._answer is None:
            self._answer = super().accept(request)
        return self._answer

    def recv_frame(self, frame: Frame) -> None:
        """One frame. Raises ProtocolError, upon which the connection is closed."""
        self._seen += 1
        if frame.opcode in CTRL_OPCODES:
            if self._control.wait(1.0) > 0.0:
                raise ProtocolError("too many pings")
        else:
            self._untaken += 1
            if self._untaken > (MOST if self.state is State.OPEN else UNASKED):
                raise ProtocolError("too many frames")
        super().recv_frame(frame)

    def seen(self) -> int:
        """How many frames of any kind arrived since this was last asked."""
        found, self._seen = self._seen, 0
        return found

    def taken(self) -> int:
        """How many frames of messages arrived since this was last asked."""
        found, self._untaken = self._untaken, 0
        return found


async def _with_frames(page: WebSocketsSansIOProtocol) -> dict[str, Any]:
    """The next message, and as ``frames`` how many arrived for it and with it. The one before it is passed on."""
    if page in _held:
        _held[page].passed_on()
    message = await _UVICORNS["receive"](page)
    if page in _held:
        held = _held[page]
        held.taken = len(message.get("bytes") or (message.get("text") or "").encode())
        held.whole = max(held.whole - held.taken, 0)
    if page.disconnected and message["type"] == "websocket.receive":
        # nobody is there to be answered, however much they asked for before they left
        message = {"type": "websocket.disconnect", "code": 1006}
    frames = page.conn.taken() if isinstance(page.conn, Counted) else 0
    return {**message, "frames": frames}


def _begun(page: WebSocketsSansIOProtocol, request: Request) -> None:
    """Accept or refuse a connection by how it begins."""
    page.handshake_initiated = True
    if page.conn.accept(request).status_code == HTTPStatus.SWITCHING_PROTOCOLS:
        _UVICORNS["handle_connect"](page, request)
    else:
        headers = [
            (name.encode("latin-1").lower(), value.encode("latin-1", "replace"))
            for name, value in request.headers.raw_items()
        ]
        refused.in_turn(page, headers, lambda: _UVICORNS["handle_connect"](page, request))


def _arrived(page: WebSocketsSansIOProtocol, data: bytes) -> None:
    """What was read. The first of it is the whole request: where that is too long nobody would hear of it."""
    _UVICORNS["data_received"](page, data)
    if not page.handshake_initiated:
        refused.in_turn(page, refused.said(data), page.transport.abort)
    else:
        _count(page)
    reads.arrived(page, max(1, page.conn.seen() if isinstance(page.conn, Counted) else 1))


def _ended(page: WebSocketsSansIOProtocol) -> None:
    """Close a connection that was sent what is no frame, or one too many; at once where it was not yet accepted."""
    if page.conn.close_sent is None:
        page.transport.abort()
    else:
        _UVICORNS["handle_parser_exception"](page)


def _given_up(page: WebSocketsSansIOProtocol) -> None:
    """Who does not answer a ping will not read either what still waits for them."""
    _UVICORNS["keepalive_timeout"](page)
    page.transport.abort()


def _left(page: WebSocketsSansIOProtocol, task: Any) -> None:
    """A page that is closed is gone after a while, though it never read its last answers: it counts no longer."""
    _UVICORNS["on_task_complete"](page, task)
    page.loop.call_later(page.close_timeout, page.transport.abort)


def _bytes_alone(page: WebSocketsSansIOProtocol, frame: Frame) -> None:
    """What was taken out of a frame does not stay in it: the parser holds each until the next one comes."""
    _UVICORNS["handle_bytes"](page, frame)
    _note(page, frame)
    frame.data = b""


def _text_alone(page: WebSocketsSansIOProtocol, frame: Frame) -> None:
    """The same of a frame of text."""
    _UVICORNS["handle_text"](page, frame)
    _note(page, frame)
    frame.data = b""


def _more_alone(page: WebSocketsSansIOProtocol, frame: Frame) -> None:
    """The same of a frame that goes on with a message."""
    _UVICORNS["handle_cont"](page, frame)
    _note(page, frame)
    frame.data = b""


def _note(page: WebSocketsSansIOProtocol, frame: Frame) -> None:
    """Count what came of a message; a connection that brings more than there is room for ends."""
    if not page.handshake_complete:  # no browser sends any before it is accepted
        page.transport.abort()
    if page.transport.is_closing():  # what one read brought is handled to its end
        _dropped(page)
        return
    held = _of(page)
    held.begun = 0
    held.unfinished += len(frame.data)
    if frame.fin:
        held.whole, held.unfinished = held.whole + held.unfinished, 0
    _compare(page, held)


def _count(page: WebSocketsSansIOProtocol) -> None:
    """Count what came of a frame that is not here whole: it waits in the parser."""
    begun = len(page.conn.reader.buffer)
    if begun and not page.handshake_complete:  # as of a whole one
        page.conn.reader.buffer.clear()
        page.transport.abort()
    elif begun or page in _held:
        held = _of(page)
        held.begun = begun
        held.compared = min(held.compared, held.size)
        _compare(page, held)


def _of(page: WebSocketsSansIOProtocol) -> Held:
    if page not in _held:
        _held[page] = Held(network(str((page.scope["client"] or ("",))[0])))
    return _held[page]


def _compare(page: WebSocketsSansIOProtocol, held: Held) -> None:
    """End a connection for which there is no room beside all others."""
    if held.size - held.compared < MOST_HELD // _PIECES:  # not at each of a thousand frames of a byte
        return
    held.compared = held.size
    if not fits([(one.visitor, one.size) for one in list(_held.values())], held.visitor, MOST_HELD):
        _dropped(page)
        page.transport.abort()


def _dropped(page: WebSocketsSansIOProtocol) -> None:
    """Nobody takes any more of what arrived; what was taken goes on to wait."""
    page.frames.clear()
    for message in [page.queue.get_nowait() for _ in range(page.queue.qsize())]:
        if message["type"] != "websocket.receive":
            page.queue.put_nowait(message)
    if page in _held:
        page.conn.reader.buffer.clear()
        _held[page].begun = _held[page].unfinished = _held[page].whole = 0


def _lost(page: WebSocketsSansIOProtocol, error: Exception | None) -> None:
    """Whoever is gone holds no more than the one message that waits for their turn."""
    _dropped(page)
    _UVICORNS["connection_lost"](page, error)


_OURS: dict[str, Callable[..., Any]] = {
    "receive": _with_frames,
    "handle_bytes": _bytes_alone,
    "handle_text": _text_alone,
    "connection_lost": _lost,
    "handle_cont": _more_alone,
    "handle_connect": _begun,
    "data_received": _arrived,
    "handle_parser_exception": _ended,
    "keepalive_timeout": _given_up,
    "on_task_complete": _left,
}
_UVICORNS: dict[str, Callable[..., Any]] = {name: getattr(WebSocketsSansIOProtocol, name) for name in _OURS}


def guard() -> None:
    """From now on, in this process. Again does nothing."""
    _changed(Counted, _OURS)


def unguard() -> None:
    """As uvicorn does it; for tests."""
    _changed(ServerProtocol, _UVICORNS)
    _held.clear()


def _changed(connection: type[ServerProtocol], methods: dict[str, Callable[..., Any]]) -> None:
    vars(websockets_sansio_impl)["ServerProtocol"] = connection
    for name, method in methods.items():
        setattr(WebSocketsSansIOProtocol, name, method)
