"""Which simple rule predicts best? Private learning over a finite class."""

from __future__ import annotations

import numpy as np
import streamlit as st

from dashboard import compute, controls, session, words
from dashboard.charts.tradeoff import Scale
from dashboard.panels import cards, scenarios, shape
from dashboard.panels.selection.learned import Learned, features, learn, targets
from dashboard.panels.selection.release import rule_release
from dashboard.panels.selection.settings import BAND, neighbours_control, sampling_control
from dashboard.panels.tradeoff import View, needed_epsilon
from dashboard.source import Source
from dpcore.datasets import Table
from dpcore.selection import FiniteClass, FiniteClassProblem, catalog
from dpcore.validate import Neighbours

PAGE = "rule"
METHODS = {key: kind.label for key, kind in catalog().items()}
NAMES = METHODS | {"theory": "theorem, noise alone", "pac": "learning theorem"}
METRICS = {
    "error": Scale(title="wrong predictions in 100", factor=100.0, unit=" in 100"),
    "excess": Scale(title="wrong in 100, above the best rule", factor=100.0, unit=" in 100"),
    "success": Scale(title="near-best choices in 100", factor=100.0, unit=" times in 100", hundred=True),
}
LABELS = {"error": "Wrong predictions", "excess": "Wrong above the best", "success": "Chance of a near-best rule"}


def show(source: Source) -> None:
    """The whole question, from sentence to release."""
    table = source.table
    choices = [name for name in targets(table) if features(table, name)]
    if not choices or table.schema.each_row != "record":
        st.info(
            "This question needs one row per person, a column with two answers, and at least one more column with "
            "declared bounds or categories. Pick another sample, or declare them on the Data page."
        )
        return
    picked: list[str] = []
    shape.sentence(
        "Which simple rule predicts",
        lambda: picked.append(
            st.selectbox(
                "Column to predict",
                choices,
                key="rule_target",
                bind="query-params",
                format_func=words.visible,
                label_visibility="collapsed",
                width=220,
            )
        ),
        f"best, from {table.rows:,} people?",
    )
    target = picked[0]
    screen = shape.screen()
    with screen.options, st.popover("Options", icon=":material/tune:", type="tertiary"):
        neighbours, metric, main, chosen, cuts = _options(table, target)
    if not chosen:
        st.info("Choose at least one column that a rule may look at, under Options.")
        return
    key = ("rule", table.fingerprint, target, tuple(chosen), cuts)
    learned: Learned = compute.cached((*key, "errors"), lambda: learn(table, target, chosen, cuts))
    if learned.people == 0:
        st.info("No row has a value in every chosen column. Choose fewer columns under Options.")
        return
    _answer(screen, source, target, learned, key, neighbours, metric, main)


def _options(table: Table, target: str) -> tuple[Neighbours, str, str, list[str], int]:
    usable = features(table, target)
    chosen = controls.several(
        "Columns a rule may look at",
        usable,
        default=usable[:6],
        key=f"rule_columns-{target}",
        name=words.visible,
    )
    cuts = st.select_slider(
        "Cuts tried per column of numbers",
        (5, 10, 20, 50, 100),
        value=20,
        key="rule_cuts",
        bind="query-params",
        help="The cuts lie evenly between the declared bounds; they are never taken from the data.",
    )
    neighbours = neighbours_control("rule_neighbours")
    metric = st.segmented_control(
        "Measure",
        list(METRICS),
        default="error",
        required=True,
        key="rule_metric",
        bind="query-params",
        format_func=LABELS.__getitem__,
    )
    main = st.selectbox(
        "Method used for the answer",
        list(METHODS),
        index=list(METHODS).index("permute_and_flip"),
        key="rule_method",
        bind="query-params",
        format_func=METHODS.__getitem__,
    )
    sampling_control()
    controls.beta()
    return neighbours, str(metric), str(main), list(chosen), int(cuts)


def _answer(
    screen: shape.Screen,
    source: Source,
    target: str,
    learned: Learned,
    key: tuple[object, ...],
    neighbours: Neighbours,
    metric: str,
    main: str,
) -> None:
    sampling = bool(session.get("sampling", False))
    beta = float(session.get("beta", 0.05))
    questions = int(session.get("rule_questions", 1) or 1)
    epsilon = session.epsilon()

    def make(shared: int) -> FiniteClassProblem:
        return FiniteClassProblem(
            errors=learned.errors,
            people=learned.people,
            relation=neighbours,
            rows_per_person=source.table.schema.rows_per_person,
            questions=shared,
            beta=beta,
            band=0.8 if sampling else 0.0,
            covariance=learned.covariance,
        )

    problem = make(questions)
    settings = (neighbours, sampling, beta)
    best = int(np.argmin(learned.errors))
    rate = problem.best
    default = {"error": round(100 * rate + 1, 1), "excess": 1.0, "success": 95.0}[metric]
    percent = metric == "success"
    bounds = ["theory", "pac"] if metric != "error" else ["pac"]
    need = cards.ask(
        screen.cards,
        PAGE,
        label="I need a near-best rule, times in 100" if percent else f"I need {LABELS[metric].lower()}, in 100, below",
        low=0.001,
        high=99.9,
        default=default,
        step=1.0 if percent else 0.5,
        key=f"{PAGE}_{metric}",
        factor=METRICS[metric].factor,
    )
    view = View(
        page=PAGE,
        problem=problem,
        identity=(*key, *settings, questions),
        metric=metric,
        scale=METRICS[metric],
        names=NAMES,
        methods=[*METHODS, *bounds],
        everything=list(NAMES),
        main=main,
        epsilon=epsilon,
        target=need.target,
        ghost=make(1) if questions != 1 else None,
        ghost_identity=(*key, *settings, 1),
        mark=source.mark,
        band=BAND if sampling else None,
    )
    mechanism = problem.mechanism(main, epsilon)
    session.next_cost(mechanism.cost, neighbours)
    law = compute.cached((*view.identity, "law", main, epsilon), lambda: mechanism.probabilities(-learned.errors))
    mean = float(law @ learned.errors) / learned.people
    screen.answer(
        f"At ε = {words.number(epsilon)} the rule chosen privately is wrong about "
        f"**{words.number(100 * mean)} times in 100**.",
        f"Best of {len(learned.names):,} rules without privacy: “{words.safe(learned.names[best])}”, "
        f"wrong {words.number(100 * rate)} times in 100.",
    )

    def right() -> None:
        need.show(view)
        near = [error <= learned.errors[best] + 0.01 * learned.people for error in learned.errors]
        cards.might_see(list(learned.names), list(law), near, key=PAGE)
        cards.protected(words.LabelCard(neighbours=neighbours, epsilon=epsilon), key=PAGE)

    screen.show(view, right)
    shape.tabs(
        PAGE,
        {
            "How it works": lambda: _how(problem, learned, main, epsilon, beta),
            "What if": lambda: _what_if(view, mean),
            "Make one private release": lambda: rule_release(source, target, learned, neighbours, epsilon, mean),
        },
    )


def _how(problem: FiniteClassProblem, learned: Learned, main: str, epsilon: float, beta: float) -> None:
    st.markdown(
        "Write down every rule in advance: cuts on a public grid and the declared categories. Count how many people "
        "each rule gets wrong, and choose one rule privately, fewer mistakes being likelier. One person changes each "
        "count by at most one, so more people make the same ε more accurate."
    )
    k, alpha = len(learned.names), problem.alpha
    mechanism = FiniteClass(epsilon=epsilon, relation=problem.relation, method=main)
    asked = mechanism.sample_size_bound(k, alpha, beta)
    enough = mechanism.sample_size(k, alpha, beta)
    st.markdown(
        f"**Sample size.** To be within {words.number(100 * alpha)} in 100 of the best of {k:,} rules, except with "
        f"chance {words.number(beta)}, the learning theorem asks for {asked['both']:,} people. Without privacy it "
        f"would be {asked['sampling']:,}; being near-best on these data alone, whatever they say of others, for "
        f"{asked['privacy']:,}, and by the exact law for at most {enough:,}, however the mistakes are spread."
    )
    with st.expander("The formula and its source"):
        st.latex(
            r"\text{excess} \le 2\sqrt{\frac{\ln(4|C|/\beta)}{2n}}"
            r" + \frac{c}{\varepsilon n}\left(\ln|C| + \ln\frac{2}{\beta}\right)"
        )
        st.caption(
            f"Except with chance β, over the people drawn and the noise; c = {words.number(mechanism.constant(k))} for "
            "this mechanism and these neighbours. Kasiviswanathan, Lee, Nissim, Raskhodnikova and Smith, SIAM Journal "
            "on Computing 2011, with the constants worked out (Hoeffding and a union bound)."
        )


def _what_if(view: View, mean: float) -> None:
    st.number_input(
        "How many such questions share this ε",
        min_value=1,
        max_value=1000,
        value=1,
        key="rule_questions",
        persist_state="session",
    )
    least = needed_epsilon(view)
    scenarios.show(
        PAGE,
        {
            "ε": words.number(view.epsilon),
            "people": words.whole(view.problem.n),
            "wrong in 100": words.number(100 * mean),
            "ε needed": "none" if least is None else words.number(least),
        },
        view.mark,
    )
