"""What only one strategy does: held plays, unknown length, the simulated mean of matrix factorisation."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from dpcore.errors import InvalidArgument
from dpcore.experts import (
    Batched,
    MatrixFactorisation,
    NonPrivate,
    Scenario,
    UnknownHorizon,
    catalog,
    running_regret,
)
from dpcore.experts.strategy import losses_of

ROUNDS, EXPERTS = 75, 6


@pytest.fixture(scope="module")
def losses() -> np.ndarray:
    rng = np.random.default_rng(7)
    return rng.random((ROUNDS, EXPERTS)) * np.linspace(0.5, 1.0, EXPERTS)


def make(kind: Any, **fields: Any) -> Any:
    return kind.at(**{"epsilon": 2.0, "delta": 1e-6, "rounds": ROUNDS, "experts": EXPERTS} | fields)


def test_plays_are_held() -> None:
    losses = np.random.default_rng(0).random((20, 3))
    plays = Batched(epsilon=1.0, delta=1e-6, rounds=20, experts=3, hold=6).play(losses, np.random.default_rng(1))
    for start in range(0, 20, 6):
        assert len(set(plays[start : start + 6])) == 1


def test_running_regret(losses: np.ndarray) -> None:
    plays = np.random.default_rng(0).integers(0, EXPERTS, ROUNDS)
    regret = running_regret(losses, plays)
    for end in (1, 20, ROUNDS):
        suffered = losses[np.arange(end), plays[:end]].sum()
        assert regret[end - 1] == pytest.approx(suffered - losses[:end].sum(axis=0).min())
    with pytest.raises(InvalidArgument, match="plays"):
        running_regret(losses, plays[:-1])


def test_more_privacy_costs_regret() -> None:
    """On days that are alike, weighted majority's regret falls as ε grows, down to the non-private one's."""
    losses = Scenario(story="gap", experts=5, gap=0.2, seed=1).losses(400)
    kind = catalog()["weighted_majority"]
    regret = kind.forecast(
        [make(kind, epsilon=e, rounds=400, experts=5) for e in np.geomspace(0.01, 100, 30)], losses
    ).regret
    assert (np.diff(regret) <= 1e-9).all()
    assert regret[-1] == pytest.approx(make(NonPrivate, rounds=400, experts=5).expected_regret(losses))


def test_the_horizon_is_not_used_when_unknown(losses: np.ndarray) -> None:
    """A run that is stopped later plays the same until then."""
    short, long = make(UnknownHorizon, rounds=60), make(UnknownHorizon)
    np.testing.assert_array_equal(short.weights(losses[:60]), long.weights(losses)[:60])


@pytest.mark.parametrize("key", catalog())
def test_chances_in_some_rounds_are_those_of_all(key: str, losses: np.ndarray) -> None:
    run = make(catalog()[key])
    each = np.concatenate([np.repeat(law, held, axis=0) for law, held in run.chances(losses_of(run, losses))])
    np.testing.assert_array_equal(run.weights(losses), each)
    for rounds in ([0], [run.rounds - 1], [0, 1, 2, 7, 40, run.rounds - 2]):
        np.testing.assert_array_equal(run.weights(losses, np.array(rounds)), each[rounds])


@pytest.mark.parametrize("epsilon", [0.05, 1.0, 10.0])
def test_the_simulated_mean_and_its_error(epsilon: float) -> None:
    """Matrix factorisation against 400 simulated runs of its own sampler: within 5 joint standard errors.

    And the band: its deviation is within 40 % of the sampled one (it comes from 5 × 20 paths that share noise).
    """
    losses = Scenario(story="gap", experts=5, gap=0.2, seed=3).losses(120)
    run = MatrixFactorisation(epsilon=epsilon, delta=1e-6, rounds=120, experts=5, paths=20)
    rng = np.random.default_rng(0)
    totals = [losses[np.arange(120), run.play(losses, rng)].sum() for _ in range(400)]
    found = MatrixFactorisation.forecast([run], losses)
    error = math.hypot(float(found.error[0]), float(np.std(totals)) / 20)
    assert abs(found.mean[0] - np.mean(totals)) < 5 * error
    assert found.deviation[0] == pytest.approx(np.std(totals), rel=0.4)


def test_the_stated_error_is_honest() -> None:
    """Over 40 seeds, deviations from the long-run mean in units of the stated error have a sensible spread.

    With 3 paths the error has 2 degrees of freedom, so Student's t: half of them lie within 0.82. Between 30 % and 75 %
    (binomial, 40 seeds, about ±3 sd) must.
    """
    losses = Scenario(story="gap", experts=4, gap=0.2, seed=3).losses(100)

    def forecast(seed: int, paths: int) -> tuple[float, float]:
        run = MatrixFactorisation(epsilon=1.0, delta=1e-6, rounds=100, experts=4, seed=seed, paths=paths)
        found = MatrixFactorisation.forecast([run], losses, spread=False)
        return float(found.mean[0]), float(found.error[0])

    truth = forecast(1000, 400)[0]
    units = np.array([(mean - truth) / error for mean, error in (forecast(seed, 3) for seed in range(40))])
    assert 0.3 < np.mean(np.abs(units) < 0.82) < 0.75


def test_matrix_factorisation_refuses_what_it_cannot_hold() -> None:
    with pytest.raises(InvalidArgument, match="4,000,000"):
        MatrixFactorisation(epsilon=1.0, delta=1e-6, rounds=100_000, experts=1000)


@pytest.mark.parametrize(("field", "value"), [("hold", 0), ("hold", 1.5)])
def test_bad_hold(field: str, value: float) -> None:
    with pytest.raises(InvalidArgument, match=field):
        Batched(epsilon=1.0, delta=1e-6, rounds=10, experts=2, **{field: value})
