"""The ledger as a person has it who has logged in: what their roles let them do, and what was shared with them.

Whatever a page sends, the right is checked here, and once more within the transaction that writes
(``Store.only_by``): it may have been taken away while that one waited. Everything is recorded with the person's
subject.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from contextlib import AbstractContextManager
from types import EllipsisType
from typing import Any, NoReturn

from sqlalchemy import ColumnElement, Connection, or_, select

from dpcore.costs import Cost
from dpcore.errors import NotAllowed, UnknownLineage
from dpcore.ledger import (
    accounts,
    approvals,
    charging,
    compared,
    history,
    membership,
    people,
    practice,
    rate,
    rooms,
    schema,
)
from dpcore.ledger.approvals import Petition
from dpcore.ledger.asked import Actor, Known
from dpcore.ledger.budget import Budget
from dpcore.ledger.core import Ledger
from dpcore.ledger.people import Brought, Resemblance, Statement
from dpcore.ledger.receipt import Receipt
from dpcore.ledger.records import Record
from dpcore.ledger.roles import LEVELS, WITH_FILES, Level, Person, Role
from dpcore.ledger.terms import NOT_OWNER, NOT_SHARED, Terms, shared_with
from dpcore.ledger.terms import of as terms_of
from dpcore.ledger.verify import Replay
from dpcore.ledger.words import texts
from dpcore.sketches import Sketch
from dpcore.tick import Tick

NOT_YOURS = "Your role does not let you do that; nothing was changed. Ask who runs this server."
NO_MORE = "This budget is not shared with you any more; nothing was changed or charged. Ask one of its owners."
NO_FILES = "Your role is to look at samples and at what was shared with you; files and private answers take an analyst."
NO_OPENING = "Only an owner opens budgets; nothing was opened. Ask one to open it and to share it with you."
_NOBODY = "There is no budget of that name that you may see."


class MembersLedger(Ledger):
    """As ``Ledger``, for one person. ``token`` is the secret that their own practice budgets go by.

    Raises NotAllowed for whatever is not theirs to do, UnknownLineage for whatever is not theirs to see.
    """

    def __init__(self, whole: Ledger, person: Person, token: str, *, network: str = "", replicas: int = 1) -> None:
        practice.lineage_of(token, "any")  # raises InvalidArgument for a token that somebody else could have
        super().__init__(whole._store, actor="person", subject=person.subject)
        self._person = person
        self._token = token
        self._network, self._replicas = network, replicas

    # -- rights ----------------------------------------------------------------------------------------------------

    def mine(self) -> frozenset[Role]:
        """This person's roles now: as their login says, or else as this ledger does. Everyone may view."""
        if self._person.claimed is not None:
            return self._person.claimed | {"viewer"}
        with self._store.reading() as connection:
            return self._held(connection)

    def _held(self, connection: Connection) -> frozenset[Role]:
        claimed = self._person.claimed
        return (membership.held(connection, self._subject) if claimed is None else claimed) | {"viewer"}

    def _must_be(self, *roles: Role, told: str = NOT_YOURS) -> None:
        if not self.mine() & set(roles):
            raise NotAllowed(told)

    def _as(self, *roles: Role, told: str) -> AbstractContextManager[None]:
        """To write as somebody with one of these roles. Raises NotAllowed."""

        def right(connection: Connection) -> None:
            if not self._held(connection) & set(roles):
                raise NotAllowed(told)

        return self._store.only_by(right)

    def _practised(self, lineage: str) -> bool:
        return isinstance(lineage, str) and practice.belongs(lineage, self._token)

    def _level(self, connection: Connection, lineage: str) -> Level:
        """How far a budget is this person's: as it was shared, and as far as their role goes. Raises UnknownLineage."""
        if accounts.get(connection, lineage).practice:
            return "none"
        shared = terms_of(connection, lineage).level(self._subject)
        roles = self._held(connection)
        most: Level = "own" if "owner" in roles else "ask" if "analyst" in roles else "see"
        names = tuple(LEVELS)
        found = min(shared, most, key=names.index)
        return "see" if found == "none" and "auditor" in roles else found

    def _seen(self) -> set[str]:
        """The lineages of which this person may know."""
        lineage = schema.lineages.c.lineage
        audits = "auditor" in self.mine()
        with self._store.reading() as connection:
            seen = self._among_seen(connection, lineage, audits=audits)
            return set(connection.execute(select(lineage).where(seen)).scalars())

    def _among_seen(self, connection: Connection, lineage: ColumnElement[str], *, audits: bool) -> ColumnElement[bool]:
        """That a lineage is one of which this person may know: so that of nobody else's practice anything is read."""
        own = practice.of(connection, self._token)
        if audits:
            real = select(schema.lineages.c.lineage).where(schema.lineages.c.practice == 0)
            return or_(lineage.in_(real), lineage.in_(own))
        return schema.among(lineage, [*shared_with(connection, self._subject), *own], connection.dialect.name)

    def _visible(self, lineage: str) -> str:
        if not self._practised(lineage):
            with self._store.reading() as connection:
                self._must_reach(connection, lineage, "see")
        return lineage

    def _must_reach(self, connection: Connection, lineage: str, level: Level, told: str = NOT_YOURS) -> None:
        """Raises UnknownLineage for a budget of which this person may not know, NotAllowed below this level, which says
        so where it is for their role."""
        names = tuple(LEVELS)
        try:
            found = self._level(connection, lineage)
        except UnknownLineage:
            found = "none"
        if found == "none":
            raise UnknownLineage(_NOBODY)
        if names.index(found) < names.index(level):
            shared = terms_of(connection, lineage).at_least(self._subject, level)
            raise NotAllowed(NOT_YOURS if shared else told)

    def _lost(self, connection: Connection, lineage: str) -> bool:
        """Whether a budget was shared with this person, and is not any more: that there is one is no news to them."""
        there = accounts.find(connection, lineage) is not None
        return there and self._subject in terms_of(connection, lineage).before

    def _at_least(self, lineage: str, level: Level, told: str) -> AbstractContextManager[None]:
        """To write about a budget that is this person's as far as this level. Raises as ``_must_reach``, and
        NotAllowed where it is not shared with them any more."""

        def right(connection: Connection) -> None:
            try:
                self._must_reach(connection, lineage, level, told)
            except UnknownLineage:
                if self._lost(connection, lineage):
                    raise NotAllowed(NO_MORE) from None
                raise

        return self._store.only_by(right)

    def close(self) -> None:
        """Nothing: the ledger belongs to the server."""

    # -- what nobody does by a page --------------------------------------------------------------------------------

    def acting(self, actor: Actor) -> Ledger:
        _refuse()

    def backup(self, target: str | os.PathLike[str]) -> int:
        _refuse()

    def give_roles(self, subject: str, roles: Collection[str]) -> None:
        _refuse()

    # -- all of it, for an auditor ---------------------------------------------------------------------------------

    def verify(self) -> Replay:
        self._must_be("auditor")
        return super().verify()

    def records(self) -> list[Record]:
        self._must_be("auditor")
        return super().records()

    def roles(self) -> dict[str, frozenset[Role]]:
        self._must_be("auditor", "owner")
        return super().roles()

    # -- budgets ---------------------------------------------------------------------------------------------------

    def open_budget(self, lineage: str, **wanted: Any) -> Budget:
        taken = (rooms.START, practice.START)  # by such a name it would be taken for somebody's own
        if wanted.get("practice") or (isinstance(lineage, str) and lineage.startswith(taken)):
            self._must_be("owner", told=NO_OPENING)
            _refuse()

        def right(connection: Connection) -> None:
            if "owner" not in self._held(connection):
                raise NotAllowed(NO_OPENING)
            if isinstance(lineage, str) and accounts.find(connection, lineage) is not None:  # opened again
                level: Level = "see" if wanted.get("file") is None else "ask"  # as of ``join``
                self._must_reach(connection, lineage, level, NOT_SHARED)

        with self._store.only_by(right):
            return super().open_budget(lineage, **wanted)

    def terms(self, lineage: str) -> Terms:
        return super().terms(self._visible(lineage))

    def was_mine(self, lineage: str) -> bool:
        with self._store.reading() as connection:
            return self._lost(connection, lineage)

    def share(self, lineage: str, subject: str, level: str) -> Terms:
        with self._at_least(lineage, "own", NOT_OWNER):
            return super().share(lineage, subject, level)

    def set_limit(self, lineage: str, epsilon: float | None, *, seen: float | EllipsisType | None = ...) -> Terms:
        with self._at_least(lineage, "own", NOT_OWNER):
            return super().set_limit(lineage, epsilon, seen=seen)

    def end_budget(self, lineage: str) -> Terms:
        with self._at_least(lineage, "own", NOT_OWNER):
            return super().end_budget(lineage)

    def rename(self, lineage: str, name: str) -> Budget:
        if self._practised(lineage):
            self.may_begin()
            return super().rename(lineage, name)
        with self._at_least(lineage, "own", NOT_OWNER):
            return super().rename(lineage, name)

    def budget(self, lineage: str) -> Budget:
        return super().budget(self._visible(lineage))

    def protects(self, lineage: str) -> str | None:
        return super().protects(self._visible(lineage))

    def remaining(self, lineage: str) -> Cost:
        return super().remaining(self._visible(lineage))

    def budgets(self) -> list[Budget]:
        audits = "auditor" in self.mine()
        with self._store.reading() as connection:
            return accounts.every(connection, self._among_seen(connection, schema.lineages.c.lineage, audits=audits))

    def chargeable(self) -> list[Budget]:
        if not self.mine() & WITH_FILES:
            return []
        with self._store.reading() as connection:
            shared = shared_with(connection, self._subject).items()
            asked = [lineage for lineage, terms in shared if terms.at_least(self._subject, "ask")]
            return accounts.every(connection, schema.among(schema.lineages.c.lineage, asked, connection.dialect.name))

    def comparable(self) -> list[str]:
        """For an owner those of all real budgets: a second one for the same people would double what can be learned."""
        if "owner" not in self.mine():
            return [budget.lineage for budget in self.chargeable()]
        return super().comparable()

    # -- practice --------------------------------------------------------------------------------------------------

    def open_practice(self, token: str, sample: str, **wanted: Any) -> Budget:
        if token != self._token:
            _refuse()
        if not practice.is_open(self._store, token, sample, wanted):  # the same again writes nothing
            self.may_begin()
        return super().open_practice(token, sample, **wanted)

    def reset_practice(self, lineage: str) -> Budget:
        return super().reset_practice(self._own_practice(lineage))

    def resize_practice(self, lineage: str, **wanted: Any) -> Budget:
        return super().resize_practice(self._own_practice(lineage), **wanted)

    def undo_reset(self, lineage: str) -> Budget:
        return super().undo_reset(self._own_practice(lineage))

    def _own_practice(self, lineage: str) -> str:
        if not self._practised(lineage):
            _refuse()
        self.may_begin()
        return lineage

    def may_begin(self, records: int = rate.CHANGE) -> None:
        """What costs nothing real is bounded for a person as for a visitor: by who they are, whatever their browser,
        and by where from."""
        rate.begin(self._store, self._token, records, network=self._network, replicas=self._replicas)

    def note_room(self, lineage: str) -> None:
        self._store.rooms.note(lineage, self._token)

    # -- files -----------------------------------------------------------------------------------------------------

    @property
    def sketch_key(self) -> bytes:
        self._must_be("analyst", "owner", told=NO_FILES)
        return self._store.key.derived("sketch")

    def link(self, fingerprint: str, lineage: str, sketch: Sketch | None = None) -> None:
        with self._at_least(lineage, "ask", NOT_SHARED):
            super().link(fingerprint, lineage, sketch)

    def join(self, file: Brought, lineage: str) -> Budget:
        """As ``Ledger.join``; it takes as long whether people are alike of whom this person may know nothing, or not
        (``tick``)."""
        tick = Tick()
        try:
            with self._at_least(lineage, "ask", NOT_SHARED):
                return super().join(file, lineage)
        finally:
            tick.wait()

    def _compare_unseen(self, file: Brought, lineage: str) -> None:
        """On this person's record and on that of those who are alike: a budget that was opened without a file would
        else be a second one for the same people that nobody sees. Raises NotAllowed."""
        with self._store.reading() as connection:
            if people.is_linked(self._store, connection, file, lineage, self._bringer):
                return
        unseen = {*super().comparable()} - {*self.comparable(), lineage}
        if unseen:
            by = self._subject
            compared.alike(self._store, file.fingerprint, file.sketch, unseen, by, who=self._bringer)

    def similar(
        self, fingerprint: str, sketch: Sketch | None = None, *, among: Collection[str], own: bool = False
    ) -> list[Resemblance]:
        with self._as("analyst", "owner", told=NO_FILES):
            return super().similar(fingerprint, sketch, among=texts(among=among) & set(self.comparable()), own=own)

    def say_others(self, file: Brought, lineage: str, *, than: str) -> Statement:
        def right(connection: Connection) -> None:
            roles = self._held(connection)
            if not roles & WITH_FILES:
                raise NotAllowed(NO_FILES)
            budget = accounts.find(connection, than)
            known = budget is not None and not budget.practice and not than.startswith(rooms.START)
            if not known or not ("owner" in roles or terms_of(connection, than).at_least(self._subject, "ask")):
                raise UnknownLineage(_NOBODY)
            if accounts.find(connection, lineage) is not None:  # it stands in the records of these people for good
                self._must_reach(connection, lineage, "ask", NOT_SHARED)
            elif isinstance(lineage, str) and lineage.startswith(people.CONFIGURED) and "owner" not in roles:
                raise NotAllowed(NO_OPENING)  # of a source the name is listed, and whoever opens it reads them

        with self._store.only_by(right):
            return super().say_others(file, lineage, than=than)

    def statements(self, lineage: str | None = None) -> list[Statement]:
        audits = "auditor" in self.mine()
        with self._store.reading() as connection:
            seen = self._among_seen(connection, schema.records.c.lineage, audits=audits)
            return people.statements(connection, lineage, seen)

    # -- requests and charges --------------------------------------------------------------------------------------

    def ask(
        self, request_id: str, lineage: str, cost: Cost, what: str, *, before: Sequence[str] = (), **asked: str
    ) -> Petition:
        with self._at_least(lineage, "ask", NOT_SHARED):
            return super().ask(request_id, lineage, cost, what, before=before, **asked)

    def grant(self, request_id: str, because: str = "") -> Petition:
        with self._as("owner", told=NOT_OWNER):
            return super().grant(request_id, because)

    def refuse(self, request_id: str, because: str) -> Petition:
        with self._as("owner", told=NOT_OWNER):
            return super().refuse(request_id, because)

    def withdraw(self, request_id: str) -> Petition:
        """Whatever their roles are by now: the ledger asks who made the request."""
        return super().withdraw(request_id)

    def petitions(self) -> list[Petition]:
        """This person's own, those about budgets that they own, and all for an auditor."""
        roles = self.mine()
        if "auditor" in roles:
            return super().petitions()
        with self._store.reading() as connection:
            shared = shared_with(connection, self._subject).items() if "owner" in roles else ()
            owned = [lineage for lineage, terms in shared if terms.level(self._subject) == "own"]
            of_theirs = schema.among(schema.records.c.lineage, owned, connection.dialect.name)
            return approvals.newest(connection, or_(approvals.asked_by(connection, self._subject), of_theirs))

    def to_decide(self) -> list[Petition]:
        if "owner" not in self.mine():
            return []
        with self._store.reading() as connection:
            shared = shared_with(connection, self._subject).items()
            owned = [lineage for lineage, terms in shared if terms.level(self._subject) == "own" and not terms.ended]
            return approvals.waiting(self._store, connection, owned, but_of=self._subject)

    def latest_petition(
        self, lineage: str, cost: Cost, what: str, *, before: Sequence[str] = (), **asked: str
    ) -> Petition | None:
        """Only this person's, which is theirs to know whatever was shared with them by now."""
        return super().latest_petition(lineage, cost, what, before=before, **asked)

    def needs_approval(self, lineage: str, cost: Cost, neighbours: str = "") -> bool:
        return super().needs_approval(self._visible(lineage), cost, neighbours)

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
        if self._practised(lineage):
            if super().receipt(request_id) is None:  # the same again writes nothing
                self.may_begin(rate.ANSWER)
            return super().charge(request_id, lineage, cost, what, known=known, before=before, ready=ready, **asked)
        try:
            with self._at_least(lineage, "ask", NOT_SHARED):
                return super().charge(request_id, lineage, cost, what, known=known, before=before, ready=ready, **asked)
        except UnknownLineage:
            raise NotAllowed(NOT_SHARED) from None

    def begin_draw(self, request_id: str) -> None:
        charging.begin_draw(self._store, request_id, self._must_be_mine, self._subject)

    def draw_failed(self, request_id: str) -> None:
        charging.draw_failed(self._store, request_id, self._must_be_mine)

    def store_answer(self, request_id: str, answer: Any, written: charging.Written = lambda: None) -> Receipt:
        return charging.store_answer(self._store, request_id, answer, written, self._must_be_mine, self._subject)

    def _must_be_mine(self, found: Receipt | None) -> None:
        if found is None or found.subject != self._subject:
            _refuse()

    def receipt(self, request_id: str) -> Receipt | None:
        found = super().receipt(request_id)
        return found if found is not None and found.lineage in self._seen() else None

    def history(self, lineage: str, **chosen: Any) -> list[Receipt]:
        return super().history(self._visible(lineage), **chosen)

    def count(self, lineage: str, *, every_generation: bool = False) -> int:
        return super().count(self._visible(lineage), every_generation=every_generation)

    def answered(self, lineage: str, question: str) -> list[Receipt]:
        return super().answered(self._visible(lineage), question)

    def answered_ids(self, lineage: str, *questions: str) -> list[str]:
        return super().answered_ids(self._visible(lineage), *questions)

    def unanswered(self, lineage: str, question: str | None = None) -> list[Receipt]:
        """Only this person's: nobody else may draw their answer."""
        found = super().unanswered(self._visible(lineage), question)
        return [receipt for receipt in found if receipt.subject == self._subject]

    def receipts(self, *, newest: int | None = None) -> list[Receipt]:
        audits = "auditor" in self.mine()
        with self._store.reading() as connection:
            seen = self._among_seen(connection, schema.records.c.lineage, audits=audits)
            return history.receipts(connection, seen, newest=newest)

    def find(self, start: str) -> list[Receipt]:
        audits = "auditor" in self.mine()
        with self._store.reading() as connection:
            seen = self._among_seen(connection, schema.records.c.lineage, audits=audits)
            return history.receipts(connection, seen, history.by_hash(start), newest=2)

    def sealed(self, data: bytes, charges: Sequence[str] = (), budgets: Sequence[str] = ()) -> bytes:
        if any(not self.find(start) for start in charges):
            _refuse()
        return super().sealed(data, charges, budgets)


SHARED = frozenset(
    {
        *("open", "new_lineage", "practice_lineage", "room_lineage", "journal_path", "let_go"),
        *("renewed_at", "version", "confirms", "confirmed", "about", "examine", "stored"),
    }
)
"""What every person has alike: nothing of it tells about anybody or changes anything (see ``visitor.SHARED``;
``stored`` finds by ``receipt``)."""


def _refuse() -> NoReturn:
    raise NotAllowed(NOT_YOURS)
