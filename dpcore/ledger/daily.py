"""How much one person writes into a ledger in a day by what costs no budget: names, shares, limits, links, sentences.

Every record stays for good, so that what nobody bounds would fill the disk. Whoever runs the program without a login is
nobody's subject, and not bounded.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from types import MappingProxyType
from typing import Any

from sqlalchemy import Connection, func, or_, select

from dpcore.errors import NotAllowed
from dpcore.ledger import history, schema
from dpcore.ledger.records import Kind, canonical, lately

MOST, DAY = 600, timedelta(days=1)
"""Records of one person in a day, but those that are bounded otherwise; as many as of practice (``rate``)."""
TOO_MANY = "You have changed as much in this ledger as one person can in a day; nothing was changed. Go on tomorrow."
OTHERWISE: Mapping[Kind, str] = MappingProxyType(
    {
        "charge": "spends a budget, or is practice (rate)",
        "draw": "one for a charge",
        "answer": "one for a charge",
        "reset": "is practice (rate)",
        "undo": "is practice (rate)",
        "ask": "so many a day, and so many that wait (approvals)",
        "grant": "one for what was asked",
        "refuse": "one for what was asked",
        "close": "one for a budget",
        "compare": "so many files a day (compared)",
        "alike": "one for a file that was compared and a budget",
        "restore": "by who looks after the ledger",
        "renew": "by who looks after the ledger",
    }
)
"""What bounds the records of these kinds; all others are counted here, also those of a kind that is yet to come."""


def must_be_few(connection: Connection, kind: Kind, body: Mapping[str, Any]) -> None:
    """Before a record is written. Raises NotAllowed."""
    by = body.get("by") or body.get("owner")
    if not by or kind in OTHERWISE:
        return
    kept, (since, until) = schema.records.c, lately(DAY)
    # from the newest record back to the first that is too old: a long ledger makes nobody wait
    before = select(kept.seq).where(kept.time <= since).order_by(kept.seq.desc()).limit(1).scalar_subquery()
    theirs = select(func.count()).where(
        kept.seq > func.coalesce(before, 0),
        kept.time <= until,
        kept.kind.not_in(OTHERWISE),
        or_(*(history.says(connection, f'"{name}":{canonical(by)}') for name in ("by", "owner"))),
    )
    if int(connection.execute(theirs).scalar_one()) >= MOST:
        raise NotAllowed(TOO_MANY)
