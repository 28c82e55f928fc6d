"""Whether the server's key is the one by which a ledger knows its files: another is never taken for it in silence.

By another key no file is recognised, so that the very same one would get a second whole budget, because a path was
mistyped or a disk is not mounted. Whoever has lost the key goes on by `restore --new-key`, which is on the record.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from sqlalchemy import Connection, Engine, select

from dpcore.errors import LedgerError, LedgerUnsound
from dpcore.ledger import key as keys
from dpcore.ledger import schema
from dpcore.ledger.engine import TROUBLE, form, must_be_of_rows, snapshot
from dpcore.ledger.history import last_link, records
from dpcore.ledger.key import ANOTHER, LOST, Key
from dpcore.ledger.migrations import OLDER
from dpcore.ledger.place import NO_KEY, Place
from dpcore.ledger.records import Record

SEALED = "sealed:"
"""How what a link keeps of its file begins where only the ledger's key can read it (``people``)."""
_AT_ONCE = 50


def key_of(where: Place, engine: Engine) -> Key:
    """The server's key for the ledger that is there, made now where that has no record. Raises LedgerError."""
    if where.key is None or form(engine) in (None, *OLDER):  # those of an older form know nothing by a key
        return where.made_key()
    found = present(where)
    with snapshot(engine) as connection:
        if found is None and connection.execute(select(schema.records.c.seq).limit(1)).scalar() is not None:
            raise LedgerUnsound(LOST)
        if found is not None and not knows(found, _kept(connection), records(connection, "restore", "")):
            raise LedgerUnsound(ANOTHER)
    return found or where.made_key()


def key_to_restore(where: Place, engine: Engine) -> tuple[Key, bool]:
    """The server's key and whether there is one: else one that is nowhere on disk yet. Raises LedgerError."""
    if where.key is None:
        return where.made_key(), True
    found = present(where)
    if found is None and _readable_form(engine) in OLDER:  # which is brought forward, and by this key from then on
        return where.made_key(), True
    return found or keys.fresh(), found is not None


def _readable_form(engine: Engine) -> str | None:
    """The form of the tables; None where there are none, or the database is damaged. Raises what says neither."""
    try:
        return form(engine)
    except TROUBLE as error:
        must_be_of_rows(error)
        return None


def strange(key: Key, chain: Sequence[Record], *, there: bool) -> str:
    """Why the server's key is not that of these records: there is none, or it knows none of their files; else empty."""
    if chain and not there:
        return LOST
    links = (str(record.content["sketch"]) for record in chain if record.kind == "link")
    return "" if knows(key, links, (record for record in chain if record.kind == "restore")) else ANOTHER


def knows(key: Key, kept: Iterable[str], restored: Iterable[Record]) -> bool:
    """Whether a key is the one that the owner last went on with, or else reads something of what links ``kept``.

    What is kept plain, as earlier versions did, tells nothing of a key.
    """
    taken = [str(record.content["key"]) for record in restored if "key" in record.content]
    if taken:
        return taken[-1] == mark(key)
    some = False
    for text in kept:
        if text.startswith(SEALED):
            some = True
            if key.unsealed("sketch", text.removeprefix(SEALED)) is not None:
                return True
    return not some


def check(connection: Connection, key: Key) -> None:
    """Whether the ledger still knows its files by ``key``, before one is noted by it: of two computers that came to an
    empty ledger each may have made one, and its owner may have gone on with another since. Raises LedgerUnsound."""
    last = last_link(connection)
    kept = [] if last is None else [str(last.content["sketch"])]
    if not knows(key, kept, records(connection, "restore", "")):
        raise LedgerUnsound(ANOTHER)


def mark(key: Key) -> str:
    """How a record names a key."""
    return key.mark("key")


def present(where: Place) -> Key | None:
    """The server's key, None where there is none. Raises LedgerError."""
    if where.key is None:
        return None
    try:
        return keys.load(where.key)
    except OSError:
        raise LedgerError(NO_KEY) from None


def _kept(connection: Connection) -> Iterator[str]:
    """What links keep of their files, some at a time: each may have 74 kB."""
    table, last = schema.fingerprints.c, ""
    while True:
        query = select(table.fingerprint, table.sketch).where(table.fingerprint > last)
        found = connection.execute(query.order_by(table.fingerprint).limit(_AT_ONCE)).all()
        if not found:
            return
        yield from (text for _, text in found)
        last = found[-1][0]
