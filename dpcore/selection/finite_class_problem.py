"""The question which hypothesis of a finite class predicts best."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

from dpcore.about import About
from dpcore.errors import InvalidArgument
from dpcore.selection.laws import Selector, abouts, find, promised_slopes
from dpcore.selection.learning import learning_bound
from dpcore.selection.most_common import ABOUT_THEORY, THEORY
from dpcore.selection.rules import RuleClass
from dpcore.selection.scores import histogram, scaled
from dpcore.selection.sharing import per_question
from dpcore.tradeoff import Estimate, Metric, Problem, keyed
from dpcore.validate import (
    FloatArray,
    Neighbours,
    finite_matrix,
    finite_vector,
    in_range,
    one_of,
    positive,
    probability,
    whole,
)

PAC = "pac"
_HAIR = 1e-12  # rates are quotients of whole numbers: rounding must not exclude alpha itself

METRICS = keyed(
    Metric(
        key="error",
        name="Wrong predictions",
        title="wrong predictions in 100",
        better="lower",
        factor=100.0,
        unit=" in 100",
    ),
    Metric(
        key="excess",
        name="Wrong above the best",
        title="wrong in 100, above the best rule",
        better="lower",
        factor=100.0,
        unit=" in 100",
    ),
    Metric(
        key="success",
        name="Chance of a near-best rule",
        title="near-best choices in 100",
        better="higher",
        factor=100.0,
        unit=" times in 100",
        share=True,
    ),
)
ABOUT_PAC = About(
    name="What the learning theorem promises",
    plain="what is sure about people not yet seen",
    how=(
        "A theorem about learning says how far above the best rule the chosen one may err on people who are not in the "
        "table. It covers both noise and having seen only these people."
    ),
    formula=r"\max\Bigl(\frac{\ln k + \ln(1/\beta)}{a n}, \sqrt{\frac{\ln k}{n}}\Bigr)",
    source="Kasiviswanathan et al., FOCS 2008.",
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FiniteClassProblem(Problem):
    """Which of k hypotheses errs least: every selection mechanism, exactly.

    ``errors`` (d,) on ``people`` rows, with ``counts`` (d,) hypotheses each (1 unless given); at n people the rates
    stay. ``relation`` as for ``FiniteClass``, for a person with up to ``rows_per_person`` rows. ``alpha``: how far
    above the best error rate still counts as right.
    ``questions`` such choices share the budget, (ε, ``delta``) in all (see ``sharing.per_question``).
    ``covariance`` (d, d) of two hypotheses' mistakes on one person, for the band; ``of_rules`` counts all that from a
    table. ``best`` is the lowest error rate in the class.

    Metrics: ``error``, the mean error rate of the chosen hypothesis; ``excess``, how far that is above the best;
    ``success``, the chance of an excess of at most ``alpha``. Two bounds: ``theory``, the exponential mechanism's
    utility theorem or that of another ``theorem``, about privacy noise alone like every exact value; ``pac``,
    ``learning.learning_bound``, about sampling too: with probability 1 − ``beta`` the true error rate is at most that
    much above the best's. Both hold for the mechanism ``theorem``. ``error`` adds the observed best rate.

    ``value`` is exact for rates as observed. ``low`` and ``high`` show the other error, of drawing n people, judged by
    the observed rates: the share ``band`` of draws gives between them. For that the rates move along the likeliest
    path of the linear function of them that moves the metric most (normal approximation). Off when ``band`` is 0 or
    ``covariance`` is not known. Raises InvalidArgument.

    >>> import numpy as np
    >>> rules = FiniteClassProblem(errors=[10.0, 30.0, 50.0], people=100)
    >>> rules.evaluate("exponential", "error", np.array([0.5]), np.array([100.0])).value.round(3).tolist()
    [0.101]
    """

    errors: FloatArray
    people: int
    counts: FloatArray | None = None
    relation: Neighbours = "replace_one"
    alpha: float = 0.01
    rows_per_person: int = 1
    questions: int = 1
    delta: float = 0.0
    beta: float = 0.05
    band: float = 0.8
    covariance: FloatArray | None = None
    theorem: str = "exponential"
    best: float = field(init=False)
    _gaps: FloatArray = field(init=False, repr=False)
    _number: FloatArray = field(init=False, repr=False)

    def __post_init__(self) -> None:
        errors = finite_vector(errors=self.errors).copy()
        errors.flags.writeable = False
        levels, total, _ = histogram(errors, np.ones(errors.size) if self.counts is None else self.counts)
        if levels[-1] > whole(1, people=self.people):
            raise InvalidArgument("errors", "must be at most the number of people")
        one_of(("add_remove", "replace_one"), relation=self.relation)
        in_range(0.0, 1.0, alpha=self.alpha)
        whole(1, rows_per_person=self.rows_per_person)
        whole(1, questions=self.questions)
        in_range(0.0, 1.0, open_high=True, delta=self.delta)
        probability(beta=self.beta)
        in_range(0.0, 1.0, open_high=True, band=self.band)
        find(self.theorem)
        if self.covariance is not None:
            square = finite_matrix(covariance=self.covariance).shape == (errors.size, errors.size)
            if not square or self.counts is not None:
                raise InvalidArgument("covariance", "must have a row and column for each of the errors, and no counts")
        held = total > 0
        derived = {
            "errors": errors,
            "best": float(levels[held][0]) / self.people,
            "_gaps": (levels[held] - levels[held][0]) / self.people,
            "_number": total[held],
        }
        for name, value in derived.items():
            object.__setattr__(self, name, value)

    @classmethod
    def of_rules(cls, rules: RuleClass, table: Mapping[str, Any], target: ArrayLike, **choices: Any) -> Self:
        """The question which of ``rules`` predicts the yes/no ``target`` (n,) best; ``choices`` are other fields.

        ``errors`` are in the order of ``rules.rules``. Raises InvalidArgument.
        """
        covariance = rules.covariance(table, target) if choices.get("band", 1.0) else None
        errors = rules.errors(table, target).astype(np.float64)
        return cls(errors=errors, people=int(np.size(target)), covariance=covariance, **choices)

    @property
    def n(self) -> int:
        """Rows the errors were counted on."""
        return self.people

    @property
    def size(self) -> float:
        """Number of hypotheses k."""
        return float(self._number.sum())

    @property
    def abouts(self) -> Mapping[str, About]:
        """The catalogue, ``theory`` and ``pac``."""
        return abouts() | {THEORY: ABOUT_THEORY, PAC: ABOUT_PAC}

    @property
    def metrics(self) -> Mapping[str, Metric]:
        """See the class."""
        return METRICS

    @property
    def central(self) -> FiniteClassProblem:
        """The same question without the bands, for maps and searches."""
        return self if self.band == 0.0 else replace(self, band=0.0)

    def mechanism(self, method: str, epsilon: float) -> Selector:
        """The mechanism that makes one of the choices when all share ``epsilon``. Raises InvalidArgument."""
        kind = find(method)
        share = per_question(kind(epsilon=1.0).cost, np.array([positive(epsilon=epsilon)]), self.questions, self.delta)
        return kind(epsilon=float(share[0]), sensitivity=float(self.rows_per_person), monotonic=self._one_way)

    def evaluate(self, method: str, metric: str, epsilon: FloatArray, n: FloatArray) -> Estimate:
        """See ``tradeoff.Problem``; ``epsilon`` and ``n`` of shape (m,). Raises InvalidArgument."""
        one_of(self.methods, method=method)
        one_of(tuple(self.metrics), metric=metric)
        people = np.asarray(n, dtype=np.float64)
        levels = np.asarray(epsilon, dtype=np.float64)
        if method in (THEORY, PAC):
            slopes = self._promised(levels) * people
            if method == PAC:
                return Estimate.bound(self._learned(metric, slopes, people))
            return Estimate.bound(self._promise(metric, slopes))
        kind = find(method)
        slopes = self._slopes(kind, levels) * people
        if metric == "success":
            value = self._measure(kind.law.rows(scaled(self._gaps, slopes), self._number), metric, self._gaps)
        else:
            value = kind.law.summary(self._gaps, self._number, slopes)[1] + self._floor(metric)
        if self.band == 0.0 or self.covariance is None:
            return Estimate.exact(value)
        drawn = self._sampled(metric, slopes, people)
        depths = (drawn - drawn.min(axis=1, keepdims=True)) * np.tile(slopes, 2)[:, None]
        law = kind.law.rows(depths, np.ones(drawn.shape[1]))
        ends = np.stack([value, *np.split(self._measure(law, metric, self._lags), 2)])
        return Estimate.exact(value, ends.min(axis=0), ends.max(axis=0))

    def _sampled(self, metric: str, slopes: FloatArray, people: FloatArray) -> FloatArray:
        """Error rates above the best at both ends of drawing people, shape (2m, d): moved along the likeliest path of
        what moves the metric most, its gradient under the exponential mechanism's law."""
        lags = self._lags
        depths = scaled(lags, slopes)
        right = lags <= self.alpha + _HAIR
        if metric == "success" and not right.all():
            # odds of right against wrong: each side's own softmax, which cannot underflow
            nearest = [depths[:, side].min(axis=1, keepdims=True) for side in (right, ~right)]
            inside = np.where(right, np.exp(np.minimum(nearest[0] - depths, 0.0)), 0.0)
            outside = np.where(right, 0.0, np.exp(np.minimum(nearest[1] - depths, 0.0)))
            pull = inside / inside.sum(axis=1, keepdims=True) - outside / outside.sum(axis=1, keepdims=True)
        else:
            law = np.exp(-depths)
            law /= law.sum(axis=1, keepdims=True)
            pull = law * (lags - (law @ lags)[:, None])
            pull /= np.abs(pull).max(axis=1, keepdims=True) + 1e-300
        path = pull @ np.asarray(self.covariance)
        spread = np.sqrt(np.maximum((path * pull).sum(axis=1) * people, 1e-300))
        path *= float(ndtri((1 + self.band) / 2)) / spread[:, None]
        return np.concatenate([lags - path, lags + path])

    @property
    def _one_way(self) -> bool:
        return self.relation == "add_remove"

    def _slopes(self, kind: type[Selector], epsilon: FloatArray) -> FloatArray:
        share = per_question(kind(epsilon=1.0).cost, epsilon, self.questions, self.delta)
        return kind.slopes(share, int(self.size), float(self.rows_per_person), self._one_way)

    def _promised(self, epsilon: FloatArray) -> FloatArray:
        kind = find(self.theorem)
        share = per_question(kind(epsilon=1.0).cost, epsilon, self.questions, self.delta)
        return promised_slopes(kind, share, int(self.size), float(self.rows_per_person), self._one_way)

    def _floor(self, metric: str) -> float:
        return self.best if metric == "error" else 0.0

    @property
    def _lags(self) -> FloatArray:
        """Error rates above the best, shape (d,), in the order of ``errors``."""
        lags: FloatArray = self.errors / self.people - self.best
        return lags

    def _measure(self, law: FloatArray, metric: str, gaps: FloatArray) -> FloatArray:
        """A metric of laws, shape (m, d), over hypotheses ``gaps`` (d,) above the best."""
        if metric == "success":
            chance: FloatArray = np.minimum(law @ (gaps <= self.alpha + _HAIR).astype(np.float64), 1.0)
            return chance
        rate: FloatArray = law @ gaps + self._floor(metric)
        return rate

    def _promise(self, metric: str, slopes: FloatArray) -> FloatArray:
        """An excess above (ln k + s)/a has probability at most e^−s, for every s ≥ 0."""
        size = math.log(self.size)
        if metric == "success":
            worse = self._gaps[self._gaps > self.alpha + _HAIR]
            if worse.size == 0:
                return np.ones_like(slopes)
            promised: FloatArray = 1 - np.exp(np.minimum(size - slopes * worse.min(), 0.0))
            return promised
        excess: FloatArray = np.minimum((size + 1) / slopes, self._gaps.max()) + self._floor(metric)
        return excess

    def _learned(self, metric: str, slopes: FloatArray, people: FloatArray) -> FloatArray:
        # slopes are ε/(c·rows) per person of each question: c/ε = 1/(slope·rows)
        rows = float(self.rows_per_person)
        excess = learning_bound(self.size, people, slopes * rows / people, self.beta, 1.0, rows)
        if metric == "success":
            kept: FloatArray = np.where(excess <= self.alpha, 1 - self.beta, 0.0)
            return kept
        error: FloatArray = np.minimum(excess + self._floor(metric), 1.0)
        return error
