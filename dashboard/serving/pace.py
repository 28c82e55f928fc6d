"""How much work a sender may make of a server in a time: what goes beyond it waits, and so does what comes after it."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable
from itertools import islice

EACH = 0.8
"""The share that one address may have (a school behind one has the same) of places, unless EPSILON_LAB_SESSIONS_EACH
says a number, of the room for files and for texts, and of a balancer's connections: there is always some for others."""


def fits(held: Iterable[tuple[str, int]], visitor: str, most: int) -> bool:
    """Whether what is held, each by its address, is at most ``most`` together, and one address has no more than its
    share of it."""
    sizes = tuple(held)
    theirs = sum(size for whose, size in sizes if whose == visitor)
    return theirs <= EACH * most and sum(size for _, size in sizes) <= most


class Pace:
    """``rate`` units of work a second, and what was not made use of in the last ``ahead`` seconds at once. A unit of
    what is sent is ``weight`` units of work at that moment.
    """

    def __init__(self, rate: float, ahead: float, weight: Callable[[], float] = lambda: 1.0) -> None:
        self._rate, self._ahead, self._weight = rate, ahead, weight
        self._until = 0.0
        """When all work that was sent will be done, were it done at this rate."""

    def free_in(self, work: float) -> float:
        """Seconds after which so much ``work`` would not have to wait; below 0 where it has not."""
        now = time.monotonic()
        return max(self._until, now) + work * self._weight() / self._rate - now - self._ahead

    def wait(self, work: float) -> float:
        """Seconds that a sender of so much ``work`` has to wait before anything is made of it."""
        now = time.monotonic()
        self._until = max(self._until, now) + work * self._weight() / self._rate
        return max(0.0, self._until - now - self._ahead)

    @property
    def until(self) -> float:
        """When all work that was sent will be done, were it done at this rate; long ago where none was."""
        return self._until

    @property
    def idle(self) -> bool:
        """Whether all work that was sent would be done by now."""
        return self._until <= time.monotonic()


class Paces:
    """One for each address, of those who did anything just now."""

    def __init__(self, rate: float, ahead: float, weight: Callable[[], float] = lambda: 1.0) -> None:
        self._each = rate, ahead, weight
        self._paces: OrderedDict[str, Pace] = OrderedDict()  # whoever did something longest ago comes first

    def __contains__(self, whose: str) -> bool:
        return whose in self._paces

    def of(self, whose: str) -> Pace:
        """That of an address; two of others that are idle are forgotten for each that is asked for."""
        found = self._paces.pop(whose, None) or Pace(*self._each)
        for known, other in list(islice(self._paces.items(), 2)):
            if other.idle:
                del self._paces[known]
        self._paces[whose] = found
        return found


async def in_turn(work: float, paces: Iterable[Pace]) -> None:
    """Wait for as long as the sender of so much ``work`` is ahead of what one may make."""
    seconds = wait(work, paces)
    if seconds > 0.0:
        await asyncio.sleep(seconds)


def wait(work: float, paces: Iterable[Pace]) -> float:
    """Count so much ``work``; for how many seconds its sender has to wait."""
    return max(pace.wait(work) for pace in paces)
