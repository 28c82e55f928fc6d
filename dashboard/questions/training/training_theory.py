"""The theorem about noisy descent on logarithmic axes, beside what its own method reaches on these rows."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from dashboard.blocks import Block, Slow, Small
from dashboard.charts.promise import Line
from dashboard.charts.tradeoff import HEIGHT, read_off
from dashboard.promise import Promise, along
from dashboard.questions.training import curves
from dashboard.questions.training.curves import Asked
from dashboard.questions.training.prepared_rows import Task
from dashboard.words import promise as promise_said
from dashboard.words import training_theory as said
from dpcore.theorems import theorems
from dpcore.training import RADIUS, ProvedDescent, Sweep, collect, run_slice

RATES = ("rate_approximate", "rate_pure", "rate_sampling")
METRIC = "excess_risk"


def simulate(task: Sweep, _: None) -> pd.DataFrame:
    """Every point of the sweep; for a worker process."""
    return collect(task, [run_slice(task, part) for part in task.parts()])


def blocks(task: Task, asked: Asked) -> Sequence[Block]:
    """The tab."""
    few = Asked(
        methods=(ProvedDescent.key,),
        main=ProvedDescent.key,
        metric=METRIC,
        epsilon=asked.epsilon,
        delta=asked.delta,
        seeds=asked.seeds,
        seed=asked.seed,
        target=asked.target,
    )
    return [
        Slow(
            slot="training-theory",
            key=(*task.identity, "theory", asked.epsilon, asked.delta, asked.seeds, asked.seed),
            work=simulate,
            common=lambda: curves.sweep(task, few, "n"),
            show=lambda frame: _drawn(task, few, frame),
            what=said.WORKING,
            height=HEIGHT,
        )
    ]


def _drawn(task: Task, asked: Asked, frame: pd.DataFrame) -> Sequence[Block]:
    found = frame[(frame["method"] == ProvedDescent.key) & (frame["metric"] == METRIC)].sort_values("n")
    truth = read_off(found, "n", float(task.n))
    if truth is None:
        raise ValueError("the sweep holds the data's own size")
    shared = {"d": float(task.features.d), "epsilon": asked.epsilon, "delta": asked.delta, "radius": RADIUS}
    shared["lipschitz"] = task.loss.lipschitz(RADIUS)
    steps = ProvedDescent(epsilon=asked.epsilon, delta=asked.delta).steps
    known = theorems()
    simulated = Line(
        key="simulated", name=said.SIMULATED, x=found["n"].to_numpy(float), values=found["value"].to_numpy()
    )
    return [
        *Promise(
            key="training-theory",
            theorem=known["descent"],
            axis="n",
            x=along(100.0, max(1e9, 10.0 * task.n)),
            settings=shared | {"steps": float(steps)},
            chosen=float(task.n),
            truth=truth,
            truth_name=said.SIMULATED,
            exact=(simulated,),
            simulated=True,
            also=tuple((known[key], shared) for key in RATES),
            x_title=promise_said.PEOPLE,
            y_title=said.EXCESS,
        ).blocks(),
        Small(said.note(asked.seeds, float(found["n"].min()), float(found["n"].max()), RADIUS, steps)),
    ]
