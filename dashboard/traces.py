"""What follows from data and choices is not worked out again while both are what they were.

A question is asked in every run of its page, and most runs change nothing of it: a menu is opened, an answer drawn, the
slider comes back to where it was. Asking is pure, but which choices it reads hangs on those that it has read. So what
is kept is the trace: which control was read, in order, and what it held. To find it again the same controls are read
in that order, as asking would, until one holds something else.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from typing import Any, NamedTuple, TypeVar

from dashboard import session
from dashboard.case import Case, Source
from dashboard.controls import Control, Place, Read
from dashboard.question import Kind
from dashboard.replay import Same

T = TypeVar("T")
V = TypeVar("V")
MOST, MOST_OWN, MOST_EVERYBODYS = 12, 1, 240
"""Questions that a session keeps about samples it has loaded, and about a person's own data: these hold what was made
of their rows, which otherwise counts and is bounded in ``Memory``. And those about samples that all sessions share."""
_EACH = 8  # traces of one asking
_FOLLOW = 6  # things that are found out about one question: its chart, what is under a tab, and what that shows


class Trace(NamedTuple):
    """What was read, in order, and what came of it."""

    reads: tuple[tuple[Control[Any], Place, Any], ...]
    value: Any

    def holds(self, read: Read) -> bool:
        """Whether each control holds what it held. Reads those that asking again would read, and no other."""
        return all(_same(read(control, place), held) for control, place, held in self.reads)


class Kept:
    """The latest askings, at most ``most``, and what followed from askings; from any thread."""

    def __init__(self, most: int = MOST) -> None:
        self.most = most
        self.lock = threading.Lock()
        self.askings: dict[Hashable, tuple[Trace, ...]] = {}
        self.followed: dict[Hashable, tuple[Trace, ...]] = {}

    def get(self, key: tuple[Hashable, ...]) -> tuple[Trace, ...]:
        with self.lock:
            traces = self._of(key).pop(key, ())
            if traces:
                self._of(key)[key] = traces  # the latest stands last
            return traces

    def put(self, key: tuple[Hashable, ...], trace: Trace, *, each: int, most: int) -> None:
        """One more trace of ``key``, of which ``each`` stay; and of all askings the latest ``most``."""
        with self.lock:
            of = self._of(key)
            of[key] = (*of.pop(key, ()), trace)[-each:]
            for by_key, bound in ((self.askings, most), (self.followed, _FOLLOW * most)):
                while len(by_key) > bound:
                    del by_key[next(iter(by_key))]

    def _of(self, key: tuple[Hashable, ...]) -> dict[Hashable, tuple[Trace, ...]]:
        return self.askings if key[0] == "asked" else self.followed

    def clear(self) -> None:
        with self.lock:
            self.askings.clear()
            self.followed.clear()


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


def through(control: Control[V], place: Place = "options") -> V:
    """The value of a control, for questions that outlive the run in which they were asked."""
    reader = _READER.get()
    found = (session.Reader() if reader is None else reader)(control, place)
    noted = _NOTED.get()
    if noted is not None:
        noted.append((control, place, found))
    return found


EVERYBODYS = Kept(MOST_EVERYBODYS)
"""About samples, which are the same for everybody. They hold nothing of who asked but what was chosen."""


def asked(kind: type[Kind], case: Case, ask: Callable[[Case, Read], T]) -> T:
    """What ``ask`` finds for ``case``, or found when it was the same. What ``ask`` raises is not kept."""
    if case.source.everybodys:
        case = replace(case, source=case.source.nobodys)
    return _found(("asked", kind, *_about(case)), lambda: ask(case, through), case.source)


def followed(about: object, key: Hashable, make: Callable[[], T], source: Source) -> T:
    """What ``make`` finds out about a question of ``source``, or a part of it, by the name ``key``; or found before."""
    return _found((key, Same(about)), make, source)


def _found(key: tuple[Hashable, ...], make: Callable[[], T], source: Source) -> T:
    kept = EVERYBODYS if source.everybodys else KEPT.once()
    for trace in reversed(kept.get(key)):
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
    each, most = (_EACH, kept.most) if source.public else (MOST_OWN, MOST_OWN)
    kept.put(key, Trace(tuple(noted), found), each=each, most=most)
    return found


def _same(now: Any, then: Any) -> bool:
    return type(now) is type(then) and bool(now == then)


def _about(case: Case) -> tuple[Hashable, ...]:
    """All that a question may depend on but its choices; what is made anew in every run by what it says."""
    source = case.source
    told = (source.key, source.title, source.mode, source.lineage, source.practice, source.unreleased, source.in_place)
    made = (Same(source.table), Same(source.declared), source.rows is None)
    whose = told + made if source.public else (Same(source),)
    results = tuple((slot, tuple(map(Same, found))) for slot, found in sorted(case.results.items()))
    return (
        *whose,
        case.epsilon,
        case.delta,
        case.hides,
        case.looked,
        case.brief,
        results,
        case.complete,
        case.finished,
    )
