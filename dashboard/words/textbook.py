"""What the tab about the textbook's noisy descent says."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from dashboard.words import no_less, number, tiny

STEP_EPSILON = "ε of one step"
STEPS = "Steps"
SPEND_X = "ε of one step, as the textbook's plot is labelled"
SPEND_Y = "ε of the whole run"
LABEL, EXACT = "label", "exact"
SPEND: Mapping[str, str] = {
    LABEL: "the plot's label: one step",
    "added_up": "all steps, added up",
    EXACT: "all steps, exactly",
    "basic": "steps and count, best simple sum",
    "advanced": "steps and count, advanced composition",
    "zcdp": "steps and count, zCDP",
    "rdp": "steps and count, Rényi divergences",
    "pld": "steps and count, exactly",
}
NOT_HERE = (
    "The textbook's descent learns to tell two classes apart, so its model and what keeps it from the best are shown "
    "where a yes or no, or one class, is predicted."
)
AXES: Mapping[str, str] = {
    "step": "ε of one step, as in the book",
    "added": "ε of all steps and the count, added up",
    "exact": "ε of all of them, exactly",
}
ACCURACY_X = "privacy loss ε, counted in three ways"
NO_CURVE = (
    "Choose “Textbook noisy gradient descent” under “Drawn beside it” to see its accuracy here, and wait until all "
    "models are trained."
)
SPLITTING = "Training the textbook's models"
PARTS: Mapping[str, str] = {
    "steps": "too few steps",
    "noise": "the noise that privacy needs",
    "accounting": "accounting: noise it does not need, and the noisy count",
}
WHOLE, OTHER = "the textbook's model", "noisy gradient descent, at the same ε"
EXCESS = "excess risk: loss above the best model's"


def spend(steps: int, step_epsilon: float, added: float, exact: float, delta: float) -> str:
    """Three true numbers about one run."""
    if steps == 1:
        return (
            f"**One step at ε = {number(step_epsilon)}: the exact cost is ε = {no_less(exact)}** at δ = {tiny(delta)}, "
            "as the classical formula for the noise is a little generous."
        )
    return (
        f"**{steps} steps at ε = {number(step_epsilon)} each cost ε = {no_less(exact)} together**, counted exactly at "
        f"δ = {tiny(delta)}. The label of the book's plot, {number(step_epsilon)}, is the ε of one step, as the book "
        f"says. Adding up gives {number(added)}: a valid promise, loose by ×{number(added / exact)}, for noise that "
        "protects people more than was asked for."
    )


def spend_alt(steps: int, step_epsilon: float, at: Mapping[str, float]) -> str:
    told = "; ".join(f"{SPEND[name]}: {number(epsilon)}" for name, epsilon in at.items())
    return f"ε of {steps} steps against the ε of one step. At {number(step_epsilon)}: {told}."


def count(chance: float, rows: int, step_epsilon: float) -> str:
    """How often the noisy count that the textbook divides by is not positive."""
    if chance >= 0.005:
        often = f"about {number(100 * chance)} times in 100"
    elif chance > 1e-300:
        often = (
            f"once in 10 to the power {-math.log10(chance):.0f} runs" if chance < 1e-6 else f"{tiny(chance)} of runs"
        )
    else:
        often = "hardly ever"
    return (
        f"It divides by a noisy count of the rows. With {rows:,} rows and ε = {number(step_epsilon)} for the count, "
        f"that is 0 or less {often}; then every step turns round. Where the number of rows is public, no count is "
        "needed."
    )


def spend_note(delta: float, steps: int) -> str:
    return (
        f"All at δ = {tiny(delta)}, but the dotted sum, whose δ is {tiny(delta * steps)}. Lines that lie together are "
        "accountants that agree."
    )


ACCURACY = (
    "**The same models, three labels.** The book's plot puts the ε of one step below each accuracy. Counted for the "
    "whole run the same curve moves to the right: added up too far, exactly as far as is true."
)


def accuracy_alt(epsilon: Mapping[str, float], accuracy: float) -> str:
    told = "; ".join(f"{AXES[name]}: {number(level)}" for name, level in epsilon.items())
    return f"Right predictions of the textbook's models, {number(100 * accuracy)} in 100 at the chosen one. {told}."


def split(parts: Mapping[str, float], book: float, other: float, epsilon: float, luck: float) -> str:
    """Which of the computed parts is the largest; ``luck`` is by how much two of them may differ by chance."""
    start = f"**At ε = {number(epsilon)} the textbook's model loses {number(book)} to the best one"
    first, second = sorted(parts, key=parts.__getitem__, reverse=True)[:2]
    named = {name: f"{PARTS[name].split(':')[0]} ({number(parts[name])})" for name in (first, second)}
    if parts[first] - parts[second] > luck:
        start = f"{start}. The largest part of that: {named[first]}.**"
    else:
        start = f"{start}.** Two parts are too close to say which is the larger: {named[first]} and {named[second]}."
    told = ", ".join(f"{PARTS[name]} {number(value)}" for name, value in parts.items())
    return f"{start} In all: {told}. Noisy gradient descent at the same ε loses {number(other)}."


def split_alt(parts: Mapping[str, float], book: float, other: float) -> str:
    told = "; ".join(f"{PARTS[name]} {number(value)}" for name, value in parts.items())
    return f"Excess risk {number(book)} of {WHOLE}: {told}. {OTHER}: {number(other)}."


def split_note(rows: int, replicas: int, errors: tuple[float, float, float]) -> str:
    return (
        f"Simulated on {rows:,} rows, {replicas} models each; standard errors {number(errors[0])}, "
        f"{number(errors[1])} and {number(errors[2])} for the textbook's model, the same with exact accounting, and "
        "noisy gradient descent. One thing is taken away after the other: first the accounting, then all noise."
    )


def code_spend(levels: Sequence[float], steps: int, delta: float) -> str:
    return (
        "from dpcore.training import book_spend\n\n"
        f"print(book_spend({list(levels)!r}, steps={steps}, delta={delta!r}).to_string())\n"
    )


def code_accuracy(levels: Sequence[float], delta: float, seed: int, models: int) -> str:
    """Each ε in the three counts, and right predictions of as many models as the page trains, with their own luck."""
    return (
        f"rng = np.random.Generator(np.random.SFC64({seed}))\n"
        f"for epsilon in {list(levels)!r}:\n"
        f"    run = BookGradientDescent(epsilon=epsilon, delta={delta!r}, row_norm=features.scale)\n"
        f"    fit = run.fit(rows.X, rows.y, rng, replicas={models})\n"
        "    right = (np.sign(rows.X_test @ fit.weights.T) == rows.y_test[:, None]).mean()\n"
        "    print(run.step_epsilon, epsilon, run.true_epsilon, right)\n"
    )


def code_split(epsilon: float, delta: float, seed: int, replicas: int) -> str:
    return (
        f"rng = np.random.Generator(np.random.SFC64({seed}))\n"
        "found = book_split(\n"
        f"    rows.X, rows.y, rng, epsilon={epsilon!r}, delta={delta!r}, replicas={replicas}, row_norm=features.scale\n"
        ")\n"
        "print(found.parts, found.book, found.descent)\n"
    )
