"""How much memory words, and what is made of them, take: a file's names, labels, descriptions and notices."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass


def held_by(*things: object) -> int:
    """Bytes of these and of all that they hold, whatever their kind; what several hold counts once."""
    seen: set[int] = set()
    waiting = list(things)
    total = 0
    while waiting:
        thing = waiting.pop()
        if id(thing) in seen:
            continue
        seen.add(id(thing))
        total += sys.getsizeof(thing)
        waiting.extend(_within(thing))
    return total


def _within(thing: object) -> Iterable[object]:
    if isinstance(thing, Mapping):
        return (*thing.keys(), *thing.values())
    if isinstance(thing, tuple | list | set | frozenset):
        return thing
    if is_dataclass(thing):
        return [getattr(thing, field.name) for field in fields(thing)]
    return ()
