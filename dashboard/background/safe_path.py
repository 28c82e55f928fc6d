"""Python processes that this one starts take no module from the folder that it was called in.

Python looks there first for whatever it is told with ``-c`` or ``-m``, and so do workers of ``multiprocessing``: a file
called ``pickle.py`` in a shared folder would run with all that the server may read.
"""

from __future__ import annotations

import os

VARIABLE = "PYTHONSAFEPATH"


def keep() -> None:
    """From now on, for the processes that those start too; before the first of them."""
    os.environ[VARIABLE] = "1"
