"""One entry of the log is one line that can be printed, whoever writes it and whatever it was handed.

Streamlit, uvicorn and asyncio log ids as a message brought them and failures with their words and places in full: what
somebody sends could pass for entries of its own, move a terminal's cursor, or bring a cell of a file. So this is where
all records are made (``logging.setLogRecordFactory``), and not in one of the loggers: of each there is the first line,
cut, with every sign that is not printed written out, and of a failure its kind and the places it passed.

Many of these entries are there because somebody sent something, and whoever sends it again and again could fill a disk.
So of each part of the program (``streamlit``, ``uvicorn``, ...) so many are written in a time, errors apart from all
else; the next one that is written says how many were left out.
"""

from __future__ import annotations

import logging
import threading
from dataclasses import dataclass, field
from typing import Any

from dashboard.pace import Pace
from dpcore.defects import places_of, reported

LONGEST = 1000
"""Characters of what one entry says; a failure of ours that passed thirty places has them."""
RATE, AHEAD = 1.0, 300.0
"""Entries a second of one part of the program, and of how many seconds what was not made use of at once: 90 MB a day at
the very most, where an entry of an honest day is seldom one of three hundred in five minutes."""


class OneLine(logging.LogRecord):
    """A record whose text is one line."""

    def __init__(self, *parts: Any, **more: Any) -> None:
        super().__init__(*parts, **more)
        failed = self.exc_info[1] if isinstance(self.exc_info, tuple) else None
        self.left_out = 0
        self._failure = "" if failed is None else f" ({type(failed).__name__} at {' > '.join(places_of(failed))})"
        self.exc_info = self.exc_text = self.stack_info = None
        if isinstance(self.args, tuple):
            self.args = tuple(type(one).__name__ if isinstance(one, BaseException) else one for one in self.args)

    def getMessage(self) -> str:
        try:
            said = super().getMessage()
        except (TypeError, ValueError):  # logging would print the whole of it, with what it was handed
            said = str(self.msg)
        before = f" (left out before it: {self.left_out:,} entries)" if self.left_out else ""
        return one_line(said, self._failure) + before


@dataclass(slots=True)
class _Written:
    """What one part of the program writes."""

    pace: Pace = field(default_factory=lambda: Pace(RATE, AHEAD))
    left_out: int = 0


_written: dict[tuple[str, bool], _Written] = {}
_lock = threading.Lock()
_call = logging.Logger.callHandlers


def _in_turn(logger: logging.Logger, record: logging.LogRecord) -> None:
    """As of every logger, of what passed its own filters, where so much was not written already."""
    with _lock:
        part = (record.name.partition(".")[0], record.levelno >= logging.ERROR)
        here = _written.setdefault(part, _Written())
        if here.pace.wait(0.0) > 0.0:
            here.left_out += 1
            return
        here.pace.wait(1.0)
        if isinstance(record, OneLine):
            record.left_out, here.left_out = here.left_out, 0
    _call(logger, record)


def one_line(text: str, more: str = "") -> str:
    """The first line of ``text``, and ``more`` of our own behind it."""
    lines = text[: 10 * LONGEST].strip().splitlines() or [""]
    line = lines[0] + (" …" if len(lines) > 1 else "")
    line = "".join(sign if sign.isprintable() else ascii(sign)[1:-1] for sign in line)
    return (line if len(line) <= LONGEST else line[:LONGEST] + "…") + more[:LONGEST]


def guard() -> None:
    """From now on, in this process. Again does nothing."""
    logging.setLogRecordFactory(OneLine)
    logging.Logger.callHandlers = _in_turn  # type: ignore[method-assign, assignment]
    logging.captureWarnings(True)
    threading.excepthook = _of_a_thread


def unguard() -> None:
    """As Python does it; for tests."""
    logging.setLogRecordFactory(logging.LogRecord)
    logging.Logger.callHandlers = _call  # type: ignore[method-assign]
    _written.clear()
    logging.captureWarnings(False)
    threading.excepthook = threading.__excepthook__


def _of_a_thread(args: threading.ExceptHookArgs) -> None:
    if args.exc_value is not None and not isinstance(args.exc_value, SystemExit):
        reported(args.exc_value, "working beside the pages")
