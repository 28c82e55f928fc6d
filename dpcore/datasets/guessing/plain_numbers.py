"""Columns of many plain numbers: told from their bytes in whole arrays, without a list of their different words.

What ``words`` and ``numerals`` would find in such a column follows from its values alone. That is exact where every
word is digits without leading zeros, at most one point behind the first of them, and at most a minus in front, of up to
15 signs: then two words are the same if their values (−0 apart from 0) and lengths are. Whatever else a column holds,
however rarely, it is left to ``words``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pyarrow as pa

from dpcore.datasets.guessing.dates import COMPACT
from dpcore.datasets.guessing.numerals import (
    identifier,
    identifies,
    may_count_days,
    nines,
    numeric,
    stands_apart,
)
from dpcore.datasets.guessing.plain_cells import PlainCells, plain_cells
from dpcore.datasets.guessing.words import Guess, Hint
from dpcore.datasets.numerals import is_number
from dpcore.datasets.schema import Column, ColumnType, Decimal
from dpcore.validate import FloatArray, IntArray

_LONGEST = 15  # so many digits a float keeps
_SPREAD = 32  # up to so many places for each number, to mark those met is faster than to sort
_PLAIN = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]*)?")
_MINUS, _POINT, _SLASH, _ZERO = b"-./0"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PlainNumbers:
    """What ``Words`` would tell of such a column, whose cells that are not missing are ``present``.

    ``spread`` is how far the largest lies from the smallest. ``pointed`` says that some have a point, and then that one
    of them is no number where a comma marks decimals.
    """

    name: str
    present: int
    distinct: int
    spread: float
    missing: tuple[tuple[str, int], ...]
    pointed: bool

    @property
    def decisive(self) -> Decimal | None:
        """As ``Marks.decisive``."""
        return "." if self.pointed else None

    def guess(self, hint: Hint) -> Guess:
        """As ``numerals.guess``, which here depends on no other column; with points in it none is stated but those."""
        if not self.pointed and identifies(self.name, self.distinct, self.present, self.spread):
            return identifier(self.name, 0)
        kind: ColumnType = "number" if self.pointed else "integer"
        column = Column(name=self.name, type=kind, decimal=hint.decimal or ".")
        how = " with a decimal point" if self.pointed else ""
        return numeric(column, how, bad=np.zeros(0, dtype=bool))


def plain_numbers(cells: pd.Series) -> PlainNumbers | None:
    """None where a column of text is anything else, or its guess would need its words."""
    found = plain_cells(cells, _suit)
    if found is None:
        return None
    column = found.present
    parts = [part for chunk in column.chunks if len(chunk) and (part := _part(chunk)) is not None]
    if sum(part.values.size for part in parts) < len(column):
        return None
    return _told(str(cells.name), parts, found)


def _suit(words: list[str]) -> bool:
    return all(map(_PLAIN.fullmatch, words)) and not all(re.fullmatch(COMPACT, word) for word in words)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Part:
    """Some cells: their values and lengths, and how many digits follow the point where each has as many, else None.

    Looked at part by part, each of which stays in a core's own memory; whole columns would not.
    """

    values: FloatArray
    lengths: np.ndarray
    least: float
    most: float
    pointed: bool
    decimals: int | None


def _part(cells: pa.LargeStringArray) -> _Part | None:
    """None where a cell is not plain."""
    if cells.null_count or cells.type != pa.large_string():
        return None
    _, places, signs = cells.buffers()
    borders = np.frombuffer(places, dtype=np.int64)[cells.offset : cells.offset + len(cells) + 1]
    text = np.frombuffer(signs, dtype=np.uint8)[borders[0] : borders[-1]]
    starts, lengths = borders[:-1] - borders[0], np.diff(borders)
    if lengths.max() > _LONGEST or not _of_numbers(text):
        return None
    try:
        values = cells.cast(pa.float64()).to_numpy()
    except pa.ArrowInvalid:
        return None
    # The cast took each: a digit is in every cell, and behind a minus comes a digit or a point.
    first = text[starts]
    padded = np.flatnonzero((first == _MINUS) | (first == _ZERO) & (lengths > 1) | (first == _POINT))
    if padded.size and not _unpadded(text, starts[padded], lengths[padded]):
        return None
    points = np.flatnonzero(text == _POINT)
    return _Part(
        values=values,
        lengths=lengths.astype(np.uint8),
        least=float(values.min()),
        most=float(values.max()),
        pointed=points.size > 0,
        decimals=_shared(starts + lengths - points - 1) if points.size == len(cells) else None,
    )


def _of_numbers(text: np.ndarray) -> bool:
    """Whether there is nothing but digits, points and minuses."""
    return bool((text - _MINUS <= 12).all()) and not (text == _SLASH).any()


def _unpadded(text: np.ndarray, starts: IntArray, lengths: IntArray) -> bool:
    """Whether each of these cells begins, behind a minus, with a digit, and with 0 only right before a point."""
    negative = text[starts] == _MINUS
    leading = text[starts + negative]
    following = text[np.minimum(starts + negative + 1, text.size - 1)]
    padded = (leading == _ZERO) & (lengths - negative > 1) & (following != _POINT)
    return not (padded | (leading == _POINT)).any()


def _shared(numbers: IntArray) -> int | None:
    """The number that all of these are."""
    return int(numbers[0]) if (numbers == numbers[0]).all() else None


def _told(name: str, parts: list[_Part], cells: PlainCells) -> PlainNumbers | None:
    least, most = min(part.least for part in parts), max(part.most for part in parts)
    pointed = any(part.pointed for part in parts)
    if pointed:
        dotted = pd.Series([word for word in cells.start if "." in word], dtype=pd.StringDtype(na_value=np.nan))
        if dotted.empty or is_number(dotted, ",").all():
            return None
    elif may_count_days(name, least, most):
        return None
    # where neither end is all nines, every value of nines lies between two of the others
    if nines(np.array([least, most])).any() and _stand_apart(np.concatenate([part.values for part in parts])):
        return None
    return PlainNumbers(
        name=name,
        present=sum(part.values.size for part in parts),
        distinct=_different(parts, least, most, pointed),
        spread=most - least,
        missing=cells.missing,
        pointed=pointed,
    )


def _stand_apart(values: FloatArray) -> bool:
    """Whether a value of nines may stand for a missing answer: the words then say which it is."""
    found = nines(values)
    for value in np.unique(values[found]):
        others = values[~(found & (np.sign(values) == np.sign(value)))]
        if not others.size or stands_apart(float(value), others):
            return True
    return False


def _different(parts: list[_Part], least: float, most: float, pointed: bool) -> int:
    """How many different words there are: different values of one form, and each length where forms differ."""
    form = {part.decimals for part in parts} if pointed else {0}
    if len(form) == 1 and None not in form:
        unit = 10.0 ** next(each for each in form if each is not None)
        if (most - least) * unit <= _SPREAD * sum(part.values.size for part in parts):
            return _marked(parts, np.rint(least * unit), np.rint(most * unit), unit)
        return _sorted(np.concatenate([part.values for part in parts]))
    values, lengths = (np.concatenate([getattr(part, of) for part in parts]) for of in ("values", "lengths"))
    return sum(_sorted(values[lengths == length]) for length in np.flatnonzero(np.bincount(lengths)))


def _marked(parts: list[_Part], least: float, most: float, unit: float) -> int:
    """How many different ones there are, −0 apart from 0, of values that are whole once they are taken ``unit`` times.

    ``least`` and ``most`` are those of such wholes.
    """
    met = np.zeros(int(most - least) + 1, dtype=bool)
    zeros = set()
    for part in parts:
        whole = np.rint(part.values * unit) if unit > 1 else part.values
        met[(whole - least).astype(np.int64)] = True
        if least <= 0 <= most:
            zeros |= set(np.signbit(part.values[part.values == 0]).tolist())
    return int(np.count_nonzero(met)) + (len(zeros) > 1)


def _sorted(values: FloatArray) -> int:
    ordered = np.sort(values.view(np.int64))  # by their bits, so that −0 is another than 0
    return int(np.count_nonzero(ordered[1:] != ordered[:-1])) + 1
