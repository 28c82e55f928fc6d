"""Log-outs are told to servers on other computers, and heard from them, by the database of the ledger they share.

A thread of its own does so each second, and at once where somebody logs out here, so that no page waits for the
database. While that is silent what is known here counts, by this computer's file; nobody is given anything that the
ledger holds meanwhile. What could not be told is told as soon as it answers, after a restart, too, and again where it
has forgotten it.
"""

from __future__ import annotations

import logging
import threading

from dashboard.people import logged_out
from dpcore.errors import LedgerError
from dpcore.ledger import Ledger
from dpcore.ledger.ended import Ended, EndedLogins
from dpcore.threads import WorkingThread

EVERY = 1.0
"""Seconds between two looks at what others told."""
_MOST = 1000
"""Log-outs that wait to be told; of more, all that is known is held against what was told."""
_LOG = logging.getLogger(__name__)


class Telling:
    """What was heard from others and told to them, by one ledger."""

    def __init__(self, shared: EndedLogins) -> None:
        self._shared = shared
        self._number = 0  # of the last one that was heard
        self._lost = True  # whether it is not known what of all that is known here was told
        self._news: list[Ended] = []
        self._lock = threading.Lock()
        self._wake, self._over = threading.Event(), threading.Event()
        self._thread = WorkingThread("log-outs", self._turn)
        self._silent = False

    def note(self, ended: Ended) -> None:
        """Somebody logged out here."""
        with self._lock:
            self._news.append(ended)
            if len(self._news) > _MOST:
                self._news, self._lost = [], True
        self._wake.set()
        self._thread.wake()

    def exchange(self) -> None:
        """Hear what others told since, and tell them what is new here. Raises LedgerError."""
        last = self._shared.last()
        with self._lock:
            everything = self._lost or last < self._number  # the database was set back, or is another
            news, self._news, self._lost = self._news, [], False
        try:
            told = self._hear(0 if everything else self._number, last)
            if everything:
                news = [one for one in logged_out.known() if (one.person, one.login) not in told]
            if news:
                self._shared.put(news, before=logged_out.needed_since())
        except BaseException:
            with self._lock:
                self._lost = True
            raise

    def _hear(self, after: int, last: int) -> set[tuple[str, str]]:
        """Which logins others ended after this number."""
        told = set[tuple[str, str]]()
        for number, one in self._shared.after(after) if last > after else ():
            logged_out.hear(one)
            told.add((one.person, one.login))
            after = number
        self._number = after
        return told

    def go_on(self) -> None:
        """From now on, until it is over."""
        self._thread.wake()

    def _turn(self) -> bool:
        if self._over.is_set():
            return False
        self.try_once()
        self._wake.wait(EVERY)
        self._wake.clear()
        return True

    def try_once(self) -> None:
        try:
            self.exchange()
            self._silent = False
        except LedgerError as error:
            if not self._silent:
                _LOG.warning("log-outs are not told to other computers for now: %s", error)
            self._silent = True

    def end(self) -> None:
        self._over.set()
        self._wake.set()


_telling: Telling | None = None


def begin(ledger: Ledger) -> None:
    """From now on, where others may share it; what they told until now is known when this returns, if it answers."""
    global _telling
    if _telling is not None:
        _telling.end()
        _telling = None
    shared = EndedLogins(ledger)
    if not shared.are_shared:
        return
    _telling = Telling(shared)
    logged_out.tell_by(_telling.note)
    _telling.try_once()
    _telling.go_on()
