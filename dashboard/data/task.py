"""One piece of work beside the page: with progress, cancel, and an end that the page picks up.

Plain text is read in a thread rather than in a worker process: the bytes and the table stay where they are, and Arrow
and DuckDB let other threads run meanwhile. Other kinds are read in a process of their own (``dpcore.datasets.apart``),
for which a thread waits. A few threads serve everyone, so that uploads wait rather than pile up.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Executor, ThreadPoolExecutor
from typing import Any

from dashboard import words
from dashboard.background.once import once
from dpcore.defects import as_defects
from dpcore.errors import DpcoreError, ReadingCancelled

Say = Callable[[float, str], None]
_LESS_URGENT = 5  # about a third of a page's share, where there is not enough for both
TOO_LARGE = "There is not enough memory for this file; keep fewer rows or columns."


@once()
def threads() -> Executor:
    return ThreadPoolExecutor(max_workers=2, thread_name_prefix="reading", initializer=_behind_pages)


def _behind_pages() -> None:
    """Linux knows how urgent each thread is: this one, and those it starts, leave the processor to people's pages."""
    if sys.platform == "linux":
        own = threading.get_native_id()
        os.setpriority(os.PRIO_PROCESS, own, os.getpriority(os.PRIO_PROCESS, own) + _LESS_URGENT)


class Task:
    """Runs ``work(say)`` in a thread; ``say(fraction, words)`` reports progress and raises once it was cancelled.

    After ``finished``, either ``result`` is there, or ``problem`` says in one sentence why not ("" when cancelled).
    """

    def __init__(self, work: Callable[[Say], Any], title: str) -> None:
        self.title = title
        self.fraction, self.words = 0.0, "Waiting for its turn"
        self.result: Any = None
        self.problem: str | None = None
        self._cancelled, self._done = threading.Event(), threading.Event()
        self._waits: list[Callable[[Say], Any]] = [work]
        threads().submit(self._run)

    def _say(self, fraction: float, what: str) -> None:
        if self._cancelled.is_set():
            raise ReadingCancelled("Cancelled.")
        self.fraction, self.words = min(max(fraction, 0.0), 1.0), what

    def _run(self) -> None:
        work = self._taken()
        if work is None:
            return
        try:
            self._say(0.0, "Starting")
            # what a failure of ours says may hold cells of the file: the log has its place, the person a reference
            self.result = as_defects(f"{self.title[:1].lower()}{self.title[1:]}", lambda: work(self._say))
        except ReadingCancelled:
            self.problem = ""
        except DpcoreError as error:
            self.problem = words.sentence(error)
        except MemoryError:
            self.problem = TOO_LARGE
        finally:
            self._done.set()

    def cancel(self) -> None:
        """Stop at the next step; what waits for its turn ends at once, and lets go of what it holds."""
        self._cancelled.set()
        if self._taken() is not None:
            self.problem = ""
            self._done.set()

    def _taken(self) -> Callable[[Say], Any] | None:
        """The work, for whoever comes first: the thread that does it, or who cancels it."""
        try:
            return self._waits.pop()
        except IndexError:
            return None

    @property
    def finished(self) -> bool:
        return self._done.is_set()

    def wait(self, seconds: float) -> bool:
        """Whether it ended within that time."""
        return self._done.wait(seconds)
