"""Garbage is collected soon after large things end, by one thread, and never so often that everybody waits for it."""

from __future__ import annotations

import ast
import gc
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from streamlit.runtime.memory_session_storage import MemorySessionStorage
from streamlit.runtime.session_manager import SessionInfo
from streamlit.runtime.websocket_session_manager import WebsocketSessionManager

from dashboard.background import garbage, leaving
from dashboard.background.garbage import APART, SHARE, Garbage

ROOT = Path(__file__).parents[2]
LONG = 20.0


def _until(true: Callable[[], bool]) -> None:
    until = time.monotonic() + LONG
    while not true():
        assert time.monotonic() < until, "it never came to that"
        time.sleep(0.001)


class Clock:
    """A clock that those who sleep move; ``at`` is when each collection began, of ``takes`` seconds."""

    def __init__(self, takes: float) -> None:
        self.now, self.takes = 100.0, takes
        self.at: list[float] = []
        self.awake = threading.Event()
        self.awake.set()

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.awake.wait(LONG)
        self.now += seconds

    def collect(self) -> None:
        self.at.append(self.now)
        self.now += self.takes

    def made(self) -> Garbage:
        return Garbage(self.collect, self, self.sleep)


@pytest.mark.parametrize(("takes", "apart"), [(0.0, APART), (0.25, APART), (2.0, 2.0 / SHARE)])
def test_it_takes_no_more_than_its_share_however_often_it_is_asked_for(takes: float, apart: float) -> None:
    clock = Clock(takes)
    mine = clock.made()
    for asked in range(1, 5):
        mine.soon()
        _until(lambda asked=asked: len(clock.at) == asked)
    gaps = [after - before - takes for before, after in zip(clock.at, clock.at[1:], strict=False)]
    assert gaps == pytest.approx([apart] * 3)


def test_many_who_ask_meanwhile_are_served_by_one_collection_after_them() -> None:
    clock = Clock(0.0)
    mine = clock.made()
    mine.soon()
    _until(lambda: len(clock.at) == 1)
    clock.awake.clear()
    for _ in range(100):
        mine.soon()
    clock.awake.set()
    _until(lambda: not mine._thread.works)
    assert len(clock.at) == 2, "one for all hundred, and the thread ends when nothing more is asked for"


def test_what_ends_is_collected_without_anybody_s_help(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(garbage, "_GARBAGE", Garbage())
    held = [0]
    held.append(held)  # type: ignore[arg-type]

    class Kept(list[object]):
        pass

    kept = Kept()
    kept.append(kept)
    gone = weakref.ref(kept)
    del kept
    garbage.soon()
    _until(lambda: gone() is None)


def test_tabs_that_are_closed_one_after_the_other_do_not_collect_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever opened and closed pages kept everybody waiting, a quarter of a second for each."""
    collected: list[int] = []
    monkeypatch.setattr(garbage, "_GARBAGE", Garbage(lambda: collected.append(1)))
    monkeypatch.setattr(gc, "collect", lambda *_: collected.append(100))

    class State(dict[str, object]):
        filtered_state: dict[str, object] = {}  # noqa: RUF012

    waiting = leaving.Waiting()
    for number in range(20):
        state = State(file="x")
        waiting.add(leaving.Visit(f"{number}", state), -1.0)
        _until(lambda state=state: not state)
    assert sum(collected) == 1


def test_streamlit_lets_go_of_closed_tabs_that_cannot_come_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """It would hold them, and what their pages said last, until another tab is closed: on its loop, which alone may."""
    storage, asked = MemorySessionStorage(ttl_seconds=0), list[Callable[[], object]]()
    manager = WebsocketSessionManager.__new__(WebsocketSessionManager)
    manager._session_storage = storage
    loop = SimpleNamespace(call_soon_threadsafe=asked.append)
    here = SimpleNamespace(_session_mgr=manager, _get_async_objs=lambda: SimpleNamespace(eventloop=loop))
    here.is_active_session = lambda session: False
    removed: list[str] = []
    monkeypatch.setattr(leaving, "_files", lambda: SimpleNamespace(remove_session_files=removed.append))
    monkeypatch.setattr(leaving, "runtime", SimpleNamespace(exists=lambda: True, get_instance=lambda: here))

    class State(dict[str, object]):
        filtered_state: dict[str, object] = {}  # noqa: RUF012

    session = SessionInfo(client=None, session=cast("Any", SimpleNamespace(id="one")), script_run_count=1)
    storage.save(session)
    state = State(file="x")
    leaving.Waiting().add(leaving.Visit("one", state), -1.0)
    _until(lambda: bool(asked))
    assert not state
    assert removed == ["one"], "and files that no page took over go with it"
    assert storage._cache._data, "nothing is taken out by another thread"  # type: ignore[attr-defined]
    asked[0]()
    assert not storage._cache._data  # type: ignore[attr-defined]


def test_only_one_place_of_the_pages_has_everything_looked_through() -> None:
    """Elsewhere it would be at somebody's clicks; else once before the first visitor, and for lent arrays."""
    found = {
        str(file.relative_to(ROOT))
        for file in sorted((ROOT / "dashboard").rglob("*.py"))
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and ast.unparse(node) == "gc.collect"
    }
    assert found == {f"dashboard/{name}.py" for name in ("background/garbage", "background/lending", "serving/loaded")}


def test_a_server_has_everything_looked_through_seldom_and_replicas_at_different_moments() -> None:
    script = "import gc\nfrom dashboard.background import garbage\ngarbage.seldom()\nprint(*gc.get_threshold())"
    found = []
    for _ in range(4):
        done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
        youngest, middle, seldom = map(int, done.stdout.split())
        assert (youngest, middle) == (700, 10), "the youngest are looked through as ever"
        found.append(seldom)
    assert set(found) <= set(garbage.SELDOM)
    assert len(set(found)) > 1, "replicas do not stop together"
