"""One charge, and its answer, each in one transaction."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from sqlalchemy import Connection

from dpcore.costs import Cost, check_cost
from dpcore.errors import ApprovalNeeded, BudgetExceeded, InvalidArgument, LedgerError, NotAllowed
from dpcore.ledger import accounts, approvals, daily, history, kept, schema, terms
from dpcore.ledger.asked import Asked, Known, as_it_was
from dpcore.ledger.budget import Budget
from dpcore.ledger.kept import KEPT, mends
from dpcore.ledger.lock import PATIENCE
from dpcore.ledger.receipt import Receipt
from dpcore.ledger.records import DEEPEST, MOST_DIGITS, cost_to_json, readable
from dpcore.ledger.store import Store
from dpcore.ledger.words import fuller, label, refusal, text, versions

Theirs = Callable[[Receipt | None], object]
"""Whether a request (None for one that was never charged) is that of whoever goes on with it: it raises where it is
not."""
Written = Callable[[], object]
"""Told once that the record of an answer which stands is the one that was written for it: perhaps later, from another
thread."""
Ready = Callable[[], object]
"""Whatever must be well before a charge: it raises where it is not."""
MOST_BYTES = 4 << 20
"""Bytes of an answer's JSON, without blanks. Whoever charges for one sees to it before that it is no larger
(``dpcore.release``): this is the last net, for every record is read whole again by each check of the ledger."""
_NO_ANSWER = (
    "must be something JSON can hold, without NaN, infinities and halves of letters, with fewer than "
    f"{DEEPEST} lists within each other and at most {MOST_DIGITS} digits to a number; nothing was stored"
)
_ASKED = 5
"""Times that a ledger is asked for an answer which it has been given."""
ABOVE = "This is more than you may take of this budget alone; nothing was charged. Ask an owner of it for approval."
WAITS = "This request waits for an owner of the budget; nothing was charged."
REFUSED = "This request was refused by an owner of the budget; nothing was charged."
WITHDRAWN = "This request was withdrawn by who made it; nothing was charged. Ask anew."
ANOTHERS = "This request is another person's; nothing was charged."


def charge(
    store: Store,
    request_id: str,
    lineage: str,
    cost: Cost,
    asked: Asked,
    known: Known | None = None,
    ready: Ready | None = None,
) -> Receipt:
    """See ``Ledger.charge``."""
    label(request_id=request_id)
    text(lineage=lineage)
    check_cost(cost)
    return _with_answer(store, _charged(store, request_id, lineage, cost, asked, known, ready))


def _with_answer(store: Store, told: Receipt) -> Receipt:
    """What was told of a receipt while nobody else could write, with its answer, where it has one."""
    if told.answer_hash is None:
        return told
    with store.reading() as connection:
        return history.receipt(connection, told.request_id) or told


def _charged(
    store: Store, request_id: str, lineage: str, cost: Cost, asked: Asked, known: Known | None, ready: Ready | None
) -> Receipt:
    """As ``charge``, but for the answer."""
    hides = asked.neighbours
    store.kept.settle(request_id)  # so that whoever asks again is shown it, and does not pay for another
    if (budget := _cannot_fit(store, request_id, lineage, cost, asked, known)) is None:
        if ready is not None:
            with store.reading() as connection:
                seen = _seen(store, connection, request_id, lineage, cost, asked, known)
            if isinstance(seen, Receipt):
                if seen.request_id != request_id or seen.answer_hash is not None:
                    return seen
            elif not seen[0].fits(cost, hides):
                raise BudgetExceeded(refusal(seen[0], cost, hides, asked.unit))
            ready()
        with store.writing() as connection:
            found = _seen(store, connection, request_id, lineage, cost, asked, known)
            if isinstance(found, Receipt):
                return found
            budget, body = found
            added, counted = budget.charge_for(cost, hides), budget.counted(cost, hides)
            if added is not None and counted is not None and accounts.take(connection, budget, added, hides):
                body |= {"generation": budget.generation, "units": asdict(added), "versions": versions()}
                body |= {"counted_for": budget.neighbours or hides} | (
                    {} if counted == cost else {"counted": cost_to_json(counted)}
                )
                record = store.append(connection, "charge", lineage=lineage, request_id=request_id, body=body)
                return Receipt.of(record, None)
        if not budget.practice:  # of which there is one for each visitor, and which can be reset
            store.refused[lineage] = budget
    raise BudgetExceeded(refusal(budget, cost, hides, asked.unit))


def _seen(
    store: Store, connection: Connection, request_id: str, lineage: str, cost: Cost, asked: Asked, known: Known | None
) -> Receipt | tuple[Budget, dict[str, Any]]:
    """What there is of this request, or of another answer to its question, but for the answer; else the budget that it
    would be charged to, and what its record says. Raises as ``Ledger.charge`` whatever else keeps it from that."""
    body: dict[str, Any] = {**asked.told(), "cost": cost_to_json(cost)}
    earlier, _ = history.without_answer(connection, request_id)
    if earlier is not None:
        if asked.subject != earlier.subject and asked.subject:
            raise NotAllowed(ANOTHERS)
        return history.same(earlier, lineage, as_it_was(body, asked.before, earlier.what, earlier.question))
    elsewhere = _unknown(connection, lineage, asked.question, known)
    if elsewhere is not None:
        return elsewhere
    budget = accounts.get(connection, lineage)
    if not budget.practice:
        terms.must_go_on(connection, lineage)
        if asked.subject:
            daily.must_ask_few(connection, asked.subject)
        body |= _approved(connection, budget, request_id, cost, body, asked.before)
        terms.must_protect(store, connection, lineage, asked.unit)
    return budget, body


def _approved(
    connection: Connection, budget: Budget, request_id: str, cost: Cost, body: dict[str, Any], before: Sequence[str]
) -> dict[str, str]:
    """Who granted this charge, where a person asks for more than they may take alone, and in which words and by which
    digest it is charged then: none that was granted loses what it warns of. Raises NotAllowed, ApprovalNeeded,
    InvalidArgument."""
    subject = body.get("subject", "")
    if not subject:
        return {}
    now = terms.of(connection, budget.lineage)
    if not now.at_least(subject, "ask"):
        raise NotAllowed(terms.NOT_SHARED)
    petition = approvals.find(connection, request_id)
    if petition is not None:
        body = as_it_was(body, before, petition.what, petition.question)
        approvals.must_match(petition, budget.lineage, body)
        if petition.state == "granted":
            if why := approvals.unfit(petition, budget, body):
                raise ApprovalNeeded(why)
            what = fuller(petition.what, body["what"])
            return {"granted_by": petition.by, "what": what, "question": body["question"]}
        raise ApprovalNeeded({"waiting": WAITS, "withdrawn": WITHDRAWN}.get(petition.state, REFUSED))
    counted = budget.counted(cost, body["neighbours"])
    if counted is not None and terms.passes_limit(connection, budget, counted, subject, now):
        raise ApprovalNeeded(ABOVE)
    return {}


def _unknown(connection: Connection, lineage: str, question: str, known: Known | None) -> Receipt | None:
    """The receipt of the latest answer to this question since the last reset that whoever asks did not know of, or else
    the first that is under way; but for the answer.

    One without an answer that they could have seen on the record is what a crash left: it keeps nobody from asking.
    """
    if known is None or not question:
        return None
    digests, present = dict.fromkeys((question, *known.digests)), history.present(connection, lineage)
    answered = history.ids_about(connection, digests, *present, history.answered(True))
    since = schema.records.c.seq > known.record
    under_way = history.ids_about(connection, digests, *present, history.answered(False), since)
    # answers from before a reset are not among these
    of_these = 0 if history.began_again(connection, lineage, known.record) else known.answers
    last = next(iter([*answered[of_these:][-1:], *under_way]), None)
    return None if last is None else history.without_answer(connection, last)[0]


def _cannot_fit(
    store: Store, request_id: str, lineage: str, cost: Cost, asked: Asked, known: Known | None
) -> Budget | None:
    """The budget when this new charge cannot fit any more, so that a writer need not be kept waiting.

    Asked only once something was refused: sums only grow, so what did not fit then does not fit now.
    """
    last = store.refused.get(lineage)
    if last is None or last.practice or last.fits(cost, asked.neighbours):
        return None
    with store.reading() as connection:
        there = history.is_charged(connection, request_id) or _unknown(connection, lineage, asked.question, known)
        return None if there else last


def begin_draw(store: Store, request_id: str, theirs: Theirs = lambda receipt: None, whose: str = "") -> None:
    """See ``Ledger.begin_draw``; ``whose`` names who asks, where ``theirs`` is about somebody (``drawing``)."""
    text(request_id=request_id)
    try:
        _begin(store, request_id, theirs)
    except LedgerError as error:
        # what has been charged is not given up as soon as what has yet to begin; and a connection that was lost may
        # have taken the server's word that it is noted, upon which nobody draws, while this caller has yet to
        if not mends(error) or not store.reach():
            raise
        _begin(store, request_id, theirs)
    store.drawing.note(request_id, whose)


def _begin(store: Store, request_id: str, theirs: Theirs) -> None:
    """Note that the draw of a charge begins, if nobody has."""
    with store.writing(at_least=PATIENCE) as connection:
        receipt, _ = history.without_answer(connection, request_id)
        theirs(receipt)
        if receipt is None:
            raise InvalidArgument("request_id", "has not been charged")
        store.failed.forget(request_id)
        if receipt.state == "charged":
            store.append(connection, "draw", lineage=receipt.lineage, request_id=request_id, body={})


def draw_failed(store: Store, request_id: str, theirs: Theirs = lambda receipt: None) -> None:
    """See ``Ledger.draw_failed``."""
    text(request_id=request_id)
    with store.reading() as connection:
        receipt, _ = history.without_answer(connection, request_id)
    theirs(receipt)
    if receipt is not None and receipt.answer_hash is None:
        store.failed.note(request_id)


def store_answer(
    store: Store,
    request_id: str,
    answer: Any,
    written: Written,
    theirs: Theirs = lambda receipt: None,
    whose: str = "",
) -> Receipt:
    """See ``Ledger.store_answer``; ``whose`` as in ``begin_draw``: of nobody else an answer is kept."""
    began = time.monotonic()
    text(request_id=request_id)
    try:
        said = readable({"answer": answer})
    except (TypeError, ValueError, RecursionError):
        said = ""
    if not said:
        raise InvalidArgument("answer", _NO_ANSWER)
    size = len(said) - len('{"answer":}')
    if size > MOST_BYTES:
        raise InvalidArgument("answer", f"must be at most {MOST_BYTES >> 20} MB as JSON; nothing was stored")
    put = _Put(store, request_id, answer, written, theirs)
    try:
        store.reach()
        stored = put(at_least=PATIENCE)
    except LedgerError as error:
        # what has been drawn is not given up either: nobody may draw it again
        drawn = mends(error) and (request_id, whose) in store.drawing
        if not drawn or not store.kept.take(request_id, put, size=size, began=began):
            raise
    else:
        store.drawing.forget(request_id, whose)
        # what is in hand need not come back over a slow line
        return replace(stored, **json.loads(said)) if put.told else _with_answer(store, stored)
    raise LedgerError(KEPT)


def stored(find: Callable[[], Receipt | None]) -> Receipt:
    """What ``find`` reads of an answer that was to be stored; a ledger that is away again is asked for a while. Raises
    LedgerError where it has none."""
    for _ in range(_ASKED):
        with suppress(LedgerError):
            found = find()
            if found is None or found.answer_hash is None:
                break
            return found
        time.sleep(kept.APART)
    raise LedgerError(kept.LOST)


@dataclass(slots=True, eq=False, repr=False)
class _Put:
    """Stores an answer, or finds the one that was stored, however often it is called.

    It says whose record stands by the place and time of what it wrote, and never by the answer: two draws that were
    compared would tell of the one that is thrown away. What it wrote can stand though it was not told so, where the
    server's word was lost.
    """

    store: Store
    request_id: str
    answer: Any
    written: Written
    theirs: Theirs
    places: set[history.Place] = field(default_factory=set)
    told: bool = False

    def __call__(self, at_least: float = 0.0) -> Receipt:
        """The receipt of the answer that stands, but for that."""
        with self.store.writing(at_least=at_least) as connection:
            receipt, place = history.without_answer(connection, self.request_id)
            self.theirs(receipt)
            if receipt is None:
                raise InvalidArgument("request_id", "has not been charged")
            if place is None:
                body, lineage = {"answer": self.answer}, receipt.lineage
                added = self.store.append(connection, "answer", lineage=lineage, request_id=self.request_id, body=body)
                place, receipt = (added.seq, added.time), replace(receipt, answer_hash=added.hash)
                self.places.add(place)
        if place in self.places and not self.told:
            self.told = True
            self.written()
        return receipt
