"""What a browser asks for without a run of its page: nobody is given it who is not logged in any more."""

from __future__ import annotations

import asyncio
import secrets
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from types import SimpleNamespace
from typing import Any

import pytest
from streamlit.proto.BackMsg_pb2 import BackendOperationRequest
from streamlit.runtime import media_file_manager
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.backend_operation_handler import BackendOperationDispatcher, DeferredFileHandler
from streamlit.runtime.media_file_manager import MediaFileManager
from streamlit.runtime.media_file_storage import MediaFileKind
from streamlit.runtime.memory_media_file_storage import MemoryMediaFileStorage

from dashboard.background import places
from dashboard.people import ended, logged_out, login
from dashboard.runtime import made_files, operations
from dashboard.serving import media, messages, senders
from dashboard.widgets.picture import html_page
from dashboard.words import login as words
from dashboard.words.server import BEING_MADE
from tests.put_back import changed_in_streamlit
from tests.serving.test_login_cookie import ISSUER, SETTINGS

Ask = Callable[[str, str], str]


def said(**more: Any) -> dict[str, Any]:
    told = {"is_logged_in": True, "sub": "olga", "iss": ISSUER, "iat": int(time.time()), "provider": login.DEFAULT}
    return told | {"nonce": "1"} | more


@pytest.fixture
def sessions(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[dict[str, dict[str, Any]]]:
    """What is known of the people of the open pages of a guarded server."""
    people: dict[str, dict[str, Any]] = {}

    def page(session: str) -> SimpleNamespace | None:
        return SimpleNamespace(_user_info=people[session]) if session in people else None

    def info(session: str) -> Any:
        found = page(session)
        return None if found is None else SimpleNamespace(session=found)

    manager = SimpleNamespace(get_session_info=info)
    served = SimpleNamespace(exists=lambda: True, get_instance=lambda: SimpleNamespace(_session_mgr=manager))
    monkeypatch.setattr(senders, "runtime", served)
    monkeypatch.setattr(logged_out, "_ended", ended.Held())
    monkeypatch.setenv("EPSILON_LAB_KEY", str(tmp_path / "ledger.key"))
    operations.guard()
    yield people
    changed_in_streamlit()
    login._read.cache_clear()


@pytest.fixture
def ask(monkeypatch: pytest.MonkeyPatch) -> Ask:
    """What a session is told that asks for a file, or for rows; nothing where it is given them."""
    files = MediaFileManager(MemoryMediaFileStorage("/media"))
    dispatcher = BackendOperationDispatcher()
    for kind in messages.OPERATIONS:
        dispatcher.register(kind, DeferredFileHandler(lambda: files))

    def go(session: str, kind: str) -> str:
        asked = BackendOperationRequest(request_id="1")
        asked.dataframe_chunk.offset = 0
        if kind == "deferred_file":
            monkeypatch.setattr(media_file_manager, "_get_session_id", lambda: session)
            name = files.add_deferred(lambda: b"a report", "application/pdf", "1.1.1")
            asked.deferred_file.file_id = name
        monkeypatch.setattr(DeferredFileHandler, "handle", given if kind == "dataframe_chunk" else handle)
        return asyncio.run(dispatcher.dispatch(asked, session)).error_msg

    async def given(_: Any, request: Any, __: str) -> Any:
        return operations.BackendOperationResponse(request_id=request.request_id)

    handle = DeferredFileHandler.handle
    return go


@pytest.mark.parametrize("guarded", [True, False])
@pytest.mark.parametrize("kind", sorted(messages.OPERATIONS))
def test_an_old_tab_is_given_nothing_after_the_login(
    kind: str,
    guarded: bool,
    sessions: dict[str, dict[str, Any]],
    ask: Ask,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sessions |= {"tab": said(), "other tab": said(), "other": said(nonce="2"), "late": said(iat=time.time() - 1e5)}
    sessions |= {"login page": {}}
    assert [ask(one, kind) for one in sessions] == [""] * 5, "without a login everybody is"
    (tmp_path / "login.toml").write_text(SETTINGS)
    monkeypatch.setenv(login.VARIABLE, str(tmp_path / "login.toml"))
    if not guarded:
        operations.unguard()
    no = words.FIRST if guarded else ""
    assert [ask(one, kind) for one in sessions] == ["", "", "", no, no]
    logged_out.end(sessions["other tab"], 60.0)
    sessions["other tab"].clear()
    assert [ask(one, kind) for one in sessions] == [no, no, "", no, no]
    assert ask("nobody's", kind) == no


class Offered:
    """Files that pages of sessions offer, and what becomes of those who ask for them."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._patch = monkeypatch
        self.files = MediaFileManager(MemoryMediaFileStorage("/media"))
        self._dispatcher = BackendOperationDispatcher()
        self._dispatcher.register("deferred_file", DeferredFileHandler(lambda: self.files))
        self.open = {"a", "b", "c"}
        for module in (operations, made_files):
            monkeypatch.setattr(module, "is_open", lambda session: session in self.open)
        monkeypatch.setattr(senders, "may_ask", lambda session: True)
        monkeypatch.setattr(made_files, "MADE", made_files.Made())

    def offer(self, session: str, make: Callable[[], bytes]) -> str:
        self._patch.setattr(media_file_manager, "_get_session_id", lambda: session)
        return self.files.add_deferred(make, "text/plain", f"1.{len(self.files._deferred_callables)}")

    async def ask(self, session: str, name: str) -> Any:
        asked = BackendOperationRequest(request_id="1")
        asked.deferred_file.file_id = name
        return await self._dispatcher.dispatch(asked, session)

    @property
    def stored(self) -> int:
        storage: Any = self.files._storage
        return sum(len(one.content) for one in storage._files_by_id.values())


@pytest.fixture
def offered(monkeypatch: pytest.MonkeyPatch) -> Iterator[Offered]:
    operations.guard()
    yield Offered(monkeypatch)
    changed_in_streamlit()


@pytest.mark.parametrize("guarded", [True, False])
def test_a_file_is_made_for_the_session_alone_whose_page_offers_it(guarded: bool, offered: Offered) -> None:
    if not guarded:
        operations.unguard()
    name = offered.offer("a", lambda: b"a report")
    assert asyncio.run(offered.ask("a", name)).deferred_file.url
    assert bool(asyncio.run(offered.ask("b", name)).error_msg) is guarded


def test_a_file_is_kept_with_for_whom_it_was_made(offered: Offered, monkeypatch: pytest.MonkeyPatch) -> None:
    here = {"a": made_files.Whose({"sub": "olga"}), "b": made_files.Whose({"sub": "ben"})}
    monkeypatch.setattr(senders, "whose", here.__getitem__)
    same = [offered.offer(session, lambda: b"the same") for session in here]
    urls = [asyncio.run(offered.ask(*one)).deferred_file.url for one in zip(here, same, strict=True)]
    (name,) = {PurePosixPath(url).stem for url in urls}
    assert made_files.MADE.of(name) == list(here.values())


@pytest.mark.parametrize("guarded", [True, False])
def test_what_is_made_for_somebody_takes_no_file_from_a_page(guarded: bool, offered: Offered) -> None:
    """A room's phones have its receipt ready made; once somebody had the very same made, none of them was given it."""
    if guarded:
        media.guard()
    storage = offered.files._storage
    drawn = storage.load_and_get_id(b"a receipt", "text/plain", MediaFileKind.DOWNLOADABLE)
    same = [offered.offer(session, lambda: b"a receipt") for session in ("a", "b", "a")]
    urls = [asyncio.run(offered.ask(*one)).deferred_file.url for one in zip("aba", same, strict=True)]
    names = [PurePosixPath(url).stem for url in urls]
    assert (names[0] == names[2], names[0] != names[1], drawn not in names) == (True, guarded, guarded)
    assert bool(made_files.MADE.of(drawn)) is not guarded
    assert {len(made_files.MADE.of(name)) for name in names} == {1 if guarded else 2}


def test_who_logs_out_while_they_wait_is_given_nothing(offered: Offered, monkeypatch: pytest.MonkeyPatch) -> None:
    """What stands in the line before theirs is the place at which they learn so; the browser knows which it had asked
    for."""
    first = offered.offer("a", lambda: monkeypatch.setattr(senders, "may_ask", lambda session: False) or b"the last")
    second = offered.offer("a", lambda: b"after the log-out")

    async def both() -> list[Any]:
        return await asyncio.gather(offered.ask("a", first), offered.ask("a", second))

    given, refused = asyncio.run(both())
    assert given.deferred_file.url
    assert (refused.request_id, refused.error_msg) == ("1", words.FIRST)


def runs(files: MediaFileManager, often: int = 3) -> None:
    """Scripts of other pages that have ended."""
    for _ in range(often):
        files.remove_orphaned_files()


@pytest.mark.parametrize("held", [True, False])
def test_a_file_stays_however_often_other_pages_are_drawn(
    held: bool, offered: Offered, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a busy server it was gone before the browser had asked for it. It goes with its session, and with what the
    page holds in its place never."""
    if not held:
        monkeypatch.setattr(made_files.MADE, "note", lambda *_, **__: None)
    storage: Any = offered.files._storage
    url = asyncio.run(offered.ask("a", offered.offer("a", lambda: b"a report"))).deferred_file.url
    name = PurePosixPath(url).stem
    runs(offered.files)
    assert (name in storage._files_by_id) is held
    made_files.MADE.leave(offered.files, "b")
    runs(offered.files)
    assert (name in storage._files_by_id) is held
    made_files.MADE.leave(offered.files, "a")
    assert name not in storage._files_by_id
    assert not made_files.MADE.of(name)


def test_what_a_session_had_made_goes_as_it_ends(offered: Offered, monkeypatch: pytest.MonkeyPatch) -> None:
    url = asyncio.run(offered.ask("a", offered.offer("a", lambda: b"a report"))).deferred_file.url
    served = SimpleNamespace(exists=lambda: True, get_instance=lambda: SimpleNamespace(media_file_mgr=offered.files))
    monkeypatch.setattr(operations, "runtime", served)
    monkeypatch.setattr(operations, "_shutdown", lambda session: None)
    AppSession.shutdown(SimpleNamespace(id="b", _state=None))  # type: ignore[arg-type]
    assert made_files.MADE.of(PurePosixPath(url).stem)
    AppSession.shutdown(SimpleNamespace(id="a", _state=None))  # type: ignore[arg-type]
    assert not made_files.MADE.of(PurePosixPath(url).stem)


def anew(size: int) -> Callable[[], bytes]:
    """A file that is another one each time it is made."""
    return lambda: secrets.token_bytes(16) + bytes(size)


@pytest.mark.parametrize("guarded", [True, False])
def test_files_that_are_made_anew_fill_no_memory(
    guarded: bool, offered: Offered, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(made_files, "OWN_BYTES", 5 << 20)
    monkeypatch.setattr(made_files, "ALL_BYTES", 8 << 20)
    if not guarded:
        operations.unguard()

    async def go() -> None:
        small, large = offered.offer("a", anew(100)), {who: offered.offer(who, anew(1 << 20)) for who in offered.open}
        for _ in range(20):
            await offered.ask("a", small)
        assert (offered.stored < 9 * 200) is guarded
        for _ in range(12):
            for who in sorted(offered.open):
                told = await offered.ask(who, large[who])
                name = told.deferred_file.url.rsplit("/", 1)[1]
                assert offered.files._storage.get_file(name), "who asked last can fetch it"  # type: ignore[attr-defined]
        assert (offered.stored <= 9 << 20) is guarded
        offered.open = {"a"}
        await offered.ask("a", large["a"])
        assert (offered.stored <= 6 << 20) is guarded, "of pages that were closed nothing stays"

    asyncio.run(go())


class _Same(made_files.Made):
    """Takes from whichever page has most, from wherever it is open."""

    def note(self, *given: Any, address: str = "", **more: Any) -> None:
        super().note(*given, **more)


@pytest.mark.parametrize("kind", [made_files.Made, _Same])
@pytest.mark.parametrize("pages", [1, 30])
def test_files_of_many_pages_of_one_address_take_nobody_else_s(
    kind: type[made_files.Made], pages: int, offered: Offered, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those of one who had few files, and each of them larger than any of theirs, went first, and whatever they had
    made after that went with the next small one of theirs."""
    monkeypatch.setattr(made_files, "ALL_BYTES", 8 << 20)
    monkeypatch.setattr(made_files, "MADE", kind())
    theirs, mine = [f"theirs {number}" for number in range(pages)], ["mine", "mine as well"]
    offered.open = {*theirs, *mine}
    where = {one: places.Visitor("192.0.2.1" if one in theirs else "192.0.2.2") for one in offered.open}
    monkeypatch.setattr(operations.scripts, "visitor_of", where.__getitem__)
    storage: Any = offered.files._storage

    async def made(session: str, size: int) -> str:
        told = await offered.ask(session, offered.offer(session, anew(size)))
        return PurePosixPath(told.deferred_file.url).stem

    async def go() -> Counter[bool]:
        kept: Counter[bool] = Counter()
        for size in (1 << 20, 1 << 19):
            files = [await made(one, size) for one in mine]
            for one in 2 * theirs if pages > 1 else 16 * theirs:
                last = await made(one, 600_000)
                assert last in storage._files_by_id, "who asked last can fetch it"
                kept.update(name in storage._files_by_id for name in files)
        return kept

    kept = asyncio.run(go())
    assert offered.stored <= 9 << 20
    assert bool(kept[False]) == (kind is _Same and pages > 1)
    assert set(made_files.MADE._addresses) == set(made_files.MADE._files), "nothing stays of who has none"


def test_what_an_address_makes_at_last_gives_way_itself(offered: Offered, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its own earlier files, of the very page that asks too; nobody's where the last alone is too much."""
    monkeypatch.setattr(made_files, "ALL_BYTES", 100)
    made = made_files.Made()
    for session, name, size, address in (
        ("b", "little", 20, "two"),
        ("a", "first", 40, "one"),
        ("a", "second", 50, "one"),
        ("a", "third", 60, "one"),
    ):
        made.note(offered.files, session, name, size, made_files.Whose(), address=address)
    assert [bool(made.of(name)) for name in ("little", "first", "second", "third")] == [True, False, False, True]
    made.note(offered.files, "a", "huge", 200, made_files.Whose(), address="one")
    assert [bool(made.of(name)) for name in ("little", "third", "huge")] == [False, False, True]


def test_the_same_file_is_kept_once_and_for_as_long_as_somebody_may_fetch_it(offered: Offered) -> None:
    async def go() -> str:
        same = {who: offered.offer(who, lambda: b"the same") for who in ("a", "b")}
        url = ""
        for who in ("a", "b", "a"):
            url = (await offered.ask(who, same[who])).deferred_file.url
        for _ in range(made_files.FILES):
            await offered.ask("a", offered.offer("a", anew(10)))
        return str(url.rsplit("/", 1)[1])

    name = asyncio.run(go())
    assert offered.files._storage.get_file(name).content == b"the same"  # type: ignore[attr-defined]
    asyncio.run(offered.ask("b", offered.offer("b", anew(10))))


@pytest.mark.parametrize("guarded", [True, False])
def test_files_are_made_one_after_the_other_and_few_of_an_address_at_once(guarded: bool, offered: Offered) -> None:
    if not guarded:
        operations.unguard()
    working: Counter[str] = Counter()
    most: Counter[str] = Counter()
    lock = threading.Lock()

    def making(who: str) -> Callable[[], bytes]:
        def make() -> bytes:
            with lock:
                working[who] += 1
                most[who] = max(most[who], working[who])
                most["all"] = max(most["all"], working.total())
            time.sleep(0.02)
            with lock:
                working[who] -= 1
            return b"x"

        return make

    async def go() -> list[Any]:
        sessions = [f"s{number}" for number in range(6)]
        names = {who: offered.offer(who, making(who)) for who in sessions}
        return await asyncio.gather(*(offered.ask(who, names[who]) for who in sessions for _ in range(4)))

    assert all(told.deferred_file.url for told in asyncio.run(go()))
    assert (max(most[f"s{number}"] for number in range(6)) == 1) is guarded
    assert (most["all"] <= places.EACH) is guarded
    assert not operations._QUEUES
    assert not places.PLACES.anybody_waits
    assert not places.PLACES._alive


def test_a_session_that_asks_for_too_many_at_once_is_told(offered: Offered) -> None:
    async def go() -> list[Any]:
        name = offered.offer("a", lambda: b"x")
        return await asyncio.gather(*(offered.ask("a", name) for _ in range(operations.WAITING + 5)))

    told = asyncio.run(go())
    assert [one.error_msg for one in told].count(BEING_MADE) == 5


def test_who_leaves_while_they_wait_leaves_no_place_behind(offered: Offered) -> None:
    async def go() -> None:
        name = offered.offer("a", lambda: b"x")
        before = [places.Script(places.Visitor(""), object(), lambda: None) for _ in range(places.EACH)]
        for one in before:
            places.PLACES.wait(one)
        asked = [asyncio.create_task(offered.ask("a", name)) for _ in range(2)]
        await asyncio.sleep(0.02)
        for one in asked:
            one.cancel()
        await asyncio.gather(*asked, return_exceptions=True)
        for one in before:
            places.PLACES.ended(one)

    asyncio.run(go())
    assert not operations._QUEUES
    assert not places.PLACES._alive


def test_a_saved_chart_is_the_same_file_each_time() -> None:
    figure = {"data": [{"type": "scatter", "y": [1.0, 2.0]}], "layout": {"paper_bgcolor": "#fff"}}
    assert html_page(figure, "A line.") == html_page(figure, "A line.")
