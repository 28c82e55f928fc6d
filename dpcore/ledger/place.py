"""Where a ledger is: whether it is there, whether it may be made, and which files belong to it.

A ledger is made where nobody has had one: at the usual place, or where a caller says. One that EPSILON_LAB_LEDGER
names, and one that this server has had before (its key file knows), is never made in silence: every budget would be
whole again because a path was mistyped or a disk is not mounted.
"""

from __future__ import annotations

import os
import socket
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import URL, Engine, select

from dpcore.addresses import shown_address
from dpcore.errors import LedgerError, LedgerUnsound
from dpcore.ledger import key as keys
from dpcore.ledger import schema
from dpcore.ledger.commands import INIT, RESTORE
from dpcore.ledger.engine import data_folder, database_file, form, reading
from dpcore.ledger.files import beside, leads_nowhere, real
from dpcore.ledger.found import Found, look
from dpcore.ledger.journal import BEHIND, NO_JOURNAL, first, holds_record, is_begun, is_one, says_nothing
from dpcore.ledger.key import Key
from dpcore.ledger.lodging import schemas_of

GONE = (
    "There is no ledger at the place where it should be, so what was spent is not known and nothing is given out; "
    f"check the path and that its disk is mounted, or run {RESTORE} with a backup, or "
    f"{INIT} if there has never been one."
)
LEADS_NOWHERE = (
    "The ledger's place is a link to a file that is not there, so what was spent is not known and nothing is given "
    "out; check that the file's disk is mounted. Only where that file is lost, make an empty one of its name and run "
    f"{RESTORE} with a backup; if there has never been one, run {INIT}."
)
ANOTHER = (
    "The ledger at this place is not the one that was here before, so it stays closed; put the right one back, or run "
    f"{RESTORE} to go on with this one."
)
ANOTHERS = (
    "Another program's database is at this place, which is left as it is; check the path, or move that file away where "
    "the ledger shall be there."
)
NO_LEDGER = (
    "The file at this place is not a ledger, and is left as it is; check the path, or move that file away where the "
    "ledger shall be there."
)
NO_KEY = (
    "The server's key file cannot be read or written, so the ledger stays closed; name a place for it in "
    "EPSILON_LAB_KEY."
)
OF_THE_LEDGER = (
    "The journal's place is that of another file of the ledger, or of its key, so nothing was changed; name another "
    "place with `--journal`."
)
_FIRST = select(schema.records.c.hash).where(schema.records.c.seq == 1)
_JOURNAL = "journal at "
_OF_SQLITE = ("-wal", "-shm", "-journal")
_NOT_YET = ""  # instead of an identity: this computer came before the ledger held a record
KEPT = (
    "There was a ledger at this place and its journal is still there, so none is made anew: run "
    f"{RESTORE}, which brings everything back from it; only what shall be forgotten for good is moved away."
)
BESIDE = (
    "A ledger that this computer has a journal of is in the schema “{}” of this database, and none was made in another "
    "one, which could be a second ledger of the same budgets: let the account or the address name that schema "
    "(search_path). A ledger of other budgets takes a database of its own."
)
TWICE = (
    "This ledger is in the schema “{}” of its database as well as here, so it stays closed, for both would spend the "
    "same budgets: let the account or the address name the schema that was in use (search_path), and rename or drop "
    "the tables of the other."
)
PRESENT = "There is a ledger at this place already; nothing was changed."


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """One ledger's place. ``named`` says that EPSILON_LAB_LEDGER chose it; ``key`` is None for one in memory."""

    url: URL
    file: Path | None
    journal: Path | None
    named: bool
    key: Path | None

    @classmethod
    def of(
        cls, url: URL, location: str | os.PathLike[str] | None, journal: str | os.PathLike[str] | None = None
    ) -> Place:
        file = database_file(url)
        in_memory = file is None and url.get_backend_name() == "sqlite"
        named = location is None and bool(os.environ.get("EPSILON_LAB_LEDGER"))
        return cls(
            url=url,
            file=file,
            journal=None if journal is None else Path(journal),
            named=named,
            key=None if in_memory else keys.key_path(),
        )

    @property
    def name(self) -> str:
        """How the key file names it."""
        return str(self.file) if self.file is not None else shown_address(self.url)

    @property
    def _older_name(self) -> str:
        """How it was named where secrets stood among the parameters of its address."""
        return self.name if self.file is not None else self.url.render_as_string(hide_password=True)

    @property
    def real(self) -> Path | None:
        """The file itself, by whichever link it is named: what SQLite has beside it lies there."""
        return None if self.file is None else real(self.file)

    @property
    def lock(self) -> Path | None:
        """What whoever writes holds: of a file one lock, by whichever link it is named; None for a server."""
        return None if self.real is None else beside(self.real, "lock")

    def _usual_journal(self, file: Path) -> Path:
        """The journal beside a file: of a link beside the file it names, where there is none beside the link."""
        named = beside(file, "journal")
        return named if os.path.lexists(named) or not file.is_symlink() else beside(real(file), "journal")

    def check(self, create: bool | None) -> None:
        """Before anything is touched: a file that is not there, or is none of the ledger's. Raises LedgerError."""
        self._check_link(create=bool(create))
        self._check_journal()
        if self.file is None:
            return
        found = look(self.file)
        if found in (Found.NOTHING, Found.UNFILLED, Found.DATABASE):
            self._missing(create)
        self._leave(found)

    def check_free(self) -> None:
        """Before anything is made or brought back: a file that holds something and is none of the ledger's. Raises
        LedgerError."""
        self._check_link(create=False)
        self._check_journal()
        if self.file is not None:
            self._leave(look(self.file))

    def _check_link(self, *, create: bool) -> None:
        """A link to what is not there, which alone tells a disk that is not mounted from a ledger that is lost: only
        whoever asks to ``create`` one may have made the link first. Raises LedgerUnsound."""
        if self.file is None or self.real is None or not leads_nowhere(self.file):
            return
        if not create or not self.real.parent.is_dir() or self.real.is_symlink():  # one that leads to itself
            raise LedgerUnsound(LEADS_NOWHERE)

    def _check_journal(self) -> None:
        """A place where no journal can be: that of a file that the ledger has already, or that holds something else, a
        folder, or what may have no end. Raises LedgerUnsound."""
        path = self.journal or (None if self.file is None else self._usual_journal(self.file))
        if path is None:
            return
        own = {beside(real(self.key), "lock"), self.key} if self.key is not None else set()
        if self.real is not None and self.lock is not None:
            own |= {self.real, self.lock, *(self.real.with_name(self.real.name + end) for end in _OF_SQLITE)}
        if real(path) in {real(one) for one in own}:
            raise LedgerUnsound(OF_THE_LEDGER)
        if not is_one(path):  # looked at before anybody has to wait, for it may be large
            raise LedgerUnsound(NO_JOURNAL)

    def _leave(self, found: Found) -> None:
        if found is Found.DATABASE:
            raise LedgerError(ANOTHERS)
        if found is Found.UNREADABLE and not self._was_here():
            raise LedgerError(NO_LEDGER)

    def _was_here(self) -> bool:
        """Whether a file that says nothing itself is what became of a ledger: the key file knows one at this place, or
        its journal lies beside it. One that was named says nothing of what else was."""
        return self.pinned() is not None or (self.file is not None and holds_record(self._usual_journal(self.file)))

    def check_tables(self, engine: Engine, create: bool | None) -> None:
        """Once it can be reached: a database without tables, or with a ledger twice. Raises LedgerError."""
        present = form(engine) is not None
        if self.key is None:
            return
        if not present:
            self._missing(create)
        elif create:
            raise LedgerError(PRESENT)
        elif self.pinned() not in (None, identity(engine)):
            raise LedgerUnsound(ANOTHER)
        self._check_schemas(engine, present=present)

    def _check_schemas(self, engine: Engine, *, present: bool) -> None:
        """The ledger in another schema too, a copy say; before tables are made, one that this computer knows. Raises
        LedgerUnsound.

        What an address or an account names may have changed, and every budget would be whole again, or as it was.
        """
        if self.file is not None:
            return
        known = [] if present else [found.hash for path in self.journals() if (found := first(path)) is not None]
        with reading(engine) as connection:
            own = connection.execute(_FIRST).scalars().all() if present else []
            there = schemas_of(connection, [*known, *own])
        if there:
            raise LedgerUnsound((TWICE if present else BESIDE).format("”, “".join(there)))

    def _missing(self, create: bool | None) -> None:
        there = [journal for journal in self._journals_before() if not says_nothing(journal)]
        if there:
            behind = KEPT if create else BEHIND
            raise LedgerUnsound(behind if any(map(holds_record, there)) else NO_JOURNAL)
        if create is False or (create is None and (self.named or self.pinned() is not None)):
            raise LedgerUnsound(GONE)

    def _journals_before(self) -> list[Path]:
        """Where the journal of a ledger that was here may still be, on this computer."""
        if self.journal is not None:
            own = [self.journal]
        else:
            own = [] if self.file is None else [self._usual_journal(self.file)]
        before = self.pinned()
        if before is None or self.key is None or self.file is not None:
            return own
        known = keys.load(self.key)
        noted = [] if known is None else [name for name, one in known.ledgers.items() if one == before]
        # whatever its name was when it noted them: a container has another one each time
        return [*own, _folder() / f"{before}.journal", *(found for name in noted if (found := _noted_path(name)))]

    def pinned(self) -> str | None:
        """The identity of the ledger that was here before, None where none was. Raises LedgerError."""
        if self.key is None:
            return None
        try:
            found = keys.load(self.key)
        except OSError:
            raise LedgerError(NO_KEY) from None
        names = (self.name, self._older_name, self.name if self.real is None else str(self.real))
        return None if found is None else next((found.ledgers[one] for one in names if one in found.ledgers), None)

    def made_key(self) -> Key:
        """The server's key, made now where there is none. Raises LedgerError."""
        if self.key is None:
            return keys.fresh()
        try:
            return keys.made(self.key)
        except OSError:
            raise LedgerError(NO_KEY) from None

    def pin(self, engine: Engine, key: Key) -> None:
        """Know this ledger from now on, which is used with ``key``. Raises LedgerUnsound where that is not there."""
        if self.key is None:
            return
        known = identity(engine)
        keys.pin(self.key, key, self.name, known, instead_of=self._older_name)
        if self.real not in (None, self.file):  # or it would be made anew by the file's own name
            keys.pin(self.key, key, str(self.real), known)

    def journal_of(self, engine: Engine, before: str | None = None) -> Path | None:
        """Beside an SQLite file; for a server in the person's data folder; None for a database in memory, or so far.

        ``before`` is the ledger that a server without a record had before, whose journal is meant then.
        """
        if self.journal is not None:
            return self.journal
        if self.file is not None:
            return self._usual_journal(self.file)
        if before is None and (self.key is None or form(engine) is None):
            return None
        return _folder() / f"{before or identity(engine)}.journal"

    def journals(self) -> list[Path]:
        """Every journal of a server's ledger that this computer has in the usual place."""
        return sorted(_folder().glob("*.journal"))

    def is_new_here(self, engine: Engine, journal: Path) -> bool:
        """Whether this computer comes to a server's ledger for the first time, and so can have no more of a journal of
        it than the beginning of a first line, left where its disk was full or it died.

        A computer that had one before and has none now has lost it: that is for its owner to look at.
        """
        if self.file is not None or self.key is None or is_begun(journal):
            return False
        known = keys.load(self.key)
        if known is None:
            return True
        any_noted = any(name.startswith(_JOURNAL) for name in known.ledgers)
        if (self.name in known.ledgers or self._older_name in known.ledgers) and not any_noted:
            return False  # a key file from before journals were noted
        return known.ledgers.get(_noted(journal)) != identity(engine)

    def pin_journal(self, engine: Engine, journal: Path, key: Key) -> None:
        """Know from now on that this computer has a journal of a server's ledger, or none yet if it is new here. Raises
        LedgerUnsound as ``pin``."""
        if self.key is not None and self.file is None:
            known = _NOT_YET if self.is_new_here(engine, journal) else identity(engine)
            keys.pin(self.key, key, _noted(journal), known)

    def must_hold(self, key: Key) -> None:
        """Raises LedgerUnsound where the server's key is not there any more, or another."""
        if self.key is not None:
            keys.held(self.key, key)

    def keep_private(self, journal: Path | None) -> None:
        """Nobody but their owner may read the ledger's files, however they came to be."""
        files = (
            []
            if self.real is None
            else [self.real, *(self.real.with_name(self.real.name + end) for end in ("-wal", "-shm"))]
        )
        for path in [*files, *([] if journal is None else [journal])]:
            if os.name != "nt" and path.is_file() and path.stat().st_uid == os.geteuid():
                path.chmod(0o600)


def _folder() -> Path:
    return data_folder() / "journals"


def _noted(journal: Path) -> str:
    """How the key file, which several computers may have a copy of, names the journal of this one."""
    return f"{_JOURNAL}{socket.gethostname()}:{journal.absolute()}"


def _noted_path(name: str) -> Path | None:
    """Where a journal is that the key file names so; None for what is no journal's name."""
    path = name.removeprefix(_JOURNAL).partition(":")[2]
    return Path(path) if name.startswith(_JOURNAL) and path else None


def identity(engine: Engine) -> str:
    """What tells this ledger from every other."""
    with reading(engine) as connection:
        return str(connection.execute(select(schema.head.c.ledger_id)).scalar_one())
