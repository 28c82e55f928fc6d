"""Which questions declared columns suit, as the engine sees it, for questions to turn into ways of asking them."""

from __future__ import annotations

from collections.abc import Hashable

from dashboard.question import Way
from dpcore.datasets import Question, Schema, Suited, questions_for


def fitting(schema: Schema, question: Question, *forms: str) -> list[Suited]:
    """The ways in which ``schema`` suits these forms of a question, the simplest first."""
    return [one for one in questions_for(schema) if one.question == question and one.kind in forms]


def way(suited: Suited, about: str, /, **sets: Hashable) -> Way:
    """One way of asking, led by the column ``about``; ``sets`` are the controls that open it, by key."""
    return Way(
        form=suited.kind,
        sentence=suited.sentence,
        sets=sets,
        about=(about,),
        lacking=suited.lacking,
        others=tuple(name for name in suited.others if name != about),
        least=suited.least,
        fit=suited.fit,
    )
