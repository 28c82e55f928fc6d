"""People moving the ε slider, many at once, by the protocol that Streamlit's own page speaks with its server."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import websockets
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

LEVELS = (0.1, 0.2, 0.3, 0.5, 0.8, 1.0, 1.5, 2.0)
TOO_LONG = 60.0  # seconds for one run

TYPED = "epsilon-typed"
"""The key of the box in which the pages take ε, as long as nothing else set it."""


def opened(address: str, *tokens: str, origin: str = "", **more: Any) -> websockets.connect:
    """The connection of a page at ``address``, as a browser makes it; ``tokens`` follow the name of the protocol."""
    return websockets.connect(
        address.replace("http", "ws", 1) + "/_stcore/stream",
        subprotocols=[websockets.Subprotocol(name) for name in ("streamlit", *tokens)],
        max_size=None,
        compression=None,
        origin=websockets.Origin(origin or address),
        **more,
    )


class Told(NamedTuple):
    """What a message says that a person of ours looks at."""

    kind: str | None
    kept: str  # its hash, where a browser keeps it
    page_hash: str
    element: Any  # protobuf; None where none is drawn
    failed: bool
    waits: bool
    epsilon: str  # the id of the control that takes ε
    slides: bool
    finished: int


@lru_cache(maxsize=2000)
def told_by(raw: bytes) -> Told:
    """The message; most are the same bytes again, and who asks is to take little of the processors that answer."""
    message = ForwardMsg()
    message.ParseFromString(raw)
    kind = message.WhichOneof("type")
    element = message.delta.new_element if kind == "delta" else None
    epsilon, slides = "", False
    if element is not None:
        for control in ("number_input", "slider"):
            name = getattr(element, control).id
            if name.endswith(("-epsilon", f"-{TYPED}")):
                epsilon, slides = name, control == "slider"
    return Told(
        kind=kind,
        kept=message.hash if message.metadata.cacheable else "",
        page_hash=message.navigation.page_script_hash if kind == "navigation" else "",
        element=element,
        failed=element is not None and element.WhichOneof("type") == "exception",
        waits=element is not None and element.progress.text.endswith(" parts"),
        epsilon=epsilon,
        slides=slides,
        finished=message.script_finished if kind == "script_finished" else -1,
    )


@dataclass(slots=True)
class Lived:
    """Milliseconds of every rerun, and how many of them failed."""

    milliseconds: list[float] = field(default_factory=list)
    errors: int = 0


class Person:
    """One session on one page, which has a slider whose key is "epsilon", or the box in which the pages take ε."""

    def __init__(self, address: str, page: str) -> None:
        self.address, self.page = address, page
        self._connection: websockets.ClientConnection
        self._page_hash = self._epsilon = ""
        self._slides = self._waits = False
        self._known: set[str] = set()  # messages that a browser would have kept

    async def arrive(self) -> None:
        """Open the page."""
        self._connection = await opened(self.address)
        await self._run(BackMsg())

    async def leave(self) -> None:
        await self._connection.close()

    async def move(self, epsilon: float) -> float:
        """Type an ε; seconds until the page is complete. Raises RuntimeError when the script failed."""
        asked = BackMsg()
        widget = asked.rerun_script.widget_states.widgets.add()
        widget.id = self._epsilon
        if self._slides:
            widget.double_array_value.data.append(epsilon)
        else:
            widget.double_value = epsilon
        return await self._run(asked)

    async def until_done(self, epsilon: float) -> None:
        """Wait for what is simulated beside the page, asking again as a browser does."""
        while True:
            self._waits = False
            await self.move(epsilon)
            if not self._waits:
                return
            await asyncio.sleep(1.0)

    def saw(self, element: object) -> None:
        """Told of every element that is drawn, for those who look for more than ε."""

    async def _run(self, asked: BackMsg) -> float:
        state = asked.rerun_script
        state.page_script_hash, state.page_name = self._page_hash, "" if self._page_hash else self.page
        state.cached_message_hashes.extend(self._known)
        start = time.perf_counter()
        await self._connection.send(asked.SerializeToString())
        async with asyncio.timeout(TOO_LONG):
            await self._read_on()
        return time.perf_counter() - start

    async def _read_on(self) -> None:
        """Until the run is over."""
        failed = False
        while True:
            told = told_by(await self._connection.recv(decode=False))
            if told.kept:
                self._known.add(told.kept)
            if told.kind == "delta":
                self.saw(told.element)
                self._waits |= told.waits
                failed |= told.failed
                if told.epsilon:
                    self._epsilon, self._slides = told.epsilon, told.slides
            elif told.kind == "navigation":
                self._page_hash = told.page_hash
            elif told.kind == "script_finished":
                if told.finished == ForwardMsg.FINISHED_EARLY_FOR_RERUN:
                    continue  # work that went on beside the page was done, and it is drawn anew
                if failed or told.finished != ForwardMsg.FINISHED_SUCCESSFULLY:
                    raise RuntimeError("the script failed")
                return


def live(address: str, pages: Sequence[str], *, sessions: int, thinking: float, seconds: float) -> Lived:
    """``sessions`` people on ``pages`` in turn, each moving ε about every ``thinking`` s for ``seconds`` s.

    The first on every page goes through all levels before, so that what is measured is a warm server.
    """
    return asyncio.run(_live(address, pages, sessions, thinking, seconds))


async def _live(address: str, pages: Sequence[str], sessions: int, thinking: float, seconds: float) -> Lived:
    everyone = [Person(address, pages[number % len(pages)]) for number in range(sessions)]
    for person in everyone:
        await person.arrive()
    for person in everyone[: len(pages)]:
        for level in LEVELS:
            await person.move(level)
    lived = Lived()
    await asyncio.gather(*(_one(person, number, thinking, seconds, lived) for number, person in enumerate(everyone)))
    for person in everyone:
        await person.leave()
    return lived


async def _one(person: Person, number: int, thinking: float, seconds: float, lived: Lived) -> None:
    rng = np.random.Generator(np.random.PCG64(number))
    await asyncio.sleep(float(rng.random()) * thinking)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            lived.milliseconds.append(1000 * await person.move(float(rng.choice(LEVELS))))
        except (RuntimeError, TimeoutError, websockets.WebSocketException):
            lived.errors += 1
            return
        await asyncio.sleep(thinking * float(0.5 + rng.random()))
