"""A question as a page asks it: with its release even where these data give no picture, and what ε does not cover.

Whether a private answer is offered, and what it says and costs, must not depend on what is in a person's file. Where a
picture cannot be made from the file (nothing but missing cells, one option left, a constant column), the same question
is asked about rows that follow from the declaration alone, and its release is offered as it would be otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date
from typing import Any

import numpy as np

from dashboard import made_up, words
from dashboard.blocks import Small
from dashboard.case import Case
from dashboard.controls import Read
from dashboard.question import CannotAsk, Kind, NoOffer, Offer, Question
from dashboard.words import release as said
from dpcore.datasets import Column, Table, twin
from dpcore.datasets.schema import ColumnType
from dpcore.errors import InvalidArgument
from dpcore.releases.asked import Asked, named

RECORDS = 200
"""Simulated rows of a table whose number of rows is private."""
_SEED = 11


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Found:
    """A question; ``trouble`` is the sentence where there is no picture of it, and only its release can be shown."""

    question: Question
    trouble: str = ""


def ask(kind: type[Kind], case: Case, read: Read) -> Found:
    """The question about ``case``. Raises CannotAsk where it has neither a picture nor a release.

    A sample's picture that the engine refuses is a defect, and raises InvalidArgument.
    """
    try:
        return Found(question=_marked(kind.ask(case, read), case))
    except (CannotAsk, InvalidArgument) as error:
        trouble = str(error) if isinstance(error, CannotAsk) else words.sentence(said.no_picture(str(error)))
        if case.source.public:
            raise
        question = _of_stand_in(kind, case, read)
        if question is None:
            raise CannotAsk(trouble) from None
        return Found(question=_marked(question, case), trouble=trouble)


def _of_stand_in(
    kind: type[Kind], case: Case, read: Read, rows: int | None = None, *, tries: int = 3
) -> Question | None:
    """The question about rows that follow from the declaration alone, as many as are public, or as it needs; None where
    it has none."""
    simulated = stand_in(case, rows)
    if simulated is None:
        return None
    everything = frozenset(simulated.schema.names)  # how good it would be is not shown
    try:
        return kind.ask(
            replace(case, source=replace(case.source, table=simulated, related=everything), results={}), read
        )
    except InvalidArgument:  # these rows are as extreme as was declared: why there is no picture is said of the file's
        return None
    except CannotAsk as error:
        wanted = RECORDS if error.fewer else error.rows
        more = wanted > simulated.rows or (error.fewer and wanted < simulated.rows)
        return _of_stand_in(kind, case, read, wanted, tries=tries - 1) if more and tries > 1 else None


def _marked(question: Question, case: Case) -> Question:
    """The question whose card and release say what ε does not cover: that it and what is asked were chosen after these
    data were looked at, and what was said of how they are read, or done to their rows, after they were seen. A source
    that is counted where it is answers by counts, or by rows read in batches. What is said of made-up rows is said of
    these.
    """
    question = made_up.told(question, case)
    if case.source.in_place and isinstance(question.offer, Offer) and not _countable(question.offer):
        question = replace(question, offer=NoOffer(sentence=said.COUNTS_ALONE))
    request = _of_file(question.offer)
    if request is not None:
        unchecked = not case.source.public and "not checked" in request.promise
        for is_so, what in (
            (request.suggestions, said.SUGGESTED),
            (request.reads.done, said.STEPS),
            (named(request.reads), said.NAMED_BY_ROWS),
            (unchecked, said.UNCHECKED),
        ):
            question = _not_covered(question, what) if is_so else question
    if case.source.looked_at:
        question = _not_covered(replace(question, offer=_looked_at(question.offer)), said.LOOKED_AT)
    return question


def _countable(offer: Offer) -> bool:
    return isinstance(offer.request, Asked) and (offer.request.counts_alone or offer.request.in_batches)


def _not_covered(question: Question, what: str) -> Question:
    card = question.protected
    return replace(question, protected=replace(card, not_protected=f"{card.not_protected}; {what}"))


def _of_file(offer: Offer | NoOffer) -> Asked | None:
    """The request that reads a table's rows, where there is one."""
    return offer.request if isinstance(offer, Offer) and isinstance(offer.request, Asked) else None


def _looked_at(offer: Offer | NoOffer) -> Offer | NoOffer:
    if isinstance(offer, NoOffer):
        return offer
    if not isinstance(offer.request, Asked):
        raise TypeError("a request about a person's own file must be able to say what was chosen after looking")
    request = replace(offer.request, chosen_after_looking=True)
    return replace(offer, request=request, before=(*offer.before, Small(said.RECEIPT_SAYS_LOOKED)))


def stand_in(case: Case, rows: int | None = None) -> Table | None:
    """A table of the columns of ``case`` simulated from what is declared, of so many ``rows``, or as long as is public,
    else of ``RECORDS``; None where nothing can be released from its own.

    A column that was not declared has the same bounds or options whatever the file holds of it."""
    source = case.source
    if source.public or source.rows is None or source.declared is None:
        return None
    schema, declared = source.table.schema, {one.name for one in source.declared.columns if one.bounded}
    if rows is None:
        public = source.declared.each_row != "record" and not source.unreleased
        rows = max(1, case.lines) if public else RECORDS
    filled = replace(schema, columns=tuple(one if one.name in declared else _filled(one) for one in schema.columns))
    table = twin(filled, rows=rows, rng=np.random.Generator(np.random.PCG64(_SEED)))
    marked = (replace(one, from_file=one.name not in declared and one.type in _FILLED) for one in filled.columns)
    return replace(table, schema=replace(filled, columns=tuple(marked)))


_FILLED: dict[ColumnType, dict[str, Any]] = {
    "category": {"categories": ("a", "b")},
    "number": {"low": 0.0, "high": 1.0},
    "integer": {"low": 0.0, "high": 1.0},
    "date": {"earliest": date(2024, 1, 1), "latest": date(2024, 12, 30)},
}


def _filled(column: Column) -> Column:
    """A column that was not declared with bounds or options of some kind, so that rows can be simulated."""
    bare = replace(column, low=None, high=None, earliest=None, latest=None, categories=(), fill=None)
    return replace(bare, from_file=False, words_from_file=False, **_FILLED.get(column.type, {}))
