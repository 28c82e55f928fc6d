"""Work on several parts of a table, two at a time, with a way to stop in between."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from dpcore.datasets.stopping import asking
from dpcore.errors import ReadingCancelled

Given = TypeVar("Given")
Found = TypeVar("Found")
_TICK = 0.2  # seconds


def at_once(work: Callable[[Given], Found], given: list[Given], tick: Callable[[], None]) -> Iterator[Found]:
    """Results in order, two at a time: Arrow and NumPy let other threads run while they look at a part.

    ``tick`` is called every so often while a result is waited for, and may raise: then nothing is waited for any more,
    and what is under way stops where it asks whether to go on (``stopping``).
    """
    if not given:
        return
    left = threading.Event()

    def ask() -> None:
        if left.is_set():
            raise ReadingCancelled("Nobody waits for this any more.")

    def asked(each: Given) -> Found:
        with asking(ask):
            return work(each)

    threads = ThreadPoolExecutor(max_workers=min(2, len(given)), thread_name_prefix="columns")
    try:
        yield from waited([threads.submit(asked, each) for each in given], tick)
    finally:
        left.set()
        threads.shutdown(wait=False, cancel_futures=True)


def waited(begun: Iterable[Future[Found]], tick: Callable[[], None]) -> Iterator[Found]:
    """The results of work that has begun, in order; ``tick`` as for ``at_once``."""
    for future in begun:
        while True:
            try:
                found = future.result(timeout=_TICK)
            except TimeoutError:
                tick()
            else:
                break
        yield found
