"""What a browser asks for without a run of its page: a file that is made when it is clicked, further rows of a table.

Such a message runs no script: no page of ours is drawn, and so none asks who is there or whether there is a place. As
Streamlit does it, a file is made for whoever names it, in as many threads as there are messages, and lies in memory
until two scripts have ended, which on a quiet server may be never. Here

- nothing is made for nobody: not after the log-out in another tab, nor after the login's hours;
- a file is made for the session alone whose page offers it;
- it takes a place as a script does (``background.places``), one of a session at a time, and counts as what it took;
- of the files that a session had made few stay, for who had them made (``made_files``).
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from streamlit import runtime
from streamlit.proto.BackMsg_pb2 import BackendOperationRequest
from streamlit.proto.ForwardMsg_pb2 import BackendOperationResponse
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.backend_operation_handler import BackendOperationDispatcher
from streamlit.runtime.media_file_manager import MediaFileManager
from streamlit.runtime.media_file_storage import MediaFileStorageError

from dashboard.background.places import PLACES, Script
from dashboard.runtime import made_files, scripts
from dashboard.runtime.left_sessions import has_ended
from dashboard.runtime.made_files import is_open
from dashboard.serving import media, senders
from dashboard.words import login as words
from dashboard.words.server import BEING_MADE

WAITING = 32
"""What one session may have asked for that is not made yet; a table that is scrolled asks for some pieces at once."""


@dataclass(slots=True)
class _Queue:
    """Of one session: what was asked for and is not made yet, one at a time."""

    asked: int = 0
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)


_QUEUES: dict[str, _Queue] = {}
_FOR: ContextVar[tuple[str, Script] | None] = ContextVar("made for", default=None)
_dispatch = BackendOperationDispatcher.dispatch
_execute = MediaFileManager.execute_deferred
_shutdown = AppSession.shutdown


def guard() -> None:
    """From now on, in this process. Again does nothing."""
    BackendOperationDispatcher.dispatch = _for_who_is_here  # type: ignore[assignment, method-assign]
    MediaFileManager.execute_deferred = _made  # type: ignore[assignment, method-assign]
    AppSession.shutdown = _ended  # type: ignore[assignment, method-assign]


def unguard() -> None:
    """As Streamlit does it; for tests."""
    BackendOperationDispatcher.dispatch = _dispatch  # type: ignore[method-assign]
    MediaFileManager.execute_deferred = _execute  # type: ignore[method-assign]
    AppSession.shutdown = _shutdown  # type: ignore[method-assign]


def _ended(session: AppSession) -> None:
    """A session is over and does not come back: nor is what it had made there any more."""
    if runtime.exists() and not has_ended(session):
        made_files.MADE.leave(runtime.get_instance().media_file_mgr, session.id)
    _shutdown(session)


async def _for_who_is_here(
    dispatcher: BackendOperationDispatcher, request: BackendOperationRequest, session_id: str
) -> BackendOperationResponse:
    no = BackendOperationResponse(request_id=request.request_id, error_msg=words.FIRST)

    async def made() -> BackendOperationResponse:
        # they may have logged out while this waited
        return await _dispatch(dispatcher, request, session_id) if senders.may_ask(session_id) else no

    if not senders.may_ask(session_id):
        return no
    queue = _QUEUES.setdefault(session_id, _Queue())
    if queue.asked >= WAITING:
        return BackendOperationResponse(request_id=request.request_id, error_msg=BEING_MADE)
    queue.asked += 1
    try:
        async with queue.turn:
            return await _in_a_place(session_id, made)
    finally:
        queue.asked -= 1
        if not queue.asked:
            _QUEUES.pop(session_id, None)


async def _in_a_place(
    session_id: str, work: Callable[[], Awaitable[BackendOperationResponse]]
) -> BackendOperationResponse:
    """Do it when there is a place, as for a script."""
    loop = asyncio.get_running_loop()
    place: asyncio.Future[None] = loop.create_future()

    def begin() -> None:
        loop.call_soon_threadsafe(lambda: None if place.done() else place.set_result(None))

    script = Script(scripts.visitor_of(session_id), ("without a run", session_id), begin)
    PLACES.wait(script)
    scripts.look_after(loop)
    token = _FOR.set((session_id, script))
    try:
        await place
        if runtime.exists() and not is_open(session_id):  # closed while this waited
            return BackendOperationResponse()
        return await work()
    finally:
        _FOR.reset(token)
        if not PLACES.withdraw(script):
            PLACES.ended(script)


def _made(files: MediaFileManager, file_id: str) -> str:
    """``execute_deferred``, in a thread: for the session whose page offers it, and measured. Raises what that does."""
    asked = _FOR.get()
    if asked is None:
        return _execute(files, file_id)
    session, script = asked
    offered = files._deferred_callables.get(file_id)
    if offered is None or offered["session_id"] != session:
        raise MediaFileStorageError("this page does not offer the file (any more)")
    start = time.thread_time()
    script.life.here()
    theirs = media.FOR.set(session)
    try:
        url = _execute(files, file_id)
    finally:
        media.FOR.reset(theirs)
        script.life.gone()
        script.visitor.took(time.thread_time() - start)
    name = PurePosixPath(url).stem
    storage: Any = files._storage
    size, address = len(storage.get_file(name).content), script.visitor.address
    made_files.MADE.note(files, session, name, size, senders.whose(session), address=address)
    return url
