"""A browser has its token before any session of a page begins, so that two tabs are one visitor and one phone."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Any

import pytest

from dashboard.people import browser_token, login
from dashboard.people.browser_token import PHONE, VISITOR, Cookie
from dashboard.poll.rooms import LIFE
from dashboard.serving.gate import Gate
from dashboard.serving.host_cookies import PREFIX
from tests.serving.test_gate import HOST

HTML = (b"accept", b"text/html,application/xhtml+xml")
ROOM = b"join=ABCD-2345"
HELD = "0123456789abcdef" * 2


def answered(
    *headers: tuple[bytes, bytes], path: str = "/", query: bytes = b"", scheme: str = "http", status: int = 200
) -> list[tuple[bytes, bytes]]:
    """The head of an answer."""

    async def app(_: Any, __: Any, send: Any) -> None:
        kept = [(b"cache-control", b"no-cache")]
        await send({"type": "http.response.start", "status": status, "headers": kept})

    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        return {"type": "http.request", "body": b""}

    scope = {"type": "http", "path": path, "method": "GET", "headers": [HOST, *headers], "scheme": scheme}
    asyncio.run(Gate(app)(scope | {"query_string": query}, receive, send))
    found: list[tuple[bytes, bytes]] = sent[0]["headers"]
    return found


def given(*headers: tuple[bytes, bytes], **asked: Any) -> dict[str, str]:
    """The cookies that come with an answer, by name, each whole."""
    cookies = [value.decode() for name, value in answered(*headers, **asked) if name == b"set-cookie"]
    return {one.partition("=")[0]: one for one in cookies}


def controls(*headers: tuple[bytes, bytes]) -> list[str]:
    """How long what lies between may keep an answer."""
    return [value.decode() for name, value in answered(*headers) if name == b"cache-control"]


def held(cookie: Cookie, value: str = HELD) -> tuple[bytes, bytes]:
    return (b"cookie", f"other=1; {cookie.name}={value}; more=2".encode())


def test_a_page_brings_it_and_a_room_that_of_a_phone() -> None:
    assert set(given(HTML)) == {VISITOR.name}
    assert set(given(HTML, query=b"epsilon=0.5&" + ROOM)) == {VISITOR.name, PHONE.name}
    assert set(given(HTML, query=b"join")) == {VISITOR.name, PHONE.name}
    assert set(given(HTML, query=b"rejoin=1")) == {VISITOR.name}
    for spelled in (b"%6aoin=ABCD2345", b"a=1&jo%69n"):  # of whatever address the page is a phone's
        assert set(given(HTML, query=spelled)) == {VISITOR.name, PHONE.name}
    assert set(given(HTML, status=304)) == {VISITOR.name}, "a browser that has the page itself may have lost the cookie"
    assert controls(HTML) == ["private, no-cache"]
    assert controls(HTML, held(VISITOR)) == ["no-cache"], "it brings none"
    first, again = given(HTML)[VISITOR.name], given(HTML)[VISITOR.name]
    assert first != again, "each browser has its own"
    token, *attributes = re.split("; ?", first.partition("=")[2])
    assert Cookie.token(token) == token
    assert {"Path=/", "HttpOnly", "SameSite=Lax"} < set(attributes)
    assert "Secure" in given(HTML, scheme="https")[PREFIX + VISITOR.name]


def test_who_has_it_keeps_it() -> None:
    assert not given(HTML, held(VISITOR))
    assert set(given(HTML, held(VISITOR), query=ROOM)) == {PHONE.name}
    assert set(given(HTML, held(VISITOR, "made up"))) == {VISITOR.name}
    two = f"{VISITOR.name}={HELD}; {VISITOR.name}=%s".encode()
    assert set(given(HTML, (b"cookie", two % b"made up"))) == {VISITOR.name}, "a session reads the last of a name"
    assert not given(HTML, (b"cookie", two.replace(HELD.encode(), b"made up") % HELD.encode()))
    assert set(given(HTML, (b"cookie", f"x{VISITOR.name}={HELD}".encode()))) == {VISITOR.name}


def test_over_tls_only_the_one_that_no_other_host_can_set_counts() -> None:
    """A neighbour's name, or whoever writes into plain HTTP, could give a browser a token that they know."""
    ours, planted = held(Cookie(PREFIX + VISITOR.name, 1)), held(VISITOR, HELD[::-1])
    assert set(given(HTML, planted, scheme="https")) == {PREFIX + VISITOR.name}, "nor is it taken over"
    assert HELD[::-1] not in given(HTML, planted, scheme="https")[PREFIX + VISITOR.name]
    assert not given(HTML, ours, scheme="https")
    assert not given(HTML, ours), "behind a proxy that does not say that there is TLS"
    for query in (ROOM, b""):
        assert (PREFIX + PHONE.name in given(HTML, held(PHONE), query=query, scheme="https")) == bool(query)


def test_nothing_but_a_page_brings_one(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not given((b"accept", b"*/*"), path="/static/js/index.js")
    assert not given(HTML, path="/_stcore/health")
    assert not given(HTML, status=503)
    monkeypatch.setattr(login, "configured", lambda: object())
    assert not given(HTML), "where people log in their login says who they are"
    assert set(given(HTML, query=ROOM)) == {PHONE.name}


def test_a_phone_is_known_for_longer_than_a_room_lasts() -> None:
    assert PHONE.seconds >= 2 * LIFE


def test_a_browser_that_came_without_it_keeps_what_another_tab_has_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """The script of the page that came first wrote over it in every run."""
    drawn: list[str] = []
    monkeypatch.setattr(browser_token.st, "html", lambda text, **_: drawn.append(text))
    monkeypatch.setattr(browser_token.BrowserToken, "value", lambda self: HELD)
    browser_token.BrowserToken(VISITOR, slot=None).remember()  # type: ignore[arg-type]
    (script,) = drawn
    assert f"}}{VISITOR.name}=`; if (!document.cookie.split('; ').some((one) => one.startsWith(name)))" in script
    assert f"${{name}}{HELD}; path=/; max-age=" in script
    assert f"location.protocol === 'https:', name = `${{tls ? '{PREFIX}' : ''}}" in script
    assert "${tls ? '; Secure' : ''}" in script


def test_no_other_part_writes_cookies() -> None:
    root = Path(browser_token.__file__).parents[1]
    writers = {path.name for path in root.rglob("*.[jp][sy]") if "document.cookie =" in path.read_text("utf-8")}
    assert writers == {"browser_token.py"}
