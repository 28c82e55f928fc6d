"""What must be seen of a real table, computed from it by pandas and by formulas of its own, never by the product."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import pandas as pd
from scipy.integrate import quad

if TYPE_CHECKING:
    from benchmarks.drops.seen import Seen

EPSILON = 0.5  # what every page begins with
CLOSE = 0.006  # of a number that is shown with three digits


class Expected(Protocol):
    """What somebody who knows the table expects to see."""

    def wrong(self, frame: pd.DataFrame, seen: Seen) -> str:
        """What of ``seen`` is not so, "" when all of it is right."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Commonest:
    """The chart of "which option is most common": rows, winner, and how often the private answer names it.

    Permute-and-flip names the winner as the largest count plus exponential noise of scale 1/ε would (McKenna and
    Sheldon 2020; Ding et al. 2021), so that the chance is one integral. ``says`` are the page's words for values.
    """

    column: str
    says: tuple[tuple[object, str], ...] = ()

    def wrong(self, frame: pd.DataFrame, seen: Seen) -> str:
        counts = frame[self.column].dropna().value_counts()
        best = counts[counts == counts.max()]
        right = right_in_100([int(count) for count in counts])
        winner = dict(self.says).get(best.index[0], str(best.index[0]))
        found = seen.marked
        if f"among {len(frame):,} people" not in seen.question:
            return f"not among {len(frame):,}"
        if found is None or abs(found - right) > 0.05:
            return f"right {found} times in 100, not {right:.2f}"
        return "" if winner in seen.outcomes else f"“{winner}” is not among the answers"


@dataclass(frozen=True, slots=True, kw_only=True)
class Middle:
    """The chart of a median: rows, and the true median, the lower or the upper one or between them."""

    column: str

    def wrong(self, frame: pd.DataFrame, seen: Seen) -> str:
        values = pd.to_numeric(frame[self.column]).dropna()
        ends = [float(values.quantile(0.5, interpolation=way)) for way in ("lower", "higher")]
        found = re.search(r"The true median is ([-−0-9.,]*[0-9])", seen.caption)
        if f"among {len(frame):,} people" not in seen.question:
            return f"not among {len(frame):,}"
        if found is None:
            return "no true median"
        told = float(found[1].replace(",", "").replace("−", "-"))
        slack = CLOSE * max(abs(ends[0]), abs(ends[1]))
        return "" if ends[0] - slack <= told <= ends[1] + slack else f"median {told}, not {ends}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rings:
    """The chart of a series: what is called the first to reach the line that the page shows, or that none does.

    ``name`` is the column that names the rows, written as ``form`` where they are days.
    """

    column: str
    name: str
    form: str = ""

    def wrong(self, frame: pd.DataFrame, seen: Seen) -> str:
        values = pd.to_numeric(frame[self.column])
        if seen.line is None:
            return "no line"
        at = values.index[values >= seen.line]
        if at.empty:
            return "" if "The line is never reached" in seen.caption else "an alarm where none is due"
        raw = frame[self.name].loc[at[0]]
        name = pd.Timestamp(raw).strftime(self.form) if self.form else str(raw)
        return "" if f"it would ring at {name}, every time" in seen.caption else f"does not ring at {name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Says:
    """No chart, but this one sentence."""

    sentence: str

    def wrong(self, frame: pd.DataFrame, seen: Seen) -> str:
        return "" if self.sentence in seen.all else f"does not say “{self.sentence}”"


def right_in_100(counts: list[int]) -> float:
    """How often permute-and-flip at ``EPSILON`` names one of the largest counts, where people are added or removed."""
    top = max(counts)
    ties = counts.count(top)
    gaps = [top - count for count in counts if count < top]

    def falls(t: float) -> float:
        """Density of one of the tied ones at ``t``, and all others below it."""
        others = math.prod(-math.expm1(-EPSILON * (t + gap)) for gap in gaps)
        first: float = (-math.expm1(-EPSILON * t)) ** (ties - 1)
        return EPSILON * math.exp(-EPSILON * t) * first * others

    chance: float = ties * quad(falls, 0.0, 80.0 / EPSILON, limit=400)[0]
    return 100.0 * chance
