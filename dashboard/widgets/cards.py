"""The three cards beside the chart: what is needed, what one might see, who is protected."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dashboard import session, words
from dashboard.background import compute
from dashboard.charts.dots import odds_grid, outcomes, shares
from dashboard.charts.ready import Ready, packed
from dashboard.widgets.tradeoff import View, needed_epsilon, needed_size

DOTS = 50


@dataclass(frozen=True, slots=True)
class Need:
    """What a person needs: ``target`` in the metric's own unit, and the card's place for the answer."""

    target: float
    page: str
    slot: DeltaGenerator

    def show(self, view: View) -> None:
        """Fill the card from a problem with exact laws."""
        self.fill(needed_epsilon(view), needed_size(view), view.size_word)

    def fill(
        self,
        least: float | None,
        size: float | None,
        size_word: str,
        *,
        sized: bool = True,
        sizes: tuple[float, float] = (0.0, float("inf")),
    ) -> None:
        """The smallest ε and the smallest size that give it, and a button that applies the ε.

        Without ``sized`` nobody has worked out the size; outside ``sizes`` and the slider's ε nobody looked.
        """
        with self.slot:
            pair = st.container(horizontal=True)  # one above the other where the card is narrow
            pair.metric("smallest ε", _least(least, session.EPSILON_LOW, float("inf")))
            pair.metric(
                f"or {size_word}",
                _least(size, *sizes) if sized else "–",
                help=f"How many {size_word} would be enough at this ε, with the same proportions.",
            )
            if least is not None and session.EPSILON_LOW < least <= session.EPSILON_HIGH:
                said = float(words.number(least))
                st.button(
                    f"Use ε = {words.number(least)}",
                    key=f"{self.page}-use",
                    on_click=session.set_epsilon,
                    args=(said if said >= least else least,),
                    width="stretch",
                )
            elif least is not None and least <= session.EPSILON_LOW:
                st.caption("Privacy is free for this question: even the smallest ε of the slider is enough.")
            else:
                st.caption("No ε up to 10 gives that here. Ask for less, or bring more data.")


def _least(found: float | None, low: float, high: float) -> str:
    """The least that is enough, when only ``low``..``high`` was looked at."""
    if found is None:
        return "none" if np.isinf(high) else f"> {words.number(high)}"
    return f"≤ {words.number(found)}" if found == low else words.number(found)


def ask(
    place: DeltaGenerator,
    page: str,
    *,
    label: str,
    low: float,
    high: float,
    default: float,
    step: float,
    factor: float,
    key: str | None = None,
) -> Need:
    """The first card: type the accuracy you need, in the units of the chart. ``factor`` turns the metric into those.

    Drawn before anything is computed, so that a number from the link counts at once; filled by ``Need.show`` later.
    """
    default = min(max(default, low), high)
    with place:
        card = st.container(border=True)
    with card:
        value = st.number_input(
            label,
            min_value=low,
            max_value=high,
            value=default,
            step=step,
            format="%g",
            key=f"{key or page}_target",
            bind="query-params",
            help="Type what you need; the smallest ε and the smallest sample that give it follow.",
        )
        slot = st.container()
    return Need(target=float(default if value is None else value) / factor, page=page, slot=slot)


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
        right, dark = round(words.odds(card.epsilon)), session.dark()
        grid = compute.shared(("odds", right, dark), lambda: packed(odds_grid(right, dark=dark)))
        st.plotly_chart(
            Ready(grid),
            key=f"{key}-odds",
            theme=None,
            alt=f"A grid of 100 dots, {right} filled.",
            config={"displayModeBar": False},
        )
        st.markdown(lines[0])
