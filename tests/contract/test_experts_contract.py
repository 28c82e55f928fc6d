"""What every strategy and every linear choice keeps: laws that add up, forecasts and samplers that follow them."""

from __future__ import annotations

import dataclasses
import itertools
import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from dpcore.datasets import Column, Declaration, PrivateRows
from dpcore.errors import InvalidArgument
from dpcore.experts import (
    ASSUMPTIONS,
    ExpertsProblem,
    NonPrivate,
    WeightedMajority,
    catalog,
    linear,
)
from dpcore.releases.least_cost import LeastCost
from dpcore.releases.plays import PrivatePlays
from tests.audit.experts_exact import largest_loss
from tests.contract.about import check_about

ROUNDS, EXPERTS = 75, 6
every = pytest.mark.parametrize("kind", list(catalog().values()), ids=list(catalog()))


def make(kind: Any, **fields: Any) -> Any:
    return kind.at(**{"epsilon": 2.0, "delta": 1e-6, "rounds": ROUNDS, "experts": EXPERTS} | fields)


# simulated forecasts state an error; what they average over has no law that could be listed
EXACT = [
    kind
    for kind in catalog().values()
    if kind.forecast([make(kind, rounds=2, experts=2)], np.zeros((2, 2))).error is None
]
exact = pytest.mark.parametrize("kind", EXACT, ids=lambda kind: kind.key)


@pytest.fixture(scope="module")
def losses() -> np.ndarray:
    rng = np.random.default_rng(7)
    return rng.random((ROUNDS, EXPERTS)) * np.linspace(0.5, 1.0, EXPERTS)


def test_the_catalogue() -> None:
    assert list(catalog())[:7] == [
        "textbook",
        "weighted_majority",
        "batched",
        "doubling_leader",
        "unknown_horizon",
        "matrix_factorisation",
        "non_private",
    ]


@every
def test_it_is_data_with_a_name(kind: Any) -> None:
    run = make(kind)
    check_about(kind, catalog())
    assert kind.assumption in ASSUMPTIONS
    assert run == make(kind)
    assert hash(run) == hash(make(kind))
    with pytest.raises(AttributeError):
        run.rounds = 3


@every
def test_chances(kind: Any, losses: np.ndarray) -> None:
    weights = make(kind).weights(losses)
    assert weights.shape == losses.shape
    np.testing.assert_allclose(weights.sum(axis=1), 1.0, rtol=1e-6)
    np.testing.assert_allclose(weights[0], 1 / EXPERTS)  # nothing is known yet


@exact
@pytest.mark.parametrize("rounds", [1, 2, 16, 17, 75])
def test_the_forecast_follows_from_the_chances(kind: Any, losses: np.ndarray, rounds: int) -> None:
    """Mean and variance of the total loss, draw by draw; several ε at once are as each alone."""
    runs = [make(kind, epsilon=epsilon, rounds=rounds) for epsilon in (0.1, 2.0, 30.0)]
    found = kind.forecast(runs, losses)
    for index, run in enumerate(runs):
        mean = variance = 0.0
        start = 0
        for laws, held in run.chances(losses[:rounds]):
            for law, length in zip(laws, held, strict=True):
                part = losses[start : start + length].sum(axis=0)
                mean += law @ part
                variance += law @ part**2 - (law @ part) ** 2
                start += length
        assert start == rounds
        assert found.mean[index] == pytest.approx(mean, rel=1e-8)
        assert found.deviation[index] == pytest.approx(math.sqrt(max(variance, 0.0)), rel=1e-6, abs=1e-7)
        assert found.best[index] == pytest.approx(losses[:rounds].sum(axis=0).min())
        assert run.expected_regret(losses[:rounds]) == pytest.approx(mean - found.best[index], rel=1e-7, abs=1e-9)


def misfit(kind: Any, losses: np.ndarray, tilt: float = 0.0) -> float:
    """p-value of 800 simulated runs against the law of the last draw (tilted, for the test of the test)."""
    run = make(kind, rounds=31)
    rng = np.random.default_rng(11)
    last = np.array([run.play(losses[:31], rng)[-1] for _ in range(800)])
    law = run.weights(losses[:31])[-1] * np.where(np.arange(EXPERTS) == 0, 1 + tilt, 1.0)
    return float(stats.chisquare(np.bincount(last, minlength=EXPERTS), 800 * law / law.sum()).pvalue)


@pytest.mark.thorough
@exact
def test_plays_obey_the_law(kind: Any, losses: np.ndarray) -> None:
    """χ² at 10⁻⁴ (fixed seed); and it has power: a law 60 % off in one expert's chance is refused."""
    assert misfit(kind, losses) > 1e-4
    assert misfit(kind, losses, tilt=0.6) < 1e-4


@every
def test_plays_are_repeatable_and_whole(kind: Any, losses: np.ndarray) -> None:
    run = make(kind)
    plays = run.play(losses, np.random.default_rng(0))
    assert plays.shape == (ROUNDS,)
    assert plays.dtype == np.int64
    assert set(plays) <= set(range(EXPERTS))
    np.testing.assert_array_equal(plays, run.play(losses, np.random.default_rng(0)))


@every
def test_cost(kind: Any) -> None:
    """At most what was asked for; without privacy, infinite; one round is played blindly and free."""
    cost = make(kind).cost
    if kind is NonPrivate:
        assert cost.epsilon == math.inf
        assert kind.about.release is None
    else:
        assert cost.epsilon <= 2.0
        assert cost.delta <= 1e-6
        assert cost.zcdp < math.inf


@every
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("epsilon", 0.0),
        ("epsilon", math.nan),
        ("delta", 0.0),
        ("delta", 1.0),
        ("rounds", 0),
        ("rounds", 2.5),
        ("experts", 1),
    ],
)
def test_bad_parameters_are_named(kind: Any, name: str, value: float) -> None:
    if name not in kind.__slots__:
        return
    with pytest.raises(InvalidArgument) as caught:
        make(kind, **{name: value})
    assert caught.value.argument == name


@every
def test_losses_of_the_wrong_shape_are_refused(kind: Any, losses: np.ndarray) -> None:
    for bad in (losses[:-1], losses[:, :-1]):
        with pytest.raises(InvalidArgument, match="as declared"):
            make(kind).expected_regret(bad)
    with pytest.raises(InvalidArgument, match="rng"):
        make(kind).play(losses, 3)


def joint_law(run: Any, losses: np.ndarray) -> np.ndarray:
    """The chance of every sequence of draws of one run."""
    law = np.ones(1)
    for laws, _ in run.chances(losses):
        for one in laws:
            law = np.multiply.outer(law, one).ravel()
    return law


def largest_delta(kind: Any, spent: float, epsilon: float) -> float:
    """The largest δ that the whole run needs at ε when it is set up for ``spent``, over all tables of 0 and 1."""
    run = make(kind, epsilon=spent, delta=1e-3, rounds=4, experts=2)
    tables = [np.array(bits, dtype=float).reshape(4, 2) for bits in itertools.product((0, 1), repeat=8)]
    laws = {table.tobytes(): joint_law(run, table) for table in tables}
    worst = 0.0
    for table in tables:
        for row, changed in itertools.product(range(4), itertools.product((0.0, 1.0), repeat=2)):
            other = table.copy()
            other[row] = changed
            gap = laws[table.tobytes()] - math.exp(epsilon) * laws[other.tobytes()]
            worst = max(worst, float(np.maximum(gap, 0.0).sum()))
    return worst


@pytest.mark.parametrize("kind", [kind for kind in EXACT if kind is not NonPrivate], ids=lambda kind: kind.key)
def test_whole_runs_keep_the_promise(kind: Any) -> None:
    """Exact, over all sequences of plays and all neighbours with losses of 0 and 1; a run set up for 20 times as much
    is found out."""
    delta = make(kind, epsilon=0.3, delta=1e-3).cost.delta
    assert largest_delta(kind, 0.3, 0.3) <= delta + 1e-12
    assert largest_delta(kind, 6.0, 0.3) > 1e-2


NAMES = ("a", "b", "c")


def declared(low: float) -> Declaration:
    """Three columns of numbers from ``low`` to 1, in steps."""
    columns = tuple(Column(name=name, type="number", low=low, high=1.0) for name in NAMES)
    return Declaration(columns=columns, each_row="step", hidden="replace_one")


def file(values: np.ndarray) -> PrivateRows:
    return PrivateRows(
        pd.DataFrame({name: [repr(float(x)) for x in column] for name, column in zip(NAMES, values.T, strict=True)})
    )


@pytest.mark.parametrize("kind", [kind for kind in EXACT if kind.about.release], ids=lambda kind: kind.key)
def test_the_release_it_names_draws_it(kind: Any) -> None:
    """The law of every play of the request is the strategy's own, at the account that holds for losses that react.

    Weighted majority has no way of its own: it is drawn as batched plays, each held for one round.
    """
    losses = np.random.default_rng(3).integers(0, 2, (40, 3)).astype(float)
    run = make(kind, rounds=40, experts=3)
    if hasattr(run, "rule"):
        run = dataclasses.replace(run, rule="zcdp")
    hold = 1 if kind is WeightedMajority else None
    delta = 1e-6 if kind.about.release == "batched" else 0.0
    request = PrivatePlays.of(
        declared(0.0), NAMES, epsilon=2.0, delta=delta, rounds=40, way=kind.about.release, hold=hold
    )
    assert request.cost == run.cost
    weights = run.weights(losses)
    np.testing.assert_allclose(request.law(file(losses)), weights[request.starts], atol=1e-7)
    if hold is not None:
        assert request.starts.tolist() == list(range(40))
        assert len(dataclasses.replace(request, hold=None).starts) < 40  # not what was chosen
    tilted = dataclasses.replace(request.choice, epsilon=1.2 * request.choice.epsilon)
    other = [tilted.law(scores) for scores in request.scores(request.read(file(losses)))]
    assert not np.allclose(other, weights[request.starts], atol=1e-3)


@every
def test_the_problem_evaluates_it(kind: Any, losses: np.ndarray) -> None:
    problem = ExpertsProblem(losses=losses, assumption=kind.assumption)
    assert problem.abouts[kind.key] is kind.about
    for metric in problem.metrics:
        found = problem.evaluate(kind.key, metric, np.array([0.5, 5.0]), np.full(2, float(ROUNDS)))
        assert (found.low <= found.value).all()
        assert (found.value <= found.high).all()
        assert (found.value <= ROUNDS).all()


every_choice = pytest.mark.parametrize("kind", list(linear.catalog().values()), ids=list(linear.catalog()))


def choice(kind: Any, **fields: Any) -> Any:
    return kind.at(**{"epsilon": 2.0, "delta": 1e-6, "rows": 12, "columns": 3} | fields)


@every_choice
def test_a_choice_is_data_with_a_name(kind: Any) -> None:
    check_about(kind, linear.catalog())
    run = choice(kind)
    assert run == choice(kind)
    assert run.cost.epsilon <= 2.0
    assert run.cost.delta <= 1e-6
    with pytest.raises(AttributeError):
        run.rows = 3
    for name, value in (("epsilon", 0.0), ("epsilon", math.nan), ("rows", 0), ("columns", 1)):
        with pytest.raises(InvalidArgument):
            choice(kind, **{name: value})


@every_choice
def test_a_choice_has_the_mean_it_states(kind: Any) -> None:
    """Weights that add up to 1; 3,000 simulated choices agree with their mean (χ²-like, five standard errors), and do
    not agree with that of other costs; the excess follows from the mean."""
    costs = np.random.default_rng(4).uniform(-1, 1, (12, 3))
    run, rng = choice(kind), np.random.default_rng(5)
    mean = run.expected_choice(costs)
    assert mean.shape == (3,)
    assert mean.sum() == pytest.approx(1)
    drawn = np.array([run.choose(costs, rng) for _ in range(3000)])
    assert np.allclose(drawn.sum(axis=1), 1)
    error = drawn.std(axis=0) / math.sqrt(3000)
    assert (np.abs(drawn.mean(axis=0) - mean) < 5 * error).all()
    assert (np.abs(drawn.mean(axis=0) - run.expected_choice(-costs)) > 5 * error).any()
    average = costs.mean(axis=0)
    assert kind.excess([run], costs).mean[0] == pytest.approx(mean @ average - average.min(), abs=1e-9)
    problem = linear.LinearProblem(costs=costs)
    assert problem.abouts[kind.key] is kind.about
    found = problem.evaluate(kind.key, "excess", np.array([2.0]), np.array([12.0])).value[0]
    assert found == pytest.approx(kind.excess([run], costs).mean[0])


@pytest.mark.parametrize("key", [key for key, kind in linear.catalog().items() if choice(kind).cost.delta == 0])
def test_one_choice_keeps_the_promise(key: str) -> None:
    """Exact log-ratios on worst-case rows; the law at twice the ε, as sensitivity 1 would give, is found out."""
    kind = linear.catalog()[key]

    def laws(level: float) -> Any:
        chooser = choice(kind, epsilon=level, rows=9, columns=4)
        return lambda costs: chooser.expected_choice(costs)[None]

    assert largest_loss(laws(0.5), ranged=False, low=-1.0) <= 0.5 + 1e-9
    assert largest_loss(laws(1.0), ranged=False, low=-1.0) > 0.6


@pytest.mark.parametrize("key", [key for key, kind in linear.catalog().items() if kind.about.release])
def test_the_release_a_choice_names_draws_it(key: str) -> None:
    """The least total, in units of 2⁻²⁰ of the range: its law is the choice's, the other's is not."""
    kind = linear.catalog()[key]
    costs = np.random.default_rng(4).uniform(-1, 1, (12, 3))
    run = choice(kind)
    apart = {}
    for rule in ("permute_and_flip", "exponential"):
        request = LeastCost.of(declared(-1.0), NAMES, epsilon=2.0, rule=rule)
        apart[rule] = np.abs(request.law(file(costs)) - run.expected_choice(costs)).max()
        assert rule != kind.about.release or request.cost == run.cost
    assert [rule for rule, distance in apart.items() if distance < 1e-5] == [kind.about.release]
