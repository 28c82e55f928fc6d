"""Can we train on these data privately, and what will it cost in accuracy?"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from dashboard import controls, session, words
from dashboard.panels import cards, shape
from dashboard.panels.tradeoff import AXES
from dashboard.panels.training import curves, tabs, tell
from dashboard.panels.training.curves import SCALES, Asked
from dashboard.panels.training.setup import DEFAULTS, Task, columns_control, methods, prepare, targets, usable
from dashboard.panels.training.work import slice_of
from dashboard.panels.waiting import in_background
from dashboard.source import Source
from dpcore.accounting import Cost
from dpcore.calibration import zcdp_rho
from dpcore.errors import InvalidArgument
from dpcore.training import majority_share

PAGE = "training"
NEEDED = {
    "accuracy": "I need this many right, in 100",
    "squared_error": "I need a squared error below",
    "excess_risk": "I need an excess risk below",
}
LABELS = {"accuracy": "Right predictions", "squared_error": "Squared error", "excess_risk": "Excess risk"}


def show(source: Source) -> None:
    """The whole question, from sentence to a released model."""
    offered = [name for name in targets(source.table) if usable(source.table, name)]
    if source.table.schema.each_row == "option" or not offered:
        st.title("Private training")
        st.info(
            "Training needs one row per person, a column to predict, and at least one more column with declared bounds "
            "or categories. Pick another sample, or declare them on the Data page."
        )
        return
    picked: dict[str, str] = {}

    def pick() -> None:
        picked["target"] = st.selectbox(
            "Column to predict",
            offered,
            key="training_target",
            bind="query-params",
            format_func=words.visible,
            label_visibility="collapsed",
            width=220,
        )

    shape.sentence("Can we predict", pick, "privately, and how well?")
    with st.container(horizontal=True):
        with st.popover("Columns", icon=":material/view_column:", type="tertiary"):
            columns, positive = columns_control(source, picked["target"])
        options = st.popover("Options", icon=":material/tune:", type="tertiary")
    try:
        task = prepare(source, picked["target"], columns, positive)
    except InvalidArgument as error:
        st.info(f"This cannot be trained on yet: {error}.")
        return
    with options:
        asked = _options(task, source.mark)
    session.next_cost(_next_cost(asked))
    _answer(task, asked)
    shape.tabs(PAGE, tabs.bodies(source, task, asked, columns, positive))


def _options(task: Task, mark: str | None) -> Asked:
    labels = methods(task)
    metrics = [task.metric, "excess_risk"]
    metric = st.segmented_control(
        "Measure",
        metrics,
        default=task.metric,
        required=True,
        key=f"training_metric-{task.metric}",
        persist_state="session",
        format_func=LABELS.__getitem__,
    )
    main = st.selectbox(
        "Method used for the answer",
        list(labels),
        key=f"training_method-{task.metric}",
        persist_state="session",
        format_func=labels.__getitem__,
    )
    drawn = st.multiselect(
        "Drawn beside it",
        list(labels),
        default=[key for key in DEFAULTS[task.two_classes] if key in labels],
        key=f"training_drawn-{task.metric}-{task.features.d <= 3}",
        persist_state="session",
        format_func=labels.__getitem__,
    )
    delta = st.select_slider(
        "δ, the chance that the promise fails",
        [1e-8, 1e-7, 1e-6, 1e-5, 1e-4],
        value=1e-5,
        key="training_delta",
        bind="query-params",
        format_func=lambda value: f"{value:g}",
    )
    seeds = st.select_slider(
        "Private models simulated at each point",
        [8, 12, 20, 40, 100],
        value=12,
        key="training_seeds",
        bind="query-params",
    )
    controls.seed()
    return Asked(
        methods=tuple(dict.fromkeys([str(main), *drawn])),
        main=str(main),
        metric=str(metric),
        epsilon=session.epsilon(),
        delta=float(delta),
        seeds=int(seeds),
        seed=controls.current_seed(),
        target=None,
        mark=mark,
    )


def _next_cost(asked: Asked) -> Cost:
    return Cost(epsilon=asked.epsilon, delta=asked.delta, rho=zcdp_rho(asked.epsilon, asked.delta))


def _answer(task: Task, asked: Asked) -> None:
    """Everything that fills in while models are trained; the sweep over ε comes first and carries the headline."""
    base = curves.sweep(task, asked, AXES[0])
    in_background(
        PAGE,
        curves.sweep_key(task, asked, AXES[0]),
        slice_of,
        lambda: [(base, part) for part in base.parts()],
        lambda results, finished: _screen(task, asked, curves.frame_of(base, results), finished),
        what="Training private models",
    )


def _screen(task: Task, asked: Asked, frame: pd.DataFrame, finished: bool) -> None:
    labels = methods(task)
    scale = SCALES[asked.metric]
    screen = shape.screen()
    with screen.axis:
        axis = str(
            st.segmented_control(
                "Show it against",
                AXES,
                default=AXES[0],
                required=True,
                key=f"{PAGE}_axis",
                bind="query-params",
                label_visibility="collapsed",
                format_func=lambda name: "Number of rows" if name == AXES[1] else name,
            )
        )
    need = cards.ask(
        screen.cards,
        PAGE,
        label=NEEDED[asked.metric],
        low=1e-6,
        high=99.99 if asked.metric == "accuracy" else 10.0,
        default=_start(task, asked),
        step=1.0 if asked.metric == "accuracy" else 0.01,
        factor=scale.factor,
        key=f"{PAGE}_{asked.metric}",
    )
    goal = replace(asked, target=need.target)
    screen.answer(*tell.headline(task, goal, frame, labels))
    with screen.chart:
        if axis == AXES[0]:
            curves.draw(task, goal, axis, frame, labels)
        elif finished:
            _other_axis(task, goal, axis, need)
        else:
            st.skeleton(height=480)
    if axis != AXES[1]:
        need.fill(curves.needed(frame, goal, "epsilon"), None, "rows")
    with screen.cards:
        tell.might_see(task, goal, frame)
        cards.protected(
            words.LabelCard(
                neighbours="add_remove",
                epsilon=asked.epsilon,
                delta=asked.delta,
                not_protected="that the data exist, the columns with their bounds, and about how many rows there are",
            ),
            key=PAGE,
        )
    for note in task.notes:
        st.caption(words.safe(note, 300))


def _other_axis(task: Task, goal: Asked, axis: str, need: cards.Need) -> None:
    labels = methods(task)
    sweep = curves.sweep(task, goal, axis)

    def draw(results: list[Any], finished: bool) -> None:
        found = curves.frame_of(sweep, results)
        curves.draw(task, goal, axis, found, labels)
        if axis == AXES[1] and finished:
            need.fill(None, curves.needed(found, goal, "n"), "rows")

    in_background(
        f"{PAGE}-{axis}",
        curves.sweep_key(task, goal, axis),
        slice_of,
        lambda: [(sweep, part) for part in sweep.parts()],
        draw,
        what="Training private models",
    )


def _start(task: Task, asked: Asked) -> float:
    """A goal to begin with: halfway between always guessing the commonest and always being right."""
    if asked.metric == "accuracy":
        share = majority_share(task.rows.y_test)
        return float(round(100 * (share + 0.5 * (1 - share) * 0.6)))
    return 0.1 if asked.metric == "excess_risk" else float(f"{0.8 * float(np.var(task.rows.y_test)):.1g}")
