"""Privacy beyond the exact audit (``tests/audit/training_exact.py``): more budgets, sensitivities, and two traps."""

from __future__ import annotations

import numpy as np
import pytest

from dpcore.training import (
    Absolute,
    Ball,
    Logistic,
    ObjectivePerturbation,
    ObjectivePerturbation2012,
    PureObjectivePerturbation,
    Squared,
)
from dpcore.training.adassp import AdaSSP
from dpcore.training.clipped_examples import clipped_rows
from dpcore.training.gradient_sums import GradientSums
from dpcore.training.output_perturbation import ridge_in_ball
from dpcore.training.tilted import tilted_minima
from tests.audit.training_exact import THETA, pure_tilt_loss, tilt_delta, tilted_density, tilted_pairs
from tests.training.conftest import classes, numbers


@pytest.mark.parametrize("kind", [ObjectivePerturbation, ObjectivePerturbation2012])
@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 0.05), (1.0, 1e-3), (3.0, 0.01)])
def test_objective_perturbation_is_private_in_one_dimension(kind, epsilon, delta) -> None:
    """The exact δ of the density of θ, over added and removed rows, is at most the stated one; the density is one."""
    method = kind(epsilon=epsilon, delta=delta)
    whole = tilted_density(np.ones(2), np.ones(2), method.used_ridge, method.noise_scale)
    assert np.trapezoid(whole, THETA) == pytest.approx(1.0, abs=1e-5)
    assert tilt_delta(tilted_pairs(method.used_ridge, method.noise_scale), epsilon) <= delta + 1e-6


def test_objective_perturbation_with_less_noise_is_caught() -> None:
    """40 % of the noise breaks δ = 0.05 on the same neighbours: the check is not vacuous.

    In one dimension the proof is loose, because a tilt can only push one way: 60 % would still pass.
    """
    method = ObjectivePerturbation(epsilon=1.0, delta=0.05)
    assert tilt_delta(tilted_pairs(method.used_ridge, 0.4 * method.noise_scale), 1.0) > 0.05


@pytest.mark.parametrize("relation", ["add_remove", "replace_one"])
@pytest.mark.parametrize("epsilon", [0.3, 3.0])
def test_pure_objective_perturbation_at_other_budgets(relation, epsilon) -> None:
    """The log-ratio of the densities of θ in the plane stays within ε; with half the noise it does not."""
    method = PureObjectivePerturbation(epsilon=epsilon, neighbours=relation)
    ridge = method.ridge_for(10, 2)
    scale = method.noise_scale_for(ridge)
    assert pure_tilt_loss(ridge, scale, relation) <= epsilon + 1e-9
    assert pure_tilt_loss(ridge, scale / 2, relation) > epsilon


def test_sensitivity_gr_for_the_median_is_wrong_by_a_factor_of_two() -> None:
    """Trap: with Δ = GR = 1 (slope ε/2 under replacement) many people at one end break ε = 1 by nearly 2."""
    ones = np.ones((400, 1))
    y = np.ones(400)
    other = y.copy()
    other[0] = -1.0
    right = Ball(epsilon=1.0, loss=Absolute(), neighbours="replace_one", points=4000)
    losses = [np.abs(right.candidates(1)[:, :1] - values[None, :]).sum(axis=1) for values in (y, other)]
    for slope, low, high in ((0.5, 1.7, 2.0 + 1e-9), (right.slope, 0.0, 1.0 + 1e-9)):
        logits = [-slope * total for total in losses]
        laws = [np.exp(one - one.max()) / np.exp(one - one.max()).sum() for one in logits]
        kept = np.minimum(*laws) > 1e-290
        ratio = float(np.abs(np.log(laws[0][kept] / laws[1][kept])).max())
        assert low <= ratio <= high
    assert right.slope == 0.25
    assert right.probabilities(ones, y).sum() == pytest.approx(1.0)


def test_one_row_moves_clipped_sums_by_the_clip_and_replaced_by_twice_that(rng) -> None:
    """Trap: add/remove moves the sum by at most C, replacement by up to 2C, and both are reached."""
    X, y = classes(30, 4)
    weights = rng.standard_normal((4, 200)).astype(np.float32)
    base = GradientSums(Logistic(), X, y, 0.2)(weights)
    added = GradientSums(Logistic(), np.vstack([X, X[0] / np.linalg.norm(X[0])]), np.append(y, 1.0), 0.2)(weights)
    moved = np.linalg.norm(added - base, axis=0)
    assert moved.max() <= 0.2 + 1e-5
    assert moved.max() > 0.199
    row = X[0] / np.linalg.norm(X[0])
    two = [GradientSums(Logistic(), np.vstack([X, sign * row]), np.append(y, 1.0), 0.2)(weights) for sign in (1, -1)]
    gap = np.linalg.norm(two[0] - two[1], axis=0)
    assert 0.2 < gap.max() <= 0.4 + 1e-5


def test_clipping_rows_bounds_logistic_gradients_but_not_squared_ones(rng) -> None:
    """Why squared loss is refused: its gradient on a short row grows with the weights."""
    X = clipped_rows(classes(200, 3)[0], 0.2)
    assert np.linalg.norm(X, axis=1).max() <= 0.2 + 1e-12
    weights = 50.0 * rng.standard_normal(3)
    labels = np.ones(200)
    logistic = np.abs(Logistic().slopes(X @ weights, labels)) * np.linalg.norm(X, axis=1)
    squared = np.abs(Squared().slopes(X @ weights, labels)) * np.linalg.norm(X, axis=1)
    assert logistic.max() <= 0.2 + 1e-12
    assert squared.max() > 0.4


def test_output_perturbation_s_minimum_moves_no_more_than_stated(rng) -> None:
    """L/λ when a row is added, over random and extreme rows: 1/λ for logistic, (1 + R)/λ for squared loss in a ball."""
    X, y = classes(25, 3)
    ridge = np.array([1.5])
    base = tilted_minima(X, y, ridge, np.zeros((1, 3))).weights[0]
    values = np.clip(X @ [0.5, -0.2, 0.1], -1, 1)
    start = ridge_in_ball(X.T @ X, X.T @ values, 1.5, 0.7)
    furthest = 0.0
    for _ in range(60):
        row = rng.standard_normal(3)
        row /= np.linalg.norm(row)
        label = rng.choice([-1.0, 1.0])
        rows = np.vstack([X, row])
        moved = tilted_minima(rows, np.append(y, label), ridge, np.zeros((1, 3))).weights[0]
        furthest = max(furthest, float(np.linalg.norm(moved - base)))
        answers = np.append(values, label)
        other = ridge_in_ball(rows.T @ rows, rows.T @ answers, 1.5, 0.7)
        assert np.linalg.norm(other) <= 0.7 + 1e-9
        assert np.linalg.norm(other - start) <= 1.7 / 1.5 + 1e-9
    assert 0.1 < furthest <= 1.0 / 1.5


def test_adassp_s_statistics_move_by_at_most_one(rng) -> None:
    """Upper triangle of XᵀX, Xᵀy and the smallest eigenvalue, each by at most 1 for an added row of length 1."""
    assert AdaSSP(epsilon=1.0, delta=1e-5).cost.event.count == 3
    X, _ = numbers(20, 4)
    smallest = np.linalg.eigvalsh(X.T @ X)[0]
    for _ in range(100):
        row = rng.standard_normal(4)
        row /= np.linalg.norm(row)
        square = np.outer(row, row)
        assert np.linalg.norm(square[np.triu_indices(4)]) <= 1.0 + 1e-12
        moved = np.linalg.eigvalsh(X.T @ X + square)[0] - smallest
        assert -1e-9 <= moved <= 1.0
    assert np.linalg.norm(np.outer([1, 0, 0, 0], [1, 0, 0, 0])[np.triu_indices(4)]) == 1.0


def test_tilted_minima_are_minima(rng) -> None:
    """Gradient of the tilted objective in double precision, recomputed here, over the number of rows."""
    X, y = classes(800, 6)
    ridges, tilts = rng.uniform(0.01, 5.0, 70), 20.0 * rng.standard_normal((70, 6))
    found = tilted_minima(X, y, ridges, tilts)
    for ridge, tilt, weights, stated in zip(ridges, tilts, found.weights, found.gradient_norms, strict=True):
        slope = X.T @ Logistic().slopes(X @ weights, y) + ridge * weights + tilt
        assert np.linalg.norm(slope) / 800 <= 1e-9
        assert stated <= 1e-9
