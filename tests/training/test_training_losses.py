"""Losses, their slopes and their minima, against independent calculations."""

from __future__ import annotations

import numpy as np
import pytest

from dpcore.errors import InvalidArgument
from dpcore.training import Absolute, Distance, Logistic, Squared, minimise
from dpcore.training.losses import gradient, linear, objective
from tests.training.conftest import classes, numbers

SMOOTH = [
    Logistic(),
    Logistic(ridge=0.1),
    Squared(),
    Squared(ridge=0.1),
    Distance(),
    Distance(squared=False, ridge=0.2),
]


@pytest.mark.parametrize("loss", SMOOTH, ids=repr)
def test_gradient_is_the_slope_of_the_objective(loss, rng) -> None:
    """Central differences with step 1e-6 are good to about 1e-9 here; 1e-7 leaves room."""
    X, y = classes(60, 4)
    weights = rng.standard_normal((3, 4))
    exact = gradient(loss, weights, X, y)
    for k in range(4):
        step = np.zeros(4)
        step[k] = 1e-6
        slope = (objective(loss, weights + step, X, y) - objective(loss, weights - step, X, y)) / 2e-6
        np.testing.assert_allclose(exact[:, k], slope, atol=1e-7)


@pytest.mark.parametrize("loss", [Logistic(), Squared(), Absolute()], ids=repr)
@pytest.mark.parametrize("radius", [0.5, 1.0, 3.0])
def test_one_row_changes_a_loss_no_more_than_stated(loss, radius, rng) -> None:
    """Slope and spread over the ball hold for random rows and are reached by the worst one."""
    X = rng.standard_normal((400, 2))
    X /= np.maximum(1.0, np.linalg.norm(X, axis=1, keepdims=True))
    y = rng.choice([-1.0, 1.0], 400) if isinstance(loss, Logistic) else rng.uniform(-1, 1, 400)
    angles = np.linspace(0, 2 * np.pi, 73)
    circle = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    ball = np.concatenate([circle * share * radius for share in np.linspace(0, 1, 21)])
    values = loss.values(X @ ball.T, y[:, None])
    assert (np.abs(loss.slopes(X @ ball.T, y[:, None])) <= loss.lipschitz(radius) + 1e-12).all()
    assert float((values.max(axis=1) - values.min(axis=1)).max()) <= loss.spread(radius) + 1e-12
    worst = loss.values(np.linspace(-radius, radius, 12_001), np.array(1.0))
    assert worst.max() - worst.min() == pytest.approx(loss.spread(radius), rel=1e-6)


@pytest.mark.parametrize("squared", [True, False])
@pytest.mark.parametrize("radius", [0.5, 1.0, 3.0])
def test_one_point_changes_a_distance_no_more_than_stated(squared, radius) -> None:
    loss = Distance(squared=squared)
    points = np.linspace(-1, 1, 201)[:, None]
    values = loss.values_at(np.linspace(-radius, radius, 1201)[:, None], points)
    spread = (values.max(axis=1) - values.min(axis=1)).max()
    assert spread == pytest.approx(loss.spread(radius), rel=1e-6)


def test_logistic_losses_are_exact_far_out() -> None:
    """Margins of ±800 neither overflow nor lose the large part; the small part is 0 to 1e-16."""
    values = Logistic().values(np.array([-800.0, 0.0, 800.0]), np.array(1.0))
    np.testing.assert_allclose(values, [800.0, np.log(2.0), 0.0], atol=1e-15)


@pytest.mark.parametrize("loss", [Logistic(), Logistic(ridge=0.01), Squared(), Squared(ridge=0.3)], ids=repr)
def test_the_minimum_has_the_stated_gradient(loss) -> None:
    X, y = classes(300, 6) if isinstance(loss, Logistic) else numbers(300, 6)
    found = minimise(loss, X, y)
    assert found.gradient_norm <= 1e-9
    assert np.linalg.norm(gradient(loss, found.weights[None], X, y)) <= 1e-9


def test_columns_that_repeat_each_other_still_have_a_minimum() -> None:
    """One-hot columns beside an intercept make the Hessian singular: 300 rows, 3 categories."""
    X, y = classes(300, 3)
    codes = np.arange(300) % 3
    rows = np.concatenate([np.eye(3)[codes], np.ones((300, 1)), X], axis=1) / 3.0
    assert minimise(Logistic(), rows, y).gradient_norm <= 1e-9
    assert minimise(Squared(), rows, y).gradient_norm <= 1e-9


def test_separable_classes_end_near_zero_loss() -> None:
    """No minimum exists; the gradient gets as short as asked, and so does the loss."""
    X = np.concatenate([np.full((50, 1), 0.5), np.full((50, 1), -0.5)])
    found = minimise(Logistic(), X, np.sign(X[:, 0]))
    assert found.gradient_norm <= 1e-9
    assert found.objective < 1e-8


def test_the_least_absolute_error_against_a_fine_grid() -> None:
    X, y = numbers(80, 2, seed=5)
    found = minimise(Absolute(), X, y)
    grid = found.weights + 0.5 * np.stack(np.meshgrid(*[np.linspace(-1, 1, 201)] * 2), axis=-1).reshape(-1, 2)
    assert found.objective <= objective(Absolute(), grid, X, y).min() + 1e-12


def test_the_ridged_least_absolute_error_is_a_minimum(rng) -> None:
    """The bound on the gradient is small, and no nearby weights do better by more than it allows."""
    X, y = numbers(80, 3, seed=6)
    found = minimise(Absolute(ridge=0.2), X, y)
    assert found.gradient_norm < 1e-3
    nearby = found.weights + 0.01 * rng.standard_normal((2000, 3))
    assert found.objective <= objective(Absolute(ridge=0.2), nearby, X, y).min() + 1e-6


def test_mean_and_medians_are_the_known_ones(rng) -> None:
    values = rng.uniform(-1, 1, 101)
    ones = np.ones((101, 1))
    assert minimise(Squared(), ones, values).weights[0] == pytest.approx(values.mean(), abs=1e-12)
    assert minimise(Absolute(), ones, values).weights[0] == np.median(values)
    points = rng.uniform(-0.5, 0.5, (101, 2))
    np.testing.assert_allclose(minimise(Distance(), points, values).weights, points.mean(axis=0), atol=1e-12)
    middle = minimise(Distance(squared=False), points, values)
    assert middle.gradient_norm < 1e-7


def test_distance_has_no_margin() -> None:
    with pytest.raises(InvalidArgument, match="loss"):
        linear(Distance())
