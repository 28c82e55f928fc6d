"""How a private choice is judged: what every measure in ``dpcore.selection.measures`` is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol

from dpcore.tradeoff import Metric
from dpcore.validate import FloatArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Judged:
    """What a choice is judged by: ``gaps`` (d,) below the best, ascending from 0, of groups of ``counts`` (d,) options.

    The laws are those of m settings: ``times`` (m,) as many people as the ``people`` behind the scores. ``beta`` is the
    chance with which a likely loss may be exceeded.
    """

    gaps: FloatArray
    counts: FloatArray
    times: FloatArray
    people: int
    beta: float


class Measure(Protocol):
    """One measure: a class with ``key``, ``rank``, its ``metric``, and how it is read off a law.

    ``of_law`` takes the chances of each group, shape (m, d). ``promised`` is what follows from the theorem that the
    loss exceeds (ln k + s)/a with chance at most e^−s for every s ≥ 0; ``slopes`` a, shape (m,), ``k`` options.
    """

    key: ClassVar[str]
    rank: ClassVar[int]
    metric: ClassVar[Metric]

    @staticmethod
    def of_law(law: FloatArray, judged: Judged) -> FloatArray: ...

    @staticmethod
    def promised(slopes: FloatArray, k: int, judged: Judged) -> FloatArray: ...
