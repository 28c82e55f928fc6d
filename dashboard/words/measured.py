"""What private training says of what its models reach: how many are right, how many of one class are found, or how far
off numbers are."""

from __future__ import annotations

import math

from dashboard.view import Proviso
from dashboard.words import as_written, no_less, number, safe, visible
from dashboard.words.usual import goal_of, of_100, verdict
from dpcore.about import About

LITTLE = 0.03
"""Right predictions gained over guessing, as a share, that are hardly worth a model."""
MUCH = 0.1
"""The same for a squared error, as a share of the error of guessing."""
NEED = {
    "accuracy": "I need this many right, in 100",
    "balanced": "I need this many right, in 100, both classes alike",
    "squared_error": "I accept a squared error up to",
    "excess_risk": "I accept an excess risk up to",
}
MODELS = "models"
MOST_FOUND = "read off the lower edge of the shaded range, which rests on few models"
RIGHT_WRONG, FOUND_MISSED = ("right", "wrong"), ("found", "missed")
NEXT = (
    "What to do with a model: nobody has tried the one that you get. Before you go by it, try it on rows whose answers "
    "you know and it was not made from."
)
ONE_CLASS = (
    "All rows to judge on are of one class here, so that it cannot be told how many of each are found: right "
    "predictions are shown instead."
)
_DROWNS = "the noise drowns what the columns tell"
_LITTLE_TOLD = "these columns tell little, with or without privacy"


def _named(name: str) -> str:
    return f"“{safe(visible(name, 30))}”"


# -- what is measured, where it is chosen and drawn --------------------------------------------------------------------


def found(positive: str) -> str:
    """The measure, where it is chosen; plain text."""
    return f"“{visible(positive, 30)}” found"


def found_title(positive: str) -> str:
    return f"found, of 100 that are “{visible(positive, 30)}”"


def missed(positive: str) -> str:
    """The row of those that are not found, beside the measure."""
    return f"missed, of 100 that are {_named(positive)}"


def need(metric: str, positive: str) -> str:
    if metric == "found":
        return f"I need this many found, of 100 that are “{visible(positive, 30)}”"
    return NEED[metric]


# -- the headline ------------------------------------------------------------------------------------------------------


def headline_waiting(epsilon: float) -> str:
    return f"At ε = {number(epsilon)}: the first private models are being trained."


def headline_right(
    epsilon: float, value: float, guessing: float, plain: float, target: float | None, low: float = 1.0
) -> str:
    """Shares of right predictions; ``target`` None where something else was asked for, ``low`` what one model in ten
    does not reach."""
    right = f"**{number(100 * value)} times in 100**"
    start = f"At ε = {number(epsilon)} the private model is right about {right} on average"
    guess = f"always guessing the commonest ({number(100 * guessing)})"
    return _above(start, guess, (value, guessing, plain), target, low)


def headline_balanced(epsilon: float, value: float, plain: float, target: float, low: float = 1.0) -> str:
    """The same of both classes alike, where guessing reaches one half."""
    right = f"**{number(100 * value)} times in 100, both classes alike,**"
    start = f"At ε = {number(epsilon)} the private model is right about {right} on average"
    return _above(start, "guessing (50)", (value, 0.5, plain), target, low)


def _above(start: str, guess: str, reached: tuple[float, float, float], target: float | None, low: float = 1.0) -> str:
    """``reached``: by the private model, by guessing, and without privacy."""
    value, guessing, plain = reached
    if value - guessing < LITTLE:
        better = "worse than" if value < guessing - LITTLE else "no better than"
        better = "hardly better than" if value > guessing else better
        tell = plain - guessing < LITTLE
        why = _LITTLE_TOLD if tell else f"{_DROWNS} ({number(100 * plain)} without privacy)"
        return f"{start}, {better} {guess}: {why}."
    if target is None:
        return f"{start}, better than {guess}."
    return (
        f"{start}: {verdict(value, target, number(100 * target))}{_some(value, target, low)}, and better than {guess}."
    )


def hurt(classes: tuple[str, ...], worse: tuple[int, float] | None) -> str:
    """Said after a headline: of which of two classes, by its place, privacy has the model tell this share wrong."""
    if worse is None:
        return ""
    place, share = worse
    return f" Yet it gets **{of_100(share)} of 100 that are {_named(classes[place])}** wrong."


def _some(value: float, target: float, low: float) -> str:
    return " (more than 1 in 10 models fall short)" if low < target <= value else ""


def headline_found(
    epsilon: float,
    classes: tuple[str, ...],
    reached: tuple[float, float],
    target: float,
    low: float,
    *,
    stays: bool | None,
) -> str:
    """``reached``: the share of the second of two classes that is found, and of the first that is taken for it.
    ``stays``: whether at least as many as needed are found at every higher ε as well; None while that is not known."""
    other, positive = map(_named, classes)
    hit, alarmed = reached
    some = f"**{number(100 * hit)} of 100 that are {positive}**"
    start = f"At ε = {number(epsilon)} the private model finds about {some} on average"
    as_many = f"takes {of_100(alarmed)} of 100 that are {other} for {positive}"
    if hit - alarmed < LITTLE:
        return f"{start}, no better than guessing: it {as_many} too."
    if hit >= target and not stays:
        luck = f", and that it reaches {goal_of(number(100 * target))} is luck: at a higher ε it finds fewer"
        return f"{start}{'' if stays is None else luck}. It {as_many}."
    return f"{start}: {verdict(hit, target, number(100 * target))}{_some(hit, target, low)}. It {as_many}."


def headline_error(epsilon: float, value: float, guessing: float, plain: float, target: float | None) -> str:
    """Mean squared errors; ``target`` None where something else was asked for."""
    start = f"At ε = {number(epsilon)} the private model's squared error is about **{number(value)}**"
    guess = f"always guessing the average ({number(guessing)})"
    if value > (1 - MUCH) * guessing:
        better = "hardly better than" if value < guessing else "no better than"
        tell = plain > (1 - MUCH) * guessing
        why = _LITTLE_TOLD if tell else f"{_DROWNS} ({number(plain)} without privacy)"
        return f"{start}, {better} {guess}: {why}."
    if target is None:
        return f"{start}, better than {guess}."
    return f"{start}: {verdict(value, target, number(target), higher=False)}, and better than {guess}."


# -- what stands under it ----------------------------------------------------------------------------------------------

MISTAKES_ELSEWHERE = "All mistakes count alike here: which kinds it makes stands under “How far to trust it”."


def mistakes(classes: tuple[str, ...], missed: float, alarmed: float, plain: float | None) -> str:
    """Shares of the second of two classes that are told to be the first, and of the first to be the second; ``plain``
    is what is missed without privacy, where known."""
    other, positive = map(_named, classes)
    without = "" if plain is None else f" ({of_100(plain)} without privacy)"
    return (
        f"Its mistakes: of 100 that are {positive} it misses "
        f"{of_100(missed)}{without}, of 100 that are {other} it takes {of_100(alarmed)} for {positive}."
    )


def how_judged(about: About, trained: int, tested: int, mistakes: str) -> str:
    return (
        f"{mistakes} Method: {about.plain} ({about.name}), trained on {trained:,} rows, judged on {tested:,} others. "
        "The privacy is proved. How often a model is right is simulated; no theorem promises it."
    ).strip()


def caption_right(
    plain: float, found: tuple[float, float, float], tested: int, how: str, *, apart: bool = False
) -> str:
    """``found`` is the share of right predictions, and between what most private models lie; ``apart``: what is
    uncertain has a card of its own.
    """
    value, low, high = found
    if apart:
        return f"Without privacy {number(100 * plain)} in 100. {how}"
    noise = "" if high <= low else f"Most private models (80 in 100) {between(low, high)}, by the luck of the noise. "
    luck = 200 * math.sqrt(max(value * (1 - value), 1e-9) / tested)  # two standard errors
    shown = f"{luck:.0f}" if luck >= 2 else number(luck)
    return (
        f"Without privacy {number(100 * plain)} in 100. {noise}Judged on another {tested:,} rows, all these numbers "
        f"could be about {shown} higher or lower. {how}"
    )


def caption_found(plain: float, right: float, guessing: float, how: str) -> str:
    """``plain`` is what is found without privacy, ``right`` the share of all predictions that are right here."""
    return (
        f"Without privacy it finds {of_100(plain)} of 100. Of all predictions {number(100 * right)} in 100 are right; "
        f"always guessing the commonest, {number(100 * guessing)} would be. {how}"
    )


def caption_error(plain: float, guessing: float, band: tuple[float, ...], how: str, *, apart: bool = False) -> str:
    """``band`` is between what most private models lie; ``apart``: what is uncertain has a card of its own."""
    low, high = band
    noise = "" if high <= low or apart else f" Most private models (80 in 100): {number(low)} to {number(high)}."
    return (
        f"Without privacy {number(plain)}, always guessing the average {number(guessing)}; smaller is better, and the "
        f"range of the column is scaled to −1…1.{noise} {how}"
    )


def between(low: float, high: float) -> str:
    """Between which shares of 100 most models lie, after what they are."""
    return f"reach {number(100 * low)} to {number(100 * high)}"


SPREAD = "**How far one model may lie from the average above.**"
BETWEEN = ("between models", "between test rows")
"""What the two bars are called here: both say how far off something may be, and not how often something is wrong."""
NEITHER = "What privacy costs is in neither: it stands above."


def uncertain(low: float, high: float, people: float, judged: str, what: str, *, models: int) -> str:
    """Two uncertainties, apart; ``low`` to ``high`` of 80 in 100 private models, ``people`` to either side. ``judged``
    are the rows that judged them, and ``what`` the numbers are."""
    return (
        f"{SPREAD} {BETWEEN[0].capitalize()}: 80 of 100 {between(low, high)} {what}, each with noise of its own "
        f"(estimated from {models} of them). {BETWEEN[1].capitalize()}: {judged} judged them; had others come, all "
        f"these numbers would move by up to {no_less(100 * people)} in 80 of 100 cases, with or without privacy. "
        f"{NEITHER}"
    )


def price(
    what: str, epsilon: float, plain: float, value: float, *, higher: bool, of_100: bool
) -> tuple[tuple[str, str], tuple[str, str], tuple[str, str]]:
    """Without privacy, with it, and the difference of the two as they are written: each a label and a number.

    ``what`` they are, as a share where they are ``of_100``; ``higher`` says that more is better.
    """
    shown = [as_written((100 if of_100 else 1) * one) for one in (plain, value)]
    lost = shown[0] - shown[1] if higher else shown[1] - shown[0]
    gap, unit = number(abs(lost)), " in 100" if of_100 else ""
    less, more = ("fewer", "more") if of_100 else ("less", "more")
    told = f"{gap}{unit} {less if shown[1] < shown[0] else more}" if gap != "0" else f"0{unit}"
    return (
        (f"Without privacy, {what}", number(shown[0])),
        (f"Private at ε = {number(epsilon)}, on average", number(shown[1])),
        ("Privacy costs" if lost > 0 else "Difference by privacy", told),
    )


RIGHT, ALIKE = "right of 100", "right of 100, both classes alike"


def judges(tested: int) -> str:
    return f"{tested:,} other rows"


def judges_of(positive: str, tested: int) -> str:
    return f"{tested:,} other rows that are {_named(positive)}"


def found_of_100(positive: str) -> str:
    return f"found, of 100 that are {_named(positive)}"


def uncertain_error(low: float, high: float, people: tuple[float, float], tested: int, *, models: int) -> str:
    """As ``uncertain`` of squared errors; ``people`` with the share of itself by which it may be wrong."""
    half, error = (number(float(f"{one:.2g}")) for one in (people[0], 100 * people[1]))
    return (
        f"{SPREAD} {BETWEEN[0].capitalize()}: 80 of 100 have an error of {number(low)} to {number(high)}, each with "
        f"noise of its own (estimated from {models} of them). {BETWEEN[1].capitalize()}: {tested:,} other rows judged "
        f"them; had others come, all these numbers would move by at most {half} in 80 of 100 cases, with or without "
        f"privacy (calculated from how far off each row is; that {half} is itself known to about {error} in 100). "
        f"{NEITHER}"
    )


ERROR = "squared error"


def dots(guessing: float) -> str:
    return f"predictions; always guessing the commonest would be right in {round(50 * guessing)} of them"


DOTS_ALIKE = "predictions, half of them about each class; guessing would be right in 25 of them"


def dots_found(positive: str) -> str:
    return f"predictions about rows that are {_named(positive)}"


# -- the card on what is needed, and other methods ---------------------------------------------------------------------


def will_do(classes: tuple[str, ...], missed: float | None, there: float | None) -> Proviso:
    """What to decide before enough is enough; ``missed``, and ``there`` at the smallest ε that is enough, None where
    they are told elsewhere."""
    otherwise = "If not, try a higher ε or, where you may look at results, another method (Options)."
    if missed is None:
        told = "making the mistakes under “How far to trust it”"
    else:
        positive = _named(classes[1])
        told = f"missing {of_100(missed)} of 100 {positive}"
        otherwise = (
            f"If not, try a higher ε or another method, or say under “What counts for you” how many {positive} it must "
            "find."
        )
    return _proviso(told, "missing", there, otherwise)


def alarms_will_do(classes: tuple[str, ...], alarmed: float, there: float | None) -> Proviso:
    """The same where it was said how many of the second class must be found: of the first that are taken for it."""
    other, positive = map(_named, classes)
    return _proviso(
        f"taking {of_100(alarmed)} of 100 {other} for {positive}",
        "taking",
        there,
        "If not, try a higher ε or, where you may look at results, another method (Options).",
    )


def _proviso(told: str, what: str, there: float | None, otherwise: str) -> Proviso:
    return Proviso(
        decide=f"decide whether {told} will do.",
        there="If so" if there is None else f"If {what} {of_100(there)} will do too",
        otherwise=otherwise,
    )


def better(name: str, value: str, main: str, missed: str = "") -> str:
    """Another method that a private answer can be drawn by does clearly better at this ε; what is ``missed`` by it."""
    return (
        f"**Another method does better here at this ε:** {name}, {value}{missed}; the one in use {main}. Choosing it "
        "by this result is fine here, where everybody may see the data. Of your own data it would tell something of "
        "the people: choose the method there before you look at any result, for instance by a sample like yours."
    )


def and_misses(positive: str, share: float) -> str:
    """Said of a method after what it reaches."""
    return f", missing {of_100(share)} of 100 {_named(positive)}"


def right(value: float) -> str:
    return f"right {number(100 * value)} times in 100"


def right_alike(value: float) -> str:
    return f"{right(value)}, both classes alike"


def finds(positive: str, value: float) -> str:
    return f"finds {of_100(value)} of 100 that are {_named(positive)}"


def error(value: float) -> str:
    return f"squared error {number(value)}"
