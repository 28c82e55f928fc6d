"""What a server that begins in a test's own process changes for good, and that it is put back."""

from __future__ import annotations

import logging

from streamlit import runtime
from streamlit.runtime import Runtime, memory_media_file_storage
from streamlit.runtime.backend_operation_handler import BackendOperationDispatcher
from streamlit.runtime.memory_session_storage import MemorySessionStorage
from streamlit.runtime.scriptrunner.script_runner import ScriptRunner
from streamlit.runtime.state import session_state
from streamlit.runtime.websocket_session_manager import WebsocketSessionManager
from streamlit.web.server.starlette import starlette_app_utils, starlette_auth_routes, starlette_websocket
from streamlit.web.server.starlette.starlette_websocket import StarletteSessionClient
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from dashboard import replay
from dashboard.people import login_cookie, providers
from dashboard.runtime import (
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
from dashboard.serving import failures, frames, lengths, media, own_pages, reads


def changed_in_streamlit() -> list[str]:
    """What a server that began in this process has changed in Streamlit, uvicorn and logging for good, and what a test
    has undone of what all begin with; put back.
    """
    kept = any(failures._is_kept in logging.getLogger(name).filters for name in failures._LEFT_OUT)
    left = {
        "the server of this process": runtime.exists(),
        "the names of files": memory_media_file_storage._calculate_file_id is not media._plain,
        "the values of widgets": session_state.WStates.__getitem__ is not values._read,
        "what a page that was left asks for": ScriptRunner._run_script
        is not left_pages._STREAMLITS[ScriptRunner, "_run_script"],
        "which closed pages are kept": MemorySessionStorage.save
        is not left_sessions._STREAMLITS[MemorySessionStorage, "save"],
        "what waits for a page": StarletteSessionClient.write_forward_msg is not unread._write,
        "how messages leave": ScriptRunner._enqueue_forward_msg is outgoing._said,
        "whose a session is": WebsocketSessionManager.connect_session is own_sessions._connect,
        "which loops are closed": WebsocketSessionManager.disconnect_session is loops._left,
        "when scripts begin": ScriptRunner.start is scripts._start,
        "whose page it is": starlette_websocket._is_origin_allowed is own_pages.may_open,
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
    frames.unguard()
    left_pages.unguard()
    left_sessions.unguard()
    lengths.unguard()
    login_cookie.unguard()
    media.unguard()
    operations.unguard()
    providers.unguard()
    outgoing.unguard()
    own_pages.unguard()
    own_sessions.unguard()
    scripts.unguard()
    loops.unguard()
    unread.unguard()
    values.unguard()
    replay.guard()  # as every test begins
    failures.write_all_to_the_log()
    return [name for name, changed in left.items() if changed]
