"""What to predict from what: the columns, rows of the unit ball, and the split into training and test rows."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import streamlit as st

from dashboard import compute, words
from dashboard.source import Source
from dpcore.datasets import Table
from dpcore.training import Features, Rows, suitable
from dpcore.training.losses import LOGISTIC, SQUARED, LinearLoss

T = TypeVar("T")
MOST_ROWS = 50_000
TEST_SHARE = 0.2
DEFAULTS = {
    True: (
        "noisy_gradient_descent",
        "objective_perturbation",
        "dp_sgd",
        "book_gradient_descent",
    ),
    False: ("noisy_gradient_descent", "adassp", "disjoint_batches", "output_perturbation"),
}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Task:
    """A prediction task, ready to train on. ``key`` names the data and every choice for caches.

    ``own`` names a person's own data; it is None for a sample.
    """

    features: Features
    rows: Rows
    notes: tuple[str, ...]
    key: tuple[Hashable, ...]
    own: str | None

    @property
    def two_classes(self) -> bool:
        return self.features.two_classes

    @property
    def loss(self) -> LinearLoss:
        return LOGISTIC if self.two_classes else SQUARED

    @property
    def n(self) -> int:
        return int(self.rows.X.shape[0])

    @property
    def metric(self) -> str:
        return "accuracy" if self.two_classes else "squared_error"


def targets(table: Table) -> list[str]:
    """Columns that can be predicted: yes or no first, then as they stand in the table."""
    schema = table.schema
    asked = [c.name for c in schema.of_type("yes/no")]
    classes = [c.name for c in schema.of_type("category") if len(c.categories) >= 2]
    numbers = [c.name for c in schema.columns if c.is_numeric and c.bounded]
    return asked + [name for name in schema.names if name in {*classes, *numbers}]


def usable(table: Table, target: str) -> list[str]:
    """Columns to predict from: declared bounds or categories, not the target, not one category alone."""
    return [
        c.name
        for c in table.schema.columns
        if c.name != target and c.type != "text" and c.bounded and len(c.categories) != 1
    ]


def methods(task: Task) -> dict[str, str]:
    """Methods that can train for this task, with their names."""
    return {key: kind.about.name for key, kind in suitable(task.loss, task.features.d).items()}


def columns_control(source: Source, target: str) -> tuple[list[str], str | None]:
    """Which columns to predict from, and which class."""
    table = source.table
    offered = usable(table, target)
    # A sample's columns that never vary are left out from the start; an own file's are not chosen by their values.
    started = offered
    if source.mode == "demo":
        started = compute.cached(
            ("varying", table.fingerprint, target),
            lambda: [name for name in offered if table.frame[name].nunique() > 1],
        )
    chosen = st.multiselect(
        "Predict from",
        offered,
        default=started,
        key=f"training_columns-{source.key}-{target}",
        persist_state="session",
        format_func=words.visible,
    )
    column = table.schema.column(target)
    positive: str | None = None
    if column.type == "category":
        positive = st.selectbox(
            "The class to tell from all others",
            column.categories,
            index=len(column.categories) - 1 if len(column.categories) == 2 else 0,
            key=f"training_class-{source.key}-{target}",
            persist_state="session",
            format_func=words.visible,
        )
    return list(chosen), positive


def prepare(source: Source, target: str, columns: list[str], positive: str | None) -> Task:
    """Rows of the unit ball, split 80 to 20 in a fixed random order. Raises InvalidArgument with one sentence."""
    table = source.table
    features = Features.of(table.schema, target=target, columns=columns, positive=positive)
    key = ("training", table.fingerprint, target, tuple(columns), positive)

    def make() -> tuple[Rows, tuple[str, ...]]:
        found = features.prepare(table)
        order = np.random.Generator(np.random.SFC64(7)).permutation(found.n)[:MOST_ROWS]
        cut = max(1, round(TEST_SHARE * order.size))
        test, train = order[:cut], order[cut:]
        return Rows(X=found.X[train], y=found.y[train], X_test=found.X[test], y_test=found.y[test]), found.notes

    own = own_data(source)
    rows, notes = held(own, key, make)
    return Task(features=features, rows=rows, notes=notes, key=key, own=own)


def own_data(source: Source) -> str | None:
    """Names the data of a person's own that are in use; None for a sample."""
    return None if source.mode == "demo" else source.table.fingerprint


def held(own: str | None, key: tuple[Hashable, ...], make: Callable[[], T]) -> T:
    """``make()``, remembered: for everybody, or, made from a person's own data, for their session."""
    return compute.large(key, make) if own is None else compute.own(key, make)
