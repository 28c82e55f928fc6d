"""Links are found by who made them, and with statements and roles in their order, among however many records.

The chain and the tables stay as they are; only indexes are added.
"""

from __future__ import annotations

from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    in_bytes = "" if op.get_context().dialect.name == "sqlite" else ' COLLATE "C"'
    op.execute(f"CREATE INDEX links_by_start ON records (substr(body, 1, 400){in_bytes}) WHERE kind = 'link'")
    for name, kind in (("links", "link"), ("statements", "others"), ("roles", "role")):
        op.execute(f"CREATE INDEX {name}_in_order ON records (seq) WHERE kind = '{kind}'")
    op.execute("CREATE INDEX fingerprints_by_lineage ON fingerprints (lineage)")


def downgrade() -> None:
    raise NotImplementedError("a ledger is never taken back to an older form; restore a backup instead")
