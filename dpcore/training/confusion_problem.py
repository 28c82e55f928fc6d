"""The question how often a drawn model is right on the rows: how far off the told share is, and what it decides."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

from dpcore.about import About
from dpcore.calibration import zcdp_gaussian_noise_multiplier, zcdp_rho
from dpcore.errors import InvalidArgument
from dpcore.tradeoff import Estimate, Metric, Problem, keyed
from dpcore.training.confusion import CELLS, Confusion
from dpcore.training.confusion_law import told_off, verdict_chance
from dpcore.training.count_noise import GaussianNoise, LaplaceNoise, Noise
from dpcore.validate import FloatArray, Neighbours, one_of, probability, whole

TOLD, THEORY = "told", "theory"
_MAP = 500  # settings from which on they are a map, of which nobody sees a thousandth
METRICS = keyed(
    Metric(
        key="off",
        name="How far off the told share is",
        title="told share off by at most, 95 times in 100 (points of 100)",
        better="lower",
        factor=100.0,
        unit=" points",
    ),
    Metric(
        key="verdict",
        name="Chance of the right verdict",
        title="right verdicts in 100",
        better="higher",
        factor=100.0,
        unit=" times in 100",
        share=True,
    ),
)
_THEORY = About(
    name="What theory promises",
    plain="what is sure whatever the rows are",
    how=(
        "Whatever the model and the rows, the told share is at most as far off as the larger noise of how many are "
        "right and how many are wrong, over the number of people."
    ),
    formula=r"|\text{told} - \text{true}| \le \frac{x_\beta}{n}",
    source="The share of two noisy numbers rises with one and falls with the other.",
)
_HOW = (
    "Every row is in one of four cells: found, missed, a false alarm, or rightly left. Each count gets {noise}, and "
    "how often the model is right follows from the four."
)
_LAPLACE = About(
    name="Four noisy counts",
    plain="each of four counts with its own noise",
    how=_HOW.format(noise="two-sided geometric noise"),
    formula=r"P(\text{noise} = x) = \frac{1 - q}{1 + q} \, q^{|x|}, \quad q = e^{-\varepsilon / s}",
    source="Ghosh, Roughgarden and Sundararajan, STOC 2009; Dwork and Roth, 2014, on histograms.",
    textbook=True,
    release="model_confusion",
)
_GAUSSIAN = About(
    name="Four counts with Gaussian noise",
    plain="each of four counts with its own noise",
    how=_HOW.format(noise="discrete Gaussian noise"),
    formula=r"P(\text{noise} = x) \propto e^{-x^2 / (2 \sigma^2)}, \quad \sigma = \frac{s}{\sqrt{2 \rho}}",
    source="Canonne, Kamath and Steinke, NeurIPS 2020.",
    release="model_confusion_gaussian",
)
ABOUTS = MappingProxyType(
    {
        LaplaceNoise: MappingProxyType({TOLD: _LAPLACE, THEORY: _THEORY}),
        GaussianNoise: MappingProxyType({TOLD: _GAUSSIAN, THEORY: _THEORY}),
    }
)
"""By the law of the noise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfusionProblem(Problem):
    """A drawn model of which ``true`` says how often it is right, told by four noisy counts, exactly.

    ``true`` counts rows; the question is about so many ``rows`` like them, or about these. One person has at most
    ``rows_per_person`` rows and is hidden by ``relation``; at n people the cells keep their shares; ``questions`` such
    answers share ε evenly, by discrete Laplace noise; where there is a ``delta``, the ρ that ε and it stand for, by
    discrete Gaussian noise. Metrics: ``off``, within which the told share of right ones lies of the true one, but for a
    chance of ``beta``; ``verdict``, the chance that the told counts say rightly whether the model beats always the more
    common answer. Method ``theory`` bounds both from n alone: what can be right by no more than luck it does not
    promise. Raises InvalidArgument.

    >>> import numpy as np
    >>> some = Confusion(found=40, missed=10, false_alarms=10, rightly_left=40)
    >>> problem = ConfusionProblem(true=some)
    >>> problem.evaluate("told", "off", np.array([1.0]), np.array([100.0])).value.round(3).tolist()
    [0.033]
    """

    true: Confusion
    rows: int | None = None
    relation: Neighbours = "add_remove"
    rows_per_person: int = 1
    questions: int = 1
    delta: float | None = None
    beta: float = 0.05

    def __post_init__(self) -> None:
        one_of(("add_remove", "replace_one"), relation=self.relation)
        whole(1, rows_per_person=self.rows_per_person)
        whole(1, questions=self.questions)
        probability(beta=self.beta)
        if self.delta is not None:
            probability(delta=self.delta)
        counts = [whole(0, **{name: getattr(self.true, name)}) for name in CELLS]
        if sum(counts) < 1:
            raise InvalidArgument("true", "must be counts of at least one row")
        if self.rows is not None:
            whole(1, rows=self.rows)

    @property
    def n(self) -> int:
        """How many rows have an answer: no sum of shares, which floats let fall below it."""
        return int(self.true.total) if self.rows is None else self.rows

    @property
    def abouts(self) -> Mapping[str, About]:
        """``told`` (four noisy counts) and ``theory``."""
        return ABOUTS[self.noise_law]

    @property
    def metrics(self) -> Mapping[str, Metric]:
        """See the class."""
        return METRICS

    @property
    def noise_law(self) -> type[Noise]:
        """Of the noise on each count."""
        return LaplaceNoise if self.delta is None else GaussianNoise

    def scale(self, epsilon: ArrayLike) -> FloatArray:
        """Of the noise on each count, the shape of ``epsilon``."""
        level, replaced = np.asarray(epsilon, dtype=np.float64), self.relation == "replace_one"
        if self.delta is None:
            return self.rows_per_person * (2 if replaced else 1) * self.questions / level
        moved = self.rows_per_person * (math.sqrt(2.0) if replaced else 1.0)
        known = {one: zcdp_rho(one, self.delta) for one in np.unique(level).tolist()}
        return np.asarray(
            [moved * zcdp_gaussian_noise_multiplier(known[one], self.questions) for one in level.ravel().tolist()]
        ).reshape(level.shape)

    def at(self, n: float) -> Confusion:
        """The cells of so many rows like these."""
        return Confusion(**{name: getattr(self.true, name) * n / self.true.total for name in CELLS})

    def evaluate(self, method: str, metric: str, epsilon: FloatArray, n: FloatArray) -> Estimate:
        """See ``tradeoff.Problem``; ``epsilon`` and ``n`` of shape (m,). Raises InvalidArgument."""
        one_of(self.methods, method=method)
        one_of(tuple(self.metrics), metric=metric)
        sizes, scales = np.asarray(n, dtype=np.float64), self.scale(np.asarray(epsilon, dtype=np.float64))
        if metric == "off":
            return self._off(method, scales, sizes)
        measure = self._verdict if method == TOLD else self._sure
        value = np.array([measure(*one) for one in zip(scales.tolist(), sizes.tolist(), strict=True)])
        return Estimate.exact(value) if method == TOLD else Estimate.bound(value)

    def _off(self, method: str, scales: FloatArray, sizes: FloatArray) -> Estimate:
        if method == THEORY:
            return Estimate.bound(np.minimum(1.0, self.noise_law(scale=scales).within(self.beta) / sizes))
        right, wrong = (part / self.true.total * sizes for part in (self.true.right, self.true.wrong))
        rough: dict[str, Any] = {"places": 121, "finest": 1e-3} if sizes.size > _MAP else {}
        return Estimate.exact(told_off(right, wrong, scales, self.beta, law=self.noise_law, **rough))

    def _verdict(self, scale: float, n: float) -> float:
        chance = verdict_chance(self.at(n), scale, self.noise_law)
        return chance if self.true.better else 1.0 - chance

    def _sure(self, scale: float, n: float) -> float:
        """By Chebyshev's inequality on each comparison, of which the noise is a sum of two: 0 where that says
        nothing."""
        here = self.at(n)
        gains = (here.found - here.false_alarms, here.rightly_left - here.missed)
        variance = float(self.noise_law(scale=scale).variance)
        wrong = [min(1.0, variance / (gain * gain)) if gain else 1.0 for gain in gains]
        if self.true.better:
            return max(0.0, 1.0 - sum(wrong))
        return 1.0 - min(one for one, gain in zip(wrong, gains, strict=True) if gain <= 0.0)

    def elsewhere(self) -> float:
        """How far from the share of all people like these that of as many lies whom the model was not made from, 95
        times in 100 at most, by the normal law at a half, where it is widest: the share here, of rows it may have been
        made from, says nothing of theirs."""
        return float(ndtri(0.975)) * math.sqrt(0.25 / self.n)
