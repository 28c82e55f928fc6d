"""Over TLS the server's cookies bear a name that a browser takes from this very host alone, over TLS (``__Host-``).

Any host of the same domain, and whoever writes into an answer of plain HTTP, may have a browser keep a cookie that it
sends here: a login that is somebody else's, or a visitor's token that somebody else knows. Behind the gate each cookie
goes by its usual name. That against forged requests is given by this one as well: the page's own script looks for it
there, and may find another host's in its place, so that what a page of this host says is not asked of its script
(``told_by_host``). Other ports of this host are this host to a browser, whatever a name is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dashboard.serving.asgi import Message, Scope, Send

PREFIX = "__Host-"
COOKIES = (b"_streamlit", b"epsilon_lab")
"""How names of cookies begin that the program or Streamlit gives."""
_PREFIX, _FOR_SCRIPTS = PREFIX.encode("ascii"), b"_streamlit_xsrf"


def is_secure(scope: Scope) -> bool:
    """Whether who asks is known to ask over TLS."""
    return scope.get("scheme") in ("https", "wss")


def ours(line: bytes, *, secure: bool) -> bytes:
    """Of the cookies that a request brings those that the server gave, by their usual names: over TLS none without the
    prefix counts, and elsewhere none beside the one that has it."""
    every = (one.strip() for one in line.split(b";"))
    found = [one for one in every if one.removeprefix(_PREFIX).startswith(COOKIES)]
    kept = {_name(one) for one in found if one.startswith(_PREFIX)}
    return b"; ".join(_counting(found, kept, secure=secure))


def _counting(found: Iterable[bytes], kept: set[bytes], *, secure: bool) -> Iterator[bytes]:
    for one in found:
        if one.startswith(_PREFIX):
            yield one.removeprefix(_PREFIX)
        elif not (secure or _PREFIX + _name(one) in kept):
            yield one


def told_by_host(headers: Iterable[tuple[bytes, bytes]]) -> Iterator[tuple[bytes, bytes]]:
    """The headers of a page that is known to be of this host, which say against forged requests what the browser holds
    of this host, behind ``ours``, whatever the page's script has found."""
    headers = list(headers)
    every = [one for name, value in headers if name == b"cookie" for one in value.split(b";")]
    token = next((one.partition(b"=")[2].strip() for one in reversed(every) if _name(one) == _FOR_SCRIPTS), b"")
    for name, value in headers:
        if name == b"sec-websocket-protocol" and token:
            selected, *more = value.split(b",")
            value = b", ".join((selected, token, *more[1:]))
        yield name, token or value if name == b"x-xsrftoken" else value


def given(scope: Scope, send: Send) -> Send:
    """With every cookie of an answer over TLS for TLS alone, whoever sets it, and ours for this host alone."""
    if not is_secure(scope):
        return send

    async def tell(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = message.get("headers", ())
            told = ((name, _kept(value) if name.lower() == b"set-cookie" else (value,)) for name, value in headers)
            message = {**message, "headers": [(name, value) for name, values in told for value in values]}
        await send(message)

    return tell


def _kept(cookie: bytes) -> Iterator[bytes]:
    """A cookie that a browser sends over TLS alone. One with the prefix has to be for every path, and name no host."""
    first, *more = (one.strip() for one in cookie.split(b";"))
    for_scripts = _name(first) == _FOR_SCRIPTS
    if first.startswith(COOKIES):
        kept = [b"Path=/", *(one for one in more if _name(one).lower() not in (b"path", b"domain"))]
        yield _for_tls(_PREFIX + first, *kept, *([b"HttpOnly"] if for_scripts else []))
    if for_scripts or not first.startswith(COOKIES):
        yield _for_tls(first, *more)


def _for_tls(*parts: bytes) -> bytes:
    return b"; ".join(parts if any(one.lower() == b"secure" for one in parts[1:]) else (*parts, b"Secure"))


def _name(cookie: bytes) -> bytes:
    return cookie.partition(b"=")[0].strip()
