"""How libraries say that there is no memory: as what else is a damaged file, which is then called so wrongly."""

from __future__ import annotations

import errno
from xml.parsers import expat

import numpy as np

_SAID = "allocate memory"
"""As ReadStat says it, which has no kind of failure for it; and where a damaged file states a size of none or beyond
what it takes at once, for which it asks nobody."""
_ROOM = 256 << 20
"""Bytes: more than ReadStat and a piece of a file take, which they have given back by then."""


def check_memory(error: BaseException) -> None:
    """Raises MemoryError for a failure that is none of the file's. DuckDB says it by a kind of its own."""
    there_is_none = (
        isinstance(error, MemoryError)  # as Arrow's own is, which is one of Arrow's as well
        or (isinstance(error, OSError) and error.errno == errno.ENOMEM)
        or (isinstance(error, expat.ExpatError) and error.code == expat.errors.codes[expat.errors.XML_ERROR_NO_MEMORY])
        or (type(error).__module__.startswith("pyreadstat") and _SAID in str(error) and not _has_room())
    )
    if there_is_none:
        raise MemoryError from None


def _has_room() -> bool:
    try:
        np.empty(_ROOM, dtype=np.uint8)  # asked for, and not touched
    except MemoryError:
        return False
    return True
