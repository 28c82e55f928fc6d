"""From text to typed columns, with an account of every cell that was not taken as it stood."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import pyarrow.compute as pc

from dpcore.datasets.dates import dates
from dpcore.datasets.different import encoded
from dpcore.datasets.fills import fill_day, fill_number, fill_yes
from dpcore.datasets.matching import none_at, without, words
from dpcore.datasets.numerals import bounded, integers, nearest, numbers, tidy
from dpcore.datasets.plain_words import places, plain
from dpcore.datasets.schema import Column, Schema
from dpcore.datasets.table import Table
from dpcore.datasets.written_dates import NEVER
from dpcore.errors import InvalidArgument
from dpcore.validate import BoolArray, FloatArray, IntArray

MOST_WORDS, MOST_LETTERS = 20_000, 1 << 18
"""Different words of a file that become a column's options, and bytes that they are together. With millions of them
nobody chooses, and each use of them holds everybody up."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Account:
    """What became of one column's cells. Each array holds row positions (0 is the first row of data).

    ``missing`` cells are empty or a missing word; ``unparsable`` ones are no value of the declared type; ``unlisted``
    ones are not among the declared categories; ``outside`` ones were moved to the nearest bound. The first three kinds
    became missing, or the declared fill when ``filled``.
    """

    name: str
    rows: int
    missing: IntArray
    unparsable: IntArray
    unlisted: IntArray
    outside: IntArray
    filled: bool

    @property
    def taken(self) -> int:
        """Cells that stand as they were written."""
        return self.rows - sum(part.size for part in (self.missing, self.unparsable, self.unlisted, self.outside))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Applied:
    """Typed columns (``frame``, as in ``Table``), the schema they follow, and an account of each column."""

    frame: pd.DataFrame
    schema: Schema
    accounts: tuple[Account, ...]

    def account(self, name: str) -> Account:
        """The account of one column. Raises InvalidArgument."""
        for account in self.accounts:
            if account.name == name:
                return account
        raise InvalidArgument("column", "must be one of the declared columns")

    def table(self, *, fingerprint: str, lineage: str) -> Table:
        return Table(frame=self.frame, schema=self.schema, fingerprint=fingerprint, lineage=lineage)


def apply(schema: Schema, frame: pd.DataFrame) -> Applied:
    """Typed columns of a frame of text, with an account of every cell that was not taken as it stood.

    A cell is read by itself, whatever the others hold. Columns of the frame that are not declared are not looked at;
    category columns without declared categories take the words of the file (``plain``), marked so, or none where they
    are more than ``MOST_WORDS``, or all together longer than ``MOST_LETTERS``. Raises InvalidArgument when a declared
    column is not in the frame.
    """
    typed: dict[str, pd.Series] = {}
    accounts: list[Account] = []
    columns: list[Column] = []
    for declared in schema.columns:
        if declared.name not in frame.columns:
            raise InvalidArgument("schema", "must name columns of this table only")
        # Each different word is read once: whatever a cell becomes depends on its word alone.
        codes, different = encoded(as_text(frame[declared.name]))
        text = different.astype(_TEXT)
        missing = is_missing(text, declared.missing_words)
        text = none_at(text, missing)
        text = tidy(text) if declared.type != "text" else text
        column = declared
        if column.type == "category" and not column.categories:
            named = set() if column.fill is None else {str(column.fill)}
            words_there = {plain(str(word)) for word in text[~missing]} if _are_few(different) else set()
            found = tuple(sorted(words_there | named))
            column = replace(column, categories=found, from_file=True)
        values, unread, outside = _READERS[column.type](text, missing, column)
        values = pd.Series(values.array.take(codes))
        missing, unread, outside = missing[codes], unread[codes], outside[codes]
        unlisted = unread if column.type == "category" else np.zeros(len(codes), dtype=bool)
        typed[column.name] = values if column.fill is None else _filled(values, column)
        columns.append(column)
        accounts.append(
            Account(
                name=column.name,
                rows=len(codes),
                missing=np.flatnonzero(missing),
                unparsable=np.flatnonzero(unread & ~unlisted),
                unlisted=np.flatnonzero(unlisted),
                outside=np.flatnonzero(outside),
                filled=column.fill is not None,
            )
        )
    return Applied(frame=pd.DataFrame(typed), schema=replace(schema, columns=tuple(columns)), accounts=tuple(accounts))


def _are_few(different: pd.Series) -> bool:
    letters = 0 if different.empty else pc.sum(pc.binary_length(words(different))).as_py()
    return len(different) <= MOST_WORDS and letters <= MOST_LETTERS


def as_text(series: pd.Series) -> pd.Series:
    """A column as text; numbers that come typed are written out exactly."""
    if isinstance(series.dtype, pd.StringDtype):
        return none_at(series, series.isna().to_numpy(dtype=bool))
    return series.astype("str").where(series.notna(), "")


def is_missing(text: pd.Series, missing_words: tuple[str, ...]) -> BoolArray:
    return _among(pd.Series(pc.utf8_trim_whitespace(words(text)), dtype=_TEXT), missing_words) >= 0


def _among(text: pd.Series, listed: tuple[str, ...]) -> IntArray:
    """Which of the listed words each is, capital or small; −1 for none."""
    small = pd.Series(pc.utf8_lower(words(text)), dtype=_TEXT)
    return places(small, [word.lower() for word in listed])


_TEXT = pd.StringDtype(na_value=np.nan)
_Read = tuple[pd.Series, BoolArray, BoolArray]


def _nowhere(text: pd.Series) -> BoolArray:
    return np.zeros(len(text), dtype=bool)


def _number(text: pd.Series, missing: BoolArray, column: Column) -> _Read:
    values = (numbers if column.sensitivity is None else bounded)(text, column.decimal)
    held = _clipped(values, column)
    return pd.Series(held), np.isnan(values) & ~missing, _moved(values, held)


def _integer(text: pd.Series, missing: BoolArray, column: Column) -> _Read:
    # how far one moves an entry was said of numbers: beside 98 one with a fraction is no empty cell
    values, good = (integers if column.sensitivity is None else nearest)(text, column.decimal)
    held = values if column.low is None and column.high is None else np.clip(values, *_whole_bounds(column))
    return pd.Series(held).astype("Int64").mask(~good), ~good & ~missing, good & (held != values)


def _whole_bounds(column: Column) -> tuple[int, int]:
    """The first and the last whole number within the bounds, as far as 64 bits reach."""
    low, high = np.iinfo(np.int64).min, np.iinfo(np.int64).max
    if column.low is not None:
        low = min(max(math.ceil(column.low), low), high)
    if column.high is not None:
        high = max(min(math.floor(column.high), high), low)
    return int(low), int(high)


def _category(text: pd.Series, missing: BoolArray, column: Column) -> _Read:
    codes = places(text, column.categories)
    codes[missing] = -1
    values = pd.Series(pd.Categorical.from_codes(codes, pd.Index(column.categories)))
    return values, values.isna().to_numpy(dtype=bool) & ~missing, _nowhere(text)


def _yes_no(text: pd.Series, missing: BoolArray, column: Column) -> _Read:
    found = _among(text, (*column.yes_words, *column.no_words))
    yes = (found >= 0) & (found < len(column.yes_words)) & ~missing
    no = (found >= len(column.yes_words)) & ~missing
    return pd.Series(yes).astype("boolean").mask(~(yes | no)), ~(yes | no | missing), _nowhere(text)


def _date(text: pd.Series, missing: BoolArray, column: Column) -> _Read:
    values = dates(text, column.date_order)
    values[missing] = NEVER
    held = values.copy()
    if column.earliest is not None:
        held = np.maximum(held, np.datetime64(column.earliest, "s"))
    if column.latest is not None:
        held = np.minimum(held, np.datetime64(column.latest, "s") + np.timedelta64(86_399, "s"))
    read = ~np.isnat(values)
    return pd.Series(held), ~read & ~missing, read & (held != values)


def _text(text: pd.Series, missing: BoolArray, column: Column) -> _Read:
    return without(text, missing), _nowhere(text), _nowhere(text)


_READERS: dict[str, Callable[[pd.Series, BoolArray, Column], _Read]] = {
    "number": _number,
    "integer": _integer,
    "category": _category,
    "yes/no": _yes_no,
    "date": _date,
    "text": _text,
}


def _clipped(values: FloatArray, column: Column) -> FloatArray:
    if column.low is None and column.high is None:
        return values
    return np.asarray(np.clip(values, column.low, column.high), dtype=np.float64)


def _moved(before: FloatArray, after: FloatArray) -> BoolArray:
    return np.asarray(~np.isnan(before) & (before != after))


def _filled(values: pd.Series, column: Column) -> pd.Series:
    """With the declared stand-in in the missing places, of the type that the values are of."""
    gone = values.isna()
    if column.type == "yes/no":
        return values.mask(gone, fill_yes(column))
    if column.type == "date":
        return values.mask(gone, np.datetime64(fill_day(column), "s"))
    if column.type == "integer":
        return values.mask(gone, int(fill_number(column)))
    if column.type == "number":
        return values.mask(gone, fill_number(column))
    return values.fillna(str(column.fill))
