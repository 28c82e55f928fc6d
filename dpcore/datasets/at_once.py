"""Work on several parts of a table, two at a time, with a way to stop in between."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

Given = TypeVar("Given")
Found = TypeVar("Found")
_TICK = 0.2  # seconds


def at_once(work: Callable[[Given], Found], given: list[Given], tick: Callable[[], None]) -> Iterator[Found]:
    """Results in order, two at a time: Arrow and NumPy let other threads run while they look at a part.

    ``tick`` is called every so often while a result is waited for, and may raise: then nothing is waited for any more.
    """
    if len(given) <= 1:
        yield from map(work, given)
        return
    threads = ThreadPoolExecutor(max_workers=2, thread_name_prefix="columns")
    try:
        yield from waited([threads.submit(work, each) for each in given], tick)
    finally:
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
