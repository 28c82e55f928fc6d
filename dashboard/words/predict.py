"""What the question of private training says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dashboard.words import many, named, no_less, number, plural, protected_words, safe, times_in_100, tiny, visible
from dashboard.words.measured import between
from dpcore.about import About
from dpcore.written import hundredths

TITLE = "Predict a column"
TARGET = "Column to predict"
SENTENCE = ("Can we predict", "privately, and how well?")
FROM = "from these columns"
COLUMNS = "Predict from"
CLASS = "The class to tell from all others"
APART = "Tell all classes apart"
APART_HELP = (
    "One model for all classes at one price, instead of one class against the rest. Every class has points of its own, "
    "so it needs more people."
)
NO_METHOD = (
    "No private method here can tell so many classes apart by so many columns. Choose fewer columns, or one class to "
    "tell from the others."
)
PAIRS = "Columns that act together"
PAIRS_HELP = (
    "Every combination of two columns gets points of its own, such as old and self-employed. You choose them, they are "
    "not read from the data, so they cost no privacy; but every combination needs people to learn from. Worth it with "
    "tens of thousands of rows, where one column says something else depending on the other."
)
TOO_MANY_TO_PAIR = "Choose at most 24 columns to let two of them act together."
NO_COLUMN = (
    "Training needs one row per person, a column to predict, and at least one more column with declared bounds "
    "or categories. Pick another sample, or declare them on the Data page."
)
DRAWN = "Drawn beside it"
NUMBERS = "Numbers as"
NUMBERS_AS = {"steps": "steps at round numbers", "line": "a straight line"}
NUMBERS_HELP = (
    "With a straight line a number counts the more the larger it is, which needs few people. With steps each range "
    "between round numbers counts by itself: better with many people, or where more is not simply better. The steps "
    "follow from the declared bounds, never from the data, so they cost no privacy. Noisy descent on steps "
    "always takes its own, finer steps."
)
DELTA = "δ, a small chance by which a guess may be right beyond ε"
SEEDS = "Private models simulated at each point"
ROWS = "rows"
ROWS_TITLE = "number of training rows n"
AXES: Mapping[str, str] = {"epsilon": "Privacy loss ε", "n": "Number of rows", "both": "ε and rows"}
AVERAGE = "Always the average"
TRAINING = "Training private models"
NEED_HELP = "Type what you need; the smallest ε that gives it follows, and how many rows like these would."
WAITING = "Read off the chart when all models are trained."
STOPPED = "Stopped before all models were trained, so it cannot be read off yet."
NOT_MEASURED = (
    "The method in use has no excess risk here, as it aims at another loss or uses other columns. Choose another "
    "method or measure."
)
HINT_ROWS = "To see how many rows like these would do at the ε chosen now, show the chart against the number of rows."
NOT_PROTECTED = (
    "what is true of people like these in general; that the data exist, the columns with their bounds, and about how "
    "many rows there are"
)


def cannot_train(why: str) -> str:
    return f"This cannot be trained on yet: {why}."


def dropped(columns: tuple[str, ...]) -> str:
    names = ", ".join(f"“{visible(name, 30)}”" for name in columns[:5])
    more = "" if len(columns) <= 5 else f" and {len(columns) - 5} more"
    if len(columns) == 1:
        return f"{names} has the same value in every row, so the picture is drawn without it."
    return f"{names}{more} have the same value in every row, so the picture is drawn without them."


WORTH_BUYING = (
    "Buying cuts is worth it where people crowd within a small part of the declared bounds; where round numbers suit, "
    "the free ones leave more for training."
)


WORTH_PAIRING = (
    "Buying pairs is worth it where there are very many people and some columns matter only together; pairs that you "
    "name yourself, from knowledge, cost nothing (under the columns)."
)
WORTH_CHOOSING = (
    "Having the way chosen is worth it where nobody knows which suits the data and one of them suits much better; "
    "else the fixed way is as good or a little better."
)


def free_beside(bought: str, free: str) -> str:
    """The same descent on cuts that are bought and on free ones, at this ε."""
    return f"With bought cuts: {bought}; with free ones at round numbers: {free}."


def singles_beside(bought: str, free: str) -> str:
    """The same descent with pairs that are bought and without, at this ε."""
    return f"With bought pairs: {bought}; without: {free}."


def fixed_beside(chosen: str, fixed: str) -> str:
    """The way that is chosen privately and the fixed one, at this ε."""
    return f"With the way chosen: {chosen}; with the fixed one: {fixed}."


def who(unit: str, rows_per_person: int) -> str:
    if rows_per_person == 1:
        return protected_words("add_remove", unit)
    who = safe(unit, 40)
    return (
        f"Any one {who} with all of their rows, up to {rows_per_person:,}. Whoever sees the model, whatever else they "
        f"know, cannot tell for sure whether that {who} is in the data, or what the data say of that {who}."
    )


# -- the chart ---------------------------------------------------------------------------------------------------------


def about(target: str, columns: int, rows: int, delta: float, epsilon: float | None) -> str:
    """What is asked, in a few words of Markdown; ``epsilon`` where the chart is for one."""
    at = "" if epsilon is None else f", at ε = {number(epsilon)}"
    named = safe(visible(target, 30))
    return f"“{named}” from {plural(columns, 'column')}, {rows:,} training rows, δ = {tiny(delta)}{at}"


def models_at_each_point(told: str, models: int) -> str:
    return f"{told}, {models} models at each point"


def rows_title(epsilon: float) -> str:
    return f"{ROWS_TITLE}, at ε = {number(epsilon)}"


def place(x: str, chosen: float) -> str:
    return f"ε = {number(chosen)}" if x == "epsilon" else f"{chosen:,.0f} rows"


def note(models: int, name: str, above: bool, others: bool, steps: bool) -> str:
    """``above``: the private line somewhere passes the one without privacy; ``others``: not the headline's models;
    ``steps``: the private model cuts numbers and the one without privacy does not."""
    luck = "the luck of few rows to judge on: noise does not make models better."
    why = f"because it tells ranges of numbers apart and the other draws a straight line, or {luck}" if steps else luck
    chance = f" Where the private line passes the one without privacy, that is {why}" if above else ""
    chance += " These are other models than the headline's, so the dot may differ from it by luck." if others else ""
    return (
        f"Simulated: each point is the mean of up to {models} private models. Shaded: range of what you might see, 80 "
        f"in 100 models by {_lower(name)}.{chance} Settings are fixed in advance, never tuned on these data."
    )


def beside(others: Mapping[str, str]) -> str:
    """What each of the ``others`` does, by the name of its line; "" for none."""
    if not others:
        return ""
    return f" The other private lines. {' '.join(f'{name}: {plain}.' for name, plain in others.items())}"


def theory(radius: float, steepest: float, steps: int, name: str, loose: float | None, place: str) -> str:
    """``loose`` is the bound over what was simulated, where that was."""
    seen = (
        f"at {place} it is loose by ×{number(loose)}"
        if loose is not None
        else f"draw “{name}” beside it to see by how much it is loose"
    )
    return (
        f" Dotted: theorems about weights up to R = {radius:g} long, where the loss of one row changes by at most G = "
        f"{number(steepest)} per unit. The rates hold up to a constant, so their height means nothing. The theorem for "
        f"descent as proved is a bound on the mean (nothing clipped, {steps} steps, a row added or removed): {seen}."
    )


def map_alt(title: str, name: str) -> str:
    return f"{title} of {name} at every ε and number of rows."


def map_note(title: str, name: str) -> str:
    return f"Colour: {title}, {_lower(name)}. Dashed line: where the goal set is met."


def _lower(name: str) -> str:
    return name if name[:2].isupper() else name[:1].lower() + name[1:]


# -- one descent watched -----------------------------------------------------------------------------------------------

DESCENT = "Descent as it happens"
WATCHED = (
    "**How noisy gradient descent trains.** The model starts out knowing nothing. At every step each row asks for a "
    "small change that would make the model fit it better. Long requests are shortened to a fixed length, so that "
    "nobody counts for more than anybody else; the requests are added up, noise is added to the sum, and the model "
    "takes one step. What is released is the average of the last half of the steps. The star is the best model without "
    "privacy; the stronger the blue, the better a model fits there."
)
FORMULA = (
    r"\begin{aligned}w \leftarrow w - \tfrac{\eta}{n}\Bigl(&\sum_i g_i \min\bigl(1, \tfrac{C}{\|g_i\|}\bigr) \\"
    r"&+ N(0, C^2 T \sigma^2 I)\Bigr)\end{aligned}"
)
SOURCE = (
    "T Gaussian steps together are exactly one Gaussian release, so the ε has no slack. Balle and Wang, ICML "
    "2018; Bassily, Smith and Thakurta, FOCS 2014; Song, Chaudhuri and Sarwate, GlobalSIP 2013."
)


def other_in_use(about: About) -> str:
    return f"**The method in use is another one: {about.plain} ({about.name}).** {about.how}"


def path_alt(steps: int, end: float) -> str:
    return f"One noisy descent of {steps} steps; it ends {number(end)} above the smallest loss."


def signal_alt(louder: int, steps: int) -> str:
    return f"Size of the rows' mean request and of the noise at each step; the noise is larger in {louder} of {steps}."


def signal(louder: int, steps: int) -> str:
    if louder == 0:
        return f"**What the rows ask for is larger than the noise in all {steps} steps.**"
    if louder < steps / 2:
        return (
            f"**What the rows ask for is larger than the noise in {steps - louder} of {steps} steps.** Towards the end "
            "there is little left to ask for, so mostly noise is heard; averaging the last steps takes much of it out."
        )
    return (
        f"**The noise is larger than what the rows ask for in {louder} of {steps} steps, and the model can still "
        "learn:** noise points another way at every step and largely cancels, while the rows go on asking for the same."
    )


def clipped(share: float, rows: int, trained: int) -> str:
    cut = 100 * share
    told = "Fewer than 1 in 100 rows are" if cut < 0.5 else f"About {cut:.0f} in 100 rows are"
    drawn = "" if rows == trained else f" Drawn on the first {rows:,} of {trained:,} rows."
    return f"{told} shortened at each step.{drawn}"


# -- steps and clipping ------------------------------------------------------------------------------------------------

TOO_MUCH = "More steps, more clipping"
LESSON = "Lesson"
LESSONS = {"steps": "More steps can make it worse", "clip": "What clipping does"}
LESSON_AXES = {"steps": "number of steps, at one total ε", "clip": "longest request allowed, C"}
LESSON_TEXTS = {
    "steps": "Every step looks at all rows once more, and all steps share one ε: more steps mean more noise at each.",
    "clip": "Shortening long requests bends the direction (the grey line falls behind on the left); not doing it lets "
    "one person pull hard, so the noise must be larger (the blue line falls behind on the right).",
}


def lesson_verdict(
    kind: str, *, best: tuple[float, float], last: tuple[float, float], quiet_last: float, within: bool, unit: str
) -> str:
    """``best`` and ``last`` are (place, value) of the noisy curve; ``within``: the last is no more than luck away."""
    where = f"about {best[0]:g} steps" if kind == "steps" else f"C = {best[0]:g}"
    end = f"{last[0]:g} steps" if kind == "steps" else f"C = {last[0]:g}"
    start = f"**With noise it is best at {where}: {number(best[1])}{unit}.**"
    if best[0] == last[0]:
        return f"{start} More was not tried."
    quiet = f"Without noise it would be {number(quiet_last)} there."
    luck = ", which may be the luck of one model" if within else ""
    return f"{start} At {end} it is {number(last[1])}{luck}. {quiet}"


def lesson_alt(title: str, kind: str, best: float) -> str:
    return f"{title} against {'the number of steps' if kind == 'steps' else 'C'}; best at {best:g}."


def lesson_note(rows: int, replicas: int) -> str:
    return (
        f"Simulated on {rows:,} rows, {replicas} models at each point of noisy gradient descent, each taking its last "
        "step as it is; that of the chart averages the last half, which is steadier, so its number is another one. "
        "It is not tuned: choosing steps or C by looking would itself cost budget."
    )


# -- the textbook ------------------------------------------------------------------------------------------------------

TEXTBOOK = "What the textbook spends"

# -- the gentle problems -----------------------------------------------------------------------------------------------

GENTLE_TAB, GENTLE = "Simple problems", "Working out the gentle problem"
LEARN, OF, AGAINST = "Learn", "of", "against"
SIMPLE = {"mean": "the mean", "median": "the median", "line": "a straight line"}
EXCESS = "excess loss above the best"
NO_NUMBERS = "These problems need a column of numbers with declared bounds."
NO_SECOND = "A line needs a second column of numbers."
SIMPLE_NOTES = {
    "mean": "Both lines are exact. The exponential mechanism on the squared loss works for anything, and pays for it: "
    "adding Laplace noise to the sum is far better for a mean.",
    "median": "Both lines are exact. Choosing by rank needs far less noise than choosing by the absolute loss.",
    "line": "The exponential mechanism over a grid of lines is exact, the others simulated. A grid fixed in advance "
    "costs no privacy, but only works in two or three dimensions.",
}


def few_values(fewest: int) -> str:
    return f"Fewer than {fewest} rows have these values; choose another column."


# -- what if -----------------------------------------------------------------------------------------------------------

WHAT_IF = "What if"
WHAT_IF_TEXT = "Choose other columns, another method or another ε above, and keep the cases side by side."
TUNING_TITLE = "**What tuning would cost**"
SETTINGS = "Settings tried"


def tuning(tried: int, epsilon: float, all_runs: float, random_stopping: float, share: float) -> str:
    return (
        f"Trying {plural(tried, 'setting')} at ε = {number(epsilon)} each and keeping the best costs "
        f"ε = **{no_less(all_runs)}** in all, or {no_less(random_stopping)} when the number of tries is itself random. "
        f"To stay at ε = {number(epsilon)}, each try may have {number(share)}. The settings used here are fixed in "
        "advance and cost nothing."
    )


# -- the release -------------------------------------------------------------------------------------------------------

MODEL, CARD = "Model (JSON)", "Model card (Markdown)"
TRY = "**Try it**"
HOW_TO_USE = (
    "The file holds one weight for every column and how to use them. With this product installed:\n\n"
    '```python\nfrom dpcore.training import predict\npredict("model.json", [{"column": value, …}])\n```\n\n'
    '`released_estimator("model.json")` of the same module is the model as a scikit-learn estimator.'
)


def what_leaves(about: About) -> str:
    return (
        "**What leaves:** a small file with weights for the columns, from which anybody can make predictions. It is "
        f"trained on all rows by {_lower(about.name)} with settings fixed in advance, and may be published. How well "
        "it does on these rows is not told with it. A private count of that can be asked for afterwards: another "
        "answer, which costs its own part of the budget."
    )


def act_together(pairs: Sequence[tuple[str, str]]) -> str:
    """Which columns act together, before a release: declared, so nothing was bought."""
    named = ", ".join(pair(*names) for names in pairs)
    return (
        f"These columns act together: {named}. You chose them, which costs no privacy; a choice made after a look at "
        "this very file is not covered by ε."
    )


FORECAST_WAITING = "it is being simulated; the forecast stands here when all models are trained."


def conclude(unit: str) -> str:
    return (
        f"You may publish the model and use it. You may not say: it is right about one {safe(unit, 40)}, or what the "
        f"{safe(many(unit), 40)} in the data were like one by one."
    )


def pair(first: str, second: str) -> str:
    """Two columns that act together."""
    return f"{visible(first, 40)} with {visible(second, 40)}"


def no_release(name: str, other: str) -> str:
    return f"“{name}” is here for comparison: no private model is released by it. The nearest that is: {other}."


def not_of_a_source(name: str, other: str) -> str:
    return f"“{name}” needs the rows themselves, and of a source of this server they are not held. What is: {other}."


NO_DATE_OF_A_SOURCE = (
    "A day cannot be predicted from a source of this server: choose a number, a yes or no, or options to predict."
)
READ_IN_BATCHES = (
    "The rows are read from the source once, in batches, as the steps and options you declared; how long that and the "
    "training take grows with their number."
)


def use(other: str) -> str:
    return f"Use {other}"


def cannot_release(why: str) -> str:
    return f"This model cannot be released: {why}."


def cuts_bought(columns: int, share: float) -> str:
    """What the cuts of so many columns are and take, before a release."""
    return (
        f"**Where {plural(columns, 'column')} {'is' if columns == 1 else 'are'} cut is bought** with "
        f"{hundredths(share)} in 100 of this answer's privacy, so that about as many people are in each step. The cuts "
        "are in the file with the weights and may be published with them."
    )


def pairs_bought(many: int, share: float) -> str:
    """What so many pairs are and take, before a release."""
    return (
        f"**Which {plural(many, 'pair')} of columns act together is bought** with {hundredths(share)} in 100 of this "
        "answer's privacy, by what a first, rougher model gets wrong, which nobody sees. The pairs are in the file "
        "with the weights and may be published with them."
    )


def way_chosen(ways: int, share: float, epsilon: float, left: float) -> str:
    """What choosing among so many ways costs, before a release: the model itself is built as at ε ``left``."""
    return (
        f"**Choosing among {ways} ways to build the model costs {hundredths(share)} in 100 of this answer's privacy**: "
        f"what is published is built as at ε = {number(left)} instead of {number(epsilon)}. All are always tried, "
        "so how long it takes tells nothing; nobody sees the trials. " + WORTH_CHOOSING
    )


def how_many_rows(people: int | None, releases: int) -> str:
    """``people`` as declared, or None where a noisy count is bought with one of the ``releases``."""
    if people is None:
        return (
            "**How many rows there are** sets how long its steps are. Nobody declared that, and the file's own number "
            f"stays private: a noisy count is bought with 1 part in {releases:,} of this answer's privacy."
        )
    return f"**How many rows there are** sets how long its steps are: about {people:,}, as was declared."


def how_many_in_each(people: int | None, share: float) -> str:
    """As ``how_many_rows``, for a model that counts with noise how many rows are in each step and option."""
    counted = (
        f"**How many rows are in each range and option** is counted with noise, with {hundredths(share)} in 100 of "
        "this answer's privacy: by that, rare ones learn as fast as common ones."
    )
    if people is None:
        return f"{counted} The same counts say about how many rows there are: nobody declared it."
    return f"{counted} About {people:,} rows in all were declared."


def forecast_right(found: tuple[float, float, float], guessing: float, level: float) -> str:
    """``level`` is the ε at which the chart's models have this release's noise."""
    value, low, high = found
    return (
        f"wrong about {number(100 * (1 - value))} times in 100 on people it has not seen, right about "
        f"{number(100 * value)}. Most such models (80 in 100) {between(low, high)}; always guessing the commonest "
        f"reaches {number(100 * guessing)}. {_same_noise(level)}"
    )


def forecast_error(found: tuple[float, float, float], guessing: float, level: float) -> str:
    value, low, high = found
    return (
        f"squared error about {number(value)} on people it has not seen. Most such models (80 in 100): {number(low)} "
        f"to {number(high)}; always guessing the average: {number(guessing)}. {_same_noise(level)}"
    )


def _same_noise(level: float) -> str:
    return (
        f"(Simulated with the noise of this very release, which is that of the chart at ε = {number(level)}: a release "
        "is counted so that it adds up with other answers. It is trained on all rows, the simulation on 80 in 100 of "
        "them.)"
    )


def forecast_unknown(noise: float, people: int | None) -> str:
    """``noise`` in people who ask for as much as one may; ``people`` as declared, if they were."""
    start = (
        "how good this model will be cannot be told without looking at the data. Each of its steps gets noise as large "
        f"as the pull of {number(noise)} people together"
    )
    if people is None:
        return f"{start}: with many times as many people in the file it learns well, with fewer it learns little."
    return f"{start}, of the {people:,} that were declared; the smaller that part, the better the model."


GIVES = "the model: a file of numbers with which anybody can predict for the next row"


def answer(answer: dict[str, Any]) -> str:
    predicts = answer["predicts"]
    what = named(str(predicts["column"]))
    if predicts.get("apart"):
        what = f"{what}: which of {len(predicts['categories'])} classes"
    elif predicts["kind"] == "category":
        what = f"{what}: {named(str(predicts['positive']))}, or not"
    return f"A model that predicts “{what}” from {plural(len(answer['columns']), 'column')}"


def predicts(what: str, chance: float) -> str:
    return f"It predicts **{named(what)}**, giving it {times_in_100(chance)}."


def estimates(value: float) -> str:
    return f"It predicts **{number(value)}**."


def too_many_classes(rows: int, classes: int, most: int) -> str:
    """After the word “target”."""
    return (
        f"has {classes:,} different values, too many to tell all of them apart in {rows:,} rows: untick “{APART}”, and "
        f"choose “{CLASS[0].lower()}{CLASS[1:]}”, or keep fewer than {most // classes + 1:,} rows"
    )


TOO_MANY_PAIRS = (
    "There is no picture of methods that find out which two columns act together: these columns make too many pairs "
    "for a table of this many rows. Choose fewer columns to see them."
)


def too_wide(rows: int, features: int, most: int) -> str:
    """After the word “columns”: more numbers than are made ready at once."""
    return (
        f"become {features:,} features of {rows:,} rows, more than the {most:,} numbers that are made ready at once; "
        "choose fewer columns or pairs, or fewer rows"
    )
