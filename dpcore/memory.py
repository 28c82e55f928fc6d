"""What has been computed, kept for a while by its key, within a number of bytes.

A server has one for everybody, for what is made from samples, and one in each session, for what is made from a
person's own data: that one goes with the file and with the session. A key holds everything a value depends on, the
fingerprint of the data first; never a frame or an array. Values are given out as they are and changed by nobody.

A number of values alone bounds nothing: who chooses what is asked chooses how large a value is.
"""

from __future__ import annotations

import heapq
import itertools
import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from dpcore.weight import CountsItself, weight

T = TypeVar("T")


class Holds(Protocol):
    """What takes some of a ``Room``: how many bytes, when its oldest value was used, and letting go of that."""

    bytes: int

    @property
    def oldest(self) -> float: ...

    def drop_oldest(self) -> int: ...


class Room(CountsItself):
    """Bytes that several memories hold together at most: where they are full, the oldest value of all goes first.

    ``most`` is asked for when it is needed. A memory that nobody holds any more takes no room.
    """

    def __init__(self, most: Callable[[], int]) -> None:
        self.most = most
        self.lock = threading.RLock()
        self._clock = itertools.count()
        self._memories: weakref.WeakSet[Holds] = weakref.WeakSet()
        self._held = 0  # at least what they hold: those that are gone are not taken off at once

    def enter(self, memory: Holds) -> None:
        with self.lock:
            self._memories.add(memory)

    def now(self) -> int:
        """Later than ever before."""
        return next(self._clock)

    @property
    def bytes(self) -> int:
        """Bytes that all hold."""
        with self.lock:
            return sum(memory.bytes for memory in self._memories)

    def grown(self, size: int) -> None:
        """One of them took ``size`` bytes more; others let go until all fit."""
        with self.lock:
            self._held += size
            if self._held <= self.most():
                return
            self._held, most = self.bytes, self.most()
            memories = list(self._memories)
            order = [(memory.oldest, place) for place, memory in enumerate(memories)]
            heapq.heapify(order)  # everybody waits meanwhile, and thousands may have to go for one large one
            while self._held > most:
                memory = memories[order[0][1]]
                self._held -= memory.drop_oldest()
                heapq.heapreplace(order, (memory.oldest, order[0][1]))


@dataclass(slots=True)
class _Kept:
    value: Any
    size: int
    used: int


class Memory(CountsItself):
    """The latest ``most`` values by key, and of them as many as ``room`` bytes hold, with their keys.

    Of several memories ``within`` one room all together fit into it. A value that is larger than the room is made anew
    each time.
    """

    def __init__(self, most: int, *, room: int, within: Room | None = None) -> None:
        self._most, self.room = most, room
        self._within = within or Room(lambda: room)
        self._values: OrderedDict[Hashable, _Kept] = OrderedDict()
        self.bytes = 0
        self._within.enter(self)

    def __call__(self, key: tuple[Hashable, ...], make: Callable[[], T]) -> T:
        """The value of ``key``, made now if it is not there. Two who ask at once may both make it."""
        kept = self._get(key)
        if kept is not None:
            found: T = kept.value
            return found
        value = make()
        self.put(key, value)
        return value

    def get(self, key: Hashable) -> Any:
        """The value of ``key``; None where there is none."""
        kept = self._get(key)
        return None if kept is None else kept.value

    def _get(self, key: Hashable) -> _Kept | None:
        with self._within.lock:
            kept = self._values.get(key)
            if kept is not None:
                self._values.move_to_end(key)
                kept.used = self._within.now()
            return kept

    def put(self, key: Hashable, value: Any) -> None:
        """Keep ``value``, instead of what is kept of ``key``, where it fits."""
        size = weight((key, value))
        with self._within.lock:
            if key in self._values:
                self._drop(key)
            if size > min(self.room, self._within.most()):
                return
            self._values[key] = _Kept(value, size, self._within.now())
            self.bytes += size
            while len(self._values) > self._most or self.bytes > self.room:
                self.drop_oldest()
            self._within.grown(size)

    @property
    def oldest(self) -> float:
        """When the value was used that goes first; never where there is none."""
        return next(iter(self._values.values())).used if self._values else float("inf")

    def drop_oldest(self) -> int:
        """Bytes that are free now."""
        with self._within.lock:
            return self._drop(next(iter(self._values)))

    def _drop(self, key: Hashable) -> int:
        size = self._values.pop(key).size
        self.bytes -= size
        return size

    def drop(self, key: Hashable) -> None:
        """Forget what is kept of ``key``, where there is something."""
        with self._within.lock:
            if key in self._values:
                self._drop(key)

    def forget(self) -> None:
        """Drop everything."""
        with self._within.lock:
            self._values.clear()
            self.bytes = 0

    def __len__(self) -> int:
        return len(self._values)
