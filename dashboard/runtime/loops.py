"""The event loop that a session has for its scripts is closed while its page is not open and no script runs.

It is three open files, of which a server has so many for all. Streamlit makes it with the session, keeps it for a page
that may come back, and of a session that it then drops it leaves it to Python's collector: whoever opened pages and
left them at once had the files of everybody.
"""

from __future__ import annotations

import asyncio
from typing import Any

from streamlit import runtime
from streamlit.runtime.app_session import AppSession, _close_script_event_loop
from streamlit.runtime.websocket_session_manager import WebsocketSessionManager

from dashboard.runtime.replaced import Methods, put, put_back, there


def again(session: AppSession) -> None:
    """A script of the session is about to run: it needs one, also where its page was left meanwhile."""
    if session._script_event_loop.is_closed():
        session._script_event_loop = asyncio.new_event_loop()


def _close(session: AppSession) -> None:
    if session._scriptrunner is None:
        _close_script_event_loop(session._script_event_loop)


def _left(manager: WebsocketSessionManager, session_id: str) -> None:
    """A page was closed, or its connection is lost."""
    found = manager.get_active_session_info(session_id)
    _STREAMLITS[WebsocketSessionManager, "disconnect_session"](manager, session_id)
    if found is not None:
        _close(found.session)


def _told(session: AppSession, *event: Any, **more: Any) -> None:
    """What a script told of itself, that it has ended among it."""
    _STREAMLITS[AppSession, "_handle_scriptrunner_event_on_event_loop"](session, *event, **more)
    if session._scriptrunner is None and not runtime.get_instance().is_active_session(session.id):
        _close(session)


_OURS: Methods = {
    (AppSession, "_handle_scriptrunner_event_on_event_loop"): _told,
    (WebsocketSessionManager, "disconnect_session"): _left,
}
_STREAMLITS = there(_OURS)


def guard() -> None:
    """From now on, in this process. Again does nothing."""
    put(_OURS, _STREAMLITS)


def unguard() -> None:
    """As Streamlit does it; for tests."""
    put_back(_OURS)
