"""What a page that was left still asks for is not answered any more.

A part of a page that draws itself again and again (``st.fragment(run_every=…)``) is asked for by the browser, which
goes on until it has heard of the next page. Streamlit keeps such a wish while the next page is drawn, and then answers
it: it begins a run of the page that was left, in which there is nothing to draw, and the browser takes everything of
the page it shows away. And a wish that comes between a click for another page and that page's run brings the page that
was left back, so that the click is lost. Both happen on busy machines.
"""

from __future__ import annotations

from streamlit.runtime.scriptrunner.script_runner import ScriptRunner
from streamlit.runtime.scriptrunner_utils import script_requests
from streamlit.runtime.scriptrunner_utils.script_requests import RerunData, ScriptRequests, ScriptRequestType

_run = ScriptRunner._run_script
_request = ScriptRequests._request_rerun_locked


def guard() -> None:
    """From now on, in this process. Again does nothing."""
    ScriptRunner._run_script = _run_what_is_there  # type: ignore[assignment, method-assign]
    ScriptRequests._request_rerun_locked = _request_what_is_not_drawn_anyway  # type: ignore[assignment, method-assign]


def unguard() -> None:
    """As Streamlit does it; for tests."""
    ScriptRunner._run_script = _run  # type: ignore[method-assign]
    ScriptRequests._request_rerun_locked = _request  # type: ignore[method-assign]


def _run_what_is_there(runner: ScriptRunner, asked: RerunData) -> None:
    """Run the script, unless nothing but parts that are gone were asked for, and by no person."""
    parts = asked.fragment_id_queue
    if asked.is_auto_rerun and parts and not any(map(runner._fragment_storage.contains, parts)):
        return
    _run(runner, asked)


def _request_what_is_not_drawn_anyway(requests: ScriptRequests, asked: RerunData) -> bool:
    """Ask for a run, unless it is for a part that draws itself again and a whole page waits to be drawn."""
    waits = requests._state == ScriptRequestType.RERUN and script_requests._is_full_app_rerun(requests._rerun_data)
    if waits and asked.is_auto_rerun and (asked.fragment_id or asked.fragment_id_queue):
        return True
    return _request(requests, asked)
