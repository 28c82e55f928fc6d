"""What Python's collector has done when it finds garbage asks for no lock: it may run in the very thread that holds it,
at any allocation there, and that thread would wait for itself for good."""

from __future__ import annotations

import ast
import asyncio
import gc
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from streamlit import runtime
from streamlit.runtime.app_session import AppSession, AppSessionState
from streamlit.runtime.media_file_manager import MediaFileManager
from streamlit.runtime.memory_media_file_storage import MemoryMediaFileStorage
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.script_data import ScriptData

from dashboard.background import places
from dashboard.runtime import left_sessions, made_files, operations, scripts
from tests.put_back import changed_in_streamlit

ROOT = Path(__file__).parents[2]
KNOWN = {
    "dashboard/background/in_use.py": "its lock is its own thread's as often as it asks",
    "dashboard/data/samples.py": "all_held.let_go, which takes none",
    "dashboard/data/actions.py": "all_held.let_go, which takes none",
    "dashboard/serving/typed.py": "a name is taken out of a dict",
    "dpcore/releases/filed_rows.py": "a file is closed",
    "dpcore/datasets/in_place/duck.py": "a connection is closed",
    "dpcore/datasets/in_place/arrow_beside.py": "files are closed",
}
"""Where something is done as garbage is found, and why it asks for no lock that its thread could hold."""


class Lock:
    """Lets its thread in again, and notes that it would have waited for itself."""

    def __init__(self, twice: list[str], name: str) -> None:
        self._lock, self._mine, self._twice, self._name = threading.RLock(), threading.local(), twice, name

    def __enter__(self) -> None:
        self._lock.acquire()
        depth = getattr(self._mine, "depth", 0)
        if depth:
            self._twice.append(self._name)
        self._mine.depth = depth + 1

    def __exit__(self, *_: object) -> None:
        self._mine.depth -= 1
        self._lock.release()


@pytest.fixture
def twice(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    found: list[str] = []
    gc.collect()
    gc.disable()
    yield found
    gc.enable()
    changed_in_streamlit()


class Server:
    """What a session asks for as it ends, with locks that are watched."""

    def __init__(self, twice: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
        self.files: Any = MediaFileManager(MemoryMediaFileStorage("/media"))
        self.uploads: Any = MemoryUploadedFileManager("/uploads")
        self.made = made_files.Made()
        owners: tuple[Any, ...] = (self.made, self.files, self.uploads, places.PLACES)
        self.locks = [Lock(twice, type(owner).__name__) for owner in owners]
        for owner, lock in zip(owners, self.locks, strict=True):
            monkeypatch.setattr(owner, "_lock", lock)
        monkeypatch.setattr(made_files, "MADE", self.made)
        monkeypatch.setattr(runtime, "exists", lambda: True)
        nothing = SimpleNamespace(clear_all_for_session=lambda session: None)
        here = SimpleNamespace(media_file_mgr=self.files, dataframe_source_mgr=nothing)
        here.is_active_session = lambda session: True
        here._get_async_objs = lambda: SimpleNamespace(eventloop=asyncio.get_running_loop())
        monkeypatch.setattr(runtime, "get_instance", lambda: here)

    def session(self) -> AppSession:
        script = ScriptData(str(ROOT / "dashboard/app.py"), is_hello=False)
        found: Any = AppSession(script, self.uploads, SimpleNamespace(), lambda: None, {})  # type: ignore[arg-type]
        found.itself = found  # as in the end each refers to itself
        return found


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # a loop and its sockets go with it
@pytest.mark.parametrize("hooked", [True, False])
@pytest.mark.parametrize("closed", [True, False])
def test_a_session_that_is_found_to_be_garbage_ends_without_a_lock(
    *, closed: bool, hooked: bool, twice: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    server, ended = Server(twice, monkeypatch), list[str]()
    for guarded in (operations, left_sessions, scripts):
        guarded.guard()
    if not hooked:  # as it was
        monkeypatch.setattr(AppSession, "__del__", lambda session: session.shutdown())
        monkeypatch.setattr(operations, "has_ended", lambda session: False)

    async def go() -> None:
        session: Any = server.session()
        name = session.id
        server.made.note(server.files, name, "a file", 1, made_files.Whose())
        monkeypatch.setattr(operations, "_shutdown", lambda one: (ended.append(one.id), shutdown(one)))
        if closed:
            session.shutdown()
        del session
        with ExitStack() as held:
            for lock in server.locks:
                held.enter_context(lock)
            gc.collect()
        await asyncio.sleep(0)
        assert name in ended, "it is ended all the same"
        assert not server.made.of("a file")

    shutdown = operations._shutdown
    asyncio.run(go())
    assert bool(twice) == (not hooked)


def finalizers(tree: ast.AST) -> bool:
    """Whether it has something done as garbage is found: ``__del__``, ``finalize``, ``ref`` with a callback."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name == "__del__":
            return True
        if isinstance(node, ast.Call):
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            if name == "finalize" or (name in ("ref", "proxy", "WeakMethod") and len(node.args) > 1):
                return True
    return False


def test_it_is_known_what_is_done_as_garbage_is_found() -> None:
    files = [file for part in ("dashboard", "dpcore") for file in (ROOT / part).rglob("*.py")]
    found = {str(file.relative_to(ROOT)) for file in files if finalizers(ast.parse(file.read_text("utf-8")))}
    assert found == {*KNOWN}
    assert finalizers(ast.parse("class A:\n def __del__(self): pass"))


def test_one_that_was_shut_down_or_never_came_to_be_is_known_without_its_lock() -> None:
    bare = AppSession.__new__(AppSession)
    assert left_sessions.has_ended(bare)
    bare._state = AppSessionState.APP_NOT_RUNNING
    assert not left_sessions.has_ended(bare)
    bare._state = AppSessionState.SHUTDOWN_REQUESTED
    assert left_sessions.has_ended(bare)
