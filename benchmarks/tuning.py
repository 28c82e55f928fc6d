"""Is choosing among settings worth its price? The fixed settings against two private choices, at the same ε.

One is the best of a random number of tries (``tries``, Papernot & Steinke, ICLR 2022), of classes alone; the other
tries every way of building the model with a tenth of 1/σ² and builds the one that is drawn with the rest (``choose``).
All tables of ``benchmarks.models``; written to docs/benchmarks-tuning.md. ``python -m benchmarks.tuning [TABLE …]
[--splits N]``.
"""

from __future__ import annotations

import math
import sys
from collections import Counter
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.cuts import verdict
from benchmarks.models import DELTA, MANY, SPLITS_OF_MANY, answers, measured, splits
from benchmarks.models_command import DOCS, parser, write
from benchmarks.models_tables import Task, tasks
from dpcore.training import PrivateClassifier, PrivateRegressor
from dpcore.training.chosen_steps import ChosenSteps
from dpcore.training.tuning import LogarithmicTries

LEVELS, TRIES = (0.1, 0.5, 1.0), 4.0
REPORT = DOCS / "benchmarks-tuning.md"


def raced(task: Task, count: int) -> tuple[list[str], list[tuple[str, float]]]:
    """One table's lines: the fixed settings, both choices and their differences over splits, and which ways were
    drawn; and what ``choose`` gains in standard errors."""
    y, lines, sure = answers(task), [], []
    for level in LEVELS:
        scores, drawn = [], Counter[str]()
        for seed, (train, test) in enumerate(splits(task, y, count)):
            own = []
            for options in ({}, {"tries": TRIES}, {"choose": True}):
                if task.target and "tries" in options:
                    own.append(math.nan)
                    continue
                model = _model(task, level, seed, options).fit(task.frame.iloc[train], task.y.iloc[train])
                own.append(_measured(task, model, y, test))
                if "choose" in options:
                    drawn[model.way_] += 1
            scores.append(own)
        table = np.array(scores)
        gained = table[:, 1:] - table[:, :1]
        better = -gained if task.target else gained
        error = gained.std(axis=0, ddof=1) / math.sqrt(count) if count > 1 else np.full(2, math.nan)
        sure.append((task.name, float(better[:, 1].mean() / error[1]) if error[1] > 0.0 else 0.0))
        cells = [
            "–" if math.isnan(mean) else f"{mean:.4g} ({off:+.2g} ± {wide:.1g})"
            for mean, off, wide in zip(table[:, 1:].mean(axis=0), gained.mean(axis=0), error, strict=True)
        ]
        named = ", ".join(f"{way} {times}×" for way, times in drawn.most_common())
        what = "error" if task.target else "accuracy"
        lines.append(
            f"| {task.name} ({what}) | {level:g} | {table[:, 0].mean():.4g} | {cells[0]} | {cells[1]} | {named} |"
        )
    return lines, sure


def _model(task: Task, level: float, seed: int, options: dict[str, Any]) -> Any:
    common = {"epsilon": level, "delta": DELTA, "columns": task.columns, "random_state": seed, **options}
    return (
        PrivateRegressor(target=task.target, **common)
        if task.target
        else PrivateClassifier(classes=task.classes, **common)
    )


def _measured(task: Task, model: Any, y: np.ndarray, test: np.ndarray) -> float:
    held = task.frame.iloc[test]
    told = model.predict(held) if task.target else model.predict_proba(held)
    told = told[:, 1] if told.ndim == 2 and told.shape[1] == 2 else told
    return float(next(iter(measured(task, y[test], told).values())))


def prices() -> list[str]:
    """What is left for the model itself at every ε."""
    left = []
    for level in LEVELS:
        kept = ChosenSteps(epsilon=level, delta=DELTA)
        one = LogarithmicTries(mean=TRIES).one_try(level, DELTA)
        left.append(f"of ε = {level:g}, {kept.with_share(1.0 - kept.ways_share).epsilon:.3g} against {one:.3g}")
    return [f"What is left for the model itself, chosen among ways against one of {TRIES:g} tries: {'; '.join(left)}."]


def main(arguments: list[str]) -> int:
    given = parser("benchmarks.tuning", __doc__, 3).parse_args(arguments)
    lines = [
        "# Settings that are chosen privately",
        "",
        f"Written by `python -m benchmarks.tuning`, {given.splits} splits ({SPLITS_OF_MANY} of tables of more than",
        f"{MANY:,} rows). The models of `benchmarks.models` with their fixed settings, and chosen privately in two",
        f"ways. `tries`: a random number of whole tries, {TRIES:g} on average, of random settings (Papernot and",
        "Steinke, ICLR 2022). `choose`: every way of building the model (public cuts, the coarsest of these, bought",
        "cuts, bought pairs) is tried with a small part of 1/σ², a tenth for all together, and the one that the",
        "exponential mechanism draws is built with the rest; how many are tried is fixed, so the time it takes tells",
        f"nothing. All of one line is (ε, {DELTA:g})-differentially private. Less error, more accuracy; in brackets",
        "the difference from the fixed settings ± its standard error over splits.",
        "",
        *prices(),
        "",
        "| table | ε | fixed | tries | choose | ways drawn |",
        "|---|---|---|---|---|---|",
    ]
    sure: list[tuple[str, float]] = []
    with threadpool_limits(1):
        found, absent = tasks(tuple(given.tables))
        for task in found:
            own, gains = raced(task, min(given.splits, SPLITS_OF_MANY) if len(task.frame) > MANY else given.splits)
            print("\n".join(own), flush=True)
            lines += own
            sure += gains
            write(REPORT, [*lines, "", "`choose` against the fixed settings:", "", *verdict(sure), ""], absent)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
