"""What becomes of a session whose tab was closed: everything it held goes, whether or not another visitor ever comes.

Streamlit keeps the session of a closed tab for a while, so that a lost connection can be taken up again, but looks for
what is overdue only when the next tab is closed; on a quiet server that may be never. And what is dropped then is
garbage that refers to itself, which nobody collects here (``postScriptGC``).

Pages can be opened and closed faster than sessions come to their end. So one thread sees to all of them, and beyond as
many as Streamlit would take up again (``MOST``) the one that was left first is emptied at once.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable
from typing import Any, Protocol, runtime_checkable

import streamlit as st
from streamlit import runtime
from streamlit.runtime.caching.ttl_cache import TTLCache
from streamlit.runtime.memory_session_storage import MemorySessionStorage
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.runtime import Runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.websocket_session_manager import WebsocketSessionManager

from dashboard.background import garbage
from dpcore.defects import reported


@runtime_checkable
class Beside(Protocol):
    """Work beside the page that a session holds, and that ends with it."""

    def cancel(self) -> None: ...


MARGIN = 2.0
"""Seconds after which a session that Streamlit would no longer take up again is emptied."""
MOST = 128
"""Sessions of closed tabs that are kept: Streamlit's storage of them takes no more (``MemorySessionStorage``)."""


class Visit:
    """One session while its tab is open; ``left`` is called when the tab is closed or the connection is lost."""

    def __init__(self, session: str, state: Any) -> None:
        self.session, self._state = session, state

    def left(self) -> None:
        """Empty the session once it cannot come back."""
        _waiting.add(self, float(st.get_option("server.disconnectedSessionTTL") or 0) + MARGIN)

    @property
    def open(self) -> bool:
        """Whether its tab is open."""
        return runtime.exists() and runtime.get_instance().is_active_session(self.session)

    def taken(self, names: Iterable[str]) -> dict[str, Any]:
        """These of all that the session held, which is empty then; nothing while its tab is open."""
        if self.open:
            return {}
        found = {name: self._state[name] for name in names if name in self._state}
        for name in found:
            del self._state[name]  # work beside the page goes on for whoever takes it
        self.end()
        return found

    def end(self) -> None:
        """Drop everything the session held, unless its tab is open again."""
        if self.open:
            return
        for held in list(self._state.filtered_state.values()):
            if isinstance(held, Beside):
                held.cancel()  # it would go on for nobody
        self._state.clear()
        files = _files()
        if files is not None:
            files.remove_session_files(self.session)


def _files() -> MemoryUploadedFileManager | None:
    """Where the files lie that pages have not taken over yet."""
    here = runtime.get_instance() if runtime.exists() else None
    found = here.uploaded_file_mgr if isinstance(here, Runtime) else None
    return found if isinstance(found, MemoryUploadedFileManager) else None


class Waiting:
    """The sessions that were left and not yet emptied, and the one thread that empties them, while there are any."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._left: dict[str, tuple[float, Visit]] = {}  # until when, and who; the first left is the first
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None

    def __len__(self) -> int:
        return len(self._left)

    def add(self, visit: Visit, wait: float) -> None:
        with self._changed:
            self._left.pop(visit.session, None)
            self._left[visit.session] = time.monotonic() + wait, visit
            if self._thread is None:
                self._thread = threading.Thread(target=self._empty, name="leaving", daemon=True)
                self._thread.start()
            self._changed.notify()

    def came_back(self, session: str) -> None:
        with self._changed:
            self._left.pop(session, None)

    def empty(self) -> None:
        """Empty all of them now: the memory is needed."""
        with self._changed:
            self._left = {name: (0.0, visit) for name, (_, visit) in self._left.items()}
            self._changed.notify()

    def _empty(self) -> None:
        while due := self._next():
            while due:  # nobody who is emptied is held on to while others wait
                _end(due.pop())
            _let_go()
            garbage.soon()

    def _next(self) -> list[Visit]:
        """Those whose time is over, and those that are too many; waits for the first. None where nobody waits."""
        with self._changed:
            while self._left:
                over, now = len(self._left) - self._most, time.monotonic()
                times = ((name, until) for name, (until, _) in self._left.items())
                names = [name for place, (name, until) in enumerate(times) if place < over or until <= now]
                if names:
                    return [self._left.pop(name)[1] for name in names]
                self._changed.wait(min(until for until, _ in self._left.values()) - now)
            self._thread = None
            return []


def _end(visit: Visit) -> None:
    try:
        visit.end()
    except Exception as error:  # noqa: BLE001 - nobody else would empty the others
        reported(error, "emptying a session")


def _let_go() -> None:
    """Streamlit holds those that cannot come back, and what their pages said last, until the next tab is closed."""
    if not runtime.exists():
        return
    here = runtime.get_instance()
    manager = here._session_mgr
    storage = manager._session_storage if isinstance(manager, WebsocketSessionManager) else None
    cache = storage._cache if isinstance(storage, MemorySessionStorage) else None
    if isinstance(cache, TTLCache):  # which is for one thread
        here._get_async_objs().eventloop.call_soon_threadsafe(cache.expire)


_waiting = Waiting()


def empty() -> None:
    """Have all that closed tabs left emptied now."""
    _waiting.empty()


def _left(visit: Visit | None) -> None:
    if visit is not None:
        visit.left()


def visit() -> Visit | None:
    """Watch over this session; call in every run. A session that came back is no longer about to be emptied."""
    found = _visit()
    if found is not None and runtime.exists() and not found.open:
        found.left()  # its script ran on when its tab was closed, and was not watched at that moment
    return found


@st.cache_resource(scope="session", show_spinner=False, on_release=_left)
def _visit() -> Visit | None:
    context = get_script_run_ctx()
    if context is None:
        return None
    _waiting.came_back(context.session_id)
    # the wrapper lives for one run, the state in it as long as the session
    return Visit(context.session_id, context.session_state._state)
