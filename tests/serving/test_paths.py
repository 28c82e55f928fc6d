"""A path with a control character walks past nothing: the gate, each of its checks alone, and HAProxy before it."""

from __future__ import annotations

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import quote, unquote

import pytest
from starlette.responses import PlainTextResponse
from starlette.routing import Route, Router
from streamlit.web.server.starlette.starlette_app import create_streamlit_routes

from dashboard.people import wanted
from dashboard.serving import gate, heads, paths
from dashboard.serving.gate import Gate
from tests.serving.test_replicas import _balanced, _status_of

HOST = (b"host", b"127.0.0.1:8501")
STRANGE = (b"sec-fetch-site", b"cross-site")
GATED = (paths.METRICS, wanted.LOGIN, wanted.LOGOUT, wanted.RETURN)
EVERY = (*GATED, paths.HEALTH, "/_stcore/upload_file/a/b", "/_stcore/stream", "/media/a.csv", "/", "/budget")
SIGNS = [chr(number) for number in (*range(0x20), *range(0x7F, 0xA0))]


pytestmark = pytest.mark.usefixtures("names")


def _ends(path: str, told: list[str], **more: Any) -> Any:
    """The first thing that is answered to a request of this path, behind the router's own routes; what they are asked
    is noted."""

    def route(at: str) -> Route:
        async def end(_: Any) -> PlainTextResponse:
            told.append(at)
            return PlainTextResponse("here")

        return Route(at, end, methods=["GET", "PUT"])

    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        told.append("received")
        return {"type": "websocket.disconnect", "code": 1000}

    scope = {"type": "http", "path": path, "method": "GET", "headers": [HOST, STRANGE], "client": ("10.0.0.1", 1)}
    scope |= {"query_string": b"", "root_path": "", **more}
    asyncio.run(Gate(Router([route(one) for one in GATED]))(scope, receive, send))
    return sent[0]


@pytest.mark.parametrize("path", EVERY)
def test_no_path_with_a_control_character_goes_any_further(path: str) -> None:
    """Written as it is, or in any way that uvicorn reads as one, wherever it stands."""
    for sign in SIGNS:
        for made in (path + sign, f"/{sign}{path[1:]}", path.replace("/", f"/{sign}"), f"{path}{sign}{sign}"):
            for method in ("GET", "PUT", "HEAD"):
                told: list[str] = []
                asked = unquote(quote(made))
                assert _ends(asked, told, method=method)["status"] == 400, (method, made)
                assert not told
    assert _ends(path + "\n", told := [], type="websocket") == {"type": "websocket.close", "code": 1008}
    assert not told


@pytest.mark.parametrize("way", ["ours", "as it was"])
@pytest.mark.parametrize("path", GATED)
def test_each_check_knows_a_path_as_the_router_does(path: str, way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where such paths came so far: each check looks for what the router finds. Found by the end of the text, as
    once, the counts, a log-out and a login led by another site were had by a line break."""

    def by_the_end(scope: Any, *routes: str) -> bool:
        return str(scope["path"]).endswith(routes)

    monkeypatch.setattr(gate, "has_control", lambda scope: False)
    monkeypatch.delenv("EPSILON_LAB_METRICS", raising=False)
    steps: list[str] = []

    async def may_log_in(_: Gate, visitor: str) -> bool:
        steps.append(visitor)
        return False

    monkeypatch.setattr(Gate, "_may_log_in", may_log_in)
    if way == "as it was":
        monkeypatch.setattr(gate, "leads_to", by_the_end)
    for written in (path, path + "\n"):
        told: list[str] = []
        steps.clear()
        status = _ends(written, told)["status"]
        if way == "as it was" and written != path:
            assert (status, told, steps) == (200, [path], [])
        else:
            assert (status, told) == (404 if path == paths.METRICS else 429, [])
            assert bool(steps) == (path != paths.METRICS)


def test_every_route_with_a_check_of_its_own_is_one_of_the_server_s() -> None:
    """Under its own name and below another; and no route is taken for another."""
    runtime = SimpleNamespace(
        media_file_mgr=SimpleNamespace(_storage=None),
        uploaded_file_mgr=None,
        component_registry=None,
        bidi_component_registry=None,
        stats_mgr=None,
    )
    routes = {one.path for one in create_streamlit_routes(runtime) if isinstance(one, Route)}  # type: ignore[arg-type]
    assert {*GATED, paths.HEALTH} <= routes
    for one in (*GATED, paths.HEALTH):
        for at in (one, f"/base{one}", f"{one}\n"):
            assert [other for other in routes if "{" not in other and paths.leads_to({"path": at}, other)] == [one]
        for other in (f"{one}2", f"{one}/", f"{one}\n\n", one[:-1]):
            assert not paths.leads_to({"path": other}, one)


@pytest.mark.parametrize("mended", [True, False])
def test_a_question_of_health_is_the_balancer_s_from_this_computer_alone(
    mended: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a balancer every visitor had twice as many requests, by asking for health as well."""
    if not mended:  # what shows that this test can fail
        monkeypatch.setattr(heads, "_is_here", lambda scope: True)
    asked = {"path": paths.HEALTH, "headers": [], "client": ("127.0.0.1", 1)}
    assert heads.asking(asked) == heads.asking({**asked, "client": ("::ffff:127.0.0.1", 1)}) == "127.0.0.1 itself"
    assert heads.asking({**asked, "client": ("::1", 1)}).endswith(" itself")
    for elsewhere in ("10.0.0.1", "::ffff:10.0.0.1", "2001:db8::1", "somewhere", ""):
        other = {**asked, "client": (elsewhere, 1)}
        assert (heads.asking(other) == heads.asking({**other, "path": "/budget"})) == mended, elsewhere
    assert heads.asking({**asked, "headers": [(b"x-forwarded-for", b"10.0.0.1")]}) == "127.0.0.1"
    assert heads.asking({**asked, "path": "/budget"}) == "127.0.0.1"


_REFUSED = "    http-request deny deny_status 400 if { path -m reg -i %([01][0-9a-f]|7f|c2%[89][0-9a-f]) }\n"


@pytest.mark.parametrize("refuses", [True, False], ids=["ours", "as it was"])
def test_the_balancer_takes_no_control_character_to_a_replica(refuses: bool, tmp_path: Path) -> None:
    def change(text: str) -> str:
        assert _REFUSED in text
        return text if refuses else text.replace(_REFUSED, "")

    with _balanced(1, tmp_path, change) as (address, _):
        for sign in SIGNS:
            for written in {quote(sign), quote(sign).lower()}:
                for path in (paths.METRICS + written, f"/{written}{wanted.LOGIN}?x"):
                    assert _status_of(address, path) == (400 if refuses else 200), path
        for sign in ("\n", "\x00", "\x7f", "\x1b"):
            assert _status_of(address, paths.METRICS + sign) == 400, "as it is HAProxy takes none by itself"
        for path in ("/%20", "/%C2%A0", "/%c3%9f", "/budget?name=%0A"):
            assert _status_of(address, path) == 200
