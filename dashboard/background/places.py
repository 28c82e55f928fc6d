"""How many scripts run at once, and whose is next.

Python runs one thread at a time, and whoever else wants to go on waits a moment behind each thread that computes: the
loop that answers everybody (a balancer's question whether the server is well among them) does so at every step. With
some ten threads nobody notices; with four hundred, one for each of as many small messages, nothing was answered for a
minute and a half. So a script begins only where there is a place:

- at most ``MOST`` compute at once, those of pages that were closed among them, until their threads have ended;
- one address has ``EACH`` of the places, and as many as it has stay free for others: so five that want all they get
  leave one for whoever comes; of those who wait the address with the fewest comes first, then the one whose turn was
  longest ago: whoever asks for much waits for themselves; so it is with the pages of one address, or a click would wait
  for one run of each page there that asks for them without end;
- a page has one script at a time: its next one begins when the former has come to its end;
- a script that waits itself, for a simulation, the disk or the tick of an answer, steps ``aside`` meanwhile, so that a
  few who wait for seconds keep nobody from a place; so do at most ``ASIDE`` of them, ``ASIDE_EACH`` of one address;
- so does one that is ``drawing`` an answer: most take a moment, and the few that take half a minute would keep all
  pages of a school's address waiting that long. Answers have places of their own, as many and by the same rules, and
  who waits for one waits before anything is charged. It is free again when the answer is there, on a tick: nobody who
  waits for it sees any closer how long another's took. So have those that are counted in a source, each source its own
  (``COUNTS``), and one ``person`` one of them at a time: nobody waits for the slow database of another source, nor
  because a colleague wants much of the same;
- of those that work on something ``large`` few do so at once (``large_turns``); some others wait, aside as well;
- whoever presses Stop, or leaves, waits for none of these any longer, and nothing of theirs is begun;
- one that hangs (``hangs``) is not counted any more, so that nobody waits for ever for it; one that computes is,
  however long that takes: otherwise the more compute, the more would begin. So is one that ``lasts``, for which a
  database computes: it takes no processor here, and ends by itself within that time (``LONGEST_COUNT``);
- one for which the system gives no thread just then waits as before, and so does who comes behind it.

Who waits is an entry of a dictionary, and nothing looks after it until a place is free: no thread, no task, no timer.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from dashboard.background import large_turns, speed, turns
from dashboard.background.hangs import Life
from dashboard.background.large_turns import LargeTurns
from dashboard.words import page as said
from dpcore.errors import NoRoom
from dpcore.threads import NoThread

MOST, EACH = 6, 3
"""Scripts that compute at once, and those of one address: more make each of them slower, and all together no faster.
As many answers are drawn beside them."""
ASIDE, ASIDE_EACH = 16, 8
"""Scripts that wait for something else, beside those; each of them computes for a moment when it comes back."""
IN_LINE, IN_LINE_OF_ONE = 100, 3
"""Answers of one address that wait to be drawn, each a thread: a lecture hall's, at one click. Of one person that many
wait for a source."""
LONGEST_COUNT = 3700.0
"""Seconds that a statement of a source may take (``dpcore.datasets.in_place.watched``), and some more. What takes
longer hangs, as on a disk that says nothing, which no program can give up."""
HEAVIEST = 100.0
"""What a run of an address counts at most, in usual ones: nearly three seconds of processor."""
_LATEST = 0.1
"""How much the latest run of an address counts among all of its own."""


class Visitor:
    """Who counts as one by their address, and how long their runs take of late."""

    __slots__ = ("_seconds", "address")

    def __init__(self, address: str) -> None:
        self.address = address
        self._seconds: float | None = None

    def took(self, seconds: float) -> None:
        """A run of theirs has taken so much of the processor."""
        self._seconds = seconds if self._seconds is None else self._seconds + _LATEST * (seconds - self._seconds)

    def weight(self) -> float:
        """What a run of theirs counts, in usual ones: by their own, so that nobody's costly ones count for others."""
        return speed.weight() if self._seconds is None else min(max(self._seconds / turns.USUAL, 0.1), HEAVIEST)


class Had:
    """When a page had its last turn, by the number of turns, for as long as it is open: until that was over."""

    __slots__ = ("turn",)

    def __init__(self) -> None:
        self.turn: int | None = None


@dataclass(slots=True, eq=False)
class Script:
    """One script that wants to begin. ``page`` is whatever has one at a time; ``begin`` is called soon, and once more
    where it raised NoThread."""

    visitor: Visitor
    page: Any
    begin: Callable[[], None] | None
    requests: Any = None
    """What is asked of it; for ``dashboard.runtime.scripts``."""
    lasts: float = 0.0
    """Seconds for which it is counted though it takes no processor: another program works for it."""
    had: Had = field(default_factory=Had)
    """When its page had a turn; one that had none yet, or of which it is not told, comes behind all that wait then."""
    person: str = ""
    """Of whom one runs at a time, from whatever address and on whatever page; "" where as many may."""
    ran: bool = field(default=False, init=False)
    measured: float | None = field(default=None, init=False)
    life: Life = field(default_factory=Life, init=False)
    stopped: bool = field(default=False, init=False)
    """Whether somebody pressed Stop, or left: what it waits for is not to be begun any more."""
    aside: bool = field(default=False, init=False)
    in_line: bool = field(default=False, init=False)
    """Whether it waits for a turn with something large, of which few of an address may wait."""
    before: tuple[int | None, int | None] = field(default=(None, None), init=False)
    """When its page, and its address, had a turn before this one."""
    _called: threading.Event | None = field(default=None, init=False)

    def stop(self) -> None:
        """Somebody pressed Stop, or left; what its thread waits for is told at once."""
        self.stopped, called = True, self._called
        if called is not None:
            called.set()

    def waits(self, called: threading.Event, look: Callable[[], object]) -> bool:
        """In its thread: wait until it is called, with a look now and then; whether it is wanted still."""
        self._called = called
        try:
            return not self.stopped and large_turns.patiently(called, look) and not self.stopped
        finally:
            self._called = None

    def runs(self, *, whole: bool) -> None:
        """A run begins, in its thread; a whole page's is measured, as a part counts less."""
        self.ran, self.measured = True, time.thread_time() if whole else None

    def over(self) -> None:
        """The run is over."""
        if self.measured is not None:
            self.visitor.took(time.thread_time() - self.measured)
            self.measured = None


class Places:
    """Who runs and who waits; from any thread."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._waiting: dict[str, dict[Any, Script]] = {}  # by address, then by page, in the order in which they came
        self._alive: set[Script] = set()
        self._beginning = 0  # of those, the ones that may have to wait again
        self._turns: dict[str, int] = {}  # which turn was an address's last, of those that wait or run
        self._turn = 0

    @property
    def anybody_waits(self) -> bool:
        return bool(self._waiting or self._beginning)

    def wait(self, script: Script) -> None:
        """Have it begin when there is a place. It takes the turn of another one of its page that waits."""
        with self._lock:
            if script.had.turn is None:
                script.had.turn = self._turn
            self._waiting.setdefault(script.visitor.address, {})[script.page] = script
        self.fill()

    def in_line(self, address: str) -> int:
        """How many of an address wait."""
        with self._lock:
            return len(self._waiting.get(address, {}))

    def in_line_of(self, person: str) -> int:
        """How many of a person wait."""
        with self._lock:
            return sum(one.person == person for here in self._waiting.values() for one in here.values())

    def withdraw(self, script: Script) -> bool:
        """Forget one that waits; whether it did."""
        with self._lock:
            return self._taken(script)

    def ended(self, script: Script) -> None:
        """Its thread is over."""
        with self._lock:
            self._alive.discard(script)
            script.had.turn = self._turn
        self.fill()

    def stop(self, page: Any) -> None:
        """Nothing is begun any more for which scripts of this page wait."""
        with self._lock:
            for script in self._alive:
                if script.page is page:
                    script.stop()

    def step_aside(self, script: Script, *, in_line: bool = False) -> bool:
        """It waits for something: others may compute meanwhile. False where too many do so: it keeps its place; but not
        where it waits ``in_line``."""
        with self._lock:
            waiting = [one for one in self._counted() if one.aside and not one.in_line]
            mine = sum(one.visitor.address == script.visitor.address for one in waiting)
            too_many = not in_line and (len(waiting) >= ASIDE or mine >= ASIDE_EACH)
            if script not in self._alive or too_many:
                return False
            script.in_line = script.in_line or in_line
            if script.aside:
                return False
            script.aside = True
        self.fill()
        return True

    def come_back(self, script: Script) -> None:
        """It goes on at once: it has begun, and others wait until there are fewer again."""
        with self._lock:
            script.aside = script.in_line = False
            script.life.since = self._clock()  # what waited does not hang

    def fill(self) -> None:
        """Have those begin for whom there is a place, and a thread."""
        while True:
            with self._lock:
                script = self._next()
                if script is None or script.begin is None:
                    return
                self._beginning += 1
            try:
                script.begin()
            except NoThread:
                self._wait_again(script)
                return
            with self._lock:
                self._beginning -= 1

    def _wait_again(self, script: Script) -> None:
        """It comes first, as before; where another one of its page waits by now, that one does."""
        address = script.visitor.address
        with self._lock:
            self._beginning -= 1
            self._alive.discard(script)
            here = {script.page: script, **self._waiting.pop(address, {})}
            self._waiting = {address: here, **self._waiting}
            script.had.turn, turn = script.before
            self._turns[address] = turn or 0

    def _counted(self) -> list[Script]:
        now = self._clock()
        return [one for one in self._alive if now - one.life.since < one.lasts or not one.life.hangs(now)]

    def _next(self) -> Script | None:
        """The script that begins now, if there is one; it runs from here on."""
        counted = self._counted()
        running = Counter(one.visitor.address for one in counted if not one.aside)
        busy, persons = {one.page for one in counted}, {one.person for one in counted} - {""}
        for address in sorted(self._waiting, key=lambda one: (running[one], self._turns.get(one, 0))):
            if running[address] >= EACH or running.total() >= MOST - running[address]:
                return None  # nor do those who have as many or more
            for page, script in sorted(self._waiting[address].items(), key=lambda one: one[1].had.turn or 0):
                if page not in busy and script.person not in persons:
                    self._taken(script)
                    self._turn += 1
                    script.before = script.had.turn, self._turns.get(address)
                    self._turns[address] = script.had.turn = self._turn
                    self._alive.add(script)
                    script.life.since = self._clock()
                    return script
        return None

    def _taken(self, script: Script) -> bool:
        address = script.visitor.address
        here = self._waiting.get(address, {})
        if here.get(script.page) is not script:
            return False
        del here[script.page]
        if not here:
            del self._waiting[address]
            known = {*self._waiting, address, *(one.visitor.address for one in self._alive)}
            self._turns = {who: turn for who, turn in self._turns.items() if who in known}
        return True


PLACES, ANSWERS = Places(), Places()
"""Of scripts, and of those among them that draw an answer."""
COUNTS: dict[str, Places] = {}
"""Of those that have it counted in a source, by that; there are as many as this server has."""
_HERE = threading.local()


def here() -> Script | None:
    """The script that this thread runs."""
    return getattr(_HERE, "script", None)


def enter(script: Script | None) -> None:
    """This thread runs a script from now on, until it ends, or none."""
    _HERE.script = script
    if script is not None:
        script.life.here()


@contextmanager
def aside(*, working: bool = False, in_line: bool = False) -> Iterator[None]:
    """Around what a script waits for without computing; ``working`` where it does something large as well, so that its
    turn for that stays its own; ``in_line`` where it waits for such a turn."""
    script = here()
    stepped = script is not None and PLACES.step_aside(script, in_line=in_line)
    if stepped:
        turns.give_back()
    turn = None if working else large_turns.give_back()
    try:
        yield
    finally:
        if turn is not None:
            if script is not None:
                stepped = PLACES.step_aside(script, in_line=True) or stepped
            large_turns.take_again(turn)
        if stepped and script is not None:
            PLACES.come_back(script)


@contextmanager
def drawing(source: str = "", person: str = "") -> Iterator[None]:
    """Around an answer that is drawn, with its tick: a place for it, and none among pages meanwhile; among those of a
    ``source``, by its people, where that counts it for a ``person``. One that has a turn with something large needs no
    other. Raises NoRoom, before anything was drawn or charged."""
    script = here()
    if script is None or large_turns.has():
        with aside(working=True):
            if script is not None and script.stopped:
                raise NoRoom(said.STOPPED_BEFORE)
            yield
        return
    among = COUNTS.setdefault(source, Places()) if source else ANSWERS
    if source and among.in_line_of(person) >= IN_LINE_OF_ONE:
        raise NoRoom(said.COUNTS_OF_ONE_WAITING)
    if among.in_line(script.visitor.address) >= IN_LINE:
        raise NoRoom(said.COUNTS_WAITING if source else said.ANSWERS_WAITING)
    called = threading.Event()
    # of a page that is none: that of the script may wait for another one by then
    mine = Script(
        script.visitor, object(), called.set, lasts=LONGEST_COUNT if source else 0.0, person=person if source else ""
    )
    mine.life.here()
    with aside(working=True, in_line=True):
        among.wait(mine)
        try:
            if not script.waits(called, among.fill):  # what hangs is counted no more
                raise NoRoom(said.STOPPED_BEFORE)
            yield
        finally:
            if not among.withdraw(mine):
                among.ended(mine)


@contextmanager
def large(whose: str, among: LargeTurns | None = None, *, lasts: bool = False) -> Iterator[None]:
    """Around work on something large for an address: a turn for it (``large_turns``), which what is done for it on the
    way has too; ``lasts`` where it ends by itself, however long that takes. Raises NoRoom, also where somebody pressed
    Stop, or left, before there was one."""
    if large_turns.has():
        yield
        return
    script = here()
    waits = large_turns.patiently if script is None else script.waits
    with aside(in_line=True):
        large_turns.take(whose, among or large_turns.OWN, lasts=lasts, waits=waits)
    try:
        yield
    finally:
        large_turns.give_back()
