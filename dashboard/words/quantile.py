"""What the question about a median or another quantile says."""

from __future__ import annotations

from decimal import Decimal
from math import ceil, floor

from dashboard.words import many, no_less, number, safe, times_in_100, visible
from dashboard.words.release import may_show
from dashboard.words.usual import AGAINST, CHANCE, NOISE, TWO_REASONS, counted, of_100, verdict
from dpcore.releases.asked import ErrorBound

TITLE = "Median or quantile"
QUANTILES = {
    0.5: "median",
    0.1: "10th percentile",
    0.25: "lower quartile",
    0.75: "upper quartile",
    0.9: "90th percentile",
}
QUANTILE, COLUMN = "Quantile", "Column of numbers"
NAMES = {"quantile": "private answer", "theory": "guaranteed by theory"}
METRICS = {
    "success": "Chance of a close answer",
    "expected_error": "Average error",
    "rank_error": "Average error in rank",
}
NEED = {
    "success": "I need a close answer, times in 100",
    "expected_error": "I accept an average error up to",
    "rank_error": "I accept an average error in rank up to",
}
NEED_HELP = "Type what you need; the smallest ε and the smallest number of people that give it follow."
NO_COLUMN = (
    "This question needs a column of numbers, one row per person, with bounds you declare. "
    "Pick another sample, or declare bounds on the Data page."
)
PEOPLE = "People: as many as now, times"
HOW, WHAT_IF = "How it works", "What if"
FORMULA = (
    r"\Pr[r] \propto \exp\left(-\frac{\varepsilon\,|(1 - q)\,\mathrm{below}(r) - q\,\mathrm{above}(r)|}{2 s}\right)"
)
SOURCE = "s is how far one person moves the score: max(q, 1−q) when added or removed, 1 when changed. Smith, STOC 2011."
LAW, LIKELIHOOD = "how likely each private answer is", "likelihood"
TRUTH, MADE_UP = "truth", "made-up rows"


def how(points: int, low: float, high: float) -> str:
    """How it is drawn: among ``points`` numbers from ``low`` to ``high``."""
    return (
        f"An answer is one of {points:,} numbers, evenly spaced from {number(low)} to {number(high)}. Each gets a "
        "chance that shrinks exponentially with how unevenly it splits the people into those below it and those above "
        "it; who has that very number is on neither side (the exponential mechanism over a grid). "
        "The bounds are public: a smallest value taken from the data would give that person away."
    )


def missing(column: str) -> str:
    return f"Every cell of “{visible(column)}” is missing. Pick another column."


def among(rows: int, *, simulated: bool) -> str:
    return f"among {counted(rows, 'people', simulated=simulated)}?"


def close(unit: str) -> str:
    return f"“Close” means within ({visible(unit)})" if unit else "“Close” means within"


def scale_titles(unit: str) -> dict[str, str]:
    return {
        "success": "close answers in 100",
        "expected_error": f"average error ({visible(unit)})" if unit else "average error",
        "rank_error": "average error in rank (people in 100)",
    }


def answer_title(unit: str) -> str:
    return f"private answer ({visible(unit)})" if unit else "private answer"


def with_unit(value: float, unit: str) -> str:
    return f"{number(value)} {safe(unit)}" if unit else number(value)


def headline(q: float, epsilon: float, tolerance: float, unit: str, chance: float, target: float | None) -> str:
    start = (
        f"At ε = {number(epsilon)} the private {QUANTILES[q]} is within {with_unit(tolerance, unit)} of the truth "
        f"**{times_in_100(chance)}**"
    )
    if target is None:
        return f"{start}."
    return f"{start}: {verdict(chance, target, number(100 * target))}."


def uncertain(noise: float, people: float, count: int, unit: str, close: str, q: float) -> str:
    """Two uncertainties, apart; ``close`` is how near an answer must be."""
    return (
        f"{TWO_REASONS} {NOISE} {of_100(noise)} of 100 such answers lie farther "
        f"than {close} from the true {QUANTILES[q]} here. {CHANCE} had {count:,} other {safe(many(unit))} like "
        f"these come, their own {QUANTILES[q]} would lie as far from this one in {of_100(people)} of 100 cases. "
        f"{AGAINST} Calculated, not simulated."
    )


def caption(
    q: float, truth: float, quartiles: tuple[float, float], unit: str, tolerance: float, span: float, *, simulated: bool
) -> str:
    """``tolerance`` is what counts as close, ``span`` the declared range; ``simulated`` rows are nobody's."""
    of = f"The {QUANTILES[q]} of the made-up rows" if simulated else f"The true {QUANTILES[q]}"
    return (
        f"Close enough is {with_unit(tolerance, unit)}, {number(100 * tolerance / span)} in 100 of the declared range; "
        f"What if changes it. {of} is {with_unit(truth, unit)}. Half of all private answers "
        f"{_within(quartiles, unit)}. Calculated, not simulated."
    )


def _within(ends: tuple[float, float], unit: str) -> str:
    """Where answers lie, which may be one number."""
    if ends[0] == ends[1]:
        return f"are {with_unit(ends[0], unit)}"
    return f"lie between {number(ends[0])} and {with_unit(ends[1], unit)}"


def outcomes(near: tuple[float, float]) -> tuple[str, str, str]:
    """An answer below what is near enough, within it, and above."""
    low, high = map(number, near)
    if low == high:  # far from 0, or close to each other
        return "below", "close enough", "above"
    return f"below {low}", f"{low} to {high}: close enough", f"above {high}"


def law_alt(q: float, truth: float, unit: str) -> str:
    return f"Likelihood of private answers around the true {QUANTILES[q]}, {with_unit(truth, unit)}."


def no_more_than(most: int, times: float) -> str:
    """People count ``times`` times, as with more there would be more of them than are looked at."""
    return (
        f"The page looks at {most:,} people at most, so you see {number(times)} times as many as in these data. "
        "You need not change anything."
    )


def what_if(changed: bool) -> str:
    grey = " The grey line is how it was." if changed else ""
    return f"Change what the picture depends on; the chart above answers at once.{grey}"


def conclude(q: float, bound: ErrorBound, rows: int | None = None) -> str:
    """What may be said of an answer; ``bound`` holds whatever the data are, ``rows`` are as many as were declared."""
    return may_show(claim(q, bound, rows), "it is exactly this, or that anyone in the data has this value")


def cannot_release(why: str) -> str:
    return f"This cannot be released: {why}."


def forecast(quartiles: tuple[float, float], unit: str) -> str:
    return f"half of all private answers {_within(quartiles, unit)} (calculated for this very release, not simulated)."


def forecast_bound(
    q: float, bound: ErrorBound, unit: str, rows: int | None = None, made_up: tuple[float, float] | None = None
) -> str:
    """What holds whatever the data are: by how many rows it is off, and not how far that is; ``rows`` as many as were
    declared, ``made_up`` between which numbers 95 in 100 answers about made-up ones lie."""
    told = (
        f"{claim(q, bound, rows)}, whatever the data are.{_says_nothing(q, bound, rows)} "
        f"How far that is{f' in {safe(unit)}' if unit else ''} depends on how close together they lie there"
    )
    if made_up is None:
        return f"{told}: to tell it would be another answer about them."
    within = _within(made_up, unit)
    return f"{told}. In the made-up rows 95 in 100 private answers {within}; of the real ones no answer tells it."


def claim(q: float, bound: ErrorBound, rows: int | None = None) -> str:
    """What may be said of an answer, as it is proved: of rows as they count, those on a side, where such as share a
    value with the answer are on none; and what that is of so many ``rows``, if as many were declared."""
    sure = f"{times_in_100(bound.confidence or 0.0)}, of the {bound.unit} as they count,"
    if q == 0.5:  # so many too many on one side are as many too few on the other, and a whole number
        most = floor(2.0 * bound.number * (1.0 + 1e-12))
        told = f"{sure} those above and those below it differ by at most {most:,}"
    else:
        told = f"{sure} no more than {no_less(bound.number)} too many lie on one side of it"
    return f"{told}{_of_all(q, bound, rows)} (on top of what even the best answer leaves)"


def _share(q: float, bound: ErrorBound, rows: int) -> float:
    """How many of so many ``rows`` are at most on one side of a median, or too many on one of another quantile."""
    return min(1.0, 0.5 + floor(2.0 * bound.number * (1.0 + 1e-12)) / 2 / rows if q == 0.5 else bound.number / rows)


def _of_all(q: float, bound: ErrorBound, rows: int | None) -> str:
    """What the bound is of so many ``rows``, where it says anything of them."""
    if rows is None or (share := _share(q, bound, rows)) == 1.0:
        return ""
    if q != 0.5:
        return f", which is {no_less(100 * share)} in 100 of them if they are {rows:,}"
    most = ceil(1000 * share * (1.0 - 1e-12)) / 10  # both sides are read, so they come to 100
    return f": if they are {rows:,}, at worst {number(most)} in 100 on one side and {number(100 - most)} on the other"


def _says_nothing(q: float, bound: ErrorBound, rows: int | None) -> str:
    """Where the bound allows all of so many ``rows``."""
    if rows is None or _share(q, bound, rows) < 1.0:
        return ""
    return f" Of {rows:,} {bound.unit} that says nothing: take more ε."


def gives(q: float) -> str:
    """What an answer is."""
    return f"one number near the {QUANTILES[q]}"


def answer(value: float, unit: str) -> str:
    """A number to the last digit, since the bound in rows speaks of that very number."""
    shown = format(Decimal(repr(value)).normalize(), ",f")
    return f"{shown} {safe(unit)}" if unit else shown
