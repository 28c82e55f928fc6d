"""A server's triggers fire in every session, whatever it takes itself for: those of a replica fired none.

The chain and the tables stay as they are. SQLite knows no such sessions.
"""

from __future__ import annotations

from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    if op.get_context().dialect.name == "sqlite":
        return
    for table in ("head", "records", "lineages", "accounts", "fingerprints"):
        for end in ("stays", "kept", "grows"):
            op.execute(f"ALTER TABLE {table} ENABLE ALWAYS TRIGGER {table}_{end}")


def downgrade() -> None:
    raise NotImplementedError("a ledger is never taken back to an older form; restore a backup instead")
