"""A model of steps and options that is built in one way, whatever its kind buys before."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

from dpcore.releases.steps_model import StepsModel
from dpcore.releases.whole_codes import WholeCodes
from dpcore.training.features import Features
from dpcore.training.model import LinearModel


@dataclass(frozen=True, slots=True, kw_only=True)
class BuiltModel(StepsModel):
    """A ``StepsModel`` of features whose cuts and pairs are public once ``prepared`` has spent ``aside`` of ρ."""

    @abstractmethod
    def prepared(self, ready: Any) -> tuple[Features, WholeCodes]:
        """Features whose cuts and pairs are public by now, with ``aside`` of ρ, and the rows as codes of them."""

    def told(self, features: Features) -> dict[str, Any]:
        """What else is said in the file of how it was made."""
        return {}

    def draw(self, ready: Any) -> dict[str, Any]:
        """The model as JSON can hold it (``dpcore.training.load_model`` reads it)."""
        features, codes = self.prepared(ready)
        return self.trained(features, codes).plain()

    def trained(self, features: Features, ready: WholeCodes) -> LinearModel:
        """The model of ``features`` on the rows as codes of its steps."""
        found = self.fitted(ready, self.parts)
        about = {
            **self.about(found.people),
            "steps": self.steps,
            "clip": found.clip,
            "counts_share": self.counts_share,
            "calibration_share": self.calibrated,
            "noise_multiplier": self.noise_multiplier,
            **self.told(features),
        }
        return LinearModel(features=features, weights=features.as_weights(found.points), about=about)
