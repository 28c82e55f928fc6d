"""One contract for every method of the catalogue."""

from __future__ import annotations

import inspect

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
    excess_risk,
    majority_share,
    mean_squared_error,
    minimise,
    non_private,
    sample_size,
)
from dpcore.training.losses import ABSOLUTE, LOGISTIC, SQUARED
from tests.training.conftest import classes, numbers

ONE_NUMBER = ("laplace_mean", "mean_by_loss", "interval_median", "median_by_loss")
LOSSES = {"logistic": LOGISTIC, "squared": SQUARED, "absolute": ABSOLUTE}
PAIRS = [
    (key, loss) for key, kind in catalog().items() for loss in kind.losses if loss in LOSSES and key not in ONE_NUMBER
]


def data_for(key: str, loss: str = "logistic", n: int = 400):
    if key in ONE_NUMBER:
        return np.ones((n, 1)), numbers(n, 2)[1]
    return classes(n, 3) if loss == "logistic" else numbers(n, 3)


@pytest.mark.parametrize("key", list(catalog()))
def test_every_method_says_what_it_is(key) -> None:
    kind = catalog()[key]
    assert kind.key == key
    assert kind.label
    assert kind.label[0].isupper()
    assert len(kind.losses) > 0
    assert len(inspect.getdoc(kind) or "") > 150, "a docstring with the guarantee and its source"
    assert kind.__dataclass_params__.frozen


def test_the_catalogue_holds_what_was_promised() -> None:
    promised = {
        *("noisy_gradient_descent", "book_gradient_descent", "clipped_examples", "dp_sgd", "disjoint_batches"),
        "proved_descent",
        *("objective_perturbation", "objective_perturbation_2012", "objective_perturbation_pure"),
        *("output_perturbation", "adassp", "ball", "statistical_queries", *ONE_NUMBER),
    }
    assert set(catalog()) == promised
    assert next(iter(catalog())) == "noisy_gradient_descent"


@pytest.mark.parametrize("key", list(catalog()))
def test_epsilon_and_delta_alone_are_enough(key, rng) -> None:
    """With fixed defaults the same seed gives the same models, another one others; inputs stay as they are."""
    kind = catalog()[key]
    method = kind(epsilon=1.0, delta=0.0 if kind.pure else 1e-5)
    X, y = data_for(key, kind.losses[0])
    before = X.copy(), y.copy()
    fit = method.fit(X, y, np.random.Generator(np.random.SFC64(1)), 4)
    assert isinstance(fit, Fit)
    assert fit.weights.shape == (4, X.shape[1])
    assert np.isfinite(fit.weights).all()
    assert isinstance(fit.cost, Cost)
    assert fit.method == key
    again = method.fit(X, y, np.random.Generator(np.random.SFC64(1)), 4)
    np.testing.assert_array_equal(fit.weights, again.weights)
    assert not np.array_equal(fit.weights, method.fit(X, y, rng, 4).weights)
    assert len(np.unique(fit.weights[:, 0])) > 1 or key == "ball"
    np.testing.assert_array_equal(X, before[0])
    np.testing.assert_array_equal(y, before[1])


@pytest.mark.parametrize("key", list(catalog()))
def test_bad_arguments_are_refused_by_name(key, rng) -> None:
    kind = catalog()[key]
    delta = 0.0 if kind.pure else 1e-5
    for epsilon in (0.0, -1.0, float("nan"), float("inf"), "1", None):
        with pytest.raises(InvalidArgument, match="epsilon"):
            kind(epsilon=epsilon, delta=delta)
    for bad in (-0.1, 1.0, float("nan")):
        with pytest.raises(InvalidArgument, match="delta"):
            kind(epsilon=1.0, delta=bad)
    if kind.pure:
        with pytest.raises(InvalidArgument, match="delta must be 0"):
            kind(epsilon=1.0, delta=1e-5)
    elif key != "output_perturbation":  # which is pure when delta is 0
        with pytest.raises(InvalidArgument, match="delta"):
            kind(epsilon=1.0, delta=0.0)
    with pytest.raises(InvalidArgument, match="loss"):
        kind(epsilon=1.0, delta=delta, loss=_unsupported(kind))
    method = kind(epsilon=1.0, delta=delta)
    X, y = data_for(key, kind.losses[0])
    for arguments, name in (
        ((2.0 * X, y), "X"),
        ((X[:, 0], y), "X"),
        ((np.where(X == X, np.nan, X), y), "X"),
        ((X, y[:-1]), "y"),
        ((X, 3.0 * y), "y"),
    ):
        with pytest.raises(InvalidArgument, match=name):
            method.fit(*arguments, rng, 2)
    with pytest.raises(InvalidArgument, match="replicas"):
        method.fit(X, y, rng, 0)
    with pytest.raises(InvalidArgument, match="rng"):
        method.fit(X, y, 7, 2)


def _unsupported(kind):
    """A loss that the method cannot train for, or, where it takes all, one with a ridge."""
    for name, loss in LOSSES.items():
        if name not in kind.losses:
            return loss
    from dpcore.training import Distance

    return Distance(ridge=1.0)


@pytest.mark.parametrize(("key", "loss"), PAIRS)
def test_every_method_learns_for_every_loss_it_names(key, loss, rng) -> None:
    """At ε = 50 and 2,000 rows in three dimensions it beats the zero model by more than half of what can be gained."""
    X, y = data_for(key, loss, n=2000)
    # naive Bayes is judged by its side of 0: its weights follow its own assumption, not the loss
    method = build(key, epsilon=10.0 if key == "book_gradient_descent" else 50.0, delta=1e-5, loss=LOSSES[loss])
    fit = method.fit(X, y, rng, 5)
    assert fit.loss == LOSSES[loss]
    if loss == "logistic":
        best = float(accuracy(non_private(X, y), X, y)[0])
        assert accuracy(fit, X, y).mean() > majority_share(y) + 0.5 * (best - majority_share(y))
    if key in ("ball", "statistical_queries"):
        return
    least = minimise(LOSSES[loss], X, y).objective
    zero = excess_risk(Fit(weights=np.zeros((1, 3)), loss=fit.loss, method="", cost=fit.cost), X, y)[0]
    assert least >= 0.0
    assert excess_risk(fit, X, y).mean() < 0.5 * zero


@pytest.mark.parametrize("key", ["noisy_gradient_descent", "objective_perturbation", "output_perturbation", "adassp"])
def test_settings_trained_together_are_as_if_alone(key, rng) -> None:
    """Means over replicas of ``fit_all`` agree with separate fits within five standard errors."""
    kind = catalog()[key]
    X, y = data_for(key, kind.losses[0])
    methods = [kind(epsilon=level, delta=1e-5) for level in (0.5, 2.0, 8.0)]
    together = kind.fit_all(methods, X, y, rng, 120)
    for method, fit in zip(methods, together, strict=True):
        alone = method.fit(X, y, rng, 120).weights
        error = np.sqrt(fit.weights.var(axis=0) / 120 + alone.var(axis=0) / 120)
        assert (np.abs(fit.weights.mean(axis=0) - alone.mean(axis=0)) < 5 * error + 1e-9).all()
        assert fit.cost == method.cost


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
