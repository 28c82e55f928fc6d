"""What can be done to a table before it is declared: each step is one value, one sentence, and can be taken back.

A step changes rows of text to rows of text. Taking it back means reading on without it: ``Reading.after(steps)`` starts
from the file each time. ``holds_values`` says whether a step names something read from the rows, so that a link or a
recipe that must hold no values leaves it out. What else all rows are read by (which sign stands between options, which
mark before decimals) a person states, whatever the cells look like, and ``sentence`` says it; ``plan`` is the sentence
before it is stated, and ``done`` what a question holds of it (``dpcore.datasets.done``). ``size(frame)`` says before it
is done how large the table after it will be, so that none is made for which there is no room: never fewer rows or bytes
than there will be, and exactly as many rows where they can become more. ``look`` is called again and again while many
cells are worked on, and may raise what ends the work.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, fields
from itertools import pairwise
from typing import Any, ClassVar, Literal, get_args

import numpy as np
import pandas as pd

from dpcore.datasets.conversion import is_missing
from dpcore.datasets.dates import moment
from dpcore.datasets.different import Counted, counted, encoded
from dpcore.datasets.done import Done
from dpcore.datasets.headings import names_someone, tells_of_one
from dpcore.datasets.matching import holds, is_below, one_after_another, replaced
from dpcore.datasets.numerals import is_number, tidy
from dpcore.datasets.plain_words import place, places, plain, plainly, told_by
from dpcore.datasets.report import ReadColumn
from dpcore.datasets.schema import MISSING_WORDS, MOST_PEOPLE, Decimal, EachRow
from dpcore.datasets.size import Size, letters
from dpcore.datasets.suitability import counts_time
from dpcore.errors import InvalidArgument
from dpcore.validate import BoolArray, IntArray, one_of, whole

_TOTAL = re.compile(
    r"(?:sub[- ]?|grand )?totals?(?:[ :].*)?|.*\b(?:sub-?totals?|total)|zwischensumme.*|summe|gesamt(?:summe)?"
    r"|sous-total.*|total g[eé]n[eé]ral|subtotaal|suma|итого.*|всего.*",
    re.IGNORECASE,
)
_OF_TOTALS = "tota|umme|amt|uma|итого|всего"
"""Each word that ``_TOTAL`` takes holds one of these, capital or small."""
SEPARATORS = (";", "|", ",")
"""Signs that may stand between the options of one cell."""
_MOST_OPTIONS, _FEWEST_MONTHS = 40, 3
_REPEATED, _MOST_SUMS = 0.8, 2
_CODES = ("text", "integer")  # what somebody's name or number is read as
_LONGEST_OPTION = 60
_MOST_SPLIT, _LONGEST_NUMBER = 200, 24
_PORTION, _WORD = 1 << 21, 20
"""Letters that are worked on between two looks, and how many a word counts for beside its own."""
_MONTH_NAMES = {
    name: place
    for place, names in enumerate(
        ("jan january", "feb february", "mar march", "apr april", "may", "jun june", "jul july", "aug august",
         "sep sept september", "oct october", "nov november", "dec december"), start=1
    )
    for name in names.split()
}  # fmt: skip


Look = Callable[[], None]


def _unseen() -> None:
    """Nobody looks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Worked:
    """Rows of text after a step, shape (rows,) of the lines they came from, and columns that exist only because rows
    name them.

    How its rows come from those before: all of them, in order; those that ``stayed``, shape (rows before,); all of them
    ``times`` times, one block after the other; or put together anew.
    """

    frame: pd.DataFrame
    lines: IntArray
    from_file: frozenset[str] = frozenset()
    stayed: BoolArray | None = None
    times: int = 1
    anew: bool = False

    def places(self, before: IntArray, records: int) -> tuple[IntArray, int]:
        """Which of how many records each row is, given which of the ``records`` each row was ``before``: what was set
        aside when the file was read, or left out since, goes on being a record without anything in it. Else the cell by
        which it is left out would move all rows after it."""
        if self.anew:
            return np.arange(len(self.frame)), len(self.frame)
        if self.stayed is not None:
            return before[self.stayed], records
        blocks = np.arange(self.times)[:, None] * records
        return (blocks + before[None, :]).ravel(), records * self.times


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaveOutTotals:
    """Leave out rows that add up others: those whose cell in ``column`` is a word for a total or subtotal."""

    column: str
    holds_values: ClassVar[bool] = False

    @property
    def sentence(self) -> str:
        return f"Rows whose “{self.column}” says total or subtotal are left out."

    @property
    def done(self) -> Done:
        return Done(kind="totals", columns=(self.column,))

    def size(self, frame: pd.DataFrame, look: Look = _unseen) -> Size:
        return Size.of(frame)

    def apply(self, frame: pd.DataFrame, lines: IntArray, look: Look = _unseen) -> Worked:
        keep = ~is_total(_column(frame, self.column), look)
        return Worked(frame=frame[keep].reset_index(drop=True), lines=lines[keep], stayed=keep)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadAsMissing:
    """Read one word of a column, such as −99 or 999, as missing."""

    column: str
    word: str
    holds_values: ClassVar[bool] = True

    @property
    def sentence(self) -> str:
        return f"“{self.word}” in “{self.column}” is read as missing."

    @property
    def done(self) -> Done:
        return Done(kind="missing", columns=(self.column,))

    def size(self, frame: pd.DataFrame, look: Look = _unseen) -> Size:
        return Size.of(frame)

    def apply(self, frame: pd.DataFrame, lines: IntArray, look: Look = _unseen) -> Worked:
        cells = _column(frame, self.column)
        gone = places(tidy(cells), (self.word,)) >= 0
        return Worked(frame=_with(frame, self.column, cells.mask(gone, "")), lines=lines)


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitOptions:
    """One yes/no column per option of a column whose cells name several ("Gym; Tea").

    ``options`` declare which; none takes the first ``_MOST_SPLIT`` that rows name, good for looking only. ``most`` is
    how many one cell may name, the rest of it is not counted: what one person can add to all counts together. An empty
    cell is "no" to all.
    Where the ``separator`` is the ``decimal`` mark, too, a whole number with decimals ("1,0") names one option.
    """

    column: str
    separator: str = ";"
    options: tuple[str, ...] = ()
    most: int | None = None
    decimal: Decimal = "."

    def __post_init__(self) -> None:
        if len(self.separator) != 1:
            raise InvalidArgument("separator", "must be one character")
        if len(set(self.options)) != len(self.options):
            raise InvalidArgument("options", "must all be different")
        if self.most is not None:
            whole(1, most=self.most)

    @property
    def holds_values(self) -> bool:
        return False  # options that are stated were declared; others are not part of the step

    @property
    def plan(self) -> str:
        bound = "" if self.most is None else f", the first {self.most} of each cell"
        which = "" if self.options else f" The first {_MOST_SPLIT} that rows name are shown, and in no private answer."
        return f"“{self.column}” becomes one yes/no column per option{bound}.{which}"

    @property
    def sentence(self) -> str:
        return f"{self.plan} {_between(self.separator, self.decimal)}"

    @property
    def done(self) -> Done:
        stated = (_sign(self.separator, self.decimal), str(self.most or ""), *sorted(self.options))
        return Done(kind="columns", columns=(self.column,), stated=stated)

    def size(self, frame: pd.DataFrame, look: Look = _unseen) -> Size:
        _column(frame, self.column)
        options = len(self._options(frame, look))
        rest = Size.of(frame.drop(columns=self.column))
        return rest.beside(Size.expected(len(frame), [len("yes") * len(frame)] * options))

    def apply(self, frame: pd.DataFrame, lines: IntArray, look: Look = _unseen) -> Worked:
        codes, different = encoded(_column(frame, self.column))
        options = self._options(frame, look)
        if not self.options:  # in the place of a column none is found, or one cell would undo the step
            options = tuple(option for option in options if f"{self.column}: {option}" not in frame.columns)
        names = [f"{self.column}: {option}" for option in options]
        if set(names) & set(frame.columns):
            raise InvalidArgument("column", "has options that are columns already")
        ticks = np.zeros((len(different), len(options)), dtype=np.int8)
        known = told_by(options)
        for row, cell in enumerate(_each(different, look)):
            for word in dict.fromkeys(_parts(cell, self.separator, self.decimal)[: self.most]):
                if (at := place(word, known)) >= 0:
                    ticks[row, at] = 1
        answers = pd.Series(["no", "yes"], dtype=frame.dtypes.iloc[0]).array
        split = pd.DataFrame({name: answers.take(ticks[codes, at]) for at, name in enumerate(names)})
        at = list(frame.columns).index(self.column)
        parts = [frame.iloc[:, :at], split, frame.iloc[:, at + 1 :]]
        found = frozenset() if self.options else frozenset(names)
        return Worked(frame=pd.concat(parts, axis=1), lines=lines, from_file=found)

    def _options(self, frame: pd.DataFrame, look: Look) -> tuple[str, ...]:
        """Those that were stated, or the first in the alphabet of those that rows name, or one row could undo the step
        by a word of its own. Raises InvalidArgument where too many were stated."""
        if len(self.options) > _MOST_SPLIT:
            raise InvalidArgument("options", f"are more than {_MOST_SPLIT}; state fewer")
        if self.options:
            return self.options
        found = set[str]()
        for cell in _each(encoded(_column(frame, self.column))[1], look):
            found.update(map(plain, _parts(cell, self.separator, self.decimal)[: self.most]))
            if len(found) > 2 * _MOST_SPLIT:  # not of every cell anew
                found = set(sorted(found)[:_MOST_SPLIT])
        return tuple(sorted(found)[:_MOST_SPLIT])


@dataclass(frozen=True, slots=True, kw_only=True)
class TicksToRows:
    """One row per option that a cell names, where cells name several ("Gym; Tea"), at most ``most`` of each cell.

    A row then stands for one tick, so that one person has up to ``most`` rows for each row of before: the first of the
    cell, each option once. Rows whose cell names nothing are left out. ``decimal`` is as in ``SplitOptions``.
    """

    column: str
    most: int
    separator: str = ";"
    decimal: Decimal = "."
    holds_values: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if len(self.separator) != 1:
            raise InvalidArgument("separator", "must be one character")
        whole(1, most=self.most)

    @property
    def sentence(self) -> str:
        return (
            f"Every option that “{self.column}” names becomes a row of its own, the first {self.most} of each cell. "
            f"{_between(self.separator, self.decimal)}"
        )

    @property
    def done(self) -> Done:
        stated = (_sign(self.separator, self.decimal), str(self.most))
        return Done(kind="rows", columns=(self.column,), stated=stated)

    def size(self, frame: pd.DataFrame, look: Look = _unseen) -> Size:
        codes, different = encoded(_column(frame, self.column))
        ticks = np.array([len(self._ticks(cell)) for cell in _each(different, look)], dtype=np.int64)[codes]
        text = [
            int(letters(frame[name]).sum() if name == self.column else ticks @ letters(frame[name]))
            for name in frame.columns
        ]
        return Size.expected(int(ticks.sum()), text)

    def apply(self, frame: pd.DataFrame, lines: IntArray, look: Look = _unseen) -> Worked:
        codes, different = encoded(_column(frame, self.column))
        ticks = [self._ticks(cell) for cell in _each(different, look)]
        rows = np.repeat(np.arange(len(codes)), np.array([len(words) for words in ticks], dtype=np.int64)[codes])
        # without the cells themselves, which may be long: they would be repeated as often as they name an option
        long = frame.drop(columns=self.column).iloc[rows].reset_index(drop=True)
        words = pd.Series([word for code in codes for word in ticks[code]], dtype=frame.dtypes.iloc[0])
        long.insert(list(frame.columns).index(self.column), self.column, words)
        return Worked(frame=long, lines=lines[rows], anew=True)

    def _ticks(self, cell: str) -> list[str]:
        return list(dict.fromkeys(_parts(cell, self.separator, self.decimal)))[: self.most]


@dataclass(frozen=True, slots=True, kw_only=True)
class MonthsToRows:
    """Columns that are named by months or years become rows: one for each row and month, in order of time.

    A row then stands for one month of what it stood for before, so that one person has as many rows as there are
    months.
    """

    columns: tuple[str, ...]
    time: str = "month"
    value: str = "value"
    holds_values: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if len(self.columns) < 2:
            raise InvalidArgument("columns", "must be at least two")
        if len(set(self.columns)) != len(self.columns):  # each makes rows of its own
            raise InvalidArgument("columns", "must all be different")

    @property
    def sentence(self) -> str:
        return (
            f"{len(self.columns)} columns, “{self.columns[0]}” to “{self.columns[-1]}”, become rows with "
            f"“{self.time}” and “{self.value}”: one row has become {len(self.columns)}."
        )

    @property
    def done(self) -> Done:
        return Done(kind="months", columns=self.columns, stated=(self.time, self.value))

    def size(self, frame: pd.DataFrame, look: Look = _unseen) -> Size:
        kept = frame.drop(columns=[name for name in self.columns if name in frame.columns])
        values = sum(int(letters(_column(frame, name)).sum()) for name in self.columns)
        times = sum(len((time_of(name) or name).encode()) for name in self.columns)
        others = [len(self.columns) * int(letters(kept[name]).sum()) for name in kept.columns]
        return Size.expected(len(self.columns) * len(frame), [*others, len(frame) * times, values])

    def apply(self, frame: pd.DataFrame, lines: IntArray, look: Look = _unseen) -> Worked:
        for name in self.columns:
            _column(frame, name)
        kept = [name for name in frame.columns if name not in self.columns]
        if {self.time, self.value} & set(kept):
            raise InvalidArgument("value", "must not be the name of another column")
        months = [time_of(name) or name for name in self.columns]
        which = np.repeat(np.arange(len(months)), len(frame))
        long: dict[str, pd.Series] = {}
        for name in kept:  # one array each: blocks put one after another stay blocks, and multiply with every step
            look()
            long[name] = one_after_another([frame[name]] * len(self.columns))
        long[self.time] = pd.Series(months, dtype=frame.dtypes.iloc[0]).take(which).reset_index(drop=True)
        look()
        long[self.value] = one_after_another([frame[name] for name in self.columns])
        return Worked(frame=pd.DataFrame(long), lines=np.tile(lines, len(self.columns)), times=len(self.columns))


@dataclass(frozen=True, slots=True, kw_only=True)
class OneRowPer:
    """Several rows per person or day become one: how many there are, or the sum, mean or largest of a number.

    ``by`` names the person, or a date, which is cut to its day. That each value of it is all of one, whom no other
    value names too, is stated by whoever takes the step: of several spellings each makes a row. Rows without it, or
    with one of the ``missing_words``, are left out: together they would be one row that holds what several people did.
    A number that cannot be read counts as missing; the decimal mark is ``decimal``. What it makes of the numbers is
    written with a point.
    """

    by: str
    of: str = ""
    how: Literal["count", "sum", "mean", "largest"] = "count"
    day: bool = False
    decimal: Literal[".", ","] = "."
    missing_words: tuple[str, ...] = MISSING_WORDS
    holds_values: ClassVar[bool] = False

    def __post_init__(self) -> None:
        one_of(("count", "sum", "mean", "largest"), how=self.how)
        if (self.how == "count") != (self.of == ""):
            raise InvalidArgument("of", "must name a column of numbers, and none when rows are counted")

    @property
    def name(self) -> str:
        return "rows" if self.how == "count" else f"{self.how} of {self.of}"

    @property
    def plan(self) -> str:
        what = "the number of its rows" if self.how == "count" else f"the {self.how} of “{self.of}”"
        which = "day of " if self.day else ""
        return f"One row per {which}“{self.by}”, with {what}. What is spelled in two ways makes two rows."

    @property
    def sentence(self) -> str:
        if self.how == "count":
            return self.plan
        return f"{self.plan} A {'point' if self.decimal == '.' else 'comma'} marks the decimals of “{self.of}”."

    @property
    def done(self) -> Done:
        of = (self.of,) if self.of else ()
        words = {word.lower() for word in self.missing_words} - {""}
        usual = words == {word.lower() for word in MISSING_WORDS} - {""}
        said = () if usual else tuple(sorted(words)) or ("",)
        stated = (self.how, "day" if self.day else "", self.decimal if self.of else "", *said)
        return Done(kind="together", columns=(self.by, *of), stated=stated)

    def size(self, frame: pd.DataFrame, look: Look = _unseen) -> Size:
        """No row is added; the number beside takes what the longest usual one does."""
        by = Size.of(_column(frame, self.by).to_frame())
        return by.beside(Size.expected(len(frame), [_LONGEST_NUMBER * len(frame)]))

    def apply(self, frame: pd.DataFrame, lines: IntArray, look: Look = _unseen) -> Worked:
        from dpcore.datasets.numerals import numbers

        keys = plainly(tidy(_column(frame, self.by)))
        if self.day:
            keys = replaced(keys, r"(?s)[T ].*", "")
        look()
        places, names = encoded(keys)
        there = ~is_missing(names, ("", *self.missing_words))
        present = there[places]
        places, names = (np.cumsum(there) - 1)[places[present]], names[there].reset_index(drop=True)
        look()
        if self.day:
            names = names.sort_values()
            places = np.argsort(names.index.to_numpy())[places]
        if self.how == "count":
            series = pd.Series(np.ones(places.size))
        else:
            series = pd.Series(numbers(tidy(_column(frame, self.of))[present], self.decimal))
        how = {"count": "sum", "sum": "sum", "mean": "mean", "largest": "max"}[self.how]
        grouped = series.groupby(places).agg(how)
        text = frame.dtypes.iloc[0]
        worked = pd.DataFrame(
            {
                self.by: names.reset_index(drop=True).astype(text),
                self.name: pd.Series([_written(value) for value in grouped], dtype=text),
            }
        )
        first = np.unique(places, return_index=True)[1]
        return Worked(frame=worked, lines=lines[present][first], anew=True)


Step = LeaveOutTotals | ReadAsMissing | SplitOptions | TicksToRows | MonthsToRows | OneRowPer
KINDS: dict[str, type[Any]] = {kind.__name__: kind for kind in get_args(Step)}
"""The kinds of step by the names they are saved under."""


def names_in(step: Step) -> frozenset[str]:
    """Every text of a step: what columns it names, and what else; words that mean missing are none of its own."""
    values = [getattr(step, field.name) for field in fields(step) if field.name != "missing_words"]
    return frozenset(each for value in values for each in (value if isinstance(value, tuple) else (value,)))


def rows_made(steps: Iterable[Step], each_row: EachRow) -> int:
    """How many rows of the table after ``steps`` one row of the file can change, at least 1.

    Steps that make several rows of one multiply. What they made comes down to one row again where each row is a
    record put together by what no step before had spread over rows (by person, not by option or month). In tables of
    options and steps in time, and in rows per day, it stays: there a cell can count all of them. Raises
    InvalidArgument for more than ``MOST_PEOPLE``.
    """
    made, spread = 1, set[str]()
    for step in steps:
        if isinstance(step, TicksToRows):
            made, spread = made * step.most, spread | {step.column}
        elif isinstance(step, MonthsToRows):
            made, spread = made * len(step.columns), spread | {step.time, step.value}
        elif isinstance(step, OneRowPer) and each_row == "record" and not step.day and step.by not in spread:
            made, spread = 1, set()
    if made > MOST_PEOPLE:
        raise InvalidArgument("steps", f"must not make more than {MOST_PEOPLE:,} rows of one")
    return made


def in_full(step: Step) -> str:
    """All that a step is: its sentence, and what that leaves out."""
    if isinstance(step, MonthsToRows):
        what, named = "The columns", step.columns
    elif isinstance(step, SplitOptions):
        what, named = "The options", step.options
    elif isinstance(step, OneRowPer) and step.missing_words != MISSING_WORDS:
        what, named = "Words that mean missing", step.missing_words
    else:
        return step.sentence
    return f"{step.sentence} {what}: {', '.join(f'“{name}”' for name in named) or 'none'}."


def makes(step: Step) -> frozenset[str]:
    """The columns that a step makes whatever the rows hold, as far as they are stated."""
    if isinstance(step, MonthsToRows):
        return frozenset((step.time, step.value))
    if isinstance(step, SplitOptions):
        return answers_made((step,))
    return frozenset((step.name,)) if isinstance(step, OneRowPer) else frozenset()


def is_made(name: str, steps: Iterable[Step]) -> bool:
    """Whether a column is one that a step makes of others, or of which it makes several rows: what a declaration calls
    it says of no row whose it is."""
    for step in steps:
        if isinstance(step, MonthsToRows):
            made = name in (step.time, step.value)
        elif isinstance(step, TicksToRows):
            made = name == step.column
        elif isinstance(step, SplitOptions):
            made = name.startswith(f"{step.column}: ")
        else:
            made = isinstance(step, OneRowPer) and name == step.name
        if made:
            return True
    return False


def by_words(steps: Iterable[Step]) -> tuple[SplitOptions, ...]:
    """The steps that make a column of each word that rows hold, for looking only, since no options were stated."""
    return tuple(step for step in steps if isinstance(step, SplitOptions) and not step.options)


def together_by(steps: Iterable[Step]) -> str:
    """The column by which steps put the rows of a person or day together; "" where none did."""
    return next((step.by for step in steps if isinstance(step, OneRowPer)), "")


def answers_made(steps: Iterable[Step]) -> frozenset[str]:
    """Columns of yes or no that steps write whatever the rows hold: of each option that was stated."""
    split = (step for step in steps if isinstance(step, SplitOptions))
    return frozenset(f"{step.column}: {option}" for step in split for option in step.options)


def puts_rows_together(steps: Iterable[Step]) -> bool:
    """Whether steps put rows together by what cells say, so that which rows there are, and where, hangs on people."""
    return any(isinstance(step, OneRowPer | TicksToRows) for step in steps)


def rests_on_words(steps: Iterable[Step]) -> str:
    """The column by which one of these steps puts rows together, or whose numbers it makes one of, while another reads
    a word of it as missing; "" where there is none.

    Without that other one, which names a word of the rows, the rows with that word, which are nobody's, would be put
    into one, or the word be a number among them. Other steps read each row by itself, and the word can be named after.
    """
    missing, by = dict[str, frozenset[str]](), set[str]()  # the words of each column
    for step in steps:
        if isinstance(step, ReadAsMissing):
            if step.column in by:
                return step.column
            missing[step.column] = missing.get(step.column, frozenset()) | {step.word.lower()}
        elif isinstance(step, MonthsToRows):
            missing[step.value] = frozenset[str]().union(*(missing.get(name, frozenset()) for name in step.columns))
            by |= {step.value} if by & set(step.columns) else set()
        elif isinstance(step, OneRowPer):
            listed = {word.lower() for word in step.missing_words}
            if not missing.get(step.by, frozenset()) <= listed:
                return step.by
            if missing.get(step.of):
                return step.of
            by.add(step.by)
    return ""


def left_out_by(steps: Iterable[Step], before: Iterable[str] = ()) -> frozenset[str]:
    """The columns by whose cells rows are left out, ``before`` the steps or by them; "" stands for one that a later
    step made others of."""
    found = set(before)
    for step in steps:
        if isinstance(step, LeaveOutTotals):
            found.add(step.column)
        gone = (
            step.columns if isinstance(step, MonthsToRows) else (step.column,) if isinstance(step, SplitOptions) else ()
        )
        found = {"" if name in gone else name for name in found}
    return frozenset(found)


def suggested(frame: pd.DataFrame, columns: tuple[ReadColumn, ...], look: Look = _unseen) -> tuple[Step, ...]:
    """Steps that the table seems to want, each for the person to take or leave.

    They hold names of columns, and the word of ``ReadAsMissing``, which its sentence quotes. Signs and decimal marks
    are the usual ones, whatever the cells hold: one row could decide them for all others, so a person states them.
    """
    found: list[Step] = []
    for column in columns:
        if column.type not in ("text", "category"):
            continue
        look()
        cells = frame[column.name]
        different = counted(cells)
        total = is_total(cells, look, different)
        if 0 < total.sum() <= 0.34 * len(frame):
            found.append(LeaveOutTotals(column=column.name))
        elif several_in(cells, look, different) is not None:
            found.append(SplitOptions(column=column.name))
    found += [ReadAsMissing(column=column.name, word=column.stand_in) for column in columns if column.stand_in]
    months = tuple(column.name for column in columns if time_of(column.name) is not None)
    numeric = {column.name for column in columns if column.type in ("integer", "number")}
    if len(months) >= _FEWEST_MONTHS and set(months) <= numeric and _in_order(months):
        found.append(MonthsToRows(columns=months))
    return (*found, *_per_person(frame, columns))


def _per_person(frame: pd.DataFrame, columns: tuple[ReadColumn, ...]) -> list[Step]:
    """One row per person, where a column that names people by its heading has them several times."""
    several = [
        column
        for column in columns
        if (names_someone(column.name) or (column.type in _CODES and tells_of_one(column.name, options=False)))
        and 1 < column.distinct <= _REPEATED * len(frame)
    ]
    if not several:
        return []
    by = several[0].name
    amounts = [
        column
        for column in columns
        if column.type in ("integer", "number") and not names_someone(column.name) and not counts_time(column.name)
    ]
    sums = [OneRowPer(by=by, of=column.name, how="sum") for column in amounts]
    return [OneRowPer(by=by), *sums[:_MOST_SUMS]]


def is_total(cells: pd.Series, look: Look = _unseen, different: Counted | None = None) -> BoolArray:
    """Which cells are a word for a total: "Subtotal", "North total", "Zwischensumme". ``different`` are the cells
    counted, where they are already."""
    none = np.zeros(len(cells), dtype=bool)
    if is_below(cells, "A"):
        return none
    words, _ = different or counted(cells)
    if not words.str.contains(_OF_TOTALS, case=False, regex=True).any():
        return none
    codes, words = encoded(cells.str.strip())
    matches = np.array([_TOTAL.fullmatch(str(word)) is not None for word in _each(words, look)] + [False])
    return np.asarray(matches[codes], dtype=bool)


def several_in(cells: pd.Series, look: Look = _unseen, different: Counted | None = None) -> str | None:
    """The sign between several options of one cell, or None: the parts repeat, are short, and are few in all.
    ``different`` are the cells counted, where they are already."""
    separators = [separator for separator in SEPARATORS if holds(cells, separator)]
    if not separators:
        return None
    words, weights = different or counted(cells)  # each word is taken apart once, however often it occurs
    words = words.str.strip()
    words, weights = words[words != ""], weights[(words != "").to_numpy(dtype=bool)]
    for separator in separators:
        some = words.str.contains(separator, regex=False).to_numpy(dtype=bool)
        if weights.sum() < 10 or weights[some].sum() < 0.2 * weights.sum():
            continue
        number = int(weights @ (words.str.count(re.escape(separator)).to_numpy(dtype=np.int64) + 1))
        options = pd.Series(sorted(_few_short(_each(words, look), separator)), dtype=words.dtype)
        if 2 <= len(options) <= 0.5 * number:
            return None if is_number(options, ".").all() or is_number(options, ",").all() else separator
    return None


def _few_short(words: Iterable[str], separator: str) -> set[str]:
    """The options that these words name; none where they are many or long. Word by word: all parts of all of them at
    once take forty times the bytes of the text."""
    found: set[str] = set()
    for word in words:
        found.update(_parts(word, separator, "."))
        if len(found) > _MOST_OPTIONS:
            return set()
    return found if all(len(option) <= _LONGEST_OPTION for option in found) else set()


def time_of(name: str) -> str | None:
    """The month or year that a column's name stands for, as an ISO date where it has a year; None when it is none."""
    word = " ".join(name.split()).strip()
    if re.fullmatch(r"(?:19|20)[0-9]{2}", word):
        return f"{word}-01-01"
    found = re.fullmatch(r"((?:19|20)[0-9]{2})[-/. _]?(0[1-9]|1[0-2])|(0[1-9]|1[0-2])[-/. _]((?:19|20)[0-9]{2})", word)
    if found is not None:
        return f"{found[1] or found[4]}-{found[2] or found[3]}-01"
    found = re.fullmatch(r"([A-Za-z]{3,9})\.?[-/ _']*((?:19|20)?[0-9]{2})?", word)
    if found is not None and (month := _MONTH_NAMES.get(found[1].lower())) is not None:
        if found[2] is None:
            return f"2000-{month:02}-01"
        year = found[2] if len(found[2]) == 4 else f"20{found[2]}"
        return f"{year}-{month:02}-01"
    return None


def _in_order(names: tuple[str, ...]) -> bool:
    times = [moment(time_of(name) or "", "ymd") for name in names]
    return all(one < other for one, other in pairwise(times))


def _each(words: Iterable[str], look: Look) -> Iterator[str]:
    """Each word, with looks in between."""
    letters = 0
    for word in words:
        yield word
        letters += len(word) + _WORD
        if letters > _PORTION:
            look()
            letters = 0


def _parts(cell: str, separator: str, decimal: Decimal) -> list[str]:
    """What one cell names, in order. A whole number that a program wrote with decimals is one option by itself."""
    whole = plain(cell.strip()) if separator == decimal and separator in cell else cell
    return [part for word in whole.split(separator) if (part := word.strip())]


def _between(separator: str, decimal: Decimal) -> str:
    """What stands between options, in a sentence."""
    both = f" and marks decimals: “1{decimal}0” is the option 1" if separator == decimal else ""
    return f"A “{separator}” stands between options{both}."


def _sign(separator: str, decimal: Decimal) -> str:
    """The sign as it was stated: twice where it marks decimals as well, which reads no other cell otherwise."""
    return separator + decimal if separator == decimal else separator


def _column(frame: pd.DataFrame, name: str) -> pd.Series:
    if name not in frame.columns:
        raise InvalidArgument("column", "must be one of the table's columns")
    return frame[name]


def _with(frame: pd.DataFrame, name: str, cells: pd.Series) -> pd.DataFrame:
    return frame.assign(**{name: cells}) if name.isidentifier() else _replaced(frame, name, cells)


def _replaced(frame: pd.DataFrame, name: str, cells: pd.Series) -> pd.DataFrame:
    fresh = frame.copy(deep=False)
    fresh[name] = cells
    return fresh


def _written(value: float) -> str:
    if np.isnan(value):
        return ""
    return str(int(value)) if float(value).is_integer() else repr(float(value))
