"""Clipped gradient sums by matrix products against the loop over people, and single precision against double."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from dpcore.training import Absolute, Logistic, NoisyGradientDescent, Squared
from dpcore.training.batches import BatchSums
from dpcore.training.descent import descend
from dpcore.training.gradient_sums import GradientSums
from tests.training.conftest import classes, numbers


def by_loop(loss, X, y, weights, clip):
    """One gradient per person and model, clipped by its own length, in double precision."""
    total = np.zeros((X.shape[1], weights.shape[1]))
    for model in range(weights.shape[1]):
        for row, answer in zip(X, y, strict=True):
            gradient = loss.slopes(np.array(row @ weights[:, model]), np.array(answer)) * row
            length = np.linalg.norm(gradient)
            total[:, model] += gradient * min(1.0, clip / length) if length > 0 else 0.0
    return total


def rows_for(loss, n, d, seed=0):
    return classes(n, d, seed) if isinstance(loss, Logistic) else numbers(n, d, seed)


@pytest.mark.parametrize("loss", [Logistic(), Squared(), Absolute()], ids=repr)
@pytest.mark.parametrize("clip", [0.05, 0.3, 5.0])
def test_one_product_equals_the_loop(loss, clip, rng) -> None:
    """Mean gradients to 1e-6: 700 rows cross a block's end, and 0.05, 0.3 and 5 clip most, some and no rows."""
    X, y = rows_for(loss, 700, 5)
    X[3] = 0.0
    weights = rng.standard_normal((5, 3))
    fast = GradientSums(loss, X, y, clip)(weights.astype(np.float32))
    exact = by_loop(loss, X, y, weights.astype(np.float32).astype(np.float64), clip)
    # signs of absolute errors may flip for margins within rounding of y; none is that close here
    np.testing.assert_allclose(fast / 700, exact / 700, atol=1e-6)


def test_clipping_binds_where_the_test_says(rng) -> None:
    """The test above would pass with clipping left out if nothing were clipped: without it, 0.05 differs."""
    X, y = classes(700, 5)
    weights = rng.standard_normal((5, 3)).astype(np.float32)
    clipped, free = (GradientSums(Logistic(), X, y, clip)(weights) for clip in (0.05, None))
    assert np.abs(clipped - free).max() / 700 > 1e-3


@pytest.mark.parametrize("loss", [Logistic(), Squared(), Absolute()], ids=repr)
def test_sparse_rows_give_the_same_sums(loss, rng) -> None:
    X = np.asarray(sparse.random(900, 60, density=0.04, random_state=1).todense())
    X /= np.maximum(1.0, np.linalg.norm(X, axis=1, keepdims=True))
    y = rng.choice([-1.0, 1.0], 900)
    sums = GradientSums(loss, X, y, 0.2)
    assert sparse.issparse(sums._blocks[0][0])
    weights = rng.standard_normal((60, 2))
    exact = by_loop(loss, X, y, weights.astype(np.float32).astype(np.float64), 0.2)
    np.testing.assert_allclose(sums(weights.astype(np.float32)) / 900, exact / 900, atol=1e-6)


def test_squared_loss_without_clipping_needs_no_rows(rng) -> None:
    """XᵀXw − Xᵀy equals the clipped sum where the clip cannot bind."""
    X, y = numbers(500, 4)
    weights = rng.standard_normal((4, 6)).astype(np.float32)
    whole, clipped = (GradientSums(Squared(), X, y, clip)(weights) for clip in (None, 100.0))
    np.testing.assert_allclose(whole / 500, clipped / 500, atol=1e-6)


@pytest.mark.parametrize("loss", [Logistic(), Squared(), Absolute()], ids=repr)
def test_batches_of_ones_own_give_the_same_sums(loss, rng) -> None:
    """Each model sums over its own rows; places filled with n add nothing."""
    X, y = rows_for(loss, 120, 4)
    rows = np.stack([np.append(rng.permutation(120)[:30], [120] * 5), rng.permutation(120)[:35]])
    weights = rng.standard_normal((4, 2))
    found = BatchSums(loss, X, y, 0.3)(weights.astype(np.float32), rows)
    for model, chosen in enumerate(rows):
        inside = chosen[chosen < 120]
        exact = by_loop(loss, X[inside], y[inside], weights.astype(np.float32).astype(float)[:, [model]], 0.3)
        np.testing.assert_allclose(found[:, [model]] / 35, exact / 35, atol=1e-6)


def test_single_precision_moves_weights_far_less_than_noise_does() -> None:
    """The same noise added to sums in double precision: the difference is under 1 % of the replicas' deviation."""
    X, y = classes(4000, 10)
    method = NoisyGradientDescent(epsilon=1.0, delta=1e-5, steps=50)
    fit = method.fit(X, y, np.random.Generator(np.random.SFC64(3)), replicas=20)

    def double(weights, step):
        margins = X @ weights.astype(np.float64)
        slopes = Logistic().slopes(margins, y[:, None])
        caps = (0.5 / np.linalg.norm(X, axis=1))[:, None]
        return (X.T @ np.clip(slopes, -caps, caps)).astype(np.float64)

    same_noise = descend(
        double,
        d=10,
        n=4000,
        noise=np.full(20, method.noise_scale),
        rate=np.full(20, method.step_length(4000)),
        steps=50,
        momentum=0.9,
        tail=0.5,
        ridge=0.0,
        radius=None,
        rng=np.random.Generator(np.random.SFC64(3)),
    )
    deviation = fit.weights.std(axis=0).mean()
    assert np.abs(fit.weights - same_noise).max() < 0.01 * deviation
