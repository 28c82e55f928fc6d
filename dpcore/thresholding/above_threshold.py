"""AboveThreshold: watch a series of answers and say when the first one passes the line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from dpcore.about import About
from dpcore.costs import Cost
from dpcore.thresholding import accuracy, runs
from dpcore.thresholding.laws import alarm_law, check_series
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
from dpcore.validate import FloatArray, IntArray, whole


@dataclass(frozen=True, slots=True, kw_only=True)
class AboveThreshold:
    """Stop at the first answer that, with noise, reaches the noisy threshold. Dwork & Roth 2014, Algorithm 1.

    ``sensitivity`` Δ: how far one person can move any one answer; how many answers a person moves does not matter.
    Neighbours are whatever Δ is stated for. ``monotonic`` promises that one person moves all answers the same way
    (counts, one person added or removed) and halves the noise on the answers. ``noise``: ``laplace``, or
    ``exponential``, which is as private at 1/√2 of the spread. ``threshold_share``: the part of ε spent on the
    threshold; ``best`` gives the smallest spread (Lyu, Su & Li 2017), and left out it is the textbook's ½ for Laplace
    noise and ``best`` for exponential. ``offset`` (in units of the answers) raises the threshold; chosen without
    looking at the data it costs nothing. ε-DP for a series of any length. Raises InvalidArgument.

    >>> law = AboveThreshold(epsilon=2.0).stop_law([0, 0, 20, 0], 10)
    >>> [round(float(chance), 3) for chance in law]  # the last one: never
    [0.004, 0.004, 0.987, 0.0, 0.004]
    """

    key: ClassVar[str] = "above_threshold"
    rank: ClassVar[int] = 1
    about: ClassVar[About] = About(
        name="First alarm",
        plain="a noisy line, and one alarm when it is reached",
        how=(
            "The line gets noise once, before anything is asked. Each number gets noise of its own and is compared "
            "with the noisy line. One price pays for the whole run, whether it rings or not: silence costs nothing "
            "more, however many numbers are compared, and with an alarm the run is over."
        ),
        formula=(
            r"\begin{gathered}\Pr[\text{stop at } i] = \\ \int f_\rho(t) \prod_{j<i} F_\nu(a_j)\,\bigl(1 - "
            r"F_\nu(a_i)\bigr)\,dt \\ a_j = T + t - q_j\end{gathered}"
        ),
        source="Dwork and Roth, 2014, Algorithm 1; Lyu, Su and Li, VLDB 2017.",
        textbook=True,
        release="alarm",
    )

    epsilon: float
    sensitivity: float = 1.0
    noise: NoiseKind = "laplace"
    threshold_share: Share = None
    monotonic: bool = False
    offset: float = 0.0

    def __post_init__(self) -> None:
        check_parameters(
            self.epsilon, self.sensitivity, self.noise, self.threshold_share, self.monotonic, self.offset, 1
        )

    @classmethod
    def tuned(
        cls,
        *,
        epsilon: float,
        k: int,
        beta: float = 0.05,
        sensitivity: float = 1.0,
        noise: NoiseKind = "exponential",
        monotonic: bool = False,
    ) -> AboveThreshold:
        """Share and offset for which the exact α of ``k`` answers is smallest. Raises InvalidArgument."""
        design = accuracy.best_design(k, beta, noise, 1, monotonic)
        return cls(
            epsilon=epsilon,
            sensitivity=sensitivity,
            noise=noise,
            threshold_share=design.share,
            monotonic=monotonic,
            offset=offset_of(design.offset, sensitivity, epsilon),
        )

    @property
    def share(self) -> float:
        """The part of ε spent on the threshold."""
        usual = 0.5 if self.noise == "laplace" else best_share(1, monotonic=self.monotonic)
        return resolve_share(self.threshold_share, otherwise=usual, limit=1, monotonic=self.monotonic)

    @property
    def scales(self) -> NoisePair:
        """The two noises, in units of the answers."""
        return NoisePair.of(self.epsilon, self.sensitivity, self.noise, self.share, 1, self.monotonic)

    def stop_law(self, answers: ArrayLike, threshold: float) -> FloatArray:
        """Exact law of the place of the alarm among ``answers`` (k,): shape (k+1,), the last entry "never".

        Any k from 1 to 10⁶. Raises InvalidArgument.
        """
        series, line = check_series(answers, threshold)
        first: FloatArray = alarm_law(self.scales, series, line + self.offset, 1).position[0]
        return first

    def log_probability(self, answers: ArrayLike, threshold: float, alarm: int | None) -> float:
        """Logarithm of the chance that the run stops at query ``alarm`` (None: never), however rare."""
        series, line = check_series(answers, threshold)
        asked = series if alarm is None else series[: whole(0, series.size - 1, alarm=alarm) + 1]
        raised = np.zeros(asked.size, dtype=np.bool_)
        if alarm is not None:
            raised[-1] = True
        return log_probability(self.scales, asked, line + self.offset, raised)

    def sample(self, answers: ArrayLike, threshold: float, rng: np.random.Generator, size: int) -> IntArray:
        """Where ``size`` simulated runs stop: indices 0..k, k for "never", shape (size,). Raises InvalidArgument."""
        series, line = check_series(answers, threshold)
        return runs.positions(self.scales, series, line + self.offset, 1, rng, size)[:, 0]

    def trace(self, answers: ArrayLike, threshold: float, rng: np.random.Generator) -> runs.Trace:
        """One simulated run in detail. Raises InvalidArgument."""
        series, line = check_series(answers, threshold)
        return runs.trace(self.scales, series, line + self.offset, 1, rng)

    def error_rates(self, margins: ArrayLike) -> FloatArray:
        """Chance that one query alone is decided wrongly, by its margin (answer − threshold), same shape.

        Below the threshold this is the false-positive rate, at or above it the false-negative rate; closed forms.
        """
        return self.scales.error_rates(margins, self.offset)

    def accuracy_bound(self, k: int, beta: float) -> float:
        """α that a theorem promises for ``k`` answers with probability 1 − ``beta``, in units of the answers.

        Dwork & Roth 2014, Theorem 3.24, 8(ln k + ln(2/β))Δ/ε, for the textbook's version; the same proof for others.
        """
        return accuracy.theorem_alpha(self.scales, k, beta, self.offset)

    def exact_alpha(self, k: int, beta: float) -> float:
        """The smallest α that holds for ``k`` answers with probability 1 − ``beta`` on the worst series."""
        return accuracy.exact_alpha(self.scales, k, 1, beta, self.offset)

    @property
    def cost(self) -> Cost:
        """One run, however many queries it answers."""
        return Cost.pure(self.epsilon)
