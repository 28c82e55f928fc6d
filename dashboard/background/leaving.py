"""What becomes of a session whose tab was closed: everything it held goes, whether or not another visitor ever comes.

Streamlit keeps the session of a closed tab for a while, so that a lost connection can be taken up again, but looks for
what is overdue only when the next tab is closed; on a quiet server that may be never. And what is dropped then is
garbage that refers to itself, which nobody collects here (``postScriptGC``).
"""

from __future__ import annotations

import gc
import threading
from typing import Any, Protocol, runtime_checkable

import streamlit as st
from streamlit import runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx


@runtime_checkable
class Beside(Protocol):
    """Work beside the page that a session holds, and that ends with it."""

    def cancel(self) -> None: ...


MARGIN = 2.0
"""Seconds after which a session that Streamlit would no longer take up again is emptied."""
_timers: dict[str, threading.Timer] = {}
_lock = threading.Lock()


class Visit:
    """One session while its tab is open; ``left`` is called when the tab is closed or the connection is lost."""

    def __init__(self, session: str, state: Any) -> None:
        self.session, self._state = session, state

    def left(self) -> None:
        """Empty the session once it cannot come back."""
        wait = float(st.get_option("server.disconnectedSessionTTL") or 0) + MARGIN
        timer = threading.Timer(wait, self.end)
        timer.daemon = True
        with _lock:
            _timers[self.session] = timer
        timer.start()

    def end(self) -> None:
        """Drop everything the session held, unless its tab is open again."""
        with _lock:
            _timers.pop(self.session, None)
        if runtime.exists() and runtime.get_instance().is_active_session(self.session):
            return
        for held in list(self._state.filtered_state.values()):
            if isinstance(held, Beside):
                held.cancel()  # it would go on for nobody
        self._state.clear()
        gc.collect()


def _left(visit: Visit | None) -> None:
    if visit is not None:
        visit.left()


@st.cache_resource(scope="session", show_spinner=False, on_release=_left)
def visit() -> Visit | None:
    """Watch over this session; call in every run. A session that came back is no longer about to be emptied."""
    context = get_script_run_ctx()
    if context is None:
        return None
    with _lock:
        timer = _timers.pop(context.session_id, None)
    if timer is not None:
        timer.cancel()
    # the wrapper lives for one run, the state in it as long as the session
    return Visit(context.session_id, context.session_state._state)
