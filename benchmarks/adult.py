"""Accuracy on real census data (Adult): the goals of private training, and every method beside them.

45,222 complete rows, 80/20 splits of either class, δ = 1e-5, add/remove, mean over 8 splits with 4 models each, fixed
defaults: the test part is never used to choose anything. Reads ``../shared/data/adult.csv.gz`` or the file named by
EPSILON_LAB_ADULT. Run as ``python -m benchmarks.adult``; exits with 1 when a goal is missed, 2 without the file.
"""

from __future__ import annotations

import logging
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from dpcore.training import Encoding, Features, accuracy, build, catalog, majority_share, non_private, suitable
from dpcore.training.losses import LOGISTIC, SQUARED
from dpcore.validate import FloatArray

ABSENT = "Adult census data not found: put adult.csv.gz into ../shared/data or name the file in EPSILON_LAB_ADULT."
# Public bounds: what a person who has never seen the file would declare.
NUMBERS = {
    "age": (17.0, 90.0),
    "fnlwgt": (0.0, 1_500_000.0),
    "education_num": (1.0, 16.0),
    "capital_gain": (0.0, 100_000.0),
    "capital_loss": (0.0, 5_000.0),
    "hours_per_week": (0.0, 100.0),
}
WORDS = (*("workclass", "education", "marital_status", "occupation", "relationship", "race", "sex", "native_country"),)
LEVELS = (0.1, 0.5, 1.0, 2.0)
GOALS = {0.1: 0.820, 0.5: 0.832, 1.0: 0.835}
BOOK = {0.1: 0.7645, 0.5: 0.7767, 1.0: 0.7757, 2.0: 0.7759}
DELTA, SPLITS, REPLICAS = 1e-5, 8, 4
# least squares on labels −1 and 1 classifies too; the table has more than a hundred columns
METHODS = [key for key in catalog() if key in suitable(LOGISTIC, 100) or key in suitable(SQUARED, 100)]


def adult_file() -> Path | None:
    """Where the data are, or None."""
    named = os.environ.get("EPSILON_LAB_ADULT")
    path = Path(named) if named else Path(__file__).parents[2] / "shared" / "data" / "adult.csv.gz"
    return path if path.is_file() else None


def adult(path: Path) -> tuple[Features, FloatArray, FloatArray]:
    """How the table becomes rows, and the rows (45222, d) and labels of those without a missing value.

    Categories are those of the data set's public description, which all occur.
    """
    frame = pd.read_csv(path)
    frame = frame[~(frame == "?").any(axis=1)]
    numbers = [Encoding(name=name, kind="number", low=low, high=high) for name, (low, high) in NUMBERS.items()]
    words = [Encoding(name=name, kind="category", categories=tuple(sorted(frame[name].unique()))) for name in WORDS]
    features = Features(
        columns=(*numbers, *words),
        target=Encoding(name="income", kind="category", categories=("<=50K", ">50K")),
        positive=">50K",
    )
    X = features.rows([column.typed(frame[column.name]) for column in features.columns])
    return features, X, features.answers(features.target.typed(frame["income"]))


def book_rows(features: Features, X: FloatArray) -> tuple[FloatArray, float]:
    """The book's own rows, numbers in [0, 1] and no intercept, brought into the unit ball; and the way back."""
    raw = X[:, :-1] * features.scale
    raw[:, : len(NUMBERS)] = (raw[:, : len(NUMBERS)] + 1.0) / 2.0
    longest = float(np.sqrt(len(features.columns)))
    return raw / longest, longest


def split(y: FloatArray, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows to train on and to test on: eight tenths of either class, and the rest."""
    rng = np.random.Generator(np.random.SFC64(seed))
    shuffled = [rng.permutation(np.flatnonzero(y == label)) for label in (-1.0, 1.0)]
    train = np.concatenate([rows[: rows.size * 8 // 10] for rows in shuffled])
    return rng.permutation(train), np.concatenate([rows[rows.size * 8 // 10 :] for rows in shuffled])


def measure(features: Features, X: FloatArray, y: FloatArray) -> pd.DataFrame:
    """Mean test accuracy of every method (rows) at every ε (columns)."""
    ours, longest = book_rows(features, X)
    found: dict[str, list[list[float]]] = {}
    for seed in range(SPLITS):
        train, test = split(y, seed)
        rng = np.random.Generator(np.random.SFC64([seed, 1]))
        for key in METHODS:
            kind: Any = catalog()[key]
            options, rows = kind.settings_for(features) if hasattr(kind, "settings_for") else {}, X
            if key == "book_gradient_descent":
                options, rows = {"row_norm": longest}, ours
            methods = [build(key, epsilon=level, delta=DELTA, options=options) for level in LEVELS]
            fits = type(methods[0]).fit_all(methods, rows[train], y[train], rng, REPLICAS)
            found.setdefault(key, []).append([float(accuracy(fit, rows[test], y[test]).mean()) for fit in fits])
        plain = float(accuracy(non_private(X[train], y[train]), X[test], y[test])[0])
        found.setdefault("non_private", []).append([plain] * len(LEVELS))
        found.setdefault("majority_class", []).append([majority_share(y[test])] * len(LEVELS))
    return pd.DataFrame({key: np.mean(values, axis=0) for key, values in found.items()}, index=LEVELS).T


def missed(table: pd.DataFrame) -> list[str]:
    """The goals that are not met, in sentences."""
    private = table.loc[METHODS]
    problems = [
        f"best method at ε = {level:g}: {private[level].max():.4f}, goal {goal:.3f}"
        for level, goal in GOALS.items()
        if private[level].max() < goal
    ]
    problems += [
        f"book's version at ε = {level:g}: {table.loc['book_gradient_descent', level]:.4f}, reference {reference:.4f}"
        for level, reference in BOOK.items()
        if abs(table.loc["book_gradient_descent", level] - reference) > 0.01
    ]
    if table.loc["non_private", 1.0] < 0.848:
        problems.append(f"non-private: {table.loc['non_private', 1.0]:.4f}, goal 0.848")
    return problems


def main() -> int:
    logging.getLogger("absl").setLevel(logging.ERROR)
    path = adult_file()
    if path is None:
        print(ABSENT)
        return 2
    features, X, y = adult(path)
    print(f"Adult: {X.shape[0]:,} rows × {X.shape[1]} features, {SPLITS} splits × {REPLICAS} models, δ = {DELTA:g}")
    with threadpool_limits(1):
        table = measure(features, X, y)
    print(table.round(4).to_string())
    problems = missed(table)
    for problem in problems:
        print("MISSED", problem)
    print("goals missed" if problems else "all goals met")
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main())
