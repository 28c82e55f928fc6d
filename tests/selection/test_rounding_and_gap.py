"""Noisy rounding beside the Laplace mechanism, the free gap after permute-and-flip, and sharing a budget."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from dpcore.calibration import bounded_range_rate, zcdp_rho
from dpcore.costs import Cost
from dpcore.errors import InvalidArgument
from dpcore.selection import FreeGap, NoisyRounding, PermuteAndFlip
from dpcore.selection.sharing import per_question

SHAPES = [
    {},
    {"low": 0.0, "high": 10.0},
    {"low": 0.0},
    {"low": 0.0, "high": 10.0, "step": 0.5},
    {"low": -20.0, "high": 20.0, "step": 1.0},
]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_what_rounding_really_costs(shape: dict) -> None:
    """The stated realised ε is the largest log-ratio found on the outputs, at most ε, and ε/2 when nothing is cut."""
    for epsilon in (0.3, 2.0):
        for sensitivity in (1.0, 2.5):
            rounding = NoisyRounding(epsilon=epsilon, sensitivity=sensitivity, **shape)
            for answer in (0.0, 3.2, 9.9, -4.0):
                found = 0.0
                for neighbour in (answer - sensitivity, answer + sensitivity):
                    if rounding.step:
                        pair = rounding.probabilities(answer), rounding.probabilities(neighbour)
                    else:
                        points = np.linspace(max(rounding.low, -30), min(rounding.high, 30), 999)
                        pair = rounding.density(answer, points), rounding.density(neighbour, points)
                    found = max(found, float(np.abs(np.log(pair[0] / pair[1])).max()))
                realised = rounding.realised_epsilon(answer)
                assert realised == pytest.approx(found, rel=1e-9, abs=1e-12)
                assert realised <= epsilon + 1e-9
                if not shape:
                    assert realised == pytest.approx(epsilon / 2)


def test_the_factor_of_two_the_textbook_loses() -> None:
    """Its mean absolute error is 2Δ/ε, the Laplace mechanism's Δ/ε; at twice the ε it is the Laplace mechanism."""
    rounding = NoisyRounding(epsilon=0.5, sensitivity=3.0)
    points = np.linspace(-40, 60, 11)
    assert rounding.scale == pytest.approx(12.0)
    assert rounding.laplace_scale == pytest.approx(6.0)
    doubled = NoisyRounding(epsilon=1.0, sensitivity=3.0)
    assert np.allclose(doubled.density(7.0, points), rounding.laplace_density(7.0, points), rtol=1e-13)
    assert np.allclose(doubled.density(7.0, points), np.exp(-np.abs(points - 7) / 6) / 12, rtol=1e-13)
    # and the textbook's own choice, slope ε/Δ, is too loud on a finite grid: up to 2ε of the ε it states
    loud = NoisyRounding(epsilon=2.0, low=0.0, high=30.0, step=1.0)
    assert loud.realised_epsilon(0.0) > 1.2


@pytest.mark.parametrize("shape", [*SHAPES, {"low": 20.0, "high": 30.0}, {"low": -9.0, "high": -5.0}], ids=str)
def test_rounding_samples_follow_the_law(shape: dict) -> None:
    rounding = NoisyRounding(epsilon=0.7, **shape)
    drawn = rounding.sample(3.0, np.random.default_rng(1), 20_000)
    assert drawn.min() >= rounding.low
    assert drawn.max() <= rounding.high
    if rounding.step:
        law = rounding.probabilities(3.0)
        assert law.sum() == pytest.approx(1, abs=1e-12)
        seen = np.bincount(np.rint((drawn - rounding.low) / rounding.step).astype(int), minlength=law.size)
        big = law * 20_000 >= 5
        expected = np.r_[law[big], max(law[~big].sum(), 1e-12)] * 20_000
        assert (
            stats.chisquare(np.r_[seen[big], seen[~big].sum()] + 1e-9, expected + 1e-9, sum_check=False).pvalue > 1e-4
        )
        return
    ends = max(rounding.low, -200.0), min(rounding.high, 200.0)
    grid = np.linspace(*ends, 400_001)
    steps = np.r_[0.0, np.cumsum(rounding.density(3.0, (grid[1:] + grid[:-1]) / 2)) * (grid[1] - grid[0])]
    assert steps[-1] == pytest.approx(1, abs=1e-6)
    assert stats.kstest(np.interp(drawn, grid, steps), "uniform").pvalue > 1e-4


def test_rounding_refuses_by_name() -> None:
    for name, fields in [
        ("epsilon", {"epsilon": 0.0}),
        ("sensitivity", {"sensitivity": -1.0}),
        ("high", {"low": 1.0, "high": 1.0}),
        ("low", {"low": float("nan")}),
        ("step", {"step": -1.0}),
        ("step", {"step": 1.0}),
    ]:
        with pytest.raises(InvalidArgument, match=rf"^{name} "):
            NoisyRounding(**({"epsilon": 1.0} | fields))
    with pytest.raises(InvalidArgument, match=r"^step "):
        NoisyRounding(epsilon=1.0).probabilities(0.0)
    with pytest.raises(InvalidArgument, match=r"^answer "):
        NoisyRounding(epsilon=1.0).density(float("nan"), [0.0])
    with pytest.raises(InvalidArgument, match=r"^rng "):
        NoisyRounding(epsilon=1.0).sample(0.0, None, 1)


VECTORS = ([10.0, 7.0, 6.5, 3.0, 0.0], [10.0, 10.0, 9.0], [60.0, 0.0], [5.0, 4.9], [30.0] + [20.0] * 40)


@pytest.mark.parametrize("scores", VECTORS, ids=str)
def test_the_law_of_the_gap(scores: list[float]) -> None:
    """Against 40,000 races run with noise: chance of each winner with a gap above γ, and the mean gap."""
    gap = FreeGap(epsilon=1.0)
    winners, gaps = gap.sample(scores, np.random.default_rng(3), 40_000)
    assert (gaps >= 0).all()
    wanted = np.array([0.0, 0.5, 2.0, 6.0, 15.0])
    survival = gap.survival(scores, wanted)
    assert np.allclose(survival[:, 0], PermuteAndFlip(epsilon=1.0).probabilities(scores), rtol=1e-12)
    seen = np.array([[np.mean((winners == i) & (gaps > g)) for g in wanted] for i in range(len(scores))])
    assert (np.abs(seen - survival) < 4.5 * np.sqrt(survival * (1 - survival) / 40_000) + 1e-4).all()
    # 4 standard errors of the mean; and the exact mean is the area under the exact survival
    assert abs(gaps.mean() - gap.mean_gap(scores)) < 4 * gaps.std() / 200
    fine = np.linspace(0, 160, 4001)
    area = np.trapezoid(gap.survival(scores, fine).sum(axis=0), fine)
    assert gap.mean_gap(scores) == pytest.approx(area, rel=1e-4)


@pytest.mark.parametrize("monotonic", [False, True])
def test_the_gap_seems_to_cost_nothing(monotonic: bool) -> None:
    """Not a proof: winner and an interval of gaps, on 400 random neighbours of up to six candidates."""
    rng = np.random.default_rng(4)
    gap = FreeGap(epsilon=1.0, monotonic=monotonic)
    edges = np.linspace(0, 12, 49)
    worst = 0.0
    for _ in range(400):
        k = int(rng.integers(2, 7))
        scores = rng.choice([rng.normal(size=k) * 3, rng.integers(0, 4, size=k).astype(float)])
        move = rng.choice([rng.integers(0, 2, size=k), rng.uniform(size=k)])
        other = scores + (move if monotonic else 2 * move - 1)
        masses = [-np.diff(gap.survival(s, edges), axis=1, append=0.0) for s in (scores, other)]
        held = (masses[0] > 1e-9) & (masses[1] > 1e-9)  # differences of numbers near 1 are good to 1e-16
        worst = max(worst, float(np.abs(np.log(masses[0][held] / masses[1][held])).max()))
    assert 0.9 < worst <= 1 + 1e-5


def test_the_gap_refuses_by_name() -> None:
    with pytest.raises(InvalidArgument, match=r"^epsilon "):
        FreeGap(epsilon=0.0)
    with pytest.raises(InvalidArgument, match=r"^scores "):
        FreeGap(epsilon=1.0).mean_gap([1.0])
    with pytest.raises(InvalidArgument, match=r"^gaps "):
        FreeGap(epsilon=1.0).survival([1.0, 2.0], [-1.0])


def test_sharing_a_budget() -> None:
    """Each answer's share, and that all together stay within (ε, δ)."""
    levels = np.array([0.5, 2.0, 0.5])
    assert per_question(Cost.pure(1.0), levels, 1, 0.0).tolist() == [0.5, 2.0, 0.5]
    assert per_question(Cost.pure(1.0), levels, 4, 0.0).tolist() == [0.125, 0.5, 0.125]
    ranged = per_question(Cost.bounded_range(1.0), levels, 50, 1e-6)
    assert ranged[0] == ranged[2] == pytest.approx(max(0.01, bounded_range_rate(0.5, 1e-6, 50)))
    pure = per_question(Cost.pure(1.0), levels, 50, 1e-6)
    assert pure[1] == pytest.approx(max(0.04, np.sqrt(2 * zcdp_rho(2.0, 1e-6) / 50)))
    assert (ranged > pure).all()
    assert (per_question(Cost.pure(1.0), levels, 2, 1e-12) == levels / 2).all()
