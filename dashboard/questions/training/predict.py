"""Can we train on these data privately, and what will it cost in accuracy?"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from dashboard import session, words
from dashboard.charts.tradeoff import HEIGHT
from dashboard.data.source import Source
from dashboard.questions.training import curves, tabs, tell
from dashboard.questions.training.curves import SCALES, Asked
from dashboard.questions.training.options import options
from dashboard.questions.training.setup import Task, columns_control, held, methods, prepare, targets, usable
from dashboard.questions.training.work import slice_of
from dashboard.widgets import cards, shape
from dashboard.widgets.tradeoff import AXES
from dashboard.widgets.waiting import Work, begin
from dpcore.accounting import Cost
from dpcore.calibration import zcdp_rho
from dpcore.errors import InvalidArgument
from dpcore.training import Sweep, collect, majority_share

PAGE = "training"
NEEDED = {
    "accuracy": "I need this many right, in 100",
    "squared_error": "I need a squared error below",
    "excess_risk": "I need an excess risk below",
}


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
    picked: dict[str, Any] = {}

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

    def choose() -> None:
        with st.popover("from these columns", icon=":material/view_column:"):
            picked["columns"] = columns_control(source, str(picked["target"]))

    shape.sentence("Can we predict", pick, choose, "privately, and how well?")
    target, (columns, positive) = str(picked["target"]), picked["columns"]
    try:
        task = prepare(source, target, columns, positive)
    except InvalidArgument as error:
        st.info(f"This cannot be trained on yet: {error}.")
        return
    screen = shape.screen()
    with screen.options, st.popover("Options", icon=":material/tune:", type="tertiary"):
        asked = options(task, source.mark)
    session.next_cost(_next_cost(asked), "add_remove")
    _answer(screen, task, asked)
    shape.tabs(PAGE, tabs.bodies(source, task, asked, columns, positive))


def _next_cost(asked: Asked) -> Cost:
    return Cost(epsilon=asked.epsilon, delta=asked.delta, rho=zcdp_rho(asked.epsilon, asked.delta))


def _answer(screen: shape.Screen, task: Task, asked: Asked) -> None:
    """Everything that fills in while models are trained; the sweep over ε comes first and carries the headline."""
    labels = methods(task)
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
        factor=SCALES[asked.metric].factor,
        key=f"{PAGE}_{asked.metric}",
    )
    goal = replace(asked, target=need.target)
    work = _begin(task, goal, AXES[0])
    with screen.head:
        work.live(lambda results: tell.head(task, goal, _frame(task, goal, AXES[0], results), labels))
    shown = work if axis == AXES[0] or not work.job.complete else _begin(task, goal, axis)

    def chart(results: list[Any]) -> None:
        place = curves.place(task, goal, axis)
        if not shown.progress(lambda: place.keep(height=HEIGHT)):
            return
        if shown is work and axis != AXES[0]:  # the curves over ε come first: the headline is read off them
            place.keep(height=HEIGHT)
            return
        curves.draw(task, goal, axis, _frame(task, goal, axis, results), labels)

    with screen.chart:
        shown.live(chart)
    with screen.cards:
        _cards(task, goal, work, shown if axis == AXES[1] and shown is not work else None, need)
    for note in task.notes:
        st.caption(words.safe(note, 300))


def _begin(task: Task, goal: Asked, axis: str) -> Work:
    return begin(
        f"{PAGE}-{axis}",
        curves.sweep_key(task, goal, axis),
        slice_of,
        lambda: _sweep(task, goal, axis),
        lambda: _sweep(task, goal, axis).parts(),
        what="Training private models",
        own=task.own is not None,
        enough=lambda results: any(part.part.method == goal.main for part in results),
    )


def _sweep(task: Task, goal: Asked, axis: str) -> Sweep:
    key = ("sweep", *curves.sweep_key(task, goal, axis))
    return held(task.own, key, lambda: curves.sweep(task, goal, axis))


def _frame(task: Task, goal: Asked, axis: str, results: list[Any]) -> pd.DataFrame:
    return collect(_sweep(task, goal, axis), results)


def _cards(task: Task, goal: Asked, work: Work, along_n: Work | None, need: cards.Need) -> None:
    """What needs the finished curve waits for it."""
    seen = st.container()  # always there, so that what follows keeps its place
    if not work.job.finished:
        need.slot.caption("Read off the chart when all models are trained.")
    elif work.job.results():
        frame = _frame(task, goal, AXES[0], work.job.results())
        if work.job.complete:
            _read_off(task, goal, frame, along_n, need)
        else:
            need.slot.caption("Stopped before all models were trained, so it cannot be read off yet.")
        with seen:
            tell.might_see(task, goal, frame)
    cards.protected(
        words.LabelCard(
            neighbours="add_remove",
            epsilon=goal.epsilon,
            delta=goal.delta,
            not_protected="that the data exist, the columns with their bounds, and about how many rows there are",
        ),
        key=PAGE,
    )


def _read_off(task: Task, goal: Asked, frame: pd.DataFrame, along_n: Work | None, need: cards.Need) -> None:
    """Which ε and which number of rows are enough."""
    epsilon = curves.needed(frame, goal, "epsilon")
    if along_n is not None and along_n.job.complete:
        sizes = _frame(task, goal, AXES[1], along_n.job.results())
        span = (float(sizes["n"].min()), float(sizes["n"].max()))
        need.fill(epsilon, curves.needed(sizes, goal, "n"), "rows", sizes=span)
        return
    need.fill(epsilon, None, "rows", sized=False)
    if along_n is None:
        need.slot.caption("To see how many rows would do, show the chart against the number of rows.")


def _start(task: Task, asked: Asked) -> float:
    """A goal to begin with: halfway between always guessing the commonest and always being right."""
    if asked.metric == "accuracy":
        share = majority_share(task.rows.y_test)
        return float(round(100 * (share + 0.5 * (1 - share) * 0.6)))
    return 0.1 if asked.metric == "excess_risk" else float(f"{0.8 * float(np.var(task.rows.y_test)):.1g}")
