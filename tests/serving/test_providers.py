"""However many begin a login, or come back from none, the provider is asked as often as logins need."""

from __future__ import annotations

import asyncio
import json
from base64 import b64decode, b64encode
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from itsdangerous import TimestampSigner
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.sessions import SessionMiddleware
from streamlit import auth_util, config
from streamlit.runtime.secrets import AttrDict
from streamlit.web.server.starlette import starlette_auth_routes as routes
from streamlit.web.server.starlette.starlette_server_config import SESSION_COOKIE_NAME

from dashboard.people import login, providers
from dashboard.serving import gate, pace
from dashboard.serving.gate import Gate
from dashboard.words import server as words
from tests.put_back import changed_in_streamlit

pytestmark = pytest.mark.filterwarnings("ignore")  # Authlib's, of what a later version will not have
SECRET, ISSUER = "0123456789abcdef" * 2, "https://login.example"
AUTH = {
    "redirect_uri": "http://localhost:8501/oauth2callback",
    "cookie_secret": SECRET,
    "client_id": "lab",
    "client_secret": "secret",
    "server_metadata_url": f"{ISSUER}/.well-known/openid-configuration",
    "client_kwargs": {"scope": "openid"},
}
FROM_HERE = {"sec-fetch-site": "same-origin", "sec-fetch-dest": "document"}
SAYS = {
    "issuer": ISSUER,
    "authorization_endpoint": f"{ISSUER}/authorize",
    "token_endpoint": f"{ISSUER}/token",
    "code_challenge_methods_supported": ["S256"],
}


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Time as the server tells it; who waits does so in no time."""
    now = [1_000.0]

    async def sleep(_: float) -> None:
        return

    monkeypatch.setattr(providers, "time", SimpleNamespace(monotonic=lambda: now[0]))
    monkeypatch.setattr(pace, "time", SimpleNamespace(monotonic=lambda: now[0]))
    monkeypatch.setattr(pace, "asyncio", SimpleNamespace(sleep=sleep))
    return now


SETTINGS = f"""
[auth]
redirect_uri = "{AUTH["redirect_uri"]}"
cookie_secret = "{SECRET}"
client_id = "lab"
client_secret = "secret"
server_metadata_url = "{AUTH["server_metadata_url"]}"
"""
OTHER = """
[auth.other]
client_id = "lab"
client_secret = "secret"
server_metadata_url = "https://other.example/.well-known/openid-configuration"
"""


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Gives the server this file for its login."""

    def given(text: str) -> None:
        (tmp_path / "login.toml").write_text(text)
        monkeypatch.setenv(login.VARIABLE, str(tmp_path / "login.toml"))
        login._read.cache_clear()

    return given


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch, settings: Callable[[str], None]) -> Iterator[list[str]]:
    """What the provider of a guarded server was asked; it gives nobody a token."""
    found: list[str] = []
    settings(SETTINGS)

    async def answer(_: Any, request: httpx.Request) -> httpx.Response:
        found.append(f"{request.method} {request.url.path}")
        await asyncio.sleep(0)
        if request.url.path.endswith("configuration"):
            return httpx.Response(200, json=SAYS)
        return httpx.Response(400, json={"error": "invalid_grant"})

    monkeypatch.setattr(httpx.AsyncHTTPTransport, "handle_async_request", answer)
    monkeypatch.setattr(auth_util, "get_signing_secret", lambda: SECRET)
    monkeypatch.setattr(routes, "get_secrets_auth_section", lambda: AttrDict(AUTH))
    monkeypatch.setattr(auth_util, "get_secrets_auth_section", lambda: AttrDict(AUTH))
    before = config.get_option("server.allowedHosts")
    config.set_option("server.allowedHosts", ["localhost"])
    providers.guard()
    yield found
    config.set_option("server.allowedHosts", before)
    login._read.cache_clear()
    changed_in_streamlit()


def served() -> Gate:
    sessions = Middleware(SessionMiddleware, secret_key=SECRET, session_cookie=SESSION_COOKIE_NAME)
    return Gate(Starlette(routes=routes.create_auth_routes(""), middleware=[sessions]))


async def begin(here: Gate, times: int, address: str = "10.0.0.1") -> list[httpx.Response]:
    """So many begin a login at once, with what the button of one page was given."""
    token = auth_util.encode_provider_token(login.DEFAULT)
    transport = httpx.ASGITransport(app=here, client=(address, 1))
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost:8501") as browser:
        calls = (browser.get("/auth/login", params={"provider": token}, headers=FROM_HERE) for _ in range(times))
        return list(await asyncio.gather(*calls))


@pytest.mark.parametrize("guarded", [True, False])
def test_what_a_provider_says_of_itself_is_asked_for_once_in_a_while(
    guarded: bool, asked: list[str], clock: list[float]
) -> None:
    if not guarded:
        providers.unguard()

    async def story() -> None:
        here = served()
        for times in range(1, 4):
            told = [*await begin(here, 4), *await begin(here, 1)]
            assert {one.status_code for one in told} == {302}
            there = [one.headers["location"] for one in told]
            assert all("code_challenge_method=S256" in one for one in there), "as it says itself"
            assert not any("verify" in one for one in there)
            assert len(asked) == (times if guarded else 5 * times)
            clock[0] += providers.KEPT + 1.0

    asyncio.run(story())


def test_what_a_computer_trusts_is_read_once_for_all_logins(asked: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading it takes a twentieth of a second of the thread that answers everybody."""
    made, make = [], httpx._config.create_ssl_context

    def counted(verify: Any = True, **more: Any) -> Any:
        made.extend([verify] if verify is True else [])
        return make(verify, **more)

    providers._certificates.cache_clear()
    for module in (httpx, httpx._config, httpx._transports.default):
        monkeypatch.setattr(module, "create_ssl_context", counted)
    asyncio.run(begin(served(), 5))
    assert len(made) == 1
    providers.unguard()
    asyncio.run(begin(served(), 5))
    assert len(made) > 5, "or nothing was counted"


def test_a_provider_that_fails_is_asked_again_but_not_by_each_who_waited(
    asked: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    here = served()
    monkeypatch.setitem(AUTH, "server_metadata_url", f"{ISSUER}/gone")
    for times in (1, 2):
        told = asyncio.run(begin(here, 3))
        assert {(one.status_code, one.headers["location"], one.text) for one in told} == {(302, "/", "")}
        assert all("epsilon_lab_no_login=away; " in one.headers["set-cookie"] for one in told), "the page says why"
        assert asked == ["GET /gone"] * times


def test_one_address_makes_few_steps_of_logins(
    asked: list[str], clock: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also those that come back, again and again, from one login that was begun: each is a question for a token."""
    monkeypatch.setattr(gate, "LOGINS_AHEAD", 2.0)
    here, most = served(), int(gate.LOGINS * gate.LOGINS_AHEAD)

    async def story() -> list[httpx.Response]:
        begun = (await begin(here, 1))[0]
        state = httpx.URL(begun.headers["location"]).params["state"]
        cookie = begun.headers["set-cookie"].partition(";")[0]
        transport = httpx.ASGITransport(app=here, client=("10.0.0.1", 1))
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost:8501") as browser:
            back = {"code": "made up", "state": state}
            calls = (browser.get("/oauth2callback", params=back, headers={"cookie": cookie}) for _ in range(200))
            return list(await asyncio.gather(*calls))

    told = asyncio.run(story())
    assert asked[:2] == ["GET /.well-known/openid-configuration", "POST /token"]
    assert asked.count("POST /token") + 1 == pytest.approx(most + gate.LOGINS * gate.LOGINS_WAIT, abs=2)
    refused = [one for one in told if one.status_code == 429]
    assert len(refused) + asked.count("POST /token") == 200
    assert len(refused) > 100
    assert refused[0].text == words.TOO_MANY_REQUESTS
    assert asyncio.run(begin(here, 1, "10.0.0.2"))[0].status_code == 302, "another address"
    clock[0] += 1_000.0
    assert asyncio.run(begin(here, 1))[0].status_code == 302, "and this one after a while"
    assert set(here._logins) == {"10.0.0.1"}, "who made none for a while is forgotten"


@pytest.mark.parametrize(
    ("file", "answer", "handed"),
    [
        (SETTINGS, {}, True),
        (SETTINGS, {"iss": ISSUER}, True),
        (SETTINGS, {"iss": f"{ISSUER}/"}, True),
        (SETTINGS, {"iss": "https://other.example"}, False),
        (SETTINGS + OTHER, {}, False),
        (SETTINGS + OTHER, {"iss": ISSUER}, True),
        (SETTINGS + OTHER, {"iss": "https://other.example"}, False),
        (SETTINGS + OTHER, {"iss": ""}, False),
        (SETTINGS + OTHER + '[lab]\nsilent = ["other"]\n', {}, False),
        (SETTINGS + OTHER + '[lab]\nsilent = ["default"]\n', {}, True),
        (SETTINGS + OTHER + '[lab]\nsilent = ["default"]\n', {"iss": "https://other.example"}, False),
    ],
)
def test_an_answer_is_handed_to_the_provider_whose_it_is_alone(
    file: str, answer: dict[str, str], handed: bool, asked: list[str], settings: Callable[[str], None]
) -> None:
    """Or whoever runs one provider leads a browser on to another, and is that person with what comes back."""
    settings(file)
    here = served()

    async def story() -> httpx.Response:
        begun = (await begin(here, 1))[0]
        state = httpx.URL(begun.headers["location"]).params["state"]
        cookie = begun.headers["set-cookie"].partition(";")[0]
        transport = httpx.ASGITransport(app=here, client=("10.0.0.1", 1))
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost:8501") as browser:
            back = {"code": "its own", "state": state, **answer}
            return await browser.get("/oauth2callback", params=back, headers={"cookie": cookie})

    assert asyncio.run(story()).status_code == 302
    assert ("POST /token" in asked) == handed


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"sec-fetch-site": "cross-site", "sec-fetch-dest": "document"},
        {"sec-fetch-site": "none", "sec-fetch-dest": "document"},
        {"sec-fetch-site": "same-origin", "sec-fetch-dest": "image"},
        {"accept": "text/html", "referer": "http://elsewhere.example/"},
    ],
)
def test_a_login_begins_on_a_page_of_this_server_alone(headers: dict[str, str], asked: list[str]) -> None:
    async def story() -> httpx.Response:
        transport = httpx.ASGITransport(app=served(), client=("10.0.0.1", 1))
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost:8501") as browser:
            token = auth_util.encode_provider_token(login.DEFAULT)
            return await browser.get("/auth/login", params={"provider": token}, headers=headers)

    told = asyncio.run(story())
    assert (told.status_code, told.text) == (403, words.LOG_IN_HERE)
    assert not asked


class Endless(httpx.AsyncByteStream):
    """What a provider answers that is in other hands: parts without an end."""

    def __init__(self, seconds: float, part: int) -> None:
        self.sent, self.closed, self._seconds, self._part = 0, False, seconds, part

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while self.sent < 64 << 20:  # so that the test ends
            await asyncio.sleep(self._seconds)
            self.sent += self._part
            yield bytes(self._part)

    async def aclose(self) -> None:
        self.closed = True


@pytest.mark.parametrize("path", ["/.well-known/openid-configuration", "/token"])
@pytest.mark.parametrize(
    ("headers", "seconds", "part", "read"),
    [
        ({}, 0.0, 1 << 16, providers.MOST_SAID),
        ({}, 0.2, 1 << 16, 1 << 18),
        ({}, 0.0, 1, providers.MOST_PARTS),
        ({"Content-Encoding": "gzip"}, 0.0, 1 << 16, 0),
    ],
)
def test_no_more_of_an_answer_is_read_than_one_can_have(
    path: str,
    headers: dict[str, str],
    seconds: float,
    part: int,
    read: int,
    asked: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One login at a provider that answered without an end ended the server."""
    monkeypatch.setattr(providers, "ANSWERED", 0.5)
    here, endless, usual = served(), Endless(seconds, part), httpx.AsyncHTTPTransport.handle_async_request
    said: list[str] = []

    async def answer(transport: Any, request: httpx.Request) -> httpx.Response:
        said.append(request.headers["accept-encoding"])
        if request.url.path == path:
            return httpx.Response(200, headers=headers, stream=endless)
        return await usual(transport, request)

    monkeypatch.setattr(httpx.AsyncHTTPTransport, "handle_async_request", answer)

    async def story() -> httpx.Response:
        begun = (await begin(here, 1))[0]
        if begun.headers["location"] == "/":  # back to the login page, which says that the provider does not answer
            return begun
        transport = httpx.ASGITransport(app=here, client=("10.0.0.1", 1))
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost:8501") as browser:
            back = {"code": "its own", "state": httpx.URL(begun.headers["location"]).params["state"]}
            return await browser.get("/oauth2callback", params=back, headers={"cookie": kept(begun)})

    told = asyncio.run(story())
    assert (told.status_code, told.headers["location"]) == (302, "/")
    assert ("no_login=away" in told.headers["set-cookie"]) == ("configuration" in path)
    assert endless.sent <= read + part
    assert endless.closed
    assert set(said) == {"identity"}


def kept(answer: httpx.Response) -> str:
    """The cookie that a browser is left with."""
    return answer.headers["set-cookie"].partition(";")[0]


def test_a_browser_keeps_what_a_few_begun_logins_need_and_no_more(
    asked: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Five that were never ended, or one at a provider with a long address, kept it from all others for two weeks."""
    monkeypatch.setitem(SAYS, "authorization_endpoint", f"{ISSUER}/authorize?{'x' * 2000}")
    signer, before = TimestampSigner(SECRET), [f"_state_p{number}_x" for number in range(6)]
    session = {name: {"data": {"nonce": "n", "code_verifier": "v" * 48}, "exp": 2e9} for name in before}
    cookie = f"{SESSION_COOKIE_NAME}={signer.sign(b64encode(json.dumps(session).encode())).decode()}"

    async def story() -> httpx.Response:
        transport = httpx.ASGITransport(app=served(), client=("10.0.0.1", 1))
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost:8501") as browser:
            token = auth_util.encode_provider_token(login.DEFAULT)
            sent = {**FROM_HERE, "cookie": cookie}
            return await browser.get("/auth/login", params={"provider": token}, headers=sent)

    answer = kept(asyncio.run(story())).removeprefix(f"{SESSION_COOKIE_NAME}=")
    left = json.loads(b64decode(signer.unsign(answer)))
    (latest,) = set(left) - set(before)
    assert list(left) == [*before[-providers.BEGUN :], latest], "others in other tabs can be ended"
    assert set(left[latest]["data"]) == {"redirect_uri", "nonce", "code_verifier"}
    assert len(answer) < 2_000


KEY = {"kty": "RSA", "kid": "a", "use": "sig", "alg": "RS256", "e": "AQAB", "n": "x" * 342}


@pytest.mark.parametrize(
    ("said", "left"),
    [
        (
            {"keys": [KEY, {"kty": "EC", "crv": "P-256", "x": "a", "y": "b"}]},
            [KEY, {"kty": "EC", "crv": "P-256", "x": "a", "y": "b"}],
        ),
        ({"keys": [KEY | {"d": "y" * 342, "p": "z", "x5u": "https://x.example", "ext": True}]}, [KEY]),
        (
            {"keys": [KEY | {"n": "x" * 2801}, KEY | {"e": "A" * 9}, KEY | {"kid": 7}, "no key", KEY | {"kty": "oct"}]},
            [],
        ),
        ({"keys": [KEY] * 60}, [KEY] * providers.MOST_KEYS),
        ({"keys": 7}, []),
        ([KEY], []),
        (None, []),
    ],
)
def test_of_a_provider_s_keys_no_more_is_taken_than_checking_needs(said: Any, left: list[Any]) -> None:
    """A part of a private key, from which the rest was worked out, held the server's one thread for twelve seconds."""
    assert providers.public(said) == {"keys": left}


@pytest.mark.parametrize("place", ["among what it says of itself", "where its keys are"])
def test_a_private_key_of_a_provider_s_is_nowhere_worked_out(
    place: str, asked: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(SAYS, "jwks_uri", f"{ISSUER}/keys")
    secret = {"keys": [KEY | {"d": "y" * 342}]}
    if place.startswith("among"):
        monkeypatch.setitem(SAYS, "jwks", secret)
    usual = httpx.AsyncHTTPTransport.handle_async_request

    async def answer(transport: Any, request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, json=secret) if request.url.path == "/keys" else await usual(transport, request)

    monkeypatch.setattr(httpx.AsyncHTTPTransport, "handle_async_request", answer)

    async def story() -> list[Any]:
        client, _ = routes._create_oauth_client(login.DEFAULT)
        await client.load_server_metadata()
        first = client.server_metadata.get("jwks", {"keys": []})
        return [
            first,
            await client.fetch_jwk_set(),
            await client.fetch_jwk_set(force=True),
            client.server_metadata["jwks"],
        ]

    assert all(not {"d"} & set(key) for found in asyncio.run(story()) for key in found["keys"])


@pytest.mark.parametrize("signed", [True, False])
def test_an_answer_that_is_signed_by_nobody_is_no_login(
    signed: bool, settings: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    settings(SETTINGS)
    token = {"access_token": "t", "userinfo": {"sub": "olga", "iss": ISSUER}} | ({"id_token": "x"} if signed else {})

    async def answer(*_: Any, **__: Any) -> dict[str, Any]:
        return token

    client = SimpleNamespace(client_kwargs={}, client_cls=httpx.AsyncClient, authorize_access_token=answer)
    for name in ("load_server_metadata", "fetch_jwk_set", "save_authorize_data"):
        setattr(client, name, answer)
    monkeypatch.setattr(providers, "_create", lambda _: (client, ""))
    request = SimpleNamespace(query_params={"iss": ISSUER})
    made, _ = providers._knowing(login.DEFAULT)
    if signed:
        assert asyncio.run(made.authorize_access_token(request)) == token
        return
    with pytest.raises(PermissionError, match="names nobody"):
        asyncio.run(made.authorize_access_token(request))


@pytest.mark.parametrize("since", [10**400, -1, 0, float("inf"), float("nan"), 2e12, True, "1"])
def test_a_time_that_no_clock_shows_is_nobody_s_login(since: object, settings: Callable[[str], None]) -> None:
    settings(SETTINGS)
    said = {"is_logged_in": True, "sub": "olga", "iss": ISSUER, "iat": since, "provider": login.DEFAULT}
    assert login.known(said) is None
