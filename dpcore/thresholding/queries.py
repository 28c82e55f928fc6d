"""How well an alarm works against the number of queries it watches: the third axis beside ε and people."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from dpcore.thresholding.alarm_problem import AlarmProblem
from dpcore.tradeoff import sweep_epsilon


def sweep_queries(
    problem: AlarmProblem,
    queries: Sequence[int],
    *,
    epsilon: float,
    methods: Sequence[str] | None = None,
    metrics: Sequence[str] | None = None,
) -> pd.DataFrame:
    """Every method and metric against the number of queries (see ``AlarmProblem.watched_for``) at one ε.

    Returns the columns of ``tradeoff.COLUMNS`` and ``queries``. Raises InvalidArgument.
    """
    blocks = [
        sweep_epsilon(problem.watched_for(number), [epsilon], methods=methods, metrics=metrics).assign(queries=number)
        for number in queries
    ]
    return pd.concat(blocks, ignore_index=True)
