"""The ledger as somebody has it whom a login before the server let in: all of it, and without a name.

Nobody's name is on what they do, so what they write is bounded by the secret of their browser and by where they are:
what practises and what charges as for a visitor (``rate``), what changes budgets, files and rights as for a person
(``daily``).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager
from types import EllipsisType
from typing import Any

from dpcore.costs import Cost
from dpcore.ledger import accounts, charging, daily, practice, rate
from dpcore.ledger.asked import Known
from dpcore.ledger.budget import Budget
from dpcore.ledger.core import Ledger
from dpcore.ledger.people import Bringer, Brought, Statement
from dpcore.ledger.receipt import Receipt
from dpcore.ledger.records import Kind
from dpcore.ledger.terms import Terms
from dpcore.sketches import Sketch


class SeveralLedger(Ledger):
    """As ``Ledger``, for one of several, told apart by the secret of a browser (``token``) and by the ``network`` that
    it is in; neither is recorded as it is. Without a token nothing is anybody's own.

    Of several ``replicas`` each sees its own visitors alone, so that what is begun here counts so often. Raises
    InvalidArgument for a token that somebody else could have, LedgerError for one too many of anything.
    """

    def __init__(self, whole: Ledger, token: str = "", *, network: str = "", replicas: int = 1) -> None:
        if token:
            practice.lineage_of(token, "any")
        super().__init__(whole._store, actor="trusted")
        self._token, self._network, self._replicas = token, network, replicas

    def close(self) -> None:
        """Nothing: the ledger belongs to the server."""

    @property
    def _bringer(self) -> Bringer:
        return Bringer(several=True, token=self._token, network=self._network)

    # -- what costs no budget --------------------------------------------------------------------------------------

    def may_begin(self, records: int = 0) -> None:
        token = self._token or os.urandom(16).hex()
        rate.begin(self._store, token, records, network=self._network, replicas=self._replicas)

    def note_room(self, lineage: str) -> None:
        self._store.rooms.note(lineage, self._token)

    def _practise(self, lineage: str, records: int = rate.CHANGE) -> None:
        """So many records come to be in this practice; somebody else's does not count with one's own."""
        self.may_begin(records)
        if not (self._token and practice.belongs(lineage, self._token)):
            self._change(records)

    def open_practice(self, token: str, sample: str, **wanted: Any) -> Budget:
        if not practice.is_open(self._store, token, sample, wanted):  # the same again writes nothing
            self._practise(practice.lineage_of(token, sample))
        return super().open_practice(token, sample, **wanted)

    def reset_practice(self, lineage: str) -> Budget:
        self._practise(lineage)
        return super().reset_practice(lineage)

    def resize_practice(self, lineage: str, **wanted: Any) -> Budget:
        self._practise(lineage)
        return super().resize_practice(lineage, **wanted)

    def undo_reset(self, lineage: str) -> Budget:
        self._practise(lineage)
        return super().undo_reset(lineage)

    def charge(
        self,
        request_id: str,
        lineage: str,
        cost: Cost,
        what: str,
        *,
        known: Known | None = None,
        before: Sequence[str] = (),
        ready: charging.Ready | None = None,
        **asked: str,
    ) -> Receipt:
        if self.receipt(request_id) is not None:  # the same again writes nothing
            return super().charge(request_id, lineage, cost, what, known=known, before=before, ready=ready, **asked)
        if self._is_practice(lineage):
            self._practise(lineage, rate.ANSWER)
            return super().charge(request_id, lineage, cost, what, known=known, before=before, ready=ready, **asked)
        count = self._spend()
        charged = super().charge(request_id, lineage, cost, what, known=known, before=before, ready=ready, **asked)
        count()  # one that does not fit its budget writes nothing
        return charged

    def _spend(self) -> Callable[[], None]:
        """A real budget may be charged so little each time that it never ends."""
        return rate.spend(self._store, self._token, network=self._network, replicas=self._replicas)

    def _is_practice(self, lineage: str) -> bool:
        with self._store.reading() as connection:
            found = accounts.find(connection, lineage)
        return found is not None and found.practice

    # -- what stays with budgets, files and rights -----------------------------------------------------------------

    def _change(self, records: int = 1) -> None:
        daily.take(self._store.written, self._token, self._network, records, replicas=self._replicas)

    def _each(self) -> AbstractContextManager[None]:
        """Each record that is bounded so, and written within, counts."""

        def counts(kind: Kind) -> None:
            if kind not in daily.OTHERWISE:
                self._change()

        return self._store.told_of_records(counts)

    def open_budget(self, lineage: str, **wanted: Any) -> Budget:
        with self._each():
            return super().open_budget(lineage, **wanted)

    def rename(self, lineage: str, name: str) -> Budget:
        if self._is_practice(lineage):
            self._practise(lineage)
            return super().rename(lineage, name)
        with self._each():
            return super().rename(lineage, name)

    def link(self, fingerprint: str, lineage: str, sketch: Sketch | None = None) -> None:
        with self._each():
            super().link(fingerprint, lineage, sketch)

    def join(self, file: Brought, lineage: str) -> Budget:
        with self._each():
            return super().join(file, lineage)

    def say_others(self, file: Brought, lineage: str, *, than: str) -> Statement:
        with self._each():
            return super().say_others(file, lineage, than=than)

    def give_roles(self, subject: str, roles: Collection[str]) -> None:
        with self._each():
            super().give_roles(subject, roles)

    def share(self, lineage: str, subject: str, level: str) -> Terms:
        with self._each():
            return super().share(lineage, subject, level)

    def set_limit(self, lineage: str, epsilon: float | None, *, seen: float | EllipsisType | None = ...) -> Terms:
        with self._each():
            return super().set_limit(lineage, epsilon, seen=seen)
