"""Sparse: like AboveThreshold, but the run goes on until several alarms have been raised."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from dpcore.about import About
from dpcore.costs import Cost
from dpcore.errors import InvalidArgument
from dpcore.thresholding import accuracy, runs
from dpcore.thresholding.laws import AlarmLaw, alarm_law, check_series
from dpcore.thresholding.likelihood import log_probability
from dpcore.thresholding.noise import (
    NoiseKind,
    NoisePair,
    Share,
    best_share,
    check_parameters,
    offset_of,
    resolve_share,
)
from dpcore.validate import FloatArray, IntArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Sparse:
    """Name up to ``limit`` answers that, with noise, reach one noisy threshold. Lyu, Su & Li, VLDB 2017, Algorithm 7.

    Fields as in ``AboveThreshold``; the noise on the answers grows with ``limit`` (c), the threshold's is drawn once
    and does not. Left out, ``threshold_share`` is ``best``, ε₁ : ε₂ = 1 : (2c)^⅔ (c^⅔ monotonic). ε-DP for a series of
    any length. Raises InvalidArgument.

    >>> law = Sparse(epsilon=4.0, limit=2).alarm_law([0, 20, 0, 20], 10)
    >>> law.per_query.round(2).tolist()
    [0.0, 1.0, 0.0, 1.0]
    """

    key: ClassVar[str] = "sparse"
    rank: ClassVar[int] = 2
    about: ClassVar[About] = About(
        name="Several alarms",
        plain="a noisy line, and several alarms before it stops",
        how=(
            "The line gets noise once. Each number gets noise of its own and is compared with the noisy line, until "
            "the agreed number of alarms has been raised. More alarms need more noise on every number."
        ),
        source="Lyu, Su and Li, VLDB 2017, Algorithm 7.",
        release="alarm",
    )

    epsilon: float
    limit: int
    sensitivity: float = 1.0
    noise: NoiseKind = "laplace"
    threshold_share: Share = None
    monotonic: bool = False
    offset: float = 0.0

    def __post_init__(self) -> None:
        check_parameters(
            self.epsilon, self.sensitivity, self.noise, self.threshold_share, self.monotonic, self.offset, self.limit
        )

    @classmethod
    def tuned(
        cls,
        *,
        epsilon: float,
        limit: int,
        k: int,
        beta: float = 0.05,
        sensitivity: float = 1.0,
        noise: NoiseKind = "exponential",
        monotonic: bool = False,
    ) -> Sparse:
        """Share and offset for which the exact α of ``k`` answers is smallest. Raises InvalidArgument."""
        design = accuracy.best_design(k, beta, noise, limit, monotonic)
        return cls(
            epsilon=epsilon,
            limit=limit,
            sensitivity=sensitivity,
            noise=noise,
            threshold_share=design.share,
            monotonic=monotonic,
            offset=offset_of(design.offset, sensitivity, epsilon),
        )

    @property
    def share(self) -> float:
        """The part of ε spent on the threshold."""
        best = best_share(self.limit, monotonic=self.monotonic)
        return resolve_share(self.threshold_share, otherwise=best, limit=self.limit, monotonic=self.monotonic)

    @property
    def scales(self) -> NoisePair:
        """The two noises, in units of the answers."""
        return NoisePair.of(self.epsilon, self.sensitivity, self.noise, self.share, self.limit, self.monotonic)

    def alarm_law(self, answers: ArrayLike, threshold: float) -> AlarmLaw:
        """Exact law of where each alarm falls, how many there are and which queries raise one, for ``answers`` (k,).

        Raises InvalidArgument, also for fewer answers than ``limit``.
        """
        series, line = check_series(answers, threshold, self.limit)
        return alarm_law(self.scales, series, line + self.offset, self.limit)

    def stop_law(self, answers: ArrayLike, threshold: float) -> FloatArray:
        """Exact law of the place of the last alarm allowed, shape (k+1,), the last entry "never". See ``alarm_law``."""
        last: FloatArray = self.alarm_law(answers, threshold).position[-1]
        return last

    def log_probability(self, answers: ArrayLike, threshold: float, alarms: Sequence[int]) -> float:
        """Logarithm of the chance that exactly the queries ``alarms`` (ascending) raise one, however rare."""
        series, line = check_series(answers, threshold, self.limit)
        places = list(alarms)
        inside = all(0 <= place < series.size for place in places)
        if not inside or len(places) > self.limit or sorted(set(places)) != places:
            raise InvalidArgument("alarms", "must be ascending places, at most as many as the limit")
        asked = series[: places[-1] + 1] if len(places) == self.limit else series
        raised = np.zeros(asked.size, dtype=np.bool_)
        raised[places] = True
        return log_probability(self.scales, asked, line + self.offset, raised)

    def sample(self, answers: ArrayLike, threshold: float, rng: np.random.Generator, size: int) -> IntArray:
        """Places of the alarms of ``size`` simulated runs, shape (size, limit); k where there is none.

        Raises as ``alarm_law``.
        """
        series, line = check_series(answers, threshold, self.limit)
        return runs.positions(self.scales, series, line + self.offset, self.limit, rng, size)

    def trace(self, answers: ArrayLike, threshold: float, rng: np.random.Generator) -> runs.Trace:
        """One simulated run in detail. Raises as ``alarm_law``."""
        series, line = check_series(answers, threshold, self.limit)
        return runs.trace(self.scales, series, line + self.offset, self.limit, rng)

    def error_rates(self, margins: ArrayLike) -> FloatArray:
        """Chance that one query alone is decided wrongly, by its margin (answer − threshold), same shape.

        Below the threshold this is the false-positive rate, at or above it the false-negative rate; closed forms.
        """
        return self.scales.error_rates(margins, self.offset)

    def accuracy_bound(self, k: int, beta: float) -> float:
        """α that holds for ``k`` answers with probability 1 − ``beta`` by a union bound, in units of the answers.

        Dwork & Roth 2014, Theorem 3.26, with one noisy threshold for the whole run.
        """
        return accuracy.theorem_alpha(self.scales, k, beta, self.offset)

    def exact_alpha(self, k: int, beta: float) -> float:
        """The smallest α that holds with probability 1 − ``beta`` for the worst ``k`` answers, ``limit`` high ones."""
        return accuracy.exact_alpha(self.scales, k, self.limit, beta, self.offset)

    @property
    def cost(self) -> Cost:
        """One run, however many queries it answers."""
        return Cost.pure(self.epsilon)
