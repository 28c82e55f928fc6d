"""Simulated runs follow the exact law, and the test that says so would notice if they did not."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import stats

from dpcore.thresholding import AboveThreshold, NumericSparse, Sparse

ANSWERS = np.array([0.0, 3.0, -2.0, 5.0, 5.0, 1.0, 8.0, 2.0])
THRESHOLD, SIZE = 4.0, 40_000
# Seeds are fixed. By chance alone one p-value in 10⁴ would fall below this.
REJECT = 1e-4


def p_value(counts: np.ndarray, law: np.ndarray) -> float:
    """Chi-square, cells expected fewer than 10 times pooled."""
    expected = law * counts.sum()
    rare = expected < 10
    observed = np.append(counts[~rare], counts[rare].sum())
    expected = np.append(expected[~rare], expected[rare].sum())
    if expected[-1] == 0:
        assert observed[-1] == 0
        observed, expected = observed[:-1], expected[:-1]
    return float(stats.chisquare(observed, expected * observed.sum() / expected.sum()).pvalue)


@pytest.mark.parametrize(
    ("noise", "monotonic", "share"), list(itertools.product(("laplace", "exponential"), (False, True), (None, 0.2)))
)
def test_runs_follow_the_law(noise: str, monotonic: bool, share: float | None) -> None:
    mechanism = AboveThreshold(
        epsilon=1.5, noise=noise, monotonic=monotonic, threshold_share=share, sensitivity=0.5, offset=1.0
    )
    stops = mechanism.sample(ANSWERS, THRESHOLD, np.random.default_rng(7), SIZE)
    assert stops.shape == (SIZE,)
    law = mechanism.stop_law(ANSWERS, THRESHOLD)
    assert p_value(np.bincount(stops, minlength=ANSWERS.size + 1), law) > REJECT


@pytest.mark.parametrize("noise", ["laplace", "exponential"])
def test_joint_places_of_several_alarms_follow_the_law(noise: str) -> None:
    """Every outcome, as a set of places, against its likelihood."""
    mechanism = Sparse(epsilon=4.0, limit=3, noise=noise)
    places = mechanism.sample(ANSWERS, THRESHOLD, np.random.default_rng(8), SIZE)
    assert places.shape == (SIZE, 3)
    k = ANSWERS.size
    outcomes = [c for alarms in range(4) for c in itertools.combinations(range(k), alarms)]
    law = np.exp([mechanism.log_probability(ANSWERS, THRESHOLD, outcome) for outcome in outcomes])
    index = {outcome + (k,) * (3 - len(outcome)): i for i, outcome in enumerate(outcomes)}
    counts = np.bincount([index[tuple(row)] for row in places.tolist()], minlength=len(outcomes))
    assert law.sum() == pytest.approx(1, abs=1e-9)
    assert p_value(counts, law) > REJECT


@pytest.mark.parametrize("noise", ["laplace", "exponential"])
def test_the_test_has_power(noise: str) -> None:
    """Four fifths of the noise, a forgotten offset, or the wrong kind of noise are each rejected beyond doubt."""
    law = AboveThreshold(epsilon=1.0, noise=noise, offset=1.0).stop_law(ANSWERS, THRESHOLD)
    other = "laplace" if noise == "exponential" else "exponential"
    for wrong in (
        AboveThreshold(epsilon=1.25, noise=noise, offset=1.0),
        AboveThreshold(epsilon=1.0, noise=noise),
        AboveThreshold(epsilon=1.0, noise=other, offset=1.0),
    ):
        stops = wrong.sample(ANSWERS, THRESHOLD, np.random.default_rng(9), SIZE)
        assert p_value(np.bincount(stops, minlength=ANSWERS.size + 1), law) < 1e-9


def test_long_series_are_sampled_in_blocks() -> None:
    """With 60,000 queries noise is drawn piece by piece; the law still holds."""
    answers = np.r_[np.full(59_990, -30.0), np.full(10, 20.0)]
    mechanism = Sparse(epsilon=1.0, limit=2)
    law = mechanism.alarm_law(answers, 0.0)
    places = mechanism.sample(answers, 0.0, np.random.default_rng(10), 3000)
    edges = np.r_[0, 5000, 20_000, 40_000, 59_990, 60_000, 60_001]
    for j in range(2):
        binned = np.add.reduceat(law.position[j], edges[:-1])
        assert p_value(np.histogram(places[:, j], edges)[0], binned) > REJECT


def test_published_values_have_laplace_errors() -> None:
    """Kolmogorov-Smirnov accepts the right scale and rejects two thirds and three halves of it."""
    mechanism = NumericSparse(epsilon=2.0, limit=2)
    places, values = mechanism.sample(ANSWERS, THRESHOLD, np.random.default_rng(11), 4000)
    none = places == ANSWERS.size
    assert np.array_equal(np.isnan(values), none)
    errors = (values - ANSWERS[np.where(none, 0, places)])[~none]
    right = stats.kstest(errors / mechanism.value_scale, stats.laplace.cdf).pvalue
    assert right > REJECT
    for factor in (2 / 3, 3 / 2):
        assert stats.kstest(errors / (mechanism.value_scale * factor), stats.laplace.cdf).pvalue < 1e-9


def test_one_run_in_detail() -> None:
    """The picture's run is a run: it stops at the first noisy answer that reaches the noisy threshold."""
    mechanism = AboveThreshold(epsilon=1.0, offset=2.0)
    stops = []
    for seed in range(3000):
        run = mechanism.trace(ANSWERS, THRESHOLD, np.random.default_rng(seed))
        reached = run.noisy_answers >= run.noisy_threshold
        assert np.allclose(run.noisy_answers - run.query_noise, ANSWERS[: reached.size])
        assert np.flatnonzero(reached).tolist() == list(run.alarms)
        assert run.stopped == bool(run.alarms)
        assert reached.size == (run.alarms[0] + 1 if run.stopped else ANSWERS.size)
        stops.append(run.alarms[0] if run.stopped else ANSWERS.size)
    law = mechanism.stop_law(ANSWERS, THRESHOLD)
    assert p_value(np.bincount(stops, minlength=ANSWERS.size + 1), law) > REJECT
    several = Sparse(epsilon=1.0, limit=3).trace(ANSWERS, -50.0, np.random.default_rng(1))
    assert several.alarms == (0, 1, 2)
    assert several.stopped


def test_the_same_seed_gives_the_same_runs() -> None:
    mechanism = AboveThreshold(epsilon=1.0)
    draws = [mechanism.sample(ANSWERS, THRESHOLD, np.random.default_rng(3), 50) for _ in range(2)]
    assert np.array_equal(*draws)
