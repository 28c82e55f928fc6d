"""Names of budgets are found by whose practice they are, and those of real people among however many rooms.

The chain and the tables stay as they are; only indexes are added.
"""

from __future__ import annotations

from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("CREATE INDEX lineages_by_end ON lineages (substr(lineage, length(lineage) - 19))")
    op.execute(
        "CREATE INDEX lineages_of_people ON lineages (lineage) WHERE practice = 0 AND substr(lineage, 1, 5) <> 'room:'"
    )


def downgrade() -> None:
    raise NotImplementedError("a ledger is never taken back to an older form; restore a backup instead")
