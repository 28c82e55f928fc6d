"""Best fixed choice for a linear cost: one column for good, chosen privately."""

from __future__ import annotations

import numpy as np
import streamlit as st

from dashboard import compute, controls, session, words
from dashboard.charts.tradeoff import Scale
from dashboard.panels import cards, shape
from dashboard.panels.experts import linear_tabs
from dashboard.panels.experts.linear_tabs import percent
from dashboard.panels.experts.losses import numeric
from dashboard.panels.release import release_panel
from dashboard.panels.tradeoff import View
from dashboard.source import Source
from dpcore.datasets import Table
from dpcore.errors import InvalidArgument
from dpcore.experts import LinearProblem
from dpcore.releases.selection import BestScore
from dpcore.validate import FloatArray, IntArray

PAGE = "linear"
SCALE = Scale(title="extra cost per row, % of the declared range", factor=50.0, unit=" %")
MOST_ROWS = 20_000
UNITS = 2**20
LIKELY = 0.05  # the chance that a forecast is exceeded
BAND = "Shaded: range of what you might see, 80 in 100 private choices (exact variance)."


def costs(table: Table, names: list[str]) -> FloatArray:
    """The columns scaled to [−1, 1] by their declared bounds, complete rows only, shape (rows, columns)."""
    rows = table.complete(*names)
    return 2 * np.column_stack([_share(table, name)[rows] for name in names]) - 1


def total_units(table: Table, names: list[str]) -> IntArray:
    """The total cost of each column over all complete rows, shape (columns,).

    Each cost is a whole number of 2⁻²⁰ of its declared range before anything is added up, so one row replaced, or
    made incomplete, moves every total by at most 2²⁰: exactly, whatever the other rows are.
    """
    rows = table.complete(*names)
    units = [np.rint(_share(table, name)[rows] * UNITS).astype(np.int64) for name in names]
    return np.array([column.sum() for column in units], dtype=np.int64)


def _share(table: Table, name: str) -> FloatArray:
    """Where each value lies in the declared range, 0 to 1; NaN where missing."""
    column = table.schema.column(name)
    low = 0.0 if column.low is None else float(column.low)
    high = 1.0 if column.high is None else float(column.high)
    values = table.frame[name].to_numpy(np.float64, na_value=np.nan)
    return np.asarray(np.clip((values - low) / (high - low), 0.0, 1.0))


def show(source: Source) -> None:
    """The whole question."""
    choices = numeric(source.table)
    if len(choices) < 2:
        st.title("Which one choice costs least?")
        st.info(
            "This question needs at least two columns of numbers with declared bounds, each the cost of one choice. "
            "Pick another sample, or declare bounds on the Data page."
        )
        return
    picked: dict[str, list[str]] = {}

    def pick() -> None:
        with st.popover("these columns", icon=":material/view_column:"):
            picked["names"] = controls.several(
                "Columns, each the cost of one choice per row",
                choices,
                default=choices[:12],
                key=f"linear_columns-{source.key}",
                name=words.visible,
            )

    shape.sentence("Which one of", pick, "costs least, chosen once and for all?")
    names = picked["names"]
    if len(names) < 2:
        st.info("Choose at least two columns: with one there is nothing to choose.")
        return
    key = (source.table.fingerprint, tuple(names))
    table = compute.cached(("costs", *key), lambda: costs(source.table, names)[:MOST_ROWS])
    screen = shape.screen()
    with screen.options, st.popover("Options", icon=":material/tune:", type="tertiary"):
        labels = LinearProblem(costs=table[:2], band=0.0).labels if len(table) > 1 else {}
        main = st.selectbox(
            "Method used for the answer",
            [name for name in labels if name != "theory"],
            key="linear_method",
            bind="query-params",
            format_func=lambda name: labels.get(name, name),
        )
        controls.beta()
    try:
        problem = LinearProblem(costs=table, beta=float(session.get("beta", 0.05)))
    except InvalidArgument as error:
        st.info(f"These columns cannot be compared: {error}.")
        return
    _answer(screen, source, names, problem, key, str(main))


def _answer(
    screen: shape.Screen, source: Source, names: list[str], found: LinearProblem, key: tuple[object, ...], main: str
) -> None:
    epsilon = session.epsilon()
    rows = found.n
    times = linear_tabs.factor(rows)
    problem = linear_tabs.longer(found, times)
    identity = ("linear", *key, found.beta)
    need = cards.ask(
        screen.cards,
        PAGE,
        label="I accept this much extra cost, % of the range",
        low=0.001,
        high=100.0,
        default=1.0,
        step=0.5,
        factor=SCALE.factor,
    )
    view = View(
        page=PAGE,
        problem=problem,
        identity=(*identity, times),
        metric="excess",
        scale=SCALE,
        names=problem.labels,
        methods=list(problem.methods),
        everything=list(problem.methods),
        main=main,
        epsilon=epsilon,
        target=need.target,
        size_word="rows",
        size_title="number of rows n",
        ghost=found if times != 1.0 else None,
        ghost_identity=(*identity, 1.0),
        sizes=(float(max(10, rows // 50)), float(min(problem.longest, max(rows * 10, problem.n), linear_tabs.MOST))),
        mark=source.mark,
        band=BAND,
    )
    at = (np.array([epsilon]), np.array([float(problem.n)]))
    extra = {
        key: SCALE.factor * float(problem.evaluate(key, "excess", *at).value[0])
        for key in (main, "printed_linear_learner")
    }
    method = problem.method(main, epsilon)
    law = compute.cached((*view.identity, "law", main, epsilon), lambda: method.expected_choice(problem.costs))
    best = int(np.argmin(problem.costs.sum(axis=0)))
    session.next_cost(method.cost, "replace_one")
    screen.answer(
        f"At ε = {words.number(epsilon)} the private choice costs **{percent(extra[main])}** of the range more per row "
        "than the best one.",
        f"Best without privacy: {words.safe(names[best])}. The textbook's linear learner: "
        f"{percent(extra['printed_linear_learner'])}. Costs are compared as shares of each column's declared range.",
    )

    def right() -> None:
        need.show(view)
        cards.might_see(names, list(law), [i == best for i in range(len(names))], key=PAGE, what="private choices")
        cards.protected(words.LabelCard(neighbours="replace_one", epsilon=epsilon, delta=method.cost.delta), key=PAGE)

    screen.show(view, right)

    shape.tabs(
        PAGE,
        {
            **linear_tabs.bodies(view, problem, rows, names, extra[main]),
            "Make one private release": lambda: make_release(source, names, epsilon),
        },
    )


def make_release(source: Source, names: list[str], epsilon: float) -> None:
    """One column, by permute-and-flip on total costs within the declared bounds."""
    obstacle = source.obstacle(*names)
    if obstacle or source.released is None:
        st.info(obstacle or source.unreleased)
        return
    table = source.released()
    schema = table.schema
    bounds = "; ".join(f"{schema.column(name).low:g} to {schema.column(name).high:g}" for name in names)
    try:
        request = BestScore(
            epsilon=epsilon,
            candidates=tuple(words.visible(name, 60) for name in names),
            sensitivity=schema.rows_per_person * UNITS,
            neighbours="replace_one",
            smallest=True,
            subject=f"total cost in shares of the declared range ({bounds})",
        )
    except InvalidArgument as error:
        st.warning(f"This cannot be released: {error}.")
        return
    reach = 2 * schema.rows_per_person * float(np.log(len(names) / LIKELY)) / epsilon
    st.caption("Released by permute and flip, whichever method the chart above shows: for one choice it is the best.")
    release_panel(
        source,
        slot="linear",
        request=request,
        data=lambda: total_units(table, names),
        forecast=(
            f"its total over all rows is at most {words.number(reach)} times the range above the smallest total, "
            f"{words.number(100 * (1 - LIKELY))} times in 100."
        ),
        describe=lambda answer: f"Costs least: {words.safe(str(answer['candidate']))}",
    )
