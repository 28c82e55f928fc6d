"""Budgets, the chain of records, and what keeps both from going backwards.

``accounts`` holds sums that only grow; a practice budget is reset by opening a new generation. A cap is kept while
one of the two accounts of ``dpcore.ledger.budget`` holds: ε and δ added up, or (kind ``approximate`` only) ρ.
"""

from __future__ import annotations

from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

_TABLES = """
CREATE TABLE head (
    id {int} NOT NULL PRIMARY KEY CHECK (id = 1),
    ledger_id TEXT NOT NULL,
    seq {big} NOT NULL CHECK (seq >= 0),
    hash TEXT NOT NULL CHECK (length(hash) = 64)
) {strict};
CREATE TABLE records (
    seq {big} NOT NULL PRIMARY KEY CHECK (seq >= 1),
    kind TEXT NOT NULL CHECK (kind IN ('open', 'charge', 'answer', 'reset', 'undo', 'link', 'rename', 'restore')),
    lineage TEXT NOT NULL,
    request_id TEXT NOT NULL,
    time TEXT NOT NULL,
    body TEXT NOT NULL,
    previous TEXT NOT NULL CHECK (length(previous) = 64),
    hash TEXT NOT NULL UNIQUE CHECK (length(hash) = 64),
    CHECK ((kind IN ('charge', 'answer')) = (request_id <> ''))
) {strict};
CREATE UNIQUE INDEX one_charge_per_request ON records (request_id) WHERE kind = 'charge';
CREATE UNIQUE INDEX one_answer_per_request ON records (request_id) WHERE kind = 'answer';
CREATE INDEX records_by_lineage ON records (lineage, kind);
CREATE TABLE lineages (
    lineage TEXT NOT NULL PRIMARY KEY CHECK (lineage <> ''),
    name TEXT NOT NULL,
    practice {int} NOT NULL CHECK (practice IN (0, 1)),
    generation {int} NOT NULL CHECK (generation >= 1 AND (practice = 1 OR generation = 1))
) {strict};
CREATE TABLE accounts (
    lineage TEXT NOT NULL REFERENCES lineages (lineage),
    generation {int} NOT NULL CHECK (generation >= 1),
    kind TEXT NOT NULL CHECK (kind IN ('pure', 'approximate')),
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
    PRIMARY KEY (lineage, generation),
    CHECK (kind = 'approximate' OR (cap_rho = -1 AND total_delta = 0)),
    CHECK (
        (beyond = 0 AND spent_epsilon <= cap_epsilon AND spent_delta <= cap_delta)
        OR (kind = 'approximate' AND unfit = 0 AND spent_rho <= cap_rho AND loose_delta <= cap_delta)
    )
) {strict};
CREATE TABLE fingerprints (
    fingerprint TEXT NOT NULL PRIMARY KEY CHECK (fingerprint <> ''),
    lineage TEXT NOT NULL REFERENCES lineages (lineage),
    sketch TEXT NOT NULL
) {strict};
INSERT INTO head (id, ledger_id, seq, hash) VALUES (1, {ledger_id}, 0, '{zeros}')
"""

_KEPT = {  # table: what an update would have to be to be refused
    "head": "NEW.id <> OLD.id OR NEW.ledger_id <> OLD.ledger_id OR NEW.seq <> OLD.seq + 1",
    "records": "1 = 1",
    "lineages": "NEW.lineage <> OLD.lineage OR NEW.practice <> OLD.practice",
    "accounts": (
        "NEW.lineage <> OLD.lineage OR NEW.generation <> OLD.generation OR NEW.kind <> OLD.kind "
        "OR NEW.cap_epsilon <> OLD.cap_epsilon OR NEW.cap_rho <> OLD.cap_rho OR NEW.cap_delta <> OLD.cap_delta "
        "OR NEW.total_delta <> OLD.total_delta OR NEW.spent_epsilon < OLD.spent_epsilon "
        "OR NEW.spent_delta < OLD.spent_delta OR NEW.beyond < OLD.beyond OR NEW.spent_rho < OLD.spent_rho "
        "OR NEW.loose_delta < OLD.loose_delta OR NEW.unfit < OLD.unfit"
    ),
    "fingerprints": "1 = 1",
}


def upgrade() -> None:
    sqlite = op.get_context().dialect.name == "sqlite"
    script = _TABLES.format(
        int="INTEGER",
        big="INTEGER" if sqlite else "BIGINT",
        strict="STRICT" if sqlite else "",
        ledger_id="lower(hex(randomblob(16)))" if sqlite else "replace(gen_random_uuid()::text, '-', '')",
        zeros="0" * 64,
    )
    for statement in script.split(";\n"):
        op.execute(statement)
    for statement in _sqlite_triggers() if sqlite else _postgresql_triggers():
        op.execute(statement)


def _sqlite_triggers() -> list[str]:
    made = []
    for table, refused in _KEPT.items():
        stop = f"BEGIN SELECT RAISE(ABORT, '{table} only grows'); END"
        made.append(f"CREATE TRIGGER {table}_stays BEFORE DELETE ON {table} {stop}")
        made.append(f"CREATE TRIGGER {table}_grows BEFORE UPDATE ON {table} WHEN {refused} {stop}")
    return made


def _postgresql_triggers() -> list[str]:
    made = [
        "CREATE FUNCTION ledger_only_grows() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN RAISE EXCEPTION '% only grows', TG_TABLE_NAME; END $$"
    ]
    act = "EXECUTE FUNCTION ledger_only_grows()"
    for table, refused in _KEPT.items():
        made.append(f"CREATE TRIGGER {table}_stays BEFORE DELETE ON {table} FOR EACH ROW {act}")
        made.append(f"CREATE TRIGGER {table}_kept BEFORE TRUNCATE ON {table} FOR EACH STATEMENT {act}")
        made.append(f"CREATE TRIGGER {table}_grows BEFORE UPDATE ON {table} FOR EACH ROW WHEN ({refused}) {act}")
    return made


def downgrade() -> None:
    raise NotImplementedError("a ledger is never taken back to an older form; restore a backup instead")
