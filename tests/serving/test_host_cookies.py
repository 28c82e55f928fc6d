"""Over TLS no cookie counts that another host, or whoever writes into plain HTTP, could have a browser keep."""

from __future__ import annotations

import asyncio
from http.cookies import SimpleCookie
from pathlib import Path
from typing import Any

import pytest
import streamlit
from starlette.requests import cookie_parser
from streamlit.web.server.starlette import starlette_server_config

from dashboard.people import wanted
from dashboard.people.browser_token import PHONE, VISITOR
from dashboard.serving import host_cookies

OURS = (VISITOR.name, PHONE.name, wanted.COOKIE, wanted.NO_LOGIN)
STREAMLITS = {name: value for name, value in vars(starlette_server_config).items() if name.endswith("_COOKIE_NAME")}
WITHOUT = {STREAMLITS["XSRF_COOKIE_NAME"]}
HAVE = sorted({*OURS, *STREAMLITS.values()} - WITHOUT)


def kept(cookie: str, scheme: str = "https") -> str:
    """What a browser is told to keep where the server gives this."""
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    tell = host_cookies.given({"type": "http", "scheme": scheme}, send)
    start = {"type": "http.response.start", "status": 200, "headers": [(b"Set-Cookie", cookie.encode()), (b"a", b"b")]}
    asyncio.run(tell(start))
    assert sent[0]["headers"][1] == (b"a", b"b")
    return str(sent[0]["headers"][0][1].decode())


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
    assert bool(one["httponly"]) == ("httponly" in more.lower())
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


def test_the_one_that_a_page_s_script_reads_keeps_its_name() -> None:
    (name,) = WITHOUT
    assert kept(f"{name}=2|ab; Path=/") == f"{name}=2|ab; Path=/; Secure"
    assert read(f"{name}=2|ab; a={name}; b=__Host-{name}") == {name: "2|ab"}
    scripts = Path(str(streamlit.__file__)).parent / "static" / "static" / "js"
    text = "".join(file.read_text("utf-8") for file in scripts.glob("*.js"))
    assert name in text
    assert not [other for other in HAVE if other in text], "no script may look for one that has another name"


@pytest.mark.parametrize("name", HAVE)
def test_without_the_prefix_they_would_count(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What shows that the tests above can fail."""
    monkeypatch.setattr(host_cookies, "_PREFIX", b"")
    assert "evil" in str(read(f"{name}=x; {name}=evil"))
