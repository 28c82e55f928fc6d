"""Which requests wait for an owner, by budget: as far as this process has looked, so that a look reads what came since
and none of the requests that were decided long ago."""

from __future__ import annotations

import threading
from collections.abc import Collection

from sqlalchemy import Connection, select

from dpcore.ledger import history, schema

_KINDS = ("ask", "grant", "refuse")


class Undecided:
    """Ids of requests. Safe to share between threads.

    What is known of a budget is what its records up to one say, whoever looked: records are never changed.
    """

    def __init__(self) -> None:
        self._known: dict[str, tuple[int, frozenset[str]]] = {}  # by lineage: up to which record, and what waits then
        self._lock = threading.Lock()

    def of(self, connection: Connection, lineages: Collection[str]) -> set[str]:
        """Those about these budgets that wait as the ledger is in this transaction."""
        upto = history.last(connection, None)
        with self._lock:
            known = {lineage: self._known.get(lineage, (0, frozenset())) for lineage in lineages}
        for before in {bool(seen) for seen, _ in known.values()}:  # the first look at one reads no more of the others
            self._read_on(connection, {name: one for name, one in known.items() if bool(one[0]) is before}, upto)
        with self._lock:
            return {request for lineage in lineages for request in self._known[lineage][1]}

    def _read_on(self, connection: Connection, known: dict[str, tuple[int, frozenset[str]]], upto: int) -> None:
        kept, after = schema.records.c, min(seen for seen, _ in known.values())
        since = (
            select(kept.seq, kept.kind, kept.lineage, kept.request_id)
            .where(
                schema.among(kept.lineage, known, connection.dialect.name),
                schema.of_kind(schema.records, *_KINDS),
                kept.seq > after,
                kept.seq <= upto,
            )
            .order_by(kept.seq)
        )
        waiting = {lineage: set(requests) for lineage, (_, requests) in known.items()}
        for seq, kind, lineage, request in connection.execute(since):
            if seq <= known[lineage][0]:
                continue
            if kind == "ask":
                waiting[lineage].add(request)
            else:
                waiting[lineage].discard(request)
        with self._lock:
            for lineage, requests in waiting.items():
                if upto >= self._known.get(lineage, (0, frozenset()))[0]:
                    self._known[lineage] = (upto, frozenset(requests))
