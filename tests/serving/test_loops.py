"""The event loop of a session is closed with its page, and there again for a script: it is three open files."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit

import psutil
import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.scriptrunner_utils.script_requests import RerunData
from streamlit.runtime.websocket_session_manager import WebsocketSessionManager

from benchmarks.people import TOO_LONG, Person, opened
from dashboard.runtime import loops, scripts
from tests.browser.server import running

FEW = 10
HANDLE = (AppSession, "_handle_scriptrunner_event_on_event_loop")
DISCONNECT = (WebsocketSessionManager, "disconnect_session")


class Session:
    """What Streamlit has of a session: its event loop, and who runs its script."""

    id = "one"

    def __init__(self, runs: bool = False) -> None:
        self._scriptrunner, self._script_event_loop = object() if runs else None, asyncio.new_event_loop()


@pytest.fixture
def session(request: pytest.FixtureRequest) -> Iterator[Any]:
    found = Session(runs=getattr(request, "param", False))
    yield found
    found._script_event_loop.close()


@pytest.mark.parametrize("session", [False, True], indirect=True, ids=["idle", "runs"])
def test_it_is_closed_when_the_page_is_unless_a_script_has_it(session: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    left: list[str] = []
    monkeypatch.setitem(loops._STREAMLITS, DISCONNECT, lambda manager, name: left.append(name))
    manager: Any = SimpleNamespace(get_active_session_info=lambda name: SimpleNamespace(session=session))
    loops._left(manager, "one")
    assert left == ["one"]
    assert session._script_event_loop.is_closed() == (session._scriptrunner is None)


def test_a_page_that_is_not_there_is_closed_as_streamlit_does_it(monkeypatch: pytest.MonkeyPatch) -> None:
    left: list[str] = []
    monkeypatch.setitem(loops._STREAMLITS, DISCONNECT, lambda manager, name: left.append(name))
    manager: Any = SimpleNamespace(get_active_session_info=lambda name: None)
    loops._left(manager, "one")
    assert left == ["one"]


@pytest.mark.parametrize("session", [True], indirect=True)
@pytest.mark.parametrize(("ends", "here", "closed"), [(True, False, True), (True, True, False), (False, False, False)])
def test_it_is_closed_when_a_script_ends_whose_page_was_left(
    session: Any, ends: bool, here: bool, closed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def handle(session: Any, event: str) -> None:
        assert event == "an event"
        if ends:
            session._scriptrunner = None

    monkeypatch.setitem(loops._STREAMLITS, HANDLE, handle)
    there = SimpleNamespace(get_instance=lambda: SimpleNamespace(is_active_session=lambda name: here and name == "one"))
    monkeypatch.setattr(loops, "runtime", there)
    loops._told(session, "an event")
    assert session._script_event_loop.is_closed() == closed


@pytest.mark.parametrize("was_left", [True, False])
def test_a_script_has_one_that_is_open(session: Any, was_left: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Streamlit would say of each that a loop was closed that should not be."""
    begun: list[bool] = []
    monkeypatch.setitem(
        scripts._STREAMLITS,
        (AppSession, "_create_scriptrunner"),
        lambda session, asked: begun.append(session._script_event_loop.is_closed()),
    )
    before = session._script_event_loop
    if was_left:
        before.close()
    scripts._create(session, RerunData())
    assert begun == [False]
    assert (session._script_event_loop is before) == (not was_left)


async def more_files(address: str, files: Callable[[], int]) -> int:
    """How many more are open once some pages were opened and left, half of them before they asked for anything."""
    person = Person(address, "")
    await person.arrive()
    before = files()
    for _ in range(6):
        async with asyncio.TaskGroup() as group:
            for place in range(10):
                group.create_task(come_and_go(address, asks=place % 2 == 0))
    end = time.monotonic() + TOO_LONG
    while (more := files() - before) > FEW and time.monotonic() < end:
        await asyncio.sleep(0.2)
    await person.leave()
    return more


async def come_and_go(address: str, *, asks: bool) -> None:
    asked = BackMsg()
    asked.rerun_script.SetInParent()
    async with opened(address) as page:
        if asks:
            await page.send(asked.SerializeToString())


@pytest.mark.thorough
def test_pages_that_are_opened_and_left_keep_no_files(tmp_path: Path) -> None:
    """No collection is waited for, and those that may come back are kept."""
    with running(tmp_path) as address:
        port = urlsplit(address).port
        server = next(one for one in psutil.net_connections("tcp") if one.laddr and one.laddr.port == port)
        more = asyncio.run(more_files(address, psutil.Process(server.pid).num_fds))
        log = (tmp_path / "server.log").read_text()
    assert more <= FEW, "sixty pages have a hundred and eighty"
    assert "loop" not in log, "Streamlit finds each where it looks for it"
