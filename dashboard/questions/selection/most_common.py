"""Which option is most common, or scores best?"""

from __future__ import annotations

import numpy as np
import streamlit as st

from dashboard import session, words
from dashboard.background import compute
from dashboard.charts.tradeoff import Scale
from dashboard.data.source import Source
from dashboard.questions.selection import how, rounding, what_if
from dashboard.questions.selection.options import Options, columns, options
from dashboard.questions.selection.release import release_tab
from dashboard.questions.selection.settings import BAND, neighbours_control, sampling_control
from dashboard.widgets import cards, shape
from dashboard.widgets import inputs as controls
from dashboard.widgets.tradeoff import View
from dpcore.selection import MostCommon, catalog
from dpcore.tradeoff import epsilon_for
from dpcore.validate import Neighbours

PAGE = "selection"
METHODS = {key: kind.about.name for key, kind in catalog().items() if hasattr(kind, "probabilities")}
NAMES = METHODS | {"theory": "what theory guarantees"}
METRICS = {
    "success": Scale(title="times right in 100", factor=100.0, unit=" times in 100", hundred=True),
    "expected_loss": Scale(title="average distance from the best"),
}


def show(source: Source) -> None:
    """The whole question, from sentence to release."""
    choices = columns(source.table)
    if not choices:
        st.info("These data have no column with options. Pick another sample, or declare categories on the Data page.")
        return
    column = _sentence(source, choices)
    screen = shape.screen()
    with screen.options:
        neighbours, metric, main = _options()
    chosen = options(source, column)
    if len(chosen.names) < 2:
        st.info(f"“{words.visible(column)}” has one option only, so there is nothing to choose. Pick another column.")
        return
    edited = what_if.edited(source, chosen)
    problem = _problem(edited, neighbours)
    before = _problem(what_if.Case.of(chosen), neighbours)
    settings = (session.get("beta", 0.05), session.get("sampling", False))
    identity = ("most common", source.table.fingerprint, column, neighbours, settings, edited.identity)
    epsilon = session.epsilon()
    percent = metric == "success"
    default = 95.0 if percent else _sensible_loss(chosen)
    need = cards.ask(
        screen.cards,
        PAGE,
        label="I need it right, times in 100" if percent else "I need the average loss below",
        low=1.0 if percent else 1e-6,
        high=99.9 if percent else 1e9,
        default=default,
        step=1.0 if percent else max(default / 10, 1e-6),
        factor=METRICS[metric].factor,
    )
    view = View(
        page=PAGE,
        problem=problem,
        identity=identity,
        metric=metric,
        scale=METRICS[metric],
        names=NAMES,
        methods=_drawn(),
        everything=list(NAMES),
        main=main,
        epsilon=epsilon,
        target=need.target,
        size_word=chosen.unit if chosen.counted else "people",
        ghost=before if edited.changed else None,
        ghost_identity=("most common", source.table.fingerprint, column, neighbours, settings, "as it was"),
        mark=source.mark,
        band=BAND if session.get("sampling", False) and edited.counted else None,
        code=_code(chosen, neighbours),
    )
    law = problem.law(main, epsilon)
    best = edited.scores == edited.scores.max()
    session.next_cost(problem.mechanism(main, epsilon).cost, neighbours)
    screen.answer(*_headline(view, edited, law))

    def right() -> None:
        need.show(view)
        cards.might_see(edited.names, list(law), list(best), key=PAGE)
        cards.protected(words.LabelCard(neighbours=neighbours, epsilon=epsilon), key=PAGE)

    screen.show(view, right)
    shape.tabs(
        PAGE,
        {
            "How it works": lambda: how.show(edited, neighbours, main, epsilon),
            "What if": lambda: what_if.show(source, chosen, edited, view),
            "Compare methods": lambda: how.compare(view, edited, problem, neighbours),
            "One mechanism behind many": lambda: rounding.show(epsilon),
            "Make one private release": lambda: release_tab(
                source, chosen, neighbours, epsilon, float(law[best].sum())
            ),
        },
    )


def _sentence(source: Source, choices: list[str]) -> str:
    """The question with the column inside it."""
    picked: list[str] = []

    def pick() -> None:
        picked.append(
            st.selectbox(
                "Column",
                choices,
                key="column",
                bind="query-params",
                format_func=words.visible,
                label_visibility="collapsed",
                width=220,
            )
        )

    table = source.table
    if table.schema.each_row == "option":
        label = next((c.name for c in table.schema.columns if not c.is_numeric), "option")
        shape.sentence(f"Which {words.safe(label)} has the best", pick, f"of {table.rows:,}?")
    else:
        shape.sentence("Which", pick, f"is most common among {source.table.rows:,} {_rows_word(source)}?")
    return picked[0]


def _rows_word(source: Source) -> str:
    unit = source.table.schema.unit
    return "people" if unit == "person" else f"{unit}s"


def _options() -> tuple[Neighbours, str, str]:
    with st.popover("Options", icon=":material/tune:", type="tertiary"):
        neighbours = neighbours_control("neighbours")
        metric = st.segmented_control(
            "Measure",
            list(METRICS),
            default="success",
            required=True,
            key="selection_metric",
            bind="query-params",
            format_func={"success": "Chance of the right answer", "expected_loss": "Average loss"}.__getitem__,
        )
        main = st.selectbox(
            "Method used for the answer",
            list(METHODS),
            index=list(METHODS).index("permute_and_flip"),
            key="selection_method",
            bind="query-params",
            format_func=METHODS.__getitem__,
        )
        sampling_control()
        controls.beta()
        controls.seed()
    return neighbours, str(metric), str(main)


def _drawn() -> list[str]:
    return list(NAMES)


def _problem(case: what_if.Case, neighbours: Neighbours) -> MostCommon:
    return MostCommon(
        scores=case.scores,
        relation=neighbours,
        sensitivity=case.sensitivity,
        counted=case.counted,
        questions=case.questions,
        beta=float(session.get("beta", 0.05)),
        band=0.8 if session.get("sampling", False) else 0.0,
    )


def _sensible_loss(chosen: Options) -> float:
    spread = float(np.ptp(chosen.scores)) or 1.0
    return float(words.number(spread / 20).replace(",", ""))


def _headline(view: View, case: what_if.Case, law: np.ndarray) -> tuple[str, str]:
    right = float(law[case.scores == case.scores.max()].sum())
    least = view.problem
    headline = f"At ε = {words.number(view.epsilon)} the private answer names the true winner {_about(right)}."
    promise = least.evaluate("theory", "success", np.array([view.epsilon]), np.array([float(least.n)])).value[0]
    theory = (
        f"The textbook's theorem alone promises {words.times_in_100(float(promise))}."
        if promise > 0.005
        else "The textbook's theorem alone promises nothing yet at this ε."
    )
    sure = compute.cached(
        (*view.identity, "sure", view.main),
        lambda: epsilon_for(0.99, view.problem, method=view.main, metric="success", low=1e-6, high=1e3),
    )
    if sure is not None and sure < session.EPSILON_LOW:
        free = f"With {words.whole(view.problem.n)} people privacy is free here: "
        theory = f"{free}still right 99 times in 100 at ε = {words.number(sure)}."
    return headline, f"Without privacy it would be right every time. {theory}"


def _about(chance: float) -> str:
    text = words.times_in_100(chance)
    return f"**{text}**" if text.startswith(("practically", "every", "fewer")) else f"about **{text}**"


def _code(chosen: Options, neighbours: Neighbours) -> str:
    scores = ", ".join(f"{score:g}" for score in chosen.scores[:200])
    return (
        "import numpy as np\n"
        "from dpcore.selection import MostCommon\n"
        "from dpcore.tradeoff import sweep_epsilon\n\n"
        f"problem = MostCommon(scores=[{scores}], relation={neighbours!r})\n"
        "print(sweep_epsilon(problem, np.geomspace(0.01, 10, 61)).to_string())\n"
    )
