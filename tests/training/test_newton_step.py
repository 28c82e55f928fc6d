"""The best model of many columns is found as that of few, to the same gradient, in a small part of the work."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from dpcore.training import newton_step, optimum
from dpcore.training.losses import LOGISTIC, SQUARED, Loss
from dpcore.training.newton_step import DENSE, Steps
from dpcore.training.optimum import TOLERANCE, minimise
from dpcore.validate import FloatArray

Rows = tuple[FloatArray, FloatArray]


def options(columns: int, each: int, n: int, seed: int = 1) -> Rows:
    """Options as features, with one of ones: each column's sum to that, so that the Hessian is singular."""
    rng = np.random.default_rng(seed)
    X = np.zeros((n, columns * each + 1))
    X[:, 0] = 1.0
    for column in range(columns):
        X[np.arange(n), 1 + column * each + rng.integers(0, each, n)] = 1.0
    return X / np.sqrt(columns + 1), np.where(rng.random(n) < 0.5, 1.0, -1.0)


def numbers(d: int, n: int, seed: int = 2) -> Rows:
    """Numbers in columns of sizes from 1 to 10⁻³, one of them only zeros."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * np.logspace(0, -3, d) / np.sqrt(d)
    X[:, 3] = 0.0
    return X, np.where(X @ rng.normal(size=d) + 0.3 * rng.normal(size=n) > 0, 1.0, -1.0)


@pytest.mark.parametrize("rows", [options(12, 20, 900), numbers(230, 900)], ids=["options", "numbers"])
@pytest.mark.parametrize("radius", [None, 1.0])
@pytest.mark.parametrize("loss", [LOGISTIC, replace(LOGISTIC, ridge=1e-3), SQUARED, replace(SQUARED, ridge=1e-3)])
def test_many_columns_are_as_few(loss: Loss, radius: float | None, rows: Rows, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = rows
    assert X.shape[1] > DENSE
    found = minimise(loss, X, y, radius=radius)
    for module in (newton_step, optimum):
        monkeypatch.setattr(module, "DENSE", X.shape[1])
    exact = minimise(loss, X, y, radius=radius)
    assert found.gradient_norm <= TOLERANCE
    assert found.objective == pytest.approx(exact.objective, abs=1e-9)
    if loss.ridge or radius is not None:  # the weights are only these
        assert found.weights == pytest.approx(exact.weights, abs=1e-5)


def test_classes_that_can_be_told_apart_without_error_end_all_the_same() -> None:
    """The weights grow until the gradient is as small as asked for, and rows bend less and less."""
    X, y = options(40, 20, 500)
    found = minimise(LOGISTIC, X, y)
    assert found.gradient_norm <= 10 * TOLERANCE
    assert found.objective < 1e-6


@pytest.mark.parametrize("rows", [options(12, 20, 900), numbers(230, 900)], ids=["options", "numbers"])
def test_a_step_leaves_little_beside_the_slope_and_forms_no_hessian(
    rows: Rows, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = rows
    n = len(X)
    curvatures = np.random.default_rng(3).uniform(0.05, 0.25, n) / n

    def never(*_: Any) -> Any:
        raise AssertionError("a Hessian of many columns takes minutes to be taken apart")

    monkeypatch.setattr(np.linalg, "eigh", never)
    for ridge in (0.0, 1e-3):
        slope = X.T @ (y / n)
        step = Steps(X)(curvatures, ridge, slope)
        left = X.T @ (curvatures * (X @ step)) + ridge * step - slope
        assert float(np.linalg.norm(left)) <= 0.02 * float(np.linalg.norm(slope))
        assert step[3] == 0.0 or np.any(X[:, 3])


def nearly_the_same(n: int = 700, d: int = 260) -> Rows:
    """Mixes of factors of which the last are 10⁻⁶ of the first."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(n, d)) * np.logspace(0, -6, d) @ np.linalg.qr(rng.normal(size=(d, d)))[0]
    return X / np.linalg.norm(X, axis=1).max(), np.clip(rng.normal(size=n), -1, 1)


@pytest.mark.parametrize("radius", [None, 1.0])
def test_columns_that_nearly_say_the_same_are_given_up_soon_and_solved_whole(
    radius: float | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rounds of steps that get nowhere, for each ridge that a ball asks for, took minutes before any was solved."""
    asked: list[int] = []
    conjugate = Steps._conjugate
    monkeypatch.setattr(Steps, "_conjugate", lambda *one: asked.append(1) or conjugate(*one))
    found = minimise(SQUARED, *nearly_the_same(), radius=radius)
    assert found.gradient_norm <= TOLERANCE
    assert 1 <= len(asked) <= optimum._REFINED


def test_options_are_products_of_few_numbers() -> None:
    assert Steps(options(12, 20, 900)[0])._sparse is not None
    assert Steps(numbers(230, 900)[0])._sparse is None
    assert Steps(options(2, 20, 900)[0])._sparse is None, "of few columns nothing is gained"


def test_within_a_ball_each_try_begins_where_the_nearest_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[bool] = []
    newton = optimum._newton

    def noted(*asked: Any) -> Any:
        begun.append(asked[-1] is not None)
        return newton(*asked)

    monkeypatch.setattr(optimum, "_newton", noted)
    minimise(LOGISTIC, *options(12, 20, 900), radius=1.0)
    assert len(begun) > 3
    assert begun == [False, *[True] * (len(begun) - 1)]
