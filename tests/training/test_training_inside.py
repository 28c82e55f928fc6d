"""Training seen from inside shows what it claims to."""

from __future__ import annotations

import numpy as np
import pytest

from dpcore.training import (
    Absolute,
    Logistic,
    NoisyGradientDescent,
    Rows,
    Squared,
    batch_curve,
    descent_trace,
    gradient_lengths,
    loss_curves,
    ridge_curve,
)
from dpcore.training.losses import objective
from tests.training.conftest import classes, numbers


def rows(n: int, d: int, test: int = 400) -> Rows:
    X, y = classes(n + test, d)
    return Rows(X=X[:n], y=y[:n], X_test=X[n:], y_test=y[n:])


def test_losses_step_by_step(rng) -> None:
    """Without noise: training loss only falls, and on few rows test loss rises again (overfitting); with noise the end
    is worse. The values at the last step are those of the method's own run."""
    data = rows(60, 20)
    method = NoisyGradientDescent(epsilon=0.5, delta=1e-5, steps=1500, clip=1.0, rate=4.0, momentum=0.0, tail=1e-9)
    frame = loss_curves(method, data, rng, replicas=6)
    training, test = (frame[frame["rows"] == name].set_index("step") for name in ("training", "test"))
    assert (np.diff(training["without_noise"]) <= 1e-6).all()
    assert test["without_noise"].iloc[-1] > 1.1 * test["without_noise"].min()
    assert training["value"].iloc[-1] > training["without_noise"].iloc[-1]
    assert frame["step"].max() == 1500
    calm = NoisyGradientDescent(epsilon=1e6, delta=1e-5, steps=40, clip=1.0, rate=1.0, momentum=0.0, tail=1e-9)
    last = loss_curves(calm, data, rng, replicas=2).query("rows == 'training' and step == 40")
    fit = calm.fit(data.X, data.y, rng, 1)
    expected = float(objective(Logistic(), fit.weights, data.X, data.y)[0])
    assert float(last["without_noise"].iloc[0]) == pytest.approx(expected, rel=1e-2)


def test_batch_size_at_equal_privacy(rng) -> None:
    """Full batches at the same ε have the least noise on the mean gradient; all are equally private by construction."""
    frame = batch_curve(rows(1000, 4), rng, epsilon=1.0, sampling_rates=(0.02, 0.2, 1.0), epochs=3, replicas=4)
    risk = frame[frame["metric"] == "excess_risk"].set_index("sampling_rate")
    assert risk["batch"].tolist() == [20.0, 200.0, 1000.0]
    assert risk["steps"].tolist() == [150, 15, 3]
    assert risk["noise"].is_monotonic_decreasing
    assert risk["noise_multiplier"].is_monotonic_increasing
    full = NoisyGradientDescent(epsilon=1.0, delta=1e-5, steps=3)
    assert risk["noise_multiplier"].iloc[-1] == pytest.approx(full.noise_multiplier, rel=0.01)


def test_a_ridge_trades_bias_for_noise(rng) -> None:
    """At small ε some regulariser beats none and beats the strongest; without privacy it only costs."""
    method = NoisyGradientDescent(epsilon=0.05, delta=1e-5, steps=60, rate=2.0)
    frame = ridge_curve(method, rows(500, 5), rng, ridges=(0.0, 0.03, 0.3, 30.0), replicas=40)
    risk = frame[frame["metric"] == "excess_risk"].set_index("ridge")
    assert risk["bias"].is_monotonic_increasing
    assert risk["bias"].iloc[0] == pytest.approx(0.0, abs=1e-9)
    assert risk["value"].idxmin() in (0.03, 0.3)


def test_why_clipping_rows_fails_for_squared_loss() -> None:
    """Rows of length 1: logistic and absolute gradients stay within 1 however long the weights, squared ones do not."""
    lengths = [0.0, 1.0, 10.0, 100.0]
    bounded = gradient_lengths(Logistic(), *classes(300, 3), lengths)
    assert (bounded["largest"] <= bounded["bound"] + 1e-12).all()
    assert (bounded["bound"] == 1.0).all()
    assert (gradient_lengths(Absolute(), *numbers(60, 2), lengths)["largest"] <= 1.0 + 1e-12).all()
    free = gradient_lengths(Squared(), *numbers(300, 3), lengths)
    assert (free["largest"] <= free["bound"] + 1e-9).all()
    assert free["largest"].iloc[-1] > 20.0


def test_arrows_lie_in_the_plane_and_are_cut(rng) -> None:
    data = rows(300, 4)
    trace = descent_trace(NoisyGradientDescent(epsilon=1.0, delta=1e-5, steps=10, clip=0.2), data.X, data.y, rng)
    before, after = trace.arrows(3)
    assert before.shape == after.shape == (24, 2)
    assert np.linalg.norm(after, axis=1).max() <= 0.2 + 1e-9
    assert np.linalg.norm(before, axis=1).max() > 0.2
    cross = before[:, 0] * after[:, 1] - before[:, 1] * after[:, 0]
    np.testing.assert_allclose(cross, 0.0, atol=1e-12)  # cut, not turned
