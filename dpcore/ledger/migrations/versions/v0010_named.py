"""Budgets, charges and requests are found by whom they name, and answers by their question, among however many records.

The chain and what the tables hold stay as they are. On a server texts are ordered by their bytes from now on: in the
order of a language, which changes with the server's system, an index misses what is there.
"""

from __future__ import annotations

from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None
_NAMED = (
    ("opened_by_owner", "owner", "{}", "kind = 'open'"),
    ("shares_by_subject", "subject", "{}", "kind = 'share'"),
    ("asks_by_subject", "subject", "{}", "kind = 'ask'"),
    ("charges_by_subject", "subject", "{}, seq", "kind = 'charge'"),
    ("charges_by_question", "question", "lineage, {}", "kind = 'charge'"),
    ("others_by_file", "file", "{}", "kind = 'others'"),
    ("noted_by_person", "by", "{}, seq", "kind IN ('others', 'rename', 'role', 'share', 'limit')"),
)


_TEXTS = {
    "head": ("ledger_id", "hash"),
    "records": ("kind", "lineage", "request_id", "time", "body", "previous", "hash"),
    "lineages": ("lineage", "name"),
    "accounts": ("lineage", "kind", "counting", "neighbours"),
    "fingerprints": ("fingerprint", "lineage", "sketch"),
}


def upgrade() -> None:
    sqlite = op.get_context().dialect.name == "sqlite"
    if not sqlite:
        _order_by_bytes()
    find = "instr" if sqlite else "strpos"
    for index, name, columns, kinds in _NAMED:
        key = f'"{name}":"'
        after = f"substr(body, {find}(body, '{key}') + {len(key)}, 400)"
        value = f"substr({after}, 1, {find}({after} || '\"', '\"') - 1)"
        op.execute(f"CREATE INDEX {index} ON records ({columns.format(f'({value})')}) WHERE {kinds}")


def _order_by_bytes() -> None:
    """All indexes are made anew by it. No column changes that a trigger looks at, so each waits aside meanwhile."""
    kept = "SELECT tgname, pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal AND tgrelid = '{}'::regclass"
    for table, texts in _TEXTS.items():
        triggers = op.get_bind().exec_driver_sql(kept.format(table)).all()
        for name, _ in triggers:
            op.execute(f"DROP TRIGGER {name} ON {table}")
        columns = ", ".join(f'ALTER COLUMN {name} TYPE text COLLATE "C"' for name in texts)
        op.execute(f"ALTER TABLE {table} {columns}")
        for name, made in triggers:
            op.get_bind().exec_driver_sql(made.replace("%", "%%"))  # the schema may have any name
            op.execute(f"ALTER TABLE {table} ENABLE ALWAYS TRIGGER {name}")


def downgrade() -> None:
    raise NotImplementedError("a ledger is never taken back to an older form; restore a backup instead")
