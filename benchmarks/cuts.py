"""Are bought cuts worth it? The same private models with cuts at round numbers and at private quantiles.

Two tables, written to docs/benchmarks-cuts.md: how far quantiles bought at (ε, 1e-5) are off, by method; and the models
of ``benchmarks.models``, free cuts against bought ones (a tenth of 1/σ²), on the same splits. ``python -m
benchmarks.cuts [TABLE …] [--splits N]``.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from benchmarks.models import DELTA, answers, measured, ours, splits
from benchmarks.models_command import DOCS, parser, write
from benchmarks.models_tables import Task, tasks
from dpcore.calibration import gaussian_noise_multiplier, zcdp_rho
from dpcore.training.paid_cuts import NoisyQuantiles, RecursiveQuantiles, fine_grid, places_of

Way = Callable[[float, int, pd.DataFrame, pd.Series, pd.DataFrame], np.ndarray]
"""Predictions at an ε, with a seed, from training rows and answers, about test rows."""
LEVELS, MANY, DRAWS = (0.1, 0.5, 1.0), 19, 40
REPORT = DOCS / "benchmarks-cuts.md"
SIZES = (1_000, 10_000, 100_000)


def quantiles() -> list[str]:
    """Mean distance of the ranks of 19 quantiles from the wanted ones, in 1,000 rows, of skewed numbers in 0..1,000."""
    rng = np.random.Generator(np.random.SFC64(0))
    grid = fine_grid(0.0, 1000.0)
    lines = [
        "| rows | ε | all at once | recursion | one by one |",
        "|---|---|---|---|---|",
    ]
    for n in SIZES:
        values = np.clip(rng.lognormal(3.0, 1.0, n), 0.0, 1000.0)
        counts = np.bincount(np.searchsorted(grid, values, side="right"), minlength=grid.size + 1)
        ranks = np.concatenate([[0], np.cumsum(counts)])
        wanted = n * np.arange(1, MANY + 1) / (MANY + 1)
        for epsilon in LEVELS:
            rho = zcdp_rho(epsilon, DELTA)
            tree = NoisyQuantiles(
                bits=math.ceil(math.log2(counts.size)), columns=1, noise=gaussian_noise_multiplier(epsilon, DELTA)
            )
            recursion = RecursiveQuantiles(rho=rho)
            scores = -np.abs(ranks - wanted[:, None]) * math.sqrt(8.0 * rho / MANY) / 2.0
            off = []
            for _ in range(DRAWS):
                alone = np.argmax(scores + rng.gumbel(size=scores.shape), axis=1)
                found = (places_of(tree.draw(counts, rng), MANY), recursion.draw(counts, MANY, rng), alone)
                off.append([np.abs(ranks[places] - wanted).mean() * 1000.0 / n for places in found])
            mean = np.mean(off, axis=0)
            shown = [f"**{value:.2f}**" if value == mean.min() else f"{value:.2f}" for value in mean]
            lines.append(f"| {n:,} | {epsilon:g} | {' | '.join(shown)} |")
    return lines


def paid(task: Task) -> Task:
    """The table with every number's cuts bought."""
    columns = {
        name: (*given[:2], "paid") if isinstance(given, tuple) else given for name, given in task.columns.items()
    }
    return replace(task, columns=columns)


def verdict(sure: list[tuple[str, float]]) -> list[str]:
    """Where the other way is better or worse by more than two standard errors, from each line's gain in these."""
    found = []
    for word, sign in (("Better", 1.0), ("Worse", -1.0)):
        by_table: dict[str, list[bool]] = {}
        for name, gain in sure:
            by_table.setdefault(name, []).append(sign * gain > 2.0)
        names = [name for name, each in by_table.items() if sum(each) >= 2]
        found.append(f"{word} by more than two standard errors at two ε or more: {', '.join(names) or 'none'}.")
    return found


def models(task: Task, count: int, plain: Way, other: Way) -> tuple[list[str], list[tuple[str, float]]]:
    """One table's lines, both ways, the mean ± standard error of the difference over splits; and what is gained in
    standard errors."""
    y = answers(task)
    lines: list[str] = []
    sure: list[tuple[str, float]] = []
    for level in LEVELS:
        scores = []
        for seed, (train, test) in enumerate(splits(task, y, count)):
            frame, held, own = task.frame.iloc[train], task.frame.iloc[test], task.y.iloc[train]
            told = (way(level, seed, frame, own, held) for way in (plain, other))
            scores.append([next(iter(measured(task, y[test], one).values())) for one in told])
        before, after = np.mean(scores, axis=0)
        gained = np.diff(scores, axis=1)[:, 0]
        error = float(gained.std(ddof=1) / math.sqrt(count)) if count > 1 else math.nan
        what = "error" if task.target else "accuracy"
        better = -gained.mean() if task.target else gained.mean()
        sure.append((task.name, float(better) / error if error > 0.0 else 0.0))
        lines.append(
            f"| {task.name} ({what}) | {level:g} | {before:.4g} | {after:.4g} | {gained.mean():+.2g} ± {error:.1g} |"
        )
    return lines, sure


def compared(found: Iterable[Task], other: Callable[[Task], Way], splits: Callable[[Task], int]) -> list[str]:
    """The lines of every table, its models as they are and as ``other`` has them, printed as they come; the verdict."""
    lines: list[str] = []
    gains: list[tuple[str, float]] = []
    for task in found:
        own, sure = models(task, splits(task), partial(ours, task), other(task))
        print("\n".join(own), flush=True)
        lines += own
        gains += sure
    return [*lines, "", *verdict(gains), ""]


def main(arguments: list[str]) -> int:
    given = parser("benchmarks.cuts", __doc__, 4).parse_args(arguments)
    lines = [
        "# Cuts that are paid for",
        "",
        f"Written by `python -m benchmarks.cuts`, {given.splits} splits. First how far {MANY} quantiles are off when",
        f"all of (ε, {DELTA:g}) buys them: mean distance from the wanted rank, in 1,000 rows. The exponential",
        "mechanism of the others is counted as zCDP. Then the models of `benchmarks.models`, cut at round numbers that",
        "follow from declared bounds and shapes, or at quantiles that a tenth of 1/σ² buys: less error, more accuracy.",
        "",
        *quantiles(),
        "",
        "| table | ε | free cuts | bought cuts | difference |",
        "|---|---|---|---|---|",
    ]
    with threadpool_limits(1):
        found, absent = tasks(tuple(given.tables))
        cut = [task for task in found if any(isinstance(one, tuple) for one in task.columns.values())]
        lines += compared(cut, lambda task: partial(ours, paid(task)), lambda _: int(given.splits))
    write(REPORT, lines, absent)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
