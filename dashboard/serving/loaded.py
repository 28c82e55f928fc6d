"""What the pages need of the program, loaded before anybody comes and left alone by the garbage collector from then on.

The collector looks through everything that is loaded again and again, and every visitor waits meanwhile. What is there
before the first page can hold nothing of anybody's, so nothing private is ever kept by leaving it alone.
"""

from __future__ import annotations

import gc

from dashboard.background import garbage, speed


def beforehand() -> None:
    """Load what every page and every question needs, and look how fast this computer is.

    Called once, before the server answers anybody. What loading throws away is collected once, at its end.
    """
    gc.disable()
    try:
        _load()
    finally:
        gc.enable()
    gc.collect()
    gc.freeze()
    garbage.seldom()
    speed.seconds()


def _load() -> None:
    from dashboard import catalogue, shell  # noqa: F401 - the shell is loaded for the script that runs it

    catalogue.every()
