"""Files of SPSS, Stata and SAS: labels in place of codes, and what a file declares missing stays missing.

What a cell says follows from its own code and the label of that code alone: how many labels a column has, which many
programs make of its rows, a code that has none, a number that is no day, or bytes that are no letters, change no other
row.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from typing import Any, Literal

import numpy as np
import pandas as pd

from dpcore.datasets.held import held_by
from dpcore.datasets.reading.bounds import check_size, check_text, check_told
from dpcore.datasets.reading.gathering import Gathering
from dpcore.datasets.reading.labelled_days import Moment, moments
from dpcore.datasets.reading.labelled_letters import Decode, decoded, decoder, rows_of, states_utf8
from dpcore.datasets.reading.labelled_pieces import Pieces, pieces, pieces_by_words
from dpcore.datasets.reading.labelled_spss import with_zeros_marked
from dpcore.datasets.reading.labelled_stata import StataCells, stands_apart
from dpcore.datasets.reading.no_memory import check_memory
from dpcore.datasets.report import Notice
from dpcore.datasets.temporary import private_file, private_folder
from dpcore.errors import UnreadableFile

LabelledKind = Literal["spss", "portable", "stata", "sas", "transport"]
_NAMES = {"spss": "SPSS", "portable": "SPSS", "stata": "Stata", "sas": "SAS", "transport": "SAS"}
_BLANK_NUMBERS = frozenset(
    math.ldexp(int.from_bytes(b" " * (width - 1), "big"), 4 * (0x20 - 0x40) - 8 * (width - 1)) for width in range(2, 9)
)
"""What blanks are in a transport file where a number stands: 16 to the power of the first byte less 64, times the
fraction that the others are. Rows of blanks at its end are no rows, so elsewhere they hold nothing either.
"""
Say = Callable[[float], None]
_Cells = Callable[[int, int], list[list[Any]]]
"""The cells of each column, words as bytes: after so many rows, at most so many."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Labelled:
    """Columns as text under the file's names, codes as they are written. ``codebooks`` hold the labels of a column's
    values by these, in their order; ``about`` the columns' descriptions. Empty rows behind the others cannot be told
    from what fills up an ``open_ended`` file."""

    frame: pd.DataFrame
    codebooks: dict[str, dict[str, str]]
    about: dict[str, str]
    notices: tuple[Notice, ...]
    open_ended: bool = False


def labelled_table(data: bytes, kind: LabelledKind, say: Say) -> Labelled:
    """Raises UnreadableFile."""
    import pyreadstat

    readers: dict[LabelledKind, Callable[..., Any]] = {
        "spss": pyreadstat.read_sav,
        "portable": pyreadstat.read_por,
        "stata": pyreadstat.read_dta,
        "sas": pyreadstat.read_sas7bdat,
        "transport": pyreadstat.read_xport,
    }
    read = readers[kind]
    with private_folder() as folder:
        file = private_file(folder, data)
        try:
            meta = _about_columns(read, str(file), kind)
            names = list(meta.column_names)
            check_size(max(meta.number_rows or 0, 0), len(names))
            if not names:
                raise UnreadableFile("The file holds no columns.")
            check_told(held_by(meta.variable_value_labels, meta.column_names_to_labels))
            days = _days(kind, meta)
            blank = _BLANK_NUMBERS if kind == "transport" else frozenset[float]()
            if states_utf8(kind, meta):
                file = private_file(folder, with_zeros_marked(data), "marked")
            cells, piece = _cells(read, str(file), data, kind, meta)
            found = _read(cells, decoder(data, kind, meta), meta, piece, days, blank, say)
            return replace(found, open_ended=kind == "transport")
        except (
            pyreadstat.ReadstatError,
            pyreadstat.PyreadstatError,
            OSError,
            UnicodeDecodeError,
            OverflowError,
        ) as error:
            check_memory(error)
            raise UnreadableFile(
                f"This {_NAMES[kind]} file is damaged or of a kind that cannot be read; save it again or as CSV."
            ) from None


def _about_columns(read: Callable[..., Any], file: str, kind: LabelledKind) -> Any:
    """What a file says beside its rows. Raises UnreadableFile where its words are written in wider letters than those
    that its reader knows, and what that raises."""
    more = {"user_missing": True} if kind == "spss" else {}  # which values are declared missing is told only so
    try:
        return read(file, metadataonly=True, **more)[1]
    except TypeError:  # from it alone: there are no names
        raise UnreadableFile(
            f"Words in this {_NAMES[kind]} file are in an encoding that cannot be read; save it in UTF-8, or as CSV."
        ) from None


def _days(kind: LabelledKind, meta: Any) -> dict[str, Callable[[Any], Moment]]:
    """Of each column of days or times, what its numbers stand for."""
    written = (meta.original_variable_types or {}).items()
    found = ((str(name), moments(_NAMES[kind], str(form or ""))) for name, form in written)
    return {name: moment for name, moment in found if moment is not None}


def _cells(read: Callable[..., Any], file: str, data: bytes, kind: LabelledKind, meta: Any) -> tuple[_Cells, Pieces]:
    """How a file's cells are read, and of which pieces."""
    if kind == "stata" and stands_apart(data):
        apart = StataCells(data, meta.number_rows, len(meta.column_names))
        return apart.read, pieces_by_words(apart.apart(), meta)

    def cells(offset: int, limit: int) -> list[list[Any]]:
        given = {"row_offset": offset, "row_limit": limit, "output_format": "dict"}
        return rows_of(read, file, kind, disable_datetime_conversion=True, **given)

    return cells, pieces(data, meta)


def _read(
    cells: _Cells,
    decode: Decode,
    meta: Any,
    piece: Pieces,
    days: dict[str, Callable[[Any], Moment]],
    blank: frozenset[float],
    say: Say,
) -> Labelled:
    names = [str(name) for name in meta.column_names]
    labels = {str(name): {_code(code): str(word) for code, word in known.items()}
              for name, known in (meta.variable_value_labels or {}).items()}  # fmt: skip
    gathered = Gathering(names)
    offset = total = 0
    unreadable = dict.fromkeys(names, 0)
    while True:
        chunk = piece(offset, total)
        texts = {}
        for name, values in zip(names, cells(offset, chunk), strict=True):
            words, lost = decoded(values, decode)
            texts[name] = _texts(_without(words, blank) if blank else words, days.get(name))
            unreadable[name] += lost
        for column in texts.values():
            total += sum(map(len, column))
            check_text(total, max(map(len, column), default=0))
        size = len(next(iter(texts.values()), []))
        for row in range(size):
            gathered.add({name: texts[name][row] for name in names})
        offset += size
        say(offset / max(meta.number_rows or offset, 1))
        if size < chunk:
            break
    frame = gathered.frame()
    declared = _declared_missing(meta)
    codebooks = {name: _answers(known, declared.get(name, _nothing)) for name, known in labels.items()}
    notices = (*_unreadable(unreadable), *_declared(declared))
    return Labelled(frame=frame, codebooks=codebooks, about=_about(meta), notices=notices)


def as_labels(cells: pd.Series, labels: Mapping[str, str]) -> pd.Series:
    """The cells of a column with the label of each in place of its code, shape (rows,)."""
    return cells.map(lambda code: labels.get(code, code)).astype(cells.dtype)


def read_as_labels(columns: Collection[str]) -> Notice:
    """What is said of columns with labels."""
    sentence = (
        "A value that the file labels reads as its label, which may mean missing; a column can be read by its codes "
        "instead."
    )
    return Notice(what="noticed", sentence=sentence, count=len(columns), columns=tuple(columns))


def _answers(labels: dict[str, str], is_missing: Callable[[str], bool]) -> dict[str, str]:
    """The labels, by code, that cells read as: all but those of codes that the file declares missing."""
    return {code: label for code, label in labels.items() if not is_missing(code)}


def _without(values: Any, blank: frozenset[float]) -> Any:
    """Numbers without those that are blanks."""
    found = np.asarray(values)
    if found.dtype.kind != "f":
        return values
    for one in blank:
        found = np.where(found == one, np.nan, found)
    return found


def _unreadable(cells: dict[str, int]) -> list[Notice]:
    here = {name: count for name, count in cells.items() if count}
    if not here:
        return []
    sentence = "Cells with bytes that are no letters in the file's encoding are read as missing."
    return [Notice(what="repaired", sentence=sentence, count=sum(here.values()), columns=tuple(here))]


def _declared(missing: Collection[str]) -> list[Notice]:
    if not missing:
        return []
    sentence = "Values that the file itself declares missing are read as missing."
    return [Notice(what="noticed", sentence=sentence, count=len(missing), columns=tuple(missing))]


def _about(meta: Any) -> dict[str, str]:
    labels = meta.column_names_to_labels or {}
    return {str(name): str(label) for name, label in labels.items() if label and str(label) != str(name)}


def _declared_missing(meta: Any) -> dict[str, Callable[[str], bool]]:
    """Per column with values declared missing, whether a code is one of them."""
    found: dict[str, Callable[[str], bool]] = {}
    for name, ranges in (meta.missing_ranges or {}).items():
        found[str(name)] = _within([(part["lo"], part["hi"]) for part in ranges])
    return found


def _within(ranges: list[tuple[Any, Any]]) -> Callable[[str], bool]:
    def inside(code: str) -> bool:
        for low, high in ranges:
            if isinstance(low, str):
                if code == low:
                    return True
            else:
                try:
                    if low <= float(code) <= high:
                        return True
                except ValueError:
                    continue
        return False

    return inside


def _nothing(_: str) -> bool:
    return False


def _code(code: object) -> str:
    return _text(code)


def _texts(values: Any, moment: Callable[[Any], Moment] | None) -> list[str]:
    if moment is not None:
        return [_text(value if isinstance(value, str) else moment(value)) for value in values]
    if any(isinstance(value, str) for value in values):  # an array would give each the room of the longest
        return [_text(value) for value in values]
    found = np.asarray(values)
    if found.dtype.kind == "f":
        whole = np.isnan(found) | ((found == np.floor(found)) & (np.abs(found) < 2**53))
        if whole.all():
            gone = np.isnan(found)
            written = np.where(gone, 0, found).astype(np.int64).astype(str)
            written[gone] = ""
            return [str(cell) for cell in written]
    return [_text(value) for value in values]


def _text(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return value.rstrip()
    if isinstance(value, float | np.floating):
        number = float(value)
        if math.isnan(number):
            return ""
        return str(int(number)) if number.is_integer() and abs(number) < 2**53 else repr(number)
    if isinstance(value, np.datetime64):
        return "" if np.isnat(value) else str(value.astype("datetime64[s]")).replace("T", " ").removesuffix(" 00:00:00")
    if isinstance(value, datetime):
        plain = value.replace(microsecond=0, tzinfo=None)
        return plain.date().isoformat() if plain.time() == time() else plain.isoformat(sep=" ")
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, timedelta):
        return str(value)
    return str(value)
