"""Whatever comes of a connection counts each time it is read, and nothing of a body is read once its request is
answered; honest requests and files go on."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest
from uvicorn.config import Config
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from dashboard.background import speed
from dashboard.serving import frames, lengths, pace, reads
from dashboard.serving.pace import Paces
from tests.serving.leaping import Leaping
from tests.serving.test_frames import BINARY, REQUEST, frame
from tests.serving.test_refused import BALANCER, HERE, PROPER, THERE, Line, through

RATE, SECONDS, SENDS = 10.0, 10, 100
POST = b"POST /%s HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n"
HEAD = b"GET / HTTP/1.1\r\nHost: localhost\r\n"
ENDLESS = {
    "of a request that waits": POST % b"waits",
    "of a request whose answer goes on": POST % b"goes-on",
    "of a head": HEAD + b"X: ",
    "of a second head": PROPER + HEAD + b"X: ",
    "of a frame": REQUEST,
}
"""What comes byte by byte, and how it begins."""


async def app(scope: Any, receive: Any, send: Any) -> None:
    if scope["type"] == "websocket":
        await send({"type": "websocket.accept"})
        await asyncio.sleep(1000)
    if scope["path"] == "/waits":
        await asyncio.sleep(1000)
    if scope["path"] == "/stays":
        while (await receive())["type"] != "http.disconnect":
            pass
    if scope["path"] == "/taken":
        while (await receive())["more_body"]:
            pass
    await send({"type": "http.response.start", "status": 204, "headers": [(b"connection", b"keep-alive")]})
    if scope["path"] == "/goes-on":
        await asyncio.sleep(1000)
    await send({"type": "http.response.body", "body": b""})


class Sender:
    """A connection that has something to send whenever it is read."""

    there: ClassVar[list[Sender]] = []
    """As a loop holds them until they are closed."""

    def __init__(self, head: bytes, address: str = HERE) -> None:
        config = Config(app, interface="asgi3", log_config=None, ws_per_message_deflate=False)
        config.load()
        self.line, self.taken = Line(address), 0
        self.protocol = H11Protocol(config, ServerState(), {}, asyncio.get_running_loop())
        self.protocol.connection_made(self.line)
        self.there.append(self)
        self.sends(head)

    def sends(self, data: bytes) -> int:
        """How much of it was read."""
        self.taken += 1
        if self.line.protocol is None:  # unguarded
            self.protocol.data_received(data)
            return len(data)
        return self.line.brings(data)

    async def goes_on(self, piece: bytes = b"x") -> int:
        """How often it is read in ``SECONDS``, beside its head."""
        self.taken = 0
        for _ in range(SECONDS * SENDS):
            await asyncio.sleep(1 / SENDS)
            if self.line.reading and not self.line.closed:
                self.sends(piece)
        return self.taken


@pytest.fixture
def loop(monkeypatch: pytest.MonkeyPatch) -> Iterator[Leaping]:
    """Its clock is that of paces; of an address ten reads a second are taken, and ten ahead."""
    found = Leaping()
    monkeypatch.setattr(pace, "time", SimpleNamespace(monotonic=found.time))
    monkeypatch.setattr(speed, "seconds", lambda: speed.USUAL)
    monkeypatch.setattr(reads, "_paces", Paces(RATE, 1.0))
    lengths.guard()
    frames.guard()
    yield found
    lengths.unguard()
    frames.unguard()
    for sender in Sender.there:
        sender.line.abort()  # what waits begins nothing more
    for task in asyncio.all_tasks(found):
        task.cancel()
    found.run_until_complete(asyncio.sleep(0.1))
    found.close()
    Sender.there.clear()


async def read(head: bytes, connections: int = 1) -> int:
    senders = [Sender(head) for _ in range(connections)]
    await asyncio.sleep(0.01)
    if head == REQUEST:
        for sender in senders:
            sender.sends(frame(BINARY, bytes(1_000_000))[:14])
    return sum(await asyncio.gather(*(sender.goes_on() for sender in senders)))


@pytest.mark.parametrize("connections", [1, 20])
@pytest.mark.parametrize("kind", ENDLESS)
def test_bytes_that_come_one_by_one_are_read_at_a_pace_of_their_address(
    kind: str, connections: int, loop: Leaping
) -> None:
    found = loop.run_until_complete(read(ENDLESS[kind], connections))
    assert found <= RATE * (SECONDS + 1) + 2 * connections
    assert connections > 1 or found > RATE * SECONDS / 2, "its connection was kept, and only waits"


@pytest.mark.parametrize("kind", ENDLESS)
def test_they_would_be_read_as_they_come(kind: str, loop: Leaping, monkeypatch: pytest.MonkeyPatch) -> None:
    """The test above can fail."""
    monkeypatch.setattr(reads, "arrived", lambda *_: None)
    assert loop.run_until_complete(read(ENDLESS[kind])) > 5 * RATE * SECONDS


def test_others_are_read_meanwhile(loop: Leaping) -> None:
    async def story() -> list[int]:
        both = Sender(HEAD + b"X: "), Sender(HEAD + b"X: ", THERE)
        return list(await asyncio.gather(*(one.goes_on() for one in both)))

    mine, theirs = loop.run_until_complete(story())
    assert abs(mine - theirs) < RATE


def test_through_a_balancer_it_is_the_visitor_who_waits(loop: Leaping) -> None:
    """The connections of a balancer are everybody's: none rests for what another visitor sends."""

    async def story() -> tuple[list[int], int]:
        those = [Sender(through(POST % b"waits", whose), BALANCER) for whose in (HERE, HERE, THERE)]
        unsaid = Sender(HEAD + b"X: ", BALANCER)
        await asyncio.sleep(0.01)
        *found, last = await asyncio.gather(*(one.goes_on() for one in (*those, unsaid)))
        return found, last

    (first, second, other), unsaid = loop.run_until_complete(story())
    assert first + second <= RATE * (SECONDS + 1) + 4
    assert other > RATE * SECONDS / 2
    assert unsaid == SECONDS * SENDS


ANSWERED = {"nothing of it here": b"", "some of it here": b"x" * 1000, "which waits for a word": b""}


@pytest.mark.parametrize("kind", ANSWERED)
def test_of_a_body_that_goes_on_after_the_answer_nothing_is_read(kind: str, loop: Leaping) -> None:
    async def story() -> tuple[Line, int, bool]:
        word = b"\r\nExpect: 100-continue" if "word" in kind else b""
        sender = Sender((POST % b"").replace(b"\r\nContent", word + b"\r\nContent") + ANSWERED[kind])
        await asyncio.sleep(0.01)
        before = sender.line.closed
        return sender.line, await sender.goes_on(), before

    line, read, before = loop.run_until_complete(story())
    assert line.written.startswith(b"HTTP/1.1 204")
    assert line.written.lower().count(b"connection: ") == line.written.lower().count(b"connection: close") == 1
    assert (read, line.closed) == (0, True)
    assert line.said_all
    assert not before, "who is still sending loses the answer with a connection that is closed at once"


def test_it_would_be_read_without_end(loop: Leaping, monkeypatch: pytest.MonkeyPatch) -> None:
    """The test above can fail."""
    lengths.unguard()
    assert loop.run_until_complete(read(POST % b"")) == SECONDS * SENDS


async def taken(*sent: bytes) -> Line:
    """What becomes of a connection on which these come, one after the other."""
    sender = Sender(sent[0])
    for piece in sent[1:]:
        while piece:
            while not sender.line.reading:
                await asyncio.sleep(0.01)
            piece = piece[sender.sends(piece) :]
            await asyncio.sleep(0.01)
    await asyncio.sleep(1.0)
    return sender.line


HONEST = {
    "one after the other": ([PROPER, PROPER, PROPER], 3),
    "several at once": ([PROPER * 3], 3),
    "a body at once, and another": ([(POST % b"taken").replace(b"1000000", b"3") + b"abc" + PROPER], 2),
    "a body nobody takes, that is here": ([(POST % b"").replace(b"1000000", b"3") + b"abc", PROPER], 2),
    "a file in pieces": ([POST % b"taken", *[b"x" * 20_000] * 50, PROPER], 2),
    "without a body, in pieces": ([PROPER[:9], PROPER[9:30], PROPER[30:], PROPER], 2),
}


@pytest.mark.parametrize("kind", HONEST)
def test_what_a_browser_sends_is_answered_on_one_connection(kind: str, loop: Leaping) -> None:
    sent, answers = HONEST[kind]
    line = loop.run_until_complete(taken(*sent))
    assert (line.written.count(b"HTTP/1.1 204"), line.closed) == (answers, False)


WAITING = {
    "requests behind one that waits": b"GET /waits HTTP/1.1\r\nHost: localhost\r\n\r\n" + PROPER,
    "requests behind one whose sender is looked for": b"GET /stays HTTP/1.1\r\nHost: localhost\r\n\r\n" + PROPER,
    "requests behind one whose answer goes on": b"GET /goes-on HTTP/1.1\r\nHost: localhost\r\n\r\n" + PROPER,
    "a body that waits": POST % b"waits",
    "a body that waits, at once": (POST % b"waits") + bytes(100_000),
    "a second body": PROPER + POST % b"waits",
}
"""Of what nobody asks for yet, how it begins."""


async def waits(head: bytes) -> int:
    """How many bytes are read of a connection whose request nobody answers for a while."""
    sender = Sender(head[:1])
    left, read = head[1:] + PROPER * 20_000, 0
    for _ in range(100):
        await asyncio.sleep(0.01)
        if sender.line.reading and not sender.line.closed:
            taken = sender.sends(left)
            left, read = left[taken:], read + taken
    return read


@pytest.mark.parametrize("kind", WAITING)
def test_of_what_nobody_asked_for_little_is_read(kind: str, loop: Leaping, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reads, "_paces", Paces(1e6, 1.0))  # however often it may be read
    assert loop.run_until_complete(waits(WAITING[kind])) <= 4 * reads.A_HEAD


@pytest.mark.parametrize("kind", WAITING)
def test_much_of_it_would_be(kind: str, loop: Leaping) -> None:
    """The test above can fail."""
    lengths.unguard()
    assert loop.run_until_complete(waits(WAITING[kind])) > 20 * reads.A_HEAD


def test_a_file_that_is_asked_for_comes_in_large_pieces(loop: Leaping, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reads, "_paces", Paces(1e6, 1.0))
    read = []

    async def story() -> None:
        sender, left = Sender(POST % b"taken"), bytes(1_000_000)
        while left:
            await asyncio.sleep(0.01)
            if sender.line.reading:
                read.append(taken := sender.line.brings(left))
                left = left[taken:]

    loop.run_until_complete(story())
    assert len(read) < 1_000_000 / reads.A_PIECE + 5


def test_who_is_gone_while_a_request_waits_is_noticed(loop: Leaping) -> None:
    async def story() -> bool:
        sender = Sender(b"GET /waits HTTP/1.1\r\nHost: localhost\r\n\r\n")
        await asyncio.sleep(0.01)
        assert sender.line.reading
        sender.line.protocol.connection_lost(None)
        return bool(sender.protocol.cycle.disconnected)

    assert loop.run_until_complete(story())


@pytest.mark.parametrize("size", [1_000, 30_000_000])
def test_who_is_refused_while_sending_hears_why(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Over a connection of the system, whose other side sends before it reads."""
    lengths.guard()
    monkeypatch.setattr(reads, "HEARD", 0.3)

    def visit(port: int) -> bytes:
        heard = b""
        with socket.create_connection(("127.0.0.1", port), timeout=30.0) as visitor:
            try:
                visitor.sendall((POST % b"").replace(b"1000000", b"%d" % (2 * size)) + bytes(size))
            except OSError:
                heard = b""  # closed while it was sending: what was answered is here all the same
            while piece := visitor.recv(1000):
                heard += piece
        return heard

    async def story() -> bytes:
        loop, state = asyncio.get_running_loop(), ServerState()
        config = Config(app, interface="asgi3", log_config=None)
        config.load()
        server = await loop.create_server(lambda: H11Protocol(config, state, {}, loop), "127.0.0.1", 0)
        async with server:
            heard = await asyncio.to_thread(visit, server.sockets[0].getsockname()[1])
        while state.connections:
            await asyncio.sleep(0.01)
        return heard

    try:
        assert asyncio.run(story()).startswith(b"HTTP/1.1 204")
    finally:
        lengths.unguard()


TINY = frame(BINARY, b"x", last=False) + frame(0, b"x", last=False) * 900
FLOODS = {"parts of a byte": TINY, "pings": frame(9, b"x") * 55}


async def flooded(flood: bytes, pages: int, monkeypatch: pytest.MonkeyPatch) -> int:
    """How many frames are looked at within a second of these many pages of one address, which all bring it at once."""
    monkeypatch.setattr(reads, "_paces", Paces(1e6, 1.0))
    senders = [Sender(REQUEST) for _ in range(pages)]
    await asyncio.sleep(0.01)
    monkeypatch.setattr(reads, "_paces", Paces(100.0, 1.0))
    seen = []
    for sender in senders:
        page = sender.line.protocol._protocol  # who took the connection over
        look = page.conn.recv_frame
        page.conn.recv_frame = lambda each, look=look: seen.append(1) or look(each)
    left = [(sender.line, flood) for sender in senders]
    for _ in range(10):
        left = [(line, data[line.brings(data) :]) for line, data in left]
        await asyncio.sleep(0.1)
    return len(seen)


@pytest.mark.parametrize("kind", FLOODS)
def test_frames_of_all_pages_of_an_address_are_looked_at_at_its_pace(
    kind: str, loop: Leaping, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are charged as they come and not when a message is whole, which may be never; and before others are read."""
    one = FLOODS[kind].count(b"x")
    assert loop.run_until_complete(flooded(FLOODS[kind], 100, monkeypatch)) <= 200 + 2 * one
    assert loop.run_until_complete(flooded(FLOODS[kind], 1, monkeypatch)) <= one


@pytest.mark.parametrize("kind", FLOODS)
def test_they_would_be_looked_at_at_once(kind: str, loop: Leaping, monkeypatch: pytest.MonkeyPatch) -> None:
    """The test above can fail."""
    monkeypatch.setattr(reads.Reading, "brought", lambda reading, data, protocol: protocol.data_received(data))
    assert loop.run_until_complete(flooded(FLOODS[kind], 100, monkeypatch)) > 20 * FLOODS[kind].count(b"x")


def test_what_waited_for_its_address_comes_whole_and_in_order(loop: Leaping, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reads, "_paces", Paces(10.0, 1.0))
    got = bytearray()

    async def story() -> None:
        sender, file = Sender((POST % b"taken").replace(b"1000000", b"200000")), bytes(range(250)) * 800
        receive = sender.protocol.cycle.receive

        async def noted() -> Any:
            message = await receive()
            got.extend(message.get("body", b""))
            return message

        sender.protocol.cycle.receive = noted  # type: ignore[method-assign]
        while file:
            await asyncio.sleep(0.05)
            file = file[sender.line.brings(file) :]
        await asyncio.sleep(100.0)
        assert sender.line.written.startswith(b"HTTP/1.1 204")

    loop.run_until_complete(story())
    assert bytes(got) == bytes(range(250)) * 800


async def starved(others: int, monkeypatch: pytest.MonkeyPatch) -> float:
    """Seconds until a click of a page is taken, of whose address these many pages send messages of many frames without
    end."""
    loop = asyncio.get_running_loop()
    monkeypatch.setattr(reads, "_paces", Paces(1e6, 1.0))
    senders = [Sender(REQUEST) for _ in range(others + 1)]
    await asyncio.sleep(0.01)
    monkeypatch.setattr(reads, "_paces", Paces(100.0, 1.0))
    honest, *hostile = [sender.line for sender in senders]
    came: list[float] = []
    page = honest.protocol._protocol
    page.conn.recv_frame = lambda each: came.append(loop.time())
    many = frame(BINARY, b"x", last=False) + frame(0, b"x", last=False) * 48 + frame(0, b"x")
    for step in range(100):
        for line in hostile:
            line.brings(many)
        if step == 20:
            began, click = loop.time(), frame(BINARY, b"click")
        if step >= 20 and click:
            click = click[honest.brings(click) :]
        if came:
            return came[0] - began
        await asyncio.sleep(0.1)
    return 100.0


def test_who_brings_little_goes_on_before_others_of_the_address(loop: Leaping, monkeypatch: pytest.MonkeyPatch) -> None:
    assert loop.run_until_complete(starved(30, monkeypatch)) < 2.0


def test_in_any_order_they_would_wait_for_all_of_them(loop: Leaping, monkeypatch: pytest.MonkeyPatch) -> None:
    """The test above can fail."""
    monkeypatch.setattr(reads.Reading, "done", lambda reading, now: 0.0)
    assert loop.run_until_complete(starved(30, monkeypatch)) > 5.0


async def kept_waiting(others: int, monkeypatch: pytest.MonkeyPatch) -> float:
    """Seconds until a browser's request is answered, of whose address so many connections bring byte after byte."""
    loop = asyncio.get_running_loop()
    monkeypatch.setattr(reads, "_paces", Paces(1e6, 1.0))
    honest, *hostile = [Sender(PROPER), *(Sender(HEAD + b"X: ") for _ in range(others))]
    await asyncio.sleep(0.01)
    monkeypatch.setattr(reads, "_paces", Paces(100.0, 1.0))
    asked = PROPER[:-2] + b"Cookie: " + b"x" * 1500 + b"\r\n\r\n"
    for step in range(200):
        for sender in hostile:
            sender.line.brings(b"x")
        if step == 20:
            began = loop.time()
        if step >= 20 and asked:
            asked = asked[honest.line.brings(asked) :]
        if honest.line.written.count(b"HTTP/1.1 204") == 2:
            return loop.time() - began
        await asyncio.sleep(0.1)
    return 100.0


def test_a_browser_s_head_goes_on_before_those_that_come_byte_by_byte(
    loop: Leaping, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert loop.run_until_complete(kept_waiting(60, monkeypatch)) < 2.0
    by_bytes = lambda reading, now: now + len(reading._waits[0]) if reading._waits else now  # noqa: E731 - a mutant
    monkeypatch.setattr(reads.Reading, "done", by_bytes)
    assert loop.run_until_complete(kept_waiting(60, monkeypatch)) > 10.0, "what shows that it can fail"


@pytest.mark.parametrize(
    ("data", "frames"),
    [
        (b"", 0),
        (frame(BINARY, b"click" * 100), 1),
        (frame(BINARY, b"x" * 70_000)[: reads.A_HEAD], 1),
        (frame(BINARY, b"x" * 300) * 10, 10),
        (TINY, 901),
    ],
)
def test_how_many_frames_wait_is_about_told(data: bytes, frames: int) -> None:
    assert reads.about(data) == pytest.approx(frames, rel=0.01)


@pytest.mark.parametrize("ours", [True, False])
def test_a_request_that_rests_is_not_idle(loop: Leaping, monkeypatch: pytest.MonkeyPatch, *, ours: bool) -> None:
    """Its connection would be closed without an answer, as one on which nothing comes."""
    if not ours:  # what shows that it can fail
        monkeypatch.setattr(H11Protocol, "_unset_keepalive_if_required", lambda _: None)

    async def story() -> int:
        monkeypatch.setattr(reads, "_paces", Paces(1e6, 1.0))
        sender = Sender(PROPER)
        await asyncio.sleep(0.01)
        monkeypatch.setattr(reads, "_paces", ahead := Paces(1.0, 0.0))
        ahead.of(HERE).wait(20.0)
        sender.line.brings(PROPER)
        await asyncio.sleep(30.0)
        return sender.line.written.count(b"HTTP/1.1 204")

    assert loop.run_until_complete(story()) == (2 if ours else 1)
