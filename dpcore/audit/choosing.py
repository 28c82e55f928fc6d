"""The private choices inside releases of models, looked at by themselves: pairs of columns, and ways to build a model.

What comes before such a choice (a first model, trials) is paid for as if it were published, so the audit sets it to
public values of its own and looks at what one row does to the scores and to the exact law of the draw.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from dpcore.costs import Cost
from dpcore.releases.bought_model import BoughtModel
from dpcore.releases.choice import Choice
from dpcore.releases.chosen_model import ChosenModel, WholeWays
from dpcore.releases.paired_model import PairedModel
from dpcore.releases.steps_model import StepsModel
from dpcore.releases.whole_codes import WholeCodes
from dpcore.releases.whole_pairs import WholePairs
from dpcore.validate import FloatArray, IntArray

SEED = 20


def public_codes(request: StepsModel, ready: Any) -> WholeCodes:
    """The rows as codes of features that are the same whatever the rows are: cuts of noise alone, the first pairs."""
    codes: WholeCodes = ready
    if isinstance(request, BoughtModel):
        rng = np.random.Generator(np.random.PCG64(SEED))
        sizes = [tree.size for tree in ready.trees()]
        codes = ready.codes(request.cut([np.rint(100 * rng.standard_normal(size)).astype(np.int64) for size in sizes]))
    elif isinstance(request, PairedModel):
        codes = ready.codes(ready.chosen(range(min(request.many, len(ready.candidates)))))
    return codes


def random_points(codes: WholeCodes, outputs: int, seed: int) -> FloatArray:
    """Public points of every one, (d,) or (d, outputs), large and small."""
    rng = np.random.Generator(np.random.PCG64([SEED, seed]))
    shape = (codes.d, outputs) if outputs > 1 else (codes.d,)
    return np.asarray(10.0 ** rng.uniform(-1, 1.5) * rng.standard_normal(shape))


def pair_scores(request: PairedModel, ready: WholePairs, seed: int) -> tuple[IntArray, int]:
    """The scores of all candidates, and the sum of squares, where the first model has public points."""
    wrong = ready.wrong(random_points(ready.singles, request.features.outputs, seed))
    return ready.scores(wrong, [1000 * (seed % 3)] * len(ready.candidates)), ready.squares(wrong)


def way_scores(request: ChosenModel, ready: WholeWays, seed: int) -> IntArray:
    """The scores of all ways, where every trial has public points."""
    found = []
    for place, (way, trial) in enumerate(request.trials.items()):
        codes = public_codes(trial, ready.by_way[way])
        found.append(codes.good(random_points(codes, request.features.outputs, 10 * seed + place)))
    return np.array(found, dtype=np.int64)


def drawn_apart(choice: Choice, here: IntArray, there: IntArray) -> float:
    """The part of the choice's ε that its exact law uses on these two, its bounded range included: 1 is all."""
    first, second = (np.log(np.maximum(choice.law(scores), 1e-300)) for scores in (here, there))
    ratio = first - second
    return float(max(np.abs(ratio).max(), np.ptp(ratio))) / choice.epsilon


@dataclass(frozen=True, slots=True, kw_only=True)
class PairsDrawn:
    """The draw of one pair, where the first model has these ``points`` of every one."""

    key: ClassVar[str] = PairedModel.key
    request: PairedModel
    points: tuple[float, ...]

    @property
    def cost(self) -> Cost:
        return self.request.choice.cost

    def read(self, rows: Any) -> IntArray:
        ready = self.request.read(rows)
        scores: IntArray = ready.scores(ready.wrong(np.array(self.points)), [0] * len(ready.candidates))
        return scores

    def draw(self, scores: IntArray) -> int:
        return self.request.choice.draw(scores)


@dataclass(frozen=True, slots=True, kw_only=True)
class WayDrawn:
    """The draw of a way, where the first trial tells everybody to be of the positive class and the others do not."""

    key: ClassVar[str] = ChosenModel.key
    request: ChosenModel

    @property
    def cost(self) -> Cost:
        return self.request.choice.cost

    def read(self, rows: Any) -> IntArray:
        ready, found = self.request.read(rows), []
        for place, (way, trial) in enumerate(self.request.trials.items()):
            codes = public_codes(trial, ready.by_way[way])
            points = np.zeros(codes.d)
            points[-1] = 1.0 if place == 0 else -1.0
            found.append(codes.good(points))
        return np.array(found, dtype=np.int64)

    def draw(self, scores: IntArray) -> int:
        return self.request.choice.draw(scores)
