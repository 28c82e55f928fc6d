"""Whether a page is the server's own is asked of nobody: no other host, and nothing that the whole server waits for."""

from __future__ import annotations

import asyncio
import re
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import streamlit
from starlette.applications import Starlette
from starlette.routing import WebSocketRoute
from streamlit import config, net_util
from streamlit.web.server.starlette.starlette_websocket import create_websocket_handler

from dashboard.serving import own_pages
from dashboard.serving.gate import Gate

ELSEWHERE = "https://portal.example"


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Whom the server asked while it looked whose page it is, with the guard."""
    found: list[str] = []

    def refused(*given: Any, **_: Any) -> None:
        found.append(str(given))
        raise OSError

    monkeypatch.setattr(socket.socket, "connect", refused)
    monkeypatch.setattr(socket, "getaddrinfo", refused)
    monkeypatch.setattr(net_util, "_internal_ip", None)
    set_here = {"server.corsAllowedOrigins": [ELSEWHERE], "server.allowedHosts": ["lab.example", "127.0.0.1"]}
    before = {name: config.get_option(name) for name in set_here}
    for name, value in set_here.items():
        config.set_option(name, value)
    own_pages.guard()
    yield found
    own_pages.unguard()
    for name, value in before.items():
        config.set_option(name, value)


class Sessions:
    """Stands for Streamlit's runtime: whoever comes that far is let in."""

    def connect_session(self, *_: Any, **__: Any) -> str:
        raise ConnectionAbortedError


def let_in(host: str, *origins: str, scheme: str = "ws") -> bool:
    """Whether the whole server opens a connection that is asked for so."""
    sent: list[Any] = []

    async def receive() -> Any:
        return {"type": "websocket.connect"}

    async def send(message: Any) -> None:
        sent.append(message)

    async def go() -> None:
        streamlits: Any = create_websocket_handler(Sessions())  # type: ignore[arg-type]
        served = Gate(Starlette(routes=[WebSocketRoute("/_stcore/stream", streamlits)]))
        headers = [(b"host", host.encode()), *((b"origin", one.encode()) for one in origins)]
        scope = {"type": "websocket", "path": "/_stcore/stream", "headers": headers, "scheme": scheme}
        try:
            await served(scope | {"query_string": b"", "subprotocols": []}, receive, send)
        except ConnectionAbortedError:
            assert sent

    asyncio.run(go())
    return bool(sent[0]["type"] == "websocket.accept")


OWN = [
    ("lab.example:8501", "http://lab.example:8501"),
    ("LAB.EXAMPLE:8501", "http://lab.example:8501"),
    ("lab.example:8501", "http://Lab.Example:8501"),
    ("lab.EXAMPLE.", "HTTP://LAB.example."),
    ("127.0.0.1", "https://127.0.0.1"),
    ("lab.example:8501", ELSEWHERE),
]
OTHERS = ["http://evil.example", "http://lab.example:9999", "http://127.0.0.1", "null", "http://[", "", f"{ELSEWHERE}/"]


@pytest.mark.parametrize(("host", "origin"), OWN)
def test_a_page_of_its_own_is_let_in_however_it_is_spelled(asked: list[str], host: str, origin: str) -> None:
    """A name in capitals had Streamlit look for the server's own address at Amazon, and all pages wait for it."""
    assert let_in(host, origin)
    assert let_in(host)
    assert not asked


@pytest.mark.parametrize("origin", OTHERS)
def test_another_s_is_not_and_nobody_is_asked_either(asked: list[str], origin: str) -> None:
    for host in ("lab.example:8501", "LAB.EXAMPLE:8501", "evil.example"):
        assert not let_in(host, origin)
        assert not let_in(host, f"http://{host}", origin)
    assert not let_in("evil.example")
    assert not asked


@pytest.mark.parametrize("origin", OTHERS)
def test_what_streamlit_is_told_is_right_by_itself(asked: list[str], origin: str) -> None:
    assert not own_pages.starlette_websocket._is_origin_allowed(origin, "lab.example:8501")
    assert not own_pages.starlette_websocket._is_origin_allowed("http://evil.example", "evil.example")
    assert own_pages.starlette_websocket._is_origin_allowed("http://lab.example:8501", "LAB.EXAMPLE:8501")
    assert not asked


def test_without_the_guard_others_are_asked(asked: list[str]) -> None:
    """The tests above can fail."""
    own_pages.unguard()
    for host, origin in OWN[1:4]:
        assert not let_in(host, origin)
        assert asked
        asked.clear()


def test_it_is_known_who_in_streamlit_asks_for_the_server_s_address() -> None:
    """Where this fails, a new version asks at another moment: see that no visitor brings it about."""
    folder = Path(str(streamlit.__file__)).parent
    texts = {str(file.relative_to(folder)): file.read_text("utf-8") for file in folder.rglob("*.py")}

    def naming(name: str) -> set[str]:
        return {file for file, text in texts.items() if re.search(rf"\b{name}\b", text)}

    assert naming("net_util") == {"web/bootstrap.py", "web/server/server_util.py"}
    assert naming("is_url_from_allowed_origins") == {
        "web/server/server_util.py",
        "web/server/starlette/starlette_websocket.py",
    }
    calls = texts["web/server/starlette/starlette_websocket.py"].count("is_url_from_allowed_origins(")
    assert calls == 1, "in _is_origin_allowed, in whose place ours stands"
    assert texts["web/bootstrap.py"].count("net_util.") == 2, "in _print_url, where there is a script and no app"
