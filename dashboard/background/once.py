"""What a server makes once and keeps for all: the worker processes, jobs, bundled tables, what opens the ledger.

Not in Streamlit's caches: any visitor can have those dropped by one small message, and a server that made its worker
processes anew each time was brought to its knees by twenty of them.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import CancelledError, Future
from typing import Any, ClassVar, Generic, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class Once(Generic[P, T]):
    """A function of names and numbers that is called once for each.

    The latest ``most`` values stay, for ``seconds`` where that is given. Who asks for what is being made waits for that
    one call, and has what it returned or raised: else each of many would wait for all that fail before. Who asks for
    another does not wait. What was raised is not kept: who asks afterwards calls anew.
    """

    made: ClassVar[list[Once[Any, Any]]] = []

    def __init__(self, make: Callable[P, T], most: int, seconds: float | None) -> None:
        self._make, self._most, self._seconds = make, most, seconds
        self._values: OrderedDict[Hashable, tuple[T, float]] = OrderedDict()
        self._making: dict[Hashable, Future[T]] = {}
        self._lock = threading.Lock()
        self.__doc__ = make.__doc__
        Once.made.append(self)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> T:
        key: Hashable = (args, tuple(sorted(kwargs.items())))
        while True:
            with self._lock:
                kept = self._values.get(key)
                if kept is not None and (self._seconds is None or time.monotonic() < kept[1] + self._seconds):
                    self._values.move_to_end(key)
                    return kept[0]
                another = self._making.get(key)
                if another is None:
                    mine = self._making[key] = Future()
            if another is None:
                return self._made(key, mine, *args, **kwargs)
            try:
                return outcome(another)
            except CancelledError:
                continue  # whoever made it was stopped, which is nothing that was found

    def _made(self, key: Hashable, mine: Future[T], *args: P.args, **kwargs: P.kwargs) -> T:
        try:
            found = self._make(*args, **kwargs)
        except BaseException as error:
            with self._lock:
                self._is_over(key, mine)
            if isinstance(error, Exception):
                mine.set_exception(error)
            else:
                mine.cancel()
            raise
        with self._lock:
            if self._is_over(key, mine):
                self._values[key] = (found, time.monotonic())
                self._values.move_to_end(key)
                while len(self._values) > self._most:
                    self._values.popitem(last=False)
        mine.set_result(found)
        return found

    def _is_over(self, key: Hashable, mine: Future[T]) -> bool:
        """Nobody waits for this call any more; False where it was forgotten meanwhile."""
        if self._making.get(key) is not mine:
            return False
        del self._making[key]
        return True

    def clear(self) -> None:
        """Forget all, so that the next call makes it anew, also what is being made."""
        with self._lock:
            self._values.clear()
            self._making.clear()


def outcome(call: Future[T]) -> T:
    """What somebody else's call returned, or what it raised, once it is over; CancelledError where it found neither."""
    raised = call.exception()
    if raised is not None:
        raise anew(raised)
    return call.result()


def anew(error: BaseException) -> BaseException:
    """What was raised, for somebody else: one that is raised twice collects the places of both, and what is held there.
    It is not made by its kind, which may be told other things than it keeps."""
    found = type(error).__new__(type(error), *error.args)
    found.args = error.args
    vars(found).update(vars(error))
    return found.with_traceback(error.__traceback__)


def once(*, most: int = 1, seconds: float | None = None) -> Callable[[Callable[P, T]], Once[P, T]]:
    """See ``Once``."""
    return lambda make: Once(make, most, seconds)


def forget_all() -> None:
    """As a server that has just begun; for tests, each of which is one."""
    for kept in Once.made:
        kept.clear()
