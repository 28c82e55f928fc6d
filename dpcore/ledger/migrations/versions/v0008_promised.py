"""The record of an opening may say whom the budget protects, and a statement names its file by a mark.

The chain and the tables stay as they are. But a program of before would take the first charge for what the budget
protects, and a sentence about one file for all: this step keeps it out.
"""

from __future__ import annotations

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Nothing but the number changes."""


def downgrade() -> None:
    raise NotImplementedError("a ledger is never taken back to an older form; restore a backup instead")
