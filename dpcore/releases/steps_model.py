"""What every release of a model on steps is: how it is trained in whole numbers with OpenDP's Gaussian noise.

What the proof covers is exactly what runs. Which steps and options a row is in follows from public cuts and that row
alone. First the counts of rows in each get discrete Gaussian noise; from them, and from them alone, come public
scales in whole units. Then each step's sum of gradients over the rows is an exact sum of whole numbers to which one
row adds a vector of length at most ``clip``, whoever else is there, and gets discrete Gaussian noise; last, so do the
counts of how often the model is right by how sure it is. All else sees noisy numbers and public ones only.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from dpcore.costs import Cost
from dpcore.datasets.schema import MOST_PEOPLE
from dpcore.errors import InvalidArgument
from dpcore.events import GaussianEvent
from dpcore.releases import draws
from dpcore.releases.asked import LEAST_SHARE, about_how_many
from dpcore.releases.asked_model import AskedModel
from dpcore.releases.whole_codes import SCALE_BITS, SUM_UNIT, KeptRows, WholeCodes, clip_units, scale_units
from dpcore.training.scaled_descent import calibrating, clip_by_rule, scales_squared, step_lengths
from dpcore.validate import FloatArray, IntArray, in_range, whole
from dpcore.written import exact

if TYPE_CHECKING:
    from dpcore.datasets.private_rows import PrivateRows

_LARGEST_CLIP = 1.0
_FURTHEST = 2.0**11  # that weights may go


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """What one training has of ρ: for its ``counts``, for all its ``sums`` in ``steps`` equal parts, and for the
    ``cells`` that calibrate it; ``whole`` is what the model's rules count it as."""

    counts: float
    sums: float
    cells: float
    steps: int
    whole: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Fitted:
    """``points`` of every one (d,) or (d, classes), about how many ``people`` there are, and the ``clip`` used."""

    points: FloatArray
    people: int
    clip: float


@dataclass(frozen=True, slots=True, kw_only=True)
class StepsModel(AskedModel):
    """The fields of a linear model of steps and options, trained by noisy descent on scaled columns.

    Of ρ, discrete Gaussian releases that may depend on earlier ones (Canonne, Kamath & Steinke, NeurIPS 2020) get:
    ``counts_share`` for how many rows have each of the d ones (a row has at most m: L2 sensitivity √m),
    ``calibration_share`` for two classes for how often the model is right by how sure it is (1), ``aside`` what a kind
    of model spends otherwise, the rest in equal parts for ``steps`` gradient sums (``clip``); × the rows of one
    person. Where a row is replaced, counts move √2 times and sums twice as far. ``people`` scales steps only: as
    declared, else the noisy count. ``clip`` None is ``clip_by_rule`` at that number. The settings are those of
    ``dpcore.training.ScaledSteps``, nothing is tuned on the data. Raises InvalidArgument.
    """

    noise_alone: ClassVar[bool] = True
    """Whether all of it is Gaussian noise, so that the Gaussian's own ε holds and not that of ρ alone."""

    steps: int = 200
    clip: float | None = None
    counts_share: float = 0.1
    calibration_share: float = 0.03

    def check(self) -> None:
        """The parameters that every model on steps has. Raises InvalidArgument."""
        AskedModel.check(self)
        whole(1, 10_000, steps=self.steps)
        if self.clip is not None:
            in_range(SUM_UNIT, _LARGEST_CLIP, clip=self.clip)
        in_range(LEAST_SHARE, 1.0, open_high=True, counts_share=self.counts_share)
        if self.calibration_share != 0.0:
            in_range(LEAST_SHARE, 1.0, open_high=True, calibration_share=self.calibration_share)
        if self.steps_share <= 0.0:
            raise InvalidArgument("calibration_share", "must leave something for the steps")
        self.check_noise(self.parts)

    def check_noise(self, parts: Parts) -> None:
        """That noise fits what is drawn for one training: that of the sums, which is by far the largest. Raises
        InvalidArgument."""
        moved = self.sums_sensitivity(_LARGEST_CLIP * self.per_clip)
        if moved * self.noise_of(parts.sums / parts.steps) > draws.LARGEST_SCALE:
            raise InvalidArgument("epsilon", "is too small for this many rows per person: the noise would not fit")

    @property
    def noise_multiplier(self) -> float:
        """σ of everything together."""
        return self.noise_of(1.0)

    def noise_of(self, share: float) -> float:
        """Noise over sensitivity of a release that has a ``share`` of ρ."""
        return 1.0 / math.sqrt(2.0 * self.rho * share)

    @property
    def cost(self) -> Cost:
        return Cost(
            epsilon=self.epsilon,
            delta=self.delta,
            rho=self.rho,
            event=GaussianEvent(noise_multiplier=self.noise_multiplier, count=1) if self.noise_alone else None,
        )

    @property
    def calibrated(self) -> float:
        """The share of ρ that calibration has: none for a number."""
        return self.calibration_share if self.features.classifies else 0.0

    @property
    def per_clip(self) -> float:
        """How long one row's gradient may be over the clip of a two-class model, as ``ScaledDescent.per_clip``."""
        return math.sqrt(2.0) if self.features.apart else 1.0

    @property
    def steps_share(self) -> float:
        """What is left for the gradient sums."""
        return 1.0 - self.counts_share - self.calibrated - self.aside

    @property
    def aside(self) -> float:
        """The share of ρ that is spent before the counts: none."""
        return 0.0

    @property
    def parts(self) -> Parts:
        """What the model that is published has of ρ."""
        return Parts(counts=self.counts_share, sums=self.steps_share, cells=self.calibrated, steps=self.steps)

    @property
    def cells_sensitivity(self) -> float:
        """How far one person can move counts that each row is in one of, in L2."""
        return self.rows_per_person * (1.0 if self.neighbours == "add_remove" else math.sqrt(2.0))

    def counts_sensitivity(self, most_ones: int) -> float:
        """How far one person can move counts that each row is in at most ``most_ones`` of, in L2."""
        return self.cells_sensitivity * math.sqrt(most_ones)

    def sums_sensitivity(self, clip: float) -> int:
        """How far one person can move a step's sums, in L2 and in their units."""
        return clip_units(clip) * self.rows_per_person * (1 if self.neighbours == "add_remove" else 2)

    @property
    def own_notes(self) -> tuple[str, ...]:
        """How the number of rows that scales the steps is known."""
        bought = f"Noisy counts of the rows in each step and option took {exact(self.counts_share)} of ρ"
        if self.people is None:
            return (*self.aside_notes, f"{bought}; how many rows there are in all was reckoned from them.")
        return (
            *self.aside_notes,
            f"{bought}.",
            about_how_many(self.reads, self.people),
        )

    @property
    def aside_notes(self) -> tuple[str, ...]:
        """What was spent before the counts, in sentences."""
        return ()

    @property
    def missing_rule(self) -> str:
        """What a missing cell counts as."""
        return "A missing or unreadable cell is in no step and none of the options."

    def read(self, rows: PrivateRows) -> Any:
        """The rows that have an answer, as they are needed."""
        return self.ready(KeptRows.of(self.features, self.opened(rows)))

    @abstractmethod
    def ready(self, rows: KeptRows) -> Any:
        """What this kind of model needs of the rows."""

    def fitted(self, ready: WholeCodes, parts: Parts) -> Fitted:
        """Points of every one, by ``parts`` of ρ and discrete Gaussian releases alone."""
        moved = self.counts_sensitivity(ready.most_ones)
        counts = draws.gaussian(ready.counts(), sensitivity=moved, rho=self.rho * parts.counts)
        people = self.size(counts, ready.most_ones, parts)
        clip = self.clip_for(people, parts)
        scales = self.scales(counts, people, ready.most_ones, parts)
        part, sensitivity = self.rho * parts.sums / parts.steps, self.sums_sensitivity(clip)

        def noisy_sums(weights: FloatArray) -> IntArray:
            sums = ready.sums(weights, scales, clip_units(clip))
            return draws.gaussian(sums.ravel(), sensitivity=sensitivity, rho=part).reshape(sums.shape)

        points = self.descend(noisy_sums, people, scales, parts)
        if parts.cells:
            cells = draws.gaussian(ready.cells(points), sensitivity=self.cells_sensitivity, rho=self.rho * parts.cells)
            points = points * self.factor(cells, parts)
        return Fitted(points=points, people=people, clip=clip)

    def size(self, counts: IntArray, most_ones: int, parts: Parts | None = None) -> int:
        """About how many rows there are: as declared, else as the noisy ``counts`` say, at least their noise."""
        if self.people is not None:
            return self.people
        least = max(2.0, self.counts_sensitivity(most_ones) * self.noise_of((parts or self.parts).counts))
        return min(max(round(least), int(counts[-1])), MOST_PEOPLE)

    def clip_for(self, people: int, parts: Parts | None = None) -> float:
        """How long one row's gradient may be."""
        if self.clip is not None:
            return self.clip * self.per_clip
        noise = self.noise_of((parts or self.parts).whole) * self.rows_per_person
        return self.per_clip * float(clip_by_rule(np.array([float(people)]), noise)[0])

    def scales(self, counts: IntArray, people: int, most_ones: int, parts: Parts | None = None) -> IntArray:
        """Public scales (d,) in whole units from noisy ``counts`` (d,)."""
        noise = self.counts_sensitivity(most_ones) * self.noise_of((parts or self.parts).counts)
        squares = scales_squared(counts.astype(np.float64)[:, None], np.array([float(people)]), np.array([noise]))
        return scale_units(np.sqrt(squares[:, 0]))

    def descend(
        self,
        noisy_sums: Callable[[FloatArray], IntArray],
        people: int,
        scales: IntArray,
        parts: Parts | None = None,
    ) -> FloatArray:
        """Points of every one (d,), or with several classes (d, classes), from noisy gradient sums alone, which
        ``noisy_sums(weights)`` gives in their unit.

        ``people`` and ``scales`` are public.
        """
        parts = parts or self.parts
        noise = self.sums_sensitivity(self.clip_for(people, parts)) * SUM_UNIT * self.noise_of(parts.sums / parts.steps)
        rate = 2.5 if self.features.classifies else 1.0
        lengths = step_lengths(
            np.array([float(people)]),
            np.array([noise]),
            np.array([rate]),
            smoothness=0.5 if self.features.apart else self.loss.smoothness,
            steps=parts.steps,
            momentum=self.momentum,
        )
        shape = (scales.size, self.features.outputs) if self.features.apart else (scales.size,)
        at, speed, total = (np.zeros(shape) for _ in range(3))
        last = max(1, round(self.tail * parts.steps))
        for step in range(parts.steps):
            asked = draws.from_units(noisy_sums(at), SUM_UNIT)
            if self.features.apart:  # gradients add up to 0 over the classes: what does not is noise
                asked = asked - asked.mean(axis=1, keepdims=True)
            speed = self.momentum * speed + asked / people
            at = np.clip(at - lengths[0] * speed, -_FURTHEST, _FURTHEST)
            if step >= parts.steps - last:
                total = total + at
        return np.asarray(((total / last).T * scales).T * 2.0**-SCALE_BITS)

    def factor(self, cells: IntArray, parts: Parts | None = None) -> float:
        """What noisy ``cells`` say that margins should be multiplied by."""
        noise = self.cells_sensitivity * self.noise_of((parts or self.parts).cells)
        return calibrating(cells.astype(np.float64).reshape(-1, 2), noise)
