"""A network that says nothing keeps nobody waiting: not who asked it, and nobody's file."""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest

from dashboard.data.task import Say, Task
from dpcore.datasets import fetched, load_sample, read_table
from dpcore.errors import ReadingCancelled, UnavailableSample

PATIENCE = 60.0
WAITS = "import time\ntime.sleep(600)\n"
SOON = "import time\ntime.sleep(2)\nprint('a,b\\n1,2')\n"
DRIPS = "import time\nwhile True: print('1,2', flush=True); time.sleep(0.05)\n"
FAILS = "raise SystemExit(1)\n"


@pytest.fixture(autouse=True)
def started(monkeypatch: pytest.MonkeyPatch) -> list[fetched._Fetch]:
    """Every fetch that begins; nobody has asked before."""
    every: list[fetched._Fetch] = []

    class Noted(fetched._Fetch):
        def __init__(self, name: str, version: int) -> None:
            super().__init__(name, version)
            every.append(self)

    monkeypatch.setattr(fetched, "_Fetch", Noted)
    monkeypatch.setattr(fetched, "_silent", {})
    return every


def until(true: Callable[[], bool], seconds: float = PATIENCE) -> bool:
    end = time.monotonic() + seconds
    while not (found := true()) and time.monotonic() < end:
        time.sleep(0.01)
    return found


def gone(one: fetched._Fetch) -> bool:
    return one._process.returncode is not None and fetched._now is None


@pytest.fixture
def silent_proxy(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[list[socket.socket]]:
    """A proxy that takes every connection and never answers; the connections it took."""
    taken: list[socket.socket] = []
    with socket.create_server(("127.0.0.1", 0)) as proxy:

        def take() -> None:
            while True:
                try:
                    taken.append(proxy.accept()[0])
                except OSError:
                    return

        threading.Thread(target=take, daemon=True).start()
        for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.getsockname()[1]}")
        for name in ("no_proxy", "NO_PROXY"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path))
        yield taken
        proxy.shutdown(socket.SHUT_RDWR)
    for one in taken:
        one.close()


def test_a_network_that_takes_the_connection_and_says_nothing_is_one_sentence(
    silent_proxy: list[socket.socket], started: list[fetched._Fetch], monkeypatch: pytest.MonkeyPatch
) -> None:
    """And whoever asks within a minute is told so at once."""
    monkeypatch.setattr(fetched, "SILENT", 1.0)
    with pytest.raises(UnavailableSample, match="cannot be reached now; point to a CSV file"):
        load_sample("adult")
    assert 1 <= len(silent_proxy) <= 2
    assert gone(started[0])
    assert time.monotonic() - started[0].began < fetched.WHOLE / 2
    with pytest.raises(UnavailableSample):
        load_sample("adult")
    assert len(started) == 1


def test_what_comes_too_slowly_or_is_too_much_ends(
    started: list[fetched._Fetch], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetched, "_START", DRIPS)
    for what, most in (("WHOLE", 1.0), ("MOST", 100)):
        monkeypatch.setattr(fetched, "_silent", {})
        with monkeypatch.context() as only:
            only.setattr(fetched, what, most)
            with pytest.raises(OSError, match="no table"):
                fetched.fetched("adult", 2, lambda: None)
    assert len(started) == 2
    assert all(map(gone, started))


def test_a_fetch_ends_with_who_waited_for_it(started: list[fetched._Fetch], monkeypatch: pytest.MonkeyPatch) -> None:
    """Who cancels is gone at once, who waits with them is not; the next to ask begins anew."""
    monkeypatch.setattr(fetched, "_START", WAITS)
    cancelled = [threading.Event(), threading.Event()]

    def going_on(one: threading.Event) -> Callable[[], None]:
        def go_on() -> None:
            if one.is_set():
                raise ReadingCancelled("Cancelled.")

        return go_on

    with ThreadPoolExecutor(2) as pool:
        first, second = (pool.submit(fetched.fetched, "adult", 2, going_on(one)) for one in cancelled)
        assert until(lambda: bool(started) and started[0].waiting == 2)
        cancelled[0].set()
        assert isinstance(first.exception(PATIENCE), ReadingCancelled)
        assert not second.done()
        assert not gone(started[0])
        cancelled[1].set()
        assert isinstance(second.exception(PATIENCE), ReadingCancelled)
    assert len(started) == 1
    assert gone(started[0])
    monkeypatch.setattr(fetched, "_START", "print('a,b\\n1,2')\n")
    assert fetched.fetched("adult", 2, lambda: None) == b"a,b\n1,2\n"


def test_all_who_ask_wait_for_one(started: list[fetched._Fetch], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetched, "_START", SOON)
    with ThreadPoolExecutor(8) as pool:
        found = [pool.submit(fetched.fetched, "adult", 2, lambda: None) for _ in range(8)]
        assert {one.result(PATIENCE) for one in found} == {b"a,b\n1,2\n"}
    assert len(started) == 1
    assert gone(started[0])


def test_a_fetch_knows_no_secret_of_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EPSILON_LAB_KEY", "known")
    monkeypatch.setenv("STREAMLIT_SERVER_COOKIE_SECRET", "known")
    monkeypatch.setattr(fetched, "_START", "import os\nprint(dict(os.environ))\n")
    assert b"known" not in fetched.fetched("adult", 2, lambda: None)
    assert "known" in os.environ.values()


def waits_and_never_says(say: Say) -> None:
    """As it once was."""
    time.sleep(5.0)


@pytest.mark.parametrize("says", [True, False], ids=["asks whether to go on", "as it was"])
def test_nobody_s_file_waits_for_a_network(says: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two visitors have the census fetched, and the network says nothing: a file of a third is read, also while they
    wait, and at once when they give up."""
    from dashboard.data import reading_threads

    monkeypatch.setattr(fetched, "_START", WAITS)
    monkeypatch.setattr(reading_threads, "TURN", 1.0)
    monkeypatch.setattr(reading_threads, "PATIENT", 0.5)
    work = (lambda say: load_sample("adult", progress=say)) if says else waits_and_never_says
    for gives_up in (False, True):
        waiting = [Task(work, "Fetching the census table", f"203.0.113.{at}") for at in range(2)]
        try:
            assert until(partial(have_begun, waiting))
            if gives_up:
                for one in waiting:
                    one.cancel()
            own = Task(lambda _: read_table(b"a,b\n1,2\n3,4\n").frame.shape, "Reading the file", "198.51.100.7")
            assert own.wait(4.0) == says
            assert own.wait(PATIENCE)
            assert own.result == (2, 2)
        finally:
            for one in waiting:
                one.cancel()
        assert all(one.wait(PATIENCE) for one in waiting)


def have_begun(tasks: list[Task]) -> bool:
    return all(one.words != "Waiting for its turn" for one in tasks)


SKLEARN = """
import pandas as pd
from types import SimpleNamespace
def fetch_openml(*_, **__):
    columns = {"age": [39, 50], "work": pd.Categorical(["a, b", None]), "class": pd.Categorical(["<=50K", ">50K"])}
    return SimpleNamespace(frame=pd.DataFrame(columns))
"""


def test_a_table_comes_as_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Numbers as they are, and a question mark for what is missing; modules are found where the server finds them."""
    (tmp_path / "sklearn").mkdir()
    (tmp_path / "sklearn" / "__init__.py").touch()
    (tmp_path / "sklearn" / "datasets.py").write_text(SKLEARN)
    monkeypatch.syspath_prepend(tmp_path)
    assert fetched.fetched("adult", 2, lambda: None) == b'age,work,class\n39,"a, b",<=50K\n50,?,>50K\n'
