"""Whoever brings files while the ledger waits keeps no file of a page from anybody, nor their address all the turns."""

from __future__ import annotations

import ast
import asyncio
import gc
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest
from anyio.to_thread import current_default_thread_limiter, run_sync
from starlette.staticfiles import StaticFiles

from dashboard.serving import file_rights
from dashboard.serving.file_rights import AT_ONCE, KNOWN, FileRights
from dpcore.errors import LedgerError
from dpcore.ledger.member import NO_FILES
from dpcore.ledger.roles import Person

ROOT = Path(__file__).parents[2]
MANY = 60
TURNS = 50
"""Turns of the loop within which whatever waits for no thread has gone on."""


def person(number: int) -> Person:
    return Person(subject=f"p{number} at https://login.example")


class Slow:
    """A ledger that answers nobody but a few until it is let go."""

    def __init__(self, *quick: Person) -> None:
        self.asked: list[Person] = []
        self.goes = threading.Event()
        self._quick = quick

    def __call__(self, who: Person) -> str:
        self.asked.append(who)
        if who not in self._quick:
            self.goes.wait()
        return ""


@pytest.fixture
def slow() -> Iterator[Slow]:
    found = Slow(person(MANY))
    yield found
    found.goes.set()


async def turned() -> None:
    for _ in range(TURNS):
        await asyncio.sleep(0)


async def until(done: Callable[[], bool]) -> None:
    while not done():
        await asyncio.sleep(0)


async def in_the_threads_of_files(of: FileRights, asked: file_rights._Asked, who: Person, _: str) -> str:
    """As it was."""
    return await run_sync(of._in_a_thread, asked, who)


async def served(folder: Path, slow: Slow) -> bool:
    """Whether a file of a page is read while many people at as many addresses wait for the ledger."""
    rights, all_ = FileRights(slow), current_default_thread_limiter().total_tokens
    waiting = [asyncio.ensure_future(rights.why_not(person(one), f"10.0.0.{one}")) for one in range(MANY)]
    await turned()
    await until(lambda: len(slow.asked) >= min(AT_ONCE, all_))
    transport = httpx.ASGITransport(app=StaticFiles(directory=folder))
    async with httpx.AsyncClient(transport=transport, base_url="http://lab") as client:
        page = asyncio.ensure_future(client.get("/part.js"))
        free = current_default_thread_limiter().available_tokens > 0
        if free:
            assert (await page).content == b"part"
        assert not any(one.done() for one in waiting)
        slow.goes.set()
        assert await asyncio.gather(*waiting) == [""] * MANY
        assert (await page).status_code == 200
    return free


@pytest.mark.parametrize("guarded", [True, False], ids=["guarded", "as it was"])
def test_files_of_pages_are_read_while_the_ledger_is_waited_for(
    guarded: bool, slow: Slow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "part.js").write_bytes(b"part")
    if not guarded:
        monkeypatch.setattr(FileRights, "_in_turn", in_the_threads_of_files)
    assert asyncio.run(served(tmp_path, slow)) == guarded


@pytest.mark.parametrize("share", [file_rights.EACH, 1.0])
def test_people_of_one_address_leave_turns_to_others(share: float, slow: Slow, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_rights, "EACH", share)

    async def others() -> bool:
        """Whether somebody of another address is answered meanwhile."""
        rights, most = FileRights(slow), int(share * AT_ONCE)
        waiting = [asyncio.ensure_future(rights.why_not(person(one), "10.0.0.1")) for one in range(MANY)]
        await until(lambda: len(slow.asked) == most)
        await turned()
        assert len(slow.asked) == most
        other = asyncio.ensure_future(rights.why_not(person(MANY), "10.0.0.2"))
        await turned()
        answered = rights._threads.statistics().tasks_waiting == 0 and await other == ""
        slow.goes.set()
        assert await asyncio.gather(other, *waiting) == [""] * (MANY + 1)
        assert not rights._places, "an address that asks nothing any more is forgotten"
        return answered

    assert asyncio.run(others()) == (share < 1.0)


class Roles:
    """A ledger that is asked, and a clock."""

    def __init__(self) -> None:
        self.now, self.asked, self.may = 0.0, 0, True
        self.raises: list[Exception] = []

    def __call__(self, _: Person) -> str:
        self.asked += 1
        if self.raises:
            raise self.raises.pop()
        return "" if self.may else NO_FILES

    def clock(self) -> float:
        return self.now


def test_many_files_of_a_person_are_one_question() -> None:
    """What one sends at once, and whoever asked first may have gone."""
    roles = Roles()

    async def story() -> list[str]:
        rights = FileRights(roles, roles.clock)
        first = asyncio.ensure_future(rights.why_not(person(1), "10.0.0.1"))
        more = [asyncio.ensure_future(rights.why_not(person(1), "10.0.0.1")) for _ in range(MANY)]
        await asyncio.sleep(0)
        first.cancel()
        return await asyncio.gather(*more)

    assert asyncio.run(story()) == [""] * MANY
    assert roles.asked == 1


@pytest.mark.parametrize("known", [KNOWN, float("inf")])
def test_a_right_that_was_taken_away_counts_some_seconds_later(known: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_rights, "KNOWN", known)
    roles = Roles()

    async def story() -> list[str]:
        rights, found = FileRights(roles, roles.clock), list[str]()
        for roles.now, roles.may in ((0.0, True), (KNOWN - 0.1, False), (KNOWN, False)):
            found.append(await rights.why_not(person(1), "10.0.0.1"))
        roles.now = 3 * KNOWN
        await rights.why_not(person(2), "10.0.0.1")
        assert (person(1) in rights._asked) == (known > KNOWN), "nothing is kept of who asked long ago"
        return found

    assert asyncio.run(story()) == ["", "", NO_FILES if known == KNOWN else ""]


def test_an_answer_counts_from_when_it_was_asked_for() -> None:
    """The ledger may have been read before whoever waits lost the right."""
    roles = Roles()

    def slowly(who: Person) -> str:
        found = roles(who)
        roles.now += KNOWN
        return found

    async def story() -> None:
        rights = FileRights(slowly, roles.clock)
        for _ in range(2):
            await rights.why_not(person(1), "10.0.0.1")

    asyncio.run(story())
    assert roles.asked == 2


def test_what_was_raised_is_asked_anew() -> None:
    roles = Roles()
    roles.raises = [RuntimeError("no thread")]

    async def story() -> str:
        rights = FileRights(roles, roles.clock)
        with pytest.raises(RuntimeError, match="no thread"):
            await rights.why_not(person(1), "10.0.0.1")
        return await rights.why_not(person(1), "10.0.0.1")

    assert asyncio.run(story()) == ""


@pytest.mark.parametrize("heard", [True, False], ids=["", "as it was"])
def test_what_was_raised_for_who_has_gone_is_no_failure_of_the_server(
    heard: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The log has no entry for each who leaves while the ledger is locked."""
    if not heard:
        monkeypatch.setattr(file_rights, "_heard", lambda _: None)
    slow, told = Slow(), list[dict[str, object]]()

    def fails(who: Person) -> str:
        slow(who)
        raise LedgerError("the ledger is held by another program")

    async def story() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _, context: told.append(context))
        rights = FileRights(fails)
        first = asyncio.ensure_future(rights.why_not(person(1), "10.0.0.1"))
        await until(lambda: bool(slow.asked))
        first.cancel()
        await turned()
        slow.goes.set()
        await until(lambda: rights._asked[person(1)].answer.done())

    asyncio.run(story())
    gc.collect()
    assert bool(told) is not heard


def in_the_server_s(text: str) -> list[str]:
    """Calls that go into the threads in which files are read."""
    calls = (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call))
    named = ((ast.unparse(call.func).rpartition(".")[2], call) for call in calls)
    return [
        name
        for name, call in named
        if name in ("run_in_threadpool", "iterate_in_threadpool", "BackgroundTask")
        or (name == "run_sync" and not any(given.arg == "limiter" for given in call.keywords))
    ]


def test_nothing_of_ours_runs_in_the_threads_in_which_files_are_read() -> None:
    """What asks the ledger there, at whatever depth, would keep them."""
    files = sorted((ROOT / "dashboard").rglob("*.py"))
    assert {file.name: found for file in files if (found := in_the_server_s(file.read_text(encoding="utf-8")))} == {}
    for theirs in ("run_in_threadpool(ask)", "to_thread.run_sync(ask, who)", "BackgroundTask(ask)"):
        assert in_the_server_s(f"async def f():\n    await {theirs}"), "what shows that this can fail"
