"""The three cards beside the chart: what is needed, what one might see, who is protected."""

from __future__ import annotations

import streamlit as st

from dashboard import session, words
from dashboard.background import compute
from dashboard.charts.dots import odds_grid, outcomes, shares
from dashboard.charts.ready import Ready, packed
from dashboard.charts.theme import palette
from dashboard.question import Need, Outcomes
from dashboard.view import EPSILON_HIGH, EPSILON_LOW, Needed
from dashboard.widgets import controls
from dashboard.words import needs, release
from dpcore.grid import round_up

DOTS = 50
SHOWN = 4  # outcomes by name


def need(asked: Need, *, key: str, own: bool) -> None:
    """Type the accuracy you need; the smallest ε and the smallest sample that give it follow.

    ``own``: they are found from the values of a person's own file, and a release must say so.
    """
    with st.container(border=True):
        controls.draw(asked.control)
        if asked.found is None:
            st.caption(asked.waiting)
            return
        _found(asked.found, key, looked=own and not asked.simulated)
        if asked.hint:
            st.caption(asked.hint)


def _found(found: Needed, key: str, *, looked: bool) -> None:
    least = found.epsilon
    if least is not None and least <= EPSILON_HIGH:
        pair = st.container(horizontal=True)  # one above the other where the card is narrow
        pair.metric(needs.SMALLEST, f"≤ {words.number(EPSILON_LOW)}" if least <= EPSILON_LOW else words.number(least))
        if found.sized:
            pair.metric(needs.or_size(found.size_word), _size(found), help=needs.like_these(found.size_word))
    if least is not None and EPSILON_LOW < least <= EPSILON_HIGH:
        said = float(words.number(least))
        taken = round_up(least) if looked else said if said >= least else least
        st.button(
            f"Use ε = {words.number(taken)}",
            key=f"{key}-use",
            on_click=session.take_epsilon if looked else session.set_epsilon,
            args=(taken,),
            width="stretch",
            help=needs.LOOKED if looked else None,
        )
        return
    st.markdown(needs.told(found))


def _size(found: Needed) -> str:
    low, high = found.searched
    if found.size is None:
        return "none" if high == float("inf") else f"> {words.number(high)}"
    return f"≤ {words.number(found.size)}" if found.size == low else words.number(found.size)


def might_see(found: Outcomes, *, key: str) -> None:
    """The exact law as fifty dots: the likeliest outcomes, the rest gathered."""
    chances = found.chances
    order = sorted(range(len(found.names)), key=lambda place: -chances[place])
    counts = shares([chances[place] for place in order], DOTS)
    kept = [(place, count) for place, count in zip(order, counts, strict=True) if count][:SHOWN]
    shown = [(words.html(found.names[place]), count, found.good[place]) for place, count in kept]
    left = DOTS - sum(count for _, count in kept)
    if left:
        shown.append(("others", left, False))
    dark, inks = session.dark(), None
    if found.inks is not None:
        every = found.inks(dark)
        inks = [*(every[place] for place, _ in kept), *([palette(dark).soft] if left else [])]
    with st.container(border=True):
        st.markdown(f"**What you might see** in {DOTS} {found.what}")
        told = "; ".join(f"{count} of {DOTS}: {name}" for name, count, _ in shown)
        st.plotly_chart(
            Ready(outcomes(*map(list, zip(*shown, strict=True)), inks=inks, dark=dark)),
            key=f"{key}-dots",
            theme=None,
            alt=f"What you might see. {told}.",
            config={"displayModeBar": False},
        )


def protected(card: words.LabelCard, *, key: str) -> None:
    """Who is protected, in words, then in odds."""
    with st.container(border=True):
        lines = card.lines()
        with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
            st.markdown("**Who is protected**", width="content")
            with st.popover("Details", type="tertiary", icon=":material/shield_person:"):
                st.markdown("\n".join(f"- {line}" for line in lines[1:]))
        st.markdown(card.protected)
        right, dark = card.odds, session.dark()
        grid = compute.MEMORY(("odds", right, dark), lambda: packed(odds_grid(right, dark=dark)))
        st.plotly_chart(
            Ready(grid),
            key=f"{key}-odds",
            theme=None,
            alt=f"100 dots: 50 right guesses before, at most {words.at_most(right)} with the answer.",
            config={"displayModeBar": False},
        )
        st.markdown(lines[0])
        public = f" {release.ROWS_PUBLIC}" if card.neighbours == "replace_one" else ""
        st.caption(f"**Not protected:** {card.not_protected}.{public}")
