"""What simulations are lent, of all jobs together: so many bytes at most, and whose address has most gives way.

A job lays what its slices need for the workers when it begins, though it may wait for its turn, and whoever opens pages
without end begins without end. So where a new one finds no room, the oldest stops of the address that would have most
with it. Its page says so, and goes on where it stopped.
"""

from __future__ import annotations

import threading
import weakref
from collections import Counter
from collections.abc import Callable
from typing import Protocol

from dashboard import machine_memory
from dashboard.words import page as said
from dpcore.errors import NoRoom


class Stops(Protocol):
    """A job, as far as it can give way."""

    def crowd_out(self) -> None: ...


class Share:
    """What one job has of the room, until it is given back."""

    def __init__(self, size: int, whose: str) -> None:
        self.size, self.whose = size, whose
        self._job: weakref.ref[Stops] | None = None

    def of(self, job: Stops) -> None:
        """The job that stops where others need the room."""
        self._job = weakref.ref(job)

    def stop(self) -> None:
        job = None if self._job is None else self._job()
        if job is not None:
            job.crowd_out()


class Lent:
    """``most()`` bytes for all jobs. Thread-safe."""

    def __init__(self, most: Callable[[], int]) -> None:
        self._most = most
        self._shares: list[Share] = []  # the oldest first
        self._lock = threading.Lock()

    @property
    def bytes(self) -> int:
        with self._lock:
            return sum(share.size for share in self._shares)

    def held(self, whose: str) -> int:
        """Bytes of one address."""
        with self._lock:
            return sum(share.size for share in self._shares if share.whose == whose)

    def take(self, size: int, whose: str) -> Share:
        """Room for a job of somebody's. Others may stop for it. Raises NoRoom where none should."""
        with self._lock:
            there = list(self._shares)
            gone: list[Share] = []
            while sum(share.size for share in there) + size > self._most():
                has = Counter({whose: size})
                for share in there:
                    has[share.whose] += share.size
                most = max(has, key=has.__getitem__)
                oldest = next((share for share in there if share.whose == most), None)
                if oldest is None:
                    raise NoRoom(said.NO_ROOM_TO_SIMULATE)
                there.remove(oldest)
                gone.append(oldest)
            found = Share(size, whose)
            self._shares = [*there, found]
        for share in gone:  # what they have in hand goes on for some seconds
            share.stop()
        return found

    def give_back(self, share: Share) -> None:
        with self._lock:
            if share in self._shares:
                self._shares.remove(share)


LENT = Lent(machine_memory.for_simulations)
"""What the workers are lent, of all jobs."""
