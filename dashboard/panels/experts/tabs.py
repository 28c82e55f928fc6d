"""What lies below the chart: a life of the algorithm, scenarios, which promise needs what, and the release."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import streamlit as st

from dashboard import compute, controls, session, words
from dashboard.charts.experts import life
from dashboard.panels import scenarios
from dashboard.panels.experts.losses import Setting
from dashboard.panels.picture import csv, picture
from dashboard.panels.release import release_panel
from dashboard.panels.tradeoff import View, needed_epsilon
from dashboard.source import Source
from dpcore.errors import InvalidArgument
from dpcore.experts import ExpertsProblem, running_regret
from dpcore.experts.strategy import ASSUMPTIONS, Strategy
from dpcore.ledger import Receipt
from dpcore.releases.plays import PrivatePlays

NEEDS = {
    "any": "holds whatever the outcomes do, even if they react to whom we follow",
    "oblivious": "holds when outcomes do not react to whom we follow",
    "independent": "holds only when days are alike and independent",
}
WAYS = {
    "batched": "follow every day, changing rarely",
    "from_now_on": "one expert to follow from now on",
    "doubling_leader": "follow every day, days being alike and independent",
}
LONGEST_LIFE = 20_000
LIKELY = 0.05  # the chance that a forecast is exceeded


def bodies(
    source: Source,
    setting: Setting,
    view: View,
    problem: ExpertsProblem,
    strategy: Strategy,
    main: str,
    lost: float,
) -> dict[str, Callable[[], None]]:
    """Tab names and what each draws."""
    return {
        "A life of the algorithm": lambda: one_life(setting, view, strategy, main),
        "What if": lambda: what_if(view, problem, lost),
        "Which promise needs what": lambda: promises(problem, view.epsilon),
        "Make one private release": lambda: make_release(source, setting, problem, view.epsilon),
    }


def one_life(setting: Setting, view: View, strategy: Strategy, main: str) -> None:
    """Plays, losses and running regret of one simulated run."""
    values = setting.losses.values
    if len(values) > LONGEST_LIFE:
        st.info(f"A single run can be drawn for up to {LONGEST_LIFE:,} rounds; these are {len(values):,}.")
        return
    st.markdown(strategy.about.how)
    seed = controls.current_seed()

    def make() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        plays = strategy.play(values, np.random.Generator(np.random.PCG64(seed)))
        suffered = np.cumsum((strategy.weights(values) * values).sum(axis=1))
        best = np.cumsum(values, axis=0, dtype=np.float64).min(axis=1)
        return plays, running_regret(values, plays), suffered - best

    plays, regret, expected = compute.cached((*view.identity, "life", main, view.epsilon, seed), make)
    names = [words.html(name) for name in setting.losses.names]
    figure = life(names, plays, regret, expected, time="round", dark=session.dark())
    picture(
        figure,
        key="experts-life",
        alt=(
            f"One simulated run: it ends having lost {words.number(float(regret[-1]))} more than the best expert, "
            f"{words.number(float(expected[-1]))} on average over runs."
        ),
        mark=view.mark,
    )
    st.caption(
        "Squares: who is followed. Orange: how many points this run has lost more than the best so far. Grey: its "
        "average."
    )
    with st.expander("The formula and its source"):
        if strategy.about.formula:
            st.latex(strategy.about.formula)
        st.caption(
            "Losses do not depend on the plays, so the expected regret is exact: no simulation. "
            + strategy.about.source
        )


def what_if(view: View, problem: ExpertsProblem, lost: float) -> None:
    """Scenarios; the story itself is edited where the experts are chosen."""
    st.markdown("Change the experts, how much better the good one is, or the number of days above, and keep the cases.")
    least = needed_epsilon(view)
    scenarios.show(
        view.page,
        {
            "ε": words.number(view.epsilon),
            "rounds": words.whole(problem.n),
            "experts": str(problem.experts),
            "strategy": view.names[view.main],
            "points lost per 100 rounds": words.number(lost),
            "ε needed": "none" if least is None else words.number(least),
        },
        view.mark,
    )


def promises(problem: ExpertsProblem, epsilon: float) -> None:
    """Which guarantee needs which assumption, with this page's numbers."""
    widest = ExpertsProblem(
        losses=problem.losses, delta=problem.delta, assumption="independent", scenario=problem.scenario, band=0.0
    )
    at = (np.array([epsilon]), np.array([float(problem.n)]))
    rows = []
    for key, label in widest.labels.items():
        if key.startswith("theory"):
            continue
        strategy = widest.strategy(key, epsilon)
        allowed = ASSUMPTIONS.index(strategy.assumption) <= ASSUMPTIONS.index(problem.assumption)
        cost = strategy.cost
        private = (
            "not private"
            if key == "non_private"
            else f"ε = {words.number(cost.epsilon)}" + (f", δ = {words.tiny(cost.delta)}" if cost.delta else "")
        )
        regret = float(widest.evaluate(key, "regret_per_round", *at).value[0])
        rows.append(
            {
                "strategy": label,
                "points lost per 100 rounds": words.number(100 * regret),
                "guarantee": private,
                "shown": "yes" if allowed else "no",
                "its promise": NEEDS[strategy.assumption],
            }
        )
    st.dataframe(
        pd.DataFrame(rows), hide_index=True, alt="Strategies, what each promise needs, and what each loses here"
    )
    st.caption("Points lost more than the best expert. Your choice above the chart decides which are shown there.")
    st.markdown(
        "Privacy holds for every sequence of outcomes. What needs assumptions is how little is lost: a strategy that "
        "follows the leader can be fooled by outcomes that turn against whoever leads."
    )


def make_release(source: Source, setting: Setting, problem: ExpertsProblem, epsilon: float) -> None:
    """The private sequence of plays, or one expert to follow from now on, by the declared columns alone."""
    reading = setting.reading
    if reading is None:
        st.info(
            "These experts are simulated, so there is no day to protect. Choose the experts of a table for a release."
        )
        return
    obstacle = source.obstacle(*reading.needed)
    if obstacle or source.released is None:
        st.info(obstacle or source.unreleased)
        return
    table = source.released()
    if table.schema.rows_per_person > 1:
        st.info(
            f"Each {words.safe(table.schema.unit)} can have {table.schema.rows_per_person:,} rows here, and these "
            "answers protect one row only; they can be released where each has one row."
        )
        return
    way = st.segmented_control(
        "What to publish",
        [way for way in WAYS if way != "doubling_leader" or problem.assumption == "independent"],
        default="batched",
        required=True,
        key=f"experts_way-{problem.assumption}",
        format_func=WAYS.__getitem__,
    )
    rounds = reading.rounds(table)
    try:
        request = PrivatePlays(
            epsilon=epsilon,
            delta=problem.delta if way == "batched" else 0.0,
            rounds=rounds,
            experts=reading.names,
            way="from_now_on" if way == "from_now_on" else "doubling_leader" if way == "doubling_leader" else "batched",
            subject=reading.meaning(table.schema),
        )
    except InvalidArgument as error:
        st.warning(f"This cannot be released: {error}.")
        return
    release_panel(
        source,
        slot="experts",
        request=request,
        data=lambda: reading.losses(table).values,
        forecast=_forecast(problem, epsilon, str(way), rounds),
        describe=_told,
        extra=_plays_file,
    )


def _forecast(problem: ExpertsProblem, epsilon: float, way: str, rounds: int) -> str:
    """How far off, from public numbers alone: a theorem, or what permute-and-flip promises."""
    if way == "from_now_on":
        # by the union bound none of k exponential noises of scale 2/ε is larger, except with chance β
        loses = 2 * float(np.log(problem.experts / LIKELY)) / epsilon
        return (
            f"over the {rounds:,} rounds the named expert has lost at most {words.number(loses)} rounds more than the "
            f"best one, {words.number(100 * (1 - LIKELY))} times in 100."
        )
    found = problem.promise("theory_non_private", epsilon, rounds)
    return (
        f"even without privacy one may lose up to {words.number(found.total)} rounds more than the best expert; what "
        f"privacy adds at ε = {words.number(epsilon)} is on the chart above."
    )


def _told(answer: dict) -> str:
    names = answer["experts"]
    plays = [words.safe(names[play]) for play in answer["plays"]]
    if len(plays) == 1:
        return f"Follow {plays[0]} from now on."
    return f"{len(plays):,} plays over {answer['rounds']:,} rounds; the last one is {plays[-1]}."


def _plays_file(receipt: Receipt) -> None:
    """The plays as a CSV with the receipt's number in it."""
    found = receipt.answer
    frame = pd.DataFrame(
        {
            "from round": [start + 1 for start in found["starts"]],
            "follow": [found["experts"][play] for play in found["plays"]],
        }
    )
    st.download_button(
        "Plays (CSV)",
        lambda: csv(frame.assign(receipt=receipt.journal_hash), None),
        f"plays-{receipt.request_id[:8]}.csv",
        "text/csv",
        on_click="ignore",
        icon=":material/download:",
    )
