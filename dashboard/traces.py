"""What follows from data and choices is not worked out again while both are what they were.

A question is asked in every run of its page, and most runs change nothing of it: a menu is opened, an answer drawn, the
slider comes back to where it was. Asking is pure, but which choices it reads hangs on those that it has read. So what
is kept is the trace: which control was read, in order, and what it held. To find it again the same controls are read
in that order, as asking would, until one holds something else.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple, TypeVar

from dashboard import session
from dashboard.case import Case
from dashboard.controls import Control, Place, Read
from dashboard.question import Kind
from dashboard.replay import Same

T = TypeVar("T")
V = TypeVar("V")
MOST, MOST_OWN = 12, 1
"""Questions that a session keeps about samples, and about a person's own data: these hold what was made of their rows,
which otherwise counts and is bounded in ``Memory``."""
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
    """The latest few askings of one session, each with what followed from it."""

    def __init__(self) -> None:
        self.by_key: dict[Hashable, list[Trace]] = {}

    def clear(self) -> None:
        self.by_key.clear()


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


def asked(kind: type[Kind], case: Case, ask: Callable[[Read], T]) -> T:
    """What ``ask`` finds for ``case``, or found when it was the same. What ``ask`` raises is not kept."""
    return _found(("asked", kind, *_about(case)), lambda: ask(through), own=not case.source.public)


def followed(about: object, key: Hashable, make: Callable[[], T], *, own: bool) -> T:
    """What ``make`` finds out about a question, or a part of it, by the name ``key``; or found before."""
    return _found((key, Same(about)), make, own=own)


def _found(key: tuple[Hashable, ...], make: Callable[[], T], *, own: bool) -> T:
    by_key = KEPT.once().by_key
    traces = by_key.pop(key, None) or []
    by_key[key] = traces  # the latest stands last
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
    traces.append(Trace(tuple(noted), found))
    del traces[: -(MOST_OWN if own else _EACH)]
    _bounded(by_key, own=own)
    return found


def _bounded(by_key: dict[Hashable, list[Trace]], *, own: bool) -> None:
    """Let go of the askings that are too many, and of what followed from them."""
    most = MOST_OWN if own else MOST
    askings = [key for key in by_key if isinstance(key, tuple) and key[0] == "asked"]
    others = [key for key in by_key if isinstance(key, tuple) and key[0] != "asked"]
    for key in (*askings[:-most], *others[: -_FOLLOW * most]):
        del by_key[key]


def _same(now: Any, then: Any) -> bool:
    return type(now) is type(then) and bool(now == then)


def _about(case: Case) -> tuple[Hashable, ...]:
    """All that a question may depend on but its choices; what is made anew in every run by what it says."""
    source = case.source
    told = (source.key, source.title, source.mode, source.lineage, source.practice, source.unreleased, source.in_place)
    made = (Same(source.table), Same(source.declared), source.rows is None)
    whose = told + made if source.public else (Same(source),)
    results = tuple((slot, tuple(map(Same, found))) for slot, found in sorted(case.results.items()))
    return (*whose, case.epsilon, case.delta, case.looked, case.brief, results, case.complete, case.finished)
