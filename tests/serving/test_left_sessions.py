"""Whoever opens and closes pages without end takes from nobody else what a lost connection would come back to."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from streamlit import runtime
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.memory_session_storage import MemorySessionStorage
from streamlit.runtime.runtime import Runtime
from streamlit.runtime.session_manager import SessionInfo
from streamlit.runtime.websocket_session_manager import WebsocketSessionManager

from dashboard.background import leaving
from dashboard.runtime import left_sessions

LONG = 300.0
FLOOD = 3 * leaving.MOST


class State(dict[str, str]):
    filtered_state = property(dict)


@pytest.fixture
def waiting(monkeypatch: pytest.MonkeyPatch) -> Iterator[leaving.Waiting]:
    found = leaving.Waiting()
    monkeypatch.setattr(leaving, "_waiting", found)
    yield found
    found.empty()


@pytest.fixture
def server(waiting: leaving.Waiting) -> Iterator[None]:
    left_sessions.guard()
    yield
    left_sessions.unguard()


def until(done: Callable[[], bool]) -> bool:
    for _ in range(200):
        if done():
            return True
        time.sleep(0.05)
    return False


def left(waiting: leaving.Waiting, name: str, whose: str) -> State:
    state = State(file="x")
    waiting.add(leaving.Visit(name, state, whose), LONG)
    return state


@pytest.mark.parametrize("told_apart", [True, False])
@pytest.mark.parametrize("addresses", [1, 20])
def test_those_whose_address_left_few_are_kept(waiting: leaving.Waiting, addresses: int, *, told_apart: bool) -> None:
    """One that was left first was emptied first, whosesoever; as it is where nobody's address is known."""
    few = [left(waiting, f"few {number}", "10.0.0.1" if told_apart else "") for number in range(3)]
    many = [
        left(waiting, f"many {number}", f"10.0.1.{number % addresses}" if told_apart else "") for number in range(FLOOD)
    ]
    assert until(lambda: len(waiting) <= leaving.MOST)
    assert until(lambda: sum(map(bool, few + many)) == leaving.MOST), "as many as there may be"
    assert all(few) is any(few) is told_apart
    gone = [number for number, state in enumerate(many) if not state]
    assert max(gone) < len(gone) + addresses, "of theirs the first left are emptied"


def test_of_one_address_that_left_too_many_the_first_is_emptied_whoever_comes_after(waiting: leaving.Waiting) -> None:
    many = [left(waiting, f"many {number}", "10.0.1.1") for number in range(leaving.MOST)]
    few = [left(waiting, f"few {number}", "10.0.0.1") for number in range(3)]
    assert until(lambda: not any(many[:3]))
    assert all(many[3:])
    assert all(few)


def info(name: str, asked: int, ended: list[str]) -> SessionInfo:
    session = SimpleNamespace(id=name, shutdown=lambda: ended.append(name))
    for _ in range(asked):
        AppSession.request_rerun(session, None)  # type: ignore[arg-type]
    return SessionInfo(client=None, session=session, script_run_count=asked)  # type: ignore[arg-type]


def stored(waiting: leaving.Waiting, names: dict[str, int], *, begun: bool = True) -> tuple[list[str], list[str]]:
    """Which of these sessions, each asked for so many runs, are kept when their tabs are closed, and which end."""
    ended = list[str]()

    async def close() -> list[str]:
        storage = MemorySessionStorage(ttl_seconds=120)
        for name, asked in names.items():
            if begun:
                left(waiting, name, name)
            storage.save(info(name, asked, ended))
        await asyncio.sleep(0)
        return [one.session.id for one in storage.list()]

    return asyncio.run(close()), ended


@pytest.fixture
def no_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(AppSession, "request_rerun", lambda session, state: None)


@pytest.mark.usefixtures("no_runs", "server")
def test_a_page_in_which_nobody_did_anything_is_not_kept(
    waiting: leaving.Waiting, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leaving, "MARGIN", 0.2)
    assert stored(waiting, {"opened": 1, "used": 2, "never ran": 0}) == (["used"], ["opened", "never ran"])
    assert until(lambda: len(waiting) == 1), "and is emptied soon"
    assert "used" in waiting


@pytest.mark.usefixtures("no_runs", "server")
def test_a_page_whose_script_never_ran_is_not_kept(waiting: leaving.Waiting) -> None:
    assert stored(waiting, {"connected": 0, "asked": 1}, begun=False) == ([], ["connected", "asked"])


@pytest.mark.usefixtures("no_runs", "server")
def test_those_who_did_nothing_take_no_place_of_others(waiting: leaving.Waiting) -> None:
    states = [left(waiting, f"used {number}", "one school") for number in range(leaving.MOST)]
    stored(waiting, {f"opened {number}": 1 for number in range(100)})
    time.sleep(leaving.SETTLES + 0.2)
    assert all(states)


@pytest.mark.usefixtures("no_runs", "server")
def test_streamlit_keeps_as_many_as_may_come_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its own bound would drop the one that was left first."""
    most = leaving.Waiting(leaving.MOST + 50)
    monkeypatch.setattr(leaving, "_waiting", most)
    names = {f"{number}": 2 for number in range(leaving.MOST + 50)}
    assert stored(most, names)[0] == list(names)
    left_sessions.unguard()
    assert "0" not in stored(most, names)[0], "else this would show nothing"


@pytest.mark.usefixtures("no_runs", "server")
def test_streamlit_lets_go_of_who_was_emptied(waiting: leaving.Waiting) -> None:
    async def close() -> list[str]:
        storage = MemorySessionStorage(ttl_seconds=120)
        for name in ("emptied", "left again", "other"):
            left(waiting, name, "")
            storage.save(info(name, 2, []))
        waiting.came_back("emptied")  # as where it was taken out
        cache: Any = storage._cache
        leaving._forget(cache, ["emptied", "left again"])
        return [one.session.id for one in storage.list()]

    assert asyncio.run(close()) == ["left again", "other"]


def ended() -> SimpleNamespace:
    loop = asyncio.new_event_loop()
    loop.close()
    return SimpleNamespace(eventloop=loop)


@pytest.mark.parametrize("objects", [Runtime._get_async_objs, lambda _: ended()], ids=["not begun", "ended"])
def test_sessions_are_emptied_beside_a_server_that_does_not_run(
    objects: Callable[[Any], Any], waiting: leaving.Waiting, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that was made in this process and never began had the thread end that empties them, and every later one
    stay."""

    class Manager(WebsocketSessionManager):
        def __init__(self) -> None:
            self._session_storage = MemorySessionStorage(ttl_seconds=120)

    here = SimpleNamespace(_session_mgr=Manager(), _async_objs=None, is_active_session=lambda session: False)
    here._get_async_objs = lambda: objects(here)
    monkeypatch.setattr(leaving, "runtime", SimpleNamespace(exists=lambda: True, get_instance=lambda: here))
    for name in ("first", "later"):
        state = State(file="x")
        waiting.add(leaving.Visit(name, state), 0.0)
        assert until(lambda state=state: not state), name  # type: ignore[misc]
        assert until(lambda: not waiting._thread.works), name


def test_a_script_that_runs_on_brings_no_session_back(
    waiting: leaving.Waiting, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is left already; that its visit is made anew is no reason to wait for it as if it had just been left."""
    monkeypatch.setattr(leaving, "MARGIN", 0.2)
    monkeypatch.setattr(runtime, "exists", lambda: True)
    closed = SimpleNamespace(is_active_session=lambda session: False)
    monkeypatch.setattr(runtime, "get_instance", lambda: closed)
    monkeypatch.setattr(leaving, "_let_go", lambda names: None)
    state = State(file="x")
    leaving.Visit("runs on", state).left()
    assert until(lambda: not state), "Streamlit has not kept it"
    state["file"] = "y"
    waiting.add(leaving.Visit("kept", state), LONG)
    leaving.Visit("kept", state).left()
    time.sleep(0.5)
    assert state, "and one that it keeps may come back as long as any other"
