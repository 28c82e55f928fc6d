"""What follows from data and choices is not worked out again while both are what they were.

A question is asked in every run of its page, and most runs change nothing of it: a menu is opened, an answer drawn, the
slider comes back to where it was. Asking is pure, but which choices it reads hangs on those that it has read. So what
is kept is the trace: which control was read, in order, and what it held. To find it again the same controls are read
in that order, as asking would, until one holds something else.
"""

from __future__ import annotations

import sys
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, TypeVar

from dashboard import session
from dashboard.background.held import ANSWERS
from dashboard.case import Case, Source
from dashboard.controls import Control, Place, Read
from dashboard.offering import Found
from dashboard.question import Kind
from dashboard.replay import Same
from dpcore.memory import Room
from dpcore.weight import weight

T = TypeVar("T")
V = TypeVar("V")
MOST, MOST_OWN, MOST_EVERYBODYS = 12, 1, 600
"""Questions that a session keeps about samples it has loaded, and about a person's own data: these hold what was made
of their rows, which otherwise counts and is bounded in ``Memory``. And those about samples that all sessions share."""
ROOM_EVERYBODYS = 96 << 20
"""Bytes that the latter take, with what followed from them: some 30 kB to 1 MB each, by what is chosen."""
_EACH = 8  # traces of one asking
_FOLLOW = 12  # things that are found out about one question: its chart, what is under a tab, and what that shows


class Trace(NamedTuple):
    """What was read, in order, and what came of it."""

    reads: tuple[tuple[Control[Any], Place, Any], ...]
    value: Any

    def holds(self, read: Read) -> bool:
        """Whether each control holds what it held. Reads those that asking again would read, and no other."""
        return all(_same(read(control, place), held) for control, place, held in self.reads)


@dataclass(slots=True, eq=False)
class _Asking:
    """What came of one asking with one or other choice, what followed from each by its name, and how many bytes all of
    it is, but for what is ``beside`` it.
    """

    traces: tuple[Trace, ...] = ()
    followed: dict[Same, dict[Hashable, tuple[Trace, ...]]] = field(default_factory=dict)
    beside: tuple[object, ...] = ()
    used: int = 0
    size: int = 0
    gone: bool = False


class Kept:
    """The latest askings, at most ``most`` and as many as ``room`` bytes hold with what followed from them; from any
    thread. What follows from a question goes with it.
    """

    def __init__(self, most: int = MOST, *, room: int | None = None, within: Room | None = None) -> None:
        self.most, self.room = most, room
        self._within = within or Room(lambda: sys.maxsize)
        self.lock = self._within.lock
        self._traces = self.bytes = 0
        self._grown: set[_Asking] = set()
        self.askings: OrderedDict[Hashable, _Asking] = OrderedDict()
        self._of: dict[Same, _Asking] = {}  # where what a question is followed by lies
        self._within.enter(self)

    def asked(self, key: Hashable) -> tuple[Trace, ...]:
        """What came of an asking, the latest last."""
        with self.lock:
            asking = self.askings.get(key)
            if asking is None:
                return ()
            self.askings.move_to_end(key)
            asking.used = self._within.now()
            return asking.traces

    def keep_asked(self, key: Hashable, trace: Trace, beside: tuple[object, ...], *, each: int, most: int) -> None:
        """One more trace of ``key``, of which ``each`` stay, ``most`` of all. What is ``beside`` it is not its own."""
        with self.lock:
            asking = self.askings.setdefault(key, _Asking())
            self.askings.move_to_end(key)
            every = (*asking.traces, trace)
            self._forget(asking, every[:-each])
            asking.traces, asking.beside, asking.used = every[-each:], beside, self._within.now()
            for about in _abouts(trace.value):
                self._of[about] = asking
                asking.followed[about] = {}
            self._traces += 1
            self._grown.add(asking)
            while self._traces > most and len(self.askings) > 1:
                self.drop_oldest()

    def found(self, about: Same, key: Hashable) -> tuple[Trace, ...]:
        """What followed from ``about``, by the name ``key``."""
        with self.lock:
            asking = self._of.get(about)
            return () if asking is None else asking.followed[about].get(key, ())

    def keep_found(self, about: Same, key: Hashable, trace: Trace, *, each: int) -> None:
        """One more trace of what followed from ``about``, for as long as that is kept itself."""
        with self.lock:
            asking = self._of.get(about)
            if asking is None:
                return
            by_name = asking.followed[about]
            by_name[key] = (*by_name.pop(key, ()), trace)[-each:]
            if len(by_name) > _FOLLOW:
                del by_name[next(iter(by_name))]
            self._grown.add(asking)

    def settle(self) -> None:
        """A page is drawn: weigh what it has added, and let go of the oldest where that is too much."""
        if self.room is None or not self._grown:
            return
        with self.lock:
            grown, self._grown = self._grown, set()
        for asking in grown:
            size = weight((asking.traces, asking.followed), beside=asking.beside)
            with self.lock:
                if not asking.gone:
                    more, asking.size = size - asking.size, size
                    self.bytes += more
                    while self.bytes > self.room:
                        self.drop_oldest()
                    self._within.grown(more)

    @property
    def oldest(self) -> float:
        """When the asking was used that goes first; never where there is none."""
        return next(iter(self.askings.values())).used if self.askings else float("inf")

    def drop_oldest(self) -> int:
        """Bytes that are free now."""
        with self.lock:
            _, asking = self.askings.popitem(last=False)
            asking.gone = True
            self._grown.discard(asking)
            self._forget(asking, asking.traces)
            self.bytes -= asking.size
            return asking.size

    def clear(self) -> None:
        with self.lock:
            while self.askings:
                self.drop_oldest()

    def _forget(self, asking: _Asking, traces: Sequence[Trace]) -> None:
        """These are kept no more, nor what followed from them."""
        self._traces -= len(traces)
        for trace in traces:
            for about in _abouts(trace.value):
                self._of.pop(about, None)
                asking.followed.pop(about, None)


def _abouts(value: Any) -> tuple[Same, ...]:
    """What others may follow from: a value and, of an offering, its question."""
    return (Same(value), Same(value.question)) if isinstance(value, Found) else (Same(value),)


_READER: ContextVar[Read | None] = ContextVar("reader", default=None)
_NOTED: ContextVar[list[tuple[Control[Any], Place, Any]] | None] = ContextVar("noted", default=None)
KEPT: session.Slot[Kept] = session.Slot("_traces", Kept, own=Kept.clear)


@contextmanager
def reading(read: Read) -> Iterator[None]:
    """While a page is drawn whose controls ``read`` reads."""
    before = _READER.set(read)
    try:
        yield
    finally:
        _READER.reset(before)
        EVERYBODYS.settle()


def through(control: Control[V], place: Place = "options") -> V:
    """The value of a control, for questions that outlive the run in which they were asked."""
    reader = _READER.get()
    found = (session.Reader() if reader is None else reader)(control, place)
    noted = _NOTED.get()
    if noted is not None:
        noted.append((control, place, found))
    return found


EVERYBODYS = Kept(MOST_EVERYBODYS, room=ROOM_EVERYBODYS, within=ANSWERS)
"""About samples, which are the same for everybody. They hold nothing of who asked but what was chosen."""


def asked(kind: type[Kind], case: Case, ask: Callable[[Case, Read], T]) -> T:
    """What ``ask`` finds for ``case``, or found when it was the same. What ``ask`` raises is not kept."""
    source = case.source
    if source.everybodys:
        case = replace(case, source=source.nobodys)
    kept, key = _kept(source), (kind, *_about(case))
    beside = (source.table, source.table.frame, source.declared, case.source, case.memo, case.large)
    each, most = (_EACH, kept.most) if source.public else (MOST_OWN, MOST_OWN)
    return _known(
        kept.asked(key),
        lambda: ask(case, through),
        lambda trace: kept.keep_asked(key, trace, beside, each=each, most=most),
    )


def followed(about: object, key: Hashable, make: Callable[[], T], source: Source) -> T:
    """What ``make`` finds out about a question of ``source`` by the name ``key``; or found before."""
    kept, same = _kept(source), Same(about)
    return _known(
        kept.found(same, key),
        make,
        lambda trace: kept.keep_found(same, key, trace, each=_EACH if source.public else MOST_OWN),
    )


def _kept(source: Source) -> Kept:
    return EVERYBODYS if source.everybodys else KEPT.once()


def _known(traces: tuple[Trace, ...], make: Callable[[], T], keep: Callable[[Trace], None]) -> T:
    for trace in reversed(traces):
        if trace.holds(through):
            found: T = trace.value
            return found
    noted: list[tuple[Control[Any], Place, Any]] = []
    outside = _NOTED.get()
    before = _NOTED.set(noted)
    try:
        found = make()
    finally:
        _NOTED.reset(before)
    if outside is not None:
        outside.extend(noted)
    keep(Trace(tuple(noted), found))
    return found


def _same(now: Any, then: Any) -> bool:
    """Equal in every way: 1 and 1.0 are two, as are 0.0 and -0.0."""
    return now is then or (type(now) is type(then) and now == then and _alike(now) == _alike(then))


def _alike(value: Any) -> Hashable:
    return tuple(map(repr, value)) if isinstance(value, tuple) else repr(value) if isinstance(value, float) else None


def _about(case: Case) -> tuple[Hashable, ...]:
    """All that a question may depend on but its choices; what is made anew in every run by what it says."""
    source = case.source
    told = (source.key, source.title, source.mode, source.lineage, source.practice, source.unreleased, source.in_place)
    made = (Same(source.table), Same(source.declared), Same(source.so_far), source.rows is None)
    whose = told + made if source.public else (Same(source),)
    results = tuple((slot, tuple(map(Same, found))) for slot, found in sorted(case.results.items()))
    asked = (case.epsilon, case.delta, case.hides, case.counting, case.brief, case.models)
    return (*whose, *asked, results, case.complete, case.finished)
