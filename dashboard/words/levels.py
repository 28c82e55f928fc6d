"""What half and twice the ε would do, beside the one that is chosen."""

from __future__ import annotations

from collections.abc import Sequence

from dashboard.words import number, safe
from dashboard.words.tracker import MANY

__all__ = ["ANSWERS", "GUESS", "MANY", "TITLE", "heading", "measured", "table"]

TITLE = "**Stricter or looser?** The same question at half and at twice the ε."
_NAMES = {0.5: "half", 1.0: "now", 2.0: "twice"}
GUESS = "guesses right at most, of 100"
ANSWERS = "answers that the budget pays for"


def heading(ratio: float, epsilon: float) -> str:
    """Over a column: the ε that is ``ratio`` times the chosen one."""
    return f"{_NAMES[ratio]}: ε\u00a0=\u00a0{number(epsilon)}"


def measured(title: str) -> str:
    """Before the row of what the chart shows; ``title`` is that of its axis."""
    return safe(title[:1].lower() + title[1:] if title[1:2].islower() else title, 80)


def table(headings: Sequence[str], rows: Sequence[tuple[str, Sequence[str]]]) -> str:
    """A table in Markdown, one column for each level of ε."""
    lines = ["| the level | " + " | ".join(headings) + " |", "|---" * (len(headings) + 1) + "|"]
    return "\n".join([*lines, *(f"| {name} | " + " | ".join(cells) + " |" for name, cells in rows)])
