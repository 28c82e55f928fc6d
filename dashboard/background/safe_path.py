"""Python processes that this one starts take no module from the folder that it was called in.

Python looks there first for whatever it is told with ``-c`` or ``-m``, and so do workers of ``multiprocessing``: a file
called ``pickle.py`` in a shared folder would run with all that the server may read.
"""

from __future__ import annotations

import os

VARIABLE = "PYTHONSAFEPATH"
COMPILED = ("NUMBA_CACHE_DIR", "NUMBA_CACHE_LOCATOR_CLASSES")
"""Where Numba finds what it compiled, which it runs; unless they are set a file of the present folder may say it."""


def keep() -> None:
    """From now on, for the processes that those start too; before the first of them."""
    os.environ[VARIABLE] = "1"
    for name in COMPILED:
        os.environ.setdefault(name, "")  # Numba's own default
