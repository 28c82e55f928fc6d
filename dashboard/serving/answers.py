"""How requests are answered: what a browser is told beside each answer, and the answers that are the gate's own."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import parse_qsl

from dashboard.people import wanted
from dashboard.people.browser_token import PHONE, VISITOR
from dashboard.poll.codes import PARAMETER
from dashboard.serving import host_cookies
from dashboard.serving.asgi import Message, Scope, Send
from dashboard.serving.heads import is_made
from dashboard.words import server as words

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
_OF_A_BODY = (b"content-type", b"content-length")
_NOT_KEPT = (b"cache-control", b"no-store")
_KEPT_HERE = (b"cache-control", b"private, no-cache")
"""Of an answer with a token: whatever lies between keeps it for nobody else."""
_USER = b"_streamlit_user="
_TOKENS = b"_streamlit_user_tokens"
"""How cookies begin that hold what the provider sent with a login."""


def not_packed(scope: Scope) -> Scope:
    """A request as of who understands no gzip: packing takes many times as long as sending, anew for each who asks."""
    return {**scope, "headers": [(name, value) for name, value in scope["headers"] if name != b"accept-encoding"]}


def whole(scope: Scope) -> Scope:
    """A request as of who wants all of a file that was made for them: a part of it would be a copy for each request."""
    if not is_made(scope):
        return scope
    return {**scope, "headers": [(name, value) for name, value in scope["headers"] if name != b"range"]}


def with_headers(scope: Scope, send: Send) -> Send:
    """With what a browser is told beside each answer; and no file that was made for somebody is kept on the way, or by
    a browser that others may use."""
    own = is_made(scope)

    async def tell(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = list(message.get("headers", ()))
            if own:
                headers = [*(pair for pair in headers if pair[0].lower() != b"cache-control"), _NOT_KEPT]
            present = {name.lower() for name, _ in headers}
            message = {**message, "headers": [*headers, *(pair for pair in HEADERS if pair[0] not in present)]}
        await send(message)

    return tell


def beginning(scope: Scope, send: Send, *, visitors: bool) -> Send:
    """Where a page begins its browser is given the token by which it is known, before any session of it begins:
    ``visitors``' where nobody logs in, and a phone's where a room is joined."""
    wanted_here = [VISITOR] if visitors else []
    query = scope.get("query_string", b"").decode("latin-1")
    if any(name == PARAMETER for name, _ in parse_qsl(query, keep_blank_values=True)):  # as Streamlit reads it
        wanted_here.append(PHONE)
    given = [cookie.header() for cookie in wanted_here if not cookie.held(scope["headers"])]

    async def tell(message: Message) -> None:
        if message["type"] == "http.response.start" and message["status"] in (200, 304):  # 304: it has the page already
            headers = [pair for pair in message.get("headers", ()) if not (given and pair[0].lower() == _KEPT_HERE[0])]
            message = {**message, "headers": [*headers, *given, *([_KEPT_HERE] if given else [])]}
        await send(message)

    return tell


def keeping(scope: Scope, send: Send) -> Send:
    """On the way to a login: keep the page that somebody came from. Where no provider answers they are led back to it,
    and not left with two words of Streamlit's."""
    place = wanted.left(scope["headers"], secure=host_cookies.is_secure(scope))
    tell, fails = _changed(send, lambda headers: headers, place), False

    async def told(message: Message) -> None:
        nonlocal fails
        if message["type"] == "http.response.start" and message["status"] >= 400:
            fails = True
            kept = [(name, value) for name, value in message["headers"] if name.lower() not in _OF_A_BODY]
            back = (b"location", place.encode() or b"/"), wanted.no_login(wanted.AWAY)
            message = {**message, "status": 302, "headers": [*kept, *back, (b"content-length", b"0")]}
        elif fails:
            message = {**message, "body": b""}
        await (send if fails else tell)(message)

    return told


def returning(scope: Scope, send: Send) -> Send:
    """Back from a login: to the page that was kept, wherever the server would lead, and without the provider's tokens.

    Streamlit would have the browser keep them, signed but to be read, beside the cookie that says who somebody is.
    """
    place = wanted.kept(scope["headers"])

    def there(headers: list[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
        somebody = any(value.startswith(_USER) and b"max-age=0" not in value.lower() for _, value in headers)
        word = "" if somebody else wanted.why(scope.get("query_string", b""))
        found = []
        for name, value in headers:
            if name.lower() == b"set-cookie" and value.startswith(_TOKENS) and b"max-age=0" not in value.lower():
                continue
            found.append((name, place.encode() if place and name.lower() == b"location" else value))
        return [*found, wanted.no_login(word)]

    return _changed(send, there, "")


def _changed(send: Send, change: Callable[[list[tuple[bytes, bytes]]], list[tuple[bytes, bytes]]], keep: str) -> Send:
    async def tell(message: Message) -> None:
        if message["type"] == "http.response.start" and 300 <= message["status"] < 400:
            headers = change(list(message.get("headers", ())))
            message = {**message, "headers": [*headers, wanted.cookie(keep)]}
        await send(message)

    return tell


async def later(send: Send, page: str) -> None:
    """There is no place for one more page now."""
    wait = (b"retry-after", str(words.TRY_AGAIN).encode())
    await answer(send, 503, page, kind=b"text/html; charset=utf-8", more=(wait,))


async def answer(
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
