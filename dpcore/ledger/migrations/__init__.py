"""How the ledger's tables came to be, one step a file, run by Alembic."""

from __future__ import annotations

NEWEST = "0010"
"""The last step; kept here so that a ledger that is up to date opens without loading Alembic."""

OLDER = ("0001", "0002")
"""Steps whose chains hold digests of data, and are written anew."""
