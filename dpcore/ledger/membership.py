"""Which roles persons have by the ledger's own records. The latest record about a person says all of theirs."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import Connection, bindparam, select

from dpcore.errors import InvalidArgument
from dpcore.ledger import history, schema
from dpcore.ledger.records import Record
from dpcore.ledger.roles import LONGEST, PEOPLE, ROLES, WITH_FILES, Role, checked
from dpcore.ledger.store import Store
from dpcore.ledger.words import label
from dpcore.validate import one_of

_LATEST = (
    select(schema.records)
    .where(schema.records.c.lineage == bindparam("whose"), schema.records.c.kind == "role")
    .order_by(schema.records.c.seq.desc())
    .limit(1)
)


def give(store: Store, subject: str, roles: Collection[str], by: str) -> None:
    """See ``Ledger.give_roles``."""
    label(subject=subject, longest=LONGEST)
    if not isinstance(roles, Collection):
        raise InvalidArgument("roles", "must be a list of roles")
    for role in roles:
        one_of(tuple(ROLES), role=role)
    body = {"roles": sorted(set(roles)), **({"by": by} if by else {})}
    with store.writing() as connection:
        before = held(connection, subject)
        if roles or not before:
            checked(subject)  # what was given before subjects were looked at like this can be taken away
        if before != frozenset(roles):
            store.append(connection, "role", lineage=PEOPLE + subject, body=body)


def held(connection: Connection, subject: str) -> frozenset[Role]:
    """The roles of one person by the ledger's records."""
    latest = _latest(connection, subject)
    return frozenset() if latest is None else frozenset(latest.content["roles"])


def taken(connection: Connection, subject: str) -> int:
    """The number of the record by which the ledger took from a person what lets them ask for private answers; 0 where
    it has not, or gave it back. Roles that a login says are in no record."""
    latest = _latest(connection, subject)
    return 0 if latest is None or not WITH_FILES.isdisjoint(latest.content["roles"]) else latest.seq


def _latest(connection: Connection, subject: str) -> Record | None:
    row = connection.execute(_LATEST, {"whose": PEOPLE + subject}).mappings().one_or_none()
    return None if row is None else Record(**row)


def everybody(connection: Connection) -> dict[str, frozenset[Role]]:
    """Whoever has a role by the ledger's records, by subject."""
    found: dict[str, frozenset[Role]] = {}
    for record in history.records(connection, "role", None):
        found[record.lineage.removeprefix(PEOPLE)] = frozenset(record.content["roles"])
    return {subject: roles for subject, roles in sorted(found.items()) if roles}
