"""The three cards beside the chart: what is needed, what one might see, who is protected."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from dashboard import session, words
from dashboard.charts.dots import odds_grid, outcomes, shares
from dashboard.charts.ready import Ready
from dashboard.panels.tradeoff import View, needed_epsilon, needed_size

DOTS = 50


def need(
    view: View, *, label: str, help: str, low: float, high: float, default: float, step: float, key: str | None = None
) -> float:
    """Type the accuracy you need (in the units of the chart); get the smallest ε and the smallest size that give it.

    Draw this card after ``target`` has been read by the page with ``target_value``.
    """
    with st.container(border=True):
        st.number_input(
            label,
            min_value=low,
            max_value=high,
            value=default,
            step=step,
            format="%g",
            key=f"{key or view.page}_target",
            bind="query-params",
            help=help,
        )
        least, size = needed_epsilon(view), needed_size(view)
        left, right = st.columns(2, wrap=False)
        left.metric("smallest ε", "none" if least is None else words.number(least))
        right.metric(
            f"or {view.size_word}",
            "none" if size is None else words.number(size),
            help=f"How many {view.size_word} would be enough at this ε, with the same proportions.",
        )
        if least is not None and session.EPSILON_LOW <= least <= session.EPSILON_HIGH:
            st.button(
                f"Use ε = {words.number(least)}",
                key=f"{view.page}-use",
                on_click=session.set_epsilon,
                args=(float(words.number(least)) if float(words.number(least)) >= least else least,),
                width="stretch",
            )
        elif least is not None and least < session.EPSILON_LOW:
            st.caption("Privacy is free for this question: even the smallest ε of the slider is enough.")
        else:
            st.caption("No ε up to 10 gives that here. Ask for less, or bring more data.")
    return float(session.get(f"{key or view.page}_target", default) or default)


def target_value(page: str, default: float, factor: float) -> float:
    """What the person needs, in the metric's own unit, before the card that asks for it is drawn."""
    return float(session.get(f"{page}_target", default) or default) / factor


def might_see(
    names: Sequence[str], chances: Sequence[float], good: Sequence[bool], *, key: str, what: str = "private answers"
) -> None:
    """The exact law as fifty dots: the likeliest outcomes, the rest gathered."""
    order = sorted(range(len(names)), key=lambda i: -chances[i])
    counts = shares([chances[i] for i in order], DOTS)
    shown = [(words.html(names[i]), count, good[i]) for i, count in zip(order, counts, strict=True) if count][:4]
    left = DOTS - sum(count for _, count, _ in shown)
    if left:
        shown.append(("others", left, False))
    with st.container(border=True):
        st.markdown(f"**What you might see** in {DOTS} {what}")
        picture_alt = "; ".join(f"{count} of {DOTS}: {name}" for name, count, _ in shown)
        st.plotly_chart(
            Ready(outcomes(*map(list, zip(*shown, strict=True)), dark=session.dark())),
            key=f"{key}-dots",
            theme=None,
            alt=f"What you might see. {picture_alt}.",
            config={"displayModeBar": False},
        )


def protected(card: words.LabelCard, *, key: str) -> None:
    """Who is protected, in odds and in words."""
    with st.container(border=True):
        lines = card.lines()
        with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
            st.markdown("**Who is protected**", width="content")
            with st.popover("Details", type="tertiary", icon=":material/shield_person:"):
                st.markdown("\n".join(f"- {line}" for line in lines[1:]))
        st.plotly_chart(
            Ready(odds_grid(round(words.odds(card.epsilon)), dark=session.dark())),
            key=f"{key}-odds",
            theme=None,
            alt=f"A grid of 100 dots, {round(words.odds(card.epsilon))} filled.",
            config={"displayModeBar": False},
        )
        st.markdown(lines[0])
