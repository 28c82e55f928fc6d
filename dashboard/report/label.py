"""The label: the fields that public registries of deployments ask for, of a question, of an answer."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from dashboard import words
from dashboard.case import Source
from dashboard.question import Offer, Question
from dashboard.report import text
from dashboard.report.value import Facts, Line, plain
from dashboard.words import report as said
from dpcore.datasets import Column, Declaration
from dpcore.ledger import Receipt
from dpcore.ledger.words import PERSON
from dpcore.release import Request
from dpcore.written import rounded_up

LONGEST = 400


def of_analysis(question: Question, source: Source, columns: Iterable[str]) -> Facts:
    """Of a picture: nothing is published yet, and the fields are those of the answer it shows."""
    offer, card, view = question.offer, question.protected, question.view
    request = offer.request if isinstance(offer, Offer) else None
    chart: Any = view
    schema, unit = source.table.schema, words.visible(card.unit, 40)
    return _facts(
        one=_first(card.who) if card.who else said.unit(unit, schema.rows_per_person),
        unit=unit,
        relation=card.neighbours,
        epsilon=card.epsilon,
        delta=card.delta,
        rho=None,
        accounting=said.NOTHING_SPENT,
        mechanism=str(chart.names[chart.main]) if request is None else request.mechanism,
        sensitivity=_sensitivity(request, getattr(chart, "problem", None), unit),
        bounds=tuple(_bounds(schema.column(name), public=source.public) for name in columns),
        random=said.RANDOM_SEEDED,
        released=said.NOTHING_YET,
    )


def of_answer(
    receipt: Receipt, request: Request | None, declared: Declaration | None, counting: str, *, public: bool
) -> Facts:
    """Of a private answer: from its receipt, its request and what was declared, and from nothing else.

    ``public``: about a sample, whose bounds come with it.
    """
    reads = getattr(request, "reads", None)
    columns: tuple[Column, ...] = () if reads is None else reads.columns
    unit = words.visible(receipt.unit or PERSON, 40)
    most = getattr(request, "rows_per_person", 1 if declared is None else declared.rows_per_person)
    known = request is not None or declared is not None
    return _facts(
        one=said.unit(unit, int(most)) if known else said.NOT_STATED,
        unit=unit,
        relation=receipt.neighbours,
        epsilon=receipt.epsilon,
        delta=receipt.delta,
        rho=receipt.rho,
        accounting=said.accountant(counting),
        mechanism=receipt.mechanism or said.NOT_STATED,
        sensitivity=_sensitivity(request, None, unit) if request is not None else said.NOT_STATED,
        bounds=tuple(_bounds(column, public=public) for column in columns) if known else (("", said.NOT_STATED),),
        random=said.RANDOM_REAL,
        released=words.visible(receipt.what, LONGEST),
    )


def _facts(
    *,
    one: str,
    unit: str,
    relation: str,
    epsilon: float,
    delta: float,
    rho: float | None,
    accounting: str,
    mechanism: str,
    sensitivity: str,
    bounds: tuple[tuple[str, str], ...],
    random: str,
    released: str,
) -> Facts:
    known: tuple[tuple[str, str], ...] = (
        (said.UNIT, one),
        (said.NEIGHBOURS, said.neighbours(relation, unit)),
        (said.EPSILON, words.amount(epsilon)),
        (said.DELTA, words.failing(delta) if delta else said.PURE),
        *(((said.RHO, words.amount(rho)),) if rho is not None and rho < float("inf") else ()),
        (said.ODDS, said.odds(words.at_most(words.odds(epsilon, delta)), words.guessed(relation, unit))),
        (said.ACCOUNTANT, accounting),
        (said.MECHANISM, mechanism),
        (said.SENSITIVITY, sensitivity),
        (said.BOUNDS, "; ".join(f"{name}: {told}" if name else told for name, told in bounds) or said.NO_BOUNDS),
        (said.TRUST, said.CENTRAL),
        (said.RANDOM, random),
        (said.RELEASED, released),
    )
    rows: tuple[tuple[str, Line], ...] = tuple((name, text.words(told, limit=2000)) for name, told in known)
    return Facts(rows=rows, caption=said.LABEL_CAPTION, boxed=True)


def _first(told: str) -> str:
    """The first sentence of who is protected."""
    return plain(text.line(told)).split(". ")[0].rstrip(".")


def _sensitivity(request: Any, problem: Any, unit: str) -> str:
    """How far one ``unit`` can move what noise is added to, as the mechanism was told."""
    most = int(getattr(problem if request is None else request, "rows_per_person", 1))
    if request is not None and hasattr(request, "clip"):
        length = None if request.clip is None else request.clip * getattr(request, "per_clip", 1.0)
        return said.clipped(most, unit, length)
    for holder in (request, problem):
        found = getattr(holder, "sensitivity", None)
        if isinstance(found, int | float) and not isinstance(found, bool):
            return rounded_up(found)
    return said.rows_of_one(most, unit)


def _bounds(column: Column, *, public: bool) -> tuple[str, str]:
    """A column's bounds or options, and where they came from."""
    where = said.OF_SAMPLE if public else said.FROM_FILE if column.from_file else said.DECLARED
    name = f"“{words.visible(column.name, 60)}”"
    if column.is_numeric and column.low is not None and column.high is not None:
        return name, said.bounds(column.low, column.high, where)
    if column.type == "category" and column.categories:
        told = said.WORDS_FROM_FILE if column.words_from_file and not public else where
        return name, said.options(len(column.categories), told)
    if column.type == "date" and column.earliest is not None and column.latest is not None:
        return name, said.days(column.earliest.isoformat(), column.latest.isoformat(), where)
    return name, said.YES_NO if column.type == "yes/no" else said.NO_BOUNDS
