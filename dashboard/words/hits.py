"""What the question how often a drawn model is right says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from math import floor, log10

from dashboard.words import (
    amount,
    many,
    named,
    no_less,
    number,
    odds_sentence,
    plural,
    safe,
    times_in_100,
    visible,
    whole,
)
from dashboard.words.release import may_show
from dashboard.words.usual import AGAINST, CHANCE, NOISE, TWO_REASONS, counted, verdict
from dpcore.costs import Cost
from dpcore.releases.asked import ErrorBound
from dpcore.training.confusion import Confusion
from dpcore.training.count_noise import Noise

TITLE = "How often is a model right?"
SENTENCE = "How often is the private model of"
MODEL = "Which private model"
LEADS = "How often is this model right on your rows? A private count"
LEADS_SAMPLE = "How often is this model right on these rows? A private count"
NO_MODEL = (
    "No private model has been drawn about these people yet. Draw one under “Predict a column” on this page; how "
    "often it is right on these rows can then be counted privately."
)
NOT_OFFERED = (
    "The model that was chosen is not among those that can be counted here, so another one is shown. Look which one "
    "the question names before you draw an answer."
)
GONE = "A model that was drawn about these people cannot be read any more. Load this page anew."
NOT_DECLARED = "Say on the Data page what the columns can hold: a private count of a model's hits needs it."
NO_VALUES = "No row here has a value of “{}”, so there is nothing to be right about."
METRICS = {"off": "How far off it is told", "verdict": "Whether it is better on these rows"}
NAMES = {"told": "private answer", "theory": "guaranteed by theory"}
PLAIN = "four counts, each with its own noise"
NEED = {"off": "I accept it told off by, points of 100", "verdict": "I need the right verdict, times in 100"}
NEED_HELP = "Type what you need; the smallest ε and the smallest number of people that give it follow."
TITLES = {"off": "told share off by at most (points of 100)", "verdict": "right verdicts in 100"}
UNITS = {"off": " points", "verdict": " times in 100"}
PEOPLE = "People: as many as now, times"
HOW, WHAT_IF = "How it works", "What if"
_NOISES = {
    "laplace": (
        "two-sided geometric noise",
        "of scale s/ε, s the rows of one person (twice that where a row is changed)",
        "Ghosh, Roughgarden and Sundararajan, STOC 2009",
    ),
    "gaussian": (
        "discrete Gaussian noise",
        "with σ = s/√(2ρ), s the rows of one person (√2 times that where a row is changed), ρ what ε and δ stand for",
        "Canonne, Kamath and Steinke, NeurIPS 2020",
    ),
}
"""By the name of the noise: what it is called in a sentence, how much of it there is, and who showed it."""
FORMULA = r"|\text{told} - \text{true}| \le \frac{x}{n}, \quad \Pr[|X| \le x]^2 \ge 1 - \beta"
IN_RHO = (
    "**Its noise:** the budget of these people counts in ρ, so each count gets discrete Gaussian noise, and the answer "
    "takes as much of the budget as a model that hides the same at the same ε and δ."
)


def how_text(law: type[Noise]) -> str:
    name, _, _ = _NOISES[law.name]
    return (
        "Each row is put into one of four cells, by what the model says of it and what the row says itself. The model "
        "is public since it was drawn, so a row's cell hangs on that row alone, and one row moves one count by one. "
        f"Each of the four counts gets {name} of its own; everything else is worked out from the four noisy counts and "
        "costs nothing more."
    )


def source(law: type[Noise]) -> str:
    """Below the formula."""
    _, scale, shown_by = _NOISES[law.name]
    return (
        f"X is the sum of two noises {scale}. A share of two noisy numbers rises with one and falls with the other, so "
        f"it is farthest off where one is x too high and the other x too low: there the total is what it was. "
        f"{shown_by}."
    )


CELLS = {"found": "found", "missed": "missed", "false_alarms": "false alarms", "rightly_left": "rightly not named"}
GIVES = "four noisy counts: found, missed, false alarms and rightly not named"
NOT_PROTECTED = (
    "what is true of people like these in general; the model itself, which is public since it was drawn; that the data "
    "exist and the columns with their bounds"
)
VERDICTS = ("the counts say: better on these rows", "the counts say: not better on these rows")
WHAT_LEAVES = (
    "**What leaves:** four counts with noise. From them follow how often the model is right, how often always saying "
    "the more common answer is, how many of those who are really so it finds, and how many that it names really are."
)


def with_model(model: float | None, delta: float, count: Cost, neighbours: str, unit: str) -> str:
    """What somebody has who sees the model, drawn at ε = ``model`` with ``delta``, and its ``count``; None where the
    two do not hide the same."""
    start = "Whoever sees the model and this count can guess with both; the budget adds them up"
    if model is None:
        return f"{start}."
    both, loose = model + count.epsilon, delta + count.delta
    slack = " and the δ of both" if count.delta > 0.0 else " and the model's δ" if loose > 0.0 else ""
    return (
        f"{start}: ε = {amount(model)} for the model, {amount(count.epsilon)} for the count, at most {amount(both)}"
        f"{slack} for both. {odds_sentence(both, loose, neighbours, unit, of='the two')}"
    )


def option(target: str, epsilon: float | None, when: str, *, same: bool) -> str:
    """A model in the list; ``same`` where it is known to be drawn from the table that is in use."""
    at = "" if epsilon is None else f" at ε = {number(epsilon)}"
    return f"“{visible(target, 30)}”{at}, drawn {when}{'' if same else ', maybe from another file'}"


def unrelated(column: str) -> str:
    """Why rows in which nothing goes with a column have no picture, and what can be had all the same."""
    return (
        f"Made-up rows cannot show how often this model is right: in them nothing goes with “{visible(column)}”. The "
        "private answer below counts it on your own rows. For a picture, say on the Data page, under “Change the "
        "twin”, which column goes with it."
    )


def right_on(rows: int, unit: str, *, simulated: bool) -> str:
    return f"right on {counted(rows, many(unit), simulated=simulated)}?"


NONE_FITS = "Private models were drawn about these people, and none of them can be counted on these rows as they are."


def not_counted(cells: Sequence[str], otherwise: int, older: int) -> str:
    """Models that were drawn and cannot be asked about, each with why; "" for none. ``cells`` names those whose rows
    are in no cell, ``otherwise`` are those whose columns are declared otherwise now, ``older`` those of a version of
    this program whose models this one does not read."""
    why = (
        ("as no row of theirs is in one of four cells", ", ".join(cells)),
        (
            "as columns of theirs are not declared as when they were drawn, which the Data page can set back",
            plural(otherwise, "model") if otherwise else "",
        ),
        ("as another version of this program drew them", plural(older, "model") if older else ""),
    )
    return " ".join(f"Not offered here, {reason}: {told}." for reason, told in why if told)


def without_cells(numbers: int, apart: int) -> tuple[str, ...]:
    """Models whose rows are in no cell, by what they say."""
    return (
        *((f"{plural(numbers, 'model')} of a number",) if numbers else ()),
        *((f"{plural(apart, 'model')} of more than two classes",) if apart else ()),
    )


def always(common: str) -> str:
    """What one does who looks at nothing."""
    return f"always saying “{safe(common)}”"


def headline(metric: str, epsilon: float, value: float, target: float, common: str) -> str:
    if metric == "off":
        return (
            f"At ε = {number(epsilon)} the private count tells how often this model is right to within "
            f"**{no_less(100 * value)} points of 100**, 95 times in 100: "
            f"{verdict(value, target, number(100 * target), higher=False)}."
        )
    return (
        f"At ε = {number(epsilon)} the private counts say rightly **{times_in_100(value)}** whether this model beats "
        f"{common} on these rows: {verdict(value, target, number(100 * target))}."
    )


def caption(
    true: Confusion, unit: str, common: str, *, simulated: bool, own: bool, made: str = "", lean: float | None = None
) -> str:
    """``made`` says whether the model was made from these rows, and ``lean`` how much less often it is right on others
    at most, where that is proved: both of rows that are not made up."""
    start = "It" if simulated else "In truth it"  # the page says of which rows where they are made up
    shown = "" if simulated else " A release never shows this." if own else " Only a sample shows that truth."
    here = "on these rows" if simulated else f"on these rows, {made},"
    verb = "beats" if true.better else "does not beat"
    return (
        f"{start} is right about {_in_100(true.right_share)} in 100 {safe(many(unit))}, and {common} about "
        f"{_in_100(true.common_share)}: {here} it {verb} that.{'' if simulated else _beyond(lean)}{shown} Calculated, "
        "not simulated."
    )


MADE, MAYBE_MADE = "which it was made from", "which it may have been made from"


def _beyond(lean: float | None) -> str:
    """What the caption says of people the model was not made from."""
    if lean is None:
        return " Of people whom it did not learn from that shows nothing."
    return (
        f" On other people it is right at most {no_less(100 * lean)} points less often on average, by its privacy, if "
        f"what “{HOW}” says of them is so."
    )


def _in_100(share: float) -> str:
    return number(round(1000 * share) / 10)


def uncertain(noise: float, people: float, n: int, unit: str) -> str:
    return (
        f"{TWO_REASONS} {NOISE} at most {no_less(100 * noise)} points, 95 times in 100. {CHANCE} "
        f"of {n:,} {safe(many(unit))} whom the model was not made from it moves the share by up to "
        f"{no_less(100 * people)} points as often, around that of all such people. What that is these rows do not "
        f"show. {AGAINST}"
    )


def cell(cells: Confusion, name: str) -> str:
    """One of the four numbers, in a table: below 0 through noise with a minus of print, for a cell that begins with "-"
    may be a formula to the program it is taken to."""
    return f"{getattr(cells, name):,.0f} {CELLS[name]}".replace("-", "−", 1)


def cells_alt(true: Confusion) -> str:
    return (
        f"Found {whole(true.found)}, missed {whole(true.missed)}, false alarms {whole(true.false_alarms)}, "
        f"rightly not named {whole(true.rightly_left)}."
    )


def cells_title(*, simulated: bool, told: bool = False) -> str:
    if told:
        return (
            "**The four counts as told.** Each has noise of its own, so they need not come to the number of rows, and "
            "one may lie below 0."
        )
    return f"**The four cells {'of the made-up rows' if simulated else 'in truth'}, without noise:**"


def derived(found: float, named: float, positive: str) -> str:
    """How far off the two shares of fewer rows may be, at the chosen ε."""
    named_word = safe(positive)
    return (
        f"At this ε, 95 times in 100: of those with “{named_word}” the share found is told to within "
        f"{no_less(100 * found)} points, and of those the model names the share that has it to within "
        f"{no_less(100 * named)}. They are of fewer people, so the same noise moves them more."
    )


_NO_TEST = "People whom a model learned from are no fair test of it: how often it is right on others is not shown"
OWN_ROWS = f"**The model was made from the very rows that are counted.** {_NO_TEST}"
MAYBE_OWN_ROWS = (
    "**The model was drawn from the data of these people as they were then, maybe from another file.** " + _NO_TEST
)
USELESS = "nor does its privacy tell anything useful about that here"
OUTSIDE = (
    "nor can its privacy tell, since part of what was asked or declared is not covered by ε (its receipt says which)"
)
SEVERAL = (
    "nor can its privacy tell: several models were drawn of these people, and the one that is right most often on them "
    "may be the one that learned most of them by heart"
)


def lean(most: float | str, *, same: bool) -> str:
    """Whether the rows are those the model was made from, and how much more often it is right on such at most, or why
    nothing is proved of that; ``same`` where it is known that they are."""
    start = OWN_ROWS if same else MAYBE_OWN_ROWS
    if isinstance(most, str):
        return f"{start}, {most}."
    return (
        f"{start}. But its privacy keeps it from learning those it was made from by heart: if they came independently "
        "from one population, and nothing that was seen of them decided what was asked, it is on average at most "
        f"{no_less(100 * most)} points of 100 more often right on them than on new ones."
    )


def what_if(changed: bool) -> str:
    grey = " The grey line is how it was." if changed else ""
    return f"Change what the picture depends on; the chart above answers at once.{grey}"


def cannot_release(why: str) -> str:
    return f"This cannot be released: {why}."


def forecast(off: float, right: float) -> str:
    """For public rows: by the exact law of this very release."""
    return (
        f"the share that it is right about is told to within {no_less(100 * off)} points of 100, 95 times in 100, and "
        f"the verdict is right {times_in_100(right)} (calculated for this very release, not simulated)."
    )


def forecast_bound(bound: ErrorBound, people: int | None, unit: str, over: str = "") -> str:
    """From declared facts alone, whatever the rows are: how many of them have an answer no fact says, so of about how
    many ``people`` there are it is said as of one row each; ``over`` says of that that it is more than is accepted."""
    share = (
        "; over as many rows as are told, that is how far off the share is at most"
        if people is None
        else f"; over {people:,} rows with an answer, as of one for each of about as many {safe(many(unit))} as "
        f"declared, the share is off by at most {no_less(100 * min(1.0, bound.number / people))} points of 100, over "
        "half as many by twice that"
    )
    return (
        f"{times_in_100(bound.confidence or 0.0)}, whatever the rows are, how many it is right about and how many "
        f"wrong are each told at most {bound.number:,.0f} rows off{share}.{over}"
    )


def more_than(accepted: float, epsilon: float | None) -> str:
    """That this is farther off than is ``accepted`` (a share), and from which ``epsilon`` on it is not, if there is
    one."""
    enough = f"it is within from ε = {amount(epsilon)} on, or with more people" if epsilon else "only more people help"
    return f" That is more than the {number(100 * accepted)} that you accept: {enough}."


def answer(told: Confusion, noise: Noise, target: str, classes: Sequence[str]) -> str:
    """The told shares, each with how far off it is at most by the ``noise`` on each count; ``classes`` are the answers
    no and yes of ``target``."""
    both, one = (float(replace(noise, counts=counts).within(0.05)) for counts in (2, 1))
    total = max(told.right, 0) + max(told.wrong, 0)
    if total <= both:
        return "There is more noise here than rows: how often it is right cannot be told from these counts."
    no, yes = map(named, classes)
    always = yes if told.yes > told.no else no
    lines = (
        f"right about **{_share(told.right_share, both / total)}**; always saying “{always}” would be right about "
        f"{_share(told.common_share, both / total)}{_compared(told, both)}"
    )
    there, alarms = max(told.found, 0) + max(told.missed, 0), max(told.found, 0) + max(told.false_alarms, 0)
    have = f"“{yes}” in “{named(target)}”"
    found, right = _of(told.found_share, there, one), _of(told.named_share, alarms, one)
    finds = f"Of those with {have} it finds {found}" if found else f"How many of those with {have} it finds, {HIDDEN}"
    named_so = (
        f"of those that it names {right} really are so"
        if right
        else f"how many of those that it names really are so, {HIDDEN}"
    )
    return f"{lines[:1].upper()}{lines[1:]}. {finds}; {named_so}. {OF_THEM}."


def _compared(told: Confusion, both: float) -> str:
    """What the counts say of the model, 95 times in 100: each of two comparisons is off by no more than ``both``."""
    least = min(told.found - told.false_alarms, told.rightly_left - told.missed)
    if abs(least) <= both:
        return ". So it is not shown to be better than that: too close to tell through this noise"
    better = "better" if least > 0 else "not better"
    return f": so it is {better} on these rows, 95 times in 100, which does not show that it is so on other people"


def _share(share: float, off: float) -> str:
    """A share with as many digits as its bound has, which holds of what is written: "±", and from where to where at
    either end, since no share lies below 0 or above 100."""
    points = 100.0 * min(off, 1.0)
    digits = min(4, max(1, 1 - floor(log10(max(points, 1e-9)))))
    most = points + 0.5 * 10.0**-digits
    value = float(f"{100.0 * share:.{digits}f}")
    if most <= min(value, 100.0 - value):
        return f"{value:.{digits}f} in 100 (± {no_less(most)})"
    low = _written(max(value - most, 0.0), digits, ROUND_FLOOR)
    high = _written(min(value + most, 100.0), digits, ROUND_CEILING)
    return f"{value:.{digits}f} in 100 ({low} to {high})"


def _written(end: float, digits: int, rounding: str) -> Decimal:
    return Decimal(f"{end:.12g}").quantize(Decimal(1).scaleb(-digits), rounding)


def _of(share: float, rows: float, off: float) -> str:
    """A share of so many ``rows``; nothing where it may be off by half of all."""
    return _share(share, off / rows) if rows > 2 * off else ""


HIDDEN = "the noise hides"
OF_THEM = "The model was made from these people, so this tests it on no others"
CLAIM = (
    "95 times in 100 each number is off by no more than its ± or range says, of the rows as they count, whatever the "
    "rows are"
)


def conclude(unit: str) -> str:
    never = (
        "that it is as good on other people, how often it will be right on them, or whether it is right about any one "
        f"{safe(unit, 40)}"
    )
    return may_show(CLAIM, never)


def code(true: Confusion, relation: str, rows: int, questions: int, delta: float | None) -> str:
    return (
        "import numpy as np\n"
        "from dpcore.tradeoff import sweep_epsilon\n"
        "from dpcore.training.confusion import Confusion\n"
        "from dpcore.training.confusion_problem import ConfusionProblem\n\n"
        f"true = Confusion({_cells(true)})\n"
        f"problem = ConfusionProblem(true=true, relation={relation!r}, rows_per_person={rows}, questions={questions}"
        f"{'' if delta is None else f', delta={delta!r}'})\n"
        "print(sweep_epsilon(problem, np.geomspace(0.01, 10, 41)))\n"
    )


def _cells(true: Confusion) -> str:
    return ", ".join(f"{name}={int(getattr(true, name))}" for name in CELLS)
