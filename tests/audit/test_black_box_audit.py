"""The black-box audit: its statistics hold and have power; every kind of release has a case; a short run of all."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpcore.audit.bounds import ALPHA, epsilon_bound, scale_bound
from dpcore.audit.cases import CASES
from dpcore.audit.trials import (
    AUDITED,
    TRIALS,
    audit_floats,
    audit_model,
    audit_steps,
    bound,
    caught,
    last_bit,
    less_noise,
)
from dpcore.in_units import binary_unit
from dpcore.releases import catalog, draws


def test_every_kind_of_release_is_audited() -> None:
    assert set(catalog()) == AUDITED
    assert len(TRIALS) == len(CASES) + 4


def response(epsilon: float, size: int, rng: np.random.Generator) -> tuple[list[bool], list[bool]]:
    """Randomised response from both sides: the easiest release to tell apart, exactly ε-DP."""
    p = 1 / (1 + math.exp(-epsilon))
    return (rng.random(size) < p).tolist(), (rng.random(size) < 1 - p).tolist()


def test_the_bound_is_seldom_above_the_truth_and_often_near_it() -> None:
    """400 audits of a release that uses up its ε: none may exceed it (chance of any: below 400 × ALPHA, in fact far
    less, since both chances would have to be off at once), and the bound is within 0.4 of it."""
    rng = np.random.default_rng(1)
    bounds = [epsilon_bound(*response(2.0, 4000, rng)) for _ in range(400)]
    assert sum(found > 2.0 for found in bounds) <= max(1, 3 * 400 * ALPHA)
    assert np.median(bounds) > 1.6


def test_a_fifth_less_noise_is_seen() -> None:
    rng = np.random.default_rng(2)
    assert all(epsilon_bound(*response(2.5, 8000, rng)) > 2.0 for _ in range(50))


def test_delta_is_taken_off() -> None:
    revealing = [1, *[0] * 99] * 100
    hidden = [0] * 10_000
    assert epsilon_bound(revealing, hidden) > 1.0
    assert epsilon_bound(revealing, hidden, delta=0.02) == 0.0


def test_scale_bound_sees_a_fifth_less_and_accepts_the_claim() -> None:
    """600 draws, 300 times; ALPHA is the chance of a false alarm, and the twin is 4.9 standard errors away."""
    rng = np.random.default_rng(3)
    assert sum(scale_bound(rng.normal(0, 2.0, 600).tolist(), 2.0) < 1.0 for _ in range(300)) <= 3
    assert sum(scale_bound(rng.normal(0, 1.6, 600).tolist(), 2.0) < 1.0 for _ in range(300)) >= 299


@pytest.mark.thorough
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_short_audit_of_each_release(case) -> None:
    """Fewer answers than ``epsilon-lab audit``; the claim must stand, and with half the noise not."""
    assert bound(case, case.quick // 2) <= case.request.cost.epsilon
    with less_noise(min(case.less, 0.5)):
        assert caught(case, 2 * case.quick)


def test_an_honest_release_is_not_caught() -> None:
    """The search for twins has no verdict of its own: what keeps its promise stays under it at every look."""
    assert not caught(CASES[0], CASES[0].quick)


def test_noise_of_models_and_last_bits() -> None:
    for finding in (audit_model(), audit_steps(), audit_floats()):
        assert finding.good, finding
        assert finding.caught, finding


def test_last_bits() -> None:
    assert [last_bit(value) for value in (1.0, 3.0, 0.5, 0.75, -6.0, 0.0, 2.0**-1060)] == [0, 0, -1, -2, 1, 0, -1060]
    unit = binary_unit(1e-3)
    numbers = draws.from_units(draws.laplace([0] * 500, sensitivity=1, epsilon=0.01), unit).tolist()
    assert all(number == 0.0 or last_bit(number) >= math.log2(unit) for number in numbers)
