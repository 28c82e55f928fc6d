"""Choosing pairs privately: which columns act together in what a model of single columns gets wrong.

First a private model without pairs; then the exponential mechanism over all candidate pairs, several times. Everything
is counted as Gaussian: see ``PairChoice``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit, softmax

from dpcore.accounting import gaussian_epsilon
from dpcore.conversions import gaussian_bounded_range, gaussian_delta
from dpcore.errors import InvalidArgument
from dpcore.selection.exponential import Exponential
from dpcore.training.coded import CodedRows
from dpcore.training.encoding import Encoding
from dpcore.training.losses import Logistic
from dpcore.training.pairable import PairableRows, candidate_pairs
from dpcore.training.pairs import Pair
from dpcore.training.scaled_descent import ScaledDescent, ScaledFit
from dpcore.validate import FloatArray, IntArray, Neighbours, positive, whole

if TYPE_CHECKING:
    from numpy.random import Generator

PAIRS_SHARE, CHOSEN = 0.25, 3
"""Of 1/σ², or of ρ, where pairs are to be chosen, and how many are: fixed for every table."""
MOST_PAIRS = 50
FIRST_SHARE, SPREAD_SHARE = 0.6, 0.02
"""What the first model, and how far answers lie from it, have of what choosing pairs may cost."""
FIRST_STEPS = 60
FURTHEST = 0.25
"""At most so far a number is from what the first model says, on the scale of −1 to 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PairChoice:
    """``many`` pairs by the exponential mechanism, one after another, each from those that are left.

    A candidate's score is Σ over its cells of how far ‖the sum of residuals in that cell‖ is above a public threshold.
    A row is in at most one cell of every pair and its residual is at most ``length`` long, so one row added or removed
    moves every score by at most ``length``, one replaced by twice that: the sensitivity of the exponential mechanism,
    which is then ε-bounded range. As Gaussian DP that is μ = ``bounded_range_gaussian(ε)`` (proof there), so ``many``
    choices of multiplier ``noise``·√many each are one Gaussian release of multiplier ``noise`` in whatever else is
    released. Raises InvalidArgument.
    """

    many: int
    noise: float
    length: float = 1.0
    neighbours: Neighbours = "add_remove"

    def __post_init__(self) -> None:
        whole(1, many=self.many)
        positive(noise=self.noise)
        positive(length=self.length)

    @property
    def sensitivity(self) -> float:
        """How far one row moves a score."""
        return self.length * (1.0 if self.neighbours == "add_remove" else 2.0)

    @property
    def mechanism(self) -> Exponential:
        """How each pair is drawn."""
        each = 1.0 / (self.noise * math.sqrt(self.many))
        return Exponential(epsilon=gaussian_bounded_range(each), sensitivity=self.sensitivity)

    def draw(self, scores: FloatArray, rng: Generator) -> list[int]:
        """The places of the pairs chosen, in the order in which they were drawn; all where no more are there."""
        left = list(range(scores.size))
        chosen: list[int] = []
        while left and len(chosen) < self.many:
            place = int(self.mechanism.sample(scores[left], rng, 1)[0])
            chosen.append(left.pop(place))
        return chosen


def pair_score(cells: IntArray, many: int, residuals: FloatArray, threshold: FloatArray) -> float:
    """Σ over a pair's ``many`` cells of how far the length of the sum of residuals is above ``threshold`` (many,).

    ``cells`` (n,) of every row, ``many`` for none; ``residuals`` (n, outputs), each of at most the length stated.
    """
    sums = np.stack([np.bincount(cells, own, minlength=many + 1)[:many] for own in residuals.T])
    return float(np.maximum(np.sqrt((sums**2).sum(axis=0)) - threshold, 0.0).sum())


def residuals(method: ScaledDescent, margins: FloatArray, y: FloatArray) -> FloatArray:
    """How far what ``margins`` (n, outputs) say is from the answers ``y`` (n,), shape (n, outputs).

    Rows are at most ``residual_length(method)`` long.
    """
    if not isinstance(method.loss, Logistic):
        return np.asarray(np.clip(np.clip(margins, -1.0, 1.0) - y[:, None], -FURTHEST, FURTHEST))
    if method.outputs == 1:
        return np.asarray(expit(margins) - (y > 0.0)[:, None])
    found = softmax(margins, axis=1)
    found[np.arange(y.size), y.astype(np.int64)] -= 1.0
    return np.asarray(found)


def residual_length(method: ScaledDescent) -> float:
    """How long a row's residual is at most, in L2."""
    if not isinstance(method.loss, Logistic):
        return FURTHEST
    return math.sqrt(2.0) if method.outputs > 1 else 1.0


def choose_pairs(
    method: ScaledDescent,
    columns: Sequence[Encoding],
    typed: Sequence[FloatArray],
    y: FloatArray,
    *,
    many: int,
    rng: Generator,
) -> tuple[Pair, ...]:
    """``many`` pairs of ``columns`` as ``chosen_places`` finds them; ``typed`` and ``y`` as there."""
    rows = PairableRows.of(columns, typed, candidates=candidate_pairs(columns), missing=True)
    return tuple(rows.candidates[place] for place in chosen_places(method, rows, y, many=many, rng=rng))


def chosen_places(method: ScaledDescent, rows: PairableRows, y: FloatArray, *, many: int, rng: Generator) -> list[int]:
    """Which ``many`` candidates of ``rows`` the ``method``'s ``pairs_share`` of 1/σ² chooses, in their order.

    Three Gaussian releases or what counts as such, each with a share of that: a model without pairs, a noisy sum of
    squared residuals, and ``PairChoice``. Thresholds are what chance alone would do, from these noisy numbers. Raises
    InvalidArgument.
    """
    if not method.pairs_share:
        raise InvalidArgument("pairs_share", "must be set to choose pairs")
    noise = method.noise_multiplier / math.sqrt(method.pairs_share)
    fitted = first_model(method, noise / math.sqrt(FIRST_SHARE)).fit(rows.singles, y, rng)
    left = residuals(method, _margins(rows.singles, fitted), y)
    length = residual_length(method)
    choice = PairChoice(
        many=many,
        noise=noise / math.sqrt(1.0 - FIRST_SHARE - SPREAD_SHARE),
        length=length,
        neighbours=method.neighbours,
    )
    # one row adds one square, and where it is replaced the sum moves by at most one as well
    squares = float((left**2).sum()) + length**2 * noise / math.sqrt(SPREAD_SHARE) * float(rng.standard_normal())
    people = max(1.0, float(fitted.rows[0]))
    spread = math.sqrt(min(max(squares / people, 1e-6), length**2))
    scores = np.array([
        pair_score(cells, pair.cells, left, np.full(pair.cells, chance_alone(spread, people, pair)))
        for cells, pair in zip(rows.cells.T, rows.candidates, strict=True)
    ])  # fmt: skip
    return sorted(choice.draw(scores, rng))


def chance_alone(spread: float, people: float, pair: Pair) -> float:
    """How long the sum of residuals in one of a pair's cells would be by chance, where each is about ``spread``."""
    return spread * math.sqrt(people / pair.cells)


def first_model(method: ScaledDescent, noise: float) -> ScaledDescent:
    """The model of single columns: one Gaussian release of multiplier ``noise``, in fewer steps."""
    # only the multiplier counts; at the δ of the whole, ε could be 0
    delta = min(method.delta, gaussian_delta(noise, 0.0) / 2.0)
    return replace(
        method,
        epsilon=gaussian_epsilon(noise, delta) * (1.0 - 1e-9),
        delta=delta,
        steps=min(method.steps, FIRST_STEPS),
        names_share=0.0,
        cuts_share=0.0,
        pairs_share=0.0,
    )


def _margins(rows: CodedRows, fitted: ScaledFit) -> FloatArray:
    return np.asarray(rows.margins(fitted.weights[0]) * fitted.factors[0], dtype=np.float64)
