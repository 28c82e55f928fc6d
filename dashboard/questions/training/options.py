"""The options of Private training: what is measured, by which methods, how often."""

from __future__ import annotations

import streamlit as st

from dashboard import session, words
from dashboard.questions.training.curves import Asked
from dashboard.questions.training.setup import DEFAULTS, Task, methods
from dashboard.widgets import inputs as controls

LABELS = {"accuracy": "Right predictions", "squared_error": "Squared error", "excess_risk": "Excess risk"}


def options(task: Task, mark: str | None) -> Asked:
    """Everything that may be chosen about the sweeps, asked in the popover it is called in."""
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
    drawn = controls.several(
        "Drawn beside it",
        list(labels),
        default=[key for key in DEFAULTS[task.two_classes] if key in labels],
        key=f"training_drawn-{task.metric}-{task.features.d <= 3}",
        name=labels.__getitem__,
    )
    delta = st.select_slider(
        "δ, the chance that the promise fails",
        [1e-8, 1e-7, 1e-6, 1e-5, 1e-4],
        value=1e-5,
        key="training_delta",
        bind="query-params",
        format_func=words.tiny,
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
