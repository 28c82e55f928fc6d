"""What others have made that hangs on the columns of the ledger's tables, where these are on a server: PostgreSQL
changes no column that a view reads, and no step to a newer form makes anew what is not the ledger's."""

from __future__ import annotations

from sqlalchemy import Connection, text

from dpcore.ledger.lodging import TABLES, plainly

_HANGING = """
WITH here AS (
    SELECT r.oid, r.reltype FROM pg_class r JOIN pg_namespace n ON n.oid = r.relnamespace
    WHERE n.nspname = :schema AND r.relkind = 'r' AND r.relname = ANY (:tables)
),
own AS (
    SELECT 'pg_class'::regclass AS classid, oid AS objid FROM here
    UNION SELECT 'pg_trigger'::regclass, oid FROM pg_trigger WHERE tgrelid IN (SELECT oid FROM here)
    UNION SELECT 'pg_constraint'::regclass, oid FROM pg_constraint WHERE conrelid IN (SELECT oid FROM here)
),
hanging AS (
    SELECT classid, objid, objsubid FROM pg_depend WHERE deptype = 'n' AND (classid, objid) NOT IN (TABLE own) AND (
        (refclassid = 'pg_class'::regclass AND refobjid IN (SELECT oid FROM here))
        OR (
            refclassid = 'pg_type'::regclass AND classid = 'pg_class'::regclass
            AND refobjid IN (SELECT t.oid FROM pg_type t, here WHERE here.reltype IN (t.oid, t.typelem))
        )
    )
)
SELECT DISTINCT coalesce(
    (
        SELECT pg_describe_object('pg_class'::regclass, w.ev_class, 0) FROM pg_rewrite w
        WHERE classid = 'pg_rewrite'::regclass AND w.oid = objid AND w.rulename = '_RETURN'
    ),
    pg_describe_object(classid, objid, objsubid)
)
FROM hanging ORDER BY 1
"""
"""Views by their own names, not by those of the rules that they are made of."""


def hanging(connection: Connection) -> list[str]:
    """What hangs there, each as PostgreSQL describes it ("view report.spending"), in order."""
    with plainly(connection) as schema:
        found = connection.execute(text(_HANGING), {"schema": schema, "tables": list(TABLES)}).scalars()
        return [str(one) for one in found]
