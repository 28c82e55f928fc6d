"""A private answer with its receipt, as a section of a report.

Everything in it comes from the receipt, the request, its forecast and what was declared. Rows are never looked at: the
reports of two neighbouring files with the same answer are the same to the byte.
"""

from __future__ import annotations

import math

from dashboard import words
from dashboard.report import label, text
from dashboard.report.analysis import made_with, protected
from dashboard.report.value import Facts, Heading, Line, Listing, Paragraph, Part, Run, Section
from dashboard.words import report as said
from dpcore.datasets import Declaration
from dpcore.ledger import Receipt
from dpcore.ledger.words import LONGEST_QUESTION, PERSON
from dpcore.release import Request

WORD = 12
"""Characters of a check-word, as the page prints it."""


def answered(
    receipt: Receipt,
    *,
    told: str,
    forecast: str = "",
    request: Request | None = None,
    declared: Declaration | None = None,
    counting: str = "",
    practice: bool = False,
    own: bool = False,
) -> Section:
    """The section of one answer. ``told`` is the answer as a sentence (Markdown), ``counting`` its budget's rule.

    ``own``: it holds names from a person's own data, beyond what the ledger keeps.
    """
    what, unit = words.visible(receipt.what, LONGEST_QUESTION), receipt.unit or PERSON
    word = check_word(receipt)
    card = words.LabelCard(
        neighbours="replace_one" if receipt.neighbours == "replace_one" else "add_remove",
        epsilon=receipt.epsilon if math.isfinite(receipt.epsilon) else words_epsilon(receipt),
        delta=receipt.delta,
        unit=unit,
    )
    rules = tuple(getattr(request, "rules", ()))
    notes = what.removeprefix(words.visible(request.what, LONGEST_QUESTION)).strip(" .") if request is not None else ""
    parts: list[Part] = [
        Heading(said.ANSWER),
        Paragraph(text.line(told), "large"),
        Paragraph((Run(f"{said.FORECAST}: ", strong=True), *text.line(forecast or said.NO_FORECAST))),
        *([Paragraph(text.words(f"{notes}."))] if notes else []),
        Paragraph(text.line(said.conclude(unit))),
        Heading(said.PROTECTED),
        *protected(card),
        Heading(said.UNCERTAINTY),
        Listing((text.line(said.PRACTICE_NOISE if practice else said.ANSWER_NOISE), text.line(said.ANSWER_SAMPLING))),
        Heading(said.LABEL),
        label.of_answer(receipt, request, declared, counting, public=practice),
        Heading(said.RECEIPT),
        Facts(rows=_receipt(receipt, word), caption=said.RECEIPT),
        Paragraph(text.line(said.how_to_check(word))),
        *_rules(rules),
        Paragraph(text.line(made_with(receipt.versions)), "small"),
    ]
    numbers = (("ε", receipt.epsilon), ("δ", receipt.delta), ("ρ", receipt.rho), ("odds of 100", card.odds))
    return Section(
        kind="practice" if practice else "answer",
        key=f"answer:{receipt.journal_hash}",
        title=what if request is None else words.visible(request.what, LONGEST_QUESTION),
        parts=tuple(parts),
        numbers=tuple((name, value) for name, value in numbers if math.isfinite(value)),
        code=code(receipt),
        receipt=receipt.journal_hash,
        own=own,
    )


def _rules(rules: tuple[str, ...]) -> list[Part]:
    lines = tuple(text.words(rule) for rule in rules)
    return [Heading(said.RULES), Listing(lines)] if lines else []


def check_word(receipt: Receipt) -> str:
    """The first characters of the charge's hash in the journal, by which a ledger finds it."""
    return receipt.journal_hash[:WORD]


def words_epsilon(receipt: Receipt) -> float:
    """An ε for the odds of a release that is known by its ρ alone; infinite where there is none."""
    return receipt.asked_cost.epsilon


def _receipt(receipt: Receipt, word: str) -> tuple[tuple[str, Line], ...]:
    code = tuple(receipt.journal_hash[start : start + 16] for start in range(0, len(receipt.journal_hash), 16))
    return (
        (said.CHECK_WORD, (Run(word, strong=True, code=True),)),
        (said.COST, text.words(said.cost(receipt.epsilon, receipt.delta))),
        (said.DRAWN, text.words(f"{receipt.time[:19].replace('T', ' ')} UTC")),
        (said.HASH, (Run(" ".join(code), code=True),)),
        (said.REQUEST, (Run(words.visible(receipt.request_id, 80), code=True),)),
    )


def code(receipt: Receipt) -> str:
    """Python that computes what the answer cost and what that means, from the event that the receipt names."""
    return "\n".join(
        [
            f"cost = {receipt.cost!r}",
            'found = {"ε": cost.epsilon, "δ": cost.delta, "ρ": cost.zcdp}',
            "epsilon = cost.epsilon if isfinite(cost.epsilon) else " + repr(words_epsilon(receipt)),
            'found["odds of 100"] = 100 * (1 + cost.delta * exp(-epsilon)) / (1 + exp(-epsilon))',
        ]
    )
