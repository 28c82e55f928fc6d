"""The small lessons: each shows what it claims to."""

from __future__ import annotations

import numpy as np
import pytest

from dpcore.accounting import Cost, compose, gaussian_epsilon
from dpcore.calibration import gaussian_noise_multiplier
from dpcore.training import (
    Fit,
    Logistic,
    NoisyGradientDescent,
    Rows,
    Squared,
    clipping_curve,
    descent_trace,
    excess_risk,
    steps_curve,
    tuning_price,
)
from dpcore.training.losses import objective
from tests.training.conftest import classes, numbers


@pytest.fixture(scope="module")
def rows() -> Rows:
    X, y = classes(3000, 5)
    return Rows(X=X[:2400], y=y[:2400], X_test=X[2400:], y_test=y[2400:])


def test_more_steps_can_make_it_worse(rows, rng) -> None:
    """Excess risk falls, then rises with the number of steps, while without noise it only falls."""
    frame = steps_curve(NoisyGradientDescent(epsilon=0.5, delta=1e-5), rows, rng, replicas=12)
    risk = frame[frame["metric"] == "excess_risk"].set_index("steps")
    best = risk["value"].idxmin()
    assert 5 < best < 800
    assert risk["value"].loc[800] > 1.5 * risk["value"].loc[best]
    assert risk["value"].loc[1] > 1.5 * risk["value"].loc[best]
    assert risk["without_noise"].iloc[-1] < risk["without_noise"].iloc[0]
    assert set(frame["metric"]) == {"accuracy", "excess_risk"}


def test_clipping_trades_bias_for_noise(rows, rng) -> None:
    """The smallest norm clips everyone and is biased; the largest clips nobody and is all noise."""
    frame = clipping_curve(NoisyGradientDescent(epsilon=0.5, delta=1e-5), rows, rng, replicas=12)
    risk = frame[frame["metric"] == "excess_risk"].set_index("clip")
    assert risk["clipped"].loc[0.01] == 1.0
    assert risk["clipped"].loc[1.0] == 0.0
    best = risk["value"].idxmin()
    assert 0.01 < best < 5.0
    assert risk["without_noise"].loc[0.01] > 2 * risk["without_noise"].loc[1.0]
    assert risk["value"].loc[5.0] > 3 * risk["value"].loc[best]
    assert risk["without_noise"].loc[5.0] == pytest.approx(risk["without_noise"].loc[1.0], rel=1e-3)


def test_a_trace_is_one_run_of_the_method(rows, rng) -> None:
    """Shapes, the first step from the origin, and a loss that at high ε ends near the smallest."""
    method = NoisyGradientDescent(epsilon=5.0, delta=1e-5, steps=60)
    trace = descent_trace(method, rows.X, rows.y, rng, shown=7)
    assert trace.weights.shape == (61, 5)
    assert trace.loss.shape == (61,)
    assert trace.loss[0] == pytest.approx(np.log(2.0))
    assert trace.signal.shape == trace.noise.shape == trace.clipped.shape == (60,)
    assert trace.gradients.shape == (60, 7, 5)
    assert np.linalg.norm(trace.clipped_gradients(), axis=2).max() <= 0.5 + 1e-12
    released = Fit(weights=trace.released[None], loss=Logistic(), method="", cost=Cost(epsilon=5.0))
    runs = method.fit(rows.X, rows.y, rng, 50)
    usual = excess_risk(runs, rows.X, rows.y)
    assert excess_risk(released, rows.X, rows.y)[0] <= usual.max() * 2
    assert trace.path.shape == (61, 2)
    np.testing.assert_allclose(trace.plane @ trace.plane.T, np.eye(2), atol=1e-9)
    first, second, losses = trace.landscape(Logistic(), rows.X, rows.y, points=15)
    assert losses.shape == (15, 15)
    place = first[3] * trace.plane[0] + second[9] * trace.plane[1]
    assert losses[9, 3] == pytest.approx(objective(Logistic(), place[None], rows.X, rows.y)[0])
    assert first[0] < trace.path[:, 0].min() < trace.path[:, 0].max() < first[-1]


def test_a_trace_of_two_parameters_lies_in_its_plane(rng) -> None:
    """With two weights nothing is projected away."""
    X, y = numbers(500, 2)
    trace = descent_trace(NoisyGradientDescent(epsilon=1.0, delta=1e-5, loss=Squared(), steps=30), X, y, rng)
    np.testing.assert_allclose(trace.path @ trace.plane, trace.weights, atol=1e-9)


def test_the_noise_of_a_trace_has_the_method_s_size(rows, rng) -> None:
    """Mean squared length of 400 noise vectors within five standard errors of d × (scale/n)²."""
    method = NoisyGradientDescent(epsilon=1.0, delta=1e-5, steps=400)
    trace = descent_trace(method, rows.X, rows.y, rng)
    expected = 5 * (method.noise_scale / 2400) ** 2
    assert abs((trace.noise**2).mean() - expected) < 5 * expected * np.sqrt(2 / 5 / 400)


def test_tuning_has_a_price() -> None:
    """All runs paid is exact Gaussian composition; a share brings the total back; random stopping grows slowly."""
    price = tuning_price(16, epsilon=1.0, delta=1e-5)
    noise = gaussian_noise_multiplier(1.0, 1e-5)
    assert price.ignored == 1.0
    assert price.all_runs == pytest.approx(compose([Cost.gaussian(noise, 1e-5, 16)], 1e-5)["pld"], rel=1e-9)
    assert price.all_runs > 4.0
    share = gaussian_noise_multiplier(price.share, 1e-5)
    assert gaussian_epsilon(share / 4.0, 1e-5) == pytest.approx(1.0, rel=1e-6)
    hundred = tuning_price(100, epsilon=1.0, delta=1e-5)
    assert 1.0 < price.random_stopping < hundred.random_stopping < 3.0
    alone = tuning_price(1, epsilon=1.0, delta=1e-5)
    assert alone.all_runs == pytest.approx(1.0, rel=1e-6)
    assert alone.random_stopping == 1.0
