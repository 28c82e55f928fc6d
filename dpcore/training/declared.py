"""Columns as a person who has not seen the data declares them, and how a frame's values become codes by them alone."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from dpcore.errors import InvalidArgument
from dpcore.training.coded import CodedRows
from dpcore.training.encoding import Encoding, coded, cut
from dpcore.training.entries import HELD, day, held_exactly, known, number
from dpcore.training.paid_cuts import paid_cuts
from dpcore.validate import FloatArray, IntArray

if TYPE_CHECKING:
    import pandas as pd
    from numpy.random import Generator

_DAY = np.timedelta64(1, "D")


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared:
    """One column: its ``encoding`` and, for a list of options, the ``options`` as they stand in the data.

    A column of numbers or dates that is ``paid`` has no cuts before these are bought.

    Any value becomes a code by itself: what is beyond the bounds moves to the bound, what is missing, unknown or not of
    the declared type has a code of its own. So one row's codes never depend on another row, and nothing is refused.
    """

    encoding: Encoding
    options: tuple[Any, ...] = ()
    paid: bool = False

    @classmethod
    def of(cls, name: Hashable, declaration: Any) -> Declared:
        """``(low, high)``, ``(low, high, "heavy")``, ``(low, high, "paid")`` or ``(low, high, [own cuts])`` in numbers
        or dates, or a list of options. Raises InvalidArgument."""
        label = str(name)
        if isinstance(declaration, tuple) and len(declaration) in (2, 3) and not isinstance(declaration[0], str):
            paid = len(declaration) == 3 and isinstance(declaration[2], str) and declaration[2] == "paid"
            return cls(encoding=_bounded(label, declaration[:2] if paid else declaration, paid=paid), paid=paid)
        if isinstance(declaration, (list, set, frozenset, range, np.ndarray)):
            options = tuple(value.item() if isinstance(value, np.generic) else value for value in declaration)
            options = tuple(sorted(options, key=str)) if isinstance(declaration, (set, frozenset)) else options
            found = _of_options(label, options)
            if not all(map(held_exactly, declaration)):
                raise InvalidArgument("columns", f"must list the numbers among the options of “{label}” {HELD}")
            return found
        raise InvalidArgument(
            "columns", f"must give “{label}” as (low, high), (low, high, “heavy”) or a list of its options"
        )

    @property
    def kind(self) -> str:
        return self.encoding.kind

    def codes(self, values: pd.Series) -> IntArray:
        """The code of every value, shape (n,)."""
        return self.encoding.codes(self.typed(values))

    @property
    def labels(self) -> tuple[str, ...]:
        """A name for each of ``codes``."""
        found = self.encoding
        return (*(found.steps(found.edges) if found.levels else found.categories), "missing or unknown")

    def typed(self, values: pd.Series) -> FloatArray:
        """Every value as ``Encoding.typed`` has it, by itself, shape (n,)."""
        if self.options:
            return places(values, self.options)
        return self.encoding.scaled(_days(values) if self.kind == "date" else numbers(values))

    def bought(self, values: pd.Series, *, noise: float, columns: int, rng: Generator) -> Declared:
        """Itself with cuts at private quantiles of ``values``; see ``paid_cuts``."""
        own, column = self.encoding.unscaled(self.typed(values)), self.encoding
        days = column.kind == "date"
        levels = paid_cuts(own, column.low, column.high, noise=noise, columns=columns, rng=rng, days=days)
        return replace(self, encoding=replace(column, levels=levels), paid=False)

    def to_be_bought(self) -> Declared:
        """Itself with its cuts to be bought, where it has any."""
        if not self.encoding.levels:
            return self
        return replace(self, encoding=replace(self.encoding, levels=()), paid=True)

    def at_levels(self, most: int | None) -> Declared:
        """Itself with the ``most`` coarsest levels of cuts; all of them where that is None."""
        return replace(self, encoding=replace(self.encoding, levels=self.encoding.levels[:most]))

    def plain(self) -> dict[str, Any]:
        """As JSON can hold it; ``read`` reads it back."""
        found: dict[str, Any] = {"column": self.encoding.name, "kind": self.kind}
        if self.options:
            return found | {"options": list(self.options)}
        return found | {
            "low": self.encoding.low,
            "high": self.encoding.high,
            "cuts": [list(level) for level in self.encoding.levels],
        }

    @classmethod
    def read(cls, plain: Mapping[str, Any]) -> Declared:
        """From what ``plain`` gave."""
        name, kind = str(plain["column"]), plain["kind"]
        if kind == "category":
            return _of_options(name, tuple(plain["options"]))
        levels = tuple(tuple(float(cut) for cut in level) for level in plain["cuts"])
        return cls(
            encoding=Encoding(name=name, kind=kind, low=float(plain["low"]), high=float(plain["high"]), levels=levels)
        )


def _of_options(label: str, options: tuple[Any, ...]) -> Declared:
    if not told_apart(options):
        raise InvalidArgument(
            "columns", f"must list every option of “{label}” once, and none that is missing; “1” and 1 are one"
        )
    words = tuple(str(option) for option in options)
    return Declared(encoding=Encoding(name=label, kind="category", categories=words), options=options)


def coded_rows(columns: Sequence[Declared], values: Sequence[pd.Series]) -> CodedRows:
    """The rows of a table by its declared columns, with a constant one at the end."""
    typed = [column.typed(own) for column, own in zip(columns, values, strict=True)]
    return coded([column.encoding for column in columns], typed)


def numbers(values: pd.Series) -> FloatArray:
    """Every value as a number by itself, shape (n,); NaN for what is none."""
    if values.dtype.kind in "fiub":
        return values.to_numpy(dtype=np.float64, na_value=np.nan)
    return np.array([number(value) for value in values], dtype=np.float64)


def _days(values: pd.Series) -> FloatArray:
    """Days since 1970 of every value by itself, by its own clock; texts in ISO 8601. Not pandas' reader, which looks at
    the first row to understand the others."""
    if values.dtype.kind == "M" and values.dt.tz is None:
        stamps = values.to_numpy(dtype="datetime64[s]").astype("datetime64[D]")
        return np.where(np.isnat(stamps), np.nan, (stamps - np.datetime64(0, "D")) / _DAY)
    return np.array([day(value) for value in values], dtype=np.float64)


def places(values: pd.Series, options: Sequence[Any]) -> FloatArray:
    """The place of every value among the options, each ``known`` by itself; NaN for any other."""
    of_option = {known(option): float(place) for place, option in enumerate(options)}
    of_text: dict[str, float] = {}

    def place(value: Any) -> float:
        if type(value) is not str:
            return of_option.get(known(value), np.nan)
        if value not in of_text:
            of_text[value] = of_option.get(known(value), np.nan)
        return of_text[value]

    return np.array([place(value) for value in values], dtype=np.float64)


def told_apart(options: Sequence[Any]) -> bool:
    """Whether an entry of data can name each of the options and no other; none is missing."""
    found = {known(option) for option in options}
    return len(found) == len(options) and None not in found


def _bounded(name: str, declaration: tuple[Any, ...], *, paid: bool = False) -> Encoding:
    found = _cut(name, declaration)
    return replace(found, levels=()) if paid else found


def _cut(name: str, declaration: tuple[Any, ...]) -> Encoding:
    low, high = declaration[:2]
    shape: Any = declaration[2] if len(declaration) == 3 else "even"
    if isinstance(low, date) and isinstance(high, date):
        first, last = day(low), day(high)
        if not first < last:
            raise InvalidArgument("columns", f"must give “{name}” a lowest date below the highest")
        cuts = shape if isinstance(shape, str) else [day(one) for one in shape]
        return cut(Encoding(name=name, kind="date", low=first, high=last), cast(Any, cuts))
    try:
        bottom, top = float(low), float(high)
    except (TypeError, ValueError, OverflowError):
        raise InvalidArgument("columns", f"must give “{name}” two numbers or two dates") from None
    if not -np.inf < bottom < top < np.inf:
        raise InvalidArgument("columns", f"must give “{name}” a finite lowest value below a finite highest one")
    return cut(Encoding(name=name, kind="number", low=bottom, high=top), shape)
