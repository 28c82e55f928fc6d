"""The question which option is most common, or scores best."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.special import ndtri

from dpcore.about import About
from dpcore.errors import InvalidArgument
from dpcore.selection.laws import Law, Selector, abouts, find, promised_slopes
from dpcore.selection.measure import Judged
from dpcore.selection.measures import measures
from dpcore.selection.scores import condense, group, scaled
from dpcore.selection.sharing import per_question
from dpcore.tradeoff import Estimate, Metric, Problem
from dpcore.validate import (
    FloatArray,
    Neighbours,
    boolean,
    finite_vector,
    in_range,
    one_of,
    positive,
    probability,
    whole,
)

THEORY = "theory"
ABOUT_THEORY = About(
    name="What theory promises",
    plain="what the textbook's theorem is sure of",
    how=(
        "A theorem about the method in use says how far from the best its answer may be, whatever the scores are. It "
        "must hold for the worst table, so the truth is better."
    ),
    formula=r"\Pr\bigl[\text{loss} > (\ln k + s)/a\bigr] \le e^{-s}",
    source="Dwork and Roth, 2014, Corollary 3.12.",
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MostCommon(Problem):
    """Which of k options has the largest score: every selection mechanism, exactly.

    ``scores`` (k,): how many people hold each option (``counted``), or any table of scores, higher is better, of
    which one person can move each by ``sensitivity``. ``relation``: with one person added or removed all scores move
    one way, unless ``monotonic`` is false; with one replaced they do not. ``people`` behind a table of scores: the
    fewest that could have made it unless given. Scores of n people are the observed ones times n / people.

    ``questions`` such answers share the budget: ε is for all of them, (ε, ``delta``) with a δ above 0 (see
    ``sharing.per_question``). ``beta`` is for ``likely_loss`` and its bound.

    Metrics: ``success``, the chance of an option with the best score; ``expected_loss``, how far the chosen score
    lies below the best on average, in units of the scores at that n; ``loss_share``, the same per person, the one to
    ask sample sizes for; ``likely_loss``, the loss not exceeded with probability 1 − ``beta``. Method ``theory`` is
    what the utility theorem of the mechanism ``theorem`` promises (the exponential mechanism's: Dwork & Roth 2014,
    Corollary 3.12).

    Every ``value`` is exact for scores as expected at that n: privacy noise alone. ``low`` and ``high`` show the
    other error, of drawing n people: the share ``band`` of draws gives between them, judged by who leads in the
    population. For that the sampled scores move along their most likely path with the leader's margin over its
    (softmax-weighted) rivals, which is exact for two options up to the normal approximation of counts; off (equal to
    ``value``) when ``band`` is 0 or scores are not counts. Raises InvalidArgument.

    >>> import numpy as np
    >>> visits = MostCommon(scores=[60.0, 45.0, 30.0], band=0.0)
    >>> at = np.array([0.1, 0.5]), np.array([135.0, 135.0])
    >>> visits.evaluate("permute_and_flip", "success", *at).value.round(3).tolist()
    [0.867, 1.0]
    """

    scores: FloatArray
    relation: Neighbours = "add_remove"
    sensitivity: float = 1.0
    counted: bool = True
    monotonic: bool | None = None
    people: int | None = None
    questions: int = 1
    delta: float = 0.0
    beta: float = 0.05
    band: float = 0.8
    theorem: str = "exponential"
    _gaps: FloatArray = field(init=False, repr=False)
    _counts: FloatArray = field(init=False, repr=False)

    def __post_init__(self) -> None:
        scores = finite_vector(scores=self.scores).copy()
        scores.flags.writeable = False
        one_of(("add_remove", "replace_one"), relation=self.relation)
        positive(sensitivity=self.sensitivity)
        boolean(counted=self.counted)
        if self.monotonic is not None and boolean(monotonic=self.monotonic) and self.relation == "replace_one":
            raise InvalidArgument("monotonic", "does not hold when one person's row is replaced")
        if self.people is not None:
            whole(1, people=self.people)
        if self.counted and ((scores < 0).any() or scores.sum() < 1):
            raise InvalidArgument("scores", "must be counts of people: none negative, at least one person in all")
        whole(1, questions=self.questions)
        in_range(0.0, 1.0, open_high=True, delta=self.delta)
        probability(beta=self.beta)
        in_range(0.0, 1.0, open_high=True, band=self.band)
        find(self.theorem)
        gaps, counts = condense(scores)
        for name, value in {"scores": scores, "_gaps": gaps, "_counts": counts}.items():
            object.__setattr__(self, name, value)

    @property
    def n(self) -> int:
        """People behind the scores as they are."""
        if self.people is not None:
            return self.people
        made = self.scores.sum() if self.counted else np.abs(self.scores).max() / self.sensitivity
        return max(1, math.ceil(min(float(made), 1e15)))

    @property
    def abouts(self) -> Mapping[str, About]:
        """The catalogue, and ``theory``."""
        return abouts() | {THEORY: ABOUT_THEORY}

    @property
    def metrics(self) -> Mapping[str, Metric]:
        """See the class."""
        return {key: measure.metric for key, measure in measures().items()}

    def mechanism(self, method: str, epsilon: float) -> Selector:
        """The mechanism that answers one of the questions when all share ``epsilon``. Raises InvalidArgument."""
        kind = find(method)
        share = per_question(kind(epsilon=1.0).cost, np.array([positive(epsilon=epsilon)]), self.questions, self.delta)
        return kind(epsilon=float(share[0]), sensitivity=self.sensitivity, monotonic=self._one_way)

    def law(self, method: str, epsilon: float, n: float | None = None) -> FloatArray:
        """The chance of each option, in the order of ``scores``, shape (k,). Raises InvalidArgument."""
        groups = group(self.scores)
        times = 1.0 if n is None else positive(n=n) / self.n
        slopes = self._slopes(find(method), np.array([positive(epsilon=epsilon)])) * times
        law: FloatArray = groups.spread(find(method).law.rows(scaled(groups.gaps, slopes), groups.counts))[0]
        return law

    def evaluate(self, method: str, metric: str, epsilon: FloatArray, n: FloatArray) -> Estimate:
        """See ``tradeoff.Problem``; ``epsilon`` and ``n`` of shape (m,). Raises InvalidArgument."""
        one_of(tuple(self.metrics), metric=metric)
        times = np.asarray(n, dtype=np.float64) / self.n
        if method == THEORY:
            return Estimate.bound(self._promise(metric, np.asarray(epsilon, dtype=np.float64), times))
        kind = find(method)
        slopes = self._slopes(kind, np.asarray(epsilon, dtype=np.float64)) * times
        if metric in ("success", "expected_loss"):  # of a group's law these two are known without all of it
            success, loss = kind.law.summary(self._gaps, self._counts, slopes)
            value = success if metric == "success" else loss * times
        else:
            value = self._read(kind.law.rows(scaled(self._gaps, slopes), self._counts), metric, times)
        if self.band == 0.0 or not self.counted or self._gaps.size == 1:
            return Estimate.exact(value)
        drawn = self._read(self._sampled(kind.law, slopes, times), metric, np.tile(times, 2))
        ends = np.stack([value, *np.split(drawn, 2)])
        return Estimate.exact(value, ends.min(axis=0), ends.max(axis=0))

    @property
    def central(self) -> MostCommon:
        """The same question without the bands, for maps and searches."""
        return self if self.band == 0.0 else replace(self, band=0.0)

    @property
    def _one_way(self) -> bool:
        return self.relation == "add_remove" if self.monotonic is None else self.monotonic

    def _slopes(self, kind: type[Selector], epsilon: FloatArray) -> FloatArray:
        share = per_question(kind(epsilon=1.0).cost, epsilon, self.questions, self.delta)
        return kind.slopes(share, self.scores.size, self.sensitivity, self._one_way)

    def _judged(self, times: FloatArray) -> Judged:
        return Judged(gaps=self._gaps, counts=self._counts, times=times, people=self.n, beta=self.beta)

    def _read(self, law: FloatArray, metric: str, times: FloatArray) -> FloatArray:
        """A measure of laws over groups, shape (m, d), judged by the observed order."""
        return measures()[metric].of_law(law, self._judged(times))

    def _sampled(self, law: Law, slopes: FloatArray, times: FloatArray) -> FloatArray:
        """Laws at the unlucky end of drawing people, then those at the lucky end, shape (2m, d).

        ``slopes`` are those of the observed scores: the noise of n people's scores is 1 / (slopes / times).
        """
        size = times[:, None] * float(self.scores.sum())
        shares = (self.scores.max() - self._gaps) / float(self.scores.sum())
        depths = scaled(self._gaps, slopes)
        rivals = np.exp(depths[:, 1:2] - depths) * self._counts
        rivals[:, 0] = 0.0
        weight = -rivals / rivals.sum(axis=1, keepdims=True) / self._counts
        weight[:, 0] = 1 / self._counts[0]
        mean = weight @ (self._counts * shares)
        spread = np.sqrt(np.maximum(weight**2 @ (self._counts * shares) - mean**2, 1e-300))
        path = np.sqrt(size) * shares * (weight - mean[:, None]) / spread[:, None]
        reach = float(ndtri((1 + self.band) / 2))
        drawn = np.concatenate([size * shares - reach * path, size * shares + reach * path])
        below = drawn.max(axis=1, keepdims=True) - drawn
        return law.rows(below * np.tile(slopes / times, 2)[:, None], self._counts)

    def _promise(self, metric: str, epsilon: FloatArray, times: FloatArray) -> FloatArray:
        """Loss exceeds (ln k + s)/a with probability at most e^−s, for every s ≥ 0."""
        kind = find(self.theorem)
        share = per_question(kind(epsilon=1.0).cost, epsilon, self.questions, self.delta)
        slopes = promised_slopes(kind, share, self.scores.size, self.sensitivity, self._one_way) * times
        return measures()[metric].promised(slopes, self.scores.size, self._judged(times))
