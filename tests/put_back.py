"""What a server that begins in a test's own process changes for good, and that it is put back."""

from __future__ import annotations

import logging

from streamlit import runtime
from streamlit.runtime import Runtime, memory_media_file_storage
from streamlit.runtime.backend_operation_handler import BackendOperationDispatcher
from streamlit.runtime.state import session_state
from streamlit.web.server.starlette import starlette_app_utils, starlette_auth_routes
from streamlit.web.server.starlette.starlette_websocket import StarletteSessionClient
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from dashboard import replay
from dashboard.people import login_cookie, providers
from dashboard.runtime import (
    ended_logins,
    left_pages,
    left_sessions,
    loops,
    operations,
    outgoing,
    own_sessions,
    scripts,
    unread,
    values,
)
from dashboard.runtime.replaced import _STANDING, Methods
from dashboard.serving import failures, file_threads, frames, lengths, media, own_pages, reads

BEGUN = (
    *(file_threads, values, login_cookie, media, operations, own_sessions, providers, unread, frames, lengths),
    *(own_pages, left_pages, left_sessions, outgoing, scripts, ended_logins, loops),
)
"""The guards of ``server.begun``, as it puts them, but for those that every test begins with."""


def _is_there(ours: Methods) -> bool:
    """Whether any of these stands where it is put, be it behind another."""
    return any(method is one for place, method in ours.items() for one, _ in _STANDING.get(place, ()))


def changed_in_streamlit() -> list[str]:
    """What a server that began in this process has changed in Streamlit, uvicorn and logging for good, and what a test
    has undone of what all begin with; put back.
    """
    kept = any(failures._is_kept in logging.getLogger(name).filters for name in failures._LEFT_OUT)
    left = {
        "the server of this process": runtime.exists(),
        "the names of files": memory_media_file_storage._calculate_file_id is not media._plain,
        "the values of widgets": session_state.WStates.__getitem__ is not values._read,
        "what is run for who has logged out": _is_there(ended_logins._OURS),
        "what a page that was left asks for": _is_there(left_pages._OURS),
        "which closed pages are kept": _is_there(left_sessions._OURS),
        "what waits for a page": StarletteSessionClient.write_forward_msg is not unread._write,
        "how messages leave": _is_there(outgoing._OURS),
        "whose a session is": _is_there(own_sessions._OURS),
        "which loops are closed": _is_there(loops._OURS),
        "when scripts begin": _is_there(scripts._OURS),
        "whose page it is": _is_there(own_pages._OURS),
        "which threads read files": _is_there(file_threads._OURS),
        "how frames count": WebSocketsSansIOProtocol.receive is frames._with_frames,
        "which bodies are read": H11Protocol.__init__ is not lengths._begun,
        "what is read after an answer": RequestResponseCycle.send is not reads.sent,
        "who is given what no run makes": BackendOperationDispatcher.dispatch is not operations._dispatch,
        "what a provider is asked": starlette_auth_routes._create_oauth_client is not providers._create,
        "what a login keeps": starlette_app_utils.decode_signed_value is not login_cookie._decode,
        "what the log leaves out": kept,
        "what pages say again": not replay.guarded(),
        "what a line of the log is": logging.getLogRecordFactory() is not logging.LogRecord,
    }
    Runtime._instance = None
    for module in reversed(BEGUN):
        module.unguard()
    replay.guard()  # as every test begins
    failures.write_all_to_the_log()
    return [name for name, changed in left.items() if changed]
