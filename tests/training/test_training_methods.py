"""Training methods: what each refuses, and measures of a fit."""

from __future__ import annotations

import numpy as np
import pytest

from dpcore.accounting import Cost
from dpcore.errors import InvalidArgument
from dpcore.training import (
    Absolute,
    ClippedExamples,
    DpSgd,
    Fit,
    Logistic,
    NoisyGradientDescent,
    ObjectivePerturbation,
    OutputPerturbation,
    Squared,
    StatisticalQueries,
    accuracy,
    build,
    catalog,
    majority_share,
    mean_squared_error,
    sample_size,
)
from tests.training.conftest import classes, numbers


def test_clipping_examples_is_refused_for_squared_loss_with_the_reason() -> None:
    with pytest.raises(InvalidArgument, match="does not bound the gradient"):
        ClippedExamples(epsilon=1.0, delta=1e-5, loss=Squared())


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: NoisyGradientDescent(epsilon=1.0, delta=1e-5, loss=Squared(), clip=None), "clip"),
        (lambda: NoisyGradientDescent(epsilon=1.0, delta=1e-5, momentum=1.0), "momentum"),
        (lambda: NoisyGradientDescent(epsilon=1.0, delta=1e-5, steps=0), "steps"),
        (lambda: NoisyGradientDescent(epsilon=1.0, delta=1e-5, neighbours="swap"), "neighbours"),
        (lambda: DpSgd(epsilon=1.0, delta=1e-5, sampling_rate=0.0), "sampling_rate"),
        (lambda: ObjectivePerturbation(epsilon=1.0, delta=1e-5, ridge=0.01), "ridge"),
        (lambda: ObjectivePerturbation(epsilon=1.0, delta=1e-5, loss=Logistic(ridge=1.0)), "loss"),
        (lambda: OutputPerturbation(epsilon=1.0, delta=1e-5, loss=Absolute()), "loss"),
        (lambda: StatisticalQueries(epsilon=1.0, low=1.0, high=1.0), "high"),
        (lambda: build("no_such_method", epsilon=1.0, delta=1e-5), "method"),
        (lambda: catalog()["book_gradient_descent"](epsilon=11.0, delta=1e-5), "epsilon"),
    ],
)
def test_settings_that_no_proof_covers_are_refused(make, name) -> None:
    with pytest.raises(InvalidArgument, match=name):
        make()


def test_the_ball_is_refused_beyond_three_dimensions(rng) -> None:
    X, y = classes(50, 4)
    with pytest.raises(InvalidArgument, match="at most 3 columns"):
        catalog()["ball"](epsilon=1.0).fit(X, y, rng, 1)


def test_methods_for_one_number_want_a_column_of_ones(rng) -> None:
    with pytest.raises(InvalidArgument, match="column of ones"):
        catalog()["laplace_mean"](epsilon=1.0).fit(0.5 * np.ones((30, 1)), np.zeros(30), rng, 1)


def test_weights_stay_in_a_ball_when_asked(rng) -> None:
    X, y = numbers(100, 3)
    method = NoisyGradientDescent(epsilon=0.05, delta=1e-5, loss=Squared(), clip=None, radius=0.7)
    assert np.linalg.norm(method.fit(X, y, rng, 20).weights, axis=1).max() <= 0.7 + 1e-6


def test_measures_of_a_fit() -> None:
    X, y = np.array([[0.5], [-0.5], [0.5], [0.25]]), np.array([1.0, -1.0, -1.0, 1.0])
    fit = Fit(weights=np.array([[2.0], [-2.0]]), loss=Logistic(), method="", cost=Cost(epsilon=1.0))
    np.testing.assert_allclose(accuracy(fit, X, y), [0.75, 0.25])
    np.testing.assert_allclose(mean_squared_error(fit, X, y), [(0 + 0 + 4 + 0.25) / 4, (4 + 4 + 0 + 2.25) / 4])
    assert majority_share(y) == 0.5
    with pytest.raises(InvalidArgument, match="y"):
        accuracy(fit, X, np.array([0.0, 1.0, 1.0, 1.0]))


def test_the_sample_size_line() -> None:
    """n = 2m ln(2m/β)/(εα) where noise decides, 2 ln(4m/β)/α² where sampling does, ln(2m/β)/(2α²) without privacy."""
    assert sample_size(21, alpha=0.05) == int(np.ceil(np.log(42 / 0.05) / 0.005))
    assert sample_size(21, alpha=0.05, epsilon=0.01) == int(np.ceil(42 * np.log(42 / 0.05) / 0.0005))
    assert sample_size(21, alpha=0.05, epsilon=100.0) == int(np.ceil(2 * np.log(84 / 0.05) / 0.0025))
    assert StatisticalQueries(epsilon=1.0).queries(10) == 21
