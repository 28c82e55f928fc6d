"""What the picture of one number chosen from a ball says."""

from __future__ import annotations

import math

from dashboard.charts.ball import BallWords
from dashboard.words import number, times_in_100, whole

TITLE = "One number, one ball"
STATISTIC = "The number"
STATISTICS = {"median": "a median, loss |w − y|", "mean": "a mean, loss ½(w − y)²"}
POINT = "One person's value, from −1 to 1"
STEEP = "Steepness of the loss (Lipschitz constant)"
CAP = "Loss of one at most (0: no limit)"
RIDGE = "Regulariser"
ABOUT = (
    "Values are brought to [−1, 1] by their declared bounds. A number w of the ball [−1, 1] is chosen with a chance "
    "that falls exponentially with its loss L(w), the mean over all people: the exponential mechanism."
)
PICTURE = BallWords(
    loss="loss with that person moved",
    ghost="loss as it was",
    bound="least loss + r + t",
    density="density",
    good="GOOD",
    bad="BAD",
    x="w",
    loss_axis="loss L(w)",
    density_axis="density",
)
D_AXIS, EXCESS_AXIS = "numbers in w, d", "excess loss"
PURE, APPROXIMATE = "pure ε: grows like d", "(ε, δ): grows like √d"


def look(moved: float, most: float) -> str:
    return (
        f"**Look at the two curves of the loss:** moving one person anywhere moves it by **{number(moved)}** at most, "
        f"and never by more than Δ/n = {number(most)}; so nobody can move the density by more than e^ε either way."
    )


def bad(chance: float, beta: float, near: float, tail: float) -> str:
    if math.isinf(near):
        return (
            "No bound is proved here: that needs a convex loss without a limit and n·ε of at least 2 (1 where people "
            "come or go)."
        )
    return (
        f"GOOD is a loss within r + t = {number(near)} + {number(tail)} of the least; BAD, the rest, is chosen "
        f"**{times_in_100(chance)}**, and the theorem promises at most {times_in_100(beta)}."
    )


def alt(expected: float, chance: float, moved: float, most: float) -> str:
    return (
        f"Loss over the ball before and after one person moved, by {number(moved)} at most of the Δ/n = {number(most)} "
        f"allowed, and the density of the choice: expected excess {number(expected)}, BAD {times_in_100(chance)}."
    )


def dimensions(n: int, epsilon: float, delta: float, pure: float, approximate: float, d: int) -> str:
    return (
        f"**Look at the slopes:** with more numbers to choose at once, here d of them from {whole(n)} people at "
        f"ε = {number(epsilon)}, pure ε loses like d and (ε, δ = {delta:g}) like √d. At d = {d}: {number(pure)} "
        f"against **{number(approximate)}** on the worst data, exactly."
    )


def dimensions_alt(pure: float, approximate: float, d: int) -> str:
    return (
        f"Excess loss against d, both axes logarithmic. At d = {d}: pure {number(pure)}, (ε, δ) {number(approximate)}."
    )


def code(points: str, settings: str, moved: float) -> str:
    return (
        "from dpcore.training import BallWorld\n\n"
        f"world = BallWorld(points=[{points}], {settings})\n"
        f"other = world.moved(0, {moved!r})\n"
        "print(world.expected_excess, other.bad_chance, world.effect(other).max(), world.sensitivity / world.n)\n"
    )


def code_dimensions(n: int, epsilon: float, delta: float, relation: str) -> str:
    return (
        "import numpy as np\n"
        "from dpcore.training import approximate_excess, pure_excess\n\n"
        "d = np.geomspace(2, 300, 25)\n"
        f"print(pure_excess(d, {n}, {epsilon!r}, {relation!r}))\n"
        f"print(approximate_excess(d, {n}, {epsilon!r}, {delta!r}, {relation!r}))\n"
    )
