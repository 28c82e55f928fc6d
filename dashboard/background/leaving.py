"""What becomes of a session whose tab was closed: everything it held goes, whether or not another visitor ever comes.

Streamlit keeps the session of a closed tab for a while, so that a lost connection can be taken up again, but looks for
what is overdue only when the next tab is closed; on a quiet server that may be never. And what is dropped then is
garbage that refers to itself, which nobody collects here (``postScriptGC``).

Pages can be opened and closed faster than sessions come to their end. So one thread sees to all of them. A page in
which nobody did anything is nothing to come back to, and is emptied soon (``keeps``). Where there are more than
``MOST`` others, the one that was left first by the address that left most is emptied at once: whoever opens and closes
pages without end takes no file from somebody else whose connection was lost.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
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
from dashboard.serving.heads import network
from dpcore.defects import reported
from dpcore.threads import WorkingThread


@runtime_checkable
class Beside(Protocol):
    """Work beside the page that a session holds, and that ends with it."""

    def cancel(self) -> None: ...


MARGIN = 2.0
"""Seconds after which a session that Streamlit would no longer take up again is emptied."""
SETTLES = 1.0
"""Seconds after which Streamlit, too, has done with a tab that was closed: until then its session cannot be emptied."""
MOST = 128
"""Sessions of closed tabs that may come back, of all addresses."""


class Visit:
    """One session while its tab is open, of a visitor from ``whose`` network; ``left`` is called when the tab is closed
    or the connection is lost."""

    def __init__(self, session: str, state: Any, whose: str = "") -> None:
        self.session, self.whose, self._state = session, whose, state

    def left(self) -> None:
        """Empty the session once it cannot come back."""
        comes_back = self.open or not runtime.exists() or self.session in _waiting
        wait = float(st.get_option("server.disconnectedSessionTTL") or 0) if comes_back else 0.0
        _waiting.add(self, wait + MARGIN, comes_back=comes_back)

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


@dataclass(slots=True)
class _Left:
    """A session that was left: since when, until when it may come back, and whether it does at all."""

    visit: Visit
    since: float
    until: float
    comes_back: bool


class Waiting:
    """The sessions that were left and not yet emptied, and the one thread that empties them, while there are any."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._left: dict[str, _Left] = {}  # the first left is the first
        self._changed = threading.Condition()
        self._thread = WorkingThread("leaving", self._empty)

    def __len__(self) -> int:
        return len(self._left)

    def __contains__(self, session: str) -> bool:
        return session in self._left

    def add(self, visit: Visit, wait: float, *, comes_back: bool = True) -> None:
        with self._changed:
            before, now = self._left.pop(visit.session, None), time.monotonic()
            comes_back = comes_back and (before is None or before.comes_back)
            self._left[visit.session] = _Left(visit, now, now + wait, comes_back)
            self._changed.notify()
        self._thread.wake()

    def came_back(self, session: str) -> None:
        with self._changed:
            self._left.pop(session, None)

    def keeps(self, session: str, *, used: bool) -> bool:
        """Whether a session that is being left may come back. One that nobody ``used`` is emptied soon."""
        with self._changed:
            left = self._left.get(session)
            if left is not None and not used:
                left.comes_back, left.until = False, min(left.until, left.since + MARGIN)
                self._changed.notify()
            return left is not None and left.comes_back

    def empty(self) -> None:
        """Empty all of them now: the memory is needed."""
        with self._changed:
            for left in self._left.values():
                left.until = 0.0
            self._changed.notify()
        self._thread.wake()

    def _empty(self) -> bool:
        due = self._next()
        if not due:
            return False
        names = [visit.session for visit in due]
        while due:  # nobody who is emptied is held on to while others wait
            _end(due.pop())
        _let_go(names)
        garbage.soon()
        return True

    def _next(self) -> list[Visit]:
        """Those whose time is over, and those that are too many; waits for the first. None where nobody waits."""
        with self._changed:
            while self._left:
                now = time.monotonic()
                names = [name for name, left in self._left.items() if left.until <= now]
                many = self._too_many(set(names))
                names += [name for name in many if self._left[name].since + SETTLES <= now]
                if names:
                    return [self._left.pop(name).visit for name in names]
                until = [left.until for left in self._left.values()]
                self._changed.wait(min([*until, *(self._left[name].since + SETTLES for name in many)]) - now)
            return []

    def _too_many(self, but: set[str]) -> list[str]:
        """Those beyond ``most``, without ``but``: of the address that has most the first left, again and again."""
        by_address: dict[str, deque[str]] = {}
        for name, left in self._left.items():
            if left.comes_back and name not in but:
                by_address.setdefault(left.visit.whose, deque()).append(name)
        over = sum(map(len, by_address.values())) - self._most
        return [max(by_address.values(), key=len).popleft() for _ in range(over)]


def _end(visit: Visit) -> None:
    try:
        visit.end()
    except Exception as error:  # noqa: BLE001 - nobody else would empty the others
        reported(error, "emptying a session")


def _let_go(names: Iterable[str]) -> None:
    """Streamlit holds those that cannot come back, and what their pages said last, until the next tab is closed."""
    if not runtime.exists():
        return
    here = runtime.get_instance()
    manager = here._session_mgr
    storage = manager._session_storage if isinstance(manager, WebsocketSessionManager) else None
    cache = storage._cache if isinstance(storage, MemorySessionStorage) else None
    if isinstance(cache, TTLCache):  # which is for one thread
        with suppress(RuntimeError):  # a server that has not begun yet, or has ended, holds none
            here._get_async_objs().eventloop.call_soon_threadsafe(partial(_forget, cache, names))


def _forget(cache: TTLCache[str, Any], names: Iterable[str]) -> None:
    cache.expire()
    for name in names:
        if name not in _waiting:  # else it came back, and was left again
            cache.pop(name, None)


_waiting = Waiting()


def empty() -> None:
    """Have all that closed tabs left emptied now."""
    _waiting.empty()


def keeps(session: str, *, used: bool) -> bool:
    """Whether a session whose tab is being closed may come back: see ``Waiting.keeps``."""
    return _waiting.keeps(session, used=used)


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
    # the wrapper lives for one run, the state in it as long as the session
    found = Visit(context.session_id, context.session_state._state, network(st.context.ip_address or ""))
    if found.open or not runtime.exists():  # else its script ran on
        _waiting.came_back(context.session_id)
    return found
