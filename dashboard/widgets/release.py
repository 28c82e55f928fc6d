"""The release: preview of the cost, one confirmation, the private answer with its error forecast and receipt.

Nothing is drawn or charged in a page's body, only in the callback of the confirming button. The request's id is made
when the preview is accepted, so that a double click, a rerun or a click that arrives late repeats the same release;
and when another window has had this very question answered since the person looked, they are shown that answer. That
is decided in the transaction that charges: of clicks at one moment, in however many windows, one is charged.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import streamlit as st

from dashboard import session, words
from dashboard.background import compute, places, this_run
from dashboard.background.in_use import answering
from dashboard.blocks import Block, Download
from dashboard.budget import drawn, tracker, unanswered, visitor
from dashboard.budget.opening import offered, open_budget, told
from dashboard.case import Source
from dashboard.question import RELEASE, Offer
from dashboard.replay import Same, kept
from dashboard.report.answer import answered as answered_section
from dashboard.report.panel import report_button
from dashboard.report.value import Section
from dashboard.view import EPSILON_LOW
from dashboard.widgets import approval, onward
from dashboard.widgets import inputs as controls
from dashboard.widgets.answer import answer, asked, cost_words, to_copy, when
from dashboard.widgets.blocks import Around, draw_all
from dashboard.widgets.receipt_file import seen_still
from dashboard.words import login as login_words
from dashboard.words import release as said
from dashboard.words import report as report_words
from dashboard.words import tracker as tracker_words
from dpcore.accounting import Cost
from dpcore.errors import BudgetExceeded, DpcoreError, InvalidCost, KnownPeople, LedgerUnsound, UnknownLineage
from dpcore.ledger import Budget, Known, Petition, Receipt
from dpcore.ledger.words import LONGEST_QUESTION, PERSON, refusal
from dpcore.release import REFUSED, Request, ask, make_ready, notes_of, question_digests, release

NEWEST = 5
"""Answers to one question that are read and shown, of those that were drawn from this table and of the others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Earlier:
    """Answers that a question has had: the ``NEWEST`` that were drawn from this table, and of those of which that is
    not known, each oldest first, and how many there are of either. ``known`` is what whoever asks has seen."""

    mine: Sequence[Receipt] = ()
    others: Sequence[Receipt] = ()
    many_mine: int = 0
    many_others: int = 0
    known: Known = field(default_factory=Known)

    @property
    def many(self) -> int:
        return self.many_mine + self.many_others


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Asked:
    """One release in its place on a page, as the callbacks get it."""

    source: Source
    slot: str
    offer: Offer

    @property
    def lineage(self) -> str:
        return str(self.source.lineage)

    @property
    def request(self) -> Request:
        return self.offer.request


def draw_beside(source: Source, offer: Offer, *, slot: str, tab: str) -> None:
    """The short way beside the chart: one click where the budget is for practice, else the dialog; the last answer.

    Where no answer can be drawn yet the release tab says why and opens a budget; to it leads a button, which sets
    ``tab``, the control of what is open below the chart. A second click, and
    one in another window, comes with the number of answers that its person knew of, so that it shows the first answer.
    """
    if source.rows is None:
        return
    here, request = Asked(source=source, slot=slot, offer=offer), offer.request
    try:
        found = tracker.budget(source)
        earlier = Earlier() if found is None else answered(here)
        charge = None if found is None else found.charge_for(cost_of(request), request.neighbours)
        if found is None or charge is None or approval.closed(found):
            if found is None and not tracker.lost(source):
                way_below(slot, tab, said.budget_first(offer.gives) if offered(source) else said.NONE_AS_IT_IS)
            return  # the release tab says why
        waits = any(one.pending for one in approval.latest(found, request))
    except DpcoreError:
        return  # the release tab says what is wrong
    fits = found.fits(cost_of(request), request.neighbours)
    mine, others = earlier.mine, earlier.others
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        label = said.draw_for(_charged(found, request)) if source.practice else f"{said.DRAW_NOW}…"
        st.button(
            label,
            icon=":material/casino:",
            key=f"{slot}-now-{earlier.many}",  # a late click of the button before is known by it
            disabled=not fits or waits,
            on_click=_draw_now if source.practice else session.begin_release,
            args=(here, earlier.known) if source.practice else (slot, earlier.known),
            help=said.DRAW_HELP,
        )
        if mine:
            last = said.last_drawn(offer.told(mine[-1]), earlier.many_mine, made_up=source.simulated)
            st.markdown(last, width="content")
        else:
            none = login_words.BELOW if waits else said.none_drawn(offer.gives, practice=source.practice)
            st.caption(none if fits else _refusal(found, source, request), width="content")
    _problem(slot)
    if mine:
        where = said.KEPT_PRACTICE if source.practice else said.KEPT
        told = f"{where} {offer.conclude or said.conclude(unit_of(request))}"
        st.caption(told if fits else _refusal(found, source, request))
        _then(offer, mine[-1], f"{slot}-then")
    elif others:
        st.caption(said.drawn_before(offer.told(others[-1]), when(others[-1]), drawn.whence(source)))
    if session.request_id(slot) is not None:
        _confirm(here, found)


def way_below(slot: str, tab: str, told: str) -> None:
    """Where a private answer is to be had as long as none can be drawn from here, with what is ``told`` of it."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.button(
            said.OPEN_BELOW,
            icon=":material/arrow_downward:",
            key=f"{slot}-below",
            on_click=session.change,
            args=(tab, RELEASE),
        )
        st.caption(told, width="content")


def cost_of(request: Request) -> Cost:
    """What one answer costs, worked out once for one request."""
    return kept(("cost", Same(request)), lambda: request.cost)


def unit_of(request: Request) -> str:
    """Of whom an answer hides one."""
    return str(getattr(request, "unit", PERSON))


def drawn_answers(source: Source, offer: Offer) -> list[Any]:
    """The ``NEWEST`` answers to this very question that were drawn from this table, oldest first."""
    if source.rows is None or source.lineage is None:
        return []
    try:
        earlier = answered(Asked(source=source, slot="", offer=offer))
    except DpcoreError:
        return []  # the sidebar says that the ledger is closed
    return [receipt.answer for receipt in earlier.mine]


def _draw_now(here: Asked, seen: Known) -> None:
    """Callback: the same release as by the dialog, in one step. A click that came twice is the same release."""
    if session.request_id(here.slot) is None or session.seen_before(here.slot) != seen:
        session.begin_release(here.slot, seen)
    _release(here, session.request_id(here.slot), seen)


def release_panel(source: Source, offer: Offer, *, slot: str, dialog: bool = True) -> None:
    """The whole flow for one ``offer``; ``slot`` names the place on the page.

    ``dialog`` is False where ``draw_beside`` stands on the page already, which then shows the dialog and its problems.
    """
    if source.rows is None:
        onward.say(source.unreleased)
        return
    here, request = Asked(source=source, slot=slot, offer=offer), offer.request
    try:
        found = tracker.budget(source)
        earlier = Earlier() if found is None else answered(here)
        closed = (login_words.NO_MORE if tracker.lost(source) else "") if found is None else approval.closed(found)
        petitions = () if found is None or closed else approval.latest(found, request)
    except DpcoreError as error:
        st.error(words.reason(error), icon=":material/lock:")
        _problem(slot)  # such as that an answer is kept until the ledger is back
        return
    if closed:
        st.info(session.note(slot) or closed, icon=":material/lock_person:")  # of a click: that it came to nothing, too
        _earlier(source, earlier, offer)
        return
    if found is None:
        open_budget(source, request.neighbours, cost_of(request))
        return
    told()
    st.markdown(f"**{said.ASKED}:** the answer to: {asked(request.what)}")
    st.markdown(said.SEEN)
    st.markdown(f"**{said.FORECAST}:** {offer.forecast}")
    question = question_digests(request)
    open_ = [one for one in petitions if one.pending]
    notes = notes_of(request, granted=[one.what for one in open_], charged=unanswered.charged(here.lineage, question))
    _rules(request, notes, sample=source.public)
    again = bool(earlier.mine)
    if not _price(found, source, request, offer.relation, again=again):
        return
    st.markdown(said.UNDO_PRACTICE if source.practice else said.UNDO)
    if not any(one.charged or offer.of(one) is offer for one in open_):
        _begin(here, found, seen=earlier.known, again=again)
    if dialog and session.request_id(slot) is not None:
        _confirm(here, found)
    _problem(slot)
    draw, as_then = partial(_draw, here), partial(_as_then, here)
    for petition in petitions:
        if petition.pending and not petition.charged:
            as_then(petition, found)
        key = slot if offer.of(petition) is offer else f"{slot}-{petition.request_id[:8]}"
        approval.told(petition, draw, found, key=key)
    unanswered.show_unanswered(here.lineage, question, draw, drawn=as_then, key=slot)
    receipt = session.receipt(slot)
    if receipt is None or receipt.lineage != here.lineage or receipt.question not in question:
        receipt = earlier.mine[-1] if earlier.mine else None  # of a page that was loaded anew
        if receipt is not None:
            st.markdown(said.BEFORE)
    if receipt is not None and drawn.of_this(source, receipt.request_id):
        own = offer.of(receipt)
        answer(
            receipt,
            own.describe,
            lambda found: _below(own, found, source),
            key=f"{slot}-answer",
            conclude=own.conclude,
            copy=None if source.practice else to_copy(receipt, own),
        )
        _then(offer, receipt, f"{slot}-answer-then")
        report_button(partial(_on_paper, receipt, here, found), key=f"{slot}-answer", label=report_words.ANSWER_REPORT)
    else:
        receipt = None
    _earlier(source, earlier, offer, beside=receipt)


def _as_then(here: Asked, asked: Petition | Receipt, found: Budget | None = None) -> None:
    """How what was asked for or charged is drawn, where that is otherwise than the page draws by now; and what it costs
    of the budget that is ``found``, if it is not paid yet."""
    own = here.offer.of(asked)
    if own is here.offer:
        return
    request = own.request
    st.markdown(said.as_then(request.mechanism))
    st.markdown(f"**{said.FORECAST}:** {own.forecast}")
    if found is not None:
        st.markdown(_cost(found, request))
    st.caption(words.odds_sentence(request.cost.epsilon, request.cost.delta, request.neighbours, unit_of(request)))
    others = [one for one in own.before if one not in here.offer.before]
    draw_all(others, Around(page="", mark=None, source=here.source))


def _then(offer: Offer, receipt: Receipt, key: str) -> None:
    """What can be asked of an answer, in one click."""
    if offer.then is not None:
        st.button(
            offer.then.label,
            icon=":material/arrow_forward:",
            key=key,
            on_click=session.change_all,
            args=(offer.then.sets(receipt),),
        )


def _problem(slot: str) -> None:
    """What became of the last click, where that is not an answer."""
    problem = session.note(slot)
    if problem:
        st.warning(problem)
        onward.way(problem)


def _begin(here: Asked, found: Budget, *, seen: Known, again: bool) -> None:
    """The button that opens the dialog: to draw the answer, or to ask an owner for one that is above a limit."""
    request = here.request
    above = approval.above(found, request)
    if above:
        st.info(above, icon=":material/group:")
    fits, first = found.fits(request.cost, request.neighbours), not again or bool(above)
    label = login_words.ASK_NOW if above else said.DRAW_MORE if again else said.DRAW
    if again:
        st.caption(said.HAVE_ONE)
    st.button(
        controls.primary(label) if fits and first else label,
        type="primary" if first else "secondary",
        icon=":material/how_to_reg:" if above else ":material/casino:",
        key=f"{here.slot}-begin",
        disabled=not fits,
        on_click=session.begin_release,
        args=(here.slot, seen),
    )


def _on_paper(receipt: Receipt, here: Asked, found: Budget) -> Section:
    """The answer as a section of a report: from what was declared, and nothing else."""
    own = here.offer.of(receipt)
    return answered_section(
        receipt,
        told=own.describe(receipt.answer),
        forecast=own.forecast,
        request=own.request,
        declared=here.source.declared,
        counting=found.counting,
        practice=here.source.practice,
        own=not here.source.public,
    )


def _rules(request: Request, notes: Sequence[str], *, sample: bool) -> None:
    """By which public rules any file is answered; what is only promised, and what ε does not cover, in a list of its
    own before, unless it is of a sample."""
    rules = getattr(request, "rules", ())
    if notes and not sample:
        with st.container(border=True):
            st.markdown(said.answers_for(notes))
    lines = dict.fromkeys((*rules, *(notes if sample else ())))
    if lines:
        with st.expander(said.RULES):
            st.markdown("\n".join(f"- {words.safe(line, LONGEST_QUESTION)}" for line in lines))


def answered(here: Asked) -> Earlier:
    """The answers to this very question about these people since the last reset. Raises LedgerError."""
    source, request = here.source, here.request
    question = kept(("digest", Same(request)), lambda: question_digests(request))

    def found() -> Earlier:
        if tracker.in_ledger(here.lineage) is None:
            return Earlier()
        ledger = compute.ledger()
        try:
            record = ledger.version(here.lineage)  # before they are looked for
            ids = ledger.answered_ids(here.lineage, *question)
        except UnknownLineage:
            return Earlier()
        mine, others = drawn.apart(source, ids)
        newest = ([ledger.receipt(one) for one in each[-NEWEST:]] for each in (mine, others))
        shown, beside = ([one for one in each if one is not None] for each in newest)
        known = Known(answers=len(ids), record=record)
        return Earlier(mine=shown, others=beside, many_mine=len(mine), many_others=len(others), known=known)

    return this_run.once(("answered", here.lineage, question, source.drawn_from), found)


def _price(found: Budget, source: Source, request: Request, relation: str | None, *, again: bool) -> bool:
    """What it costs and whether it fits; False when this budget can never take it. ``again``: it has an answer."""
    cost, hidden = request.cost, request.neighbours
    try:
        charge = found.charge_for(cost, hidden)
    except InvalidCost as error:
        st.warning(words.reason(f"This release cannot be charged: {error}"))
        return False
    fits = charge is not None and found.fits(cost, hidden)
    st.markdown(f"{_cost(found, request)} {tracker.spent_words(found)}")
    if _part(found, request) and found.counting != "sum":
        st.caption(tracker_words.IN_RHO)
    if not found.neighbours:
        st.caption(said.fixes(words.one_of(hidden, unit_of(request)), practice=source.practice))
    if not fits:
        told = _refusal(found, source, request)
        st.warning(f"{said.ONE_MORE} {told}" if again else told, icon=":material/block:")
        if found.counted(cost, hidden) == cost:
            _smaller(found, cost)
        elif found.counted(cost, hidden) is None and relation is not None:
            st.button(
                f"Hide {words.one_of(found.neighbours, unit_of(request))} instead",
                key="release-relation",
                on_click=session.change,
                args=(relation, found.neighbours),
            )
    return True


def _cost(found: Budget, request: Request) -> str:
    """What it costs, and what part of the whole budget that is, in a sentence."""
    part = _part(found, request)
    return f"**{said.COST}:** {_charged(found, request)}{f', {part}' if part else ''}."


def _part(found: Budget, request: Request) -> str:
    """What part of the whole budget it costs; "" where it never fits."""
    share = found.untouched.share_of(request.cost, request.neighbours)
    return said.share(share) if share else ""


def _charged(found: Budget, request: Request) -> str:
    """The cost in words, as this budget counts it."""
    cost = cost_of(request)
    counted = found.counted(cost, request.neighbours)
    if counted is None or counted == cost:
        return cost_words(cost)
    unit = unit_of(request)
    return (
        f"{cost_words(counted)} ({cost_words(cost)} for {words.one_of(request.neighbours, unit)}, which counts twice "
        f"where {words.one_of(found.neighbours, unit)} is hidden, as in this budget)"
    )


def _smaller(found: Budget, cost: Cost) -> None:
    """One click to what would fit, where ε is all that needs to change."""
    most = math.floor(found.remaining.epsilon * 1e6) / 1e6
    if cost.delta == 0.0 and cost.epsilon == session.epsilon() and most >= EPSILON_LOW:
        st.button(f"Use ε = {words.amount(most)}", key="release-smaller", on_click=session.set_epsilon, args=(most,))


def _by_epsilon(found: Budget, cost: Cost, neighbours: str) -> bool:
    """Whether a refusal is told by the ε that was asked for: the budget counts in ρ, of which nobody here spoke, and no
    more than a smaller ε is needed."""
    return found.counting == "zcdp" and math.isfinite(cost.zcdp) and found.counted(cost, neighbours) == cost


def _takes(found: Budget, cost: Cost, neighbours: str) -> str:
    """What does not fit takes of the budget, and what is left of it."""
    share = found.untouched.share_of(cost, neighbours)
    return said.of_budget(share, 1.0 - found.share_spent)


def _refusal(found: Budget, source: Source, request: Request) -> str:
    again = said.RESET if source.practice else ""
    cost = cost_of(request)
    if _by_epsilon(found, cost, request.neighbours):
        most = math.floor(found.remaining.epsilon * 1e6) / 1e6 if cost.delta == 0.0 else 0.0
        told = f"ε = {words.amount(most)}" if most >= EPSILON_LOW else ""
        return said.too_dear(cost_words(cost), _takes(found, cost, request.neighbours), told) + again
    return refusal(found, request.cost, request.neighbours, words.safe(unit_of(request), 40)) + again


def _confirm(here: Asked, found: Budget) -> None:
    slot, request = here.slot, here.request
    seen = session.seen_before(slot)  # not more, however often the page is drawn meanwhile
    above = approval.above(found, request)
    go = login_words.ASK if above else said.CONFIRM
    before = not answered(here).mine

    @st.dialog(login_words.ASK_TITLE if above else said.CONFIRM_TITLE, on_dismiss=lambda: session.end_release(slot))
    def dialog() -> None:
        st.markdown(f"**{asked(request.what)}**")
        st.markdown(f"**{said.FORECAST}:** {here.offer.forecast}")
        st.markdown(said.confirm_cost(_charged(found, request), _part(found, request), found.name))
        st.markdown(words.odds_sentence(request.cost.epsilon, request.cost.delta, request.neighbours, unit_of(request)))
        more = max(found.answers_left(request.cost, request.neighbours) - 1, 0)
        st.caption(login_words.ASK_HELP if above else said.after(more, tracker_words.MANY))
        if seen is not None and seen.answers:
            times, whence = seen.answers, drawn.whence(here.source)
            st.info(said.again_before(times, whence) if before else said.again(times))
        with st.container(horizontal=True):
            if st.button(
                controls.primary(go),
                type="primary",
                key=f"{slot}-confirm",
                on_click=_ask if above else _release,
                args=(here, session.request_id(slot), seen),
            ):
                st.rerun()
            if st.button(said.CANCEL, key=f"{slot}-cancel", on_click=session.end_release, args=(slot,)):
                st.rerun()

    dialog()


def _release(here: Asked, request_id: str | None, seen: Known | None) -> None:
    """Callback: charge, draw, store, show. ``seen`` is what the person knew of the answers to this question."""
    slot = here.slot
    if request_id is None or session.request_id(slot) != request_id:
        return  # cancelled, or a second click: the first one's answer is there already
    try:
        tracker.open_practice(here.source)
    except DpcoreError as error:
        _failed(here, error)
        return
    _draw(here, request_id, seen or Known())


def _ask(here: Asked, request_id: str | None, seen: Known | None) -> None:
    """Callback: the same question goes to the owners of the budget; nothing is charged or drawn. What was asked in
    another window meanwhile is not asked twice: the ledger gives that request back."""
    if request_id is None or session.request_id(here.slot) != request_id:
        return
    try:
        here.source.join()
        made = ask(compute.ledger(), request_id, here.lineage, here.request)
    except DpcoreError as error:
        _failed(here, error)
        return
    session.say(here.slot, login_words.ASKED if made.request_id == request_id else login_words.ASKED_BEFORE)
    session.end_release(here.slot)


def _failed(here: Asked, error: DpcoreError) -> None:
    if isinstance(error, LedgerUnsound):
        tracker.reopen()
    again = here.source.practice and isinstance(error, BudgetExceeded)
    reset = said.RESET if again else ""
    session.end_release(here.slot)
    if not isinstance(error, KnownPeople):  # the question that follows says it
        session.say(here.slot, words.reason(error) + reset)


def _draw(here: Asked, request_id: str, known: Known | None = None) -> None:
    """Callback: the answer of a request, and the one way to it. Where it was charged before, nothing is charged again;
    nor where others had the question answered beyond what is ``known``: that answer is shown.

    Whose data these are is asked each time: a request that was granted or charged can meet another table. Where an
    earlier draw of theirs for this question failed, its charge pays for this one.
    """
    ready, data = _prepared(here.offer.data)
    if not ready:
        session.say(here.slot, REFUSED)
        session.end_release(here.slot)
        return
    before = "" if known is None else unanswered.paid(here.lineage, question_digests(here.request))
    request_id = before or request_id
    make_ready(here.request, data)  # before the first record
    try:
        here.source.join()
        with (
            answering(here.source),
            places.drawing(here.source.counted_in, visitor.token()),
            drawn.waiting(request_id, here.source),
        ):
            receipt = release(
                compute.ledger(),
                request_id,
                here.lineage,
                here.request,
                data,
                known=known,
                drawn=drawn.noting(request_id, here.source),
            )
    except DpcoreError as error:
        _failed(here, error)
        return
    if not drawn.of_this(here.source, receipt.request_id):
        session.say(here.slot, said.elsewhere_before(drawn.whence(here.source)))
    elif receipt.request_id != request_id:
        session.say(here.slot, said.ELSEWHERE)
    elif before:
        session.say(here.slot, said.PAID)
    session.release_done(here.slot, receipt)


def _prepared(data: Callable[[], Any]) -> tuple[bool, Any]:
    """The data of the release. Whatever goes wrong with them may name private values, so it goes no further."""
    try:
        return True, data()
    except Exception:  # noqa: BLE001 - the caller shows one sentence that is the same for everything
        return False, None


def _earlier(source: Source, earlier: Earlier, offer: Offer, beside: Receipt | None = None) -> None:
    """Answers this question has had before, so that nobody pays for what a refresh took off the screen: those that were
    drawn from this table, but for the one that stands ``beside``, and those of which that is not known."""
    places = (
        (said.BEFORE, earlier.mine, earlier.many_mine),
        (
            said.those_before(drawn.whence(source)),
            earlier.others,
            earlier.many_others,
        ),
    )
    for title, found, many in places:
        shown = [one for one in reversed(found) if beside is None or one.request_id != beside.request_id]
        if shown:
            lines = [f"{when(one)}: {offer.told(one)}" for one in shown]
            more = [said.more_before(many - len(found))] if many > len(found) else []
            st.markdown(title)
            st.markdown("\n".join(f"- {line}" for line in (*lines, *more)))


def _below(offer: Offer, receipt: Receipt, source: Source) -> None:
    """What goes with an answer below it."""
    if offer.below is not None:
        draw_all([_as_seen(receipt, one) for one in offer.below(receipt)], Around(page="", mark=None, source=source))


def _as_seen(receipt: Receipt, block: Block) -> Block:
    """A file of an answer is given as long as that may be seen."""
    return replace(block, data=seen_still((receipt,), block.data)) if isinstance(block, Download) else block
