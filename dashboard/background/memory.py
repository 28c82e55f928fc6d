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

T = TypeVar("T")


class Memory:
    """The latest ``most`` values by key."""

    def __init__(self, most: int) -> None:
        self._most = most
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
        with self._lock:
            self._values[key] = value
            self._values.move_to_end(key)
            while len(self._values) > self._most:
                self._values.popitem(last=False)
        return value

    def forget(self) -> None:
        """Drop everything."""
        with self._lock:
            self._values.clear()

    def __len__(self) -> int:
        return len(self._values)
