"""One private alarm run: which answers of a series reach a line, named one by one until the alarms are used up."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from dpcore.costs import Cost
from dpcore.errors import InvalidArgument
from dpcore.releases import draws
from dpcore.releases.choice import of
from dpcore.thresholding.noise import NoiseKind, NoisePair, Share, best_share, check_parameters, resolve_share
from dpcore.validate import IntArray, Neighbours, boolean, finite_vector, in_range, one_of, positive, whole

MOST_ENTRIES = 10**6
_BLOCK = 4096  # answers compared at a time


@dataclass(frozen=True, slots=True, kw_only=True)
class AlarmRun:
    """Names the first ``limit`` of ``entries`` answers that reach ``threshold`` + ``offset``, all with noise.

    The sparse vector technique (Lyu, Su & Li, VLDB 2017) in whole numbers: answers and threshold are counted in units
    and all noise is discrete, ``laplace`` or ``exponential`` (geometric). ε-DP for the whole run, however many answers
    it compares; its exact law is in ``dpcore.thresholding.discrete``.

    Declared, never read from the data: ``entries``, how many answers there are; ``sensitivity``, how far one person can
    move any one of them (for counts, the rows one person can have; how many answers a person moves does not matter);
    ``neighbours``; and ``one_way``, that one person added or removed moves all answers the same way, as counts do: it
    halves the noise, and cannot hold when a row is replaced. ``resolution`` left out means that answers are counts;
    otherwise the unit is the largest power of two up to it, and rounding costs one unit of sensitivity more.
    ``threshold_share`` as in ``dpcore.thresholding``, left out ``best``. ``labels``: public names of the answers, such
    as days, for the receipt; ``subject`` names the series, part of the question. Data: the answers in order, shape
    (entries,). Raises InvalidArgument.
    """

    key: ClassVar[str] = "alarm"

    epsilon: float
    threshold: float
    entries: int
    sensitivity: float = 1.0
    neighbours: Neighbours = "add_remove"
    one_way: bool = False
    limit: int = 1
    noise: NoiseKind = "exponential"
    threshold_share: Share = None
    offset: float = 0.0
    resolution: float | None = None
    labels: tuple[str, ...] = ()
    subject: str = ""

    def __post_init__(self) -> None:
        boolean(one_way=self.one_way)
        check_parameters(
            self.epsilon, self.sensitivity, self.noise, self.threshold_share, self.one_way, self.offset, self.limit
        )
        in_range(-1e15, 1e15, threshold=self.threshold)
        whole(1, whole(1, MOST_ENTRIES, entries=self.entries), limit=self.limit)
        one_of(("add_remove", "replace_one"), neighbours=self.neighbours)
        if self.one_way and self.neighbours == "replace_one":
            raise InvalidArgument("one_way", "does not hold when one person's row is replaced")
        if self.resolution is None:
            whole(1, sensitivity=self.sensitivity)
        else:
            positive(resolution=self.resolution)
        if self.labels and len(self.labels) != self.entries:
            raise InvalidArgument("labels", "must be as many as the answers")
        if abs(self.bar) > draws.LARGEST:
            raise InvalidArgument("resolution", "must be larger: the threshold would not fit")

    @property
    def unit(self) -> float:
        """What everything is counted in."""
        return 1.0 if self.resolution is None else draws.binary_unit(self.resolution)

    @property
    def steps(self) -> int:
        """``sensitivity`` in units, never too few."""
        return math.ceil(self.sensitivity / self.unit) + (0 if self.resolution is None else 1)

    @property
    def scales(self) -> NoisePair:
        """Scales of the discrete noises in units: rounded up until the guarantee they give is at most ε, exactly."""
        best = best_share(self.limit, monotonic=self.one_way)
        share = resolve_share(self.threshold_share, otherwise=best, limit=self.limit, monotonic=self.one_way)
        pair = NoisePair.of(self.epsilon, float(self.steps), self.noise, share, self.limit, self.one_way)
        bar, query = pair.threshold_scale, pair.query_scale
        while self.spent(bar, query) > Fraction(self.epsilon):
            bar, query = math.nextafter(bar, math.inf), math.nextafter(query, math.inf)
        return NoisePair(threshold_scale=bar, query_scale=query, one_sided=pair.one_sided)

    def spent(self, threshold_scale: float, query_scale: float) -> Fraction:
        """The guarantee of discrete noises of these scales, exactly: one step of ρ, and of ν one or two per alarm."""
        moves = (1 if self.one_way else 2) * self.limit * self.steps
        return Fraction(self.steps) / Fraction(threshold_scale) + Fraction(moves) / Fraction(query_scale)

    @property
    def bar(self) -> int:
        """Threshold and offset in units, upward: an answer is a whole number of units."""
        return math.ceil(Fraction(self.threshold + self.offset) / Fraction(self.unit))

    @property
    def what(self) -> str:
        """The question in one plain sentence."""
        named = "is the first" if self.limit == 1 else f"are the first {self.limit}"
        return f"Which of {self.entries:,} answers{of(self.subject)} {named} to reach {self.threshold:g}"

    @property
    def mechanism(self) -> str:
        """What answers it."""
        noise = "discrete Laplace" if self.noise == "laplace" else "geometric"
        return f"Sparse vector with {noise} noise, at most {self.limit} alarm{'s' if self.limit > 1 else ''}"

    @property
    def cost(self) -> Cost:
        """The whole run."""
        return Cost.pure(self.epsilon)

    def validate(self, data: ArrayLike) -> None:
        """Refuse answers that are not ``entries`` finite numbers (whole ones, for counts). Raises InvalidArgument."""
        self.in_units(data)

    def in_units(self, data: ArrayLike) -> IntArray:
        """The answers as whole numbers of units, shape (entries,). Raises InvalidArgument."""
        answers = finite_vector(answers=data)
        if answers.size != self.entries:
            raise InvalidArgument("answers", "must be as many as was declared")
        if self.resolution is None and (answers != np.floor(answers)).any():
            raise InvalidArgument("answers", "must be whole numbers; declare a resolution for others")
        return draws.to_units(answers, self.unit)

    def answer(self, data: ArrayLike) -> dict[str, Any]:
        """Run once: ``alarms``, indices from 0; ``names``, their labels; ``compared``, how many answers were looked at;
        ``stopped``, whether all alarms were spent.
        """
        answers, pair = self.in_units(data), self.scales
        draw = draws.geometric_noise if pair.one_sided else draws.laplace_noise
        line = self.bar + int(draw(1, pair.threshold_scale)[0])
        alarms: list[int] = []
        for start in range(0, self.entries, _BLOCK):
            block = answers[start : start + _BLOCK]
            raised = np.flatnonzero(block + draw(block.size, pair.query_scale) >= line)
            alarms += (start + raised).tolist()
            if len(alarms) >= self.limit:
                break
        alarms = alarms[: self.limit]
        stopped = len(alarms) == self.limit
        return {
            "alarms": alarms,
            "names": [self.labels[place] for place in alarms] if self.labels else [],
            "compared": alarms[-1] + 1 if stopped else self.entries,
            "stopped": stopped,
        }
