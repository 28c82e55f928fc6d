"""On which terms persons have a budget: who owns it, with whom it is shared, what one may take alone, whether it ended.

All of it is worked out from the chain of records; nothing else says it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from types import EllipsisType

from sqlalchemy import Connection, bindparam, select

from dpcore.conversions import zcdp_epsilon
from dpcore.costs import Cost
from dpcore.errors import InvalidArgument, NotAllowed
from dpcore.ledger import accounts, history, rooms, schema
from dpcore.ledger.budget import Budget
from dpcore.ledger.records import Record, cost_from_json
from dpcore.ledger.roles import EVERYONE, LEVELS, LONGEST, Level, checked
from dpcore.ledger.store import Store
from dpcore.ledger.units import EPSILON_DIGITS, amount, cap_units
from dpcore.ledger.words import PERSON, label, other_unit
from dpcore.validate import in_range, one_of

_ORDER = tuple(LEVELS)
MOST_EPSILON = 100.0
ENDED = "This budget was closed for good by its owner; nothing is charged to it any more."
NOT_OWNER = "Only an owner of this budget may do that; nothing was changed."
NOT_SHARED = "This budget was not shared with you for asking; nothing was charged. Ask one of its owners."
LIMIT_CHANGED = "Somebody else set another limit meanwhile, which is in force; yours was not set."
LAST_OWNER = "A budget keeps at least one owner; name another one first. Nothing was changed."
OWN_SHARE = (
    "A budget keeps at least one owner who is there, so nobody takes themselves off: name another owner, who can take "
    "you off. Nothing was changed."
)

_KINDS = ("open", "share", "limit", "close")
_OF = (
    select(schema.records)
    .where(schema.records.c.lineage == bindparam("whose"), schema.records.c.kind.in_(_KINDS))
    .order_by(schema.records.c.seq)
)
_THESE = select(schema.records).where(schema.records.c.kind.in_(_KINDS)).order_by(schema.records.c.seq)
_END = select(schema.records.c.seq).where(
    schema.records.c.lineage == bindparam("whose"), schema.records.c.kind == "close"
)
_CHARGES = (
    select(schema.records.c.body)
    .where(schema.records.c.lineage == bindparam("whose"), schema.records.c.kind == "charge")
    .order_by(schema.records.c.seq)
)
_FIRST = _CHARGES.limit(1)
_OPENED = select(schema.records.c.body).where(
    schema.records.c.lineage == bindparam("whose"), schema.records.c.kind == "open"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """``shares`` by subject; ``limits`` in ε with who set each, oldest first (None for none); ``ended`` when (UTC);
    ``before`` are those who have no share any more."""

    shares: Mapping[str, Level] = field(default_factory=dict)
    limits: tuple[tuple[str, float | None], ...] = ()
    ended: str = ""
    before: frozenset[str] = frozenset()

    @property
    def owners(self) -> tuple[str, ...]:
        return tuple(subject for subject, level in self.shares.items() if level == "own")

    @property
    def limit(self) -> float | None:
        """What one person may take alone, in ε over all their answers; None without a limit."""
        return self.limits[-1][1] if self.limits else None

    def limit_for(self, subject: str) -> float | None:
        """The limit as it counts for one person: a limit that they raised themselves does not, and is raised for them
        by whoever else sets a higher one than is in force, not by who lowers it."""
        now = in_force = math.inf
        for by, limit in self.limits:
            value = math.inf if limit is None else limit
            raised = value > in_force and by != subject
            now, in_force = value if raised else min(now, value), value
        return None if now == math.inf else now

    @property
    def lower(self) -> dict[str, float]:
        """Of those who may ask, for whom less counts than ``limit``: who raised it themselves, and what counts."""
        found = {
            by: self.limit_for(by) for by in dict.fromkeys(by for by, _ in self.limits) if self.at_least(by, "ask")
        }
        return {by: limit for by, limit in found.items() if limit is not None and limit != self.limit}

    def level(self, subject: str) -> Level:
        """What one person may do."""
        found = (self.shares.get(subject, "none"), self.shares.get(EVERYONE, "none"))
        return max(found, key=_ORDER.index)

    def at_least(self, subject: str, level: Level) -> bool:
        """Whether one person may do as much as ``level`` says."""
        return _ORDER.index(self.level(subject)) >= _ORDER.index(level)


def of(connection: Connection, lineage: str) -> Terms:
    """The terms of one budget."""
    return _read(Record(**row) for row in connection.execute(_OF, {"whose": lineage}).mappings())


def shared_with(connection: Connection, subject: str) -> dict[str, Terms]:
    """The terms of every budget of real people, no room's, that is shared with this person now, by lineage.

    Of other budgets no record is read.
    """
    named = history.naming(connection, subject, EVERYONE)
    these = _THESE.where(schema.among(schema.records.c.lineage, named, connection.dialect.name))
    found: dict[str, list[Record]] = {}
    for row in connection.execute(these).mappings():
        found.setdefault(row["lineage"], []).append(Record(**row))
    terms = {lineage: _read(records) for lineage, records in found.items()}
    return {lineage: one for lineage, one in terms.items() if one.level(subject) != "none"}


def _read(records: Iterable[Record]) -> Terms:
    shares: dict[str, Level] = {}
    limits: list[tuple[str, float | None]] = []
    ended = ""
    for record in records:
        body = record.content
        if record.kind == "open" and body.get("owner"):
            shares[body["owner"]] = "own"
        elif record.kind == "share":
            shares[body["subject"]] = body["level"]
        elif record.kind == "limit":
            limits.append((body.get("by", ""), None if body["epsilon"] is None else _in_units(body["epsilon"])))
        elif record.kind == "close":
            ended = record.time
    before = frozenset(subject for subject, level in shares.items() if level == "none")
    shares = {subject: level for subject, level in shares.items() if level != "none"}
    return Terms(shares=shares, limits=tuple(limits), ended=ended, before=before)


def must_go_on(connection: Connection, lineage: str) -> None:
    """Raises NotAllowed for a budget that was closed."""
    if connection.execute(_END, {"whose": lineage}).scalar() is not None:
        raise NotAllowed(ENDED)


def ended(connection: Connection, lineages: Collection[str]) -> set[str]:
    """Those of these budgets that were closed."""
    kept = schema.records.c
    closed = select(kept.lineage).where(kept.kind == "close", kept.lineage.in_(set(lineages)))
    return set(connection.execute(closed).scalars())


def must_protect(store: Store, connection: Connection, lineage: str, unit: str) -> None:
    """What a person's rows cost together is not known from answers that hide one visit each: one budget, one unit.

    Raises NotAllowed for another ``unit`` than the budget protects.
    """
    first, now = protects(store, connection, lineage), unit or PERSON
    if first is not None and first != now:
        raise NotAllowed(other_unit(first, now))


def protects(store: Store, connection: Connection, lineage: str) -> str | None:
    """See ``Ledger.protects``. What the opening or a committed charge fixed is remembered: it never changes."""
    if lineage not in store.protects:
        fixed = promised(connection, lineage)
        if not fixed:
            body = connection.execute(_FIRST, {"whose": lineage}).scalar()
            if body is None:
                return None
            fixed = str(json.loads(body).get("unit") or PERSON)
        store.protects[lineage] = fixed
    return store.protects[lineage]


def promised(connection: Connection, lineage: str) -> str:
    """Of whom each answer was to hide one when the budget was opened; empty where nothing was said of it, as before
    that was on the record, and where there is none."""
    body = connection.execute(_OPENED, {"whose": lineage}).scalar()
    return "" if body is None else str(json.loads(body).get("unit", ""))


def taken_alone(connection: Connection, budget: Budget, subject: str) -> tuple[float, float]:
    """What one person has taken of a budget without approval, in ε and in ρ as it was counted; infinite for what has
    none."""
    epsilon = rho = 0.0
    theirs = history.by_person(connection, "charge", subject, budget.lineage)  # of others none is read
    charges = select(schema.records.c.body).where(*theirs).order_by(schema.records.c.seq)
    for body in connection.execute(charges).scalars():
        if '"granted_by":' in body:  # canonical JSON: looked for before it is read, which takes ten times as long
            continue
        found = json.loads(body)
        if found.get("subject") == subject and not found.get("granted_by"):
            cost = cost_from_json(found.get("counted", found["cost"]))
            epsilon, rho = epsilon + cost.epsilon, rho + cost.zcdp
    return epsilon, rho


def passes_limit(connection: Connection, budget: Budget, cost: Cost, subject: str, terms: Terms) -> bool:
    """Whether this cost, as counted, takes a person above what they may take alone.

    The limit is an ε at the budget's δ. Where ρ is counted, whoever asks with a larger δ has a smaller ε for the same
    ρ: there it is also what the ρ of their answers comes to at the budget's δ.
    """
    limit = terms.limit_for(subject)
    if limit is None:
        return False
    most = limit * (1.0 + 1e-9)
    epsilon, rho = taken_alone(connection, budget, subject)
    if epsilon + cost.epsilon > most:
        return True
    together, delta = rho + cost.zcdp, budget.caps.delta
    counts = budget.counting != "sum" and delta > 0.0 and math.isfinite(together)
    return counts and zcdp_epsilon(together, delta) > most


def _real(connection: Connection, lineage: str) -> Terms:
    if accounts.get(connection, lineage).practice:
        raise InvalidArgument("lineage", "is for practice, which is nobody's but the visitor's own")
    if lineage.startswith(rooms.START):
        raise InvalidArgument("lineage", "is a room's, whose people gave their votes to it alone")
    return of(connection, lineage)


def _owned(connection: Connection, lineage: str, by: str) -> Terms:
    """The terms of a real budget that is ``by``'s to change; whoever looks after the ledger is nobody's subject."""
    terms = _real(connection, lineage)
    if by and not terms.at_least(by, "own"):
        raise NotAllowed(NOT_OWNER)
    return terms


def share(store: Store, lineage: str, subject: str, level: str, by: str) -> Terms:
    """See ``Ledger.share``."""
    one_of(tuple(LEVELS), level=level)
    if subject == EVERYONE and level not in ("none", "see"):
        raise InvalidArgument("level", "must be to see or nothing where a budget is shared with everyone")
    label(subject=subject, longest=LONGEST)
    with store.writing() as connection:
        terms = _owned(connection, lineage, by)
        before = terms.shares.get(subject, "none")
        if subject != EVERYONE and (level != "none" or before == "none"):
            checked(subject)  # what was shared before subjects were looked at like this can be taken away
        if subject in terms.owners and level != "own":
            if subject == by:  # of whoever else owns it nobody knows whether they are anybody
                raise NotAllowed(OWN_SHARE)
            if terms.owners == (subject,):
                raise NotAllowed(LAST_OWNER)
        if before != level:
            body = {"subject": subject, "level": level, **_by(by)}
            store.append(connection, "share", lineage=lineage, body=body)
        return of(connection, lineage)


def set_limit(store: Store, lineage: str, epsilon: float | None, by: str, seen: float | EllipsisType | None) -> Terms:
    """See ``Ledger.set_limit``."""
    if epsilon is not None:
        epsilon = _in_units(in_range(0.0, MOST_EPSILON, epsilon=epsilon))
    with store.writing() as connection:
        terms = _owned(connection, lineage, by)
        if seen is not ... and seen != terms.limit:
            raise NotAllowed(LIMIT_CHANGED)
        if terms.limit != epsilon:
            body = {"epsilon": epsilon, **_by(by)}
            store.append(connection, "limit", lineage=lineage, body=body)
        return of(connection, lineage)


def _in_units(limit: float) -> float:
    """A limit as budgets count, no higher than it was said: nothing, and what is below a unit, is 0."""
    return amount(cap_units(limit, EPSILON_DIGITS), EPSILON_DIGITS)


def end(store: Store, lineage: str, by: str) -> Terms:
    """See ``Ledger.end_budget``."""
    with store.writing() as connection:
        terms = _owned(connection, lineage, by)
        if not terms.ended:
            store.append(connection, "close", lineage=lineage, body=_by(by))
        return of(connection, lineage)


def _by(subject: str) -> dict[str, str]:
    return {"by": subject} if subject else {}
