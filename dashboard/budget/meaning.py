"""What the guarantee means: odds of a guess, and the best possible attacker's false alarms against misses."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
import streamlit as st

from dashboard import session, words
from dashboard.background import compute
from dashboard.budget.totals import SHOWN_DELTA
from dashboard.charts.attacker import attacker
from dashboard.charts.dots import odds_grid
from dashboard.charts.ready import Ready
from dashboard.controls import Choice
from dashboard.widgets import controls
from dashboard.widgets.picture import picture
from dpcore.calibration import gaussian_noise_multiplier
from dpcore.costs import Cost
from dpcore.guarantee import gaussian_misses, guess_chance, laplace_misses, misses, widening
from dpcore.validate import FloatArray

PRIORS = (1, 5, 10, 25, 50, 75, 90, 95, 99)
COUNTS = (1, 3, 10, 30)
RATES = np.linspace(0.0, 1.0, 201)
ON_AVERAGE = (
    "That is the average over all that the answers may come out as, and so is what the sidebar and the Budget page say "
    "of a guess where there is a δ. Without a δ that is the most that it can come to, however they come out."
)
PLANNED = "Several answers: composed by their privacy losses, for questions planned in advance."
ANY, LAPLACE, GAUSSIAN = "any", "laplace", "gaussian"
KIND = Choice(
    key="meaning_kind",
    label="What answers",
    help="The band follows from ε and δ alone. For a known mechanism the curve is exact and lies within it.",
    options=(ANY, LAPLACE, GAUSSIAN),
    names={ANY: "Any answer with this ε", LAPLACE: "Laplace noise", GAUSSIAN: "Gaussian noise"},
    default=ANY,
    look="buttons",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Law:
    """One way to answer: its cost, the exact misses of one answer where known, and what is known about it."""

    cost: Cost
    exact: FloatArray | None
    delta: float
    words: str


def show_meaning() -> None:
    """Two pictures: a guess before and after, and the attacker's trade-off as answers add up."""
    epsilon = session.epsilon()
    left, right = st.columns([1, 2], gap="medium")
    with left, st.container(border=True):
        _guess(epsilon)
    with right:
        _attack(epsilon)


def _guess(epsilon: float) -> None:
    st.markdown("**One person, one guess**")
    prior = st.select_slider(
        "Before any answer, a guess whether you are in the data is right, times in 100",
        PRIORS,
        value=50,
        key="meaning_prior",
        persist_state="session",
        help="How often somebody would already be right, by all that they know. Where answers hide that one person's "
        "row is changed, it is a guess what your row says.",
    )
    after = 100 * guess_chance(epsilon, float(prior) / 100)
    st.plotly_chart(
        Ready(odds_grid(round(after), dark=session.dark())),
        key="meaning-odds",
        theme=None,
        alt=f"A grid of 100 dots, {round(after)} filled: right at most {round(after)} times in 100 afterwards.",
        config={"displayModeBar": False},
    )
    st.markdown(
        f"After one answer at ε = {words.number(epsilon)} the same guess is right at most "
        f"**{words.at_most(after)}** times in 100, "
        "whatever else the guesser knows or learns later."
    )
    st.caption(
        "It does not say that nothing is learned about you: that smokers fall ill more often is learned with or "
        "without your row. It bounds what your own row adds. Drag ε in the sidebar."
    )


def law(kind: str, epsilon: float) -> Law:
    """What is known about an answer of this kind at ε (and δ of one in a million for Gaussian noise)."""
    if kind == LAPLACE:
        exact = laplace_misses(RATES, noise_multiplier=1 / epsilon)
        return Law(cost=Cost.laplace(1 / epsilon), exact=exact, delta=0.0, words="Laplace noise")
    if kind == GAUSSIAN:
        noise = gaussian_noise_multiplier(epsilon, SHOWN_DELTA)
        exact = gaussian_misses(RATES, noise_multiplier=noise)
        return Law(cost=Cost.gaussian(noise, SHOWN_DELTA), exact=exact, delta=SHOWN_DELTA, words="Gaussian noise")
    return Law(cost=Cost.pure(epsilon), exact=None, delta=0.0, words="any answer with this ε")


def _attack(epsilon: float) -> None:
    controls.draw(KIND)
    kind = session.ask(KIND)
    many = st.toggle(
        "Show what happens as answers add up",
        value=True,
        key="meaning_many",
        persist_state="session",
    )
    chosen = law(kind, epsilon)
    counts = COUNTS if many else (1,)
    wide = compute.MEMORY(("widening", kind, epsilon, counts), lambda: widening(chosen.cost, counts, RATES))
    curves = [(words.plural(count, "answer"), row) for count, row in zip(counts, wide.misses, strict=True)]
    if chosen.exact is not None:
        curves[0] = (f"1 answer with {chosen.words}, exactly", chosen.exact)
    worst = misses(RATES, epsilon=epsilon, delta=chosen.delta)
    if chosen.exact is None:
        curves[0] = ("1 answer", worst)
    figure = attacker(RATES, curves, worst=worst, dark=session.dark())
    data = pd.DataFrame(
        [
            {"answers": count, "false_alarms": rate, "misses": miss}
            for count, (_, row) in zip(counts, curves, strict=True)
            for rate, miss in zip(RATES, row, strict=True)
        ]
    )
    best = [f"{words.plural(n, 'answer')} {100 * b:.0f}" for n, b in zip(counts, wide.best_attack, strict=True)]
    picture(
        figure,
        key="budget-attacker",
        alt=f"Misses against false alarms of the best attacker at ε = {words.number(epsilon)}. Right in 100 from an "
        f"even start after {', '.join(best)}.",
        data=data,
        code=_code(chosen.cost, counts),
    )
    st.caption(
        "The attacker knows every row but yours, sees the answers, and says whether you are in the data. Nobody can "
        "get below a line: fewer misses mean more false alarms. Shaded: what ε"
        + (" and δ alone leave" if chosen.delta else " alone leaves")
        + " open to one answer."
    )
    st.markdown(
        "**From an even start the best attacker is right**, times in 100: "
        + ", ".join(
            f"after {words.plural(n, 'answer')} **{words.at_most(100 * b)}**"
            for n, b in zip(counts, wide.best_attack, strict=True)
        )
        + "."
    )
    st.caption(f"{ON_AVERAGE} {PLANNED}" if many else ON_AVERAGE)


def _code(cost: Cost, counts: tuple[int, ...]) -> str:
    return (
        "import numpy as np\n"
        "from dpcore.accounting import Cost\n"
        "from dpcore.events import *  # the events that the cost names\n"
        "from dpcore.guarantee import widening\n\n"
        f"found = widening({cost!r}, {list(counts)}, np.linspace(0, 1, 201))\n"
        "print(found.best_attack)\n"
    )
