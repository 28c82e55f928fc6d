"""A question about rows that were made up from a declaration, as a page tells it: never as if it were so in a file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from dashboard.case import Case
from dashboard.question import CannotAsk, Offer, Question
from dashboard.view import Chart, View
from dashboard.words import made_up as said

GUARANTEED = ("theory", "pac", "bound")
"""How the keys of lines begin that a theorem draws of the very rows that are shown."""


def told(question: Question, case: Case) -> Question:
    """The question with a headline about made-up rows, and with what holds of the person's own data beside what is
    needed; as it is where its rows are not made up."""
    if not case.source.simulated:
        return question
    offer = question.offer
    whatever = said.holds(offer.forecast, case.epsilon) if isinstance(offer, Offer) else said.NOT_YET
    need = replace(question.need, hint="", better=None, proviso=None, whatever=whatever)
    headline, caption = said.headline(question.headline), said.caption(question.caption)
    seen = question.outcomes and replace(question.outcomes, what=said.of_these(question.outcomes.what))
    view = _of_these(question.view)
    return replace(question, headline=headline, caption=caption, view=view, need=need, outcomes=seen)


def _of_these(view: Chart) -> Chart:
    """The chart, with its lines of what is guaranteed named as what they are guaranteed of; what is simulated has none
    of these."""
    if not isinstance(view, View):
        return view
    names = {key: said.guaranteed(name) if key.startswith(GUARANTEED) else name for key, name in view.names.items()}
    return replace(view, names=names)


def related(case: Case, column: str, why: Callable[[str], str] = said.unrelated) -> None:
    """Raises CannotAsk, which says ``why``, where the rows are made up and nothing was said to go with a column that is
    predicted."""
    if case.source.simulated and column not in case.source.related:
        raise CannotAsk(why(column))
