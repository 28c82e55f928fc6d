"""The sidebar's budget tracker: what is spent, what is left, and how many more answers like this one.

Looking never writes: a sample's practice budget is opened by its first release, and shown as untouched until then.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Literal, NamedTuple

import streamlit as st

from dashboard import replay, words
from dashboard.background import compute, this_run
from dashboard.budget import visitor
from dashboard.case import Source
from dashboard.people import login
from dashboard.words import glossary, needs
from dashboard.words import tracker as said
from dpcore.accounting import Cost
from dpcore.datasets import sample
from dpcore.errors import DpcoreError, InvalidCost, LedgerError, LedgerUnsound, UnknownLineage
from dpcore.ledger import Budget
from dpcore.ledger.budget import Caps, Counting
from dpcore.ledger.units import EPSILON_DIGITS, amount

PRACTICE_EPSILON, PRACTICE_DELTA = 3.0, 1e-5
OFFERED_EPSILON, OFFERED_DELTA = 1.0, 1e-6
"""An own budget as it is offered until a person sets it."""
_BUDGET_PAGE = Path(__file__).parents[1] / "app_pages" / "budget.py"


class _Line(NamedTuple):
    """One line of the tracker. ``more`` is its help, or the share that is left."""

    kind: Literal["markdown", "caption", "progress", "error"]
    text: str
    more: str | float | None = None


def sidebar(source: Source | None, next_cost: tuple[Cost, str] | None) -> None:
    """Draw the tracker; ``next_cost`` is what one more answer of the page in view would cost, and what it hides."""
    lines = _lines(source, next_cost)
    replay.part(("budget tracker", *lines), partial(_draw, lines))


def _draw(lines: Sequence[_Line]) -> None:
    with st.container(border=True, key="budget-tracker", gap="small"):
        for kind, text, more in lines:
            match kind:
                case "progress":
                    st.progress(float(more or 0.0), text=text)
                case "error":
                    st.error(text, icon=":material/lock:")
                case "caption":
                    st.caption(text, help=more if isinstance(more, str) else None)
                case _:
                    st.markdown(text)
        if _BUDGET_PAGE.exists():
            st.page_link("app_pages/budget.py", label="All charges", icon=":material/arrow_forward:")


def _lines(source: Source | None, next_cost: tuple[Cost, str] | None) -> list[_Line]:
    if source is None:
        return [_Line("markdown", "**Budget**"), _Line("caption", said.NONE)]
    head = _Line("markdown", f"**Budget** · {'practice, of this sample' if source.practice else 'real'}")
    try:
        return [head, *_state(source, budget(source), next_cost)]
    except DpcoreError as error:
        return [head, _Line("caption", said.CLOSED), _Line("error", words.reason(error))]


def _state(source: Source, found: Budget | None, next_cost: tuple[Cost, str] | None) -> list[_Line]:
    if found is None:
        return [_Line("caption", _without(source))]
    lines, unit = [_Line("progress", spent_words(found), 1.0 - found.share_spent)], protects(source, found)
    if next_cost is not None:
        lines.append(_Line("markdown", answers_words(found, *next_cost, unit)))
    hidden = f" Hides {words.one_of(found.neighbours, unit)}." if found.neighbours else ""
    end = said.at_the_end(practice=found.practice)
    together = said.paid_for(practice=found.practice)
    whole, loose = total(found), found.cap.delta
    most = words.odds_sentence(whole, loose, found.neighbours, unit, of=together)
    most += f" ε = {words.amount(whole)} in all is {words.strength(whole)}.{said.counted_in(loose) if loose else ''}"
    protected = f"It protects any one {words.safe(unit)}. {most} {counted_words(found)}{end}{hidden}"
    lines.append(_Line("caption", protected, None if found.kind == "pure" else f"δ is {glossary.TERMS['δ']}"))
    return lines


def _without(source: Source) -> str:
    """What there is to say of people whose budget is not here."""
    if source.lineage is None and source.simulated:
        return said.SIMULATED
    if lost(source):
        return said.NO_MORE
    return said.NOT_SEEN if source.in_place and login.person() is not None else said.NOT_OPENED


def lost(source: Source) -> bool:
    """Whether the budget of these people was shared with who is logged in, and is not any more."""
    lineage = source.lineage
    if lineage is None or source.practice or login.person() is None:
        return False
    try:
        return this_run.once(("lost", lineage), lambda: compute.ledger().was_mine(lineage))
    except DpcoreError:
        return False  # the sidebar says that the ledger is closed


def protects(source: Source, found: Budget) -> str:
    """Of whom each answer of this budget hides one: as it was opened; of one of which that was not said what the table
    says holds until the first answer.

    Raises LedgerError.
    """
    unit = source.table.schema.unit
    return unit if found.practice else compute.ledger().protects(found.lineage) or unit


def budget(source: Source) -> Budget | None:
    """The budget of these people; None for people without one. Raises LedgerError when the ledger is closed."""
    lineage = source.lineage
    if lineage is None and source.simulated and source.rows is None:
        return None
    problem = trouble()
    if problem is not None:
        raise LedgerError(problem)  # what is not open is not opened anew for it
    if lineage is None:
        return None
    try:
        found = in_ledger(lineage)
    except LedgerUnsound:
        reopen()
        raise
    return _untouched(source) if found is None and source.practice else found


def in_ledger(lineage: str) -> Budget | None:
    """The budget of ``lineage`` in the ledger, asked once in a run; None where there is none. Raises LedgerError."""

    def found() -> Budget | None:
        try:
            return compute.ledger().budget(lineage)
        except UnknownLineage:
            return None

    return this_run.once(("budget", lineage), found)


def usual_delta(source: Source) -> float:
    """The δ that a release about these people asks for unless told otherwise, never above a tenth of their budget's.

    That of a budget as it is offered where none is open, or the ledger is closed.
    """
    try:
        found = budget(source)
    except LedgerError:
        found = None
    state = found or Budget.planned(epsilon=OFFERED_EPSILON, delta=OFFERED_DELTA)
    return state.request_delta() or Budget.planned(epsilon=OFFERED_EPSILON, delta=OFFERED_DELTA).request_delta()


def hidden(source: Source) -> str:
    """What the budget of a person's own people hides, which says what of their rows is public; "" without one."""
    if source.public:
        return ""
    try:
        found = budget(source)
    except LedgerError:
        return ""  # the sidebar says why
    return "" if found is None else found.neighbours


def counting(source: Source) -> Counting:
    """How the budget of these people counts; as a plain sum where there is none, or the ledger is closed."""
    try:
        found = budget(source)
    except LedgerError:
        return "sum"  # the sidebar says why
    return "sum" if found is None else found.counting


def too_dear(source: Source, neighbours: str, request: Any, epsilon: float) -> str:
    """What is said of an ``epsilon`` at which an answer that hides ``neighbours`` is more than is left to these people,
    by ``request`` where one can be made; "" where it is not, or there is no budget to ask."""
    try:
        found = budget(source)
        if found is None:
            return ""
        if found.counting == "sum" or request is None:
            one = found.counted(Cost.pure(1.0), neighbours)
            left = 0.0 if one is None else found.remaining.epsilon / one.epsilon
            return needs.too_dear(left) if epsilon > left else ""
        cost = replace(request, epsilon=epsilon).cost  # kinds of answers differ in what they take of ρ
        return "" if found.answers_left(cost, neighbours) else needs.too_dear(None)
    except DpcoreError:
        return ""  # the sidebar, or the answer, says why


def open_practice(source: Source) -> None:
    """Open the practice budget of a sample unless it is there; call from a callback only. Raises LedgerError."""
    if not source.practice or source.lineage is None:
        return
    ledger = compute.ledger()
    try:
        ledger.budget(source.lineage)
    except UnknownLineage:
        epsilon, delta, name = _practice(source)
        ledger.open_practice(visitor.token(), source.key, epsilon=epsilon, delta=delta, name=name)


def _practice(source: Source) -> tuple[float, float, str]:
    return PRACTICE_EPSILON, PRACTICE_DELTA, sample(source.key).title


def _untouched(source: Source) -> Budget:
    epsilon, delta, name = _practice(source)
    return Budget(
        lineage=str(source.lineage), name=name, practice=True, generation=1, caps=Caps.of(epsilon, delta, "sum")
    )


def trouble() -> str | None:
    """Why the ledger is not open, in a sentence for its owner; None where it is."""
    try:
        compute.opens()  # the answer is for everyone, so it does not hang on who asks
    except DpcoreError as error:
        return words.sentence(error)
    return None


def reopen() -> None:
    """Open and check the ledger anew the next time it is needed: its owner may have mended it."""
    compute.reopen_ledger()


def total(found: Budget) -> float:
    """The ε of the cap, as opened."""
    return amount(found.caps.cap_epsilon, EPSILON_DIGITS)


def spent(found: Budget) -> float:
    """The ε that is spent, where ε adds up."""
    return amount(found.spent.spent_epsilon, EPSILON_DIGITS)


def spent_words(found: Budget) -> str:
    """What is left, in the way the budget counts."""
    if found.counting != "sum":
        return said.left_share(total(found), found.cap.delta, 1.0 - found.share_spent)
    told = said.left(total(found), found.remaining.epsilon)
    if found.remaining.delta < found.cap.delta:
        told += said.delta_left(found.remaining.delta, found.cap.delta)
    return told


def counted_words(found: Budget) -> str:
    """How this budget counts."""
    return said.counted(found.counting, pure=found.kind == "pure")


def counts_words(found: Budget, neighbours: str, unit: str) -> str:
    """What else there is to say of answers that hide ``neighbours`` of one ``unit``, after a sentence: nothing where
    they cost what they cost by themselves."""
    asked = Cost.pure(1.0)
    counted = found.counted(asked, neighbours)
    if counted is None:
        return f" {said.cannot(words.one_of(neighbours, unit))}"
    promised = words.one_of(found.neighbours, unit)
    return "" if counted == asked else f" {said.counts_more(words.one_of(neighbours, unit), promised)}"


def answers_words(found: Budget, cost: Cost, neighbours: str, unit: str) -> str:
    """How many more answers of this cost fit, each hiding ``neighbours`` of one ``unit``."""
    counted = found.counted(cost, neighbours)
    if counted is None:
        return said.cannot(words.one_of(neighbours, unit))
    try:
        takes, more = found.charge_for(cost, neighbours) is not None, found.answers_left(cost, neighbours)
    except InvalidCost:
        takes, more = False, 0
    if not takes:
        return said.NO_RHO if found.counting == "zcdp" else said.NO_DELTA
    if more == 0:
        no_delta = found.counting == "sum" and counted.delta > found.remaining.delta
        return said.no_delta(counted.delta, found.remaining.delta) if no_delta else said.NOT_ENOUGH
    rest = found.remaining.epsilon - counted.epsilon if found.counting == "sum" else None
    return said.more(more, rest) + _delta_words(found, counted)


def fit_at(source: Source, cost: Cost, neighbours: str, ratio: float) -> tuple[int, bool] | None:
    """How many answers the budget pays for where each takes ``ratio`` times the ε of ``cost``, and whether δ runs out
    before ε does; None where ε does not add up, or there is no budget to ask, or nobody knows what such an answer with
    a δ counts as."""
    try:
        found = budget(source)
        if found is None or found.counting != "sum":
            return None
        counted = found.counted(cost, neighbours)
        if counted is None:
            return 0, False
        if counted != cost and cost.delta > 0.0 and ratio != 1.0:
            return None  # it follows from the noise at that ε, and is no multiple of this one
        each = Cost(epsilon=counted.epsilon * ratio, delta=counted.delta)
        return found.answers_left(each, found.neighbours), _delta_first(found, each)
    except DpcoreError:
        return None  # the sidebar says why


def _delta_words(found: Budget, cost: Cost) -> str:
    """What an answer takes of δ, where that adds up."""
    if found.counting != "sum" or cost.delta <= 0.0:
        return ""
    return (said.delta_first if _delta_first(found, cost) else said.delta_takes)(cost.delta, found.remaining.delta)


def _delta_first(found: Budget, cost: Cost) -> bool:
    """Whether δ runs out before ε does, where both add up."""
    if found.counting != "sum" or cost.delta <= 0.0 or not 0.0 < cost.epsilon < math.inf:
        return False
    return found.remaining.delta / cost.delta < math.floor(found.remaining.epsilon / cost.epsilon)
