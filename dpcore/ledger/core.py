"""The ledger: budgets, charges and receipts, durable before anything is drawn.

Every change happens in one transaction that holds the right to write: the chain of records grows by one, the sums
follow, and the journal beside the database is extended before the call returns. A crash in between may leave a
charge without an answer; it never leaves an answer without a charge.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from types import EllipsisType
from typing import Any

from sqlalchemy import Connection, insert, update

from dpcore.costs import Cost
from dpcore.errors import InvalidArgument, NotAllowed
from dpcore.ledger import (
    about,
    accounts,
    approvals,
    backups,
    charging,
    compared,
    confirming,
    history,
    joining,
    membership,
    people,
    practice,
    rooms,
    schema,
    seal,
    terms,
)
from dpcore.ledger.approvals import Petition
from dpcore.ledger.asked import ACTORS, RELATIONS, Actor, Asked, Known
from dpcore.ledger.budget import NEW_COUNTINGS, Budget, Caps
from dpcore.ledger.lock import PATIENCE
from dpcore.ledger.people import Bringer, Brought, Resemblance, Statement
from dpcore.ledger.practice import START as PRACTICE
from dpcore.ledger.receipt import Receipt
from dpcore.ledger.records import Record
from dpcore.ledger.renewal import holds_digest
from dpcore.ledger.roles import Role
from dpcore.ledger.seal import Examined
from dpcore.ledger.store import Store
from dpcore.ledger.terms import Terms
from dpcore.ledger.verify import Replay, stored_records
from dpcore.ledger.words import label, text, texts
from dpcore.sketches import Sketch
from dpcore.validate import boolean, one_of

_OF_ROOMS: tuple[Actor, ...] = ("", "room")
"""Who opens budgets by the names of rooms: the rooms, and whoever has the ledger in Python."""


class Ledger:
    """Budgets in one database. Safe to share between threads; several processes may open the same one."""

    def __init__(self, store: Store, actor: Actor = "", subject: str = "") -> None:
        """Use ``Ledger.open``. ``subject`` is the person who has logged in, in whose name everything is recorded."""
        self._store = store
        self._actor: Actor = actor
        self._subject = subject

    def acting(self, actor: Actor) -> Ledger:
        """The same ledger for what this kind of somebody does: each of their charges says so (``asked.ACTORS``).

        Nothing of it is bounded, nor anybody's own of several (``several``). Raises InvalidArgument.
        """
        one_of(tuple(ACTORS), actor=actor)
        return Ledger(self._store, actor)

    @classmethod
    def open(
        cls,
        location: str | os.PathLike[str] | None = None,
        *,
        journal: str | os.PathLike[str] | None = None,
        create: bool | None = None,
        patience: float = PATIENCE,
    ) -> Ledger:
        """Open a ledger, and check that it is sound.

        ``location`` is an SQLAlchemy URL (``sqlite:///…`` or ``postgresql+psycopg://…``) or the path of an SQLite
        file; without it EPSILON_LAB_LEDGER, else a file in the person's data folder. ``journal`` is the journal's
        path: by default beside an SQLite file, for a server in the person's data folder. A database in memory
        (``sqlite://``), which EPSILON_LAB_LEDGER may not name, has none. ``create`` says whether one is made where
        there is none. By habit it is, but not where EPSILON_LAB_LEDGER names it, nor where this server has had one
        (``place``): that would make every budget whole again. ``patience`` is for how many seconds a record waits for a
        program that holds the ledger; what has been charged is drawn and kept with at least ``lock.PATIENCE``. Raises
        LedgerUnsound with what to do when the checks fail, LedgerError when it cannot be reached, InvalidArgument for
        an address that is none.
        """
        return cls(Store.open(location, journal, create=create, patience=patience))

    @staticmethod
    def new_lineage() -> str:
        """A random name for people who have no budget yet."""
        return f"people-{os.urandom(8).hex()}"

    @staticmethod
    def practice_lineage(token: str, sample: str) -> str:
        """The lineage that ``open_practice`` gives one visitor for one sample, to look without opening anything.

        Raises InvalidArgument.
        """
        return practice.lineage_of(token, sample)

    @staticmethod
    def room_lineage(token: str) -> str:
        """A random name for the people of one room, whose budget is opened with its first answer.

        ``token`` is the secret of the browser that opens the room; only who has it can tell that two rooms were opened
        by the same one.
        """
        return rooms.lineage_for(token)

    def close(self) -> None:
        """Let go of the database; also at the end of a ``with`` block."""
        self._store.close()

    def let_go(self) -> None:
        """Close every connection that nobody uses now, as of a ledger that is opened anew in its place: whoever still
        has this one is given new ones. One in memory is lost by it."""
        self._store.let_go()

    def __enter__(self) -> Ledger:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def journal_path(self) -> Path | None:
        """Where the journal is; None for a ledger in memory."""
        return None if self._store.journal is None else self._store.journal.path

    @property
    def renewed_at(self) -> str | None:
        """When this ledger was written anew without digests of data (UTC), or None for one that never held any.

        Backups and receipts from before that still hold them.
        """
        with self._store.reading() as connection:
            found = history.records(connection, "renew", "")
        return found[-1].time if found else None

    def verify(self) -> Replay:
        """Check everything again, as at opening. Raises LedgerUnsound."""
        return self._store.verify()

    def backup(self, target: str | os.PathLike[str]) -> int:
        """Write a complete backup to a new file; the number of records in it. Raises LedgerError."""
        return backups.write(self._store, Path(target))

    def may_begin(self, records: int = 0) -> None:
        """Whoever this ledger is for may begin something new: without bound who runs the program.

        ``records`` are what it comes to, where it is begun now and not by this ledger. Raises LedgerError for somebody
        who, or whose network, or who together with all others, has begun as much as a ledger takes (``rate``).
        """

    def note_room(self, lineage: str) -> None:
        """Whoever this ledger is for has opened the room of this name: for a day its records count with their own."""

    # -- budgets -------------------------------------------------------------------------------------------------

    def open_budget(
        self,
        lineage: str,
        *,
        epsilon: float,
        delta: float = 0.0,
        counting: str = "sum",
        neighbours: str = "",
        unit: str = "",
        practice: bool = False,
        name: str = "",
        file: Brought | None = None,
    ) -> Budget:
        """Open the budget of one group of people, for good: its cap and its way of counting can never be changed.

        ``lineage`` identifies the people, whatever the file they come in: a random name (``new_lineage``), never a
        digest of their data. ``name`` is what the owner calls them. ``counting`` is ``sum`` (ε and δ add up like money)
        or ``zcdp`` (every release is counted as ρ; many small ones go further), as in ``dpcore.ledger.budget``; ask
        ``Budget.planned`` first what each allows. With ``delta`` 0 only pure releases are accepted. ``neighbours`` is
        what the budget hides (``add_remove`` or ``replace_one``), for good; when empty the first charge that says it
        decides. ``unit`` is of whom each answer hides one (a person, a visit), and as much for good; when empty the
        first charge decides, and a practice budget takes any. A ``practice`` budget can be reset. Opening the same
        budget again changes nothing: one that was opened without a unit protects whom its first charge does. ``file``
        is the one for whose people it is opened: it is linked with them as ``join`` does, or nothing is opened. Raises
        InvalidArgument, and as ``join`` for a file.
        """
        key = label(lineage=lineage)
        if holds_digest(key):
            raise InvalidArgument(
                "lineage", "must be a random name, and not a digest, which guesses could be tested on"
            )
        title = label(name=name) if name else key
        one_of(NEW_COUNTINGS, counting=counting)
        caps = Caps.of(epsilon, delta, counting)
        one_of(RELATIONS, neighbours=neighbours)
        boolean(practice=practice)
        self._must_be_free(key, practice=practice)
        if unit:
            label(unit=unit)
            if practice:
                raise InvalidArgument("unit", "is of a real budget: a practice budget takes any")

        def begin(connection: Connection) -> Budget:
            present = accounts.find(connection, key)
            if present is not None:
                same = present.caps.same_as(caps) and neighbours in ("", present.neighbours)
                if not same or present.practice != bool(practice):
                    raise InvalidArgument("lineage", "has a budget already, and a cap is never changed")
                first = terms.protects(self._store, connection, key)  # None: of one from before, nothing charged yet
                if unit and first not in (None, unit):
                    raise InvalidArgument("lineage", f"has a budget already, which protects one {first} for good")
                return present
            body: dict[str, Any] = {"name": title, "practice": int(practice), "caps": asdict(caps)}
            body |= {"neighbours": neighbours}
            body |= {"unit": unit} if unit else {}
            body |= {"owner": self._subject} if self._subject else {}
            self._store.append(connection, "open", lineage=key, body=body)
            row = {"lineage": key, "name": title, "practice": int(practice), "generation": 1}
            connection.execute(insert(schema.lineages).values(row))
            accounts.start(connection, key, 1, caps, neighbours)
            return accounts.get(connection, key)

        if file is not None:
            return self._join(file, key, begin)
        with self._store.writing() as connection:
            return begin(connection)

    def _must_be_free(self, lineage: str, *, practice: bool) -> None:
        """Raises InvalidArgument for a real budget by the name of somebody's practice, or of a room where it is not the
        room that opens it: it would be taken for that."""
        of_a_room = lineage.startswith(rooms.START) and self._actor not in _OF_ROOMS
        if not practice and (of_a_room or lineage.startswith(PRACTICE)):
            raise InvalidArgument("lineage", "is the name of a practice budget or of a room; take another")

    def open_practice(
        self,
        token: str,
        sample: str,
        *,
        epsilon: float,
        delta: float = 0.0,
        counting: str = "sum",
        neighbours: str = "",
        name: str = "",
    ) -> Budget:
        """One visitor's own practice budget for one sample, opened when it is first asked for.

        ``token`` is the visitor's random secret (at least 16 characters), kept by their browser; nobody else has this
        budget, and the token is not stored. Asked for with another size, the budget starts again with that size, as
        after a reset, which ``undo_reset`` takes back. Raises InvalidArgument, and LedgerError where a real budget has
        that name.
        """
        one_of(NEW_COUNTINGS, counting=counting)
        one_of(RELATIONS, neighbours=neighbours)
        return practice.open_for(self._store, token, sample, Caps.of(epsilon, delta, counting), neighbours, name)

    def budget(self, lineage: str) -> Budget:
        """Cap and spending of one lineage. Raises UnknownLineage."""
        return accounts.seen(self._store, lineage)

    def budgets(self) -> list[Budget]:
        """Every lineage's budget, by name."""
        with self._store.reading() as connection:
            return accounts.every(connection)

    def protects(self, lineage: str) -> str | None:
        """Of whom each answer of a real budget hides one: as was said when it was opened, or else by its first charge;
        None where neither has. Raises InvalidArgument where the name is no text."""
        text(lineage=lineage)
        with self._store.reading() as connection:
            return terms.protects(self._store, connection, lineage)

    def remaining(self, lineage: str) -> Cost:
        """What is left of the budget; see ``Budget.remaining``. Raises UnknownLineage."""
        return self.budget(lineage).remaining

    def rename(self, lineage: str, name: str) -> Budget:
        """Call a lineage something else. Raises UnknownLineage, InvalidArgument."""
        title = label(name=name)
        with self._store.writing() as connection:
            accounts.get(connection, lineage)
            by = {"by": self._subject} if self._subject else {}
            self._store.append(connection, "rename", lineage=lineage, body={"name": title, **by})
            chosen = schema.lineages.c.lineage == lineage
            connection.execute(update(schema.lineages).where(chosen).values(name=title))
            return accounts.get(connection, lineage)

    def reset_practice(self, lineage: str) -> Budget:
        """Give a practice budget back its whole cap; ``undo_reset`` takes that back. Receipts stay.

        Raises LedgerError for a budget that is not for practice, UnknownLineage.
        """
        return practice.reset(self._store, lineage)

    def resize_practice(self, lineage: str, *, epsilon: float, delta: float = 0.0, counting: str = "sum") -> Budget:
        """Give a practice budget another size; it starts again whole, as after a reset, and ``undo_reset`` takes that
        back. The size it has already changes nothing.

        Raises InvalidArgument, LedgerError for a budget that is not for practice, UnknownLineage.
        """
        one_of(NEW_COUNTINGS, counting=counting)
        return practice.resize(self._store, lineage, Caps.of(epsilon, delta, counting))

    def undo_reset(self, lineage: str) -> Budget:
        """Return a practice budget to what it was before its last reset, spending and all.

        Raises LedgerError when there is no reset to undo or the budget is not for practice, UnknownLineage.
        """
        return practice.undo(self._store, lineage)

    # -- the same people under another file -----------------------------------------------------------------------

    @property
    def sketch_key(self) -> bytes:
        """What sketches of files are keyed with; hand it to ``dpcore.datasets.sketch`` and keep it nowhere."""
        return self._store.key.derived("sketch")

    def link(self, fingerprint: str, lineage: str, sketch: Sketch | None = None) -> None:
        """Note that the file with this fingerprint is about the people of ``lineage``, for good; ``join`` compares it
        with all others first.

        Both are kept under the server's key alone. Raises UnknownLineage, and InvalidArgument for the people of a
        practice budget or a room, and when whoever links has linked the file with others; where somebody else has,
        nothing tells.
        """
        file = Brought(fingerprint=fingerprint, sketch=sketch)
        with self._store.writing() as connection:
            people.link(self._store, connection, file, lineage, self._bringer)

    def join(self, file: Brought, lineage: str) -> Budget:
        """Link a file with the people of ``lineage``, as ``link``, once it was compared with everybody known now.

        Before any answer is made from it. Raises KnownPeople, and links nothing, where the file looks like the people
        of another budget (``similar``) and whoever joins it has not said of it that they are others; NotAllowed
        where too many files were compared in a day, and it is not linked with these already.
        """
        return self._join(file, lineage, lambda connection: accounts.get(connection, lineage))

    def _join(self, file: Brought, lineage: str, begin: Callable[[Connection], Budget]) -> Budget:
        def compare() -> list[Resemblance]:
            self._compare_unseen(file, lineage)
            among = self.comparable()
            try:
                return self.similar(file.fingerprint, file.sketch, among=among)
            except NotAllowed:
                with self._store.reading() as connection:
                    if not people.is_linked(self._store, connection, file, lineage, self._bringer):
                        raise
                return self.similar(file.fingerprint, file.sketch, among=among, own=True)

        return joining.join(self._store, file, lineage, self._bringer, compare=compare, begin=begin)

    @property
    def _bringer(self) -> Bringer:
        return Bringer(subject=self._subject, several=self._actor == "trusted")

    def _compare_unseen(self, file: Brought, lineage: str) -> None:
        """Compare a file with the people of whom whoever links it may know nothing, untold; here there are none."""

    def similar(
        self, fingerprint: str, sketch: Sketch | None = None, *, among: Collection[str], own: bool = False
    ) -> list[Resemblance]:
        """Lineages of which a known file looks like this one, by name; ``Sketch.is_like`` says what that means.

        Only ``among`` the lineages that whoever asks may see. With files that somebody else linked (``people.free``) it
        is told less closely and goes on the record (``compared``): somebody who knows all rows but one could test
        guesses of it. ``own`` leaves these out. For asking whether these are the same people. Raises NotAllowed
        where too many files were compared so in a day, and InvalidArgument where a name is no text.
        """
        text(fingerprint=fingerprint)
        names = texts(among=among)
        found = people.similar(self._store, fingerprint, sketch, names, self._bringer)
        rest = names - {one.lineage for one in found}
        if own or not rest:
            return found
        by = self._subject or self._actor or "local"
        alike = compared.alike(self._store, fingerprint, sketch, rest, by, who=self._bringer)
        return people.by_name([*found, *alike])

    def say_others(self, file: Brought, lineage: str, *, than: str) -> Statement:
        """Put on the record why the people of a file, who look like those of ``than``, are others, in its sentence
        (``because``): it counts for this file and whoever says it, and of any other one is asked anew.

        ``lineage`` is the random name they will have; it needs no budget yet. Raises UnknownLineage, InvalidArgument.
        """
        return people.say_others(self._store, file, lineage, than, self._bringer)

    def statements(self, lineage: str | None = None) -> list[Statement]:
        """What was put on the record of one lineage, or of all, oldest first."""
        with self._store.reading() as connection:
            return people.statements(connection, lineage)

    # -- who may do what -------------------------------------------------------------------------------------------

    def roles(self) -> dict[str, frozenset[Role]]:
        """The persons to whom this ledger gives roles, by subject."""
        with self._store.reading() as connection:
            return membership.everybody(connection)

    def give_roles(self, subject: str, roles: Collection[str]) -> None:
        """Give a person exactly these roles (``roles.ROLES``), on the record. Raises InvalidArgument."""
        membership.give(self._store, subject, roles, self._subject)

    def terms(self, lineage: str) -> Terms:
        """Who owns a budget, with whom it is shared, what one person may take alone. Raises UnknownLineage."""
        with self._store.reading() as connection:
            accounts.get(connection, lineage)
            return terms.of(connection, lineage)

    def was_mine(self, lineage: str) -> bool:
        """Whether a budget was shared with whoever asks and is not any more, so that they see none."""
        return False

    def share(self, lineage: str, subject: str, level: str) -> Terms:
        """Let a person (or ``roles.EVERYONE``) do as much with a real budget as ``level`` says (``roles.LEVELS``).

        Raises NotAllowed for the last owner, who stays one; UnknownLineage, InvalidArgument.
        """
        return terms.share(self._store, lineage, subject, level, self._subject)

    def set_limit(self, lineage: str, epsilon: float | None, *, seen: float | EllipsisType | None = ...) -> Terms:
        """Set what one person may take of a real budget alone: ε from 0 to 100 over all their answers that nobody
        approved; None for no limit. Whoever raises a limit is bound by the lower one from before. ``seen`` is the
        limit that they saw: where another is in force, it stays.

        Raises UnknownLineage, InvalidArgument, NotAllowed (``terms.LIMIT_CHANGED``).
        """
        return terms.set_limit(self._store, lineage, epsilon, self._subject, seen)

    def end_budget(self, lineage: str) -> Terms:
        """Close a real budget for good: its receipts stay, and nothing is charged to it any more.

        Raises UnknownLineage, InvalidArgument.
        """
        return terms.end(self._store, lineage, self._subject)

    def chargeable(self) -> list[Budget]:
        """The real budgets that whoever asks may have answers charged to, by name."""
        with self._store.reading() as connection:
            return accounts.every(connection, schema.of_people)

    def comparable(self) -> list[str]:
        """The lineages that a new file of whoever asks is compared with: those of all real budgets but rooms, about
        whose people no file is."""
        with self._store.reading() as connection:
            return accounts.of_people(connection)

    def needs_approval(self, lineage: str, cost: Cost, neighbours: str = "") -> bool:
        """Whether this cost takes the person who asks above what they may take alone. Raises UnknownLineage."""
        if not self._subject:
            return False
        with self._store.reading() as connection:
            budget = accounts.get(connection, lineage)
            counted = budget.counted(cost, neighbours)
            if budget.practice or counted is None:
                return False
            now = terms.of(connection, lineage)
            return terms.passes_limit(connection, budget, counted, self._subject, now)

    def ask(
        self,
        request_id: str,
        lineage: str,
        cost: Cost,
        what: str,
        *,
        mechanism: str = "",
        neighbours: str = "",
        question: str = "",
        unit: str = "",
        before: Sequence[str] = (),
    ) -> Petition:
        """Ask the owners of a budget to approve one answer, as ``charge`` is told it; nothing is charged.

        Once it is granted, ``charge`` with the same values spends it. The same ``request_id`` again returns the same
        request; and where one of theirs for this very ``question`` (its digest; ``before`` are those that it had in
        programs from before) waits, or was granted and not drawn yet, and can be charged as it is asked now, or was
        charged and can still be drawn for that, that is returned, under its own ``request_id``. Raises NotAllowed,
        BudgetExceeded when it could not be charged anyway, UnknownLineage, InvalidCost, InvalidArgument (for somebody
        without a login, too).
        """
        asked = self._asked(what, before, mechanism=mechanism, neighbours=neighbours, question=question, unit=unit)
        return approvals.ask(self._store, request_id, lineage, cost, asked)

    def grant(self, request_id: str, because: str = "") -> Petition:
        """Approve a request, as another owner of its budget than who asked. Raises NotAllowed (also where nothing could
        be drawn for it by now), InvalidArgument."""
        return approvals.decide(self._store, request_id, grant=True, because=because, by=self._subject)

    def refuse(self, request_id: str, because: str) -> Petition:
        """Refuse a request, with a reason, as ``grant``. Raises NotAllowed, InvalidArgument."""
        return approvals.decide(self._store, request_id, grant=False, because=because, by=self._subject)

    def withdraw(self, request_id: str) -> Petition:
        """Take back a request that nobody has decided yet, as who asked. Raises NotAllowed."""
        return approvals.withdraw(self._store, request_id, by=self._subject)

    def petitions(self) -> list[Petition]:
        """Every request for approval that waits, and the newest of the others, oldest first."""
        with self._store.reading() as connection:
            return approvals.newest(connection, approvals.ABOUT_PEOPLE)

    def to_decide(self) -> list[Petition]:
        """Requests that wait for whoever asks to decide, oldest first: others' about budgets that they own and that go
        on; none for somebody without a login."""
        return []

    def latest_petition(
        self,
        lineage: str,
        cost: Cost,
        what: str,
        *,
        mechanism: str = "",
        neighbours: str = "",
        question: str = "",
        unit: str = "",
        before: Sequence[str] = (),
    ) -> Petition | None:
        """The request of whoever this ledger is for, for this very question (told as ``ask``), that was not drawn yet:
        of those that can be charged as it is asked now one that was granted before one that waits, and these before
        the newest, which says why it cannot (``Petition.unfit``) where it is open. Raises InvalidCost,
        InvalidArgument."""
        asked = self._asked(what, before, mechanism=mechanism, neighbours=neighbours, question=question, unit=unit)
        with self._store.reading() as connection:
            return approvals.latest(self._store, connection, lineage, cost, asked)

    def records(self) -> list[Record]:
        """Every record of the ledger, oldest first: what happened, in whose name."""
        with self._store.reading() as connection:
            return list(stored_records(connection))

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
        unit: str = "",
        known: Known | None = None,
        before: Sequence[str] = (),
        ready: charging.Ready | None = None,
    ) -> Receipt:
        """Spend ``cost`` for one release, durably, and return its receipt; charge first, draw afterwards.

        The same ``request_id`` again returns the first receipt (with its answer, once stored) and charges nothing.
        ``what`` is the question in words; ``question`` a digest of its public parameters, and ``before`` those that it
        had in programs from before: what this id was charged or granted for by one of these is drawn as it was asked
        then. ``neighbours`` is what the release hides (as the budget does when empty; ``Budget.counted``), of the
        ``unit`` (a person when empty).
        Where the question was charged since the last reset, for an answer that is not among what is ``known``, that
        charge's receipt is returned, under its own id and perhaps without an answer yet, and nothing is charged: of
        several who knew the same and ask at once one pays. A charge by one of ``known.digests`` counts, too.
        ``ready`` is called once it is seen that this would be charged, or was and has no answer, and before anybody is
        kept waiting for it: what it raises keeps it from being charged, and whoever may not ask, or not so much, is
        told so without it.
        Raises BudgetExceeded when it does not fit (nothing is charged), NotAllowed for a budget that was closed or that
        is not shared with the person who asks, ApprovalNeeded above what they may take alone, UnknownLineage,
        InvalidCost, and InvalidArgument when the request_id was used for a different question.
        """
        asked = self._asked(what, before, mechanism=mechanism, neighbours=neighbours, question=question, unit=unit)
        return charging.charge(self._store, request_id, lineage, cost, asked, known, ready)

    def _asked(self, what: str, before: Sequence[str], **more: str) -> Asked:
        return Asked(what=what, before=before, actor=self._actor, subject=self._subject, **more)

    def begin_draw(self, request_id: str) -> None:
        """Note, durably, that the answer of a charge is being drawn from now on; once is enough.

        Raises InvalidArgument for a request that was never charged.
        """
        charging.begin_draw(self._store, request_id)

    def draw_failed(self, request_id: str) -> None:
        """Note that the draw of a charge failed and nobody saw anything of it, so that the charge pays for another.

        In memory (``failed``); ``unanswered`` says it. Raises LedgerError.
        """
        charging.draw_failed(self._store, request_id)

    def store_answer(self, request_id: str, answer: Any, written: charging.Written = lambda: None) -> Receipt:
        """Keep the answer of a charge, once and for all, and return the receipt with the answer that is kept.

        The first one stored wins: ``written`` is told where this one is, and of no other anything is told, nor whether
        it was the same. ``answer`` is anything JSON can hold that every program reads again (``records.readable``), of
        at most ``charging.MOST_BYTES``. Where the ledger cannot take it now it is kept in memory and stored within a
        minute (``kept``): LedgerError says so, and ``charge`` with the same request stores or finds it. Raises
        InvalidArgument for anything else and for a request that was never charged, LedgerUnsound.
        """
        return charging.store_answer(self._store, request_id, answer, written)

    def stored(self, request_id: str) -> Receipt:
        """The receipt of an answer that is kept in memory, as soon as it is stored, which is waited for.

        Raises LedgerError where it is not there in the end.
        """
        self._store.kept.wait(request_id)
        return charging.stored(partial(self.receipt, request_id))

    def receipt(self, request_id: str) -> Receipt | None:
        """The receipt of a request, or None when nothing was charged for it."""
        with self._store.reading() as connection:
            return history.receipt(connection, request_id)

    def history(
        self,
        lineage: str,
        *,
        every_generation: bool = False,
        newest: int | None = None,
        kind: str = "",
        answers: bool = True,
    ) -> list[Receipt]:
        """Receipts of one lineage, oldest first; those before a practice reset only if asked.

        Only those with an answer that says of itself that it is of this ``kind``, and only the ``newest`` so many,
        where that is given. Without their ``answers``, which may be 4 MB each, they only say that there is one
        (``receipt`` has it). Raises UnknownLineage, InvalidArgument.
        """
        with self._store.reading() as connection:
            chosen = history.present(connection, lineage)[: 1 if every_generation else None]
            if text(kind=kind):
                chosen = [*chosen, history.of_kind(connection, kind)]
            return history.receipts(connection, *chosen, newest=newest, answers=answers)

    def count(self, lineage: str, *, every_generation: bool = False) -> int:
        """How many charges ``history`` would list. Raises UnknownLineage."""
        with self._store.reading() as connection:
            chosen = history.present(connection, lineage)
            return history.count(connection, *(chosen[:1] if every_generation else chosen))

    def answered(self, lineage: str, question: str) -> list[Receipt]:
        """Receipts of one question (by its digest) that have an answer, since the last reset, oldest first.

        Raises UnknownLineage.
        """
        with self._store.reading() as connection:
            chosen = [*history.present(connection, lineage), history.about(connection, question)]
            return history.receipts(connection, *chosen, history.answered(True))

    def answered_ids(self, lineage: str, *questions: str) -> list[str]:
        """The request ids of what ``answered`` lists, by all digests that a question has had, oldest first: how many
        there are, and which, without reading any answer (``receipt`` has it). Raises UnknownLineage."""
        with self._store.reading() as connection:
            chosen = [*history.present(connection, lineage), history.answered(True)]
            return history.ids_about(connection, questions, *chosen)

    def unanswered(self, lineage: str, question: str | None = None) -> list[Receipt]:
        """Charges that a crash left without an answer, since the last reset, oldest first; of one question if given.

        ``Receipt.state`` says whether their draw had begun, or failed in this process. Raises UnknownLineage.
        """
        with self._store.reading() as connection:
            chosen = history.present(connection, lineage)
            if question is not None:
                chosen = [*chosen, history.about(connection, question)]
            found = history.receipts(connection, *chosen, history.answered(False))
        return [replace(one, failed=one.request_id in self._store.failed) for one in found]

    def version(self, lineage: str | None = None) -> int:
        """A number that is another one as soon as anything new is on the record of one lineage, or of all."""
        with self._store.reading() as connection:
            return history.last(connection, lineage)

    def receipts(self, *, newest: int | None = None) -> list[Receipt]:
        """Every receipt of the ledger, oldest first; only the ``newest`` so many where that is given. Raises
        InvalidArgument."""
        with self._store.reading() as connection:
            return history.receipts(connection, newest=newest)

    def find(self, start: str) -> list[Receipt]:
        """Receipts whose journal hash begins so, at most two: enough to tell whether it is one. Raises
        InvalidArgument."""
        with self._store.reading() as connection:
            return history.receipts(connection, history.by_hash(start), newest=2)

    def confirms(self, receipt: Receipt | str) -> bool:
        """Whether the journal holds exactly this receipt (or its JSON): its charge by hash, and its answer.

        Raises LedgerUnsound when the journal does not have it as the database does.
        """
        return self.confirmed(receipt) is not None

    def confirmed(self, receipt: Receipt | str) -> Receipt | None:
        """The receipt that ``confirms`` finds, as the journal has it; None where it holds no such one.

        Of a receipt from before its answer was stored, that one without an answer. Raises LedgerUnsound.
        """
        return confirming.confirmed(self._store, receipt)

    def about(self, receipt: Receipt) -> str:
        """Whose data a receipt that ``confirmed`` gave is about: practice about which sample, what the people in a room
        entered, or real people's data. It names no budget; empty for a receipt that is not this ledger's.
        """
        return about.about(self._store, receipt)

    # -- reports ------------------------------------------------------------------------------------------------------

    def sealed(self, data: bytes, charges: Sequence[str] = (), budgets: Sequence[str] = ()) -> bytes:
        """A report (PDF, DOCX or HTML) with a seal that names its charges, by their journal hashes. ``budgets`` are the
        lineages of whose budgets it tells something beside them: who may not see one of these gets no seal.

        Raises InvalidArgument, and UnknownLineage for such a budget.
        """
        for lineage in budgets:
            self.budget(lineage)
        return seal.sealed(data, charges, self._store.key.derived("report"))

    def examine(self, data: bytes) -> Examined:
        """Whether a report is as it was sealed, and which of the charges it names the journal knows.

        Whoever has one that is as it was is told of charges that are not theirs to see, too: by its seal a server with
        this key made it, and whom it was handed is to learn that. A file that is not may name any. Raises
        InvalidArgument for a file without a seal, LedgerUnsound when the journal itself is damaged.
        """
        named, unchanged = seal.read(data, self._store.key.derived("report"))
        find = partial(Ledger.find, self) if unchanged else self.find
        found = {start: find(start) for start in named}
        receipts = tuple(matching[0] for matching in found.values() if len(matching) == 1)
        genuine = tuple(one for one in receipts if self.confirms(one))
        known = {one.journal_hash[: len(start)] for start in named for one in genuine}
        unknown = tuple(start for start in named if start not in known)
        since = "" if unchanged else self._keyed_since()
        return Examined(unchanged=unchanged, receipts=genuine, unknown=unknown, since=since)

    def _keyed_since(self) -> str:
        """When its owner last went on with another key (UTC); empty where nobody did."""
        with self._store.reading() as connection:
            found = [one.time for one in history.records(connection, "restore", "") if "key" in one.content]
        return found[-1] if found else ""
