"""A table of openml.org's, fetched in a process of its own: one at a time for all who ask, and ended after a minute.

A network, or a proxy on the way, may take a connection and never answer. Whoever waits here asks ten times a second
whether to go on, so that they can give up, or let others go first; the process ends with the last of them.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress

SILENT, WHOLE, AGAIN = 5.0, 60.0, 60.0
"""Seconds for which the network may say nothing, twice, that a fetch may take, and for which nobody asks again then."""
MOST = 32 << 20
"""Bytes of a table, as text."""
_LOOK = 0.1
_START = """
import json, os, socket, sys, threading
sys.path[:] = json.loads(sys.argv[1])
name, version, silent, whole = sys.argv[2], int(sys.argv[3]), float(sys.argv[4]), float(sys.argv[5])
ends = threading.Timer(whole, os._exit, (1,))  # whoever waits may have been killed
ends.daemon = True
ends.start()
socket.setdefaulttimeout(silent)
from sklearn.datasets import fetch_openml
table = fetch_openml(name, version=version, as_frame=True, parser="pandas", n_retries=1).frame
table.to_csv(sys.stdout, index=False, na_rep="?")
"""
_KEPT = {"ALL_PROXY", "HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY", "HOME", "LANG", "PATH", "SCIKIT_LEARN_DATA"}
_KEPT |= {"SSL_CERT_DIR", "SSL_CERT_FILE", "SYSTEMROOT", "TEMP", "TMP", "TMPDIR", "USERPROFILE"}


class _Fetch:
    """One process that fetches, and how many wait for it."""

    def __init__(self, name: str, version: int) -> None:
        self.name, self.waiting, self.began = (name, version), 0, time.monotonic()
        self._text = tempfile.TemporaryFile()  # noqa: SIM115 - for as long as somebody waits
        self._process = subprocess.Popen(  # noqa: S603 - this Python
            [sys.executable, "-P", "-c", _START, json.dumps(sys.path), name, str(version), str(SILENT), str(WHOLE)],
            stdin=subprocess.DEVNULL,
            stdout=self._text,
            stderr=subprocess.DEVNULL,
            env=_environment(),
        )

    def ended(self) -> bool:
        """Whether it has; one that takes too long or too much does."""
        size = os.fstat(self._text.fileno()).st_size
        if self._process.poll() is None and (time.monotonic() > self.began + WHOLE or size > MOST):
            self.end()
        return self._process.poll() is not None

    def end(self) -> None:
        with suppress(OSError):
            self._process.kill()
        self._process.wait()

    def close(self) -> None:
        self.end()
        self._text.close()

    def text(self) -> bytes:
        """Raises OSError where it found none."""
        size = os.fstat(self._text.fileno()).st_size
        if self._process.returncode != 0 or not 0 < size <= MOST:
            raise OSError("no table came")
        self._text.seek(0)  # under the lock
        return self._text.read()


_lock = threading.Lock()
_now: _Fetch | None = None
_silent: dict[tuple[str, int], float] = {}
"""When a table was asked for last, and did not come."""


def fetched(name: str, version: int, go_on: Callable[[], object]) -> bytes:
    """A table as CSV. ``go_on`` is called while it is awaited, and whatever it raises ends the waiting at once.

    Raises OSError where it does not come, and at once for ``AGAIN`` seconds after that.
    """
    mine = None
    while mine is None:
        go_on()
        mine = _joined(name, version)
        if mine is None:  # another table is under way
            time.sleep(_LOOK)
    try:
        while not mine.ended():
            go_on()
            time.sleep(_LOOK)
        with _lock:
            try:
                return mine.text()
            except OSError:
                _silent[mine.name] = time.monotonic()
                raise
    finally:
        _left(mine)


def _joined(name: str, version: int) -> _Fetch | None:
    global _now
    with _lock:
        if time.monotonic() < _silent.get((name, version), -AGAIN) + AGAIN:
            raise OSError("it did not come just now")
        if _now is None:
            _now = _Fetch(name, version)
        if _now.name != (name, version):
            return None
        _now.waiting += 1
        return _now


def _left(fetch: _Fetch) -> None:
    """The last who waits ends it."""
    global _now
    with _lock:
        fetch.waiting -= 1
        if fetch.waiting == 0:
            _now = None
            fetch.close()


def _environment() -> dict[str, str]:
    """What a fetch needs of the server's environment: passwords and keys stand there too."""
    kept = {name: value for name, value in os.environ.items() if name.upper() in _KEPT or name.startswith("PYTHON")}
    return kept | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
