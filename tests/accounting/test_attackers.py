"""The best attacker's curves: as much as the laws of this program's own answers tell, and nobody gets below."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial, reduce

import numpy as np
import pytest
from scipy.special import ndtr, ndtri

from dpcore.calibration import gaussian_noise_multiplier
from dpcore.datasets import Column, Declaration
from dpcore.errors import InvalidArgument
from dpcore.guarantee import Evidence, gaussian_counts, guess_chance, misses, randomised_responses, widening
from dpcore.releases.count import NoisyCount
from dpcore.validate import FloatArray
from tests.accounting.test_guarantee_and_plans import RATES, attackers_curve
from tests.release.test_gaussian_confusion import asked as count_of_hits

DECLARED = Declaration(columns=(Column(name="c", type="category", categories=("a", "b")),))
DELTA = 1e-6
LEVELS = (0.5, 1.0, 3.0, 10.0)
NOISES = ("laplace", "gaussian")
Laws = tuple[FloatArray, FloatArray]


def laws(noise: str, epsilon: float) -> Laws:
    """Of one real answer about a table without, and with, one more row: as the request itself says them."""
    if noise == "laplace":
        request = NoisyCount.of(DECLARED, epsilon=epsilon)
        rows = 4 + int(40 / epsilon)
        return request.law_of(rows, 2 * rows), request.law_of(rows + 1, 2 * rows)
    scale = count_of_hits(epsilon=epsilon, delta=DELTA).scale
    x = np.arange(-int(9 * scale) - 9, int(9 * scale) + 10)
    without, within = (np.exp(-((x - rows) ** 2) / (2 * scale**2)) for rows in (0, 1))
    return without / without.sum(), within / within.sum()


def evidence(noise: str, epsilon: float) -> Callable[[int], Evidence]:
    return partial(randomised_responses if noise == "laplace" else partial(gaussian_counts, delta=DELTA), epsilon)


def told(noise: str, epsilon: float, count: int) -> tuple[FloatArray, float]:
    found = widening(lambda many: evidence(noise, epsilon)(count=many), [count], RATES)
    return found.misses[0], found.best_attack[0]


def found_by_trying(noise: str, epsilon: float, count: int) -> tuple[FloatArray, float]:
    """The best test of ``count`` real answers, each outcome by itself."""
    without, within = (reduce(np.multiply.outer, [law] * count).ravel() for law in laws(noise, epsilon))
    kept = (without > 1e-280) & (within > 1e-280)
    return attackers_curve(within[kept], without[kept]), 0.5 + float(np.abs(within - without).sum()) / 4


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize(("epsilon", "count"), [*((epsilon, 1) for epsilon in LEVELS), (3.0, 3), (10.0, 3)])
def test_they_are_those_of_real_answers(noise: str, epsilon: float, count: int) -> None:
    curve, best = told(noise, epsilon, count)
    tried, most = found_by_trying(noise, epsilon, count)
    assert curve == pytest.approx(tried, abs=1e-9)
    assert best == pytest.approx(most, abs=1e-9)


def on_real_numbers(noise: str, epsilon: float) -> FloatArray:
    """The misses under noise that is not in whole rows, of the same ε."""
    if noise == "gaussian":
        curve: FloatArray = ndtr(ndtri(1.0 - RATES) - 1 / gaussian_noise_multiplier(epsilon, DELTA))
        return curve
    middle = math.exp(-epsilon) / (4 * np.maximum(RATES, 1e-300))
    steep, flat = 1.0 - math.exp(epsilon) * RATES, math.exp(-epsilon) * (1.0 - RATES)
    return np.where(math.exp(-epsilon) / 2 > RATES, steep, np.where(RATES <= 0.5, middle, flat))


@pytest.mark.parametrize(("noise", "epsilon"), [*(("laplace", one) for one in LEVELS[:3]), ("gaussian", 10.0)])
def test_these_tests_can_fail(noise: str, epsilon: float) -> None:
    """With the curve of noise on real numbers, below which an attacker gets."""
    tried, _ = found_by_trying(noise, epsilon, 1)
    assert (on_real_numbers(noise, epsilon) > tried + 0.01).any()


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("epsilon", [0.01, 0.5, 10.0, 20.0])
def test_each_keeps_its_promise_and_gains_with_every_answer(noise: str, epsilon: float) -> None:
    edge = misses(RATES, epsilon=epsilon, delta=0.0 if noise == "laplace" else DELTA)
    found = widening(lambda many: evidence(noise, epsilon)(count=many), (1, 3, 10, 30), RATES)
    assert (found.misses[0] >= edge - 1e-9).all()
    if noise == "laplace":
        assert found.misses[0] == pytest.approx(edge, abs=1e-9), "the worst case of its ε"
        assert found.best_attack[0] == pytest.approx(guess_chance(epsilon), abs=1e-12)
    assert (np.diff(found.misses, axis=0) <= 1e-9).all()
    assert (np.diff(found.best_attack) >= -1e-9).all()
    assert found.best_attack[-1] <= 1.0, "nobody is right more often than always"


def test_what_cannot_be_asked() -> None:
    for releases, rates, name in (((), RATES, "releases"), ((0,), RATES, "releases"), ((1,), [2.0], "false_alarms")):
        with pytest.raises(InvalidArgument, match=name):
            widening(lambda count: randomised_responses(1.0, count), releases, rates)
    for name in ("epsilon", "delta", "count"):
        with pytest.raises(InvalidArgument, match=name):
            gaussian_counts(**({"epsilon": 1.0, "delta": DELTA, "count": 1} | {name: 0}))  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match="epsilon"):
        randomised_responses(-1.0)
    with pytest.raises(InvalidArgument, match="false_alarms"):
        misses([1.5], epsilon=1.0)
