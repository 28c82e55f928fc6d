"""Choosing among settings by a random number of tries: the law of the number, and the price against the exact law."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

from dpcore.errors import InvalidArgument
from dpcore.training import PrivateClassifier
from dpcore.training.estimators.classifier import SETTINGS
from dpcore.training.tuning import LogarithmicTries

GRID = np.linspace(-60.0, 60.0, 240_001)


def best_of(tries: LogarithmicTries, middle: float, sigma: float) -> np.ndarray:
    """The density on ``GRID`` of the highest of K Gaussian scores, exact: the generating function of K at their law.

    E[x^K] = ln(1 − (1 − γ)x)/ln γ, so the density is q(y)·(1 − γ)/((1 − (1 − γ)F(y)) ln(1/γ)).
    """
    log_inverse = tries.log_inverse_gamma
    kept = -math.expm1(-log_inverse)
    inside = 1.0 - kept * norm.cdf(GRID, middle, sigma)
    return norm.pdf(GRID, middle, sigma) * kept / (inside * log_inverse)


def delta_of(first: np.ndarray, second: np.ndarray, epsilon: float) -> float:
    """The exact δ at ε between two densities, both ways."""
    step = GRID[1] - GRID[0]
    return max(
        float(np.maximum(a - math.exp(epsilon) * b, 0.0).sum() * step) for a, b in ((first, second), (second, first))
    )


@pytest.mark.parametrize("mean", [1.5, 4.0, 30.0])
def test_the_number_of_tries_has_its_law(mean, rng) -> None:
    tries = LogarithmicTries(mean=mean)
    drawn = np.array([tries.draw(rng) for _ in range(20_000)])
    assert drawn.min() == 1
    assert abs(drawn.mean() - mean) < 5 * drawn.std() / np.sqrt(drawn.size)
    kept = -math.expm1(-tries.log_inverse_gamma)
    assert abs((drawn == 1).mean() - kept / tries.log_inverse_gamma) < 0.02


@pytest.mark.parametrize("mean", [2.0, 10.0, 100.0])
@pytest.mark.parametrize("sigma", [1.0, 4.0])
def test_the_price_covers_the_exact_law(mean, sigma) -> None:
    """Scores that are the Gaussian release itself: the best says most. What one try costs alone would not do."""
    tries = LogarithmicTries(mean=mean)
    here, there = (best_of(tries, middle, sigma) for middle in (0.0, 1.0))
    assert here.sum() * (GRID[1] - GRID[0]) == pytest.approx(1.0, abs=1e-6)
    rho, delta = 0.5 / sigma**2, 1e-3
    assert delta_of(here, there, tries.epsilon(rho, delta)) <= delta
    one = LogarithmicTries(mean=1.0 + 1e-9).epsilon(rho, delta)
    assert one < tries.epsilon(rho, delta)
    from dpcore.accounting import gaussian_epsilon

    if mean > 5:
        assert delta_of(here, there, gaussian_epsilon(sigma, delta)) > delta


@pytest.mark.thorough
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_one_try_has_what_makes_the_whole_as_promised(epsilon) -> None:
    from dpcore.calibration import gaussian_noise_multiplier

    shares = []
    for mean in (2.0, 10.0):
        tries = LogarithmicTries(mean=mean)
        share = tries.one_try(epsilon, 1e-5)
        noise = gaussian_noise_multiplier(share, 1e-5)
        assert tries.epsilon(0.5 / noise**2, 1e-5) == pytest.approx(epsilon, rel=1e-4)
        assert tries.epsilon(0.5 / noise**2, 1e-5) <= epsilon * (1 + 1e-6)
        shares.append(share)
    assert epsilon > shares[0] > shares[1]
    with pytest.raises(InvalidArgument, match="tries"):
        LogarithmicTries(mean=500.0).one_try(1e-4, 1e-9)
    for bad in (1.0, 0.0, float("nan"), 2000.0):
        with pytest.raises(InvalidArgument, match="mean"):
            LogarithmicTries(mean=bad)


@pytest.mark.thorough
def test_a_classifier_tries_settings_and_keeps_the_best(monkeypatch) -> None:
    """Every try is a release of the share of ε; the model kept is that of the highest noisy count."""
    rng = np.random.Generator(np.random.SFC64(4))
    frame = pd.DataFrame({"x": rng.uniform(0, 10, 3000)})
    y = (frame["x"] > 5).to_numpy()
    from dpcore.training.estimators import classifier as module

    seen = []
    honest = module.ScaledDescent.fit

    def noted(self, rows, y, rng, replicas=1):
        fitted = honest(self, rows, y, rng, replicas)
        seen.append((self.epsilon, rows.shape[1], float(fitted.right[0]), fitted.weights[0].copy()))
        return fitted

    monkeypatch.setattr(module.ScaledDescent, "fit", noted)
    monkeypatch.setattr(LogarithmicTries, "draw", lambda self, rng: 6)
    model = PrivateClassifier(
        epsilon=1.0, columns={"x": (0, 10)}, classes=[False, True], tries=4.0, random_state=2
    ).fit(frame, y)
    assert len(seen) == 6
    assert {epsilon for epsilon, *_ in seen} == {LogarithmicTries(mean=4.0).one_try(1.0, 1e-5)}
    assert len({width for _, width, *_ in seen}) == 2  # coarse cuts alone, and all
    best = max(seen, key=lambda one: one[2])
    np.testing.assert_allclose(model.scorecard_.intercept, best[3][-1])
    assert model.cost_.epsilon == 1.0
    assert (model.predict(frame) == y).mean() > 0.9
    assert len(SETTINGS) == 6
    with pytest.raises(InvalidArgument, match="classes"):
        PrivateClassifier(columns={"x": (0, 10)}, tries=4.0).fit(frame, y)
