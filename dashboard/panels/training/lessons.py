"""Small lessons: too many steps, clipping, what the textbook really spends, the price of tuning, gentle problems."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from dashboard import session, words
from dashboard.charts import descent
from dashboard.charts.theme import EPSILON_TITLE, colours
from dashboard.charts.tradeoff import Scale, tradeoff
from dashboard.panels.earlier import Place
from dashboard.panels.tradeoff import describe_at
from dashboard.panels.training.curves import SCALES, Asked, question
from dashboard.panels.training.setup import Task, own_data
from dashboard.panels.training.work import Lesson, Simple, lesson, simple
from dashboard.panels.waiting import in_background
from dashboard.source import Source
from dpcore.training import NoisyGradientDescent, Rows, book_lesson, catalog, tuning_price

LESSON_ROWS = 4000
SIMPLE_LEVELS = tuple(np.geomspace(session.EPSILON_LOW, session.EPSILON_HIGH, 16).tolist())
SIMPLE = {"mean": "the mean", "median": "the median", "line": "a straight line"}


def curves(task: Task, asked: Asked) -> None:
    """More steps can make it worse; what clipping does."""
    kind = st.segmented_control(
        "Lesson",
        ["steps", "clip"],
        default="steps",
        required=True,
        key="training_lesson",
        format_func={"steps": "More steps can make it worse", "clip": "What clipping does"}.__getitem__,
        label_visibility="collapsed",
    )
    text = {
        "steps": "Every step looks at all rows once more, and all share one ε: more steps mean more noise at each. "
        "Without noise they always help; with it, after some number they hurt.",
        "clip": "Cutting long gradients bends the direction (grey falls behind on the left); not cutting them lets one "
        "person pull hard, so the noise must be larger (blue falls behind on the right).",
    }[str(kind)]
    st.markdown(text)
    rows = task.rows
    few = Rows(X=rows.X[:LESSON_ROWS], y=rows.y[:LESSON_ROWS], X_test=rows.X_test, y_test=rows.y_test)
    method = NoisyGradientDescent(epsilon=asked.epsilon, delta=asked.delta, loss=task.loss)
    work = Lesson(about=str(kind), method=method, rows=few, seed=asked.seed)

    told = f"the lesson for {question(task, asked)}, at ε = {words.number(asked.epsilon)}"
    place = Place(name="training-lesson", about=told, data=task.own)

    def draw(results: list[pd.DataFrame]) -> None:
        found = results[0]
        found = found[found["metric"] == task.metric]
        column = "steps" if kind == "steps" else "clip"
        factor = SCALES[task.metric].factor
        best = found.loc[found["value"].idxmax() if task.two_classes else found["value"].idxmin()]
        value, low, high, quiet = (
            found[name].to_numpy(float) * factor for name in ("value", "low", "high", "without_noise")
        )
        figure = descent.lesson(
            found[column].to_numpy(float),
            value,
            low,
            high,
            quiet,
            x_title="number of steps, at one total ε" if kind == "steps" else "longest gradient allowed, C",
            y_title=SCALES[task.metric].title,
            dark=session.dark(),
        )
        best_at = f"{best[column]:g}"
        place.draw(
            figure,
            key=f"training-{kind}",
            alt=f"{SCALES[task.metric].title} against {column}; best at {best_at}.",
            data=found,
            mark=asked.mark,
        )
        st.caption(
            f"Best at {'about ' + best_at + ' steps' if kind == 'steps' else 'C = ' + best_at} here, on "
            f"{few.X.shape[0]:,} rows, 12 models at each point. Choosing it by looking would itself cost budget."
        )

    in_background(
        f"training-lesson-{kind}",
        (*task.key, "lesson", kind, asked.epsilon, asked.delta, asked.seed),
        lesson,
        lambda: work,
        draw,
        what="Training private models",
        own=task.own is not None,
        nothing_yet=lambda: place.keep(height=320),
    )


def textbook() -> None:
    """The textbook's per-iteration ε against the true total."""
    found = book_lesson(0.1)
    st.markdown(
        f"The textbook's noisy descent gives each of {found.steps} steps ε = {words.number(found.step_epsilon)} and "
        "labels its plot with that number: the ε of one step, as the book says, not of the run. Their sum is a valid ε "
        "of the run, and a loose one."
    )
    rows = [
        {"what": "said of each step", "ε": found.step_epsilon, "δ": words.tiny(found.delta)},
        {"what": "added up for all steps", "ε": found.nominal_epsilon, "δ": words.tiny(found.basic_delta)},
        {
            "what": "added up with the noisy count it does not need",
            "ε": found.basic_epsilon,
            "δ": words.tiny(found.basic_delta),
        },
        {"what": "what the steps really cost together, exactly", "ε": found.true_epsilon, "δ": words.tiny(found.delta)},
        {"what": "and with the noisy count", "ε": found.true_with_count, "δ": words.tiny(found.delta)},
    ]
    frame = pd.DataFrame(rows)
    frame["ε"] = frame["ε"].map(words.number)
    st.table(frame.set_index("what"), alt="What the textbook says it spends, and what it spends")
    st.markdown(
        f"The noise (σ = {words.number(found.noise_multiplier)} of one person's pull) is far more than ε = "
        f"{words.number(found.nominal_epsilon)} needs: the run costs ε = {words.number(found.true_epsilon)} in all. "
        "Composed exactly, the same ε needs much less noise. Whether that or too few steps holds the textbook's model "
        "back depends on the data: with many rows ten steps are the limit."
    )


def tuning(asked: Asked) -> None:
    """Hyper-parameters chosen by looking at private results cost budget."""
    st.markdown("**What tuning would cost**")
    settings = int(st.slider("Settings tried", 1, 50, 10, key="training_settings"))
    price = tuning_price(settings, epsilon=asked.epsilon, delta=asked.delta)
    st.markdown(
        f"Trying {settings} settings at ε = {words.number(asked.epsilon)} each and keeping the best costs "
        f"ε = **{words.number(price.all_runs)}** in all, or {words.number(price.random_stopping)} when the number of "
        f"tries is itself random. To stay at ε = {words.number(price.ignored)}, each try may have "
        f"{words.number(price.share)}. The settings used here are fixed in advance and cost nothing."
    )


def simple_problems(source: Source) -> None:
    """The mean, the median and a line, as the gentle entry."""
    columns = [c.name for c in source.table.schema.columns if c.is_numeric and c.bounded]
    if not columns:
        st.info("These problems need a column of numbers with declared bounds.")
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        about = str(
            st.segmented_control(
                "Learn", list(SIMPLE), default="mean", required=True, key="simple_about", format_func=SIMPLE.__getitem__
            )
        )
        name = st.selectbox("of", columns, key=f"simple_column-{source.key}", format_func=words.visible, width=220)
        others = [other for other in columns if other != name]
        against = None
        if about == "line" and others:
            against = st.selectbox(
                "against", others, key=f"simple_against-{source.key}", format_func=words.visible, width=220
            )
    if about == "line" and against is None:
        st.info("A line needs a second column of numbers.")
        return
    named = [name] if against is None else [name, against]
    rows = source.table.complete(*named)
    scaled = [_scaled(source, column)[rows][:5000] for column in named]
    if scaled[0].size < 20:
        st.info("Fewer than 20 rows have these values; choose another column.")
        return
    y, x = (scaled[0], scaled[1]) if len(scaled) == 2 else (None, scaled[0])
    task = Simple(about=about, x=x, y=y, epsilon=SIMPLE_LEVELS)

    told = f"{SIMPLE[about]} of {words.safe(' against '.join(words.visible(part, 30) for part in named))}"
    place = Place(name="training-simple", about=told, data=own_data(source))

    def draw(results: list[pd.DataFrame]) -> None:
        _simple_picture(place, results[0], about, source.mark)

    in_background(
        "training-simple",
        ("simple", source.table.fingerprint, about, *named),
        simple,
        lambda: task,
        draw,
        what="Working out the gentle problem",
        own=place.data is not None,
        nothing_yet=lambda: place.keep(height=480),
    )


def _simple_picture(place: Place, frame: pd.DataFrame, about: str, mark: str | None) -> None:
    kinds: dict[str, Any] = catalog()
    called = {key: kinds[key].label if key in kinds else "what theory promises" for key in frame["method"].unique()}
    main = next(key for key in called if key != "theory")
    scale = Scale(title="excess loss above the best")
    epsilon = session.epsilon()
    figure = tradeoff(
        frame,
        x="epsilon",
        x_title=EPSILON_TITLE,
        scale=scale,
        names=called,
        colour=colours(list(called), session.dark()),
        main=main,
        chosen=epsilon,
        dark=session.dark(),
        log_y=True,
    )
    alt = describe_at(frame, called, scale, "epsilon", epsilon, f"ε = {words.number(epsilon)}")
    place.draw(figure, key="training-simple-chart", alt=alt, data=frame, mark=mark)
    st.caption(
        {
            "mean": "Both lines are exact. The exponential mechanism on the squared loss works for anything, and pays "
            "for it: adding Laplace noise to the sum is far better for a mean.",
            "median": "Both lines are exact. Choosing by rank needs far less noise than choosing by the absolute loss.",
            "line": "The exponential mechanism over a grid of lines is exact, the others simulated. A grid fixed in "
            "advance costs no privacy, but only works in two or three dimensions.",
        }[about]
    )


def _scaled(source: Source, name: str) -> np.ndarray:
    column = source.table.schema.column(name)
    low, high = float(column.low or 0.0), float(column.high or 1.0)
    values = source.table.frame[name].to_numpy(np.float64, na_value=np.nan)
    return np.clip(2 * (values - low) / (high - low) - 1, -1.0, 1.0)
