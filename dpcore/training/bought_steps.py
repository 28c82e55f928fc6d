"""Scaled noisy descent on steps whose cuts are bought: at private quantiles, with a stated share of the budget."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

from dpcore.about import About
from dpcore.training.own_steps import OwnSteps
from dpcore.training.paid_cuts import CUTS_SHARE
from dpcore.training.scaled_descent import ScaledDescent
from dpcore.training.uncut import UncutRows
from dpcore.validate import FloatArray, probability

if TYPE_CHECKING:
    from numpy.random import Generator


@dataclass(frozen=True, slots=True, kw_only=True)
class BoughtSteps(OwnSteps[UncutRows]):
    """``ScaledSteps`` on cuts at private quantiles, which ``cuts_share`` of 1/σ² buys for all columns together.

    (ε, δ)-DP in total, exactly: ``ScaledDescent`` counts the cuts among its Gaussian releases, and ``NoisyQuantiles``
    is one of multiplier σ/√share (a row is in one node of every level of each column's tree). Where a ``Sweep`` has
    its rows as ``UncutRows`` each model buys its own cuts; the share is spent even where there is no number to cut,
    as a release does. Plain rows X have nothing to cut: there it is ``ScaledSteps``. Raises InvalidArgument.

    >>> BoughtSteps(epsilon=1.0, delta=1e-5).descent().cuts_share
    0.1
    """

    key: ClassVar[str] = "bought_steps"
    rank: ClassVar[int] = 16
    about: ClassVar[About] = About(
        name="Noisy descent on bought steps",
        plain="points for ranges cut where people are, which costs privacy",
        how=(
            "A tenth of the budget buys the cuts: people are counted with noise in halves, quarters, eighths of each "
            "declared range, and the range is cut so that about as many people are in each step. The rest trains as "
            "noisy descent on steps does. Worth it where people crowd within a small part of the declared bounds, so "
            "that round numbers put most of them in one step; elsewhere the free cuts leave more for training."
        ),
        formula=(
            r"\tfrac{1}{\sigma^2} = \tfrac{a}{\sigma^2} + \tfrac{1 - a}{\sigma^2}, \quad "
            r"\tilde c_v = c_v + N\bigl(0, k (b + 1) \tfrac{\sigma^2}{a}\bigr)"
        ),
        source=(
            "Counts of a tree made consistent are Hay, Rastogi, Miklau and Suciu, VLDB 2010; Gaussian releases that "
            "may depend on earlier ones add up exactly (Dong, Roth and Su, JRSS B 2022)."
        ),
        release="bought_model",
    )
    uncut: ClassVar[bool] = True
    finds_in: ClassVar[type[Any]] = UncutRows

    cuts_share: float = CUTS_SHARE

    def __post_init__(self) -> None:
        probability(cuts_share=self.cuts_share)
        self.descent()

    def descent(self) -> ScaledDescent:
        """What trains, with what it all costs."""
        return replace(self.free().descent(), cuts_share=self.cuts_share)

    def model(self, uncut: UncutRows, y: FloatArray, rng: Generator) -> FloatArray:
        """One model's weights of cells, (d,) or (d, classes)."""
        descent = self.descent()
        rows, steps = uncut.cut(uncut.bought(descent.cuts_noise, rng))
        fit = descent.fit(rows, y, rng)
        weights = fit.weights[0] * fit.factors[0]
        return uncut.by_cell(rows, steps, weights[:, 0] if weights.shape[1] == 1 else weights)
