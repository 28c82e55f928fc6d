"""A JSON document that is one object: a list of objects under a name, objects under names, or columns side by side.

Which of these it is no single row decides for all others: where one could, a person says it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from heapq import heapify, heappop, heappush
from itertools import pairwise, zip_longest
from typing import Any

from dpcore.datasets.report import Alternative, Objects
from dpcore.errors import UnreadableFile

NO_RECORDS = "The JSON document is no list of records; save the table as CSV, or as one record per line."


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Found:
    """The records of a document, decoded one by one wherever its form allows; else as ``documents.Document``."""

    records: Iterable[Any]
    headed: bool = False
    objects: Objects = "rows"
    alternatives: tuple[Alternative, ...] = ()


def inside(document: Any, stated: Objects | None) -> Found:
    """The records inside one object: a list of objects under a name, columns side by side, or objects under names.

    Which of these it is no single row decides: where one could, it is ``stated``, and asked of whoever did not.
    """
    if not isinstance(document, dict):
        raise UnreadableFile(NO_RECORDS)
    names, rows = document.get("columns"), document.get("data")
    if isinstance(names, list) and isinstance(rows, list) and (not rows or any(isinstance(row, list) for row in rows)):
        return Found(records=[names, *rows], headed=True)
    ways = _ways(document)
    if stated is not None:
        if stated not in ways:
            raise UnreadableFile(NO_RECORDS)
        return Found(records=ways[stated].records(), objects=stated)
    guess = _guess(document)
    if guess is None:
        return Found(records=[document])
    if _speaks_for_itself(document):
        return Found(records=ways[guess].records(), objects=guess)
    return Found(
        records=ways[guess].records(),
        objects=guess,
        alternatives=tuple(
            Alternative(argument="objects", value=way, example=_shown(ways[way].example()), decided=True)
            for way in sorted(ways, key=lambda way: way != guess)
        ),
    )


@dataclass(frozen=True, slots=True)
class _Way:
    """A way to take an object for a table: its records, and what the first that holds anything looks like."""

    records: Callable[[], Iterable[Any]]
    example: Callable[[], dict[str, Any]]


def _ways(document: dict[str, Any]) -> dict[Objects, _Way]:
    """All in which this one can be taken. What is no object where one belongs is a record without anything in it."""
    inner = [value for value in document.values() if isinstance(value, dict)]
    holding = _holding_objects(document)
    ways: dict[Objects, _Way] = {}
    if len(holding) == 1:
        records = [each if isinstance(each, dict) else None for each in holding[0]]
        ways["list"] = _Way(lambda: records, lambda: next(filter(None, records), {}))
    if inner:
        values = [each if isinstance(each, dict) else {} for each in document.values()]
        ways["rows"] = _Way(lambda: values, lambda: next(filter(None, values), {}))
        across = partial(_across, dict(zip(document, values, strict=True)), _rows_of(inner))
        ways["columns"] = _Way(across, lambda: next(iter(across()), {}))
    elif any(isinstance(value, list) for value in document.values()):
        beside = partial(_beside, {name: value if isinstance(value, list) else [] for name, value in document.items()})
        ways["columns"] = _Way(beside, lambda: next(iter(beside()), {}))
    return ways


def _across(named: dict[str, dict[str, Any]], places: Iterable[str]) -> Iterator[dict[str, Any]]:
    return ({name: each.get(place) for name, each in named.items()} for place in places)


def _rows_of(columns: list[dict[str, Any]]) -> list[str]:
    """The rows that these columns name, each behind those that stand before it in any column, whichever column leaves
    a row out; two that no column puts in order by number, then by name. Columns that contradict each other count in
    the order in which they stand.
    """
    behind: dict[str, set[str]] = {}
    before: Counter[str] = Counter()
    for column in columns:
        for row in column:
            behind.setdefault(row, set())
        for row, following in pairwise(column):
            if following not in behind[row]:
                behind[row].add(following)
                before[following] += 1
    free = [(_by_number(row), row) for row in behind if not before[row]]
    heapify(free)
    found: list[str] = []
    while free:
        _, row = heappop(free)
        found.append(row)
        for following in behind[row]:
            before[following] -= 1
            if not before[following]:
                heappush(free, (_by_number(following), following))
    return found if len(found) == len(behind) else list(behind)


def _by_number(name: str) -> tuple[bool, int, str]:
    number = name.isdecimal() and name.isascii() and len(name) < 19
    return (not number, int(name) if number else 0, name)


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
        return "columns" if flat and max(map(len, inner)) > len(inner) else "rows"
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


def _speaks_for_itself(document: dict[str, Any]) -> bool:
    """Whether one row more or less leaves it what it is: objects in one list that holds nothing else, beside nothing
    that could be the table; or columns without an object in any."""
    if any(isinstance(value, dict) for value in document.values()):
        return False
    holding = _holding_objects(document)
    if len(holding) != 1:
        return True
    alone = sum(isinstance(value, list) for value in document.values()) == 1
    return alone and all(each is None or isinstance(each, dict) for each in holding[0])


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


def _shown(record: dict[str, Any]) -> str:
    """How a record begins."""
    return " ¦ ".join(f"{name[:20]}: {word(cell)[:20]}" for name, cell in list(record.items())[:3])


def word(part: Any) -> str:
    if isinstance(part, bool):
        return "true" if part else "false"
    return "" if part is None else str(part)
