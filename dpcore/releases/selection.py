"""Private choices: the most common option, the best score; and, from their own files, a quantile and the best rule.

``law`` of each request gives the exact law of that request on those data, for tests and What-if; a release never shows
it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from dpcore.costs import Cost
from dpcore.errors import InvalidArgument
from dpcore.releases import draws
from dpcore.releases.best_rule import BestRule
from dpcore.releases.choice import NAMES, Choice, check, check_names, of
from dpcore.releases.draws import Rule
from dpcore.releases.quantile import QuantileValue
from dpcore.validate import FloatArray, IntArray, Neighbours, boolean, finite_vector, positive, whole

__all__ = ["BestRule", "BestScore", "MostCommonOption", "QuantileValue"]


@dataclass(frozen=True, slots=True, kw_only=True)
class MostCommonOption:
    """Names the most common of the declared ``options`` (k,) in a column.

    One person has at most ``rows_per_person`` rows, so each count moves by at most that many: all one way when the
    person is added or removed, which halves the noise. ``subject`` names the column: part of the question. Data: the
    option of each row, shape (n,); what is not declared counts for none. Raises InvalidArgument.
    """

    key: ClassVar[str] = "most_common"

    epsilon: float
    options: tuple[str, ...]
    neighbours: Neighbours = "add_remove"
    rows_per_person: int = 1
    rule: Rule = "permute_and_flip"
    subject: str = ""

    def __post_init__(self) -> None:
        check(self.epsilon, self.neighbours, self.rule, self.rows_per_person)
        check_names(options=self.options)

    @property
    def choice(self) -> Choice:
        """The noisy maximum over counts."""
        return Choice(
            epsilon=self.epsilon,
            sensitivity=self.rows_per_person,
            monotonic=self.neighbours == "add_remove",
            rule=self.rule,
        )

    @property
    def what(self) -> str:
        """The question in one plain sentence."""
        return f"Which of {len(self.options):,} options{of(self.subject)} is most common?"

    @property
    def mechanism(self) -> str:
        """What answers it."""
        return NAMES[self.rule]

    @property
    def cost(self) -> Cost:
        """One answer."""
        return self.choice.cost

    def validate(self, data: Sequence[object]) -> None:
        """Refuse what is not a list with one entry for each row. Raises InvalidArgument."""
        self.scores(data)

    def scores(self, data: Sequence[object]) -> IntArray:
        """How many rows have each option, shape (k,). Raises InvalidArgument."""
        if isinstance(data, (str, bytes, Mapping)) or np.ndim(np.asarray(data, dtype=object)) != 1:
            raise InvalidArgument("data", "must be a list with one entry for each row")
        tally = Counter(value for value in data if isinstance(value, str))
        return np.array([tally[option] for option in self.options], dtype=np.int64)

    def law(self, data: Sequence[object]) -> FloatArray:
        """Chance of each option, shape (k,), exact. Raises InvalidArgument."""
        return self.choice.law(self.scores(data))

    def answer(self, data: Sequence[object]) -> dict[str, Any]:
        """The winner: ``option`` and its ``index`` from 0."""
        winner = self.choice.draw(self.scores(data))
        return {"option": self.options[winner], "index": winner}


@dataclass(frozen=True, slots=True, kw_only=True)
class BestScore:
    """Names the candidate (of the declared ``candidates``, k of them) with the largest score.

    ``sensitivity``: how far one person can move any score. ``monotonic``: one person added or removed moves all scores
    the same way; it halves the noise. ``resolution`` left out means that scores are whole numbers; otherwise the unit
    is the largest power of two up to it, and rounding costs one unit of sensitivity more. With ``smallest`` the
    smallest score wins. ``subject`` names the scores: part of the question. Data: the scores, shape (k,).
    Raises InvalidArgument.
    """

    key: ClassVar[str] = "best_score"

    epsilon: float
    candidates: tuple[str, ...]
    sensitivity: float = 1.0
    neighbours: Neighbours = "replace_one"
    monotonic: bool = False
    resolution: float | None = None
    smallest: bool = False
    rule: Rule = "permute_and_flip"
    subject: str = ""

    def __post_init__(self) -> None:
        check(self.epsilon, self.neighbours, self.rule)
        check_names(candidates=self.candidates)
        boolean(smallest=self.smallest)
        if boolean(monotonic=self.monotonic) and self.neighbours == "replace_one":
            raise InvalidArgument("monotonic", "does not hold when one person's row is replaced")
        if self.resolution is None:
            whole(1, draws.LARGEST, sensitivity=self.sensitivity)
        else:
            positive(resolution=self.resolution)
            if positive(sensitivity=self.sensitivity) / self.unit > draws.LARGEST:
                raise InvalidArgument("resolution", "must be larger: the sensitivity would not fit")

    @property
    def unit(self) -> float:
        """What scores are counted in."""
        return 1.0 if self.resolution is None else draws.binary_unit(self.resolution)

    @property
    def choice(self) -> Choice:
        """The noisy maximum over scores in units."""
        steps = math.ceil(Fraction(self.sensitivity) / Fraction(self.unit)) + (0 if self.resolution is None else 1)
        return Choice(epsilon=self.epsilon, sensitivity=steps, monotonic=self.monotonic, rule=self.rule)

    @property
    def what(self) -> str:
        """The question in one plain sentence."""
        end = "smallest" if self.smallest else "best"
        return f"Which of {len(self.candidates):,} candidates{of(self.subject)} has the {end} score?"

    @property
    def mechanism(self) -> str:
        """What answers it."""
        return NAMES[self.rule]

    @property
    def cost(self) -> Cost:
        """One answer."""
        return self.choice.cost

    def validate(self, data: ArrayLike) -> None:
        """Refuse scores that are not k finite numbers (whole ones, without a resolution). Raises InvalidArgument."""
        self.scores(data)

    def scores(self, data: ArrayLike) -> IntArray:
        """The scores in units, larger is better, shape (k,). Raises InvalidArgument."""
        scores = finite_vector(scores=data)
        if scores.size != len(self.candidates):
            raise InvalidArgument("scores", "must be as many as the candidates")
        if self.resolution is None and (scores != np.floor(scores)).any():
            raise InvalidArgument("scores", "must be whole numbers; declare a resolution for others")
        return draws.to_units(-scores if self.smallest else scores, self.unit)

    def law(self, data: ArrayLike) -> FloatArray:
        """Chance of each candidate, shape (k,), exact. Raises InvalidArgument."""
        return self.choice.law(self.scores(data))

    def answer(self, data: ArrayLike) -> dict[str, Any]:
        """The winner: ``candidate`` and its ``index`` from 0."""
        winner = self.choice.draw(self.scores(data))
        return {"candidate": self.candidates[winner], "index": winner}
