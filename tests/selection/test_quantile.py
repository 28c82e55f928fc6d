"""Private quantiles: privacy by exact densities on neighbours, closed forms against numbers drawn and integrated."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from dpcore.errors import InvalidArgument
from dpcore.selection import Quantile, QuantileProblem, near_ranks, quantile_problem, true_quantile
from dpcore.selection.quantile import IntervalLaw
from dpcore.tradeoff import epsilon_for, size_for, sweep_both, sweep_epsilon


def log_density(law: IntervalLaw, points: np.ndarray) -> np.ndarray:
    place = np.searchsorted(law.intervals.edges, points, side="right") - 1
    return np.log(law.density[np.clip(place, 0, law.density.size - 1)])


def largest_loss(mechanism: Quantile, values: np.ndarray, neighbour: np.ndarray) -> tuple[float, float]:
    """Extremes of ln f(D)/f(D′) between all breakpoints of both: densities are constant there, so this is exact."""
    edges = np.unique(np.clip(np.r_[values, neighbour, mechanism.low, mechanism.high], mechanism.low, mechanism.high))
    middles = (edges[1:] + edges[:-1]) / 2
    ratio = log_density(mechanism.law(values), middles) - log_density(mechanism.law(neighbour), middles)
    return float(ratio.min()), float(ratio.max())


def worst_losses(mechanism: Quantile) -> tuple[float, float]:
    """Largest loss, and largest range of losses, over random and extreme neighbours."""
    rng = np.random.default_rng(1)
    loss, spread = 0.0, 0.0
    for _ in range(200):
        n = int(rng.integers(1, 12))
        values = rng.choice([rng.uniform(0, 10, n), rng.integers(0, 11, n).astype(float), rng.uniform(-5, 15, n)])
        new = rng.choice([0.0, 10.0, -99.0, 99.0, rng.uniform(0, 10), values[0]])
        neighbour = np.r_[values[1:], new] if mechanism.relation == "replace_one" else values[1:]
        low, high = largest_loss(mechanism, values, neighbour)
        loss, spread = max(loss, -low, high), max(spread, high - low)
    return loss, spread


@pytest.mark.parametrize("relation", ["add_remove", "replace_one"])
@pytest.mark.parametrize("q", [0.5, 0.1, 0.9])
def test_no_neighbour_tells_more_than_epsilon(relation: str, q: float) -> None:
    """ε-DP and ε-bounded range, exactly; the promise is nearly used up; a twin with ε in place of ε/2 is caught."""
    loss, spread = worst_losses(Quantile(epsilon=1.0, low=0.0, high=10.0, q=q, relation=relation))
    assert 0.8 < loss <= 1.0 + 1e-9
    assert spread <= 1.0 + 1e-9
    assert worst_losses(Quantile(epsilon=2.0, low=0.0, high=10.0, q=q, relation=relation))[0] > 1.05


def test_sensitivity_depends_on_who_is_hidden() -> None:
    """½ for the median when one person is added or removed, max(q, 1 − q) in general, 1 when one is replaced."""
    assert Quantile(epsilon=1, low=0, high=1).sensitivity == 0.5
    assert Quantile(epsilon=1, low=0, high=1, q=0.9).sensitivity == 0.9
    assert Quantile(epsilon=1, low=0, high=1, q=0.1).sensitivity == 0.9
    assert Quantile(epsilon=1, low=0, high=1, relation="replace_one").sensitivity == 1.0


def test_the_law_by_its_definition() -> None:
    """Probability proportional to width times exp(−ε|(1−q)j − q(n−j)|/(2s)), ties leaving no interval."""
    values = np.array([1.0, 2.0, 2.0, 5.0, 9.0, -4.0, 30.0])
    mechanism = Quantile(epsilon=0.8, low=0.0, high=10.0, q=0.3)
    law = mechanism.law(values)
    assert law.intervals.edges.tolist() == [0, 1, 2, 5, 9, 10]
    j, n, q = np.array([1, 2, 4, 5, 6]), 7, 0.3
    weight = np.array([1, 1, 3, 4, 1]) * np.exp(-0.8 * np.abs((1 - q) * j - q * (n - j)) / (2 * 0.7))
    assert np.allclose(law.probabilities, weight / weight.sum(), rtol=1e-13)
    assert law.probabilities.sum() == pytest.approx(1, abs=1e-12)


def test_errors_in_closed_form_agree_with_integration_and_samples() -> None:
    rng = np.random.default_rng(5)
    values = rng.lognormal(2.0, 0.6, size=41)
    mechanism = Quantile(epsilon=0.3, low=0.0, high=60.0, q=0.25)
    law, truth = mechanism.law(values), true_quantile(values, 0.25)
    grid = np.linspace(0, 60, 600_001)
    middles = (grid[1:] + grid[:-1]) / 2
    density = np.exp(log_density(law, middles)) * 1e-4
    # midpoint rule with steps of 1e-4 on piecewise linear functions: off by at most one step per breakpoint
    assert mechanism.expected_error(values) == pytest.approx(density @ np.abs(middles - truth), rel=1e-4)
    assert mechanism.success(values, 1.5) == pytest.approx(density @ (np.abs(middles - truth) <= 1.5), abs=1e-4)
    ranks = np.searchsorted(np.sort(values), middles, side="right")
    assert mechanism.rank_error(values) == pytest.approx(density @ np.abs(ranks / 41 - 0.25), rel=1e-4)
    drawn = mechanism.sample(values, rng, 40_000)
    spread = np.abs(drawn - truth)
    assert abs(spread.mean() - mechanism.expected_error(values)) < 4 * spread.std() / 200  # four standard errors
    levels = law.quantiles([0.1, 0.5, 0.9])
    for level, point in zip([0.1, 0.5, 0.9], levels, strict=True):
        assert abs((drawn < point).mean() - level) < 4 * np.sqrt(level * (1 - level) / 40_000)


def test_samples_follow_the_law_and_the_test_would_notice() -> None:
    """Kolmogorov–Smirnov through the exact distribution function; a law with 20 % less noise is rejected."""
    values = np.random.default_rng(6).normal(50, 10, size=30)
    mechanism = Quantile(epsilon=0.4, low=0.0, high=100.0)
    drawn = mechanism.sample(values, np.random.default_rng(7), 20_000)

    def distribution(law: IntervalLaw) -> np.ndarray:
        steps = np.r_[0.0, np.cumsum(law.probabilities)]
        return np.interp(drawn, law.intervals.edges, steps)

    assert stats.kstest(distribution(mechanism.law(values)), "uniform").pvalue > 1e-4
    louder = Quantile(epsilon=0.5, low=0.0, high=100.0).law(values)
    assert stats.kstest(distribution(louder), "uniform").pvalue < 1e-6


def test_no_values_at_all_give_a_uniform_answer() -> None:
    """An empty file is a data set too, the neighbour of one with a single row."""
    law = Quantile(epsilon=1.0, low=2.0, high=4.0).law([])
    assert law.probabilities.tolist() == [1.0]
    assert law.quantiles([0.5]).tolist() == [3.0]


def test_invalid_arguments_are_refused_by_name() -> None:
    good = {"epsilon": 1.0, "low": 0.0, "high": 1.0}
    for name, bad in [
        ("epsilon", 0.0),
        ("epsilon", float("nan")),
        ("low", float("-inf")),
        ("high", float("nan")),
        ("high", 0.0),
        ("high", -1.0),
        ("q", 0.0),
        ("q", 1.0),
        ("relation", "both"),
    ]:
        with pytest.raises(InvalidArgument, match=rf"^{name} "):
            Quantile(**(good | {name: bad}))
    with pytest.raises(InvalidArgument, match=r"^values "):
        Quantile(**good).law([0.5, float("nan")])
    with pytest.raises(InvalidArgument, match=r"^values "):
        Quantile(**good).expected_error([])
    with pytest.raises(InvalidArgument, match=r"^rng "):
        Quantile(**good).sample([0.5], None, 3)
    with pytest.raises(InvalidArgument, match=r"^tolerance "):
        Quantile(**good).success([0.5], -1.0)
    with pytest.raises(InvalidArgument, match=r"^levels "):
        Quantile(**good).law([0.5]).quantiles([2.0])


VALUES = np.random.default_rng(8).lognormal(3, 0.5, size=300)


def test_the_problem_is_the_mechanism() -> None:
    problem = QuantileProblem(values=VALUES, low=0.0, high=200.0, tolerance=2.0)
    one = Quantile(epsilon=0.2, low=0.0, high=200.0)
    frame = sweep_epsilon(problem, [0.2], methods=["quantile"]).set_index("metric")["value"]
    assert frame["expected_error"] == pytest.approx(one.expected_error(VALUES), rel=1e-11)
    assert frame["rank_error"] == pytest.approx(one.rank_error(VALUES), rel=1e-11)
    assert frame["success"] == pytest.approx(one.success(VALUES, 2.0), rel=1e-11)
    assert problem.mechanism(0.2) == one


def test_ten_times_the_people_are_ten_copies_of_each() -> None:
    problem = QuantileProblem(values=VALUES, low=0.0, high=200.0)
    one = Quantile(epsilon=0.05, low=0.0, high=200.0)
    value = problem.evaluate("quantile", "expected_error", np.array([0.05]), np.array([3000.0])).value[0]
    assert value == pytest.approx(one.expected_error(np.tile(VALUES, 10)), rel=1e-10)


def test_leaving_out_far_intervals_changes_nothing() -> None:
    """Blocks of settings drop intervals e^−100 below the likeliest; one setting at a time drops most."""
    values = np.random.default_rng(9).normal(size=4000)
    problem = QuantileProblem(values=values, low=-1e3, high=1e3)
    for level in (1e-3, 0.1, 5.0):
        one = Quantile(epsilon=level, low=-1e3, high=1e3)
        value = problem.evaluate("quantile", "expected_error", np.array([level]), np.array([4000.0])).value[0]
        assert value == pytest.approx(one.expected_error(values), rel=1e-10)
    few = QuantileProblem(values=np.r_[np.zeros(30), np.full(70, 1.0)], low=0.0, high=1.0)
    assert few.evaluate("quantile", "success", np.array([50.0]), np.array([1e6])).value[0] > 0


@pytest.mark.parametrize("kind", ["normal", "two ends", "a third the same", "hundredths"])
@pytest.mark.parametrize("q", [0.5, 0.02])
def test_very_many_values_in_groups_are_each_by_itself(kind: str, q: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Intervals of near ranks taken together, against the law of every interval, at every metric and with the band."""
    rng, n = np.random.default_rng(3), 20_000
    shapes = {
        "normal": rng.normal(50, 15, n),
        "two ends": np.where(rng.random(n) < 0.5, rng.uniform(0, 10, n), rng.uniform(80, 100, n)),
        "a third the same": np.where(rng.random(n) < 0.3, 50.0, rng.uniform(0, 100, n)),
        "hundredths": np.round(rng.normal(50, 15, n), 2),
    }
    problem = QuantileProblem(values=shapes[kind], low=0.0, high=100.0, q=q)
    used = []
    monkeypatch.setattr(
        quantile_problem, "group_means", lambda *given: used.append(given[0].size) or near_ranks.group_means(*given)
    )
    levels, people = (grid.ravel() for grid in np.meshgrid(np.geomspace(1e-4, 10, 16), np.geomspace(300, 3e6, 12)))
    together = {metric: problem.evaluate("quantile", metric, levels, people) for metric in problem.metrics}
    assert kind == "hundredths" or max(used) > 1_000
    monkeypatch.setattr(quantile_problem, "_MANY", np.inf)
    for metric, found in together.items():
        alone = problem.evaluate("quantile", metric, levels, people)
        for one, other in zip((found.value, found.low, found.high), (alone.value, alone.low, alone.high), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-12)


def test_theory_never_promises_too_much() -> None:
    levels = np.geomspace(1e-3, 10, 40)
    for values in (VALUES, np.round(VALUES), np.zeros(50), np.r_[np.zeros(5), np.full(5, 200.0)]):
        for relation in ("add_remove", "replace_one"):
            problem = QuantileProblem(values=values, low=0.0, high=200.0, relation=relation)
            sizes = np.full_like(levels, problem.n)
            for metric, shown in problem.metrics.items():
                exact = problem.evaluate("quantile", metric, levels, sizes).value
                bound = problem.evaluate("theory", metric, levels, sizes).value
                slack = bound - exact if shown.better == "lower" else exact - bound
                assert (slack >= -1e-12).all()


def test_the_band_is_what_drawing_people_does() -> None:
    """Against 600 bootstrap samples: the middle 80 % of their exact errors lies about where the band ends."""
    rng = np.random.default_rng(10)
    problem = QuantileProblem(values=VALUES, low=0.0, high=200.0, tolerance=2.0)
    estimate = problem.evaluate("quantile", "success", np.array([0.1]), np.array([300.0]))
    one = Quantile(epsilon=0.1, low=0.0, high=200.0)
    drawn = []
    for _ in range(600):
        law = one.law(rng.choice(VALUES, size=300))
        drawn.append(law.probabilities @ law.intervals.share_within(problem.truth, 2.0))
    assert estimate.low[0] == pytest.approx(np.quantile(drawn, 0.1), abs=0.05)
    assert estimate.low[0] <= estimate.value[0] <= estimate.high[0]
    assert problem.central.evaluate("quantile", "success", np.array([0.1]), np.array([300.0])).low[0] == estimate.value


def test_inversions_hit_their_target() -> None:
    problem = QuantileProblem(values=VALUES, low=0.0, high=200.0)
    level = epsilon_for(1.0, problem, method="quantile", metric="expected_error")
    size = size_for(1.0, problem, method="quantile", metric="expected_error", epsilon=0.05)
    assert level is not None
    assert size is not None
    at = [(level, 300.0), (level * 0.999, 300.0), (0.05, float(size)), (0.05, size - 1.0)]
    values = problem.evaluate("quantile", "expected_error", *map(np.array, zip(*at, strict=True))).value
    assert (values <= 1.0).tolist() == [True, False, True, False]
    assert len(sweep_both(problem, [0.1, 1.0], [10, 20, 30], method="quantile", metric="success")) == 6


def test_problem_arguments_are_refused_by_name() -> None:
    good = {"values": [1.0, 2.0], "low": 0.0, "high": 5.0}
    for name, bad in [
        ("values", []),
        ("values", [float("nan")]),
        ("high", -1.0),
        ("tolerance", 0.0),
        ("questions", 0),
        ("delta", 1.0),
        ("band", 1.0),
        ("q", 2.0),
    ]:
        with pytest.raises(InvalidArgument, match=rf"^{name} "):
            QuantileProblem(**(good | {name: bad}))
    problem = QuantileProblem(**good)
    with pytest.raises(InvalidArgument, match=r"^metric "):
        problem.evaluate("quantile", "speed", np.ones(1), np.ones(1))
    with pytest.raises(InvalidArgument, match=r"^method "):
        problem.evaluate("laplace", "success", np.ones(1), np.ones(1))
