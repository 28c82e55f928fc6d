"""A session is of the browser that began it: no other one goes on with it, whoever knows its id.

The id of a session stands in the address of each file that is sent to it, and so in what a proxy writes down. Streamlit
hands a session, also one that is open, to whoever names it and has the same login; where nobody logs in, to anybody.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from streamlit.runtime.websocket_session_manager import WebsocketSessionManager

from dashboard.people.browser_token import UNKNOWN, Browser, browser
from dashboard.runtime.replaced import Methods, put, put_back, there

if TYPE_CHECKING:
    from streamlit.runtime.app_session import AppSession
    from streamlit.runtime.session_manager import SessionClient

_BEGAN = "_epsilon_lab_browser"


def began(session: AppSession) -> Browser:
    """The browser that began it."""
    found: Browser = session.__dict__.get(_BEGAN, UNKNOWN)
    return found


def _connect(
    manager: WebsocketSessionManager,
    client: SessionClient,
    script_data: Any,
    user_info: Any,
    existing_session_id: str | None = None,
    session_id_override: str | None = None,
) -> str:
    context = client.client_context
    here = UNKNOWN if context is None else browser(context.cookies)
    before = None if existing_session_id is None else manager.get_session_info(existing_session_id)
    if before is not None and not here.may_be(began(before.session)):
        existing_session_id = None
    connect = _STREAMLITS[WebsocketSessionManager, "connect_session"]
    found: str = connect(manager, client, script_data, user_info, existing_session_id, session_id_override)
    info = manager.get_session_info(found)
    if info is not None:
        info.session.__dict__.setdefault(_BEGAN, here)
    return found


_OURS: Methods = {(WebsocketSessionManager, "connect_session"): _connect}
_STREAMLITS = there(_OURS)


def guard() -> None:
    """From now on, in this process. Again does nothing."""
    put(_OURS, _STREAMLITS)


def unguard() -> None:
    """As Streamlit does it; for tests."""
    put_back(_OURS)
