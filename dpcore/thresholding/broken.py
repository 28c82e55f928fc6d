"""What goes wrong: well-known versions of the technique that do not keep their promise, with their exact laws.

For pages that explain and tests that must catch them; nothing here may be released. Each variant comes with a pair of
neighbouring series and an output for which it gives itself away. The catalogue is that of Lyu, Su & Li, VLDB 2017,
Figure 1, and two slips of scale that are common in code.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dpcore.thresholding.likelihood import log_probability
from dpcore.thresholding.noise import NoisePair
from dpcore.thresholding.numeric_sparse import NumericSparse
from dpcore.thresholding.sparse import Sparse
from dpcore.validate import BoolArray, FloatArray, positive, whole

_QUIET = 60  # silent queries, and four more for each alarm: enough for the ratio to reach its limit to four digits


@dataclass(frozen=True, slots=True, kw_only=True)
class WorstCase:
    """Two neighbouring series (k,), each answer moved by at most 1 = Δ, and the output that tells them apart.

    ``raised`` (k,): which queries raise an alarm. ``value``: the number published with the last alarm, if any is.
    """

    answers: FloatArray
    neighbour: FloatArray
    threshold: float
    raised: BoolArray
    value: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What a variant that claims ε = ``claimed`` does on its worst case.

    Log-ratios of one output under two neighbouring series: ``realised`` (may be infinite), and ``right`` for the right
    mechanism. The odds are chances of 1 that an attacker who saw even odds before guesses right afterwards.
    """

    claimed: float
    realised: float
    right: float

    @property
    def odds(self) -> float:
        """The attacker's chance against the broken variant."""
        return 1.0 / (1.0 + math.exp(-self.realised))

    @property
    def promised_odds(self) -> float:
        """The most the claimed ε would allow."""
        return 1.0 / (1.0 + math.exp(-self.claimed))

    @property
    def right_odds(self) -> float:
        """The attacker's chance against the right mechanism."""
        return 1.0 / (1.0 + math.exp(-self.right))


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokenVariant:
    """One version that breaks its promise, for answers of sensitivity 1.

    ``threshold_factor``/ε and ``query_factor``/ε are the scales of its Laplace noises (0: no noise). ``worst_case``
    has a size, which counts what ``size_word`` says; ``truth(size)`` is the ε that does hold, in multiples of the one
    claimed.
    """

    name: str
    label: str
    fault: str
    source: str
    size_word: str
    threshold_factor: float
    query_factor: float
    worst_case: Callable[[int], WorstCase]
    truth: Callable[[int], float]

    def log_probability(self, answers: FloatArray, case: WorstCase, epsilon: float) -> float:
        """Logarithm of the chance (density, when a value is published) of the output of ``case``, exactly."""
        scale = self.query_factor / positive(epsilon=epsilon)
        if scale == 0.0:
            return _without_query_noise(self.threshold_factor / epsilon, answers - case.threshold, case.raised)
        pair = NoisePair(threshold_scale=self.threshold_factor / epsilon, query_scale=scale, one_sided=False)
        if case.value is None:
            return log_probability(pair, answers, case.threshold, case.raised)
        # A published value that was compared shows that the noisy threshold is no higher.
        highest = case.value - case.threshold
        quiet = log_probability(pair, answers[:-1], case.threshold, case.raised[:-1], highest=highest)
        return quiet - abs(case.value - float(answers[-1])) / scale - math.log(2.0 * scale)

    def verdict(self, epsilon: float, size: int) -> Verdict:
        """What it does on its worst case, beside the right mechanism with as many alarms. Raises InvalidArgument."""
        case = self.worst_case(whole(1, 10**4, size=size))
        realised = self.log_probability(case.answers, case, epsilon)
        realised -= self.log_probability(case.neighbour, case, epsilon)
        right = _right(case.answers, case, epsilon) - _right(case.neighbour, case, epsilon)
        return Verdict(claimed=epsilon, realised=realised, right=right)


def _right(answers: FloatArray, case: WorstCase, epsilon: float) -> float:
    places = np.flatnonzero(case.raised).tolist()
    if case.value is None:
        return Sparse(epsilon=epsilon, limit=len(places)).log_probability(answers, case.threshold, places)
    numeric = NumericSparse(epsilon=epsilon, limit=len(places))
    return numeric.log_density(answers, case.threshold, places, [case.value])


def _without_query_noise(scale: float, margins: FloatArray, raised: BoolArray) -> float:
    """P(highest silent margin < ρ ≤ lowest raised margin) for Laplace ρ."""
    low = float(margins[~raised].max(initial=-math.inf))
    high = float(margins[raised].min(initial=math.inf))
    if low >= high:
        return -math.inf

    def below(x: float) -> float:
        return 0.5 * math.exp(x / scale) if x < 0 else 1.0 - 0.5 * math.exp(-x / scale)

    return math.log(below(high) - below(low))


def _silence_then(quiet: int, alarms: int) -> WorstCase:
    """Silence where the neighbour's answers are higher, then alarms where they are lower."""
    raised = np.repeat([False, True], [quiet, alarms])
    neighbour = np.where(raised, -1.0, 1.0)
    return WorstCase(answers=np.zeros(raised.size), neighbour=neighbour, threshold=0.0, raised=raised)


def _order_shown(quiet: int, value: float | None = None) -> WorstCase:
    """Answers of 0 and then a 1, against answers of 1 and then a 0."""
    raised = np.repeat([False, True], [quiet, 1])
    answers = raised.astype(np.float64)
    return WorstCase(answers=answers, neighbour=1.0 - answers, threshold=0.0, raised=raised, value=value)


CATALOGUE = (
    BrokenVariant(
        name="no_cutoff",
        label="Never stops",
        fault="It goes on raising alarms for the price of one, and each gives a little more away.",
        source="Chen, Xiao, Zhang & Xu, KDD 2015",
        size_word="alarms",
        threshold_factor=2.0,
        query_factor=2.0,
        worst_case=lambda size: _silence_then(size, size),
        truth=lambda size: math.inf,
    ),
    BrokenVariant(
        name="no_query_noise",
        label="Noise on the threshold alone",
        fault="Answers compared with one and the same noisy threshold show their order.",
        source="Stoddard, Chen & Machanavajjhala, 2014",
        size_word="silent answers",
        threshold_factor=2.0,
        query_factor=0.0,
        worst_case=_order_shown,
        truth=lambda size: math.inf,
    ),
    BrokenVariant(
        name="scale_without_limit",
        label="Noise for one alarm, used for several",
        fault="The noise on the answers must grow with the number of alarms, and here it does not.",
        source="A common slip",
        size_word="alarms",
        threshold_factor=2.0,
        query_factor=4.0,
        worst_case=lambda size: _silence_then(_QUIET + 4 * size, size),
        truth=lambda size: (1 + size) / 2,
    ),
    BrokenVariant(
        name="lee_clifton",
        label="Noise for none of the alarms",
        fault="It spends most of ε on the answers, but counts neither the alarms nor that an answer moves twice.",
        source="Lee & Clifton, KDD 2014",
        size_word="alarms",
        threshold_factor=4.0,
        query_factor=4.0 / 3.0,
        worst_case=lambda size: _silence_then(_QUIET + 4 * size, size),
        truth=lambda size: (1 + 6 * size) / 4,
    ),
    BrokenVariant(
        name="value_reused",
        label="Publishes the number it compared",
        fault="The number shows how high the noisy threshold can be at most, and then every silence tells something.",
        source="Roth, lecture notes, 2011",
        size_word="silent answers",
        threshold_factor=2.0,
        query_factor=2.0,
        worst_case=lambda size: _order_shown(size, 0.0),
        truth=lambda size: math.inf,
    ),
    BrokenVariant(
        name="half_the_noise",
        label="Half the noise on the answers",
        fault="It would do if one person moved all answers the same way; in general they move apart by twice as much.",
        source="A common slip",
        size_word="silent answers",
        threshold_factor=2.0,
        query_factor=2.0,
        worst_case=lambda size: _silence_then(size, 1),
        truth=lambda size: 1.5,
    ),
)


def broken_catalog() -> dict[str, BrokenVariant]:
    """The variants by name, in the order pages show them."""
    return {variant.name: variant for variant in CATALOGUE}
