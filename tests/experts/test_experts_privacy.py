"""Privacy, exactly: one play on worst-case and generated neighbours, what each epoch may look at, and the noise."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpcore.accounting import gaussian_epsilon
from dpcore.errors import InvalidArgument
from dpcore.experts import (
    Batched,
    DoublingLeader,
    LinearLearner,
    MatrixFactorisation,
    UnknownHorizon,
    WeightedMajority,
    expected_regret,
)
from dpcore.experts.linear.learner import unit_losses
from dpcore.experts.matrix_factorisation import coefficients
from tests.audit.experts_exact import Finding, findings, hedge_laws


@pytest.fixture(scope="module", params=[(1.0, 1e-3), (0.1, 1e-6)], ids=str)
def lines(request: pytest.FixtureRequest) -> list[Finding]:
    return findings(*request.param)


@pytest.mark.thorough
def test_promises_hold_and_broken_twins_are_found(lines: list[Finding]) -> None:
    """Among the twins: the textbook's linear learner as printed, whose plays have range 4η instead of 2η (trap 2)."""
    assert [line for line in lines if not line.passed] == []
    printed = next(line for line in lines if line.mechanism == "linear learner as printed")
    assert printed.found == pytest.approx(2 * printed.promised, rel=1e-9)


@pytest.mark.thorough
def test_the_worst_cases_are_worst(lines: list[Finding]) -> None:
    """The search uses up every promise to 1 %: a play is 2η-bounded range, no more and no less."""
    for line in lines:
        if not line.broken:
            assert line.found > 0.99 * line.promised, line


def test_the_log_ratio_reaches_twice_the_rate() -> None:
    """An expert far behind, whom one round turns from worst to best: ln P(D)/P(D′) → 2η (1e-6 is e^−14)."""
    rate = 0.5
    losses = np.zeros((30, 2))
    losses[:29, 0], other = 1.0, losses.copy()
    other[:29, 0] = 1.0
    losses[0], other[0] = (0.0, 1.0), (1.0, 0.0)
    ratio = np.log(hedge_laws(rate)(losses)[-1, 0]) - np.log(hedge_laws(rate)(other)[-1, 0])
    assert ratio == pytest.approx(2 * rate, rel=1e-5)


def test_unscaled_losses_are_refused_or_rescaled() -> None:
    """Trap 2: costs in [−1, 1] never reach weighted majority as they are."""
    costs = np.random.default_rng(0).uniform(-1, 1, (20, 3))
    run = WeightedMajority(epsilon=1.0, delta=1e-6, rounds=20, experts=3)
    for use in (run.expected_regret, run.weights, lambda x: run.play(x, np.random.default_rng(0))):
        with pytest.raises(InvalidArgument, match="between 0 and 1"):
            use(costs)
    with pytest.raises(InvalidArgument, match="between 0 and 1"):
        expected_regret(costs, [0.1])
    learner = LinearLearner(epsilon=1.0, delta=1e-6, rows=20, columns=3)
    laws = hedge_laws(learner.majority.rate)((1 + costs) / 2)
    np.testing.assert_allclose(learner.expected_choice(costs), laws.mean(axis=0), rtol=1e-9)
    np.testing.assert_array_equal(unit_losses(costs), (1 + costs) / 2)


def test_the_textbook_learner_as_printed_breaks_its_promise() -> None:
    """4η in the textbook's own composition theorem (3.20) gives more than ε = 1: the error list says 1.036–1.044."""
    for delta in (1e-6, 1e-3):
        rounds = 10_000
        each = 4 / math.sqrt(32 * rounds * math.log(1 / delta))
        total = each * math.sqrt(2 * rounds * math.log(1 / delta)) + rounds * each * math.expm1(each)
        assert total > 1.03


@pytest.mark.parametrize(
    "run",
    [
        UnknownHorizon(epsilon=2.0, delta=1e-6, rounds=200, experts=3),
        DoublingLeader(epsilon=2.0, rounds=200, experts=3),
    ],
    ids=lambda run: run.key,
)
def test_a_round_is_used_in_one_epoch_only(run: UnknownHorizon | DoublingLeader) -> None:
    """Parallel composition: changing one round changes the laws of one epoch, and none before it."""
    losses = np.random.default_rng(1).random((200, 3))
    before = run.weights(losses)
    ends = np.array([16, 48, 112, 240]) if isinstance(run, UnknownHorizon) else 2 ** np.arange(1, 9) - 1
    for row in (0, 5, 17, 60, 130, 199):
        other = losses.copy()
        other[row] = 1 - other[row]
        moved = np.flatnonzero((run.weights(other) != before).any(axis=1))
        epochs = set(np.searchsorted(ends, moved, side="right").tolist())
        assert len(epochs) <= 1
        assert (moved > row).all()


def test_the_last_rounds_losses_are_never_looked_at() -> None:
    losses = np.random.default_rng(2).random((30, 3))
    other = losses.copy()
    other[-1] = 1 - other[-1]
    for run in (
        WeightedMajority(epsilon=1.0, delta=1e-6, rounds=30, experts=3),
        Batched(epsilon=1.0, delta=1e-6, rounds=30, experts=3),
        MatrixFactorisation(epsilon=1.0, delta=1e-6, rounds=30, experts=3),
    ):
        np.testing.assert_array_equal(run.weights(losses), run.weights(other))


@pytest.mark.parametrize("rounds", [2, 3, 40])
def test_matrix_factorisation_is_one_gaussian_release(rounds: int) -> None:
    """R·C is the matrix of prefix sums; no round moves C·losses by more than noise / σ; σ is exact for (ε, δ).

    A round replaced moves each expert's loss by at most 1 either way, so √k times the column norm of C in L2.
    """
    run = MatrixFactorisation(epsilon=1.0, delta=1e-6, rounds=rounds, experts=5)
    c = coefficients(rounds - 1)
    root = np.array([[c[i - j] if i >= j else 0.0 for j in range(rounds - 1)] for i in range(rounds - 1)])
    np.testing.assert_allclose(root @ root, np.tril(np.ones((rounds - 1, rounds - 1))), atol=1e-12)
    moved = math.sqrt(5) * np.linalg.norm(root, axis=0).max()
    assert gaussian_epsilon(run.noise_scale / moved, 1e-6) <= 1.0 + 1e-9
    assert gaussian_epsilon(0.8 * run.noise_scale / moved, 1e-6) > 1.05


def test_matrix_factorisation_has_the_noise_it_promises() -> None:
    """At η → 0 the log-odds of a run are −η × noisy totals: their spread is the noise's. χ², 2,000 values, ±5 sd.

    The last total's deviation is σ√k Σc² by mechanisms.md §3; 80 % of it is 20 standard errors away.
    """
    from dpcore.experts.matrix_factorisation import _path

    rng = np.random.default_rng(3)
    rounds = 33
    last = np.concatenate([_path(rounds, 50, rng)[:, -1] for _ in range(40)])
    expected = float(np.sum(coefficients(rounds - 1) ** 2)) / np.linalg.norm(coefficients(rounds - 1))
    assert last.std() == pytest.approx(expected, rel=5 / math.sqrt(2 * last.size))
