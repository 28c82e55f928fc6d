"""What the question "which is the first to reach the line?" says."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import date
from typing import TYPE_CHECKING, Any, Protocol

from dashboard.words import either, named, no_less, number, plural, safe, times_in_100, told_apart, visible
from dashboard.words.release import may_show, such_as
from dashboard.words.usual import AGAINST, CHANCE, NO_THEOREM, NOISE, TWO_REASONS, of_100, verdict
from dpcore.about import About
from dpcore.datasets import Schema
from dpcore.datasets.schema import EachRow
from dpcore.datasets.text import within
from dpcore.validate import Neighbours
from dpcore.written import exact

if TYPE_CHECKING:
    from dashboard.controls import Control
    from dpcore.thresholding import Verdict


class Watched(Protocol):
    """What is said of answers in order: their names, what each belongs to and how far one person moves one of them."""

    @property
    def names(self) -> tuple[str, ...]: ...
    @property
    def step(self) -> str: ...
    @property
    def sensitivity(self) -> float: ...


TITLE = "First to reach a line"
NO_SERIES = (
    "These data have nothing to count over: no date, no options beyond yes and no, no column of numbers in order. "
    "Pick another sample, or declare such a column on the Data page."
)
NOTHING_THERE = "There is nothing to watch: every cell is missing. Pick another column."
SERIES, LINE = "What is watched", "The line"
LINE_HELP = "Type it, or click a bar of the chart."
LIMIT = "How many alarms before it stops (c)"
LIMIT_HELP = "Each alarm gives something away, so more alarms need more noise."
HOW, WHAT_IF, ALPHA = "How it works", "What if", "How near the line it can tell"
MISTAKES, INSTEAD = "Known mistakes elsewhere", "Or select instead"
PEOPLE = "As many as now, times (the line moves along: it is a share of them)"
BACK = "Back to the data as they are"
WHEN = "When it rings"
NEED_ALPHA_LABEL = "I need to tell apart, in"
NEED_ON_TIME = "I need it on time, times in 100"
NEED_HELP = "Type what you need; the smallest ε and the smallest size that give it follow."
DAY, A_DAY, STEP, OPTION = "%d %b %Y", "day", "step", "entry"
BAND = (
    "Shaded: range of what you might see in another period like this one, with counts that scatter around these. "
    "That is apart from the privacy noise, which the line itself holds."
)
UNSHADED = "No range is shaded: an entry is below 0, and these are no counts that could scatter."
ENDINGS = {"on_time": "on time", "late": "late", "missed": "missed (no alarm)", "false_alarm": "false alarm"}
LEGEND = ENDINGS | {"missed": "missed"}
RUNS = "private runs"
WRONG = {"false_alarm": "false alarm", "late": "late", "missed": "missed"}


FROM_THE_TOP = (
    "The steps are looked at in the order of the file, from the top: where the file begins with its newest step, that "
    "one comes first. Turn the file round to begin with the oldest."
)


def lines_note(band: bool, *, unshaded: bool = False) -> str:
    """What stands under the curves."""
    return " ".join(text for text, there in ((BAND, band), (UNSHADED, unshaded)) if there)


# -- what can be watched -----------------------------------------------------------------------------------------------


def counted_unit(schema: Schema) -> str:
    """What is counted where rows are."""
    if schema.rows_per_person > 1:
        return "rows"
    return "people" if schema.unit == "person" else plural_of(schema.unit)


def series(schema: Schema, kind: str, column: str, yes: str) -> str:
    shown, counted = visible(column), counted_unit(schema)
    if kind == "column":
        return shown
    if yes:
        counted = f"{counted} with “{visible(yes)}”"
    if schema.column(column).type == "date":
        return _per_day(f"{counted} per {A_DAY}", "", schema, column)
    return within(f"{_fixed(counted)} per {{}}", shown)


def once(kind: str, column: str, yes: str) -> str:
    """What the series was called in older links."""
    if kind == "column":
        return visible(column)
    return f"“yes” in {visible(yes)} per {visible(column)}" if yes else f"rows per {visible(column)}"


def way(schema: Schema, kind: str, column: str, yes: str) -> str:
    shown = visible(column)
    if kind == "column":
        return within("When does {} first reach a line?", shown)
    end = f"with many {counted_unit(schema)}{f' of “{visible(yes)}”' if yes else ''}?"
    if schema.column(column).type == "date":
        return _per_day(f"Which {A_DAY}", f" is the first {end}", schema, column)
    return within(f"Which {{}} is the first {_fixed(end)}", shown)


def _per_day(start: str, end: str, schema: Schema, column: str) -> str:
    """Between the two the column in which the day stands, unless it is called just that."""
    alone = len(schema.of_type("date")) == 1 and column.strip().casefold() in _DAYS
    return f"{start}{end}" if alone else within(f"{_fixed(start)} in {{}}{_fixed(end)}", visible(column))


_DAYS = (A_DAY, "days", "date", "dates")


def _fixed(text: str) -> str:
    """Text as it stands, for ``within``."""
    return text.replace("{", "{{").replace("}", "}}")


def lacking(column: str) -> str:
    return f"Say how far one person can move an entry of “{visible(column)}” before a private answer."


def too_long(found: int, most: int) -> str:
    return f"There are {found:,} entries; up to {most:,} can be shown here. Group them by day or category first."


def no_range(column: str) -> str:
    return (
        f"Say on the Data page how far one person can move an entry of “{visible(column)}”, or at least its smallest "
        "and largest possible value: the noise is measured by it."
    )


def sentence(step: str, limit: int, line: Control[Any], series: Control[Any]) -> tuple[str | Control[Any], ...]:
    shown = safe(step, 40)
    start = f"Which {shown} is the first to reach" if limit == 1 else f"Which are the first {limit} to reach"
    return (start, line, "in", series, f"of that {shown} alone?" if limit == 1 else f"of one {shown} alone?")


def whose(step: str, units: str) -> str:
    """Of whom the numbers are that meet the line, and over what."""
    each = safe(step, 40)
    return f"Each {each} has its own number, from all {safe(units)} in these data; {plural_of(each)} are not added up."


def in_words(step: str, limit: int, line: float, series: str) -> str:
    """The question of the release, in the words of the title."""
    start = f"Which {safe(step, 40)} is the first" if limit == 1 else f"Which are the first {limit}"
    return f"{start} to reach **{exact(line)}** in “{safe(series)}”?"


def late_label(step: str) -> str:
    return f"On time means: so many {plural_of(safe(step, 40))} after the line is reached, at most"


def plural_of(step: str) -> str:
    """More than one of what an answer belongs to; a column's own name stays as it is where it is hard to tell."""
    if step.endswith("s"):
        return step
    return f"{step[:-1]}ies" if step.endswith("y") and step[-2:-1] not in "aeiou" else f"{step}s"


def cannot(why: str) -> str:
    return f"This cannot be watched: {why}."


# -- the answer --------------------------------------------------------------------------------------------------------


def share(chance: float) -> str:
    """A chance in a row of several: 23, or less than 1."""
    return "less than 1" if chance < 0.005 else f"{chance * 100:.0f}"


def window(series: Watched, first: int, last: int) -> str:
    """From when to when an alarm is on time."""
    return series.names[first] if last == first else f"{series.names[first]} to {series.names[last]}"


def headline(
    epsilon: float, chances: Mapping[str, float], crossing: int | None, blind: float, target: float | None
) -> str:
    level, right = f"At ε = {number(epsilon)}", chances["on_time"]
    if crossing is None:
        start = f"{level} the private alarm stays silent, as it should, **{times_in_100(right)}**"
    else:
        start = f"{level} the private alarm is raised on time **{times_in_100(right)}**"
    told: list[str] = []
    if target is not None:
        near = right < target and times_in_100(right) == times_in_100(target)
        found = verdict(right, target, number(100 * target))
        told.append(found.replace("less than", "just short of") if near else found)
    if crossing is not None and right <= blind:
        told.append("no better than picking blindly")
    judged = f": {' and '.join(told)}" if told else ""
    return f"{start}{judged}. {wrong(chances, crossing)}"


def wrong(chances: Mapping[str, float], crossing: int | None) -> str:
    """All ways of being wrong that there are."""
    if crossing is None:
        return f"False alarm {share(chances['false_alarm'])} in 100."
    keys = ("false_alarm", "late", "missed") if crossing > 0 else ("late", "missed")
    often = sorted((key for key in keys if chances[key] >= 0.005), key=lambda key: -chances[key])
    seldom = [WRONG[key] for key in keys if chances[key] < 0.005]
    told = ", ".join(f"{WRONG[key]} {share(chances[key])}" for key in often)
    if not often:
        return f"{' or '.join(seldom).capitalize()}: fewer than 1 in 100 each."
    if not seldom:
        return f"{told.capitalize()} in 100."
    return f"{told.capitalize()} in 100; {' or '.join(seldom)} fewer than 1."


def caption(series: Watched, crossing: int | None, last: int, late_by: int, blind: float, promise: float) -> str:
    theory = (
        f"Theory (Dwork and Roth, 2014) alone promises the textbook's method on time {times_in_100(promise)}."
        if promise > 0.005
        else NO_THEOREM
    )
    if crossing is None:
        return f"The line is never reached, so any alarm is a false one. {theory}"
    steps = plural(late_by, safe(series.step, 40), plural_of(safe(series.step, 40)))
    if last == crossing:
        on_time = "On time means just then; before is a false alarm, later is late."
    else:
        when = named(window(series, crossing, last))
        on_time = f"On time means {when}, up to {steps} after; before is a false alarm, later is late."
    return (
        f"Without privacy it would ring at {named(series.names[crossing])}, every time. {on_time} "
        f"Picked blindly, it would be on time {times_in_100(blind)}. {theory}"
    )


def uncertain(noise: float, people: float, when: str | None, line: float) -> str:
    """Two uncertainties, apart. ``when`` an alarm is on time; None where none is due."""
    level = f"the line of {exact(line)}"
    often = f"in {of_100(people)} of 100 cases. {AGAINST} Calculated, not simulated."
    if when is None:
        return (
            f"{TWO_REASONS} {NOISE} {of_100(noise)} of 100 such runs ring although "
            f"nothing is due. {CHANCE} with other people like these, {level} is reached after all {often}"
        )
    return (
        f"{TWO_REASONS} {NOISE} {of_100(noise)} of 100 such alarms do not ring on time. "
        f"{CHANCE} with other people like these, {level} itself would be reached at another time than {named(when)} "
        f"{often} “On time” is measured by these people's own day, so do not add the two: what they come to "
        "together is not calculated."
    )


def at_once(step: str) -> str:
    return (
        f"The line is reached by the very first {safe(step, 40)}, so no alarm can be a false one: a method that rings "
        "too easily looks good here. Choose a higher line to see the alarm wait."
    )


def better(name: str, here: float, main: float) -> str:
    return (
        f"**Another method does better here:** {name} is on time {times_in_100(here)}; the one in use "
        f"{times_in_100(main)}. The one in use is fitted to be right about any data of this length, so it is more "
        "careful with false alarms; on some data that makes it late."
    )


def not_declared(column: str, reach: float, unit: str) -> str:
    return (
        f"How far one {safe(unit)} can move an entry of “{safe(column)}” has not been said. The picture supposes the "
        f"whole range, {number(reach)}: so much noise that no alarm can be of use."
    )


def hidden(relation: Neighbours, series: Watched, unit: str) -> str:
    """Who is protected, in this question's own words: one ``unit``."""
    who = safe(unit, 40)
    change = f"whether that {who} is in the data" if relation == "add_remove" else f"what the data say of that {who}"
    return (
        f"Any one {who}. One {who} can change the number of each {safe(series.step, 40)} by at most "
        f"{number(series.sensitivity)}. Whoever sees the private answer, whatever else they know, cannot tell for sure "
        f"{change}."
    )


NOT_PROTECTED = "that the data exist, the line, what is asked about, and how many alarms at most"


def ending(key: str, chance: float) -> str:
    return f"{ENDINGS[key]} {share(chance)}"


def legend(key: str, chance: float, window: str = "") -> str:
    """An ending in the legend of the picture, which a phone must have room for."""
    brief = "<1" if chance < 0.005 else share(chance)
    return f"{LEGEND[key]} ({window}) {brief}" if window else f"{LEGEND[key]} {brief}"


# -- the picture of when it rings --------------------------------------------------------------------------------------


def line_label(line: float) -> str:
    return f"the line: {exact(line)}"


def when_axis(limit: int) -> str:
    return "alarm here,<br>times in 100" if limit == 1 else "first alarm here,<br>times in 100"


def when_note(name: str, looked: bool, textbook: float, best: str | None) -> str:
    """``textbook``: how often the textbook's method is on time; ``best``: which is oftenest, None for this one, said of
    no data that are a person's own (``looked``)."""
    click = f"Click a bar to put the line {'near it' if looked else 'there'}."
    oftenest = ", here the best of the methods under Options" if best is None else f", here {best} does better"
    here = "" if looked else oftenest
    return (
        f"Above: the data and the line. Below: where the private alarm falls, with {name}{here}. The textbook's "
        f"method (Dwork and Roth, 2014) would be on time {times_in_100(textbook)}. {click}"
    )


def when_alt(names: Sequence[str], law: Sequence[float], chances: Mapping[str, float]) -> str:
    likeliest = max(range(len(law) - 1), key=lambda place: law[place])
    told = ", ".join(ending(key, chance) for key, chance in chances.items())
    return f"How the alarm ends, times in 100: {told}. Likeliest at {told_apart(names[likeliest])}."


# -- how it works ------------------------------------------------------------------------------------------------------


def method_in_use(about: About, mechanism: About) -> str:
    return f"**The method in use: {about.plain} ({about.name}).** {mechanism.how} {about.how}"


def why_there(
    *, line: float, noisy: float, lift: float, noise: float, spread: float, entries: int, unit: str, step: str
) -> str:
    shown = safe(unit)
    many = f"{entries:,} {safe(plural_of(step), 40)}"
    moved = (
        f"the method moves it {'up' if lift >= 0 else 'down'} by {number(abs(lift))} on purpose, and this run's noise "
        f"{'adds' if noise >= 0 else 'takes'} {number(abs(noise))}"
    )
    purpose = (
        f"It is moved because every number gets noise too, about {number(spread)} {shown}: over {many} a large one "
        "comes up by chance, and must not ring. How far it is moved depends on ε and on how many are watched, never on "
        "the data."
        if lift
        else f"Every number gets noise too, about {number(spread)} {shown}."
    )
    return (
        f"**Why does the noisy line lie at {number(noisy)} when you set {exact(line)}?** Because {moved}. {purpose} "
        "With a larger ε all of this shrinks."
    )


def run_note(rang: bool, names: Sequence[str], answers: Sequence[float], unit: str) -> str:
    if not rang:
        told = "no alarm"
    else:
        pairs = (
            f"{safe(name)} (true: {number(value)} {safe(unit)})" for name, value in zip(names, answers, strict=True)
        )
        told = f"alarm at {', '.join(pairs)}"
    return (
        f"One simulated run: {told}. Grey band: where the noisy line mostly lies. Another seed under Options gives "
        "another run."
    )


def run_alt(names: Sequence[str], line: float, noisy: float) -> str:
    told = f"alarm at {', '.join(map(told_apart, names))}" if names else "no alarm"
    return f"One simulated run with the line {exact(line)}, with noise {number(noisy)}: {told}."


def run_step(count: int, entries: int, step: str, alarm: bool) -> str:
    return f"{count} of {entries} {plural_of(step)} compared{', alarm' if alarm else ''}"


YOUR_LINE, NOISY_LINE = "your line", "the noisy line of this run"
TRUE, COMPARED, RANG = "true numbers", "numbers with noise, compared with the noisy line", "alarm"
TRUE_HERE, NOISY_HERE = "true", "with noise"


def chosen_line(line: float) -> str:
    return f"{YOUR_LINE}: {exact(line)}"


def noisy_line(line: float) -> str:
    return f"{NOISY_LINE}: {number(line)}"


def source(threshold_scale: float, query_scale: float, source: str) -> str:
    return f"Noise on the line: scale {number(threshold_scale)}; on each answer: {number(query_scale)}. {source}"


# -- what if -----------------------------------------------------------------------------------------------------------


def what_if(changed: bool, line: float) -> str:
    if not changed:
        return "Change what the picture depends on; the chart above answers at once. A release never uses such changes."
    return (
        f"The chart above shows the change, with the line at {exact(line)}; the grey line is how it was. A release "
        "uses the data and the line as they are, without the change."
    )


def longer(found: Sequence[tuple[int, float]], step: str) -> str:
    row = "; ".join(f"**{count:,}**: {times_in_100(chance)}" for count, chance in found)
    return f"**Watching longer.** On time, if there were so many {safe(plural_of(step), 40)} in all: {row}."


# -- what it can tell apart --------------------------------------------------------------------------------------------


def alpha(beta: float, epsilon: float, here: Mapping[str, float], best: str, name: str, unit: str) -> str:
    return (
        f"{number(100 * (1 - beta))} times in 100 a run is right about every answer farther than a distance α from the "
        f"line. At ε = {number(epsilon)} the textbook's theorem promises α = {number(here['theory'])} {safe(unit)}. In "
        f"truth its method has α = {number(here['book'])}, {number(here['theory'] / here['book'])} times better than "
        f"promised; the best method here, {name}, has α = {number(here[best])}, "
        f"{number(here['book'] / here[best])} times better again."
    )


ALPHA_TITLE = "distance from the line that is told apart, α"


# -- known mistakes ----------------------------------------------------------------------------------------------------

MISTAKES_INTRODUCTION = (
    "Programs elsewhere have got this method wrong. **Nothing shown here is used by this page**: it shows what each "
    "mistake would give away."
)
MISTAKE, MISTAKE_SIZE = "A known mistake", "Size of the attack"
ODDS_NAMES = ("what ε promises", "the right method", "with this mistake")


def mistake(label: str, fault: str, source: str) -> str:
    return f"**{label}.** {fault} ({source})"


def mistake_odds(now: Verdict, epsilon: float) -> str:
    told = "without limit" if math.isinf(now.realised) else f"ε = {number(now.realised)}"
    return (
        f"A program with this mistake that claims ε = {number(epsilon)} promises that someone who guesses is right at "
        f"most {number(100 * now.promised_odds)} times in 100. They would be right **{number(100 * now.odds)} times in "
        f"100**; what is really given away is {told}."
    )


def mistake_alt(label: str, odds: float) -> str:
    return f"The attacker's odds against “{label}”: right {number(100 * odds)} times in 100 at the chosen ε."


# -- select instead ----------------------------------------------------------------------------------------------------


def instead(entries: int, beta: float, margins: Mapping[str, float], unit: str, step: str) -> str:
    shown = safe(unit)
    return (
        f"An alarm answers one {safe(step, 40)} after the other. If all {entries:,} are there already and one name is "
        f"enough, **select instead**: to be named {number(100 * (1 - beta))} times in 100, the one that stands out "
        f"must lead by **{number(margins['permute_and_flip'])}** {shown} when selecting, by {number(margins['best'])} "
        f"with the best alarm, and by {number(margins['book'])} with the textbook's."
    )


SELECT = "Open Selection with the same data"


# -- the release -------------------------------------------------------------------------------------------------------


def no_release(name: str, other: str) -> str:
    return f"“{name}” is here for comparison: no private answer is drawn by it. The nearest that is: {other}."


def use(other: str) -> str:
    return f"Use {other}"


def declare_sensitivity(column: str, unit: str) -> str:
    return (
        f"Say on the Data page by how much one {visible(unit)} can move an entry of “{visible(column)}” at most: the "
        "noise of a private answer is measured by it, and it must not be read from the file."
    )


def type_a_line(line: float) -> str:
    return (
        f"Type a line of your own in the title first. {exact(line)} is only where the page begins; a release needs "
        "the line that you need, for reasons other than these data."
    )


def keep_line(line: float) -> str:
    return f"{exact(line)} is the line I need"


def several_names(names: Sequence[str], each_row: EachRow) -> str:
    """Where more than one column could say what the steps or options of a table are called."""
    kind = "Date" if each_row == "step" else "Text"
    return (
        f"It is not said which column names the {each_row}s: {either(names)}. On the Data page leave the type “{kind}” "
        "to it alone; an answer gives its cells away, those of the others never."
    )


def cannot_release(why: str) -> str:
    return f"This cannot be released: {why}."


NOT_ONE_WAY = (
    "This method needs one person to move all answers the same way, and here they may move them either way. Choose one "
    "that allows it."
)


CLAIM = "with noise added, the line seemed to be reached here, or never where no alarm is named"
CONCLUDE = may_show(CLAIM, "it was certainly reached, or how high the count was")


def forecast(chances: Mapping[str, float], crossing: int | None) -> str:
    right = times_in_100(chances["on_time"])
    start = f"silent, as it should be, {right}" if crossing is None else f"on time {right}"
    told = wrong(chances, crossing)
    return f"{start}. {told} Calculated for this very release, not simulated."


def forecast_bound(reach: float, beta: float, unit: str) -> str:
    return (
        f"an entry that counts as more than {no_less(reach)} {safe(unit)} above the line raises an alarm while alarms "
        f"last, and one so far below it does not: {number(100 * (1 - beta))} times in 100 all of this holds. Nearer to "
        "the line it may ring too early, late or not at all; how often depends on your data, and is not said."
    )


LINE_IS_PUBLIC = "The line is public. Choose it for your own reasons, not by looking at these data."
LINE_ON_SAMPLE = (
    "The line is public. These are sample data, so it may be clicked in the picture; for people of your own choose it "
    "for your own reasons, not by looking at their data."
)


WHEN_IT_RINGS = (
    "What to do with it: when it rings, check before you act, as some ring too early or too late. With the last "
    "alarm the run is over: watching on is another answer, and is charged again."
)


def gives(names: Sequence[str]) -> str:
    """What an answer is; ``names`` are those of the rows, where they have any."""
    example = such_as(day(names[len(names) // 2])) if names else ""
    return f"where the alarm rings{example} (from there on the line counts as reached), or that it never does"


def answer(found: Mapping[str, Any]) -> str:
    """The alarms by name, or by their place where they have none."""
    places = zip(found.get("alarms", []), found.get("names", []), strict=True)
    told = [named(day(str(name)) or f"{int(place) + 1}") for place, name in places]
    return f"Alarm at {', '.join(told)}." if told else "No alarm was raised."


def day(name: str) -> str:
    """A day as pages write it, where ``name`` is one as receipts write it; else ``name``."""
    try:
        return date.fromisoformat(name).strftime(DAY) if len(name) == len("2024-05-01") else name
    except ValueError:
        return name


def code(
    answers: Sequence[float], line: float, late_by: int, sensitivity: float, limit: int, one_way: bool, units: str
) -> str:
    listed = ", ".join(f"{value:g}" for value in answers[:400])
    return (
        "import numpy as np\n"
        "from dpcore.thresholding.alarm_problem import AlarmProblem\n"
        "from dpcore.thresholding.units import Units\n"
        "from dpcore.tradeoff import sweep_epsilon\n\n"
        f"problem = AlarmProblem(\n    answers=np.array([{listed}]),\n    threshold={line!r},\n"
        f"    limit={limit},\n    late_by={late_by},\n    sensitivity={sensitivity!r},\n    monotonic={one_way},\n"
        f"    units={units},\n)\n"
        "print(sweep_epsilon(problem, np.geomspace(0.01, 10, 61)).to_string())\n"
    )
