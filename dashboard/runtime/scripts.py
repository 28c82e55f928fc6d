"""A page's script begins when there is a place for it (``background.places``), with what was asked until then.

With fast reruns Streamlit makes a thread for each rerun of a page at once, while the former one goes on until its next
Streamlit call. Here a runner is made as before, but its thread begins when there is a place and the page's former
script has ended. Until then Streamlit's own rules merge what is asked of it: of what widgets hold the latest counts,
and a click is kept until a script has seen it. What a runner was asked and had not begun when another one took its
place goes to that one by the same rules; only a person who presses Stop, or leaves, takes it back.

A runner that is asked for one part after another would keep its place for as long as that goes on: between two runs it
gives it back where somebody waits, and what it was asked waits as anything else.

The few that compute hand Python on after ``HANDS_ON``, not after the usual 5 ms: the server's loop asks for it
anew after each call of the system, and opening a page, say, is twenty of them.
"""

from __future__ import annotations

import asyncio
import sys
from dataclasses import replace
from functools import partial

from streamlit import runtime
from streamlit.runtime.app_session import AppSession, AppSessionState
from streamlit.runtime.scriptrunner import ScriptRunnerEvent
from streamlit.runtime.scriptrunner.script_runner import ScriptRunner
from streamlit.runtime.scriptrunner_utils.script_requests import (
    RerunData,
    ScriptRequest,
    ScriptRequests,
    ScriptRequestType,
)
from streamlit.web.server.starlette.starlette_websocket import StarletteSessionClient

from dashboard.background import hangs, places
from dashboard.background.places import PLACES, Had, Script, Visitor
from dashboard.runtime import loops, outgoing, unread
from dashboard.runtime.replaced import Methods, put, put_back, there
from dpcore.defects import logged
from dpcore.threads import NoThread

VISITOR = unread.VISITOR
"""Where the scope of a page's connection says from which address it is; the gate writes it."""
HANDS_ON, _USUALLY = 0.0005, sys.getswitchinterval()
"""Seconds after which a thread that computes lets another one go on that waits."""
_SCRIPT, _OWED, _HAD = "_epsilon_lab_script", "_epsilon_lab_owed", "_epsilon_lab_had"
_missing = False
"""Whether the system gave no thread when one was asked for last, which is said once."""


def merged(*asked: RerunData) -> RerunData:
    """What is to be run when all of it was asked, the latest last, as Streamlit merges what waits for one runner."""
    requests = ScriptRequests()
    for one in asked:
        requests.request_rerun(one)
    return _STREAMLITS[ScriptRequests, "on_scriptrunner_ready"](requests).rerun_data  # type: ignore[no-any-return]


def _create(session: AppSession, asked: RerunData) -> None:
    """A runner for this, and for what the one before it was asked and has not begun."""
    loops.again(session)
    owed = _taken_back(session.__dict__.get(_SCRIPT))
    _STREAMLITS[AppSession, "_create_scriptrunner"](session, asked if owed is None else merged(owed, asked))


def _taken_back(script: Script | None) -> RerunData | None:
    """What a runner that was stopped had not begun. Once: then it is somebody else's."""
    requests = None if script is None else script.requests
    return None if requests is None else requests.__dict__.pop(_OWED, None)


def _start(runner: ScriptRunner) -> None:
    """Have a runner's thread begin when there is a place; one of no session, such as a page in process, at once."""
    session = outgoing._session_of(runner)
    if session is None:
        _STREAMLITS[ScriptRunner, "start"](runner)
        return
    had = session.__dict__.setdefault(_HAD, Had())
    script = Script(visitor_of(session.id), session, partial(_begin, runner), runner._requests, had=had)
    session.__dict__[_SCRIPT] = runner.__dict__[_SCRIPT] = script
    PLACES.wait(script)
    look_after(session._event_loop)


def _begin(runner: ScriptRunner) -> None:
    """Raises NoThread where the system gives none; it can begin later."""
    global _missing
    try:
        _STREAMLITS[ScriptRunner, "start"](runner)
    except (RuntimeError, MemoryError):
        runner._script_thread = None  # which has not begun
        if not _missing:
            logged("the system gives no more threads for now: pages wait for one")
        _missing = True
        raise NoThread from None
    _missing = False


def _is_over(runner: ScriptRunner) -> None:
    """Tell of a runner that will not begin what its thread would have told: a browser waits for it."""
    runner.on_event.send(runner, event=ScriptRunnerEvent.SCRIPT_STOPPED_WITH_SUCCESS)
    runner.on_event.send(runner, event=ScriptRunnerEvent.SHUTDOWN)


def _run_thread(runner: ScriptRunner) -> None:
    """A runner's thread; what it ran is measured, and its place is free when it is over."""
    script: Script | None = runner.__dict__.get(_SCRIPT)
    if script is None:
        _STREAMLITS[ScriptRunner, "_run_script_thread"](runner)
        return
    places.enter(script)
    try:
        _STREAMLITS[ScriptRunner, "_run_script_thread"](runner)
    finally:
        script.over()
        script.begin = None
        if _OWED not in runner._requests.__dict__:
            script.requests = None  # what widgets held in it would be kept for as long as the page is open
        PLACES.ended(script)


def _ready(requests: ScriptRequests) -> ScriptRequest:
    """What a runner does next. After a run it gives its place back where somebody waits."""
    script = places.here()
    if script is not None and script.requests is requests:
        script.over()
        if script.ran and PLACES.anybody_waits:
            _stop(requests)
            if _OWED in requests.__dict__:
                script.page._call_soon_on_event_loop(partial(_go_on, script.page, script))
    found: ScriptRequest = _STREAMLITS[ScriptRequests, "on_scriptrunner_ready"](requests)
    if script is not None and found.type is ScriptRequestType.RERUN:
        script.runs(whole=not found.rerun_data.fragment_id_queue)
    return found


def _go_on(session: AppSession, script: Script) -> None:
    """What a runner was asked and gave back with its place; on the loop."""
    latest = session.__dict__.get(_SCRIPT) is script and session._state != AppSessionState.SHUTDOWN_REQUESTED
    owed = _taken_back(script) if latest else None
    if owed is not None:
        session._create_scriptrunner(owed)


def _stop(requests: ScriptRequests) -> None:
    """As Streamlit does it, but for what was asked and not begun: it is noted in the same moment."""
    with requests._lock:
        if requests._state is ScriptRequestType.RERUN:
            requests.__dict__[_OWED] = requests._rerun_data
        requests._state = ScriptRequestType.STOP
        if requests._rerun_data.replay_trigger_values is not None:
            requests._rerun_data = replace(requests._rerun_data, replay_trigger_values=None)


def _stop_page(session: AppSession) -> None:
    """A person pressed Stop, or has left: nothing of what they asked is to be begun any more."""
    runner, script = session._scriptrunner, session.__dict__.get(_SCRIPT)
    _STREAMLITS[AppSession, "request_script_stop"](session)
    _taken_back(script)
    PLACES.stop(session)
    if script is not None and PLACES.withdraw(script) and runner is not None:
        _is_over(runner)


def visitor_of(session_id: str) -> Visitor:
    """From which address the page of a session is open; all that are without one count as one."""
    info = runtime.get_instance()._session_mgr.get_active_session_info(session_id) if runtime.exists() else None
    client = None if info is None else info.client
    found = client._websocket.scope.get(VISITOR) if isinstance(client, StarletteSessionClient) else None
    return found if isinstance(found, Visitor) else Visitor("")


class _Look:
    """Looks whether somebody waits for what hangs, as long as somebody waits at all."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None

    def after(self, loop: asyncio.AbstractEventLoop) -> None:
        """In a while, on this loop."""
        if PLACES.anybody_waits and self._loop is not loop:
            self._loop = loop
            loop.call_later(hangs.LOOKED, self._again, loop)

    def _again(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = None
        PLACES.fill()
        self.after(loop)


_LOOK = _Look()


def look_after(loop: asyncio.AbstractEventLoop) -> None:
    """Somebody waits for a place: look in a while whether it is for what hangs."""
    _LOOK.after(loop)


_OURS: Methods = {
    (AppSession, "_create_scriptrunner"): _create,
    (AppSession, "request_script_stop"): _stop_page,
    (ScriptRequests, "on_scriptrunner_ready"): _ready,
    (ScriptRequests, "request_stop"): _stop,
    (ScriptRunner, "_run_script_thread"): _run_thread,
    (ScriptRunner, "start"): _start,
}
_STREAMLITS = there(_OURS)


def guard() -> None:
    """From now on, in this process. Again does nothing."""
    put(_OURS, _STREAMLITS)
    sys.setswitchinterval(HANDS_ON)


def unguard() -> None:
    """As Streamlit does it; for tests."""
    put_back(_OURS)
    sys.setswitchinterval(_USUALLY)
