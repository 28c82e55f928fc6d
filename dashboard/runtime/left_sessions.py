"""Streamlit keeps of closed tabs the sessions that may come back, and as many, as ``background.leaving`` says.

Its own storage keeps the last 128 that were closed, whosesoever: one address that opened and closed pages took from
everybody else what they held, as soon as their connection was lost. A page that was opened and never asked for anything
more, or that never ran, holds nothing to come back to.

Those that it forgets it has ended by whatever finds them to be garbage: Python's collector, which can run in the very
thread that holds a lock that ending takes, and would wait for it for good. Here the server's loop ends them.
"""

from __future__ import annotations

import asyncio
import math
from contextlib import suppress
from typing import TYPE_CHECKING

from streamlit import runtime
from streamlit.runtime.app_session import AppSession, AppSessionState
from streamlit.runtime.caching.ttl_cache import TTLCache
from streamlit.runtime.memory_session_storage import MemorySessionStorage
from streamlit.runtime.session_manager import SessionInfo

from dashboard.background import garbage, leaving
from dashboard.runtime.replaced import Methods, put, put_back, there

if TYPE_CHECKING:
    from streamlit.proto.ClientState_pb2 import ClientState

_ASKED = "_epsilon_lab_asked"


def _request_rerun(session: AppSession, client_state: ClientState | None) -> None:
    session.__dict__[_ASKED] = session.__dict__.get(_ASKED, 0) + 1
    _STREAMLITS[AppSession, "request_rerun"](session, client_state)


def _save(storage: MemorySessionStorage, info: SessionInfo) -> None:
    # the first run is what every page asks for that is opened
    if not leaving.keeps(info.session.id, used=info.session.__dict__.get(_ASKED, 0) > 1):
        asyncio.get_running_loop().call_soon(info.session.shutdown)  # once Streamlit, too, has done with it
        garbage.soon()
        return
    if isinstance(storage._cache, TTLCache):
        storage._cache._maxsize = math.inf
    _STREAMLITS[MemorySessionStorage, "save"](storage, info)


def _collected(session: AppSession) -> None:
    if has_ended(session) or not runtime.exists():
        return
    with suppress(RuntimeError):  # a server that has ended has nothing left to end
        runtime.get_instance()._get_async_objs().eventloop.call_soon_threadsafe(_end, session)


def _end(session: AppSession) -> None:
    try:
        session.shutdown()
    except (OSError, ValueError):  # it closes its loop at last, of which the sockets were garbage with it
        if not has_ended(session):
            raise


def has_ended(session: AppSession) -> bool:
    """Whether it was shut down already, or never came to be; without any lock."""
    return session.__dict__.get("_state", AppSessionState.SHUTDOWN_REQUESTED) is AppSessionState.SHUTDOWN_REQUESTED


_OURS: Methods = {
    (AppSession, "request_rerun"): _request_rerun,
    (AppSession, "__del__"): _collected,
    (MemorySessionStorage, "save"): _save,
}
_STREAMLITS = there(_OURS)


def guard() -> None:
    """From now on, in this process. Again does nothing."""
    put(_OURS, _STREAMLITS)


def unguard() -> None:
    """As Streamlit does it; for tests."""
    put_back(_OURS)
