"""NumericSparse: several alarms, and for each the value that raised it, with fresh noise."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from dpcore.about import About
from dpcore.costs import Cost
from dpcore.errors import InvalidArgument
from dpcore.thresholding.laws import AlarmLaw, check_series
from dpcore.thresholding.noise import NoiseKind, Share, check_parameters
from dpcore.thresholding.sparse import Sparse
from dpcore.validate import FloatArray, IntArray, in_range, probability


@dataclass(frozen=True, slots=True, kw_only=True)
class NumericSparse:
    """``Sparse`` that also publishes each answer it names, with new Laplace noise. Lyu, Su & Li 2017, Algorithm 7.

    ``value_share`` of ε pays for the values, each with noise of scale cΔ/(value_share·ε); the rest runs ``alarms``, a
    ``Sparse`` with the other fields. Publishing the noisy answer that was compared instead would break the promise.
    ε-DP for a series of any length. Raises InvalidArgument.

    >>> mechanism = NumericSparse(epsilon=3.0, limit=1)
    >>> round(mechanism.value_scale, 2), mechanism.alarms.epsilon
    (1.0, 2.0)
    """

    key: ClassVar[str] = "numeric_sparse"
    rank: ClassVar[int] = 3
    about: ClassVar[About] = About(
        name="Several alarms with values",
        plain="several alarms, each with its value",
        how=(
            "Alarms are raised as with a noisy line, and each comes with the answer that raised it, with fresh "
            "noise. The values take a part of the budget, so the alarms get less."
        ),
        source="Lyu, Su and Li, VLDB 2017, Algorithm 7.",
        nearest="sparse",
    )

    epsilon: float
    limit: int
    sensitivity: float = 1.0
    noise: NoiseKind = "laplace"
    threshold_share: Share = None
    monotonic: bool = False
    offset: float = 0.0
    value_share: float = 1 / 3

    def __post_init__(self) -> None:
        check_parameters(
            self.epsilon, self.sensitivity, self.noise, self.threshold_share, self.monotonic, self.offset, self.limit
        )
        in_range(0.01, 0.99, value_share=self.value_share)

    @property
    def alarms(self) -> Sparse:
        """The part that raises the alarms."""
        return Sparse(
            epsilon=self.epsilon * (1.0 - self.value_share),
            limit=self.limit,
            sensitivity=self.sensitivity,
            noise=self.noise,
            threshold_share=self.threshold_share,
            monotonic=self.monotonic,
            offset=self.offset,
        )

    @property
    def value_scale(self) -> float:
        """Scale of the Laplace noise on each published value, in units of the answers."""
        return self.limit * self.sensitivity / (self.value_share * self.epsilon)

    def value_error(self, beta: float) -> float:
        """Exactly: with probability 1 − ``beta`` all ``limit`` published values are within this of the answers."""
        each = -math.expm1(math.log1p(-probability(beta=beta)) / self.limit)
        return -self.value_scale * math.log(each)

    def alarm_law(self, answers: ArrayLike, threshold: float) -> AlarmLaw:
        """See ``Sparse.alarm_law``; given an alarm, its value is the answer plus independent Laplace noise."""
        return self.alarms.alarm_law(answers, threshold)

    def stop_law(self, answers: ArrayLike, threshold: float) -> FloatArray:
        """See ``Sparse.stop_law``."""
        return self.alarms.stop_law(answers, threshold)

    def log_density(
        self, answers: ArrayLike, threshold: float, alarms: Sequence[int], values: Sequence[float]
    ) -> float:
        """Logarithm of the density of raising exactly ``alarms`` (ascending) and publishing ``values`` for them."""
        places = list(alarms)
        if len(places) != len(values):
            raise InvalidArgument("values", "must be one for each alarm")
        log_probability = self.alarms.log_probability(answers, threshold, places)
        series, _ = check_series(answers, threshold, self.limit)
        errors = np.abs(np.asarray(values, dtype=np.float64) - series[places])
        return log_probability - float((errors / self.value_scale + math.log(2.0 * self.value_scale)).sum())

    def sample(
        self, answers: ArrayLike, threshold: float, rng: np.random.Generator, size: int
    ) -> tuple[IntArray, FloatArray]:
        """``size`` simulated runs: places of alarms and published values, shape (size, limit) each; k and NaN for none.

        Raises as ``Sparse.alarm_law``.
        """
        series, _ = check_series(answers, threshold, self.limit)
        places = self.alarms.sample(series, threshold, rng, size)
        none = places == series.size
        values = series[np.where(none, 0, places)] + rng.laplace(0.0, self.value_scale, places.shape)
        return places, np.where(none, np.nan, values)

    def error_rates(self, margins: ArrayLike) -> FloatArray:
        """See ``Sparse.error_rates``."""
        return self.alarms.error_rates(margins)

    def accuracy_bound(self, k: int, beta: float) -> float:
        """α for alarms and values together that holds with probability 1 − ``beta``, half of it for each part."""
        return max(self.alarms.accuracy_bound(k, beta / 2), self.value_error(beta / 2))

    def exact_alpha(self, k: int, beta: float) -> float:
        """As ``Sparse.exact_alpha``, of the alarms alone; ``value_error`` is exact for the values."""
        return self.alarms.exact_alpha(k, beta)

    @property
    def cost(self) -> Cost:
        """One run with its values."""
        return Cost.pure(self.epsilon)
