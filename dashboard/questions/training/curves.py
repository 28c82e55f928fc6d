"""The trade-off of private training: curves that fill in while worker processes simulate them."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from dashboard import words
from dashboard.blocks import Picture
from dashboard.case import Memo, unremembered
from dashboard.charts.heat_map import heat_map
from dashboard.charts.theme import EPSILON_TITLE, colours, palette
from dashboard.charts.tradeoff import HEIGHT, Scale, read_columns, read_off, tradeoff
from dashboard.questions.training.prepared_rows import Task
from dashboard.view import EPSILON_HIGH, EPSILON_LOW, describe_at, reached
from dashboard.words import predict as said
from dashboard.words.measured import found_title
from dpcore.tradeoff import COLUMNS, Metric
from dpcore.training import (
    RADIUS,
    RATES,
    Method,
    ProvedDescent,
    Sweep,
    descent_bound,
    rate,
    suitable,
    usual_methods,
)
from dpcore.training.baselines import ABOUTS, MAJORITY, NON_PRIVATE
from dpcore.training.losses import LinearLoss
from dpcore.training.recall import FOUND
from dpcore.training.training_problem import ABOUT_BOUND, BOUND, METRICS
from dpcore.validate import FloatArray

LEVELS = (EPSILON_LOW, 0.03, 0.1, 0.2, 0.35, 0.6, 1.0, 2.0, 4.0, EPSILON_HIGH)
COARSE = (EPSILON_LOW, 0.04, 0.15, 0.6, 2.5, EPSILON_HIGH)
AVERAGE = "always_average"


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What is simulated and shown; ``target`` in the metric's own unit."""

    methods: tuple[str, ...]
    main: str
    metric: str
    epsilon: float
    delta: float
    seeds: int
    seed: int
    target: float


def methods(task: Task) -> dict[str, type[Method]]:
    """Methods that can train for this task, by key: by the columns chosen, not by how many of them vary."""
    rows = _Rows(
        codes=task.codes is not None,
        uncut=task.uncut is not None,
        pairable=task.pairable is not None,
        choosable=task.choosable is not None,
    )
    return dict(_methods(task.loss, task.most, task.features.outputs if task.apart else 2, rows))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rows:
    """Which sorts of rows a task has, beside those that every task has."""

    codes: bool
    uncut: bool
    pairable: bool
    choosable: bool

    def suit(self, kind: type[Method]) -> bool:
        """Whether the sort that a method trains on is among them."""
        if chooses(kind):
            return self.choosable
        if buys_pairs(kind):
            return self.pairable
        if buys_cuts(kind):
            return self.uncut
        return self.codes or not on_steps(kind)


@lru_cache(maxsize=64)  # asked some sixty times while a page is drawn once
def _methods(loss: LinearLoss, most: int, classes: int, rows: _Rows) -> dict[str, type[Method]]:
    return {key: kind for key, kind in suitable(loss, most, classes=classes).items() if rows.suit(kind)}


def chooses(kind: type[Method]) -> bool:
    """Whether a method chooses the way in which it builds a model."""
    return bool(getattr(kind, "chosen", False))


def buys_pairs(kind: type[Method]) -> bool:
    """Whether a method buys which columns act together."""
    return bool(getattr(kind, "paired", False))


def looks_at_pairs(kind: type[Method]) -> bool:
    """Whether a method is trained on every pair of columns."""
    return chooses(kind) or buys_pairs(kind)


def buys_cuts(kind: type[Method]) -> bool:
    """Whether a method buys where numbers are cut."""
    return bool(getattr(kind, "uncut", False))


def on_steps(kind: type[Method]) -> bool:
    """Whether a method trains on steps, whatever the others take: then it has no excess risk among them."""
    return bool(getattr(kind, "coded", False))


def drawn_first(task: Task) -> tuple[str, ...]:
    """Those drawn until somebody chooses: the best, the best known, and the textbook's."""
    known = methods(task)
    return tuple(key for key in usual_methods(two_classes=task.classifies) if key in known)


def names(task: Task) -> dict[str, str]:
    """What every line is called."""
    found = {key: kind.about.name for key, kind in methods(task).items()}
    return (
        found
        | {key: about.name for key, about in (ABOUTS | RATES | {BOUND: ABOUT_BOUND}).items()}
        | {AVERAGE: said.AVERAGE}
    )


def scale(metric: str, task: Task | None = None) -> Scale:
    """How a metric is written; with a ``task`` that of its classes by their names."""
    known: Metric = METRICS[metric]
    title = found_title(task.classes[1]) if task is not None and metric == FOUND else known.title
    return Scale(title=title, factor=known.factor, unit=known.unit, zoom=known.narrow)


def slot(axis: str) -> str:
    """The place of the simulation behind one view of the chart."""
    return f"training-{axis}"


def sweep_key(task: Task, asked: Asked, axis: str) -> tuple[Hashable, ...]:
    """Names the data and all that the simulation depends on."""
    depends = asked.epsilon if axis == "n" else None
    main = (asked.main,) if axis == "both" else asked.methods
    return (*task.identity, axis, main, asked.delta, asked.seeds, asked.seed, depends)


def sweep(task: Task, asked: Asked, axis: str) -> Sweep:
    """The simulation behind one view of the chart."""
    kinds: Mapping[str, Any] = methods(task)
    asked_for = [kinds[key] for key in ((asked.main,) if axis == "both" else asked.methods)]
    pairable = task.pairable() if task.pairable and any(map(buys_pairs, asked_for)) else (None, None)
    choosable = task.choosable() if task.choosable and any(map(chooses, asked_for)) else (None, None)
    common: dict[str, Any] = {
        "X": task.rows.X,
        "y": task.rows.y,
        "X_test": task.rows.X_test,
        "y_test": task.rows.y_test,
        "delta": asked.delta,
        "loss": task.loss,
        "classes": task.features.outputs if task.apart else 2,
        "coded": None if task.codes is None else task.codes[0],
        "coded_test": None if task.codes is None else task.codes[1],
        "uncut": None if task.uncut is None else task.uncut[0],
        "uncut_test": None if task.uncut is None else task.uncut[1],
        "pairable": pairable[0],
        "pairable_test": pairable[1],
        "choosable": choosable[0],
        "choosable_test": choosable[1],
        "seed": asked.seed,
        "seeds": models(asked, axis),
        "options": tuple(
            (key, tuple(kind.settings_for(task.features).items()))
            for key, kind in kinds.items()
            if hasattr(kind, "settings_for")
        ),
    }
    if axis == "epsilon":
        return Sweep(methods=asked.methods, epsilon=LEVELS, **common)
    if axis == "n":
        return Sweep(methods=asked.methods, epsilon=(asked.epsilon,), sizes=sizes(task.n, 6), **common)
    return Sweep(methods=(asked.main,), epsilon=COARSE, sizes=sizes(task.n, 5), **common)


def models(asked: Asked, axis: str) -> int:
    """How many private models a point stands for: fewer where the sweep has more points."""
    return 6 if axis == "both" else asked.seeds


def sizes(n: int, count: int) -> tuple[int, ...]:
    """Sample sizes from a tenth of the data's own to four times it (rows repeated: more people like these)."""
    return tuple(sorted({max(20, round(size)) for size in np.geomspace(n / 10, 4 * n, count)} | {n}))


def at_epsilon(frame: pd.DataFrame, method: str, metric: str, epsilon: float) -> tuple[float, float, float] | None:
    """Value and band of a method read off its simulated curve between two levels; None where it is not there yet."""
    found = read_columns(frame, "epsilon", epsilon, ("value", "low", "high"), method=method, metric=metric)
    return None if found is None else (found[0], found[1], found[2])


def between(frame: pd.DataFrame, epsilon: float, column: str) -> float:
    """A column of whole curves along ``epsilon``, read off between two levels; raises ValueError outside them."""
    found = read_off(frame, "epsilon", epsilon, column)
    if found is None:
        raise ValueError("there is nothing to read off at this level")
    return found


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Curves:
    """The main chart, a ``dashboard.view.Chart``: ``frame`` holds what is simulated so far along ``axis``, if any.

    ``memo`` keeps pictures of it, once all is there.
    """

    page: ClassVar[str] = "training"
    size_word: ClassVar[str] = "rows"
    axes: ClassVar[Mapping[str, str]] = said.AXES
    first: ClassVar[str] = "epsilon"
    height: ClassVar[int] = HEIGHT

    task: Task
    asked: Asked
    axis: str = "epsilon"
    frame: pd.DataFrame | None = None
    memo: Memo = unremembered

    @property
    def main(self) -> str:
        """The key of the method in use."""
        return self.asked.main

    @property
    def names(self) -> Mapping[str, str]:
        """What every line is called."""
        return names(self.task)

    @property
    def scale(self) -> Scale:
        """How the metric that is shown is written."""
        return scale(self.asked.metric, self.task)

    @property
    def about(self) -> str:
        """What is asked, in Markdown, for who sees the answer when something else is asked."""
        at = self.asked.epsilon if self.axis == "n" else None
        told = said.about(self.task.target, len(self.task.columns), self.task.n, self.asked.delta, at)
        return said.models_at_each_point(told, models(self.asked, self.axis))

    @property
    def empty(self) -> bool:
        """Nothing can be drawn from less than two points, and no map from part of one."""
        if self.frame is None:
            return True
        part = self._shown(self.frame)
        part = part[part["method"] == self.asked.main]
        if self.axis == "both":
            full = part["epsilon"].nunique() * part["n"].nunique()
            return bool(len(part) < full or part["n"].nunique() < 2 or part["epsilon"].nunique() < 2)
        return bool(part[self.axis].nunique() < 2)

    @property
    def point(self) -> float | None:
        """The height of the method in use at the chosen ε, as the chart writes it; None where it is not simulated."""
        return self._height(self.asked.epsilon)

    def heights(self, levels: Sequence[float]) -> Sequence[float | None]:
        """The same at other levels of ε; only curves along ε know them."""
        return [self._height(level) if self.axis == "epsilon" else None for level in levels]

    def grown(self, times: Sequence[float]) -> Sequence[tuple[float, float]]:
        """None: each size takes models of its own, which the chart against the number of rows trains."""
        return []

    def enough(self, heights: Sequence[float]) -> Sequence[bool]:
        """Whether heights reach the target."""
        asked = self.asked
        return reached(heights, asked.target * self.scale.factor, higher=METRICS[asked.metric].higher)

    def _height(self, level: float) -> float | None:
        asked = self.asked
        found = None if self.frame is None else at_epsilon(self.frame, asked.main, asked.metric, level)
        return None if found is None else found[0] * self.scale.factor

    def picture(self, axis: str) -> Picture:
        """The chart; ``axis`` is the one it was made for, and it is not ``empty``."""
        if self.frame is None or axis != self.axis:
            raise ValueError("there is nothing to draw against this axis yet")
        frame, asked, memo = self.frame, self.asked, self.memo
        key = ("picture", *sweep_key(self.task, asked, axis), asked.main, asked.metric, asked.epsilon, asked.target)

        def made() -> Picture:
            shown = self._shown(frame)
            drawn = self._map(shown[shown["method"] == asked.main]) if axis == "both" else self._lines(shown)
            return replace(drawn, figure=lambda dark: memo((*key, dark), lambda: drawn.figure(dark)))

        return memo(key, made)

    def _shown(self, frame: pd.DataFrame) -> pd.DataFrame:
        return frame[frame["metric"] == self.asked.metric]

    def _lines(self, shown: pd.DataFrame) -> Picture:
        task, asked, x = self.task, self.asked, self.axis
        shown = pd.concat([shown, *self._beside(shown)], ignore_index=True)
        if asked.metric == "excess_risk":
            shown = shown[shown["method"] != NON_PRIVATE]
        drawn = shown.copy()
        others = drawn["method"] != asked.main  # one band can be read, five cannot
        drawn.loc[others, "low"] = drawn.loc[others, "high"] = drawn.loc[others, "value"]
        chosen = asked.epsilon if x == "epsilon" else float(task.n)
        # what is kept holds no rows
        called, ink, written = names(task), {dark: inks(task, dark) for dark in (False, True)}, self.scale
        return Picture(
            key=f"training-{x}",
            figure=lambda dark: tradeoff(
                drawn,
                x=x,
                x_title=EPSILON_TITLE if x == "epsilon" else said.rows_title(asked.epsilon),
                scale=written,
                names=called,
                colour=ink[dark],
                main=asked.main,
                chosen=chosen,
                target=asked.target,
                goal_name=words.goal(higher=METRICS[asked.metric].higher),
                dark=dark,
                log_y=asked.metric == "excess_risk",
            ),
            alt=describe_at(shown, called, written, x, chosen, said.place(x, chosen)),
            data=shown,
            note=said.note(
                models(asked, x),
                called[asked.main],
                self._above(shown),
                others=x != "epsilon",
                steps=on_steps(methods(task)[asked.main]),
            )
            + said.beside(self._others(shown))
            + self._theory(shown, chosen),
        )

    def _others(self, shown: pd.DataFrame) -> dict[str, str]:
        """What the other private models that are drawn do, by the names of their lines."""
        drawn = set(shown["method"]) - {self.asked.main, NON_PRIVATE, MAJORITY}
        known, called = methods(self.task), names(self.task)
        return {called[key]: method.about.plain for key, method in known.items() if key in drawn}

    def _theory(self, shown: pd.DataFrame, chosen: float) -> str:
        """What the theorems on the chart assume, and by how much the bound is loose at the chosen place."""
        if self.asked.metric != "excess_risk":
            return ""
        found, bound = (
            read_off(shown[shown["method"] == key], self.axis, chosen) for key in (ProvedDescent.key, BOUND)
        )
        loose = bound / found if found and bound is not None else None
        steps = ProvedDescent(epsilon=1.0, delta=self.asked.delta).steps
        steepest = self.task.loss.lipschitz(RADIUS)
        called = ProvedDescent.about.name
        return said.theory(RADIUS, steepest, steps, called, loose, said.place(self.axis, chosen))

    def _above(self, shown: pd.DataFrame) -> bool:
        """Whether the private line somewhere lies beyond the one without privacy, which must be chance."""
        if self.asked.metric in ("excess_risk", FOUND):  # more are found by noise where a class is rare
            return False
        values = {key: part.set_index(self.axis)["value"] for key, part in shown.groupby("method")}
        gained = (values[self.asked.main] - values[NON_PRIVATE]).dropna() if NON_PRIVATE in values else pd.Series([0.0])
        return bool((gained > 0).any() if METRICS[self.asked.metric].higher else (gained < 0).any())

    def _beside(self, shown: pd.DataFrame) -> list[pd.DataFrame]:
        """Lines that nobody has to train for: the theory's rates, or always guessing the average."""
        task, asked = self.task, self.asked
        places = shown[["epsilon", "n"]].drop_duplicates().sort_values(self.axis)
        epsilon, n = places["epsilon"].to_numpy(float), places["n"].to_numpy(float)
        values: dict[str, tuple[Any, str]] = {}
        if asked.metric == "excess_risk":
            for name in RATES:
                values[name] = (rate(name, delta=asked.delta, **over_ball(task, epsilon, n)), "bound")
            proved = descent_bound(delta=asked.delta, **over_ball(task, epsilon, n))
            values[BOUND] = (proved, "bound")
        elif asked.metric == "squared_error":
            values[AVERAGE] = (np.full_like(epsilon, task.guessing), "exact")
        return [
            pd.DataFrame(
                {
                    "method": name,
                    "epsilon": epsilon,
                    "n": n,
                    "metric": asked.metric,
                    "value": value,
                    "low": value,
                    "high": value,
                    "kind": kind,
                }
            )[list(COLUMNS)]
            for name, (value, kind) in values.items()
        ]

    def _map(self, part: pd.DataFrame) -> Picture:
        asked, called, n, written = self.asked, names(self.task), float(self.task.n), self.scale
        return Picture(
            key="training-both",
            figure=lambda dark: heat_map(
                part.sort_values(["n", "epsilon"]),
                scale=written,
                n_title=said.ROWS_TITLE,
                chosen=(asked.epsilon, n),
                target=asked.target,
                higher_is_better=METRICS[asked.metric].higher,
                dark=dark,
            ),
            alt=said.map_alt(written.title, called[asked.main]),
            data=part,
            note=said.map_note(written.title, called[asked.main]),
        )


def over_ball(task: Task, epsilon: FloatArray, n: FloatArray) -> dict[str, Any]:
    """What the theorems about excess risk are about: the ball it is measured over, and how steep a loss is there."""
    steepest = task.loss.lipschitz(RADIUS)
    return {"d": task.features.d, "epsilon": epsilon, "n": n, "radius": RADIUS, "lipschitz": steepest}


def inks(task: Task, dark: bool) -> dict[str, str]:
    """A colour per method, the usual ones first so that they differ; what is not private is drawn in ink."""
    first, look = drawn_first(task), palette(dark)
    ordered = [*first, *(key for key in methods(task) if key not in first)]
    return {**colours(ordered, dark), NON_PRIVATE: look.ink, MAJORITY: look.soft, AVERAGE: look.soft}
