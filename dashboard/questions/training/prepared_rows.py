"""What to predict from what: the columns, rows of the unit ball, and the split into training and test rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from dashboard.case import Case
from dashboard.offering import RECORDS
from dashboard.words import predict as said
from dashboard.words import shortened
from dpcore.datasets import Column, Schema, Table
from dpcore.datasets.schema import GIVES_NAMES
from dpcore.errors import InvalidArgument
from dpcore.training import ChoosableRows, CodedRows, Features, PairableRows, Rows, UncutRows, cut, majority_share
from dpcore.training.baselines import commonest_share
from dpcore.training.choosable import pairable_rows
from dpcore.training.choosing_ways import BOUGHT, PAIRED, possible_ways
from dpcore.training.encoding import encoding
from dpcore.training.losses import LOGISTIC, SQUARED, LinearLoss
from dpcore.training.pairs import all_pairs
from dpcore.validate import FloatArray

Some = TypeVar("Some", CodedRows, UncutRows, PairableRows, ChoosableRows)
MOST_ROWS = 50_000
MOST_NUMBERS = 20_000_000
"""Rows times features that are made ready at most: 160 MB, so that a session's memory has room for what it drew."""
MOST_OF_CLASSES = 5_000_000
"""Rows times classes that are told apart: a model of them holds several such tables, for a quarter of a minute."""
TEST_SHARE = 0.2
LONGEST_NAME = 30


class TooManyNumbers(InvalidArgument):
    """So many rows of these columns are not made ready; of fewer a picture could be."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Task:
    """A prediction task, ready to train on. ``identity`` names the data and every choice; ``steps``: numbers are cut.

    ``codes`` are the same rows, to train and to judge on, with every number and date cut into steps; None where that
    makes too many. ``uncut`` are they again, for cuts to be bought; None where no chosen column can be cut, or the
    most that can be bought is too many. ``pairable`` gives them for pairs to be bought, ``choosable`` for a way to be
    chosen: made when first asked for, since they take long; None where there are none by what is declared. Where pairs
    of columns are not ``few``, there is no picture of what is made of them; a release there is.
    ``columns`` and ``pairs`` of them are those that were chosen, and what a release uses; the picture's ``features``
    leave out those that have the same value in every row. ``most`` is how many numbers a row of all of these has.
    ``own`` names a person's own data; it is None for a sample.
    """

    columns: tuple[str, ...]
    pairs: tuple[tuple[str, str], ...]
    positive: str | None
    steps: bool
    features: Features
    most: int
    rows: Rows
    codes: tuple[CodedRows, CodedRows] | None
    uncut: tuple[UncutRows, UncutRows] | None
    pairable: Callable[[], tuple[PairableRows, PairableRows]] | None
    choosable: Callable[[], tuple[ChoosableRows, ChoosableRows]] | None
    few: bool
    notes: tuple[str, ...]
    identity: tuple[Hashable, ...]
    own: str | None

    @property
    def target(self) -> str:
        return self.features.target.name

    @property
    def two_classes(self) -> bool:
        return self.features.two_classes

    @property
    def classes(self) -> tuple[str, ...]:
        """The classes as pictures and tables call them."""
        return tuple(shortened(self.features.classes, LONGEST_NAME))

    @property
    def apart(self) -> bool:
        """Whether each of several classes is told from every other."""
        return self.features.apart

    @property
    def classifies(self) -> bool:
        """Whether classes are told and not a number."""
        return self.features.classifies

    @property
    def loss(self) -> LinearLoss:
        return LOGISTIC if self.classifies else SQUARED

    @property
    def sort(self) -> str:
        """What the choices of method and measure hang on: they differ between tasks of another sort."""
        return "classes" if self.apart else self.metric

    @property
    def n(self) -> int:
        """Rows to train on."""
        return int(self.rows.X.shape[0])

    @property
    def tested(self) -> int:
        """Rows to judge on."""
        return int(self.rows.X_test.shape[0])

    @property
    def metric(self) -> str:
        return "accuracy" if self.classifies else "squared_error"

    @property
    def second(self) -> float:
        """The share of the second of two classes among the rows to judge on."""
        return float((self.rows.y_test > 0.0).mean())

    @property
    def guessing(self) -> float:
        """The metric of a guess that looks at no column: the commonest class, or the average."""
        if self.apart:
            return commonest_share(self.rows.y_test)
        if self.two_classes:
            return majority_share(self.rows.y_test)
        return float(np.mean((self.rows.y_test - self.rows.y.mean()) ** 2))


def targets(schema: Schema) -> tuple[str, ...]:
    """Columns that can be predicted from others: yes or no first, then as they stand in the table."""
    asked = [column.name for column in schema.of_type("yes/no")]
    classes = [column.name for column in schema.of_type("category") if len(column.categories) >= 2]
    numbers = [column.name for column in schema.columns if column.is_numeric and column.bounded]
    found = asked + [name for name in schema.names if name in {*classes, *numbers}]
    telling = _telling(schema)
    return tuple(name for name in found if any(one != name for one in telling))


def usable(schema: Schema, target: str) -> tuple[str, ...]:
    """Columns to predict from: declared bounds or categories, not the target, not one category alone."""
    return tuple(name for name in _telling(schema) if name != target)


def _telling(schema: Schema) -> list[str]:
    """The columns that could tell something about another one, without those that say what a step is called."""
    names = GIVES_NAMES if schema.each_row == "step" else ("text",)
    return [
        column.name
        for column in schema.columns
        if column.type not in names and column.bounded and len(column.categories) != 1
    ]


def shapes(columns: Sequence[Column], chosen: Sequence[str]) -> dict[str, Sequence[float]]:
    """Where the ``chosen`` columns that are numbers or dates are cut: at the coarsest of their public cuts.

    On the samples these learn more from few people than finer ones beside them.
    """
    return {
        column.name: cut(encoding(column), "even").levels[0]
        for column in columns
        if column.name in chosen and can_be_cut(column)
    }


def can_be_cut(column: Column) -> bool:
    """Whether steps can be made of a column: a number or a date with declared bounds."""
    return column.bounded and (column.is_numeric or column.type == "date")


def varying(table: Table, columns: tuple[str, ...]) -> tuple[str, ...]:
    """The columns that have more than one value in this table."""

    def varies(name: str) -> bool:
        values = table.frame[name].dropna()
        return bool(len(values)) and bool((values != values.iloc[0]).any())

    return tuple(name for name in columns if varies(name))


def possible_pairs(schema: Schema, columns: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Which two of these declared ``columns`` can act together: those with few enough steps and options."""
    return tuple(pair.names for pair in all_pairs([encoding(schema.column(name)) for name in columns]))


def prepared(
    case: Case,
    target: str,
    columns: tuple[str, ...],
    positive: str | None,
    *,
    steps: bool,
    pairs: tuple[tuple[str, str], ...] = (),
    apart: bool = False,
) -> Task:
    """Rows of the unit ball, split 80 to 20 in a fixed random order; with ``steps`` numbers and dates are cut, and
    ``pairs`` of columns act together; ``apart`` tells every class from every other.

    Raises InvalidArgument with one sentence.
    """
    table = case.table
    identity = ("training", table.fingerprint, target, columns, positive, steps, pairs, apart)
    used = case.memo((*identity, "varying"), lambda: varying(table, columns)) or columns
    cuts = case.memo((*identity, "cuts"), lambda: shapes(table.schema.columns, columns)) if steps else None

    def encoded(some: tuple[str, ...]) -> Features:
        return Features.of(
            table.schema,
            target=target,
            columns=some,
            positive=positive,
            shapes=cuts,
            pairs=[pair for pair in pairs if set(pair) <= set(some)],
            apart=apart,
        )

    def declared() -> tuple[Features, Features, tuple[str, ...]]:
        whole = encoded(columns)
        return whole, encoded(used), possible_ways(whole)

    whole, features, ways = case.memo((*identity, "features"), declared)
    split = case.large(
        (*identity, "rows"),
        lambda: _split(features, table, ways, steps=_in_steps(whole), pairs=_few_pairs(whole, case)),
    )
    dropped = tuple(name for name in columns if name not in used)
    return Task(
        columns=columns,
        pairs=pairs,
        positive=positive,
        steps=steps,
        features=features,
        most=whole.d,
        rows=split.rows,
        codes=split.codes,
        uncut=split.uncut,
        pairable=_kept(case, (*identity, "pairs"), split.pairable),
        choosable=_kept(case, (*identity, "ways"), split.choosable),
        few=split.few,
        notes=(*split.notes, *([said.dropped(dropped)] if dropped else [])),
        identity=identity,
        own=None if case.source.public else table.fingerprint,
    )


def _kept(case: Case, key: tuple[Hashable, ...], make: Callable[[], Any] | None) -> Callable[[], Any] | None:
    """What ``make`` gives, made when it is first asked for, and counted among the large things that are kept."""
    return None if make is None else lambda: case.large(key, make)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Split:
    """The rows of a task in every form, each to train on and to judge on; ``typed`` is what ``pairable`` and
    ``choosable`` make theirs from."""

    typed: list[FloatArray]
    rows: Rows
    codes: tuple[CodedRows, CodedRows] | None
    uncut: tuple[UncutRows, UncutRows] | None
    pairable: Callable[[], tuple[PairableRows, PairableRows]] | None
    choosable: Callable[[], tuple[ChoosableRows, ChoosableRows]] | None
    few: bool
    notes: tuple[str, ...]


def _few_pairs(features: Features, case: Case) -> bool:
    """Whether these columns make few enough pairs for their methods to be offered. Of a person's own rows that does not
    hang on how many there are: not even a stand-in's could be pictured."""
    rows = len(case.table.frame) if case.source.public else RECORDS
    return _fit(min(MOST_ROWS, rows), features)


def _fit(rows: int, features: Features) -> bool:
    """Whether a code of each of so many rows for every pair of columns can be held."""
    return rows * math.comb(len(features.columns), 2) <= MOST_NUMBERS


def _split(features: Features, table: Table, ways: Sequence[str], *, steps: bool, pairs: bool) -> _Split:
    """``ways`` of building a model, and whether its columns can be cut into ``steps`` or make few ``pairs``, are what
    the declarations of all chosen columns allow, also where nothing is left to cut or to pair in ``features``, which
    have no columns with one value in every row."""
    most = min(MOST_ROWS, len(table.frame))
    if most * features.d > MOST_NUMBERS:
        raise TooManyNumbers("columns", said.too_wide(most, features.d, MOST_NUMBERS))
    if most * features.outputs > MOST_OF_CLASSES:
        raise TooManyNumbers("target", said.too_many_classes(most, features.outputs, MOST_OF_CLASSES))
    # before they are encoded: of a large table only these rows are ever held as features
    found = features.prepare(table, some=lambda n: np.random.Generator(np.random.SFC64(7)).permutation(n)[:MOST_ROWS])
    held_out = max(1, round(TEST_SHARE * found.n))
    test, train = np.arange(held_out), np.arange(held_out, found.n)
    typed = [column.typed(table.frame[column.name])[found.kept] for column in features.columns]

    def halves(rows: Some) -> tuple[Some, Some]:
        return rows.take(train), rows.take(test)

    def paired() -> tuple[PairableRows, PairableRows]:
        return halves(pairable_rows(features.bare.stepped, typed))

    def choosable() -> tuple[ChoosableRows, ChoosableRows]:
        return halves(ChoosableRows.of(features, typed, ways))

    coded = features.bare.stepped.coded(typed, missing=False) if steps else None
    few = _fit(found.n, features)
    return _Split(
        typed=typed,
        rows=Rows(X=found.X[held_out:], y=found.y[held_out:], X_test=found.X[:held_out], y_test=found.y[:held_out]),
        codes=None if coded is None else halves(coded),
        uncut=halves(features.uncut.uncut_rows(typed)) if BOUGHT in ways else None,
        pairable=paired if PAIRED in ways and pairs else None,
        choosable=choosable if len(ways) > 1 and pairs else None,
        few=few,
        notes=found.notes if few or PAIRED not in ways else (*found.notes, said.TOO_MANY_PAIRS),
    )


def _in_steps(features: Features) -> bool:
    """Whether no more numbers come of these columns, all cut into steps, than a release can use."""
    try:
        stepped = features.bare.stepped
        stepped.coded([np.full(1, np.nan)] * len(stepped.columns), missing=False)
    except InvalidArgument:
        return False
    return True
