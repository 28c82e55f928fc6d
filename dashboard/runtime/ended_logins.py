"""Where whoever was at a page has logged out, in whichever tab, each run of it is a whole one for nobody in particular.

A part of a page, as an open dialog is, is drawn by itself, and what a click calls is called before the page asks who is
there: either would go on for who is there no more. So no part is run then, and nothing of what widgets were sent.
"""

from __future__ import annotations

from dataclasses import replace

from streamlit.runtime.scriptrunner.script_runner import ScriptRunner
from streamlit.runtime.scriptrunner_utils.script_requests import RerunData

from dashboard.people import login
from dashboard.runtime import outgoing
from dashboard.runtime.replaced import Methods, put, put_back, there

_KNOWN = "_epsilon_lab_known"


def _run(runner: ScriptRunner, asked: RerunData) -> None:
    session = outgoing._session_of(runner)
    if session is not None:  # else a page in process, which has no login
        if login.known(runner._user_info) is not None:
            session.__dict__[_KNOWN] = True
        elif session.__dict__.get(_KNOWN, False):  # every one: the first may be stopped before it said anything
            asked = _whole(asked)
    _STREAMLITS[ScriptRunner, "_run_script"](runner, asked)


def _whole(asked: RerunData) -> RerunData:
    return replace(
        asked,
        widget_states=None,
        replay_trigger_states=None,
        replay_trigger_values=None,
        fragment_id=None,
        fragment_id_queue=[],
        is_fragment_scoped_rerun=False,
        is_auto_rerun=False,
    )


_OURS: Methods = {(ScriptRunner, "_run_script"): _run}
_STREAMLITS = there(_OURS)


def guard() -> None:
    """From now on, in this process. Again does nothing."""
    put(_OURS, _STREAMLITS)


def unguard() -> None:
    """As Streamlit does it; for tests."""
    put_back(_OURS)
