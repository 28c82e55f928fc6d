"""Plain requests of one address, for the files of a page and all else: how many are under way, and at which pace.

A request of a hundred bytes may ask for megabytes, and the one thread that answers is then busy with whoever asked for
most: a few thousand at once kept everybody else waiting until the balancer took the server for dead. Here a request
waits before anything is made of it while its address has many under way, and each piece that comes or goes waits while
its address is ahead of what one may make, so that there is always a turn for somebody else.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict, deque
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from itertools import islice

from dashboard.background import speed
from dashboard.serving.asgi import Message, Receive, Send
from dashboard.serving.pace import Pace, fits, in_turn

AT_ONCE, WAITING = 200, 3_000
"""Requests of one address that are under way, and those and the ones that wait. A browser has six connections, and 400
pages of a school that open at one moment have 2,400."""
TOLD_AFTER = 30.0
"""Seconds after which one more than these is told so, if whoever asked is still there: to be told at once cost as much
as an answer, and was asked for again the same moment."""
REQUESTS_EACH, AHEAD = 300.0, 1.0
"""Requests a second of one address, and what it did not make use of in so many seconds before at once. A page has some
hundred when it is opened for the first time, and few when a browser has kept its files; so many take some half of a
usual computer's processor, and a faster one takes more (``speed.weight``)."""
IN_A_TURN = 16
"""Requests that begin in one turn of the loop: some ten milliseconds of work."""
A_PIECE, BYTES = 0.04, 1_000_000.0
"""What a piece of a body counts in requests, and how many bytes count as one: files leave in pieces of 64 kB."""
PIECE, MOST_WHOLE, LITTLE_WHOLE = 1 << 16, 128 << 20, 16 << 20
"""Bytes of a piece; of all long bodies that wait to be read, of which an address has its share at most, and a little in
any case."""
A_FILE = 4.0
"""What a byte of an uploaded file counts, in those of other bodies: it is gone through, kept and handed to a thread."""
OPENING, BRINGING = 3.0, 20.0
"""What opening a page counts, a session being made for it, and what a file counts beside its bytes, all that lie here
being looked through."""


@dataclass(slots=True, eq=False)
class _Address:
    """What one address has under way and waiting, and how far ahead it is."""

    pace: Pace = field(default_factory=lambda: Pace(REQUESTS_EACH, AHEAD, speed.weight))
    places: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(AT_ONCE))
    here: int = 0


class _Fairly:
    """Some begin in a turn of the loop, one of each address that has any, in turn: those of a few addresses, each at
    its pace, are together more than one thread answers, and whoever asks once waits for one of each of them."""

    def __init__(self) -> None:
        self._waiting: OrderedDict[str, deque[asyncio.Future[None]]] = OrderedDict()
        self._begun, self._called = 0, False

    async def turn(self, whose: str) -> None:
        loop = asyncio.get_running_loop()
        if not self._called:
            self._called = True
            loop.call_soon(self._next, loop)
        if not self._waiting and self._begun < IN_A_TURN:
            self._begun += 1
            return
        place: asyncio.Future[None] = loop.create_future()
        self._waiting.setdefault(whose, deque()).append(place)
        await place

    def _next(self, loop: asyncio.AbstractEventLoop) -> None:
        """The next turn of the loop."""
        self._begun = 0
        while self._waiting and self._begun < IN_A_TURN:
            whose, theirs = self._waiting.popitem(last=False)
            place = theirs.popleft()
            if theirs:
                self._waiting[whose] = theirs
            if not place.done():  # whoever waited may have been cancelled
                place.set_result(None)
                self._begun += 1
        self._called = self._begun > 0
        if self._called:
            loop.call_soon(self._next, loop)


class PlainRequests:
    """Of all addresses; one for each server."""

    def __init__(self) -> None:
        self._fairly = _Fairly()
        self._known: dict[str, _Address] = {}  # whoever asked longest ago comes first

    @asynccontextmanager
    async def turn(
        self, whose: str, work: float = 1.0, gone: Callable[[], bool] = lambda: False
    ) -> AsyncIterator[Pace | None]:
        """A place for one request, once it is this one's turn, and the pace of its pieces. Raises Gone where its sender
        is by then: it counts for nothing, and keeps nobody waiting.

        None, and at once, where more of this address wait than any browsers ask for: say so only if it ``stays``.
        """
        address = self._known.pop(whose, None) or _Address()
        self._forget()
        self._known[whose] = address
        if address.here >= WAITING:
            yield None
            return
        address.here += 1
        try:
            async with address.places:
                if gone():
                    raise Gone
                await in_turn(work, [address.pace])
                await self._fairly.turn(whose)
                if gone():
                    raise Gone
                yield address.pace
        finally:
            address.here -= 1

    def _forget(self) -> None:
        """Those who asked longest ago, two for each that comes, unless they would begin anew by that."""
        for whose, address in list(islice(self._known.items(), 2)):
            if address.here or not address.pace.idle:
                return
            del self._known[whose]


async def stays(receive: Receive, seconds: float = TOLD_AFTER) -> bool:
    """Whether whoever sent a request without a body is still there after so many ``seconds``."""
    try:
        async with asyncio.timeout(seconds):
            for _ in range(2):  # that it came, and that it went
                if str((await receive())["type"]).endswith(".disconnect"):
                    return False
            await asyncio.sleep(seconds)
    except TimeoutError:
        pass
    return True


def arriving(receive: Receive, pace: Pace, a_byte: float = 1.0) -> Receive:
    """The pieces of a request's body, at a pace; what a byte of it counts."""

    async def paced() -> Message:
        message = await receive()
        if message.get("body"):
            await in_turn(_work(message, a_byte), [pace])
        return message

    return paced


class Gone(Exception):
    """Whoever sent a request has gone before it was its turn."""


def has_gone(receive: Receive) -> Callable[[], bool]:
    """Whether whoever is to be received from has gone, as uvicorn knows it without anything being received."""
    cycle = getattr(receive, "__self__", None)
    return lambda: bool(getattr(cycle, "disconnected", False))


class NotTaken(Exception):
    """An answer that is not sent to its end: its address has too many that it does not read."""


@dataclass(slots=True, eq=False)
class _Whole:
    """A body that is here until it was sent to the end: how long, and to how many of an address it is going."""

    whose: str
    size: int
    going: int = 1


class Leaving:
    """Answers as they leave, in pieces, each at a pace and once the one before it was read: what waits to be read is a
    piece of each, and the bodies themselves, which are bounded together and for an address."""

    def __init__(self, most: int = MOST_WHOLE) -> None:
        self._most = most
        self._whole: dict[int, _Whole] = {}

    def paced(self, send: Send, pace: Pace, whose: str) -> Send:
        """Raises NotTaken where too much of others' and theirs waits to be read."""

        async def paced(message: Message) -> None:
            body = message.get("body") or b""
            if len(body) <= PIECE:
                if body:
                    await in_turn(_work(message), [pace])
                await send(message)
                return
            with self._held(body, whose):
                for start in range(0, len(body), PIECE):
                    part = {**message, "body": bytes(memoryview(body)[start : start + PIECE])}
                    part["more_body"] = message.get("more_body", False) or start + PIECE < len(body)
                    await in_turn(_work(part), [pace])
                    await send(part)

        return paced

    @contextmanager
    def _held(self, body: bytes, whose: str) -> Iterator[None]:
        """A body that several take is here once; a little of each address always may be."""
        found = self._whole.get(id(body))
        if found is None:
            theirs = sum(one.size for one in self._whole.values() if one.whose == whose) + len(body)
            every = [(one.whose, one.size) for one in self._whole.values()]
            if theirs > LITTLE_WHOLE and not fits([*every, (whose, len(body))], whose, self._most):
                raise NotTaken
            found = self._whole[id(body)] = _Whole(whose, len(body), 0)
        found.going += 1
        try:
            yield
        finally:
            found.going -= 1
            if not found.going:
                del self._whole[id(body)]


def _work(message: Message, a_byte: float = 1.0) -> float:
    return A_PIECE + a_byte * len(message["body"]) / BYTES
