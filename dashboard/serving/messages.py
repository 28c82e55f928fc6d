"""What a page sends on its websocket: how large, of which kind and how often a message may be that the server sees.

Streamlit takes larger ones, at any pace, and those that only a script's author or a page around this one would send.
"""

from __future__ import annotations

import re
import weakref
from collections.abc import Iterable
from urllib.parse import urlsplit

from google.protobuf.message import DecodeError
from streamlit import runtime
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ClientState_pb2 import ContextInfo
from streamlit.runtime.state.session_state import SessionState
from streamlit.web.server.starlette.starlette_websocket import StarletteSessionClient

from dashboard.background.places import Visitor
from dashboard.serving import typed, wire
from dashboard.serving.asgi import Message, Receive, Scope, Send
from dashboard.serving.heads import visitor_of
from dashboard.serving.line import Line, Place
from dashboard.serving.pace import Pace, in_turn, wait
from dashboard.serving.uploads import FILES_EACH

MESSAGE_BYTES = 9_000_000
"""Of one message from a page: the text box for a table takes 2,000,000 characters, of four bytes at most."""
MESSAGE_PARTS = 5_000
"""Parts of one message, at any depth: some bytes on the way can be twenty times as many in memory. Pages send some
hundred, one part for each column that is chosen of a wide table, and a few for each control."""
OTHER_BYTES = 4_096
"""Of a message that does not run the script: some are answered at once with what they hold, or with more."""
BESIDE_BYTES = 100_000
"""Of one that runs it, beside what its widgets hold: most of it names what its browser holds already."""
LONGEST_QUERY, LONGEST_PLACE = 16_000, 1_000
"""Letters of the settings that an address may carry, which a session holds several times over, and of all before them:
what a deck takes in a link is a tenth of it, and HAProxy passes on no longer one."""
PART = re.compile(r"[0-9a-f]{32}")
"""What names a part of a page: a digest that the server made. It writes one that it does not find into the log."""
SMALL_BYTES = 20_000
"""Of messages of a page of whose values nothing is asked, unless what was typed on it counts already."""
BYTES_A_PART, PARTS_A_MESSAGE, PARTS_A_FRAME = 1_000, 20, 7
"""Bytes that are as much work as one part is, and parts that are as much as a message without any, and as one of the
frames that it came in."""
WORK, WORK_EACH, AHEAD = 3_000.0, 30_000.0, 10.0
"""Parts a second that one page may send, and all pages of one address together; what goes beyond it waits, but for what
was not sent in so many seconds before. A part takes this process some three millionths of a second."""
RUNS, RUNS_EACH, A_PART = 10.0, 30.0, 0.2
"""Runs of the script a second that one page may ask for, and all pages of one address together, after a burst as above;
and what the run of a part that is drawn by itself counts. Those of an address are runs of usual length
(``turns.USUAL``), by what its own take (``places.Visitor``): a faster computer takes as many more of them from a school
behind one address, and costly pages are as many fewer. How many run at once is not bounded here: ``places``."""
SENT = frozenset({"rerun_script", "stop_script", "file_urls_request", "backend_operation_request"})
OPERATIONS = frozenset({"deferred_file", "dataframe_chunk"})
"""Messages that pages of ours send, and what they ask for beside a run. All others are for the author of a script, such
as the one that drops what all visitors share, or for a page around this one."""
PAGE = "epsilon_lab.page"
"""Where the scope of a connection says which of the open pages it is."""
_SESSION, _UNSEEN = "epsilon_lab.session", "epsilon_lab.unseen"
"""Where it says which session the page has, and how many bytes of messages came since its values were looked at."""


class Address:
    """All pages of an address together: the pace of what they send and of their runs, and how long these take."""

    __slots__ = ("runs", "visitor", "work")

    def __init__(self, visitor: Visitor) -> None:
        self.visitor = visitor
        self.work, self.runs = Pace(WORK_EACH, AHEAD), Line(Pace(RUNS_EACH, AHEAD, visitor.weight))

    @property
    def idle(self) -> bool:
        """Whether all that they sent would be done by now."""
        return self.work.idle and self.runs.idle


async def next_message(scope: Scope, receive: Receive, send: Send, work: Iterable[Pace], runs: Place) -> Message:
    """The next message, if the server may see it; else the end of the connection. One that asks for a run waits for
    its turn among those of its address."""
    while True:
        message = await receive()
        frames = PARTS_A_FRAME * message.get("frames", 0)  # as ``frames`` counts them: also those of no whole message
        if message["type"] != "websocket.receive":
            wait(frames, work)
            return message
        data = message.get("bytes") or b""
        parts = None if len(data) > MESSAGE_BYTES else wire.parts(MESSAGE_PARTS, data, BackMsg.DESCRIPTOR)
        if parts is None:
            wait(frames, work)
            return await _ended(send, 1009)  # larger than any that a page sends
        await in_turn(PARTS_A_MESSAGE + frames + parts + len(data) // BYTES_A_PART, work)
        asked = _asked(data)
        kind = None if asked is None else asked.WhichOneof("type")
        if asked is None or kind is None:
            return await _ended(send, 1003)  # no page of ours sends it
        if not _is_sent(asked) or len(asked.file_urls_request.file_names) > FILES_EACH:
            return await _ended(send, 1008)
        if kind != "rerun_script" and len(data) > OTHER_BYTES:
            return await _ended(send, 1009)
        if len(data) - sum(one.ByteSize() for one in asked.rerun_script.widget_states.widgets) > BESIDE_BYTES:
            return await _ended(send, 1009)
        if not _is_link(asked.rerun_script.query_string) or not _says_where_it_is(asked.rerun_script.context_info):
            return await _ended(send, 1008)
        part = bool(asked.rerun_script.fragment_id)
        if part and not PART.fullmatch(asked.rerun_script.fragment_id):
            return await _ended(send, 1008)
        if part and asked.rerun_script.is_auto_rerun and runs.behind:
            continue  # nobody asked for it, and the browser asks again: a room's phones are not to fall behind
        if kind == "rerun_script":
            message = _fitting(message, asked, scope)
        del asked, data  # a message that was cut does not wait as a whole
        await runs.turn(A_PART if part else 1.0)
        return message


def _says_where_it_is(told: ContextInfo) -> bool:
    """Whether a page says of itself what a browser says: an address in plain letters, and short names of its time and
    tongue. What is none is looked through by rules that take the square of its length, while nobody else may go on.
    """
    names = (told.timezone, told.locale)
    try:
        place = urlsplit(told.url) if told.url.isascii() else None
        return (
            place is not None
            and len(place.netloc) + len(place.path) <= LONGEST_PLACE
            and all(len(name) <= 100 for name in names)
        )
    except ValueError:  # such as of half an address of IPv6
        return False


def _is_link(query: str) -> bool:
    """Whether a browser can have these settings in its address."""
    return len(query) <= LONGEST_QUERY and query.isascii()


def _fitting(message: Message, asked: BackMsg, scope: Scope) -> Message:
    """A message without what stands on no page of its session."""
    session = _session(scope)
    scope[_UNSEEN] = scope.get(_UNSEEN, SMALL_BYTES) + len(message["bytes"])
    if scope[_UNSEEN] <= SMALL_BYTES and not typed.TEXTS.holds(session):
        return message
    scope[_UNSEEN] = 0
    fits = typed.fitting(asked.rerun_script, session, visitor_of(scope))
    if fits is asked.rerun_script:
        return message
    return {"type": "websocket.receive", "bytes": BackMsg(rerun_script=fits).SerializeToString()}


class _None:
    """The session of a connection that has none."""

    def __init__(self) -> None:
        self.id, self.session_state = "", SessionState()


def _session(scope: Scope) -> typed.Session:
    """The session of an open page."""
    known: weakref.ref[typed.Session] | None = scope.get(_SESSION)
    found = None if known is None else known()
    if found is not None:
        return found
    for one in runtime.get_instance()._session_mgr.list_active_sessions() if runtime.exists() else ():
        if isinstance(one.client, StarletteSessionClient) and one.client._websocket.scope.get(PAGE) is scope[PAGE]:
            scope[_SESSION] = weakref.ref(one.session)
            return one.session
    return _None()


async def _ended(send: Send, code: int) -> Message:
    """Close a connection that sends what no page of ours does, or it could go on with it for nothing."""
    await send({"type": "websocket.close", "code": code})
    return {"type": "websocket.disconnect", "code": code}


def _asked(data: bytes) -> BackMsg | None:
    """A message of a page; None for text, and for what is none."""
    asked = BackMsg()
    try:
        asked.ParseFromString(data)
    except DecodeError:
        return None
    return asked


def _is_sent(asked: BackMsg) -> bool:
    """Whether a message is of a kind that pages of ours send."""
    kind = asked.WhichOneof("type")
    if kind == "backend_operation_request":
        return asked.backend_operation_request.WhichOneof("payload") in OPERATIONS
    return kind in SENT
