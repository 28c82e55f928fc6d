"""Files that only the server's user should be able to read, since they hold passwords and keys."""

from __future__ import annotations

import logging
import os
import stat
from functools import cache
from pathlib import Path

_LOG = logging.getLogger(__name__)


def warn_if_others_read(file: Path, called: str) -> None:
    """Say once in the log where other users of this computer can read a file, ``called`` so there.

    It is no error: a container's secrets are often mounted so, where nobody else is. Raises OSError.
    """
    if os.name == "posix" and stat.S_IMODE(file.stat().st_mode) & 0o077:
        _warn(called)


@cache
def _warn(called: str) -> None:
    _LOG.warning("other users of this computer can read %s: chmod 600", called)
