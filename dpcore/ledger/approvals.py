"""Requests above what a person may take alone: asked by one person, granted or refused by another who owns the budget.

Nothing is charged when a request is made. What was granted is charged under the same request id, by who asked for it:
the answer, at what it took of the budget when it was asked, which its owner was shown. A budget that has yet to say
what it hides can count it as more later; then it is asked for anew, as where its words no longer go together with
those that it is asked in now (``unfit``). Nobody makes a second request for an answer while a first for it is open that
can be charged as it is asked now: both could be granted, and charged. Nor where one was charged and can still be drawn
for that, since a crash or a failure came before its answer (``_paid``).
Who asked may withdraw what nobody has decided yet: a refusal by themselves, so that there is one decision by whomever.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any, Literal

from sqlalchemy import ColumnElement, Connection, and_, func, or_, select

from dpcore.costs import Cost, check_cost
from dpcore.errors import BudgetExceeded, InvalidArgument, NotAllowed
from dpcore.ledger import accounts, history, membership, rate, schema, terms
from dpcore.ledger.asked import Asked, as_it_was
from dpcore.ledger.budget import Budget
from dpcore.ledger.records import Kind, Record, cost_from_json, cost_to_json, lately, same_cost
from dpcore.ledger.store import Store
from dpcore.ledger.words import PERSON, fuller, label, other_unit, refusal, same_question

State = Literal["waiting", "granted", "refused", "withdrawn"]
_STATES: dict[str, State] = {"grant": "granted", "refuse": "refused"}
MOST_WAITING = 20
"""Requests of one person that wait at the same time, about budgets that go on."""
MOST_A_DAY = 100
"""Requests of one person within a day: what is withdrawn at once waits for nobody, and stays on the record for good."""
NEWEST = 300
"""Requests that are decided of which a look tells: those before them are among the records."""
TOO_MANY_TODAY = "You have asked for as much as one person can in a day; nothing was asked. Go on tomorrow."
TOO_MANY = (
    "So many of your requests wait for an owner already; nothing was asked. Wait until some are decided, or withdraw "
    "some on the Budget page."
)
TWO_PEOPLE = "Whoever asked cannot decide as well: another owner of this budget has to. Nothing was changed."
NOT_ASKED = "You have no such request; nothing was changed."
DECIDED = "This request was decided before; nothing was changed."
OUTGROWN = (
    "This answer takes more of the budget now than when it was asked for, since that has said meanwhile what it hides. "
    "Nothing was granted or charged; it has to be asked for anew."
)
OTHER = (
    "This answer was asked for otherwise than it is asked now, so nothing can be drawn here for that request. Nothing "
    "was charged; it has to be asked for anew."
)
OTHERWISE = (
    "This answer was asked for in words that say more of what is not covered, and less, than it is asked in now, so "
    "nothing can be drawn here for that request. Nothing was charged; it has to be asked for anew."
)
NO_ROLE = "Whoever asked has no role any more with which one asks for private answers; nothing was granted."
NOT_THEIRS = "This budget is not shared with whoever asked, for asking, any more; nothing was granted."
UNKNOWN = "There is no such request; nothing was changed."
_DECISIONS = schema.records.alias("decisions")
_CHARGED = schema.records.alias("charged")
_JOINED = schema.records.outerjoin(
    _DECISIONS,
    and_(_DECISIONS.c.request_id == schema.records.c.request_id, schema.of_kind(_DECISIONS, "grant", "refuse")),
).outerjoin(_CHARGED, and_(_CHARGED.c.request_id == schema.records.c.request_id, schema.of_kind(_CHARGED, "charge")))
_ASKED = schema.of_kind(schema.records, "ask")
_ANSWERS = schema.records.alias("answers")
_ANSWERED = (
    select(_ANSWERS.c.seq)
    .where(_ANSWERS.c.request_id == schema.records.c.request_id, schema.of_kind(_ANSWERS, "answer"))
    .correlate(schema.records)
    .exists()
)
ABOUT_PEOPLE = schema.records.c.lineage.in_(select(schema.lineages.c.lineage).where(schema.of_people))
"""Every request, found by its budget: there are few of these, however many records there are."""
_WAITS = _DECISIONS.c.seq.is_(None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Petition:
    """A request for one answer that waits, or waited, for an owner.

    ``cost`` is the release's own, ``counted`` what it took of the budget when it was asked (None in records from before
    that was written down, which stand as they are); ``subject`` asked at ``time`` (UTC); ``by`` decided at ``decided``,
    ``because`` of what they wrote, or withdrew it themselves; ``charged`` says that a granted one was used, ``lost``
    that who asked may ask for nothing any more while it is open. ``unfit`` is why nothing is charged for it as its
    question is asked now, where that was asked (``latest``).
    """

    request_id: str
    lineage: str
    subject: str
    what: str
    mechanism: str
    neighbours: str
    question: str
    unit: str
    cost: Cost
    time: str
    counted: Cost | None = None
    state: State = "waiting"
    by: str = ""
    because: str = ""
    decided: str = ""
    charged: bool = False
    lost: bool = False
    unfit: str = ""

    @property
    def pending(self) -> bool:
        """Whether it waits, or was granted, and an answer can be drawn for it as its question is asked now."""
        return self.state in ("waiting", "granted") and not self.unfit

    def covers(self, budget: Budget) -> bool:
        """Whether the answer takes no more of its budget now than was asked for."""
        now, asked = budget.counted(self.cost, self.neighbours), self.counted
        if now is None or asked is None:  # what the budget does not take at all it refuses by itself
            return True
        return now.epsilon <= asked.epsilon and now.delta <= asked.delta and now.zcdp <= asked.zcdp

    def hindered(self, budget: Budget, now: terms.Terms, first: str | None) -> str:
        """Why nothing can be drawn for it, whoever grants it, in a sentence; empty where something can. ``first`` is
        whom the budget protects by now (``Ledger.protects``)."""
        if now.ended:
            return terms.ENDED
        if self.lost:
            return NO_ROLE
        if not now.at_least(self.subject, "ask"):
            return NOT_THEIRS
        if not self.covers(budget):
            return OUTGROWN
        if first is not None and first != (self.unit or PERSON):
            return other_unit(first, self.unit or PERSON)
        if not budget.fits(self.cost, self.neighbours):
            return refusal(budget, self.cost, self.neighbours, self.unit)
        return ""


def ask(store: Store, request_id: str, lineage: str, cost: Cost, asked: Asked) -> Petition:
    """See ``Ledger.ask``."""
    label(request_id=request_id)
    check_cost(cost)
    if not asked.subject:
        raise InvalidArgument("subject", "must be a person who has logged in")
    body: dict[str, Any] = {**asked.told(), "cost": cost_to_json(cost)}
    with store.writing() as connection:
        earlier = find(connection, request_id)
        if earlier is not None:
            return must_match(earlier, lineage, as_it_was(body, asked.before, earlier.what, earlier.question))
        budget = accounts.get(connection, lineage)
        terms.must_go_on(connection, lineage)
        if not terms.of(connection, lineage).at_least(asked.subject, "ask"):
            raise NotAllowed(terms.NOT_SHARED)
        if paid := _paid(store, connection, budget, body, asked.before):
            return paid
        terms.must_protect(store, connection, lineage, asked.unit)
        counted = budget.counted(cost, asked.neighbours)
        if counted is None or not budget.fits(cost, asked.neighbours):
            raise BudgetExceeded(refusal(budget, cost, asked.neighbours, asked.unit))
        if standing := _standing(connection, budget, body, asked.before):
            return standing
        since, until = lately(rate.DAY)
        mine = _read(connection, asked_by(connection, asked.subject), or_(_WAITS, schema.records.c.time > since))
        waiting = [one.lineage for one in mine if one.state == "waiting"]
        ended = terms.ended(connection, waiting)  # of a budget that was closed nothing is drawn, whoever decides
        if sum(one not in ended for one in waiting) >= MOST_WAITING:
            raise NotAllowed(TOO_MANY)
        if sum(since < one.time <= until for one in mine) >= MOST_A_DAY:
            raise NotAllowed(TOO_MANY_TODAY)
        body["counted"] = cost_to_json(counted)
        store.append(connection, "ask", lineage=lineage, request_id=request_id, body=body)
        return must_match(find(connection, request_id), lineage, body)


def _standing(connection: Connection, budget: Budget, body: dict[str, Any], before: Sequence[str]) -> Petition | None:
    """The request for this very answer by the same person that can be charged as it is asked now: one that was granted
    and not drawn yet, else one that waits, and of several the newest; another window of theirs may have made it.
    Without a digest none is known to be for the same."""
    if not body["question"]:
        return None
    mine = (*_theirs(connection, budget, body, before), _CHARGED.c.seq.is_(None))
    for state in (_DECISIONS.c.kind == "grant", _WAITS):
        for one in reversed(_read(connection, *mine, state)):
            if not unfit(one, budget, body, before):
                return one
    return None


def _paid(
    store: Store, connection: Connection, budget: Budget, body: dict[str, Any], before: Sequence[str]
) -> Petition | None:
    """The newest request for this very answer by the same person that was charged and not drawn, so that it is drawn at
    no charge (``Receipt.state``)."""
    if not body["question"]:
        return None
    theirs = _theirs(connection, budget, body, before)
    for one in reversed(_read(connection, *theirs, _CHARGED.c.seq.is_not(None), ~_ANSWERED)):
        found, _ = history.without_answer(connection, one.request_id)
        undrawn = found is not None and (found.state == "charged" or one.request_id in store.failed)
        if undrawn and _matches(one, budget.lineage, as_it_was(body, before, one.what, one.question)):
            return one
    return None


def _theirs(
    connection: Connection, budget: Budget, body: dict[str, Any], before: Sequence[str]
) -> tuple[ColumnElement[bool], ...]:
    """A person's requests for one question, by all digests that it has and had."""
    of_this = or_(*(history.named(connection, "question", question) for question in (body["question"], *before)))
    return *history.by_person(connection, "ask", body["subject"], budget.lineage), of_this


def unfit(found: Petition, budget: Budget, body: dict[str, Any], before: Sequence[str] = ()) -> str:
    """Why nothing is charged for a request as its question is asked now, be it granted, in a sentence; empty where
    something is. ``before`` are digests that the question had."""
    body = as_it_was(body, before, found.what, found.question)
    if not _matches(found, budget.lineage, body):
        return OTHER
    if not found.covers(budget):
        return OUTGROWN
    return "" if fuller(found.what, body["what"]) else OTHERWISE


def must_match(found: Petition | None, lineage: str, body: dict[str, Any]) -> Petition:
    """``found`` if it is for this very question by the same person. Raises InvalidArgument."""
    if found is None or not _matches(found, lineage, body):
        raise InvalidArgument("request_id", "was used for a different question; use a new one for each question")
    return found


def _matches(found: Petition, lineage: str, body: dict[str, Any]) -> bool:
    names = ("mechanism", "neighbours")
    kept = [found.subject, found.unit, *(getattr(found, name) for name in names)]
    asked = [body.get("subject", ""), body.get("unit", ""), *(body[name] for name in names)]
    same = same_question((found.what, found.question), (body["what"], body["question"]))
    return same and same_cost(cost_to_json(found.cost), body["cost"]) and (found.lineage, kept) == (lineage, asked)


def decide(store: Store, request_id: str, *, grant: bool, because: str, by: str) -> Petition:
    """See ``Ledger.grant`` and ``Ledger.refuse``."""
    why = label(because=because, longest=1000).strip() if because else ""
    if not grant and not why:
        raise InvalidArgument("because", "must say in a sentence why it is refused")
    with store.writing() as connection:
        found = find(connection, request_id)
        if found is None:
            raise NotAllowed(UNKNOWN)
        if not by or not terms.of(connection, found.lineage).at_least(by, "own"):
            raise NotAllowed(terms.NOT_OWNER)
        if found.subject == by:
            raise NotAllowed(TWO_PEOPLE)
        if found.state != "waiting":
            raise NotAllowed(DECIDED)
        budget, now = accounts.get(connection, found.lineage), terms.of(connection, found.lineage)
        first = terms.protects(store, connection, found.lineage)
        if grant and (hindered := found.hindered(budget, now, first)):
            raise NotAllowed(hindered)
        kind: Kind = "grant" if grant else "refuse"
        body = {"by": by, "because": why, "subject": found.subject}
        store.append(connection, kind, lineage=found.lineage, request_id=request_id, body=body)
        return find(connection, request_id) or found


def withdraw(store: Store, request_id: str, *, by: str) -> Petition:
    """See ``Ledger.withdraw``."""
    with store.writing() as connection:
        found = find(connection, request_id)
        if found is None or not by or found.subject != by:
            raise NotAllowed(NOT_ASKED)
        if found.state == "withdrawn":
            return found
        if found.state != "waiting":
            raise NotAllowed(DECIDED)
        body = {"by": by, "because": "", "subject": by, "withdrawn": True}
        store.append(connection, "refuse", lineage=found.lineage, request_id=request_id, body=body)
        return find(connection, request_id) or found


def find(connection: Connection, request_id: str) -> Petition | None:
    """The request with this id, or None."""
    return next(iter(_read(connection, schema.records.c.request_id == request_id)), None)


def asked_by(connection: Connection, subject: str) -> ColumnElement[bool]:
    """That it is a request which this person made: of others' none is read."""
    return and_(_ASKED, history.named(connection, "subject", subject))


def waiting(store: Store, connection: Connection, lineages: Collection[str], *, but_of: str) -> list[Petition]:
    """Those about these budgets that wait, but for one person's own, oldest first. Of others none is read."""
    found = schema.among(schema.records.c.request_id, store.undecided.of(connection, lineages), connection.dialect.name)
    return [one for one in _read(connection, found) if one.subject != but_of]


def newest(connection: Connection, *chosen: ColumnElement[bool]) -> list[Petition]:
    """Those of the requests that are ``chosen`` that wait, and of the others the ``NEWEST``; oldest first.

    Whoever asks and withdraws again and again makes no look of others longer.
    """
    decided = (
        select(schema.records.c.seq)
        .select_from(_JOINED)
        .where(_ASKED, _DECISIONS.c.seq.is_not(None), *chosen)
        .order_by(schema.records.c.seq.desc())
        .limit(NEWEST)
        .correlate(None)
    )
    return _read(connection, *chosen, or_(_WAITS, schema.records.c.seq.in_(decided)))


def latest(store: Store, connection: Connection, lineage: str, cost: Cost, asked: Asked) -> Petition | None:
    """The request of a person for this very question that was not drawn yet: of several one that was charged
    (``_paid``), or the one that can be charged as it is asked now (``_standing``), and else the newest, but for what
    was decided before their last answer to it. One that is open and leads to nothing comes with these, and says why
    (``Petition.unfit``)."""
    check_cost(cost)
    budget = accounts.find(connection, lineage)
    if budget is None or not asked.subject:
        return None
    body, before = {**asked.told(), "cost": cost_to_json(cost)}, asked.before
    if open_ := _paid(store, connection, budget, body, before) or _standing(connection, budget, body, before):
        return open_
    theirs = _theirs(connection, budget, body, before)
    drawn = select(func.max(_CHARGED.c.seq)).select_from(_JOINED).where(_ASKED, *theirs)
    since = or_(_WAITS, _DECISIONS.c.seq > func.coalesce(drawn.correlate(None).scalar_subquery(), 0))
    found = next(iter(_read(connection, *theirs, _CHARGED.c.seq.is_(None), since, last=True)), None)
    return found and replace(found, unfit=unfit(found, budget, body, before))


def _read(connection: Connection, *chosen: ColumnElement[bool], last: bool = False) -> list[Petition]:
    asked = schema.records.c
    decision = [_DECISIONS.c[name].label(f"decision_{name}") for name in Record.__slots__]
    query = (
        select(schema.records, *decision, _CHARGED.c.seq.label("charge_seq"))
        .select_from(_JOINED)
        .where(_ASKED, *chosen)
        .order_by(asked.seq.desc() if last else asked.seq)
        .limit(1 if last else None)
    )
    found = [dict(row) for row in connection.execute(query).mappings()]
    taken = cache(partial(membership.taken, connection))
    return [_petition(row, taken) for row in found]


def _petition(row: dict[str, Any], taken: Callable[[str], int]) -> Petition:
    asked = Record(**{name: row[name] for name in Record.__slots__})
    body = asked.content
    told: dict[str, Any] = {}
    if row["decision_seq"] is not None:
        decision = Record(**{name: row[f"decision_{name}"] for name in Record.__slots__})
        said = decision.content
        state: State = "withdrawn" if said.get("withdrawn") else _STATES[decision.kind]
        told = {"state": state, "by": said["by"], "because": said["because"], "decided": decision.time}
    if told.get("state", "waiting") in ("waiting", "granted") and row["charge_seq"] is None:
        told["lost"] = taken(body["subject"]) > asked.seq
    return Petition(
        request_id=asked.request_id,
        lineage=asked.lineage,
        subject=body["subject"],
        what=body["what"],
        mechanism=body["mechanism"],
        neighbours=body["neighbours"],
        question=body["question"],
        unit=body.get("unit", ""),
        cost=cost_from_json(body["cost"]),
        time=asked.time,
        counted=cost_from_json(body["counted"]) if "counted" in body else None,
        charged=row["charge_seq"] is not None,
        **told,
    )
