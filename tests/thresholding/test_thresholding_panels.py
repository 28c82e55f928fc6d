"""The law over whole numbers is summed in panels: as exact as number by number, however wide the noise is."""

from __future__ import annotations

import numpy as np
import pytest

from dpcore.thresholding.discrete import _edges, _integer_nodes, _summing_rule, discrete_alarm_law
from dpcore.thresholding.kernel.run import walk
from dpcore.thresholding.laws import REACH
from dpcore.thresholding.noise import NoisePair


def one_by_one(pair: NoisePair, answers: np.ndarray, line: int, limit: int) -> np.ndarray:
    """Where each alarm falls, from a sum over every whole number."""
    t, weight = _integer_nodes(pair, REACH)
    alarm, left = np.zeros((limit, answers.size)), np.zeros(limit)
    columns = np.arange(answers.size)
    series = answers.astype(np.float64)
    walk(t, weight, series, 1.0, float(line), pair.query_scale, *_edges(pair), answers.size, columns, alarm, left)
    return np.column_stack([alarm, np.cumsum(left)])


@pytest.mark.parametrize("one_sided", [True, False])
@pytest.mark.parametrize("scale", [0.05, 0.7, 3.0, 40.0, 700.0])
def test_panels_are_as_exact_as_every_number(one_sided: bool, scale: float) -> None:
    rng = np.random.default_rng(5)
    worst = 0.0
    for k, limit, ratio in ((1, 1, 0.4), (9, 3, 1.0), (200, 1, 2.2), (700, 2, 5.0)):
        pair = NoisePair(threshold_scale=scale, query_scale=ratio * scale, one_sided=one_sided)
        answers = rng.poisson(30.0 * max(1.0, scale), k)
        for line in (int(answers.max()), int(np.median(answers)) + 1, int(answers.max() + 60 * scale)):
            found = discrete_alarm_law(pair, answers, line, limit).position
            assert np.abs(found - one_by_one(pair, answers, line, limit)).max() < 1e-12
            assert found[-1].sum() == pytest.approx(1.0, abs=1e-12)
            worst = max(worst, np.abs(found - discrete_alarm_law(pair, answers, line + 1, limit).position).max())
    assert worst > 1e-5, "what shows that it can fail: one unit of the line"


def test_noise_of_any_width_has_a_law() -> None:
    for scale in (1e6, 1e12, 1e22):
        for one_sided in (True, False):
            pair = NoisePair(threshold_scale=scale, query_scale=2 * scale, one_sided=one_sided)
            law = discrete_alarm_law(pair, np.array([3, 7, 10**12]), 5).position[0]
            assert law.sum() == pytest.approx(1.0, abs=1e-9)
            assert (law >= 0.0).all()


@pytest.mark.parametrize("size", [1, 16, 17, 1000, 12_345])
def test_the_rule_sums_polynomials(size: int) -> None:
    nodes, weights = _summing_rule(float(size))
    assert (nodes >= 0).all()
    assert (nodes <= size - 1).all()
    middle = max(size - 1, 1) / 2
    for power in (0, 1, 2, 9, 20):
        exact = ((np.arange(size) / middle - 0.5) ** power).sum()
        assert weights @ (nodes / middle - 0.5) ** power == pytest.approx(exact, rel=1e-10, abs=1e-9 * size)
