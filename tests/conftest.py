"""What every test starts from."""

from __future__ import annotations

import asyncio
import atexit
import functools
import gc
import logging
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import hypothesis
import pytest
from streamlit.components.v2 import manifest_scanner
from streamlit.runtime.scriptrunner.script_cache import ScriptCache
from streamlit.runtime.state.common import TESTING_KEY
from streamlit.testing.v1 import app_test, local_script_runner
from xdist.remote import Producer

from dashboard import replay, traces
from dashboard.background import compute
from dashboard.runtime import looked_up, shortcuts
from dpcore.ledger import Ledger
from tests.in_turn import InTurn, scheduler
from tests.put_back import changed_in_streamlit

# Servers make workers and compiled loops ready when they start; the app of a test uses what it needs.
os.environ.setdefault("EPSILON_LAB_WARM_UP", "0")
# The key file of a server and its data folder; tests have their own, and never touch the person's.
_OWN = Path(tempfile.mkdtemp(prefix="epsilon-lab-key-"))
os.environ |= {"EPSILON_LAB_KEY": str(_OWN / "ledger.key"), "XDG_DATA_HOME": str(_OWN / "data")}
atexit.register(shutil.rmtree, _OWN, ignore_errors=True)
# Each page in process looks through all installed packages for components, as a server does once when it starts.
manifest_scanner.scan_component_manifests = functools.cache(manifest_scanner.scan_component_manifests)
# A page in process looks its state up and says again what it said, as a server's does.
looked_up.guard()
shortcuts.guard()
replay.guard()
# Pages of tests have the ledger, however long a busy machine takes to open it; a server's are told what is the matter.
SHORT, compute.OPENING = compute.OPENING, 600.0
# And it compiles its script, which a server does once for all sessions.
local_script_runner.ScriptCache = functools.cache(ScriptCache)


def _until_the_run_ends(runner: local_script_runner.LocalScriptRunner, timeout: float = 3) -> None:
    """As Streamlit's own waiting, which wakes a thousand times a second and takes a tenth of a page's time by it."""
    thread = runner._script_thread
    assert thread is not None
    thread.join(timeout)
    if thread.is_alive():
        runner.request_stop()
        thread.join()
        raise RuntimeError(f"AppTest script run timed out after {timeout}(s)")


local_script_runner.require_widgets_deltas = _until_the_run_ends


class _Server:
    """What a page in process takes for a running server. Streamlit's own stand-in makes some ten classes in each run;
    here they are made once, and nothing of a run is kept in them: a page asks it for its visitor alone.
    """

    _visitor = mock.MagicMock()

    def __init__(self, spec: type) -> None:
        self._spec = spec

    def get_client(self, session_id: str) -> mock.MagicMock:
        return self._visitor

    def is_active_session(self, session_id: str) -> bool:
        return True

    def __getattr__(self, name: str) -> Any:
        return getattr(mock.MagicMock(spec=self._spec), name)


app_test.MagicMock = _Server
_MADE: dict[str, Any] = {}
"""How the options of widgets are called: a page in process looks that up, and may say again what another one made."""
_begin = app_test.AppTest.__init__


def _knowing(app: app_test.AppTest, *given: Any, **named: Any) -> None:
    _begin(app, *given, **named)
    app.session_state[TESTING_KEY] = _MADE


app_test.AppTest.__init__ = _knowing  # type: ignore[method-assign]


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> InTurn | None:
    return scheduler(config, log)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The files beside the folders first: of the last few one would keep a worker busy while the others have ended."""
    items.sort(key=lambda item: item.path.parent != Path(__file__).parent)


def pytest_collection_finish() -> None:
    """Everything imported and collected stays to the end: the collector need not walk over it again and again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 50, 100)


def pytest_unconfigure() -> None:
    gc.unfreeze()  # or what compiled libraries hold counts as leaked at the end


# The same examples every time, however busy the machine is.
hypothesis.settings.register_profile("fixed", deadline=None, derandomize=True, database=None)
hypothesis.settings.load_profile("fixed")


class _Defects(logging.Handler):
    """Keeps what was logged as a defect of the program."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.seen: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        if record.getMessage().startswith("defect "):
            self.seen.append(record.getMessage())


@pytest.fixture(autouse=True)
def no_defects(request: pytest.FixtureRequest) -> Iterator[None]:
    """A page shows a failure of the program as a sentence; a test fails by it unless it is marked ``defects``."""
    handler, log = _Defects(), logging.getLogger("dpcore")
    log.addHandler(handler)
    yield
    log.removeHandler(handler)
    if request.node.get_closest_marker("defects") is None:
        assert handler.seen == []


@pytest.fixture(scope="session")
def empty_ledger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new ledger's file. A copy of it costs a fiftieth of making another."""
    file = tmp_path_factory.mktemp("ledger") / "ledger.db"
    Ledger.open(f"sqlite:///{file}", create=True).close()
    return file


@pytest.fixture(autouse=True)
def streamlit_as_it_is() -> Iterator[None]:
    """A test that leaves Streamlit changed breaks another, if that one happens to run later in the same process.

    So does a page that was made of a function: Streamlit makes it the main module, which every new process runs anew.
    """
    main = sys.modules["__main__"]
    yield
    sys.modules["__main__"] = main
    assert changed_in_streamlit() == []


@pytest.fixture(autouse=True)
def environment_as_it_is() -> Iterator[None]:
    """Processes of later tests take the environment over: a word too many, and they find other modules or settings."""
    before = _environment()
    yield
    after = _environment()
    os.environ.update(before)
    for name in after.keys() - before.keys():
        del os.environ[name]
    assert after == before, "this test leaves the environment changed"


def _environment() -> dict[str, str]:
    """Without what pytest and OpenMP's libraries set themselves, the latter as they are loaded."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "KMP_"))}


@pytest.fixture(autouse=True)
def nothing_said_before() -> None:
    """What pages about samples say to everybody; a test may change what a page says."""
    replay.COMMON.clear()
    traces.EVERYBODYS.clear()
    _MADE.clear()


@pytest.fixture(autouse=True, scope="module")
def no_loop_left() -> Iterator[None]:
    """A file that leaves an event loop running in this thread breaks every later file that runs one."""
    yield
    assert asyncio._get_running_loop() is None, "an event loop still runs after this file"
