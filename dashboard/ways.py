"""Which questions declared columns suit, as the engine sees it, for questions to turn into ways of asking them."""

from __future__ import annotations

from dpcore.datasets import Question, Schema, Suited, questions_for


def fitting(schema: Schema, question: Question, *forms: str) -> list[Suited]:
    """The ways in which ``schema`` suits these forms of a question, the simplest first."""
    return [one for one in questions_for(schema) if one.question == question and one.kind in forms]
