"""The rows of a file behind a door: a page can hold them and hand them on, and only a request opens them.

Reading is total: whatever the cells hold, every declared column gives numbers, and a cell is read by itself, one that
is too long to be looked at as one that nobody declared.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from dpcore.datasets.conversion import apply, as_text, is_missing
from dpcore.datasets.declaration import Declaration, Reads
from dpcore.datasets.different import encoded
from dpcore.datasets.looked_at import looked_at
from dpcore.datasets.matching import none_at, words
from dpcore.datasets.numerals import tidy
from dpcore.datasets.places import Places
from dpcore.datasets.plain_words import plainly
from dpcore.datasets.range_parts import range_parts
from dpcore.datasets.report import DISPLACED, RECODED, Container
from dpcore.datasets.schema import GIVES_NAMES, LONGEST_PERSON, Column, Schema
from dpcore.errors import InvalidArgument
from dpcore.validate import BoolArray, FloatArray, IntArray

if TYPE_CHECKING:
    from numpy.typing import NDArray

_FIRST_DAY = date(1970, 1, 1)
NO_DAY = np.iinfo(np.int64).min
NAMELESS = (
    "are private in name, because some are left out by what another column says: leave them out by the column with "
    "their names, take that step back, keep totals and notes as rows, or set none aside for too many cells"
)
DISPLACEABLE = (
    "are private in name in a workbook or a JSON file, where another cell may take a row's name away: save the table "
    "as CSV, declare the names as options, or leave that column undeclared"
)
PUT_TOGETHER = "are private in number, name and place, because a step made them from what others hold: take it back"
MOST_LOOKED_AT = 1_000
"""Rows of one person that an answer looks at, of which fewer may count: whoever has a hundred thousand would show in
how long it takes."""
_KEY = "epsilon-lab rows"  # public: the rule need only be the same for everyone

LONGEST_LABEL = 200
"""Letters of a cell by which an answer calls its row: a longer one would decide whether there is an answer."""


class PrivateRows:
    """Rows as text, one column for each name of the header. Shows nothing of itself but the header.

    ``together`` says that a step put rows together by what cells say: then which rows there are, and where, hangs on
    people. ``left_out_by`` are the columns by whose cells rows are left out, by a step or as totals and notes: those
    rows keep their place, with nothing in them, so that what they are called and hold hangs on such a cell.
    ``named_by_rows`` says that no header names the columns but each row its own, as in JSON: then none is lacking, for
    one row more could bring it. ``container`` is what they were read from.

    Each row is the one of these ``places`` among the ``records``, of which all others hold nothing: they are written
    out only where rows are steps or options. Of records none of them counts, and one that stands far below the others
    would make work of a million.

    ``opened`` is for ``dpcore.releases`` alone (a test walks the imports and calls).
    """

    __slots__ = (
        "_behind",
        "_called",
        "_container",
        "_fewer",
        "_left_out_by",
        "_named_by_rows",
        "_places",
        "_records",
        "_together",
    )
    in_place: ClassVar[bool] = False
    """Whether they are counted where they are, so that only questions that need counts alone can be asked."""

    def __init__(
        self,
        frame: pd.DataFrame,
        *,
        together: bool = False,
        left_out_by: frozenset[str] = frozenset(),
        named_by_rows: bool = False,
        container: Container = "text",
        places: IntArray | None = None,
        records: int | None = None,
    ) -> None:
        self._behind, self._together, self._left_out_by = frame, together, left_out_by
        self._named_by_rows, self._container = named_by_rows, container
        self._places, self._records = places, len(frame) if records is None else records
        self._fewer: dict[tuple[str, tuple[str, ...], int], PrivateRows] = {}
        self._called: tuple[Column | None, tuple[str, ...]] = None, ()  # a page asks for the names at every ε

    def __repr__(self) -> str:
        return "PrivateRows()"

    def __reduce__(self) -> NoReturn:
        raise TypeError("private rows are not written out")

    def has(self, names: Iterable[str]) -> bool:
        """Whether all these columns can be asked for: whether the header, which is public, has them."""
        return self._named_by_rows or all(name in self._behind.columns for name in names)

    def check(self, reads: Reads, *, cuts: Mapping[str, int] | None = None) -> None:
        """Whether these rows can be read so: before the charge, and without looking at one. Raises InvalidArgument.

        ``cuts`` says of columns by how many they are cut, which only what a source is asked grows with.
        """
        if reads.steps and self._together:
            raise InvalidArgument("rows", PUT_TOGETHER)

    def ready(self, reads: Reads) -> None:
        """Do what takes longer the more rows one person has, once, before a charge whose time is recorded: of each
        ``MOST_LOOKED_AT`` rows are left, or as many as count where that is more.

        Which of them hangs on how many rows that person has, and on no cell. Raises InvalidArgument.
        """
        if reads.person is not None and not reads.steps:
            self._of_people(reads.person, reads.most)

    def _of_people(self, person: Column, most: int) -> PrivateRows:
        key = person.name, person.missing_words, max(most, MOST_LOOKED_AT)
        found = self._fewer.get(key)
        if found is None:
            _, places, who = _people(self._text(person.name), person)
            number = _rank((places,))
            found = self
            if number.size and number.max() >= key[2]:
                drawn = _drawn(pd.DataFrame({"who": who, "number": number}))
                found = PrivateRows(self._behind.iloc[np.flatnonzero(_rank((places,), drawn) < key[2])])
            self._fewer[key] = found
        return found

    def of_no_row(self) -> PrivateRows:
        """A table of these columns without a row."""
        return PrivateRows(self._behind.iloc[:0])

    def public_size(self, declaration: Declaration) -> int:
        """How many rows there are, where nobody's presence changes that. Raises InvalidArgument elsewhere.

        In a table of options or steps a person moves entries, not rows; where one row of one person is replaced by
        another, their number stays.
        """
        replaced = declaration.hidden == "replace_one"
        if declaration.each_row == "record" and not (
            replaced and declaration.rows_per_person == 1 and declaration.id_column is None
        ):
            raise InvalidArgument("rows", "are private in number: state about how many there are, or buy a noisy count")
        self._check_public()
        return self._records

    def public_names(self, declaration: Declaration, column: str) -> tuple[str, ...]:
        """What the rows of a table of options or steps are called in ``LONGEST_LABEL`` letters, made different, in
        order; "" for one without a name. Raises InvalidArgument.

        People move the entries of such a table, and which rows it has does not depend on them. Of a date its declared
        days alone are told, however a cell is written.
        """
        named, cells = self._names(declaration, column)
        known, names = self._called
        if known != named:
            names = _different(_days(named, cells) if named.type == "date" else cells)
            self._called = named, names
        return names

    def public_options(self, declaration: Declaration, column: str) -> tuple[str, ...]:
        """The different options that the rows of such a table are called by in a text, as they are read, in order.

        A word that means missing is none. Raises InvalidArgument, also where one is longer than ``LONGEST_LABEL``.
        """
        named, cells = self._names(declaration, column)
        missing = is_missing(cells, named.missing_words)
        read = tidy(none_at(cells.astype("str"), missing))
        found = dict.fromkeys(str(text) for text, none in zip(read, missing, strict=True) if not none)
        if any(len(text) > LONGEST_LABEL for text in found):
            raise InvalidArgument("rows", f"must be called by at most {LONGEST_LABEL} letters each: shorten the names")
        return tuple(found)

    def _names(self, declaration: Declaration, column: str) -> tuple[Column, pd.Series]:
        """The column that names the rows of a table of options or steps, and its cells. Raises InvalidArgument."""
        if declaration.each_row == "record":
            raise InvalidArgument("rows", "are private in a table with one record in each row")
        named = declaration.column(column)
        if named.type not in GIVES_NAMES:
            raise InvalidArgument("column", "must be a date or a text: the entries of any other are private")
        self._check_public()
        if self._left_out_by - {column}:
            raise InvalidArgument("rows", NAMELESS)
        if self._container in DISPLACED:
            raise InvalidArgument("rows", DISPLACEABLE)
        return named, self._with_empty_rows(as_text(self._behind[column]))

    def row_batches(self, reads: Reads, asked: Places, size: int) -> Iterator[IntArray]:
        """Of every row that counts what is ``asked``, shape (rows, width), at most ``size`` rows at a time, where rows
        are ``in_place``. Raises InvalidArgument elsewhere."""
        raise InvalidArgument("rows", "are held here: they are read by column")

    def probe(self, reads: Reads, asked: Places) -> None:
        """Whether ``row_batches`` can be had, without reading a row. Raises InvalidArgument, UnreadableFile."""
        raise InvalidArgument("rows", "are held here: they are read by column")

    def said_of_entries(self, declaration: Declaration, named: str | None) -> Declaration:
        """``declaration`` as far as it holds for the entries of a table of options or steps whose names are in the
        column ``named``. One person may move an entry by all that it can hold where another cell leaves a row out, the
        file may call a number something else (``RECODED``), or numbers with a point are read by a comma."""
        pointed = self._container != "text" and any(column.decimal == "," for column in declaration.columns)
        elsewhere = pointed or self._container in RECODED or self._left_out_by - {named}
        return declaration.of_any_reach() if elsewhere else declaration

    def _with_empty_rows(self, text: pd.Series) -> pd.Series:
        """Texts of all records, each at its place, "" for those without anything in them; the same work where there are
        none of these."""
        rows = np.full(self._records, len(text), dtype=np.int64)
        rows[np.arange(len(text)) if self._places is None else self._places] = np.arange(len(text))
        held = words(text)
        chunks = held.chunks if isinstance(held, pa.ChunkedArray) else [held]
        return pd.Series(pa.chunked_array([*chunks, pa.array([""], held.type)]).take(pa.array(rows)), dtype="str")

    def _check_public(self) -> None:
        if self._together:
            raise InvalidArgument("rows", PUT_TOGETHER)

    def opened(self, reads: Reads) -> OpenRows:
        """The rows that count, to be read by column. Raises InvalidArgument, as ``check``."""
        self.check(reads)
        if reads.steps:
            return OpenRows(lambda name: self._with_empty_rows(self._text(name, reads)), self._records, reads)
        here = self if reads.person is None else self._of_people(reads.person, reads.most)
        return here._of_records(reads)

    def _of_records(self, reads: Reads) -> OpenRows:
        rows = len(self._behind)
        blank = np.arange(rows)
        for name in self._behind.columns:
            some = _taken(_text(self._behind[name]), blank)
            blank = blank[(some.str.strip() == "").to_numpy(dtype=bool)]
        there = np.ones(rows, dtype=bool)
        there[blank] = False
        places = np.flatnonzero(there)
        return OpenRows(lambda name: _taken(self._text(name, reads), places), places.size, reads)

    def _text(self, name: str, reads: Reads | None = None) -> pd.Series:
        found = self._behind.get(name)
        if found is None:
            return pd.Series([""] * len(self._behind), dtype="str")
        entries = reads is not None and any(one.name == name and one.sensitivity is not None for one in reads.columns)
        # beside an entry that is as long as may be looked at, one a little larger is no empty cell
        return as_text(found).reset_index(drop=True) if entries else _text(found)


class OpenRows:
    """The rows that count in a question, read column by column; a column that is not there is missing everywhere.

    ``text`` gives a column of ``rows`` texts each time that it is asked for, and none is held: all columns of a large
    file, taken anew, would be several times the file. With ``reads.person`` at most ``reads.most`` rows of each person
    are kept. Each row draws a number from its person, its cells as the columns that are read say them and how many
    equal rows of that person came before it; those with the smallest numbers stay. So what is kept of a person depends
    on that person's rows alone, not on other people's, the order of the file or other columns; and how likely a row is
    to stay does not depend on what it holds.
    """

    __slots__ = ("_reads", "_rows", "_text")

    def __init__(self, text: Callable[[str], pd.Series], rows: int, reads: Reads) -> None:
        self._reads, self._text, self._rows = reads, text, rows
        if reads.person is not None:
            cells = {column.name: _as_read(text(column.name), column) for column in reads.columns}
            said = pd.DataFrame(cells, index=pd.RangeIndex(rows))  # where nothing else is read, too
            places = np.flatnonzero(kept(text(reads.person.name), said, reads.person, reads.most))
            self._text, self._rows = (lambda name: _taken(text(name), places)), places.size

    @property
    def rows(self) -> int:
        """How many rows count."""
        return self._rows

    def typed(self, name: str, *, as_declared: Column | None = None) -> pd.Series:
        """One column as in ``dpcore.datasets.Table``; ``as_declared`` reads it by another declaration."""
        column = self._reads.column(name) if as_declared is None else as_declared
        return apply(Schema(columns=(column,)), self._text(name).to_frame(name)).frame[name]

    def numbers(self, name: str) -> FloatArray:
        """A column of numbers, within its declared bounds, shape (rows,); NaN where missing."""
        return self.typed(name).to_numpy(dtype=np.float64, na_value=np.nan)

    def codes(self, name: str) -> IntArray:
        """Places among the declared options ("no", "yes" for yes/no), shape (rows,); −1 where missing."""
        typed = self.typed(name)
        if self._reads.column(name).type == "yes/no":
            return np.asarray(typed.astype("Int8").fillna(-1), dtype=np.int64)
        return np.asarray(typed.cat.codes, dtype=np.int64)

    def days(self, name: str, column: Column) -> IntArray:
        """Days since 1970 by the declaration ``column``, clock times dropped, shape (rows,); ``NO_DAY`` where none."""
        stamps = self.typed(name, as_declared=column).to_numpy(dtype="datetime64[s]")
        days = np.floor_divide(stamps.astype(np.int64), 86_400)
        return np.where(np.isnat(stamps), NO_DAY, days)

    def counts(self, name: str, *, where: str | None = None) -> IntArray:
        """Rows with each declared option of a column (no, yes), those only whose ``where`` is yes, shape (k,)."""
        column = self._reads.column(name)
        return self._counted(self.codes(name), 2 if column.type == "yes/no" else len(column.categories), where)

    def day_counts(self, name: str, first: date, days: int, *, where: str | None = None) -> IntArray:
        """Rows of each day of a column from ``first`` on, those only whose ``where`` is yes, shape (days,)."""
        start = (first - _FIRST_DAY).days
        found = self.days(name, replace(self._reads.column(name), earliest=None, latest=None))
        inside = (found >= start) & (found < start + days)
        return self._counted(np.where(inside, found, start - 1) - start, days, where)

    def number_counts(self, name: str, *, unit: float) -> tuple[FloatArray, IntArray]:
        """The different values of a column of numbers in rising order, and how many rows have each, shape (values,).

        A source gives them as whole numbers of ``unit``, the nearest ones; here they are as they are.
        """
        values = self.numbers(name)
        found, sizes = np.unique(values[~np.isnan(values)], return_counts=True)
        return found, sizes.astype(np.int64)

    def crossed(self, target: str, looks: Mapping[str, FloatArray | None]) -> list[IntArray]:
        """How each column falls together with the options of ``target``: one table for each of ``looks``, in order.

        A table has shape (places + 1, options). Places are a column's own options, or with ascending cuts (k,) how many
        of them a number reaches, 0 to k; the last is for cells that are none of these. Rows of no option of ``target``
        count for none.
        """
        answers, options = self.codes(target), len(self._options(target))
        there = answers >= 0
        found = []
        for name, cuts in looks.items():
            if cuts is None:
                places, none = self.codes(name), len(self._options(name))
            else:
                numbers, none = self.numbers(name), cuts.size + 1
                places = np.where(np.isnan(numbers), -1, np.searchsorted(cuts, numbers, side="right"))
            cells = np.where(places < 0, none, places)[there] * options + answers[there]
            sizes = np.bincount(cells, minlength=(none + 1) * options).astype(np.int64)
            found.append(sizes.reshape(none + 1, options))
        return found

    def range_totals(self, names: Iterable[str], *, parts: int) -> IntArray:
        """Sums over the rows of where each value lies within its declared bounds, in whole ``parts`` of them as
        ``range_parts``, shape (names,). Raises InvalidArgument for a column without bounds."""
        totals = []
        for name in names:
            column = self._reads.column(name)
            if column.low is None or column.high is None:
                raise InvalidArgument("column", "must hold numbers with declared bounds")
            each = range_parts(self.numbers(name), float(column.low), float(column.high), parts)
            totals.append(each.sum(dtype=np.int64))
        return np.array(totals, dtype=np.int64)

    def _options(self, name: str) -> tuple[str, ...]:
        column = self._reads.column(name)
        return ("no", "yes") if column.type == "yes/no" else column.categories

    def _counted(self, places: IntArray, count: int, where: str | None) -> IntArray:
        inside = places >= 0
        if where is not None:
            inside &= self.codes(where) == 1
        return np.bincount(places[inside], minlength=count).astype(np.int64)


def kept(person: pd.Series, said: pd.DataFrame, column: Column, most: int) -> BoolArray:
    """Which rows count, shape (rows,): at most ``most`` of each ``person``, and none of nobody, as whom a cell of more
    than ``LONGEST_PERSON`` bytes names. See ``OpenRows``.

    A number is drawn from what cells say, and not from how they are written: one missing number makes a program write
    all others of its column in another way.
    """
    there, places, who = _people(person, column)
    cells = _drawn(said)
    numbers = pd.DataFrame({"who": who, "cells": cells, "before": _rank((places, cells))})
    return (_rank((places,), _drawn(numbers)) < most) & there


def _people(person: pd.Series, column: Column) -> tuple[BoolArray, IntArray, NDArray[np.uint64]]:
    """Which rows are somebody's, the same place for all rows of one, and a number drawn from each name; (rows,)."""
    short = np.asarray(pc.fill_null(pc.binary_length(words(person)), 0)) <= LONGEST_PERSON
    names = plainly(none_at(person, ~short).str.strip())
    there = ~is_missing(names, column.missing_words) & short
    places, people = encoded(names)
    who = pd.util.hash_array(people.to_numpy(dtype=object), hash_key=_KEY, categorize=False)[places]
    return there, places, who


def _drawn(frame: pd.DataFrame) -> NDArray[np.uint64]:
    """A number for each row, drawn from what stands in it."""
    drawn = pd.util.hash_pandas_object(frame, index=False, hash_key=_KEY, categorize=False)
    return np.asarray(drawn, dtype=np.uint64)


def _rank(group: tuple[NDArray[Any], ...], by: NDArray[Any] | None = None) -> IntArray:
    """How many rows of its group come before each, in order of ``by`` and then of their place, shape (rows,)."""
    order = np.lexsort((*(() if by is None else (by,)), *reversed(group)))
    starts = np.zeros(order.size, dtype=bool)
    starts[:1] = True
    for part in group:
        starts[1:] |= np.diff(part[order]) != 0
    first = np.flatnonzero(starts)
    rank = np.zeros(order.size, dtype=np.int64)
    rank[order] = np.arange(order.size) - np.repeat(first, np.diff(np.append(first, order.size)))
    return rank


def _as_read(text: pd.Series, column: Column) -> pd.Series:
    """What the cells of a column say, of whatever range."""
    if column.type == "text":
        codes, different = encoded(plainly(text))
        return pd.Series(pd.Categorical.from_codes(codes, pd.Index(different)))
    unbounded = replace(column, low=None, high=None, earliest=None, latest=None, fill=None)
    return apply(Schema(columns=(unbounded,)), text.to_frame(column.name)).frame[column.name]


def _taken(text: pd.Series, rows: IntArray) -> pd.Series:
    """These rows of texts; written anew where they are all, too, so that how long it takes does not tell."""
    return pd.Series(words(text).take(pa.array(rows)), dtype="str")


def _text(column: pd.Series) -> pd.Series:
    """A column as it is read for an answer; nothing else is looked at."""
    return looked_at(as_text(column)).reset_index(drop=True)


def _different(called: Iterable[str]) -> tuple[str, ...]:
    """These names in ``LONGEST_LABEL`` letters each, with its place before one that is there twice."""
    texts = [" ".join(text[:LONGEST_LABEL].split()) for text in called]
    times = Counter(texts)
    return tuple(text if times[text] == 1 or not text else f"{place + 1}. {text}" for place, text in enumerate(texts))


def _days(column: Column, cells: pd.Series) -> list[str]:
    """The days that these cells say, in ISO 8601; "" for one that says none."""
    typed = apply(Schema(columns=(column,)), pd.DataFrame({column.name: cells})).frame[column.name]
    return [str(day) for day in typed.dt.strftime("%Y-%m-%d").fillna("")]
