"""One piece of work beside the page: with progress, cancel, and an end that the page picks up.

Plain text is read in a thread rather than in a worker process: the bytes and the table stay where they are, and Arrow
and DuckDB let other threads run meanwhile. What Python does word by word asks every few whether to go on
(``dpcore.datasets.stopping``). Other kinds are read in a process of their own (``dpcore.datasets.apart``),
for which a thread waits.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from dashboard import words
from dashboard.all_held import TIMES, AtWork
from dashboard.background import places
from dashboard.data.reading_threads import GaveWay, Piece, threads
from dpcore.datasets import Fits, Size, stopping
from dpcore.defects import as_defects
from dpcore.errors import DpcoreError, NoRoom, ReadingCancelled, UnreadableFile

Say = Callable[[float, str], None]
TOO_LARGE = "There is not enough memory for this file; keep fewer rows or columns."


def asking(say: Say, part: float, what: str, fits: Fits) -> Fits:
    """As ``fits``, which is asked about each of many steps, and whether to go on: others may wait for the thread, or
    nobody for this any more."""

    def asked(size: Size) -> None:
        say(part, what)
        fits(size)

    return asked


def counting(work: AtWork, fits: Fits) -> Fits:
    """As ``fits``; a table that is made counts meanwhile, with the one before it and what working on them takes.

    It raises NoRoom where the server has none, too."""
    before = 0

    def counted(size: Size) -> None:
        nonlocal before
        fits(size)
        try:
            work.takes(before + size.bytes + TIMES * size.largest)
        except UnreadableFile as error:
            raise NoRoom(str(error)) from None
        before = size.bytes

    return counted


class Task:
    """Runs ``work(say)`` in a thread; ``say(fraction, words)`` reports progress and raises once it was cancelled.

    ``whose`` is the address that it is for. Where another waits it may have to begin anew (``ReadingThreads``).
    After ``finished``, either ``result`` is there, or ``problem`` says in one sentence why not ("" when cancelled).
    """

    def __init__(self, work: Callable[[Say], Any], title: str, whose: str = "") -> None:
        self.title = title
        self._whose = whose
        self.result: Any = None
        self.problem: str | None = None
        self._cancelled, self._done = threading.Event(), threading.Event()
        self._waits: list[Callable[[Say], Any]] = [work]
        self._wait()

    def _wait(self, gave_up: tuple[float, ...] = ()) -> None:
        self.fraction, self.words = 0.0, "Waiting for its turn"
        self._piece = Piece(self._run, self._whose, gave_up)
        threads().submit(self._piece)

    def _say(self, fraction: float, what: str) -> None:
        if self._cancelled.is_set():
            raise ReadingCancelled("Cancelled.")
        threads().goes_on(self._piece)
        self.fraction, self.words = min(max(fraction, 0.0), 1.0), what

    def _again(self) -> None:
        """Between many cells: whether to go on."""
        self._say(self.fraction, self.words)

    def _run(self) -> None:
        work = self._taken()
        if work is None:
            return
        anew = False
        try:
            self._say(0.0, "Starting")
            # what a failure of ours says may hold cells of the file: the log has its place, the person a reference
            with stopping.asking(self._again):
                self.result = as_defects(f"{self.title[:1].lower()}{self.title[1:]}", lambda: work(self._say))
        except GaveWay:
            anew = True
        except ReadingCancelled:
            self.problem = ""
        except DpcoreError as error:
            self.problem = words.sentence(error)
        except MemoryError:
            self.problem = TOO_LARGE
        finally:
            if not anew:
                self._done.set()
        if anew:
            self._begin_anew(work)

    def _begin_anew(self, work: Callable[[Say], Any]) -> None:
        self._waits.append(work)
        self._wait(self._piece.gave_up)
        if self._cancelled.is_set():
            self.cancel()  # which came when there was nothing to take

    def cancel(self) -> None:
        """Stop at the next step; what waits for its turn ends at once, and lets go of what it holds."""
        self._cancelled.set()
        if self._taken() is not None:
            self.problem = ""
            self._done.set()
            threads().withdraw(self._piece)

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
        threads().go_on()
        with places.aside():
            return self._done.wait(seconds)
