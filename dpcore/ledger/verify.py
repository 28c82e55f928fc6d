"""Whether a ledger is sound: the database, its chain of records, its sums, and its journal agree.

The tables are worked out again from the records, and every row must come out as it is stored.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, Table, select

from dpcore.errors import LedgerUnsound
from dpcore.ledger import lodging, safeguards, schema
from dpcore.ledger.budget import SPENT, Caps
from dpcore.ledger.commands import RESTORE
from dpcore.ledger.records import CLOCK, FIRST, Record
from dpcore.ledger.roles import LEVELS, PEOPLE, ROLES
from dpcore.ledger.words import PERSON

_RESTORE = f"; it stays closed: run {RESTORE} with your last backup."
BROKEN_FILE = "The ledger's database file is damaged" + _RESTORE
BROKEN_CHAIN = "The ledger's records do not follow one another, so one was changed or lost" + _RESTORE
BROKEN_SUMS = "The ledger's totals do not match its records" + _RESTORE
BROKEN_GUARDS = "The ledger's tables have lost some of their safeguards" + _RESTORE
BESIDE = (
    "The ledger's tables have more than their safeguards, by which these may be undone ({}), so it stays closed: look "
    f"who made that, and drop it; where it was not you, run {RESTORE} with your last backup too."
)

_TOLD = 4
"""Of what is beside the safeguards, how much is told."""
_BATCH, _BYTES = 2000, 4 << 20
"""Records that are read at once: at most so many, and so many bytes of what they say, where one alone is not more."""


@dataclass(slots=True)
class Replay:
    """The tables that a chain of records leads to, built one record at a time."""

    seq: int = 0
    hash: str = FIRST
    lineages: dict[str, dict[str, Any]] = field(default_factory=dict)
    accounts: dict[tuple[str, int], dict[str, Any]] = field(default_factory=dict)
    fingerprints: dict[str, dict[str, Any]] = field(default_factory=dict)
    ended: set[str] = field(default_factory=set)
    unanswered: set[str] = field(default_factory=set)
    charges: int = 0
    clock_back: int = 0  # records whose clock stood earlier than that of the one before
    promised: dict[str, str] = field(default_factory=dict)  # by lineage, whom its opening said each answer protects
    strayed: int = 0  # charges of another unit than that, by a program of before it was on the record
    time: str = ""

    def add(self, record: Record) -> None:
        """Raises LedgerUnsound when the record does not belong here."""
        if record.seq != self.seq + 1 or record.previous != self.hash or not record.is_intact():
            raise LedgerUnsound(BROKEN_CHAIN)
        try:
            body = record.content
            if record.time < self.time and CLOCK not in body:
                raise ValueError
            getattr(self, f"_{record.kind}")(record.lineage, body)
            self._requests(record)
        except (KeyError, TypeError, ValueError, AttributeError, RecursionError):
            raise LedgerUnsound(BROKEN_CHAIN) from None
        self.clock_back += CLOCK in body
        self.seq, self.hash, self.time = record.seq, record.hash, record.time

    def _open(self, lineage: str, body: dict[str, Any]) -> None:
        if lineage in self.lineages:
            raise ValueError
        self.lineages[lineage] = {"name": body["name"], "practice": body["practice"], "generation": 1}
        self._start(lineage, 1, body["caps"], body.get("neighbours", ""))
        if "unit" in body:
            if not isinstance(body["unit"], str) or not body["unit"] or body["practice"]:
                raise ValueError
            self.promised[lineage] = body["unit"]

    def _start(self, lineage: str, generation: int, caps: dict[str, Any], neighbours: str = "") -> None:
        if (lineage, generation) in self.accounts:
            raise ValueError
        kept = {name: caps[name] for name in Caps.__slots__}
        self.accounts[lineage, generation] = {**kept, **dict.fromkeys(SPENT, 0), "neighbours": neighbours}

    def _charge(self, lineage: str, body: dict[str, Any]) -> None:
        if lineage in self.ended or (body.get("granted_by") and body["granted_by"] == body.get("subject")):
            raise ValueError
        account = self.accounts[lineage, body["generation"]]
        for name in SPENT:
            if type(body["units"][name]) is not int or body["units"][name] < 0:
                raise ValueError
            account[name] += body["units"][name]
        account["neighbours"] = _hidden(account["neighbours"], body)
        unit = body.get("unit") or PERSON
        self.strayed += self.promised.get(lineage, unit) != unit
        self.charges += 1

    def _requests(self, record: Record) -> None:
        """A charge is drawn for and answered after it, and answered once."""
        if record.kind == "charge":
            if record.request_id in self.unanswered:
                raise ValueError
            self.unanswered.add(record.request_id)
        elif record.kind in ("draw", "answer") and record.request_id not in self.unanswered:
            raise ValueError
        if record.kind == "answer":
            self.unanswered.remove(record.request_id)

    def _draw(self, lineage: str, body: dict[str, Any]) -> None:
        """The beginning of a draw changes no sum."""

    def _answer(self, lineage: str, body: dict[str, Any]) -> None:
        """An answer changes no sum."""

    def _reset(self, lineage: str, body: dict[str, Any]) -> None:
        if self.lineages[lineage]["practice"] != 1:
            raise ValueError
        # a reset that gives the budget another size says so
        caps = body.get("caps") or self.accounts[lineage, self.lineages[lineage]["generation"]]
        self._start(lineage, body["generation"], caps, body.get("neighbours", ""))
        self.lineages[lineage]["generation"] = body["generation"]

    def _undo(self, lineage: str, body: dict[str, Any]) -> None:
        if self.lineages[lineage]["practice"] != 1 or (lineage, body["generation"]) not in self.accounts:
            raise ValueError
        self.lineages[lineage]["generation"] = body["generation"]

    def _link(self, lineage: str, body: dict[str, Any]) -> None:
        if body["fingerprint"] in self.fingerprints or lineage not in self.lineages:
            raise ValueError
        self.fingerprints[body["fingerprint"]] = {"lineage": lineage, "sketch": body["sketch"]}

    def _rename(self, lineage: str, body: dict[str, Any]) -> None:
        self.lineages[lineage]["name"] = body["name"]

    def _others(self, lineage: str, body: dict[str, Any]) -> None:
        """What somebody said of why people who look alike are others; it changes no sum."""
        if body["than"] not in self.lineages or not body["because"]:
            raise ValueError

    def _restore(self, lineage: str, body: dict[str, Any]) -> None:
        """A note that the owner restored something; it changes no sum."""

    def _renew(self, lineage: str, body: dict[str, Any]) -> None:
        """A note that the chain was written anew (``renewal``); it changes no sum."""

    def _role(self, lineage: str, body: dict[str, Any]) -> None:
        """Roles of a person; they change no sum."""
        if not lineage.startswith(PEOPLE) or not set(body["roles"]) <= ROLES.keys():
            raise ValueError

    def _share(self, lineage: str, body: dict[str, Any]) -> None:
        if self.lineages[lineage]["practice"] or body["level"] not in LEVELS or not body["subject"]:
            raise ValueError

    def _limit(self, lineage: str, body: dict[str, Any]) -> None:
        if self.lineages[lineage]["practice"] or not isinstance(body["epsilon"], float | None):
            raise ValueError

    def _close(self, lineage: str, body: dict[str, Any]) -> None:
        if self.lineages[lineage]["practice"] or lineage in self.ended:
            raise ValueError
        self.ended.add(lineage)

    def _ask(self, lineage: str, body: dict[str, Any]) -> None:
        """A request changes no sum."""
        if lineage not in self.lineages or not body["subject"]:
            raise ValueError

    def _grant(self, lineage: str, body: dict[str, Any]) -> None:
        """It takes two persons; no sum changes."""
        if lineage not in self.lineages or not body["by"] or body["by"] == body["subject"]:
            raise ValueError

    def _refuse(self, lineage: str, body: dict[str, Any]) -> None:
        """By another person; or withdrawn by the same. No sum changes."""
        if not body.get("withdrawn"):
            self._grant(lineage, body)
        elif lineage not in self.lineages or not body["by"] or body["by"] != body["subject"]:
            raise ValueError

    def _compare(self, lineage: str, body: dict[str, Any]) -> None:
        """A person's file was compared with others' people; no sum changes."""
        if not lineage.startswith(PEOPLE) or not body["file"]:
            raise ValueError

    def _alike(self, lineage: str, body: dict[str, Any]) -> None:
        """A file of somebody else's looked like these people; no sum changes."""
        if self.lineages[lineage]["practice"] or not body["by"] or not body["file"]:
            raise ValueError

    def rows(self, table: Table) -> Iterator[dict[str, Any]]:
        """What ``table`` must hold."""
        if table is schema.lineages:
            return ({"lineage": key, **row} for key, row in self.lineages.items())
        if table is schema.accounts:
            return ({"lineage": key[0], "generation": key[1], **row} for key, row in self.accounts.items())
        return ({"fingerprint": key, **row} for key, row in self.fingerprints.items())


def _hidden(before: str, charge: dict[str, Any]) -> str:
    """What a budget hides after a charge."""
    if "counted_for" not in charge:  # from before migration 0002, which says the same in SQL
        return "replace_one" if charge["neighbours"] == "replace_one" else before or str(charge["neighbours"])
    now = str(charge["counted_for"])
    if before and now != before:
        raise ValueError
    return now


def stored_records(connection: Connection, after: int = 0) -> Iterator[Record]:
    """Records with a number above ``after``, in order."""
    kept, last = schema.records.c, after
    while (upto := portion_end(connection, last)) > last:
        chosen = select(schema.records).where(kept.seq > last, kept.seq <= upto).order_by(kept.seq)
        for row in connection.execute(chosen).mappings().all():
            yield Record(**row)
        last = upto


def portion_end(connection: Connection, after: int) -> int:
    """The number of the last record that is read at once with the one after ``after``, which itself where that is the
    last."""
    sizes = sizes_after(connection, after)
    return _upto(sizes) if sizes else after


def sizes_after(connection: Connection, after: int) -> list[tuple[int, int]]:
    """Number and bytes of the first records after ``after``, as many as are read at once at most, without a look at
    them."""
    kept = schema.records.c
    size = schema.size(kept.body, connection.dialect.name)
    ahead = select(kept.seq, size).where(kept.seq > after).order_by(kept.seq).limit(_BATCH)
    return [(int(seq), int(many or 0)) for seq, many in connection.execute(ahead)]


def _upto(sizes: Sequence[tuple[int, int]]) -> int:
    """The number of the last record that is read with the first: of numbers and bytes, in order."""
    upto, room = sizes[0][0], _BYTES - sizes[0][1]
    for seq, many in sizes[1:]:
        room -= many
        if room < 0:
            break
        upto = seq
    return upto


def verify_database(connection: Connection) -> Replay:
    """Check file, safeguards, chain and sums within one transaction. Raises LedgerUnsound."""
    if connection.dialect.name == "sqlite":
        found = connection.exec_driver_sql("PRAGMA integrity_check(1)").scalar()
        if found != "ok":
            raise LedgerUnsound(BROKEN_FILE)
    else:
        lodging.be_alone(connection)
    _guard(connection)
    replay = replayed(stored_records(connection))
    head = connection.execute(select(schema.head)).mappings().one_or_none()
    if head is None or head["seq"] != replay.seq or head["hash"] != replay.hash:
        raise LedgerUnsound(BROKEN_CHAIN)
    for table in (schema.lineages, schema.accounts, schema.fingerprints):
        names = table.columns.keys()
        # one set and bare rows: visitors' practice can be hundreds of thousands of them
        wanted = {tuple(row[name] for name in names) for row in replay.rows(table)}
        for row in connection.execute(select(table)):
            if tuple(row) not in wanted:
                raise LedgerUnsound(BROKEN_SUMS)
            wanted.remove(tuple(row))
        if wanted:
            raise LedgerUnsound(BROKEN_SUMS)
    return replay


def linked(records: Iterable[Record]) -> Iterator[Record]:
    """``records`` as long as they are one unbroken chain, whatever they say. Raises LedgerUnsound where it breaks."""
    seq, previous = 0, FIRST
    for record in records:
        if record.seq != seq + 1 or record.previous != previous or not record.is_intact():
            raise LedgerUnsound(BROKEN_CHAIN)
        seq, previous = record.seq, record.hash
        yield record


def replayed(records: Iterable[Record]) -> Replay:
    """The state after ``records``. Raises LedgerUnsound."""
    replay = Replay()
    for record in records:
        replay.add(record)
    return replay


def _guard(connection: Connection) -> None:
    """Raises LedgerUnsound unless every table, check, trigger and index of the migrations is in place and switched on,
    as it was, and nothing else is."""
    if connection.dialect.name == "sqlite":
        query = "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND tbl_name <> 'alembic_version'"
        if sqlite_form(map(str, connection.exec_driver_sql(query).scalars())) != SQLITE_SAFEGUARDS:
            raise LedgerUnsound(BROKEN_GUARDS)
        return
    lost, beside = safeguards.missing(connection)
    if lost:
        raise LedgerUnsound(BROKEN_GUARDS)
    if beside:
        raise LedgerUnsound(BESIDE.format("; ".join(beside[:_TOLD])))


def sqlite_form(statements: Iterable[str]) -> str:
    """What tells the statements that made a ledger's tables from any others; that of a backup's mark may be there."""
    return hashlib.sha256("\n".join(sorted(one for one in statements if one != MARKED)).encode()).hexdigest()


MARKED = "CREATE TABLE backup_mark (mark TEXT NOT NULL)"
"""By which a backup is known again (``backups``)."""
SQLITE_SAFEGUARDS = "23c7a260399a9158d392f62e6b947ff0cf15f73666655f88a0fab22dff748d41"
SQLITE_FORMS = frozenset(
    {
        "089978fc0772b73089f1000a20e98be2929fbce9e9d050dec9d9d3fcc90de682",
        "0bdf69cf8bfaadf3af2e2b60cb89405a097d346865d120c30f27e65dde1f7b7e",
        "e0ade0fbfae9fbdb1826d35b484fb41e3c104774971b13dedb945ecf64cd7469",
        "6075f0b9df2c2eab123e814284c2c205f5d1a76417fb7f84e53b65d5ef1cc23f",
        "b61e9c5f9194764860cf6ca529c4a05ba8d08c60e77375d0517ee1af682fb512",
        "10a2283ea4513c23eaa2d22062116cec15bbc30c281c82a50988fb6e7f447978",
        "6f56ebe3bf2543872572fbf69e418df3048160babfed35feb147005a0824f524",
        SQLITE_SAFEGUARDS,
    }
)
"""Every form that ledgers had, from the first."""
