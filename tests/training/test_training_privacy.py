"""Exact privacy where a density exists, sensitivities where one does not, and broken twins that must be caught."""

from __future__ import annotations

import numpy as np
import pytest

from dpcore.training import (
    Absolute,
    Ball,
    Distance,
    LaplaceMean,
    Logistic,
    MeanByLoss,
    MedianByLoss,
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
from tests.training.conftest import classes, numbers

# from −37,000 to 37,000, 0.0003 apart near 0: hockey-stick integrals to 1e-7
THETA = np.sinh(np.linspace(-11.2, 11.2, 80_001))


def data_pairs(rng):
    """Neighbours (add/remove) in one dimension: worst cases first, then random ones. Each: rows, labels, the extra."""
    yield np.zeros(0), np.zeros(0), (1.0, 1.0)
    yield np.zeros(0), np.zeros(0), (1.0, -1.0)
    yield np.ones(1), np.ones(1), (1.0, 1.0)
    yield np.ones(3), -np.ones(3), (1.0, 1.0)
    for _ in range(6):
        size = int(rng.integers(1, 12))
        yield (
            rng.uniform(-1, 1, size),
            rng.choice([-1.0, 1.0], size),
            (rng.choice([-1.0, 1.0]), rng.choice([-1.0, 1.0])),
        )


def tilt_and_volume(x, y, ridge):
    """b as a function of the θ it leads to, and |db/dθ|: the density of θ is that of b times the volume."""
    margins = np.outer(x, THETA)
    slope = (Logistic().slopes(margins, y[:, None]) * x[:, None]).sum(axis=0)
    bend = (Logistic().curvatures(margins, y[:, None]) * (x**2)[:, None]).sum(axis=0)
    return -(slope + ridge * THETA), bend + ridge


def gaussian_density(x, y, ridge, scale):
    tilt, volume = tilt_and_volume(x, y, ridge)
    return volume * np.exp(-0.5 * (tilt / scale) ** 2) / (scale * np.sqrt(2 * np.pi))


def hockey_stick(p, q, epsilon):
    return np.trapezoid(np.maximum(p - np.exp(epsilon) * q, 0.0), THETA)


def worst_delta(rng, ridge, scale, epsilon) -> float:
    found = 0.0
    for x, y, (row, label) in data_pairs(rng):
        p = gaussian_density(np.append(x, row), np.append(y, label), ridge, scale)
        q = gaussian_density(x, y, ridge, scale)
        assert np.trapezoid(p, THETA) == pytest.approx(1.0, abs=1e-6)
        found = max(found, hockey_stick(p, q, epsilon), hockey_stick(q, p, epsilon))
    return found


@pytest.mark.parametrize("kind", [ObjectivePerturbation, ObjectivePerturbation2012])
@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 0.05), (1.0, 1e-3), (3.0, 0.01)])
def test_objective_perturbation_is_private_in_one_dimension(kind, epsilon, delta, rng) -> None:
    """The exact δ of the density of θ, over added and removed rows, is at most the stated one."""
    method = kind(epsilon=epsilon, delta=delta)
    assert worst_delta(rng, method.used_ridge, method.noise_scale, epsilon) <= delta + 1e-7


def test_objective_perturbation_with_less_noise_is_caught(rng) -> None:
    """40 % of the noise breaks δ = 0.05 on the same neighbours: the check is not vacuous.

    In one dimension the proof is loose, because a tilt can only push one way: 60 % would still pass.
    """
    method = ObjectivePerturbation(epsilon=1.0, delta=0.05)
    assert worst_delta(rng, method.used_ridge, 0.4 * method.noise_scale, 1.0) > 0.05


@pytest.mark.parametrize("neighbours", ["add_remove", "replace_one"])
@pytest.mark.parametrize("epsilon", [0.3, 1.0, 3.0])
def test_pure_objective_perturbation_in_one_dimension(neighbours, epsilon, rng) -> None:
    """The log-ratio of the densities of θ stays within ε everywhere; with too little noise it does not.

    In one dimension a replaced row moves the tilt by at most 1, half of what the proof allows for: so a third of the
    noise is the twin there, and half of it where rows are added.
    """
    method = PureObjectivePerturbation(epsilon=epsilon, neighbours=neighbours)
    ridge = method.ridge_for(10, 1)
    scale = method.noise_scale_for(ridge)

    def log_density(x, y, scale):
        tilt, volume = tilt_and_volume(x, y, ridge)
        return np.log(volume) - np.abs(tilt) / scale

    def worst(scale) -> float:
        found = 0.0
        for x, y, (row, label) in data_pairs(rng):
            base = log_density(np.append(x, row), np.append(y, label), scale)
            others = [log_density(x, y, scale)]
            if neighbours == "replace_one":
                others = [log_density(np.append(x, -row), np.append(y, label), scale)]
            found = max(found, *(float(np.abs(base - other).max()) for other in others))
        return found

    assert worst(scale) <= epsilon + 1e-9
    assert worst(scale / (2 if neighbours == "add_remove" else 3)) > epsilon


def grid_neighbours(loss, neighbours, rng, d=2):
    """Data whose one row is added, removed or replaced: extremes and random ones."""
    extremes = np.array([[1.0, 0.0], [-1.0, 0.0], [0.6, -0.8]])[:, :d]
    for trial in range(12):
        size = int(rng.integers(2, 6))
        X = rng.standard_normal((size, d))
        X /= np.maximum(1.0, np.linalg.norm(X, axis=1, keepdims=True))
        y = rng.choice([-1.0, 1.0], size) if trial % 2 or isinstance(loss, Logistic) else rng.uniform(-1, 1, size)
        row, label = extremes[trial % 3], (-1.0) ** trial
        more = np.vstack([X, row]), np.append(y, label)
        if neighbours == "add_remove":
            yield (X, y), more
        else:
            yield (np.vstack([X, -row]), np.append(y, label)), more
            yield (np.vstack([X, row]), np.append(y, -label)), more


@pytest.mark.parametrize("loss", [Logistic(), Squared(), Absolute(), Distance(), Distance(squared=False)], ids=repr)
@pytest.mark.parametrize("neighbours", ["add_remove", "replace_one"])
def test_the_ball_on_a_grid_is_private(loss, neighbours, rng) -> None:
    """Every candidate's chance changes by at most e^ε; with twice the slope it changes by more."""
    ball = Ball(epsilon=1.0, loss=loss, neighbours=neighbours, points=400)
    twin = Ball(epsilon=2.0, loss=loss, neighbours=neighbours, points=400)
    worst, broken = 0.0, 0.0
    for (X, y), (other, labels) in grid_neighbours(loss, neighbours, rng):
        worst = max(worst, float(np.abs(np.log(ball.probabilities(X, y) / ball.probabilities(other, labels))).max()))
        broken = max(broken, float(np.abs(np.log(twin.probabilities(X, y) / twin.probabilities(other, labels))).max()))
    assert worst <= 1.0 + 1e-9
    assert broken > 1.0


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


@pytest.mark.parametrize("kind", [MeanByLoss, MedianByLoss, LaplaceMean])
@pytest.mark.parametrize("neighbours", ["add_remove", "replace_one"])
def test_methods_for_one_number_are_private(kind, neighbours, rng) -> None:
    """Log-densities on a fine grid differ by at most ε; half the noise, or twice the slope, is caught."""
    points = np.linspace(-1.0, 1.0, 4001)

    def log_density(values, n, method):
        if kind is LaplaceMean:
            # n is public: the sum moves, the divisor stays
            return -np.abs(points - values.sum() / n) * n / method.noise_scale
        power = 2 if kind is MeanByLoss else 1
        total = (np.abs(points[:, None] - values) ** power).sum(axis=1) / power
        logits = -method.slope * total
        return logits - logits.max() - np.log(np.trapezoid(np.exp(logits - logits.max()), points))

    def worst(method) -> float:
        found = 0.0
        for trial in range(8):
            values = rng.uniform(-1, 1, 5) if trial > 1 else np.full(5, 1.0)
            other = np.append(values, -1.0) if neighbours == "add_remove" else np.append(values[1:], -1.0)
            gaps = log_density(values, 5, method) - log_density(other, 5, method)
            found = max(found, float(np.abs(gaps).max()))
        return found

    assert worst(kind(epsilon=0.8, neighbours=neighbours)) <= 0.8 + 1e-6
    assert worst(kind(epsilon=1.6, neighbours=neighbours)) > 0.8


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
