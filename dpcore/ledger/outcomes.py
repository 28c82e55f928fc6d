"""What files that somebody brought seemed to be like, in memory: the same file again is not gone through again."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping

MOST = 100_000
"""Outcomes that are kept, of all files together; the file that was asked about longest ago goes first."""


class Outcomes:
    """By the keyed mark of a file, and then by that of each known file, whether it seems to be about its people. Safe
    to share between threads."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._of: OrderedDict[str, dict[str, bool]] = OrderedDict()
        self._held = 0
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return self._held

    def of(self, file: str) -> Mapping[str, bool]:
        """What is known of this file."""
        with self._lock:
            if file in self._of:
                self._of.move_to_end(file)
            return dict(self._of.get(file, {}))

    def note(self, file: str, found: Mapping[str, bool]) -> None:
        """Keep what was found of this file beside what is known of it."""
        with self._lock:
            known = self._of.setdefault(file, {})
            self._of.move_to_end(file)
            self._held -= len(known)
            known.update(found)
            self._held += len(known)
            while self._held > self._most:
                _, gone = self._of.popitem(last=False)
                self._held -= len(gone)
