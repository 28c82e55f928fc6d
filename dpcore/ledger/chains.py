"""Chains of records as they can be had: from the database, its journal, or a backup, sound or not."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

from sqlalchemy import Engine

from dpcore.errors import LedgerError, LedgerUnsound
from dpcore.ledger import aside
from dpcore.ledger.engine import (
    TROUBLE,
    NotBroughtForward,
    WrittenLater,
    ledger_url,
    make_engine,
    migrate,
    must_be_of_rows,
    snapshot,
)
from dpcore.ledger.journal import Journal, read_from, starts_old
from dpcore.ledger.key import Key
from dpcore.ledger.records import Record
from dpcore.ledger.renewal import renewed
from dpcore.ledger.verify import linked, stored_records, verify_database

_DISAGREE = (
    "The database, the backup and the journal tell different histories, so none can be trusted to be complete; "
    "nothing was changed. Keep all three and ask for help."
)
_KEPT_DISAGREE = (
    "Databases that were set aside beside this one go on differently, so none can be trusted to be complete; nothing "
    "was changed. Move the one away that shall not count."
)
_UNSEEN = (
    "{name}, which was set aside here, cannot be read now, so nothing was changed; check who may read it, and that the "
    "folder for temporary files (TMPDIR) has room for a copy, or move it away where it shall not count."
)


def from_database(engine: Engine, key: Key) -> tuple[list[Record], bool]:
    """The database's records as far as they are a chain, and whether the database is sound.

    Chains are handed out in the present form, whatever they were written in (``renewal``). Raises what says nothing of
    the database itself (``engine.must_be_of_rows``), WrittenLater, and NotBroughtForward of a server's.
    """
    try:
        migrate(engine, key, verify_database)
        with snapshot(engine) as connection:
            verify_database(connection)
            return list(stored_records(connection)), True
    except WrittenLater:
        raise
    except NotBroughtForward:
        if engine.dialect.name == "postgresql":  # a file alone is made anew from its records, in its own place
            raise
        return renewed(_readable(engine), key), False
    except (LedgerUnsound, *TROUBLE) as error:
        must_be_of_rows(error)
        return renewed(_readable(engine), key), False


def _readable(engine: Engine) -> list[Record]:
    kept: list[Record] = []
    try:
        with snapshot(engine) as connection:
            kept.extend(linked(stored_records(connection)))
    except (LedgerUnsound, TypeError, *TROUBLE) as error:
        must_be_of_rows(error)
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
        whole = read_from(path, found)
    except LedgerUnsound:
        whole = False
    return renewed(found, key), whole and bool(found)  # an emptied journal is a missing one


def is_left_of(path: Path, chain: Sequence[Record]) -> bool:
    """Whether the journal goes on with what ``chain`` has, whatever a process or a machine left that died."""
    journal = Journal(path)
    try:
        journal.read_on()
    except LedgerUnsound:
        return False
    return journal.ends_before(chain[journal.seq :]) and not journal.is_lost(chain)


def from_journals(paths: Sequence[Path], given: Sequence[Record], key: Key) -> tuple[list[Record], bool]:
    """The longest chain among these journals that begins as ``given`` does, and whether there is one, all of it: what
    any of them began to say stands there, or is ``given``.

    Raises LedgerUnsound where two that begin so go on differently.
    """
    found = [(path, *from_journal(path, key)) for path in paths]
    alike = [one for one in found if one[1] and given and one[1][0].hash == given[0].hash]
    if not alike:
        return [], False
    best = longest(*(chain for _, chain, _ in alike))
    known = longest(best, given)
    return best, all(whole and (is_left_of(path, known) or starts_old(path)) for path, _, whole in alike)


def set_aside(file: Path, key: Key) -> list[list[Record]]:
    """What databases hold that gave way at this place, each as far as it is a chain; none of them is touched.

    A program that died as it brought a ledger back may have left one that nothing else knows the end of. Raises
    LedgerError for one that cannot be read for another reason than what it holds.
    """
    return [_copied(kept, key) for kept in aside.kept(file)]


def _copied(kept: Path, key: Key) -> list[Record]:
    try:
        with tempfile.TemporaryDirectory() as folder:
            engine = make_engine(ledger_url(aside.copied(kept, Path(folder))))
            try:
                return from_database(engine, key)[0]
            finally:
                engine.dispose()
    except TROUBLE:
        raise LedgerError(_UNSEEN.format(name=kept.name)) from None


def with_more(chain: list[Record], others: Sequence[Sequence[Record]]) -> list[Record]:
    """``chain``, or the longest of the others that goes on where it ends; those that do not begin so are of another
    time. Raises LedgerUnsound where two go on differently."""
    last = len(chain)
    more = [other for other in others if len(other) > last and (not chain or other[last - 1].hash == chain[-1].hash)]
    try:
        return longest(chain, *more)
    except LedgerUnsound:
        raise LedgerUnsound(_KEPT_DISAGREE) from None


def known(chain: Sequence[Record], *others: Sequence[Record]) -> int:
    """How many records of ``chain`` stand in one of the others, of those that are its beginnings."""
    return max(len(other) for other in ([], *others) if not other or other[-1] in chain[len(other) - 1 : len(other)])


def longest(*chains: Sequence[Record]) -> list[Record]:
    """The longest chain; all others must be its beginnings. Raises LedgerUnsound."""
    best = max(chains, key=len)
    for chain in chains:
        if chain and chain[-1].hash != best[len(chain) - 1].hash:
            raise LedgerUnsound(_DISAGREE)
    return list(best)
