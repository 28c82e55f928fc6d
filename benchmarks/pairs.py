"""Do pairs of columns that act together pay? The same private models without pairs and with three bought ones.

The models of ``benchmarks.models`` on the same splits, at the same ε: a quarter of 1/σ² buys which pairs. Written to
docs/benchmarks-pairs.md. ``python -m benchmarks.pairs [TABLE …] [--splits N]``.
"""

from __future__ import annotations

import sys
from functools import partial

from threadpoolctl import threadpool_limits

from benchmarks.cuts import compared
from benchmarks.models import MANY, SPLITS_OF_MANY, ours
from benchmarks.models_command import DOCS, parser, write
from benchmarks.models_tables import tasks

PAIRS = 3
REPORT = DOCS / "benchmarks-pairs.md"


def main(arguments: list[str]) -> int:
    given = parser("benchmarks.pairs", __doc__, 3).parse_args(arguments)
    lines = [
        "# Pairs of columns that act together",
        "",
        f"Written by `python -m benchmarks.pairs`, {given.splits} splits ({SPLITS_OF_MANY} of tables of more than",
        f"{MANY:,} rows). The models of `benchmarks.models` as they are, and with `pairs={PAIRS}`: a quarter of 1/σ²",
        "buys a first model, and by what it gets wrong the choice of three pairs out of all. All of one line is",
        "(ε, 1e-05)-differentially private. Less error, more accuracy. Pairs that a person declares cost nothing.",
        "",
        "| table | ε | columns alone | with pairs | difference |",
        "|---|---|---|---|---|",
    ]
    with threadpool_limits(1):
        found, absent = tasks(tuple(given.tables))
        lines += compared(
            found,
            lambda task: partial(ours, task, pairs=PAIRS),
            lambda task: min(given.splits, SPLITS_OF_MANY) if len(task.frame) > MANY else int(given.splits),
        )
    write(REPORT, lines, absent)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
