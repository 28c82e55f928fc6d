"""What stands beside the cells of a table on its way from the process that read it, as JSON.

Whoever reads it trusts no part of it: it becomes these classes with fields of these kinds, or it is refused. In JSON
nothing stands for more than is written, as references in a pickle do; signs that stand for a thing each are counted
before it is taken apart.
"""

from __future__ import annotations

import json
import types
from collections.abc import Callable
from dataclasses import asdict, dataclass, is_dataclass
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from dpcore.datasets.reading import bounds
from dpcore.datasets.report import Report
from dpcore.errors import UnreadableFile

_DIGITS = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Beside:
    """The names of the columns, and what ``Tabulated`` has but cells and lines."""

    names: tuple[str, ...]
    report: Report
    codebooks: dict[str, tuple[str, ...]]
    about: dict[str, str]
    records: int | None
    from_rows: tuple[str, ...]


def written(beside: Beside) -> bytes:
    return json.dumps(asdict(beside), ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")


def read(written: bytes) -> Beside:
    """Raises ValueError for what is none."""
    same: dict[str, str] = {}
    try:
        bounds.check_said(written)
        found: Beside = _made(Beside, _taken_apart(written), same.setdefault)
    except (TypeError, RecursionError, UnreadableFile):
        raise ValueError from None
    return found


def _taken_apart(written: bytes) -> Any:
    return json.loads(
        written.decode("utf-8", "surrogatepass"), parse_int=_whole, parse_float=_whole, parse_constant=_whole
    )


def _whole(digits: str) -> int:
    """Longer ones take time that grows with the square of their length."""
    if not digits.isdecimal() or len(digits) > _DIGITS:
        raise ValueError
    return int(digits)


def _made(kind: Any, found: Any, same: Callable[[str, str], str]) -> Any:
    """``found`` as one of this kind; a word that occurs often is held once."""
    origin, parts = get_origin(kind), get_args(kind)
    if isinstance(kind, type) and is_dataclass(kind):
        known = get_type_hints(kind)
        if not isinstance(found, dict) or found.keys() != known.keys():
            raise ValueError
        return kind(**{name: _made(part, found[name], same) for name, part in known.items()})
    if origin is tuple and isinstance(found, list):
        return tuple([_made(parts[0], each, same) for each in found])
    if origin is dict and isinstance(found, dict):
        return {same(name, name): _made(parts[1], each, same) for name, each in found.items()}
    if origin is Literal and found in parts:
        return found
    if origin in (Union, types.UnionType):
        return None if found is None else _made(parts[0], found, same)
    if kind is str and isinstance(found, str):
        return same(found, found)
    if kind is bool and isinstance(found, bool):
        return found
    if kind is int and type(found) is int and 0 <= found <= bounds.MOST_LINES:
        return found
    raise ValueError
