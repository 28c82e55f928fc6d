"""The ledger: budgets, charges and receipts, durable before anything is drawn.

Every change happens in one transaction that holds the right to write: the chain of records grows by one, the sums
follow, and the journal beside the database is extended before the call returns. A crash in between may leave a
charge without an answer; it never leaves an answer without a charge.
"""

from __future__ import annotations

import os
from dataclasses import asdict
from pathlib import Path
from typing import Any

from sqlalchemy import insert, update

from dpcore.costs import Cost
from dpcore.errors import InvalidArgument
from dpcore.ledger import accounts, charging, history, people, practice, recovery, schema
from dpcore.ledger.budget import Budget, Caps
from dpcore.ledger.charging import Asked
from dpcore.ledger.people import Resemblance
from dpcore.ledger.receipt import Receipt
from dpcore.ledger.store import Store
from dpcore.ledger.verify import Replay
from dpcore.ledger.words import label
from dpcore.validate import one_of


class Ledger:
    """Budgets in one database. Safe to share between threads; several processes may open the same one."""

    def __init__(self, store: Store) -> None:
        """Use ``Ledger.open``."""
        self._store = store

    @classmethod
    def open(
        cls, location: str | os.PathLike[str] | None = None, *, journal: str | os.PathLike[str] | None = None
    ) -> Ledger:
        """Open a ledger, creating it where there is none, and check that it is sound.

        ``location`` is an SQLAlchemy URL (``sqlite:///…`` or ``postgresql+psycopg://…``) or the path of an SQLite
        file; without it EPSILON_LAB_LEDGER, else a file in the person's data folder. ``journal`` is the journal's
        path: by default beside an SQLite file, for a server in the person's data folder. A database in memory has
        none. Raises LedgerUnsound with what to do when the checks fail, LedgerError when it cannot be reached.
        """
        return cls(Store.open(location, journal))

    def close(self) -> None:
        """Let go of the database; also at the end of a ``with`` block."""
        self._store.close()

    def __enter__(self) -> Ledger:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def journal_path(self) -> Path | None:
        """Where the journal is; None for a ledger in memory."""
        return None if self._store.journal is None else self._store.journal.path

    def verify(self) -> Replay:
        """Check everything again, as at opening. Raises LedgerUnsound."""
        return self._store.verify()

    def backup(self, target: str | os.PathLike[str]) -> int:
        """Write a complete backup to a new file; the number of records in it. Raises LedgerError."""
        return recovery.backup(self._store, Path(target))

    # -- budgets -------------------------------------------------------------------------------------------------

    def open_budget(
        self,
        lineage: str,
        *,
        epsilon: float,
        delta: float = 0.0,
        neighbours: str = "",
        practice: bool = False,
        name: str = "",
    ) -> Budget:
        """Open the budget of one group of people, for good: its cap can never be changed.

        ``lineage`` identifies the people, whatever the file they come in; ``name`` is what the owner calls them. With
        ``delta`` 0 the cap is on pure ε and only pure releases are accepted; above 0 it is an (ε, δ) cap, kept as
        described in ``dpcore.ledger.budget``. ``neighbours`` is what the budget hides (``add_remove`` or
        ``replace_one``), for good; when empty the first charge that says it decides. A ``practice`` budget can be
        reset. Opening the same budget again changes nothing. Raises InvalidArgument.
        """
        key = label(lineage=lineage)
        title = label(name=name) if name else key
        caps = Caps.of(epsilon, delta)
        one_of(charging.RELATIONS, neighbours=neighbours)
        with self._store.writing() as connection:
            present = accounts.find(connection, key)
            if present is not None:
                same = present.caps.same_as(caps) and neighbours in ("", present.neighbours)
                if not same or present.practice != bool(practice):
                    raise InvalidArgument("lineage", "has a budget already, and a cap is never changed")
                return present
            body = {"name": title, "practice": int(practice), "caps": asdict(caps), "neighbours": neighbours}
            self._store.append(connection, "open", lineage=key, body=body)
            row = {"lineage": key, "name": title, "practice": int(practice), "generation": 1}
            connection.execute(insert(schema.lineages).values(row))
            accounts.start(connection, key, 1, caps, neighbours)
            return accounts.get(connection, key)

    def budget(self, lineage: str) -> Budget:
        """Cap and spending of one lineage. Raises UnknownLineage."""
        with self._store.reading() as connection:
            return accounts.get(connection, lineage)

    def budgets(self) -> list[Budget]:
        """Every lineage's budget, by name."""
        with self._store.reading() as connection:
            return accounts.every(connection)

    def remaining(self, lineage: str) -> Cost:
        """What is left of the budget; see ``Budget.remaining``. Raises UnknownLineage."""
        return self.budget(lineage).remaining

    def rename(self, lineage: str, name: str) -> Budget:
        """Call a lineage something else. Raises UnknownLineage, InvalidArgument."""
        title = label(name=name)
        with self._store.writing() as connection:
            accounts.get(connection, lineage)
            self._store.append(connection, "rename", lineage=lineage, body={"name": title})
            chosen = schema.lineages.c.lineage == lineage
            connection.execute(update(schema.lineages).where(chosen).values(name=title))
            return accounts.get(connection, lineage)

    def reset_practice(self, lineage: str) -> Budget:
        """Give a practice budget back its whole cap; ``undo_reset`` takes that back. Receipts stay.

        Raises LedgerError for a budget that is not for practice, UnknownLineage.
        """
        return practice.reset(self._store, lineage)

    def undo_reset(self, lineage: str) -> Budget:
        """Return a practice budget to what it was before its last reset, spending and all.

        Raises LedgerError when there is no reset to undo or the budget is not for practice, UnknownLineage.
        """
        return practice.undo(self._store, lineage)

    # -- the same people under another file -----------------------------------------------------------------------

    def link(self, fingerprint: str, lineage: str, rows: tuple[int, ...] = ()) -> None:
        """Note that the file with this fingerprint is about the people of ``lineage``, for good.

        ``rows`` is its ``people.sketch``. Raises UnknownLineage, and InvalidArgument when the file belongs to others.
        """
        people.link(self._store, fingerprint, lineage, rows)

    def lineage_of(self, fingerprint: str) -> str | None:
        """The lineage a file is known to be about, or None."""
        with self._store.reading() as connection:
            return people.lineage_of(connection, fingerprint)

    def similar(self, rows: tuple[int, ...], least: float = 0.5) -> list[Resemblance]:
        """Known lineages that share at least this part of their rows with a sketched table, most alike first.

        For asking the owner whether a file is about people who have a budget already.
        """
        with self._store.reading() as connection:
            return people.similar(connection, rows, least)

    # -- charges -------------------------------------------------------------------------------------------------

    def charge(
        self,
        request_id: str,
        lineage: str,
        cost: Cost,
        what: str,
        *,
        mechanism: str = "",
        neighbours: str = "",
        question: str = "",
    ) -> Receipt:
        """Spend ``cost`` for one release, durably, and return its receipt; charge first, draw afterwards.

        The same ``request_id`` again returns the first receipt (with its answer, once stored) and charges nothing.
        ``what`` is the question in words; ``question`` a digest of its public parameters; ``neighbours`` what the
        release hides (as the budget does when empty; ``Budget.counted``). Raises BudgetExceeded when it does not fit
        (nothing is charged), UnknownLineage, InvalidCost, and InvalidArgument when the request_id
        was used for a different question.
        """
        asked = Asked(what=what, mechanism=mechanism, neighbours=neighbours, question=question)
        return charging.charge(self._store, request_id, lineage, cost, asked)

    def store_answer(self, request_id: str, answer: Any) -> Receipt:
        """Keep the answer of a charge, once and for all, and return the receipt with the answer that is kept.

        The first one stored wins. ``answer`` is anything JSON can hold. Raises InvalidArgument for anything else and
        for a request that was never charged.
        """
        return charging.store_answer(self._store, request_id, answer)

    def receipt(self, request_id: str) -> Receipt | None:
        """The receipt of a request, or None when nothing was charged for it."""
        with self._store.reading() as connection:
            return history.receipt(connection, request_id)

    def history(self, lineage: str, *, every_generation: bool = False) -> list[Receipt]:
        """Receipts of one lineage, oldest first; those before a practice reset only if asked. Raises UnknownLineage."""
        with self._store.reading() as connection:
            now = accounts.get(connection, lineage).generation
            found = history.receipts(connection, lineage)
        return [one for one in found if every_generation or one.generation == now]

    def receipts(self) -> list[Receipt]:
        """Every receipt of the ledger, oldest first."""
        with self._store.reading() as connection:
            return history.receipts(connection, None)

    def confirms(self, receipt: Receipt | str) -> bool:
        """Whether the journal holds exactly this receipt (or its JSON): its charge by hash, and its answer.

        Raises LedgerUnsound when the journal itself is damaged.
        """
        return history.confirms(self._store, receipt)
