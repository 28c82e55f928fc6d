"""JSON and JSON lines: records one after the other, numbers with the very digits of the file.

Objects inside a record become columns such as "address.city", a list of words one cell "a; b; c". What has no place in
a cell, such as a list of records, is left out and said. Records that are lists name no cell of theirs: they are rows as
those of a sheet, whose first ones may name the columns.
"""

from __future__ import annotations

import json
from array import array
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd

from dpcore.datasets.reading.bounds import MOST_COLUMNS, check_size
from dpcore.datasets.reading.gathering import Gathering
from dpcore.datasets.reading.naming import alphabetical, by_itself
from dpcore.datasets.reading.one_object import NO_RECORDS, Found, inside, is_one_row, named, word
from dpcore.datasets.reading.survey import HEAD, TAIL, Survey
from dpcore.datasets.report import Alternative, Notice, Objects
from dpcore.errors import UnreadableFile

_LARGEST_WHOLE = 64 << 20  # a document that is not a list of records is held as a whole
_BLANK = " \t\r\n"
_DEEPEST = 6
_LONGEST_NAME = 10_000
_DEEP = "The JSON document is nested too deeply to be a table."
_NONE = "The JSON document holds no records."
_SEVERAL = (
    "The rows were said to stand inside one JSON document, and others follow it in this file; take that back, so that "
    "each document is a row."
)
Say = Callable[[float], None]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Document:
    """The records of a document as a frame, its columns named as they name their cells.

    Of records that are lists the columns are 0, 1, …, beside a ``survey`` of them; ``headed`` is whether the document
    itself says that the first of them holds the names. ``objects`` is how a document that is an object was taken.
    """

    frame: pd.DataFrame
    notices: tuple[Notice, ...]
    survey: Survey | None = None
    headed: bool = False
    objects: Objects | None = None
    alternatives: tuple[Alternative, ...] = ()


def json_document(text: str, objects: Objects | None, say: Say) -> Document:
    """Records of a JSON document or of one JSON value per line, all of them objects or all lists; null is one without
    anything in it. ``objects`` says how a document that is an object holds them. Raises UnreadableFile."""
    found = _found(text, objects, say)
    records = iter(found.records)
    first: list[Any] = []
    for record in records:
        first.append(record)
        if record is not None:
            break
    else:
        raise UnreadableFile(_NONE)
    left_out: dict[str, int] = {}
    gathering = _of_lists if isinstance(first[-1], list) else _of_objects
    frame, survey = gathering(chain(first, records), left_out)
    if survey is None:
        public = list(first[-1]) if found.objects == "columns" else []
        own = [name for name in public if name in frame.columns]
        frame = frame[own + sorted(set(frame.columns) - set(own), key=alphabetical)]
    notices = []
    if left_out:
        notices.append(
            Notice(
                what="set aside",
                sentence="Lists of records inside records, and what stands under names of more than "
                f"{_LONGEST_NAME:,} letters, have no place in a table and were left out.",
                count=sum(left_out.values()),
                columns=tuple(name for name in list(left_out)[:50]),
            )
        )
    return Document(
        frame=frame,
        notices=tuple(notices),
        survey=survey,
        headed=found.headed,
        objects=found.objects,
        alternatives=found.alternatives,
    )


def _of_objects(records: Iterable[Any], left_out: dict[str, int]) -> tuple[pd.DataFrame, None]:
    gathered = Gathering()
    for record in records:
        cells: dict[str, str] = {}
        if isinstance(record, dict):
            _flatten(record, "", cells, left_out, 0)
        elif record is not None:
            raise UnreadableFile(NO_RECORDS)
        gathered.add(cells)
    if not gathered.names:
        raise UnreadableFile(_NONE)
    return gathered.frame(), None


def _of_lists(records: Iterable[Any], left_out: dict[str, int]) -> tuple[pd.DataFrame, Survey]:
    gathered, counts = Gathering(), array("q")
    head: list[list[str]] = []
    tail: deque[list[str]] = deque(maxlen=TAIL)
    beyond: dict[int, int] = {}
    for record in records:
        row = [] if record is None else record
        if not isinstance(row, list):
            raise UnreadableFile(NO_RECORDS)
        if len(row) > MOST_COLUMNS:
            beyond[len(counts)] = len(row)
        named = {f"column {place + 1}": cell for place, cell in enumerate(row[:MOST_COLUMNS])}
        cells = dict.fromkeys(named, "")
        _flatten(named, "", cells, left_out, _DEEPEST)
        gathered.add(cells)
        counts.append(len(named))
        tail.append(list(cells.values()))
        if len(head) < HEAD:
            head.append(tail[-1])
    if not gathered.names:
        raise UnreadableFile(_NONE)
    frame = gathered.frame()
    frame.columns = pd.RangeIndex(frame.shape[1])
    found = np.frombuffer(counts, dtype=np.int64)
    lines = np.arange(1, len(found) + 1, dtype=np.int64)
    blank = np.zeros(0, dtype=np.int64)
    return frame, Survey(counts=found, lines=lines, blank=blank, head=head, tail=list(tail), beyond=beyond)


def _found(text: str, objects: Objects | None, say: Say) -> Found:
    # a tab within a text, as it stands, is no reason to refuse all rows
    decoder = json.JSONDecoder(parse_float=str, parse_int=str, parse_constant=str, strict=False)
    start = _skip(text, 0)
    if text.startswith("[", start):
        first, after = _after_list(text, start, decoder)
        if after is None:  # one list of records: never held as a whole
            return Found(records=_items(text, start + 1, decoder, say))
        return Found(records=chain([first], _lines(text, after, decoder, say)))
    telling = json.JSONDecoder(
        parse_float=str, parse_int=str, parse_constant=str, strict=False, object_pairs_hook=named
    )
    first, after = _decoded(text, start, telling)  # where it is one object, a name in it may be a row's
    after = _next_line(text, after)
    if after < len(text):
        several = chain([first], _lines(text, after, decoder, say))
        return Found(records=several if objects is None else _each_a_row(several, objects), objects=objects)
    if len(text) > _LARGEST_WHOLE:
        raise UnreadableFile("The JSON document is too large for its form; save it as one record per line.")
    return inside(first, objects)


def _each_a_row(documents: Iterable[Any], objects: Objects) -> Iterator[Any]:
    """Several documents where it was stated how one holds its rows: each is one, as was said of a record, or they are
    refused, wherever one stands that would hold some. Raises UnreadableFile."""
    for document in documents:
        if objects != "rows" or not is_one_row(document):
            raise UnreadableFile(_SEVERAL)
        yield document


def _after_list(text: str, start: int, decoder: json.JSONDecoder) -> tuple[Any, int | None]:
    """For lists one per line, the first of them and where it ends; (None, None) for one list of everything. One that
    stands alone is a row too where it holds no record: else the second would decide whether the first is read."""
    line = text.find("\n", start)
    line = len(text) if line < 0 else line
    if line - start > 1 << 20:
        return None, None
    try:
        value, end = decoder.raw_decode(text[start:line])
    except ValueError:
        return None, None
    except RecursionError:
        raise UnreadableFile(_DEEP) from None
    after = _next_line(text, start + end)
    is_row = value and not any(isinstance(cell, dict | list) for cell in value)
    return (value, after) if is_row or after < len(text) else (None, None)


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
        at = _next_line(text, at)
        count += 1
        if count % 5000 == 0:
            say(at / len(text))


def _next_line(text: str, at: int) -> int:
    """Where the next document begins, on a line below: behind a row that is no JSON a line is looked at alone."""
    after = _skip(text, at)
    if after < len(text) and text.find("\n", at, after) < 0:
        raise UnreadableFile(_broken(text, after))
    return after


def _decoded(text: str, at: int, decoder: json.JSONDecoder) -> tuple[Any, int]:
    try:
        return decoder.raw_decode(text, at)
    except json.JSONDecodeError as error:
        raise UnreadableFile(_broken(text, error.pos)) from None
    except RecursionError:
        raise UnreadableFile(_DEEP) from None


def _broken(text: str, at: int) -> str:
    line = text.count("\n", 0, at) + 1
    return (
        f"The JSON document breaks off or is not well-formed on line {line:,}; export it again, or say where its cells "
        "end if it is none."
    )


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at] in _BLANK:
        at += 1
    return at


def _flatten(record: dict[str, Any], prefix: str, cells: dict[str, str], left_out: dict[str, int], depth: int) -> None:
    """Put a record's values into ``cells``; names are bounded before they are put together, for each repeats those
    of the objects around it, and what stands under a longer one is left out. Raises UnreadableFile."""
    for key, value in record.items():
        too_long = len(prefix) + len(key) > _LONGEST_NAME
        name = by_itself(f"{prefix}{key[:_LONGEST_NAME]}"[:_LONGEST_NAME])
        check_size(1, len(cells))
        if too_long:
            _leave_out(name, left_out)
        elif isinstance(value, str):
            cells[name] = value
        elif value is None:
            cells[name] = ""
        elif isinstance(value, bool):
            cells[name] = "true" if value else "false"
        elif isinstance(value, dict) and depth < _DEEPEST:
            _flatten(value, f"{prefix}{key}.", cells, left_out, depth + 1)
        elif isinstance(value, list) and not any(isinstance(part, dict | list) for part in value):
            cells[name] = "; ".join(word(part) for part in value)
        else:
            _leave_out(name, left_out)


def _leave_out(name: str, left_out: dict[str, int]) -> None:
    name = name if name in left_out or len(left_out) < MOST_COLUMNS else next(iter(left_out))
    left_out[name] = left_out.get(name, 0) + 1
