"""What has been computed, kept for a while by its key.

There is one memory for everybody, for what is made from samples, and one in each session, for what is made from a
person's own data: that one goes with the file and with the session. A key holds everything a value depends on, the
fingerprint of the data first; never a frame or an array. Values are given out as they are and changed by nobody.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

from dashboard.background.weight import weight

T = TypeVar("T")


class Memory:
    """The latest ``most`` values by key, and of them as many as ``room`` bytes hold, where there is such a bound.

    A value that is larger than the room is made anew each time.
    """

    def __init__(self, most: int, *, room: int | None = None) -> None:
        self._most, self.room = most, room
        self._bytes: dict[Hashable, int] = {}
        self._values: OrderedDict[Hashable, Any] = OrderedDict()
        self._lock = threading.Lock()

    def __call__(self, key: tuple[Hashable, ...], make: Callable[[], T]) -> T:
        """The value of ``key``, made now if it is not there. Two who ask at once may both make it."""
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
                kept: T = self._values[key]
                return kept
        value = make()
        size = 0 if self.room is None else weight(value)
        if self.room is not None and size > self.room:
            return value
        with self._lock:
            self._values[key], self._bytes[key] = value, size
            self._values.move_to_end(key)
            while len(self._values) > self._most or (self.room is not None and self.bytes > self.room):
                gone, _ = self._values.popitem(last=False)
                del self._bytes[gone]
        return value

    @property
    def bytes(self) -> int:
        """Bytes of the values that are kept; 0 where nothing bounds them."""
        return sum(self._bytes.values())

    def forget(self) -> None:
        """Drop everything."""
        with self._lock:
            self._values.clear()
            self._bytes.clear()

    def __len__(self) -> int:
        return len(self._values)
