"""What the question "which option is most common, or scores best?" says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from dashboard.view import EPSILON_LOW
from dashboard.words import either, many, named, number, safe, times_in_100, told_apart, visible, whole
from dashboard.words.release import may_show, such_as
from dashboard.words.usual import (
    AGAINST,
    CHANCE,
    I_ACCEPT,
    I_NEED,
    NO_THEOREM,
    NOISE,
    TWO_REASONS,
    counted,
    of_100,
    proved,
    redrawn,
    verdict,
)
from dpcore.about import About
from dpcore.releases.asked import ErrorBound
from dpcore.tradeoff import Metric
from dpcore.validate import Neighbours

if TYPE_CHECKING:
    from dashboard.controls import Choice
    from dashboard.questions.selection.candidates import Candidates
    from dashboard.view import View
    from dpcore.datasets import Table

TITLE = "Most common or best"
NO_COLUMN = "These data have no column with options. Pick another sample, or declare categories on the Data page."
COLUMN = "Column"
THEORY = "guaranteed by theory"
NEED_RIGHT = "I need it right, times in 100"
NEED_HELP = "Type what you need; the smallest ε and the smallest number of people that give it follow."
HOW, WHAT_IF, COMPARE = "How it works", "What if", "Compare methods"
ROUNDING = "One mechanism behind many"
EDIT = "The counts behind the picture"
BACK = "Back to the data as they are"


def nothing_there(name: str) -> str:
    return f"No row of “{visible(name)}” holds one of its options, so there is nothing to compare in a picture."


def one_option(column: str) -> str:
    return f"“{visible(column)}” has one option only, so there is nothing to choose. Pick another column."


def too_many_options(column: str, count: int, most: int) -> str:
    return (
        f"“{visible(column)}” has {count:,} options, and {most:,} can be compared here. On the Data page, type those "
        "that matter."
    )


def sentence(
    table: Table, column: Choice[str], named: str, edited: float | None, *, simulated: bool
) -> tuple[str | Choice[str], ...]:
    """The question about the column ``named``; ``edited``: how many rows there are after What if, if that is so."""
    schema = table.schema
    if schema.each_row == "option":
        label = next((one.name for one in schema.columns if not one.is_numeric), "option")
        scored = schema.column(named)
        words = ("fewest", "most") if scored.counts else ("lowest", "highest")
        return (f"Which {safe(label)} has the {words[scored.better == 'higher']}", column, f"of {table.rows:,}?")
    who = "rows" if schema.rows_per_person > 1 else many(schema.unit)
    rows = counted(table.rows, who, simulated=simulated) if edited is None else f"{whole(edited)} {who}, as edited"
    return ("Which", column, f"is most common among {rows}?")


NEXT = (
    "What to do with it: say which option was named, and how sure that is. How many people named it is another "
    "question, with an answer of its own."
)


def need(metric: Metric) -> str:
    name = f"{metric.name[:1].lower()}{metric.name[1:]}"
    return f"{I_NEED} the {name} above" if metric.higher else f"{I_ACCEPT} the {name} up to"


def as_many(unit: str) -> str:
    return f"{unit[:1].upper()}{unit[1:]}: as many as now, times"


def headline(view: View, shown: Candidates, right: float, target: float | None) -> str:
    said = times_in_100(right)
    told = f"**{said}**" if said.startswith(("practically", "every", "fewer")) else f"about **{said}**"
    whose = safe(shown.unit) if shown.counted else "options"
    whose += "'" if whose.endswith("s") else "'s"
    start = f"At ε = {number(view.epsilon)} the private answer names these {whose} winner {told}"
    if target is None:
        return f"{start}."
    return f"{start}: {verdict(right, target, number(100 * target))}."


def caption(view: View) -> str:
    promise = view.at("theory", "success")
    theory = f"Theory alone guarantees that it is right {times_in_100(promise)}." if promise > 0.005 else NO_THEOREM
    free = view.needed("success", 0.99).epsilon
    if free is not None and free < EPSILON_LOW:
        theory = (
            f"With {whole(view.size)} people privacy is free here: still right 99 times in 100 at ε = {number(free)}."
        )
    return f"Without privacy it would name these people's winner every time. {theory} Calculated, not simulated."


def uncertain(noise: float, people: float, count: float, unit: str, draws: int) -> str:
    """Two uncertainties, apart; the second found by ``draws``."""
    return (
        f"{TWO_REASONS} {NOISE} {of_100(noise)} of 100 such answers name "
        f"another option than these people's winner. {CHANCE} had {whole(count)} other {safe(unit)} like these come, "
        f"the winner itself would be another in {of_100(people)} of 100 cases "
        f"({redrawn(people, draws)}). {AGAINST}"
    )


def method_in_use(about: About) -> str:
    return f"**The method in use: {about.plain} ({about.name}).** {about.how}"


def race_alt(draws: int, winners: Sequence[str]) -> str:
    return f"{draws} simulated draws of the noise and their winners: {', '.join(map(told_apart, winners))}."


def free_gap(gap: float, unit: str) -> str:
    return (
        "The same noise also shows by how much the winner beat the runner-up, at no further cost: on average "
        f"{number(gap)} {safe(unit)} here. Shown for exploring only."
    )


def source(sensitivity: float, source: str) -> str:
    return (
        "a = ε/Δ when one person can only move all scores one way, ε/(2Δ) otherwise; "
        f"Δ = {number(sensitivity)} is what one person can change. {source}"
    )


def what_if(changed: bool) -> str:
    grey = " The grey line is how it was." if changed else ""
    return f"Change what the picture depends on; the chart above answers at once.{grey}"


def largest(shown: int, of: int) -> str:
    return f"The {shown} largest of {of:,} options can be edited here."


def which_one(right: Mapping[str, float], main: str) -> str:
    return (
        f"**Which one to use?** In use now: {times_in_100(right[main])} right. For one answer, permute and flip is "
        "never worse than the exponential mechanism. For many answers that share one budget the exponential mechanism "
        "composes better, and wins."
    )


def chances_alt(right: Mapping[str, float]) -> str:
    return "Chance of each option. " + "; ".join(f"{name}: right {times_in_100(p)}" for name, p in right.items()) + "."


def why_not_all(options: int, right: Mapping[str, float], one_way: bool) -> str:
    naive = right.get("naive_laplace")
    if naive is None:
        return ""
    rest = (
        " (When each person adds to one count only and is added or removed, the counts need not share ε: then noise on "
        "every count costs no more than noisy max with Laplace noise, the line beside it.)"
        if one_way
        else ""
    )
    return (
        f"**Why not just add noise to each count?** With {options:,} counts to publish, each gets only a part of ε. "
        f"The winner read off such counts is right {times_in_100(naive)}; naming only the winner is right "
        f"{times_in_100(max(right.values()))} for the same ε.{rest}"
    )


def no_release(name: str, other: str) -> str:
    return f"“{name}” is here for comparison: no private answer is drawn by it. The nearest that is: {other}."


def use(other: str) -> str:
    return f"Use {other}"


NO_OPTIONS = "Declare on the Data page which column names the options: a private answer needs their list."


def conclude(bound: ErrorBound, unit: str) -> str:
    """What may be said of an answer; ``bound`` holds whatever the data are."""
    return may_show(proved(bound), f"it certainly is the first, or anything about one {safe(unit, 40)}")


def several_names(names: Sequence[str]) -> str:
    """Of a table of options with more than one column that could say which option a row is."""
    return (
        f"It is not said which column names the options: {either(names)}. On the Data page choose the type “Text” for "
        "it alone; a private answer needs one column whose words nobody's answer changes."
    )


def cannot_release(why: str) -> str:
    return f"This cannot be released: {why}."


def forecast(right: float) -> str:
    return f"right {times_in_100(right)} (calculated for this very release, not simulated)."


def forecast_bound(bound: ErrorBound) -> str:
    return (
        f"{proved(bound, whatever=True)}. The closer the best options are, the more often a near-best one is named "
        "instead."
    )


def gives(options: Sequence[str]) -> str:
    """What an answer is; ``options`` as declared."""
    return f"the name of one of these {len(options):,} options{such_as(options[0])}"


def answer(answer: dict[str, Any]) -> str:
    if "option" in answer:
        return f"Most common: {named(str(answer['option']))}"
    return f"Best: {named(str(answer['candidate']))}"


def code(scores: Sequence[float], relation: Neighbours) -> str:
    listed = ", ".join(f"{score:g}" for score in scores[:200])
    return (
        "import numpy as np\n"
        "from dpcore.selection import MostCommon\n"
        "from dpcore.tradeoff import sweep_epsilon\n\n"
        f"problem = MostCommon(scores=[{listed}], relation={relation!r})\n"
        "print(sweep_epsilon(problem, np.geomspace(0.01, 10, 61)).to_string())\n"
    )


def planned(about: About) -> str:
    return f"the most common option ({about.name})"
