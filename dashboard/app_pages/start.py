"""The start page: a finished, living example, and the way to the questions."""

from __future__ import annotations

import numpy as np
import streamlit as st

from dashboard import catalogue, session, words
from dashboard.background import compute
from dashboard.charts.theme import EPSILON_TITLE, colours
from dashboard.charts.tradeoff import Scale, tradeoff
from dashboard.data import source
from dashboard.question import Outcomes
from dashboard.scenes import tour
from dashboard.view import describe_at
from dashboard.widgets import cards, phone
from dashboard.widgets.picture import picture
from dashboard.words import scenes as scene_words
from dpcore.datasets import sample
from dpcore.selection import MostCommon, catalog
from dpcore.tradeoff import sweep_epsilon

SCALE = Scale(title="times right in 100", factor=100.0, unit=" times in 100", hundred=True)
DRAWN = ("exponential", "permute_and_flip", "naive_laplace")

example = sample(source.FIRST_SAMPLE)
table = compute.sample(source.FIRST_SAMPLE)
epsilon = session.epsilon()
problem = MostCommon(scores=table.counts("complaint").astype(np.float64), relation="add_remove", band=0.0)
right = float(problem.law("permute_and_flip", epsilon)[np.argmax(table.counts("complaint"))])

st.title("How much privacy can you afford, and what does it cost?")
st.markdown(
    f"## At ε = {words.number(epsilon)} a private answer to “which complaint is most common?” "
    f"is right **{words.times_in_100(right)}**."
)
st.caption(f"{example.title}. Drag ε: small values hide each person better, large ones answer better.")
names = {key: kind.about.name for key, kind in catalog().items()}
levels = tuple(np.geomspace(0.01, 10.0, 61))
frame = compute.MEMORY(
    ("start", table.fingerprint),
    lambda: sweep_epsilon(problem, levels, methods=DRAWN, metrics=["success"]),
)
with st.container(horizontal=True, vertical_alignment="center"):
    st.button(
        scene_words.FIVE_MINUTES,
        icon=":material/directions_walk:",
        key="start-tour",
        on_click=tour.begin,
        args=(tour.FIRST,),
        kwargs={"present": False},
    )
    st.page_link(catalogue.address("demos"), label=scene_words.SHOW_OTHERS, icon=":material/slideshow:")
left, beside = st.columns([2, 1], gap="medium")
with left:
    dark, at = session.dark(), f"ε = {words.number(epsilon)}"
    figure = compute.MEMORY(
        ("start", table.fingerprint, epsilon, dark),
        lambda: tradeoff(
            frame,
            x="epsilon",
            x_title=EPSILON_TITLE,
            scale=SCALE,
            names=names,
            colour=colours(list(names), dark),
            main="permute_and_flip",
            chosen=epsilon,
            dark=dark,
        ),
    )
    told = compute.MEMORY(
        ("start", table.fingerprint, epsilon, "alt"), lambda: describe_at(frame, names, SCALE, "epsilon", epsilon, at)
    )
    picture(figure, key="start-example", alt=told, data=frame)
with beside:
    law = problem.law("permute_and_flip", epsilon)
    cards.might_see(
        compute.MEMORY(
            ("start", table.fingerprint, epsilon, "outcomes"),
            lambda: Outcomes(
                names=table.options("complaint"), chances=list(law), good=[chance == law.max() for chance in law]
            ),
        ),
        key="start",
    )
with beside, st.container(border=True):
    st.markdown("**What does ε mean?**")
    st.markdown(words.odds_sentence(epsilon, 0.0, "add_remove", table.schema.unit))
    st.caption(
        "More data escapes the trade-off: with ten times the people the same ε answers far better. "
        "And an important question does not make a small ε more accurate."
    )
    st.page_link(catalogue.address("selection"), label="Explore this example", icon=":material/arrow_forward:")

st.subheader("Four questions", anchor=False)
with st.grid(2, min_column_width=300):
    for page in catalogue.pages():
        with st.container(border=True, height="stretch"):
            st.markdown(f"{page.icon} **{page.asks}**")
            st.markdown(page.about)
            st.page_link(catalogue.address(page.key), label="Open", icon=":material/arrow_forward:")

phone.docked_epsilon()
