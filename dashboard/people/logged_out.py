"""Logins that somebody ended: their other tabs, and a copy of their cookie, still say that they are logged in.

Streamlit reads the cookie of a login when a page is opened and never again. So every run of every page asks here. What
is kept is a digest of each login that was ended, for as long as the login itself would have counted: in a file beside
the ledger's key, so that a server that is started anew, or another one with the same key, knows of it too.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from dpcore.errors import LedgerError

_WHICH = ("provider", "iss", "sub", "iat", "nonce")
"""What tells a login from any other: the nonce is random and new each time."""
_PATIENCE = 2.0
"""Seconds for which a log-out waits for another server that writes one down."""
_ended: dict[str, float] = {}
_read: tuple[Path, int, int] | None = None
_lock = threading.Lock()


def end(said: Mapping[str, Any], seconds: float) -> None:
    """From now on, and for so many ``seconds``, this login is none."""
    with _lock:
        _ended[_name(said)] = time.time() + seconds
        try:
            _write_down()
        except (OSError, LedgerError) as error:
            logging.getLogger(__name__).error(
                "a log-out counts until this server ends: %s", type(error).__name__, exc_info=error
            )


def is_ended(said: Mapping[str, Any]) -> bool:
    with _lock:
        try:
            with suppress(FileNotFoundError):  # nobody has logged out yet
                _read_again()
        except OSError as error:
            logging.getLogger(__name__).error("log-outs cannot be read: %s", type(error).__name__, exc_info=error)
            return True  # nobody knows whether it was ended
        return _ended.get(_name(said), 0.0) > time.time()


def _file() -> Path:
    from dpcore.ledger.files import beside  # where nobody logs in, nothing of it is needed before the first page
    from dpcore.ledger.key import key_path

    return beside(key_path(), "logged-out")


def _write_down() -> None:
    """All that was ended, here and at others, in one new file. Raises OSError, LedgerError."""
    from dpcore.ledger.files import beside
    from dpcore.ledger.lock import exclusive

    file = _file()
    file.parent.mkdir(parents=True, exist_ok=True)
    with exclusive(beside(file, "lock"), _PATIENCE):
        with suppress(FileNotFoundError):  # this is the first
            _read_again()
        now = time.time()
        for name in [name for name, until in _ended.items() if until < now]:
            del _ended[name]
        made = beside(file, "new")
        handle = os.open(made, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with open(handle, "w", encoding="ascii") as text:
            text.writelines(f"{name} {until:.0f}\n" for name, until in _ended.items())
            text.flush()
            os.fsync(handle)
        made.replace(file)


def _read_again() -> None:
    """What others ended since this server read it last. Raises OSError."""
    global _read
    file = _file()
    found = file.stat()
    seen = (file, found.st_mtime_ns, found.st_ino)
    if seen == _read:
        return
    for line in file.read_text(encoding="ascii", errors="replace").splitlines():
        name, _, until = line.partition(" ")
        if until.isdigit():
            _ended[name] = max(_ended.get(name, 0.0), float(until))
    _read = seen


def _name(said: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps([said.get(part) for part in _WHICH], default=str).encode()).hexdigest()
