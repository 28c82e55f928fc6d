"""Which answers were drawn from the table that is there, as far as this session knows.

The ledger keeps answers by people and question, and of the table nothing: a mark of it would tell whoever guesses the
whole table that they are right. So a session notes of which table it drew each answer, as long as it has the file or
can bring it back. What was drawn before, or elsewhere, may be about another file of these people, and is never shown as
this table's. Whoever waits in several windows for one request has one draw of it, and each window notes that which has
the very table that it was drawn from.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from dashboard.budget import visitor
from dashboard.budget.held import DRAWN, DRAWN_BEFORE
from dashboard.case import Source
from dashboard.words.release import Whence

_Window = tuple[dict[str, str], str]
"""What a session notes, and its table."""
_WAITING: dict[tuple[str, str], list[_Window]] = {}
"""By person, or browser where nobody logs in, and request: the windows that ask for its answer at this moment."""
_LOCK = threading.Lock()


def noting(request_id: str, source: Source) -> Callable[[], None]:
    """To be called once its answer was drawn from the table of ``source``: from any thread, which may know of no
    session, and after this session's file is gone, which then notes nothing.

    Nobody is told by this whether somebody else has the same table: the others are windows of the same person, and
    what they are told hangs on who drew, never on what was drawn.
    """
    notes, table, whose = DRAWN.once(), source.drawn_from, visitor.token()

    def note() -> None:
        notes[request_id] = table
        with _LOCK:
            windows = list(_WAITING.get((whose, request_id), ()))
        for theirs, same in windows:
            if same == table:
                theirs[request_id] = table

    return note


@contextmanager
def waiting(request_id: str, source: Source) -> Iterator[None]:
    """While this window asks for the answer of a request, which another window of this person may be drawing."""
    key, window = (visitor.token(), request_id), (DRAWN.once(), source.drawn_from)
    with _LOCK:
        _WAITING.setdefault(key, []).append(window)
    try:
        yield
    finally:
        with _LOCK:
            left = [one for one in _WAITING[key] if one is not window]
            if left:
                _WAITING[key] = left
            else:
                del _WAITING[key]


def put_aside() -> dict[str, str]:
    """What was noted goes with the file that is put aside now; returns what was noted of the one that was aside."""
    now, before = DRAWN.get(), DRAWN_BEFORE.get()
    DRAWN_BEFORE.put(now)
    return before


def brought_back(notes: dict[str, str]) -> None:
    """The file of these is there again."""
    DRAWN.put(notes)


@contextmanager
def staying() -> Iterator[None]:
    """While what was made from the file is let go of, and the file stays."""
    notes = DRAWN.get()
    yield
    if notes:
        DRAWN.put(notes)


def forget_aside() -> None:
    """The file that was put aside is forgotten for good."""
    DRAWN_BEFORE.forget()


def whence(source: Source) -> Whence:
    """What an answer to a question of this table may come from that is not known to be of it.

    A question of a source that has several tables names the one that is meant, as none of a file does.
    """
    if not source.in_place:
        return "file"
    return "source" if source.declared is not None and source.declared.table else "folder"


def of_this(source: Source, request_id: str) -> bool:
    """Whether the answer is known to be drawn from the table of ``source``; a sample has one table for good."""
    return not source.drawn_from or DRAWN.get().get(request_id) == source.drawn_from


def apart(source: Source, request_ids: Sequence[str]) -> tuple[list[str], list[str]]:
    """Those of which the answers were drawn from this table, and the others."""
    mine = [one for one in request_ids if of_this(source, one)]
    return mine, [one for one in request_ids if not of_this(source, one)]
