"""Words on the controls that several questions share."""

from __future__ import annotations

import math

from dashboard.words import no_less, times_in_100, whole
from dashboard.words.glossary import TERMS
from dpcore.about import About
from dpcore.releases.asked import ErrorBound

SEED = "Seed of the pictures"
SEED_HELP = f"The seed is {TERMS['Seed']} Private answers never use it."
BETA = "Chance that the theorem's promise fails (β)"
BETA_HELP = f"β is {TERMS['β']}"
SAMPLING = "Show what other people of the same kind would have given (sampling error)"
SAMPLING_HELP = f"A second error besides the noise: {TERMS['Sampling error']} Shaded: 80 in 100 draws."
BAND = (
    "Shaded: range of what you might see if as many other people of the same kind had come. "
    "That is sampling error, apart from the privacy noise, which the line itself holds."
)
NEIGHBOURS = "Who is hidden: two data sets count as neighbours when they differ by"
NEIGHBOURS_HELP = (
    f"Neighbours are {TERMS['Neighbours']} With one added or removed, counts can only move one way, which often allows "
    "half the noise. Where everybody knows who is in the data, such as all the staff of a firm, that somebody is there "
    "is no secret, but what their row says is: then choose one that is changed. With one added or removed, what a row "
    "says is hidden as at twice the ε."
)
MEASURE, METHOD = "What counts for you", "Method used for the answer"
QUESTIONS = "How many such questions share this ε"
QUESTIONS_HELP = "Several questions about the same people share one budget, so each gets a smaller part of ε."


def method(about: About) -> str:
    """A method where one is chosen: what it does, and what the field calls it."""
    return f"{about.plain[:1].upper()}{about.plain[1:]} ({about.name})"


NO_THEOREM = (
    "The privacy is proved. How often it is right is calculated for these data, and is another number for "
    "others; at this ε no theorem promises it."
)


def verdict(value: float, target: float, shown: str, *, higher: bool = True) -> str:
    """Whether a goal is met, the higher the better or the lower; ``shown`` is the goal as the headline writes it."""
    if higher:
        return f"{'enough for' if value >= target else 'less than'} {goal_of(shown)}"
    return f"{'within' if value <= target else 'more than'} {limit_of(shown)}"


I_NEED, I_ACCEPT = "I need", "I accept"
"""How the control begins under which a goal, or a limit, is set."""


def goal_of(shown: str) -> str:
    """A goal with where it comes from: it stands there before anybody has stated one."""
    return f"the goal of {shown} set under “{I_NEED}”"


def limit_of(shown: str) -> str:
    """As ``goal_of``, where less is better."""
    return f"the limit of {shown} set under “{I_ACCEPT}”"


def counted(rows: int, who: str, *, simulated: bool) -> str:
    """How many a question is about, in its title: of ``simulated`` rows none of them exists."""
    return f"{rows:,} {'made-up ' * simulated}{who}"


TWO_REASONS = "**Two reasons why it may be wrong.**"
NOISE, CHANCE = "Privacy noise, which the headline counts:", "Chance, which it leaves out:"
AGAINST = "Against chance no ε helps, only more data."
"""What is apart in “two reasons”: on every page the number above holds the one and not the other."""


def proved(bound: ErrorBound, *, whatever: bool = False) -> str:
    """A bound from declared facts alone, as it may be said of an answer; ``whatever`` says that of it, too."""
    always = ", whatever the data are," if whatever else ""
    return f"{times_in_100(bound.confidence or 0.0)}{always} {bound.about}: {no_less(bound.number)} {bound.unit}"


def of_100(share: float) -> str:
    return "fewer than 1" if share < 0.0095 else whole(100 * share)


def redrawn(share: float, draws: int) -> str:
    """How exact a share is that was found by ``draws`` draws: two standard errors, in 100, rounded up."""
    off = 200 * math.sqrt(max(share * (1.0 - share), 1.0 / draws) / draws)
    return f"drawn {draws:,} times, to within {math.ceil(10 * off) / 10:g} in 100"
