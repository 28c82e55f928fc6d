"""A JSON document that is one object: a list of objects under a name, objects under names, or columns side by side.

Which of these it is no single row decides for all others: where one could, a person says it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import zip_longest
from typing import Any

from dpcore.datasets.report import Alternative, Objects
from dpcore.errors import UnreadableFile

_UNEVEN = (
    "The columns of the JSON document do not all name the same rows in the same order; write each row in every column, "
    "with null where there is nothing."
)
NO_RECORDS = "The JSON document is no list of records; save the table as CSV, or as one record per line."


TWICE = (
    "A name stands twice in the JSON document, and what stands under it last would take the place of the other: give "
    "each row a name of its own, or save the table as a list of records."
)


class Twice(dict[str, Any]):
    """An object in which a name stands twice: it holds what stands there last."""


def named(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of these."""
    found = dict(pairs)
    return found if len(found) == len(pairs) else Twice(found)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Found:
    """The records of a document, decoded one by one wherever its form allows; else as ``documents.Document``."""

    records: Iterable[Any]
    headed: bool = False
    objects: Objects | None = None
    alternatives: tuple[Alternative, ...] = ()


def inside(document: Any, stated: Objects | None) -> Found:
    """The records inside one object: a list of objects under a name, columns side by side, objects under names, lists
    beside the names of their columns, or one record: one more behind it would make it that, whatever it looks like.

    Which of these it is no single row decides: it is ``stated``, and asked of whoever did not.
    """
    if not isinstance(document, dict):
        raise UnreadableFile(NO_RECORDS)
    if isinstance(document, Twice):
        raise UnreadableFile(TWICE)
    ways = _ways(document)
    headed = _is_split(document)
    if stated is not None:
        if stated not in ways:
            raise UnreadableFile(NO_RECORDS)
        return Found(records=ways[stated].records(), headed=headed and stated == "list", objects=stated)
    guess = "list" if headed else _guess(document)
    if guess is None:
        return Found(records=[document], objects="rows")
    return Found(
        records=ways[guess].records(),
        headed=headed,
        objects=guess,
        alternatives=tuple(
            Alternative(argument="objects", value=way, example=_example(ways[way]), decided=True)
            for way in sorted(ways, key=lambda way: way != guess)
        ),
    )


def is_one_row(document: Any) -> bool:
    """Whether a document of which each object is said to be a row is one itself, so that others may follow it."""
    return not isinstance(document, dict) or not any(isinstance(value, dict) for value in document.values())


@dataclass(frozen=True, slots=True)
class _Way:
    """A way to take an object for a table: its records, how many, and what the first that holds anything looks like."""

    records: Callable[[], Iterable[Any]]
    count: Callable[[], int]
    example: Callable[[], dict[str, Any]]


def _ways(document: dict[str, Any]) -> dict[Objects, _Way]:
    """All in which this one can be taken. What is no object where one belongs is a record without anything in it."""
    if _is_split(document):
        names, rows = document["columns"], document["data"]
        first = partial(_named_by, names, rows)
        return {
            "list": _Way(lambda: [names, *rows], lambda: len(rows), first),
            "rows": _Way(lambda: [document], lambda: 1, lambda: document),
        }
    inner = [value for value in document.values() if isinstance(value, dict)]
    holding = _holding_objects(document)
    ways: dict[Objects, _Way] = {}
    if len(holding) == 1:
        records = [each if isinstance(each, dict) else None for each in holding[0]]
        ways["list"] = _Way(lambda: records, lambda: len(records), lambda: next(filter(None, records), {}))
    if inner:
        values = [each if isinstance(each, dict) else {} for each in document.values()]
        ways["rows"] = _Way(lambda: values, lambda: len(values), lambda: next(filter(None, values), {}))
        across = partial(_across, dict(zip(document, values, strict=True)), inner)
        ways["columns"] = _Way(across, lambda: len(_rows_of(inner)), lambda: next(iter(across()), {}))
        return ways
    ways["rows"] = _Way(lambda: [document], lambda: 1, lambda: document)
    if any(isinstance(value, list) for value in document.values()):
        lists = {name: value if isinstance(value, list) else [] for name, value in document.items()}
        beside = partial(_beside, lists)
        ways["columns"] = _Way(beside, lambda: max(map(len, lists.values())), lambda: next(iter(beside()), {}))
    return ways


def _is_split(document: dict[str, Any]) -> bool:
    """Whether it names its columns in one list and holds its rows as lists in another."""
    names, rows = document.get("columns"), document.get("data")
    return (
        isinstance(names, list) and isinstance(rows, list) and (not rows or any(isinstance(row, list) for row in rows))
    )


def _named_by(names: list[Any], rows: list[Any]) -> dict[str, Any]:
    """The first row that holds anything, by the names."""
    first = next((row for row in rows if isinstance(row, list) and row), [])
    return dict(zip(map(word, names), first, strict=False))


def _across(named: dict[str, dict[str, Any]], inner: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    rows = _rows_of(inner)
    return ({name: each.get(row) for name, each in named.items()} for row in rows)


def _rows_of(columns: list[dict[str, Any]]) -> list[str]:
    """The rows, in the file's order, whatever they are called: each column names them all. Raises UnreadableFile."""
    if any(isinstance(column, Twice) for column in columns):
        raise UnreadableFile(TWICE)
    every = list(columns[0])
    if any(list(column) != every for column in columns):
        raise UnreadableFile(_UNEVEN)
    return every


def _beside(lists: dict[str, list[Any]]) -> Iterator[dict[str, Any]]:
    """Columns side by side; one that ends before the others has nothing in its last rows."""
    return (dict(zip(lists, row, strict=True)) for row in zip_longest(*lists.values()))


def _guess(document: dict[str, Any]) -> Objects | None:
    """What it looks most like; None for a single record. Raises UnreadableFile."""
    values = list(document.values())
    inner = [value for value in values if isinstance(value, dict)]
    lists = [value for value in values if isinstance(value, list)]
    holding = _holding_objects(document)
    if len(inner) > 1 and _are_alike(inner):
        flat = not any(isinstance(cell, dict | list) for each in inner for cell in each.values())
        return "columns" if flat and max(map(len, inner)) > len(inner) and _named_alike(inner) else "rows"
    if inner and len(holding) != 1:
        raise UnreadableFile(NO_RECORDS)
    beside = len(lists) == len(values) > 0
    even = len({len(value) for value in lists}) == 1
    if len(holding) == 1 and not inner:
        objects = sum(isinstance(each, dict) for each in holding[0])
        return "columns" if beside and ((len(lists) > 1 and even) or 2 * objects < len(holding[0])) else "list"
    if len(holding) == 1:
        return "list"
    if holding and not (beside and even):
        raise UnreadableFile(NO_RECORDS)
    return "columns" if beside else None


def _named_alike(columns: list[dict[str, Any]]) -> bool:
    """Whether they can be columns: the order of their rows is certain."""
    try:
        return bool(_rows_of(columns))
    except UnreadableFile:
        return False


def _holding_objects(document: dict[str, Any]) -> list[list[Any]]:
    """The lists in which there is an object."""
    lists = (value for value in document.values() if isinstance(value, list))
    return [value for value in lists if any(isinstance(each, dict) for each in value)]


def _are_alike(inner: list[dict[str, Any]]) -> bool:
    """Whether two objects share a name: of settings and the like they do not. What all share one of them could end."""
    seen: set[str] = set()
    for each in inner:
        if not seen.isdisjoint(each):
            return True
        seen.update(each)
    return False


def _example(way: _Way) -> str:
    """What it looks like; nothing where the document cannot be taken so."""
    try:
        count = way.count()
        return f"{'1 row:' if count == 1 else f'{count:,} rows, such as'} {_shown(way.example())}"
    except UnreadableFile:
        return ""


def _shown(record: dict[str, Any]) -> str:
    """How a record begins."""
    return " ¦ ".join(f"{name[:20]}: {_said(cell)}" for name, cell in list(record.items())[:3])


def _said(cell: Any) -> str:
    return f"({len(cell):,} entries)" if isinstance(cell, dict | list) else word(cell)[:20]


def word(part: Any) -> str:
    if isinstance(part, bool):
        return "true" if part else "false"
    return "" if part is None else str(part)
