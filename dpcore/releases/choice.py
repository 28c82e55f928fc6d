"""One noisy maximum over whole-number scores, as private choices draw it.

The two rules of ``dpcore.releases.draws`` have exactly the laws of ``dpcore.selection``: permute-and-flip (noisy max
with exponential noise; OpenDP calls it noisy max under max divergence), and the exponential mechanism (noisy max with
Gumbel noise; under zero-concentrated divergence).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dpcore.costs import Cost
from dpcore.errors import InvalidArgument
from dpcore.releases import draws
from dpcore.releases.draws import Rule
from dpcore.selection.laws import laws
from dpcore.validate import FloatArray, IntArray, one_of, positive, whole

MOST_OPTIONS = 10**5
NAMES: dict[Rule, str] = {
    "permute_and_flip": "Permute and flip (noisy max with exponential noise)",
    "exponential": "Exponential mechanism (noisy max with Gumbel noise)",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """How one noisy maximum is drawn: ``sensitivity`` in whole units of score, ``monotonic`` when all move one way."""

    epsilon: float
    sensitivity: int
    monotonic: bool
    rule: Rule

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

    @property
    def cost(self) -> Cost:
        """Of one draw: bounded range for the exponential mechanism, pure ε-DP for permute-and-flip."""
        return Cost.bounded_range(self.epsilon) if self.rule == "exponential" else Cost.pure(self.epsilon)


def check(epsilon: float, neighbours: str, rule: str, rows_per_person: int = 1) -> None:
    """The parameters that every request here has. Raises InvalidArgument."""
    positive(epsilon=epsilon)
    one_of(("add_remove", "replace_one"), neighbours=neighbours)
    one_of(tuple(NAMES), rule=rule)
    whole(1, 10**6, rows_per_person=rows_per_person)


def check_names(**named: Sequence[str]) -> None:
    """One keyword argument, the list of declared names: not empty, none twice. Raises InvalidArgument."""
    ((name, options),) = named.items()
    whole(1, MOST_OPTIONS, **{name: len(options)})
    if len(set(options)) < len(options):
        raise InvalidArgument(name, "must not name one twice")


def of(subject: str) -> str:
    """“ of “subject””, or nothing when there is none: how a request's sentence names what its data are about."""
    return f" of “{subject}”" if subject else ""
