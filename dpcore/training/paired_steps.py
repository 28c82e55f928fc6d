"""Scaled noisy descent on steps with pairs of columns that a private choice finds, for a stated share of the budget."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

from dpcore.about import About
from dpcore.training.choosing_pairs import CHOSEN, PAIRS_SHARE, chosen_places
from dpcore.training.own_steps import OwnSteps
from dpcore.training.pairable import PairableRows
from dpcore.training.scaled_descent import ScaledDescent
from dpcore.validate import FloatArray, probability, whole

if TYPE_CHECKING:
    from numpy.random import Generator


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedSteps(OwnSteps[PairableRows]):
    """``ScaledSteps`` with ``many`` pairs of columns, the choice of which ``pairs_share`` of 1/σ² buys.

    (ε, δ)-DP in total, exactly: ``ScaledDescent`` counts the choice among its Gaussian releases, and ``chosen_places``
    is one of multiplier σ/√share: a first model, a noisy sum of squares, and draws of bounded range by the exponential
    mechanism. Where a ``Sweep`` has its rows as ``PairableRows`` each model chooses its own pairs. Plain rows X have no
    columns to pair: there it is ``ScaledSteps``. Raises InvalidArgument.

    >>> PairedSteps(epsilon=1.0, delta=1e-5).descent().pairs_share
    0.25
    """

    key: ClassVar[str] = "paired_steps"
    rank: ClassVar[int] = 17
    about: ClassVar[About] = About(
        name="Noisy descent on bought pairs",
        plain="points for ranges and options, and for three pairs found privately",
        how=(
            "A quarter of the budget buys which columns act together: a first, rougher model says of everybody what "
            "single columns get wrong, and for every pair of columns it is added up where in their table these errors "
            "pile up. Three pairs are drawn by the exponential mechanism, the largest piles most likely, and get "
            "points for every cell. Worth it where there are many people and columns that matter only together; "
            "pairs that a person names from knowledge cost nothing."
        ),
        formula=(
            r"P(p) \propto \exp\Bigl(\tfrac{\varepsilon_0}{2\Delta} \sum_{c \in p} "
            r"\bigl(\bigl\|\textstyle\sum_{i \in c} r_i\bigr\| - t\bigr)_+\Bigr)"
        ),
        source=(
            "The exponential mechanism is McSherry and Talwar, FOCS 2007; its bounded range is Dong, Durfee and "
            "Rogers, ICML 2020; Gaussian releases add up exactly (Dong, Roth and Su, JRSS B 2022)."
        ),
        release="paired_model",
    )
    paired: ClassVar[bool] = True
    finds_in: ClassVar[type[Any]] = PairableRows

    many: int = CHOSEN
    pairs_share: float = PAIRS_SHARE

    def __post_init__(self) -> None:
        probability(pairs_share=self.pairs_share)
        whole(1, many=self.many)
        self.descent()

    def descent(self) -> ScaledDescent:
        """What trains, with what it all costs."""
        return replace(self.free().descent(), pairs_share=self.pairs_share)

    def model(self, rows: PairableRows, y: FloatArray, rng: Generator) -> FloatArray:
        """One model's weights of all that could be, (d,) or (d, classes)."""
        descent = self.descent()
        chosen = chosen_places(descent, rows, y, many=self.many, rng=rng)
        fit = descent.fit(rows.with_pairs(chosen), y, rng)
        weights = rows.spread(fit.weights[0] * fit.factors[0], chosen)
        return weights[:, 0] if weights.shape[1] == 1 else weights
