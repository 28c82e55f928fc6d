"""Practice budgets: reset by opening a new generation, so that no sum ever goes down and a reset can be undone."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from sqlalchemy import Connection, bindparam, func, insert, literal_column, select, update

from dpcore.errors import InvalidArgument, LedgerError
from dpcore.ledger import accounts, history, schema
from dpcore.ledger.budget import Budget, Caps
from dpcore.ledger.store import Store
from dpcore.ledger.words import label

START = "practice:"
LEAST_TOKEN = 16  # characters
_REAL = "A real budget has the name of this practice budget, so nothing was opened; practise with another sample."
_OF = select(schema.lineages.c.lineage).where(
    schema.lineage_end == bindparam("whose"), schema.lineages.c.practice == literal_column("1")
)


def lineage_of(token: str, sample: str) -> str:
    """The lineage of one visitor's practice with one sample. The token cannot be told from it.

    Raises InvalidArgument for a token that somebody else could have.
    """
    label(token=token)
    label(sample=sample, longest=100)
    if len(token) < LEAST_TOKEN:
        raise InvalidArgument("token", f"must be random, with at least {LEAST_TOKEN} characters")
    return f"{START}{sample}:{hashlib.sha256(token.encode()).hexdigest()[:20]}"


def sample_of(lineage: str) -> str:
    """The sample of a lineage that ``lineage_of`` made; empty for any other."""
    parts = lineage.split(":")
    return ":".join(parts[1:-1]) if lineage.startswith(START) else ""


def belongs(lineage: str, token: str) -> bool:
    """Whether this is the practice, with whatever sample, of whoever has the token."""
    sample = sample_of(lineage)
    return bool(sample) and lineage == lineage_of(token, sample)


def of(connection: Connection, token: str) -> list[str]:
    """The lineages of all practice of whoever has the token."""
    found = connection.execute(_OF, {"whose": lineage_of(token, "any").rsplit(":", 1)[-1]}).scalars()
    return [lineage for lineage in found if belongs(lineage, token)]


def is_open(store: Store, token: str, sample: str, wanted: Mapping[str, Any]) -> bool:
    """Whether ``Ledger.open_practice`` asked so would find what it opens."""
    caps = Caps.of(wanted["epsilon"], wanted.get("delta", 0.0), wanted.get("counting", "sum"))
    with store.reading() as connection:
        present = accounts.find(connection, lineage_of(token, sample))
    return present is not None and present.practice and present.caps.same_as(caps)


def open_for(store: Store, token: str, sample: str, caps: Caps, neighbours: str, name: str) -> Budget:
    """See ``Ledger.open_practice``."""
    key, title = lineage_of(token, sample), label(name=name) if name else sample
    with store.writing() as connection:
        present = accounts.find(connection, key)
        if present is None:
            body = {"name": title, "practice": 1, "caps": asdict(caps), "neighbours": neighbours}
            store.append(connection, "open", lineage=key, body=body)
            row = {"lineage": key, "name": title, "practice": 1, "generation": 1}
            connection.execute(insert(schema.lineages).values(row))
            accounts.start(connection, key, 1, caps, neighbours)
            return accounts.get(connection, key)
        if not present.practice:
            raise LedgerError(_REAL)
        if present.caps.same_as(caps):
            return present
        return _anew(store, connection, present, caps, {"caps": asdict(caps), "neighbours": neighbours})


def reset(store: Store, lineage: str) -> Budget:
    """See ``Ledger.reset_practice``."""
    with store.writing() as connection:
        budget = _practice(connection, lineage)
        return _anew(store, connection, budget, budget.caps, {})


def resize(store: Store, lineage: str, caps: Caps) -> Budget:
    """See ``Ledger.resize_practice``."""
    with store.writing() as connection:
        budget = _practice(connection, lineage)
        if budget.caps.same_as(caps):
            return budget
        return _anew(store, connection, budget, caps, {"caps": asdict(caps)})


def _anew(store: Store, connection: Connection, budget: Budget, caps: Caps, more: dict[str, Any]) -> Budget:
    """A new generation with nothing spent."""
    lineage = budget.lineage
    query = select(func.max(schema.accounts.c.generation)).where(schema.accounts.c.lineage == lineage)
    fresh = int(connection.execute(query).scalar_one()) + 1
    body = {"generation": fresh, "from": budget.generation, **more}
    store.append(connection, "reset", lineage=lineage, body=body)
    accounts.start(connection, lineage, fresh, caps, more.get("neighbours", ""))
    return _turn_to(connection, lineage, fresh)


def undo(store: Store, lineage: str) -> Budget:
    """See ``Ledger.undo_reset``."""
    with store.writing() as connection:
        budget = _practice(connection, lineage)
        for record in reversed(history.records(connection, "reset", lineage)):
            if record.content["generation"] == budget.generation:
                before: int = record.content["from"]
                store.append(connection, "undo", lineage=lineage, body={"generation": before})
                return _turn_to(connection, lineage, before)
        raise LedgerError("There is no reset of this practice budget to undo.")


def _practice(connection: Connection, lineage: str) -> Budget:
    budget = accounts.get(connection, lineage)
    if not budget.practice:
        raise LedgerError("Only a practice budget can be reset; what is spent about real people stays spent.")
    return budget


def _turn_to(connection: Connection, lineage: str, generation: int) -> Budget:
    chosen = schema.lineages.c.lineage == lineage
    connection.execute(update(schema.lineages).where(chosen).values(generation=generation))
    return accounts.get(connection, lineage)
