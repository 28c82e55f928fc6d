"""A private model of steps and options whose cuts are bought: at private quantiles, with a stated share of ρ.

Which cell of its column's public grid a value is in follows from declared bounds and that row alone. Counts of rows in
halves, quarters, eighths … of each grid get discrete Gaussian noise; from them, and from them alone, come the cuts.
From there on the cuts are public and the model is trained as any on steps (``steps_model``).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from dpcore.datasets.declaration import shown
from dpcore.errors import InvalidArgument
from dpcore.releases import draws
from dpcore.releases.asked import LEAST_SHARE
from dpcore.releases.built_model import BuiltModel
from dpcore.releases.whole_cells import WholeCells
from dpcore.releases.whole_codes import KeptRows, WholeCodes
from dpcore.training.encoding import Encoding
from dpcore.training.features import Features
from dpcore.training.paid_cuts import CUTS_SHARE, bits_for, levels_at, shares_below
from dpcore.training.uncut import grid_of, is_bought
from dpcore.validate import IntArray, in_range
from dpcore.written import exact


@dataclass(frozen=True, slots=True, kw_only=True)
class BoughtModel(BuiltModel):
    """Buy the cuts of every number and date, train a model of steps and options on them, and publish both.

    ρ-zCDP with ρ = ``zcdp_rho(epsilon, delta)``, hence (ε, δ)-DP: ``cuts_share`` of ρ, in equal parts for k columns,
    buys the cuts, each by one discrete Gaussian release of a tree's counts (a row is in one node of each of its
    b + 1 levels: L2 sensitivity √(b + 1) × the rows of one person, × √2 where a row is replaced; Hay, Rastogi, Miklau
    & Suciu, VLDB 2010); the rest as ``StepsModel`` says. The settings are those of ``dpcore.training.BoughtSteps``.
    Raises InvalidArgument.
    """

    key: ClassVar[str] = "bought_model"
    mechanism: ClassVar[str] = "Noisy descent on bought steps with discrete Gaussian noise"

    cuts_share: float = CUTS_SHARE

    def __post_init__(self) -> None:
        in_range(LEAST_SHARE, 1.0, open_high=True, cuts_share=self.cuts_share)
        self.check()
        if any(column.levels for column in self.features.columns):
            raise InvalidArgument("features", "must not be cut yet")
        if not self.bought:
            raise InvalidArgument("features", "must have a number or a date whose cuts can be bought")
        largest = max(self.tree_sensitivity(column) for column in self.bought)
        if largest * self.noise_of(self.cuts_share / len(self.bought)) > draws.LARGEST_SCALE:
            raise InvalidArgument("epsilon", "is too small for this many rows per person: the noise would not fit")

    @classmethod
    def used(cls, features: Features) -> Features:
        """Without cuts."""
        return features.uncut

    @property
    def bought(self) -> tuple[Encoding, ...]:
        """The columns whose cuts are bought."""
        return tuple(column for column in self.features.columns if is_bought(column))

    @property
    def aside(self) -> float:
        """The share of ρ that buys the cuts."""
        return self.cuts_share

    def tree_sensitivity(self, column: Encoding) -> float:
        """How far one person can move the counts of a column's tree, in L2: one row is in one node of every level."""
        return self.cells_sensitivity * math.sqrt(bits_for(grid_of(column)) + 1)

    @property
    def own_rules(self) -> tuple[str, ...]:
        """How numbers and dates are cut."""
        names = ", ".join(shown(column.name) for column in self.bought)
        return (
            f"Cut into steps at noisy quantiles, which {exact(self.cuts_share)} of ρ buys, what is missing in none of "
            f"them: {names}.",
        )

    @property
    def aside_notes(self) -> tuple[str, ...]:
        """What the cuts took."""
        many = len(self.bought)
        return (f"Cutting {many:,} column{'s' * (many > 1)} at noisy quantiles took {exact(self.cuts_share)} of ρ.",)

    def ready(self, rows: KeptRows) -> WholeCells:
        """The rows as cells of the grids."""
        return WholeCells(self.features, rows)

    def prepared(self, ready: WholeCells) -> tuple[Features, WholeCodes]:
        """The features with the cuts that are bought here, and the rows as their codes."""
        part = self.rho * self.cuts_share / len(self.bought)
        noisy = [
            draws.gaussian(tree, sensitivity=self.tree_sensitivity(column), rho=part)
            for column, tree in zip(self.bought, ready.trees(), strict=True)
        ]
        features = self.cut(noisy)
        return features, ready.codes(features)

    def told(self, features: Features) -> dict[str, Any]:
        return {"cuts_share": self.cuts_share}

    def cut(self, noisy: list[IntArray]) -> Features:
        """The features with cuts, from each bought column's noisy tree alone."""
        found = {column.name: _levels(column, tree) for column, tree in zip(self.bought, noisy, strict=True)}
        columns = (replace(column, levels=found.get(column.name, ())) for column in self.features.columns)
        return replace(self.features, columns=tuple(columns))


def _levels(column: Encoding, tree: IntArray) -> tuple[tuple[float, ...], ...]:
    """Levels of cuts from the noisy counts of a tree, from all rows to the cells one after another."""
    grid = grid_of(column)
    starts = np.cumsum([1 << level for level in range(bits_for(grid))])
    shares = shares_below(np.split(tree.astype(np.float64), starts), grid.size + 1)
    return levels_at(shares, grid, column.low, column.high)
