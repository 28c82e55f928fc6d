"""What a server writes to its output keeps nobody waiting, and ends nothing.

A terminal that somebody holds takes no more, nor does a pipe that nobody reads, and whoever writes there waits: the
thread that answers everybody, with a line for the log; HAProxy, with one about a replica. Where the output is gone, a
server that begins fails by its first line. So in its place they have a pipe of ours, which refuses what it cannot take,
and a thread hands that on, which alone waits; what goes to an output that is gone is forgotten.
"""

from __future__ import annotations

import atexit
import os
import select
import sys
from contextlib import suppress

from dpcore.threads import WorkingThread

LAST = 1.0
"""Seconds for which a process that ends waits until its last words are handed on."""
_PIECE = 65_536


class HandedOn:
    """What is written to a file of this process by its ``number``, from now on, by this process and those it starts."""

    def __init__(self, number: int) -> None:
        self._output = os.dup(number)
        self._held, taken = os.pipe()
        os.set_blocking(taken, False)
        os.dup2(taken, number)
        os.close(taken)
        self._over, self._end = os.pipe()
        self._thread = WorkingThread(f"output-{number}", self._hand_on)

    def go_on(self) -> None:
        self._thread.wake()

    def end(self) -> None:
        """Wait until all of it is handed on, for so long as that may take."""
        os.close(self._end)
        self._thread.rest(LAST)

    def _hand_on(self) -> bool:
        if self._held not in select.select([self._held, self._over], [], [])[0]:
            return False
        piece = os.read(self._held, _PIECE)
        with suppress(OSError):  # it is gone
            while piece:
                piece = piece[os.write(self._output, piece) :]
        return True


def apart() -> None:
    """From now on nobody waits for the output of this process, or of one that it starts."""
    for number, stream in ((1, sys.stdout), (2, sys.stderr)):
        if stream is not None:  # closed by whoever called this
            one = HandedOn(number)
            atexit.register(one.end)
            one.go_on()


def say(what: str) -> None:
    """One line on the output, whatever became of that: the servers go on without it."""
    with suppress(OSError, ValueError):
        print(f"Epsilon Lab: {what}", flush=True)
