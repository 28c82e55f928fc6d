"""The laws against independent computations: golden values, closed forms, exact fractions, plain quadrature."""

from __future__ import annotations

import itertools
import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import quad

from dpcore.errors import InvalidArgument
from dpcore.selection import (
    Exponential,
    NaiveLaplace,
    NoisyMaxLaplace,
    PermuteAndFlip,
    catalog,
    expected_loss,
    laws,
    summaries,
    times_in_hundred,
)
from dpcore.selection.race import Race
from dpcore.selection.softmax import Softmax

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "laws.json").read_text(encoding="utf-8"))["selection"]
CENSUS = [14976, 10683, 4443, 1025, 993, 418, 23]


@pytest.mark.parametrize("case", GOLDEN, ids=lambda case: f"k={len(case['scores'])}, ε={case['epsilon']}")
def test_golden_laws(case: dict) -> None:
    """To 1e-7 relative wherever the probability is above 1e-12, as the golden file says."""
    for key, kind in catalog().items():
        if key not in case:
            continue
        law = kind(epsilon=case["epsilon"], sensitivity=case["sensitivity"], monotonic=case["monotonic"]).probabilities(
            case["scores"]
        )
        golden = np.array(case[key])
        held = golden > 1e-12
        assert np.abs(law[held] / golden[held] - 1).max() < 1e-7


@pytest.mark.parametrize("k", [2, 3, 10, 1000, 100_000])
@pytest.mark.parametrize("depth", [0.1, 1.0, 8.0, 30.0])
def test_two_levels_in_closed_form(k: int, depth: float) -> None:
    """One ahead of k − 1 by ``depth`` units of noise: PF (1 − (1 − p)^k)/(kp), EM 1/(1 + (k − 1)p)."""
    scores = np.r_[depth, np.zeros(k - 1)]
    p = np.exp(-depth)
    flip = PermuteAndFlip(epsilon=1.0, monotonic=True).probabilities(scores)[0]
    assert flip == pytest.approx(-np.expm1(k * np.log1p(-p)) / (k * p), rel=1e-12)
    assert Exponential(epsilon=1.0, monotonic=True).probabilities(scores)[0] == pytest.approx(1 / (1 + (k - 1) * p))


def flip_exactly(chances: list[Fraction]) -> list[Fraction]:
    """P(r) = p_r ∫ ∏ (1 − p_s t) dt, in rational arithmetic."""
    law = []
    for r, own in enumerate(chances):
        polynomial = [Fraction(1)]
        for s, other in enumerate(chances):
            if s != r:
                longer = [*polynomial, Fraction(0)]
                for i, coefficient in enumerate(polynomial):
                    longer[i + 1] -= other * coefficient
                polynomial = longer
        law.append(own * sum((c / (i + 1) for i, c in enumerate(polynomial)), Fraction(0)))
    return law


@pytest.mark.thorough
def test_permute_and_flip_in_exact_fractions() -> None:
    rng = np.random.default_rng(2)
    for k in (1, 2, 5, 17, 60):
        depths = np.r_[0.0, rng.exponential(4.0, size=k - 1)]
        exact = np.array([float(p) for p in flip_exactly([Fraction(float(p)) for p in np.exp(-depths)])])
        law = PermuteAndFlip(epsilon=1.0, monotonic=True).probabilities(-depths)
        assert np.abs(law / exact - 1).max() < 1e-12


def test_permute_and_flip_is_permuting_and_flipping() -> None:
    """Its own algorithm, averaged over all orders of four candidates: exact, with no integral in it."""
    from itertools import permutations

    accept = np.exp(-np.array([0.0, 0.4, 1.3, 2.0]))
    law = np.zeros(4)
    for order in permutations(range(4)):
        left = 1.0
        for candidate in order:
            law[candidate] += left * accept[candidate] / 24
            left *= 1 - accept[candidate]
    assert np.allclose(PermuteAndFlip(epsilon=2.0).probabilities(np.log(accept)), law, rtol=1e-13)


def test_noisy_max_of_two_in_closed_form() -> None:
    """The difference of two Laplace variables at depth x: P = (2 + x)e^−x/4, down to where doubles end."""
    for depth in (0.0, 1e-9, 0.5, 3.0, 20.0, 41.5, 100.0, 600.0):
        law = NoisyMaxLaplace(epsilon=1.0, monotonic=True).probabilities([depth, 0.0])
        assert law[1] == pytest.approx((2 + depth) * np.exp(-depth) / 4, rel=1e-12)


def test_noisy_max_by_plain_quadrature() -> None:
    rng = np.random.default_rng(4)
    for depths in (
        [0.0, 0.3, 1.0, 1.0, 4.0],
        [0.0, 12.0, 12.5, 30.0],
        list(np.r_[0.0, rng.exponential(3.0, size=40)]),
        [0.0, *([6.0] * 30)],
    ):
        law = NoisyMaxLaplace(epsilon=2.0).probabilities(-np.array(depths))
        xs = np.array(depths)

        def below(z: float, xs: np.ndarray = xs) -> np.ndarray:
            away = z + xs
            return np.where(away < 0, np.exp(np.minimum(away, 0)) / 2, 1 - np.exp(-np.maximum(away, 0)) / 2)

        kinks = np.unique(np.r_[-60.0, -xs, np.linspace(0, 50, 26)])
        for r in {0, len(depths) - 1}:

            def density(z: float, r: int = r, xs: np.ndarray = xs) -> float:
                others = below(z)
                return float(np.exp(-abs(z + xs[r])) / 2 * np.prod(np.delete(others, r)))

            total = sum(quad(density, a, b, epsabs=1e-14)[0] for a, b in itertools.pairwise(kinks))
            assert law[r] == pytest.approx(total, rel=1e-7, abs=1e-12)


@pytest.mark.parametrize("two_sided", [False, True])
def test_short_and_long_forms_agree(two_sided: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Factors multiplied out one by one, against power sums for the many small ones."""
    rng = np.random.default_rng(8)
    race = Race(two_sided=two_sided)
    for depths, counts in (
        (np.sort(np.r_[0, rng.exponential(5.0, size=39)]), np.ones(40)),
        (np.array([0.0, 0.1, 7.0]), np.array([1.0, 3.0, 1e5])),
        (np.arange(30.0), 2.0 ** np.arange(30)),
        (np.array([0.0, 27.0]), np.array([1.0, 2.0**40])),
        (np.array([0.0, 50.0, 90.0, 300.0]), np.array([1.0, 1.0, 1.0, 1.0])),
    ):
        rows = np.outer([0.01, 0.3, 1.0, 2.0], depths)
        short = race.rows(rows, counts)
        with monkeypatch.context() as patch:
            patch.setattr("dpcore.selection.race._DIRECT", 0)
            long = race.rows(rows, counts)
            success, loss = race.summary(depths, counts, np.array([0.01, 0.3, 1.0, 2.0]))
        assert np.abs(long / short - 1).max() < 1e-11
        assert np.abs(short.sum(axis=1) - 1).max() < 1e-12
        assert success == pytest.approx(short[:, 0], rel=1e-11)
        assert loss == pytest.approx(short @ depths, rel=1e-11)


def test_rows_may_come_in_any_order() -> None:
    """Sampled scores change places: each row of depths has its own order, and each answer stays in its column."""
    rng = np.random.default_rng(9)
    depths = rng.exponential(3.0, size=(50, 7))
    depths -= depths.min(axis=1, keepdims=True)
    for law in (Softmax(), Race(two_sided=False), Race(two_sided=True)):
        together = law.rows(depths, np.ones(7))
        for i, row in enumerate(depths):
            order = np.argsort(row)
            alone = law.rows(row[order][None, :], np.ones(7))[0]
            assert np.allclose(together[i][order], alone, rtol=1e-12)


def test_extremes_stay_numbers() -> None:
    """No overflow at scores of a million times any ε, no NaN from underflow, the sum stays 1."""
    for kind in catalog().values():
        for scores in ([1e6, 0.0, -1e6, 3e5], [1e308, -1e308], [1e15, 1e15 + 1], [0.0] * 1000, [5e-324, 0.0], [7.0]):
            for epsilon in (1e-300, 1e-9, 1.0, 1e9, 1e300):
                for sensitivity in (1e-300, 1.0, 1e300):
                    law = kind(epsilon=epsilon, sensitivity=sensitivity).probabilities(scores)
                    assert np.isfinite(law).all()
                    assert abs(law.sum() - 1) < 1e-12
                    short = summaries(kind, scores, [epsilon], sensitivity=sensitivity)
                    assert short.success[0] == pytest.approx(law[np.array(scores) == max(scores)].sum(), rel=1e-11)
                    assert np.isfinite(short.expected_loss[0])


def test_ties_share_and_any_of_them_is_right() -> None:
    for kind in catalog().values():
        mechanism = kind(epsilon=1.0)
        assert np.allclose(mechanism.probabilities([2.0, 2.0, 2.0, 2.0]), 0.25, rtol=1e-12)
        assert summaries(kind, [2.0, 2.0], [1.0]).success[0] == pytest.approx(1.0, rel=1e-12)
        assert expected_loss(mechanism, [2.0, 2.0]) == 0.0


def test_permute_and_flip_never_loses_to_the_exponential_mechanism() -> None:
    """McKenna & Sheldon: never more loss, and up to twice less."""
    rng = np.random.default_rng(10)
    levels = np.geomspace(1e-2, 1e2, 80)
    best = 0.0
    for scores in [rng.normal(size=k) * scale for k in (2, 5, 30, 200) for scale in (1.0, 20.0)] + [[9.0, 0.0]]:
        flip = summaries(PermuteAndFlip, scores, levels).expected_loss
        softmax = summaries(Exponential, scores, levels).expected_loss
        assert (flip <= softmax * (1 + 1e-12)).all()
        best = max(best, float((softmax / flip).max()))
    assert 1.9 < best <= 2 + 1e-9


def test_census_counts_are_answered_free_of_charge() -> None:
    """With 32,561 people the most common marital status is right 99 times in 100 at ε = 0.001."""
    law = PermuteAndFlip(epsilon=0.001, monotonic=True).probabilities(CENSUS)
    assert law[0] == pytest.approx(0.993153617660961, rel=1e-9)


def test_the_textbook_scale_of_noisy_max_breaks_general_scores_from_three_candidates() -> None:
    """Scale Δ/ε on scores that move both ways: the realised log-ratio reaches 2ε (mechanisms.md §0.9)."""
    halved = NoisyMaxLaplace(epsilon=1.0, monotonic=True)
    before = halved.probabilities([40.0, 40.0, 0.0])
    after = halved.probabilities([39.0, 39.0, 1.0])
    assert np.log(after[2] / before[2]) == pytest.approx(2.0, abs=1e-3)


def test_naive_noise_costs_a_factor_of_k() -> None:
    """Noise on every score at the same ε is noisy max at ε/k, and only for two general scores the same thing."""
    scores = [9.0, 7.0, 4.0, 4.0]
    naive = NaiveLaplace(epsilon=1.0).probabilities(scores)
    assert np.array_equal(naive, NoisyMaxLaplace(epsilon=0.25, monotonic=True).probabilities(scores))
    assert np.array_equal(naive, NaiveLaplace(epsilon=1.0, monotonic=True).probabilities(scores))


def test_utility_bounds_are_the_published_ones() -> None:
    assert Exponential(epsilon=0.5, sensitivity=2.0).utility_bound(100, 0.05) == pytest.approx(8 * np.log(2000))
    assert Exponential(epsilon=0.5, monotonic=True).utility_bound(100, 0.05) == pytest.approx(2 * np.log(2000))


def test_times_in_hundred_add_up() -> None:
    assert times_in_hundred([1 / 3, 1 / 3, 1 / 3]).tolist() == [34, 33, 33]
    assert times_in_hundred([0.994, 0.006]).tolist() == [99, 1]
    rng = np.random.default_rng(0)
    for _ in range(100):
        law = rng.dirichlet(np.full(7, 0.3))
        times = times_in_hundred(law)
        assert times.sum() == 100
        assert np.abs(times - 100 * law).max() < 1
    with pytest.raises(InvalidArgument, match=r"^law "):
        times_in_hundred([0.9, -0.1])
    with pytest.raises(InvalidArgument, match=r"^law "):
        times_in_hundred([0.9, 0.9])


def test_a_hundred_thousand_candidates() -> None:
    scores = np.random.default_rng(3).normal(size=100_000) * 30
    for key in ("exponential", "permute_and_flip", "noisy_max_laplace"):
        table = laws(key, scores, [0.05, 1.0])
        short = summaries(key, scores, [0.05, 1.0])
        assert np.abs(table.sum(axis=1) - 1).max() < 1e-12
        assert short.success == pytest.approx(table[:, scores.argmax()], rel=1e-10)
        assert short.expected_loss == pytest.approx(table @ (scores.max() - scores), rel=1e-10)
