"""Rows to train on, made by seed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from dpcore.releases import draws

Array = NDArray[np.float64]


def classes(n: int, d: int, seed: int = 0, steep: float = 6.0) -> tuple[Array, Array]:
    """Rows of lengths 0.3 to 1 and labels −1, 1 that follow a logistic law of a hidden direction."""
    rng = np.random.Generator(np.random.SFC64(seed))
    X = rng.standard_normal((n, d))
    X *= rng.uniform(0.3, 1.0, size=(n, 1)) / np.linalg.norm(X, axis=1, keepdims=True)
    hidden = rng.standard_normal(d)
    chance = 1.0 / (1.0 + np.exp(-steep * X @ hidden))
    return X, np.where(rng.random(n) < chance, 1.0, -1.0)


def numbers(n: int, d: int, seed: int = 0) -> tuple[Array, Array]:
    """The same rows with answers in [−1, 1] that are linear in them but for noise."""
    X, _ = classes(n, d, seed)
    rng = np.random.Generator(np.random.SFC64(seed + 1000))
    hidden = rng.standard_normal(d)
    hidden /= np.linalg.norm(hidden)
    return X, np.clip(0.9 * X @ hidden + 0.1 * rng.standard_normal(n), -1.0, 1.0)


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.Generator(np.random.SFC64(20_240_607))


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[tuple[float, float, int]]:
    """Every discrete Gaussian draw of a release from now on: its sensitivity, its ρ and how many numbers."""
    spent: list[tuple[float, float, int]] = []
    honest = draws.gaussian

    def noted(values: Any, *, sensitivity: float, rho: float) -> Any:
        spent.append((sensitivity, rho, len(values)))
        return honest(values, sensitivity=sensitivity, rho=rho)

    monkeypatch.setattr(draws, "gaussian", noted)
    return spent


@pytest.fixture(autouse=True, scope="session")
def one_thread() -> Iterator[None]:
    """As the worker processes have it: two threads of a busy machine are slower than one."""
    with threadpool_limits(1):
        yield
