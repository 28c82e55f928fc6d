"""What stands before Streamlit's own server, for every request and message: what it lets through that we do not.

Measured and tried on this version of Streamlit: the server answers under any host name, takes messages from a page of
any port of this computer, shows its inner counts to everyone, drops what all visitors share on a message from one of
them, keeps any number of files that a script sends without a form, writes a traceback about a message of text, and
takes visitors in until there are no file descriptors left for those who are there.
"""

from __future__ import annotations

import asyncio
import hmac
import logging
import os
import re
import time
import weakref
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator, MutableMapping
from contextlib import suppress
from dataclasses import dataclass
from ipaddress import IPv6Address, ip_address, ip_network
from typing import Any
from urllib.parse import urlsplit

from google.protobuf.message import DecodeError
from h11 import LocalProtocolError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.websockets import WebSocketDisconnect, WebSocketDisconnected
from streamlit import config, runtime
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ClientState_pb2 import ContextInfo
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.state.session_state import SessionState
from streamlit.web.server.starlette.starlette_websocket import StarletteSessionClient, is_host_allowed

from dashboard.background.places import Visitor
from dashboard.people import login, wanted
from dashboard.runtime import scripts
from dashboard.serving import refused, typed, upload_form, wire
from dashboard.serving.pace import EACH, Pace
from dashboard.serving.plain_requests import A_FILE, OPENING, PlainRequests, arriving, leaving
from dashboard.words import server as words

Message = MutableMapping[str, Any]
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Asgi = Callable[[Scope, Receive, Send], Awaitable[None]]
_File = tuple[str, str]
"""A session and the name of a file in it."""

FILES_EACH = 3
"""Uploaded files that one session may have lying here before a page takes them over, which it does at once."""
FILES_AT_ONCE = 500
"""Files on their way, of all sessions together: one for each page that may be open. Each holds a connection, and one of
more than 1 MB a file on the disk."""
MOST_BYTES = 1 << 30
"""Bytes of uploaded files that lie here or are on their way, of all sessions together; EPSILON_LAB_UPLOADS in MB."""
LIES = 60.0
"""Seconds after which a file that no page has taken over may be removed, where another has no room."""
ARRIVES = 600.0
"""Seconds that a file may be on its way: 200 MB at 2.7 Mbit/s."""
LEAST, WHILE = 1_000_000, 60.0
"""Bytes of a file that have to come in so many seconds, or it gives up its room: 130 kbit/s."""
PIECES = 1 << 14
"""Into so many pieces that room falls: a file is compared with all others at each that came, not at each byte."""
FILES_RESERVED, FILES_A_SESSION = 200, 5
"""File descriptors that are kept for the server itself, and what one open page needs of them (measured: 4)."""
MOST_SESSIONS = 500
"""Open pages at the same time, unless EPSILON_LAB_SESSIONS says another number or the system gives fewer files."""
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
LONGEST_KIND = 1_000
"""Bytes in which a browser says of what kind a file is."""
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
LOGINS, LOGINS_AHEAD, LOGINS_WAIT = 10.0, 40.0, 5.0
"""Steps of logins a second that one address may make, of how many seconds what was not made of them at once, and for
how many a further one waits at most: each may have this server ask the provider. In a class that
logs in each person makes two."""
_OF_LOGINS = (wanted.LOGIN, wanted.LOGOUT, wanted.RETURN)
REPLICAS, PLACE = "EPSILON_LAB_REPLICAS", "EPSILON_LAB_REPLICA"
"""Where ``replicas`` says how many of this server there are, and the how many-th this one is."""
SENT = frozenset({"rerun_script", "stop_script", "file_urls_request", "backend_operation_request"})
OPERATIONS = frozenset({"deferred_file", "dataframe_chunk"})
"""Messages that pages of ours send, and what they ask for beside a run. All others are for the author of a script, such
as the one that drops what all visitors share, or for a page around this one."""
POLICY = "; ".join(
    (
        "default-src 'self'",
        "script-src 'self' blob: 'unsafe-inline' 'unsafe-eval'",  # Streamlit's components and Plotly need all three
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' data: blob:",
        "font-src 'self' data:",
        "connect-src 'self' data: blob:",
        "worker-src 'self' blob:",
        "frame-src 'self' blob: data:",
        "object-src 'none'",
        "base-uri 'self'",
        "form-action 'self'",
        "frame-ancestors 'self'",
    )
)
"""What a browser may fetch for a page: nothing but what this server sends, whatever text of a file a page shows."""
HEADERS = (
    (b"content-security-policy", POLICY.encode()),
    (b"x-frame-options", b"SAMEORIGIN"),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"same-origin"),
)
_NOT_KEPT = (b"cache-control", b"no-store")
_PAGE = "epsilon_lab.page"
"""Where the scope of a connection says which of the open pages it is."""
_SESSION, _UNSEEN = "epsilon_lab.session", "epsilon_lab.unseen"
"""Where it says which session the page has, and how many bytes of messages came since its values were looked at."""
_TOKENS = b"_streamlit_user_tokens"
"""How cookies begin that hold what the provider sent with a login."""
_LOG = logging.getLogger(__name__)


def raise_file_limit() -> int:
    """Let this process open as many files as the system allows it; returns how many that are."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return MOST_SESSIONS * FILES_A_SESSION + FILES_RESERVED
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = hard if hard != resource.RLIM_INFINITY else max(soft, 65_536)
    if most > soft:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
    return max(soft, most)


def files_open() -> int:
    """How many files this process has open; 0 where the system does not tell."""
    try:
        return len(os.listdir("/dev/fd"))
    except OSError:
        return 0


def number(variable: str, usual: int) -> int:
    """A whole number above 0 from the environment; what is none counts as not set."""
    said = os.environ.get(variable, "").strip()
    return int(said) if said.isascii() and said.isdigit() and int(said) > 0 else usual


def uploads() -> int:
    """Bytes of uploaded files that lie here or are on their way, of all sessions together."""
    return number("EPSILON_LAB_UPLOADS", MOST_BYTES >> 20) << 20


def places(files: int, most: int = MOST_SESSIONS) -> int:
    """How many pages may be open at once, given how many files this process may open."""
    return max(1, min(most, (files - FILES_RESERVED) // FILES_A_SESSION))


@dataclass(slots=True, eq=False)
class _Arriving:
    """A file on its way: for whom, from which address, and how much of it is here."""

    session: str
    visitor: str
    bytes: int = 0
    compared: int = 0


class _Address:
    """All pages of an address together: the pace of what they send and of their runs, and how long these take."""

    __slots__ = ("runs", "visitor", "work")

    def __init__(self, visitor: Visitor) -> None:
        self.visitor = visitor
        self.work, self.runs = Pace(WORK_EACH, AHEAD), Pace(RUNS_EACH, AHEAD, visitor.weight)

    @property
    def idle(self) -> bool:
        """Whether all that they sent would be done by now."""
        return self.work.idle and self.runs.idle


class Gate:
    """ASGI middleware around the whole server. One for each server: it counts the open pages and arriving files."""

    def __init__(self, app: Asgi, *, most: int | None = None, most_bytes: int | None = None) -> None:
        self._app = app
        self._open: Counter[str] = Counter()  # pages, by the address they are opened from
        self._paces: dict[str, _Address] = {}
        self._requests = PlainRequests()
        self._logins: dict[str, Pace] = {}  # of those who made a step just now
        self._most = most
        self._most_bytes = most_bytes or uploads()
        self._arriving: list[_Arriving] = []
        self._came: dict[_File, tuple[float, str]] = {}  # when a file that lies here came, and from which address

    @property
    def full(self) -> bool:
        """Whether one more page would be too many. A page that was just closed still holds files, so these count."""
        files = raise_file_limit()
        if self._most is None:
            self._most = places(files, number("EPSILON_LAB_SESSIONS", MOST_SESSIONS))
        return self._open.total() >= self._most or files_open() > files - FILES_RESERVED // 2

    def _has_its_share(self, visitor: str) -> bool:
        """Whether as many pages are open from one address as one may have."""
        most = MOST_SESSIONS if self._most is None else self._most
        return self._open[visitor] >= number("EPSILON_LAB_SESSIONS_EACH", max(1, int(EACH * most)))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if "headers" in scope:
            scope["headers"] = list(_plain_headers(scope["headers"]))
        if scope["type"] == "websocket":
            await self._page(scope, receive, send)
        elif scope["type"] == "http":
            await self._request(scope, receive, send)
        elif scope["type"] == refused.KIND:
            await self._refused(scope, send)
        else:
            await self._app(scope, receive, send)

    async def _request(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with self._requests.turn(_asking(scope)) as pace:
            if pace is None:
                await _answer(send, 429, words.TOO_MANY_REQUESTS)
                return
            receive = arriving(receive, pace, A_FILE if _is_file(scope) else 1.0)
            scope, send = _not_packed(scope), leaving(send, pace)
            if not _is_file(scope):
                await self._answered(scope, receive, send)
                return
        await self._answered(scope, receive, send)  # on its way for minutes, with bounds of its own

    async def _refused(self, scope: Scope, send: Send) -> None:
        """A request of which nothing is left but to say so: it is work as another."""
        async with self._requests.turn(_visitor(scope)) as pace:
            if pace is not None:
                await send({"type": refused.KIND})

    async def _answered(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = str(scope["path"])
        if not is_host_allowed(_header(scope, b"host")):
            await _answer(send, 421, words.OTHER_NAME)
        elif path.endswith("/_stcore/metrics") and not _may_measure(scope):
            await _answer(send, 404, words.NOT_FOUND)
        elif _is_file(scope):
            try:
                await self._file(scope, receive, send)
            except (ClientDisconnect, LocalProtocolError):
                _LOG.info("a file was not sent to its end")  # nobody is there to be answered
        elif scope["method"] == "GET" and _is_page(scope) and self.full:
            await _later(send, words.full())
        elif scope["method"] == "GET" and _is_page(scope) and self._has_its_share(_visitor(scope)):
            await _later(send, words.its_share())
        elif path.endswith(_OF_LOGINS) and not await self._may_log_in(_visitor(scope)):
            await _answer(send, 429, words.TOO_MANY_REQUESTS)
        elif path.endswith(wanted.LOGOUT) and not wanted.is_from_here(scope["headers"]):
            await _answer(send, 403, words.LOG_OUT_HERE)
        elif path.endswith(wanted.LOGIN):
            await self._app(scope, receive, _with_headers(scope, _keeping(scope, send)))
        elif path.endswith(wanted.RETURN):
            scope = {**scope, "query_string": wanted.told(scope.get("query_string", b""))}
            await self._app(scope, receive, _with_headers(scope, _returning(scope, send)))
        else:
            await self._app(scope, receive, _with_headers(scope, send))

    async def _may_log_in(self, visitor: str) -> bool:
        """Whether one more step of a login may be made from an address, once it is its turn."""
        self._logins = {who: pace for who, pace in self._logins.items() if not pace.idle}
        pace = self._logins.setdefault(visitor, Pace(LOGINS, LOGINS_AHEAD))
        if pace.wait(0.0) > LOGINS_WAIT:
            return False
        await _in_turn(1.0, [pace])
        return True

    async def _file(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One uploaded file, for as long as it is on its way. It counts as what came of it, not as what it says."""
        _, session, name = str(scope["path"]).rsplit("/", 2)
        if not may_ask(session):
            await _answer(send, 403, words.LOG_IN_FIRST)
            return
        lying = sum(owner == session for owner, _ in _lying())
        if lying + sum(one.session == session for one in self._arriving) >= FILES_EACH:
            await _answer(send, 429, words.TOO_MANY_FILES)
            return
        mark = upload_form.mark_of(_header(scope, b"content-type"))
        if mark is None:
            await _answer(send, 400, words.NOT_AS_A_BROWSER)
            return
        here, form = _Arriving(session, _visitor(scope)), upload_form.OnePart(mark)
        if not self._has_place(here.visitor) or not self._has_room(_size(scope), here.visitor):
            await _answer(send, 503, words.TOO_MUCH_AT_ONCE)
            return
        now = asyncio.get_running_loop().time
        end, until, enough = now() + ARRIVES, now() + WHILE, LEAST

        async def counted() -> Message:
            nonlocal until, enough
            try:
                async with asyncio.timeout_at(min(end, until)):
                    message = await receive()
            except TimeoutError:
                raise HTTPException(408, words.TOO_SLOW) from None
            piece = message.get("body", b"")
            here.bytes += len(piece)
            if here.bytes - here.compared >= self._most_bytes // PIECES or not message.get("more_body", False):
                here.compared = here.bytes
                if not self._has_room(0, here.visitor):
                    raise HTTPException(503, words.TOO_MUCH_AT_ONCE)
            if not form.goes_on_with(piece):
                raise HTTPException(400, words.NOT_AS_A_BROWSER)
            if here.bytes >= enough:
                until, enough = now() + WHILE, here.bytes + LEAST
            return message

        self._arriving.append(here)
        try:
            await self._app(scope, counted, _with_headers(scope, send))
        finally:
            self._arriving.remove(here)
            self._came[session, name] = time.monotonic(), here.visitor

    def _has_place(self, visitor: str) -> bool:
        """Whether one more file may be on its way from an address, which has its share of the places at most, and there
        are file descriptors for it."""
        mine = sum(one.visitor == visitor for one in self._arriving)
        if len(self._arriving) >= FILES_AT_ONCE or mine >= int(EACH * FILES_AT_ONCE):
            return False
        return files_open() <= raise_file_limit() - FILES_RESERVED // 2

    def _has_room(self, more: int, visitor: str) -> bool:
        """Whether so many ``more`` bytes may come from an address, which has its share at most.

        For them the largest files that no page takes over give way.
        """
        lying, now = _lying(), time.monotonic()
        self._came = {file: self._came.get(file, (now, "")) for file in lying}
        gone: list[_File] = []
        for whose, most in ((visitor, EACH * self._most_bytes), (None, self._most_bytes)):
            files = [file for file in lying if file not in gone and whose in (None, self._came[file][1])]
            arriving = sum(one.bytes for one in self._arriving if whose in (None, one.visitor))
            over = sum(lying[file] for file in files) + arriving + more - most
            for file in sorted(files, key=lambda file: -lying[file]):
                if over > 0 and now - self._came[file][0] > LIES:
                    gone.append(file)
                    over -= lying[file]
            if over > 0:
                return False
        for file in gone:
            _remove(file)
        return True

    async def _page(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One open page, for as long as it is open."""
        if not _is_own_page(scope):
            await send({"type": "websocket.close", "code": 1008})
            return
        visitor = _visitor(scope)
        async with self._requests.turn(visitor, OPENING) as pace:
            too_many = pace is None
        if too_many or self.full or self._has_its_share(visitor):
            await send({"type": "websocket.close", "code": 1013})  # try again later
            return
        self._open[visitor] += 1
        each = self._paces.setdefault(visitor, _Address(Visitor(visitor)))
        work, runs = (Pace(WORK, AHEAD), each.work), (Pace(RUNS, AHEAD), each.runs)
        try:
            await _in_turn(0, work)  # what an address is ahead by is not left behind with a page that is closed
            scope[_PAGE], scope[scripts.VISITOR] = object(), each.visitor
            with suppress(WebSocketDisconnect, WebSocketDisconnected):  # it left while a message of it waited its turn
                await self._app(scope, lambda: _next(scope, receive, send, work, runs), send)
        finally:
            self._open[visitor] -= 1
            self._open += Counter()  # those with none are forgotten
            # an address is not forgotten with its last page: it would begin anew by closing and opening one
            self._paces = {who: each for who, each in self._paces.items() if who in self._open or not each.idle}


async def _next(scope: Scope, receive: Receive, send: Send, work: Iterable[Pace], runs: Iterable[Pace]) -> Message:
    """The next message, if the server may see it; else the end of the connection."""
    while True:
        message = await receive()
        frames = PARTS_A_FRAME * message.get("frames", 0)  # as ``frames`` counts them: also those of no whole message
        if message["type"] != "websocket.receive":
            _wait(frames, work)
            return message
        data = message.get("bytes") or b""
        parts = None if len(data) > MESSAGE_BYTES else wire.parts(MESSAGE_PARTS, data, BackMsg.DESCRIPTOR)
        if parts is None:
            _wait(frames, work)
            return await _ended(send, 1009)  # larger than any that a page sends
        await _in_turn(PARTS_A_MESSAGE + frames + parts + len(data) // BYTES_A_PART, work)
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
        if part and asked.rerun_script.is_auto_rerun and _wait(0, runs) > 0.0:
            continue  # nobody asked for it, and the browser asks again: a room's phones are not to fall behind
        if kind == "rerun_script":
            message = _fitting(message, asked, scope)
        del asked, data  # a message that was cut does not wait as a whole
        await _in_turn(A_PART if part else 1.0, runs)
        return message


def _plain_headers(headers: Iterable[tuple[bytes, bytes]]) -> Iterator[tuple[bytes, bytes]]:
    """The headers without what is looked through in the square of its length, while nobody else may go on: cookies with
    backslashes, which none of ours has (CVE-2024-7592), and kinds of files that are no kinds.
    """
    for name, value in headers:
        if name == b"cookie" and b"\\" in value:
            value = b";".join(one for one in value.split(b";") if b"\\" not in one)
        if name != b"content-type" or len(value) <= LONGEST_KIND:
            yield name, value


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
    fits = typed.fitting(asked.rerun_script, session, _visitor(scope))
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
        if isinstance(one.client, StarletteSessionClient) and one.client._websocket.scope.get(_PAGE) is scope[_PAGE]:
            scope[_SESSION] = weakref.ref(one.session)
            return one.session
    return _None()


async def _ended(send: Send, code: int) -> Message:
    """Close a connection that sends what no page of ours does, or it could go on with it for nothing."""
    await send({"type": "websocket.close", "code": code})
    return {"type": "websocket.disconnect", "code": code}


async def _in_turn(work: float, paces: Iterable[Pace]) -> None:
    """Wait for as long as the sender of so much ``work`` is ahead of what one may make."""
    seconds = _wait(work, paces)
    if seconds > 0.0:
        await asyncio.sleep(seconds)


def _wait(work: float, paces: Iterable[Pace]) -> float:
    """Count so much ``work``; for how many seconds its sender has to wait."""
    return max(pace.wait(work) for pace in paces)


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


def _header(scope: Scope, name: bytes) -> str | None:
    return next((value.decode("latin-1") for key, value in scope["headers"] if key == name), None)


def _visitor(scope: Scope) -> str:
    """The address that a visitor comes from: behind a proxy of this computer, or of FORWARDED_ALLOW_IPS, the one that
    it says (uvicorn has looked)."""
    return network(str((scope.get("client") or ("",))[0]))


def _asking(scope: Scope) -> str:
    """Who counts as one by their requests: a visitor. A balancer on this computer that asks whether this server is well
    is another than whoever comes through it from here: its question says of nobody for whom it is asked."""
    check = str(scope["path"]).endswith("/_stcore/health") and _header(scope, b"x-forwarded-for") is None
    return _visitor(scope) + (" itself" if check else "")


def network(address: str) -> str:
    """Who counts as one by their address. A network of IPv6 is one, since each of its computers has billions."""
    try:
        found = ip_address(address)
    except ValueError:
        return address
    if isinstance(found, IPv6Address):
        return str(found.ipv4_mapped or ip_network((int(found), 64), strict=False))
    return str(found)


def _is_own_page(scope: Scope) -> bool:
    """Whether the page that opens the connection came from this server: same name, same port."""
    origin, host = _header(scope, b"origin"), _header(scope, b"host")
    if origin is None or host is None:
        return is_host_allowed(host)  # no browser: a browser always says where a page came from
    if not is_host_allowed(host):
        return False
    try:
        own = urlsplit(origin).netloc.lower() == host.lower()
    except ValueError:
        return False
    return own or origin in (config.get_option("server.corsAllowedOrigins") or [])


def _may_measure(scope: Scope) -> bool:
    """Whether who asks for the server's counts knows the token of EPSILON_LAB_METRICS."""
    token = os.environ.get("EPSILON_LAB_METRICS", "")
    given = _header(scope, b"authorization") or ""
    return bool(token) and hmac.compare_digest(given.encode(), f"Bearer {token}".encode())


def may_ask(session: str) -> bool:
    """Whether files may be sent to a session, and be made for it: where there is a login, only for one of somebody who
    has logged in and may still be here."""
    if login.configured() is None:
        return True
    found = runtime.get_instance().get_app_session(session) if runtime.exists() else None
    return found is not None and login.known(found._user_info) is not None


def _size(scope: Scope) -> int:
    """How many bytes a request says it brings; 0 where it does not say."""
    said = _header(scope, b"content-length") or ""
    return int(said) if said.isascii() and said.isdigit() else 0


def _manager() -> MemoryUploadedFileManager | None:
    found = runtime.get_instance().uploaded_file_mgr if runtime.exists() else None
    return found if isinstance(found, MemoryUploadedFileManager) else None


def _lying() -> dict[_File, int]:
    """The files that lie here until a page takes them over, and how many bytes each has."""
    manager = _manager()
    if manager is None:
        return {}
    # copied at once: pages take files away in other threads
    held = [(session, list(files.values())) for session, files in list(manager.file_storage.items())]
    return {(session, file.file_id): len(file.data) for session, files in held for file in files}


def _remove(file: _File) -> None:
    manager = _manager()
    if manager is not None:
        session, name = file
        manager.remove_file(session_id=session, file_id=name)


def _is_file(scope: Scope) -> bool:
    """Whether a browser brings an uploaded file."""
    return "/_stcore/upload_file/" in str(scope["path"]) and scope["method"] == "PUT"


def _not_packed(scope: Scope) -> Scope:
    """A request as of who understands no gzip: packing takes many times as long as sending, anew for each who asks."""
    return {**scope, "headers": [(name, value) for name, value in scope["headers"] if name != b"accept-encoding"]}


def _is_page(scope: Scope) -> bool:
    """Whether a browser asks for a page to show, and not for a part of one."""
    return "text/html" in (_header(scope, b"accept") or "") and "/_stcore/" not in str(scope["path"])


def _with_headers(scope: Scope, send: Send) -> Send:
    """With what a browser is told beside each answer. Over TLS every cookie is for TLS alone, whoever sets it; and no
    file that was made for somebody is kept on the way, or by a browser that others may use."""
    secure, own = scope.get("scheme") == "https", "/media/" in str(scope["path"])

    async def tell(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = [
                (name, _secured(value) if secure and name.lower() == b"set-cookie" else value)
                for name, value in message.get("headers", ())
            ]
            if own:
                headers = [*(pair for pair in headers if pair[0].lower() != b"cache-control"), _NOT_KEPT]
            present = {name.lower() for name, _ in headers}
            message = {**message, "headers": [*headers, *(pair for pair in HEADERS if pair[0] not in present)]}
        await send(message)

    return tell


def _secured(cookie: bytes) -> bytes:
    """A cookie that a browser sends over TLS alone."""
    attributes = (one.strip().lower() for one in cookie.split(b";")[1:])
    return cookie if b"secure" in attributes else cookie + b"; Secure"


def _keeping(scope: Scope, send: Send) -> Send:
    """On the way to a login: keep the page that somebody came from."""
    return _changed(scope, send, lambda headers: headers, wanted.left(scope["headers"]))


def _returning(scope: Scope, send: Send) -> Send:
    """Back from a login: to the page that was kept, wherever the server would lead, and without the provider's tokens.

    Streamlit would have the browser keep them, signed but to be read, beside the cookie that says who somebody is.
    """
    place = wanted.kept(scope["headers"])

    def there(headers: list[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
        found = []
        for name, value in headers:
            if name.lower() == b"set-cookie" and value.startswith(_TOKENS) and b"max-age=0" not in value.lower():
                continue
            found.append((name, place.encode() if place and name.lower() == b"location" else value))
        return found

    return _changed(scope, send, there, "")


def _changed(
    scope: Scope, send: Send, change: Callable[[list[tuple[bytes, bytes]]], list[tuple[bytes, bytes]]], keep: str
) -> Send:
    async def tell(message: Message) -> None:
        if message["type"] == "http.response.start" and 300 <= message["status"] < 400:
            headers = change(list(message.get("headers", ())))
            secure = scope.get("scheme") == "https"
            message = {**message, "headers": [*headers, wanted.cookie(keep, secure=secure)]}
        await send(message)

    return tell


async def _later(send: Send, page: str) -> None:
    """There is no place for one more page now."""
    wait = (b"retry-after", str(words.TRY_AGAIN).encode())
    await _answer(send, 503, page, kind=b"text/html; charset=utf-8", more=(wait,))


async def _answer(
    send: Send,
    status: int,
    text: str,
    *,
    kind: bytes = b"text/plain; charset=utf-8",
    more: tuple[tuple[bytes, bytes], ...] = (),
) -> None:
    body = text.encode()
    length = (b"content-length", str(len(body)).encode())
    headers = [(b"content-type", kind), length, _NOT_KEPT, *HEADERS, *more]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
