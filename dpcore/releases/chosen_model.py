"""A private model of whichever way to build it does best on the rows: tried on them first, and paid for.

Every way is tried with a small part of ρ, in a release of its own; how well each does is a whole number to which one
row adds little; one is drawn by the exponential mechanism and built again with what is left. How many are tried is
fixed, so the time that it takes tells nothing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from dpcore.calibration import zcdp_rho
from dpcore.conversions import zcdp_epsilon
from dpcore.errors import InvalidArgument
from dpcore.releases import draws
from dpcore.releases.asked import LEAST, LEAST_SHARE
from dpcore.releases.bought_model import BoughtModel
from dpcore.releases.built_model import BuiltModel
from dpcore.releases.choice import Choice
from dpcore.releases.paired_model import PairedModel
from dpcore.releases.scaled_model import ScaledModel
from dpcore.releases.steps_model import StepsModel
from dpcore.releases.whole_codes import KeptRows, most_good
from dpcore.training.choosing_pairs import MOST_PAIRS
from dpcore.training.choosing_ways import (
    BOUGHT,
    COARSE,
    FREE,
    PAIRED,
    PICK_SHARE,
    TRIAL_STEPS,
    WAYS_SHARE,
    features_for,
    possible_ways,
)
from dpcore.training.features import MOST_FEATURES, Features
from dpcore.validate import IntArray, in_range
from dpcore.written import exact

_KINDS: Mapping[str, type[BuiltModel]] = {
    FREE: ScaledModel, COARSE: ScaledModel, BOUGHT: BoughtModel, PAIRED: PairedModel
}  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class WholeWays:
    """The rows as each way of building a model needs them, ``by_way``."""

    by_way: Mapping[str, Any]

    def scores(self, trials: Mapping[str, BuiltModel]) -> IntArray:
        """How well a model of each of the ``trials`` does on the rows: exact, and not to be seen."""
        found = []
        for way, trial in trials.items():
            codes = trial.prepared(self.by_way[way])[1]
            found.append(codes.good(trial.fitted(codes, trial.parts).points))
        return np.array(found, dtype=np.int64)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChosenModel(StepsModel):
    """Try every way of building a model of the columns, choose one privately, build it with the rest, and publish it.

    ρ-zCDP with ρ = ``zcdp_rho(epsilon, delta)``, hence (ε, δ)-DP, by composition of releases that may depend on
    earlier ones (Bun & Steinke, TCC 2016): of the ``ways_share`` of ρ, 0.1 draws one by the exponential mechanism,
    ε₀-bounded range and ε₀²/8-zCDP (Cesar & Rogers, ALT 2021, Lemma 3.4), over exact scores to which one row adds from
    0 to ``most_good``; the rest buys the ``trials`` in equal parts, each a release that nobody sees; what is left of ρ
    buys the one that is published. The ways are those of ``dpcore.training.ChosenSteps`` that the declarations allow.
    Raises InvalidArgument.
    """

    key: ClassVar[str] = "chosen_model"
    mechanism: ClassVar[str] = "The best of several noisy descents, chosen by the exponential mechanism"
    noise_alone: ClassVar[bool] = False

    ways_share: float = WAYS_SHARE

    def __post_init__(self) -> None:
        in_range(LEAST_SHARE, 1.0, open_high=True, ways_share=self.ways_share)
        self.check()
        if any(column.levels for column in self.features.columns):
            raise InvalidArgument("features", "must not be cut yet")
        if len(self.possible) < 2:
            raise InvalidArgument("features", "leave only one way to build the model: there is nothing to choose")
        if self.choice.scale > draws.LARGEST_SCALE:
            raise InvalidArgument("epsilon", "is too small for this many rows per person: the noise would not fit")
        for way in self.possible:  # all that is made for an answer, so that none of it fails after the charge
            self.final(way)
        _ = self.trials

    @classmethod
    def used(cls, features: Features) -> Features:
        """Without cuts: each way makes its own."""
        return features.bare

    @property
    def aside(self) -> float:
        """The share of ρ that buys the choice."""
        return self.ways_share

    @property
    def possible(self) -> tuple[str, ...]:
        """The ways that the declarations allow."""
        return possible_ways(self.features)

    @property
    def trials(self) -> Mapping[str, BuiltModel]:
        """Every way with its part of what the choice may cost."""
        part = self.ways_share * (1.0 - PICK_SHARE) / len(self.possible)
        return {way: self._way(way, part, min(self.steps, TRIAL_STEPS)) for way in self.possible}

    def final(self, way: str) -> BuiltModel:
        """The release of what is published where this way is drawn."""
        return self._way(way, 1.0 - self.ways_share, self.steps)

    def _way(self, way: str, share: float, steps: int) -> BuiltModel:
        """A way with a share of ρ, never more: an ε is only so exact."""
        epsilon = zcdp_epsilon(share * self.rho, self.delta) * (1.0 - 1e-9)
        if epsilon < LEAST:
            raise InvalidArgument("epsilon", "is too small beside this delta: nothing would be left to try each way")
        kind, features = _KINDS[way], features_for(self.features, way)
        return kind(
            features=features,
            epsilon=epsilon,
            delta=self.delta,
            reads=self.reads,
            neighbours=self.neighbours,
            unit=self.unit,
            people=self.people,
            momentum=self.momentum,
            tail=self.tail,
            steps=steps,
            clip=self.clip,
            counts_share=self.counts_share,
            calibration_share=self.calibration_share,
        )

    @property
    def choice(self) -> Choice:
        """How one is drawn: a row that is added adds to every score, one that is replaced moves them either way."""
        return Choice(
            epsilon=math.sqrt(8.0 * self.rho * self.ways_share * PICK_SHARE),
            sensitivity=most_good(self.features) * self.rows_per_person,
            monotonic=self.neighbours == "add_remove",
            rule="exponential",
        )

    @property
    def spent(self) -> float:
        """ρ of all that is drawn together, whichever way is drawn."""
        tried = sum(zcdp_rho(trial.epsilon, self.delta) for trial in self.trials.values())
        last = max(zcdp_rho(self.final(way).epsilon, self.delta) for way in self.possible)
        return tried + float(self.choice.cost.zcdp) + last

    @property
    def own_rules(self) -> tuple[str, ...]:
        """What is chosen among."""
        return (
            f"The best of {len(self.possible)} ways to build it ({', '.join(self.possible)}), each tried on the rows: "
            f"drawn by the exponential mechanism; {exact(self.ways_share)} of ρ buys the choice.",
        )

    @property
    def aside_notes(self) -> tuple[str, ...]:
        """What the choice took."""
        return (f"Choosing among {len(self.possible)} ways to build it took {exact(self.ways_share)} of ρ.",)

    def ready(self, rows: KeptRows) -> WholeWays:
        """The rows as every way needs them."""
        return WholeWays({way: trial.ready(rows) for way, trial in self.trials.items()})

    def scores(self, ready: WholeWays) -> IntArray:
        """How well the trial of every way does, in their order."""
        return ready.scores(self.trials)

    @property
    def most_pairs(self) -> tuple[int, int]:
        return len(self.features.pairs) + MOST_PAIRS, MOST_FEATURES

    def draw(self, ready: WholeWays) -> dict[str, Any]:
        """The model as JSON can hold it (``dpcore.training.load_model`` reads it)."""
        way = self.possible[self.choice.draw(self.scores(ready))]
        final = self.final(way)
        model = final.trained(*final.prepared(ready.by_way[way]))
        shares = {name: part * (1.0 - self.ways_share) for name, part in model.about.items() if name.endswith("_share")}
        told = {
            **model.about,
            **self.about(int(model.about["people"])),
            **shares,
            "noise_multiplier": self.noise_multiplier,
            "ways_share": self.ways_share,
            "ways": list(self.possible),
            "way": way,
        }
        return replace(model, about=told).plain()
