"""A login that comes to nothing is told in a sentence where it ends, and in a line of the log."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from http.cookies import SimpleCookie
from types import SimpleNamespace
from typing import Any

import pytest
from starlette.exceptions import HTTPException
from streamlit.testing.v1 import AppTest
from streamlit.web.server.starlette.starlette_server_config import USER_COOKIE_NAME

from dashboard.people import login, login_cookie, wanted
from dashboard.serving.gate import Gate
from dashboard.widgets import signing
from dashboard.words import login as words
from tests.serving.test_providers import ISSUER, SETTINGS, settings

__all__ = ["settings"]
HOST = (b"host", b"localhost:8501")
SAYS = {"sub": "olga", "iss": ISSUER, "nonce": "n", "is_logged_in": True, "provider": login.DEFAULT}
NOBODY: dict[str, tuple[dict[str, Any], str]] = {
    # what the provider says, and what is told
    "a long name": ({"sub": "a" * 700}, words.NO_SUBJECT),
    "a name with a tab": ({"sub": "a\tb"}, words.NO_SUBJECT),
    "a name that ends with a blank": ({"sub": "olga "}, words.NO_SUBJECT),
    "a number for a name": ({"sub": 7}, words.NO_SUBJECT),
    "no name": ({"sub": ""}, words.NO_SUBJECT),
    "another's address": ({"iss": "https://weak.example"}, words.OTHER_ISSUER),
    "a login of yesterday": ({"iat": int(time.time()) - 13 * 3600}, words.no_time(12.0)),
    "a login of tomorrow": ({"iat": int(time.time()) + 13 * 3600}, words.no_time(12.0)),
    "a time that is none": ({"iat": True}, words.no_time(12.0)),
}


def comes_back(more: dict[str, Any]) -> str:
    """What whoever comes back from their provider is told, or whether a browser keeps their login."""
    kept = list[str]()
    said = SAYS | {"iat": int(time.time())} | more
    try:
        login_cookie._in_one(
            lambda _, text: kept.append(text), lambda *_: b"", USER_COOKIE_NAME, said, cookie_attr_size=0
        )
    except HTTPException as error:
        return error.detail
    return "kept" if kept and login.known(said) else "kept, and nobody"


@pytest.mark.parametrize("which", NOBODY)
def test_whose_login_is_nobody_s_is_told_and_logged(
    which: str, settings: Callable[[str], None], caplog: pytest.LogCaptureFixture
) -> None:
    """They logged in again and again: a browser kept what every page then took for nobody."""
    settings(SETTINGS)
    more, sentence = NOBODY[which]
    with caplog.at_level(logging.WARNING):
        assert comes_back(more) == sentence
    assert "was refused" in caplog.text
    assert "olga" not in caplog.text
    assert comes_back({}) == "kept"


def test_a_login_that_is_kept_for_nobody_is_found_out(
    settings: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As it was: nothing was asked before the cookie was made but its size."""
    settings(SETTINGS)
    monkeypatch.setattr(login_cookie, "login", SimpleNamespace(refused=lambda _: "", kept=login.kept))
    assert {comes_back(more) for more, _ in NOBODY.values()} == {"kept, and nobody"}


def ends(path: str, question: str, status: int, *cookies: bytes) -> tuple[int, dict[str, str], bytes]:
    """How a step of a login ends where the server answers so: its status, cookies and body."""

    async def app(_: Any, __: Any, send: Any) -> None:
        headers = [(b"location", b"/"), (b"content-length", b"2"), *((b"set-cookie", one) for one in cookies)]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": b"ab"})

    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    begun = [(b"sec-fetch-site", b"same-origin"), (b"sec-fetch-dest", b"document")]
    scope = {
        "type": "http",
        "path": path,
        "method": "GET",
        "headers": [HOST, *begun],
        "query_string": question.encode(),
    }
    asyncio.run(Gate(app)(scope, send, send))
    told = {
        name: f"{one.value}; {one['max-age']}"
        for header, value in sent[0]["headers"]
        if header == b"set-cookie"
        for name, one in SimpleCookie(value.decode()).items()
    }
    return sent[0]["status"], told, b"".join(message["body"] for message in sent[1:])


@pytest.mark.parametrize(
    ("question", "cookies", "word"),
    [
        ("error=access_denied&state=x", (), "denied; 60"),
        ("error=server_error&state=x", (), "failed; 60"),
        ("error=SECRETWORDS&error_description=<script>", (), "failed; 60"),
        ("state=x&code=y", (), "failed; 60"),
        ("state=x&code=y", (b"_streamlit_user=; Max-Age=0",), "failed; 60"),
        ("state=x&code=y", (b"_streamlit_user=signed; HttpOnly",), "; 0"),
        ("", (), "; 0"),  # from logging out
    ],
)
def test_why_there_is_no_login_is_kept_for_the_login_page(question: str, cookies: tuple[bytes, ...], word: str) -> None:
    status, told, _ = ends(wanted.RETURN, question, 302, *cookies)
    assert (status, told[wanted.NO_LOGIN]) == (302, word)
    assert "SECRET" not in str(told)


def test_where_no_provider_answers_the_login_page_says_so() -> None:
    status, told, body = ends(wanted.LOGIN, "", 400)
    assert (status, told[wanted.NO_LOGIN], body) == (302, "away; 60", b"")
    assert ends(wanted.LOGIN, "", 302)[2] == b"ab", "one that answers leads on"


@pytest.mark.parametrize("word", ["denied", "failed", "away", "forged", ""])
def test_the_login_page_says_why_in_our_words_alone(
    word: str, settings: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    settings(SETTINGS)

    def page() -> None:
        from dashboard.widgets import signing

        signing.show()

    monkeypatch.setattr(signing, "_why", lambda: word)
    app = AppTest.from_function(page, default_timeout=60).run()
    assert not app.exception
    assert [one.value for one in app.warning] == ([words.NO_LOGIN[word]] if word in words.NO_LOGIN else [])
    assert set(words.NO_LOGIN) == {wanted.DENIED, wanted.FAILED, wanted.AWAY}
