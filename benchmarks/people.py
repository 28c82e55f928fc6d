"""People moving the ε slider, many at once, by the protocol that Streamlit's own page speaks with its server."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import websockets
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

LEVELS = (0.1, 0.2, 0.3, 0.5, 0.8, 1.0, 1.5, 2.0)
TOO_LONG = 60.0  # seconds without a message

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
        failed = False
        while True:
            told = ForwardMsg()
            raw = await asyncio.wait_for(self._connection.recv(decode=False), TOO_LONG)
            told.ParseFromString(raw)
            if told.metadata.cacheable and told.hash:
                self._known.add(told.hash)
            told_of = told.WhichOneof("type")
            if told_of == "navigation":
                self._page_hash = told.navigation.page_script_hash
            elif told_of == "delta":
                element = told.delta.new_element
                self.saw(element)
                self._waits |= element.progress.text.endswith(" parts")
                failed |= element.WhichOneof("type") == "exception"
                for kind in ("number_input", "slider"):
                    control = getattr(element, kind)
                    if control.id.endswith(("-epsilon", f"-{TYPED}")):
                        self._epsilon, self._slides = control.id, kind == "slider"
            elif told_of == "script_finished":
                if told.script_finished == ForwardMsg.FINISHED_EARLY_FOR_RERUN:
                    continue  # work that went on beside the page was done, and it is drawn anew
                if failed or told.script_finished != ForwardMsg.FINISHED_SUCCESSFULLY:
                    raise RuntimeError("the script failed")
                return time.perf_counter() - start


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
