"""A login's cookie: what is kept of it, and that pieces of several logins are nobody's."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable, Iterator
from http.cookies import SimpleCookie
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from streamlit import auth_util
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.web.server.starlette import starlette_auth_routes as routes
from streamlit.web.server.starlette import starlette_websocket as websocket
from streamlit.web.server.starlette.starlette_server_config import USER_COOKIE_NAME, XSRF_COOKIE_NAME

from benchmarks.people import Person, opened
from dashboard.people import ended, logged_out, login, login_cookie
from dashboard.serving.gate import Gate
from dashboard.words import login as words
from tests.browser.login_server import SECRET, product, provider
from tests.put_back import changed_in_streamlit

ISSUER, HERE = "https://login.example", "https://lab.example"
FROM_HERE = {"sec-fetch-site": "same-origin", "sec-fetch-dest": "document"}
RANDOM = random.Random(7)
GROUPS = [str(UUID(bytes=RANDOM.randbytes(16))) for _ in range(200)]
"""As Entra ID names groups, of which it puts up to 200 into one login."""
OWNER, AUDITOR = GROUPS[7], GROUPS[190]
SETTINGS = f"""
[auth]
redirect_uri = "{HERE}/oauth2callback"
cookie_secret = "{SECRET}"
client_id = "lab"
client_secret = "secret"
server_metadata_url = "{ISSUER}/.well-known/openid-configuration"
[auth.weak]
client_id = "lab"
client_secret = "secret"
server_metadata_url = "https://weak.example/.well-known/openid-configuration"
[lab]
claim = "groups"
claim_from = ["default"]
"""
ROLES = f'[lab.roles]\n"{OWNER}" = "owner"\n"{AUDITOR}" = "auditor"\n'
Cookies = dict[str, str]


@pytest.fixture(autouse=True)
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    """A guarded one with these settings."""

    def settings(text: str) -> None:
        login._read.cache_clear()
        (tmp_path / "login.toml").write_text(text)

    settings(SETTINGS + ROLES)
    monkeypatch.setenv(login.VARIABLE, str(tmp_path / "login.toml"))
    for module in (routes, websocket):
        monkeypatch.setattr(module, "get_cookie_secret", lambda: SECRET)
    monkeypatch.setattr(logged_out, "_ended", ended.Held())
    monkeypatch.setenv("EPSILON_LAB_KEY", str(tmp_path / "ledger.key"))
    login_cookie.guard()
    yield settings
    changed_in_streamlit()
    login._read.cache_clear()


def said(name: str, **more: Any) -> dict[str, Any]:
    """What a provider says of somebody."""
    return {"sub": name, "iss": ISSUER, "iat": int(time.time()), "nonce": name * 3} | more


def kept(user: dict[str, Any], provider: str = login.DEFAULT, origin: str = HERE) -> Cookies:
    """The cookies of a login, as a browser would send them."""
    response = Response()
    told = dict(user, origin=origin, is_logged_in=True, provider=provider)
    asyncio.run(routes._set_auth_cookie(response, told, {"id_token": "secret", "access_token": "secret"}))
    return of(response.headers.getlist("set-cookie"))


def of(headers: list[str]) -> Cookies:
    return {name: one.value for header in headers for name, one in SimpleCookie(header).items() if one.value}


def request(cookies: Cookies) -> Request:
    pairs = "; ".join(f"{name}={value}" for name, value in cookies.items())
    return Request({"type": "http", "method": "GET", "path": "/", "headers": [(b"cookie", pairs.encode())]})


def seen(cookies: Cookies) -> dict[str, Any]:
    """Of whom a page would say so much that is opened with these cookies."""
    raw = websocket._get_signed_cookie_with_chunks(cookies, USER_COOKIE_NAME)
    at_logout = routes._get_cookie_value_from_request(request(cookies), USER_COOKIE_NAME)
    assert raw == at_logout, "one reading everywhere"
    return websocket._parse_decoded_user_cookie(raw, HERE) if raw else {}


def who(cookies: Cookies) -> str:
    person = login.known(seen(cookies))
    return "nobody" if person is None else f"{person.subject} {sorted(person.claimed or ())}"


def in_pieces(user: dict[str, Any], provider: str = login.DEFAULT, origin: str = HERE) -> Cookies:
    """As it was kept before: all that was said, cut where it is long."""
    login_cookie.unguard()
    cookies = kept(user, provider, origin)
    login_cookie.guard()
    return {name: value for name, value in cookies.items() if "tokens" not in name}


LONG = {"about": RANDOM.randbytes(4_500).hex()}
"""Of which half is left when it is packed, as it is where that is shorter."""


@pytest.mark.parametrize("guarded", [True, False])
def test_pieces_of_two_logins_are_nobody_s(guarded: bool) -> None:
    """Each signed by this server: the first of a provider that says whatever its people want, the others of the one
    whose people have roles; and an earlier login's roles at a later one's time."""
    mine, other = in_pieces(said("mallory", **LONG)), in_pieces(said("olga", groups=[OWNER], **LONG), "weak")
    late = {"iat": int(time.time()) - 3600 * 24}
    before = in_pieces(said("mallory") | late | LONG | {"groups": [AUDITOR]})
    now = in_pieces(said("mallory") | LONG | {"groups": [""]})
    if not guarded:
        login_cookie.unguard()
    assert who(mine) == (f"mallory at {ISSUER} []" if not guarded else "nobody")
    assert who(before) == "nobody", "too long ago"
    last = max(before)
    assert who({**now, last: before[last]}) == (f"mallory at {ISSUER} ['auditor']" if not guarded else "nobody")
    glued = {**mine, "_streamlit_user_1": other["_streamlit_user_1"]}
    assert who(glued) == (f"olga at {ISSUER} ['owner']" if not guarded else "nobody")


def test_one_login_with_two_hundred_groups_is_one_cookie_with_its_roles() -> None:
    cookies = kept(said("olga", groups=GROUPS, email="olga@example.org", **LONG))
    assert list(cookies) == ["_streamlit_user"]
    assert who(cookies) == f"olga at {ISSUER} ['auditor', 'owner']"
    found = seen(cookies)
    assert found.pop("groups") == [OWNER, AUDITOR]
    assert set(found) == {"sub", "iss", "iat", "nonce", "is_logged_in", "provider"}
    logged_out.end(seen(cookies), 60.0)
    assert who(cookies) == "nobody"
    assert who(kept(said("olga", groups=GROUPS) | {"nonce": "another"})) != "nobody", "only that login has ended"


@pytest.mark.parametrize(
    ("roles", "claim", "expected"),
    [
        ("", ["owner", "staff", "owner", "analyst", 7, None], ["owner", "analyst"]),
        ("", " ".join(["auditor", *GROUPS, "viewer"]), []),
        ("", "auditor", ["auditor"]),
        ("", {"owner": True}, []),
        ("", None, []),
        ("[lab.roles]\n" + "".join(f'"{name}" = "owner"\n' for name in GROUPS), GROUPS, [GROUPS[-1]]),
    ],
)
def test_of_a_claim_one_value_is_kept_for_each_role(
    roles: str, claim: object, expected: list[str], server: Callable[[str], None]
) -> None:
    """However many are named, the cookie is as short, and says the same of a person as the whole claim."""
    server(SETTINGS + roles)
    user = said("olga", groups=claim)
    cookies = kept(user)
    assert seen(cookies)["groups"] == expected
    whole = login.known(user | {"is_logged_in": True, "provider": login.DEFAULT})
    assert login.known(seen(cookies)) == whole


def test_of_a_provider_without_roles_no_claim_is_kept() -> None:
    assert "groups" not in seen(kept(said("otto", iss="https://weak.example", groups=[OWNER]), "weak"))


def test_roles_may_come_from_who_somebody_is(server: Callable[[str], None]) -> None:
    server(SETTINGS.replace('"groups"', '"sub"') + '[lab.roles]\nolga = "owner"\n')
    assert who(kept(said("olga"))) == f"olga at {ISSUER} ['owner']"


def test_a_cookie_from_before_counts_where_it_was_one() -> None:
    cookies = in_pieces(said("olga", groups=[OWNER], email="olga@example.org"))
    assert list(cookies) == ["_streamlit_user"]
    assert who(cookies) == f"olga at {ISSUER} ['owner']"


class Provider:
    """Stands for Authlib's client: the login went well."""

    def __init__(self, user: dict[str, Any]) -> None:
        self._user = user

    async def authorize_access_token(self, _: Request) -> dict[str, Any]:
        return {"userinfo": self._user, "id_token": "secret", "access_token": "secret"}


def returning(user: dict[str, Any], cookies: Cookies, monkeypatch: pytest.MonkeyPatch) -> httpx.Response:
    """What a browser with these cookies is told that comes back from the provider."""
    monkeypatch.setattr(routes, "_get_provider_by_state", lambda *_: login.DEFAULT)
    monkeypatch.setattr(routes, "_get_origin_from_secrets", lambda: HERE)
    monkeypatch.setattr(routes, "_create_oauth_client", lambda _: (Provider(user), ""))
    served = httpx.ASGITransport(app=Gate(Starlette(routes=routes.create_auth_routes(""))))

    async def go() -> httpx.Response:
        async with httpx.AsyncClient(transport=served, base_url="http://localhost:8501") as browser:
            return await browser.get("/oauth2callback?state=x&code=y", headers={"cookie": cookie})

    cookie = "; ".join(f"{name}={value}" for name, value in cookies.items())
    return asyncio.run(go())


def test_who_comes_back_has_one_cookie_and_loses_the_pieces_from_before(monkeypatch: pytest.MonkeyPatch) -> None:
    told = returning(said("olga", groups=GROUPS), in_pieces(said("mallory", **LONG)), monkeypatch)
    assert (told.status_code, told.headers["location"]) == (302, "/")
    headers = told.headers.get_list("set-cookie")
    assert who(of(headers)) == f"olga at {ISSUER} ['auditor', 'owner']"
    for piece in ("_streamlit_user_1", "_streamlit_user_2"):
        assert any(header.startswith(f'{piece}=""; ') and "Max-Age=0" in header for header in headers)
    assert not any("secret" in header for header in headers)


@pytest.mark.parametrize("more", [{"sub": LONG["about"]}, {"nonce": LONG["about"]}])
def test_a_login_that_a_browser_would_not_keep_is_refused_with_a_sentence(
    more: dict[str, Any], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    told = returning(said("olga") | more, {}, monkeypatch)
    assert (told.status_code, told.text) == (403, words.TOO_LONG)
    assert not any("_streamlit_user" in header for header in told.headers.get_list("set-cookie"))
    assert "a login was refused" in caplog.text
    assert LONG["about"][:20] not in caplog.text


class Visitor(Person):
    """Opens a page with cookies, and reads what is written on it."""

    def __init__(self, address: str, cookies: Cookies) -> None:
        super().__init__(address, "")
        self._cookies, self.read = cookies, ""

    async def arrive(self) -> None:
        cookie = "; ".join(f"{name}={value}" for name, value in self._cookies.items())
        self._connection = await opened(
            self.address, self._cookies[XSRF_COOKIE_NAME], additional_headers={"Cookie": cookie}
        )
        await self._run(BackMsg())

    def saw(self, element: Any) -> None:
        kind = element.WhichOneof("type")
        self.read += f"{getattr(getattr(element, kind), 'body', '')}\n" if kind else ""


def read(address: str, cookies: Cookies) -> str:
    async def go() -> str:
        visitor = Visitor(address, cookies)
        await visitor.arrive()
        await visitor.leave()
        return visitor.read

    return asyncio.run(go())


@pytest.mark.thorough
def test_whoever_has_two_hundred_groups_logs_in_and_glues_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By a provider and a server, as a browser would; and with what that server signed before it was mended."""
    monkeypatch.setattr(auth_util, "get_signing_secret", lambda: SECRET)
    folder = tmp_path / "served"
    folder.mkdir()
    lab = f'[lab]\nclaim = "groups"\n{ROLES}'
    with provider(["mallory"], olga={"groups": GROUPS}) as issuer, product(folder, issuer, lab) as address:
        with httpx.Client(timeout=60) as browser:
            token = auth_util.encode_provider_token(login.DEFAULT)
            begun = browser.get(f"{address}/auth/login", params={"provider": token}, headers=FROM_HERE)
            there = begun.headers["location"]
            browser.get(httpx.post(there, data={"sub": "olga"}, timeout=60).headers["location"])
            browser.get(f"{address}/_stcore/health")
            cookies = {one.name: str(one.value) for one in browser.cookies.jar}
        assert [name for name in cookies if "_user" in name] == ["_streamlit_user"]
        page = read(address, cookies)
        assert f"olga at {issuer}" in page
        assert words.who(["owner", "auditor"]) in page
        mine = in_pieces(said("mallory", iss=issuer, **LONG), origin=address)
        other = in_pieces(said("olga", iss=issuer, groups=[OWNER], **LONG), origin=address)
        for pieces in (mine, {**mine, "_streamlit_user_1": other["_streamlit_user_1"]}):
            page = read(address, {XSRF_COOKIE_NAME: cookies[XSRF_COOKIE_NAME], **pieces})
            assert words.TITLE in page
            assert issuer not in page
