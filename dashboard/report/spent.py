"""What is spent about some people and what is left, as a section of a report: from the ledger, never from rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dashboard import words
from dashboard.report import text
from dashboard.report.analysis import made_with, protected
from dashboard.report.answer import check_word
from dashboard.report.value import Drawing, Facts, Heading, Line, Paragraph, Part, Run, Section
from dashboard.words import report as said
from dpcore.ledger import Receipt
from dpcore.ledger.words import versions

MOST_CHARGES = 100
LONGEST = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class Charged:
    """One charge: its receipt, and its answer in plain words."""

    receipt: Receipt
    answer: str


def spent(
    name: str,
    *,
    lineage: str,
    headline: str,
    caption: str,
    picture: Drawing,
    facts: Sequence[tuple[str, str]],
    charges: Sequence[Charged],
    card: words.LabelCard,
    numbers: Sequence[tuple[str, float]],
    code: str,
    practice: bool,
) -> Section:
    """The section of a budget, that of these people's ``lineage``. ``name`` is what its owner calls them.

    ``headline`` and ``caption`` are Markdown; ``charges`` are the newest last; ``code`` is Python that
    computes ``numbers``, ε together under each rule.
    """
    newest = list(reversed(charges))[:MOST_CHARGES]
    last = charges[-1].receipt if charges else None
    parts: list[Part] = [
        Heading(said.SPENT),
        Paragraph(text.line(headline), "large"),
        *text.parts(caption),
        Facts(rows=tuple((what, text.words(told, limit=LONGEST)) for what, told in facts), caption=said.SPENT),
        Heading(said.ADDS_UP),
        picture,
        Heading(said.CHARGES),
        *([Facts(rows=tuple(map(_charge, newest)), caption=said.CHARGES)] if newest else []),
        Paragraph(text.line(said.charges_told(len(charges), len(newest)))),
        *([Paragraph(text.line(said.as_of(len(charges), _time(last), check_word(last))))] if last is not None else []),
        Heading(said.PROTECTED),
        *protected(card),
        Paragraph(text.line(made_with(versions())), "small"),
    ]
    return Section(
        kind="practice" if practice else "answer",
        key=f"spent:{lineage}:{name}:{'' if last is None else last.journal_hash}:{headline}",
        title=said.spent_title(words.visible(name, 120)),
        parts=tuple(parts),
        numbers=tuple(numbers),
        code=code,
        budget=lineage,
        newest=None if last is None else last.journal_hash,
        own=not practice,
    )


def _charge(one: Charged) -> tuple[str, Line]:
    receipt = one.receipt
    told = f"{words.visible(receipt.what, LONGEST)} "
    cost = said.cost(receipt.epsilon, receipt.delta)
    return (
        _time(receipt),
        (
            Run(told),
            Run(words.told_apart(one.answer, LONGEST), strong=True),
            Run(f" ({cost}; {said.CHECK_WORD.lower()} "),
            Run(check_word(receipt), code=True),
            Run(")"),
        ),
    )


def _time(receipt: Receipt) -> str:
    return f"{receipt.time[:16].replace('T', ' ')} UTC"
