"""What a person declares about a table: the type, bounds and categories of each column, and what a row stands for.

Bounds and categories are public knowledge. Where they were read from the file itself they are marked ``from_file``:
good for looking at one's own data, never for a release, because a minimum taken from the data gives that person away.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import date
from typing import Literal, get_args

from dpcore.datasets.fills import MOST_WHOLE, check_fill, plain_fill
from dpcore.datasets.headings import MOVERS, tells_of_one
from dpcore.datasets.plain_words import plain
from dpcore.errors import InvalidArgument
from dpcore.validate import boolean, one_of, positive, whole

ColumnType = Literal["category", "number", "integer", "yes/no", "date", "text"]
Decimal = Literal[".", ","]
DateOrder = Literal["ymd", "dmy", "mdy", "serial"]
EachRow = Literal["record", "option", "step"]
GIVES_NAMES: tuple[ColumnType, ...] = ("date", "text")
"""What the rows of a table of steps or options can be called by: an answer gives that away, so none asks about it in
private."""

MOST_PEOPLE = 2**28
LONGEST = 65_536
"""Bytes of a text that is looked at, blanks around it included, as of a line of a CSV file; a longer one counts as one
that nobody declared."""
LONGEST_PERSON = 1000
"""Bytes of a cell that says whose row it is, blanks around it included; a longer one says of nobody."""
FARTHEST = 1e100
"""Declared bounds lie between −FARTHEST and FARTHEST: what is worked out with them has to fit a double by far."""
CLOSEST, CLOSEST_SHARE = 1e-100, 2.0**-40
"""Declared bounds are at least so far apart, by themselves and as a share of the larger one: rounding stays small."""

SPREADSHEET_ERRORS = ("#DIV/0!", "#N/A", "#NAME?", "#NULL!", "#NUM!", "#REF!", "#VALUE!")
MISSING_WORDS = (
    *("", "-", "--", ".", "?", "na", "n/a", "n.a.", "nan", "null", "none", "nil", "missing", "(blank)", "<na>", "\\n"),
    *(word.lower() for word in SPREADSHEET_ERRORS),
)
YES_WORDS = ("yes", "y", "true", "t", "1", "ja", "oui", "si", "sí", "sim", "да", "tak", "ano")
NO_WORDS = ("no", "n", "false", "f", "0", "nein", "non", "não", "нет", "nie", "ne")


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One column as declared.

    ``low`` and ``high`` bound numbers and integers, ``earliest`` and ``latest`` dates: a value outside is moved to the
    bound, and counted. A ``categories`` list that is not empty is complete: any other word counts as missing.
    ``fill`` takes the place of missing values (a category's name, "yes" or "no", an ISO date, a number, a whole one
    for integers, both within the declared bounds); without it a missing cell stays missing and its row is left out of
    questions about this column.
    ``missing_words`` are compared without case and padding. ``sensitivity`` is how far one person can move one entry
    of a table whose rows are options or steps; ``better`` says which way such scores point. ``counts`` says that such
    an integer column counts people: one person added or removed moves all entries the same way.

    ``words_from_file`` says that the categories are the words that occur in the file: good for a release, but then that
    a word occurs is not hidden, and their order must not tell more, so that they are kept in alphabetical order.
    Raises InvalidArgument.
    """

    name: str
    type: ColumnType
    low: float | None = None
    high: float | None = None
    earliest: date | None = None
    latest: date | None = None
    categories: tuple[str, ...] = ()
    fill: str | float | None = None
    missing_words: tuple[str, ...] = MISSING_WORDS
    yes_words: tuple[str, ...] = YES_WORDS
    no_words: tuple[str, ...] = NO_WORDS
    decimal: Decimal = "."
    date_order: DateOrder = "ymd"
    sensitivity: float | None = None
    counts: bool = False
    better: Literal["higher", "lower"] = "higher"
    unit: str = ""
    about: str = ""
    from_file: bool = False
    words_from_file: bool = False

    def __post_init__(self) -> None:
        one_of(get_args(ColumnType), type=self.type)
        one_of(get_args(Decimal), decimal=self.decimal)
        one_of(get_args(DateOrder), date_order=self.date_order)
        one_of(("higher", "lower"), better=self.better)
        for bound, value in (("low", self.low), ("high", self.high)):
            if value is not None and not math.isfinite(value):
                raise InvalidArgument(bound, "must be finite")
        if self.low is not None and self.high is not None and self.low >= self.high:
            raise InvalidArgument("high", "must be greater than low")
        if not self.from_file:
            _check_bounds(self.low, self.high)
            if self.type == "integer" and not _holds_a_whole_number(self.low, self.high):
                raise InvalidArgument("bounds", "must leave a whole number between them")
        if self.earliest is not None and self.latest is not None and self.earliest >= self.latest:
            raise InvalidArgument("latest", "must be after earliest")
        if len(set(self.categories)) != len(self.categories):
            raise InvalidArgument("categories", "must all be different")
        if set(self.yes_words) & set(self.no_words):
            raise InvalidArgument("no_words", "must not share a word with yes_words")
        if self.sensitivity is not None:
            positive(sensitivity=self.sensitivity)
        if boolean(counts=self.counts) and self.type != "integer":
            raise InvalidArgument("counts", "is for integer columns only")
        if boolean(words_from_file=self.words_from_file):
            object.__setattr__(self, "categories", tuple(sorted(self.categories)))
        _check_words(self)
        check_fill(self)
        object.__setattr__(self, "fill", plain_fill(self))

    @property
    def is_numeric(self) -> bool:
        return self.type in ("number", "integer")

    @property
    def reads_plainly(self) -> bool:
        """Whether entries are read as they stand: one that is missing is nothing, and no word that means missing may be
        a number, or who moves an entry a little would move it much as it is read, or back."""
        own = "".join(plain(word.strip().lower()) for word in set(self.missing_words) - set(MISSING_WORDS))
        return not self.fill and not any(letter.isnumeric() for letter in own)

    @property
    def reads_as_counts(self) -> bool:
        """Whether entries count people as they are read, too."""
        return self.counts and self.reads_plainly

    @property
    def moved(self) -> float | None:
        """How far one person can move one entry as it is read, as stated; None where nobody said, and where entries are
        not read as they stand. Where the nearest whole numbers are read, that is the next whole one: halves go up, so
        that a number and one a whole step from it are read as far apart."""
        if self.sensitivity is None or not self.reads_plainly:
            return None
        return float(math.ceil(self.sensitivity)) if self.type == "integer" else self.sensitivity

    @property
    def bounded(self) -> bool:
        """Whether the bounds (numbers, dates) or categories (words) that a private answer needs are stated."""
        if self.is_numeric:
            return self.low is not None and self.high is not None
        if self.type == "date":
            return self.earliest is not None and self.latest is not None
        return self.type == "yes/no" or (self.type == "category" and len(self.categories) > 0)

    @property
    def releasable(self) -> bool:
        """Whether everything a private answer needs was declared rather than read from the file."""
        return self.bounded and not self.from_file


def unmoved(columns: Iterable[Column]) -> tuple[Column, ...]:
    """The columns, of whose entries nobody has said how far one person moves them, nor that they count people."""
    return tuple(replace(column, sensitivity=None, counts=False) for column in columns)


def whose_row(column: Column) -> Column:
    """The column that says whose row it is as rows are told apart by it: by its text, whatever else it was declared as;
    the words that say of nobody stay what they are."""
    return Column(name=column.name, type="text", missing_words=column.missing_words)


def says_somebody(column: Column) -> bool:
    """Whether the heading of a column says that each row is somebody, by what was declared of it alone."""
    return tells_of_one(column.name, options=column.type == "category" and column.releasable)


def protects_rows(each_row: EachRow, unit: str, columns: Iterable[Column] = ()) -> bool:
    """See ``Schema.protects_rows``; a column that is called as one of ``MOVERS`` says that each row is one.

    What its cells look like, of which one decides for all, tells nothing here.
    """
    named = unit.strip().lower()
    if each_row == "record" or named not in MOVERS:
        return each_row != "record"
    return any(map(says_somebody, columns))


def closest(low: float, high: float) -> float:
    """How far apart declared bounds of this size are at least."""
    return max(CLOSEST, CLOSEST_SHARE * max(abs(low), abs(high)))


def _check_bounds(low: float | None, high: float | None) -> None:
    """Whether nothing that is worked out with declared bounds can overflow, vanish or lose its digits."""
    for name, bound in (("low", low), ("high", high)):
        if bound is not None and abs(bound) > FARTHEST:
            raise InvalidArgument(name, f"must lie between {-FARTHEST:g} and {FARTHEST:g}")
    if low is not None and high is not None and high - low < closest(low, high):
        raise InvalidArgument("high", "must be further above low: next to their size the two are as good as equal")


def _holds_a_whole_number(low: float | None, high: float | None) -> bool:
    """Whether a whole number of 64 bits lies between these bounds."""
    least = -math.inf if low is None else math.ceil(low)
    most = math.inf if high is None else math.floor(high)
    return max(least, -MOST_WHOLE) <= min(most, MOST_WHOLE)


def _check_words(declared: Column | Schema) -> None:
    """Whether every text can be shown, and compared with cells: half a sign, as JSON can name one, is in none."""
    for name in declared.__dataclass_fields__:
        said = getattr(declared, name)
        listed = [said] if isinstance(said, str) else said if isinstance(said, tuple) else ()
        try:
            "".join(one for one in listed if isinstance(one, str)).encode()
        except UnicodeEncodeError:
            raise InvalidArgument(name, "must be text that can be written") from None


@dataclass(frozen=True, slots=True, kw_only=True)
class Schema:
    """Declared columns, and what one row is.

    ``each_row`` is a ``record`` (a person, a visit), an ``option`` with its score or count, or a ``step`` in time, in
    order. ``rows_per_person`` is the most rows that one ``unit`` (who is protected: "person", "district") can have;
    with ``id_column``, which says whose row it is, more are never used. ``people`` is about how many there are, where a
    person says so. ``rows_protected`` keeps ``protects_rows`` where the column that told it is left out, and where one
    is there of which only rows tell; None where the headings tell it. Raises InvalidArgument.
    """

    columns: tuple[Column, ...]
    each_row: EachRow = "record"
    rows_per_person: int = 1
    unit: str = "person"
    people: int | None = None
    id_column: str | None = None
    rows_protected: bool | None = None

    def __post_init__(self) -> None:
        one_of(get_args(EachRow), each_row=self.each_row)
        whole(1, MOST_PEOPLE, rows_per_person=self.rows_per_person)
        if self.people is not None:
            whole(1, MOST_PEOPLE, people=self.people)
        if not self.columns:
            raise InvalidArgument("columns", "must not be empty")
        if len(set(self.names)) != len(self.columns):
            raise InvalidArgument("columns", "must have different names")
        if self.id_column is not None and (self.id_column not in self.names or self.each_row != "record"):
            raise InvalidArgument("id_column", "must be a column of a table with one record in each row")
        _check_words(self)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)

    @property
    def protects_rows(self) -> bool:
        """Whether what is protected may be a step or an option itself, and not somebody who moves the entries of
        several."""
        told = () if self.rows_protected is not None else self.columns
        return protects_rows(self.each_row, self.unit, told) or bool(self.each_row != "record" and self.rows_protected)

    def of_type(self, *types: ColumnType) -> tuple[Column, ...]:
        return tuple(column for column in self.columns if column.type in types)

    def column(self, name: str) -> Column:
        """The column called ``name``. Raises InvalidArgument."""
        for column in self.columns:
            if column.name == name:
                return column
        raise InvalidArgument("column", "must be one of the declared columns")

    def with_column(self, column: Column) -> Schema:
        """This schema with the column of the same name replaced. Raises InvalidArgument."""
        self.column(column.name)
        return replace(self, columns=tuple(column if old.name == column.name else old for old in self.columns))

    def only(self, *names: str) -> Schema:
        """This schema with the named columns, in that order. Raises InvalidArgument."""
        chosen = tuple(self.column(name) for name in names)
        whose = self.id_column if self.id_column in names else None
        somebody = self.each_row != "record" and self.unit.strip().lower() in MOVERS
        protected = True if somebody and self.protects_rows else self.rows_protected
        return replace(self, columns=chosen, id_column=whose, rows_protected=protected)

    def led_by(self, name: str) -> Schema:
        """This schema with one column first, the others as they were. Raises InvalidArgument."""
        first = self.column(name)
        return replace(self, columns=(first, *(column for column in self.columns if column.name != name)))
