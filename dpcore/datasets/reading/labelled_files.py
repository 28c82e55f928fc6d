"""Files of SPSS, Stata and SAS: labels in place of codes, and what a file declares missing stays missing.

What a cell says follows from its own code and the label of that code alone: how many labels a column has, which many
programs make of its rows, a code that has none, a number that is no day, or bytes that are no letters, in a cell or in
a label, change no other row.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Hashable
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd

from dpcore.datasets.held import held_by
from dpcore.datasets.reading.bounds import check_size, check_text, check_told
from dpcore.datasets.reading.gathering import Gathering
from dpcore.datasets.reading.labelled_days import Moment, moments
from dpcore.datasets.reading.labelled_heads import Head, head_of, key
from dpcore.datasets.reading.labelled_letters import Decode, beside, decoded, decoder, raw, rows_of
from dpcore.datasets.reading.labelled_pieces import Pieces, pieces, pieces_by_words
from dpcore.datasets.reading.labelled_spss import stating_alone, with_zeros_marked, without_zeros
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
    """Columns as text under the file's names, codes as they are written; those with labels again in ``as_labels``, each
    cell with its label in place of its code. ``codebooks`` hold the labels of a column's values by their codes, in the
    order of these; ``about`` the columns' descriptions. Empty rows behind the others cannot be told from what fills up
    an ``open_ended`` file."""

    frame: pd.DataFrame
    as_labels: pd.DataFrame
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
    read = _asked(readers[kind], kind)
    with private_folder() as folder:
        file = private_file(folder, data)
        stated = _stated_encoding(read, folder, data, kind, str(file))
        decode = decoder(data, kind, stated)
        more = {"user_missing": True} if kind == "spss" else {}  # what is declared missing is told only so
        meta = beside(read, str(file), kind, **more)
        check_size(max(meta.number_rows or 0, 0), len(meta.column_names))
        if not meta.column_names:
            raise UnreadableFile("The file holds no columns.")
        check_told(held_by(meta.variable_value_labels, meta.column_names_to_labels))
        head = head_of(meta, partial(raw, kind=kind), decode)
        days = _days(kind, head)
        blank = _BLANK_NUMBERS if kind == "transport" else frozenset[float]()
        zeros = kind == "spss" and stated == "UTF-8"
        if zeros:
            file = private_file(folder, with_zeros_marked(data), "marked")
        cells, piece = _cells(read, str(file), data, kind, meta, zeros=zeros)
        found = _read(cells, decode, head, meta.number_rows, piece, days, blank, say)
        return replace(found, open_ended=kind == "transport")


def _asked(read: Callable[..., Any], kind: LabelledKind) -> Callable[..., Any]:
    """A reader that raises UnreadableFile for whatever it breaks with: it is given nothing but the file."""

    def asked(file: str, **given: Any) -> Any:
        try:
            return read(file, **given)
        except Exception as error:  # noqa: BLE001 - of a name that a file lacks it makes a TypeError, say
            check_memory(error)
            raise UnreadableFile(
                f"This {_NAMES[kind]} file is damaged or of a kind that cannot be read; save it again or as CSV."
            ) from None

    return asked


def _stated_encoding(read: Callable[..., Any], folder: Path, data: bytes, kind: LabelledKind, file: str) -> str | None:
    """In which letters the words of a file are by what it states itself, None where it does not. Raises UnreadableFile,
    as its reader does."""
    if kind == "spss":
        file = str(private_file(folder, stating_alone(data), "stating"))
    elif kind != "sas":
        return None
    found: str | None = read(file, metadataonly=True)[1].file_encoding
    return found


def _days(kind: LabelledKind, head: Head) -> dict[str, Callable[[Any], Moment]]:
    """Of each column of days or times, what its numbers stand for."""
    found = ((name, moments(_NAMES[kind], form)) for name, form in head.written.items())
    return {name: moment for name, moment in found if moment is not None}


def _cells(
    read: Callable[..., Any], file: str, data: bytes, kind: LabelledKind, meta: Any, *, zeros: bool
) -> tuple[_Cells, Pieces]:
    """How a file's cells are read, and of which pieces; with ``zeros`` those within its words are marked."""
    if kind == "stata" and stands_apart(data):
        apart = StataCells(data, meta.number_rows, len(meta.column_names))
        return apart.read, pieces_by_words(apart.apart(), meta)

    def cells(offset: int, limit: int) -> list[list[Any]]:
        given = {"row_offset": offset, "row_limit": limit, "output_format": "dict"}
        found = rows_of(read, file, kind, disable_datetime_conversion=True, **given)
        return [list(map(without_zeros, column)) for column in found] if zeros else found

    return cells, pieces(data, meta)


def _read(
    cells: _Cells,
    decode: Decode,
    head: Head,
    rows: int | None,
    piece: Pieces,
    days: dict[str, Callable[[Any], Moment]],
    blank: frozenset[float],
    say: Say,
) -> Labelled:
    missing = {name: _within(ranges) for name, ranges in head.missing.items()}
    labels = {name: _answers(known, missing.get(name, _nothing)) for name, known in head.labels.items()}
    says = {name: {cell: label for cell, (_, label) in known.items()} for name, known in labels.items()}
    gathered, labelled = Gathering(head.names), Gathering(labels)
    offset = total = 0
    unreadable = dict.fromkeys(head.names, 0)
    while True:
        chunk = piece(offset, total)
        texts, answers = {}, {}
        for name, values in zip(head.names, cells(offset, chunk), strict=True):
            words, lost = decoded(values, decode)
            texts[name] = _texts(_without(words, blank) if blank else words, days.get(name))
            unreadable[name] += lost
            if name in says:
                told = zip(map(key, values), texts[name], strict=True)
                answers[name] = [says[name].get(cell, text) for cell, text in told]
        for column in texts.values():
            total += sum(map(len, column))
            check_text(total, max(map(len, column), default=0))
        size = len(next(iter(texts.values()), []))
        for row in range(size):
            gathered.add({name: texts[name][row] for name in texts})
            labelled.add({name: answers[name][row] for name in answers})
        offset += size
        say(offset / max(rows or offset, 1))
        if size < chunk:
            break
    return Labelled(
        frame=gathered.frame(),
        as_labels=labelled.frame(),
        codebooks={name: dict(known.values()) for name, known in labels.items()},
        about=head.about,
        notices=(*_unreadable(unreadable), *_unreadable_labels(head.unreadable), *_declared(missing)),
    )


def read_as_labels(columns: Collection[str]) -> Notice:
    """What is said of columns with labels."""
    sentence = (
        "A value that the file labels reads as its label, which may mean missing; a column can be read by its codes "
        "instead."
    )
    return Notice(what="noticed", sentence=sentence, count=len(columns), columns=tuple(columns))


def _answers(
    labels: dict[Hashable, tuple[Any, str]], is_missing: Callable[[str], bool]
) -> dict[Hashable, tuple[str, str]]:
    """What cells read as: all labels but those of codes that the file declares missing, with codes as they are
    written."""
    written = {cell: (_text(code), label) for cell, (code, label) in labels.items()}
    return {cell: (code, label) for cell, (code, label) in written.items() if not is_missing(code)}


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


def _unreadable_labels(labels: dict[str, int]) -> list[Notice]:
    if not labels:
        return []
    sentence = "Values whose label has bytes that are no letters in the file's encoding are read as missing."
    return [Notice(what="repaired", sentence=sentence, count=sum(labels.values()), columns=tuple(labels))]


def _declared(missing: Collection[str]) -> list[Notice]:
    if not missing:
        return []
    sentence = "Values that the file itself declares missing are read as missing."
    return [Notice(what="noticed", sentence=sentence, count=len(missing), columns=tuple(missing))]


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
        return _span(value)
    return str(value)


def _span(value: timedelta) -> str:
    """Hours, minutes and seconds, as spans of time of Arrow read."""
    whole, part = divmod(abs(value) // timedelta(microseconds=1), 10**6)
    written = f"{whole // 3600:02}:{whole // 60 % 60:02}:{whole % 60:02}"
    return f"{'-' if value < timedelta() else ''}{written}{f'.{part:06}'.rstrip('0') if part else ''}"
