"""Excess risk over a ball of weights: the constrained optimum, projection, rates with G·R, and the proved bound."""

from __future__ import annotations

import numpy as np
import pytest

from dpcore.errors import InvalidArgument
from dpcore.training import (
    Absolute,
    Distance,
    Logistic,
    Squared,
    Sweep,
    TrainingProblem,
    descent_bound,
    excess_risk,
    minimise,
    projected,
    proved_descent,
    rate,
)
from dpcore.training.losses import gradient, objective
from tests.training.conftest import classes, numbers

LOSSES = [Logistic(), Squared(), Absolute(), Distance(), Distance(squared=False), Logistic(ridge=0.01)]


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: f"{loss.name}-{loss.ridge}")
@pytest.mark.parametrize("radius", [0.02, 0.3, 30.0])
def test_the_constrained_optimum(loss, radius) -> None:
    """Nothing in the ball is better: by convexity L(v) ≥ L(w) + ∇L(w)·(v − w), least at v = −radius·∇L/|∇L|, so the
    Frank-Wolfe gap bounds what is left (where the loss has a gradient); random points of the ball for the others."""
    X, y = (classes if isinstance(loss, Logistic) else numbers)(200, 3, 4)
    found = minimise(loss, X, y, radius=radius)
    assert np.linalg.norm(found.weights) <= radius * (1 + 1e-12)
    assert found.objective == pytest.approx(float(objective(loss, found.weights[None], X, y)[0]), abs=1e-12)
    if not isinstance(loss, Absolute):
        slope = gradient(loss, found.weights[None], X, y)[0]
        assert slope @ found.weights + radius * np.linalg.norm(slope) <= 1e-6 * max(radius, 1.0)
    points = np.random.default_rng(0).standard_normal((4000, 3))
    points *= radius * np.random.default_rng(1).random((4000, 1)) ** (1 / 3) / np.linalg.norm(points, axis=1)[:, None]
    near = projected(found.weights + 0.01 * points, radius)
    for places in (points, near):
        assert objective(loss, places, X, y).min() >= found.objective - 1e-7
    everywhere = minimise(loss, X, y)
    assert found.objective >= everywhere.objective - 1e-7
    if np.linalg.norm(everywhere.weights) <= radius:
        assert found.objective == pytest.approx(everywhere.objective, abs=1e-9)


def test_separable_classes_have_an_optimum_in_a_ball() -> None:
    """Over all weights the logistic loss of separable rows has none; in a ball it is on the edge."""
    X = np.array([[0.5, 0.1], [0.4, 0.2], [-0.5, 0.1], [-0.3, 0.2]])
    y = np.array([1.0, 1.0, -1.0, -1.0])
    found = minimise(Logistic(), X, y, radius=3.0)
    assert np.linalg.norm(found.weights) == pytest.approx(3.0)
    with pytest.raises(InvalidArgument, match=r"^radius "):
        minimise(Logistic(), X, y, radius=0.0)


@pytest.mark.parametrize("neighbours", ["add_remove", "replace_one"])
def test_the_proved_bound_holds(neighbours: str, rng) -> None:
    """Mean excess of 60 models at most the bound, over ε, T, radius and losses; without its noise term it is not."""
    broken = 0
    for loss, (X, y), radius in [(Logistic(), classes(400, 6), 2.0), (Squared(), numbers(400, 3), 0.7)]:
        n, d = X.shape
        for epsilon in (0.02, 0.2, 2.0):
            for steps in (10, 200):
                given = {"d": d, "n": n, "epsilon": epsilon, "delta": 1e-5, "steps": steps, "radius": radius}
                method = proved_descent(loss, neighbours=neighbours, **given)
                fit = method.fit(X, y, rng, 60)
                assert np.linalg.norm(fit.weights, axis=1).max() <= radius * (1 + 1e-5)
                found = excess_risk(fit, X, y, radius)
                steepest = loss.lipschitz(radius)
                bound = descent_bound(neighbours=neighbours, lipschitz=steepest, **given)
                assert found.mean() <= float(bound)
                quiet = steepest * radius * (steps**-0.5 + 1 / steps)
                broken += bool(found.mean() > quiet)
    assert broken > 0


def test_the_proved_method_and_its_bound_are_lines_of_one_chart() -> None:
    """Simulated excess risk below the bound at every ε and size; the bound's method is the theorem's own."""
    X, y = classes(300, 4)
    sweep = Sweep(
        X=X, y=y, X_test=X, y_test=y, methods=("proved_descent",), epsilon=(0.1, 1.0), seeds=8, radius=2.0,
        options=(("proved_descent", (("radius", 2.0),)),),
    )  # fmt: skip
    problem = TrainingProblem(sweep=sweep)
    at = (np.array([0.1, 1.0, 1.0]), np.array([300.0, 300.0, 100.0]))
    found = problem.evaluate("proved_descent", "excess_risk", *at)
    bound = problem.evaluate("bound_descent", "excess_risk", *at)
    assert bound.kind == "bound"
    assert (found.value <= bound.value).all()
    assert bound.value[1] == pytest.approx(float(descent_bound(d=4, n=300, epsilon=1.0, radius=2.0)))
    assert np.isnan(problem.evaluate("bound_descent", "accuracy", *at).value).all()
    other = TrainingProblem(
        sweep=Sweep(X=X, y=y, X_test=X, y_test=y, methods=("proved_descent",), epsilon=(1.0,), radius=2.0)
    )
    with pytest.raises(InvalidArgument, match=r"^radius "):
        other.evaluate("bound_descent", "excess_risk", *at)


def test_rates_scale_with_the_ball() -> None:
    """G·R times the rate of the unit ball, never above G·R; d/ε against √d/ε; broadcast to n of 10⁹."""
    n = np.geomspace(10, 1e9, 30)
    for name in ("rate_approximate", "rate_pure", "rate_sampling"):
        unit = rate(name, d=20, epsilon=0.5, n=n)
        np.testing.assert_allclose(rate(name, d=20, epsilon=0.5, n=n, radius=3.0, lipschitz=2.0), 6 * unit)
        assert unit.max() <= 1.0
    wide = rate("rate_pure", d=[4, 400], epsilon=1.0, n=1e6)
    assert wide[1] / wide[0] == pytest.approx(100)
    root = rate("rate_approximate", d=[4, 400], epsilon=1.0, n=1e6)
    assert root[1] / root[0] == pytest.approx(10)


def test_a_sweep_measures_over_its_ball() -> None:
    """The same models against the best of a small ball, moved into it: the baseline, and rates with G·R."""
    X, y = classes(300, 4)
    given = {"X": X, "y": y, "X_test": X, "y_test": y, "methods": ("output_perturbation",), "epsilon": (0.5,)}
    values = {}
    for radius in (0.5, 10.0):
        problem = TrainingProblem(sweep=Sweep(**given, radius=radius, seeds=6))
        at = (np.array([0.5]), np.array([300.0]))
        values[radius] = problem.evaluate("output_perturbation", "excess_risk", *at).value[0]
        found = problem.evaluate("rate_pure", "excess_risk", *at).value[0]
        assert found == pytest.approx(radius * min(1.0, 4 / 150))
        assert problem.evaluate("non_private", "excess_risk", *at).value[0] < 0.05
    assert values[0.5] != values[10.0]
    with pytest.raises(InvalidArgument, match=r"^radius "):
        Sweep(**given, radius=-1.0)
