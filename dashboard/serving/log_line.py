"""One entry of the log is one line that can be printed, whoever writes it and whatever it was handed.

Streamlit, uvicorn and asyncio log ids as a message brought them and failures with their words and places in full: what
somebody sends could pass for entries of its own, move a terminal's cursor, or bring a cell of a file. So this is where
all records are made (``logging.setLogRecordFactory``), and not in one of the loggers: of each there is the first line,
cut, with every sign that is not printed written out, and of a failure its kind and the places it passed.

Of what Streamlit hands to its entries only numbers stay, and the few words that a standard gives: the others are what
somebody sent, a cell, or the id of a session, by which without a login anybody may go on with it. An id is left out of
whatever else is logged as well.

Many of these entries are there because somebody sent something, and whoever sends it again and again could fill a disk.
So of each part of the program (``streamlit``, ``uvicorn``, ...) so many are written in a time, errors apart from all
else; and of errors that say the same a tenth of them, so that one that somebody makes again and again takes no turn of
another, whose reference a page names. The next one that is written says how many were left out.
"""

from __future__ import annotations

import logging
import re
import threading
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from dashboard.people.wanted import ERRORS
from dashboard.serving.pace import Pace, wait
from dpcore.defects import places_of, reported

LONGEST = 1000
"""Characters of what one entry says; a failure of ours that passed thirty places has them."""
RATE, AHEAD = 1.0, 300.0
"""Entries a second of one part of the program, and of how many seconds what was not made use of at once: 90 MB a day at
the very most, where an entry of an honest day is seldom one of three hundred in five minutes."""
ALIKE, KINDS = 0.1, 256
"""The share that errors which say the same have of those of their part, and how many kinds are told apart."""
LEFT_OUT = "…"
"""What stands in an entry for what is not written."""
_TOLD_BY_US = tuple(
    f"streamlit.{part}"
    for part in ("config", "net_util", "watcher", "web.bootstrap", "web.server.starlette.starlette_server")
)
"""Parts of Streamlit that log what whoever runs it has set: options, files, ports."""
_SESSION = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
"""The form of a session's id."""
_REFERENCE = re.compile(r"\b[0-9A-F]{8}\b")
"""By which an error is found, each by another (``dpcore.defects``)."""


class OneLine(logging.LogRecord):
    """A record whose text is one line."""

    def __init__(self, *parts: Any, **more: Any) -> None:
        super().__init__(*parts, **more)
        failed = self.exc_info[1] if isinstance(self.exc_info, tuple) else None
        self.left_out = 0
        self._failure = "" if failed is None else f" ({type(failed).__name__} at {' > '.join(places_of(failed))})"
        self.exc_info = self.exc_text = self.stack_info = None
        theirs = self.name.partition(".")[0] == "streamlit" and not self.name.startswith(_TOLD_BY_US)
        if isinstance(self.msg, BaseException):
            self.msg = type(self.msg).__name__
        if isinstance(self.args, tuple):
            self.args = tuple(_told(one, theirs) for one in self.args)
        elif self.args:
            self.args = {name: _told(one, theirs) for name, one in self.args.items()}

    def getMessage(self) -> str:
        try:
            said = super().getMessage()
        except (TypeError, ValueError):  # logging would print the whole of it, with what it was handed
            said = str(self.msg)
        before = f" (left out before it: {self.left_out:,} entries)" if self.left_out else ""
        return one_line(said, self._failure) + before


def _told(one: object, theirs: bool) -> object:
    """What an entry is handed, as it may stand there: a failure is its kind."""
    if isinstance(one, BaseException):
        return type(one).__name__
    stays = isinstance(one, int | float) or (isinstance(one, str) and one in ERRORS)
    return LEFT_OUT if theirs and not stays else one


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
        said = _REFERENCE.sub("", record.getMessage()[:LONGEST])
        paces = [here.pace, *([_of_its_kind(part[0], said)] if part[1] else [])]
        if wait(0.0, paces) > 0.0:
            here.left_out += 1
            return
        wait(1.0, paces)
        if isinstance(record, OneLine):
            record.left_out, here.left_out = here.left_out, 0
    _call(logger, record)


@lru_cache(maxsize=KINDS)
def _of_its_kind(part: str, said: str) -> Pace:
    """One for all errors of a part that say the same, but for their references."""
    return Pace(ALIKE * RATE, AHEAD)


def one_line(text: str, more: str = "") -> str:
    """The first line of ``text``, and ``more`` of our own behind it."""
    lines = text[: 10 * LONGEST].strip().splitlines() or [""]
    lines[0] = _SESSION.sub(LEFT_OUT, lines[0])
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
    _of_its_kind.cache_clear()
    logging.captureWarnings(False)
    threading.excepthook = threading.__excepthook__


def _of_a_thread(args: threading.ExceptHookArgs) -> None:
    if args.exc_value is not None and not isinstance(args.exc_value, SystemExit):
        reported(args.exc_value, "working beside the pages")
