"""How one declared column becomes numbers in [−1, 1], by public constants alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from dpcore.errors import InvalidArgument
from dpcore.training.coded import CodedRows
from dpcore.training.cuts import Shape, calendar_cuts, own_cuts, public_cuts
from dpcore.validate import FloatArray, IntArray, one_of

if TYPE_CHECKING:
    import pandas as pd

    from dpcore.datasets.schema import Column
    from dpcore.training.pairs import Pair

Kind = Literal["number", "date", "yes/no", "category"]
MOST_CATEGORIES = 500
_DAY = np.timedelta64(1, "D")


@dataclass(frozen=True, slots=True, kw_only=True)
class Encoding:
    """Numbers and dates are scaled so that ``low``..``high`` becomes −1..1 (dates in days since 1970); yes/no is 1/−1.

    Of the ``categories`` the one that holds is 1, the others 0; the two of a two-class target are −1 and 1, in order.
    With ``levels`` (see ``cuts``; in the column's own unit, dates in days) a number or date is cut: in each level the
    step it falls into is 1/√(number of levels), the others 0. ``codes`` and ``basis`` say the same as a table.
    Whatever the value, the length of a column's numbers is at most 1. Raises InvalidArgument.
    """

    name: str
    kind: Kind
    low: float = 0.0
    high: float = 1.0
    categories: tuple[str, ...] = ()
    integer: bool = False
    levels: tuple[tuple[float, ...], ...] = ()

    def __post_init__(self) -> None:
        one_of(get_args(Kind), kind=self.kind)
        if self.kind in ("number", "date") and not self.low < self.high < np.inf:
            raise InvalidArgument(
                "columns", f"cannot include “{self.name}”: its lowest and highest possible values are the same"
            )
        if self.kind in ("number", "date") and not np.isfinite(self.high - self.low):
            raise InvalidArgument(
                "columns", f"cannot include “{self.name}”: its lowest and highest possible values are too far apart"
            )
        if self.kind == "category" and len(self.categories) < 2:
            raise InvalidArgument("columns", f"cannot include “{self.name}”: it has only one category")
        if len(self.categories) > MOST_CATEGORIES:
            raise InvalidArgument(
                "columns",
                f"cannot include “{self.name}”: it has {len(self.categories):,} categories and at most "
                f"{MOST_CATEGORIES} can be used; group them or leave it out",
            )
        if self.levels and self.kind not in ("number", "date"):
            raise InvalidArgument("levels", f"cannot be set for “{self.name}”: only numbers and dates can be cut")
        if any(not level or any(b <= a for a, b in pairwise(level)) for level in self.levels):
            raise InvalidArgument("levels", "must each hold at least one cut, in rising order")

    @property
    def width(self) -> int:
        """How many numbers it becomes."""
        if self.levels:
            return sum(len(level) + 1 for level in self.levels)
        return len(self.categories) if self.kind == "category" else 1

    @property
    def labels(self) -> tuple[str, ...]:
        """A name for each of its numbers."""
        if self.levels:
            return tuple(f"{self.name}: {step}" for level in self.levels for step in self.steps(level))
        return tuple(f"{self.name}: {word}" for word in self.categories) if self.categories else (self.name,)

    def typed(self, values: pd.Series) -> FloatArray:
        """Typed values of a ``Table`` as numbers, (n,): scaled, or positions of categories; NaN where missing."""
        import pandas as pd

        if self.kind == "category":
            codes = pd.Categorical(values, categories=list(self.categories)).codes
            return np.where(codes >= 0, codes, np.nan).astype(np.float64)
        if self.kind == "yes/no":
            return np.asarray(values.astype("Float64").to_numpy(dtype=np.float64, na_value=np.nan) * 2.0 - 1.0)
        if self.kind == "date":
            stamps = values.to_numpy(dtype="datetime64[s]")
            days = np.where(np.isnat(stamps), np.nan, (stamps - np.datetime64(0, "s")) / _DAY)
            return self.scaled(days)
        return self.scaled(values.to_numpy(dtype=np.float64, na_value=np.nan))

    def plain(self, values: Sequence[Any]) -> FloatArray:
        """Plain values (text, numbers, True/False, ISO dates) as ``typed`` has them; NaN for what cannot be read."""
        return np.array([self._one(value) for value in values], dtype=np.float64)

    def _one(self, value: Any) -> float:
        # a column of a frame becomes one of floats by one missing entry
        whole = isinstance(value, float) and value.is_integer()
        text = str(int(value) if whole else value).strip()
        if self.kind == "category":
            return float(self.categories.index(text)) if text in self.categories else np.nan
        if self.kind == "yes/no":
            return {"yes": 1.0, "true": 1.0, "1": 1.0, "no": -1.0, "false": -1.0, "0": -1.0}.get(text.lower(), np.nan)
        try:
            if self.kind == "date":
                number = float((date.fromisoformat(text[:10]) - date(1970, 1, 1)).days)
            else:
                number = float(text)
        except ValueError:
            return np.nan
        return float(self.scaled(np.array([number]))[0])

    def scaled(self, values: FloatArray) -> FloatArray:
        """``low``..``high`` to −1..1, what lies outside moved to the nearest end."""
        share = (np.clip(values, self.low, self.high) - self.low) / (self.high - self.low)
        return np.asarray(share * 2.0 - 1.0)

    def unscaled(self, values: FloatArray) -> FloatArray:
        """−1..1 back to ``low``..``high``."""
        return np.asarray(self.low + (np.clip(values, -1.0, 1.0) + 1.0) / 2.0 * (self.high - self.low))

    def spread(self, values: FloatArray) -> FloatArray:
        """What ``typed`` gave, as this column's numbers (n, width); all 0 where missing."""
        if self.levels:
            parts = [(self.place(values, level)[:, None] == np.arange(len(level) + 1)) for level in self.levels]
            return np.asarray(np.concatenate(parts, axis=1) / np.sqrt(len(self.levels)))
        if self.kind != "category":
            return np.nan_to_num(values, nan=0.0)[:, None]
        return np.asarray(values[:, None] == np.arange(len(self.categories)), dtype=np.float64)

    def ones(self) -> FloatArray:
        """What ``spread`` makes of each of ``codes``, (codes, width): nothing of the last, which is missing. For a
        column of several options or steps."""
        if self.levels:
            return np.asarray(self.basis()[:, :-1] / np.sqrt(len(self.levels)))
        return np.eye(max(2, len(self.categories)) + 1, len(self.categories))

    def steps(self, cuts: Sequence[float]) -> list[str]:
        """Words for the steps between ``cuts``."""
        if self.kind == "date":
            words = [(date(1970, 1, 1) + timedelta(days=cut)).isoformat() for cut in cuts]
        else:
            words = [f"{cut:,.10g}" for cut in cuts]
        between = [f"{low} to below {high}" for low, high in pairwise(words)]
        return [f"below {words[0]}", *between, f"{words[-1]} or more"]

    @property
    def edges(self) -> tuple[float, ...]:
        """All cuts of all levels, in order."""
        return tuple(sorted({cut for level in self.levels for cut in level}))

    def codes(self, values: FloatArray) -> IntArray:
        """What ``typed`` gave as whole numbers (n,): the category or finest step, and the number after the last one
        where missing. Raises InvalidArgument for a number without cuts."""
        if self.levels:
            found, missing = self.place(values, self.edges), len(self.edges) + 1
        elif self.kind in ("category", "yes/no"):
            places = values if self.kind == "category" else (values + 1.0) / 2.0
            found, missing = np.nan_to_num(places, nan=-1.0).astype(np.int64), max(2, len(self.categories))
        else:
            raise InvalidArgument("levels", f"are needed to code “{self.name}”")
        return np.where(found < 0, missing, found)

    def basis(self) -> FloatArray:
        """The zeros and ones that each of ``codes`` stands for, (codes, width + 1); the last says missing or unknown.

        Yes and no have a one each.
        """
        if not self.levels:
            return np.eye(max(2, len(self.categories)) + 1)
        lowest = np.array([-np.inf, *self.edges])
        places = [np.searchsorted(level, lowest, side="right") for level in self.levels]
        parts = [own[:, None] == np.arange(len(level) + 1) for own, level in zip(places, self.levels, strict=True)]
        present = np.concatenate(parts, axis=1).astype(np.float64)
        whole = np.zeros((present.shape[0] + 1, present.shape[1] + 1))
        whole[:-1, :-1] = present
        whole[-1, -1] = 1.0
        return whole

    def place(self, values: FloatArray, cuts: Sequence[float] | FloatArray) -> IntArray:
        """Between which of ``cuts`` the scaled ``values`` lie, 0 below the first; −1 where missing."""
        # cuts are scaled as values are, by the same operations, so a value at a cut stays at it
        found = np.searchsorted(self.scaled(np.asarray(cuts, dtype=np.float64)), values, side="right")
        return np.where(np.isnan(values), -1, found).astype(np.int64)


def coded(
    columns: Sequence[Encoding], typed: Sequence[FloatArray], *, missing: bool = True, pairs: Sequence[Pair] = ()
) -> CodedRows:
    """The rows of a table as codes, from what each column's ``typed`` gave, then ``pairs`` of these columns, and a
    constant one at the end.

    Missing values have a code, and with ``missing`` a one, of their own. Raises InvalidArgument for a number that is
    not cut.
    """
    tables = [column.basis() if missing else column.basis()[:, :-1] for column in columns]
    tables += [pair.basis() for pair in pairs]
    # one by one in as few bytes as their tables need: of hundreds of columns they would be as many as the rows
    kinds = [np.min_scalar_type(table.shape[0]) for table in tables]
    codes = [column.codes(values).astype(kind) for column, values, kind in zip(columns, typed, kinds, strict=False)]
    if pairs:
        known = {column.name: values for column, values in zip(columns, typed, strict=True)}
        of_pairs = zip(pairs, kinds[len(columns) :], strict=True)
        codes += [pair.codes(*(known[name] for name in pair.names)).astype(kind) for pair, kind in of_pairs]
    constant = np.zeros(codes[0].shape[0], dtype=np.int64)
    return CodedRows.of([*codes, constant], [*tables, np.ones((1, 1))])


def cut(column: Encoding, shape: Shape | Sequence[float] = "even") -> Encoding:
    """A number or date cut into steps: "even" or "heavy" (see ``public_cuts``; dates by the calendar), or own cuts.

    Own cuts of a date are in days since 1970. Raises InvalidArgument.
    """
    if column.kind not in ("number", "date"):
        raise InvalidArgument("shapes", f"cannot cut “{column.name}”: only numbers and dates can be cut")
    if not isinstance(shape, str):
        return replace(column, levels=own_cuts(column.low, column.high, shape))
    if column.kind == "date":
        days = (date(1970, 1, 1) + timedelta(days=bound) for bound in (column.low, column.high))
        return replace(column, levels=calendar_cuts(*days))
    return replace(column, levels=public_cuts(column.low, column.high, shape))


def encoding(column: Column) -> Encoding:
    """The encoding of a declared column. Raises InvalidArgument, with a sentence, for one that cannot be used."""
    named = f"cannot include “{column.name}”"
    if column.type == "text":
        raise InvalidArgument("columns", f"{named}: it holds free text; declare its categories, or leave it out")
    if not column.bounded:
        missing = {"category": "categories", "date": "first and last possible day"}.get(column.type)
        raise InvalidArgument(
            "columns", f"{named} until its {missing or 'lowest and highest possible values'} are declared"
        )
    if column.type == "category":
        return Encoding(name=column.name, kind="category", categories=column.categories)
    if column.type == "yes/no":
        return Encoding(name=column.name, kind="yes/no")
    if column.type == "date" and column.earliest is not None and column.latest is not None:
        first, last = (float((day - date(1970, 1, 1)).days) for day in (column.earliest, column.latest))
        return Encoding(name=column.name, kind="date", low=first, high=last)
    low, high = float(column.low or 0.0), float(column.high or 0.0)
    return Encoding(name=column.name, kind="number", low=low, high=high, integer=column.type == "integer")
