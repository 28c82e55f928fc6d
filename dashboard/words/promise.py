"""What the pictures of theorems say."""

from __future__ import annotations

from collections.abc import Sequence

from dashboard.words import number, visible
from dpcore.theorem import Theorem

TITLE = "Theory"
AVERAGE = "exact average, on these data"
WORST = "exact, on the worst data"
PEOPLE = "number of people n"
QUERIES = "number of answers watched k"


def short_of_best(unit: str) -> str:
    return f"short of the best, per 100 {visible(unit)}"


def of_100(unit: str) -> str:
    return f" per 100 {visible(unit)}"


def rounds(units: str) -> str:
    return f"number of {visible(units)} T"


def per_100(units: str) -> str:
    return f"points lost per 100 {visible(units)}"


def points(units: str) -> str:
    return f" points per 100 {visible(units)}"


def rows(units: str) -> str:
    return f"number of {visible(units)} T"


def alpha(unit: str) -> str:
    return f"distance told apart α ({visible(unit)})"


def strategy(name: str) -> str:
    return f"{name}, exact"


EXCESS = "wrong above the best rule, in 100"
RANK = "rank off by, people in 100"
EXTRA = "extra cost, % of its range"
FREE = "exact, in one hard world"
LOOK = "**Look at the gap between the dashed line and the others:**"


def loose(factor: float, place: str, what: str) -> str:
    """What to look at, in one sentence with the number."""
    if factor > 10_000:
        told = f"is **loose by more than ×10,000** against {what}, which is practically 0"
    elif factor >= 1.0:
        told = f"is **loose by ×{number(factor)}** against {what}"
    else:
        told = f"lies below {what} (×{number(factor)}), which does not meet its conditions"
    return f"{LOOK} at {place} the theorem {told}."


def line(theorem: Theorem) -> str:
    """The name of its line; a rate is called one wherever it is drawn."""
    return f"{theorem.name}, up to a constant" if theorem.kind == "rate" else theorem.name


def promised(theorem: Theorem, value: str, place: str) -> str:
    word = "up to a constant, " if theorem.kind == "rate" else ""
    return f"**{theorem.name}** promises {word}{value} at {place}: {theorem.statement}."


def conditions(theorem: Theorem) -> str:
    """Under which it holds, a line each."""
    lines = "\n".join(f"- {sentence}" for sentence in theorem.conditions.sentences())
    return f"**Holds when**\n\n{lines}"


def hover(theorem: Theorem) -> str:
    """The conditions in the small box over the line."""
    return "".join(f"<br>{_broken(sentence)}" for sentence in theorem.conditions.sentences())


def _broken(sentence: str, width: int = 46) -> str:
    lines, line = [], ""
    for word in sentence.split():
        if line and len(line) + len(word) >= width:
            lines.append(line)
            line = ""
        line = f"{line} {word}".strip()
    return "<br>  ".join([*lines, line])


def alt(quantity: str, place: str, values: Sequence[tuple[str, float]]) -> str:
    each = "; ".join(f"{name} {number(value)}" for name, value in values)
    return f"{quantity[:1].upper()}{quantity[1:]} at {place}: {each}. Both axes are logarithmic."


def code(key: str, axis: str, ends: tuple[float, float], settings: dict[str, float], unit: str, *, known: bool) -> str:
    """Python that computes the promised line."""
    given = ", ".join(
        [*([f"{axis}={axis}"] if known else []), *(f"{name}={value!r}" for name, value in settings.items())]
    )
    return (
        "import numpy as np\n"
        "from dpcore.theorems import theorems\n\n"
        f"theorem = theorems()[{key!r}]\n"
        f"{axis} = np.geomspace({ends[0]!r}, {ends[1]!r}, 61)\n"
        f"promised = theorem.value({given}){unit}\n"
        "print(theorem.statement, theorem.conditions.sentences())\n"
        f"print(np.stack([{axis}, promised], axis=1))\n"
    )
