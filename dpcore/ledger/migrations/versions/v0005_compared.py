"""Records of files that were compared with the people of somebody else's budget, and of those that looked alike.

The chain stays as it is; only the checks of the table of records change, which SQLite cannot do in place.
"""

from __future__ import annotations

from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

_RECORDS = """
CREATE TABLE records (
    seq {big} NOT NULL PRIMARY KEY CHECK (seq >= 1),
    kind TEXT NOT NULL CHECK (kind IN (
        'open', 'charge', 'draw', 'answer', 'reset', 'undo', 'link', 'others', 'rename', 'restore', 'renew',
        'role', 'share', 'limit', 'close', 'ask', 'grant', 'refuse',
        'compare', 'alike'
    )),
    lineage TEXT NOT NULL,
    request_id TEXT NOT NULL,
    time TEXT NOT NULL,
    body TEXT NOT NULL,
    previous TEXT NOT NULL CHECK (length(previous) = 64),
    hash TEXT NOT NULL UNIQUE CHECK (length(hash) = 64),
    CHECK ((kind IN ('charge', 'draw', 'answer', 'ask', 'grant', 'refuse')) = (request_id <> ''))
) {strict};
INSERT INTO records (seq, kind, lineage, request_id, time, body, previous, hash)
    SELECT seq, kind, lineage, request_id, time, body, previous, hash FROM old_records;
DROP TABLE old_records;
CREATE UNIQUE INDEX one_charge_per_request ON records (request_id) WHERE kind = 'charge';
CREATE UNIQUE INDEX one_draw_per_request ON records (request_id) WHERE kind = 'draw';
CREATE UNIQUE INDEX one_answer_per_request ON records (request_id) WHERE kind = 'answer';
CREATE UNIQUE INDEX one_ask_per_request ON records (request_id) WHERE kind = 'ask';
CREATE UNIQUE INDEX one_decision_per_request ON records (request_id) WHERE kind IN ('grant', 'refuse');
CREATE UNIQUE INDEX one_end_of_a_budget ON records (lineage) WHERE kind = 'close';
CREATE INDEX records_by_lineage ON records (lineage, kind, seq)
"""
_INDEXES = (
    *("one_charge_per_request", "one_draw_per_request", "one_answer_per_request", "one_ask_per_request"),
    *("one_decision_per_request", "one_end_of_a_budget", "records_by_lineage"),
)


def upgrade() -> None:
    sqlite = op.get_context().dialect.name == "sqlite"
    types = {"big": "INTEGER" if sqlite else "BIGINT", "strict": "STRICT" if sqlite else ""}
    for name in _INDEXES:
        op.execute(f"DROP INDEX {name}")
    op.execute("ALTER TABLE records RENAME TO old_records")
    for statement in _RECORDS.format(**types).split(";\n"):
        op.execute(statement)
    if sqlite:
        stop = "BEGIN SELECT RAISE(ABORT, 'records only grows'); END"
        op.execute(f"CREATE TRIGGER records_stays BEFORE DELETE ON records {stop}")
        op.execute(f"CREATE TRIGGER records_grows BEFORE UPDATE ON records WHEN 1 = 1 {stop}")
        return
    act = "EXECUTE FUNCTION ledger_only_grows()"
    op.execute(f"CREATE TRIGGER records_stays BEFORE DELETE ON records FOR EACH ROW {act}")
    op.execute(f"CREATE TRIGGER records_kept BEFORE TRUNCATE ON records FOR EACH STATEMENT {act}")
    op.execute(f"CREATE TRIGGER records_grows BEFORE UPDATE ON records FOR EACH ROW WHEN (1 = 1) {act}")


def downgrade() -> None:
    raise NotImplementedError("a ledger is never taken back to an older form; restore a backup instead")
