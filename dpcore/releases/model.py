"""A private model on a person's own data: weights alone, trained in whole numbers with OpenDP's Gaussian noise.

What the proof covers is exactly what runs. Each row becomes whole units of 2⁻¹⁸ by public constants, its length at
most 2¹⁸ of them; its slope, whole units of 2⁻¹⁴, is read from a public table (or subtracted) at an integer margin, and
capped so that slope × length is at most ``clip``. Each step's sum over the rows is an exact integer sum, so nobody's
contribution depends on anyone else, on the order of rows or on how a processor adds floating-point numbers. To it goes
discrete Gaussian noise on the integers. All after that (momentum, averaging) sees noisy sums and public numbers only.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from dpcore.costs import Cost
from dpcore.datasets.schema import MOST_PEOPLE
from dpcore.errors import InvalidArgument
from dpcore.events import GaussianEvent
from dpcore.releases import draws
from dpcore.releases.asked import about_how_many
from dpcore.releases.asked_model import AskedModel
from dpcore.releases.whole_rows import LARGEST_WEIGHT, SUM_UNIT, WholeRows, clip_units
from dpcore.training.descent import step_length
from dpcore.training.model import LinearModel
from dpcore.validate import FloatArray, IntArray, in_range, whole

if TYPE_CHECKING:
    from dpcore.datasets.private_rows import PrivateRows


@dataclass(frozen=True, slots=True, kw_only=True)
class PrivateModel(AskedModel):
    """Train a linear model of ``features`` by noisy gradient descent and publish its weights.

    ρ-zCDP with ρ = ``zcdp_rho(epsilon, delta)``, hence (ε, δ)-DP: ``steps`` discrete Gaussian releases of L2
    sensitivity ``clip`` (twice that when a row is replaced) × the rows of one person, in equal parts of ρ (Canonne,
    Kamath & Steinke, NeurIPS 2020). ``people`` is about how many rows there are, used to scale steps only: as declared,
    or where it is None bought as a noisy count, one more discrete Gaussian release with an equal part of ρ; the exact
    number is in nothing. Fixed settings, nothing tuned on the data; no loss or accuracy on it is ever shown. Raises
    InvalidArgument.
    """

    key: ClassVar[str] = "model"
    mechanism: ClassVar[str] = "Noisy gradient descent with discrete Gaussian noise"

    steps: int = 100
    clip: float = 0.5

    def __post_init__(self) -> None:
        self.check()
        if self.people is None and self.neighbours != "add_remove":
            raise InvalidArgument("people", "must be stated: where a row is replaced, the number of rows is public")
        if self.features.apart:
            raise InvalidArgument("features", "must tell one class from the others: a model on steps tells all apart")
        whole(1, 10_000, steps=self.steps)
        in_range(SUM_UNIT, 1.0, clip=self.clip)
        if self.sensitivity * self.noise_multiplier > draws.LARGEST_SCALE:
            raise InvalidArgument("epsilon", "is too small for this many rows per person: the noise would not fit")

    @property
    def releases(self) -> int:
        """How many equal parts ρ is spent in: one a step, and one for the number of rows where that is bought."""
        return self.steps + (self.people is None)

    @property
    def noise_multiplier(self) -> float:
        """Each part's noise over its sensitivity."""
        return math.sqrt(self.releases / (2.0 * self.rho))

    @property
    def cost(self) -> Cost:
        return Cost(
            epsilon=self.epsilon,
            delta=self.delta,
            rho=self.rho,
            event=GaussianEvent(noise_multiplier=self.noise_multiplier, count=self.releases),
        )

    @property
    def count_sensitivity(self) -> float:
        """How far one person moves the number of rows."""
        return float(self.rows_per_person)

    @property
    def sensitivity(self) -> int:
        """How far one person can move a step's sums, in L2 and in their units."""
        return clip_units(self.clip) * self.rows_per_person * (1 if self.neighbours == "add_remove" else 2)

    @property
    def own_notes(self) -> tuple[str, ...]:
        """How the number of rows that scales the steps is known."""
        if self.people is None:
            return (f"How large its steps are rests on a noisy count of the rows, which took 1/{self.releases} of ρ.",)
        return (about_how_many(self.reads, self.people),)

    def read(self, rows: PrivateRows) -> WholeRows:
        """The rows in whole units."""
        return WholeRows(self.features, clip_units(self.clip), self.opened(rows))

    def draw(self, ready: WholeRows) -> dict[str, Any]:
        """The model as JSON can hold it (``dpcore.training.load_model`` reads it)."""
        part = self.rho / self.releases
        people = self.people
        if people is None:
            noisy = draws.gaussian([ready.rows], sensitivity=self.count_sensitivity, rho=part)
            people = min(max(2, int(noisy[0])), MOST_PEOPLE)

        def noisy_sums(weights: FloatArray) -> IntArray:
            return draws.gaussian(ready.sums(weights), sensitivity=self.sensitivity, rho=part)

        about = {
            **self.about(people),
            "steps": self.steps,
            "clip": self.clip,
            "noise_multiplier": self.noise_multiplier,
        }
        return LinearModel(features=self.features, weights=self.descend(noisy_sums, people), about=about).plain()

    def descend(self, noisy_sums: Callable[[FloatArray], IntArray], people: int) -> FloatArray:
        """Weights (d,) from noisy gradient sums alone, which ``noisy_sums(weights)`` gives in ``SUM_UNIT``, (d,).

        ``people`` is public: stated, or counted with noise.
        """
        whole_run = self.sensitivity * SUM_UNIT * self.noise_multiplier / self.steps**0.5
        rate = step_length(self.loss, people, whole_run, self.steps, self.momentum)
        at, speed, total = (np.zeros(self.features.d) for _ in range(3))
        last = max(1, round(self.tail * self.steps))
        for step in range(self.steps):
            speed = self.momentum * speed + draws.from_units(noisy_sums(at), SUM_UNIT) / people
            at = np.clip(at - rate * speed, -LARGEST_WEIGHT, LARGEST_WEIGHT)
            if step >= self.steps - last:
                total = total + at
        return np.asarray(total / last)
