"""What a run sends leaves together: as much as there is when the server comes to it, in one go.

A page is some hundred messages. Streamlit hands over each by itself: three events of the server's loop, six layers of
coroutines and one call of the system for every message. Here whatever a run has said since the loop last looked is
taken over by one event and written at once. The messages, their bytes and their order are the same.
"""

from __future__ import annotations

import struct
from collections import deque
from functools import partial
from typing import Any

from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime import app_session, get_instance
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.runtime_util import serialize_forward_msg
from streamlit.runtime.scriptrunner import ScriptRunnerEvent
from streamlit.runtime.scriptrunner.script_runner import ScriptRunner
from streamlit.runtime.scriptrunner_utils.script_requests import ScriptRequestType
from streamlit.runtime.session_manager import ActiveSessionInfo, SessionClientDisconnectedError
from streamlit.web.server.starlette.starlette_websocket import StarletteSessionClient
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import Opcode
from websockets.protocol import State

from dashboard.replay import memory
from dashboard.runtime import unread
from dashboard.runtime.replaced import Methods, put, put_back, there

SOON = 0.02
"""Seconds that what a run says may wait for more. A run that ends says so at once: most take no longer."""
_SAYS = ScriptRunnerEvent.ENQUEUE_FORWARD_MSG
_BEGINS = ScriptRunnerEvent.SCRIPT_STARTED


class _Waiting:
    """What a session's runs have said, in order, until the loop comes to it."""

    __slots__ = ("delivering", "due", "events", "soon")

    def __init__(self) -> None:
        self.events: deque[tuple[Any, ScriptRunnerEvent, Any, dict[str, Any]]] = deque()
        self.due = self.soon = self.delivering = False


_WAITING = "_epsilon_lab_waiting"


def _waiting(session: AppSession) -> _Waiting:
    found: _Waiting | None = session.__dict__.get(_WAITING)
    return found if found is not None else session.__dict__.setdefault(_WAITING, _Waiting())


def _ask(session: AppSession, waiting: _Waiting) -> None:
    """Have the loop come to it. Whoever sees that it is due has put their event where it will still be looked for."""
    if not waiting.due:
        waiting.due = True
        session._call_soon_on_event_loop(partial(_deliver, session, waiting))


def _ask_soon(session: AppSession, waiting: _Waiting) -> None:
    """The same, a moment later."""
    if not waiting.soon and not waiting.due:
        waiting.soon = True
        session._call_soon_on_event_loop(partial(_later, session, waiting))


def _later(session: AppSession, waiting: _Waiting) -> None:
    session._event_loop.call_later(SOON, _deliver, session, waiting)


def _said(runner: ScriptRunner, msg: ForwardMsg | bytes | list[bytes]) -> None:
    """One message of a run, or its bytes, or those of several; a place at which the run may be ended, as in
    Streamlit.
    """
    if runner._requests._state is not ScriptRequestType.CONTINUE:
        runner._maybe_handle_execution_control_request()
    try:
        session = runner.__dict__["_epsilon_lab_session"]
    except KeyError:
        session = runner.__dict__["_epsilon_lab_session"] = _session_of(runner)
    if session is None:
        for told in _messages(msg):
            runner.on_event.send(runner, event=_SAYS, forward_msg=told)
    else:
        waiting = session.__dict__.get(_WAITING) or _waiting(session)
        waiting.events.append((runner, _SAYS, msg, {}))
        if not waiting.soon:
            _ask_soon(session, waiting)


def _messages(said: ForwardMsg | bytes | list[bytes]) -> list[ForwardMsg]:
    """What was said, as Streamlit has it."""
    if isinstance(said, ForwardMsg):
        return [said]
    return [ForwardMsg.FromString(one) for one in ([said] if isinstance(said, bytes) else said)]


def _session_of(runner: ScriptRunner) -> AppSession | None:
    """The session that alone hears of this run; None for a page in process."""
    hears = [getattr(receiver, "__self__", None) for receiver in runner.on_event._get_live_receivers()]
    return hears[0] if len(hears) == 1 and isinstance(hears[0], AppSession) else None


def _happened(
    session: AppSession, sender: ScriptRunner | None, event: ScriptRunnerEvent, forward_msg: Any = None, **more: Any
) -> None:
    """Something of a run that the loop must hear of; from any thread."""
    waiting = _waiting(session)
    waiting.events.append((sender, event, forward_msg, more))
    (_ask_soon if event in (_SAYS, _BEGINS) else _ask)(session, waiting)


def _enqueued(session: AppSession, msg: ForwardMsg) -> None:
    """Something that the session says by itself, such as that a run is over; from any thread."""
    waiting = _waiting(session)
    session._browser_queue.enqueue(msg)
    if not waiting.delivering:
        _ask(session, waiting)


def _never_flushed(session: AppSession) -> list[ForwardMsg]:
    """Streamlit's own loop sends nothing, so that nothing overtakes; what it finds is sent here."""
    if not session._browser_queue.is_empty():
        _ask(session, _waiting(session))
    return []


def _deliver(session: AppSession, waiting: _Waiting) -> None:
    """Take over all that happened so far; on the loop."""
    waiting.due = waiting.soon = False
    waiting.delivering = True
    info = get_instance()._session_mgr.get_active_session_info(session.id)
    here = info is not None and isinstance(info.client, StarletteSessionClient)
    payloads = _flushed(session, info) if info is not None and here else []
    try:
        while waiting.events:
            sender, event, msg, more = waiting.events.popleft()
            if event is not _SAYS:
                session._handle_scriptrunner_event_on_event_loop(sender, event, msg, **more)
                if info is not None and here:
                    payloads += _flushed(session, info)
            elif sender is not session._scriptrunner:
                continue  # of a run that another one has taken the place of
            elif here:
                if isinstance(msg, list):
                    payloads += msg
                else:
                    payloads.append(msg if isinstance(msg, bytes) else serialize_forward_msg(msg))
            else:
                for told in _messages(msg):
                    session._browser_queue.enqueue(told)
    finally:
        waiting.delivering = False
        if waiting.events or (here and not session._browser_queue.is_empty()):
            _ask(session, waiting)
        if info is not None and here:
            _send(info, payloads)


def _flushed(session: AppSession, info: ActiveSessionInfo) -> list[bytes]:
    """What waits in the session's own queue."""
    found: list[ForwardMsg] = _STREAMLITS[AppSession, "flush_browser_queue"](session)
    for msg in found:
        if msg.WhichOneof("type") == "script_finished" and msg.script_finished == ForwardMsg.FINISHED_SUCCESSFULLY:
            info.script_run_count += 1
    return [serialize_forward_msg(msg) for msg in found]


def _send(info: ActiveSessionInfo, payloads: list[bytes]) -> None:
    try:
        if payloads and isinstance(info.client, StarletteSessionClient):
            unread.write(info.client, payloads)
    except SessionClientDisconnectedError:  # unless they are back already, with another connection
        get_instance().disconnect_session(info.session.id, client=info.client)
    info.session.on_flushed_messages_sent()


async def _written(page: WebSocketsSansIOProtocol, message: Any) -> None:
    """What ASGI sends; ``bytes`` may be a list, whose messages are written by one call."""
    several = message.get("bytes")
    send = _STREAMLITS[WebSocketsSansIOProtocol, "send"]
    if type(several) is not list:
        await send(page, message)
        return
    await page.writable.wait()
    if page.disconnected or page.close_sent or page.conn.state is not State.OPEN or page.conn.extensions:
        for data in several:
            await send(page, {**message, "bytes": data})
        return
    page.transport.write(b"".join([*page.conn.data_to_send(), *map(frame, several)]))


def frame(data: bytes) -> bytes:
    """A binary message of a server in one frame (RFC 6455, section 5.2)."""
    head, length = 0x80 | Opcode.BINARY, len(data)
    if length < 126:
        return struct.pack("!BB", head, length) + data
    if length < 1 << 16:
        return struct.pack("!BBH", head, 126, length) + data
    return struct.pack("!BBQ", head, 127, length) + data


def _may_go_on(runner: ScriptRunner) -> None:
    """Whether the run is to end here; nearly always not, and then no more is asked."""
    if runner._requests._state is not ScriptRequestType.CONTINUE:
        _STREAMLITS[ScriptRunner, "_maybe_handle_execution_control_request"](runner)


def _theme(msg: Any, section: str = "theme") -> None:
    """The settings of one appearance, which no run changes."""
    if section not in _THEMES:
        made = type(msg)()
        _STREAMLITS[app_session, "_populate_theme_msg"](made, section)
        _THEMES[section] = made.SerializeToString()
    if _THEMES[section]:
        msg.MergeFromString(_THEMES[section])


_OURS: Methods = {
    (AppSession, "_on_scriptrunner_event"): _happened,
    (AppSession, "_enqueue_forward_msg"): _enqueued,
    (AppSession, "flush_browser_queue"): _never_flushed,
    (ScriptRunner, "_enqueue_forward_msg"): _said,
    (ScriptRunner, "_maybe_handle_execution_control_request"): _may_go_on,
    (WebSocketsSansIOProtocol, "send"): _written,
    (app_session, "_populate_theme_msg"): _theme,
}
_STREAMLITS = there(_OURS)
_THEMES: dict[str, bytes] = {}


def guard() -> None:
    """From now on, in this process. Again does nothing."""
    put(_OURS, _STREAMLITS)
    memory.AS_BYTES = True


def unguard() -> None:
    """As Streamlit does it; for tests."""
    put_back(_OURS)
    memory.AS_BYTES = False
    _THEMES.clear()
