"""What goals are measured against. A goal is a ratio to work timed in the same run, so that it holds on any machine."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np


def best_of(work: Callable[[], object], times: int = 3) -> float:
    """Seconds of processor time of the shortest of several runs: other programs only ever make it longer."""
    found = math.inf
    for _ in range(times):
        start = time.process_time()
        work()
        found = min(found, time.process_time() - start)
    return found


def exp_seconds(cells: int, dtype: type[np.floating] = np.float64) -> float:
    """Seconds that ``np.exp`` takes for ``cells`` numbers; of many, for a part of them, scaled."""
    part = min(cells, 5_000_000)
    numbers, out = -np.linspace(0.0, 30.0, part, dtype=dtype), np.empty(part, dtype=dtype)
    return best_of(lambda: np.exp(numbers, out=out), 5) * cells / part


@dataclass(slots=True)
class Goals:
    """Prints ratios beside their goals and remembers the ones that were missed."""

    missed: list[str] = field(default_factory=list)

    def at_least(self, what: str, ratio: float, goal: float) -> None:
        self._tell(what, ratio, f"goal ≥ {goal:g}", ratio >= goal)

    def at_most(self, what: str, ratio: float, goal: float) -> None:
        self._tell(what, ratio, f"goal ≤ {goal:g}", ratio <= goal)

    def _tell(self, what: str, ratio: float, goal: str, met: bool) -> None:
        shown = f"{ratio:,.0f}" if abs(ratio) >= 100 else f"{ratio:.3g}"
        print(f"  {what:<74} {shown:>9}   {goal}{'' if met else '   MISSED'}", flush=True)
        if not met:
            self.missed.append(f"{what}: {shown}, {goal}")

    def end(self) -> int:
        """Tell what was missed; the exit code."""
        for line in self.missed:
            print(f"MISSED  {line}")
        print(f"{len(self.missed)} goals missed" if self.missed else "every goal met")
        return int(bool(self.missed))
