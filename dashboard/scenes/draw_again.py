"""One more private answer on the stage: each click is one release from the practice budget, and the answers pile up."""

from __future__ import annotations

import uuid

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dashboard import session, words
from dashboard.background import compute, places
from dashboard.budget import tracker, visitor
from dashboard.case import Source
from dashboard.charts.pile import pile, told
from dashboard.question import NoOffer, Offer
from dashboard.replay import kept
from dashboard.scenes.held import DRAW_ID
from dashboard.widgets import inputs
from dashboard.widgets.picture import picture
from dashboard.words import scenes as said
from dpcore.errors import DpcoreError, LedgerUnsound, UnknownLineage
from dpcore.ledger import Receipt
from dpcore.release import question_digests, release

_NOTE = "draw-again"


def panel(source: Source, offer: Offer | NoOffer, beside: DeltaGenerator, main: DeltaGenerator) -> None:
    """What is left of the practice budget and the button in the first place, the answers so far in the second.

    Nothing is drawn or charged while the stage is drawn. Data of a person's own are never released from here: that
    needs the confirmation on the question's page.
    """
    if isinstance(offer, NoOffer) or not source.practice:
        main.info(words.safe(offer.sentence, 2000) if isinstance(offer, NoOffer) else said.NOT_PRACTICE)
        return
    request = offer.request
    try:
        budget, receipts = tracker.budget(source), _answered(source, offer)
    except DpcoreError as error:
        main.error(words.reason(error), icon=":material/lock:")
        return
    if budget is None:
        return
    with beside:
        st.progress(1.0 - budget.share_spent, text=tracker.spent_words(budget))
        if budget.fits(request.cost, request.neighbours):
            st.button(
                inputs.primary(said.DRAW),
                type="primary",
                icon=":material/casino:",
                key="draw-again",
                width="stretch",
                on_click=_draw,
                args=(source, offer, _next_id()),
            )
        else:
            st.button(
                said.RESET,
                icon=":material/restart_alt:",
                key="draw-again-reset",
                width="stretch",
                on_click=_reset,
                args=(budget.lineage, budget.generation),
            )
            st.markdown(said.EMPTY_BUDGET)
        problem = session.note(_NOTE)
        if problem:
            st.warning(problem)
    answers = words.labels([said.unmarked(offer.told(receipt)) for receipt in receipts])
    with main:
        st.markdown(said.drawn(len(answers)) if answers else said.NONE_YET)
        if answers:
            dark = session.dark()
            figure = kept(("pile", tuple(answers), dark), lambda: pile(answers, dark=dark), large=True)
            picture(figure, key="drawn-answers", alt=f"Private answers: {told(answers)}.")


def _next_id() -> str:
    """The id of the next release, the same however often the stage is drawn before it."""
    if not DRAW_ID.get():
        DRAW_ID.put(uuid.uuid4().hex)
    return DRAW_ID.get()


def _answered(source: Source, offer: Offer) -> list[Receipt]:
    try:
        ledger, lineage = compute.ledger(), str(source.lineage)
        # those of digests from before first
        digests = question_digests(offer.request)[::-1]
        return [receipt for digest in digests for receipt in ledger.answered(lineage, digest)]
    except UnknownLineage:
        return []


def _draw(source: Source, offer: Offer, request_id: str) -> None:
    """Callback: charge, draw and store one more answer; a second click of the same button repeats the first."""
    try:
        tracker.open_practice(source)
        with places.drawing(source.counted_in, visitor.token()):
            release(compute.ledger(), request_id, str(source.lineage), offer.request, offer.data())
    except DpcoreError as error:
        if isinstance(error, LedgerUnsound):
            tracker.reopen()
        session.say(_NOTE, words.reason(error))
    if DRAW_ID.get() == request_id:
        DRAW_ID.forget()


def _reset(lineage: str, generation: int) -> None:
    """Callback: the practice budget is whole again; a second click finds a newer one and does nothing."""
    try:
        ledger = compute.ledger()
        if ledger.budget(lineage).generation == generation:
            ledger.reset_practice(lineage)
    except DpcoreError as error:
        session.say(_NOTE, words.reason(error))
