"""What the guarantee means: odds of a guess, and the best possible attacker's false alarms against misses."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np
import pandas as pd
import streamlit as st

from dashboard import session, words
from dashboard.background import compute
from dashboard.budget.state import State
from dashboard.budget.totals import SHOWN_DELTA
from dashboard.charts.attacker import attacker
from dashboard.charts.dots import odds_grid
from dashboard.charts.ready import Ready
from dashboard.controls import Choice
from dashboard.usual import RELATIONS, hides
from dashboard.widgets import controls
from dashboard.widgets.picture import picture
from dashboard.words import meaning as said
from dpcore.guarantee import Evidence, gaussian_counts, guess_chance, misses, randomised_responses, widening

PRIORS = (1, 5, 10, 25, 50, 75, 90, 95, 99)
COUNTS = (1, 3, 10, 30)
RATES = np.linspace(0.0, 1.0, 201)
ANY, GAUSSIAN = "any", "gaussian"
KIND = Choice(
    key="meaning_kind",
    label=said.KIND,
    help=said.KIND_HELP,
    options=(ANY, GAUSSIAN),
    names={ANY: said.ANY, GAUSSIAN: said.GAUSSIAN},
    default=ANY,
    look="buttons",
    once={"laplace": ANY, "Laplace noise": ANY, "Gaussian noise": GAUSSIAN},
)


def show_meaning(state: State) -> None:
    """Two pictures: a guess before and after, and the attacker's trade-off as answers add up."""
    epsilon, (neighbours, unit) = session.epsilon(), _hidden(state)
    left, right = st.columns([1, 2], gap="medium")
    with left, st.container(border=True):
        _guess(epsilon, neighbours, unit)
    with right:
        _attack(epsilon, neighbours, unit)


def _hidden(state: State) -> tuple[str, str]:
    """What answers hide, and of which unit: as their budget does; without one, as the table in view says."""
    if state.budget is not None:
        return state.budget.neighbours or RELATIONS[0], state.unit
    if state.source is None:
        return RELATIONS[0], state.unit
    schema = state.source.table.schema
    return hides(schema), schema.unit


def _guess(epsilon: float, neighbours: str, unit: str) -> None:
    st.markdown(said.ONE_GUESS)
    prior = st.select_slider(
        said.prior(neighbours, unit),
        PRIORS,
        value=50,
        key="meaning_prior",
        persist_state="session",
        help=said.PRIOR_HELP,
    )
    after = 100 * guess_chance(epsilon, float(prior) / 100)
    st.plotly_chart(
        Ready(odds_grid(after, before=int(prior), dark=session.dark())),
        key="meaning-odds",
        theme=None,
        alt=said.dots(after, math.ceil(after - 1e-9)),
        config={"displayModeBar": False},
    )
    st.markdown(said.after_one(epsilon, after))
    st.caption(said.bounds(unit))


def evidence(kind: str, epsilon: float) -> Callable[[int], Evidence]:
    """What so many answers of this kind tell at ε, and δ of one in a million for Gaussian noise."""
    return (
        partial(gaussian_counts, epsilon, SHOWN_DELTA) if kind == GAUSSIAN else partial(randomised_responses, epsilon)
    )


def _attack(epsilon: float, neighbours: str, unit: str) -> None:
    controls.draw(KIND)
    kind = session.ask(KIND)
    many = st.toggle(said.ADD_UP, value=True, key="meaning_many", persist_state="session")
    counts = COUNTS if many else (1,)
    wide = compute.MEMORY(("widening", kind, epsilon, counts), lambda: widening(evidence(kind, epsilon), counts, RATES))
    curves = [(words.plural(count, "answer"), row) for count, row in zip(counts, wide.misses, strict=True)]
    worst = misses(RATES, epsilon=epsilon, delta=SHOWN_DELTA if kind == GAUSSIAN else 0.0)
    figure = attacker(RATES, curves, worst=worst, dark=session.dark())
    data = pd.DataFrame(
        [
            {"answers": count, "false_alarms": rate, "misses": miss}
            for count, (_, row) in zip(counts, curves, strict=True)
            for rate, miss in zip(RATES, row, strict=True)
        ]
    )
    picture(figure, key="budget-attacker", alt=said.curves(epsilon, wide), data=data, code=_code(kind, epsilon, counts))
    st.caption(f"{said.attacker(neighbours, unit)} {said.shaded(unit, delta=kind == GAUSSIAN)}")
    st.markdown(said.best(wide))
    st.caption(f"{said.ON_AVERAGE} {said.PLANNED}" if many else said.ON_AVERAGE)


def _code(kind: str, epsilon: float, counts: tuple[int, ...]) -> str:
    name, known = "randomised_responses", f"{epsilon!r}"
    if kind == GAUSSIAN:
        name, known = "gaussian_counts", f"{epsilon!r}, {SHOWN_DELTA!r}"
    return (
        "from functools import partial\n\n"
        "import numpy as np\n"
        f"from dpcore.guarantee import {name}, widening\n\n"
        f"found = widening(partial({name}, {known}), {list(counts)}, np.linspace(0, 1, 201))\n"
        "print(found.best_attack)\n"
    )
