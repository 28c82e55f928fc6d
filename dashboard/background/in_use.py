"""Large things that pages compute, counted among what all sessions hold for as long as any page has them.

A memory that drops the oldest bounds what it remembers, and not what pages that are open have of it.
"""

from __future__ import annotations

import hashlib
import secrets
import threading
import time
import weakref
from collections.abc import Callable, Hashable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, TypeVar

from dashboard import all_held, machine_memory
from dashboard.background import places
from dashboard.background.large_turns import LargeTurns
from dashboard.case import Source
from dashboard.people import visitors
from dashboard.question import CannotAsk
from dpcore.errors import UnreadableFile
from dpcore.memory import Memory
from dpcore.weight import weight

T = TypeVar("T")
_counted: dict[int, tuple[weakref.ref[Any], all_held.Waiting | None]] = {}
_lock = threading.RLock()  # what goes may go while one is counted
_SECRET = secrets.token_bytes(32)


@dataclass(frozen=True, slots=True)
class InUse:
    """A memory whose values count while they are in use, each made in a turn ``among`` others of its kind. Raises
    CannotAsk where there is no room for one more, NoRoom where too many wait for a turn."""

    memory: Memory
    among: LargeTurns

    def __call__(self, key: tuple[Hashable, ...], make: Callable[[], T]) -> T:
        found: T | None = self.memory.get(key)
        if found is None:
            with places.large(visitors.address(), self.among):
                found = self.memory(key, make)  # which may be there by now
        try:
            count(found)
        except UnreadableFile as error:
            self.memory.drop(key)
            raise CannotAsk(str(error)) from None
        return found

    def forget(self) -> None:
        """See ``Memory.forget``; what pages still show counts on."""
        self.memory.forget()


def at_work(source: Source) -> AbstractContextManager[None]:
    """Around whatever a page works out about these data: a turn where they are large. Raises NoRoom."""
    return places.large(visitors.address()) if source.large else nullcontext()


def answering(source: Source) -> AbstractContextManager[None]:
    """Around an answer that is drawn about these data: a turn that lasts where they are large. Raises NoRoom.

    Who sees when an answer came would see whether it waited, and so whether one row more made the data large. So what
    is large here lies somewhere below what is large for a page: for each table elsewhere, and anew in each hour, where
    nobody knows who does not know ``_SECRET``.
    """
    which = repr((source.lineage, source.table.fingerprint, int(time.time() // 3600.0)))
    drawn = hashlib.blake2b(which.encode(), key=_SECRET, digest_size=8).digest()
    share = 1.0 - 0.5 * int.from_bytes(drawn) / 2.0**64
    if source.in_place or not source.is_large(share):  # its database works, however many rows are made up here
        return nullcontext()
    return places.large(visitors.address(), lasts=True)


def count(value: Any) -> None:
    """Count it for the address that asks, as long as anything holds it. Raises UnreadableFile."""
    for part in _parts(value):
        with _lock:
            known = _counted.get(id(part))
        if known is None or known[0]() is not part:
            _note(part)


def _note(part: Any) -> None:
    size, at = weight(part), id(part)
    counted = all_held.waiting(size, visitors.address()) if size > machine_memory.LITTLE else None

    def gone(reference: weakref.ref[Any]) -> None:
        with _lock:
            if at in _counted and _counted[at][0] is reference:
                del _counted[at]

    with _lock:
        _counted[at] = weakref.ref(part, gone), counted


def _parts(value: Any) -> Iterator[Any]:
    """What tells that it is gone: the value, or what it holds."""
    try:
        weakref.ref(value)
    except TypeError:
        inside = value if isinstance(value, tuple | list) else ()
        if is_dataclass(value):
            inside = tuple(getattr(value, field.name) for field in fields(value))
        for one in inside:
            yield from _parts(one)
    else:
        yield value
