"""The browser's tab that a person's file belongs to: known again where its page is loaded anew.

To Streamlit such a page is another session, which would begin without the file. So while a session holds one, its tab
keeps a random name of it, and a session that begins there says it (``tab.js``). What the earlier one held is this one's
then, with its name, and nobody else's: as long as that is kept for a lost connection (``background/leaving.py``), for
the same network and the same login, and not while the earlier tab is open. While the ledger cannot be asked whether
they may hold any, it waits there, and the tab goes on asking.
"""

from __future__ import annotations

import re
import secrets
import threading
import weakref
from collections.abc import Callable
from pathlib import Path

import streamlit as st

from dashboard import session
from dashboard.background import compute, leaving
from dashboard.background.leaving import Visit
from dashboard.case import OWN
from dashboard.data import source
from dashboard.data.held import LINKED_DATA, OWN_BEFORE, OWN_FILE, OWN_PENDING, OWN_TASK, OWN_WAITS
from dashboard.people import login, visitors
from dashboard.session import Slot
from dashboard.words import data as said
from dpcore.errors import LedgerError

KEY = "own-tab-name"
_COMPONENT = st.components.v2.component(
    "epsilon_lab_tab", js=(Path(__file__).parent / "tab.js").read_text(encoding="utf-8")
)
_NAME = re.compile(r"tab[0-9a-f]{32}")


def _nobody() -> None:
    """No session, so far."""


class Named:
    """A session that holds a file, by the name that its tab keeps, and whose it is."""

    def __init__(self) -> None:
        self.name = f"tab{secrets.token_hex(16)}"
        self.visit: Callable[[], Visit | None] = _nobody  # the session itself holds this
        self.whose = _whose()


NAMED: Slot[Named | None] = Slot("_own_tab", lambda: None, stays=True)
_names: weakref.WeakValueDictionary[str, Named] = weakref.WeakValueDictionary()
_lock = threading.Lock()


def draw(visit: Visit | None, page: str) -> None:
    """Let the tab keep the name of what this session holds, or say that of what its last one held; last in every run.

    Nothing of it is on a page that shows a sample and was asked for no file.
    """
    named = _named(visit)
    if named is not None or waits() or _asked() or page == "data":
        data = {"name": "" if named is None else named.name, "waits": waits()}
        _COMPONENT(key=KEY, data=data, on_back_change=_came_back, height=1)


def waits() -> bool:
    """Whether what the last session of this tab held waits for a ledger that cannot be asked."""
    return OWN_WAITS.get() and not _holds()


def take(name: str) -> None:
    """Hold what the session of this name held, whose tab was loaded anew; nothing where there is no such one, or who is
    here may hold none. While the ledger cannot say that, it ``waits``."""
    if _holds():
        return
    waited = waits()
    OWN_WAITS.forget()
    try:
        if _left(name, _whose()) is not None and not compute.no_files_by_role():
            _take(name)
    except LedgerError:
        OWN_WAITS.put(True)
        return
    if waited and not _holds() and not _asked():  # whose link asks for it is told so anyway
        session.say("data", said.GONE)


def _left(name: str, whose: tuple[str, str, str]) -> tuple[Named, Visit] | None:
    """The session of this name, where it was theirs and its tab is closed."""
    left = _names.get(name)
    visit = None if left is None or left.whose != whose else left.visit()
    return None if left is None or visit is None or visit.open else (left, visit)


def _take(name: str) -> None:
    whose, here, asked = _whose(), leaving.visit(), _asked()
    with _lock:  # nothing within asks Streamlit for anything, which may break a run off
        found = _left(name, whose)
        if found is None:
            return
        left, visit = found
        held = visit.taken(session.staying())
        if not held:
            return
        left.visit = _nobody if here is None else weakref.ref(here)  # its tab keeps this name until it is told another
        session.take_over(held, settings=asked)
    own = source.own_file()
    if own is not None:
        source.keep(own.noted(said.LOADED_ANEW))


def _came_back() -> None:
    found = getattr(session.entered(KEY, None), "back", None)
    if isinstance(found, str) and _NAME.fullmatch(found):
        take(found)


def _named(visit: Visit | None) -> Named | None:
    """The name of what this session holds; None where it holds nothing."""
    if not _holds():
        NAMED.forget()
        return None
    OWN_WAITS.forget()
    named = NAMED.get()
    if named is None or named.whose != _whose():
        named = Named()
        NAMED.put(named)
    if visit is not None:
        named.visit = weakref.ref(visit)
    _names[named.name] = named
    return named


def _holds() -> bool:
    return any(slot.get() is not None for slot in (OWN_FILE, OWN_BEFORE, OWN_PENDING, OWN_TASK))


def _asked() -> bool:
    """Whether the link this session began with is about a person's own file."""
    return LINKED_DATA.get() in (OWN, said.YOUR_OWN)


def _whose() -> tuple[str, str, str]:
    """The network, who has logged in, and which of their logins it is."""
    person = login.person()
    return visitors.address(), *(("", "") if person is None else (person.subject, str(st.user.get("nonce"))))
