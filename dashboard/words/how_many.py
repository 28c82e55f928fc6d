"""What the picture of how many people learning asks for says."""

from __future__ import annotations

from collections.abc import Sequence

from dashboard.words import number, whole

TITLE = "How many people?"
ALPHA = "Accuracy α: wrong above the best, in 100"
ALPHA_HELP = "How far above the best rule's the error rate of the chosen rule may lie."
AXIS = "People against"
AXES = {"epsilon": "privacy loss ε", "alpha": "accuracy α"}
WORLD = "What is known of the rules"
WORLDS = {"agnostic": "nothing (agnostic)", "realizable": "some rule is never wrong (realizable)"}
ALPHA_AXIS = "accuracy α: wrong above the best, in 100"
PEOPLE = "people needed n"
FREE, FREE_BELOW = "from here on privacy is free", "up to here privacy is free"
LINES = {
    "pac": "without privacy",
    "private": "private, textbook theorem",
    "private_sharp": "private, sharper theorem",
    "queries": "by asking for every error rate",
    "data_exact": "best on these data alone, exact",
    "exact_agnostic": "private, exact in one world",
    "pac_realizable": "without privacy",
    "private_realizable": "private",
    "exact_realizable": "private, exact in one world",
}
CONDITIONS = (
    "Except with chance β, over the people drawn and the noise; people drawn independently, one mistake or none each. "
    "Dashed: theorems, whatever the world. Solid: exact, in one hard world each. "
    "Blumer, Ehrenfeucht, Haussler and Warmuth, 1987; Kasiviswanathan and others, FOCS 2008; Blum and others, PODS "
    "2005; constants worked out."
)


def chosen(axis: str, value: float) -> str:
    return f"ε = {number(value)}" if axis == "epsilon" else f"α = {number(100 * value)} in 100"


def look(free: float, alpha: float, private: float, without: float, epsilon: float) -> str:
    more = private / without
    told = "as many as without privacy" if more < 1.005 else f"{number(more)} times as many as without privacy"
    return (
        f"**Look where the sharper private line meets the one without privacy:** at ε = {number(free)} for accuracy "
        f"α = {number(100 * alpha)} in 100; from there on privacy is free. At ε = {number(epsilon)} it asks for "
        f"**{whole(private)}** people, {told}."
    )


def look_realizable(private: float, without: float, epsilon: float) -> str:
    return (
        f"**Look at the gap that never closes:** where some rule is never wrong, ε = {number(epsilon)} asks for "
        f"**{whole(private)}** people, {number(private / without)} times the {whole(without)} without privacy; a "
        "larger ε brings the lines together, but no ε makes privacy free."
    )


def oracle(k: int, people: int, sampling: float, noise: float, total: float) -> str:
    return (
        f"**The query oracle.** Asked for all {k:,} error rates with Laplace noise, {people:,} people answer each "
        f"within τ = {number(100 * total)} in 100: {number(100 * sampling)} for having drawn these people and "
        f"{number(100 * noise)} for the noise. Learning to α needs τ = α/2."
    )


def alt(place: str, needed: Sequence[tuple[str, float]], free: float) -> str:
    each = "; ".join(f"{name} {whole(n)}" for name, n in needed)
    return f"People needed at {place}: {each}. The sharper private theorem is free from ε = {number(free)}."


def code(k: int, axis: str, epsilon: float, alpha: float, beta: float, method: str, relation: str) -> str:
    levels = "np.geomspace(0.01, 10.0, 9)" if axis == "epsilon" else repr(epsilon)
    targets = repr(alpha) if axis == "epsilon" else "np.geomspace(0.005, 0.5, 9)"
    return (
        "import numpy as np\n"
        "from dpcore.selection import crossover, people_curves\n\n"
        f"frame = people_curves({k}, epsilon={levels}, alpha={targets}, beta={beta!r}, "
        f"method={method!r}, relation={relation!r})\n"
        f"print(crossover({alpha!r}, {method!r}, {relation!r}))\n"
        "print(frame.to_string())\n"
    )
