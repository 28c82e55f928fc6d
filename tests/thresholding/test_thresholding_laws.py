"""The exact laws: against golden values, independent integration, enumeration, closed forms and each other."""

from __future__ import annotations

import itertools
import json
import math
from pathlib import Path

import numpy as np
import pytest
from scipy import integrate

from dpcore.thresholding import AboveThreshold, NumericSparse, Sparse, best_share, stop_laws
from dpcore.thresholding.laws import run_laws
from dpcore.thresholding.noise import NoisePair

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "laws.json").read_text())["thresholding"]
NOISES = ("laplace", "exponential")
both_noises = pytest.mark.parametrize("noise", NOISES)


@pytest.mark.parametrize("case", GOLDEN, ids=lambda case: f"{case['noise']}-{len(case['answers'])}")
def test_golden_laws(case: dict) -> None:
    """Within 1e-7 relative wherever the probability is above 1e-12, as the file asks."""
    mechanism = AboveThreshold(epsilon=case["epsilon"], noise=case["noise"], threshold_share=case["threshold_share"])
    assert mechanism.scales.threshold_scale == pytest.approx(case["threshold_scale"], rel=1e-12)
    assert mechanism.scales.query_scale == pytest.approx(case["query_scale"], rel=1e-12)
    law = mechanism.stop_law(case["answers"], case["threshold"])
    expected = np.array([*case["stop"], case["never"]])
    seen = expected > 1e-12
    assert np.abs(law / expected - 1)[seen].max() < 1e-7
    assert np.abs(law - expected).max() < 1e-12


def density(pair: NoisePair, t: float) -> float:
    if pair.one_sided:
        return math.exp(-t / pair.threshold_scale) / pair.threshold_scale if t >= 0 else 0.0
    return math.exp(-abs(t) / pair.threshold_scale) / (2 * pair.threshold_scale)


def silence(pair: NoisePair, x: float) -> float:
    """P(ν < x), written out independently."""
    if pair.one_sided:
        return -math.expm1(-x / pair.query_scale) if x > 0 else 0.0
    if x < 0:
        return 0.5 * math.exp(x / pair.query_scale)
    return 1 - 0.5 * math.exp(-x / pair.query_scale)


@both_noises
@pytest.mark.parametrize("share", [0.02, 0.3, 0.5, 0.97])
def test_laws_agree_with_adaptive_integration(noise: str, share: float) -> None:
    """SciPy's adaptive quadrature, split at every kink, agrees to its own 1e-10."""
    answers, threshold = [-2.0, 1.5, 0.0, 6.0, 3.0], 2.5
    mechanism = AboveThreshold(epsilon=0.8, noise=noise, threshold_share=share, offset=0.25)
    pair, line = mechanism.scales, threshold + 0.25
    law = mechanism.stop_law(answers, threshold)
    reach = 45 * pair.threshold_scale
    edges = sorted({0.0 if pair.one_sided else -reach, 0.0, reach, *(a - line for a in answers if a > line)})
    edges = sorted({*edges, *(a - line for a in answers if not pair.one_sided)})
    for place in range(len(answers) + 1):

        def chance(t: float, place: int = place) -> float:
            kept = math.prod(silence(pair, line + t - a) for a in answers[:place])
            last = 1 - silence(pair, line + t - answers[place]) if place < len(answers) else 1.0
            return density(pair, t) * kept * last

        value = sum(
            integrate.quad(chance, a, b, epsabs=1e-13, epsrel=1e-11, limit=400)[0] for a, b in itertools.pairwise(edges)
        )
        assert law[place] == pytest.approx(value, abs=1e-10)


@both_noises
@pytest.mark.parametrize("epsilon", [1e-6, 0.01, 1.0, 30.0, 1e9])
def test_laws_add_up_and_ignore_units(noise: str, epsilon: float) -> None:
    """Any ε, one query and many; multiplying answers, threshold, offset and sensitivity by 7 changes nothing."""
    for answers in ([0.0], [3.0, -1.0, 3.0, 1e14, 2.0], list(np.random.default_rng(3).normal(size=400) * 9)):
        law = AboveThreshold(epsilon=epsilon, noise=noise, offset=1.0).stop_law(answers, 2.0)
        assert law.shape == (len(answers) + 1,)
        assert (law >= 0).all()
        assert abs(law.sum() - 1) < 1e-10
        scaled = AboveThreshold(epsilon=epsilon, noise=noise, offset=7.0, sensitivity=7.0)
        assert np.allclose(scaled.stop_law(np.array(answers) * 7, 14.0), law, rtol=1e-6, atol=1e-13)


@both_noises
@pytest.mark.parametrize("limit", [1, 2, 4])
def test_several_alarms_against_every_outcome(noise: str, limit: int) -> None:
    """The law of each alarm's place is the sum over all outcomes of their likelihoods, computed another way."""
    answers = np.array([0.0, 2.5, -1.0, 4.0, 4.0, 1.0, 2.0])
    mechanism = Sparse(epsilon=3.0, limit=limit, noise=noise)
    law = mechanism.alarm_law(answers, 2.0)
    position = np.zeros((limit, answers.size + 1))
    for alarms in range(limit + 1):
        for places in itertools.combinations(range(answers.size), alarms):
            chance = math.exp(mechanism.log_probability(answers, 2.0, places))
            for j in range(limit):
                position[j, places[j] if j < alarms else answers.size] += chance
    assert np.abs(law.position - position).max() < 1e-11
    assert law.count.shape == (limit + 1,)
    assert law.count.sum() == pytest.approx(1, abs=1e-12)
    # the mean number of alarms, counted over queries and over the law of their number
    assert law.per_query.sum() == pytest.approx(law.count @ np.arange(limit + 1), abs=1e-10)


@both_noises
def test_one_alarm_is_the_same_everywhere(noise: str) -> None:
    """AboveThreshold, Sparse with one alarm and the alarms of NumericSparse are one mechanism."""
    answers = np.random.default_rng(8).normal(size=50) * 4
    one = AboveThreshold(epsilon=1.0, noise=noise, threshold_share="best")
    sparse = Sparse(epsilon=1.0, limit=1, noise=noise)
    numeric = NumericSparse(epsilon=1.5, limit=1, noise=noise)
    assert np.array_equal(one.stop_law(answers, 6.0), sparse.stop_law(answers, 6.0))
    assert np.allclose(numeric.stop_law(answers, 6.0), sparse.stop_law(answers, 6.0), rtol=1e-9)
    for place in (0, 17, None):
        assert one.log_probability(answers, 6.0, place) == pytest.approx(
            sparse.log_probability(answers, 6.0, [] if place is None else [place])
        )


def test_scales_are_those_of_the_literature() -> None:
    assert AboveThreshold(epsilon=0.5, sensitivity=3.0).scales == NoisePair(
        threshold_scale=12.0, query_scale=24.0, one_sided=False
    )
    assert best_share(4) == pytest.approx(1 / (1 + 8 ** (2 / 3)))
    assert best_share(8, monotonic=True) == pytest.approx(1 / 5)
    sparse = Sparse(epsilon=1.0, limit=8, monotonic=True)
    assert sparse.scales.threshold_scale == pytest.approx(5.0)
    assert sparse.scales.query_scale == pytest.approx(10.0)


@both_noises
def test_one_query_alone_has_its_closed_form(noise: str) -> None:
    """The stopping law of a single query, the closed form and the error rates agree, for scales far, near and equal."""
    margins = np.array([-30.0, -4.0, -0.5, 0.0, 0.5, 4.0, 30.0])
    for share in (0.05, 1 / 3, 0.33334, 0.5, 0.9):  # at 1/3 both scales are equal
        mechanism = AboveThreshold(epsilon=1.0, noise=noise, threshold_share=share, offset=0.7)
        law = np.array([mechanism.stop_law([margin], 0.0) for margin in margins])
        moved = margins - 0.7
        assert np.allclose(mechanism.scales.alarm_chance(moved), law[:, 0], rtol=1e-8, atol=1e-14)
        assert np.allclose(mechanism.scales.silence_chance(moved), law[:, 1], rtol=1e-8, atol=1e-14)
        wrong = np.where(margins >= 0, law[:, 1], law[:, 0])
        assert np.allclose(mechanism.error_rates(margins), wrong, rtol=1e-8, atol=1e-14)
    assert mechanism.error_rates(margins.reshape(7, 1)).shape == (7, 1)


@both_noises
@pytest.mark.parametrize("limit", [1, 3])
def test_many_levels_at_once(noise: str, limit: int) -> None:
    """The vectorised path agrees with single laws to 1e-6, which it promises, for small and large ε and long series."""
    rng = np.random.default_rng(4)
    answers = np.r_[rng.poisson(12, 600), 70, rng.poisson(60, 40)].astype(float)
    levels = np.geomspace(0.01, 10, 9)
    kind = AboveThreshold if limit == 1 else Sparse
    extra = {} if limit == 1 else {"limit": limit}
    table = stop_laws(kind(epsilon=1.0, noise=noise, **extra), levels, answers, 50.0)
    assert table.shape == (9, answers.size + 1)
    for row, level in zip(table, levels, strict=True):
        single = kind(epsilon=float(level), noise=noise, **extra).stop_law(answers, 50.0)
        assert np.abs(row - single).max() < 1e-6
        assert np.abs(np.cumsum(row) - np.cumsum(single)).max() < 1e-6


@pytest.mark.thorough
def test_columns_and_restart_add_up_the_full_law() -> None:
    """Grouped columns hold sums of the full law; after a restart the next alarm is counted whatever came before."""
    rng = np.random.default_rng(9)
    answers, start, limit = rng.normal(size=20) * 3, 12, 3
    mechanism = Sparse(epsilon=2.0, limit=limit)
    settings = {
        "one_sided": False,
        "threshold": np.array([4.0]),
        "threshold_scale": np.array([mechanism.scales.threshold_scale]),
        "query_scale": np.array([mechanism.scales.query_scale]),
        "limit": limit,
        "fine": True,
    }
    full = mechanism.alarm_law(answers, 4.0)
    column = np.repeat([0, 1, 2], [12, 5, 3])
    grouped = run_laws(answers, column=column, **settings).alarm[0]
    for c in range(3):
        assert np.allclose(grouped[:, c], full.position[:, :-1][:, column == c].sum(axis=1), atol=1e-12)
    restarted = run_laws(answers, column=column, restart=start, **settings)
    first_after = np.zeros(answers.size)
    none_after = 0.0
    for alarms in range(limit + 1):
        for places in itertools.combinations(range(answers.size), alarms):
            if alarms == limit and places[-1] < start:
                continue  # spent before
            later = [place for place in places if place >= start]
            chance = math.exp(mechanism.log_probability(answers, 4.0, places))
            if later:
                first_after[later[0]] += chance
            else:
                none_after += chance
    assert restarted.alarm[0, 0, 1] == pytest.approx(first_after[column == 1].sum(), abs=1e-10)
    assert restarted.alarm[0, 0, 2] == pytest.approx(first_after[column == 2].sum(), abs=1e-10)
    assert restarted.left[0, 0] == pytest.approx(none_after, abs=1e-10)
    assert restarted.alarm[0, 2, 0] == pytest.approx(full.position[2, :start].sum(), abs=1e-10)


def test_a_run_that_is_over_is_not_walked_on() -> None:
    """Behind sixty answers far above the line nothing is computed: the rest of the law is exactly 0, and fast."""
    answers = np.r_[np.full(60, 1e6), np.zeros(10**6)]
    law = AboveThreshold(epsilon=1.0).stop_law(answers, 50.0)
    assert law[0] > 0.99
    assert (law[200:] == 0).all()
