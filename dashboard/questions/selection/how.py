"""How a private choice works, and how the methods compare, with the page's own numbers."""

from __future__ import annotations

import numpy as np
import streamlit as st

from dashboard import session, words
from dashboard.charts.draws import noisy_race
from dashboard.charts.laws import chances
from dashboard.charts.theme import colours
from dashboard.questions.selection.what_if import Case
from dashboard.widgets import inputs as controls
from dashboard.widgets.picture import picture
from dashboard.widgets.tradeoff import View
from dpcore.selection import FreeGap, MostCommon, catalog
from dpcore.validate import Neighbours

DRAWS, SHOWN = 12, 8


def show(case: Case, neighbours: Neighbours, main: str, epsilon: float) -> None:
    """The mechanism as it runs, one formula, and the two questions people ask next."""
    kind = catalog()[main]
    st.markdown(kind.about.how)
    mechanism = kind(
        epsilon=epsilon / case.questions,
        sensitivity=case.sensitivity,
        monotonic=neighbours == "add_remove" and case.counted,
    )
    order = np.argsort(-case.scores, kind="stable")[:SHOWN]
    rng = np.random.Generator(np.random.PCG64(controls.current_seed()))
    noise = mechanism.noise(case.scores.size, rng, DRAWS)[:, order]
    figure = noisy_race(
        [words.html(case.names[i]) for i in order], case.scores[order], noise, unit=case.unit, dark=session.dark()
    )
    winners = [case.names[order[i]] for i in np.argmax(case.scores[order] + noise, axis=1)]
    picture(
        figure,
        key="selection-race",
        alt=f"{DRAWS} simulated draws of the noise and their winners: "
        + ", ".join(words.visible(name) for name in winners)
        + ".",
    )
    if main == "permute_and_flip":
        gap = FreeGap(epsilon=mechanism.epsilon, sensitivity=mechanism.sensitivity, monotonic=mechanism.monotonic)
        st.caption(
            "The same noise also shows by how much the winner beat the runner-up, at no further cost: on average "
            f"{words.number(gap.mean_gap(case.scores))} {words.safe(case.unit)} here. Shown for exploring only."
        )
    with st.expander("The formula and its source"):
        if kind.about.formula:
            st.latex(kind.about.formula)
        st.caption(
            "a = ε/Δ when one person can only move all scores one way, ε/(2Δ) otherwise; "
            f"Δ = {words.number(case.sensitivity)} is what one person can change. {kind.about.source}"
        )


def compare(view: View, case: Case, problem: MostCommon, neighbours: Neighbours) -> None:
    """Every method's chances side by side, and why the noisy-counts idea costs so much."""
    order = np.argsort(-case.scores, kind="stable")[:SHOWN]
    laws = {key: problem.law(key, view.epsilon)[order] for key in view.methods if key != "theory"}
    figure = chances(
        [words.html(case.names[i]) for i in order],
        laws,
        view.names,
        colours(view.everything, session.dark()),
        dark=session.dark(),
    )
    best = case.scores == case.scores.max()
    right = {key: float(problem.law(key, view.epsilon)[best].sum()) for key in laws}
    picture(
        figure,
        key="selection-chances",
        alt="Chance of each option. "
        + "; ".join(f"{view.names[key]}: right {words.times_in_100(p)}" for key, p in right.items())
        + ".",
        mark=view.mark,
    )
    if "naive_laplace" in right:
        st.markdown(
            f"**Why not just add noise to each count?** With {len(case.names):,} counts to publish, "
            "each gets only a part of ε. "
            f"The winner read off such counts is right {words.times_in_100(right['naive_laplace'])}; "
            f"naming only the winner is right {words.times_in_100(max(right.values()))} for the same ε."
            + (
                " (When each person adds to one count only and is added or removed, the counts need not share ε: then "
                "noise on every count costs no more than noisy max with Laplace noise, the line beside it.)"
                if case.counted and neighbours == "add_remove"
                else ""
            )
        )
    st.markdown(
        "**Which one to use?** For one answer, permute and flip is never worse than the exponential mechanism. "
        "For many answers that share one budget the exponential mechanism composes better, and wins."
    )
