"""A plan of private answers with its prices, as a section of a report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dashboard import words
from dashboard.report import text
from dashboard.report.analysis import made_with
from dashboard.report.value import Drawing, Grid, Heading, Kind, Listing, Paragraph, Part, Section
from dashboard.words import report as said
from dpcore.ledger.words import versions


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedTotal:
    """What one rule of adding up makes of the plan; ``holds`` says when it may be relied on."""

    rule: str
    name: str
    epsilon: float
    holds: str


def planned(
    wishes: Sequence[str],
    epsilons: Sequence[float],
    totals: Sequence[PlannedTotal],
    *,
    verdict: str,
    picture: Drawing,
    delta: float,
    fit: str,
    code: str,
    kind: Kind,
    budget: str | None,
) -> Section:
    """The section of a plan. ``wishes`` are its lines in words (Markdown), ``epsilons`` the ε of each one's answers.

    ``verdict`` says in one sentence (Markdown) what they cost together, ``picture`` draws it under each rule.
    ``code`` is Python that computes the totals into ``costs``; ``kind`` is that of the data by which the plan found how
    good each answer is, or "plan" where it needed none. ``budget`` is the lineage whose budget ``fit`` and ``picture``
    compare it with, or None.
    """
    wanted = tuple(
        (*text.line(wish), *text.words(f" ({said.EACH}: {words.amount(epsilon)})"))
        for wish, epsilon in zip(wishes, epsilons, strict=True)
    )
    parts: list[Part] = [
        Heading(said.PLANNED),
        Listing(wanted),
        Heading(said.TOGETHER),
        Paragraph(text.line(verdict), "large"),
        picture,
        Grid(
            head=(said.RULE, said.TOTAL, said.VALID),
            rows=tuple((one.name, words.no_less(one.epsilon), one.holds) for one in totals),
            caption=said.plan_caption(delta),
        ),
        Paragraph(text.line(fit)),
        *([] if kind == "plan" else [Paragraph(text.line(said.PLAN_DATA), "small")]),
        Paragraph(text.line(made_with(versions())), "small"),
    ]
    return Section(
        kind=kind,
        key=f"plan:{'|'.join(wishes)}:{tuple(epsilons)!r}:{delta!r}:{budget}:{fit}",
        title=said.PLAN_TITLE,
        parts=tuple(parts),
        numbers=tuple((one.rule, one.epsilon) for one in totals),
        code=code,
        budget=budget,
        own=kind in ("what_if", "twin"),
    )
