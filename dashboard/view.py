"""The trade-off of one question: one metric against ε, against sample size, or over both, and what a target needs.

A ``View`` is a value; ``picture`` gives its chart and ``needed`` what it takes to reach the target. Nothing is drawn
here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, Protocol

import numpy as np
import pandas as pd

from dashboard import words
from dashboard.blocks import Picture
from dashboard.case import MARK, Memo
from dashboard.charts.heat_map import heat_map
from dashboard.charts.labels import Keep
from dashboard.charts.ready import packed
from dashboard.charts.theme import EPSILON_TITLE, Figure, colours
from dashboard.charts.tradeoff import HEIGHT, ROOM, Scale, read_all, tradeoff
from dashboard.controls import Choice, Number
from dpcore.grid import round_up
from dpcore.tradeoff import (
    Metric,
    Problem,
    epsilon_for,
    epsilon_for_most,
    size_for,
    sweep_both,
    sweep_epsilon,
    sweep_size,
)

EPSILON_LOW, EPSILON_HIGH, EPSILON_DEFAULT = 0.01, 10.0, 0.5
EPSILON = Number(
    key="epsilon",
    label="Privacy loss ε, typed",
    default=EPSILON_DEFAULT,
    low=EPSILON_LOW,
    high=EPSILON_HIGH,
    step=0.1,
    refusal=(
        f"ε must be a number from {EPSILON_LOW:g} to {EPSILON_HIGH:g}; "
        f"the pages use {EPSILON_DEFAULT:g} until you change it."
    ),
)
"""The privacy level, one for all pages."""
_THICK, _DOTTED = "Thick line: the method in use, {}; others are under Options.", " Dotted: what a theorem guarantees."
_LOG = " Along the bottom each step multiplies: 0.1, 1, 10."
_TEXTBOOK = " The textbook's method (Dwork and Roth, 2014): {}."
_BEST, _NOT_BEST = ", here the best of these", ", here not the best: {} is"
LONGEST_SEARCH = (1e-6, 1e3)
"""Levels of ε between which an answer to "which ε is enough" is looked for."""

Axis = Literal["epsilon", "n", "both"]
AXES: tuple[Axis, ...] = ("epsilon", "n", "both")


@dataclass(frozen=True, slots=True, kw_only=True)
class Proviso:
    """What a need does not measure: the sentence that says what to ``decide``, where also what is so ``there`` will do,
    at the smallest ε that is enough, and what to do ``otherwise``."""

    decide: str
    there: str = "If so"
    otherwise: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Most:
    """With which least ``epsilon`` 9 of 10 ``answers`` ("models", "runs") reach the target, None where none was found;
    ``found`` says how that is known."""

    answers: str
    epsilon: float | None
    found: str


@dataclass(frozen=True, slots=True, weakref_slot=True, kw_only=True)
class Needed:
    """What reaches the target: the least ``epsilon`` and the least ``size``, None where none was found.

    ``without_privacy`` is the metric with as good as no noise, in the chart's unit; ``possible`` whether that would
    do. ``searched`` are the sizes that were looked at, ``here`` is how many there are,
    or how many the charts look at where that is a ``part``. ``average`` says that ``epsilon`` is enough on average
    only; ``most`` is there where it is known what 9 of 10 answers take.
    """

    epsilon: float | None
    size: float | None
    size_word: str
    possible: bool
    without_privacy: float | None = None
    sized: bool = True
    here: float | None = None
    searched: tuple[float, float] = (0.0, float("inf"))
    part: bool = False
    average: bool = False
    most: Most | None = None


def reached(heights: Sequence[float], goal: float, *, higher: bool) -> list[bool]:
    """Which of them reach a goal, the higher the better or the lower."""
    return [height >= goal if higher else height <= goal for height in heights]


class Chart(Protocol):
    """What a page needs of a question's main chart, whether it is computed at once or fills in.

    ``about`` says in a few words what it answers, ``empty`` whether there is nothing to draw yet. ``point`` is the
    height of the method in use at the chosen ε, as the chart writes it; None where it is not known; ``heights`` are
    those at other ``levels`` of ε, ``grown`` those with so many times the size, each beside that size in
    ``size_word``, where these are known at once, and ``enough`` whether heights reach the target; None without one.
    """

    @property
    def page(self) -> str: ...
    @property
    def size_word(self) -> str: ...
    @property
    def axes(self) -> Mapping[str, str]: ...
    @property
    def first(self) -> str: ...
    @property
    def height(self) -> int: ...
    @property
    def about(self) -> str: ...
    @property
    def empty(self) -> bool: ...
    @property
    def point(self) -> float | None: ...

    @property
    def scale(self) -> Scale: ...

    def heights(self, levels: Sequence[float]) -> Sequence[float | None]: ...

    def grown(self, times: Sequence[float]) -> Sequence[tuple[float, float]]: ...

    def enough(self, heights: Sequence[float]) -> Sequence[bool] | None: ...

    def picture(self, axis: str) -> Picture: ...


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class View:
    """What is drawn.

    ``identity`` names the data and every parameter the numbers depend on except ε and n (fingerprint first): it is the
    key of what is remembered. ``methods`` are the keys to draw, ``main`` among them; ``everything`` fixes the colours.
    ``extra`` holds further pictures of the question by key, offered before the three that every one has; ``first`` is
    shown first. ``plain`` says what the method in use does; ``textbook`` is the key of the textbook's method, and
    ``compares`` whether it is said which method is best here: of values of a person's own it is not;
    ``unprotected`` of what is not private.
    """

    page: str
    problem: Problem
    identity: tuple[Hashable, ...]
    memo: Memo
    metric: str
    scale: Scale
    names: Mapping[str, str]
    methods: Sequence[str]
    everything: Sequence[str]
    main: str
    epsilon: float
    target: float | None
    size_word: str = "people"
    size_title: str = "number of people n"
    ghost: Problem | None = None
    ghost_identity: tuple[Hashable, ...] = ()
    ghost_name: str = "as it was"
    mark: str | None = None
    code: str | None = None
    sizes: tuple[float, float] | None = None
    band: str = ""
    extra: Mapping[str, tuple[str, Callable[[], Picture]]] = field(default_factory=dict)
    first: str = "epsilon"
    height: int = HEIGHT
    about: str = ""
    empty: bool = False
    plain: str = ""
    textbook: str = ""
    compares: bool = True
    unprotected: str = ""

    @property
    def own(self) -> bool:
        """Whether it is of values of a person's own file."""
        return self.mark == MARK

    @property
    def higher(self) -> bool:
        return self.problem.metrics[self.metric].higher

    @property
    def axes(self) -> dict[str, str]:
        """What the chart can be drawn against, by key, with words."""
        return {
            **{key: title for key, (title, _) in self.extra.items()},
            "epsilon": "Privacy loss ε",
            "n": f"Number of {self.size_word}",
            "both": "ε and " + self.size_word,
        }

    @property
    def size(self) -> float:
        return float(self.problem.n)

    def at(self, method: str, metric: str | None = None) -> float:
        """A method's value at the chosen ε and the data's own size, in the metric's own unit."""
        return self.at_epsilon(method, self.epsilon, metric)

    @property
    def point(self) -> float:
        """The height of the method in use at the chosen ε, as the chart writes it."""
        return self.at(self.main) * self.scale.factor

    def at_epsilon(self, method: str, epsilon: float, metric: str | None = None, *, size: float | None = None) -> float:
        """The same at another ε, and of data of another size if one is given."""
        place = np.array([epsilon]), np.array([self.size if size is None else size])
        return float(self.problem.central.evaluate(method, metric or self.metric, *place).value[0])

    def heights(self, levels: Sequence[float]) -> Sequence[float | None]:
        """The same at other levels of ε."""
        return [None if self.empty else self.at_epsilon(self.main, level) * self.scale.factor for level in levels]

    def grown(self, times: Sequence[float]) -> Sequence[tuple[float, float]]:
        """So many times the size, where the chart goes as far, and the height there at the chosen ε."""
        most = math.inf if self.sizes is None else self.sizes[1]
        grown = [] if self.empty else [many * self.size for many in times if many * self.size <= most]
        return [(size, self.at_epsilon(self.main, self.epsilon, size=size) * self.scale.factor) for size in grown]

    def enough(self, heights: Sequence[float]) -> Sequence[bool] | None:
        """Whether heights reach the target; None without one."""
        return None if self.target is None else reached(heights, self.target * self.scale.factor, higher=self.higher)

    def picture(self, axis: str) -> Picture:
        """The chart against ``axis``, one of ``axes``."""
        if axis in self.extra:
            return self.extra[axis][1]()
        if axis == "both":
            return self._map()
        return self._lines("n" if axis == "n" else "epsilon")

    def needed(self, metric: str | None = None, target: float | None = None) -> Needed:
        """What it takes to reach the target, or another one."""
        asked = replace(self, metric=metric or self.metric, target=self.target if target is None else target)
        epsilon, size = needed_epsilon(asked), needed_size(asked)
        best = asked.at_epsilon(asked.main, LONGEST_SEARCH[1])
        goal = asked.target
        possible = goal is not None and (best >= goal if asked.higher else best <= goal)
        return Needed(
            epsilon=epsilon,
            size=size,
            size_word=self.size_word,
            possible=possible or epsilon is not None,
            without_privacy=best * asked.scale.factor,
            searched=self.sizes or (0.0, float("inf")),
            here=float(self.size),
        )

    def _lines(self, x: Literal["epsilon", "n"]) -> Picture:
        swept = epsilon_frame if x == "epsilon" else size_frame
        ghost = self.ghost is not None and (self.ghost_identity, self.ghost_name)
        drawn = (self.metric, self.main, tuple(self.methods), tuple(self.everything), tuple(self.names.items()))
        scale = (self.size_word, self.size_title, self.sizes, repr(self.scale))
        key = (*self.identity, "chart", x, ghost, drawn, scale, self.epsilon, self.target)

        def frame() -> pd.DataFrame:
            return self.memo((*key, "frame"), lambda: self._with_chosen(swept(self, self.problem, self.identity), x))

        return Picture(
            key=f"{self.page}-{x}",
            figure=lambda dark: self.memo((*key, dark), lambda: self._drawn(x, frame(), dark)),
            alt=self.memo((*key, "alt"), lambda: describe(self, frame(), x)),
            data=frame,
            code=self.code,
            note=self.memo((*key, "note", self.plain, self.textbook, self.band), lambda: self._note(x, frame)),
        )

    def _note(self, x: Literal["epsilon", "n"], frame: Callable[[], pd.DataFrame]) -> str:
        """What the lines are; which method is the textbook's and which is best at the chosen place, where told."""
        used = self.names[self.main]
        if self.plain:
            used = f"{self.plain} ({used})"
        found = frame()
        bounds, others = found[found["kind"] == "bound"], found[found["kind"] != "bound"]
        high = self.scale.hundred or (bounds["value"].min() <= ROOM * others["value"].max())
        dotted = _DOTTED if len(bounds) and high else ""
        if not self.textbook:
            return f"{_THICK.format(used)}{dotted}{_LOG} {self.band}".strip()
        chosen = self.epsilon if x == "epsilon" else self.size
        known = {key: value for key, value in read_all(others, x, chosen).items() if key != self.unprotected}
        if known and self.compares:
            best = (max if self.higher else min)(known, key=known.__getitem__)
            even = abs(known[best] - known.get(self.main, known[best])) <= 5e-4 * max(abs(known[best]), 1e-12)
            used += _BEST if even else _NOT_BEST.format(self.names[best])
        book = _TEXTBOOK.format(self.names[self.textbook])
        return f"{_THICK.format(used)}{book}{dotted}{_LOG} {self.band}".strip()

    def _with_chosen(self, frame: pd.DataFrame, x: Literal["epsilon", "n"]) -> pd.DataFrame:
        """The sweep with the very point that the headline speaks of, so that dot, words and headline are one number."""
        chosen = self.epsilon if x == "epsilon" else self.size
        if not frame[x].min() <= chosen <= frame[x].max():
            return frame
        found = pd.concat([frame, self.chosen(x)], ignore_index=True)
        return found.drop_duplicates(["method", x], keep="last")

    def chosen(self, x: Literal["epsilon", "n"]) -> pd.DataFrame:
        """The point of the method in use at the chosen ε and the data's own size, with its band."""
        methods, metrics = [self.main], [self.metric]
        if x == "epsilon":
            return sweep_epsilon(self.problem, [self.epsilon], methods=methods, metrics=metrics)
        return sweep_size(self.problem, [self.size], epsilon=self.epsilon, methods=methods, metrics=metrics)

    def _drawn(self, x: Literal["epsilon", "n"], frame: pd.DataFrame, dark: bool) -> Figure:
        ghost = None
        if self.ghost is not None:
            make = epsilon_frame if x == "epsilon" else size_frame
            ghost = make(self, self.ghost, self.ghost_identity)
            ghost = ghost[ghost["method"] == self.main]
        figure: Figure = packed(
            tradeoff(
                frame,
                x=x,
                x_title=EPSILON_TITLE if x == "epsilon" else f"{self.size_title}, at ε = {words.number(self.epsilon)}",
                scale=self.scale,
                names=self.names,
                colour=colours(self.everything, dark),
                main=self.main,
                chosen=self.epsilon if x == "epsilon" else self.size,
                target=self.target,
                ghost=ghost,
                ghost_name=self.ghost_name,
                goal_name=words.goal(higher=self.higher),
                dark=dark,
                keep=self._named_at(x, ghost is not None),
            )
        )
        return figure

    def _named_at(self, x: Literal["epsilon", "n"], ghost: bool) -> Keep:
        """Where names stand hangs on no ε of a sweep over ε."""
        at = epsilon_range(self) if x == "epsilon" else (*size_range(self), self.epsilon)
        beside = (self.ghost_identity, self.ghost_name) if ghost else ()
        drawn = (self.metric, self.main, tuple(self.methods), tuple(self.everything), tuple(self.names.items()))
        key = (*self.identity, "names", x, at, beside, drawn, repr(self.scale), self.target)
        return lambda find: self.memo(key, find)

    def _map(self) -> Picture:
        low, high = size_range(self)
        span = epsilon_range(self)
        frame = self.memo(
            (*self.identity, "map", self.main, self.metric, low, high, span),
            lambda: sweep_both(
                self.problem, np.geomspace(*span, 41), np.geomspace(low, high, 41), method=self.main, metric=self.metric
            ),
        )
        return Picture(
            key=f"{self.page}-both",
            figure=lambda dark: heat_map(
                frame,
                scale=self.scale,
                n_title=self.size_title,
                chosen=(self.epsilon, self.size),
                target=self.target,
                higher_is_better=self.higher,
                dark=dark,
            ),
            alt=(
                f"{self.scale.title} of {self.names[self.main]} at every ε and {self.size_title}; "
                "the dashed line is where the target is met."
            ),
            data=frame,
            code=self.code,
            note=f"Colour: {self.scale.title}, {self.names[self.main].lower()}. "
            "Dashed line: where the goal set is met.",
        )


def epsilon_frame(view: View, problem: Problem, identity: tuple[Hashable, ...]) -> pd.DataFrame:
    """The sweep over ε that the chart draws, cached."""
    span = epsilon_range(view)
    return view.memo(
        (*identity, "epsilon", tuple(view.methods), view.main, view.metric, span),
        lambda: _swept(
            view, problem, lambda p, m: sweep_epsilon(p, np.geomspace(*span, 61), methods=m, metrics=[view.metric])
        ),
    )


def size_frame(view: View, problem: Problem, identity: tuple[Hashable, ...]) -> pd.DataFrame:
    """The sweep over sample size at the chosen ε, cached."""
    span = size_range(view)
    return view.memo(
        (*identity, "n", tuple(view.methods), view.main, view.metric, span, view.epsilon),
        lambda: _swept(
            view,
            problem,
            lambda p, m: sweep_size(p, np.geomspace(*span, 61), epsilon=view.epsilon, methods=m, metrics=[view.metric]),
        ),
    )


def _swept(view: View, problem: Problem, sweep: Callable[[Problem, Sequence[str]], pd.DataFrame]) -> pd.DataFrame:
    """The main method with its band, the others without: a band costs many evaluations and is drawn once."""
    others = [method for method in view.methods if method != view.main]
    parts = [sweep(problem.central, others)] if others else []
    return pd.concat([*parts, sweep(problem, [view.main])], ignore_index=True)


def epsilon_range(view: View) -> tuple[float, float]:
    """From 0.01 to 10, widened until it holds the passage from chance to certainty and the chosen ε."""
    low, high = view.memo((*view.identity, "passage", view.main, view.metric), lambda: _passage(view))
    return (min(0.01, low, view.epsilon), max(10.0, high, view.epsilon))


def size_range(view: View) -> tuple[float, float]:
    """Sizes around the data's own, wide enough to show where the target is met."""
    if view.sizes is not None:
        return view.sizes
    n = float(view.problem.n)
    needed = needed_size(view) or n
    low, high = min(n, needed) / 10, max(n, needed) * 10
    return (float(max(1.0, 10.0 ** np.floor(np.log10(low)))), float(10.0 ** np.ceil(np.log10(high))))


def found_level(epsilon: float | None, *, own: bool) -> float | None:
    """A level that was found, as every card, tab, report and script has it: from values of a person's ``own`` on the
    public grid alone, since an ε can be typed as well as taken by a button that says where it is from."""
    return round_up(epsilon) if own and epsilon is not None else epsilon


def needed_epsilon(view: View) -> float | None:
    return _found(view, epsilon_for)


def needed_most(view: View) -> float | None:
    """With which ε the worse edge of the band keeps to the target: 9 of 10 answers, where it holds 80 in 100."""
    return _found(view, epsilon_for_most)


def _found(view: View, find: Callable[..., float | None]) -> float | None:
    if view.target is None:
        return None
    goal, (low, high) = view.target, LONGEST_SEARCH
    level = view.memo(
        (*view.identity, find.__name__, view.main, view.metric, goal),
        lambda: find(goal, view.problem, method=view.main, metric=view.metric, low=low, high=high),
    )
    return found_level(level, own=view.own)


def needed_size(view: View) -> int | None:
    if view.target is None:
        return None
    goal = view.target
    low, high = (1, 10**9) if view.sizes is None else (math.ceil(view.sizes[0]), int(view.sizes[1]))
    return view.memo(
        (*view.identity, "size for", view.main, view.metric, goal, view.epsilon, low, high),
        lambda: size_for(
            goal, view.problem, method=view.main, metric=view.metric, epsilon=view.epsilon, low=low, high=high
        ),
    )


def _passage(view: View) -> tuple[float, float]:
    levels = np.geomspace(1e-6, 1e3, 91)
    sizes = np.full_like(levels, float(view.problem.n))
    value = view.problem.evaluate(view.main, view.metric, levels, sizes).value
    progress = (value - value[0]) / (value[-1] - value[0]) if value[-1] != value[0] else np.ones_like(value)
    start = float(levels[np.flatnonzero(progress <= 0.05)[-1]]) if (progress <= 0.05).any() else 0.01
    end = float(levels[np.flatnonzero(progress >= 0.97)[0]]) if (progress >= 0.97).any() else 10.0
    return (10.0 ** np.floor(np.log10(start)), 10.0 ** np.ceil(np.log10(end)))


def describe(view: View, frame: pd.DataFrame, x: str) -> str:
    """Words for the chart: each method's value at the chosen point."""
    if x == "epsilon":
        return describe_at(frame, view.names, view.scale, x, view.epsilon, f"ε = {words.number(view.epsilon)}")
    size = float(view.problem.n)
    return describe_at(frame, view.names, view.scale, x, size, f"{words.whole(size)} {view.size_word}")


def describe_at(frame: pd.DataFrame, names: Mapping[str, str], scale: Scale, x: str, chosen: float, place: str) -> str:
    """Each method's value where column ``x`` is ``chosen``, as one sentence."""
    parts = []
    for method, value in read_all(frame, x, chosen).items():
        shown = words.height(value * scale.factor, hundred=scale.hundred)
        parts.append(f"{names[method]} {shown}{scale.unit}")
    return f"{scale.title} at {place}: " + ", ".join(parts) + "."


def axis_control(view: Chart) -> Choice[str]:
    """What the chart of ``view`` is drawn against."""
    return Choice(
        key=f"{view.page}_axis",
        label="Show it against",
        options=tuple(view.axes),
        names=view.axes,
        default=view.first,
        look="buttons",
        hide_label=True,
        once={  # how older links name it
            "Privacy level ε": "epsilon",
            "Sample size": "n",
            "Both": "both",
            "When it stops": "when",
            "Whom it follows": "whom",
        },
    )


def scale_of(metric: Metric, unit: str = "") -> Scale:
    """How a metric is written on a chart; ``unit`` is the data's own, for a metric that is in it."""
    own = f" ({unit})" if metric.natural and unit else ""
    return Scale(
        title=f"{metric.title}{own}",
        factor=metric.factor,
        unit=f" {unit}" if metric.natural and unit else metric.unit,
        hundred=metric.share,
        zoom=metric.narrow,
    )
