"""The files that were made when they were clicked, while they may be fetched: for whom, and how many.

Streamlit hands such a file to whoever asks for its address, without a session or a login, until two scripts have ended,
of whatever page: beside a tab that rests that may be never, and on a busy server before a browser has asked for it.
Here it stays while it is kept with it for whom it was made, so that who asks for it is asked whether they are still
here (``serving.senders``), and no longer than their session; of a session the latest stay, ``FILES`` of them and
``OWN_BYTES``, of all ``ALL_BYTES``, beyond which those of the address give way that has most.
"""

from __future__ import annotations

import threading
from collections import Counter, OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from streamlit import runtime
from streamlit.runtime.media_file_manager import MediaFileManager

from dashboard.people.browser_token import UNKNOWN, Browser

FILES, OWN_BYTES, ALL_BYTES = 8, 64 << 20, 128 << 20


@dataclass(frozen=True, slots=True)
class Whose:
    """Who is at a session: what its login ``said``, and the browser that began it."""

    said: Mapping[str, Any] = field(default_factory=dict)
    browser: Browser = UNKNOWN


@dataclass(frozen=True, slots=True)
class _File:
    size: int
    whose: Whose


class Made:
    """The files that sessions had made and may still fetch, oldest first; from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._files: dict[str, OrderedDict[str, _File]] = {}
        self._addresses: dict[str, str] = {}
        """From where the page of each session was open last."""

    @property
    def bytes(self) -> int:
        """Of all of them; a file that two sessions had made counts twice."""
        return sum(map(_size, self._files.values()))

    def note(
        self, files: MediaFileManager, session: str, name: str, size: int, whose: Whose, *, address: str = ""
    ) -> None:
        """One more of a session, whose page is open from an ``address``; what is too much is let go of, but never the
        file that was just made."""
        with files._lock:
            files._files_by_session_and_coord.setdefault(_NOBODYS, {})[name] = name
        with self._lock:
            self._addresses[session] = address
            mine = self._files.setdefault(session, OrderedDict())
            mine[name] = _File(size, whose)
            mine.move_to_end(name)
            gone = [one for who in list(self._files) if not is_open(who) and who != session for one in self._pop(who)]
            while len(mine) > FILES or (len(mine) > 1 and _size(mine) > OWN_BYTES):
                gone += self._pop(session, 1)
            while self.bytes > ALL_BYTES and (least := self._gives_way(session)):
                gone += self._pop(least, 1)
            kept = {one for theirs in self._files.values() for one in theirs}
        _let_go(files, (one for one in gone if one not in kept))

    def leave(self, files: MediaFileManager, session: str) -> None:
        """None of a session that has ended stays."""
        with self._lock:
            gone = self._pop(session) if session in self._files else []
            kept = {one for theirs in self._files.values() for one in theirs}
        _let_go(files, (one for one in gone if one not in kept))

    def of(self, name: str) -> list[Whose]:
        """For whom a file of this name was made."""
        with self._lock:
            return [theirs[name].whose for theirs in self._files.values() if name in theirs]

    def _gives_way(self, session: str) -> str:
        """The page that holds most, of the address that does; "" where there is nothing beside what was just made."""
        each = Counter[str]()
        for who, theirs in self._files.items():
            each[self._addresses[who]] += _size(theirs)
        found = [who for who, theirs in self._files.items() if who != session or len(theirs) > 1]
        return max(found, key=lambda who: (each[self._addresses[who]], _size(self._files[who])), default="")

    def _pop(self, session: str, most: int | None = None) -> list[str]:
        theirs = self._files[session]
        gone = [theirs.popitem(last=False)[0] for _ in range(len(theirs) if most is None else most)]
        if not theirs:
            del self._files[session], self._addresses[session]
        return gone


MADE = Made()


def _size(files: Mapping[str, _File]) -> int:
    return sum(one.size for one in files.values())


_NOBODYS = "files made at a click"
"""In place of a session, by which they stay whichever page is drawn anew."""


def _let_go(files: MediaFileManager, names: Iterable[str]) -> None:
    """Let go of files, but for what a page holds in its place."""
    with files._lock:
        held = files._files_by_session_and_coord.get(_NOBODYS, {})
        for name in names:
            held.pop(name, None)
            if name in files._file_metadata and name in files._get_inactive_file_ids():
                files._delete_file(name)


def is_open(session_id: str) -> bool:
    return runtime.exists() and runtime.get_instance().is_active_session(session_id)
