"""The two questions as trade-offs: sweeps and their inversion, other T, bands, and what an assumption lets in."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpcore.errors import InvalidArgument
from dpcore.experts import (
    ASSUMPTIONS,
    Batched,
    ExpertsProblem,
    LinearLearner,
    LinearProblem,
    Scenario,
    WeightedMajority,
    regret_bound,
)
from dpcore.experts.linear import VertexExponential, catalog, linear_bound
from dpcore.experts.linear.choice import scaled_costs
from dpcore.selection import laws
from dpcore.tradeoff import COLUMNS, epsilon_for, size_for, sweep_both, sweep_epsilon, sweep_size

STORY = Scenario(story="gap", experts=5, gap=0.2, seed=1)


@pytest.fixture(scope="module")
def problem() -> ExpertsProblem:
    return ExpertsProblem.simulated(STORY, 200, assumption="independent")


def test_assumptions_let_strategies_in() -> None:
    losses = STORY.losses(50)
    found = {name: set(ExpertsProblem(losses=losses, assumption=name).methods) for name in ASSUMPTIONS}
    assert found["oblivious"] - found["any"] == {"batched", "unknown_horizon"}
    assert found["independent"] - found["oblivious"] == {"doubling_leader"}
    assert found["any"] >= {"textbook", "weighted_majority", "matrix_factorisation", "non_private", "theory"}


def test_a_simulated_strategy_is_left_out_of_tables_too_large_for_it() -> None:
    key = "matrix_factorisation"
    fits = ExpertsProblem(losses=np.zeros((4000, 1000), dtype=np.float32), band=0.0)
    assert key in fits.methods
    assert not fits.too_large
    assert fits.longest_for("weighted_majority", "theory") == fits.longest == 100_000
    assert fits.longest_for("weighted_majority", key) == 4000
    above = ExpertsProblem(losses=np.zeros((4001, 1000), dtype=np.float32), band=0.0)
    assert key not in above.methods
    assert set(above.too_large) == {key}
    with pytest.raises(InvalidArgument, match="method"):
        above.strategy(key, 1.0)


def test_the_assumption_chooses_the_account() -> None:
    """Losses that may react to plays are accounted by zCDP, others by exact bounded range."""
    rules = {
        name: ExpertsProblem(losses=STORY.losses(50), assumption=name).strategy("weighted_majority", 1.0).rule
        for name in ASSUMPTIONS
    }
    assert rules == {"any": "zcdp", "oblivious": "bounded_range", "independent": "bounded_range"}
    with pytest.raises(InvalidArgument, match="method"):
        ExpertsProblem(losses=STORY.losses(50), assumption="any").strategy("batched", 1.0)
    with pytest.raises(InvalidArgument, match="not a theorem"):
        ExpertsProblem(losses=STORY.losses(50)).strategy("theory", 1.0)


def test_a_sweep_has_every_method(problem: ExpertsProblem) -> None:
    frame = sweep_epsilon(problem, [0.1, 1.0, 10.0])
    assert list(frame.columns) == list(COLUMNS)
    assert set(frame["method"]) == set(problem.methods) == set(problem.labels)
    assert set(frame["metric"]) == {"regret_per_round", "regret", "total_loss"}
    kinds = frame.drop_duplicates("method").set_index("method")["kind"]
    assert kinds["matrix_factorisation"] == "simulated"
    assert kinds["theory"] == "bound"
    assert (kinds.drop([name for name in kinds.index if name.startswith(("theory", "matrix"))]) == "exact").all()
    assert (frame["low"] <= frame["value"]).all()
    assert (frame["value"] <= frame["high"]).all()


def test_values_are_the_strategies_own(problem: ExpertsProblem) -> None:
    """At pairs of ε and T below, at and above the data's 200 rounds."""
    epsilon, n = np.array([0.5, 2.0, 8.0, 2.0]), np.array([60.0, 200.0, 450.0, 1.0])
    regret = problem.evaluate("batched", "regret", epsilon, n).value
    for level, rounds, value in zip(epsilon, n.astype(int), regret, strict=True):
        run = Batched(epsilon=level, delta=1e-6, rounds=rounds, experts=5)
        assert value == pytest.approx(run.expected_regret(STORY.losses(rounds)), rel=1e-7)
    per_round = problem.evaluate("batched", "regret_per_round", epsilon, n).value
    np.testing.assert_allclose(per_round, regret / n)
    total = problem.evaluate("batched", "total_loss", epsilon, n).value
    best = [STORY.losses(int(rounds)).sum(axis=0, dtype=int).min() for rounds in n]
    np.testing.assert_allclose(total - regret, best)


def test_longer_than_the_table() -> None:
    """A person's own table is repeated, and says so; a simulation goes on, and says so."""
    losses = STORY.losses(30)
    own = ExpertsProblem(losses=losses)
    np.testing.assert_array_equal(own.run(75), np.concatenate([losses, losses, losses[:15]]))
    assert "repeat the 30 rounds" in own.beyond
    simulated = ExpertsProblem.simulated(STORY, 30)
    np.testing.assert_array_equal(simulated.run(75), STORY.losses(75))
    assert "same simulation" in simulated.beyond
    np.testing.assert_array_equal(own.run(10), losses[:10])


def test_bands_come_from_the_exact_variance(problem: ExpertsProblem) -> None:
    """80 in 100 runs: 2,000 simulated ones fall between low and high 80 ± 4 times in 100 (4 sd and lattice effects)."""
    estimate = problem.evaluate("weighted_majority", "total_loss", np.array([3.0]), np.array([200.0]))
    run = WeightedMajority(epsilon=3.0, delta=1e-6, rounds=200, experts=5)
    rng, losses = np.random.default_rng(0), STORY.losses(200)
    totals = np.array([losses[np.arange(200), run.play(losses, rng)].sum(dtype=int) for _ in range(2000)])
    inside = np.mean((totals >= estimate.low[0]) & (totals <= estimate.high[0]))
    assert inside == pytest.approx(0.8, abs=0.04)
    plain = problem.central.evaluate("weighted_majority", "total_loss", np.array([3.0]), np.array([200.0]))
    assert plain.low[0] == plain.value[0] == plain.high[0] == pytest.approx(estimate.value[0])
    simulated = problem.central.evaluate("matrix_factorisation", "regret", np.array([3.0]), np.array([200.0]))
    assert simulated.low[0] < simulated.value[0] < simulated.high[0]  # the simulation's own error


def test_theory_is_the_theorem(problem: ExpertsProblem) -> None:
    found = problem.evaluate("theory", "regret", np.array([0.5]), np.array([100.0]))
    expected = regret_bound("11.3", rounds=100, experts=5, epsilon=0.5, delta=1e-6)
    assert found.value[0] == expected.total == problem.promise("theory", 0.5, 100).total
    assert found.kind == "bound"
    assert problem.promise("theory", 0.5, 100).vacuous


def test_inversion(problem: ExpertsProblem) -> None:
    """The smallest ε and T that reach a target reach it, and a little less does not."""
    ask = {"method": "weighted_majority", "metric": "regret_per_round"}
    epsilon = epsilon_for(0.08, problem, **ask)
    assert epsilon is not None
    value = problem.evaluate(*ask.values(), np.array([epsilon, epsilon * 0.98]), np.full(2, 200.0)).value
    assert value[0] <= 0.08 < value[1]
    rounds = size_for(0.05, problem, **ask, epsilon=3.0, low=2, high=problem.longest // 1000)
    assert rounds is not None
    assert problem.evaluate(*ask.values(), np.array([3.0]), np.array([float(rounds)])).value[0] <= 0.05


def test_size_and_map(problem: ExpertsProblem) -> None:
    sizes = sweep_size(problem, [10, 100, 1000], epsilon=1.0, methods=["batched"], metrics=["regret_per_round"])
    assert sizes["value"].is_monotonic_decreasing
    grid = sweep_both(problem, [0.1, 1.0], [50, 150], method="batched", metric="regret_per_round")
    alone = problem.evaluate("batched", "regret_per_round", np.array([1.0]), np.array([150.0]))
    assert grid["value"].iloc[-1] == pytest.approx(float(alone.value[0]), rel=1e-7)


def test_the_problem_keeps_its_own_losses() -> None:
    losses = np.random.default_rng(0).random((10, 3))
    problem = ExpertsProblem(losses=losses)
    losses[:] = 0.0
    assert problem.losses.max() > 0.0
    with pytest.raises(ValueError, match="read-only"):
        problem.losses[0, 0] = 1.0


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"losses": np.zeros((1, 3))}, "rounds"),
        ({"losses": np.zeros((5, 1))}, "experts"),
        ({"losses": np.full((5, 2), 2.0)}, "losses"),
        ({"delta": 0.0}, "delta"),
        ({"assumption": "kind"}, "assumption"),
        ({"band": 1.0}, "band"),
        ({"beta": 0.0}, "beta"),
    ],
)
def test_bad_fields_are_named(change: dict, name: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        ExpertsProblem(**{"losses": np.zeros((5, 3))} | change)
    assert caught.value.argument == name


def test_bad_questions_are_named(problem: ExpertsProblem) -> None:
    one = np.ones(1)
    for arguments, name in (
        (("best", "regret", one, one), "method"),
        (("batched", "speed", one, one), "metric"),
        (("batched", "regret", one, one * 1e12), "n"),
        (("batched", "regret", one * 0, one), "epsilon"),
    ):
        with pytest.raises(InvalidArgument) as caught:
            problem.evaluate(*arguments)
        assert caught.value.argument == name


# The second question: the best fixed choice for a linear cost.


@pytest.fixture(scope="module")
def costs() -> np.ndarray:
    rng = np.random.default_rng(5)
    table = rng.normal(0.0, 0.4, (300, 8))
    table[:, 2] -= 0.15
    return np.clip(table, -1.0, 1.0)


def test_linear_choices(costs: np.ndarray) -> None:
    """Expected excess follows from the expected choice; simulated choices average to it (400 draws, 5 sd)."""
    problem, rng = LinearProblem(costs=costs), np.random.default_rng(0)
    mean = costs.mean(axis=0)
    for key, kind in catalog().items():
        way = problem.method(key, 0.5)
        assert way == kind.at(epsilon=0.5, delta=1e-6, rows=300, columns=8)
        choice = way.expected_choice(costs)
        assert choice.sum() == pytest.approx(1.0)
        value = problem.evaluate(key, "excess", np.array([0.5]), np.array([300.0])).value[0]
        assert value == pytest.approx(choice @ mean - mean.min(), rel=1e-9)
        drawn = np.array([way.choose(costs, rng) for _ in range(100 if kind is LinearLearner else 400)])
        np.testing.assert_allclose(drawn.sum(axis=1), 1.0)
        assert abs(float((drawn @ mean).mean()) - choice @ mean) < 5 * float((drawn @ mean).std()) / math.sqrt(
            len(drawn)
        )
        assert way.cost.epsilon <= 0.5


def test_the_slope_on_the_vertices(costs: np.ndarray) -> None:
    """Replace-one moves a total by 2, each its own way: a = ε/4 (mechanisms.md §3)."""
    law = VertexExponential(epsilon=0.8, rows=300, columns=8).expected_choice(costs)
    weights = np.exp(-0.2 * (costs.sum(axis=0) - costs.sum(axis=0).min()))
    np.testing.assert_allclose(law, weights / weights.sum(), rtol=1e-9)
    np.testing.assert_allclose(law, laws("exponential", -costs.sum(axis=0), [0.8], sensitivity=2.0)[0])


def test_the_vertices_beat_the_learner(costs: np.ndarray) -> None:
    problem = LinearProblem(costs=costs)
    frame = sweep_epsilon(problem, [0.2]).set_index("method")["value"]
    assert frame["vertex_permute_and_flip"] < frame["vertex_exponential"] < frame["linear_learner"] < frame["theory"]
    assert epsilon_for(0.02, problem, method="vertex_permute_and_flip", metric="excess") is not None


def test_fewer_and_more_rows(costs: np.ndarray) -> None:
    problem = LinearProblem(costs=costs)
    value = problem.evaluate("vertex_exponential", "excess", np.array([1.0, 1.0]), np.array([100.0, 600.0])).value
    first = VertexExponential(epsilon=1.0, rows=100, columns=8).expected_choice(costs[:100]) @ costs[:100].mean(axis=0)
    assert value[0] == pytest.approx(first - costs[:100].mean(axis=0).min())
    twice = np.concatenate([costs, costs])
    second = VertexExponential(epsilon=1.0, rows=600, columns=8).expected_choice(twice) @ costs.mean(axis=0)
    assert value[1] == pytest.approx(second - costs.mean(axis=0).min())


def test_the_linear_bound_holds() -> None:
    """On independent rows the learner's excess stays under it, and it falls like 1/√n."""
    rng = np.random.default_rng(9)
    for rows in (200, 2000):
        table = rng.choice([-1.0, 1.0], (rows, 4), p=[0.55, 0.45])
        found = LinearProblem(costs=table, delta=1e-3).evaluate(
            "linear_learner", "excess", np.array([5.0]), np.array([float(rows)])
        )
        assert found.value[0] < linear_bound(rows, 4, 5.0, 1e-3)
    assert linear_bound(40_000, 4, 1.0, 1e-6) == pytest.approx(linear_bound(10_000, 4, 1.0, 1e-6) / 2)


def test_declared_bounds_for_costs() -> None:
    table = np.array([[0.0, 10.0], [5.0, 2.5]])
    np.testing.assert_allclose(scaled_costs(table, 0.0, 10.0), [[-1.0, 1.0], [0.0, -0.5]])
    with pytest.raises(InvalidArgument, match="hold every value"):
        scaled_costs(table, 0.0, 9.0)
    assert scaled_costs(table, 0.0, 9.0, clip=True).max() == 1.0
    for bad, name in ((np.full((3, 2), 1.5), "costs"), (np.zeros((1, 2)), "rows"), (np.zeros((3, 1)), "columns")):
        with pytest.raises(InvalidArgument) as caught:
            LinearProblem(costs=bad)
        assert caught.value.argument == name
    with pytest.raises(InvalidArgument, match="rows"):
        LinearLearner(epsilon=1.0, delta=1e-6, rows=0, columns=2)
