"""What the client of a PostgreSQL server may believe of a session that a pooler gave it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from psycopg import ConnectionInfo


def agreed(info: ConnectionInfo, execute: Callable[[str], object], name: str, value: str, other: str) -> bool:
    """Have both sides take a setting for ``value`` in this transaction, and whether they do: whoever asks goes by what
    a server said last, which a pooler may have from a session before, and one that is told what holds there says
    nothing; so it is told an ``other`` value first. ``name``, ``value`` and ``other`` are this program's own words."""
    for told in (other, value):
        if (info.parameter_status(name) or "").startswith(value):
            return True
        execute(f"SET LOCAL {name} TO '{told}'")
    return (info.parameter_status(name) or "").startswith(value)
