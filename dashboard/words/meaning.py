"""What is said of the guarantee's meaning: a guess before and after an answer, and the best possible attacker."""

from __future__ import annotations

from collections.abc import Sequence

from dashboard.words import at_most, guessed, number, plural, safe
from dpcore.guarantee import Widening

KIND = "What answers"
KIND_HELP = (
    "The band follows from ε and δ alone. The line is exact: of any answer it is the worst that ε allows, of a count "
    "that of its noise in whole rows."
)
ANY, GAUSSIAN = "Any answer with this ε", "A count with Gaussian noise"
ONE_GUESS = "**One guess**"
PRIOR_HELP = "How often somebody would already be right, by all that they know."
ADD_UP = "Show what happens as answers add up"
ON_AVERAGE = (
    "That is the average over all that the answers may come out as, and so is what the sidebar and the Budget page say "
    "of a guess where there is a δ. Without a δ that is the most that it can come to, however they come out."
)
PLANNED = "Several answers: each at this ε, set in advance."


def prior(neighbours: str, unit: str) -> str:
    return f"Before any answer, a guess {guessed(neighbours, unit)} is right, times in 100"


def dots(after: float, filled: int) -> str:
    return f"A grid of 100 dots, {filled} filled: right at most {at_most(after)} times in 100 afterwards."


def after_one(epsilon: float, after: float) -> str:
    """How often the same guess is right, at most."""
    return (
        f"After one answer at ε = {number(epsilon)} the same guess is right at most **{at_most(after)}** times in 100, "
        "whatever else the guesser knows. Each further answer adds to that."
    )


def bounds(unit: str) -> str:
    return (
        "It does not say that nothing is learned: that smokers fall ill more often is learned with or without any one "
        f"{safe(unit, 40)}. It bounds what that one adds. Drag ε in the sidebar."
    )


def curves(epsilon: float, found: Widening) -> str:
    """The picture in words."""
    told = ", ".join(f"{plural(n, 'answer')} {at_most(100 * b)}" for n, b in _best(found))
    return (
        f"Misses against false alarms of the best attacker at ε = {number(epsilon)}. Right in 100 from an even start, "
        f"at most: after {told}."
    )


def attacker(neighbours: str, unit: str) -> str:
    """Who it is that decides, and about what."""
    says = "picks what the data say of it" if neighbours == "replace_one" else "says yes or no"
    return (
        f"The attacker knows everything but {guessed(neighbours, unit)}, sees the answers, and {says}. Nobody can get "
        "below a line: fewer misses mean more false alarms."
    )


def shaded(unit: str, *, delta: bool) -> str:
    """What the band is, and of which answers the line is."""
    each = safe(unit, 40)
    if delta:
        return f"Shaded: what ε and δ alone leave open to one answer. The count has one row for each {each}."
    return (
        "Shaded: what ε alone leaves open to one answer. A count with Laplace noise reaches its edge, where it has one "
        f"row for each {each}."
    )


def best(found: Widening) -> str:
    """How often the best attacker is right."""
    told = ", ".join(f"after {plural(n, 'answer')} **{at_most(100 * b)}**" for n, b in _best(found))
    return f"**From an even start the best attacker is right**, times in 100: {told}."


def _best(found: Widening) -> Sequence[tuple[int, float]]:
    return [*zip(found.releases, found.best_attack, strict=True)]
