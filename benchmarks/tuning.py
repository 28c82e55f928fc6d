"""Is private tuning worth its price? The fixed settings against the best of a random number of tries, at the same ε.

Tables of classes of ``benchmarks.models``; written to docs/benchmarks-tuning.md. ``python -m benchmarks.tuning
[TABLE …] [--splits N]``.
"""

from __future__ import annotations

import math
import sys

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.models import DELTA, answers, measured, splits
from benchmarks.models_command import DOCS, parser, write
from benchmarks.models_tables import Task, tasks
from dpcore.training import PrivateClassifier
from dpcore.training.tuning import LogarithmicTries

LEVELS, TRIES = (0.1, 0.5, 1.0), 4.0
REPORT = DOCS / "benchmarks-tuning.md"


def raced(task: Task, count: int) -> list[str]:
    """One table's lines: accuracy with the fixed settings and with tries, and the difference over splits."""
    y, lines = answers(task), []
    for level in LEVELS:
        scores = []
        for seed, (train, test) in enumerate(splits(task, y, count)):
            own = []
            for tries in (None, TRIES):
                model = PrivateClassifier(
                    epsilon=level,
                    delta=DELTA,
                    columns=task.columns,
                    random_state=seed,
                    classes=task.classes,
                    tries=tries,
                )
                told = model.fit(task.frame.iloc[train], task.y.iloc[train]).predict_proba(task.frame.iloc[test])
                chances = told[:, 1] if told.shape[1] == 2 else told
                own.append(measured(task, y[test], chances)["accuracy"])
            scores.append(own)
        fixed, tuned = np.mean(scores, axis=0)
        gained = np.diff(scores, axis=1)[:, 0]
        error = float(gained.std(ddof=1) / math.sqrt(count)) if count > 1 else math.nan
        share = LogarithmicTries(mean=TRIES).one_try(level, DELTA)
        lines.append(
            f"| {task.name} | {level:g} | {share:.3g} | {fixed:.4f} | {tuned:.4f} "
            f"| {gained.mean():+.2g} ± {error:.1g} |"
        )
    return lines


def main(arguments: list[str]) -> int:
    given = parser("benchmarks.tuning", __doc__, 3).parse_args(arguments)
    lines = [
        "# Private tuning",
        "",
        f"Written by `python -m benchmarks.tuning`, {given.splits} splits: accuracy of `PrivateClassifier` with its",
        f"fixed settings, and with `tries={TRIES:g}`: the best of {TRIES:g} tries on average of random settings,",
        "chosen and paid for privately. All of one line is (ε, 1e-5)-differentially private; one try has the ε in the",
        "third column.",
        "",
        "| table | ε | ε of one try | fixed | tuned | difference |",
        "|---|---|---|---|---|---|",
    ]
    with threadpool_limits(1):
        found, absent = tasks(tuple(given.tables))
        for task in found:
            if task.target:
                continue
            own = raced(task, given.splits)
            print("\n".join(own), flush=True)
            lines += own
    write(REPORT, [*lines, ""], absent)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
