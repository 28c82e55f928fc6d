"""What every training method keeps, whatever it is. A new method is tested by being there."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

from dpcore import releases
from dpcore.accounting import Cost
from dpcore.errors import InvalidArgument
from dpcore.training import (
    Fit,
    Sweep,
    TrainingProblem,
    accuracy,
    build,
    catalog,
    excess_risk,
    majority_share,
    minimise,
    non_private,
)
from dpcore.training.losses import ABSOLUTE, LOGISTIC, SQUARED
from tests.contract.about import check_about
from tests.training.conftest import classes, numbers


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.Generator(np.random.SFC64(20_240_607))


ONE_NUMBER = [key for key, kind in catalog().items() if getattr(kind, "one_number", False)]
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
    check_about(kind, catalog())
    assert len(kind.losses) > 0
    assert len(inspect.getdoc(kind) or "") > 150, "a docstring with the guarantee and its source"
    assert kind.__dataclass_params__.frozen


def test_the_catalogue_holds_what_was_promised() -> None:
    promised = {
        *(
            "scaled_descent",
            "noisy_gradient_descent",
            "book_gradient_descent",
            "clipped_examples",
            "dp_sgd",
            "disjoint_batches",
        ),
        *("objective_perturbation", "objective_perturbation_2012", "objective_perturbation_pure"),
        *("output_perturbation", "adassp", "ball", "statistical_queries", *ONE_NUMBER),
    }
    assert set(catalog()) >= promised
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
    elif kind.__dataclass_fields__["delta"].default != 0.0:  # where that is the default, it is pure without δ
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


@pytest.mark.parametrize("key", list(catalog()))
def test_the_cost_is_what_was_asked(key) -> None:
    kind = catalog()[key]
    for epsilon in (0.2, 3.0):
        delta = 0.0 if kind.pure else 1e-5
        cost = kind(epsilon=epsilon, delta=delta).cost
        assert cost.epsilon == pytest.approx(epsilon, rel=1e-6)
        assert cost.delta == delta


@pytest.mark.parametrize(("key", "loss"), PAIRS)
def test_the_problem_evaluates_it(key, loss) -> None:
    """With two models at two levels, all metrics of the task; for the losses that a sweep trains for."""
    if loss == "absolute":
        return
    X, y = data_for(key, loss, n=80)
    sweep = Sweep(X=X, y=y, X_test=X, y_test=y, methods=(key,), epsilon=(1.0,), loss=LOSSES[loss], seeds=2)
    problem = TrainingProblem(sweep=sweep)
    assert problem.abouts[key] is catalog()[key].about
    for metric in problem.metrics:
        found = problem.evaluate(key, metric, np.array([0.5, 5.0]), np.full(2, 80.0))
        assert found.kind == "simulated"
        assert np.isfinite(found.value).all()
        assert (found.low <= found.high).all()


@pytest.mark.parametrize("key", [key for key, kind in catalog().items() if kind.about.release is not None])
def test_the_release_it_names_runs_the_same_steps(key) -> None:
    """A released model is trained with the settings that the mechanism has by default, drawn in whole numbers."""
    request, kind = releases.catalog()[catalog()[key].about.release], catalog()[key]
    shared = ("steps", "clip", "momentum", "tail", "neighbours")
    for name in shared:
        assert request.__dataclass_fields__[name].default == kind.__dataclass_fields__[name].default
