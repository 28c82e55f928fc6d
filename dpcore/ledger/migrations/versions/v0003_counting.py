"""How a budget counts, the beginning of a draw, and records without digests of data.

Pure budgets go on as ``sum``, which is what they did; (ε, δ) budgets keep their two accounts as ``both``. The chain is
written anew by ``dpcore.ledger.renewal``, whose docstring says why; when the journal follows, a record says so.
"""

from __future__ import annotations

from typing import Any

from alembic import context, op
from sqlalchemy import Connection, column, table, text

from dpcore.ledger.records import Record
from dpcore.ledger.renewal import named, person, renewed

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

_RECORDS = """
CREATE TABLE records (
    seq {big} NOT NULL PRIMARY KEY CHECK (seq >= 1),
    kind TEXT NOT NULL CHECK (kind IN (
        'open', 'charge', 'draw', 'answer', 'reset', 'undo', 'link', 'others', 'rename', 'restore', 'renew'
    )),
    lineage TEXT NOT NULL,
    request_id TEXT NOT NULL,
    time TEXT NOT NULL,
    body TEXT NOT NULL,
    previous TEXT NOT NULL CHECK (length(previous) = 64),
    hash TEXT NOT NULL UNIQUE CHECK (length(hash) = 64),
    CHECK ((kind IN ('charge', 'draw', 'answer')) = (request_id <> ''))
) {strict};
CREATE UNIQUE INDEX one_charge_per_request ON records (request_id) WHERE kind = 'charge';
CREATE UNIQUE INDEX one_draw_per_request ON records (request_id) WHERE kind = 'draw';
CREATE UNIQUE INDEX one_answer_per_request ON records (request_id) WHERE kind = 'answer';
CREATE INDEX records_by_lineage ON records (lineage, kind, seq)
"""
_ACCOUNTS = """
CREATE TABLE accounts (
    lineage TEXT NOT NULL REFERENCES lineages (lineage),
    generation {int} NOT NULL CHECK (generation >= 1),
    kind TEXT NOT NULL CHECK (kind IN ('pure', 'approximate')),
    counting TEXT NOT NULL CHECK (counting IN ('sum', 'zcdp', 'both')),
    cap_epsilon {big} NOT NULL CHECK (cap_epsilon > 0),
    cap_rho {big} NOT NULL CHECK (cap_rho >= -1),
    cap_delta {big} NOT NULL CHECK (cap_delta >= 0),
    total_delta {big} NOT NULL CHECK (total_delta >= cap_delta),
    spent_epsilon {big} NOT NULL CHECK (spent_epsilon >= 0),
    spent_delta {big} NOT NULL CHECK (spent_delta >= 0),
    beyond {big} NOT NULL CHECK (beyond >= 0),
    spent_rho {big} NOT NULL CHECK (spent_rho >= 0),
    loose_delta {big} NOT NULL CHECK (loose_delta >= 0),
    unfit {big} NOT NULL CHECK (unfit >= 0),
    neighbours TEXT NOT NULL CHECK (neighbours IN ('', 'add_remove', 'replace_one')),
    PRIMARY KEY (lineage, generation),
    CHECK (kind = 'approximate' OR (cap_rho = -1 AND total_delta = 0 AND counting = 'sum')),
    CHECK ((counting = 'sum') = (cap_rho = -1)),
    CHECK (
        (counting <> 'zcdp' AND beyond = 0 AND spent_epsilon <= cap_epsilon AND spent_delta <= cap_delta)
        OR (counting = 'zcdp' AND unfit = 0 AND loose_delta = 0 AND spent_rho <= cap_rho)
        OR (counting = 'both' AND unfit = 0 AND spent_rho <= cap_rho AND loose_delta <= cap_delta)
    )
) {strict}
"""
_KEPT = ("lineage", "generation", "kind", "counting", "cap_epsilon", "cap_rho", "cap_delta", "total_delta")
_GROWS = ("spent_epsilon", "spent_delta", "beyond", "spent_rho", "loose_delta", "unfit")
_OLD = ("one_charge_per_request", "one_answer_per_request", "records_by_lineage")
_COLUMNS = (
    "lineage, generation, kind, {counting}, cap_epsilon, cap_rho, cap_delta, total_delta, spent_epsilon, spent_delta, "
    "beyond, spent_rho, loose_delta, unfit, neighbours"
)


def upgrade() -> None:
    sqlite = op.get_context().dialect.name == "sqlite"
    connection = op.get_bind()
    rows = connection.execute(text("SELECT * FROM records ORDER BY seq")).mappings()
    before = [Record(**row) for row in rows]
    _rebuild(sqlite)
    for name in ("head", "lineages", "fingerprints"):
        _unguard(name, sqlite)
    if before:
        _fill(connection, before, context.config.attributes["key"])
    refused = " OR ".join(
        [f"NEW.{name} <> OLD.{name}" for name in _KEPT]
        + [f"NEW.{name} < OLD.{name}" for name in _GROWS]
        + ["(OLD.neighbours <> '' AND NEW.neighbours < OLD.neighbours)"]
    )
    for name, refuse in (
        ("head", "NEW.id <> OLD.id OR NEW.ledger_id <> OLD.ledger_id OR NEW.seq <> OLD.seq + 1"),
        ("records", "1 = 1"),
        ("accounts", refused),
        ("lineages", "NEW.lineage <> OLD.lineage OR NEW.practice <> OLD.practice"),
        ("fingerprints", "1 = 1"),
    ):
        _guard(name, refuse, sqlite)


def _rebuild(sqlite: bool) -> None:
    """The two tables whose checks change, with their rows; SQLite cannot change a check in place."""
    types = {"int": "INTEGER", "big": "INTEGER" if sqlite else "BIGINT", "strict": "STRICT" if sqlite else ""}
    for name in _OLD:
        op.execute(f"DROP INDEX {name}")
    for name in ("records", "accounts"):
        op.execute(f"ALTER TABLE {name} RENAME TO old_{name}")
    for statement in [*_RECORDS.format(**types).split(";\n"), _ACCOUNTS.format(**types)]:
        op.execute(statement)
    counting = "CASE kind WHEN 'pure' THEN 'sum' ELSE 'both' END"
    source, target = _COLUMNS.format(counting=counting), _COLUMNS.format(counting="counting")
    op.execute(f"INSERT INTO accounts ({target}) SELECT {source} FROM old_accounts")  # noqa: S608 - names of our own
    for name in ("records", "accounts"):
        op.execute(f"DROP TABLE old_{name}")


def _fill(connection: Connection, before: list[Record], key: Any) -> None:
    """The chain as it is now, and the tables that name people and files after it."""
    after = renewed(before, key)
    columns = list(Record.__slots__)
    insert = table("records", *map(column, columns)).insert()
    connection.execute(insert, [{name: getattr(one, name) for name in columns} for one in after])
    connection.execute(text("UPDATE head SET hash = :hash"), {"hash": after[-1].hash})
    _rename(connection, key)


def _rename(connection: Connection, key: Any) -> None:
    """The tables of people and files, with names as in the chain."""
    people = [dict(row) for row in connection.execute(text("SELECT * FROM lineages")).mappings()]
    files = [dict(row) for row in connection.execute(text("SELECT * FROM fingerprints")).mappings()]
    connection.execute(text("DELETE FROM fingerprints"))
    for row in people:
        now = {**row, "old": row["lineage"], "lineage": person(row["lineage"], key), "name": named(row["name"], key)}
        if now["lineage"] == now["old"]:
            connection.execute(text("UPDATE lineages SET name = :name WHERE lineage = :lineage"), now)
            continue
        connection.execute(text("INSERT INTO lineages VALUES (:lineage, :name, :practice, :generation)"), now)
        connection.execute(text("UPDATE accounts SET lineage = :lineage WHERE lineage = :old"), now)
        connection.execute(text("DELETE FROM lineages WHERE lineage = :old"), now)
    for row in files:
        mark = {"mark": key.mark("file", row["fingerprint"]), "lineage": person(row["lineage"], key)}
        connection.execute(text("INSERT INTO fingerprints VALUES (:mark, :lineage, '')"), mark)


def _unguard(name: str, sqlite: bool) -> None:
    for end in ("stays", "grows") if sqlite else ("stays", "kept", "grows"):
        op.execute(f"DROP TRIGGER {name}_{end}" + ("" if sqlite else f" ON {name}"))


def _guard(name: str, refused: str, sqlite: bool) -> None:
    """Rows of ``name`` are never taken away, and never changed as ``refused`` says."""
    if sqlite:
        stop = f"BEGIN SELECT RAISE(ABORT, '{name} only grows'); END"
        op.execute(f"CREATE TRIGGER {name}_stays BEFORE DELETE ON {name} {stop}")
        op.execute(f"CREATE TRIGGER {name}_grows BEFORE UPDATE ON {name} WHEN {refused} {stop}")
        return
    act = "EXECUTE FUNCTION ledger_only_grows()"
    op.execute(f"CREATE TRIGGER {name}_stays BEFORE DELETE ON {name} FOR EACH ROW {act}")
    op.execute(f"CREATE TRIGGER {name}_kept BEFORE TRUNCATE ON {name} FOR EACH STATEMENT {act}")
    op.execute(f"CREATE TRIGGER {name}_grows BEFORE UPDATE ON {name} FOR EACH ROW WHEN ({refused}) {act}")


def downgrade() -> None:
    raise NotImplementedError("a ledger is never taken back to an older form; restore a backup instead")
