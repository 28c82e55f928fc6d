"""Promises kept exactly, on generated, worst-case and long series; broken variants caught with their known ratios."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from dpcore.thresholding import AboveThreshold, NumericSparse, Sparse, broken_catalog
from tests.audit.selection_exact import Finding
from tests.audit.thresholding_exact import findings

# Log-likelihoods are accurate to 1e-9, so a loss that exceeds ε by rounding alone stays below this.
SLACK = 1e-7
VARIANTS = list(itertools.product(("laplace", "exponential"), (False, True), (None, 0.15)))
variants = pytest.mark.parametrize(("noise", "monotonic", "share"), VARIANTS)


@pytest.fixture(scope="module")
def lines() -> list[Finding]:
    return findings(epsilon=0.7, sensitivity=2.0)


@pytest.mark.thorough
def test_promises_hold_and_broken_ones_are_found(lines: list[Finding]) -> None:
    assert [line for line in lines if not line.passed] == []


@pytest.mark.thorough
def test_the_search_uses_up_every_promise(lines: list[Finding]) -> None:
    """It finds neighbours for which the loss is all of ε, so no loss of 1 % more could hide from it."""
    for line in lines:
        if not line.broken:
            assert line.found > 0.99 * line.promised, line


def moves(k: int, monotonic: bool, rng: np.random.Generator) -> list[np.ndarray]:
    """What one person can do to a long series: everything, halves, waves and chance."""
    wave = np.where(np.arange(k) % 2 == 0, 1.0, -1.0)
    halves = np.where(np.arange(k) < k - 5, 1.0, -1.0)
    found = [np.ones(k), halves, -halves, wave, rng.uniform(-1, 1, k), rng.choice([-1.0, 0.0, 1.0], k)]
    if monotonic:
        found = [np.maximum(move, 0.0) for move in found]
        found += [-move for move in found]
    return found


@variants
def test_long_streams(noise: str, monotonic: bool, share: float | None) -> None:
    """5,000 queries: no stopping place, however late, changes its chance by more than e^ε.

    Laws hold to 1e-7 relative for chances above 1e-12, so those are compared, on a quiet series, one that creeps up
    to the line, one at random and one that is all at the line.
    """
    epsilon, k, rng = 0.8, 5000, np.random.default_rng(12)
    mechanism = AboveThreshold(epsilon=epsilon, noise=noise, monotonic=monotonic, threshold_share=share)
    worst = 0.0
    for series in (np.full(k, -60.0), np.linspace(-80, 0, k), rng.normal(-50, 10, k), np.zeros(k)):
        here = mechanism.stop_law(series, 0.0)
        for move in moves(k, monotonic, rng):
            there = mechanism.stop_law(series + move, 0.0)
            seen = (here > 1e-12) & (there > 1e-12)
            assert seen.any()
            worst = max(worst, float(np.abs(np.log(here[seen] / there[seen])).max()))
    assert worst <= epsilon + 1e-6
    assert worst > 0.6 * epsilon  # the streams are adversarial enough to mean something


@pytest.mark.parametrize("noise", ["laplace", "exponential"])
@pytest.mark.parametrize("monotonic", [False, True])
def test_several_alarms_in_long_streams(noise: str, monotonic: bool) -> None:
    """Five alarms among 5,000 queries, exact joint outcomes: early, late, together, apart, too few."""
    epsilon, k, rng = 1.0, 5000, np.random.default_rng(5)
    mechanism = Sparse(epsilon=epsilon, limit=5, noise=noise, monotonic=monotonic)
    outcomes = [[], [4999], [0, 1, 2, 3, 4], [4995, 4996, 4997, 4998, 4999], [10, 500, 900, 3000, 4999]]
    for series in (np.zeros(k), np.where(np.arange(k) % 100 == 0, 3.0, -40.0)):
        for move in moves(k, monotonic, rng)[:4]:
            moved = series + np.round(move)
            for alarms in outcomes:
                loss = mechanism.log_probability(series, 0.0, alarms) - mechanism.log_probability(moved, 0.0, alarms)
                assert abs(loss) <= epsilon + SLACK


@pytest.mark.parametrize("monotonic", [False, True])
def test_published_values_are_paid_for(monotonic: bool) -> None:
    """Joint density of alarms and values: at most ε apart, and all of it can be used up."""
    epsilon, rng = 1.0, np.random.default_rng(2)
    mechanism = NumericSparse(epsilon=epsilon, limit=2, monotonic=monotonic)
    quiet = 80
    raised = np.repeat([False, True], [quiet, 2])
    move = np.where(raised, 0.0 if monotonic else -1.0, 1.0)
    worst = 0.0
    for series, step in ((np.zeros(82), move), (rng.normal(size=82), move), (np.zeros(82), -np.abs(move))):
        for values in ([9.0, 9.0], [-9.0, -9.0], [0.3, 1.0]):
            here = mechanism.log_density(series, 0.0, [quiet, quiet + 1], values)
            there = mechanism.log_density(series + step, 0.0, [quiet, quiet + 1], values)
            worst = max(worst, abs(here - there))
    assert worst <= epsilon + SLACK
    if not monotonic:
        assert worst > 0.999 * epsilon


KNOWN = [
    # name, ε, size, realised log-ratio
    ("no_cutoff", 1.0, 16, 15.1),  # 16 alarms, 16 silences
    ("no_cutoff", 2.0, 8, 15.1),  # 16 queries in all
    ("no_query_noise", 1.0, 1, math.inf),
    ("scale_without_limit", 1.0, 2, 1.5),
    ("scale_without_limit", 1.0, 3, 2.0),
    ("lee_clifton", 1.0, 1, 7 / 4),
    ("lee_clifton", 1.0, 3, 19 / 4),
    ("value_reused", 1.0, 16, 7.5),
    ("half_the_noise", 1.0, 60, 1.5),
]


@pytest.mark.parametrize(("name", "epsilon", "size", "ratio"), KNOWN)
def test_broken_variants_show_their_known_ratio(name: str, epsilon: float, size: int, ratio: float) -> None:
    verdict = broken_catalog()[name].verdict(epsilon, size)
    assert verdict.realised == pytest.approx(ratio, abs=0.05)
    assert verdict.realised > verdict.claimed
    # the right mechanism keeps the promise on the very same pair and outcome
    assert abs(verdict.right) <= epsilon + SLACK
    assert verdict.right_odds <= verdict.promised_odds + 1e-9 < verdict.odds


@pytest.mark.parametrize("name", list(broken_catalog()))
def test_no_broken_variant_is_worse_than_its_stated_truth(name: str) -> None:
    """``truth`` is a guarantee that does hold, and for several variants the worst case reaches it."""
    variant = broken_catalog()[name]
    for epsilon, size in itertools.product((0.3, 1.0), (1, 2, 5, 40)):
        assert variant.verdict(epsilon, size).realised <= variant.truth(size) * epsilon + SLACK
    if name in {"scale_without_limit", "lee_clifton", "half_the_noise"}:
        assert variant.verdict(1.0, 40).realised == pytest.approx(variant.truth(40), rel=1e-3)


def test_worst_cases_are_neighbours() -> None:
    for variant in broken_catalog().values():
        case = variant.worst_case(3)
        assert np.abs(case.answers - case.neighbour).max() <= 1.0
        assert variant.label[0].isupper()
        assert variant.fault.endswith(".")
