"""Whom should we follow, day after day, without revealing any single day?"""

from __future__ import annotations

import numpy as np
import streamlit as st

from dashboard import session, words
from dashboard.background import compute
from dashboard.charts.experts import ribbon
from dashboard.charts.tradeoff import Scale
from dashboard.data.source import Source
from dashboard.questions.experts import losses, tabs
from dashboard.questions.experts.losses import Setting
from dashboard.widgets import cards, shape
from dashboard.widgets import inputs as controls
from dashboard.widgets.picture import picture
from dashboard.widgets.tradeoff import View
from dpcore.errors import InvalidArgument
from dpcore.experts import ExpertsProblem
from dpcore.experts.strategy import Assumption

PAGE = "experts"
SCALES = {
    "regret_per_round": Scale(
        title="points lost more than the best, per 100 rounds", factor=100.0, unit=" points per 100 rounds"
    ),
    "total_loss": Scale(title="points lost in all", unit=" points"),
}
ASSUMED = {
    "any": "nothing",
    "oblivious": "outcomes do not react to whom we follow",
    "independent": "days are alike and independent",
}
DRAWN = ("textbook", "weighted_majority", "batched", "doubling_leader", "non_private", "theory")
BAND = "Shaded: range of what you might see, 80 in 100 runs of the same method on these losses (exact variance)."


def show(source: Source) -> None:
    """The whole question, from sentence to release."""
    picked: dict[str, object] = {}

    def follow() -> None:
        with st.popover("these experts", icon=":material/groups:"):
            try:
                picked["setting"] = losses.choose(source)
            except InvalidArgument as error:
                picked["problem"] = str(error)

    shape.sentence("Whom of", follow, "should we follow, without revealing any single day?")
    if "setting" not in picked:
        st.info(f"These experts cannot be followed yet: {picked['problem']}.")
        return
    setting = picked["setting"]
    if not isinstance(setting, Setting):  # the popover always leaves one of the two
        return
    assumption = _assumption(setting)
    screen = shape.screen()
    with screen.options, st.popover("Options", icon=":material/tune:", type="tertiary"):
        delta, metric, main, drawn = _options(setting, assumption)
    _answer(screen, source, setting, assumption, delta, metric, main, drawn)


def _assumption(setting: Setting) -> Assumption:
    """A plain choice that shows or hides strategies."""
    chosen = st.segmented_control(
        "What are you ready to assume?",
        list(ASSUMED),
        default="oblivious",
        required=True,
        key="assumption",
        bind="query-params",
        format_func=ASSUMED.__getitem__,
        help="The more you may assume, the better a private strategy can be; with less, its promise holds more widely.",
    )
    return "any" if chosen == "any" else "independent" if chosen == "independent" else "oblivious"


def _options(setting: Setting, assumption: Assumption) -> tuple[float, str, str, list[str]]:
    problem = ExpertsProblem(losses=setting.losses.values, assumption=assumption, band=0.0)
    labels = problem.labels
    strategies = [key for key in labels if not key.startswith("theory") and key != "non_private"]
    delta = float(
        st.select_slider(
            "δ, the chance that the promise fails",
            [1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4],
            value=1e-6,
            key="experts_delta",
            bind="query-params",
            format_func=words.tiny,
        )
    )
    metric = st.segmented_control(
        "Measure",
        list(SCALES),
        default="regret_per_round",
        required=True,
        key="experts_metric",
        bind="query-params",
        format_func={"regret_per_round": "Lost more than the best", "total_loss": "Total loss"}.__getitem__,
    )
    main = st.selectbox(
        "Strategy used for the answer",
        strategies,
        index=strategies.index("batched" if "batched" in strategies else "weighted_majority"),
        key=f"experts_method-{assumption}",
        persist_state="session",
        format_func=labels.__getitem__,
    )
    for key, left_out in problem.too_large.items():
        st.caption(
            f"{left_out} is left out: it is simulated, and with {problem.experts:,} experts only up to "
            f"{problem.longest_for(key):,} rounds; these are {problem.n:,}."
        )
    drawn = controls.several(
        "Drawn beside it",
        list(labels),
        default=[key for key in DRAWN if key in labels],
        key=f"experts_drawn-{assumption}",
        name=labels.__getitem__,
    )
    st.toggle(
        "Show how much runs differ (range of what you might see)", value=True, key="experts_band", bind="query-params"
    )
    controls.seed()
    return delta, str(metric), str(main), list(dict.fromkeys([*drawn, str(main)]))


def _answer(
    screen: shape.Screen,
    source: Source,
    setting: Setting,
    assumption: Assumption,
    delta: float,
    metric: str,
    main: str,
    drawn: list[str],
) -> None:
    epsilon = session.epsilon()
    band = 0.8 if session.get("experts_band", True) else 0.0
    mark = None if setting.simulated else source.mark
    problem = ExpertsProblem(
        losses=setting.losses.values, delta=delta, assumption=assumption, scenario=setting.scenario, band=band
    )
    labels = problem.labels
    scale = SCALES[metric]
    rounds = problem.n
    at = (np.array([epsilon]), np.array([float(rounds)]))
    lost = {
        key: 100 * float(problem.evaluate(key, "regret_per_round", *at).value[0])
        for key in (main, "non_private", "theory")
    }
    bearable = 1.5 * max(lost["non_private"], 0.1)
    default = float(f"{bearable if metric == 'regret_per_round' else 0.4 * rounds:.1g}")
    identity = ("experts", *setting.key, assumption, delta, band)
    strategy = problem.strategy(main, epsilon)

    def whom() -> None:
        weights = compute.cached(
            (*identity, "weights", main, epsilon), lambda: thinned(strategy.weights(setting.losses.values))
        )
        figure = ribbon(setting.losses.names, weights, rounds=rounds, time="round", dark=session.dark())
        top = int(np.argmax(weights[-1]))
        picture(
            figure,
            key="experts-ribbon",
            alt=f"Whom the strategy follows over time; at the end most often {setting.losses.names[top]}.",
            mark=mark,
        )
        st.caption("Each band is how often one expert is followed. With a small ε the bands stay equal for longer.")

    need = cards.ask(
        screen.cards,
        PAGE,
        label="I accept losing, points per 100 rounds" if metric == "regret_per_round" else "Points lost in all below",
        low=0.001,
        high=100.0 if metric == "regret_per_round" else 1e9,
        default=default,
        step=1.0,
        key=f"{PAGE}_{metric}",
        factor=scale.factor,
    )
    view = View(
        page=PAGE,
        problem=problem,
        identity=identity,
        metric=metric,
        scale=scale,
        names=labels,
        methods=[key for key in labels if key in drawn],
        everything=list(ExpertsProblem(losses=setting.losses.values, assumption="independent", band=0.0).labels),
        main=main,
        epsilon=epsilon,
        target=need.target,
        size_word="rounds",
        size_title="number of rounds T",
        sizes=(float(max(10, rounds // 20)), float(min(problem.longest_for(*drawn), rounds * 5, 10**6))),
        mark=mark,
        band=BAND if band else None,
        extra={"Whom it follows": whom},
    )
    session.next_cost(strategy.cost, "replace_one")
    best = setting.losses.names[int(np.argmin(setting.losses.values.sum(axis=0)))]
    vacuous = problem.promise("theory", epsilon).vacuous
    screen.answer(
        f"At ε = {words.number(epsilon)} following privately loses **{words.number(lost[main])}** points more per "
        "100 rounds than the best expert.",
        f"{setting.what.capitalize()}; a round costs 0 to 1 points. Best in hindsight: {words.safe(best)}. "
        f"Without privacy: {words.number(lost['non_private'])}. "
        + (
            "The textbook's theorem promises nothing here: it allows losing every round."
            if vacuous
            else f"The textbook's theorem promises {words.number(lost['theory'])}."
        ),
    )

    def right() -> None:
        need.show(view)
        law = compute.cached(
            (*identity, "last", main, epsilon), lambda: thinned(strategy.weights(setting.losses.values))[-1]
        )
        good = [name == best for name in setting.losses.names]
        cards.might_see(list(setting.losses.names), list(law), good, key=PAGE, what="plays on the last day")
        cards.protected(
            words.LabelCard(
                neighbours="replace_one",
                epsilon=epsilon,
                delta=0.0 if strategy.cost.delta == 0 else delta,
                who="one day's outcomes",
                not_protected="that the run took place, the experts' names, and how many days there were",
            ),
            key=PAGE,
        )

    screen.show(view, right)
    st.caption(problem.beyond)
    shape.tabs(PAGE, tabs.bodies(source, setting, view, problem, strategy, main, lost[main]))


def thinned(weights: np.ndarray) -> np.ndarray:
    """At most 400 rounds of the chances, the last one among them."""
    return weights[np.unique(np.linspace(0, len(weights) - 1, min(len(weights), 400)).astype(int))]
