"""Other people's reruns while files are read: for ``benchmarks.reading``, in a process of its own.

The threads that read files for all sessions of a server (``dashboard.data.task``) read ``FILES`` of them, as they take
their turns, while a page reruns beside them as those of other sessions do. Quiet and busy spells alternate.
"""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.people import TYPED

if TYPE_CHECKING:
    from dashboard.data.task import Task

FILES, SPELLS, WITHIN = 5, 2, 8
LEVELS = (0.5, 0.8)
_APP = Path(__file__).parents[1] / "dashboard" / "app.py"


@dataclass(frozen=True, slots=True, kw_only=True)
class Slowed:
    """Seconds of a rerun while nothing and while ``FILES`` files are read, their medians and nine tenths; how many
    reruns there were meanwhile; and after how many seconds a file that is read alone says how far it is.
    """

    quiet: tuple[float, float]
    busy: tuple[float, float]
    reruns: int
    first_word: float


def slowed(data: bytes) -> Slowed:
    with tempfile.TemporaryDirectory() as folder:
        os.environ["EPSILON_LAB_LEDGER"] = f"sqlite:///{folder}/ledger.db"
        os.environ["EPSILON_LAB_KEY"] = f"{folder}/ledger.key"
        os.environ["EPSILON_LAB_WARM_UP"] = "0"
        from streamlit.testing.v1 import AppTest

        from dashboard import catalogue
        from dashboard.data.task import Say, Task
        from dpcore.datasets import read_table
        from dpcore.ledger import Ledger

        Ledger.open(create=True).close()
        at = AppTest.from_file(str(_APP), default_timeout=600).run()
        at.switch_page(catalogue.address("selection")).run()

        def rerun(level: float) -> float:
            start = time.perf_counter()
            at.number_input(key=TYPED).set_value(level).run()
            return time.perf_counter() - start

        def work(say: Say) -> int:
            return read_table(data, progress=say).rows

        def started() -> Task:
            return Task(work, "Reading the file")

        for level in LEVELS:
            rerun(level)
        first_word = _first_word(started())
        quiet: list[float] = []
        busy: list[float] = []
        for _ in range(SPELLS):
            quiet += [rerun(level) for level in LEVELS * WITHIN]
            tasks = [started() for _ in range(FILES)]
            while not all(task.finished for task in tasks):
                busy.append(rerun(LEVELS[len(busy) % len(LEVELS)]))
            if any(task.problem for task in tasks):
                raise AssertionError("a file could not be read")
        if at.exception:
            raise AssertionError("the page failed")
    return Slowed(quiet=_of(quiet), busy=_of(busy), reruns=len(busy), first_word=first_word)


def _of(seconds: list[float]) -> tuple[float, float]:
    return statistics.median(seconds), statistics.quantiles(seconds, n=10)[-1]


def _first_word(task: Task) -> float:
    """Seconds until the task says that some of the work is done."""
    start = time.perf_counter()
    while not (task.fraction > 0.0 or task.finished):
        time.sleep(0.005)
    found = time.perf_counter() - start
    while not task.finished:
        time.sleep(0.01)
    return found
