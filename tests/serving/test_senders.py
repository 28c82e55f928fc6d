"""A file is put into a session, or taken from it, by who began it; and nobody else goes on with one."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import websockets
from starlette.responses import Response
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.runtime.media_file_manager import MediaFileManager
from streamlit.runtime.memory_media_file_storage import MemoryMediaFileStorage
from streamlit.web.server.starlette import starlette_auth_routes as routes
from streamlit.web.server.starlette import starlette_websocket as page
from streamlit.web.server.starlette.starlette_app_utils import generate_xsrf_token_string
from streamlit.web.server.starlette.starlette_server_config import XSRF_COOKIE_NAME

from benchmarks.people import opened
from dashboard.background import compute
from dashboard.people import ended, logged_out, login, login_cookie
from dashboard.people.browser_token import UNKNOWN, VISITOR, Browser, browser
from dashboard.runtime import made_files, own_sessions
from dashboard.serving import senders
from dashboard.serving.file_rights import FileRights
from dashboard.serving.gate import Gate
from dashboard.serving.heads import is_of_session
from dashboard.words import server as words
from dpcore.errors import LedgerError, LedgerUnsound
from dpcore.ledger import Ledger
from dpcore.ledger.ended import Ended
from dpcore.ledger.engine import NotBroughtForward
from dpcore.ledger.member import NO_FILES
from dpcore.ledger.roles import Person
from tests.browser.login_server import SECRET
from tests.browser.server import running
from tests.put_back import changed_in_streamlit
from tests.serving.test_gate import FORM, HOST, Inner, Stranger, _put, asked

pytestmark = pytest.mark.usefixtures("names")
ONE, OTHER = "1" * 32, "2" * 32
ISSUER = "https://login.example"
SETTINGS = f"""
[auth]
redirect_uri = "https://lab.example/oauth2callback"
cookie_secret = "{SECRET}"
client_id = "lab"
client_secret = "secret"
server_metadata_url = "{ISSUER}/.well-known/openid-configuration"
"""
BY_CLAIM = '[lab]\nclaim = "groups"\n'
DOES = ("PUT", "DELETE", "POST", "GET")


def token(seed: bytes) -> str:
    """Of a browser, against forged requests; each time it is another text."""
    return generate_xsrf_token_string(seed * 16, 1)


def cookies(**values: str) -> tuple[bytes, bytes]:
    return b"cookie", "; ".join(f"{name}={value}" for name, value in values.items()).encode()


def sent(session: str, method: str, *headers: tuple[bytes, bytes]) -> int:
    """How it is answered; all that comes to the server itself is answered by 200."""
    status, _, inner = asked(f"/_stcore/upload_file/{session}/1", HOST, FORM, *headers, method=method)
    assert (status == 200) == bool(inner.requests)
    return status


@pytest.fixture
def sessions(monkeypatch: pytest.MonkeyPatch) -> dict[str, SimpleNamespace]:
    """Those that there are, by their ids."""
    there: dict[str, SimpleNamespace] = {}

    def info(named: str) -> SimpleNamespace | None:
        return SimpleNamespace(session=there[named]) if named in there else None

    manager = SimpleNamespace(_session_mgr=SimpleNamespace(get_session_info=info))
    monkeypatch.setattr(senders, "runtime", SimpleNamespace(exists=lambda: True, get_instance=lambda: manager))
    return there


def begun_by(who: Browser) -> SimpleNamespace:
    found = SimpleNamespace(_user_info={})
    found.__dict__[own_sessions._BEGAN] = who
    return found


def test_every_address_that_names_a_session_is_looked_at(request: pytest.FixtureRequest) -> None:
    from dashboard.server import app

    request.addfinalizer(changed_in_streamlit)  # it makes a server of this process, which never begins
    found = [route for route in app._build_starlette_app().routes if "session" in str(getattr(route, "path", ""))]
    paths = {route.path for route in found}  # type: ignore[attr-defined]
    assert paths == {"/_stcore/upload_file/{session_id}/{file_id}"}
    methods = set().union(*(route.methods for route in found))  # type: ignore[attr-defined]
    assert methods == {"PUT", "DELETE", "OPTIONS"}
    for method in methods:
        assert is_of_session({"path": "/_stcore/upload_file/a/1", "method": method}) == (method != "OPTIONS")


@pytest.mark.parametrize("method", DOES)
def test_without_a_login_it_is_the_browser_that_began_the_session(
    method: str, sessions: dict[str, SimpleNamespace]
) -> None:
    mine = cookies(**{VISITOR.name: ONE, XSRF_COOKIE_NAME: token(b"a")})
    sessions["mine"] = begun_by(browser({VISITOR.name: ONE, XSRF_COOKIE_NAME: token(b"a")}))
    sessions["older"] = begun_by(browser({XSRF_COOKIE_NAME: token(b"a")}))  # it came before it had our token
    sessions["nobody's"] = begun_by(UNKNOWN)
    for session in (*sessions, "none"):
        assert sent(session, method, mine) == 200
    for others in (
        cookies(**{VISITOR.name: OTHER, XSRF_COOKIE_NAME: token(b"b")}),
        cookies(**{VISITOR.name: OTHER, XSRF_COOKIE_NAME: token(b"a")[:-3]}),
        cookies(a="b"),
    ):
        assert sent("mine", method, others) == sent("older", method, others) == 403
        assert sent("nobody's", method, others) == 200
    planted = cookies(**{VISITOR.name: OTHER, XSRF_COOKIE_NAME: token(b"a")})
    assert sent("mine", method, planted) == 403, "a token that anybody may have set is not enough where there is ours"


def test_without_the_look_anybody_s_would_do(
    sessions: dict[str, SimpleNamespace], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What shows that the test above can fail."""
    sessions["mine"] = begun_by(browser({VISITOR.name: ONE}))
    monkeypatch.setattr(Browser, "may_be", lambda *_: True)
    assert sent("mine", "DELETE", cookies(**{VISITOR.name: OTHER})) == 200


@pytest.fixture
def logged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A server where people log in, by settings."""

    def settings(text: str) -> None:
        login._read.cache_clear()
        (tmp_path / "login.toml").write_text(text)

    monkeypatch.setenv(login.VARIABLE, str(tmp_path / "login.toml"))
    monkeypatch.setenv("EPSILON_LAB_KEY", str(tmp_path / "ledger.key"))
    for module in (routes, page):
        monkeypatch.setattr(module, "get_cookie_secret", lambda: SECRET)
    monkeypatch.setattr(logged_out, "_ended", ended.Held())
    login_cookie.guard()
    yield settings
    changed_in_streamlit()
    login._read.cache_clear()


def said(name: str, *roles: str) -> dict[str, Any]:
    return {
        **{"sub": name, "iss": ISSUER, "iat": int(time.time()), "nonce": name * 3, "groups": list(roles)},
        **{"origin": "https://lab.example", "is_logged_in": True, "provider": login.DEFAULT},
    }


def logged_in(user: dict[str, Any]) -> tuple[bytes, bytes]:
    """The cookie of a login."""
    response = Response()
    asyncio.run(routes._set_auth_cookie(response, user, {}))
    return b"cookie", response.headers["set-cookie"].split(";")[0].encode()


@pytest.mark.parametrize("method", DOES)
def test_with_a_login_it_is_the_person_whose_session_it_is(
    method: str, sessions: dict[str, SimpleNamespace], logged: Any
) -> None:
    """The page that asks for the login is a session as well, and could be sent files; so could anybody else's."""
    logged(SETTINGS + BY_CLAIM)
    alice, mallory, vera = said("alice", "analyst"), said("mallory", "owner"), said("vera", "viewer")
    sessions["alice"], sessions["out"] = SimpleNamespace(_user_info=alice), SimpleNamespace(_user_info={})
    sessions["vera"] = SimpleNamespace(_user_info=vera)
    assert sent("alice", method, logged_in(alice)) == 200
    assert sent("alice", method, logged_in(alice | {"nonce": "a later login of hers"})) == 200
    for other in (logged_in(mallory), logged_in(vera), cookies(_streamlit_user="forged"), cookies(a="b")):
        assert sent("alice", method, other) == 403
    for session in ("out", "none"):
        assert sent(session, method, logged_in(alice)) == 403
    assert sent("vera", method, logged_in(vera)) == (403 if method == "PUT" else 200), "files take an analyst"
    logged_out.end(alice, 60.0)
    assert sent("alice", method, logged_in(alice)) == 403


def made(name: str, session: str) -> None:
    """A file that was made for who is at a session now."""
    files = MediaFileManager(MemoryMediaFileStorage("/media"))  # none of which is let go of here
    made_files.MADE.note(files, session, name, 1, senders.whose(session))


def fetched(name: str, *headers: tuple[bytes, bytes], before: str = "") -> int:
    """How it is answered who asks for a file, alike by each method; all that comes to the server itself by 200."""
    told = {asked(f"{before}/media/{name}", HOST, *headers, method=method)[0] for method in ("GET", "HEAD", "OPTIONS")}
    (status,) = told
    return status


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(made_files, "MADE", made_files.Made())
    monkeypatch.setattr(made_files, "is_open", lambda session: True)


@pytest.mark.usefixtures("kept")
@pytest.mark.parametrize("ends", ["here", "elsewhere", "by its hours"])
def test_a_file_that_was_made_is_given_to_who_is_here_still(
    ends: str, sessions: dict[str, SimpleNamespace], logged: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It lies as long as the tab rests, which notices no log-out in another one."""
    logged(SETTINGS)
    alice, mallory = said("alice"), said("mallory")
    hers = logged_in(alice)
    sessions |= {"alice": SimpleNamespace(_user_info=alice), "mallory": SimpleNamespace(_user_info=mallory)}
    for name, session in (("hers", "alice"), ("both", "alice"), ("both", "mallory")):
        made(name, session)
    for before in ("", "/lab", "/media"):
        assert fetched("hers.pdf", logged_in(alice), before=before) == 200
        assert fetched("hers.pdf", logged_in(mallory), before=before) == 403
    assert fetched("hers", logged_in(alice | {"nonce": "another login of hers"})) == 200
    for nobody in (cookies(_streamlit_user="forged"), cookies(a="b")):
        assert fetched("hers.pdf", nobody) == fetched("both.pdf", nobody) == 403
        assert fetched("of-a-room.json", nobody) == 200, "what stands on a page of nobody's"
    if ends == "here":
        logged_out.end(alice, 60.0)
    elif ends == "elsewhere":
        which, until = (logged_out._PROVIDER, logged_out._PERSON, logged_out._LOGIN), int(time.time()) + 60
        logged_out.hear(Ended(*(logged_out._name(alice, one) for one in which), alice["iat"], until))
    else:
        later = time.time() + 13 * 3600
        monkeypatch.setattr(login, "time", SimpleNamespace(time=lambda: later))
        mallory["iat"] = sessions["mallory"]._user_info["iat"] = int(later)
        made("both", "mallory")
    again = alice | {"nonce": "a login of hers that counts", "iat": mallory["iat"]}
    for who in (hers, logged_in(mallory), logged_in(again)):
        assert fetched("hers.pdf", who) == 403
    assert fetched("both.pdf", logged_in(mallory)) == 200


@pytest.mark.usefixtures("kept")
def test_without_a_login_it_is_given_to_the_browser_it_was_made_for(sessions: dict[str, SimpleNamespace]) -> None:
    sessions["mine"] = begun_by(browser({VISITOR.name: ONE}))
    made("mine", "mine")
    made("nobody's", "closed meanwhile")
    assert fetched("mine.csv", cookies(**{VISITOR.name: ONE})) == 200
    assert fetched("mine.csv", cookies(**{VISITOR.name: OTHER})) == fetched("mine.csv", cookies(a="b")) == 403
    assert fetched("nobody's.csv", cookies(a="b")) == 200
    del sessions["mine"]
    assert fetched("mine.csv", cookies(**{VISITOR.name: ONE})) == 200, "it is on its way as the tab is closed"


@pytest.mark.usefixtures("kept")
def test_a_link_that_asks_for_nothing_is_found_out(
    sessions: dict[str, SimpleNamespace], logged: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What shows that the tests above can fail."""
    logged(SETTINGS)
    sessions["alice"] = SimpleNamespace(_user_info=said("alice"))
    made("hers", "alice")
    assert fetched("hers.pdf", cookies(a="b")) == 403
    monkeypatch.setattr(senders, "is_made", lambda scope: False)
    assert fetched("hers.pdf", cookies(a="b")) == 200


def test_whoever_is_refused_reads_why(sessions: dict[str, SimpleNamespace], logged: Any) -> None:
    logged(SETTINGS + BY_CLAIM)
    sessions["vera"] = SimpleNamespace(_user_info=said("vera", "viewer"))

    def why(user: dict[str, Any], session: str = "vera") -> str:
        scope = {"path": f"/_stcore/upload_file/{session}/1", "method": "PUT", "headers": [logged_in(user)]}
        return asyncio.run(senders.refused(scope, FileRights(senders.no_files_of)))

    assert why(said("vera", "viewer")) == NO_FILES
    assert why(said("mallory", "owner")) == words.OTHERS_PAGE
    assert why(said("mallory", "owner"), "none") == words.LOG_IN_FIRST


def test_where_the_ledger_says_the_roles_it_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, logged: Any
) -> None:
    logged(SETTINGS)
    place = f"sqlite:///{tmp_path / 'ledger.db'}"
    monkeypatch.setenv("EPSILON_LAB_LEDGER", place)
    compute.reopen_ledger()
    alice = Person(subject=f"alice at {ISSUER}")
    with Ledger.open(place, create=True) as ledger:
        ledger.verify()
        assert compute.no_files_of(alice) == NO_FILES
        ledger.give_roles(alice.subject, ["analyst"])
        assert compute.no_files_of(alice) == ""
        ledger.give_roles(alice.subject, [])
        assert compute.no_files_of(alice) == NO_FILES

    def broken(_: str | None) -> Ledger:
        raise LedgerError("The ledger is closed.")

    monkeypatch.setattr(compute, "_ledger", broken)
    with pytest.raises(LedgerError, match="closed"):
        compute.no_files_of(alice)


async def brought(gate: Gate, session: str, *headers: tuple[bytes, bytes]) -> tuple[int, str]:
    """How a file is answered that comes for a session, and with which words."""
    said_back: list[Any] = []

    async def send(message: Any) -> None:
        said_back.append(message)

    async def receive() -> Any:
        return {"type": "http.request", "body": b""}

    path = f"/_stcore/upload_file/{session}/1"
    scope = {"type": "http", "path": path, "method": "PUT", "headers": [HOST, FORM, *headers], "scheme": "http"}
    await gate(scope, receive, send)
    return said_back[0]["status"], said_back[1]["body"].decode()


def as_an_answer(person: Person) -> str:
    """As it was: what the ledger could not be asked was an answer as any other, and counted as long."""
    try:
        return compute.no_files_of(person)
    except LedgerError as error:
        return str(error)


@pytest.mark.parametrize("guarded", [True, False], ids=["", "as it was"])
@pytest.mark.parametrize("kind", [LedgerError, LedgerUnsound, NotBroughtForward])
def test_a_ledger_that_could_not_be_asked_refuses_no_file_once_it_can(
    kind: type[LedgerError],
    guarded: bool,
    sessions: dict[str, SimpleNamespace],
    logged: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whatever keeps it: who brings a file reads why, as their page does, and that it is for now."""
    logged(SETTINGS)
    place = f"sqlite:///{tmp_path / 'ledger.db'}"
    monkeypatch.setenv("EPSILON_LAB_LEDGER", place)
    compute.reopen_ledger()
    alice = said("alice")
    sessions["alice"] = SimpleNamespace(_user_info=alice)
    with Ledger.open(place, create=True) as ledger:
        ledger.verify()
        ledger.give_roles(f"alice at {ISSUER}", ["analyst"])
    if not guarded:
        monkeypatch.setattr(senders, "no_files_of", as_an_answer)
    gate, opened_by_us, cookie = Gate(Inner()), compute._ledger, logged_in(alice)

    def away(_: str | None) -> Ledger:
        raise kind("The ledger does not answer")

    async def story() -> list[tuple[int, str]]:
        found = []
        for ledger in (away, away, opened_by_us):
            monkeypatch.setattr(compute, "_ledger", ledger)
            found.append(await brought(gate, "alice", cookie))
        return found

    *while_away, after = asyncio.run(story())
    why = words.CLOSED if issubclass(kind, compute.CLOSED) else "The ledger does not answer."
    assert while_away == [(503, why)] * 2 if guarded else [one for one, _ in while_away] == [403] * 2
    assert after[0] == (200 if guarded else 403)


class Manager:
    """Stands for Streamlit's, with the sessions that it has."""

    def __init__(self) -> None:
        self.there: dict[str, SimpleNamespace] = {}

    def get_session_info(self, named: str) -> SimpleNamespace | None:
        return SimpleNamespace(session=self.there[named]) if named in self.there else None

    def connect(self, client: Any, script: Any, user: Any, existing: str | None, override: str | None) -> str:
        named = existing if existing in self.there else f"{len(self.there)}"
        self.there.setdefault(named, SimpleNamespace())
        return named


def test_a_session_goes_on_with_the_browser_that_began_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nobody logs in Streamlit takes one for another."""
    manager = Manager()
    monkeypatch.setitem(
        own_sessions._STREAMLITS, (own_sessions.WebsocketSessionManager, "connect_session"), Manager.connect
    )

    def connected(existing: str | None, **has: str) -> str:
        client = SimpleNamespace(client_context=SimpleNamespace(cookies=has))
        return own_sessions._connect(manager, client, None, {}, existing)  # type: ignore[arg-type]

    mine, others = {VISITOR.name: ONE}, {VISITOR.name: OTHER}
    assert connected(None, **mine) == connected("0", **mine) == "0"
    assert connected("0", **others) == "1"
    assert connected("0") == "2"
    assert own_sessions.began(manager.there["0"]) == browser(mine)  # type: ignore[arg-type]
    early = {XSRF_COOKIE_NAME: token(b"a")}
    assert connected(None, **early) == connected("3", **early, **mine) == "3", "it has our token by now"
    assert connected("3", **others, **{XSRF_COOKIE_NAME: token(b"b")}) == "4"
    assert connected("no such session", **mine) == "5"


@pytest.mark.thorough
def test_whoever_knows_the_id_of_a_session_has_nothing_of_it(tmp_path: Path) -> None:
    """At a server of ours, as browsers would ask."""

    class Somebody(Stranger):
        def __init__(self, address: str, visitor: str, seed: bytes) -> None:
            super().__init__(address, "")
            self.cookie = f"{VISITOR.name}={visitor}; {XSRF_COOKIE_NAME}={token(seed)}"
            self.xsrf = token(seed)
            self.connections: list[websockets.ClientConnection] = []

        async def arrives(self, session: str = "") -> str:
            """As which session."""
            more = (session,) if session else ()
            told = {"Cookie": self.cookie}
            self._connection = await opened(self.address, self.xsrf, *more, additional_headers=told)
            self.connections.append(self._connection)
            for _ in range(2):  # a page in which nobody did anything is not kept
                await self._run(BackMsg())
            return await self.session()

        def does(self, method: str, session: str) -> int:
            return _put(self.address, session, 1, method=method, cookie=self.cookie, token=self.xsrf)

    async def story(address: str) -> None:
        alice, mallory, nobody = (Somebody(address, *one) for one in ((ONE, b"a"), (OTHER, b"b"), ("", b"")))
        nobody.cookie = ""
        hers = await alice.arrives()
        assert await mallory.arrives() != hers
        assert alice.does("PUT", hers) == 204
        for method in ("PUT", "DELETE"):
            assert mallory.does(method, hers) == 403
        assert await mallory.arrives(hers) != hers, "while she is here"
        assert alice.does("DELETE", hers) == 204
        assert await alice.arrives(hers) == hers
        assert (whose := await nobody.arrives()) == await mallory.arrives(whose), "what shows that this can fail"
        for connection in (each for who in (alice, mallory, nobody) for each in who.connections):
            await connection.close()

    with running(tmp_path, EPSILON_LAB_WARM_UP="0") as address:
        asyncio.run(story(address))
