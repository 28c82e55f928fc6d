"""A backup or a receipt that somebody made up, with hashes that fit: one sentence, and an end."""

from __future__ import annotations

import re
import sqlite3
from pathlib import Path

import pytest

from dpcore.costs import Cost
from dpcore.ledger import Ledger, backups
from dpcore.ledger import __main__ as tool
from dpcore.ledger.__main__ import main
from dpcore.ledger.records import FIRST, Record, sealed

DEEP = '{"answer":' + "[" * 100_000 + "]" * 100_000 + "}"
ENDLESS = """
CREATE VIEW records AS WITH RECURSIVE c(seq) AS (SELECT 1 UNION ALL SELECT seq + 1 FROM c)
    SELECT seq, 'open' kind, 'x' lineage, '' request_id, 't' time, '{}' body, '' previous, '' hash FROM c;
CREATE TABLE alembic_version(version_num); INSERT INTO alembic_version VALUES ('0010');
CREATE TABLE head(seq, hash, ledger_id)
"""
BODIES = {
    "deep": ("answer", DEEP),
    "a list": ("open", "[]"),
    "a text": ("open", '"x"'),
    "nothing": ("open", "{}"),
    "a number": ("charge", "5"),
    "a kind that is not": ("evil", "{}"),
    "an answer without one": ("answer", "{}"),
    "an event that is not": ("charge", '"event":{"type":"nothing"}'),
    "an event that is something else": ("charge", '"event":{"type":"dataclass","x":1}'),
    "less than nothing": ("charge", '"spent_epsilon":-100000000'),
    "a yes for a number": ("charge", '"spent_epsilon":true'),
    "part of a unit": ("charge", '"spent_epsilon":0.5'),
    "an answer that nobody asked for": ("answer", '{"answer":{"option":"made up"}}'),
    "a draw that nobody asked for": ("draw", "{}"),
}


@pytest.fixture
def genuine(tmp_path: Path) -> list[Record]:
    with Ledger.open(tmp_path / "source.sqlite3") as ledger:
        ledger.open_budget("people", epsilon=1.0)
        ledger.charge("q", "people", Cost(epsilon=0.1), "How many?")
        return ledger.records()


def made_up(genuine: list[Record], kind: str, body: str) -> str:
    """A chain that says so at its end, or, of a charge, in the place of what it says."""
    opened, charged = genuine
    if body.startswith('"') and ":" in body:
        body = re.sub(f"{body.partition(':')[0]}:[^,}}]*", body, charged.body, count=1)
        assert body != charged.body
    said = [(opened.kind, opened.lineage, "", opened.body)]
    said.append((kind, "people" if kind != "open" else "new", "" if kind == "open" else "q", body))
    lines, previous = [], FIRST
    for seq, (what, lineage, request_id, text) in enumerate(said, 1):
        bare = Record(
            seq=seq,
            kind=what,  # type: ignore[arg-type]
            lineage=lineage,
            request_id=request_id,
            time=opened.time,
            body=text,
            previous=previous,
            hash="",
        )
        lines.append(sealed(bare).line())
        previous = sealed(bare).hash
    return "".join(f"{line}\n" for line in lines)


def restored(backup: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    """Also where its owner trusts whoever kept it."""
    code = main(["--ledger", str(backup.with_suffix(".new")), "restore", str(backup), "--new-journal", "--unmarked"])
    return code, capsys.readouterr().err


@pytest.mark.parametrize("body", BODIES)
def test_a_backup_that_was_made_up_is_refused_in_a_sentence(
    genuine: list[Record], tmp_path: Path, capsys: pytest.CaptureFixture[str], body: str
) -> None:
    backup = tmp_path / "made_up.bak"
    backup.write_text(made_up(genuine, *BODIES[body]))
    code, told = restored(backup, capsys)
    assert (code, told.count("\n")) == (1, 1)
    assert "damaged itself" in told


def test_a_backup_whose_records_have_no_end_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    backup = tmp_path / "endless.db"
    with sqlite3.connect(backup) as connection:
        connection.executescript(ENDLESS)
    connection.close()
    code, told = restored(backup, capsys)
    assert code == 1
    assert "damaged itself" in told


SET_OFF = "WITH\nRECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM\nc) SELECT max(n) FROM c"
OWN = {
    "a trigger that ends in nothing": f"CREATE TRIGGER own AFTER UPDATE ON alembic_version BEGIN {SET_OFF}; END",
    "a trigger with a condition of its own": f"CREATE TRIGGER own BEFORE UPDATE ON records WHEN ({SET_OFF})\n"
    "BEGIN SELECT RAISE(ABORT, 'records only grows'); END",
    "a trigger that writes": "CREATE TRIGGER own AFTER UPDATE ON records BEGIN DELETE FROM head; END",
    "a column that is worked out": "CREATE TABLE own (a, b AS (printf('%.*c', 900000000, 'x')))",
    "one that is kept": "CREATE TABLE own (a, b AS (a) STORED)",
    "a check that takes long": "CREATE TABLE own (a CHECK (length(printf('%.*c', a, 'x')) > 0))",
    "an index that takes long": "CREATE INDEX own ON records (length(printf('%.*c', seq, 'x')))",
    "a table more": "CREATE TABLE own (a)",
    "a mark of another form": "DROP TABLE backup_mark; CREATE TABLE backup_mark (mark CHECK (length(mark) > 0))",
    "a version with a check": "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = "
    "'CREATE TABLE alembic_version (version_num CHECK (length(version_num) > 0))' WHERE name = 'alembic_version'",
    "a view that cannot be read": "CREATE VIEW own AS SELECT * FROM absent",
    "a view by another name": "CREATE TABLE own (a); PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = "
    "'CREATE VIEW own AS SELECT 1' WHERE name = 'own'",
}


@pytest.mark.parametrize("own", OWN)
def test_a_backup_with_something_of_somebody_s_own_is_not_brought_forward(
    genuine: list[Record], tmp_path: Path, capsys: pytest.CaptureFixture[str], own: str
) -> None:
    """Whatever sets something off when it is read or written, and whatever keeps that from being seen."""
    backup = tmp_path / "backup.db"
    with Ledger.open(tmp_path / "source.sqlite3") as ledger:
        ledger.backup(backup)
    assert backups._is_a_ledger_s(backup)
    with sqlite3.connect(backup) as connection:
        connection.executescript(OWN[own])
    connection.close()
    assert not backups._is_a_ledger_s(backup)
    code, told = restored(backup, capsys)
    assert (code, told.count("\n")) == (1, 1)
    assert "damaged itself" in told


def test_a_number_that_is_none_is_in_no_backup(
    genuine: list[Record], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    charged = genuine[1].body
    nothing = charged.replace('"epsilon":0.1', '"epsilon":0.1,"more":NaN', 1)
    assert nothing != charged
    for number, told in enumerate((charged, nothing)):
        backup = tmp_path / f"made_up_{number}.bak"
        backup.write_text(made_up(genuine, "charge", told))
        assert restored(backup, capsys)[0] == number


def test_what_is_believed_for_its_hashes_is_found_out(
    genuine: list[Record], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The test above can fail: so such a charge was once taken, and no receipt could be read any more."""
    monkeypatch.setattr(backups, "_unreadable", lambda records: 0)
    backup = tmp_path / "made_up.bak"
    backup.write_text(made_up(genuine, *BODIES["an event that is not"]))
    assert restored(backup, capsys)[0] == 0
    with pytest.raises(AttributeError):
        main(["--ledger", str(backup.with_suffix(".new")), "export"])


def test_a_receipt_has_an_end(
    genuine: list[Record], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = ["--ledger", str(tmp_path / "source.sqlite3"), "confirm"]
    large = tmp_path / "large"
    large.write_bytes(b" " * 65)
    monkeypatch.setattr(tool, "MOST_BYTES", 64)
    for path, told in (("/dev/zero", "must be a file"), (str(tmp_path), "must be a file"), (str(large), "at most")):
        assert main([*ledger, path]) == 1
        assert told in capsys.readouterr().err
