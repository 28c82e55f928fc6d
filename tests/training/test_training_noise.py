"""How much noise each method really adds: a χ² test on its variance, with a test that the test has power.

Rows of 0 have no gradient, so what a method returns on them is its noise alone, whatever its batches were.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chi2, gamma, kstest

from dpcore.accounting import gaussian_epsilon
from dpcore.training import (
    AdaSSP,
    BookGradientDescent,
    ClippedExamples,
    DisjointBatches,
    DpSgd,
    LaplaceMean,
    NoisyGradientDescent,
    ObjectivePerturbation,
    ObjectivePerturbation2012,
    OutputPerturbation,
    PureObjectivePerturbation,
    Squared,
    StatisticalQueries,
)
from dpcore.training.objective_perturbation import tight_delta

ALPHA = 1e-4  # of a false alarm in each direction
N, D, REPLICAS = 40, 5, 200
ZEROS, LABELS = np.zeros((N, D)), np.resize([1.0, -1.0], N)
EPSILON, DELTA = 1.0, 1e-5
ANALYTIC = 3.7306316348159374  # σ(1, 1e-5) from tests/golden/laws.json


def right_variance(noise, scale: float, alpha: float = ALPHA) -> bool:
    """Whether Σ (noise/scale)² lies where χ² puts it with chance 1 − 2·alpha."""
    values = np.ravel(noise)
    total = float((values**2).sum()) / scale**2
    return bool(chi2.ppf(alpha, values.size) <= total <= chi2.isf(alpha, values.size))


def last_step_noise(method, rate: float, divisor: float, rng):
    """The noise on the sum at a single step from 0: w = −rate × noise/divisor."""
    return method.fit(ZEROS, LABELS, rng, REPLICAS).weights * -divisor / rate


def test_the_variance_test_has_power(rng) -> None:
    """At alpha 1 % 200 draws pass right noise 98 times in 100, and 20 % less or 25 % more at most 5 times in 100."""
    passed = {
        factor: sum(right_variance(factor * rng.normal(size=200), 1.0, alpha=0.01) for _ in range(200))
        for factor in (1.0, 0.8, 1.25)
    }
    assert passed[1.0] >= 188  # four standard errors below 196
    assert passed[0.8] <= 10
    assert passed[1.25] <= 10


def test_the_variance_test_sees_five_per_cent_at_the_sizes_used_here(rng) -> None:
    draws = rng.normal(size=(REPLICAS, D * 10))
    assert right_variance(draws, 1.0)
    assert not right_variance(0.95 * draws, 1.0)
    assert not right_variance(1.05 * draws, 1.0)


@pytest.mark.parametrize("neighbours", ["add_remove", "replace_one"])
@pytest.mark.parametrize("clip", [0.5, 0.1])
def test_noisy_gradient_descent(neighbours, clip, rng) -> None:
    """One step of T = 25 has noise C √T σ(ε, δ), twice that when a row is replaced."""
    method = NoisyGradientDescent(epsilon=EPSILON, delta=DELTA, steps=25, clip=clip, neighbours=neighbours)
    expected = clip * 5.0 * ANALYTIC * (1 if neighbours == "add_remove" else 2)
    assert method.noise_scale == pytest.approx(expected, rel=1e-6)
    # seen through the sum of all steps at momentum 0: weights are −rate/n times noise of variance T × scale²
    run = NoisyGradientDescent(
        epsilon=EPSILON, delta=DELTA, steps=25, clip=clip, neighbours=neighbours, rate=1.0, momentum=0.0, tail=1e-9
    )
    assert right_variance(last_step_noise(run, 1.0, N, rng), 5.0 * expected)


def test_a_method_with_too_little_noise_is_caught(rng) -> None:
    run = NoisyGradientDescent(epsilon=EPSILON, delta=DELTA, steps=1, rate=1.0, momentum=0.0, tail=1.0)
    noise = 0.8 * last_step_noise(run, 1.0, N, rng)
    assert not right_variance(noise, 0.5 * ANALYTIC)


def test_a_clip_above_the_loss_s_own_bound_adds_no_noise() -> None:
    """Logistic gradients are at most 1 long: a clip of 5 cannot bind and must not be paid for."""
    assert NoisyGradientDescent(epsilon=1.0, delta=DELTA, clip=5.0).sensitivity == 1.0
    ball = NoisyGradientDescent(epsilon=1.0, delta=DELTA, clip=None, radius=2.0, loss=Squared())
    assert ball.sensitivity == 3.0


def test_clipped_examples(rng) -> None:
    run = ClippedExamples(epsilon=EPSILON, delta=DELTA, longest=0.4, steps=1, rate=1.0)
    assert right_variance(last_step_noise(run, 1.0, N, rng), 0.4 * ANALYTIC)


@pytest.mark.thorough
def test_the_book(rng) -> None:
    """C √(2 ln(1.25/δ′))/ε′ at ε′ = ε/11, δ′ = δ/10; the noisy count is made harmless by 100,000 rows."""
    n = 100_000
    run = BookGradientDescent(epsilon=5.0, delta=DELTA, row_norm=1.0)
    zeros, labels = np.zeros((n, 1)), np.resize([1.0, -1.0], n)
    noise = run.fit(zeros, labels, rng, 400).weights * -n
    scale = 5.0 * np.sqrt(2.0 * np.log(1.25e6)) / (5.0 / 11.0)
    assert right_variance(noise, np.sqrt(10.0) * scale)


@pytest.mark.parametrize("rate", [0.1, 1.0])
def test_dp_sgd(rate, rng) -> None:
    """Noise on the batch sum is clip × the PLD-calibrated multiplier; 10 steps, divided by rate × n."""
    run = DpSgd(epsilon=EPSILON, delta=DELTA, sampling_rate=rate, steps=10, rate=1.0, momentum=0.0, tail=1e-9, clip=0.3)
    noise = last_step_noise(run, 1.0, rate * N, rng)
    assert right_variance(noise, np.sqrt(10.0) * 0.3 * run.noise_multiplier)
    if rate == 1.0:
        assert run.noise_multiplier == pytest.approx(np.sqrt(10.0) * ANALYTIC, rel=1e-6)


def test_disjoint_batches(rng) -> None:
    """Twenty steps in four epochs cost four releases: noise C √4 σ on each batch's sum."""
    run = DisjointBatches(
        epsilon=EPSILON, delta=DELTA, batches=5, epochs=4, rate=1.0, momentum=0.0, tail=1e-9, clip=0.5
    )
    assert right_variance(last_step_noise(run, 1.0, N / 5, rng), np.sqrt(20.0) * 0.5 * 2.0 * ANALYTIC)


@pytest.mark.parametrize("kind", [ObjectivePerturbation, ObjectivePerturbation2012])
def test_objective_perturbation(kind, rng) -> None:
    """With no loss to pull, θ = −b/λ."""
    method = kind(epsilon=EPSILON, delta=DELTA)
    tilts = -method.used_ridge * method.fit(ZEROS, LABELS, rng, REPLICAS).weights
    if kind is ObjectivePerturbation2012:
        assert method.noise_scale == pytest.approx(np.sqrt(8.0 * np.log(2.0 / DELTA) + 4.0))
        assert method.used_ridge == 0.5
    else:
        # the smallest noise that the profile allows: 0.1 % less is too little
        assert tight_delta(EPSILON, method.used_ridge, method.noise_scale) <= DELTA
        assert tight_delta(EPSILON, method.used_ridge, 0.999 * method.noise_scale) > DELTA
    assert right_variance(tilts, method.noise_scale)


@pytest.mark.parametrize("neighbours", ["add_remove", "replace_one"])
def test_pure_objective_perturbation(neighbours, rng) -> None:
    """Lengths follow Gamma(d, scale); 20 % less is caught by the same test."""
    method = PureObjectivePerturbation(epsilon=EPSILON, neighbours=neighbours, ridge=2.0)
    lengths = np.linalg.norm(2.0 * method.fit(ZEROS, LABELS, rng, 1500).weights, axis=1)
    changes = 1 if neighbours == "add_remove" else 2
    scale = changes / (EPSILON - changes * np.log1p(0.25 / 2.0))
    assert kstest(lengths, gamma(D, scale=scale).cdf).pvalue > ALPHA
    assert kstest(0.8 * lengths, gamma(D, scale=scale).cdf).pvalue < ALPHA


def test_output_perturbation(rng) -> None:
    method = OutputPerturbation(epsilon=EPSILON, delta=DELTA, ridge=3.0, neighbours="replace_one")
    assert right_variance(method.fit(ZEROS, LABELS, rng, REPLICAS).weights, 2.0 / 3.0 * ANALYTIC)
    pure = OutputPerturbation(epsilon=EPSILON, ridge=3.0)
    lengths = np.linalg.norm(pure.fit(ZEROS, LABELS, rng, 1500).weights, axis=1)
    assert kstest(lengths, gamma(D, scale=1.0 / 3.0).cdf).pvalue > ALPHA
    squared = OutputPerturbation(epsilon=EPSILON, delta=DELTA, ridge=3.0, loss=Squared(), radius=2.0)
    assert right_variance(squared.fit(ZEROS, LABELS, rng, REPLICAS).weights, 3.0 / 3.0 * ANALYTIC)


def test_adassp(rng) -> None:
    """All three statistics have noise √3 σ on every number; the matrix stays symmetric."""
    method = AdaSSP(epsilon=EPSILON, delta=DELTA)
    drawn = [method.statistics(np.zeros((D, D)), np.zeros(D), 0.0, rng) for _ in range(REPLICAS)]
    scale = np.sqrt(3.0) * ANALYTIC
    assert right_variance([square[np.triu_indices(D)] for square, _, _ in drawn], scale)
    assert right_variance([cross for _, cross, _ in drawn], scale)
    assert right_variance([smallest for _, _, smallest in drawn], scale)
    assert all(np.array_equal(square, square.T) for square, _, _ in drawn)
    assert gaussian_epsilon(method.noise_scale / np.sqrt(3.0), DELTA) == pytest.approx(EPSILON, rel=1e-6)


def test_laplace_noise(rng) -> None:
    """Means and averages: the exact law of the noise, by Kolmogorov–Smirnov, and 0.8 of it refused."""
    ones = np.ones((N, 1))
    for neighbours, scale in (("add_remove", 1.0 / EPSILON), ("replace_one", 2.0 / EPSILON)):
        noise = LaplaceMean(epsilon=EPSILON, neighbours=neighbours).fit(ones, 0.0 * LABELS, rng, 2000).weights[:, 0] * N
        assert kstest(noise / scale, "laplace").pvalue > ALPHA
        assert kstest(0.8 * noise / scale, "laplace").pvalue < ALPHA
    queries = StatisticalQueries(epsilon=EPSILON)
    positives, sums = queries.averages(ZEROS, LABELS, rng, 400)
    noise = np.concatenate([positives - N / 2, (sums - N / 4).ravel()])  # u = ½ for rows of 0
    assert kstest(noise / 11.0, "laplace").pvalue > ALPHA
    assert kstest(0.8 * noise / 11.0, "laplace").pvalue < ALPHA
