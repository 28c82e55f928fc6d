"""Whether somebody who has logged in may bring files, as the gate asks it before anything of a file is taken.

Where the ledger says the roles it is asked, and may wait seconds for a lock: in threads of its own, for in the server's
others the files of pages are read.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from weakref import WeakValueDictionary

from anyio import CapacityLimiter
from anyio.to_thread import run_sync

from dashboard.serving.pace import EACH
from dpcore.ledger.roles import Person

AT_ONCE = 5
"""People who are asked about at once, of whom one address has its share at most."""
KNOWN = 5.0
"""Seconds for which an answer counts; that there was none counts for nobody who asks later. The page that takes a file
over asks anew."""


@dataclass(slots=True, eq=False)
class _Asked:
    """A question about one person, and since when it is asked."""

    answer: asyncio.Task[str] = field(init=False)
    since: float = math.inf

    def counts(self, now: float) -> bool:
        if not self.answer.done():
            return True
        return now < self.since + KNOWN and not self.answer.cancelled() and self.answer.exception() is None


class FileRights:
    """Of all people; one for each server. ``ask`` says why a person may not, in a sentence; "" where they may."""

    def __init__(self, ask: Callable[[Person], str], clock: Callable[[], float] = time.monotonic) -> None:
        self._ask, self._clock = ask, clock
        self._threads = CapacityLimiter(AT_ONCE)
        self._places = WeakValueDictionary[str, asyncio.Semaphore]()  # of addresses from which somebody asks now
        self._asked: dict[Person, _Asked] = {}

    async def why_not(self, person: Person, visitor: str) -> str:
        """What ``ask`` says of a person who comes from this address; it is asked once for all that they send at one
        time. Raises what it raises, and NoThread."""
        now = self._clock()
        asked = self._asked.get(person)
        if asked is None or not asked.counts(now):
            self._asked = {who: one for who, one in self._asked.items() if one.counts(now)}
            asked = self._asked[person] = _Asked()
            asked.answer = asyncio.create_task(self._in_turn(asked, person, visitor))
            asked.answer.add_done_callback(_heard)
        return await asyncio.shield(asked.answer)  # whoever asked first may have gone before it is known

    async def _in_turn(self, asked: _Asked, person: Person, visitor: str) -> str:
        place = self._places.setdefault(visitor, asyncio.Semaphore(int(EACH * AT_ONCE)))
        async with place:
            return await run_sync(self._in_a_thread, asked, person, limiter=self._threads)

    def _in_a_thread(self, asked: _Asked, person: Person) -> str:
        asked.since = self._clock()  # what was taken away before that is known
        return self._ask(person)


def _heard(answer: asyncio.Task[str]) -> None:
    """What was raised is told to whoever waits, who may all have gone: then it is no failure that nobody looked at."""
    if not answer.cancelled():
        answer.exception()
