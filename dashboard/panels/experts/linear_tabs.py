"""What lies below the chart of the best fixed choice: methods compared, how it works, what if."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import streamlit as st

from dashboard import session, words
from dashboard.charts.laws import chances
from dashboard.charts.theme import colours
from dashboard.panels import scenarios
from dashboard.panels.picture import picture
from dashboard.panels.tradeoff import View, needed_epsilon
from dpcore.experts import LinearProblem
from dpcore.experts.linear import printed_account

MOST = 200_000  # rows that a table is repeated to
FACTORS = (0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0)


def factor(rows: int) -> float:
    """How many times as many rows a person asks for; 1 until they say otherwise, or where that is too many."""
    wanted = float(session.get("linear_factor", 1.0))
    return wanted if wanted in offered(rows) else 1.0


def offered(rows: int) -> list[float]:
    return [times for times in FACTORS if 2 <= round(rows * times) <= max(MOST, rows)]


def longer(problem: LinearProblem, times: float) -> LinearProblem:
    """The same question with ``times`` as many rows like these: the first of them, or all of them again."""
    if times == 1.0:
        return problem
    return replace(problem, costs=np.resize(problem.costs, (round(problem.n * times), problem.columns)))


def bodies(
    view: View, problem: LinearProblem, rows: int, names: list[str], extra: float
) -> dict[str, Callable[[], None]]:
    """The tabs by name. ``rows`` is how many the data have, ``extra`` the private choice's cost in % of the range."""
    return {
        "Compare methods": lambda: compared(view, problem, names),
        "How it works": lambda: how(view.epsilon, problem),
        "What if": lambda: what_if(view, problem, rows, extra),
    }


def compared(view: View, problem: LinearProblem, names: list[str]) -> None:
    """How often each method chooses each of the best columns."""
    order = np.argsort(problem.costs.sum(axis=0), kind="stable")[:8]
    found = {
        name: problem.method(name, view.epsilon).expected_choice(problem.costs)[order]
        for name in problem.methods
        if name != "theory"
    }
    ink = colours(list(problem.methods), session.dark())
    figure = chances([words.html(names[i]) for i in order], found, problem.labels, ink, dark=session.dark())
    picture(figure, key="linear-chances", alt="How often each method chooses each column.", mark=view.mark)


def how(epsilon: float, problem: LinearProblem) -> None:
    """The two ways to choose, in words."""
    account = printed_account(epsilon, problem.delta, problem.n)
    st.markdown(
        "The linear learner treats each column as an expert, follows privately row after row, and averages its "
        "choices. Choosing once, by the total cost of each column with noise, needs far less."
    )
    proof = "does not hold" if not account.proof_holds else "holds all the same"
    st.markdown(
        f"The textbook runs the learner on costs in [−1, 1] at a rate proved for [0, 1]. At a claimed ε = "
        f"{words.number(account.claimed)} its printed proof then gives {words.number(account.proof_epsilon)}, so the "
        f"proof {proof}; composed exactly, the algorithm as printed costs ε = {words.number(account.true_epsilon)}. "
        "With that account put right, the other line may learn faster at the same ε."
    )
    with st.expander("Source"):
        st.caption("Dwork and Roth, 2014, Algorithm 17 and Theorem 11.6.")


def what_if(view: View, problem: LinearProblem, rows: int, extra: float) -> None:
    """More or fewer rows, and scenarios."""
    st.markdown(
        "Change how many rows there are, and the chart above answers at once; the grey line is how it was. More rows "
        "are rows like these."
    )
    st.select_slider(
        "Rows: as many as now, times",
        offered(rows),
        value=1.0,
        key="linear_factor",
        persist_state="session",
        format_func=lambda times: f"×{times:g}",
    )
    least = needed_epsilon(view)
    scenarios.show(
        view.page,
        {
            "ε": words.number(view.epsilon),
            "rows": words.whole(problem.n),
            "columns": str(problem.columns),
            "extra cost": percent(extra),
            "ε needed": "none" if least is None else words.number(least),
        },
        view.mark,
    )


def percent(value: float) -> str:
    """A share of the range in words, however small."""
    return "less than 0.01 %" if value < 0.01 else f"{words.number(value)} %"
