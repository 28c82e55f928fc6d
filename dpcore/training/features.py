"""From a table to rows of the unit ball: which columns, which answer, and every refusal in one sentence.

Only declared bounds and categories decide the features, never the values, so preparing data costs no privacy.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, Self

import numpy as np

from dpcore.errors import InvalidArgument, TooFewRows
from dpcore.training.coded import CodedRows
from dpcore.training.cuts import Shape
from dpcore.training.encoding import Encoding, coded, cut, encoding
from dpcore.training.pairs import Pair, check_pairs, declared_pairs
from dpcore.training.uncut import BOUGHT_WIDTH, UncutRows, is_bought
from dpcore.validate import FloatArray, IntArray, finite_vector

if TYPE_CHECKING:
    from dpcore.datasets.schema import Schema
    from dpcore.datasets.table import Table

MOST_FEATURES = 2000
MOST_POINTS = 6000
"""Of a model that tells several classes apart: as many noisy numbers as a release draws in about a minute."""
FEWEST_ROWS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Features:
    """Columns to predict from, and the ``target`` to predict: two classes, or a number.

    A row is the numbers of all columns, a one for its cell in each of ``pairs`` of them and, with ``intercept``, a
    constant 1, all divided by √(number of columns and pairs + 1): its length is at most 1 whoever it is about.
    With ``apart`` the answer is the number of the row's category, from 0.
    With ``positive`` the target is one of its categories against the rest: answers are 1 for it and −1 otherwise. Else
    the answer is the number, −1..1 for its bounds. Raises InvalidArgument.
    """

    columns: tuple[Encoding, ...]
    target: Encoding
    positive: str | None = None
    intercept: bool = True
    pairs: tuple[Pair, ...] = ()
    apart: bool = False

    def __post_init__(self) -> None:
        if not self.columns:
            raise InvalidArgument("columns", "must hold at least one column to predict from")
        names = [column.name for column in self.columns]
        if self.target.name in names:
            raise InvalidArgument("columns", f"cannot include “{self.target.name}”: it is the column to predict")
        if len(set(names)) != len(names):
            raise InvalidArgument("columns", "must all be different")
        check_pairs(self.columns, self.paired)  # not their cells: bought cuts may not decide what is refused
        if self.d > MOST_FEATURES:
            raise InvalidArgument(
                "columns", f"become {self.d:,} features and at most {MOST_FEATURES:,} can be used; choose fewer"
            )
        if self.apart:
            self._check_apart()
        elif self.target.kind == "category" and self.positive not in self.target.categories:
            raise InvalidArgument("positive", f"must be the category of “{self.target.name}” to predict")
        if self.target.kind == "yes/no" and self.positive not in ("yes", "no"):
            raise InvalidArgument("positive", "must be yes or no")
        if self.target.kind in ("number", "date") and self.positive is not None:
            raise InvalidArgument("positive", f"must be left out: “{self.target.name}” is a number")

    def _check_apart(self) -> None:
        if self.target.kind != "category" or len(self.target.categories) < 3:
            raise InvalidArgument("apart", f"needs a column of three or more categories: “{self.target.name}” is none")
        if self.positive is not None:
            raise InvalidArgument("positive", "must be left out where all classes are told apart")
        if self.d * self.outputs > MOST_POINTS:
            raise InvalidArgument(
                "columns",
                f"become {self.d:,} features for each of {self.outputs} classes, {self.d * self.outputs:,} in all, and "
                f"at most {MOST_POINTS:,} can be used; choose fewer columns, or one class to tell from the others",
            )

    @classmethod
    def of(
        cls,
        schema: Schema,
        *,
        target: str,
        columns: Sequence[str] | None = None,
        positive: str | None = None,
        shapes: Mapping[str, Shape | Sequence[float]] | None = None,
        pairs: Sequence[Sequence[str]] = (),
        apart: bool = False,
    ) -> Self:
        """From declared columns: ``columns`` (all others that can be used, unless given) to predict ``target``.

        ``pairs`` of their names act together. ``apart`` tells every class of the target from every other.

        ``positive`` is the class to predict; for yes/no and for two categories it defaults to yes and to the second.
        ``shapes`` names the numbers and dates to cut into steps: "even", "heavy" (see ``public_cuts``) or own cuts.
        Raises InvalidArgument.
        """
        if columns is None:
            usable = [column for column in schema.columns if column.name != target and column.type != "text"]
            chosen = [encoding(column) for column in usable if column.bounded and len(column.categories) != 1]
        else:
            chosen = [encoding(schema.column(name)) for name in columns]
        chosen = [cut(one, shapes[one.name]) if shapes and one.name in shapes else one for one in chosen]
        answer = _target(schema, target)
        if positive is None and answer.kind == "yes/no":
            positive = "yes"
        if positive is None and len(answer.categories) == 2 and not apart:
            positive = answer.categories[1]
        return cls(
            columns=tuple(chosen),
            target=answer,
            positive=positive,
            pairs=declared_pairs(chosen, pairs),
            apart=apart,
        )

    @property
    def two_classes(self) -> bool:
        return self.positive is not None

    @property
    def classifies(self) -> bool:
        """Whether classes are told and not a number."""
        return self.two_classes or self.apart

    @property
    def outputs(self) -> int:
        """How many numbers a model gives a row: one for every class that is told from every other, else one."""
        return len(self.target.categories) if self.apart else 1

    @property
    def paired(self) -> tuple[tuple[str, str], ...]:
        """The names of every pair's columns."""
        return tuple(pair.names for pair in self.pairs)

    @property
    def classes(self) -> tuple[str, ...]:
        """Names of the negative and the positive class of a target of two classes; of all that are told apart."""
        if self.apart:
            return self.target.categories
        positive = str(self.positive)
        names = ("no", "yes") if self.target.kind == "yes/no" else self.target.categories
        others = [name for name in names if name != positive]
        return (others[0] if len(others) == 1 else f"not {positive}", positive)

    @property
    def d(self) -> int:
        """How many numbers a row has."""
        return sum(column.width for column in self.columns) + self._cells + int(self.intercept)

    @property
    def room(self) -> int:
        """How many more numbers a row could have."""
        return min(MOST_FEATURES, MOST_POINTS // self.outputs if self.apart else MOST_FEATURES) - self.d

    @property
    def _cells(self) -> int:
        return sum(pair.cells for pair in self.pairs)

    @property
    def scale(self) -> float:
        """What every number of a row is divided by."""
        return math.sqrt(len(self.columns) + len(self.pairs) + int(self.intercept))

    @property
    def names(self) -> tuple[str, ...]:
        """A name for each of the d numbers."""
        own = [label for column in self.columns for label in column.labels]
        own += [label for pair in self.pairs for label in pair.labels]
        return (*own, "intercept") if self.intercept else tuple(own)

    @property
    def bounds(self) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """Lowest and highest value of each of the d numbers."""
        from_zero = [bool(column.categories or column.levels) for column in self.columns for _ in range(column.width)]
        low = [0.0 if zero else -1.0 for zero in from_zero] + [0.0] * self._cells
        if self.intercept:
            low.append(-1.0)
        return tuple(value / self.scale for value in low), (1.0 / self.scale,) * self.d

    def rows(self, numbers: Sequence[FloatArray]) -> FloatArray:
        """Rows (n, d) of the unit ball from what each column's ``typed`` or ``plain`` gave."""
        known = {column.name: values for column, values in zip(self.columns, numbers, strict=True)}
        found = np.ones((numbers[0].size, self.d))  # the intercept, where there is one, stays so
        parts = chain(
            (column.spread(known[column.name]) for column in self.columns),
            (pair.spread(*(known[name] for name in pair.names)) for pair in self.pairs),
        )
        done = 0
        for part in parts:  # one by one: all of them apart are as much as the rows
            found[:, done : done + part.shape[1]] = part
            done += part.shape[1]
        found /= self.scale
        return found

    def coded(self, numbers: Sequence[FloatArray], *, missing: bool = True) -> CodedRows:
        """The same as codes, for ``ScaledDescent``; see ``encoding.coded``."""
        return coded(self.columns, numbers, missing=missing, pairs=self.pairs)

    @property
    def stepped(self) -> Self:
        """The same columns with every number and date cut by ``public_cuts`` or the calendar, those that are not yet.

        Where all levels of cuts would be more features than can be used, or with several classes more points than a
        release draws in a minute, the coarsest alone. Raises InvalidArgument.
        """
        cuttable = [one.kind in ("number", "date") and not one.levels for one in self.columns]
        columns = tuple(cut(one) if able else one for one, able in zip(self.columns, cuttable, strict=True))
        width = sum(one.width for one in columns) + self._cells + 1
        if width > MOST_FEATURES or (self.apart and width * self.outputs > MOST_POINTS):
            pairs = zip(columns, cuttable, strict=True)
            columns = tuple(replace(one, levels=one.levels[:1]) if able else one for one, able in pairs)
        return replace(self, columns=columns)

    @property
    def bare(self) -> Self:
        """The same columns without cuts."""
        return replace(self, columns=tuple(replace(one, levels=()) for one in self.columns))

    @property
    def coarse(self) -> Self:
        """The same columns with every number and date cut at the coarsest of its public cuts alone."""
        cut = self.bare.stepped
        return replace(cut, columns=tuple(replace(one, levels=one.levels[:1]) for one in cut.columns))

    @property
    def uncut(self) -> Self:
        """The same columns without cuts, for these to be bought. Raises InvalidArgument where the most that can be
        bought would be more features than can be used."""
        columns = tuple(replace(one, levels=()) for one in self.columns)
        width = sum(BOUGHT_WIDTH if is_bought(one) else one.width for one in columns) + self._cells + 1
        most = min(MOST_FEATURES, MOST_POINTS // self.outputs if self.apart else MOST_FEATURES)
        if width > most:
            raise InvalidArgument(
                "columns", f"may become {width:,} features and at most {most:,} can be used; choose fewer"
            )
        return replace(self, columns=columns)

    def uncut_rows(self, numbers: Sequence[FloatArray]) -> UncutRows:
        """The rows of ``uncut`` from what each column's ``typed`` gave."""
        return UncutRows.of(self.columns, numbers, pairs=self.pairs)

    def as_weights(self, by_one: FloatArray) -> FloatArray:
        """Weights (d,) of ``rows`` from what each one of ``coded(…, missing=False)`` adds to a margin; or (d, outputs).

        Yes and no have a one each there and one number, 1 or −1, here: what both share goes to the constant. Raises
        InvalidArgument without an intercept or for a number that is not cut.
        """
        if not self.intercept:
            raise InvalidArgument("intercept", "is needed")
        if by_one.ndim == 2:
            return np.stack([self.as_weights(one) for one in by_one.T], axis=1)
        points = finite_vector(by_one=by_one)
        weights, start, constant = [], 0, float(points[-1])
        for column in self.columns:
            own = points[start : start + (2 if column.kind == "yes/no" else column.width)]
            start += own.size
            if column.kind == "yes/no":
                weights.append(np.array([(own[1] - own[0]) / 2.0]))
                constant += float(own.sum()) / 2.0
            elif column.levels or column.categories:
                weights.append(own * math.sqrt(max(1, len(column.levels))))
            else:
                raise InvalidArgument("columns", f"must be cut: “{column.name}” is a number")
        weights.append(points[start:-1])  # those of pairs
        return np.concatenate([*weights, [constant]]) * self.scale

    def answers(self, values: FloatArray) -> FloatArray:
        """Answers (n,) from what the target's ``typed`` gave; NaN where missing."""
        if self.apart:
            return values
        if self.target.kind == "category":
            positive = values == self.target.categories.index(self.positive or "")
            return np.where(np.isnan(values), np.nan, np.where(positive, 1.0, -1.0))
        return -values if self.positive == "no" else values

    def prepare(self, table: Table, *, some: Callable[[int], IntArray] | None = None) -> Prepared:
        """Rows and answers of a table, those with a missing value left out and counted.

        ``some`` takes how many rows are complete and says which of them, by place, are made ready, in what order; all
        of them without it. For looking at data, not for a release: the checks here look at the values. Raises
        InvalidArgument with a sentence for data that no model can be trained on.
        """
        answers = self.answers(self.target.typed(table.frame[self.target.name]))
        there = np.ones(answers.size, dtype=bool)
        for column in self.columns:  # one by one and twice: all of them, of all rows, are much more than those kept
            missing = np.isnan(column.typed(table.frame[column.name]))
            there &= ~missing
            if bool(missing.all()):
                raise InvalidArgument(
                    "columns", f"cannot include “{column.name}”: none of its cells is a {_unit(column)} as declared"
                )
        labelled = ~np.isnan(answers)
        if not labelled.any():
            raise InvalidArgument("target", f"cannot be “{self.target.name}”: it has no value in any row")
        full = labelled & there
        kept = np.flatnonzero(full)
        if kept.size < FEWEST_ROWS:
            raise InvalidArgument(
                "columns",
                f"leave {kept.size} rows without missing values, and training needs at least {FEWEST_ROWS}",
            )
        uncut = sum(1 if column.levels else column.width for column in self.columns)
        fewest = uncut + int(self.intercept)
        if fewest > kept.size:
            problem = f"become {self.d:,} features, more than the {kept.size:,} rows; choose fewer columns"
            raise TooFewRows("columns", problem, fewest)
        chosen = kept if some is None else kept[some(kept.size)]
        numbers = []
        for column in self.columns:
            values = column.typed(table.frame[column.name])
            if bool((values[kept] == values[kept[0]]).all()):
                raise InvalidArgument("columns", f"cannot include “{column.name}”: it has the same value in every row")
            numbers.append(values[chosen])
        if bool((answers[kept] == answers[kept[0]]).all()):
            what = "only one class" if self.classifies else "the same value in every row"
            raise InvalidArgument("target", f"cannot be “{self.target.name}”: it has {what}")
        return Prepared(
            X=self.rows(numbers),
            y=answers[chosen],
            kept=chosen.astype(np.int64),
            without_answer=int((~labelled).sum()),
            incomplete=int((labelled & ~full).sum()),
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Prepared:
    """X (n, d) in the unit ball and y (n,), of the ``kept`` rows of a table, and how many rows were left out."""

    X: FloatArray
    y: FloatArray
    kept: IntArray
    without_answer: int
    incomplete: int

    @property
    def n(self) -> int:
        return int(self.X.shape[0])

    @property
    def notes(self) -> tuple[str, ...]:
        """What was left out, in sentences."""
        found = []
        if self.without_answer:
            found.append(f"{_rows(self.without_answer)} no value in the column to predict and stay out.")
        if self.incomplete:
            found.append(f"{_rows(self.incomplete)} a missing value in a column to predict from and stay out.")
        return tuple(found)


def _rows(count: int) -> str:
    return "1 row has" if count == 1 else f"{count:,} rows have"


def _unit(column: Encoding) -> str:
    return {"number": "number", "date": "date", "yes/no": "yes or no", "category": "category"}[column.kind]


def _target(schema: Schema, name: str) -> Encoding:
    try:
        return encoding(schema.column(name))
    except InvalidArgument as error:
        if error.argument == "column":
            raise
        problem = error.problem.replace("cannot include", "cannot be", 1).replace("leave it out", "choose another")
        raise InvalidArgument("target", problem) from None
