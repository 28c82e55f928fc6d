"""What the tab says about how far a private model can be trusted."""

from __future__ import annotations

from dashboard.words import number, safe, visible
from dashboard.words.usual import of_100

TAB = "How far to trust it"
JUDGING = "Training the models to judge"
STATED = "chance that the model states, in 100"
REALLY = "are really so, in 100"
BELIEVED = "dashed: chances are what they say"
WHO = "really"


def told(name: str) -> str:
    """The column of those that are told to be of the class that is called so."""
    return f"told “{name}”"


def confusion(
    epsilon: float, method: str, classes: tuple[str, str], found: tuple[float, float, float, float], models: int
) -> str:
    """``found``: of the second class how many are told right and wrong, then of the first; means over models."""
    other, positive = (safe(visible(name, 30)) for name in classes)
    right, missed, spared, alarmed = (number(value) for value in found)
    of_all = found[1] / max(found[0] + found[1], 1e-9)
    return (
        f"**At ε = {number(epsilon)}, of the rows it was not trained on that are “{positive}” the model finds {right} "
        f"and misses {missed} ({of_100(of_all)} of 100); of those that are “{other}” it tells {spared} right and "
        f"takes {alarmed} for “{positive}”.** {_others(models, method)}"
    )


def _others(models: int, method: str) -> str:
    return (
        f"Means of {models} other private models ({method}), trained only to be looked at more closely: so they differ "
        "a little from those above."
    )


def confusion_alt(frame_words: str) -> str:
    return f"How many are told to be what: {frame_words}."


TO_JUDGE, TOLD_RIGHT, TAKEN_FOR, NONE = "rows to judge by", "told right, in 100", "most often taken for", "–"
REALLY_TOLD = "are told right, in 100"


def mistaken(name: str, times: float) -> str:
    """The class that one is most often taken for, ``times`` in 100."""
    return f"{name} ({number(times)} in 100)"


def several(epsilon: float, method: str, right: float, rows: float, models: int) -> str:
    """How many of the rows to judge by are told right, mean over models."""
    return (
        f"**At ε = {number(epsilon)} the model tells {number(right)} of {number(rows)} rows right that it was not "
        f"trained on.** Which classes it knows and which it confuses. {_others(models, method)}"
    )


def balanced_several(balanced: float, classes: int) -> str:
    """A share from 0 to 1, over so many classes that occur."""
    return (
        f"Right in all classes alike, however rare one is: **{number(100 * balanced)} in 100** (balanced accuracy; "
        f"guessing reaches {number(100 / classes)})."
    )


def believed_told(gap: float) -> str:
    return (
        f"**Its chances {_verdict(gap)}:** the chance it states for the class it tells is {number(100 * gap)} in 100 "
        "away from how often that class is right, on average."
    )


def balanced(balanced: float, area: float) -> str:
    """Shares from 0 to 1."""
    return (
        f"Right in both classes alike, however rare one is: **{number(100 * balanced)} in 100** (balanced accuracy; "
        f"guessing reaches 50). Of two rows, one of each class, it gives the right one the higher chance "
        f"**{number(100 * area)} times in 100** (AUC; guessing reaches 50). That says how well it sorts rows, not how "
        "often it is right."
    )


ONE_CLASS = "The rows to judge on are all of one class, so balanced accuracy and AUC say nothing here."


def believed(gap: float, positive: str) -> str:
    return (
        f"**Its chances {_verdict(gap)}:** a stated chance of “{safe(visible(positive, 30))}” is "
        f"{number(100 * gap)} in 100 away from the share that is really so, on average."
    )


def _verdict(gap: float) -> str:
    return "can be believed" if gap < 0.05 else "are a rough guide" if gap < 0.12 else "should not be believed"


def believed_alt(gap: float) -> str:
    return f"Stated chances against real shares, on average {number(100 * gap)} in 100 apart."


SIZES = (
    "The larger a dot, the more rows get such a chance. Below the line the model says too much, above it too little. "
    "Judged on rows that no model was trained on. A private answer is one more such model, and is not judged itself."
)


def in_own_unit(
    epsilon: float, method: str, column: str, errors: tuple[float, float, float], guessing: float, models: int
) -> str:
    """``errors``: mean, and between what most models lie, in the unit of the column."""
    value, low, high = (number(error) for error in errors)
    return (
        f"**At ε = {number(epsilon)} the model is off by about {value} in “{safe(visible(column, 30))}”, in its own "
        f"unit, on rows it was not trained on.** Most private models (80 in 100): {low} to {high}; always guessing the "
        f"average is off by {number(guessing)}. Means of {models} private models ({method})."
    )
