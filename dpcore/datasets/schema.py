"""What a person declares about a table: the type, bounds and categories of each column, and what a row stands for.

Bounds and categories are public knowledge. Where they were read from the file itself they are marked ``from_file``:
good for looking at one's own data, never for a release, because a minimum taken from the data gives that person away.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from datetime import date
from typing import TYPE_CHECKING, Literal, get_args

from dpcore.errors import InvalidArgument
from dpcore.validate import one_of, positive, whole

if TYPE_CHECKING:
    import pandas as pd

    from dpcore.datasets.conversion import Applied

ColumnType = Literal["category", "number", "integer", "yes/no", "date", "text"]
Decimal = Literal[".", ","]
DateOrder = Literal["ymd", "dmy", "mdy", "serial"]
EachRow = Literal["record", "option", "step"]

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
    ``fill`` takes the place of missing values (a category's name, a number, "yes" or "no", an ISO date);
    without it a missing cell stays missing and its row is left out of questions about this column.
    ``missing_words`` are compared without case and padding. ``sensitivity`` is how far one person can move one entry
    of a table whose rows are options or steps; ``better`` says which way such scores point. Raises InvalidArgument.
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
        if self.earliest is not None and self.latest is not None and self.earliest >= self.latest:
            raise InvalidArgument("latest", "must be after earliest")
        if len(set(self.categories)) != len(self.categories):
            raise InvalidArgument("categories", "must all be different")
        if set(self.yes_words) & set(self.no_words):
            raise InvalidArgument("no_words", "must not share a word with yes_words")
        if self.sensitivity is not None:
            positive(sensitivity=self.sensitivity)
        if self.fill is not None and self.categories and self.fill not in self.categories:
            raise InvalidArgument("fill", "must be one of the categories")

    @property
    def is_numeric(self) -> bool:
        return self.type in ("number", "integer")

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Schema:
    """Declared columns, and what one row is.

    ``each_row`` is a ``record`` (a person, a visit), an ``option`` with its score or count, or a ``step`` in time, in
    order. ``rows_per_person`` is the most rows that one ``unit`` (who is protected: "person", "district") can have.
    Raises InvalidArgument.
    """

    columns: tuple[Column, ...]
    each_row: EachRow = "record"
    rows_per_person: int = 1
    unit: str = "person"

    def __post_init__(self) -> None:
        one_of(get_args(EachRow), each_row=self.each_row)
        whole(1, rows_per_person=self.rows_per_person)
        if not self.columns:
            raise InvalidArgument("columns", "must not be empty")
        if len(set(self.names)) != len(self.columns):
            raise InvalidArgument("columns", "must have different names")

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)

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
        return replace(self, columns=tuple(self.column(name) for name in names))

    def led_by(self, name: str) -> Schema:
        """This schema with one column first, the others as they were. Raises InvalidArgument."""
        first = self.column(name)
        return replace(self, columns=(first, *(column for column in self.columns if column.name != name)))

    def apply(self, frame: pd.DataFrame) -> Applied:
        """Typed columns of a frame of text, with an account of every cell that was not taken as it stood.

        Columns of the frame that are not declared are not looked at. Raises InvalidArgument when a declared column is
        not in the frame.
        """
        from dpcore.datasets.conversion import apply

        return apply(self, frame)
