"""What is read once while a page is drawn once: who is there, and what the ledger holds of the people on screen.

A page asks for the same budget in six places. All of them show one state of the ledger, and only callbacks, which come
before a run, change it. Outside of a run (a callback, a part of a page that is drawn alone) nothing is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

from dpcore.ledger.waited import one_run

T = TypeVar("T")
_KEPT: ContextVar[dict[Hashable, Any] | None] = ContextVar("kept", default=None)


@contextmanager
def drawing() -> Iterator[None]:
    """One run of the script; what it kept goes with it, however it ends."""
    before = _KEPT.set({})
    try:
        with one_run():
            yield
    finally:
        _KEPT.reset(before)


def kept() -> dict[Hashable, Any] | None:
    """What this run keeps, by key; None outside of one."""
    return _KEPT.get()


def once(key: tuple[Hashable, ...], make: Callable[[], T]) -> T:
    """The value of ``key`` in this run, made where it is first asked for; what ``make`` raises is not kept."""
    kept = _KEPT.get()
    if kept is None:
        return make()
    if key not in kept:
        kept[key] = make()
    found: T = kept[key]
    return found
