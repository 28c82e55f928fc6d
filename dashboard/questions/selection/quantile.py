"""What is the median, or another quantile?"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import streamlit as st

from dashboard import session, words
from dashboard.background import compute
from dashboard.charts.laws import curves
from dashboard.charts.theme import palette
from dashboard.charts.tradeoff import Scale
from dashboard.data.source import Source
from dashboard.questions.selection.quantile_controls import (
    METRICS,
    QUANTILES,
    column_control,
    options,
    quantile_control,
)
from dashboard.questions.selection.quantile_law import LawPicture, law_picture, resized, round_part
from dashboard.questions.selection.release import quantile_release
from dashboard.questions.selection.settings import BAND
from dashboard.widgets import cards, scenarios, shape
from dashboard.widgets.picture import picture
from dashboard.widgets.shape import Screen
from dashboard.widgets.tradeoff import View, needed_epsilon
from dpcore.datasets import Column
from dpcore.selection import QuantileProblem
from dpcore.validate import FloatArray

PAGE = "quantile"
NAMES = {"quantile": "Exponential mechanism over intervals", "theory": "what theory guarantees"}


def columns(source: Source) -> list[str]:
    """Columns of numbers with declared bounds."""
    return [column.name for column in source.table.schema.columns if column.is_numeric and column.bounded]


def show(source: Source) -> None:
    """The whole question, from sentence to release."""
    choices = columns(source)
    if not choices or source.table.schema.each_row == "option":
        st.info(
            "This question needs a column of numbers, one row per person, with bounds you declare. "
            "Pick another sample, or declare bounds on the Data page."
        )
        return
    picked: dict[str, object] = {}
    shape.sentence(
        "What is the",
        lambda: picked.update(q=quantile_control()),
        "of",
        lambda: picked.update(column=column_control(choices)),
        f"among {source.table.rows:,} people?",
    )
    screen = shape.screen()
    with screen.options:
        picked |= options()
    column = source.table.schema.column(str(picked["column"]))
    values = source.table.numbers(column.name)
    if values.size == 0:
        st.info(f"Every cell of “{words.visible(column.name)}” is missing. Pick another column.")
        return
    _answer(screen, source, column, values, float(str(picked["q"])), str(picked["metric"]), str(picked["neighbours"]))


def _answer(
    screen: Screen, source: Source, column: Column, values: FloatArray, q: float, metric: str, neighbours: str
) -> None:
    low, high = float(column.low or 0.0), float(column.high or 0.0)
    unit = f" {column.unit}" if column.unit else ""
    tolerance = float(session.get(f"close-{source.key}-{column.name}", None) or round_part((high - low) / 50))
    people_factor = float(session.get("quantile_factor", 1.0))
    questions = int(session.get("quantile_questions", 1) or 1)
    sampling = bool(session.get("sampling", False))
    parameters = (q, low, high, neighbours, tolerance, questions, sampling)

    def make(times: float, shared: int) -> QuantileProblem:
        repeated = values if times == 1.0 else resized(values, times)
        return QuantileProblem(
            values=repeated,
            low=low,
            high=high,
            q=q,
            relation="replace_one" if neighbours == "replace_one" else "add_remove",
            tolerance=tolerance,
            rows_per_person=source.table.schema.rows_per_person,
            questions=shared,
            band=0.8 if sampling else 0.0,
        )

    problem = make(people_factor, questions)
    changed = people_factor != 1.0 or questions != 1
    scales = {
        "success": Scale(title="close answers in 100", factor=100.0, unit=" times in 100", hundred=True),
        "expected_error": Scale(title=f"average error{f' ({column.unit})' if column.unit else ''}", unit=unit),
        "rank_error": Scale(title="average error in rank (people in 100)", factor=100.0, unit=" of 100 people"),
    }
    defaults = {"success": 95.0, "expected_error": tolerance, "rank_error": 1.0}
    identity = ("quantile", source.table.fingerprint, column.name, *parameters, people_factor)
    epsilon = session.epsilon()
    percent = metric == "success"
    need = cards.ask(
        screen.cards,
        PAGE,
        label="I need a close answer, times in 100" if percent else f"I need {METRICS[metric].lower()} below",
        low=1.0 if percent else 1e-9,
        high=99.9 if percent else 1e12,
        default=defaults[metric],
        step=1.0 if percent else max(defaults[metric] / 10, 1e-9),
        key=f"{PAGE}_{metric}",
        factor=scales[metric].factor,
    )
    view = View(
        page=PAGE,
        problem=problem,
        identity=identity,
        metric=metric,
        scale=scales[metric],
        names=NAMES,
        methods=list(NAMES),
        everything=list(NAMES),
        main="quantile",
        epsilon=epsilon,
        target=need.target,
        ghost=make(1.0, 1) if changed else None,
        ghost_identity=("quantile", source.table.fingerprint, column.name, *parameters, "as it was"),
        mark=source.mark,
        band=BAND if sampling else None,
    )
    law = compute.cached((*identity, "law", epsilon), lambda: law_picture(problem, epsilon))
    close = float(problem.evaluate("quantile", "success", *at(view)).value[0])
    session.next_cost(problem.mechanism(epsilon).cost, problem.relation)
    screen.answer(
        f"At ε = {words.number(epsilon)} the private {QUANTILES[q]} is within {words.number(tolerance)}{unit} "
        f"of the truth **{words.times_in_100(close)}**.",
        f"The true {QUANTILES[q]} is {words.number(problem.truth)}{unit}. Half of all private answers lie between "
        f"{words.number(law.quartiles[0])} and {words.number(law.quartiles[1])}{unit}.",
    )

    def right() -> None:
        need.show(view)
        bins = law.ranges
        cards.might_see(list(bins), list(bins.values()), [name == law.true_range for name in bins], key=PAGE)
        cards.protected(words.LabelCard(neighbours=problem.relation, epsilon=epsilon), key=PAGE)

    screen.show(view, right)

    def how() -> None:
        dark = session.dark()
        look = palette(dark)
        st.markdown(
            "Sort the values. Between two neighbours every point splits the people the same way, so each gap gets a "
            "chance that shrinks exponentially with how wrong that split is; one gap is drawn, then a point inside it. "
            "The bounds are public: a smallest value taken from the data would give that person away."
        )
        figure = curves(
            law.x,
            {"law": law.density},
            {"law": "how likely each private answer is"},
            {"law": look.accent},
            x_title=f"private answer{f' ({column.unit})' if column.unit else ''}",
            y_title="likelihood",
            marks={problem.truth: "truth"},
            steps=["law"],
            dark=dark,
        )
        picture(
            figure,
            key="quantile-law",
            alt=f"Likelihood of private answers around the true {QUANTILES[q]}, {words.number(problem.truth)}{unit}.",
            mark=source.mark,
        )
        with st.expander("The formula and its source"):
            st.latex(r"\Pr[r] \propto \exp\left(-\frac{\varepsilon\,|\mathrm{below}(r) - q n|}{2 s}\right)")
            st.caption(
                "s is how far one person moves the score: max(q, 1−q) when added or removed, 1 when changed. "
                "Smith, STOC 2011."
            )

    def what_if() -> None:
        left, middle, beside = st.columns(3)
        left.select_slider(
            "People: as many as now, times",
            (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0),
            value=1.0,
            key="quantile_factor",
            persist_state="session",
            format_func=lambda times: f"×{times:g}",
        )
        middle.number_input(
            "How many such questions share this ε",
            min_value=1,
            max_value=1000,
            value=1,
            key="quantile_questions",
            persist_state="session",
        )
        beside.number_input(
            f"“Close” means within{unit and ' (' + unit.strip() + ')'}",
            min_value=0.0,
            value=tolerance,
            key=f"close-{source.key}-{column.name}",
            persist_state="session",
        )
        least = needed_epsilon(view)
        scenarios.show(
            PAGE,
            {
                "ε": words.number(epsilon),
                "people": words.whole(problem.n),
                "close answers in 100": words.number(100 * close),
                "ε needed": "none" if least is None else words.number(least),
            },
            source.mark,
        )

    shape.tabs(PAGE, {"How it works": how, "What if": what_if, **_release(source, column, problem, epsilon, law)})


def _release(
    source: Source, column: Column, problem: QuantileProblem, epsilon: float, law: LawPicture
) -> dict[str, Callable[[], None]]:
    return {
        "Make one private release": lambda: quantile_release(
            source, column, problem.q, problem.relation, epsilon, law.quartiles
        )
    }


def at(view: View) -> tuple[FloatArray, FloatArray]:
    return np.array([view.epsilon]), np.array([float(view.problem.n)])
