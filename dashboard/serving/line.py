"""Whose turn it is of those that share a pace: of all who wait, whoever had theirs longest ago.

In the order in which they came, a click waited behind one message of each page of its address, of those that ask for
runs without end as well, and these were back in the line as soon as each had its turn.
"""

from __future__ import annotations

from asyncio import Event, sleep

from dashboard.serving.pace import Pace

_AT_ONCE = 1e-6
"""Seconds that are nothing to wait for: what is left of a wait by rounding."""


class Line:
    """Those that share a ``pace``; on one loop."""

    def __init__(self, pace: Pace) -> None:
        self.pace = pace
        self._turn = 0
        self._waiting: dict[Place, Event] = {}

    @property
    def idle(self) -> bool:
        """Whether nobody waits, and all that was let through would be done by now."""
        return not self._waiting and self.pace.idle

    def place(self, own: Pace) -> Place:
        """For one more of them, with a pace of its ``own``. Who is new is behind all that wait now."""
        return Place(self, own, self._turn)

    async def wait(self, place: Place, work: float) -> None:
        """Until it is the turn of this one and there is time for so much ``work``."""
        called = self._waiting[place] = Event()
        try:
            while True:
                seconds = self.pace.free_in(work)
                if self._first() is not place:
                    called.clear()
                    await called.wait()
                elif seconds > _AT_ONCE:
                    await sleep(seconds)
                else:
                    break
            self._turn += 1
            place.had = self._turn
            self.pace.wait(work)
        finally:
            del self._waiting[place]
            if self._waiting:
                self._waiting[self._first()].set()

    def _first(self) -> Place:
        return min(self._waiting, key=lambda one: one.had)

    @property
    def waits(self) -> bool:
        """Whether somebody does."""
        return bool(self._waiting)


class Place:
    """One of a line: with one message at a time, at a pace of its own, too. ``had`` is which turn was its last."""

    __slots__ = ("_line", "_own", "had")

    def __init__(self, line: Line, own: Pace, had: int) -> None:
        self._line, self._own, self.had = line, own, had

    @property
    def behind(self) -> bool:
        """Whether what it would send now had to wait."""
        return self._line.waits or max(self._own.free_in(0.0), self._line.pace.free_in(0.0)) > 0.0

    async def turn(self, work: float) -> None:
        """Wait for it."""
        seconds = self._own.wait(work)
        if seconds > 0.0:
            await sleep(seconds)
        await self._line.wait(self, work)
