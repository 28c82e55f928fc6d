"""The server's key file: a secret that lives apart from the ledger, and which ledgers this server has had.

The secret keys everything by which a file is recognised, so that nobody who gets hold of a ledger, its journal or a
backup can test a guess of the data against it. Losing the file means that files are not recognised, and reports and
back-ups from before not known as this server's, nothing worse, once its owner says so (``keyed``). The list of ledgers
is how a ledger that is suddenly not there is told from one that was never made.
"""

from __future__ import annotations

import base64
import errno
import hashlib
import hmac
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from dpcore.errors import LedgerUnsound
from dpcore.ledger.commands import NEW_KEY
from dpcore.ledger.files import beside, real, sync_folder
from dpcore.ledger.lock import exclusive
from dpcore.secret_files import warn_if_others_read

DAMAGED = (
    "The ledger's key file is damaged, so the ledger stays closed; put a copy of it back, or, only where "
    f"there is none, move it away and run {NEW_KEY}: earlier files are not recognised "
    "then, nor earlier reports and back-ups known as its own."
)
WAY_ON = (
    "put it back where it was, name it in EPSILON_LAB_KEY, or, only where it is lost, run "
    f"{NEW_KEY}: no file is recognised then that was brought before, and no report or back-up from before known as "
    "its own."
)
LOST = (
    "The server's key file is not there, and without it the ledger knows none of its files, so it stays closed; "
    f"{WAY_ON}"
)
ANOTHER = (
    "The server's key file is not the one by which this ledger knows its files, so it stays closed; look for the right "
    f"one: {WAY_ON}"
)
CALLED = "the ledger's key file"
_SECRET_BYTES = 32
_NONCE, _TAG = 16, 16
_MOST_BYTES = 16 << 20
"""Of a key file, which names every place and computer that a ledger was met at: more is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """``ledgers`` maps the place of each ledger that was opened to the identity it had there."""

    secret: bytes
    ledgers: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    def derived(self, purpose: str) -> bytes:
        """32 bytes for one purpose, from which neither the secret nor those for another purpose can be told."""
        return hmac.digest(self.secret, purpose.encode(), "sha256")

    def mark(self, purpose: str, *parts: str) -> str:
        """A name for ``parts`` that only somebody with the secret can work out."""
        text = json.dumps([purpose, *parts], ensure_ascii=True).encode()
        return hashlib.blake2b(text, key=self.derived("mark"), digest_size=16).hexdigest()

    def sealed(self, purpose: str, text: str) -> str:
        """``text`` so that only somebody with the secret can read it, and differently each time.

        A keystream by SHAKE-256 of a derived key and 16 random bytes, and a BLAKE2b tag over both (FIPS 202; RFC 7693).
        """
        nonce, plain = os.urandom(_NONCE), text.encode()
        hidden = self._streamed(purpose, nonce, plain)
        return base64.urlsafe_b64encode(nonce + hidden + self._tag(purpose, nonce + hidden)).decode("ascii")

    def unsealed(self, purpose: str, sealed: str) -> str | None:
        """The text that was ``sealed`` with this key for this purpose; None for anything else."""
        try:
            data = base64.b64decode(sealed.encode("ascii"), altchars=b"-_", validate=True)
        except ValueError:
            return None
        said, tag = data[:-_TAG], data[-_TAG:]
        if len(said) < _NONCE or not hmac.compare_digest(tag, self._tag(purpose, said)):
            return None
        return self._streamed(purpose, said[:_NONCE], said[_NONCE:]).decode()

    def _streamed(self, purpose: str, nonce: bytes, data: bytes) -> bytes:
        stream = hashlib.shake_256(self.derived(f"seal {purpose}") + nonce).digest(len(data))
        return (int.from_bytes(data) ^ int.from_bytes(stream)).to_bytes(len(data))

    def _tag(self, purpose: str, data: bytes) -> bytes:
        return hashlib.blake2b(data, key=self.derived(f"seal tag {purpose}"), digest_size=_TAG).digest()


def key_path() -> Path:
    """EPSILON_LAB_KEY, else a file in the person's configuration folder: not where ledgers and their backups are."""
    from platformdirs import user_config_path

    named = os.environ.get("EPSILON_LAB_KEY", "")
    return Path(named).expanduser() if named else user_config_path("epsilon-lab", appauthor=False) / "ledger.key"


def fresh() -> Key:
    """A key that is nowhere on disk: for a ledger in memory."""
    return Key(secret=os.urandom(_SECRET_BYTES))


def load(path: Path) -> Key | None:
    """The key at ``path``, or None where there is none. Raises LedgerUnsound, OSError."""
    try:
        if path.exists() and not path.is_file():  # which may have no end
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL), str(path))
        with path.open("rb") as file:
            text = file.read(_MOST_BYTES + 1).decode("ascii")
        warn_if_others_read(path, CALLED)
    except FileNotFoundError:
        return None
    except UnicodeDecodeError:
        raise LedgerUnsound(DAMAGED) from None
    try:
        found: dict[str, Any] = json.loads(text)
        secret, ledgers = bytes.fromhex(found["secret"]), found["ledgers"]
        known = {str(place): str(name) for place, name in ledgers.items()}
    except (ValueError, TypeError, KeyError, AttributeError):
        raise LedgerUnsound(DAMAGED) from None
    if len(secret) != _SECRET_BYTES:
        raise LedgerUnsound(DAMAGED)
    return Key(secret=secret, ledgers=MappingProxyType(known))


def made(path: Path) -> Key:
    """The key at ``path``, made now where there is none. Raises LedgerUnsound, OSError."""
    with _mine(path):
        found = load(path)
        if found is None:
            found = fresh()
            _write(path, found)
    return found


def keep(path: Path, key: Key) -> None:
    """Write a key to where there is none. Raises LedgerUnsound, FileExistsError, OSError."""
    with _mine(path):
        if load(path) is not None:
            raise FileExistsError(path)
        _write(path, key)


def pin(path: Path, key: Key, place: str, identity: str, *, instead_of: str = "") -> None:
    """Note that the ledger at ``place``, named ``instead_of`` before, is this one, beside the key that it is used with.

    Raises LedgerUnsound where that is not there any more, or another; OSError.
    """
    with _mine(path):
        found = held(path, key)
        kept = {name: one for name, one in found.ledgers.items() if name == place or name != instead_of}
        ledgers = {**kept, place: identity}
        if ledgers != found.ledgers:
            _write(path, Key(secret=found.secret, ledgers=MappingProxyType(ledgers)))


def held(path: Path, key: Key) -> Key:
    """What the file says now whose secret is this key's. Raises LedgerUnsound, OSError."""
    found = load(path)
    if found is None:
        raise LedgerUnsound(LOST)
    if not hmac.compare_digest(found.secret, key.secret):
        raise LedgerUnsound(ANOTHER)
    return found


def _mine(path: Path) -> Any:
    """One lock of a file, by whichever link it is named."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    return exclusive(beside(real(path), "lock"))


def _write(path: Path, key: Key) -> None:
    """All of it or nothing, and on disk when this returns; a link stays one."""
    path = real(path)
    text = json.dumps({"secret": key.secret.hex(), "ledgers": dict(key.ledgers)}, indent=1)
    partial = beside(path, "partial")
    partial.unlink(missing_ok=True)
    handle = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w", encoding="ascii") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    partial.replace(path)
    sync_folder(path.parent)
