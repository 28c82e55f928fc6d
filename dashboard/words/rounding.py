"""What the tab about noisy rounding says."""

from __future__ import annotations

from dashboard.words import number

SET = "The set of answers"
SETS = {"all": "every number", "whole": "whole numbers from 0 to 100"}
TRUTH = "True answer"
TRUE = "true answer"
LINES = {"em": "exponential mechanism", "laplace": "Laplace mechanism"}
PUBLISHED = "published number r"
Y_TITLES = {True: "times in 100", False: "likelihood"}
INTRODUCTION = (
    "Let the options be numbers r, and score each by how near it is to the true answer: −|answer − r|. "
    "The exponential mechanism then rounds the answer noisily, with the two-sided shape of Laplace noise."
)


def alt(truth: int, epsilon: float, scale: float, laplace_scale: float) -> str:
    return (
        f"Laws around the answer {truth} at ε = {number(epsilon)}: the exponential mechanism's falls by a factor e "
        f"every {number(scale)}, the Laplace mechanism's every {number(laplace_scale)}."
    )


def lost_factor(scale: float, laplace_scale: float) -> str:
    return (
        "**The lost factor of 2.** One person moves the answer by up to 1, so near options lose score while far ones "
        f"gain: the mechanism must use a = ε/2, and its law is twice as wide as the Laplace mechanism's "
        f"({number(scale)} against {number(laplace_scale)}). Textbooks get the Laplace mechanism back from the score "
        "−2|answer − r|. That score moves twice as far, so nothing is gained."
    )


def infinite(realised: float, epsilon: float) -> str:
    return (
        f"**When the set is infinite,** every answer has the same normaliser, and the mechanism turns out to be "
        f"ε/2-private: here it reveals ε = {number(realised)} of the {number(epsilon)} it is charged. "
        "On a finite set the normaliser moves too near the ends, and what is revealed lies between ε/2 and ε. "
        "An infinite set also needs the scores to fall fast enough for the chances to add up to one; a flat score over "
        "every number would not define a mechanism at all."
    )
