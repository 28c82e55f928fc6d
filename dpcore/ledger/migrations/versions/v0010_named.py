"""Budgets, charges and requests are found by whom they name, and answers by their question, among however many records.

The chain and the tables stay as they are; only indexes are added.
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
    ("noted_by_person", "by", "{}, seq", "kind IN ('others', 'rename', 'role', 'share', 'limit')"),
)


def upgrade() -> None:
    find = "instr" if op.get_context().dialect.name == "sqlite" else "strpos"
    for index, name, columns, kinds in _NAMED:
        key = f'"{name}":"'
        after = f"substr(body, {find}(body, '{key}') + {len(key)}, 400)"
        value = f"substr({after}, 1, {find}({after} || '\"', '\"') - 1)"
        op.execute(f"CREATE INDEX {index} ON records ({columns.format(f'({value})')}) WHERE {kinds}")


def downgrade() -> None:
    raise NotImplementedError("a ledger is never taken back to an older form; restore a backup instead")
