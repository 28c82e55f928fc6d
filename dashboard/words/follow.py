"""What the question "whom should we follow?" says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from dashboard.words import many, named, no_less, number, plural, safe, times_in_100, tiny, told_apart, visible
from dashboard.words.most_common import cannot_release, method_in_use, no_release, use
from dashboard.words.release import may_show, such_as
from dashboard.words.usual import AGAINST, CHANCE, NOISE, TWO_REASONS, of_100, redrawn, verdict
from dpcore.experts import Scenario
from dpcore.written import exact

if TYPE_CHECKING:
    from dashboard.controls import Group

__all__ = ["cannot_release", "method_in_use", "no_release", "use"]

TITLE = "Whom to follow"
THESE, GROUP_ICON = "these experts", ":material/groups:"
WHAT = "What to follow"
COLUMNS_OF_DATA = "the columns of these data"
HOLD = "What the columns hold"
KINDS = {
    "losses": "what each expert lost",
    "squared": "forecasts, judged by the squared miss",
    "absolute": "forecasts, judged by the miss",
    "zero_one": "forecasts, right or wrong",
    "prices": "prices to hold from one row to the next",
}
HAPPENED = "What then happened"
NOT_CHOSEN = "choose a column"
SAY_OUTCOME = "Say which column holds what then happened: forecasts are judged by it."
EXPERTS, DAYS = "Experts", "Days"
GAP = "How much better the good one is"
GAP_HELP = "Experts are wrong on every second day; a good one is wrong less often by this share of the days."
WRONG = "1 point on a day on which the expert was wrong, 0 otherwise"

ASSUME = "What are you ready to assume?"
ASSUME_HELP = (
    "Privacy holds in any case. The more you may assume about the days, the less a private strategy needs to lose. "
    "Weather does not react to whom you follow; an opponent who watches you does."
)
ASSUMED = {
    "any": "nothing",
    "oblivious": "days do not react to our choice",
    "independent": "days are alike and independent",
}
GOOD_WHEN = {"any": "always", "oblivious": "days do not react to us", "independent": "days are alike"}
DELTA = "δ, a tiny slack in the promise"
DELTA_HELP = "Many private plays together are hidden up to ε and this slack. Strategies that need none leave it out."
METRICS = {"regret_per_round": "Lost more than the best", "total_loss": "Lost in all"}
METRICS_ONCE = {"Lost more than the best": "regret_per_round", "Total loss": "total_loss"}
STRATEGY = "Strategy used for the answer"
DRAWN = "Drawn beside it"
NEXT = (
    "What to do with it: follow the name at the end of the list next time. How often that is not the best one stands "
    "above. A list with one {} more is another answer, and is charged again."
)
BAND_CONTROL = "Show how much runs differ"
BAND = "Shaded: where 80 in 100 runs of this strategy on these very losses end."
WHOM = "Whom it follows"
WHOM_NOTE = "Each band is how often one expert is followed. With a small ε the bands stay equal for longer."
ONE_RUN, WHAT_IF, COMPARE = "One run of it", "What if", "Compare strategies"
PUBLISH = "What to publish"
PUBLISHED = {"plays": "whom to follow, round by round", "from_now_on": "one expert to follow from now on"}
PUBLISH_HELP = (
    "Round by round: what a private rule does on these data, to follow as it goes on or to set beside what you did. "
    "From now on: a single name, found from all rounds together."
)
SIMULATED = "These experts are simulated, so there is no day to protect. Choose the columns of a table for a release."
CLAIM = "this is whom a private rule would follow"
CONCLUDE = may_show(CLAIM, "this expert is certainly the best one, or what happened on any one day")


def followed_names(stories: Mapping[str, str]) -> dict[str, str]:
    return {"table": COLUMNS_OF_DATA} | {key: f"simulated: {label.lower()}" for key, label in stories.items()}


def expert(place: int) -> str:
    return f"Expert {place}"


def meaning(kind: str, low: float, high: float, move: float) -> str:
    """What a loss of 0 and one of 1 is."""
    if kind == "prices":
        return f"0 is a change of {move:+.3g}, 1 a change of {-move:+.3g}"
    if kind == "zero_one":
        return "1 where the forecast was wrong"
    if kind == "losses":
        return f"0 is a loss of {exact(low)}, 1 a loss of {exact(high)}"
    between = "the square of the miss" if kind == "squared" else "the miss"
    return f"0 where the forecast was just right, 1 where it was wrong by {high - low:g}, {between} in between"


def scale(low: float, high: float) -> str:
    return f"A loss of 0 points is best and 1 worst, by the declared bounds {exact(low)} to {exact(high)}."


def price_scale(move: float) -> str:
    return f"A loss of 0 points is a gain of {move:.0%} between two rows, 1 a fall by as much; more counts as that."


def not_in_time(unit: str) -> str:
    return (
        f"The data in use hold one {safe(unit)} a row, not a step in time, so a simulated story is shown. Pick “Eight "
        "forecasters of rain” as the data for a table to follow."
    )


def too_many_numbers(rows: int, columns: int, most: int) -> str:
    return (
        f"Choose at most {max(2, most // rows):,} of these {columns:,} columns: with {rows:,} rows, more would be too "
        "much for the charts here."
    )


def cannot_follow(why: str) -> str:
    return f"These experts cannot be followed yet: {why}."


def sentence(group: Group, unit: str) -> tuple[str | Group, ...]:
    return ("Which of", group, f"should we follow, without revealing any single {safe(unit)}?")


def point(meaning: str, unit: str) -> str:
    """What a point is."""
    return f"A {safe(unit)} costs each 0 points at best and 1 at worst: {safe(meaning, 200)}."


def regret_title(units: str) -> str:
    return f"points lost more than the best, per 100 {units}"


def regret_unit(units: str) -> str:
    return f" points per 100 {units}"


TOTAL_TITLE, TOTAL_UNIT = "points lost in all", " points"


def need_regret(units: str) -> str:
    return f"I accept losing more than the best: points per 100 {units}"


NEED_TOTAL = "I accept losing in all: points"
NEED_HELP = "Type what you accept; the smallest ε and the smallest number of rounds that keep to it follow."


def size_title(units: str) -> str:
    return f"number of {units} T"


EVALUATING = "Evaluating strategies"
WAITING = "So many losses are evaluated beside the page; it goes on meanwhile."
STOPPED = "Stopped before all strategies were evaluated; go on above."
FORECAST_WAITING = "it is being evaluated; the forecast stands here when that is done."


def headline_waiting(epsilon: float, experts: int, rounds: int, units: str) -> str:
    return f"At ε = {number(epsilon)}: {experts:,} experts over {rounds:,} {units} are being evaluated."


def headline_regret(epsilon: float, lost: float, accepted: float, at_random: float, units: str) -> str:
    """``lost``, ``accepted`` and ``at_random`` in points per 100 rounds more than the best expert."""
    found = verdict(lost, accepted, number(accepted), higher=False)
    less = "no less" if lost >= at_random else "hardly less"
    luck = f", and {less} than picking at random ({number(at_random)})" if lost > 0.9 * at_random else ""
    return (
        f"At ε = {number(epsilon)} following privately loses **{number(lost)}** points more per 100 {units} than the "
        f"best expert, on average: {found}{luck}."
    )


def headline_total(epsilon: float, lost: float, accepted: float, rounds: int, unit: str) -> str:
    found = verdict(lost, accepted, number(accepted), higher=False)
    return (
        f"At ε = {number(epsilon)} following privately loses **{number(lost)}** points in all over "
        f"{plural(rounds, unit, many(unit))}, on average: {found}."
    )


RUNS = "runs"
MOST_FOUND = "calculated from how much runs differ, the upper edge of the shaded range"


def lose_more(share: float, accepted: float, *, within: bool) -> str:
    """Said after a headline, in its points; ``within`` says whether the average is."""
    start = "Yet" if within and share > 0.1 else "Of 100 runs"
    many_runs = f"{of_100(share)} of 100 runs" if start == "Yet" else of_100(share)
    return f" {start} {many_runs} would lose more than {number(accepted)}."


def caption(
    *, experts: int, rounds: int, unit: str, best: str, own: float, at_random: float, learnt: float, point: str
) -> str:
    """``own``: what the best expert itself loses; ``at_random`` and ``learnt`` more than that, all per 100 rounds."""
    units = many(unit)
    return (
        f"{experts} experts over {plural(rounds, unit, units)}. {point} Per 100 {units} the best one, {named(best)}, "
        f"loses {number(own)} itself; picking one at random each {safe(unit)} loses {number(at_random)} more than "
        f"that, learning without privacy {number(learnt)} more than that (all exact for these {units}). What is lost "
        "more than the best is called regret."
    )


def caption_simulated_strategy(name: str) -> str:
    return f"{name} itself is simulated, with a small error."


def theory(promised: float, lost: float, vacuous: bool, unit: str) -> str:
    units = many(unit)
    if vacuous:
        return (
            "The privacy is proved. How much is lost is calculated for these data: at this ε no theorem of the "
            "textbook (Dwork and Roth, 2014) promises it."
        )
    loose = f", {number(promised / lost)} times what is really lost" if lost > 0 else ""
    return (
        f"The textbook (Dwork and Roth, 2014) guarantees at most {no_less(promised)} points more per 100 {units}"
        f"{loose}."
    )


def longer(simulated: bool, rounds: int, units: str) -> str:
    if simulated:
        return f"Against the number of {units}: longer runs go on with the same simulated story."
    return f"Against the number of {units}: longer runs repeat the {rounds:,} {units} of the table from the first on."


def left_out(name: str, experts: int, longest: int, rounds: int, units: str) -> str:
    return (
        f"{name} is left out: it is simulated, and with {experts:,} experts only up to {longest:,} {units}; these are "
        f"{rounds:,}."
    )


def hint(name: str, lost: float, assumption: str | None, units: str) -> str:
    """Another strategy would do; ``assumption`` is what it needs that is not assumed yet."""
    start = "If you may assume that days are alike and independent" if assumption else "At this ε"
    return f"{start}, {name[:1].lower()}{name[1:]} keeps to it: {number(lost)} points per 100 {units}."


def whom_alt(top: str) -> str:
    return f"Whom the strategy follows over time; at the end most often {told_apart(top)}."


def last_plays(unit: str) -> str:
    return f"plays on the last {safe(unit)} (blue: the best expert)"


def uncertain(noise: float, without: float, people: float, rounds: int, unit: str, draws: int, price: str) -> str:
    """Two uncertainties, apart; ``noise`` comes on top of what a learner ``without`` privacy misses. ``price`` is what
    privacy costs, in points per 100 rounds."""
    who, units = safe(unit), safe(many(unit))
    return (
        f"{TWO_REASONS} {NOISE} it costs {price} points per 100 {units}. On the last {who} "
        f"{of_100(noise + without)} of 100 runs follow another, {of_100(noise)} of them because of it, "
        f"{of_100(without)} since they still learn. {CHANCE} had "
        f"{rounds:,} other {units} like these come, another would "
        f"be the best in {of_100(people)} of 100 cases ({redrawn(people, draws)}). {AGAINST}"
    )


def hidden(unit: str) -> str:
    who = safe(unit)
    return (
        f"What happened on any one {who}. Whoever sees the answer, whatever else they know, cannot tell for sure "
        f"what that {who} held, for any expert."
    )


def not_hidden(units: str) -> str:
    return (
        f"that the run took place, the experts' names, how many {units} there were, and what is true of most {units}; "
        f"**nor somebody who is in several {units}**"
    )


def run_alt(end: float, average: float) -> str:
    return (
        f"One simulated run: it ends having lost {number(end)} points more than the best expert, {number(average)} on "
        "average over runs."
    )


def run_note(seed: int, end: float, average: float, last: str, chance: float, unit: str) -> str:
    luck = "about as" if abs(end - average) <= 0.1 * abs(average) else "more than" if end > average else "less than"
    return (
        "Blue marks: who is followed. Orange: how many points this run has lost more than the best expert so far. "
        f"Grey: the average of all runs. This is **one run of many** (seed {seed}): it ends {number(end)} points "
        f"behind, {luck} the average of {number(average)}. On its last {safe(unit)} it follows {named(last)}, which "
        f"happens {times_in_100(chance)}; the card above counts all runs. Another seed is another run."
    )


def too_long(longest: int, rounds: int, units: str) -> str:
    return f"A single run can be drawn for up to {longest:,} {units}; these are {rounds:,}."


def what_if(simulated: bool) -> str:
    if simulated:
        return (
            "Change the number of experts, how much better the good one is, or the number of days in “these experts” "
            "above; the chart answers at once. Keep the cases to compare them."
        )
    return (
        "Change which columns are followed, or how they are judged, in “these experts” above; the chart answers at "
        "once. Keep the cases to compare them."
    )


def comparison(epsilon: float, delta: float, units: str) -> str:
    return (
        f"Every strategy at ε = {number(epsilon)} (with δ = {tiny(delta)} where it needs one): what each loses on "
        f"average, per 100 {units}, more than the best expert, and what must be true of the {units} for that to be "
        f"little. **Privacy holds for every sequence of {units}**; only how little is lost needs assumptions: a "
        "strategy that follows the leader can be fooled by outcomes that turn against whoever leads."
    )


def compared_columns(units: str) -> tuple[str, ...]:
    return ("strategy", f"points lost more, per 100 {units}", "loses little when", "can be released", "what it does")


BEST_ROW, RANDOM_ROW = "the best expert, known only afterwards", "one picked at random each time"
RELEASED = {True: "yes", False: "no"}
NOT_PRIVATE = "not private"
COMPARED_ALT = "Strategies, what each loses here, and what must hold for that to be little"


def overshoot(epsilon: float) -> str:
    return (
        f"The theorem's dotted line rises again beyond ε = {number(epsilon)}: from there on the rate it prescribes is "
        "faster than the best one, and its bound grows."
    )


def rounds_private(unit: str) -> str:
    return (
        f"How many rows there are is private where one {visible(unit)} can have several, and these answers need a "
        "public number of rounds. They can be released where each row is a step in time."
    )


ROUNDS_RIGHT = "I checked this: it is right"


def rounds_uncounted(rounds: int) -> str:
    return (
        f"These answers say how many rounds there are: {rounds:,}, down to the last row of the file that holds "
        "anything. With its cells empty one person's row could be none, so please check it; answers say that you did."
    )


def rounds_hidden(unit: str) -> str:
    row = visible(unit)
    return (
        f"The budget of these people hides that any one {row} is in the file at all, and so how many rows there are. "
        "These answers need a public number of rounds: "
        f"a budget that hides one {row} in place of another can pay for them."
    )


def rounds_unsettled(unit: str) -> str:
    return (
        "How many rows there are stays private until there is a budget for them, and these answers need a public "
        f"number of rounds. Open one that hides one {visible(unit)} in place of another, on the Budget page."
    )


def forecast(lost: float, rounds: int, unit: str, drawn: float, touched: int) -> str:
    """For plays round by round: ``lost`` in points in all, more than the best expert, exactly.

    ``drawn`` is what the chart above says; the release hides ``touched`` rounds together, the chart one.
    """
    units = many(unit)
    per = f"{number(100 * lost / rounds)} points per 100 {units}"
    told = (
        f"on average {per} more than the best expert, {number(lost)} in all (calculated for this very release, not "
        "simulated)."
    )
    chart = number(100 * drawn / rounds)
    if number(100 * lost / rounds) == chart:
        return told
    if touched > 1:
        return f"{told} The chart's {chart} hides one round; one row here touches {touched:,}, and all are hidden."
    return (
        f"{told} The chart's {chart} is for one run counted alone; a budget that adds up many answers counts each a "
        "little more cautiously."
    )


def forecast_bound(lost: float, rounds: int, unit: str) -> str:
    """The same from declared numbers alone."""
    units = many(unit)
    if lost >= rounds:
        return f"nothing is sure beforehand: at this ε it may lose on every {safe(unit)}."
    return (
        f"on average at most {no_less(100 * lost / rounds)} points per 100 {units} more than the best expert, "
        f"{no_less(lost)} in all, as losses count, whatever the {units} hold (a theorem, from declared numbers alone; "
        "the truth is better)."
    )


def forecast_naming(right: float, lost: float, unit: str) -> str:
    return (
        f"it names the best expert {times_in_100(right)}; on average the named one has lost {number(lost)} points more "
        f"over all {many(unit)} (calculated for this very release, not simulated)."
    )


def forecast_naming_bound(lost: float, likely: float, rounds: int, unit: str) -> str:
    return (
        f"over the {plural(rounds, unit, many(unit))} the named expert has lost at most {no_less(lost)} points more "
        f"than the best one, as losses count, {number(100 * (1 - likely))} times in 100 (from declared numbers alone)."
    )


FORECAST_UNKNOWN = (
    "no number is sure from declared facts alone: this strategy loses little where days are alike and independent, and "
    "nothing is promised elsewhere."
)


def gives(publish: str, rounds: int, unit: str, names: Sequence[str]) -> str:
    """What an answer is; ``names`` are all that it may name."""
    if publish == "from_now_on":
        return f"one name: whom to follow from now on{such_as(names[0])}"
    days = plural(rounds, unit, many(unit))
    return f"a list of whom to follow on each of these {days}; the name at its end is the one to follow next"


def answer(answer: dict[str, Any]) -> str:
    names = answer["experts"]
    plays: Sequence[str] = [named(names[play]) for play in answer["plays"]]
    if len(plays) == 1:
        return f"Follow {plays[0]} from now on."
    return f"Next, follow {plays[-1]}: the last of {len(plays):,} plays over {answer['rounds']:,} rounds."


PLAYS_FILE = "Plays (CSV)"
FROM_ROUND, FOLLOW = "from round", "follow"
PLAYS_ALT = "From which round on to follow whom"


def code_story(scenario: Scenario, rounds: int, delta: float, assumption: str) -> str:
    return (
        "import numpy as np\n"
        "from dpcore.experts import ExpertsProblem, Scenario\n"
        "from dpcore.tradeoff import sweep_epsilon\n\n"
        f"scenario = Scenario(story={scenario.story!r}, experts={scenario.experts}, gap={scenario.gap!r}, "
        f"period={scenario.period}, seed={scenario.seed})\n"
        f"problem = ExpertsProblem.simulated(scenario, {rounds}, delta={delta!r}, assumption={assumption!r})\n"
        "print(sweep_epsilon(problem, np.geomspace(0.01, 10, 61), metrics=['regret_per_round']).to_string())\n"
    )
