"""The trade-off view: one metric against ε, against sample size, or over both, with the target and the chosen point."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
import streamlit as st

from dashboard import compute, session, words
from dashboard.charts.heat_map import heat_map
from dashboard.charts.ready import packed
from dashboard.charts.theme import EPSILON_TITLE, Figure, colours
from dashboard.charts.tradeoff import Scale, read_off, tradeoff
from dashboard.panels.picture import picture
from dpcore.tradeoff import Problem, epsilon_for, size_for, sweep_both, sweep_epsilon, sweep_size

AXES = ("Privacy level ε", "Sample size", "Both")


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """What a page wants drawn.

    ``identity`` names the data and every parameter the numbers depend on except ε and n (fingerprint first): it is the
    cache key. ``methods`` are the keys to draw, ``main`` among them; ``everything`` fixes the colours. ``extra`` names
    further pictures of the page, offered before the three that every page has; ``first`` is shown first.
    """

    page: str
    problem: Problem
    identity: tuple[Hashable, ...]
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
    band: str | None = None
    extra: Mapping[str, Callable[[], None]] = field(default_factory=dict)
    first: str = AXES[0]

    @property
    def higher(self) -> bool:
        return self.problem.metrics[self.metric].higher


def axis_switch(view: View) -> str:
    """What the chart is drawn against: one of ``AXES``."""
    axis = st.segmented_control(
        "Show it against",
        [*view.extra, *AXES],
        default=view.first,
        required=True,
        key=f"{view.page}_axis",
        bind="query-params",
        label_visibility="collapsed",
        format_func=lambda name: f"Number of {view.size_word}" if name == AXES[1] else name,
    )
    return str(axis)


def show(view: View, axis: str) -> None:
    """The chart against ``axis``."""
    if axis in view.extra:
        view.extra[axis]()
    elif axis == AXES[2]:
        _map(view)
    else:
        _lines(view, "epsilon" if axis == AXES[0] else "n")


def _lines(view: View, x: str) -> None:
    swept = epsilon_frame if x == "epsilon" else size_frame
    ghost = view.ghost is not None and (view.ghost_identity, view.ghost_name)
    drawn = (view.metric, view.main, tuple(view.methods), tuple(view.everything), tuple(view.names.items()))
    scale = (view.size_word, view.size_title, view.sizes, repr(view.scale))
    key = (*view.identity, "chart", x, ghost, drawn, scale, view.epsilon, view.target, session.dark())
    figure, alt = compute.shared(key, lambda: _drawn(view, x, swept(view, view.problem, view.identity)))
    picture(
        figure,
        key=f"{view.page}-{x}",
        alt=alt,
        data=lambda: swept(view, view.problem, view.identity),
        code=view.code,
        mark=view.mark,
    )
    if view.band:
        st.caption(view.band)


def _drawn(view: View, x: str, frame: pd.DataFrame) -> tuple[Figure, str]:
    """The chart of ``frame``, packed, and its words."""
    dark = session.dark()
    ghost = None
    if view.ghost is not None:
        make = epsilon_frame if x == "epsilon" else size_frame
        ghost = make(view, view.ghost, view.ghost_identity)
        ghost = ghost[ghost["method"] == view.main]
    figure = tradeoff(
        frame,
        x=x,
        x_title=(EPSILON_TITLE if x == "epsilon" else f"{view.size_title}, at ε = {words.number(view.epsilon)}"),
        scale=view.scale,
        names=view.names,
        colour=colours(view.everything, dark),
        main=view.main,
        chosen=view.epsilon if x == "epsilon" else float(view.problem.n),
        target=view.target,
        ghost=ghost,
        ghost_name=view.ghost_name,
        dark=dark,
    )
    return packed(figure), describe(view, frame, x)


def _map(view: View) -> None:
    low, high = size_range(view)
    span = epsilon_range(view)
    frame = compute.cached(
        (*view.identity, "map", view.main, view.metric, low, high, span),
        lambda: sweep_both(
            view.problem, np.geomspace(*span, 41), np.geomspace(low, high, 41), method=view.main, metric=view.metric
        ),
    )
    figure = heat_map(
        frame,
        scale=view.scale,
        n_title=view.size_title,
        chosen=(view.epsilon, float(view.problem.n)),
        target=view.target,
        higher_is_better=view.higher,
        dark=session.dark(),
    )
    alt = (
        f"{view.scale.title} of {view.names[view.main]} at every ε and {view.size_title}; "
        "the dashed line is where the target is met."
    )
    picture(figure, key=f"{view.page}-both", alt=alt, data=frame, code=view.code, mark=view.mark)
    st.caption(f"Colour: {view.scale.title}, {view.names[view.main].lower()}. Dashed line: where what you need is met.")


def epsilon_frame(view: View, problem: Problem, identity: tuple[Hashable, ...]) -> pd.DataFrame:
    """The sweep over ε that the chart draws, cached."""
    span = epsilon_range(view)
    return compute.cached(
        (*identity, "epsilon", tuple(view.methods), view.metric, span),
        lambda: _swept(
            view, problem, lambda p, m: sweep_epsilon(p, np.geomspace(*span, 61), methods=m, metrics=[view.metric])
        ),
    )


def size_frame(view: View, problem: Problem, identity: tuple[Hashable, ...]) -> pd.DataFrame:
    """The sweep over sample size at the chosen ε, cached."""
    span = size_range(view)
    return compute.cached(
        (*identity, "n", tuple(view.methods), view.metric, span, view.epsilon),
        lambda: _swept(
            view,
            problem,
            lambda p, m: sweep_size(p, np.geomspace(*span, 61), epsilon=view.epsilon, methods=m, metrics=[view.metric]),
        ),
    )


def _swept(view: View, problem: Problem, sweep: Callable[[Problem, Sequence[str]], pd.DataFrame]) -> pd.DataFrame:
    """The main method with its band, the others without: a band costs many evaluations and is drawn once."""
    others = [method for method in view.methods if method != view.main]
    parts = [sweep(getattr(problem, "central", problem), others)] if others else []
    return pd.concat([*parts, sweep(problem, [view.main])], ignore_index=True)


def epsilon_range(view: View) -> tuple[float, float]:
    """From 0.01 to 10, widened until it holds the passage from chance to certainty and the chosen ε."""
    low, high = compute.cached((*view.identity, "passage", view.main, view.metric), lambda: _passage(view))
    return (min(0.01, low, view.epsilon), max(10.0, high, view.epsilon))


def size_range(view: View) -> tuple[float, float]:
    """Sizes around the data's own, wide enough to show where the target is met."""
    if view.sizes is not None:
        return view.sizes
    n = float(view.problem.n)
    needed = needed_size(view) or n
    low, high = min(n, needed) / 10, max(n, needed) * 10
    return (float(max(1.0, 10.0 ** np.floor(np.log10(low)))), float(10.0 ** np.ceil(np.log10(high))))


def needed_epsilon(view: View) -> float | None:
    if view.target is None:
        return None
    goal = view.target
    return compute.cached(
        (*view.identity, "epsilon for", view.main, view.metric, goal),
        lambda: epsilon_for(goal, view.problem, method=view.main, metric=view.metric, low=1e-6, high=1e3),
    )


def needed_size(view: View) -> int | None:
    if view.target is None:
        return None
    goal = view.target
    most = 10**9 if view.sizes is None else int(view.sizes[1])
    return compute.cached(
        (*view.identity, "size for", view.main, view.metric, goal, view.epsilon, most),
        lambda: size_for(goal, view.problem, method=view.main, metric=view.metric, epsilon=view.epsilon, high=most),
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
    for method, part in frame.groupby("method", sort=False):
        value = read_off(part, x, chosen)
        if value is not None:
            parts.append(f"{names[str(method)]} {words.number(value * scale.factor)}{scale.unit}")
    return f"{scale.title} at {place}: " + ", ".join(parts) + "."
