"""What the pictures of two neighbouring worlds say: one person more, one person changed, one day changed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from dashboard.charts.worlds import ProofWords, WorldWords
from dashboard.words import many, number, safe, times_in_100, tiny, told_apart, visible

TITLE = "Change one person"
DAY_TITLE = "Change one day"
ROW_TITLE = "Change one row"
WHO = "The person who comes chooses"
CHANGES = "The person changes their answer to"
SHIFTED = "The one person speaks most for"
RIGHT_BY = "The one person is right only by"
RULE_COMES = "With the person, every rule but that one errs once more."
RULE_CHANGES = (
    "The one person was wrong by that rule and right by all others; now it is the other way round. Nobody can change "
    "the numbers of mistakes by more."
)
BROKEN = "A broken version beside it"
BROKEN_NAMES = {
    "three_rows": "noise for one row, but the person has three",
    "both_ways": "noise for people who come or go, but one changes their answer",
}
ROW_COMES_FOR, ROW_CHANGES_FOR = "The row that comes is cheapest by", "The row changes and is now cheapest by"
ROW_PLACE = "The row that is changed"
ROW_COMES = "By every other column that row costs as much as a row can: no row moves the totals by more."
ROW_BROKEN_NAMES = {
    "three_rows": "noise for one row, but the person has three",
    "both_ways": "noise for rows that come or go, but one changes",
}
NO_LINE = "broken: no noise on the line"
VALUE = "The value of the one person"
LAW_AXIS = "times chosen in 100"
STOPS_AXIS = "first alarm here, times in 100"
RATIO_AXIS = "ln (without / with)"
DENSITY_AXIS = "likelihood"
WITHOUT, WITH = "without the person", "with the person"
KEPT, NOT_KEPT = "the method in use", "the broken version"
COUNTED = "The one person is counted"
COUNTED_NAMES = {
    "every": "every time",
    "once": "once, where the line is first reached",
    "against": "up to the line for it, from there on against it",
}
STEPS_TAKEN = "Steps that are seen, each with the same noise"
SUM_AXIS = "mean of the noisy sums, in clips"
PROOF = "**The proof, step by step.** Press play, or move the slider: four steps."
DAY, LOSSES_THEN = "The day that is changed", "On that day instead"
OTHERS = {"turned": "every loss is turned round", "best_loses": "the best expert loses all, the others nothing"}
RATES = {
    "private": "as fast as this ε allows",
    "textbook": "the textbook's rate",
    "free": "the rate without privacy, a broken version here",
}
RATE = "How fast it learns"


def short_rule(name: str) -> str:
    """A rule as it stands beside its bar."""
    return name.removeprefix("yes when ").replace(" is at least ", " ≥ ").replace(" is below ", " < ")


def no_worlds(method: str) -> str:
    return f"{safe(method)} has no law that can be drawn here; choose another method under Options."


def row_changes(row: int) -> str:
    return (
        f"The row that changes is row {row + 1:,}, by which that column was dearest beside the others; now every other "
        "column costs as much as it can."
    )


def row_broken(promised: float, broken: float) -> str:
    if broken > promised * (1.0 + 1e-9):
        return broken_found(promised, broken)
    return f"The broken version reaches {number(broken)} with this row; with other rows it is more than it promises."


def row_words(promised: float, comes: bool) -> WorldWords:
    return replace(
        words(promised),
        before="without the row" if comes else "as it was",
        after="with the row" if comes else "with the row changed",
        ratio_axis=RATIO_AXIS if comes else "ln (before / after)",
    )


def row_alt(names: Sequence[str], before: Sequence[float], after: Sequence[float], realised: float, told: str) -> str:
    """``told``: what was said of the broken version."""
    each = "; ".join(
        f"{told_apart(name)} {times_in_100(p)} before, {times_in_100(q)} after"
        for name, p, q in zip(names, before, after, strict=True)
    )
    return f"How often each column is chosen: {each}. Largest log-ratio {number(realised)}. {told.replace('*', '')}"


def printed_play(most: float, taken_for: float) -> str:
    """What a play gives away beside what the printed proof takes it for, on costs of twice the scale."""
    if most <= taken_for:
        return f"The printed proof takes a play for at most {number(taken_for)}; with this row no play passes that."
    return (
        f"The printed proof takes a play for at most {number(taken_for)}, as if costs lay in [0, 1]. Here one gives "
        f"away **{number(most)}**: that step of the proof breaks. What all plays cost together is said under How it "
        "works."
    )


def bound(promised: float) -> str:
    return f"ε = {number(promised)}"


def words(promised: float, law_axis: str = LAW_AXIS) -> WorldWords:
    return WorldWords(
        before=WITHOUT,
        after=WITH,
        ratios={"kept": KEPT, "broken": NOT_KEPT},
        law_axis=law_axis,
        ratio_axis=RATIO_AXIS,
        bound=bound(promised),
    )


def alarm_words(promised: float) -> WorldWords:
    return WorldWords(
        before=WITHOUT,
        after=WITH,
        ratios={"kept": KEPT, "broken": NO_LINE},
        law_axis=STOPS_AXIS,
        ratio_axis=RATIO_AXIS,
        bound=bound(promised),
    )


def look(promised: float, realised: float, broken: float | None) -> str:
    """What to look at, and whether it is so."""
    start = (
        f"**Look at the lower bars:** those of the method in use never leave ±ε = {number(promised)}, whatever is "
        f"chosen; here the largest is **{number(realised)}**."
    )
    return start if broken is None else f"{start} {broken_found(promised, broken)}"


def broken_found(promised: float, broken: float) -> str:
    if broken > promised * (1.0 + 1e-9):
        told = "without any limit" if math.isinf(broken) else f"**{number(broken)}**"
        return f"The broken version reaches {told}: more than it promises."
    return f"The broken version reaches {number(broken)} for this person; for others it is more than it promises."


def look_places(promised: float, realised: float, broken: float | None, step: str) -> str:
    start = (
        f"**Look at the lower lines:** wherever the alarm falls, that of the method in use stays within ±ε = "
        f"{number(promised)}; here the largest is **{number(realised)}**, however many {many(step)} are watched."
    )
    return start if broken is None else f"{start} {broken_found(promised, broken)}"


def options_alt(names: Sequence[str], before: Sequence[float], after: Sequence[float], realised: float) -> str:
    each = "; ".join(
        f"{told_apart(name)} {times_in_100(p)} without, {times_in_100(q)} with"
        for name, p, q in zip(names, before, after, strict=True)
    )
    return f"Chances without and with one person: {each}. Largest log-ratio {number(realised)}."


def places_alt(promised: float, realised: float, broken: float | None, place: str) -> str:
    end = "" if broken is None else f" Of the broken version: {'infinite' if math.isinf(broken) else number(broken)}."
    return (
        f"Law of the answer without and with one person. Largest log-ratio {number(realised)}, at {told_apart(place)}; "
        f"the promise is {number(promised)}.{end}"
    )


def quantile_look(promised: float, realised: float, value: float, unit: str) -> str:
    return (
        f"**Look at the lower line:** with one more person at {number(value)} {safe(unit)} it stays within "
        f"±ε = {number(promised)}; the largest is **{number(realised)}**, wherever that person stands."
    )


def never(step: str) -> str:
    return f"no {step}: never"


def proof_words(step: str, unit: str, line: float, answer: float, same: bool) -> ProofWords:
    end = "the alarm falls where it fell" if same else "the alarm falls elsewhere"
    return ProofWords(
        line="noisy line",
        answers="noisy answers",
        alarm="the alarm",
        axis=f"{visible(unit)} with noise",
        steps=(
            "1. Without the person",
            "2. With the person, the same noise",
            f"3. The line's noise moves by {number(line)}",
            f"4. At the alarm, the answer's by {number(answer)}: {end}",
        ),
    )


def proof_text(line: float, answer: float, costs: tuple[float, float], sensitivity: float, epsilon: float) -> str:
    return (
        "Every draw of the noise that stops at a place without the person has a partner that stops at the same place "
        f"with them: the line's noise moved by {number(abs(line))} (at most Δ = {number(sensitivity)}), the noise of "
        f"the one answer that rang by {number(abs(answer))} (at most {number(2 * sensitivity)}). That partner is "
        f"less likely by at most e^{number(costs[0])} × e^{number(costs[1])}, and "
        f"{number(costs[0])} + {number(costs[1])} ≤ ε = {number(epsilon)}. The silent answers cost nothing. "
        "Dwork and Roth, 2014, Theorem 3.23."
    )


def proof_alt(place: str, line: float, answer: float, same: bool) -> str:
    return (
        f"One run that stops at {told_apart(place)}: with the line's noise moved by {number(line)} and that answer's "
        f"by {number(answer)} the neighbouring run stops {'at the same place' if same else 'elsewhere'}."
    )


NO_ALARM = "In none of the draws tried did the alarm ring, so there is no step to show. Lower the line."


def day_words(promised: float, expert: str, unit: str) -> WorldWords:
    return WorldWords(
        before="as it was",
        after=f"with the {unit} changed",
        ratios={"kept": "largest |ln ratio| of the play"},
        law_axis=f"follows {expert}, in 100",
        ratio_axis="|ln ratio|",
        bound=f"2η = {number(promised)}",
    )


def day_look(unit: str, day: int, worst: float, promised: float) -> str:
    return (
        f"**Look at what one changed {unit} does:** up to {unit} {day} the plays are the same, after it no play gives "
        f"away more than 2η = {number(promised)}; the most is **{number(worst)}**."
    )


def day_alt(expert: str, worst: float, promised: float, total: float, rounds: int) -> str:
    return (
        f"Chance of following {told_apart(expert)} before and after the change; largest log-ratio of a play "
        f"{number(worst)} of at most {number(promised)}; their sum over {rounds:,} plays {number(total)}."
    )


def sum_look(total: float, rounds: int, promised: float, epsilon: float, kept: bool) -> str:
    most = rounds * promised
    start = (
        f"**Look at the sum:** over {rounds:,} plays it comes to **{number(total)}**, and could be "
        f"2ηT = {number(most)}."
    )
    if not kept:
        return f"{start} At this rate nothing was promised: the ε = {number(epsilon)} of the page is not kept by it."
    return (
        f"{start} Adding up is the cautious account. The promise (ε = {number(epsilon)}, with its δ) is smaller where "
        "T is large, because the gains and losses of single plays mostly cancel: that is advanced composition."
    )


def sum_note(unit: str) -> str:
    return f"sum over the {many(unit)} so far"


def sum_alt(total: float, most: float, epsilon: float) -> str:
    return f"Sum of the plays' log-ratios: {number(total)}, at most {number(most)}; ε is {number(epsilon)}."


SUM_LINES = {"sum": "sum here", "most": "2η a play", "epsilon": "ε promised, with δ"}


def first_rounds(rounds: int, of: int, unit: str) -> str:
    return f"Shown: the first {rounds:,} of {of:,} {many(unit)}."


def steps_taken(planned: int, steps: int) -> str:
    return f"{steps:,}, as planned" if steps == planned else f"{steps:,}"


def sum_words(promised: float) -> WorldWords:
    return replace(words(promised, DENSITY_AXIS), ratios={"kept": "clipped", "broken": "without clipping"})


def sums_told(steps: int, epsilon: float, promised: float, delta: float) -> str:
    """``delta`` of ``steps`` beside the one ``promised``."""
    found = "less than 10⁻³⁰⁰" if delta < 1e-300 else tiny(delta)
    start = f"for {'1 step' if steps == 1 else f'{steps:,} steps together'} δ at ε = {number(epsilon)} is {found}"
    if delta > promised * (1.0 + 1e-6):
        return f"{start}, more than the {tiny(promised)} promised: the noise was made for fewer steps."
    return f"{start}, of {tiny(promised)} promised for all of them."


def sums_look(told: str, leaves: bool) -> str:
    """``leaves``: whether the log-ratio passes ε in the picture."""
    if leaves:
        return f"**Look where the clipped line leaves the band,** and how little of the curves is there: {told}"
    return f"**Look how the clipped line stays in the band** wherever a sum is likely to land: {told}"


def sums_free(moved: float, delta: float) -> str:
    """``moved``: clips by which a person can move a sum that is not clipped."""
    return f"Without clipping a person can move each sum by {number(moved)} clips, and δ would be {tiny(delta)}."


def sums_alt(deviation: float, told: str, free: str) -> str:
    return f"Two bell curves 1 clip apart, each with standard deviation {number(deviation)} clips: {told} {free}"


def sums_note(clip: float, steps: int) -> str:
    told = "the sum tells all" if steps == 1 else f"the mean of the {steps:,} sums tells all"
    return (
        f"Exact, for a person who moves every sum as far as clipping lets them, C = {number(clip)}, always the same "
        f"way: along it {told}. Without clipping: the longest gradient that any row can have where the weights are up "
        "to the length this page measures excess risk for."
    )


def code_sums(epsilon: float, delta: float, planned: int, steps: int, ends: tuple[float, float]) -> str:
    low, high = (float(end) for end in ends)
    return (
        "import numpy as np\n"
        "from dpcore.training import NoisyGradientDescent, SumWorlds\n\n"
        f"method = NoisyGradientDescent(epsilon={epsilon!r}, delta={delta!r}, steps={planned})\n"
        f"worlds = SumWorlds(noise_multiplier=method.noise_multiplier, steps={steps})\n"
        f"print(worlds.delta({epsilon!r}))\n"
        f"print(*worlds.at(np.array([{low!r}, {high!r}]), {epsilon!r}).log_ratio.tolist())\n"
    )


def code_options(method: str, epsilon: float, sensitivity: float, monotonic: bool, before: str, after: str) -> str:
    return (
        "from dpcore.selection import catalog, choice_worlds\n\n"
        f"mechanism = catalog()[{method!r}](epsilon={epsilon!r}, sensitivity={sensitivity!r}, "
        f"monotonic={monotonic!r})\n"
        f"without = [{before}]\nwith_one = [{after}]\n"
        "worlds = choice_worlds(mechanism, without, with_one)\n"
        "print(worlds.log_ratio, worlds.realised, worlds.promised)\n"
    )


def code_alarm(settings: str, before: str, after: str, threshold: float) -> str:
    return (
        "import numpy as np\n"
        "from dpcore.thresholding import AboveThreshold, alarm_worlds\n\n"
        f"mechanism = AboveThreshold({settings})\n"
        f"without = [{before}]\nwith_one = [{after}]\n"
        f"worlds = alarm_worlds(mechanism, without, with_one, {threshold!r})\n"
        "met = np.maximum(worlds.before, worlds.after) > 1e-9  # places that anybody meets\n"
        "print(np.abs(worlds.log_ratio[met]).max(), worlds.promised)\n"
    )


def code_day(made: str, rounds: int, day: int, other: str, rate: float) -> str:
    """``made`` are the lines that make ``losses``."""
    return (
        "from dpcore.experts import changed_day\n"
        f"{made}"
        f"found = changed_day(losses[:{rounds}], {day}, [{other}], {rate!r})\n"
        "print(found.worst.max(), found.promised, found.total[-1])\n"
    )


def code_proof(settings: str, without: str, other: str, line: float, moved: float, noise: str) -> str:
    return (
        "from dpcore.thresholding import AboveThreshold, proof_step\n\n"
        f"mechanism = AboveThreshold({settings})\n"
        f"without, other = [{without}], [{other}]\n"
        f"noise = [{noise}]\n"
        "step = proof_step(\n"
        f"    mechanism, without, other, {line!r}, threshold_noise={moved!r}, answer_noise=noise\n"
        ")\n"
        "print(step.threshold_shift, step.answer_shift, step.threshold_cost, step.answer_cost, step.same)\n"
    )


def code_quantile(values: str, value: float, quantile: str) -> str:
    return (
        "from dpcore.selection import quantile_worlds\n"
        "from dpcore.selection.quantile import Quantile\n\n"
        f"values = [{values}]\n"
        f"worlds = quantile_worlds(Quantile({quantile}), values, [*values, {value!r}])\n"
        "print(worlds.realised, worlds.promised)\n"
    )
