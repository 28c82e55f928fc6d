"""Ledgers from before: brought to the new form with nothing in any file that a guess of the data could be tested on."""

from __future__ import annotations

import hashlib
import json
import math
import os
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import Connection, column, create_engine, insert, select, table, text, update

from dpcore.accounting import Cost
from dpcore.ledger import BudgetExceeded, Ledger, LedgerUnsound, engine, key, schema, store
from dpcore.ledger.__main__ import main
from dpcore.ledger.budget import SPENT
from dpcore.ledger.journal import Journal, write_anew
from dpcore.ledger.records import FIRST, Record, cost_to_json, next_record
from dpcore.ledger.recovery import restore
from tests.ledger.conftest import Place, unguarded

ROW, FILE = hashlib.sha256(b"a row").hexdigest(), hashlib.sha256(b"all rows").hexdigest()
PURE = {"kind": "pure", "cap_epsilon": 10**9, "cap_rho": -1, "cap_delta": 0, "total_delta": 0}
BOTH = {
    "kind": "approximate",
    "cap_epsilon": 10**9,
    "cap_rho": 15 * 10**9,
    "cap_delta": 5 * 10**12,
    "total_delta": 10**13,
}


def old_records() -> list[Record]:
    """What earlier versions wrote: people named by a digest of all their rows, and digests of rows beside it."""
    cost = Cost.pure(0.25)
    units = {**dict.fromkeys(SPENT, 0), "spent_epsilon": 25 * 10**7}
    loose = {**units, "spent_rho": 31 * 10**9 // 1000, "loose_delta": 10**12, "spent_delta": 10**12}
    charge = {
        "what": "How many?", "mechanism": "m", "neighbours": "add_remove", "question": "q", "cost": cost_to_json(cost),
        "generation": 1, "units": units, "versions": {}, "counted_for": "add_remove",
    }  # fmt: skip
    parts = [
        ("open", FILE, "", {"name": FILE, "practice": 0, "caps": PURE, "neighbours": ""}),
        ("link", FILE, "", {"fingerprint": FILE, "sketch": ROW[:16]}),
        ("charge", FILE, "r0", charge),
        ("answer", FILE, "r0", {"answer": {"count": 7}}),
        ("open", "sample:clinic", "", {"name": "Clinic", "practice": 1, "caps": BOTH, "neighbours": "add_remove"}),
        ("charge", "sample:clinic", "r1", {**charge, "units": loose}),
    ]
    made: list[Record] = []
    for kind, lineage, request_id, body in parts:
        previous = made[-1].hash if made else FIRST
        made.append(next_record(len(made) + 1, previous, kind, lineage=lineage, request_id=request_id, body=body))
    return made


def as_before(place: Place, monkeypatch: pytest.MonkeyPatch, records: list[Record]) -> None:
    """The ledger as the second migration left it."""
    monkeypatch.setattr(engine, "NEWEST", "0002")
    old = engine.make_engine(engine.ledger_url(place.url))
    place.journal.parent.mkdir(parents=True, exist_ok=True)
    engine.migrate(old, key.fresh())
    monkeypatch.undo()

    def put(connection: Connection, target: str, /, **row: object) -> None:
        connection.execute(insert(table(target, *map(column, row))).values(row))

    with engine.writing(old) as connection:
        for record in records:
            put(connection, "records", **{name: getattr(record, name) for name in Record.__slots__})
            connection.execute(update(schema.head).values(seq=record.seq, hash=record.hash))
        put(connection, "lineages", lineage=FILE, name=FILE, practice=0, generation=1)
        put(connection, "lineages", lineage="sample:clinic", name="Clinic", practice=1, generation=1)
        for lineage, caps, charge in ((FILE, PURE, records[2]), ("sample:clinic", BOTH, records[5])):
            units = charge.content["units"]
            put(connection, "accounts", lineage=lineage, generation=1, neighbours="add_remove", **caps, **units)
        put(connection, "fingerprints", fingerprint=FILE, lineage=FILE, sketch=ROW[:16])
    old.dispose()
    Journal(place.journal).add(records)


def old_receipt(charge: Record, answer: Record | None) -> dict[str, object]:
    """A receipt as its holder has it."""
    body = charge.content
    return {
        "request_id": charge.request_id, "lineage": charge.lineage, "what": body["what"], "mechanism": "m",
        "neighbours": "add_remove", "epsilon": 0.25, "rho": 0.03125, "delta": 0.0, "time": charge.time, "versions": {},
        "generation": 1, "question": "q", "journal_hash": charge.hash,
        "answer": None if answer is None else answer.content["answer"],
        "answer_hash": None if answer is None else answer.hash, "counted_for": "add_remove",
    }  # fmt: skip


def told(place: Place) -> bytes:
    """Everything that the ledger's own files hold; of a server, all rows."""
    found = [path.read_bytes() for path in place.journal.parent.iterdir() if path.is_file()]
    if place.database is None:
        reader = create_engine(place.url)
        with reader.connect() as connection:
            version = connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
            for each in schema.metadata.sorted_tables:
                columns = [one for one in each.c if version == "0003" or one.name != "counting"]
                found += [repr(row).encode() for row in connection.execute(select(*columns))]
        reader.dispose()
    return b"\n".join(found)


def digests_in(data: bytes, records: list[Record]) -> list[str]:
    """Digests of data in ``data``, and hashes over them: somebody who guesses all rows can compute each of these."""
    return [one for one in (FILE, ROW[:16], *(record.hash for record in records)) if one.encode() in data]


def test_digests_are_gone_and_everything_else_is_as_it_was(
    place: Place, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    records = old_records()
    as_before(place, monkeypatch, records)
    assert len(digests_in(told(place), records)) > 2, "the test would find them"
    with place.open() as ledger:
        people, clinic = sorted(ledger.budgets(), key=lambda one: one.practice)
        assert people.lineage.startswith("people-")
        assert (people.name, people.counting, people.remaining.epsilon) == (people.lineage, "sum", 0.75)
        assert (clinic.lineage, clinic.counting, clinic.neighbours) == ("sample:clinic", "both", "add_remove")
        assert clinic.remaining.zcdp == 0.0  # closed by what no proof covers
        assert [one.lineage for one in ledger.similar(FILE, None, among=[people.lineage])] == [people.lineage]
        assert ledger.renewed_at is not None
        held = old_receipt(records[2], records[3])
        for receipt in (held, old_receipt(records[2], None), old_receipt(records[5], None)):
            assert ledger.confirms(json.dumps(receipt))
        for name, value in (
            ("lineage", people.lineage),
            ("epsilon", 0.1),
            ("journal_hash", "0" * 64),
            ("answer_hash", "0" * 64),
            ("answer", {"count": 8}),
        ):
            assert not ledger.confirms(json.dumps(held | {name: value})), name
        assert ledger.confirms(ledger.receipt("r0"))
        ledger.charge("r2", people.lineage, Cost.pure(0.25), "?", neighbours="add_remove")
        in_rho_alone = Cost(epsilon=math.inf, rho=1e-4)
        with pytest.raises(BudgetExceeded):
            ledger.charge("r3", "sample:clinic", in_rho_alone, "?", neighbours="add_remove")
        ledger.reset_practice("sample:clinic")
        ledger.charge("r3", "sample:clinic", in_rho_alone, "?", neighbours="add_remove")
        ledger.verify()
        ledger.backup(place.journal.with_name("backup"))
    assert digests_in(told(place), records) == []
    assert "renew" in {json.loads(line)["kind"] for line in place.journal.read_text().splitlines()}
    place.open().close()


@pytest.mark.parametrize("dies_at", ["rewrite_files", "write_anew"])
def test_a_crash_halfway_is_made_up_for(place: Place, monkeypatch: pytest.MonkeyPatch, dies_at: str) -> None:
    """The database is committed, its files or the journal are not written anew yet."""
    records = old_records()
    as_before(place, monkeypatch, records)

    def die(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(store, dies_at, die)
    with pytest.raises(KeyboardInterrupt):
        place.open()
    monkeypatch.undo()
    with place.open() as ledger:
        assert ledger.count("sample:clinic") == 1
        ledger.verify()
    assert digests_in(told(place), records) == []


def test_a_backup_from_before_is_still_one(
    sqlite_place: Place, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """An old backup, database or journal, is a beginning of the ledger written anew; only with the same key."""
    records = old_records()
    as_before(sqlite_place, monkeypatch, records)
    with sqlite3.connect(sqlite_place.database) as now, sqlite3.connect(tmp_path / "old.db") as copy:
        now.backup(copy)
    now.close()
    copy.close()
    (tmp_path / "old.journal").write_bytes(sqlite_place.journal.read_bytes())
    with sqlite_place.open() as ledger:
        people = next(one.lineage for one in ledger.budgets() if not one.practice)
        ledger.charge("later", people, Cost.pure(0.5), "?", neighbours="add_remove")
    for source in ("old.db", "old.journal"):
        for ending in ("", "-wal", "-shm"):
            sqlite_place.database.with_name(sqlite_place.database.name + ending).unlink(missing_ok=True)
        restore(sqlite_place.url, source=tmp_path / source)
        with sqlite_place.open() as ledger:
            assert ledger.remaining(people).epsilon == 0.25
    os.environ["EPSILON_LAB_KEY"], kept = str(tmp_path / "another.key"), os.environ["EPSILON_LAB_KEY"]
    try:
        with pytest.raises(LedgerUnsound, match="different histories"):
            restore(sqlite_place.url, source=tmp_path / "old.db")
    finally:
        os.environ["EPSILON_LAB_KEY"] = kept


@pytest.mark.parametrize("harm", ["journal gone", "journal emptied", "journal ahead", "record changed", "sum changed"])
def test_a_ledger_that_is_not_sound_is_not_written_anew(
    new_place: Callable[[], Place], monkeypatch: pytest.MonkeyPatch, harm: str
) -> None:
    """Nothing may be laundered on the way."""
    place, records = new_place(), old_records()
    as_before(place, monkeypatch, records)
    changes = {
        "record changed": "UPDATE records SET body = replace(body, '250000000', '1') WHERE seq = 3",
        "sum changed": "UPDATE accounts SET spent_epsilon = spent_epsilon + 1",
    }
    if harm == "journal gone":
        place.journal.unlink()
    elif harm == "journal emptied":
        place.journal.write_bytes(b"")
    elif harm == "journal ahead":
        more = next_record(7, records[-1].hash, "rename", lineage=FILE, body={"name": "x"})
        write_anew(place.journal, [*records, more])
    else:
        _edit(place, changes[harm])
    with pytest.raises(LedgerUnsound, match=r"stays closed"):
        place.open()
    reader = create_engine(place.url)
    with reader.connect() as connection:
        assert connection.execute(text("SELECT version_num FROM alembic_version")).scalar() == "0002"
    reader.dispose()


def _edit(place: Place, statement: str) -> None:
    """As somebody with full rights would."""
    writer = create_engine(place.url)
    with writer.begin() as connection:
        unguarded(connection, statement)
    writer.dispose()


def test_the_owner_is_told_of_older_copies(
    place: Place, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    as_before(place, monkeypatch, old_records())
    assert main(["--ledger", place.url, "--journal", str(place.journal), "status"]) == 0
    assert "Backups and receipts from before still hold them" in capsys.readouterr().out


def test_a_digest_is_no_name_for_people(ledger: Ledger) -> None:
    """Mutant of the rule above: a caller that goes on as before is told."""
    with pytest.raises(ValueError, match="lineage must be a random name"):
        ledger.open_budget(FILE, epsilon=1.0)
    one, other = Ledger.new_lineage(), Ledger.new_lineage()
    assert one != other
    ledger.open_budget(one, epsilon=1.0)
