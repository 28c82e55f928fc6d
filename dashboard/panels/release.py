"""The release: preview of the cost, one confirmation, the private answer with its error forecast and receipt.

Nothing is drawn or charged in a page's body. The request's id is made when the preview is confirmed for the first
time and stays until another release is begun, so that a rerun, a double click or a second tab repeats it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st
from dpcore.release import release

from dashboard import compute, session, tracker, words
from dashboard.source import Source
from dpcore.accounting import Cost
from dpcore.errors import DpcoreError, InvalidCost, LedgerError
from dpcore.ledger import Receipt


def release_panel(
    source: Source,
    *,
    slot: str,
    request: Any,
    data: Callable[[], Any],
    forecast: str,
    describe: Callable[[Any], str],
    extra: Callable[[Receipt], None] | None = None,
) -> None:
    """The whole flow for one ``request`` (of ``dpcore.releases``) on ``data()``.

    ``slot`` names the place on the page, ``forecast`` says how far off the answer may be, ``describe`` turns an answer
    into a sentence, and ``extra`` may draw more below it (a download, a chart).
    """
    if source.simulated:
        st.info("These rows are simulated, so there is nobody to protect. Load real data to make a release.")
        return
    try:
        found = tracker.budget(source)
    except LedgerError as error:
        st.error(str(error))
        return
    if found is None:
        open_budget(source)
        return
    cost: Cost = request.cost
    if source.practice:
        st.caption("This is practice: a real private answer about sample data, charged to a budget you can reset.")
    st.markdown(f"**What will be asked:** {request.what}")
    st.markdown(f"**How far off it may be:** {forecast}")
    try:
        fits, more = found.fits(cost), found.answers_left(cost)
    except InvalidCost as error:
        st.warning(f"This release cannot be charged: {error}.")
        return
    st.markdown(f"**What it costs:** {cost_words(cost)} {tracker.spent_words(found).capitalize()}.")
    if not fits:
        st.warning(refusal(source, cost), icon=":material/block:")
    st.button(
        "Make one private release",
        type="primary",
        icon=":material/lock_open:",
        key=f"{slot}-begin",
        disabled=not fits,
        on_click=session.begin_release,
        args=(slot,),
    )
    if session.release_begun(slot):
        _confirm(source, slot, request, data, more)
    problem = session.note(slot)
    if problem:
        st.error(problem)
    receipt = session.receipt(slot)
    if receipt is not None:
        answer(receipt, describe, extra)


def _confirm(source: Source, slot: str, request: Any, data: Callable[[], Any], more: int) -> None:
    def dismissed() -> None:
        session.end_release(slot)

    @st.dialog("Confirm this release", on_dismiss=dismissed)
    def dialog() -> None:
        st.markdown(request.what)
        st.markdown(f"It costs {cost_words(request.cost)}")
        st.caption(
            f"After it, about {max(more - 1, 0):,} more like it would fit. The charge cannot be taken back, "
            "and the answer is drawn once: asking again costs again."
        )
        with st.container(horizontal=True):
            if st.button(
                "Confirm and release",
                type="primary",
                key=f"{slot}-confirm",
                on_click=_release,
                args=(str(source.lineage), slot, session.request_id(slot), request, data),
            ):
                st.rerun()
            if st.button("Cancel", key=f"{slot}-cancel", on_click=session.end_release, args=(slot,)):
                st.rerun()

    dialog()


def _release(lineage: str, slot: str, request_id: str, request: Any, data: Callable[[], Any]) -> None:
    """Callback: charge, draw, store, show. The same ``request_id`` gives the same answer and one charge."""
    try:
        receipt = release(compute.ledger(), request_id, lineage, request, data())
    except DpcoreError as error:
        session.say(slot, str(error))
        session.end_release(slot)
        return
    session.release_done(slot, receipt)


def answer(receipt: Receipt, describe: Callable[[Any], str], extra: Callable[[Receipt], None] | None = None) -> None:
    """A private answer and its receipt."""
    with st.container(border=True, key="private-answer"):
        st.markdown("**Private answer**")
        st.markdown(f"### {describe(receipt.answer)}")
        st.caption(
            f"{receipt.what} {cost_words(receipt.cost)} Drawn {receipt.time[:19].replace('T', ' ')} UTC. "
            f"Receipt {receipt.journal_hash[:12]}."
        )
        if extra is not None:
            extra(receipt)
        st.download_button(
            "Receipt (JSON)",
            receipt.to_json(),
            f"receipt-{receipt.request_id[:8]}.json",
            "application/json",
            on_click="ignore",
            icon=":material/receipt_long:",
        )


def cost_words(cost: Cost) -> str:
    """The charge in its own unit."""
    if cost.delta > 0.0:
        return f"ε = {words.number(cost.epsilon)} with δ = {cost.delta:g}."
    return f"ε = {words.number(cost.epsilon)}."


def refusal(source: Source, cost: Cost) -> str:
    """How much was asked, how much is left, and what would fit."""
    found = tracker.budget(source)
    left = 0.0 if found is None else found.remaining.epsilon
    fits = (
        f"An answer at ε = {words.number(left)} or less would fit." if left >= session.EPSILON_LOW else "Nothing fits."
    )
    again = " A practice budget can be reset on the Budget page." if source.practice else ""
    return f"This asks for {cost_words(cost)[:-1]}, but only ε = {words.number(left)} is left. {fits}{again}"


def open_budget(source: Source) -> None:
    """A person's own people have no budget yet: say what one is, and open it for good."""
    st.markdown(
        "**Before the first release, set the budget of these people.** It is the most that all releases about them "
        "may ever reveal together, whatever file they come in. It can never be changed."
    )
    with st.form("open-budget"):
        st.text_input("Whose data are these? A name for the group", max_chars=80, key="budget-name")
        st.radio(
            "How to count",
            ["pure", "approximate"],
            key="budget-kind",
            format_func={
                "pure": "Pure ε: the ε of all releases add up. Simple; selection and thresholding only.",
                "approximate": "ε with a small δ: many releases cost less together. Needed for training and experts.",
            }.__getitem__,
        )
        st.number_input("Total ε", min_value=0.01, max_value=20.0, value=1.0, key="budget-epsilon")
        st.number_input(
            "δ, if counted that way", min_value=0.0, max_value=0.01, value=1e-6, format="%.1e", key="budget-delta"
        )
        st.form_submit_button("Open this budget for good", on_click=_open, args=(source.lineage,))
    problem = session.note("open-budget")
    if problem:
        st.error(problem)


def _open(lineage: str | None) -> None:
    name = str(session.get("budget-name", "")).strip()
    if lineage is None or not name:
        session.say("open-budget", "Give the group a name first, so that you recognise its budget later.")
        return
    approximate = session.get("budget-kind", "pure") == "approximate"
    try:
        compute.ledger().open_budget(
            lineage,
            epsilon=float(session.get("budget-epsilon", 1.0)),
            delta=float(session.get("budget-delta", 1e-6)) if approximate else 0.0,
            name=name,
        )
    except DpcoreError as error:
        session.say("open-budget", f"The budget was not opened: {error}.")
