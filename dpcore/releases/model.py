"""A private model on a person's own data: weights alone, trained in whole numbers with OpenDP's Gaussian noise.

What the proof covers is exactly what runs. Each row becomes whole units of 2⁻¹⁸ by public constants, its length at
most 2¹⁸ of them; its slope, whole units of 2⁻¹⁴, is read from a public table (or subtracted) at an integer margin, and
capped so that slope × length is at most ``clip``. Each step's sum over the rows is an exact integer sum, so nobody's
contribution depends on anyone else, on the order of rows or on how a processor adds floating-point numbers. To it goes
discrete Gaussian noise on the integers. All after that (momentum, averaging) sees noisy sums and public numbers only.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from dpcore.calibration import zcdp_rho
from dpcore.costs import Cost
from dpcore.errors import InvalidArgument
from dpcore.events import GaussianEvent
from dpcore.releases import draws
from dpcore.releases.whole_rows import LARGEST_WEIGHT, MOST_ROWS, SUM_UNIT, WholeRows, clip_units
from dpcore.training.descent import step_length
from dpcore.training.features import Features
from dpcore.training.losses import LOGISTIC, SQUARED, LinearLoss
from dpcore.training.model import LinearModel
from dpcore.validate import FloatArray, IntArray, Neighbours, in_range, one_of, positive, probability, whole

if TYPE_CHECKING:
    from dpcore.datasets.schema import Schema
    from dpcore.datasets.table import Table


@dataclass(frozen=True, slots=True, kw_only=True)
class PrivateModel:
    """Train a linear model of ``features`` by noisy gradient descent and publish its weights.

    ρ-zCDP with ρ = ``zcdp_rho(epsilon, delta)``, hence (ε, δ)-DP: ``steps`` discrete Gaussian releases of L2
    sensitivity ``clip`` (twice that when a row is replaced) × ``rows_per_person``, each ρ/steps (Canonne, Kamath &
    Steinke, NeurIPS 2020). ``people`` is the declared number of rows: public, used to scale steps only. A row with a
    missing value adds nothing. Fixed settings, nothing tuned on the data; no loss or accuracy on it is ever shown.
    ``validate`` and ``answer`` take a ``dpcore.datasets.Table``. Raises InvalidArgument.
    """

    key: ClassVar[str] = "model"
    mechanism: ClassVar[str] = "Noisy gradient descent with discrete Gaussian noise"

    features: Features
    epsilon: float
    delta: float
    people: int
    rows_per_person: int = 1
    neighbours: Neighbours = "add_remove"
    steps: int = 100
    clip: float = 0.5
    momentum: float = 0.9
    tail: float = 0.5

    def __post_init__(self) -> None:
        positive(epsilon=self.epsilon)
        probability(delta=self.delta)
        whole(2, MOST_ROWS, people=self.people)
        whole(1, rows_per_person=self.rows_per_person)
        one_of(("add_remove", "replace_one"), neighbours=self.neighbours)
        whole(1, 10_000, steps=self.steps)
        in_range(0.0, 1.0, open_low=True, clip=self.clip)
        in_range(0.0, 1.0, open_high=True, momentum=self.momentum)
        in_range(0.0, 1.0, open_low=True, tail=self.tail)
        if self.sensitivity * self.noise_multiplier > draws.LARGEST_SCALE:
            raise InvalidArgument("epsilon", "is too small for this many rows per person: the noise would not fit")

    @classmethod
    def of(
        cls,
        schema: Schema,
        *,
        target: str,
        columns: Sequence[str],
        positive: str | None = None,
        epsilon: float,
        delta: float,
        people: int,
        neighbours: Neighbours = "add_remove",
    ) -> Self:
        """From declared columns. Raises InvalidArgument where bounds or categories were read from the file."""
        for name in (target, *columns):
            if not schema.column(name).releasable:
                raise InvalidArgument(
                    "columns",
                    f"cannot include “{name}” until its bounds or categories are declared: those read from the file "
                    "could give people in it away",
                )
        return cls(
            features=Features.of(schema, target=target, columns=columns, positive=positive),
            epsilon=epsilon,
            delta=delta,
            people=people,
            rows_per_person=schema.rows_per_person,
            neighbours=neighbours,
        )

    @property
    def loss(self) -> LinearLoss:
        """Logistic for two classes, squared for a number."""
        return LOGISTIC if self.features.two_classes else SQUARED

    @property
    def what(self) -> str:
        """The question in one plain sentence."""
        count = len(self.features.columns)
        return f"A model that predicts “{self.features.target.name}” from {count} column{'s' * (count > 1)}"

    @property
    def rho(self) -> float:
        """zCDP of all steps together."""
        return zcdp_rho(self.epsilon, self.delta)

    @property
    def noise_multiplier(self) -> float:
        """Each step's noise over the sensitivity."""
        return math.sqrt(self.steps / (2.0 * self.rho))

    @property
    def cost(self) -> Cost:
        return Cost(
            epsilon=self.epsilon,
            delta=self.delta,
            rho=self.rho,
            event=GaussianEvent(noise_multiplier=self.noise_multiplier, count=self.steps),
        )

    @property
    def sensitivity(self) -> int:
        """How far one person can move a step's sums, in L2 and in their units."""
        return clip_units(self.clip) * self.rows_per_person * (1 if self.neighbours == "add_remove" else 2)

    def validate(self, data: Table) -> None:
        """Raises InvalidArgument unless every column is there and rows are not too many to add up exactly."""
        WholeRows(self.features, clip_units(self.clip), data)

    def answer(self, data: Table) -> dict[str, Any]:
        """The model as JSON can hold it (``dpcore.training.load_model`` reads it)."""
        rows = WholeRows(self.features, clip_units(self.clip), data)

        def noisy_sums(weights: FloatArray) -> IntArray:
            return draws.gaussian(rows.sums(weights), sensitivity=self.sensitivity, rho=self.rho / self.steps)

        about = {
            "method": self.mechanism,
            "loss": self.loss.name,
            "epsilon": self.epsilon,
            "delta": self.delta,
            "rho": self.rho,
            "neighbours": self.neighbours,
            "people": self.people,
            "rows_per_person": self.rows_per_person,
            "steps": self.steps,
            "clip": self.clip,
            "noise_multiplier": self.noise_multiplier,
        }
        return LinearModel(features=self.features, weights=self.descend(noisy_sums), about=about).plain()

    def descend(self, noisy_sums: Callable[[FloatArray], IntArray]) -> FloatArray:
        """Weights (d,) from noisy gradient sums alone, which ``noisy_sums(weights)`` gives in ``SUM_UNIT``, (d,)."""
        whole_run = self.sensitivity * SUM_UNIT * self.noise_multiplier / self.steps**0.5
        rate = step_length(self.loss, self.people, whole_run, self.steps, self.momentum)
        at, speed, total = (np.zeros(self.features.d) for _ in range(3))
        last = max(1, round(self.tail * self.steps))
        for step in range(self.steps):
            speed = self.momentum * speed + draws.from_units(noisy_sums(at), SUM_UNIT) / self.people
            at = np.clip(at - rate * speed, -LARGEST_WEIGHT, LARGEST_WEIGHT)
            if step >= self.steps - last:
                total = total + at
        return np.asarray(total / last)
