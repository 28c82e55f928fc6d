"""What stands before Streamlit's own server, for every request and message: what it lets through that we do not.

Measured and tried on this version of Streamlit: the server answers under any host name, takes messages from a page of
any port of this computer, shows its inner counts to everyone, drops what all visitors share on a message from one of
them, keeps any number of files that a script sends without a form, writes a traceback about a message of text, and
takes visitors in until there are no file descriptors left for those who are there.
"""

from __future__ import annotations

import logging
from collections import Counter
from contextlib import suppress

from h11 import LocalProtocolError
from starlette.requests import ClientDisconnect
from starlette.websockets import WebSocketDisconnect, WebSocketDisconnected
from streamlit.web.server.starlette.starlette_websocket import is_host_allowed

from dashboard import all_held, machine_memory
from dashboard.background import lent
from dashboard.background.places import Visitor
from dashboard.people import login, visitors, wanted
from dashboard.runtime import scripts
from dashboard.serving import heads, host_cookies, messages, open_files, refused, senders
from dashboard.serving.answers import answer, beginning, keeping, later, not_packed, returning, whole, with_headers
from dashboard.serving.asgi import Asgi, Receive, Scope, Send
from dashboard.serving.file_rights import FileRights
from dashboard.serving.heads import (
    HEAD,
    asking,
    by_head,
    header,
    is_file,
    is_own_page,
    is_page,
    may_measure,
    plain,
    size,
    visitor_of,
)
from dashboard.serving.pace import EACH, Pace, in_turn
from dashboard.serving.paths import METRICS, has_control, is_long, leads_to
from dashboard.serving.plain_requests import (
    A_FILE,
    BRINGING,
    OPENING,
    Gone,
    Leaving,
    NotTaken,
    PlainRequests,
    arriving,
    has_gone,
    stays,
)
from dashboard.serving.relief import Relief
from dashboard.serving.settings import number
from dashboard.serving.uploads import Uploads
from dashboard.words import sentence
from dashboard.words import server as words
from dpcore.errors import LedgerError

LOGINS, LOGINS_AHEAD, LOGINS_WAIT = 10.0, 40.0, 5.0
"""Steps of logins a second that one address may make, of how many seconds what was not made of them at once, and for
how many a further one waits at most: each may have this server ask the provider. In a class that
logs in each person makes two."""
_OF_LOGINS = (wanted.LOGIN, wanted.LOGOUT, wanted.RETURN)
_LOG = logging.getLogger(__name__)


def _is_ours() -> bool:
    """Whether this server takes more than half of its part of the memory."""
    return machine_memory.own() > machine_memory.given() / (2 * visitors.replicas())


def _led_here(scope: Scope) -> bool:
    return wanted.is_from_here(scope["headers"], secure=host_cookies.is_secure(scope))


class Gate:
    """ASGI middleware around the whole server. One for each server: it counts the open pages."""

    def __init__(self, app: Asgi, *, most: int | None = None, most_bytes: int | None = None) -> None:
        self._app = app
        self._open: Counter[str] = Counter()  # pages, by the address they are opened from
        self._paces: dict[str, messages.Address] = {}
        self._requests, self._leaving = PlainRequests(), Leaving()
        self._logins: dict[str, Pace] = {}  # of those who made a step just now
        self._most = most
        self._files = open_files.Left()
        self._uploads, self._rights = Uploads(app, most_bytes, self._files), FileRights(senders.no_files_of)
        self._relief = Relief(held=self._holds, let_go=self._uploads.let_go, ours=_is_ours)

    @property
    def full(self) -> bool:
        """Whether one more page would be too many. A page that was just closed still holds files, so these count."""
        if self._most is None:
            most = number("EPSILON_LAB_SESSIONS", open_files.MOST_SESSIONS)
            self._most = open_files.places(open_files.raise_file_limit(), most)
        if machine_memory.is_short():
            self._relief.watch()
            return True
        return self._open.total() >= self._most or self._files.few()

    def _holds(self, visitor: str) -> int:
        """Bytes that count for an address."""
        return all_held.held(visitor) + lent.LENT.held(visitor) + self._uploads.held(visitor)

    def _has_its_share(self, visitor: str) -> bool:
        """Whether as many pages are open from one address as one may have."""
        most = open_files.MOST_SESSIONS if self._most is None else self._most
        return self._open[visitor] >= number("EPSILON_LAB_SESSIONS_EACH", max(1, int(EACH * most)))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if "headers" in scope:
            secure = host_cookies.is_secure(scope)
            scope[HEAD], scope["headers"] = by_head(scope), list(plain(scope["headers"], secure=secure))
            scope["headers"] = list(heads.says_whose(scope))
        if scope["type"] == "websocket":
            await self._page(scope, receive, send)
        elif scope["type"] == "http":
            await self._request(scope, receive, host_cookies.given(scope, send))
        elif scope["type"] == refused.KIND:
            await self._refused(scope, send)
        else:
            await self._app(scope, receive, send)

    async def _request(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await self._in_turn(scope, receive, send)
        except Gone:
            _LOG.debug("a request was not answered: whoever sent it had gone")

    async def _in_turn(self, scope: Scope, receive: Receive, send: Send) -> None:
        whose, more = asking(scope), BRINGING - 1.0 if is_file(scope) else 0.0
        async with self._requests.turn(whose, scope[HEAD] + more, has_gone(receive)) as pace:
            if pace is None:
                if size(scope):  # nothing of a body is read to see whether its sender stays
                    await answer(send, 429, words.TOO_MANY_REQUESTS, more=((b"connection", b"close"),))
                elif await stays(receive):
                    await answer(send, 429, words.TOO_MANY_REQUESTS)
                return
            receive = arriving(receive, pace, A_FILE if is_file(scope) else 1.0)
            scope, send = whole(not_packed(scope)), self._leaving.paced(send, pace, whose)
            if not is_file(scope):
                try:
                    await self._answered(scope, receive, send)
                except NotTaken:
                    _LOG.info("an answer was not sent to its end")
                return
        await self._answered(scope, receive, send)  # on its way for minutes, with bounds of its own

    async def _refused(self, scope: Scope, send: Send) -> None:
        """A request of which nothing is left but to say so: it is work as another."""
        async with self._requests.turn(visitor_of(scope)) as pace:
            if pace is not None:
                await send({"type": refused.KIND})

    async def _answered(self, scope: Scope, receive: Receive, send: Send) -> None:
        if has_control(scope) or is_long(scope):
            await answer(send, 400, words.NO_SUCH_PATH if has_control(scope) else words.NO_LONG_PATH)
        elif not is_host_allowed(header(scope, b"host")):
            await answer(send, 421, words.OTHER_NAME)
        elif leads_to(scope, METRICS) and not may_measure(scope):
            await answer(send, 404, words.NOT_FOUND)
        elif refusal := await self._refusal(scope):
            await answer(send, *refusal)
        elif is_file(scope):
            try:
                await self._uploads.take(scope, receive, send)
            except (ClientDisconnect, LocalProtocolError):
                _LOG.info("a file was not sent to its end")  # nobody is there to be answered
        elif scope["method"] == "GET" and is_page(scope) and self.full:
            await later(send, words.full())
        elif scope["method"] == "GET" and is_page(scope) and self._has_its_share(visitor_of(scope)):
            await later(send, words.its_share())
        elif leads_to(scope, *_OF_LOGINS) and not await self._may_log_in(visitor_of(scope)):
            await answer(send, 429, words.TOO_MANY_REQUESTS)
        elif leads_to(scope, wanted.LOGOUT) and not _led_here(scope):
            await answer(send, 403, words.LOG_OUT_HERE)
        elif leads_to(scope, wanted.LOGIN) and not _led_here(scope):
            await answer(send, 403, words.LOG_IN_HERE)
        elif leads_to(scope, wanted.LOGIN):
            await self._app(scope, receive, with_headers(scope, keeping(scope, send)))
        elif leads_to(scope, wanted.RETURN):
            scope = {**scope, "query_string": wanted.told(scope.get("query_string", b""))}
            await self._app(scope, receive, with_headers(scope, returning(scope, send)))
        elif is_page(scope) and not leads_to(scope, *_OF_LOGINS):
            told = with_headers(scope, send)
            await self._app(scope, receive, beginning(scope, told, visitors=login.configured() is None))
        else:
            await self._app(scope, receive, with_headers(scope, send))

    async def _refusal(self, scope: Scope) -> tuple[int, str] | None:
        """How a request is answered that may not be made by who makes it, or of which that cannot be known for now."""
        try:
            why = await senders.refused(scope, self._rights)
        except LedgerError as error:
            return 503, sentence(error)
        return (403, why) if why else None

    async def _may_log_in(self, visitor: str) -> bool:
        """Whether one more step of a login may be made from an address, once it is its turn."""
        self._logins = {who: pace for who, pace in self._logins.items() if not pace.idle}
        pace = self._logins.setdefault(visitor, Pace(LOGINS, LOGINS_AHEAD))
        if pace.wait(0.0) > LOGINS_WAIT:
            return False
        await in_turn(1.0, [pace])
        return True

    async def _page(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One open page, for as long as it is open."""
        if has_control(scope) or is_long(scope) or not is_own_page(scope):
            await send({"type": "websocket.close", "code": 1008})
            return
        visitor = visitor_of(scope)
        async with self._requests.turn(visitor, OPENING - 1.0 + scope[HEAD]) as pace:
            too_many = pace is None
        if too_many and not await stays(receive):
            return
        if too_many or self.full or self._has_its_share(visitor):
            await send({"type": "websocket.close", "code": 1013})  # try again later
            return
        self._open[visitor] += 1
        page = self._relief.comes(visitor, send)
        each = self._paces.setdefault(visitor, messages.Address(Visitor(visitor)))
        work = Pace(messages.WORK, messages.AHEAD), each.work
        runs = each.runs.place(Pace(messages.RUNS, messages.AHEAD))
        try:
            await in_turn(0, work)  # what an address is ahead by is not left behind with a page that is closed
            scope[messages.PAGE], scope[scripts.VISITOR] = object(), each.visitor
            with suppress(WebSocketDisconnect, WebSocketDisconnected):  # it left while a message of it waited its turn
                await self._app(scope, lambda: messages.next_message(scope, receive, send, work, runs), page.send)
        finally:
            self._relief.goes(visitor, page)
            self._open[visitor] -= 1
            self._open += Counter()  # those with none are forgotten
            # an address is not forgotten with its last page: it would begin anew by closing and opening one
            self._paces = {who: each for who, each in self._paces.items() if who in self._open or not each.idle}
