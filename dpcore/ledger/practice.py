"""Practice budgets: reset by opening a new generation, so that no sum ever goes down and a reset can be undone."""

from __future__ import annotations

from sqlalchemy import Connection, func, select, update

from dpcore.errors import LedgerError
from dpcore.ledger import accounts, history, schema
from dpcore.ledger.budget import Budget
from dpcore.ledger.store import Store


def reset(store: Store, lineage: str) -> Budget:
    """See ``Ledger.reset_practice``."""
    with store.writing() as connection:
        budget = _practice(connection, lineage)
        query = select(func.max(schema.accounts.c.generation)).where(schema.accounts.c.lineage == lineage)
        fresh = int(connection.execute(query).scalar_one()) + 1
        body = {"generation": fresh, "from": budget.generation}
        store.append(connection, "reset", lineage=lineage, body=body)
        accounts.start(connection, lineage, fresh, budget.caps)
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
