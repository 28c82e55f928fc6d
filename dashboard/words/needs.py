"""The card "I need …": what would be enough, in three states, none of which shows a number nobody can use."""

from __future__ import annotations

from dashboard.view import EPSILON_HIGH, EPSILON_LOW, Most, Needed, Proviso
from dashboard.words import number, plural, visible

SMALLEST, ON_AVERAGE = "smallest ε for it", "smallest ε, on average"
_NEAR, _LITTLE = 1.02, 1.1
"""Levels of ε that differ by no more are called the same, and so near that the smaller saves little."""
LOOKED = (
    "Rounded up to a fixed list of levels, since it comes from what is in your file. Every private answer about a file "
    "that was looked at says so, at this ε or another."
)
OTHERS = "others"
DOTS = "100 dots, 100 guesses. Grey: right anyway. Brown: the most that can be added. Empty: still wrong."
IMAGINED = "Imagined: looking at this page costs nothing. Only a private answer that is drawn is charged and given out."


def most(answers: str) -> str:
    return f"for 9 of 10 {answers}"


def most_help(answers: str, found: str) -> str:
    return (
        f"With the first, private {answers} keep to what you need on average, so that many do not. With this ε 9 of 10 "
        f"do: {found}."
    )


def or_size(size_word: str) -> str:
    return f"or keep this ε, with {size_word}"


def here(size: float, enough: float, size_word: str, *, part: bool, average: bool = False) -> str:
    """How many there are, or are looked at where that is a ``part``, beside how many would be ``enough``; where that
    is so on ``average`` only, single answers may miss the goal."""
    told = f"enough{' on average' * average}" if size >= enough else "too few"
    return f"{'these charts look at' if part else 'there are'} {number(size)} {size_word}: {told}"


def like_these(size_word: str) -> str:
    return f"How many {size_word} like these would be enough at the ε chosen now, all else as it is."


def too_dear(left: float | None) -> str:
    """Said under a button for an ε that the budget cannot pay; of what is ``left`` where ε adds up."""
    if left is None:
        return ":material/warning: You may look at it, but not draw an answer: too little of the budget is left."
    if left <= 0.0:
        return ":material/warning: You may look at it, but nothing of the budget is left to draw an answer."
    return f":material/warning: You may look at it, but not draw an answer: ε = {number(left)} of the budget is left."


def rings(count: int) -> str:
    """Said under the dots where private answers were drawn."""
    if not count:
        return ""
    return f" Rings: {plural(count, 'private answer')}, the newest that you have drawn."


def bars(noise: float, people: float, names: tuple[str, str], sign: str = "", *, in_100: bool = True) -> str:
    """The two bars in words."""
    start, factor = ("Two bars, in 100", 100) if in_100 else ("Two bars", 1)
    return (
        f"{start}: {visible(names[0])} {sign}{number(factor * noise)}, {visible(names[1])} "
        f"{sign}{number(factor * people)}."
    )


def next_step(found: Needed, epsilon: float, proviso: Proviso | None = None) -> str:
    """What to do with it at the ε chosen now; "" where there is no ε to use, of which ``told`` speaks. ``proviso`` is
    what somebody must find good enough as well before that ε is."""
    least = found.epsilon
    if least is None or not EPSILON_LOW < least <= EPSILON_HIGH:
        return ""
    if least > epsilon * _NEAR:
        size = "" if found.size is None or not found.sized else f", bring {number(found.size)} {found.size_word} in all"
        return f"**Next:** ε = {number(epsilon)} is not enough. Spend more on it{size}, or settle for less."
    if proviso is None and found.most is not None and (found.most.epsilon or EPSILON_HIGH) > epsilon * _NEAR:
        return f"**Next:** enough on average, and not for 9 of 10 {found.most.answers}. {_for_most(found.most)}"
    on_average = " on average" * found.average
    if least * _LITTLE < epsilon:
        less = f"ε = {number(least)} would do: {number(epsilon - least)} less, left for other questions."
        return (
            f"**Next:** more than enough{on_average}. {less}"
            if proviso is None
            else _decide(proviso, proviso.there, less)
        )
    if proviso is not None:
        return _decide(proviso, "If so", "get a private answer.")
    return f"**Next:** just enough{on_average}. Get a private answer, or settle for less and spend less."


def _for_most(most: Most) -> str:
    if most.epsilon is None or most.epsilon > EPSILON_HIGH:
        return "If that is too few, no level on the scale helps: settle for less."
    return f"If that is too few, take ε = {number(most.epsilon)}; else get a private answer."


def _decide(proviso: Proviso, where: str, so: str) -> str:
    return f"**Next:** {proviso.decide} {where}, {so} {proviso.otherwise}"


def told(found: Needed) -> str:
    """Why there is no ε to use."""
    if found.epsilon is not None and found.epsilon <= EPSILON_LOW:
        return f"Privacy is free here: even ε = {number(EPSILON_LOW)}, the smallest on the scale, is enough."
    if found.epsilon is not None:
        return (
            f"Not at any level we would choose: ε = {number(found.epsilon)} would be needed, and the scale ends at "
            f"{number(EPSILON_HIGH)}, which protects hardly anybody.{_more(found)}"
        )
    if found.possible:
        return f"Not at any level on the scale.{_more(found)}"
    best = "" if found.without_privacy is None else f" Even without privacy: {number(found.without_privacy)}."
    return f"Not at any privacy level.{best} It takes other data or a lower goal, not more privacy budget."


def _more(found: Needed) -> str:
    if found.size is None or not found.sized:
        return " Ask for less."
    return f" At the ε chosen now, {number(found.size)} {found.size_word} like these would do."
