"""JSON and JSON lines: records one after the other, numbers with the very digits of the file.

Objects inside a record become columns such as "address.city", a list of words one cell "a; b; c". What has no place in
a cell, such as a list of records, is left out and said.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pandas as pd

from dpcore.datasets.reading.bounds import MOST_COLUMNS, check_size
from dpcore.datasets.reading.gathering import Gathering
from dpcore.datasets.report import Notice
from dpcore.errors import UnreadableFile

_LARGEST_WHOLE = 64 << 20  # a document that is not a list of records is held as a whole
_BLANK = " \t\r\n"
_DEEPEST = 6
_LONGEST_NAME = 10_000
_DEEP = "The JSON document is nested too deeply to be a table."
_TYPES = "The JSON document is no list of records; save the table as CSV, or as one record per line."
Say = Callable[[float], None]


def json_table(text: str, say: Say) -> tuple[pd.DataFrame, tuple[Notice, ...]]:
    """Records of a JSON document or of one JSON value per line. Raises UnreadableFile."""
    gathered = Gathering()
    left_out: dict[str, int] = {}
    for record in _records(text, say):
        cells: dict[str, str] = {}
        if isinstance(record, dict):
            _flatten(record, "", cells, left_out, 0)
        elif isinstance(record, list):
            check_size(1, len(record))
            _flatten({f"column {place + 1}": cell for place, cell in enumerate(record)}, "", cells, left_out, 0)
        else:
            raise UnreadableFile(_TYPES)
        gathered.add(cells)
    if not gathered.rows or not gathered.names:
        raise UnreadableFile("The JSON document holds no records.")
    notices = []
    if left_out:
        notices.append(
            Notice(
                what="set aside",
                sentence="Lists of records inside records have no place in a table and were left out.",
                count=sum(left_out.values()),
                columns=tuple(name for name in list(left_out)[:50]),
            )
        )
    return gathered.frame(), tuple(notices)


def _records(text: str, say: Say) -> Iterator[Any]:
    """The records of the document, in order, decoded one by one wherever its form allows."""
    decoder = json.JSONDecoder(parse_float=str, parse_int=str, parse_constant=str)
    start = _skip(text, 0)
    if text.startswith("[", start):
        first, after = _after_list(text, start, decoder)
        if after is None:  # one list of records: never held as a whole
            yield from _with_names(_items(text, start + 1, decoder, say))
            return
        yield first
        yield from _lines(text, after, decoder, say)
        return
    first, after = _decoded(text, start, decoder)
    after = _skip(text, after)
    if after < len(text):
        yield first
        yield from _lines(text, after, decoder, say)
        return
    if len(text) > _LARGEST_WHOLE:
        raise UnreadableFile("The JSON document is too large for its form; save it as one record per line.")
    yield from _with_names(iter(_listed(first)))


def _after_list(text: str, start: int, decoder: json.JSONDecoder) -> tuple[Any, int | None]:
    """For lists one per line, the first of them and where it ends; (None, None) for one list of everything."""
    line = text.find("\n", start)
    if line < 0 or line - start > 1 << 20:
        return None, None
    try:
        value, end = decoder.raw_decode(text[start:line])
    except ValueError:
        return None, None
    except RecursionError:
        raise UnreadableFile(_DEEP) from None
    after = _skip(text, start + end)
    flat = not any(isinstance(cell, dict | list) for cell in value)
    return (value, after) if flat and after < len(text) else (None, None)


def _items(text: str, at: int, decoder: json.JSONDecoder, say: Say) -> Iterator[Any]:
    count = 0
    at = _skip(text, at)
    while not text.startswith("]", at):
        value, at = _decoded(text, at, decoder)
        yield value
        at = _skip(text, at)
        if text.startswith(",", at):
            at = _skip(text, at + 1)
        elif not text.startswith("]", at):
            raise UnreadableFile(_broken(text, at))
        count += 1
        if count % 5000 == 0:
            say(at / len(text))
    if _skip(text, at + 1) < len(text):
        raise UnreadableFile(_broken(text, at + 1))


def _lines(text: str, at: int, decoder: json.JSONDecoder, say: Say) -> Iterator[Any]:
    count = 0
    while at < len(text):
        value, at = _decoded(text, at, decoder)
        yield value
        at = _skip(text, at)
        count += 1
        if count % 5000 == 0:
            say(at / len(text))


def _decoded(text: str, at: int, decoder: json.JSONDecoder) -> tuple[Any, int]:
    try:
        return decoder.raw_decode(text, at)
    except json.JSONDecodeError as error:
        raise UnreadableFile(_broken(text, error.pos)) from None
    except RecursionError:
        raise UnreadableFile(_DEEP) from None


def _broken(text: str, at: int) -> str:
    line = text.count("\n", 0, at) + 1
    return f"The JSON document breaks off or is not well-formed on line {line:,}; export it again."


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at] in _BLANK:
        at += 1
    return at


def _listed(document: Any) -> list[Any]:
    """The records inside one object: a list of records under any name, or columns side by side."""
    if not isinstance(document, dict):
        raise UnreadableFile(_TYPES)
    names, rows = document.get("columns"), document.get("data")
    if isinstance(names, list) and isinstance(rows, list) and all(isinstance(row, list) for row in rows):
        return [dict(zip(map(str, names), row, strict=False)) for row in rows]
    lists = [value for value in document.values() if isinstance(value, list)]
    records = [value for value in lists if value and all(isinstance(record, dict) for record in value)]
    if len(records) == 1:
        return records[0]
    values = list(document.values())
    if len(lists) == len(values) > 0 and len({len(value) for value in lists}) == 1:
        return [dict(zip(document, row, strict=True)) for row in zip(*lists, strict=True)]
    inner = [value for value in values if isinstance(value, dict)]
    if len(inner) == len(values) > 1 and len({tuple(value) for value in inner}) == 1:
        flat = not any(isinstance(cell, dict | list) for value in inner for cell in value.values())
        if flat and len(inner[0]) > len(inner):
            return [dict(zip(document, row, strict=True)) for row in zip(*(v.values() for v in inner), strict=True)]
        return inner
    if records or inner:
        raise UnreadableFile(_TYPES)
    return [document]


def _with_names(records: Iterator[Any]) -> Iterator[Any]:
    """Lists whose first one holds only words are rows under that one's names."""
    first = next(records, None)
    if first is None:
        return
    if isinstance(first, list) and _are_names(first):
        for row in records:
            if not isinstance(row, list) or len(row) > len(first):
                raise UnreadableFile(_TYPES)
            yield dict(zip(first, row, strict=False))
        return
    yield first
    yield from records


def _are_names(cells: list[Any]) -> bool:
    words = [cell for cell in cells if isinstance(cell, str) and cell and not _is_number(cell)]
    return 0 < len(cells) == len(words) == len(set(words))


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def _flatten(record: dict[str, Any], prefix: str, cells: dict[str, str], left_out: dict[str, int], depth: int) -> None:
    """Put a record's values into ``cells``; names are bounded before they are put together, for each repeats those
    of the objects around it. Raises UnreadableFile."""
    for key, value in record.items():
        if len(prefix) + len(key) > _LONGEST_NAME:
            raise UnreadableFile(
                f"The JSON document has names of more than {_LONGEST_NAME:,} characters; shorten them."
            )
        name = f"{prefix}{key}"
        check_size(1, len(cells))
        if isinstance(value, str):
            cells[name] = value
        elif value is None:
            cells[name] = ""
        elif isinstance(value, bool):
            cells[name] = "true" if value else "false"
        elif isinstance(value, dict) and depth < _DEEPEST:
            _flatten(value, f"{name}.", cells, left_out, depth + 1)
        elif isinstance(value, list) and not any(isinstance(part, dict | list) for part in value):
            cells[name] = "; ".join(_word(part) for part in value)
        else:
            name = name if name in left_out or len(left_out) < MOST_COLUMNS else next(iter(left_out))
            left_out[name] = left_out.get(name, 0) + 1


def _word(part: Any) -> str:
    if isinstance(part, bool):
        return "true" if part else "false"
    return "" if part is None else str(part)
