"""What a server makes once and keeps for all: the ledger, the worker processes, jobs, bundled tables.

Not in Streamlit's caches: any visitor can have those dropped by one small message, and a server that made its worker
processes anew each time was brought to its knees by twenty of them.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, ClassVar, Generic, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class Once(Generic[P, T]):
    """A function of names and numbers that is called once for each.

    The latest ``most`` values stay, for ``seconds`` where that is given. Two who ask for the same at once wait for one
    call; who asks for another does not wait. What it raised is not kept, unless ``refused`` says of it for how many
    seconds: until then it is raised anew, and afterwards while one asks again, so that nobody waits in a queue for
    something that does not answer.
    """

    made: ClassVar[list[Once[Any, Any]]] = []

    def __init__(
        self, make: Callable[P, T], most: int, seconds: float | None, refused: Callable[[Exception], float]
    ) -> None:
        self._make, self._most, self._seconds, self._refused = make, most, seconds, refused
        self._raised: dict[Hashable, tuple[Exception, float]] = {}
        self._values: OrderedDict[Hashable, tuple[T, float]] = OrderedDict()
        self._making: dict[Hashable, threading.Lock] = {}
        self._lock = threading.Lock()
        self.__doc__ = make.__doc__
        Once.made.append(self)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> T:
        key: Hashable = (args, tuple(sorted(kwargs.items())))
        with self._lock:
            turn = self._making.setdefault(key, threading.Lock())
        raised = self._raised.get(key)
        if raised is None:
            turn.acquire()
        elif not turn.acquire(blocking=False):
            raise _anew(raised[0])
        try:
            with self._lock:
                kept = self._values.get(key)
                if kept is not None and (self._seconds is None or time.monotonic() < kept[1] + self._seconds):
                    self._values.move_to_end(key)
                    return kept[0]
            raised = self._raised.get(key)
            if raised is not None and time.monotonic() < raised[1]:
                raise _anew(raised[0])
            found = self._made(key, *args, **kwargs)
            with self._lock:
                self._values[key] = (found, time.monotonic())
                self._values.move_to_end(key)
                while len(self._values) > self._most:
                    oldest, _ = self._values.popitem(last=False)
                    self._making.pop(oldest, None)
        finally:
            turn.release()
            with self._lock:
                if key not in self._values and key not in self._raised:
                    self._making.pop(key, None)  # whoever asks for what there is not leaves nothing behind
        return found

    def _made(self, key: Hashable, *args: P.args, **kwargs: P.kwargs) -> T:
        try:
            found = self._make(*args, **kwargs)
        except Exception as error:
            seconds = self._refused(error)
            if seconds > 0.0:
                self._raised[key] = (error, time.monotonic() + seconds)
            else:
                self._raised.pop(key, None)
            raise
        self._raised.pop(key, None)
        return found

    def clear(self) -> list[T]:
        """Forget all, so that the next call makes it anew; what was kept."""
        with self._lock:
            kept = [found for found, _ in self._values.values()]
            self._values.clear()
            self._raised.clear()
        return kept


def _anew(error: Exception) -> Exception:
    """What was raised, for somebody else: one that is raised twice collects the places of both."""
    return type(error)(*error.args)


def once(
    *, most: int = 1, seconds: float | None = None, refused: Callable[[Exception], float] = lambda error: 0.0
) -> Callable[[Callable[P, T]], Once[P, T]]:
    """See ``Once``."""
    return lambda make: Once(make, most, seconds, refused)


def forget_all() -> None:
    """As a server that has just begun; for tests, each of which is one."""
    for kept in Once.made:
        kept.clear()
