"""Logins that somebody ended: their other tabs, and a copy of their cookie, still say that they are logged in.

Streamlit reads the cookie of a login when a page is opened and never again. So every run of every page asks here. What
is kept is a digest of each login that was ended, on this server, for as long as the login itself would have counted.
"""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections.abc import Mapping
from typing import Any

_WHICH = ("provider", "iss", "sub", "iat", "nonce")
"""What tells a login from any other: the nonce is random and new each time."""
_ended: dict[str, float] = {}
_lock = threading.Lock()


def end(said: Mapping[str, Any], seconds: float) -> None:
    """From now on, and for so many ``seconds``, this login is none."""
    now = time.monotonic()
    with _lock:
        for name in [name for name, until in _ended.items() if until < now]:
            del _ended[name]
        _ended[_name(said)] = now + seconds


def is_ended(said: Mapping[str, Any]) -> bool:
    return _name(said) in _ended


def _name(said: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps([said.get(part) for part in _WHICH], default=str).encode()).hexdigest()
