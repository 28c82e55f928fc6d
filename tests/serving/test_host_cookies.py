"""Over TLS no cookie counts that another host, or whoever writes into plain HTTP, could have a browser keep."""

from __future__ import annotations

import asyncio
import re
from http.cookies import SimpleCookie
from pathlib import Path
from typing import Any

import pytest
import streamlit
from starlette.datastructures import Headers
from starlette.requests import cookie_parser
from streamlit.web.server.starlette import starlette_server_config, starlette_websocket
from streamlit.web.server.starlette.starlette_app_utils import generate_xsrf_token_string, validate_xsrf_token

from dashboard.people import wanted
from dashboard.people.browser_token import PHONE, VISITOR
from dashboard.serving import gate, heads, host_cookies
from dashboard.serving.gate import Gate

OURS = (VISITOR.name, PHONE.name, wanted.COOKIE, wanted.NO_LOGIN)
STREAMLITS = {name: value for name, value in vars(starlette_server_config).items() if name.endswith("_COOKIE_NAME")}
AGAINST_FORGERY = STREAMLITS["XSRF_COOKIE_NAME"]
HAVE = sorted({*OURS, *STREAMLITS.values()})
HERE = "lab.uni.example"


def every(cookie: str, scheme: str = "https") -> list[str]:
    """What a browser is told to keep where the server gives this."""
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    tell = host_cookies.given({"type": "http", "scheme": scheme}, send)
    start = {"type": "http.response.start", "status": 200, "headers": [(b"Set-Cookie", cookie.encode()), (b"a", b"b")]}
    asyncio.run(tell(start))
    assert sent[0]["headers"][-1] == (b"a", b"b")
    return [value.decode() for _, value in sent[0]["headers"][:-1]]


def kept(cookie: str, scheme: str = "https") -> str:
    return every(cookie, scheme)[0]


def read(line: str, *, secure: bool = True) -> dict[str, str]:
    """What all behind the gate reads of the cookies that a browser sends."""
    return cookie_parser(host_cookies.ours(line.encode(), secure=secure).decode())


@pytest.mark.parametrize("name", HAVE)
@pytest.mark.parametrize(
    "more", ["Path=/", "path=/lab; Domain=example.org; httponly", "HttpOnly; Max-Age=5; secure", ""]
)
def test_a_cookie_is_kept_for_this_host_alone_and_read_by_its_name(name: str, more: str) -> None:
    found = kept(f"{name}=x; {more}" if more else f"{name}=x")
    (one,) = SimpleCookie(found).values()
    assert one.key == f"__Host-{name}"
    assert one["secure"]
    assert (one["path"], one["domain"]) == ("/", ""), "or no browser takes it"
    assert bool(one["httponly"]) == ("httponly" in more.lower() or name == AGAINST_FORGERY)
    assert one["max-age"] == ("5" if "Max-Age" in more else "")
    assert kept(f"{name}=x; {more}", "http") == f"{name}=x; {more}"
    assert read(found.split(";")[0]) == {name: "x"}


@pytest.mark.parametrize("name", HAVE)
@pytest.mark.parametrize(
    "planted",
    ["{}=evil", "{} =evil", " {}=evil", "{}=evil; {}=evil", "__host-{}=evil", "__Secure-{}=evil", "\xa0__Host-{}=evil"],
)
def test_what_another_host_may_set_does_not_count(name: str, planted: str) -> None:
    line = planted.replace("{}", name)
    assert "evil" not in str(read(line))
    for both in (f"__Host-{name}=x; {line}", f"{line}; __Host-{name}=x"):
        assert read(both) == {name: "x"}


def test_without_tls_the_usual_name_counts_where_there_is_no_other() -> None:
    """The other one is a browser's that speaks TLS with a proxy which does not say so."""
    name = VISITOR.name
    assert read(f"{name}=x", secure=False) == {name: "x"}
    assert read(f"__Host-{name}=x; {name}=evil; {PHONE.name}=y", secure=False) == {name: "x", PHONE.name: "y"}


def test_the_one_that_a_page_s_script_reads_has_its_usual_name_beside_it() -> None:
    """That one says nothing to the server: what a page's script has read is replaced by what this host alone gave."""
    name = AGAINST_FORGERY
    assert every(f"{name}=2|ab; Path=/; SameSite=Lax") == [
        f"__Host-{name}=2|ab; Path=/; SameSite=Lax; HttpOnly; Secure",
        f"{name}=2|ab; Path=/; SameSite=Lax; Secure",
    ]
    assert [len(every(f"{other}=x")) for other in HAVE if other != name] == [1] * (len(HAVE) - 1)
    text = "".join(file.read_text("utf-8") for file in SCRIPTS.glob("*.js"))
    assert name in text
    assert not [other for other in HAVE if other != name and other in text], "no script may look for another"


SCRIPTS = Path(str(streamlit.__file__)).parent / "static" / "static" / "js"
MINE, THEIRS = generate_xsrf_token_string(b"m" * 16, 1), generate_xsrf_token_string(b"t" * 16, 1)
PLANTED = {
    "by its name": f"{AGAINST_FORGERY}={THEIRS}",
    "by another name": f"a-{AGAINST_FORGERY}={THEIRS}",
    "in another's value": f"a=b {AGAINST_FORGERY}={THEIRS}",
}
"""What another host of the domain can have a browser keep, by which the page's script takes it for its own."""


def read_by_script(line: str) -> str:
    """The token that a page's script says, as it looks for it."""
    found = re.search(rf"\b{AGAINST_FORGERY}=([^;]*)\b", line)
    return found[1] if found is not None else "PLACEHOLDER_AUTH_TOKEN"


def believed(line: str, said: str, *more: tuple[bytes, bytes], kind: str = "websocket", tls: bool = True) -> bool:
    """Whether Streamlit takes a page for one of the server's own: what is ``said`` by its script, and its cookies."""
    found: list[Headers] = []

    async def app(scope: Any, *_: Any) -> None:
        found.append(Headers(scope=scope))

    async def nothing(*_: Any) -> Any:
        return {"type": "http.request", "body": b""}

    headers = [(b"host", HERE.encode()), (b"cookie", line.encode()), *more]
    headers.append((b"sec-websocket-protocol", f"streamlit, {said}, an-older-session".encode()))
    headers.append((b"x-xsrftoken", said.encode()))
    scope = {"type": kind, "path": "/", "method": "PUT", "headers": headers, "query_string": b""}
    scope["scheme"] = {"websocket": "ws", "http": "http"}[kind] + "s" * tls
    asyncio.run(Gate(app)(scope, nothing, nothing))
    (behind,) = found
    selected, token, session = starlette_websocket._parse_subprotocols(behind)
    assert (selected, session) == ("streamlit", "an-older-session")
    told = token if kind == "websocket" else behind.get("x-xsrftoken")
    return validate_xsrf_token(told, cookie_parser(behind["cookie"]).get(AGAINST_FORGERY))


@pytest.fixture
def hosted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gate, "is_host_allowed", lambda host: True)
    monkeypatch.setattr(heads, "is_host_allowed", lambda host: True)


OWN = (b"origin", f"https://{HERE}".encode())
KEPT = f"__Host-{AGAINST_FORGERY}={MINE}; {AGAINST_FORGERY}={MINE}"


@pytest.mark.parametrize("planted", PLANTED.values(), ids=PLANTED)
@pytest.mark.parametrize("kind", ["websocket", "http"])
def test_what_another_host_planted_keeps_nobody_s_own_page_from_being_believed(
    hosted: None, monkeypatch: pytest.MonkeyPatch, kind: str, planted: str
) -> None:
    """Its cookie, read first or last, and nobody could log in for as long as it was kept."""
    for line in (f"{planted}; {KEPT}", f"{KEPT}; {planted}", KEPT):
        for said in (read_by_script(line), read_by_script(line.replace(KEPT, "")), MINE, "PLACEHOLDER_AUTH_TOKEN"):
            assert believed(line, said, OWN, kind=kind)
    monkeypatch.setattr(heads, "says_whose", lambda scope: scope["headers"])
    line = f"{planted}; {KEPT}"
    assert not believed(line, read_by_script(line), OWN, kind=kind), "the mutant: as it was"


@pytest.mark.parametrize("planted", PLANTED.values(), ids=PLANTED)
@pytest.mark.parametrize(
    "origin",
    [(), ((b"origin", b"https://evil.uni.example"),), ((b"origin", b"http://lab.uni.example"),), (OWN, OWN)],
)
def test_a_page_of_another_host_is_not_believed_by_what_it_planted(
    hosted: None, planted: str, origin: tuple[tuple[bytes, bytes], ...]
) -> None:
    for line in (f"{planted}; {KEPT}", f"{KEPT}; {planted}", planted):
        assert not believed(line, THEIRS, *origin, kind="http")
    assert believed(KEPT, MINE, *origin, kind="http"), "who knows it says it, as a program does"


def test_a_browser_that_holds_none_of_this_host_is_not_believed(hosted: None) -> None:
    for line in (*PLANTED.values(), f"{AGAINST_FORGERY}={MINE}"):
        assert not believed(line, read_by_script(line), OWN)


def test_without_tls_it_is_compared_as_before(hosted: None) -> None:
    plain = (b"origin", f"http://{HERE}".encode())
    line = f"{AGAINST_FORGERY}={MINE}"
    assert believed(line, MINE, plain, tls=False)
    assert not believed(line, THEIRS, plain, tls=False)


@pytest.mark.parametrize("name", HAVE)
def test_without_the_prefix_they_would_count(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What shows that the tests above can fail."""
    monkeypatch.setattr(host_cookies, "_PREFIX", b"")
    assert "evil" in str(read(f"{name}=x; {name}=evil"))
