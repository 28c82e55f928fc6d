"""Chains of records as they can be had: from the database, its journal, or a backup, sound or not."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from sqlalchemy import Engine

from dpcore.errors import LedgerUnsound
from dpcore.ledger.engine import TROUBLE, migrate, snapshot
from dpcore.ledger.journal import Journal
from dpcore.ledger.key import Key
from dpcore.ledger.records import Record
from dpcore.ledger.renewal import renewed
from dpcore.ledger.verify import linked, stored_records, verify_database

_DISAGREE = (
    "The database, the backup and the journal tell different histories, so none can be trusted to be complete; "
    "nothing was changed. Keep all three and ask for help."
)


def from_database(engine: Engine, key: Key) -> tuple[list[Record], bool]:
    """The database's records as far as they are a chain, and whether the database is sound.

    Chains are handed out in the present form, whatever they were written in (``renewal``).
    """
    try:
        migrate(engine, key, verify_database)
        with snapshot(engine) as connection:
            verify_database(connection)
            return list(stored_records(connection)), True
    except (LedgerUnsound, *TROUBLE):
        return renewed(_readable(engine), key), False


def _readable(engine: Engine) -> list[Record]:
    kept: list[Record] = []
    try:
        with snapshot(engine) as connection:
            kept.extend(linked(stored_records(connection)))
    except (LedgerUnsound, TypeError, *TROUBLE):
        return kept
    return kept


def from_journal(path: Path | None, key: Key) -> tuple[list[Record], bool]:
    """The journal's records as far as they are a chain, and whether that is all of it."""
    if path is None:
        return [], True
    found: list[Record] = []
    if not path.exists():
        return found, False
    try:
        Journal(path).read_on(found.append)
    except LedgerUnsound:
        return renewed(found, key), False
    return renewed(found, key), bool(found)  # an emptied journal is a missing one


def from_journals(paths: Sequence[Path], given: Sequence[Record], key: Key) -> tuple[list[Record], bool]:
    """The longest chain among these journals that begins as ``given`` does, and whether there is one, all of it.

    Raises LedgerUnsound where two that begin so go on differently.
    """
    found = [from_journal(path, key) for path in paths]
    alike = [(chain, whole) for chain, whole in found if chain and given and chain[0].hash == given[0].hash]
    if not alike:
        return [], False
    return longest(*(chain for chain, _ in alike)), all(whole for _, whole in alike)


def longest(*chains: Sequence[Record]) -> list[Record]:
    """The longest chain; all others must be its beginnings. Raises LedgerUnsound."""
    best = max(chains, key=len)
    for chain in chains:
        if chain and chain[-1].hash != best[len(chain) - 1].hash:
            raise LedgerUnsound(_DISAGREE)
    return list(best)
