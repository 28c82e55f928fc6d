"""What lies below the chart: descent as it happens, lessons, simple problems, scenarios, and the released model."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import streamlit as st

from dashboard import session, words
from dashboard.charts import descent
from dashboard.panels import scenarios
from dashboard.panels.picture import picture
from dashboard.panels.release import release_panel
from dashboard.panels.training import lessons
from dashboard.panels.training.curves import Asked
from dashboard.panels.training.setup import Task, held, methods
from dashboard.source import Source
from dpcore.errors import InvalidArgument
from dpcore.ledger import Receipt
from dpcore.releases.model import PrivateModel
from dpcore.training import NoisyGradientDescent, descent_trace, load_model

SHOWN_ROWS = 5000


def bodies(
    source: Source, task: Task, asked: Asked, columns: list[str], positive: str | None
) -> dict[str, Callable[[], None]]:
    """Tab names and what each draws."""
    return {
        "Descent as it happens": lambda: happens(task, asked),
        "More steps, more clipping": lambda: lessons.curves(task, asked),
        "What the textbook spends": lambda: lessons.textbook(),
        "Simple problems": lambda: lessons.simple_problems(source),
        "What if": lambda: what_if(task, asked),
        "Make one private release": lambda: make_release(source, task, asked, columns, positive),
    }


def happens(task: Task, asked: Asked) -> None:
    """One noisy descent, watched."""
    st.markdown(NoisyGradientDescent.about.how)
    method = NoisyGradientDescent(epsilon=asked.epsilon, delta=asked.delta, loss=task.loss)
    rows = min(task.n, SHOWN_ROWS)
    X, y = task.rows.X[:rows], task.rows.y[:rows]

    def make() -> tuple[Any, Any]:
        trace = descent_trace(method, X, y, np.random.Generator(np.random.PCG64(asked.seed)))
        return trace, trace.landscape(task.loss, X[:1000], y[:1000], points=31)

    trace, landscape = held(task.own, (*task.key, "trace", asked.epsilon, asked.delta, asked.seed), make)
    end = float(trace.loss[-1] - trace.least)
    picture(
        descent.path(trace, landscape, dark=session.dark()),
        key="training-path",
        alt=f"One noisy descent of {trace.signal.size} steps; it ends {words.number(end)} above the smallest loss.",
        mark=asked.mark,
    )
    picture(
        descent.signal(trace, dark=session.dark()),
        key="training-signal",
        alt="Length of the mean gradient and of the noise at each step.",
        mark=asked.mark,
    )
    cut = 100 * float(trace.clipped.mean())
    louder = int((trace.noise > trace.signal).sum())
    st.caption(
        f"The noise is longer than the gradient in {louder} of {trace.signal.size} steps; "
        f"{'fewer than 1' if cut < 0.5 else f'about {cut:.0f}'} in 100 rows are cut at each step. Drawn on "
        f"{rows:,} rows."
    )
    with st.expander("The formula and its source"):
        st.latex(NoisyGradientDescent.about.formula)
        st.caption(NoisyGradientDescent.about.source)


def what_if(task: Task, asked: Asked) -> None:
    """Scenarios: choose other columns, methods or ε above, and keep the cases."""
    st.markdown("Choose other columns, another method or another ε above, and keep the cases side by side.")
    scenarios.show(
        "training",
        {
            "ε": words.number(asked.epsilon),
            "rows": words.whole(task.n),
            "predicts": words.visible(task.features.target.name, 30),
            "columns": str(len(task.features.columns)),
            "method": methods(task)[asked.main],
        },
        asked.mark,
    )
    lessons.tuning(asked)


def make_release(source: Source, task: Task, asked: Asked, columns: list[str], positive: str | None) -> None:
    """A private model: weights only."""
    obstacle = source.obstacle(task.features.target.name, *columns)
    if obstacle or source.released is None:
        st.info(obstacle or source.unreleased)
        return
    table = source.released()
    try:
        request = PrivateModel.of(
            table.schema,
            target=task.features.target.name,
            columns=columns,
            positive=positive,
            epsilon=asked.epsilon,
            delta=asked.delta,
            people=max(2, table.rows),
        )
    except InvalidArgument as error:
        st.warning(f"This model cannot be released: {error}.")
        return
    st.caption(
        "Released: noisy gradient descent with fixed settings on all rows, noise drawn by OpenDP, weights only. No "
        "loss and no accuracy on these rows is ever published."
    )
    release_panel(
        source,
        slot="training",
        request=request,
        data=lambda: table,
        forecast="about as good as the curve of noisy gradient descent above shows at this ε.",
        describe=_told,
        extra=_model,
    )


def _told(answer: dict[str, Any]) -> str:
    predicts = answer["predicts"]
    what = words.safe(str(predicts["column"]))
    if predicts["kind"] == "category":
        what = f"{what}: {words.safe(str(predicts['positive']))}, or not"
    return f"A model that predicts “{what}” from {words.plural(len(answer['columns']), 'column', 'columns')}"


def _model(receipt: Receipt) -> None:
    """The model to take away, and a small form to try it."""
    content = receipt.answer | {"receipt": {"id": receipt.request_id, "journal_hash": receipt.journal_hash}}
    st.download_button(
        "Model (JSON)",
        json.dumps(content, indent=1),
        f"model-{receipt.request_id[:8]}.json",
        "application/json",
        on_click="ignore",
        icon=":material/download:",
    )
    st.code('from dpcore.training import predict\npredict("model.json", [{"column": value, …}])', language="python")
    model = load_model(receipt.answer)
    st.markdown("**Try it**")
    record: dict[str, Any] = {}
    with st.grid(4, min_column_width=150):
        for place, column in enumerate(model.features.columns):
            label, key = words.visible(column.name, 30), f"try-{place}"
            if column.categories:
                record[column.name] = st.selectbox(label, column.categories, key=key, format_func=words.visible)
            elif column.kind == "yes/no":
                record[column.name] = st.selectbox(label, ["no", "yes"], key=key)
            elif column.kind == "number":
                low, high = float(column.low or 0.0), float(column.high or 1.0)
                record[column.name] = st.number_input(label, low, high, (low + high) / 2, key=key)
            else:
                record[column.name] = None
    said = model.predict([record])[0]
    if model.features.two_classes:
        chance = float(model.chances([record])[0])
        st.markdown(
            f"It predicts **{words.safe(str(said))}**, giving it {words.times_in_100(max(chance, 1 - chance))}."
        )
    else:
        st.markdown(f"It predicts **{words.number(float(said))}**.")
