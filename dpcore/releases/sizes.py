"""How large an answer can be, from the public parameters of its request alone: what is kept is bounded before a charge.

Every record of a ledger is read whole again whenever it is opened, checked or backed up, so one answer that is very
large would make everybody wait for good.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator
from dataclasses import fields, is_dataclass
from typing import Any

MOST_BYTES = 1 << 20
"""Bytes of the JSON, without blanks, of an answer that lists something: a play in each of 100,000 rounds, which is as
many as a page asks for."""
_LETTER = 12  # bytes of one in JSON, at most
_ROOM = 4096  # for all that is no text


def too_large(size: int) -> str:
    """Why an answer of up to so many bytes is refused, as the end of a sentence."""
    return f"its answer could have {size / (1 << 20):,.1f} MB, and at most {MOST_BYTES >> 20} MB are kept"


def one_of_these(parameters: Any) -> int:
    """Bytes of an answer that names a few of the texts among public parameters: at most so many."""
    return _ROOM + 4 * _LETTER * longest(parameters)


def listed(names: Iterable[str], places: int, digits: int) -> int:
    """Bytes of an answer with all of these names, and so many places of so many digits: at most so many."""
    return _ROOM + sum(map(written, names)) + places * (digits + 1)


def some_of_these(names: Collection[str], many: int, digits: int) -> int:
    """Bytes of an answer with so many places of so many digits and their names, days or numbers: at most so many."""
    lengths = [len(name) for name in names]
    letters = min(many * max(lengths, default=0), sum(lengths))
    return _ROOM + _LETTER * letters + many * (digits + len('"2000-01-01",,'))


def written(text: str) -> int:
    """Bytes of a text in JSON, its quotation marks and a comma included."""
    return len(json.dumps(text)) + 1


def longest(parameters: Any) -> int:
    """Letters of the longest text among public parameters."""
    return max(map(len, texts(parameters)), default=0)


def texts(part: Any) -> Iterator[str]:
    """Every text among public parameters, however deep."""
    if isinstance(part, str):
        yield part
    elif is_dataclass(part):
        for one in fields(part):
            yield from texts(getattr(part, one.name))
    elif isinstance(part, (tuple, list)):
        for one in part:
            yield from texts(one)
    elif isinstance(part, dict):
        for name, one in part.items():
            yield from texts(name)
            yield from texts(one)
