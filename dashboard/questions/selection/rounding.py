"""One mechanism behind many: the exponential mechanism as noisy rounding, over the Laplace mechanism's law."""

from __future__ import annotations

import numpy as np
import streamlit as st

from dashboard import session, words
from dashboard.charts.laws import curves
from dashboard.charts.theme import palette
from dashboard.widgets.picture import picture
from dpcore.selection import NoisyRounding

REACH = 12.0  # scales of the wider law to each side


def show(epsilon: float) -> None:
    """The two laws at one ε, the factor that the algebra loses, and what an infinite set of answers changes."""
    st.markdown(
        "Let the options be numbers r, and score each by how near it is to the true answer: −|answer − r|. "
        "The exponential mechanism then rounds the answer noisily, with the two-sided shape of Laplace noise."
    )
    left, right = st.columns(2)
    kind = left.segmented_control(
        "The set of answers",
        ["every number", "whole numbers from 0 to 100"],
        default="every number",
        required=True,
        key="rounding_set",
    )
    truth = right.slider("True answer", 0, 100, 50, key="rounding_answer")
    finite = kind != "every number"
    mechanism = (
        NoisyRounding(epsilon=epsilon, low=0.0, high=100.0, step=1.0) if finite else NoisyRounding(epsilon=epsilon)
    )
    if finite:
        x = mechanism.outputs
        lines = {"em": 100 * mechanism.probabilities(truth), "laplace": 100 * mechanism.laplace_probabilities(truth)}
    else:
        half = min(REACH * mechanism.scale, 50.0 * max(1.0, mechanism.scale))
        x = np.linspace(truth - half, truth + half, 401)
        lines = {"em": mechanism.density(truth, x), "laplace": mechanism.laplace_density(truth, x)}
    look = palette(session.dark())
    labels = {"em": "exponential mechanism", "laplace": "Laplace mechanism"}
    figure = curves(
        x,
        lines,
        labels,
        {"em": look.series[1], "laplace": look.series[2]},
        x_title="published number r",
        y_title="times in 100" if finite else "likelihood",
        marks={float(truth): "true answer"},
        steps=["em", "laplace"] if finite else (),
        dark=session.dark(),
    )
    picture(
        figure,
        key="selection-rounding",
        alt=(
            f"Laws around the answer {truth} at ε = {words.number(epsilon)}: the exponential mechanism's falls by a "
            f"factor e every {words.number(mechanism.scale)}, the Laplace mechanism's every "
            f"{words.number(mechanism.laplace_scale)}."
        ),
    )
    realised = mechanism.realised_epsilon(truth)
    st.markdown(
        f"**The lost factor of 2.** One person moves the answer by up to 1, so near options lose score while far ones "
        f"gain: the mechanism must use a = ε/2, and its law is twice as wide as the Laplace mechanism's "
        f"({words.number(mechanism.scale)} against {words.number(mechanism.laplace_scale)}). Textbooks get the Laplace "
        "mechanism back from the score −2|answer − r|, but that score moves by 2, so the 2 cancels."
    )
    st.markdown(
        f"**When the set is infinite,** every answer has the same normaliser, and the mechanism turns out to be "
        f"ε/2-private: here it reveals ε = {words.number(realised)} of the {words.number(epsilon)} it is charged. "
        "On a finite set the normaliser moves too near the ends, and what is revealed lies between ε/2 and ε. "
        "An infinite set also needs the scores to fall fast enough for the chances to add up to one; a flat score over "
        "every number would not define a mechanism at all."
    )
