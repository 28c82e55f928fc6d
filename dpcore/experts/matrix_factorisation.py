"""Hedge on running totals with correlated Gaussian noise: the binary mechanism's best relative."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpcore.about import About
from dpcore.accounting import Cost
from dpcore.calibration import gaussian_noise_multiplier
from dpcore.errors import InvalidArgument
from dpcore.experts import strategy
from dpcore.experts.hedge import Losses, totals_at
from dpcore.experts.rates import hedge_rate
from dpcore.experts.strategy import Assumption, Chances, Forecast, check_private_run, losses_of
from dpcore.validate import FloatArray, IntArray, generator, whole

Singles = NDArray[np.float32]

SHIFTS = 4  # of each noise, evenly among the experts


@dataclass(frozen=True, slots=True, kw_only=True)
class MatrixFactorisation:
    """Publish every running total with Gaussian noise and play Hedge on them, at its best rate without privacy.

    The matrix of prefix sums is the square of the lower-triangular Toeplitz matrix with c_j = C(2j, j)/4^j. Noise
    z ~ N(0, (σ√k‖c‖)²) goes in between: one round moves C·losses by at most √k‖c‖ in L2, so all totals together are one
    Gaussian release, and a total's noise has sd at most σ√k Σc_j². Fichtenberger, Henzinger & Upadhyay, ICML 2023; for
    losses that react, Denisov et al., NeurIPS 2022. Good for few experts: noise grows with √k.

    The mean over this noise has no closed form here: forecasts average over ``paths`` simulated paths of the noise,
    each handed on from expert to expert, and state the standard error. The same paths, from ``seed``, are used at
    every ε. Raises InvalidArgument.

    >>> run = MatrixFactorisation.at(epsilon=1.0, delta=1e-6, rounds=100, experts=2)
    >>> round(run.cost.epsilon, 6), run.cost.delta
    (1.0, 1e-06)
    """

    key: ClassVar[str] = "matrix_factorisation"
    rank: ClassVar[int] = 5
    about: ClassVar[About] = About(
        name="Gaussian matrix factorisation",
        plain="noisy running totals, published every round",
        how=(
            "Every expert's running total of losses is published with noise that is shared cleverly between rounds, "
            "so that much of it cancels. Whom to follow is then decided from these totals alone. Good for few "
            "experts."
        ),
        formula=r"A = C C, \quad c_j = \tbinom{2j}{j} / 4^j, \quad \text{totals} = C (C \ell + z)",
        source="Fichtenberger, Henzinger and Upadhyay, ICML 2023; Denisov et al., NeurIPS 2022.",
        nearest="batched",
    )
    assumption: ClassVar[Assumption] = "any"
    largest: ClassVar[int] = 4_000_000  # rounds × experts: the correlated noise of a run is kept whole

    epsilon: float
    delta: float
    rounds: int
    experts: int
    paths: int = 3
    seed: int = 0

    def __post_init__(self) -> None:
        check_private_run(self.epsilon, self.delta, self.rounds, self.experts)
        whole(2, paths=self.paths)
        whole(0, seed=self.seed)
        if self.rounds * self.experts > self.largest:
            raise InvalidArgument(
                "rounds", f"times experts must be at most {self.largest:,} for this simulated strategy"
            )

    @classmethod
    def at(cls, *, epsilon: float, delta: float, rounds: int, experts: int, reacting: bool = False) -> Self:
        return cls(epsilon=epsilon, delta=delta, rounds=rounds, experts=experts)

    @property
    def noise_multiplier(self) -> float:
        """σ: noise over the L2 sensitivity of what is released."""
        return gaussian_noise_multiplier(self.epsilon, self.delta)

    @property
    def noise_scale(self) -> float:
        """Standard deviation of each z. The last round's losses enter no total that is used."""
        norm = float(np.linalg.norm(coefficients(self.rounds - 1)))
        return self.noise_multiplier * math.sqrt(self.experts) * norm

    @classmethod
    def forecast(cls, runs: Sequence[Self], losses: Losses, *, spread: bool = True) -> Forecast:
        first, ends = runs[0], np.array([run.rounds for run in runs])
        longest, rng = ends.max(), np.random.default_rng(first.seed)
        behind, table = _twice(_totals_before(losses[:longest])), _twice(losses[:longest].T.astype(np.float32))
        paths = [_path(longest, first.experts, rng) for _ in range(first.paths)]
        mean, error, variance = np.zeros(len(runs)), np.zeros(len(runs)), np.zeros(len(runs))
        for index, run in enumerate(runs):
            scale, length = np.float32(-run.rate * run.noise_scale), run.rounds
            logits, taken = behind[:, :length] * np.float32(-run.rate), table[:, :length]
            found = [_totals(path[:, :length] * scale, logits, taken, spread=spread) for path in paths]
            totals = np.array([total for total, _ in found])
            mean[index] = totals.mean()
            error[index] = totals.mean(axis=1).std(ddof=1) / math.sqrt(first.paths)
            variance[index] = np.mean([within for _, within in found]) + totals.var(ddof=1) if spread else 0.0
        best = totals_at(losses, ends).min(axis=1)
        return Forecast(mean=mean, deviation=np.sqrt(variance), best=best, error=error)

    @property
    def rate(self) -> float:
        """η."""
        return hedge_rate(self.rounds, self.experts)

    def chances(self, losses: Losses) -> Chances:
        """On one noise path, from ``seed``."""
        return self._chances(losses, np.random.default_rng(self.seed))

    def _chances(self, losses: Losses, rng: np.random.Generator) -> Chances:
        noisy = _totals_before(losses) + _path(self.rounds, self.experts, rng) * np.float32(self.noise_scale)
        law = _exponentials(noisy * np.float32(-self.rate)).T.astype(np.float64)
        yield law / law.sum(axis=1, keepdims=True), np.ones(self.rounds, dtype=np.int64)

    expected_regret = strategy.expected_regret
    weights = strategy.weights

    def play(self, losses: ArrayLike, rng: np.random.Generator) -> IntArray:
        """One simulated run with noise of its own, shape (rounds,). Raises InvalidArgument."""
        generator(rng=rng)
        return strategy.drawn(self._chances(losses_of(self, losses), rng), rng)

    @property
    def cost(self) -> Cost:
        """One Gaussian release of all totals; nothing for a single round, which is played blindly."""
        return Cost.gaussian(self.noise_multiplier, self.delta) if self.rounds > 1 else Cost(epsilon=0.0)


def coefficients(count: int) -> FloatArray:
    """c_0 … c_{count−1}, c_j = C(2j, j)/4^j: the square root of the matrix of prefix sums."""
    j = np.arange(1, max(count, 1))
    return np.concatenate([[1.0], np.cumprod((2 * j - 1) / (2 * j))])[:count]


def _path(rounds: int, experts: int, rng: np.random.Generator) -> Singles:
    """Noise of the totals before each round, for z of deviation 1, (experts, rounds): correlated over rounds.

    Drawn round by round, so that a longer run begins with the same noise.
    """
    from scipy.fft import irfft, next_fast_len, rfft

    length = next_fast_len(2 * rounds, real=True)
    kernel = rfft(coefficients(rounds).astype(np.float32), length)
    steps = np.ascontiguousarray(rng.standard_normal((rounds, experts), dtype=np.float32).T)
    path = np.asarray(irfft(rfft(steps, length) * kernel, length), dtype=np.float32)
    shifted = np.zeros((experts, rounds), dtype=np.float32)
    shifted[:, 1:] = path[:, : rounds - 1]
    return shifted


def _totals_before(losses: Losses) -> Singles:
    """Totals of each expert before each round, less the best one's, (experts, rounds)."""
    totals = np.zeros((losses.shape[1], losses.shape[0]))
    np.cumsum(losses[:-1].T, axis=1, dtype=np.float64, out=totals[:, 1:])
    below: Singles = (totals - totals.min(axis=0)).astype(np.float32)
    return below


def _twice(table: Singles) -> Singles:
    """Experts 1 … k and once more 1 … k: rows j … j + k are the experts handed on by j."""
    return np.concatenate([table, table])


def _totals(noise: Singles, logits: Singles, table: Singles, *, spread: bool) -> tuple[FloatArray, float]:
    """Expected total losses given ``noise``, one for each way it is handed on, and the variance of the plays."""
    experts, reach = noise.shape[0], float(np.abs(noise).max())  # the leader's logit is its noise alone
    shifts = np.unique(np.linspace(0, experts, min(experts, SHIFTS), endpoint=False).astype(int))
    totals, within = np.zeros(shifts.size), 0.0
    for place, shift in enumerate(shifts):
        law = _exponentials(noise + logits[shift : shift + experts], reach)
        weight = law.sum(axis=0)
        law *= table[shift : shift + experts]
        expected = law.sum(axis=0) / weight
        totals[place] = expected.sum(dtype=np.float64)
        if spread and place == 0:
            law *= table[shift : shift + experts]
            within = float((law.sum(axis=0) / weight - expected * expected).sum(dtype=np.float64))
    return totals, within


def _exponentials(logits: Singles, reach: float = math.inf) -> Singles:
    """exp of ``logits`` (experts, rounds), up to a factor in each round that keeps it in range; in place."""
    if reach > 60.0:
        logits -= logits.max(axis=0)
    return np.exp(logits, out=logits)
