"""One noisy maximum over whole-number scores, as private choices draw it, and the requests that it answers.

The two rules of ``dpcore.releases.draws`` have exactly the laws of ``dpcore.selection``: permute-and-flip (noisy max
with exponential noise; OpenDP calls it noisy max under max divergence), and the exponential mechanism (noisy max with
Gumbel noise; under zero-concentrated divergence).
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

from dpcore.costs import Cost
from dpcore.datasets.declaration import shown
from dpcore.errors import InvalidArgument
from dpcore.in_units import LARGEST
from dpcore.releases import draws
from dpcore.releases.asked import Asked
from dpcore.releases.draws import LARGEST_SCALE, Rule
from dpcore.selection.laws import laws
from dpcore.validate import FloatArray, IntArray, one_of, positive, probability, whole

MOST_OPTIONS = 10**5
NAMES: dict[Rule, str] = {
    "permute_and_flip": "Permute and flip (noisy max with exponential noise)",
    "exponential": "Exponential mechanism (noisy max with Gumbel noise)",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """How one noisy maximum is drawn: ``sensitivity`` in whole units of score, ``monotonic`` when all move one way.

    Raises InvalidArgument for a rule that cannot be drawn here: another would not be the mechanism that was asked for.
    """

    epsilon: float
    sensitivity: int
    monotonic: bool
    rule: Rule

    def __post_init__(self) -> None:
        positive(epsilon=self.epsilon)
        whole(1, LARGEST, sensitivity=self.sensitivity)
        one_of(tuple(NAMES), rule=self.rule)
        if self.scale > LARGEST_SCALE:
            raise InvalidArgument("epsilon", "is too small: the noise would not fit")

    @property
    def scale(self) -> float:
        """Of the noise, in units of score."""
        return (1 if self.monotonic else 2) * self.sensitivity / self.epsilon

    def draw(self, scores: IntArray) -> int:
        """The index of the winner; ε-DP. Raises InvalidArgument, ReleaseRefused."""
        return draws.noisy_max(
            scores,
            sensitivity=self.sensitivity,
            epsilon=self.epsilon,
            monotonic=self.monotonic,
            rule=self.rule,
        )

    def law(self, scores: IntArray) -> FloatArray:
        """The exact law of ``draw``, shape (k,)."""
        law: FloatArray = laws(
            self.rule, scores, [self.epsilon], sensitivity=float(self.sensitivity), monotonic=self.monotonic
        )[0]
        return law

    def behind(self, k: int, beta: float) -> float:
        """How far the winner's score is behind the best of ``k`` at most, with probability 1 − β: scale × ln(k/β).

        McSherry & Talwar, FOCS 2007; permute-and-flip is never worse (McKenna & Sheldon, NeurIPS 2020).
        """
        return self.scale * math.log(k / probability(beta=beta))

    @property
    def cost(self) -> Cost:
        """Of one draw: bounded range for the exponential mechanism, pure ε-DP for permute-and-flip."""
        return Cost.bounded_range(self.epsilon) if self.rule == "exponential" else Cost.pure(self.epsilon)


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen(Asked):
    """A request that is answered by one ``choice``, drawn by ``rule``."""

    rule: Rule = "permute_and_flip"

    @property
    @abstractmethod
    def choice(self) -> Choice:
        """The noisy maximum that answers it. Raises InvalidArgument."""

    @property
    def mechanism(self) -> str:
        """What answers it."""
        return NAMES[self.rule]

    @property
    def cost(self) -> Cost:
        """One answer."""
        return self.choice.cost

    def law_of(self, scores: IntArray) -> FloatArray:
        """Chance of each of k possible answers, shape (k,), in their public order, exact."""
        return self.choice.law(scores)


def check_names(**named: Sequence[str]) -> None:
    """One keyword argument, the list of declared names: not empty, none twice. Raises InvalidArgument."""
    ((name, options),) = named.items()
    whole(1, MOST_OPTIONS, **{name: len(options)})
    if len(set(options)) < len(options):
        raise InvalidArgument(name, "must not name one twice")


def of(subject: str) -> str:
    """“ of “subject””, or nothing when there is none: how a request's sentence names what its data are about."""
    return f" of “{shown(subject)}”" if subject else ""
