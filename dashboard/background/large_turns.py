"""Turns to work on something large, such as a file of a million rows or what is made of one.

What such work takes beside what stays is counted nowhere: some hundred bytes a row (``tests/questions/test_large.py``).
So ``AT_ONCE`` of all pages do it at the same time, and of one address one page, and one answer beside it: of people who
come through one address nobody waits for another's answer to look at a page. The next turn is one of the address that
had least of their time, pages and answers each by themselves, where whoever comes begins with as much as the latest who
had one, and who waits is never further behind than ``BEHIND``: many pages wait where somebody opens many, and some for
long. Of one address no more than ``WAITING`` pages wait, and as many answers, each a thread; whoever leaves meanwhile
waits no longer.

One that hangs (``hangs``) is not counted any more, so that nobody waits for ever for it; but one that lasts is, as an
answer does, which ends, if only after minutes. Of these there is one at a time, so that a turn is left for whoever
looks at a page.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable

from dashboard.background.hangs import LOOKED, Life
from dashboard.words import page as said
from dpcore.errors import NoRoom

AT_ONCE, WAITING = 2, 4
BEHIND = 30.0
"""Seconds by which an address that waits is behind the others at most."""


def patiently(called: threading.Event, look: Callable[[], object]) -> bool:
    """Wait until one is called, with a look now and then; True, as whoever waits wants it still."""
    while not called.wait(LOOKED):
        look()
    return True


class Turn:
    """One page's, ``among`` those of its kind, in the thread that makes it; ``begun`` is when it got it, and one that
    ``lasts`` is counted however long it takes."""

    __slots__ = ("among", "begun", "called", "lasts", "life", "whose")

    def __init__(self, whose: str, among: LargeTurns, *, lasts: bool) -> None:
        self.whose, self.among, self.lasts = whose, among, lasts
        self.begun: float | None = None
        self.called = threading.Event()
        self.life = Life()
        self.life.here()

    @property
    def who(self) -> tuple[str, bool]:
        """Whose time it takes, for pages or for answers."""
        return self.whose, self.lasts


class LargeTurns:
    """Who has one and who waits; from any thread."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._running: list[Turn] = []
        self._waiting: list[Turn] = []
        # seconds that an address had for pages, and for answers, where what it let pass counts as had
        self._used: dict[tuple[str, bool], float] = {}
        self._now = {False: 0.0, True: 0.0}  # what the latest who got a turn of a kind had had before

    def take(
        self, whose: str, *, lasts: bool = False, most: float = WAITING, waits: Callable[..., bool] = patiently
    ) -> Turn:
        """Wait for a turn of an address, as ``waits`` does. Raises NoRoom where ``most`` of it wait already, or
        where it is not wanted any more."""
        turn = Turn(whose, self, lasts=lasts)
        with self._lock:
            if sum((one.whose, one.lasts) == (whose, lasts) for one in self._waiting) >= most:
                raise NoRoom(said.LARGE_WAITING)
            if not any(one.who == turn.who for one in (*self._waiting, *self._running)):
                self._used[turn.who] = max(self._used.get(turn.who, 0.0), self._now[lasts])
            self._waiting.append(turn)
            self._call()
        if not waits(turn.called, self._look):
            self.give_back(turn)
            raise NoRoom(said.STOPPED_BEFORE if lasts else said.STOPPED)
        return turn

    def _look(self) -> None:
        with self._lock:  # what hangs is counted no more
            self._call()

    def give_back(self, turn: Turn) -> None:
        """It is over, or was not waited for."""
        with self._lock:
            if turn in self._waiting:
                self._waiting.remove(turn)
            else:
                self._running.remove(turn)
                self._used[turn.who] += self._clock() - (turn.begun or 0.0)
            self._call()
            here = {one.who for one in (*self._waiting, *self._running)}
            self._used = {who: used for who, used in self._used.items() if who in here or used > self._now[who[1]]}

    def _call(self) -> None:
        """Give those who wait what there is."""
        while (turn := self._next()) is not None:
            self._waiting.remove(turn)
            turn.begun = turn.life.since = self._clock()
            used = self._used[turn.who] = self._counted(turn)
            self._now[turn.lasts] = max(self._now[turn.lasts], used)
            self._running.append(turn)
            turn.called.set()

    def _next(self) -> Turn | None:
        now = self._clock()
        counted = [one for one in self._running if one.lasts or not one.life.hangs(now)]
        have, one_lasts = {one.whose for one in counted if not one.lasts}, any(one.lasts for one in counted)
        may = [one for one in self._waiting if not (one_lasts if one.lasts else one.whose in have)]
        if len(counted) >= AT_ONCE or not may:
            return None
        return min(may, key=self._counted)  # the first of those of one address

    def _counted(self, turn: Turn) -> float:
        """What its address had: one that has waited for long comes before others once, and not again and again."""
        return max(self._used[turn.who], self._now[turn.lasts] - BEHIND)


OWN, LITTLE = LargeTurns(), LargeTurns()
"""For large data of people's own, and for what is made of samples and small files: whoever looks at these waits for
nobody's large file."""
_HERE = threading.local()


def has() -> bool:
    """Whether this thread has a turn."""
    return getattr(_HERE, "turn", None) is not None


def take(whose: str, among: LargeTurns, *, lasts: bool = False, waits: Callable[..., bool] = patiently) -> None:
    """Wait for a turn for this thread, which has none. Raises NoRoom."""
    _HERE.turn = among.take(whose, lasts=lasts, waits=waits)


def take_again(turn: Turn) -> None:
    """Wait for one like that which this thread gave back, however many wait."""
    _HERE.turn = turn.among.take(turn.whose, lasts=turn.lasts, most=math.inf)


def give_back() -> Turn | None:
    """Give back this thread's turn, which it was; None where it has none."""
    turn: Turn | None = getattr(_HERE, "turn", None)
    if turn is not None:
        _HERE.turn = None
        turn.among.give_back(turn)
    return turn
