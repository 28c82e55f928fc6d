"""What a connection brings is bounded frame by frame, and counts; a browser's page does not notice."""

from __future__ import annotations

import asyncio
import struct
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from streamlit.web.server.starlette import starlette_server
from uvicorn.config import WS_PROTOCOLS, Config
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from uvicorn.server import ServerState
from websockets.protocol import State
from websockets.server import ServerProtocol

from dashboard.serving import failures, frames, pace
from dashboard.serving.messages import MESSAGE_BYTES
from tests.serving.connected import Wire

READ = 64 * 1024
"""Bytes that are handed over at once here; a loop hands over four times as many."""
REQUEST = "\r\n".join(
    (
        "GET /_stcore/stream HTTP/1.1",
        "Host: 127.0.0.1",
        "Upgrade: websocket",
        "Connection: Upgrade",
        "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==",
        "Sec-WebSocket-Version: 13",
        "\r\n",
    )
).encode()
CONTINUED, TEXT, BINARY, CLOSE, PING, PONG = 0, 1, 2, 8, 9, 10


def frame(kind: int, data: bytes = b"", *, last: bool = True) -> bytes:
    """As a browser sends one; its mask changes nothing."""
    size = len(data)
    if size < 126:
        length = bytes([128 | size])
    else:
        length = bytes([128 | 126]) + struct.pack("!H", size) if size < 65536 else b"\xff" + struct.pack("!Q", size)
    return bytes([128 * last | kind]) + length + bytes(4) + data


class Page:
    """A connection that an application has accepted, unless it is not to; messages are taken by ``taken``."""

    def __init__(self, *, accepted: bool = True, ends: bool = False) -> None:
        self.wire, self._accepted, self._ends = Wire(), accepted, ends
        config = Config(
            self._app, interface="asgi3", log_config=None, ws_max_size=40 << 20, ws_per_message_deflate=False
        )
        config.load()
        self.connection = WebSocketsSansIOProtocol(config, ServerState(), {}, asyncio.get_running_loop())
        self.connection.connection_made(self.wire)

    async def _app(self, scope: Any, receive: Any, send: Any) -> None:
        if self._accepted:
            await send({"type": "websocket.accept"})
        if self._ends:
            await send({"type": "websocket.close", "code": 1008})
        await asyncio.sleep(0 if self._ends else 1000)

    async def opened(self) -> Page:
        self.connection.data_received(REQUEST)
        for _ in range(4):
            await asyncio.sleep(0)
        return self

    def receives(self, data: bytes) -> None:
        """As far as it reads."""
        for at in range(0, len(data), READ):
            if self.wire.reading and not self.wire.closed:
                self.connection.data_received(data[at : at + READ])

    async def taken(self) -> Any:
        return await asyncio.wait_for(self.connection.receive(), 60)

    async def passed_on(self) -> None:
        """All that came is taken, and the next is asked for."""
        while True:
            try:
                await asyncio.wait_for(self.connection.receive(), 0.001)
            except TimeoutError:
                return

    def whole(self) -> int:
        """Bytes of whole messages that nobody has taken."""
        queue = self.connection.queue
        waiting: list[Any] = [queue.get_nowait() for _ in range(queue.qsize())]
        return sum(len(one.get("bytes") or one.get("text") or "") for one in waiting)


@pytest.fixture(autouse=True)
def guarded() -> Iterator[None]:
    frames.guard()
    yield
    frames.unguard()


@pytest.fixture
def handled(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The kinds of frames that were looked at."""
    found: list[int] = []
    look = ServerProtocol.recv_frame

    def noted(connection: ServerProtocol, each: Any) -> None:
        found.append(each.opcode)
        look(connection, each)

    monkeypatch.setattr(ServerProtocol, "recv_frame", noted)
    return found


PART = frame(BINARY, b"x", last=False)
FLOODS = {
    "pings": (b"", frame(PING)),
    "long pings": (b"", frame(PING, b"x" * 125)),
    "answers to no ping": (b"", frame(PONG)),
    "parts without a byte": (PART, frame(CONTINUED, last=False)),
    "parts of a byte": (PART, frame(CONTINUED, b"x", last=False)),
    "parts of text": (frame(TEXT, last=False), frame(CONTINUED, b"x" * 9, last=False)),
    "messages without a byte": (b"", frame(BINARY)),
    "messages of text": (b"", frame(TEXT, b"x")),
    "messages of two parts": (b"", frame(BINARY, last=False) + frame(CONTINUED)),
    "pings between parts": (PART, frame(PING) + frame(CONTINUED, last=False)),
}


async def flooded(first: bytes, each: bytes, **page: bool) -> Page:
    opened = await Page(**page).opened()
    opened.receives(first + each * 8_000)
    return opened


@pytest.mark.parametrize("kind", FLOODS)
def test_a_flood_of_frames_ends_the_connection_within_its_first_read(kind: str, handled: list[int]) -> None:
    async def story() -> None:
        page = await flooded(*FLOODS[kind])
        assert len(handled) <= frames.MOST + frames.CONTROL_AHEAD
        assert page.wire.closed
        assert page.connection.queue.get_nowait()["type"] == "websocket.connect"
        messages = [page.connection.queue.get_nowait() for _ in range(page.connection.queue.qsize())]
        assert [message["type"] for message in messages] == ["websocket.disconnect"], "and none of it is a message"
        assert sum(map(len, page.connection.frames)) + len(page.wire.written) < 100_000
        assert not page.connection.conn.reader.buffer

    asyncio.run(story())


@pytest.mark.parametrize("kind", ["long pings", "parts without a byte", "messages without a byte"])
def test_without_the_guard_a_read_is_handled_whole(kind: str, handled: list[int]) -> None:
    """What shows that the test above can fail."""
    frames.unguard()
    asyncio.run(flooded(*FLOODS[kind]))
    assert len(handled) > 5 * (frames.MOST + frames.CONTROL_AHEAD)


@pytest.mark.parametrize("kind", FLOODS)
@pytest.mark.parametrize("when", [{"accepted": False}, {"ends": True}])
def test_before_a_connection_is_accepted_and_after_it_was_closed_next_to_nothing_is_handled(
    when: dict[str, bool], kind: str, handled: list[int]
) -> None:
    async def story() -> None:
        page = await flooded(*FLOODS[kind], **when)
        assert len(handled) <= frames.UNASKED + frames.CONTROL_AHEAD
        assert page.wire.closed

    asyncio.run(story())


@pytest.mark.parametrize("kind", [kind for kind in FLOODS if not kind.startswith(("pings", "long", "answers"))])
@pytest.mark.parametrize("ours", [True, False])
def test_a_message_before_the_connection_is_accepted_ends_it_and_reaches_no_application(
    kind: str, *, ours: bool
) -> None:
    """Streamlit takes it for a defect of its own, with 800 bytes in the log, as often as somebody likes."""
    if not ours:
        frames.unguard()

    async def story() -> None:
        page = await Page(accepted=False).opened()
        page.receives(b"".join(FLOODS[kind]))
        page.receives(frame(CONTINUED))
        assert page.wire.closed is ours
        queue = page.connection.queue
        kinds = {queue.get_nowait()["type"] for _ in range(queue.qsize())}
        assert ("websocket.receive" in kinds) is not ours

    asyncio.run(story())


def test_who_leaves_before_the_connection_is_accepted_had_still_begun_it() -> None:
    """An application that is told of the end alone, as if nothing had begun, fails: a trace in the log for each."""

    async def story() -> None:
        page = await Page(accepted=False).opened()
        page.receives(frame(BINARY, b"x"))
        page.connection.connection_lost(None)
        assert [(await page.taken())["type"] for _ in range(2)] == ["websocket.connect", "websocket.disconnect"]

    asyncio.run(story())


@pytest.mark.parametrize("size", [0, 1, 8_000])
def test_the_parts_of_one_message_are_bounded_however_slowly_they_come(size: int, handled: list[int]) -> None:
    async def story() -> None:
        page = await Page().opened()
        page.receives(PART)
        for _ in range(3 * frames.MOST):
            page.receives(frame(CONTINUED, b"x" * size, last=False))
        assert len(handled) <= frames.MOST
        assert page.wire.closed

    asyncio.run(story())


def test_a_frame_before_the_connection_is_accepted_ends_it_though_it_is_not_whole() -> None:
    async def story() -> None:
        page = await Page(accepted=False).opened()
        page.receives(frame(BINARY, bytes(9_000))[:2000])
        assert page.wire.aborted
        assert not page.connection.conn.reader.buffer

    asyncio.run(story())


def test_pings_are_bounded_however_slowly_they_come(monkeypatch: pytest.MonkeyPatch, handled: list[int]) -> None:
    """Answers to one who does not read would be kept for as long as the connection is there."""
    clock = [0.0]
    monkeypatch.setattr(pace, "time", SimpleNamespace(monotonic=lambda: clock[0]))

    async def story() -> None:
        page = await Page().opened()
        for _ in range(1000):
            clock[0] += 0.5 / frames.CONTROL
            page.receives(frame(PING, b"x" * 125))
        assert len(handled) <= 2 * frames.CONTROL_AHEAD
        assert page.wire.closed

    asyncio.run(story())


def test_a_message_larger_than_any_page_s_is_refused_by_its_length() -> None:
    async def story() -> None:
        for first in (b"", frame(BINARY, bytes(50_000), last=False)):
            page = await Page().opened()
            page.receives(first + frame(CONTINUED if first else BINARY, bytes(MESSAGE_BYTES + 1))[:20])
            assert page.wire.closed
            assert page.connection.conn.close_sent is not None
            assert page.connection.conn.close_sent.code == 1009

    asyncio.run(story())


def test_a_browser_s_page_goes_on_for_days(monkeypatch: pytest.MonkeyPatch) -> None:
    """The largest message as Chromium cuts it, many small ones at once, and an answer to a ping every half minute."""
    clock = [0.0]
    monkeypatch.setattr(pace, "time", SimpleNamespace(monotonic=lambda: clock[0]))

    async def story() -> None:
        page = await Page().opened()
        assert (await page.taken())["type"] == "websocket.connect"
        large = [bytes(131_000)] * 64 + [bytes(116_000)]
        for number, part in enumerate(large):
            page.receives(frame(CONTINUED if number else BINARY, part, last=number + 1 == len(large)))
        message = await page.taken()
        assert (message["bytes"], message["frames"]) == (b"".join(large), len(large))
        page.receives(frame(BINARY, b"click" * 100) * 100)
        assert sum([(await page.taken())["frames"] for _ in range(100)]) == 100
        for _ in range(10_000):
            clock[0] += 30.0
            page.receives(frame(PONG, b"1234"))
        page.receives(frame(PING, b"a proxy's"))
        assert page.wire.written.endswith(b"a proxy's")
        page.receives(frame(BINARY, b"still here"))
        assert (await page.taken())["bytes"] == b"still here"
        assert not page.wire.closed

    asyncio.run(story())


def test_what_a_page_that_has_left_asked_for_is_not_taken_any_more() -> None:
    async def story() -> None:
        page = await Page().opened()
        assert (await page.taken())["type"] == "websocket.connect"
        page.receives(frame(BINARY, b"click") * 100)
        assert (await page.taken())["bytes"] == b"click"
        page.connection.connection_lost(None)
        assert (await page.taken())["type"] == "websocket.disconnect"

    asyncio.run(story())


def test_what_is_no_frame_before_a_connection_is_accepted_leaves_no_traceback() -> None:
    async def story() -> None:
        page = await Page(accepted=False).opened()
        page.receives(b"\xff" * 100)
        assert page.wire.aborted

    asyncio.run(story())


ENDS: dict[str, Callable[[Page], None]] = {
    "who does not answer": lambda page: page.connection.keepalive_timeout(),
    "who says so": lambda page: page.receives(frame(CLOSE)),
}


@pytest.mark.parametrize("end", ENDS)
def test_a_connection_that_is_over_is_gone_though_nobody_reads_what_waits(end: str) -> None:
    async def story() -> None:
        page = await Page().opened()
        page.connection.close_timeout = 0.0
        ENDS[end](page)
        for task in page.connection.tasks:
            task.cancel()
        for _ in range(4):
            await asyncio.sleep(0.001)
        assert page.wire.aborted

    asyncio.run(story())


@pytest.mark.parametrize("whole", [True, False])
def test_a_message_that_was_taken_is_held_nowhere(whole: bool) -> None:
    """The parser held the last frame of a connection until the next one: the largest message, of every open page."""

    async def held() -> int:
        page = await Page().opened()
        data = b"x" * 60_000
        assert (await page.taken())["type"] == "websocket.connect"
        page.receives(frame(BINARY, data) if whole else frame(BINARY, b"", last=False) + frame(CONTINUED, data))
        assert (await page.taken())["bytes"] == data
        parser: Any = page.connection.conn.parser
        while "frame" not in parser.gi_frame.f_locals:
            parser = parser.gi_yieldfrom  # within what reads the request
        return len(parser.gi_frame.f_locals["frame"].data)

    assert asyncio.run(held()) == 0
    frames.unguard()
    assert asyncio.run(held()) == 60_000, "what shows that it can fail"


def held(
    monkeypatch: pytest.MonkeyPatch, whose: list[str], message: bytes, before: tuple[bytes, ...] = ()
) -> list[bool]:
    """Which of these pages, each from its address, may hold a message of 2,000 bytes that is not passed on, after they
    passed others on ``before``."""
    monkeypatch.setattr(frames, "MOST_HELD", 10_000)

    async def story() -> list[bool]:
        pages = []
        for address in whose:
            page = await Page().opened()
            page.connection.scope["client"] = (address, 1)  # as uvicorn finds it behind a proxy
            for sent in before:
                page.receives(sent)
                await page.passed_on()
            pages.append(page)
        for page in pages:
            page.receives(message)
        waiting = [
            sum(map(len, page.connection.frames)) + len(page.connection.conn.reader.buffer) + page.whole()
            for page in pages
        ]
        assert sum(waiting) <= 10_000
        return [not page.wire.aborted for page in pages]

    return asyncio.run(story())


UNFINISHED = frame(BINARY, b"x" * 1000, last=False) + frame(CONTINUED, b"x" * 1000, last=False)
MESSAGES = {
    "of which a part is missing": UNFINISHED,
    "of text of which a part is missing": frame(TEXT, b"x" * 1000, last=False)
    + frame(CONTINUED, b"x" * 1000, last=False),
    "that are whole": frame(BINARY, b"x" * 2000),
    "that came in parts": frame(BINARY, b"x" * 1000, last=False) + frame(CONTINUED, b"x" * 1000),
    "of text": frame(TEXT, b"x" * 2000),
    "of which a frame goes on": frame(BINARY, bytes(9_000))[:2008],
    "of which the second frame goes on": frame(BINARY, b"x" * 1000, last=False) + frame(CONTINUED, bytes(9_000))[:1008],
    "that are two": frame(BINARY, b"x" * 1000) * 2,
    "one byte each": frame(BINARY, b"x", last=False)
    + frame(CONTINUED, b"x", last=False) * 900
    + frame(CONTINUED, b"x" * 1099),
}


@pytest.mark.parametrize("kind", MESSAGES)
def test_messages_that_are_not_passed_on_are_bounded_together(monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    """One address has its share of the room, and all have no more than there is."""
    assert held(monkeypatch, ["a"] * 5 + ["b"] * 2, MESSAGES[kind]) == [True] * 4 + [False, True, False]


@pytest.mark.parametrize("kind", ["that are whole", "that came in parts", "of text"])
def test_those_that_were_passed_on_count_no_more(monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    """Nor does the bound forget those that come after them."""
    monkeypatch.setattr(frames, "_PIECES", 20)
    again = (MESSAGES[kind],) * 2
    assert held(monkeypatch, ["a"] * 5 + ["b"] * 2, MESSAGES[kind], again) == [True] * 4 + [False, True, False]


def test_without_that_bound_they_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    """The test above can fail."""
    monkeypatch.setattr(frames, "_note", lambda page, frame: None)
    monkeypatch.setattr(frames, "_count", lambda page: None)
    frames.guard()
    with pytest.raises(AssertionError):
        held(monkeypatch, ["a"] * 7, UNFINISHED)
    with pytest.raises(AssertionError):
        held(monkeypatch, ["a"] * 7, MESSAGES["of which a frame goes on"])
    with pytest.raises(AssertionError):
        held(monkeypatch, ["a"] * 7, MESSAGES["that are whole"])


@pytest.mark.parametrize("kind", [BINARY, TEXT])
def test_a_message_counts_until_the_next_is_asked_for(kind: int) -> None:
    """It waits for its sender's turn until then, also where the page is gone by now."""

    async def story() -> list[int]:
        page, found = await Page().opened(), []

        def size() -> None:
            found.append(frames._held[page.connection].size)

        await page.taken()  # that it connected
        page.receives(frame(kind, "é".encode() * 500))
        size()
        page.receives(frame(kind, b"x" * 100, last=False))
        await page.taken()
        size()
        page.receives(frame(CONTINUED, b"x" * 100, last=False))
        size()
        page.connection.connection_lost(None)
        size()
        assert (await page.taken())["type"] == "websocket.disconnect"
        size()
        return found

    assert asyncio.run(story()) == [1000, 1000, 1000, 1000, 0]


@pytest.mark.parametrize("guarded_log", [True, False])
def test_a_message_that_is_no_text_ends_its_connection_and_takes_no_line_of_the_log(
    guarded_log: bool, caplog: pytest.LogCaptureFixture
) -> None:
    """A thousand of them took the room that errors of a server have."""

    async def story() -> None:
        page = await Page().opened()
        await page.taken()  # that it connected
        page.receives(frame(TEXT, b"\xff\xfe"))
        assert (await page.taken())["code"] == 1007
        assert page.wire.closed

    if guarded_log:
        failures.keep_values_from_the_log()
    try:
        asyncio.run(story())
    finally:
        failures.write_all_to_the_log()
    assert any("UTF-8" in record.getMessage() for record in caplog.records) is (not guarded_log)


def test_uvicorn_and_streamlit_are_as_the_guard_takes_them_to_be() -> None:
    """Where this fails, look at ``dashboard/serving/frames.py`` first: frames may not be counted any more."""
    served = WebSocketsSansIOProtocol
    assert WS_PROTOCOLS[starlette_server._get_websocket_protocol()] == f"{served.__module__}:{served.__name__}"

    async def story() -> None:
        page = (await Page().opened()).connection
        assert type(page.conn) is frames.Counted, "the class that reads frames has another name"
        assert page.conn.state is State.OPEN
        assert page.conn.max_message_size == MESSAGE_BYTES

    asyncio.run(story())
