"""The question of the page: when does the series first pass the line, and how well does a private alarm tell?"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dashboard import session, words
from dashboard.background import compute
from dashboard.charts.alarms import stopping
from dashboard.data.source import Source
from dashboard.questions.thresholding import explain, tabs
from dashboard.questions.thresholding.series import LONGEST, Series, read, sensible_threshold, sources
from dashboard.questions.thresholding.settings import METRICS, NAMES, Settings, options
from dashboard.widgets import cards, shape
from dashboard.widgets import inputs as controls
from dashboard.widgets.picture import picture
from dashboard.widgets.tradeoff import View
from dpcore.errors import InvalidArgument
from dpcore.thresholding.problem import AlarmProblem
from dpcore.validate import FloatArray

PAGE = "thresholding"
BAND = (
    "Shaded: range of what you might see in another period like this one, with counts that scatter around these. "
    "That is apart from the privacy noise, which the line itself holds."
)


def show(source: Source) -> None:
    """The whole page."""
    offered = sources(source.table)
    if not offered:
        st.title("Thresholding")
        st.info(
            "These data have nothing to count over: no date, no categories, no column of numbers in order. "
            "Pick another sample, or declare such a column on the Data page."
        )
        return
    picked: dict[str, str] = {}
    line_slot: list[DeltaGenerator] = []

    def pick() -> None:
        picked["series"] = st.selectbox(
            "Series",
            list(offered),
            key="series",
            bind="query-params",
            format_func=lambda key: offered.get(key, key),
            label_visibility="collapsed",
            width=260,
        )

    shape.sentence("When do", pick, "pass the line of", lambda: line_slot.append(st.container(width=130)))
    watched = picked["series"]
    series = compute.shared(("series", source.table.fingerprint, watched), lambda: read(source.table, watched))
    problem_with_it = _refusal(series)
    if problem_with_it:
        st.info(problem_with_it)
        return
    threshold = _threshold(source, picked["series"], series, line_slot[0])
    screen = shape.screen()
    with screen.options, st.popover("Options", icon=":material/tune:", type="tertiary"):
        settings = options(series)
    _answer(screen, source, picked["series"], series, threshold, settings)


def _refusal(series: Series) -> str | None:
    """One sentence for a series that cannot be watched."""
    if series.answers.size == 0:
        return "The series is empty: every cell of it is missing. Pick another column."
    if series.answers.size > LONGEST:
        return (
            f"The series has {series.answers.size:,} entries; up to {LONGEST:,} can be shown here. "
            "Group it by day or category first."
        )
    return None


def _threshold(source: Source, key: str, series: Series, slot: DeltaGenerator) -> float:
    """The line: typed, or set by clicking a point of the series."""
    name = f"line-{source.key}-{key}"
    default = sensible_threshold(series)
    with slot:
        value = st.number_input(
            "The line",
            value=default,
            step=max(float(f"{abs(default) / 20:.1g}"), 1e-6),
            format="%g",
            key=name,
            persist_state="session",
            label_visibility="collapsed",
            help="Type it, or click a bar of the series.",
        )
    return float(default if value is None else value)


def _answer(
    screen: shape.Screen, source: Source, key: str, series: Series, threshold: float, settings: Settings
) -> None:
    sampling = bool(session.get("sampling", False)) and bool((series.answers >= 0).all()) and series.one_way
    epsilon = session.epsilon()
    try:
        problem = AlarmProblem(
            answers=series.answers,
            threshold=threshold,
            people=series.people,
            limit=settings.limit,
            late_by=settings.late_by,
            sensitivity=series.sensitivity,
            monotonic=settings.one_way,
            beta=float(session.get("beta", 0.05)),
            band=0.8 if sampling else 0.0,
            seed=controls.current_seed(),
        )
    except InvalidArgument as error:
        st.warning(f"This cannot be watched: {error}.")
        return
    factor = float(session.get("alarm_factor", 1.0))
    edited = problem if factor == 1.0 else scaled(problem, factor)
    identity = (
        *("alarm", source.table.fingerprint, key, threshold, settings, problem.beta, sampling),
        *(problem.seed if sampling else 0, factor),
    )
    scale = METRICS[settings.metric]
    drawn = [name for name in edited.methods if name in NAMES]
    at = (np.array([epsilon]), np.array([float(edited.n)]))
    law = compute.cached((*identity, "law", settings.main, epsilon), lambda: edited.law(settings.main, epsilon))
    window = _window(edited)

    def when() -> None:
        figure = stopping(
            series.names,
            edited.answers,
            edited.threshold,
            law.position[0],
            window,
            unit=series.unit,
            dark=session.dark(),
        )
        picture(
            figure,
            key="thresholding-when",
            alt=explain.alt_when(series.names, law.position[0], window),
            data=explain.law_table(series.names, edited.answers, law),
            mark=source.mark,
            on_select=lambda: _clicked(f"line-{source.key}-{key}", series.answers),
        )
        st.caption(
            f"Above: the series and the line. Below: where the private alarm falls, "
            f"{NAMES[settings.main].lower()}. Click a bar to put the line there."
        )

    # Small ε exchanges missed alarms for false ones, so neither alone can be a goal; being on time can.
    goal = "alpha" if settings.metric == "alpha" else "on_time"
    need = cards.ask(
        screen.cards,
        PAGE,
        label=f"I need to tell apart, in {series.unit}" if goal == "alpha" else "I need it on time, times in 100",
        low=0.001,
        high=1e9 if goal == "alpha" else 99.9,
        default=10.0 if goal == "alpha" else 95.0,
        step=1.0,
        factor=METRICS[goal].factor,
        key=f"{PAGE}_{goal}",
    )
    view = View(
        page=PAGE,
        problem=edited,
        identity=identity,
        metric=settings.metric,
        scale=scale,
        names=NAMES,
        methods=drawn,
        everything=list(NAMES),
        main=settings.main,
        epsilon=epsilon,
        target=need.target if goal == settings.metric else None,
        size_word="people",
        ghost=problem if factor != 1.0 else None,
        ghost_identity=(*identity[:-1], 1.0),
        mark=source.mark,
        band=BAND if sampling else None,
        extra={"When it stops": when},
        first="When it stops",
    )
    outcome = edited.outcomes(settings.main, *at)
    chances = {
        "on time": float(outcome.on_time[0]),
        "false alarm": float(outcome.false_alarm[0]),
        "late": float(outcome.late[0]),
        "missed": float(outcome.missed[0]),
    }
    hidden = "add_remove" if settings.one_way else "replace_one"
    session.next_cost(edited.mechanism(settings.main, epsilon).cost, hidden)
    screen.answer(*explain.headline(edited, series, settings.main, epsilon, chances))

    def right() -> None:
        need.show(replace(view, metric=goal, target=need.target))
        cards.might_see(
            list(chances),
            list(chances.values()),
            [name == "on time" for name in chances],
            key=PAGE,
            what="private runs",
        )
        cards.protected(
            words.LabelCard(
                neighbours="add_remove" if settings.one_way else "replace_one",
                epsilon=epsilon,
                not_protected="that the data exist, the line, what is asked about, and how many alarms at most",
            ),
            key=PAGE,
        )

    screen.show(view, right)
    shape.tabs(PAGE, tabs.bodies(source, key, series, view, edited, settings.main, settings.one_way, chances))


def scaled(problem: AlarmProblem, factor: float) -> AlarmProblem:
    """The same question with ``factor`` times as many people: answers and line grow alike."""
    return replace(
        problem,
        answers=problem.answers * factor,
        threshold=problem.threshold * factor,
        people=max(1, round(problem.people * factor)),
    )


def _window(problem: AlarmProblem) -> tuple[int, int]:
    k, crossing = problem.answers.size, problem.crossing
    return (k, k) if crossing is None else (crossing, min(crossing + problem.late_by + 1, k))


def _clicked(name: str, answers: FloatArray) -> None:
    """Callback: the line goes to the answer of the query that was clicked, in either half of the picture."""
    event = session.get("thresholding-when", None)
    points = [] if event is None else event["selection"]["points"]
    places = [int(point["point_index"]) for point in points if "point_index" in point]
    if places and 0 <= places[0] < answers.size:
        session.put(name, float(answers[places[0]]))
