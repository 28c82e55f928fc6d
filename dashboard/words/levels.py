"""What half and twice the ε would do, beside the one that is chosen."""

from __future__ import annotations

from collections.abc import Sequence

from dashboard.words import number, safe

TITLE = "**Stricter or looser?** Half the ε protects more, twice the ε less."
EPSILON = "privacy loss ε"
ANSWERS = "answers that you can still get"
MET = ("no", "yes")
_MARK, BY_DELTA = "\\*", "\\* δ runs out before ε does."
NAMES = {0.5: "half", 1.0: "now", 2.0: "twice"}
"""Each level of the table, as how many times the chosen ε it is."""

Row = tuple[str, Sequence[str]]
"""What is told, in Markdown, and at each level."""


def guesses(about: str) -> str:
    """The name of the row of how often guesses ``about`` something can be right."""
    return f"guesses {about} right at most, of 100 (50: a coin toss)"


def measured(title: str) -> str:
    """The name of the row of what the chart shows; ``title`` is that of its axis."""
    return safe(title, 80)


def enough(*, average: bool) -> str:
    """The name of the row of whether the goal is met, on ``average`` only or by each answer's own chance."""
    return f"goal met{' on average' * average}"


TIMES = {2.0: "twice", 4.0: "four times"}
"""With how many times the size it is told what the same ε does."""


def more(title: str, what: str, times: Sequence[float], sizes: Sequence[tuple[float, str]]) -> str:
    """What the chart with this ``title`` shows at the same ε with more of ``what``: each size and the height there."""
    told = "; ".join(
        f"with {TIMES[many]} as many ({number(size)}): **{height}**"
        for many, (size, height) in zip(times, sizes, strict=False)
    )
    return f"More {what} like these, at the same ε, {safe(title, 80)}: {told}."


def answers(count: int, *, by_delta: bool) -> str:
    """How many the budget pays for; marked where δ alone leaves no more."""
    return f"{count:,}{_MARK if by_delta else ''}"


def table(ratios: Sequence[float], epsilon: float, rows: Sequence[Row]) -> str:
    """The table in Markdown, a column for each of ``ratios`` of the chosen ``epsilon``."""
    levels = [f"{NAMES[ratio]}: {number(ratio * epsilon)}" for ratio in ratios]
    now = ratios.index(1.0)
    told = [(name, [*cells[:now], f"**{cells[now]}**", *cells[now + 1 :]]) for name, cells in rows]
    lines = [_line(EPSILON, levels), "|---" * (len(levels) + 1) + "|", *(_line(*row) for row in told)]
    marked = any(_MARK in cell for _, cells in rows for cell in cells)
    return "\n".join([*lines, *(["", f":small[{BY_DELTA}]"] if marked else [])])


def _line(name: str, cells: Sequence[str]) -> str:
    return f"| {name} | {' | '.join(cells)} |"
