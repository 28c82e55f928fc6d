"""Names of rooms' budgets. Who has the token of a browser can tell which rooms it opened, and nobody else can.

Receipts of a room are on every phone in it: a name that was the same for two rooms would tell whose they are.
"""

from __future__ import annotations

import hashlib
import hmac
import os

START = "room:"


def lineage_for(token: str) -> str:
    """A new random name for one room that the browser with this secret opens."""
    nonce = os.urandom(8).hex()
    return f"{START}{nonce}:{_mark(nonce, token)}"


def opened_by(lineage: str, token: str) -> bool:
    """Whether the browser with this secret opened the room of this name."""
    parts = lineage.removeprefix(START).split(":")
    return lineage.startswith(START) and len(parts) == 2 and hmac.compare_digest(parts[1], _mark(parts[0], token))


def _mark(nonce: str, token: str) -> str:
    return hmac.digest(token.encode(), f"room {nonce}".encode(), hashlib.sha256).hex()[:20]
