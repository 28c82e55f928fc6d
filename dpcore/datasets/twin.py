"""A table simulated from what is declared about another one. No value of that other table is used here.

Nothing here takes a frame, a file or a reading: a schema, a number of rows and relations stated by the person are all
there is, and categories come in their public order (words taken from a file in that of the alphabet). So a twin shows
no truth about the data beyond what was declared: where the words of a file were taken for options, that they occur. And
a curve drawn on a twin forecasts no release: ``Asked.error_bound`` does.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import timedelta
from functools import cache, partial
from typing import Literal

import numpy as np
import pandas as pd

from dpcore.datasets.schema import Column, Schema
from dpcore.datasets.table import Table
from dpcore.errors import InvalidArgument
from dpcore.validate import FloatArray, IntArray, in_range, one_of, whole

_MOST_ROWS = 10_000_000
_WHOLE = 2**63 - 1024  # the farthest number of 64 bits that a float is, too


@dataclass(frozen=True, slots=True, kw_only=True)
class Relation:
    """What a person states about a column, such as "about 30 % yes, more with age".

    ``share`` is how often ``target`` is yes, or has its first category. ``driver`` is a column that goes with it, more
    or less according to ``direction``, with a ``strength`` from 0 (not at all) to 1 (nearly decides it). For a number
    column only the driver counts: its values rise or fall with it. Raises InvalidArgument.
    """

    target: str
    share: float | None = None
    driver: str | None = None
    direction: Literal["more", "less"] = "more"
    strength: float = 0.5

    def __post_init__(self) -> None:
        if self.share is not None:
            in_range(0.0, 1.0, share=self.share)
        one_of(("more", "less"), direction=self.direction)
        in_range(0.0, 1.0, strength=self.strength)
        if self.driver == self.target:
            raise InvalidArgument("driver", "must be another column than the target")

    def is_of(self, schema: Schema) -> bool:
        """Whether a schema has its columns."""
        return self.target in schema.names and (self.driver is None or self.driver in schema.names)


def related(relations: Iterable[Relation], schema: Schema) -> frozenset[str]:
    """The columns that somebody stated to go with another one, where both are there."""
    pairs = [(one.target, one.driver) for one in relations if one.driver is not None and one.is_of(schema)]
    return frozenset(name for pair in pairs for name in pair)


def twin(
    schema: Schema,
    *,
    rows: int,
    rng: np.random.Generator,
    relations: tuple[Relation, ...] = (),
    turn: Callable[[], None] = lambda: None,
) -> Table:
    """``rows`` rows that follow the declaration alone: the size is public, the rest is simulated.

    Numbers are spread over their bounds with a hump in the middle, categories become rarer in the order declared, yes
    and no are even unless a relation says otherwise, dates are in order. Needs bounds for numbers and dates, categories
    for categories; none of them read from the file. ``turn`` is called before each column, and may raise to stop it.
    Raises InvalidArgument.
    """
    whole(1, _MOST_ROWS, rows=rows)
    stated = {relation.target: relation for relation in relations}
    if len(stated) != len(relations):
        raise InvalidArgument("relations", "must state each target once")
    for each in relations:
        _check(schema, each)
    if any(column.from_file for column in schema.columns):
        raise InvalidArgument("schema", "must be declared by a person, not read from the file")
    drivers = {relation.driver for relation in relations}
    ranks: dict[str, FloatArray] = {}
    typed: dict[str, pd.Series] = {}
    text = cache(partial(_numbered, rows))  # the same in every column of text, and held once
    for column in sorted(schema.columns, key=lambda column: column.name in stated):
        turn()
        relation = stated.get(column.name)
        driver = None if relation is None or relation.driver is None else ranks.get(relation.driver)
        if relation is not None and relation.driver is not None and driver is None:
            raise InvalidArgument("driver", "must be a column without a relation of its own")
        rank = _rank(rows, rng, relation, driver)
        if column.name in drivers:
            ranks[column.name] = rank
        share = None if relation is None else relation.share
        typed[column.name] = text() if column.type == "text" else _values(column, rank, share)
    frame = pd.DataFrame({name: typed[name] for name in schema.names}, copy=False)  # the values are here once
    seed = hashlib.sha256(repr((schema, rows, relations, rng.bit_generator.state)).encode()).hexdigest()
    return Table(frame=frame, schema=schema, fingerprint=f"twin:{seed}", lineage="twin")


def _check(schema: Schema, relation: Relation) -> None:
    target = schema.column(relation.target)
    if target.type in ("text", "date"):
        raise InvalidArgument("target", "must hold numbers, categories or yes/no")
    if relation.driver is not None and schema.column(relation.driver).type == "text":
        raise InvalidArgument("driver", "must not be a text column")


def _rank(rows: int, rng: np.random.Generator, relation: Relation | None, driver: FloatArray | None) -> FloatArray:
    """Ranks in (0, 1) of a column's values, shape (rows,)."""
    rank = rng.random(rows)
    if relation is None or driver is None:
        return rank
    lead = driver if relation.direction == "more" else 1.0 - driver
    mixed = relation.strength * lead + (1.0 - relation.strength) * rank
    return (np.argsort(np.argsort(mixed)) + 0.5) / rows


def _numbered(rows: int) -> pd.Series:
    return pd.Series([f"row {number + 1}" for number in range(rows)], dtype="str")


def _values(column: Column, rank: FloatArray, share: float | None) -> pd.Series:
    """The values that ranks stand for, of all types but text."""
    if column.type == "yes/no":
        return pd.Series(rank > 1.0 - (0.5 if share is None else share)).astype("boolean")
    if not column.bounded:
        raise InvalidArgument("schema", f"must declare bounds or categories of the {column.type} columns")
    if column.type == "category":
        categories = pd.Index(column.categories)
        return pd.Series(pd.Categorical.from_codes(_codes(rank, len(categories), share), categories))
    if column.type == "date":
        return _dates(column, rank)
    return _numbers(column, rank)


def _codes(rank: FloatArray, count: int, share: float | None) -> IntArray:
    """Category numbers with weights 1, 1/2, 1/3, …; the first one takes ``share`` where stated, at the top ranks."""
    weights = 1.0 / np.arange(1, count + 1)
    if share is not None and count > 1:
        weights[1:] *= (1.0 - share) / weights[1:].sum()
        weights[0] = share
    edges = np.cumsum(weights) / weights.sum()
    return np.minimum(np.searchsorted(edges, 1.0 - rank, side="left"), count - 1).astype(np.int64)


def _numbers(column: Column, rank: FloatArray) -> pd.Series:
    """A hump over the bounds, the quantile function of the triangular law."""
    low, high = float(column.low or 0.0), float(column.high or 0.0)
    hump = np.where(rank < 0.5, np.sqrt(rank / 2.0), 1.0 - np.sqrt((1.0 - rank) / 2.0))
    values = low + (high - low) * hump
    if column.type == "integer":
        least, most = max(math.ceil(low), -_WHOLE), min(math.floor(high), _WHOLE)
        return pd.Series(np.clip(np.rint(values), least, most).astype(np.int64)).astype("Int64")
    return pd.Series(values)


def _dates(column: Column, rank: FloatArray) -> pd.Series:
    if column.earliest is None or column.latest is None:
        raise InvalidArgument("schema", "must declare bounds of the date columns")
    days = np.floor(np.sort(rank) * ((column.latest - column.earliest) / timedelta(days=1) + 1.0)).astype(np.int64)
    return pd.Series((np.datetime64(column.earliest, "D") + days).astype("datetime64[s]"))
