"""What the question about the best simple rule says."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dashboard.words import many, named, number, safe
from dashboard.words.release import may_show, such_as
from dashboard.words.usual import AGAINST, CHANCE, NOISE, TWO_REASONS, counted, of_100, proved, redrawn, verdict
from dpcore.about import About
from dpcore.releases.asked import ErrorBound

TITLE = "Best simple rule"
TARGET = "Column to predict"
THEORY = {"theory": "guaranteed by theory, noise alone", "pac": "guaranteed by the learning theorem"}
METRICS = {"error": "Wrong predictions", "excess": "Wrong above the best", "success": "Chance of a near-best rule"}
SCALES = {
    "error": "wrong predictions in 100",
    "excess": "wrong in 100, above the best rule",
    "success": "near-best choices in 100",
}
NEED = {
    "error": "I accept wrong predictions, in 100, up to",
    "excess": "I accept wrong above the best, in 100, up to",
    "success": "I need a near-best rule, times in 100",
}
NEED_HELP = "Type what you need; the smallest ε and the smallest number of people that give it follow."
COLUMNS = "Columns a rule may look at"
CUTS = "Cuts tried per column of numbers"
CUTS_HELP = "The cuts lie evenly between the declared bounds; they are never taken from the data."
HOW, WHAT_IF = "How it works", "What if"
NO_COLUMN = (
    "This question needs one row per person, a column with two answers, and at least one more column with "
    "declared bounds or categories. Pick another sample, or declare them on the Data page."
)
NOTHING_CHOSEN = "Choose at least one column that a rule may look at."
NO_ROW = "No row has a value in every chosen column. Choose fewer columns."
WHAT_IF_TEXT = "Share the same ε among several such questions; the chart above answers at once."
FORMULA = (
    r"\text{excess} \le 2\sqrt{\frac{\ln(4|C|/\beta)}{2n}}"
    r" + \frac{c}{\varepsilon n}\left(\ln|C| + \ln\frac{2}{\beta}\right)"
)


def source(c: float) -> str:
    return (
        f"Except with chance β, over the people drawn and the noise; c = {number(c)} for this mechanism and these "
        "neighbours. Kasiviswanathan, Lee, Nissim, Raskhodnikova and Smith, SIAM Journal on Computing 2011, with the "
        "constants worked out (Hoeffding and a union bound)."
    )


def too_many_rules(count: int, most: int) -> str:
    return f"These columns and cuts make {count:,} rules, and {most:,} can be compared: choose fewer columns or cuts."


def no_band(most: int) -> str:
    return (
        "The band is not drawn for so many rules: with fewer columns or cuts, up to "
        f"{most:,} rules (fewer where there are very many people), it is."
    )


def sentence_end(used: int, rows: int, *, simulated: bool) -> str:
    who = counted(rows, "people", simulated=simulated)
    return f"best, from {who}?" if used == rows else f"best, from the {used:,} of {who} without gaps?"


def uncertain(noise: float, people: float, count: int, unit: str, near: float, draws: int) -> str:
    """Two uncertainties, apart; ``near`` of 100 more mistakes than the best make a rule a worse one."""
    return (
        f"{TWO_REASONS} {NOISE} {of_100(noise)} of 100 private rules are wrong "
        f"on over {number(near)} in 100 more than the best. {CHANCE} had {count:,} other {safe(many(unit))} like these "
        f"come, the best rule here would be so in {of_100(people)} of 100 cases ({redrawn(people, draws)}). {AGAINST}"
    )


def headline(epsilon: float, wrong: float, target: float | None) -> str:
    start = f"At ε = {number(epsilon)} the rule chosen privately is wrong about **{number(100 * wrong)} times in 100**"
    if target is None:
        return f"{start}."
    return f"{start}: {verdict(wrong, target, number(100 * target), higher=False)}."


def caption(rules: int, best: str, rate: float) -> str:
    return (
        f"Best of {rules:,} rules without privacy: “{named(best)}”, wrong {number(100 * rate)} times in 100. "
        "Calculated, not simulated."
    )


def how(about: About) -> str:
    return (
        "Write down every rule in advance: cuts on a public grid and the declared categories. Count how many people "
        "each rule gets wrong, and choose one rule privately, fewer mistakes being likelier. "
        f"**The method in use: {about.plain} ({about.name}).** {about.how}"
    )


def sample_size(alpha: float, rules: int, beta: float, both: int, privacy: int, sampling: int, enough: int) -> str:
    return (
        f"**Sample size.** To be within {number(100 * alpha)} in 100 of the best of {rules:,} rules, except with "
        f"chance {number(beta)}, the learning theorem asks for {both:,} people. Without privacy it "
        f"would be {sampling:,}; being near-best on these data alone, whatever they say of others, asks for "
        f"{privacy:,}, and by the exact law for at most {enough:,}, however the mistakes are spread."
    )


def no_release(name: str, other: str) -> str:
    return f"“{name}” is here for comparison: no private answer is drawn by it. The nearest that is: {other}."


def use(other: str) -> str:
    return f"Use {other}"


def cannot_release(why: str) -> str:
    return f"This cannot be released: {why}."


def conclude(bound: ErrorBound, unit: str) -> str:
    """What may be said of an answer; ``bound`` holds whatever the data are."""
    never = f"this column is the cause, or that the rule holds for any one {safe(unit, 40)}"
    return may_show(proved(bound), never)


def forecast(wrong: float) -> str:
    return f"wrong about {number(100 * wrong)} times in 100 on these people (calculated for this very release)."


def forecast_bound(bound: ErrorBound) -> str:
    return f"{proved(bound, whatever=True)}. How often the rule will be wrong is not told by a private answer."


def gives(rules: Sequence[object]) -> str:
    """What an answer is; ``rules`` are some that it may be."""
    return f"one rule{such_as(str(rules[len(rules) // 2]))}"


def answer(answer: dict[str, Any], target: str, yes: str) -> str:
    return f"The rule: {named(str(answer['rule']))}. It predicts {named(yes)} in “{named(target)}”."
