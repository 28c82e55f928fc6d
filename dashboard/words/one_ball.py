"""What the question about one number, or a line, chosen from a ball says."""

from __future__ import annotations

import math
from collections.abc import Mapping

from dashboard.charts.ball_plane import PlaneWords
from dashboard.words import no_less, number, safe, times_in_100, visible, whole
from dashboard.words.usual import MEASURE, verdict

TITLE = "One number, one ball"
WHICH, COLUMN, AGAINST = "What is learnt", "The column", "From which column"
STATISTICS: Mapping[str, str] = {"line": "line", "median": "median", "mean": "mean"}
TO, FITS = "Which", "fits"
NO_COLUMN = (
    "This small world needs one row per person and a column of numbers with declared bounds. Pick another sample, or "
    "declare them on the Data page."
)
FEW = "Fewer than 2 rows have these values; choose another column."
NO_SECOND = "A line needs a second column of numbers; a mean or a median does not."
MOVE, LOSS = "Move one person", "Loss and ball"
MOVE_NOTES = ("Or drag any point of the picture. What it was stays as a ghost.",)
LOSS_NOTES = (
    "Steepness scales the loss and Δ with it, so the choice stays as it is. A limit makes Δ smaller, and the loss no "
    "longer convex. The regulariser pulls to 0, and moves no Δ. A larger ball has more room for bad choices.",
)
WHO = "Which of them"
PEOPLE = "People in the picture"
RADIUS = "Radius of the ball R"
METRIC = MEASURE
METRICS: Mapping[str, str] = {"likely": "seldom more than", "mean": "on average"}
NEED: Mapping[str, str] = {
    "likely": "I accept a loss above the best seldom above",
    "mean": "I accept a mean loss above the best of",
}
NEED_HELP = "Type how much worse than the best loss it may be; the least ε and the fewest people follow."
NAMES: Mapping[str, str] = {"ball": "Exponential mechanism", "theory": "r + t, what the theorem promises"}
BALL_AXIS = "The ball"
GOOD, BAD = "GOOD", "BAD"
HOW, TWO, MANY = "How it works", "Two worlds", "Many numbers at once"
FORMULA = (
    r"\begin{aligned}&\Pr[w] \propto e^{-\varepsilon n L(w)/(2\Delta)}, \quad \|w\| \le R \\ "
    r"&\Pr\bigl[L(w) > L(w^*) + r + t\bigr] \le \beta \\ "
    r"&r = \tfrac{\Delta d}{\varepsilon' n}, \quad "
    r"t = \tfrac{\Delta}{\varepsilon' n}\bigl(d \ln \tfrac{\varepsilon' n}{d} + \ln \tfrac1\beta\bigr)\end{aligned}"
)
SOURCE = (
    "McSherry and Talwar, FOCS 2007; Bassily, Smith and Thakurta, FOCS 2014, with constants. ε′ is ε/2, or ε where a "
    "person is added or removed; then the exponent has no 2. Exact on a grid of w that no data decides."
)
NO_RELEASE = (
    "This is a world for a picture; nothing is released from it. A private median is released under “Median or "
    "quantile”, a private line or other model on the page “Private training”."
)
USE_QUANTILE = "Ask for a private median"
AXIS = "Against"
AXES: Mapping[str, str] = {"d": "numbers at once d", "epsilon": "privacy level ε", "n": "people n"}
AT_ONCE = "Numbers chosen at once d"
PURE, APPROXIMATE = "pure ε", "(ε, δ)"
FLAT = 0.3
"""Excess loss, of 1 at most, from which curves are no longer straight on logarithmic axes."""
EXCESS_AXIS = "excess loss on the worst data"
PEOPLE_AXIS = "number of people n"
EXACT, EXCESS = "exact, on these points", "excess loss that is seldom passed"
PLAIN_LOSS = "The theorem is drawn for the plain loss; take the limit and the regulariser away to see it."
WITHOUT, WITH, KEPT, LEAKY = "as it was", "with the person moved", "the method in use", "Δ taken for half of what it is"
RATIO = "ln (as it was / moved)"


def among(people: int, total: int) -> str:
    return (
        f"best, among {whole(people)} of {whole(total)} people?" if people < total else f"best, among {whole(total)}?"
    )


def headline(name: str, epsilon: float, metric: str, beta: float, found: float, goal: float, promised: float) -> str:
    start = f"At ε = {number(epsilon)} the private {name} loses"
    told = verdict(found, goal, number(goal), higher=False)
    if metric != "likely":
        return f"{start} **{number(found)}** more than the best on average: {told}."
    return (
        f"{start} at most **{no_less(found)}** more than the best, {times_in_100(1.0 - beta)} (the theorem: "
        f"{number(promised)}): {told}."
    )


def caption(moved: float, most: float, unit: str) -> str:
    who = safe(unit, 40)
    return (
        f"**Look at the ghost:** moving this one {who} moves the loss L by {number(moved)} at most, and no {who} "
        f"anywhere can move it by more than Δ/n = {number(most)}; that is why the choice may not follow any one {who}."
    )


def plane_words(x: str, y: str) -> PlaneWords:
    return PlaneWords(
        people="people",
        moved="the one who moved",
        was="where they were",
        best="best line",
        best_was="best line as it was",
        drawn="private lines",
        density="likelier",
        bad="BAD",
        bound="least loss + r + t",
        ball="the ball",
        x=x,
        y=y,
        height="w₁: height of the line",
        slope="w₂: its slope",
    )


def plane_note(near: float, tail: float, chance: float, beta: float) -> str:
    """What GOOD and BAD are, and that BAD is as rare as it must be."""
    start = "Below, each place of the ball is a line; thin lines are contours of the loss, the star has the least."
    if math.isinf(near):
        return (
            f"{start} No bound is proved here: that needs a convex loss without a limit, and n·ε of at least 4 (2 "
            "where people come or go)."
        )
    return (
        f"{start} GOOD is a loss within r + t = {number(near)} + {number(tail)} of the least; BAD, the shaded rest, is "
        f"chosen **{times_in_100(chance)}**, and the theorem promises at most {times_in_100(beta)}."
    )


def person(lipschitz: float, sensitivity: float) -> str:
    """What the settings of the loss come to."""
    return (
        f" One person's loss is at most G = {no_less(lipschitz)} steep here (the Lipschitz constant) and moves by at "
        f"most Δ = {number(sensitivity)}."
    )


def plane_alt(where: str, best: tuple[float, float], was: tuple[float, float], chance: float, mean: float) -> str:
    w, v = (f"({number(one[0])}, {number(one[1])})" for one in (best, was))
    return (
        f"Points with one moved to {where}, and the ball of lines: least loss at w = {w}, before at {v}. The private "
        f"line loses {number(mean)} more on average; BAD is chosen {times_in_100(chance)}."
    )


def moved_to(x: float, y: float | None) -> str:
    return number(x) if y is None else f"({number(x)}, {number(y)})"


def axis_title(name: str, unit: str) -> str:
    return f"{visible(name, 40)} ({visible(unit)})" if unit else visible(name, 40)


def to(column: str) -> str:
    return f"Moved to this {visible(column, 40)}"


def how(name: str, people: int, lipschitz: float, sensitivity: float, radius: float) -> str:
    return (
        f"Values are brought to [−1, 1] by their declared bounds. Each w of the ball ‖w‖ ≤ {number(radius)} stands for "
        f"one {name}, and has a loss L(w), the mean over {whole(people)} people. One of them is drawn, the likelier "
        f"the smaller its loss. One person's loss is at most {no_less(lipschitz)} steep over the ball (the Lipschitz "
        f"constant G), and moves by at most **Δ = {no_less(sensitivity)}**: that alone decides the noise."
    )


def two_worlds(epsilon: float, realised: float, leaky: float) -> str:
    kept = (
        f"**Look at the limits ±ε = {number(epsilon)}:** with the person moved no place of the ball is chosen more "
        f"than e^ε times as often or as seldom; the log-ratio reaches **{number(realised)}**."
    )
    if leaky > epsilon:
        return f"{kept} A version that takes Δ for half of what it is reaches {number(leaky)}: more than it promises."
    return (
        f"{kept} A version that takes Δ for half of what it is reaches {number(leaky)} here; for worse points it is "
        "more than it promises."
    )


def two_alt(epsilon: float, realised: float, leaky: float) -> str:
    return (
        f"Log-ratio of the two worlds over the ball, between ±ε = {number(epsilon)}: {number(realised)} at most; "
        f"{number(leaky)} where Δ is taken for half of what it is."
    )


def many(axis: str, told: tuple[float, float], grown: tuple[float, float], place: str) -> str:
    """``told``: pure and approximate at the chosen place; ``grown``: by which factor each changes when the axis
    doubles there."""
    what = {"d": "twice as many numbers", "epsilon": "twice the ε", "n": "twice as many people"}[axis]
    law = {"d": "d against √d", "epsilon": "1/ε for both", "n": "1/n for both"}[axis]
    flat = " Near 1, the most there is, both flatten." if told[0] > FLAT else ""
    return (
        f"**Look at the two slopes** ({law}): at {place} pure ε loses {number(told[0])} and (ε, δ) "
        f"**{number(told[1])}**. With {what} these are multiplied by {number(grown[0])} and {number(grown[1])}.{flat}"
    )


def many_alt(told: tuple[float, float], place: str) -> str:
    return (
        f"Excess loss of pure ε and of (ε, δ) on logarithmic axes. At {place}: pure {number(told[0])}, (ε, δ) "
        f"{number(told[1])}."
    )


def many_note(delta: float) -> str:
    return (
        "Exact, in the worst world there is: losses −⟨w, x⟩ over the unit ball, everybody at the same x (pure ε), or "
        f"agreeing as badly as can be (δ = {delta:g})."
    )


def place(axis: str, value: float) -> str:
    return {"d": f"d = {whole(value)}", "epsilon": f"ε = {number(value)}", "n": f"n = {whole(value)}"}[axis]


def code(points: str, settings: str, who: int, to: str) -> str:
    return (
        "from dpcore.training import BallWorld\n\n"
        f"before = BallWorld(points={points}, {settings})\n"
        f"world = before.moved({who}, {to})\n"
        "print(world.expected_excess, world.bad_chance, before.effect(world).max(), world.sensitivity / world.n)\n"
        "print(before.two_worlds(world).realised, world.near, world.tail)\n"
    )


def code_curve(points: str, settings: str) -> str:
    return (
        "import numpy as np\n"
        "from dpcore.tradeoff import sweep_epsilon, sweep_size\n"
        "from dpcore.training import BallProblem, BallWorld\n\n"
        f"world = BallWorld(points={points}, {settings})\n"
        "problem = BallProblem(world=world)\n"
        "print(sweep_epsilon(problem, np.geomspace(0.01, 10, 61)).to_string())\n"
        "print(sweep_size(problem, np.geomspace(10, 1e4, 61), epsilon=world.epsilon).to_string())\n"
    )


def code_many(d: str, n: str, epsilon: str, delta: float, relation: str) -> str:
    return (
        "import numpy as np\n"
        "from dpcore.training import approximate_excess, pure_excess\n\n"
        f"d, n, epsilon = {d}, {n}, {epsilon}\n"
        f"print(pure_excess(d, n, epsilon, {relation!r}))\n"
        f"print(approximate_excess(d, n, epsilon, {delta!r}, {relation!r}))\n"
    )
