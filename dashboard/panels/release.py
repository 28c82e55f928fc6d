"""The release: preview of the cost, one confirmation, the private answer with its error forecast and receipt.

Nothing is drawn or charged in a page's body, only in the callback of the confirming button. The request's id is made
when the preview is accepted, so that a double click, a rerun or a click that arrives late repeats the same release;
and when another window has had this very question answered since the person looked, they are shown that answer.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import streamlit as st

from dashboard import compute, controls, session, tracker, words
from dashboard.panels.answer import Describe, answer, asked, cost_words, when
from dashboard.panels.budget import unanswered
from dashboard.panels.budget.opening import open_budget, told
from dashboard.source import Source
from dpcore.accounting import Cost
from dpcore.errors import BudgetExceeded, DpcoreError, InvalidCost, LedgerUnsound, UnknownLineage
from dpcore.ledger import Budget, Receipt
from dpcore.ledger.words import hides, refusal
from dpcore.release import REFUSED, Request, question_digest, release

EARLIER_SHOWN = 5
ELSEWHERE = (
    "This very question was answered in another window a moment ago: this is that answer, and nothing more was "
    "charged. Ask again if you want a second, independent draw."
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Offer:
    """One question on a page, as the callbacks get it."""

    source: Source
    slot: str
    request: Request
    data: Callable[[], Any]

    @property
    def lineage(self) -> str:
        return str(self.source.lineage)


def release_panel(
    source: Source,
    *,
    slot: str,
    request: Any,
    data: Callable[[], Any],
    forecast: str,
    describe: Describe,
    extra: Callable[[Receipt], None] | None = None,
    relation: str | None = None,
) -> None:
    """The whole flow for one ``request`` (of ``dpcore.releases``) on ``data()``.

    ``slot`` names the place on the page, ``forecast`` says how far off the answer may be, ``describe`` turns an answer
    into a sentence (Markdown: text from files through ``words.safe``), and ``extra`` may draw more below it.
    ``relation`` is the key of the page's control for whom the answer hides, if there is a choice.
    """
    if source.released is None:
        st.info(source.unreleased)
        return
    offer = Offer(source=source, slot=slot, request=request, data=data)
    try:
        found = tracker.budget(source)
        earlier = [] if found is None else answered(offer)
    except DpcoreError as error:
        st.error(words.sentence(error), icon=":material/lock:")
        return
    if found is None:
        open_budget(source, request.neighbours)
        return
    told()
    if source.practice:
        st.caption("This is practice: a real private answer about sample data, charged to a budget you can reset.")
    st.markdown(f"**What will be asked:** {asked(request.what)}")
    st.markdown(f"**How far off it may be:** {forecast}")
    if not _price(found, source, request, relation):
        return
    fits, label = found.fits(request.cost, request.neighbours), "Make one private release"
    st.button(
        controls.primary(label) if fits else label,
        type="primary",
        icon=":material/lock_open:",
        key=f"{slot}-begin",
        disabled=not fits,
        on_click=session.begin_release,
        args=(slot,),
    )
    if session.request_id(slot) is not None:
        _confirm(offer, found, earlier)
    problem = session.note(slot)
    if problem:
        st.warning(problem)
    unanswered.show(offer.lineage, question_digest(request), lambda request_id: _draw(offer, request_id), key=slot)
    receipt = session.receipt(slot)
    if receipt is not None and receipt.question == question_digest(request):
        answer(receipt, describe, extra, key=f"{slot}-answer")
    else:
        receipt = None
    _earlier([one for one in earlier if receipt is None or one.request_id != receipt.request_id], describe)


def answered(offer: Offer) -> list[Receipt]:
    """Receipts of this very question about these people since the last reset, oldest first. Raises LedgerError."""
    try:
        return compute.ledger().answered(offer.lineage, question_digest(offer.request))
    except UnknownLineage:
        return []


def _price(found: Budget, source: Source, request: Request, relation: str | None) -> bool:
    """What it costs and whether it fits; False when this budget can never take it."""
    cost, hidden = request.cost, request.neighbours
    try:
        charge = found.charge_for(cost, hidden)
    except InvalidCost as error:
        st.warning(f"This release cannot be charged: {error}.")
        return False
    fits = charge is not None and found.fits(cost, hidden)
    share = found.after(charge).share_spent - found.share_spent if charge is not None and fits else 0.0
    hundredths = f"about {100 * share:.0f}" if share >= 0.01 else "less than 1"
    part = f", {hundredths} in 100 of the budget" if share > 0.0 else ""
    st.markdown(f"**What it costs:** {_charged(found, request)}{part}. So far: {tracker.spent_words(found)}.")
    if not found.neighbours:
        until = "until it is reset" if source.practice else "for good"
        st.caption(f"The first answer settles what this budget hides, {until}: {hides(hidden)}.")
    if not fits:
        st.warning(_refusal(found, source, request), icon=":material/block:")
        if found.counted(cost, hidden) == cost:
            _smaller(found, cost)
        elif found.counted(cost, hidden) is None and relation is not None:
            st.button(
                f"Hide {hides(found.neighbours)} instead",
                key="release-relation",
                on_click=session.put,
                args=(relation, found.neighbours),
            )
    return True


def _charged(found: Budget, request: Request) -> str:
    """The cost in words, as this budget counts it."""
    counted = found.counted(request.cost, request.neighbours)
    if counted is None or counted == request.cost:
        return cost_words(request.cost)
    return (
        f"{cost_words(counted)} ({cost_words(request.cost)} for {hides(request.neighbours)}, which counts twice where "
        f"{hides(found.neighbours)} is hidden, as in this budget)"
    )


def _smaller(found: Budget, cost: Cost) -> None:
    """One click to what would fit, where ε is all that needs to change."""
    most = math.floor(found.remaining.epsilon * 1e6) / 1e6
    if cost.delta == 0.0 and cost.epsilon == session.epsilon() and most >= session.EPSILON_LOW:
        st.button(f"Use ε = {words.amount(most)}", key="release-smaller", on_click=session.set_epsilon, args=(most,))


def _refusal(found: Budget, source: Source, request: Request) -> str:
    again = " A practice budget can be reset on the Budget page." if source.practice else ""
    return refusal(found, request.cost, request.neighbours) + again


def _confirm(offer: Offer, found: Budget, earlier: list[Receipt]) -> None:
    slot, request = offer.slot, offer.request

    @st.dialog("Confirm this release", on_dismiss=lambda: session.end_release(slot))
    def dialog() -> None:
        st.markdown(f"**{asked(request.what)}**")
        st.markdown(f"It costs {_charged(found, request)}, from the budget “{words.safe(found.name)}”.")
        more = max(found.answers_left(request.cost, request.neighbours) - 1, 0)
        fits = words.plural(more, "more answer", "more answers") if more < tracker.MANY else "a million more answers"
        st.caption(
            f"After it, about {fits} like it would fit. The charge cannot be taken back, and the answer is drawn "
            "once: asking again costs again."
        )
        if earlier:
            st.info(
                f"This very question has been answered {'once' if len(earlier) == 1 else f'{len(earlier):,} times'} "
                "already. Reading that again is free: it stands on the page behind this window."
            )
        with st.container(horizontal=True):
            if st.button(
                controls.primary("Confirm and release"),
                type="primary",
                key=f"{slot}-confirm",
                on_click=_release,
                args=(offer, session.request_id(slot), len(earlier)),
            ):
                st.rerun()
            if st.button("Cancel", key=f"{slot}-cancel", on_click=session.end_release, args=(slot,)):
                st.rerun()

    dialog()


def _release(offer: Offer, request_id: str | None, seen: int) -> None:
    """Callback: charge, draw, store, show. ``seen`` is how many answers to this question the person knew of."""
    slot = offer.slot
    if request_id is None or session.request_id(slot) != request_id:
        return  # cancelled, or a second click: the first one's answer is there already
    try:
        tracker.open_practice(offer.source)
        elsewhere = answered(offer)[seen:]
        if elsewhere:
            session.say(slot, ELSEWHERE)
            session.release_done(slot, elsewhere[-1])
            return
        ready, data = _prepared(offer.data)
        if not ready:
            session.say(slot, REFUSED)
            session.end_release(slot)
            return
        receipt = release(compute.ledger(), request_id, offer.lineage, offer.request, data)
    except DpcoreError as error:
        _failed(offer, error)
        return
    session.release_done(slot, receipt)


def _failed(offer: Offer, error: DpcoreError) -> None:
    if isinstance(error, LedgerUnsound):
        tracker.reopen()
    again = offer.source.practice and isinstance(error, BudgetExceeded)
    reset = " A practice budget can be reset on the Budget page." if again else ""
    session.say(offer.slot, words.sentence(error) + reset)
    session.end_release(offer.slot)


def _draw(offer: Offer, request_id: str) -> None:
    """Callback: the answer of a charge that was made before; the same request id, so nothing is charged again."""
    ready, data = _prepared(offer.data)
    if not ready:
        session.say(offer.slot, REFUSED)
        return
    try:
        receipt = release(compute.ledger(), request_id, offer.lineage, offer.request, data)
    except DpcoreError as error:
        _failed(offer, error)
        return
    session.release_done(offer.slot, receipt)


def _prepared(data: Callable[[], Any]) -> tuple[bool, Any]:
    """The data of the release. Whatever goes wrong with them may name private values, so it goes no further."""
    try:
        return True, data()
    except Exception:  # noqa: BLE001 - the caller shows one sentence that is the same for everything
        return False, None


def _earlier(receipts: list[Receipt], describe: Describe) -> None:
    """Answers this question has had before, so that nobody pays for what a refresh took off the screen."""
    if not receipts:
        return
    st.markdown("**Answered before.** Reading these again costs nothing.")
    shown = reversed(receipts[-EARLIER_SHOWN:])
    st.markdown("\n".join(f"- {when(one)}: {describe(one.answer)}" for one in shown))
