"""Where the computer has no memory left, pages close of the address that has most, so that the server stays for others.

What people bring and what is worked out for them is counted and bounded before it is there. A page has a little
beside, and an address may open hundreds. So twice a second it is looked how much is left, as long as a page is open;
where it is too little (``machine_memory``) first what closed pages left is emptied, and then half of the pages of
whoever has most close, the latest first: what their pages hold that is counted, and some for each page. Nobody's do
who has less than is lacking: something else takes the memory then, and a class would go for it. Where all are of one
address a handful stays: those of one person at their own computer. A server that has less than half of its part of the
memory leaves it to others (``ours``).
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress

from dashboard import all_held, machine_memory
from dashboard.background import leaving
from dashboard.serving.asgi import Message, Send
from dpcore.defects import reported

APART, FEW, EACH = 0.5, 16, 2 << 20
"""Seconds between two looks, pages that stay where all are of one address, and bytes that a page counts for beside what
is counted of it."""
CLOSED = 1013  # try again later
_LOG = logging.getLogger(__name__)


class OpenPage:
    """One page that may be closed from here; ``send`` is what goes to it."""

    def __init__(self, send: Send) -> None:
        self._send, self._closed = send, False

    async def send(self, message: Message) -> None:
        if self._closed:
            raise OSError("closed")  # as where the connection is gone
        await self._send(message)

    async def close(self) -> None:
        self._closed = True
        with suppress(OSError, RuntimeError):  # it closed meanwhile
            await self._send({"type": "websocket.close", "code": CLOSED})


class Relief:
    """The open pages by their address, and the one task that watches over the memory, while there are any."""

    def __init__(
        self,
        short: Callable[[], bool] = machine_memory.is_short,
        empty: Callable[[], None] = leaving.empty,
        give_back: Callable[[], None] = machine_memory.give_back,
        *,
        held: Callable[[str], int] = all_held.held,
        let_go: Callable[[], None] = lambda: None,
        enough: Callable[[], int] = machine_memory.kept_free,
        ours: Callable[[], bool] = lambda: True,
    ) -> None:
        self._let_go, self._enough, self._ours = let_go, enough, ours
        self._closing: set[asyncio.Task[None]] = set()
        self._short, self._empty, self._give_back, self._held = short, empty, give_back, held
        self._pages: dict[str, list[OpenPage]] = {}
        self._watch: asyncio.Task[None] | None = None

    def comes(self, visitor: str, send: Send) -> OpenPage:
        page = OpenPage(send)
        self._pages.setdefault(visitor, []).append(page)
        self.watch()
        return page

    def watch(self) -> None:
        """Watch from now on, as long as a page is open or there is too little."""
        if self._watch is None:
            with suppress(RuntimeError):  # asked outside of the server
                self._watch = asyncio.get_running_loop().create_task(self._watching())

    def goes(self, visitor: str, page: OpenPage) -> None:
        pages = self._pages.get(visitor, [])
        if page in pages:
            pages.remove(page)
        if not pages:
            self._pages.pop(visitor, None)

    async def _watching(self) -> None:
        try:
            while self._pages or self._short():
                await asyncio.sleep(APART)
                try:
                    if self._short():
                        await self.relieve()
                except Exception as error:  # noqa: BLE001 - nobody else would make room
                    reported(error, "making room")
        finally:
            self._watch = None

    async def relieve(self) -> None:
        """Make room: what closed pages left, then pages of whoever has most."""
        self._empty()
        self._let_go()
        await asyncio.sleep(APART)  # another thread does
        with suppress(RuntimeError):  # the system gives no thread for that: pages close all the same
            await asyncio.to_thread(self._give_back)
        await asyncio.sleep(APART)
        if not self._short():
            return
        if not self._pages or not self._ours():
            return
        whose = max(self._pages, key=lambda visitor: self._held(visitor) + EACH * len(self._pages[visitor]))
        most = self._pages[whose]
        if self._held(whose) + EACH * len(most) < self._enough():
            return  # it is nobody's pages
        gone = most[FEW if len(self._pages) == 1 else 0 :][-max(1, len(most) // 2) :]
        if not gone:
            return
        del most[-len(gone) :]
        _LOG.warning("no memory left: closing %d pages of one address", len(gone))
        for page in gone:  # one that does not read takes a while to close
            self._closing.add(task := asyncio.get_running_loop().create_task(page.close()))
            task.add_done_callback(self._closing.discard)
