"""Samplers against exact laws, expected excess against quadrature, and batches against their definition."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chi2, kstest

from dpcore.training import (
    Absolute,
    Ball,
    IntervalMedian,
    LaplaceMean,
    Logistic,
    MeanByLoss,
    MedianByLoss,
    Squared,
    excess_risk,
    minimise,
)
from dpcore.training.batches import disjoint_batches, poisson_batches
from dpcore.training.median import Pieces
from tests.training.conftest import classes, numbers

ALPHA = 1e-4


def chi_square(counts, chances) -> float:
    """The χ² p-value of counts against chances, cells with fewer than 8 expected put together."""
    expected = chances * counts.sum()
    order = np.argsort(expected)
    group = np.floor(np.cumsum(expected[order]) / 8.0)
    _, places = np.unique(group, return_inverse=True)
    seen, due = np.bincount(places, counts[order]), np.bincount(places, expected[order])
    return float(chi2.sf(((seen - due) ** 2 / due).sum(), seen.size - 1))


def test_the_ball_draws_from_its_law(rng) -> None:
    """χ² over the candidates passes, and fails for draws at 1.3 times the slope."""
    X, y = classes(60, 2)
    ball, twin = (Ball(epsilon=level, points=300) for level in (8.0, 10.4))
    chances, candidates = ball.probabilities(X, y), ball.candidates(2)
    places = {tuple(np.round(place, 9)): index for index, place in enumerate(candidates)}
    for method, good in ((ball, True), (twin, False)):
        drawn = method.fit(X, y, rng, 20_000).weights
        counts = np.bincount([places[tuple(np.round(one, 9))] for one in drawn], minlength=candidates.shape[0])
        assert (chi_square(counts, chances) > ALPHA) == good


@pytest.mark.parametrize("d", [1, 2, 3])
def test_the_grid_fills_the_ball_and_knows_no_data(d) -> None:
    candidates = Ball(epsilon=1.0, radius=2.0).candidates(d)
    assert 0.7 * 8000 < candidates.shape[0] < 1.3 * 8000
    assert np.linalg.norm(candidates, axis=1).max() <= 2.0 + 1e-9
    np.testing.assert_allclose(candidates.mean(axis=0), 0.0, atol=1e-9)


def test_the_ball_s_bound_holds(rng) -> None:
    """The promised excess is exceeded less often than β, by the exact law plus half a cell; here far less."""
    X, y = numbers(400, 2)
    ball = Ball(epsilon=1.0, loss=Squared(), points=4000)
    risks = excess_risk(ball.fit(X, y, rng, 400), X, y)
    inside = minimise(Squared(), X, y)
    assert np.linalg.norm(inside.weights) < 1.0  # so that the best of all is in the ball
    assert (risks > ball.excess_bound(400, 2, beta=0.05)).mean() <= 0.05
    assert ball.excess_bound(1, 2) == np.inf
    # n = 1000, ε = 1, d = 1, β = .05, GR = 1: 2/1000 + 2/1000 (ln 1000 + ln 20)
    median = Ball(epsilon=1.0, loss=Absolute())
    assert median.excess_bound(1000, 1) == pytest.approx(0.002 + 0.002 * (np.log(1000) + np.log(20)))


@pytest.mark.parametrize("size", [3, 40])
@pytest.mark.parametrize("epsilon", [0.05, 1.0, 30.0])
def test_expected_excess_of_one_number_against_quadrature(size, epsilon, rng) -> None:
    """Closed forms against a fine trapezoid rule, to 1e-5 of the value."""
    values = rng.uniform(-1, 1, size)
    points = np.linspace(-1.0, 1.0, 400_001)
    absolute = np.abs(points[:, None] - values[:, None].T).sum(axis=1)

    def expected(logits, losses) -> float:
        density = np.exp(logits - logits.max())
        return float(np.trapezoid(density * losses, points) / np.trapezoid(density, points))

    mean = MeanByLoss(epsilon=epsilon)
    squares = 0.5 * (points - values.mean()) ** 2
    exact = expected(-mean.slope * size * squares, squares)
    assert mean.expected_excess(values) == pytest.approx(exact, rel=1e-5)
    median = MedianByLoss(epsilon=epsilon)
    over = (absolute - absolute.min()) / size
    assert median.expected_excess(values) == pytest.approx(expected(-median.slope * absolute, over), rel=1e-4, abs=1e-9)
    below = (values[None, :] <= points[:, None]).sum(axis=1)
    ranks = -epsilon * np.abs(below - size / 2)
    ranked = IntervalMedian(epsilon=epsilon).expected_excess(values)
    assert ranked == pytest.approx(expected(ranks, over), rel=1e-3, abs=1e-6)
    assert LaplaceMean(epsilon=epsilon).expected_excess(values) == pytest.approx(1.0 / (epsilon * size) ** 2)


@pytest.mark.parametrize("kind", [LaplaceMean, MeanByLoss, MedianByLoss, IntervalMedian])
def test_simulated_excess_agrees_with_the_exact_one(kind, rng) -> None:
    """Within five standard errors of 40,000 draws."""
    values, ones = rng.uniform(-0.5, 0.9, 60), np.ones((60, 1))
    method = kind(epsilon=0.7)
    risks = excess_risk(method.fit(ones, values, rng, 40_000), ones, values)
    assert abs(risks.mean() - method.expected_excess(values)) < 5 * risks.std() / 200


def test_more_people_like_these_is_the_same_as_repeating_them() -> None:
    values = np.array([-0.5, 0.1, 0.2, 0.8])
    for kind in (LaplaceMean, MeanByLoss, MedianByLoss, IntervalMedian):
        method = kind(epsilon=0.3)
        assert method.expected_excess(values, 40) == pytest.approx(
            method.expected_excess(np.tile(values, 10)), rel=1e-9
        )


def test_the_better_rivals_are_much_better() -> None:
    """Reference at n = 1000, ε = 1, replaced: the Laplace mean's deviation is 22 times smaller."""
    values = np.linspace(-0.5, 0.5, 1000)
    by_loss = MeanByLoss(epsilon=1.0, neighbours="replace_one").expected_excess(values)
    laplace = LaplaceMean(epsilon=1.0, neighbours="replace_one").expected_excess(values)
    assert np.sqrt(by_loss / laplace) == pytest.approx(22.36, rel=1e-3)
    ratio = MedianByLoss(epsilon=1.0).expected_excess(values) / IntervalMedian(epsilon=1.0).expected_excess(values)
    assert 100 < ratio < 1000


@pytest.mark.parametrize("drop", [0.0, 1e-9, 1e-3, 2.0, 900.0])
def test_pieces_of_any_steepness(drop, rng) -> None:
    """Chance, mean and draws of one linear piece against its closed form, without overflow."""
    law = Pieces(ends=np.array([0.0, 0.25, 1.0]), logits=np.array([0.0, -drop, -2 * drop]))
    points = np.linspace(0.0, 1.0, 2_000_001)
    density = np.exp(np.interp(points, law.ends, law.logits))
    mean = np.trapezoid(points * density, points) / np.trapezoid(density, points)
    assert law.expectation(law.ends) == pytest.approx(mean, rel=1e-6)
    drawn = law.sample(rng, 4000)
    below = np.cumsum(density) / density.sum()
    assert kstest(drawn, lambda at: np.interp(at, points, below)).pvalue > ALPHA


def test_poisson_batches_take_everyone_with_the_same_chance(rng) -> None:
    """Counts of each row over 3,000 batches are binomial (χ²), also at the ends of steps; sizes vary as they should."""
    n, rate, steps, models = 50, 0.07, 30, 100
    counts, sizes = np.zeros(n), []
    for rows in poisson_batches(n, rate, steps, models, rng):
        assert rows.shape[0] == models
        inside = rows[rows < n]
        counts += np.bincount(inside, minlength=n)
        sizes += (rows < n).sum(axis=1).tolist()
        assert all(len(set(row[row < n])) == (row < n).sum() for row in rows)
    assert len(sizes) == steps * models
    spread = ((counts - rate * 3000) ** 2 / (rate * (1 - rate) * 3000)).sum()
    assert chi2.ppf(ALPHA, n) < spread < chi2.isf(ALPHA, n)
    # the variance of a binomial size, within five standard errors
    assert abs(np.var(sizes) - rate * (1 - rate) * n) < 5 * rate * (1 - rate) * n * np.sqrt(2 / 3000)


def test_poisson_batches_at_rates_near_zero_and_one(rng) -> None:
    everyone = next(poisson_batches(7, 1.0, 1, 2, rng))
    np.testing.assert_array_equal(everyone, np.tile(np.arange(7), (2, 1)))
    nearly = [(rows < 7).sum() for rows in poisson_batches(7, 0.999, 50, 2, rng)]
    assert 690 <= sum(nearly) <= 700
    rare = [(rows < 7).sum() for rows in poisson_batches(7, 1e-4, 50, 2, rng)]
    assert len(rare) == 50
    assert sum(rare) <= 3


def test_models_do_not_share_batches(rng) -> None:
    """Overlap of two models' batches is what chance gives: rate × size."""
    first = next(poisson_batches(20_000, 0.05, 1, 2, rng))
    common = len(set(first[0]) & set(first[1]) - {20_000})
    assert abs(common - 50) < 5 * np.sqrt(50)
    parts = list(disjoint_batches(1000, 4, 1, 2, rng))
    together = sum(len(set(one[0]) & set(one[1]) - {1000}) for one in parts)
    assert abs(together - 250) < 5 * np.sqrt(250)


def test_disjoint_batches_hold_everyone_once_an_epoch(rng) -> None:
    steps = list(disjoint_batches(101, 4, 3, 5, rng))
    assert len(steps) == 12
    for model in range(5):
        epochs = [np.concatenate([rows[model] for rows in steps[start : start + 4]]) for start in (0, 4, 8)]
        for epoch in epochs:
            assert sorted(epoch[epoch < 101]) == list(range(101))
        np.testing.assert_array_equal(steps[0][model], steps[4][model])  # a person stays in one batch


def test_a_fit_over_two_features_reaches_the_best_at_high_epsilon(rng) -> None:
    """With little noise the ball's draws sit at the best point of its grid."""
    X, y = classes(2000, 2)
    ball = Ball(epsilon=200.0, radius=8.0)
    risks = excess_risk(ball.fit(X, y, rng, 50), X, y)
    assert np.linalg.norm(minimise(Logistic(), X, y).weights) < 8.0
    assert risks.mean() < 0.01
