"""One browser window that speaks the browser's own protocol: what the benchmarks of rooms make a crowd of."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import websockets
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from benchmarks.people import TOO_LONG, opened


class Window:
    """One window on ``page`` with the link's ``query``: knows its buttons and numbers by key, and looks again, as often
    as its page asks for it, as the browser does for a part that is drawn every so often. Its browser has
    the ``cookie``.
    """

    def __init__(self, address: str, page: str, query: str, cookie: str = "") -> None:
        self._address, self._page, self._query, self._cookie = address, page, query, cookie
        self._connection: websockets.ClientConnection
        self._page_hash = ""
        self._known: set[str] = set()
        self._gone: set[str] = set()
        self.looked: list[float] = []
        """Seconds that each look took."""
        self.widgets: dict[str, tuple[str, str]] = {}
        """By key: the widget's id, and the part of the page that it belongs to."""
        self.text: list[str] = []
        self.links: list[str] = []
        self._turn = asyncio.Lock()
        self._looking: dict[str, asyncio.Task[None]] = {}
        self._every: set[asyncio.Task[None]] = set()
        self._left = False
        self.errors = 0

    async def arrive(self) -> float:
        """Open the page; seconds until it is drawn."""
        start = time.perf_counter()
        told = {"Cookie": self._cookie} if self._cookie else {}
        self._connection = await opened(self._address, additional_headers=told)
        async with self._turn:
            await self._run(BackMsg())
        return time.perf_counter() - start

    async def leave(self) -> None:
        self._left = True
        for task in self._every:
            task.cancel()
        await asyncio.gather(*self._every, return_exceptions=True)
        await self._connection.close()

    async def click(self, key: str) -> float:
        """Press a button by its key; seconds until the page shows what follows. Raises KeyError where it is not."""
        return await self._set(key, trigger_value=True)

    async def type(self, key: str, number: float) -> float:
        """Put a number into its field; seconds as in ``click``."""
        return await self._set(key, double_value=number)

    async def until(self, key: str) -> None:
        """Wait until a widget is there: its page follows by itself. Raises TimeoutError."""
        async with asyncio.timeout(TOO_LONG):
            while key not in self.widgets:
                await asyncio.sleep(0.05)

    async def _set(self, key: str, **value: bool | float) -> float:
        start = time.perf_counter()
        async with self._turn:
            widget, fragment = self.widgets[key]
            asked = BackMsg()
            state = asked.rerun_script.widget_states.widgets.add()
            state.id = widget
            for name, given in value.items():
                setattr(state, name, given)
            asked.rerun_script.fragment_id = fragment
            await self._run(asked)
        return time.perf_counter() - start

    async def _look(self, fragment: str, seconds: float) -> None:
        while fragment not in self._gone:
            await asyncio.sleep(seconds)
            async with self._turn:
                if fragment in self._gone:
                    return
                asked = BackMsg()
                asked.rerun_script.fragment_id, asked.rerun_script.is_auto_rerun = fragment, True
                start = time.perf_counter()
                try:
                    await self._run(asked)
                    self.looked.append(time.perf_counter() - start)
                except RuntimeError:
                    self.errors += 1

    def _keep_looking(self, fragment: str, seconds: float) -> None:
        self._gone.discard(fragment)
        if self._left or (fragment in self._looking and not self._looking[fragment].done()):
            return
        self._looking[fragment] = asyncio.create_task(self._look(fragment, seconds))
        self._every.add(self._looking[fragment])

    async def _run(self, asked: BackMsg) -> None:
        state = asked.rerun_script
        state.page_script_hash, state.page_name = self._page_hash, "" if self._page_hash else self._page
        state.query_string = self._query
        state.cached_message_hashes.extend(self._known)
        await self._connection.send(asked.SerializeToString())
        failed = False
        while True:
            told = ForwardMsg()
            told.ParseFromString(await asyncio.wait_for(self._connection.recv(decode=False), TOO_LONG))
            if told.metadata.cacheable and told.hash:
                self._known.add(told.hash)
            kind = told.WhichOneof("type")
            if kind == "new_session":
                self._page_hash = told.new_session.page_script_hash
                if not told.metadata.run.fragment_ids:  # the whole page anew, which says again what looks again
                    self._gone.update(self._looking)
                    self.widgets.clear()
            elif kind == "navigation":
                self._page_hash = told.navigation.page_script_hash
            elif kind == "page_info_changed":
                self._query = told.page_info_changed.query_string
            elif kind == "auto_rerun":
                self._keep_looking(told.auto_rerun.fragment_id, told.auto_rerun.interval)
            elif kind == "stop_auto_rerun":
                self._gone.update(told.stop_auto_rerun.fragment_ids)
            elif kind == "delta":
                failed |= self._shown(told.delta)
            elif kind == "script_finished" and told.script_finished != ForwardMsg.FINISHED_EARLY_FOR_RERUN:
                if failed:
                    raise RuntimeError("the script failed")
                return

    def _shown(self, delta: Any) -> bool:
        """Note what an element is; whether it is an exception."""
        element = delta.new_element
        kind = element.WhichOneof("type")
        if kind in ("button", "number_input"):
            widget = getattr(element, kind).id
            self.widgets[widget.split("-", 2)[-1]] = (widget, delta.fragment_id)
        elif kind in ("markdown", "heading", "alert"):
            self.text.append(getattr(element, kind).body)
        elif kind == "link_button":
            self.links.append(element.link_button.url)
        return bool(kind == "exception")
