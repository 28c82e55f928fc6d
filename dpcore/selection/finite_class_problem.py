"""The question which hypothesis of a finite class predicts best."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
from scipy.special import ndtri

from dpcore.discovery import discover
from dpcore.errors import InvalidArgument
from dpcore.selection.exponential import Exponential
from dpcore.selection.laws import Selector, find
from dpcore.selection.scores import scaled
from dpcore.selection.sharing import per_question
from dpcore.tradeoff import Estimate
from dpcore.validate import FloatArray, Neighbours, finite_vector, in_range, one_of, positive, probability, whole

THEORY, PAC = "theory", "pac"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FiniteClassProblem:
    """Which of k hypotheses errs least: every selection mechanism, exactly. Implements ``tradeoff.Problem``.

    ``errors`` (d,) on ``people`` rows, with ``counts`` (d,) hypotheses each (1 unless given); at n people the rates
    stay. ``relation`` as for ``FiniteClass``. ``alpha``: how far above the best error rate still counts as right.
    ``questions`` such choices share the budget, (ε, ``delta``) in all (see ``sharing.per_question``).
    ``disagreements`` (d,): on how many rows each hypothesis differs from the best one; without them mistakes are taken
    to fall on different people, the most that they can differ.

    Metrics: ``error``, the mean error rate of the chosen hypothesis; ``excess``, how far that is above the best;
    ``success``, the chance of an excess of at most ``alpha``. Two bounds: ``theory``, the exponential mechanism's
    utility theorem, about privacy noise alone like every exact value; ``pac``, the textbook's learning theorem, which
    covers sampling too: with probability 1 − ``beta`` an excess of at most max((ln k + ln(1/β))/(a·n), √(ln k / n)).

    ``value`` is exact for rates as observed. ``low`` and ``high`` show the other error, of drawing n people: every
    hypothesis' lead or lag to the best moves together by its normal quantiles at (1 ± ``band``)/2, judged by the
    observed rates; a cautious band, since they do not move together. Off when ``band`` is 0. Raises InvalidArgument.
    """

    errors: FloatArray
    people: int
    counts: FloatArray | None = None
    relation: Neighbours = "replace_one"
    alpha: float = 0.01
    questions: int = 1
    delta: float = 0.0
    beta: float = 0.05
    band: float = 0.8
    disagreements: FloatArray | None = None
    _gaps: FloatArray = field(init=False, repr=False)
    _number: FloatArray = field(init=False, repr=False)
    _spread: FloatArray = field(init=False, repr=False)

    def __post_init__(self) -> None:
        errors = finite_vector(errors=self.errors).copy()
        errors.flags.writeable = False
        rates = errors / whole(1, people=self.people)
        if (rates < 0).any() or (rates > 1).any():
            raise InvalidArgument("errors", "must be between 0 and the number of people")
        number = np.ones(rates.size) if self.counts is None else finite_vector(counts=self.counts)
        if number.shape != rates.shape or (number < 0).any() or number.sum() <= 0:
            raise InvalidArgument("counts", "must have one entry for each of the errors, none negative, one above 0")
        one_of(("add_remove", "replace_one"), relation=self.relation)
        in_range(0.0, 1.0, alpha=self.alpha)
        whole(1, questions=self.questions)
        in_range(0.0, 1.0, open_high=True, delta=self.delta)
        probability(beta=self.beta)
        in_range(0.0, 1.0, open_high=True, band=self.band)
        held = number > 0
        best = rates[held].min()
        differ = np.minimum(rates + best, 1.0)
        if self.disagreements is not None:
            differ = finite_vector(disagreements=self.disagreements) / self.people
            if differ.shape != rates.shape or (differ < 0).any() or (differ > 1).any():
                raise InvalidArgument("disagreements", "must have one entry for each of the errors, of 0 to people")
        variance = np.maximum(differ - (rates - best) ** 2, 0.0)
        # equal hypotheses are worked out together; the best come first
        pairs, place = np.unique(np.stack([rates - best, variance])[:, held], axis=1, return_inverse=True)
        derived = {
            "errors": errors,
            "_gaps": pairs[0],
            "_spread": np.sqrt(pairs[1]),
            "_number": np.bincount(place.ravel(), weights=number[held]),
        }
        for name, value in derived.items():
            object.__setattr__(self, name, value)

    @property
    def n(self) -> int:
        """Rows the errors were counted on."""
        return self.people

    @property
    def best(self) -> float:
        """The lowest error rate in the class."""
        held = slice(None) if self.counts is None else np.asarray(self.counts) > 0
        return float(self.errors[held].min()) / self.people

    @property
    def size(self) -> float:
        """Number of hypotheses k."""
        return float(self._number.sum())

    @property
    def methods(self) -> tuple[str, ...]:
        """Keys of the catalogue, ``theory`` and ``pac``."""
        return (*discover("dpcore.selection"), THEORY, PAC)

    @property
    def metrics(self) -> dict[str, Literal["higher", "lower"]]:
        """See the class."""
        return {"error": "lower", "excess": "lower", "success": "higher"}

    @property
    def central(self) -> FiniteClassProblem:
        """The same question without the bands, for maps and searches."""
        return self if self.band == 0.0 else replace(self, band=0.0)

    def mechanism(self, method: str, epsilon: float) -> Selector:
        """The mechanism that makes one of the choices when all share ``epsilon``. Raises InvalidArgument."""
        kind = find(method)
        share = per_question(kind(epsilon=1.0).cost, np.array([positive(epsilon=epsilon)]), self.questions, self.delta)
        return kind(epsilon=float(share[0]), monotonic=self._one_way)

    def evaluate(self, method: str, metric: str, epsilon: FloatArray, n: FloatArray) -> Estimate:
        """See ``tradeoff.Problem``; ``epsilon`` and ``n`` of shape (m,). Raises InvalidArgument."""
        one_of(self.methods, method=method)
        one_of(tuple(self.metrics), metric=metric)
        people = np.asarray(n, dtype=np.float64)
        levels = np.asarray(epsilon, dtype=np.float64)
        if method in (THEORY, PAC):
            slopes = self._slopes(Exponential, levels) * people
            if method == PAC:
                return Estimate.bound(self._learned(metric, slopes, people))
            return Estimate.bound(self._promise(metric, slopes))
        kind = find(method)
        slopes = self._slopes(kind, levels) * people
        if metric == "success":
            value = self._read(kind.law.rows(scaled(self._gaps, slopes), self._number), metric)
        else:
            value = kind.law.summary(self._gaps, self._number, slopes)[1] + self._floor(metric)
        if self.band == 0.0:
            return Estimate.exact(value)
        reach = float(ndtri((1 + self.band) / 2)) * self._spread / np.sqrt(people)[:, None]
        drawn = np.concatenate([self._gaps - reach, self._gaps + reach])
        depths = (drawn - drawn.min(axis=1, keepdims=True)) * np.tile(slopes, 2)[:, None]
        ends = np.stack([value, *np.split(self._read(kind.law.rows(depths, self._number), metric), 2)])
        return Estimate.exact(value, ends.min(axis=0), ends.max(axis=0))

    @property
    def _one_way(self) -> bool:
        return self.relation == "add_remove"

    def _slopes(self, kind: type[Selector], epsilon: FloatArray) -> FloatArray:
        share = per_question(kind(epsilon=1.0).cost, epsilon, self.questions, self.delta)
        return kind.slopes(share, int(self.size), 1.0, self._one_way)

    def _floor(self, metric: str) -> float:
        return self.best if metric == "error" else 0.0

    @property
    def _right(self) -> FloatArray:
        # rates are quotients of whole numbers; a hair keeps rounding from excluding alpha itself
        return (self._gaps <= self.alpha + 1e-12).astype(np.float64)

    def _read(self, law: FloatArray, metric: str) -> FloatArray:
        if metric == "success":
            chance: FloatArray = np.minimum(law @ self._right, 1.0)
            return chance
        rate: FloatArray = law @ self._gaps + self._floor(metric)
        return rate

    def _promise(self, metric: str, slopes: FloatArray) -> FloatArray:
        """An excess above (ln k + s)/a has probability at most e^−s, for every s ≥ 0."""
        size = math.log(self.size)
        if metric == "success":
            worse = self._gaps[self._right == 0.0]
            if worse.size == 0:
                return np.ones_like(slopes)
            promised: FloatArray = 1 - np.exp(np.minimum(size - slopes * worse.min(), 0.0))
            return promised
        excess: FloatArray = np.minimum((size + 1) / slopes, self._gaps.max()) + self._floor(metric)
        return excess

    def _learned(self, metric: str, slopes: FloatArray, people: FloatArray) -> FloatArray:
        size = math.log(self.size)
        excess = np.maximum((size - math.log(self.beta)) / slopes, np.sqrt(size / people))
        if metric == "success":
            kept: FloatArray = np.where(excess <= self.alpha, 1 - self.beta, 0.0)
            return kept
        error: FloatArray = np.minimum(excess + self._floor(metric), 1.0)
        return error
