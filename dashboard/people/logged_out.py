"""Logins that somebody ended: their other tabs, and a copy of their cookie, still say that they are logged in.

Streamlit reads the cookie of a login when a page is opened and never again. So every run of every page asks here. What
is kept is a digest of each login that was ended, a month longer than the login itself would have counted, in bounds
(``ended``): in a file beside the ledger's key, so that a server that is started anew, or another one with the
same key file, knows of it too. A log-out adds a line, of which others read no more than that; where it cannot (the disk
is full, or another server stands still while it writes), it counts here alone until a thread, or the next log-out, has
added it. Other computers hear of it where the ledger is a server's (``told_elsewhere``).
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
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from dashboard.people.ended import Held
from dpcore.errors import LedgerError
from dpcore.ledger.ended import ALL, Ended
from dpcore.threads import WorkingThread

_PROVIDER, _PERSON, _LOGIN = ("provider", "iss"), ("provider", "iss", "sub"), ("iat", "nonce")
"""What tells who vouches, who it is, and a login from others of theirs: the nonce is random and new each time."""
_PATIENCE = 2.0
"""Seconds for which a log-out waits for another server that writes one down."""
_AGAIN = 1.0
"""Seconds between two tries to write down what could not be."""
_LINES, _TIDY = 1000, 60.0
"""So many, and twice as many as count, are written anew, where that was not looked for within so many seconds."""
MOST_HOURS = 720.0
"""No login counts for longer, whatever a server's settings say."""
_KEPT = MOST_HOURS * 3600.0
"""Seconds for which an ended login is kept, and counts as ended, after it would have ended by itself: a clock that was
ahead for a moment, by no more than this, makes none count again, nor do settings by which logins count for longer."""
_tidied = 0.0
_HEAD = 100
_UNSAID, _NONE = "", "-"
"""Whose person it is in lines of a version before, and how that is written."""
_ended = Held()
_owed = Held()
"""Those that were ended here and are not in the file yet."""
_failing = False
"""Whether they could not be written down when that was tried last, which is said once."""
_unsure = False
"""Whether the disk did not keep what was added last. The system says so once, and holds for kept what it may forget, so
the file is written anew."""
_read: tuple[Path, bytes, int, int] | None = None
"""The file as it was read: where, its first line, how many bytes and lines of it."""
_seen: tuple[int, int, int] | None = None
"""As which the system knew it then."""
_lock = threading.Lock()
"""Around what was read of the file, and never around a wait for another server or the disk: every run of every page
asks here. Who writes waits for the file's own lock, which threads of this server take in turn, too."""
_tell: list[Callable[[Ended], object]] = []
"""Who tells others of a log-out here (``told_elsewhere``)."""


def tell_by(tell: Callable[[Ended], object]) -> None:
    _tell[:] = [tell]


def end(said: Mapping[str, Any], seconds: float) -> None:
    """From now on this login, which would have ended by itself in so many ``seconds``, is none; written down as soon as
    that can be."""
    provider, person, login = (_name(said, which) for which in (_PROVIDER, _PERSON, _LOGIN))
    since, now = _since(said), time.time()
    with suppress(OSError):  # who writes it down says so
        _read_on()
    if _ended.are_ended(provider, person, login, since):
        return
    latest = math.ceil(max(now, since))  # a provider's clock may be ahead
    for one in _ended.end(Ended(provider, person, login, math.ceil(since), math.ceil(now + seconds)), latest):
        _owed.end(one, latest)
        for tell in _tell:
            tell(one)
    if not _written_down(_PATIENCE):
        _writing.wake()


def is_ended(said: Mapping[str, Any]) -> bool:
    try:
        with suppress(FileNotFoundError):  # nobody has logged out yet
            _read_on()
    except OSError as error:
        logging.getLogger(__name__).error("log-outs cannot be read: %s", type(error).__name__, exc_info=error)
        return True  # nobody knows whether it was ended
    person, login, since = _name(said, _PERSON), _name(said, _LOGIN), _since(said)
    providers = (_name(said, _PROVIDER), _UNSAID)
    return any(_ended.are_ended(provider, person, login, since) for provider in providers)


def known() -> list[Ended]:
    """All that is known here, by this computer's file and by others."""
    with suppress(OSError):
        _read_on()
    return list(_ended.all())


def needed_since() -> int:
    """What would have ended by itself before that nobody needs to know any more."""
    return math.floor(time.time() - _KEPT)


def hear(ended: Ended) -> None:
    """Another computer said so."""
    _ended.note(ended)


def _file() -> Path:
    from dpcore.ledger.files import beside  # where nobody logs in, nothing of it is needed before the first page
    from dpcore.ledger.key import key_path

    return beside(key_path(), "logged-out")


def _write_later() -> bool:
    """Whether it has to be tried once more. It waits for another server without end: each time that it gave up would
    leave a thread in the system's queue."""
    time.sleep(_AGAIN)
    return not _written_down(threading.TIMEOUT_MAX)


_writing = WorkingThread("log-outs-owed", _write_later)


def _written_down(patience: float) -> bool:
    """Whether all that was owed to the file could be written there."""
    global _failing
    try:
        _write_owed(patience)
    except (OSError, LedgerError) as error:
        if not _failing:
            logging.getLogger(__name__).error(
                "log-outs cannot be written down for now, and count at this server alone until they are: %s",
                type(error).__name__,
                exc_info=error,
            )
        _failing = True
        return False
    _failing = False
    return True


def _write_owed(patience: float) -> None:
    """At the end of the file, or in a new one where most of it counts no more. Raises OSError, LedgerError."""
    from dpcore.ledger.files import beside
    from dpcore.ledger.lock import exclusive

    file = _file()
    file.parent.mkdir(parents=True, exist_ok=True)
    with exclusive(beside(file, "lock"), patience):
        with suppress(FileNotFoundError):  # this is the first
            _read_on()
        owed = _owed.taken()
        try:
            _add(file, owed)
        finally:
            for one in owed:
                _owed.note(one)
        if time.time() >= _tidied + _TIDY:
            _tidy(file)


def _add(file: Path, owed: list[Ended]) -> None:
    """At the end of the file, as many as the disk has room for; those are owed no more. Raises OSError."""
    global _unsure
    if not owed:  # another thread has written them
        return
    if _unsure:
        _write_anew(file)
        owed.clear()
        return
    handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    with open(handle, "wb", buffering=0) as end:
        read = _read
        known = read[2] if read is not None and read[0] == file else 0
        held = min(known, os.fstat(handle).st_size)  # nothing, where somebody took the file away
        os.ftruncate(handle, held)  # without a line that was not finished
        head = "" if held else _head()
        text, taken = "".join([head, *map(_line, owed)]).encode("ascii"), 0
        try:
            while taken < len(text):
                taken += end.write(text[taken:])
        finally:
            _unsure = True
            os.fsync(handle)
            _unsure = False
            del owed[: text[len(head) : taken].count(b"\n")]
    _read_on()


def _tidy(file: Path) -> None:
    """What counts no more is forgotten, and written down no more where it is most of the file. Raises OSError."""
    global _tidied
    _tidied = time.time()
    _ended.forget(needed_since())
    read = _read
    if read is None or read[3] < _LINES:
        return
    if read[3] >= 2 * len(list(_ended.all())):
        _write_anew(file)


def _write_anew(file: Path) -> None:
    """All that is known, in a file that takes the place of this one. Raises OSError."""
    global _read, _unsure
    from dpcore.ledger.files import beside

    lines = [_line(one) for one in _ended.all()]
    made, head = beside(file, "new"), _head()
    try:
        handle = os.open(made, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with open(handle, "w", encoding="ascii") as text:
            text.writelines([head, *lines])
            text.flush()
            os.fsync(handle)
        size = made.stat().st_size
        with _lock:
            made.replace(file)
            _read = (file, head.encode(), size, len(lines))
        _unsure = False
    finally:
        made.unlink(missing_ok=True)  # half of it would take the room of later lines


def _read_on() -> None:
    """What was added, here or by others, since this server read it last. Raises OSError."""
    with _lock:
        _read_further(_file())


def _read_further(file: Path) -> None:
    global _read, _seen
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
        one = _from_line(line)
        if one is not None:
            _ended.note(one)
            lines += 1
    _read, _seen = (file, head, start + len(added) + (1 if added else 0), lines), seen


def _head() -> str:
    """The first line of a new file, by which it is known: a system gives the number of one that is gone once more."""
    return f"{secrets.token_hex(16)}\n"


def _line(one: Ended) -> str:
    return f"{one.person} {one.login} {one.until} {one.provider or _NONE} {one.since}\n"


def _from_line(line: str) -> Ended | None:
    """What a line says; one that a version before wrote ends with the time until when it counts. None for none."""
    person, login, until, provider, since = (*line.split(" "), "", "", "", "", "")[:5]
    since = since or (login[1:] if login.startswith(ALL) else "0")
    if not (until.isdigit() and since.isdigit()):
        return None
    return Ended(provider if provider != _NONE else _UNSAID, person, login, int(since), int(until))


def _since(said: Mapping[str, Any]) -> float:
    since = said.get("iat")
    return float(since) if isinstance(since, int | float) else 0.0


def _name(said: Mapping[str, Any], which: tuple[str, ...]) -> str:
    return hashlib.sha256(json.dumps([said.get(part) for part in which], default=str).encode()).hexdigest()
