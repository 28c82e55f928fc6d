"""What the question "which one choice costs least?" says."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from dashboard.words import many, named, no_less, number, plural, safe, times_in_100
from dashboard.words.most_common import cannot_release, method_in_use, no_release, use
from dashboard.words.release import such_as
from dashboard.words.usual import AGAINST, CHANCE, NOISE, TWO_REASONS, of_100, redrawn, verdict
from dpcore.experts.linear import PrintedAccount

if TYPE_CHECKING:
    from dashboard.controls import Several

__all__ = ["cannot_release", "method_in_use", "no_release", "use"]

TITLE = "Best fixed choice for a linear cost"
TOO_FEW = (
    "This question needs at least two columns of numbers with declared bounds, each the cost of one choice. Pick "
    "another sample, or declare bounds on the Data page."
)
ONE_COLUMN = "Choose at least two columns: with one there is nothing to choose."
THESE = "these columns"
COLUMNS_HELP = "Each column holds what one choice would have cost in each row."
NEED = "I accept this much extra cost, % of the range"
NEED_HELP = "Type what you accept; the smallest ε and the smallest number of rows that keep to it follow."
EXTRA_UNIT = " %"
BAND = "Shaded: where 80 in 100 private choices lie."
COMPARE, HOW, WHAT_IF = "Compare methods", "How it works", "What if"
BACK = "Back to the data as they are"
CHANCES_ALT = "How often each method chooses each column."
CHOICES = "private choices"


def cannot_compare(why: str) -> str:
    return f"These columns cannot be compared: {why}."


def sentence(columns: Several) -> tuple[str | Several, ...]:
    return ("Which one of", columns, "costs least, chosen once and for all?")


def extra_title(unit: str) -> str:
    return f"extra cost per {unit}, % of the declared range"


def size_title(units: str) -> str:
    return f"number of {units} n"


def as_many(units: str) -> str:
    return f"{units[:1].upper()}{units[1:]}: as many as now, times"


def percent(value: float) -> str:
    """A share of the range in words, however small."""
    return "less than 0.01 %" if value < 0.01 else f"{number(value)} %"


def headline(epsilon: float, extra: float, accepted: float, unit: str) -> str:
    """``extra`` and ``accepted`` in % of the range."""
    return (
        f"At ε = {number(epsilon)} the private choice costs **{percent(extra)}** of the range more per {safe(unit)} "
        f"than the best one: {verdict(extra, accepted, f'{number(accepted)} %', higher=False)}."
    )


def caption(*, columns: int, rows: int, unit: str, best: str, own: float, at_random: float, theory: str) -> str:
    """Costs in % of the declared range; ``own`` is the cheapest column's cost itself, ``at_random`` above that."""
    return (
        f"{columns} columns over {plural(rows, unit, many(unit))}; a cost counts as a share of its column's "
        f"declared range. The cheapest, {named(best)}, costs {percent(own)} itself; a column picked at random costs "
        f"{percent(at_random)} more. {theory}"
    )


def uncertain(noise: float, people: float, rows: int, unit: str, draws: int) -> str:
    """Two uncertainties, apart."""
    return (
        f"{TWO_REASONS} {NOISE} {of_100(noise)} of 100 private choices are not the "
        f"cheapest column. {CHANCE} had {rows:,} other {safe(many(unit))} like these come, another column would be "
        f"cheapest in {of_100(people)} of 100 cases ({redrawn(people, draws)}). {AGAINST}"
    )


def theory_draw(promised: float, extra: float) -> str:
    """What is guaranteed of a draw, beside what is true, both in % of the range."""
    loose = f", {number(promised / extra)} times what it really is" if extra > 0.005 else ""
    return (
        f"The theorem behind such a draw (McSherry and Talwar, 2007) guarantees at most {percent(promised)} more on "
        f"average{loose}."
    )


def theory_learner(promised: float) -> str:
    """The same of the linear learner."""
    if promised >= 100.0:
        return (
            "The textbook's theorem about the linear learner (Dwork and Roth, 2014, Theorem 11.6) guarantees nothing "
            "at this ε."
        )
    return (
        "The textbook's theorem about the linear learner (Dwork and Roth, 2014, Theorem 11.6) guarantees at most "
        f"{percent(promised)} more."
    )


def several_rows(unit: str, rows: int) -> str:
    return (
        f"The chart counts one row for each {safe(unit)}; these data allow {rows:,}. What is released hides all of "
        "them, with as much more noise, and its forecast says what that costs."
    )


def some_rows(looked_at: int, rows: int) -> str:
    """After the caption."""
    return (
        f" **All numbers and charts here are of {looked_at:,} of the {rows:,} rows, evenly spread,** to be quick; "
        "a private answer reads them all."
    )


LEARNER_LEFT_OUT = (
    "The textbook's linear learner and its theorem need the number of rows to be public: they are shown when a changed "
    "row is hidden (under Options)."
)


def in_use_draw(name: str, right: float) -> str:
    return f"In use now: {name}, which names the cheapest column {times_in_100(right)}."


def in_use_learner(name: str, share: float, unit: str) -> str:
    return (
        f"In use now: {name}, whose answer is a mix: the cheapest column in {number(100 * share)} of 100 {many(unit)}."
    )


def which_one(in_use: str) -> str:
    return (
        f"**Which one to use?** {in_use} For one choice permute and flip is never worse than the exponential "
        "mechanism. The linear learner was made for choices with far more possibilities than a column of a table; here "
        "it needs more data for the same answer."
    )


def printed(account: PrintedAccount, rows: int, unit: str) -> str:
    """What the textbook's algorithm really costs."""
    proof = (
        f"By the proof's own sum, put right, it comes to ε = {number(account.proof_epsilon)} where "
        f"{number(account.claimed)} is claimed"
        if not account.proof_holds
        else f"By the proof's own sum, put right, it comes to ε = {number(account.proof_epsilon)}, still within the "
        f"{number(account.claimed)} claimed"
    )
    truth = "the guarantee holds all the same" if account.guarantee_holds else "more than is claimed"
    return (
        "**What the textbook's linear learner really costs.** Its pace is proved private for costs between 0 and 1, "
        f"but its costs lie between −1 and 1, so the printed proof does not hold as it stands. {proof}. Added up "
        f"exactly, its {rows:,} plays cost ε = {no_less(account.true_epsilon)}: {truth}, and the printed algorithm is "
        "slower than it need be. The other linear learner on the chart uses the whole ε."
    )


PRINTED_SOURCE = (
    "Dwork and Roth, 2014, Algorithm 17 and Theorem 11.6; the exact sum as in Dong, Durfee and Rogers, 2020."
)


def what_if(changed: bool) -> str:
    grey = " The grey line is how it was." if changed else ""
    return f"Change how many rows there are; more rows are rows like these, and the chart above answers at once.{grey}"


def forecast(right: float, above: float, rows: int, unit: str) -> str:
    per = percent(100 * above / rows)
    return (
        f"it names the cheapest column {times_in_100(right)}; on average the named one costs {per} of the range more "
        f"per {safe(unit)} (calculated for this very release, not simulated)."
    )


def forecast_bound(above: float, likely: float) -> str:
    return (
        f"its total over the rows as they count is at most {no_less(above)} times the range above the smallest total, "
        f"{number(100 * (1 - likely))} times in 100 (from declared numbers alone)."
    )


def gives(columns: Sequence[str]) -> str:
    """What an answer is; ``columns`` are all that it may name."""
    return f"the name of one of these {len(columns):,} columns{such_as(columns[0])}"


def answer(answer: dict[str, Any]) -> str:
    return f"Costs least: {named(str(answer['column']))}"
