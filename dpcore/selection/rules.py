"""Simple rules over chosen columns, on grids declared in public: finite classes of hypotheses for yes/no targets.

Cuts and categories are part of the question, never read from the data: a cut taken from a value gives that person
away.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from dpcore.errors import InvalidArgument
from dpcore.validate import BoolArray, FloatArray, IntArray, finite_vector, whole
from dpcore.written import exact

_ROWS, _ANSWERS = 4096, 1 << 22  # worked on at a time: rows, and answers of all rules to them
_DIGITS = 100  # a power of ten that a float holds with room to multiply

Comparison = Literal["always", "at_least", "below", "is", "is_not"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """Predict yes when the column compares so with ``value``; ``always`` predicts ``value`` for everyone."""

    column: str
    comparison: Comparison
    value: float | str | bool

    def __str__(self) -> str:
        if self.comparison == "always":
            return "always yes" if self.value else "always no"
        words = {"at_least": "is at least", "below": "is below", "is": "is", "is_not": "is not"}
        value = exact(self.value) if isinstance(self.value, (int, float)) else self.value
        return f"yes when {self.column} {words[self.comparison]} {value}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cuts:
    """Thresholds on a numeric column: ``count`` cuts strictly between public ``low`` < ``high``.

    Evenly spaced, but for rounding to a tenth of the leading digit of their distance, so that a rule can be said.
    """

    column: str
    low: float
    high: float
    count: int = 20

    def __post_init__(self) -> None:
        finite_vector(low=[self.low])
        finite_vector(high=[self.high])
        if not 0 < self.high - self.low < np.inf:
            raise InvalidArgument("high", "must be greater than low")
        whole(1, 100_000, count=self.count)

    @property
    def grid(self) -> FloatArray:
        """The cuts, shape (count,), ascending."""
        evenly = np.linspace(self.low, self.high, self.count + 2)[1:-1]
        digits = 1 - int(np.floor(np.log10((self.high - self.low) / (self.count + 1))))
        # the rounding is by at most a twentieth of the distance; beyond these digits there is nothing to say
        return np.round(evenly, digits) if abs(digits) < _DIGITS else evenly

    def rules(self) -> list[Rule]:
        """For each cut: yes from there on, and yes below."""
        cuts = [float(cut) for cut in self.grid]
        return [
            Rule(column=self.column, comparison=comparison, value=cut)
            for cut in cuts
            for comparison in ("at_least", "below")
        ]

    def agreements(self, values: ArrayLike, weights: FloatArray) -> FloatArray:
        """Sum of ``weights`` (n,) of the rows where each rule says yes, shape (2·count,)."""
        passed = np.bincount(self.places(values), weights=weights, minlength=self.count + 1)
        above = np.cumsum(passed[::-1])[::-1][1:]
        return np.stack([above, weights.sum() - above], axis=1).ravel()

    def errors_counted(self, counts: IntArray) -> IntArray:
        """Errors of each rule, shape (2·count,), from how many rows reach 0, 1, … cuts: no and yes, (count + 1, 2)."""
        above = np.cumsum(counts[::-1], axis=0)[::-1][1:]
        return _errors(above, counts.sum(axis=0))

    def places(self, values: ArrayLike) -> IntArray:
        """How many cuts each row reaches, shape (n,), in as few bytes as they need."""
        numbers = finite_vector(table=values, at_least=0)
        found: IntArray = np.searchsorted(self.grid, numbers, side="right").astype(np.min_scalar_type(self.count))
        return found

    def says(self, places: IntArray) -> BoolArray:
        """Where each rule predicts yes, from ``places``, shape (n, 2·count)."""
        above = places[:, None] > np.arange(self.count)
        return np.stack([above, ~above], axis=2).reshape(len(above), 2 * self.count)


@dataclass(frozen=True, slots=True, kw_only=True)
class Categories:
    """Membership of a column in one of the declared ``values``; what is not declared equals none of them."""

    column: str
    values: tuple[str, ...]

    def __post_init__(self) -> None:
        if not self.values:
            raise InvalidArgument("values", "must not be empty")
        if len(set(self.values)) != len(self.values):
            raise InvalidArgument("values", "must not name a category twice")

    def rules(self) -> list[Rule]:
        """For each category: yes there, and yes everywhere else."""
        return [
            Rule(column=self.column, comparison=comparison, value=value)
            for value in self.values
            for comparison in ("is", "is_not")
        ]

    def agreements(self, values: ArrayLike, weights: FloatArray) -> FloatArray:
        """Sum of ``weights`` (n,) of the rows where each rule says yes, shape (2·values,)."""
        inside = np.bincount(self.places(values), weights=weights, minlength=len(self.values) + 1)[:-1]
        return np.stack([inside, weights.sum() - inside], axis=1).ravel()

    def errors_counted(self, counts: IntArray) -> IntArray:
        """Errors of each rule, shape (2·values,), from how many rows have each value and none of them: no and yes,
        (values + 1, 2)."""
        return _errors(counts[:-1], counts.sum(axis=0))

    def places(self, values: ArrayLike | pd.Categorical) -> IntArray:
        """Which of the values each row has, shape (n,), in as few bytes as they need; as many as there are for none."""
        place = {value: i for i, value in enumerate(self.values)}
        other = len(self.values)
        kind = np.min_scalar_type(other)
        if isinstance(values, pd.Categorical):  # each word once, a missing one last
            of_words = np.array([*(place.get(word, other) for word in values.categories), other], dtype=kind)
            found: IntArray = of_words[values.codes]
            return found
        # words as they are: an array of NumPy's own would take what the longest does for each
        return np.fromiter((place.get(value, other) for value in np.asarray(values, dtype=object)), dtype=kind)

    def says(self, places: IntArray) -> BoolArray:
        """Where each rule predicts yes, from ``places``, shape (n, 2·values)."""
        same = places[:, None] == np.arange(len(self.values))
        return np.stack([same, ~same], axis=2).reshape(len(same), 2 * len(self.values))


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleClass:
    """All rules over the given columns, and the two that look at nothing. The first in a tie is the plainest.

    ``columns``: ``Cuts`` and ``Categories``. A table maps column names to arrays of one length n, or pandas' columns of
    categories, and is asked for one column at a time, each once, so that it may make them then. One person moves
    the error counts of all rules by at most 1; when the person is added or removed, all one way. Raises
    InvalidArgument.
    """

    columns: tuple[Cuts | Categories, ...]

    def __post_init__(self) -> None:
        if not self.columns:
            raise InvalidArgument("columns", "must not be empty")
        names = [column.column for column in self.columns]
        if len(set(names)) != len(names):
            raise InvalidArgument("columns", "must not name a column twice")

    @property
    def rules(self) -> tuple[Rule, ...]:
        """Every rule of the class, in the order of ``errors``."""
        plain = [Rule(column="", comparison="always", value=value) for value in (False, True)]
        return (*plain, *(rule for column in self.columns for rule in column.rules()))

    @property
    def size(self) -> int:
        """Number of rules k."""
        return 2 + sum(2 * (c.count if isinstance(c, Cuts) else len(c.values)) for c in self.columns)

    def errors(self, table: Mapping[str, Any], target: ArrayLike) -> IntArray:
        """How many rows each rule gets wrong, shape (k,), for a ``target`` (n,) of yes and no.

        With the predictions of one rule as the target: on how many rows the others differ from it. O(n + k) per column.
        Raises InvalidArgument.
        """
        wanted = _yes(target)
        # a rule errs where it says yes to a no, or does not say yes to a yes
        weights = np.where(wanted, -1.0, 1.0)
        parts = [np.array([0.0, weights.sum()])]
        parts += [column.agreements(_column(table, column.column, wanted.size), weights) for column in self.columns]
        wrong: IntArray = np.rint(np.concatenate(parts) + wanted.sum()).astype(np.int64)
        return wrong

    def errors_counted(self, counts: Sequence[IntArray]) -> IntArray:
        """As ``errors``, shape (k,), from counts alone: of each of ``columns`` how many rows fall where, no and yes.

        ``Cuts`` have a row for each number of cuts that is reached, ``Categories`` one for each value and one for none.
        Raises InvalidArgument.
        """
        if [len(one) for one in counts] != [
            (c.count if isinstance(c, Cuts) else len(c.values)) + 1 for c in self.columns
        ]:
            raise InvalidArgument("counts", "must have a row for each place of each column")
        no, yes = counts[0].sum(axis=0)
        own = [column.errors_counted(one) for column, one in zip(self.columns, counts, strict=True)]
        wrong: IntArray = np.concatenate([np.array([yes, no], dtype=np.int64), *own])
        return wrong

    def covariance(self, table: Mapping[str, Any], target: ArrayLike) -> FloatArray:
        """How two rules' mistakes on one person vary together, shape (k, k): for the error of drawing people.

        O(n·k²), some rows at a time, so that beside the result 40 MB are taken. Raises InvalidArgument.
        """
        wanted = _yes(target)
        columns = [(column, column.places(_column(table, column.column, wanted.size))) for column in self.columns]
        together, wrong = np.zeros((self.size, self.size)), np.zeros(self.size)
        at_once = max(1, min(_ROWS, _ANSWERS // self.size))
        for i in range(0, wanted.size, at_once):
            rows = slice(i, i + at_once)
            plain = np.broadcast_to([False, True], (wanted[rows].size, 2))
            says = np.concatenate([plain, *(column.says(places[rows]) for column, places in columns)], axis=1)
            mistakes = (says != wanted[rows, None]).astype(np.float32)  # sums of 4096 ones are exact in float32
            together += mistakes.T @ mistakes
            wrong += mistakes.sum(axis=0)
        rates = wrong / max(1, wanted.size)
        together /= max(1, wanted.size)
        together -= np.outer(rates, rates)
        return together

    def predict(self, rule: Rule, table: Mapping[str, Any], n: int) -> BoolArray:
        """Where ``rule`` predicts yes on a table of ``n`` rows, shape (n,). Raises InvalidArgument."""
        if rule.comparison == "always":
            return np.full(whole(0, n=n), bool(rule.value))
        for column in self.columns:
            if rule in column.rules():
                places = column.places(_column(table, rule.column, n))
                says: BoolArray = column.says(places)[:, column.rules().index(rule)]
                return says
        raise InvalidArgument("rule", "must be of this class")


def _errors(said: IntArray, total: IntArray) -> IntArray:
    """Of rules that say yes in ``said`` (k, 2) rows of no and yes, and their opposites, in turns, shape (2·k,)."""
    wrong = said[:, 0] + total[1] - said[:, 1]
    errors: IntArray = np.stack([wrong, total.sum() - wrong], axis=1).ravel().astype(np.int64)
    return errors


def _yes(answers: ArrayLike) -> BoolArray:
    array = np.asarray(answers)
    if array.ndim != 1 or array.dtype.kind not in "biuf" or not np.isin(array, (0, 1)).all():
        raise InvalidArgument("target", "must be a list of yes and no")
    return array.astype(np.bool_)


def _column(table: Mapping[str, Any], name: str, n: int) -> Any:
    try:
        values = table[name]
    except KeyError:
        raise InvalidArgument("table", "must have every column of the rules") from None
    if len(values) != n:
        raise InvalidArgument("table", "must have as many rows as the target")
    return values
