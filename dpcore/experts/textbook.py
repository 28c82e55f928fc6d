"""Weighted majority at the rate of the textbook's theorem."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

from dpcore.about import About
from dpcore.experts.weighted_majority import WeightedMajority


@dataclass(frozen=True, slots=True, kw_only=True)
class TextbookMajority(WeightedMajority):
    """Randomised weighted majority as Dwork & Roth 2014, Theorem 11.2, sets it: advanced composition of T plays.

    The guarantee holds for any losses, at more noise than the other accounts need. Raises InvalidArgument.

    >>> run = TextbookMajority.at(epsilon=1.0, delta=1e-6, rounds=100, experts=2)
    >>> losses = [[0, 1]] * 100  # the first expert is always right
    >>> round(run.expected_regret(losses), 1)
    44.2
    """

    key: ClassVar[str] = "textbook"
    rank: ClassVar[int] = 0
    about: ClassVar[About] = About(
        name="Weighted majority as in the textbook",
        plain="follow better experts more often, at the textbook's cautious pace",
        how=(
            "Every expert has a running total of losses. Each round one is drawn at random, with a chance that shrinks "
            "exponentially with its total. The textbook counts the privacy of all rounds cautiously, so it learns "
            "slowly."
        ),
        formula=r"\Pr[\text{follow } i \text{ in round } t] \propto e^{-\eta L_{i,t-1}}",
        source="Dwork and Roth, 2014, Algorithm 16 and Theorem 11.2.",
        textbook=True,
        nearest="batched",
    )

    rule: str = "textbook"

    @classmethod
    def at(cls, *, epsilon: float, delta: float, rounds: int, experts: int, reacting: bool = False) -> Self:
        return cls(epsilon=epsilon, delta=delta, rounds=rounds, experts=experts)
