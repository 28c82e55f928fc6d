"""The three cards beside the chart: what is needed, what one might see, who is protected."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any

import streamlit as st

from dashboard import replay, session, words
from dashboard.charts.dots import odds_grid, outcomes, shares, two_bars
from dashboard.charts.ready import Ready
from dashboard.charts.theme import palette
from dashboard.controls import Control
from dashboard.question import Better, Need, Outcomes, Price, Uncertain
from dashboard.replay import Same
from dashboard.scenes.held import PICTURE_HEIGHT
from dashboard.view import EPSILON_HIGH, EPSILON_LOW, Needed
from dashboard.widgets import controls
from dashboard.widgets.picture import fitted
from dashboard.words import made_up, needs, release

DOTS = 50
SHOWN = 4  # outcomes by name
BARS, SENTENCE = 310, 600  # pixels: side by side where both fit, else one below the other


def need(
    asked: Need, measured: Sequence[Control[Any]], *, key: str, own: bool, dear: Callable[[float], str] = lambda _: ""
) -> None:
    """Choose what is ``measured`` and type how much of it you need; the smallest ε and the smallest sample that give it
    follow.

    ``own``: they are found from the values of a person's own file, on the public grid, and a release must say so.
    ``dear`` says of an ε that the budget does not pay for it, if so.
    """
    found = asked.found
    step = "" if found is None else _next(found, asked)
    about = (
        "need",
        *controls.now([*measured, asked.control]),
        Same(found),
        asked.waiting,
        asked.hint,
        asked.better,
        asked.simulated,
        asked.whatever,
        step,
    )
    told = "" if found is None else _too_dear(found, dear)
    with nullcontext() if not told else replay.common(False):  # what is left is one visitor's
        replay.part((*about, key, own, told), lambda: _need(asked, measured, key, step, own=own, dear=told), told=True)


def _next(found: Needed, asked: Need) -> str:
    if asked.whatever is not None:
        return made_up.next_step(found, asked.whatever)
    return needs.next_step(found, session.epsilon(), asked.proviso)


def _need(asked: Need, measured: Sequence[Control[Any]], key: str, step: str, *, own: bool, dear: str) -> None:
    with st.container(border=True, gap="xsmall"):
        controls.draw_all(measured)
        controls.draw(asked.control)
        if asked.found is None:
            st.caption(asked.waiting)
            return
        _found(asked.found, key, dear, looked=own and not asked.simulated, made=asked.whatever is not None)
        if step:
            st.caption(step)
        if asked.hint:
            st.caption(asked.hint)
        if asked.better is not None:
            _other_method(asked.better, key)


def _other_method(found: Better, key: str) -> None:
    st.caption(found.sentence)
    st.button(
        found.label, key=f"{key}-better", on_click=session.change, args=(found.control, found.value), width="stretch"
    )


def _found(found: Needed, key: str, dear: str, *, looked: bool, made: bool) -> None:
    least, surely = found.epsilon, None if found.most is None else found.most.epsilon
    if least is not None and least <= EPSILON_HIGH:
        pair = st.container(horizontal=True)  # one above the other where the card is narrow
        pair.metric(needs.ON_AVERAGE if found.average else needs.SMALLEST, _level(least))
        if found.most:
            most = pair.container(key=f"{key}-most", width="content")
            answers, how = found.most.answers, found.most.found
            most.metric(needs.most(answers), _level(surely), help=needs.most_help(answers, how))
        if found.sized:
            sized = pair.container(key=f"{key}-found", width="content")
            sized.metric(needs.or_size(found.size_word), _size(found), help=needs.like_these(found.size_word))
            if found.here is not None and found.size is not None and not made:
                sized.caption(
                    needs.here(found.here, found.size, found.size_word, part=found.part, average=found.average)
                )
    scale = [one for one in (least, surely) if one is not None and EPSILON_LOW < one <= EPSILON_HIGH]
    if least is not None and scale:
        taken = [_taken(one) for one in scale]
        for one, which in zip(dict.fromkeys(taken), ("use", "use-most"), strict=False):
            st.button(
                made_up.try_it(one) if made else f"Use ε = {words.number(one)}",
                key=f"{key}-{which}",
                on_click=session.set_epsilon,
                args=(one,),
                width="stretch",
                help=needs.LOOKED if looked else None,
            )
        if dear:
            st.caption(dear)
        return
    st.markdown(made_up.told(found) if made else needs.told(found))


def _level(epsilon: float | None) -> str:
    if epsilon is None or epsilon > EPSILON_HIGH:
        return f"> {words.number(EPSILON_HIGH)}"
    return f"≤ {words.number(EPSILON_LOW)}" if epsilon <= EPSILON_LOW else words.number(epsilon)


def _taken(least: float) -> float:
    """The ε that the button sets: as it is written, where that is no less."""
    said = float(words.number(least))
    return said if said >= least else least


def _too_dear(found: Needed, dear: Callable[[float], str]) -> str:
    """What is said where the budget does not pay for the ε that is offered."""
    least = found.epsilon
    return "" if least is None or not EPSILON_LOW < least <= EPSILON_HIGH else dear(_taken(least))


def _size(found: Needed) -> str:
    low, high = found.searched
    if found.size is None:
        return "none" if high == float("inf") else f"> {words.number(high)}"
    return f"≤ {words.number(found.size)}" if found.size == low else words.number(found.size)


def might_see(found: Outcomes, *, key: str, drawn: Sequence[Any] = ()) -> None:
    """The exact law as fifty dots: the likeliest outcomes, the rest gathered; ``drawn`` answers as a ring each."""
    kept = _kept(found)
    rings = _rings(found, [place for place, _ in kept], drawn)
    dark = session.dark()

    def picture() -> tuple[Ready, str]:
        shown = strips(found, dark=dark, others=bool(rings[-1]))
        names, counts, inks = (list(part) for part in zip(*shown, strict=True))
        told = "; ".join(f"{count} of {DOTS}: {name}" for name, count, _ in shown)
        dots = outcomes(words.labels(names), counts, inks=inks, rings=rings, dark=dark)
        return Ready(fitted(dots)), told

    about = ("dots", Same(found), tuple(rings), dark, PICTURE_HEIGHT.get())
    ready, told = replay.kept(about, picture, large=True)
    replay.part((*about, key), lambda: _dots(ready, told, found, rings, key))


def _dots(ready: Ready, told: str, found: Outcomes, rings: Sequence[int], key: str) -> None:
    with st.container(border=True):
        st.markdown(f"**What you might see** in {DOTS} imagined {found.what}")
        st.caption(needs.IMAGINED)
        st.plotly_chart(
            ready,
            key=f"{key}-dots",
            theme=None,
            alt=f"What you might see. {told}.{needs.rings(sum(rings))}",
            config={"displayModeBar": False},
        )
        if any(rings):
            st.caption(needs.rings(sum(rings)))
        if found.then:
            st.caption(found.then)


def _kept(found: Outcomes) -> list[tuple[int, int]]:
    """The outcomes shown by name, the likeliest first, with how many dots each has."""
    order = sorted(range(len(found.names)), key=lambda place: -found.chances[place])
    counts = shares([found.chances[place] for place in order], DOTS)
    return [(place, count) for place, count in zip(order, counts, strict=True) if count][:SHOWN]


def strips(found: Outcomes, *, dark: bool, others: bool = False) -> list[tuple[str, int, str]]:
    """Every row of dots: its name, how many, and their colour. ``others`` asks for the last row where it is empty."""
    look, kept = palette(dark), _kept(found)
    every = found.inks(dark) if found.inks is not None else [look.accent if good else look.bad for good in found.good]
    rows = [(found.names[place], count, every[place]) for place, count in kept]
    left = DOTS - sum(count for _, count in kept)
    if left or others:
        rows.append((needs.OTHERS, left, look.bad if found.inks is None else look.soft))
    return rows


def _rings(found: Outcomes, kept: Sequence[int], drawn: Sequence[Any]) -> list[int]:
    """How many drawn answers belong to each row of dots; those of no row of its own go to the last, "others"."""
    counts = [0] * (len(kept) + 1)
    if found.place is None:
        return counts
    for answer in drawn:
        place = found.place(answer)
        if place is not None:
            counts[kept.index(place) if place in kept else len(kept)] += 1
    return counts


def price(found: Price, *, key: str) -> None:
    """What privacy costs: without it, with it, and the difference, side by side; below each other on a phone."""
    with st.container(horizontal=True, key=f"{key}-price"):
        for label, value in (found.without, found.private, found.difference):
            st.metric(label, value, width="content")


def uncertain(found: Uncertain, *, key: str) -> None:
    """The noise of privacy and the luck of having only these people: two small bars, and their sentence beside them."""
    dark, told = session.dark(), (found.noise, found.people, found.names)
    bars = replay.kept(
        ("bars", *told, found.sign, found.in_100, dark),
        lambda: Ready(two_bars(*told, sign=found.sign, in_100=found.in_100, dark=dark)),
        large=True,
    )
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key=f"{key}-uncertain-box"):
        st.plotly_chart(
            bars,
            key=f"{key}-uncertain",
            theme=None,
            width=BARS,
            alt=needs.bars(found.noise, found.people, found.names, found.sign, in_100=found.in_100),
            config={"displayModeBar": False},
        )
        st.caption(found.sentence, width=SENTENCE)


def protected(card: words.LabelCard, *, key: str) -> None:
    """Who is protected, in words, then in odds."""
    about = ("protected", Same(card), key, session.dark(), PICTURE_HEIGHT.get())
    replay.part(about, lambda: _protected(card, key))


def _protected(card: words.LabelCard, key: str) -> None:
    with st.container(border=True, gap="xsmall"):
        lines = card.lines()
        with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
            st.markdown("**Who is protected**", width="content")
            with st.popover("Details", type="tertiary", icon=":material/shield_person:"):
                st.markdown("\n".join(f"- {line}" for line in lines[1:]))
        st.markdown(card.protected)
        right, dark = card.odds, session.dark()
        grid = replay.kept(
            ("odds", right, dark, PICTURE_HEIGHT.get()), lambda: Ready(fitted(odds_grid(right, dark=dark)))
        )
        st.plotly_chart(
            grid,
            key=f"{key}-odds",
            theme=None,
            alt=f"100 dots: 50 right guesses before, at most {words.at_most(right)} with the answer.",
            config={"displayModeBar": False},
        )
        st.caption(needs.DOTS)
        with st.container(key=f"{key}-odds-words"):
            st.markdown(lines[0])
        with st.container(key=f"{key}-judged"):
            st.caption(card.judged)
        public = f" {release.ROWS_PUBLIC}" if card.neighbours == "replace_one" else ""
        st.caption(f"**Not protected:** {card.not_protected}.{public}")
