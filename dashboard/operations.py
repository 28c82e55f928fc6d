"""What a browser asks for without a run of its page is made for nobody who has logged out meanwhile.

A file that is made when it is clicked, and the further rows of a long table, are asked for by a message that runs no
script: no page of ours is drawn, and so none asks who is there. Streamlit makes them for whoever holds the session, so
an old tab was still given them after “Log out” in another one, or after the login's hours.
"""

from __future__ import annotations

from streamlit.proto.BackMsg_pb2 import BackendOperationRequest
from streamlit.proto.ForwardMsg_pb2 import BackendOperationResponse
from streamlit.runtime.backend_operation_handler import BackendOperationDispatcher

from dashboard import gate
from dashboard.words import login as words

_dispatch = BackendOperationDispatcher.dispatch


def guard() -> None:
    """From now on, in this process. Again does nothing."""
    BackendOperationDispatcher.dispatch = _for_who_is_here  # type: ignore[assignment, method-assign]


def unguard() -> None:
    """As Streamlit does it; for tests."""
    BackendOperationDispatcher.dispatch = _dispatch  # type: ignore[method-assign]


async def _for_who_is_here(
    dispatcher: BackendOperationDispatcher, request: BackendOperationRequest, session_id: str
) -> BackendOperationResponse:
    if not gate.may_ask(session_id):
        return BackendOperationResponse(request_id=request.request_id, error_msg=words.FIRST)
    return await _dispatch(dispatcher, request, session_id)
