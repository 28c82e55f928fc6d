"""The ledger as somebody has it whom nobody vouches for: their own practice budgets, and nothing of anybody else.

A server that is open to others without a login cannot tell whose people they ask about, nor who spends. So whatever a
page sends, this view charges no real budget, opens none, and shows nobody's answers but the visitor's own.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from types import EllipsisType
from typing import Any, NoReturn

from sqlalchemy import ColumnElement, Connection

from dpcore.costs import Cost
from dpcore.errors import LedgerError, NotAllowed, UnknownLineage
from dpcore.ledger import accounts, charging, history, practice, rate, schema
from dpcore.ledger.approvals import Petition
from dpcore.ledger.asked import Actor, Known
from dpcore.ledger.budget import Budget
from dpcore.ledger.core import Ledger
from dpcore.ledger.people import Brought, Resemblance, Statement
from dpcore.ledger.receipt import Receipt
from dpcore.ledger.records import Record
from dpcore.ledger.roles import Role
from dpcore.ledger.terms import Terms
from dpcore.ledger.verify import Replay
from dpcore.sketches import Sketch

NOT_HERE = (
    "This server is open to others without a login, so it makes practice answers about samples only: nothing real is "
    "opened, charged or released here. Start Epsilon Lab on your own computer for that."
)
_NOBODY = "There is no budget of that name here."


class VisitorsLedger(Ledger):
    """As ``Ledger``, for one visitor. ``token`` is the random secret that their practice budgets go by.

    How much they can begin in a day, rooms included, and their ``network`` and all of them in an hour, is bounded
    (``rate``). Of several ``replicas`` each sees its own visitors alone, so that what is begun here counts so often.

    Raises LedgerError with ``NOT_HERE`` for whatever is not theirs to do, UnknownLineage for whatever is not theirs.
    """

    def __init__(self, whole: Ledger, token: str, *, network: str = "", replicas: int = 1) -> None:
        practice.lineage_of(token, "any")  # raises InvalidArgument for a token that somebody else could have
        super().__init__(whole._store, actor="visitor")
        self._token = token
        self._network, self._replicas = network, replicas

    def _is_mine(self, lineage: str) -> bool:
        return practice.belongs(lineage, self._token)

    def _mine(self, lineage: str) -> str:
        return self.budget(lineage).lineage

    def close(self) -> None:
        """Nothing: the ledger belongs to the server."""

    def may_begin(self, records: int = 0) -> None:
        rate.begin(self._store, self._token, records, network=self._network, replicas=self._replicas)

    def note_room(self, lineage: str) -> None:
        self._store.rooms.note(lineage, self._token)

    # -- what is not a visitor's to do -----------------------------------------------------------------------------

    def acting(self, actor: Actor) -> Ledger:
        _refuse()

    def verify(self) -> Replay:
        _refuse()

    def backup(self, target: str | os.PathLike[str]) -> int:
        _refuse()

    def open_budget(self, lineage: str, **wanted: Any) -> Budget:
        _refuse()

    def link(self, fingerprint: str, lineage: str, sketch: Sketch | None = None) -> None:
        _refuse()

    def join(self, file: Brought, lineage: str) -> Budget:
        _refuse()

    def say_others(self, file: Brought, lineage: str, *, than: str) -> Statement:
        _refuse()

    @property
    def sketch_key(self) -> bytes:
        _refuse()

    def similar(
        self, fingerprint: str, sketch: Sketch | None = None, *, among: Collection[str], own: bool = False
    ) -> list[Resemblance]:
        return []

    def statements(self, lineage: str | None = None) -> list[Statement]:
        return []

    def give_roles(self, subject: str, roles: Collection[str]) -> None:
        _refuse()

    def share(self, lineage: str, subject: str, level: str) -> Terms:
        _refuse()

    def set_limit(self, lineage: str, epsilon: float | None, *, seen: float | EllipsisType | None = ...) -> Terms:
        _refuse()

    def end_budget(self, lineage: str) -> Terms:
        _refuse()

    def ask(
        self, request_id: str, lineage: str, cost: Cost, what: str, *, before: Sequence[str] = (), **asked: str
    ) -> Petition:
        _refuse()

    def grant(self, request_id: str, because: str = "") -> Petition:
        _refuse()

    def refuse(self, request_id: str, because: str) -> Petition:
        _refuse()

    def withdraw(self, request_id: str) -> Petition:
        _refuse()

    def records(self) -> list[Record]:
        _refuse()

    def roles(self) -> dict[str, frozenset[Role]]:
        return {}

    def petitions(self) -> list[Petition]:
        return []

    def to_decide(self) -> list[Petition]:
        return []

    def latest_petition(
        self, lineage: str, cost: Cost, what: str, *, before: Sequence[str] = (), **asked: str
    ) -> Petition | None:
        return None

    # -- the visitor's own practice --------------------------------------------------------------------------------

    def open_practice(self, token: str, sample: str, **wanted: Any) -> Budget:
        if token != self._token:
            _refuse()
        if not practice.is_open(self._store, token, sample, wanted):  # the same again writes nothing
            self.may_begin(rate.CHANGE)
        return super().open_practice(token, sample, **wanted)

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
        try:
            self._mine(lineage)
        except UnknownLineage:
            _refuse()
        if super().receipt(request_id) is None:  # the same again writes nothing
            self.may_begin(rate.ANSWER)
        return super().charge(request_id, lineage, cost, what, known=known, before=before, ready=ready, **asked)

    def begin_draw(self, request_id: str) -> None:
        charging.begin_draw(self._store, request_id, self._must_be_mine, self._token)

    def draw_failed(self, request_id: str) -> None:
        charging.draw_failed(self._store, request_id, self._must_be_mine)

    def store_answer(self, request_id: str, answer: Any, written: charging.Written = lambda: None) -> Receipt:
        return charging.store_answer(self._store, request_id, answer, written, self._must_be_mine, self._token)

    def _must_be_mine(self, found: Receipt | None) -> None:
        if found is None or not self._is_mine(found.lineage):
            raise NotAllowed(NOT_HERE)

    def budget(self, lineage: str) -> Budget:
        found = super().budget(lineage) if self._is_mine(lineage) else None
        if found is None or not found.practice:
            raise UnknownLineage(_NOBODY)
        return found

    def protects(self, lineage: str) -> str | None:
        return super().protects(self._mine(lineage))

    def remaining(self, lineage: str) -> Cost:
        return super().remaining(self._mine(lineage))

    def rename(self, lineage: str, name: str) -> Budget:
        mine = self._mine(lineage)
        self.may_begin(rate.CHANGE)
        return super().rename(mine, name)

    def reset_practice(self, lineage: str) -> Budget:
        mine = self._mine(lineage)
        self.may_begin(rate.CHANGE)
        return super().reset_practice(mine)

    def resize_practice(self, lineage: str, **wanted: Any) -> Budget:
        mine = self._mine(lineage)
        self.may_begin(rate.CHANGE)
        return super().resize_practice(mine, **wanted)

    def undo_reset(self, lineage: str) -> Budget:
        mine = self._mine(lineage)
        self.may_begin(rate.CHANGE)
        return super().undo_reset(mine)

    def history(self, lineage: str, **chosen: Any) -> list[Receipt]:
        return super().history(self._mine(lineage), **chosen)

    def count(self, lineage: str, *, every_generation: bool = False) -> int:
        return super().count(self._mine(lineage), every_generation=every_generation)

    def answered(self, lineage: str, question: str) -> list[Receipt]:
        return super().answered(self._mine(lineage), question)

    def answered_ids(self, lineage: str, *questions: str) -> list[str]:
        return super().answered_ids(self._mine(lineage), *questions)

    def unanswered(self, lineage: str, question: str | None = None) -> list[Receipt]:
        return super().unanswered(self._mine(lineage), question)

    def terms(self, lineage: str) -> Terms:
        return super().terms(self._mine(lineage))

    def needs_approval(self, lineage: str, cost: Cost, neighbours: str = "") -> bool:
        return super().needs_approval(self._mine(lineage), cost, neighbours)

    def budgets(self) -> list[Budget]:
        lineages = schema.lineages.c
        with self._store.reading() as connection:
            mine = practice.of(connection, self._token)
            return accounts.every(connection, lineages.lineage.in_(mine), lineages.practice == 1)

    def chargeable(self) -> list[Budget]:
        return []

    def comparable(self) -> list[str]:
        return []

    def receipt(self, request_id: str) -> Receipt | None:
        found = super().receipt(request_id)
        return found if found is not None and self._is_mine(found.lineage) else None

    def receipts(self, *, newest: int | None = None) -> list[Receipt]:
        with self._store.reading() as connection:
            return history.receipts(connection, self._charged(connection), newest=newest)

    def find(self, start: str) -> list[Receipt]:
        with self._store.reading() as connection:
            return history.receipts(connection, self._charged(connection), history.by_hash(start), newest=2)

    def _charged(self, connection: Connection) -> ColumnElement[bool]:
        """Charges to this visitor's own practice: nothing of anybody else's is even read."""
        return schema.records.c.lineage.in_(practice.of(connection, self._token))

    def sealed(self, data: bytes, charges: Sequence[str] = (), budgets: Sequence[str] = ()) -> bytes:
        if any(not self.find(start) for start in charges):
            _refuse()
        return super().sealed(data, charges, budgets)


SHARED = frozenset(
    {
        *("open", "new_lineage", "practice_lineage", "room_lineage", "journal_path", "let_go"),
        *("renewed_at", "version", "confirms", "confirmed", "about", "examine"),
        *("was_mine", "stored"),
    }
)
"""What a visitor has as everybody: nothing of it tells about anybody or changes anything (``confirmed`` takes a whole
receipt, which only its owner has, ``examine`` a whole report, and finds by ``find`` what one names that was changed;
``stored`` finds by ``receipt``)."""


def _refuse() -> NoReturn:
    raise LedgerError(NOT_HERE)
