"""The trade-off of private training: curves that fill in while worker processes simulate them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from dashboard import session, words
from dashboard.charts.heat_map import heat_map
from dashboard.charts.theme import EPSILON_TITLE, colours, palette
from dashboard.charts.tradeoff import HEIGHT, Scale, read_off, tradeoff
from dashboard.panels.earlier import Place
from dashboard.panels.tradeoff import AXES, describe_at
from dashboard.panels.training.setup import DEFAULTS, Task
from dpcore.tradeoff import COLUMNS
from dpcore.training import RADIUS, RATES, Sweep, rate, reaching

LEVELS = (session.EPSILON_LOW, 0.03, 0.1, 0.2, 0.35, 0.6, 1.0, 2.0, 4.0, session.EPSILON_HIGH)
COARSE = (session.EPSILON_LOW, 0.04, 0.15, 0.6, 2.5, session.EPSILON_HIGH)
BASELINES = {"non_private": "Without privacy", "majority_class": "Always the commonest"}
RATE_NAMES = {
    "rate_approximate": "best rate, (ε, δ), up to a constant",
    "rate_pure": "best rate, pure ε, up to a constant",
    "rate_sampling": "rate of sampling, up to a constant",
}
SCALES = {
    "accuracy": Scale(title="right predictions in 100", factor=100.0, unit=" in 100", zoom=True),
    "squared_error": Scale(title="mean squared error (range scaled to −1…1)", zoom=True),
    "excess_risk": Scale(title=f"excess risk: loss above the best model's, weights up to {RADIUS:g} long"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What the page asks for."""

    methods: tuple[str, ...]
    main: str
    metric: str
    epsilon: float
    delta: float
    seeds: int
    seed: int
    target: float | None
    mark: str | None


def sweep(task: Task, asked: Asked, axis: str) -> Sweep:
    """The simulation behind one view of the chart."""
    common: dict[str, Any] = {
        "X": task.rows.X,
        "y": task.rows.y,
        "X_test": task.rows.X_test,
        "y_test": task.rows.y_test,
        "delta": asked.delta,
        "loss": task.loss,
        "seed": asked.seed,
    }
    if axis == AXES[0]:
        return Sweep(methods=asked.methods, epsilon=LEVELS, seeds=models(asked, axis), **common)
    if axis == AXES[1]:
        return Sweep(
            methods=asked.methods,
            epsilon=(asked.epsilon,),
            sizes=sizes(task.n, 6),
            seeds=models(asked, axis),
            **common,
        )
    return Sweep(methods=(asked.main,), epsilon=COARSE, sizes=sizes(task.n, 5), seeds=models(asked, axis), **common)


def models(asked: Asked, axis: str) -> int:
    """How many private models a point stands for: fewer where the sweep has more points."""
    return {AXES[0]: asked.seeds, AXES[1]: max(4, asked.seeds // 2)}.get(axis, 6)


def sizes(n: int, count: int) -> tuple[int, ...]:
    """Sample sizes from a tenth of the data's own to four times it (rows repeated: more people like these)."""
    return tuple(sorted({max(20, round(size)) for size in np.geomspace(n / 10, 4 * n, count)} | {n}))


def sweep_key(task: Task, asked: Asked, axis: str) -> tuple[Any, ...]:
    """Names the data and all that the sweep depends on."""
    depends = asked.epsilon if axis == AXES[1] else None
    main = asked.main if axis == AXES[2] else asked.methods
    return (*task.key, axis, main, asked.delta, asked.seeds, asked.seed, depends)


def names(labels: Mapping[str, str]) -> dict[str, str]:
    return {**labels, **BASELINES, **RATE_NAMES}


def question(task: Task, asked: Asked) -> str:
    """What is asked, in Markdown, for who sees the answer when something else is asked."""
    target = words.safe(words.visible(task.features.target.name, 30))
    count = words.plural(len(task.features.columns), "column", "columns")
    return f"“{target}” from {count}, {task.n:,} training rows, δ = {words.tiny(asked.delta)}"


def place(task: Task, asked: Asked, axis: str) -> Place:
    """Where the chart is drawn, and until then the one before."""
    at = f", at ε = {words.number(asked.epsilon)}" if axis == AXES[1] else ""
    told = f"{question(task, asked)}{at}, {models(asked, axis)} models at each point"
    return Place(name="training", about=told, data=task.own)


def draw(task: Task, asked: Asked, axis: str, frame: pd.DataFrame, labels: Mapping[str, str]) -> None:
    """The chart of what has been simulated so far."""
    shown = frame[frame["metric"] == asked.metric]
    ink = inks(task, labels, session.dark())
    scale = SCALES[asked.metric]
    called = names(labels)
    if axis == AXES[2]:
        _map(task, asked, shown[shown["method"] == asked.main], called, scale)
        return
    x = "epsilon" if axis == AXES[0] else "n"
    if asked.metric == "excess_risk":
        shown = pd.concat([shown[shown["method"] != "non_private"], _rates(task, asked, shown, x)], ignore_index=True)
    if shown[shown["method"] == asked.main][x].nunique() < 2:
        place(task, asked, axis).keep(height=HEIGHT)
        return
    chosen = asked.epsilon if x == "epsilon" else float(task.n)
    drawn = shown.copy()
    others = drawn["method"] != asked.main  # one band can be read, five cannot
    drawn.loc[others, "low"] = drawn.loc[others, "high"] = drawn.loc[others, "value"]
    figure = tradeoff(
        drawn,
        x=x,
        x_title=(
            EPSILON_TITLE if x == "epsilon" else f"number of training rows n, at ε = {words.number(asked.epsilon)}"
        ),
        scale=scale,
        names=called,
        colour=ink,
        main=asked.main,
        chosen=chosen,
        target=asked.target,
        dark=session.dark(),
        log_y=asked.metric == "excess_risk",
    )
    here = f"ε = {words.number(asked.epsilon)}" if x == "epsilon" else f"{task.n:,} rows"
    place(task, asked, axis).draw(
        figure,
        key=f"training-{x}",
        alt=describe_at(shown, called, scale, x, chosen, here),
        data=shown,
        mark=asked.mark,
    )
    st.caption(
        "Simulated: each point is the mean of up to "
        f"{models(asked, axis)} private models. Shaded: range of what you might see, 8 of 10 models by "
        f"{called[asked.main].lower()}. Settings are fixed in advance, never tuned on these data."
    )


def inks(task: Task, labels: Mapping[str, str], dark: bool) -> dict[str, str]:
    """A colour per method, the usual ones first so that they differ; what is not private is drawn in ink."""
    usual = DEFAULTS[task.two_classes]
    look = palette(dark)
    ordered = [*(key for key in usual if key in labels), *(key for key in labels if key not in usual)]
    return {**colours(ordered, dark), "non_private": look.ink, "majority_class": look.soft}


def _rates(task: Task, asked: Asked, shown: pd.DataFrame, x: str) -> pd.DataFrame:
    """The theory's rates on the places of the curves, constants left out."""
    places = shown[["epsilon", "n"]].drop_duplicates().sort_values(x)
    epsilon, n = places["epsilon"].to_numpy(float), places["n"].to_numpy(float)
    parts = []
    for name in RATES:
        value = rate(
            name,
            d=task.features.d,
            epsilon=epsilon,
            n=n,
            delta=asked.delta,
            radius=RADIUS,
            lipschitz=task.loss.lipschitz(RADIUS),
        )
        parts.append(
            pd.DataFrame(
                {
                    "method": name,
                    "epsilon": epsilon,
                    "n": n,
                    "metric": "excess_risk",
                    "value": value,
                    "low": value,
                    "high": value,
                    "kind": "bound",
                }
            )
        )
    return pd.concat(parts, ignore_index=True)[list(COLUMNS)]


def _map(task: Task, asked: Asked, part: pd.DataFrame, called: Mapping[str, str], scale: Scale) -> None:
    full = part["epsilon"].nunique() * part["n"].nunique()
    if len(part) < full or part["n"].nunique() < 2 or part["epsilon"].nunique() < 2:
        place(task, asked, AXES[2]).keep(height=HEIGHT)
        return
    figure = heat_map(
        part.sort_values(["n", "epsilon"]),
        scale=scale,
        n_title="number of training rows n",
        chosen=(asked.epsilon, float(task.n)),
        target=asked.target,
        higher_is_better=asked.metric == "accuracy",
        dark=session.dark(),
    )
    alt = f"{scale.title} of {called[asked.main]} at every ε and number of rows."
    place(task, asked, AXES[2]).draw(figure, key="training-both", alt=alt, data=part, mark=asked.mark)
    st.caption(f"Colour: {scale.title}, {called[asked.main].lower()}. Dashed line: where what you need is met.")


def at_epsilon(frame: pd.DataFrame, method: str, metric: str, epsilon: float) -> tuple[float, float, float] | None:
    """Value and band of a method read off its simulated curve between two levels; None where it is not there yet."""
    part = frame[(frame["method"] == method) & (frame["metric"] == metric)]
    value, low, high = (read_off(part, "epsilon", epsilon, name) for name in ("value", "low", "high"))
    return None if value is None or low is None or high is None else (value, low, high)


def needed(frame: pd.DataFrame, asked: Asked, along: str) -> float | None:
    """The smallest ε or n on the simulated curve that gives the target."""
    if asked.target is None or frame[(frame["method"] == asked.main) & (frame["metric"] == asked.metric)].empty:
        return None
    return reaching(frame, asked.target, method=asked.main, metric=asked.metric, along=along)
