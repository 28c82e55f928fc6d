"""How one declared column becomes numbers in [−1, 1], by public constants alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from dpcore.errors import InvalidArgument
from dpcore.validate import FloatArray, one_of

if TYPE_CHECKING:
    import pandas as pd

    from dpcore.datasets.schema import Column

Kind = Literal["number", "date", "yes/no", "category"]
MOST_CATEGORIES = 500
_DAY = np.timedelta64(1, "D")


@dataclass(frozen=True, slots=True, kw_only=True)
class Encoding:
    """Numbers and dates are scaled so that ``low``..``high`` becomes −1..1 (dates in days since 1970); yes/no is 1/−1.

    Of the ``categories`` the one that holds is 1, the others 0; the two of a two-class target are −1 and 1, in order.
    Whatever the value, the length of a column's numbers is at most 1. Raises InvalidArgument.
    """

    name: str
    kind: Kind
    low: float = 0.0
    high: float = 1.0
    categories: tuple[str, ...] = ()
    integer: bool = False

    def __post_init__(self) -> None:
        one_of(get_args(Kind), kind=self.kind)
        if self.kind in ("number", "date") and not self.low < self.high < np.inf:
            raise InvalidArgument(
                "columns", f"cannot include “{self.name}”: its lowest and highest possible values are the same"
            )
        if self.kind == "category" and len(self.categories) < 2:
            raise InvalidArgument("columns", f"cannot include “{self.name}”: it has only one category")
        if len(self.categories) > MOST_CATEGORIES:
            raise InvalidArgument(
                "columns",
                f"cannot include “{self.name}”: it has {len(self.categories):,} categories and at most "
                f"{MOST_CATEGORIES} can be used; group them or leave it out",
            )

    @property
    def width(self) -> int:
        """How many numbers it becomes."""
        return len(self.categories) if self.kind == "category" else 1

    @property
    def labels(self) -> tuple[str, ...]:
        """A name for each of its numbers."""
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
        text = str(value).strip()
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
        return np.asarray(2.0 * (np.clip(values, self.low, self.high) - self.low) / (self.high - self.low) - 1.0)

    def unscaled(self, values: FloatArray) -> FloatArray:
        """−1..1 back to ``low``..``high``."""
        return np.asarray(self.low + (np.clip(values, -1.0, 1.0) + 1.0) / 2.0 * (self.high - self.low))

    def spread(self, values: FloatArray) -> FloatArray:
        """What ``typed`` gave, as this column's numbers (n, width); all 0 where missing."""
        if self.kind != "category":
            return np.nan_to_num(values, nan=0.0)[:, None]
        return np.asarray(values[:, None] == np.arange(len(self.categories)), dtype=np.float64)


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
