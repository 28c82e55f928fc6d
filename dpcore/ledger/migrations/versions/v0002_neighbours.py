"""What a budget hides: a row added or removed, or a row replaced; empty until it is said or the first charge says it.

A budget from before may have counted both kinds as they were. It hides replaced rows from now on if any charge of it
did, and what was charged until then stays as it was.
"""

from __future__ import annotations

from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

_COLUMN = (
    "ALTER TABLE accounts ADD COLUMN neighbours TEXT NOT NULL DEFAULT '' "
    "CHECK (neighbours IN ('', 'add_remove', 'replace_one'))"
)
_FROM_CHARGES = """
UPDATE accounts SET neighbours = COALESCE((
    SELECT MAX({said}) FROM records
    WHERE kind = 'charge' AND records.lineage = accounts.lineage AND {generation} = accounts.generation
    AND {said} IN ('add_remove', 'replace_one')
), '')
"""
_KEPT = ("lineage", "generation", "kind", "cap_epsilon", "cap_rho", "cap_delta", "total_delta")
_GROWS = ("spent_epsilon", "spent_delta", "beyond", "spent_rho", "loose_delta", "unfit")


def upgrade() -> None:
    sqlite = op.get_context().dialect.name == "sqlite"
    op.execute(_COLUMN)
    said, generation = "json_extract(body, '$.neighbours')", "json_extract(body, '$.generation')"
    if not sqlite:
        said, generation = "(body::json ->> 'neighbours')", "(body::json ->> 'generation')::integer"
    # of the two names the stricter one is the later in the alphabet
    op.execute(_FROM_CHARGES.format(said=said, generation=generation))
    refused = " OR ".join(
        [f"NEW.{name} <> OLD.{name}" for name in _KEPT]
        + [f"NEW.{name} < OLD.{name}" for name in _GROWS]
        + ["(OLD.neighbours <> '' AND NEW.neighbours < OLD.neighbours)"]
    )
    if sqlite:
        op.execute("DROP TRIGGER accounts_grows")
        stop = "BEGIN SELECT RAISE(ABORT, 'accounts only grows'); END"
        op.execute(f"CREATE TRIGGER accounts_grows BEFORE UPDATE ON accounts WHEN {refused} {stop}")
    else:
        op.execute("DROP TRIGGER accounts_grows ON accounts")
        act = "EXECUTE FUNCTION ledger_only_grows()"
        op.execute(f"CREATE TRIGGER accounts_grows BEFORE UPDATE ON accounts FOR EACH ROW WHEN ({refused}) {act}")


def downgrade() -> None:
    raise NotImplementedError("a ledger is never taken back to an older form; restore a backup instead")
