"""What was declared in this session about tables before, by which the next one is known again."""

from __future__ import annotations

from collections.abc import Callable

from dashboard import session
from dashboard.data import actions, source
from dashboard.data.held import DECLARATIONS, SAVED
from dpcore.datasets import Template
from dpcore.datasets.template import LARGEST_HELD, without_rows
from dpcore.weight import weight

MOST_KNOWN = 8
"""Declarations by which a session knows a later table, within the bytes that one may take."""


def known() -> tuple[Template, ...]:
    """All of them, with the one that was saved since the last run."""
    noted = SAVED.get()
    while noted:
        remember(noted.pop())
    return DECLARATIONS.get()


def saving(declared: Template, text: str) -> Callable[[], str]:
    """What a click on its file does, in a thread that has no session: the declaration is noted, and remembered when the
    session runs again."""
    noted = SAVED.once()

    def make() -> str:
        noted[:] = [declared]
        return text

    return make


def remember(declared: Template) -> None:
    """Have a later table of this session known by it, ``without_rows``. Raises InvalidArgument as that does."""
    declared = without_rows(declared)
    others = [known for known in DECLARATIONS.get() if known != declared]
    kept = (*others, declared)[-MOST_KNOWN:]
    while len(kept) > 1 and weight(kept) > LARGEST_HELD:
        kept = kept[1:]
    before = DECLARATIONS.get()
    DECLARATIONS.put(kept)
    problem = actions.no_room(source.own_file(), actions.before())
    if problem:
        DECLARATIONS.put(before)
        session.say("own", problem)
