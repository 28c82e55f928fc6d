"""The way to build a model on steps that does best on the rows: every way tried with a little of the budget."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from dpcore.about import About
from dpcore.accounting import gaussian_epsilon
from dpcore.conversions import gaussian_bounded_range, gaussian_delta
from dpcore.errors import InvalidArgument
from dpcore.selection.exponential import Exponential
from dpcore.training.bought_steps import BoughtSteps
from dpcore.training.choosable import ChoosableRows
from dpcore.training.choosing_pairs import FURTHEST
from dpcore.training.choosing_ways import BOUGHT, COARSE, FREE, PAIRED, PICK_SHARE, TRIAL_STEPS, WAYS_SHARE
from dpcore.training.losses import Logistic, Loss
from dpcore.training.own_steps import OwnSteps
from dpcore.training.paired_steps import PairedSteps
from dpcore.training.scaled_descent import ScaledDescent
from dpcore.training.scaled_steps import ScaledSteps
from dpcore.training.steps_method import StepsMethod
from dpcore.validate import FloatArray, probability

if TYPE_CHECKING:
    from numpy.random import Generator

_KINDS: dict[str, type[StepsMethod[Any]]] = {
    FREE: ScaledSteps,
    COARSE: ScaledSteps,
    BOUGHT: BoughtSteps,
    PAIRED: PairedSteps,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ChosenSteps(OwnSteps[ChoosableRows]):
    """``ScaledSteps`` built in the way that does best: on all its public cuts, on the coarsest, on cuts that are bought
    or with pairs that are bought.

    (ε, δ)-DP in total, exactly: ``ways_share`` of 1/σ² buys the choice, in Gaussian releases or what counts as such. Of
    it 0.1 draws one by the exponential mechanism (its bounded range as Gaussian DP: ``bounded_range_gaussian``), from
    how many rows each tells right, or for a number how far its squared errors are below the most that counts: one row
    adds from 0 to 1 to every score. The rest buys a trial of each, in equal parts, and what is left of 1/σ² the model
    itself, so how many are tried is fixed. Where a ``Sweep`` has its rows as ``ChoosableRows`` each model chooses for
    itself. Plain rows X have one way alone: there it is ``ScaledSteps``. Raises InvalidArgument.

    >>> round(ChosenSteps(epsilon=1.0, delta=1e-5).with_share(0.9).epsilon, 3)
    0.944
    """

    key: ClassVar[str] = "chosen_steps"
    rank: ClassVar[int] = 18
    about: ClassVar[About] = About(
        name="Noisy descent in a chosen way",
        plain="tries four ways to build points, keeps the best, privately",
        how=(
            "A tenth of the budget buys a trial of every way: points for ranges at public round numbers, at the "
            "coarsest of these alone, at bought numbers, and with bought pairs of columns. How many people each trial "
            "tells right is compared with noise, by the exponential mechanism, and the one that is drawn is built "
            "again with the rest. Always all are tried, so how long it takes tells nothing. Worth it where nobody "
            "knows which way suits the data and there are many people; with few the fixed way is as good."
        ),
        formula=(
            r"P(w) \propto \exp\bigl(\varepsilon_0\, q_w\bigr), \quad "
            r"\tfrac{1}{\sigma^2} = \tfrac{0.09}{\sigma^2} + \tfrac{0.01}{\sigma^2} + \tfrac{0.9}{\sigma^2}"
        ),
        source=(
            "The exponential mechanism is McSherry and Talwar, FOCS 2007; its bounded range is Dong, Durfee and "
            "Rogers, ICML 2020. Compared with a random number of tries (Papernot and Steinke, ICLR 2022)."
        ),
        release="chosen_model",
    )
    chosen: ClassVar[bool] = True
    finds_in: ClassVar[type[Any]] = ChoosableRows

    ways_share: float = WAYS_SHARE

    def __post_init__(self) -> None:
        probability(ways_share=self.ways_share)
        self.descent()

    def with_share(self, share: float) -> ScaledSteps:
        """Free steps with a share of 1/σ²."""
        noise = self.descent().noise_multiplier / math.sqrt(share)
        # only the multiplier counts; at the δ of the whole, ε could be 0
        delta = min(self.delta, gaussian_delta(noise, 0.0) / 2.0)
        return replace(self.free(), epsilon=gaussian_epsilon(noise, delta) * (1.0 - 1e-9), delta=delta)

    def descent(self) -> ScaledDescent:
        """All that is spent, as one Gaussian release."""
        return self.free().descent()

    @property
    def mechanism(self) -> Exponential:
        """How a way is drawn."""
        part = math.sqrt(self.ways_share * PICK_SHARE) / self.descent().noise_multiplier
        return Exponential(
            epsilon=gaussian_bounded_range(part), sensitivity=1.0, monotonic=self.neighbours == "add_remove"
        )

    def way(self, way: str, share: float, steps: int) -> StepsMethod[Any]:
        """A way with a share of 1/σ²."""
        return _KINDS[way](**{**self.with_share(share).settings, "steps": steps})

    def choose(self, rows: ChoosableRows, y: FloatArray, rng: Generator) -> str:
        """The way that is drawn, with ``ways_share`` of 1/σ²."""
        share = self.ways_share * (1.0 - PICK_SHARE) / len(rows.by_way)
        scores = []
        for way, own in rows.by_way.items():
            weights = self.way(way, share, min(self.steps, TRIAL_STEPS)).fit(own, y, rng).weights[0]
            scores.append(score(self.loss, own.margins(weights.reshape(weights.shape[0], -1)).astype(np.float64), y))
        return list(rows.by_way)[int(self.mechanism.sample(np.array(scores), rng, 1)[0])]

    def model(self, rows: ChoosableRows, y: FloatArray, rng: Generator) -> FloatArray:
        """One model's weights of all that could be, (d,) or (d, classes)."""
        if len(rows.by_way) < 2:
            raise InvalidArgument("X", "must have two ways to build a model at least")
        way = self.choose(rows, y, rng)
        fit = self.way(way, 1.0 - self.ways_share, self.steps).fit(rows.by_way[way], y, rng)
        return rows.spread(fit.weights[0], way)


def score(loss: Loss, margins: FloatArray, y: FloatArray) -> float:
    """How well ``margins`` (n, outputs) tell the answers ``y`` (n,): one row adds from 0 to 1, whatever it is."""
    if not isinstance(loss, Logistic):
        wrong = np.clip(np.clip(margins[:, 0], -1.0, 1.0) - y, -FURTHEST, FURTHEST)
        return float((1.0 - (wrong / FURTHEST) ** 2).sum())
    if margins.shape[1] == 1:
        return float(((margins[:, 0] > 0.0) == (y > 0.0)).sum())
    return float((margins.argmax(axis=1) == y).sum())
