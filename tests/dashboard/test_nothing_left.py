"""A person's file leaves nothing behind: canaries planted in its cells are looked for in all that the process holds."""

from __future__ import annotations

import fcntl
import functools
import gc
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from dashboard import session
from dashboard.background import held as work
from dashboard.background import leaving
from dashboard.data import arrivals, held
from dashboard.data.own_file import OwnFile
from dpcore.datasets import Column, Schema, Template, temporary
from tests.dashboard.conftest import text
from tests.dashboard.test_data_page import declare, drop, look, press

Open = Callable[..., AppTest]
# as a pattern, so that looking for it plants none; other tests have canaries of other numbers
CANARY = re.compile("canary" + "-1[01][0-9]{2}")


def planted() -> bytes:
    """400 rows; those that name somebody come after the rows of the preview."""
    rows = [f"{n},{'red' if n % 3 else 'blue'},{n % 50},plain" for n in range(200)]
    rows += [f"{n},{'red' if n % 3 else 'blue'},{n % 50},{'canary'}-{n:04} of a street" for n in range(1000, 1200)]
    return ("nr,colour,age,note\n" + "\n".join(rows) + "\n").encode()


def _texts(found: Any) -> Iterator[str]:
    """The text that one object holds itself; what it refers to is looked at on its own."""
    if isinstance(found, str):
        yield found
    elif isinstance(found, (bytes, bytearray)):
        yield bytes(found).decode("utf-8", "replace")
    elif isinstance(found, pa.Array | pa.ChunkedArray) and (
        pa.types.is_string(found.type) or pa.types.is_large_string(found.type)
    ):
        yield " ".join(str(word) for word in found.to_pylist())
    elif isinstance(found, np.ndarray) and found.dtype.kind in "OUS":
        yield " ".join(str(word) for word in found.ravel()[:5000])
    elif isinstance(found, pd.DataFrame | pd.Series | pd.Index):
        yield " ".join(str(word) for word in np.asarray(found, dtype=object).ravel()[:20_000])


HOLD_TEXT = (str, bytes, bytearray, pa.Array, pa.ChunkedArray, np.ndarray, pd.DataFrame, pd.Series, pd.Index)


@functools.cache
def _holds_text(kind: type) -> bool:
    return issubclass(kind, HOLD_TEXT)


@pytest.fixture(autouse=True)
def all_is_looked_at() -> Iterator[None]:
    """What the collector was told to leave alone is looked through as well."""
    gc.unfreeze()
    yield
    gc.freeze()


def canaries() -> list[str]:
    """The kinds of living objects that hold a canary."""
    gc.collect()
    living = [one for one in gc.get_objects() if not isinstance(one, type)]
    holding = {
        id(other): other for one in (living, gc.get_referents(*living)) for other in one if _holds_text(type(other))
    }
    return [type(other).__name__ for other in holding.values() if any(CANARY.search(word) for word in _texts(other))]


def left() -> list[str]:
    """The same when nothing is under way any more: a thread that ends holds its last step a moment longer."""
    found = canaries()
    for _ in range(40):
        if not found:
            break
        time.sleep(0.1)
        found = canaries()
    return found


def temporary_folders() -> list[Path]:
    return list(Path(tempfile.gettempdir()).glob("epsilon-lab-read-*"))


def brought(open_app: Open) -> AppTest:
    """A file in every kind of use: looked at, declared, words taken over, a chart of it, a second tab of the page."""
    app = look(drop(open_app("data"), planted()))
    declare(app, "colour", copied=True)
    app.selectbox(key="own-column").set_value(None).run()
    press(app, "own-selection-0")
    assert "private answer names" in text(app)
    app.switch_page("app_pages/data.py").run()
    return app


@pytest.mark.thorough
def test_a_file_that_is_forgotten_is_in_no_object_of_the_server(
    open_app: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))  # where no other program reads a file meanwhile
    app = brought(open_app)
    assert canaries(), "or the search finds nothing at all"
    assert len(session_memory(app)) > 0
    press(app, "own-remove")
    assert len(session_memory(app)) == 0, "what was computed goes at once, the file when it is forgotten"
    assert canaries()
    press(app, "own-forget")
    app.run()
    assert left() == []
    assert not temporary_folders()
    assert "own-" not in str(app.query_params)


def session_memory(app: AppTest) -> Any:
    return app.session_state.get("_memory", ())


@pytest.mark.thorough
def test_a_file_that_was_replaced_twice_is_gone(open_app: Open) -> None:
    """The one before can be brought back; the one before that cannot, and nothing made from it is kept."""
    app = brought(open_app)
    drop(app, b"a;b\n1;2\n3;4\n5;6\n", name="other.csv")
    assert len(session_memory(app)) == 0
    assert canaries()
    drop(app, b"c;d\n1;2\n3;4\n5;7\n", name="third.csv")
    app.run()
    assert left() == []


@pytest.mark.thorough
def test_a_file_that_could_not_be_read_can_be_forgotten(open_app: Open) -> None:
    app = drop(open_app("data"), planted() + b'"never closed\n1,2\n')
    assert app.error
    press(app, "own-pending-forget")
    app.run()
    assert left() == []


@pytest.mark.thorough
def test_a_session_whose_tab_was_closed_is_emptied(open_app: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a quiet server too, where Streamlit itself drops a session only when the next one ends."""
    app = brought(open_app)
    app.run()
    state = app.session_state  # as the server keeps it after the tab is closed
    visits = [found for found in gc.get_objects() if isinstance(found, leaving.Visit)]
    assert visits
    held = [visit for visit in visits if "_own_file" in visit._state.filtered_state]
    assert len(held) == 1
    del app, state
    held[0].end()
    assert dict(held[0]._state.filtered_state) == {}
    del visits, held
    assert left() == []


def drafted(open_app: Open, *, public: bool = False) -> AppTest:
    """A file whose words are a list of options, and the next one with such columns, which is offered that."""
    words = ["aspirin", "ibuprofen", "canary" + "-1100"]
    first, second = (
        "nr,drug,age\n" + "".join(f"{n},{some[n % len(some)]},{n % 50}\n" for n in range(90))
        for some in (words, words[:2])
    )
    app = declare(drop(open_app("data"), first.encode(), name="a.csv"), "drug", copied=True, public=public)
    app = declare(app, "age", low=0.0, high=50.0)
    assert CANARY.search(repr(held_file(app).schema))
    app.selectbox(key="own-column").set_value(None).run()
    return drop(app, second.encode(), name="b.csv")


def held_file(app: AppTest) -> OwnFile:
    own: OwnFile = app.session_state["_own_file"]
    return own


def test_words_of_a_file_are_not_offered_for_the_next(open_app: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that a single person had was an option of what was asked of others: a draft, which nobody called public."""
    app = drafted(open_app)
    (known,) = held_file(app).known
    assert not CANARY.search(repr(known))
    press(app, "own-declaration-known-0")
    assert not CANARY.search(repr(held_file(app)))
    assert held_file(app).schema.column("age").high == 50.0
    monkeypatch.setattr(arrivals, "without_rows", lambda declaration: declaration)
    assert CANARY.search(repr(held_file(drafted(open_app)).known)), "as it was"


def test_a_file_that_is_forgotten_is_offered_for_no_other(open_app: Open) -> None:
    """Nor the words of it that somebody had called not hidden, once they say that it goes for good."""
    app = drafted(open_app, public=True)
    assert CANARY.search(repr(held_file(app).known))
    press(app, "own-forget")
    assert held_file(app).known == ()
    assert "own-declaration-known-0" not in [str(one.key) for one in app.button]


@pytest.mark.parametrize("forgotten", [True, False])
def test_what_is_forgotten_while_a_file_is_read_is_not_offered_for_it(
    forgotten: bool, open_app: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = Template(schema=Schema(columns=(Column(name="age", type="integer", low=0, high=50),)))
    app, really = open_app("data"), arrivals.pending

    def pending() -> Any:
        if forgotten:
            held.DECLARATIONS.forget()
        return really()

    app.session_state["_declarations"] = (known,)
    monkeypatch.setattr(arrivals, "pending", pending)  # asked first when the file has been read
    drop(app, b"age\n" + b"".join(b"%d\n" % n for n in range(30)), name="b.csv")
    assert held_file(app).known == (() if forgotten else (known,))


@pytest.mark.thorough
def test_nothing_of_a_file_is_left_though_the_next_was_brought_between(open_app: Open) -> None:
    app = drafted(open_app, public=True)
    assert canaries()
    press(app, "own-forget")
    app.run()
    assert left() == []


class State(dict[str, str]):
    filtered_state = property(dict)


def test_a_closed_tab_that_comes_back_in_time_keeps_its_file(monkeypatch: pytest.MonkeyPatch) -> None:
    """Closing has the session emptied in time, coming back takes it out of those; mutant: it is never added."""
    monkeypatch.setattr(leaving, "MARGIN", 0.2 - float(st.get_option("server.disconnectedSessionTTL")))  # soon
    gone, back = State(file="x"), State(file="y")
    leaving.Visit("one", gone).left()
    leaving.Visit("two", back).left()
    leaving._waiting.came_back("two")
    for _ in range(50):
        if not gone:
            break
        time.sleep(0.1)
    assert gone == {}
    assert back == {"file": "y"}
    assert not {"one", "two"} & set(leaving._waiting._left)


def test_pages_that_are_opened_and_closed_leave_one_thread_and_no_more_sessions_than_come_back() -> None:
    """With a timer for each, a thousand of them would be a thousand threads, and all that they held."""
    waiting, states = leaving.Waiting(), [State(file="x") for _ in range(1000)]
    before = set(threading.enumerate())
    for number, state in enumerate(states):
        waiting.add(leaving.Visit(f"{number}", state), 300.0)
        waiting.add(leaving.Visit("again", State()), 300.0)  # closed, opened and closed: one session all the same

    def more() -> list[str]:
        """Threads since, but the one of ``garbage``, which may have been there before and goes when it has waited."""
        return [thread.name for thread in set(threading.enumerate()) - before if thread.name != "garbage"]

    assert more() == ["leaving"]
    for _ in range(100):
        if len(waiting) <= leaving.MOST:
            break
        time.sleep(0.05)
    assert len(waiting) <= leaving.MOST
    for number in range(1000 - leaving.MOST + 1, 1000):
        assert states[number], "the last ones can come back"
        waiting.came_back(f"{number}")
    for _ in range(100):
        if not any(states[: 1000 - leaving.MOST]):
            break
        time.sleep(0.05)
    assert not any(states[: 1000 - leaving.MOST]), "what the first ones held is gone"
    waiting.add(leaving.Visit("again", State()), -1.0)
    for _ in range(100):
        if not more():
            break
        time.sleep(0.05)
    assert not more(), "where nobody waits there is no thread"


@pytest.mark.defects
def test_one_session_that_cannot_be_emptied_keeps_none_of_the_others(caplog: pytest.LogCaptureFixture) -> None:
    class Broken(State):
        def clear(self) -> None:
            raise RuntimeError("canary")

    waiting, other = leaving.Waiting(), State(file="x")
    waiting.add(leaving.Visit("broken", Broken()), 0.0)
    waiting.add(leaving.Visit("other", other), 0.0)
    for _ in range(100):
        if not other:
            break
        time.sleep(0.05)
    assert not other
    assert "canary" not in caplog.text


KILLED = """
import sys
sys.path.insert(0, {root!r})
from dpcore.datasets.temporary import private_file, private_folder
with private_folder() as folder:
    private_file(folder, b"rows of somebody")
    print(folder, flush=True)
    sys.stdin.read()
"""


@pytest.mark.thorough
def test_what_a_killed_reader_left_is_swept_at_the_next_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """kill -9 while reading leaves the copy; a living reader's is never touched."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    code = KILLED.format(root=str(Path(__file__).parents[2]))
    started = [
        subprocess.Popen(
            [sys.executable, "-c", code],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"TMPDIR": str(tmp_path)},
        )
        for _ in range(2)
    ]
    killed, living = started
    try:
        left, held = (Path(str(each.stdout.readline()).strip()) for each in started if each.stdout is not None)
        assert (left / "table").read_bytes() == b"rows of somebody"
        assert (left / "table").stat().st_mode & 0o077 == 0
        assert temporary.sweep() == 0
        os.kill(killed.pid, signal.SIGKILL)
        killed.wait(timeout=10)
        assert left.exists()
        assert temporary.sweep() == 1
        assert not left.exists()
        assert held.exists()
    finally:
        living.kill()
        for each in started:
            each.communicate()
    assert temporary.sweep() == 1


def test_a_folder_that_is_just_being_made_is_not_swept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever sweeps while another is about to lock their folder leaves it alone."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    really, swept = fcntl.flock, list[int]()

    def meanwhile(file: int, how: int) -> None:
        monkeypatch.setattr(fcntl, "flock", really)
        swept.append(temporary.sweep())
        really(file, how)

    monkeypatch.setattr(fcntl, "flock", meanwhile)
    with temporary.private_folder() as folder:
        assert swept == [0]
        assert temporary.private_file(folder, b"rows").read_bytes() == b"rows"
        assert temporary.sweep() == 0
    assert not folder.exists()


def test_folders_of_versions_before_are_swept_and_those_of_others_are_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    earlier, other = tmp_path / "epsilon-lab-abcd_123", tmp_path / "epsilon-lab-key-abcd_123"
    for folder in (earlier, other):
        folder.mkdir()
        (folder / "table").write_text("rows")
    (tmp_path / "epsilon-lab-read-link0000").symlink_to(other)
    assert temporary.sweep() == 1
    assert not earlier.exists()
    assert (other / "table").exists()


def test_the_server_sweeps_when_it_starts(open_app: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    swept: list[int] = []
    monkeypatch.setattr(temporary, "sweep", lambda: swept.append(1) or 0)
    open_app()
    assert swept == [1]


def test_every_private_slot_goes_with_the_file() -> None:
    """A slot for something of a person's own that nobody forgets would be found here by its name."""
    names = {
        name
        for name, slot in {**vars(held), **vars(work)}.items()
        if isinstance(slot, session.Slot) and name.startswith("OWN_")
    }
    assert names == {
        "OWN_FILE", "OWN_NAME", "OWN_SOURCE", "OWN_COLUMNS", "OWN_TASK", "OWN_END", "OWN_PENDING", "OWN_BEFORE",
        "OWN_ASKED", "OWN_CONFIRMED", "OWN_LOOKED", "OWN_NUMBER", "OWN_READ", "OWN_ROUND", "OWN_SHELF", "OWN_TAKEN",
        "OWN_WAITS",
    }  # fmt: skip


@pytest.mark.parametrize("open_again", [True, False])
def test_a_script_that_runs_on_when_its_tab_was_closed_is_watched_over(
    monkeypatch: pytest.MonkeyPatch, open_again: bool
) -> None:
    """It made a visit of its own and took its session out of those to be emptied: nobody emptied that any more."""
    here = leaving.Visit("runs on", State(file="x"))
    monkeypatch.setattr(leaving, "_visit", lambda: here)
    monkeypatch.setattr(leaving.runtime, "exists", lambda: True)
    active = SimpleNamespace(is_active_session=lambda session: open_again)
    monkeypatch.setattr(leaving.runtime, "get_instance", lambda: active)
    leaving._waiting.came_back("runs on")
    try:
        assert leaving.visit() is here
        assert ("runs on" in leaving._waiting._left) is not open_again
    finally:
        leaving._waiting.came_back("runs on")
