"""What a file does to the process that reads it, as the page and the session see it."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from dashboard.background import leaving
from dashboard.data import arrivals
from dashboard.data.task import Task
from dpcore.datasets import read_table
from dpcore.datasets.apart import Apart
from tests.dashboard.test_data_page import drop, held
from tests.datasets.unruly import file

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="files are read in the server's own process there")


@pytest.fixture(scope="module")
def apart() -> Iterator[Apart]:
    """Each reader loads its own libraries, as where what they begin does not outlive a fork."""
    made = Apart(also=["tests.datasets.unruly"], forked=False)
    yield made
    made.close()


def test_a_library_that_crashes_is_a_sentence_on_the_page(
    open_app: Callable[..., AppTest], apart: Apart, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file that was there stays, what the reader left is swept, and the next file is read."""
    app = drop(open_app("data"), b"a,b\n1,2\n3,4\n", name="first.csv")
    own = held(app)
    monkeypatch.setattr(arrivals, "READERS", apart)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    left = tmp_path / "epsilon-lab-read-abcdefgh"  # whose owner has ended
    left.mkdir()
    (left / "lock").touch()
    app = drop(app, file("crashes"), name="second.parquet")
    assert "This file made the program that reads such files end" in app.error[0].value
    assert "save the table as CSV" in app.error[0].value
    assert held(app) is own
    assert not left.exists()
    app = drop(app, b"c,d\n1,2\n", name="third.csv")
    assert not app.error
    assert held(app).name == "third.csv"


@pytest.mark.thorough
def test_a_reading_ends_when_its_session_leaves(apart: Apart) -> None:
    class State(dict[str, Task]):
        filtered_state = property(dict)

    task = Task(lambda say: read_table(file("waits"), progress=say, tables=apart.table_of), "Reading the file")
    for _ in range(600):
        if task.words.startswith("Reader "):
            break
        time.sleep(0.1)
    reader = Path("/proc") / task.words.removeprefix("Reader ")
    state = State(_own_task=task)
    leaving.Visit("gone", state).end()
    assert state == {}
    assert task.wait(60)
    assert task.problem == ""
    assert not reader.exists()
