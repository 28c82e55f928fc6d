"""A private model of steps and options with pairs of columns that are bought: by a private choice, with a share of ρ.

Which cell of which pair a row is in follows from declarations and that row alone. A first model of single columns is
trained and kept secret, but paid for as if it were published; where its errors pile up is a whole number for every
pair, and the pairs are drawn by the exponential mechanism on these. From there on the pairs are public and the model is
trained as any on steps (``steps_model``).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from dpcore.errors import InvalidArgument
from dpcore.releases import draws
from dpcore.releases.asked import LEAST_SHARE
from dpcore.releases.built_model import BuiltModel
from dpcore.releases.choice import Choice
from dpcore.releases.scaled_model import ScaledModel
from dpcore.releases.steps_model import Parts
from dpcore.releases.whole_codes import SLOPE_BITS, KeptRows, WholeCodes
from dpcore.releases.whole_pairs import WholePairs, most_wrong
from dpcore.training.choosing_pairs import (
    CHOSEN,
    FIRST_SHARE,
    FIRST_STEPS,
    MOST_PAIRS,
    PAIRS_SHARE,
    SPREAD_SHARE,
    chance_alone,
)
from dpcore.training.features import MOST_FEATURES, Features
from dpcore.training.pairable import possible_pairs
from dpcore.validate import IntArray, in_range, whole
from dpcore.written import exact


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedModel(BuiltModel):
    """Buy which ``many`` pairs of columns act together, train a model of steps, options and these, and publish it.

    ρ-zCDP with ρ = ``zcdp_rho(epsilon, delta)``, hence (ε, δ)-DP. ``pairs_share`` of ρ buys the choice: 0.6 of that a
    first model, 0.02 one discrete Gaussian release of its squared errors, the rest the draws, in equal parts, each by
    the exponential mechanism: ε₀-bounded range and ε₀²/8-zCDP (Cesar & Rogers, ALT 2021, Lemma 3.4), over scores that
    one row moves by at most ``most_wrong`` units, two where it is replaced, × the rows of one person. Each release may
    depend on those before; all else is as ``StepsModel`` says. The settings are those of
    ``dpcore.training.PairedSteps``. Raises InvalidArgument.
    """

    key: ClassVar[str] = "paired_model"
    mechanism: ClassVar[str] = "Noisy descent on steps and bought pairs with discrete Gaussian noise"
    noise_alone: ClassVar[bool] = False

    many: int = CHOSEN
    pairs_share: float = PAIRS_SHARE

    def __post_init__(self) -> None:
        in_range(LEAST_SHARE, 1.0, open_high=True, pairs_share=self.pairs_share)
        whole(1, MOST_PAIRS, many=self.many)
        self.check()
        if any(column.kind in ("number", "date") and not column.levels for column in self.features.columns):
            raise InvalidArgument("features", "must have every number and date cut into steps")
        possible_pairs(self.features, self.many)
        self.check_noise(self.first)
        spread = self.squares_sensitivity * self.noise_of(self.pairs_share * SPREAD_SHARE)
        if max(self.choice.scale, spread) > draws.LARGEST_SCALE:
            raise InvalidArgument("epsilon", "is too small for this many rows per person: the noise would not fit")

    @classmethod
    def used(cls, features: Features) -> Features:
        """With every number and date cut."""
        return ScaledModel.used(features)

    @property
    def aside(self) -> float:
        """The share of ρ that buys the choice of pairs."""
        return self.pairs_share

    @property
    def first(self) -> Parts:
        """What the first model has of ρ."""
        share = self.pairs_share * FIRST_SHARE
        return Parts(
            counts=share * self.counts_share,
            cells=share * self.calibrated,
            sums=share * (1.0 - self.counts_share - self.calibrated),
            steps=min(self.steps, FIRST_STEPS),
            whole=share,
        )

    @property
    def squares_sensitivity(self) -> int:
        """How far one person can move the sum of squared errors, in units of 2⁻¹⁴: a row's is never below 0."""
        longest = most_wrong(self.features)
        return self.rows_per_person * -(-longest * longest >> SLOPE_BITS)

    @property
    def choice(self) -> Choice:
        """How each pair is drawn."""
        part = self.rho * self.pairs_share * (1.0 - FIRST_SHARE - SPREAD_SHARE) / self.many
        moved = most_wrong(self.features) * self.rows_per_person * (1 if self.neighbours == "add_remove" else 2)
        return Choice(epsilon=math.sqrt(8.0 * part), sensitivity=moved, monotonic=False, rule="exponential")

    @property
    def own_rules(self) -> tuple[str, ...]:
        """How pairs are found."""
        return (
            f"Pairs of columns that act together, {self.many} at most: drawn by the exponential mechanism from all "
            f"that have few enough cells, which {exact(self.pairs_share)} of ρ buys.",
        )

    @property
    def aside_notes(self) -> tuple[str, ...]:
        """What the pairs took."""
        return (f"Choosing {self.many} pair{'s' * (self.many > 1)} of columns took {exact(self.pairs_share)} of ρ.",)

    def ready(self, rows: KeptRows) -> WholePairs:
        """The rows as codes, and in the cells of the pairs."""
        return WholePairs(self.features, rows, self.many)

    def prepared(self, ready: WholePairs) -> tuple[Features, WholeCodes]:
        """The features with the pairs that are chosen here, and the rows as their codes."""
        features = ready.chosen(self.places(ready))
        return features, ready.codes(features)

    def told(self, features: Features) -> dict[str, Any]:
        return {"pairs_share": self.pairs_share, "pairs_bought": len(features.pairs) - len(self.features.pairs)}

    @property
    def most_pairs(self) -> tuple[int, int]:
        return len(self.features.pairs) + MOST_PAIRS, MOST_FEATURES

    def places(self, ready: WholePairs) -> list[int]:
        """The places of the pairs that were drawn, in that order; all where no more are there."""
        found = self.fitted(ready.singles, self.first)
        wrong = ready.wrong(found.points)
        thresholds = self.thresholds(ready, wrong, found.people)
        scores = ready.scores(wrong, thresholds)
        left, chosen = list(range(scores.size)), list[int]()
        while left and len(chosen) < self.many:
            chosen.append(left.pop(self.choice.draw(scores[left])))
        return chosen

    def thresholds(self, ready: WholePairs, wrong: IntArray, people: int) -> list[int]:
        """Of every candidate, what chance alone would do in a cell, from a noisy sum of squares."""
        part = self.rho * self.pairs_share * SPREAD_SHARE
        noisy = draws.gaussian([ready.squares(wrong)], sensitivity=self.squares_sensitivity, rho=part)
        unit = 2.0**SLOPE_BITS
        spread = math.sqrt(float(np.clip(noisy[0] / unit / people, 1e-6, (most_wrong(self.features) / unit) ** 2)))
        return [round(unit * chance_alone(spread, people, pair)) for pair in ready.candidates]
