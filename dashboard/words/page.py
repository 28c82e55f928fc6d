"""What every page of a question says around its question."""

from __future__ import annotations

from collections.abc import Sequence

from dashboard.words import safe

ONLY_RELEASE = (
    "There is no picture of this file as it is. A private answer is offered all the same: what it asks, costs and "
    "promises follows from what you declared, and the answer from fixed rules for whatever the file holds."
)
_NAMED = 3
OPTIONS = "Options"
QUESTION = "Question"
TAB = "What is open below the chart"
MAY_SHOW = {
    "demo": "May this picture leave the room? Yes, with its numbers: it is about sample data. A picture of your own "
    "data may not, as it shows what is true of them; a private answer may be shown to anybody.",
    "twin": "May this picture leave the room? Yes, with its numbers: its rows are made up from what was declared, "
    "not those of a file. So may a private answer.",
    "what_if": "May this picture leave the room? **No.** It is made from the file itself and protects nobody in it. A "
    "private answer may be shown to anybody.",
}
DRAG = "Click or drag in it to set ε."
PLAY, PAUSE, STEPS = "Play the steps of this picture", "Pause", "Step of this picture"
UNSURE = ("privacy noise", "chance")
"""What the two bars of uncertainty are called."""


def too_few(least: int) -> str:
    """When fewer columns are left than a question needs."""
    needed = "one column" if least == 1 else f"{least} columns"
    return f"This question needs at least {needed}, so the last choice of columns stays."


def opens_with(title: str) -> str:
    """Said where a page shows its own example."""
    return f"This page opens with a sample that suits its question: {title}. Choose other data in the list of data."


def failed(reference: str) -> str:
    """When this program fails at a question."""
    return (
        "Something in this program went wrong with this question; your data and settings are not at fault. Try another "
        f"setting under the options, and tell the people who run it the reference {reference}."
    )


CLUSTER_AWAY = "The cluster does not answer now, so this computer does it alone; that takes longer."


def crowded(most: int) -> str:
    """Why a computation stopped that nobody stopped."""
    at_once = "one computation" if most == 1 else f"{most} computations"
    return f"It stopped for a newer one: a session runs {at_once} at once. “Go on” takes it up where it stopped."


CROWDED_OUT = "This simulation stopped to make room for newer ones. “Go on” takes it up where it stopped."
TRY_AGAIN = "Try again"
LARGE_WAITING = (
    "This has to wait: other pages from your address (your computer's, or that of a network which you share) are at "
    "work on large files. Try again in a minute."
)
ANSWERS_WAITING = (
    "This has to wait, and nothing was charged now: many private answers for your address (your computer's, or that of "
    "a network which you share) are to be drawn before it. Try again in a minute."
)
COUNTS_WAITING = (
    "This has to wait, and nothing was charged now: many private answers for your address (your computer's, or that of "
    "a network which you share) are to be counted in this source before it, which can take its database up to an hour "
    "each. Try again later, or ask another source meanwhile."
)
COUNTS_OF_ONE_WAITING = (
    "This has to wait, and nothing was charged now: this source counts one private answer of yours at a time, which "
    "can take its database up to an hour each, and others of yours wait for it. Try again when one of them is there."
)
STOPPED = "This was stopped before it was worked out."
STOPPED_BEFORE = "This was stopped before its private answer was drawn, and nothing was charged now."
NO_ROOM_TO_SIMULATE = (
    "This has to wait: simulations that others began take all the memory that this server gives to them. Try again in "
    "a minute, or choose data with fewer rows."
)


def unused(keys: Sequence[str]) -> str:
    """A link sets what nothing on its page takes."""
    named = [f"“{safe(key, 40)}”" for key in keys[:_NAMED]]
    rest = len(keys) - _NAMED
    listed = ", ".join([*named, *([f"{rest:,} more"] if rest > 0 else [])])
    return f"The link also sets {listed}, which nothing on this page uses; all else is as it says."
