"""What a page that was left still asks for is not answered any more.

A part of a page that draws itself again and again (``st.fragment(run_every=…)``) is asked for by the browser, which
goes on until it has heard of the next page. Streamlit keeps such a wish while the next page is drawn, and then answers
it: it begins a run of the page that was left, in which there is nothing to draw, and the browser takes everything of
the page it shows away. And a wish that comes between a click for another page and that page's run brings the page that
was left back, so that the click is lost. Both happen on busy machines.

A menu that closes because somebody clicked beside it says so after that click. Where it was a click for another page,
the browser still speaks for the page that was left, and would have it drawn again. What was changed there is told to
the page that was clicked for; a click on a page that was left does nothing.

A click for a page says its name as well, and of no widget but those beside all pages; which these are hangs on the page
it is made on. So it is told from a late word by where the browser is: its address is another page's for a click, and
still that of the left page for what comes late. As soon as the browser has heard of the next page, nothing is late.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from streamlit.runtime.app_session import AppSession
from streamlit.runtime.scriptrunner.script_runner import ScriptRunner
from streamlit.runtime.scriptrunner_utils import script_requests
from streamlit.runtime.scriptrunner_utils.script_requests import RerunData, ScriptRequests, ScriptRequestType

from dashboard.runtime.replaced import Methods, put, put_back, there

if TYPE_CHECKING:
    from streamlit.proto.ClientState_pb2 import ClientState
    from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

_CLICKS = ("trigger_value", "string_trigger_value", "chat_input_value", "json_trigger_value")
_PLACE = "_epsilon_lab_place"


@dataclass(slots=True)
class _Place:
    """At which page a session is, or waits to be; and of which widgets the click that led there spoke, with the hash of
    what each holds now."""

    page: str = ""
    beside: dict[str, int] = field(default_factory=dict)


def _run_what_is_there(runner: ScriptRunner, asked: RerunData) -> None:
    """Run the script, unless nothing but parts that are gone were asked for, and by no person."""
    parts = asked.fragment_id_queue
    if asked.is_auto_rerun and parts and not any(map(runner._fragment_storage.contains, parts)):
        return
    _STREAMLITS[ScriptRunner, "_run_script"](runner, asked)


def _request_what_is_not_drawn_anyway(requests: ScriptRequests, asked: RerunData) -> bool:
    """Ask for a run, unless it is for a part that draws itself again and a whole page waits to be drawn."""
    waits = requests._state == ScriptRequestType.RERUN and script_requests._is_full_app_rerun(requests._rerun_data)
    if waits and asked.is_auto_rerun and (asked.fragment_id or asked.fragment_id_queue):
        return True
    return bool(_STREAMLITS[ScriptRequests, "_request_rerun_locked"](requests, asked))


def _asked(session: AppSession, asked: ClientState | None = None) -> None:
    """Run what a browser asks for, of a page that was left at the one that it was left for."""
    if asked is not None and asked.page_script_hash:
        place = session.__dict__.setdefault(_PLACE, _Place())
        said = {widget.id: hash(widget.SerializeToString()) for widget in asked.widget_states.widgets}
        if _comes_late(session, place, asked, said):
            if asked.is_auto_rerun:
                return
            asked = _at(place.page, asked)
        elif asked.page_script_hash != place.page:
            place.page, place.beside = asked.page_script_hash, said
        place.beside = {widget: said.get(widget, held) for widget, held in place.beside.items()}
    _STREAMLITS[AppSession, "_handle_rerun_script_request"](session, asked)


def _comes_late(session: AppSession, place: _Place, asked: ClientState, said: dict[str, int]) -> bool:
    """Whether a browser that has not heard yet where it is led speaks for the page that it still shows."""
    pages = session.get_pages() if asked.page_script_hash != place.page else {}
    if place.page not in pages:  # nothing was left, or the first run has not found yet at which page it is
        return False
    if asked.fragment_id:
        return True
    shown = pages.get(asked.page_script_hash)
    name = asked.context_info.url.rpartition("/")[2]  # of a page in its address; none of the first one
    # the browser's own back and forward change the address first
    if asked.is_history_navigation or not asked.context_info.url or shown is None or shown["url_pathname"] != name:
        return False
    # whoever clicks for the page that is still shown, to stay there, says what the click away from it said
    return not said.items() <= place.beside.items()


def _at(page: str, asked: ClientState) -> ClientState:
    """The same of another page, without clicks."""
    told = type(asked)()
    told.CopyFrom(asked)
    told.page_script_hash, told.fragment_id = page, ""
    stays = [one for one in asked.widget_states.widgets if one.WhichOneof("value") not in _CLICKS]
    del told.widget_states.widgets[:]
    told.widget_states.widgets.extend(stays)
    return told


def _begins(session: AppSession, page: str, *given: Any, **more: Any) -> ForwardMsg:
    """The message that a page begins."""
    session.__dict__.setdefault(_PLACE, _Place()).page = page
    return _STREAMLITS[AppSession, "_create_new_session_message"](session, page, *given, **more)  # type: ignore[no-any-return]


_OURS: Methods = {
    (ScriptRunner, "_run_script"): _run_what_is_there,
    (ScriptRequests, "_request_rerun_locked"): _request_what_is_not_drawn_anyway,
    (AppSession, "_handle_rerun_script_request"): _asked,
    (AppSession, "_create_new_session_message"): _begins,
}
_STREAMLITS = there(_OURS)


def guard() -> None:
    """From now on, in this process. Again does nothing."""
    put(_OURS, _STREAMLITS)


def unguard() -> None:
    """As Streamlit does it; for tests."""
    put_back(_OURS)
