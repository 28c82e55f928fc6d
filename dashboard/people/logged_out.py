"""Logins that somebody ended: their other tabs, and a copy of their cookie, still say that they are logged in.

Streamlit reads the cookie of a login when a page is opened and never again. So every run of every page asks here. What
is kept is a digest of each login that was ended, for as long as the login itself would have counted, and a month: in a
file beside the ledger's key, so that a server that is started anew, or another one with the same key, knows of it too.
A log-out adds a line, of which others read no more than that; of who logged out ``MOST`` times all logins until then
are ended.
"""

from __future__ import annotations

import hashlib
import json
import logging
import math
import os
import secrets
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dpcore.errors import LedgerError

MOST = 50
_PERSON, _LOGIN = ("provider", "iss", "sub"), ("iat", "nonce")
"""What tells who it is, and a login from others of theirs: the nonce is random and new each time."""
_PATIENCE = 2.0
"""Seconds for which a log-out waits for another server that writes one down."""
_LINES, _TIDY = 1000, 60.0
"""So many, and twice as many as count, are written anew, where that was not looked for within so many seconds."""
_AHEAD = 30 * 24 * 3600.0
"""Seconds for which an ended login is kept after it would have ended by itself: a clock that was ahead for a moment, by
no more than this, makes none count again."""
_tidied = 0.0
_HEAD = 100


@dataclass(slots=True)
class _Theirs:
    """What one person ended: logins with when they would have, and all until ``before``, where there were many."""

    logins: dict[str, float] = field(default_factory=dict)
    before: float = 0.0
    until: float = 0.0


_ended: dict[str, _Theirs] = {}
_read: tuple[Path, bytes, int, int] | None = None
"""The file as it was read: where, its first line, how many bytes and lines of it."""
_seen: tuple[int, int, int] | None = None
"""As which the system knew it then."""
_lock = threading.Lock()


def end(said: Mapping[str, Any], seconds: float) -> None:
    """From now on, and for so many ``seconds``, this login is none."""
    with _lock:
        try:
            _write_down(said, time.time() + seconds)
        except (OSError, LedgerError) as error:
            logging.getLogger(__name__).error(
                "a log-out counts until this server ends: %s", type(error).__name__, exc_info=error
            )


def is_ended(said: Mapping[str, Any]) -> bool:
    with _lock:
        try:
            with suppress(FileNotFoundError):  # nobody has logged out yet
                _read_on()
        except OSError as error:
            logging.getLogger(__name__).error("log-outs cannot be read: %s", type(error).__name__, exc_info=error)
            return True  # nobody knows whether it was ended
        theirs, now = _ended.get(_name(said, _PERSON)), time.time()
        if theirs is None:
            return False
        early = _since(said) <= theirs.before and theirs.until > now
        return early or theirs.logins.get(_name(said, _LOGIN), 0.0) > now


def _file() -> Path:
    from dpcore.ledger.files import beside  # where nobody logs in, nothing of it is needed before the first page
    from dpcore.ledger.key import key_path

    return beside(key_path(), "logged-out")


def _write_down(said: Mapping[str, Any], until: float) -> None:
    """In the file, at its end, or in a new one where most of it counts no more; and here, whatever becomes of it.
    Raises OSError, LedgerError."""
    from dpcore.ledger.files import beside
    from dpcore.ledger.lock import exclusive

    file, person, login = _file(), _name(said, _PERSON), _name(said, _LOGIN)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with exclusive(beside(file, "lock"), _PATIENCE):
            with suppress(FileNotFoundError):  # this is the first
                _read_on()
            theirs = _ended.get(person)
            many = theirs is not None and len(theirs.logins) >= MOST
            latest = math.ceil(max(time.time(), _since(said)))  # a provider's clock may be ahead
            line = f"{person} {f'<{latest}' if many else login} {until:.0f}\n"
            handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            with open(handle, "w", encoding="ascii") as text:
                known = _read[2] if _read is not None and _read[0] == file else 0
                held = min(known, os.fstat(handle).st_size)  # nothing, where somebody took the file away
                os.ftruncate(handle, held)  # without a line that was not finished
                text.write(line if held else _head() + line)
                text.flush()
                os.fsync(handle)
            _read_on()
            if time.time() >= _tidied + _TIDY:
                _tidy(file)
    except (OSError, LedgerError):
        _ended.setdefault(person, _Theirs()).logins[login] = until
        raise


def _tidy(file: Path) -> None:
    """What counts no more is forgotten, and written down no more where it is most of the file. Raises OSError."""
    global _read, _tidied
    from dpcore.ledger.files import beside

    _tidied = time.time()
    now = _tidied - _AHEAD
    for person, theirs in list(_ended.items()):
        theirs.logins = {login: until for login, until in theirs.logins.items() if until >= now}
        if not theirs.logins and theirs.until < now:
            del _ended[person]
    count = sum(len(one.logins) + (one.until >= now) for one in _ended.values())
    if _read is None or _read[3] < max(_LINES, 2 * count):
        return
    lines = [f"{person} {login} {until:.0f}\n" for person, one in _ended.items() for login, until in one.logins.items()]
    lines += [f"{person} <{one.before:.0f} {one.until:.0f}\n" for person, one in _ended.items() if one.until >= now]
    made = beside(file, "new")
    handle = os.open(made, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with open(handle, "w", encoding="ascii") as text:
        head = _head()
        text.writelines([head, *lines])
        text.flush()
        os.fsync(handle)
    made.replace(file)
    _read = (file, head.encode(), file.stat().st_size, len(lines))


def _read_on() -> None:
    """What was added, here or by others, since this server read it last. Raises OSError."""
    global _read, _seen
    file = _file()
    found = file.stat()
    seen = (found.st_ino, found.st_mtime_ns, found.st_size)
    if _read is not None and _read[0] == file and seen == _seen:
        return
    with file.open("rb") as held:
        head = held.readline(_HEAD)
        same = _read is not None and _read[:2] == (file, head) and _read[2] <= found.st_size
        start, lines = (_read[2], _read[3]) if same and _read is not None else (0, 0)
        held.seek(start)
        added, _, _ = held.read().rpartition(b"\n")  # a line that is not all there is read when it is
    for line in added.decode("ascii", "replace").splitlines():
        person, login, until = (*line.split(" "), "", "", "")[:3]
        if until.isdigit():
            _note(person, login, float(until))
            lines += 1
    _read, _seen = (file, head, start + len(added) + (1 if added else 0), lines), seen


def _head() -> str:
    """The first line of a new file, by which it is known: a system gives the number of one that is gone once more."""
    return f"{secrets.token_hex(16)}\n"


def _note(person: str, login: str, until: float) -> None:
    theirs = _ended.setdefault(person, _Theirs())
    if not login.startswith("<"):
        theirs.logins[login] = max(theirs.logins.get(login, 0.0), until)
    elif login[1:].isdigit():
        theirs.before, theirs.until = max(theirs.before, float(login[1:])), max(theirs.until, until)
        theirs.logins = {}  # each of them began before


def _since(said: Mapping[str, Any]) -> float:
    since = said.get("iat")
    return float(since) if isinstance(since, int | float) else 0.0


def _name(said: Mapping[str, Any], which: tuple[str, ...]) -> str:
    return hashlib.sha256(json.dumps([said.get(part) for part in which], default=str).encode()).hexdigest()
