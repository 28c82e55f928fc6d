"""A database server that stops answering is given up after seconds, whatever it does with our connection.

Time-outs of the server's own do not help when it is the server that hangs (frozen, out of memory, its disk gone), and
the network notices nothing as long as the machine lives. So every statement has a moment by which it must be answered,
and all that a new connection is asked before it is anybody's has one; one thread looks, and shuts the connection's
socket when that has passed, upon which the waiting statement fails. What a click asks then goes to a new connection,
which has what is left of the click's time (``Silence``).
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any

import psycopg
from sqlalchemy import Connection, Engine, ExceptionContext, event
from sqlalchemy.exc import DisconnectionError

from dpcore import waiting
from dpcore.ledger.engine import WITHIN, Slow
from dpcore.threads import NoThread
from dpcore.waiting import Looker, TooLate

ANSWER = 2.3
"""Seconds that a statement of a click may take to be answered (others: ``engine.WITHIN``)."""
PING, CONNECT = 0.8, 2
"""Seconds for a connection to show that it is alive, and (whole, at least 2) for a new one to be there: 3 together."""
ALL_IN_ALL, MOMENT = 3.0, 0.3
"""Seconds from a statement without an answer to the sentence that says so; and what a new connection has at least."""
_LOOK = 0.1


class Silence:
    """When a server began to leave statements and connections unanswered. One that is well makes one in a moment."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._began = -math.inf

    def note(self, began: float) -> None:
        if began - self._began > 2 * ALL_IN_ALL:
            self._began = began

    def left(self, usual: float) -> float:
        """Seconds for the next answer, of the ``usual`` ones."""
        since = self._clock() - self._began
        return usual if since > 2 * ALL_IN_ALL else min(usual, max(ALL_IN_ALL - since, MOMENT))

    def heard(self, connect: Callable[[float], Any], usual: float) -> Any:
        """What ``connect`` gives within the seconds that are left of the ``usual`` ones."""
        began = self._clock()
        try:
            return connect(self.left(usual))
        except psycopg.errors.ConnectionTimeout:
            self.note(began)
            raise


@lru_cache(maxsize=16)
def silence_of(server: str) -> Silence:
    """One for all engines of a server: a click asks for its budget and for what its room shares."""
    return Silence()


def server(engine: Engine) -> str:
    """What names the server of an engine, whichever of its databases it is for."""
    return f"{engine.url.host} {engine.url.port} {sorted(engine.url.query.items())}"


class Watched:
    """One connection to the server, and until when it must answer."""

    def __init__(self, connection: Any, silence: Silence) -> None:
        self.connection, self._silence = connection, silence
        self._began = 0.0
        self._until: float | None = None
        self.ready = self.gave_up = False
        self._lock = threading.Lock()

    def begin(self, seconds: float) -> None:
        with self._lock:
            self._began = time.monotonic()
            self._until = self._began + seconds

    def end(self) -> None:
        with self._lock:
            self._until = None

    def look(self, now: float) -> bool:
        """Shut the socket if its time has passed; False where there is nothing to look at any more."""
        with self._lock:
            if self.connection.closed:
                return False
            if self._until is not None and now >= self._until:
                self._until, self.gave_up = None, True
                self._silence.note(self._began)
                waiting.shut(self.connection)
        return True


_looker = Looker("ledger-watch", _LOOK)


def within(seconds: float, connect: Callable[[], Any]) -> Any:
    """What ``connect`` gives, or psycopg's ConnectionTimeout after so many seconds; its OperationalError at once where
    the system gives no thread.

    A host's name may stand for several addresses ("localhost" does for two), and psycopg grants each of them the whole
    time-out, one after the other. One that comes too late is closed.
    """
    try:  # psycopg's own words come first, where one address takes all of it
        return waiting.within(seconds + _LOOK, connect, "ledger-connect")
    except TooLate:
        raise psycopg.errors.ConnectionTimeout("connection timeout expired") from None
    except NoThread:
        raise psycopg.OperationalError("no connection: the system gives no thread to wait for one") from None


def watch(engine: Engine) -> None:
    """Have every connection of ``engine`` (psycopg's) watched from now on, and made within its time-out as a whole."""
    silence = silence_of(server(engine))

    @event.listens_for(engine, "do_connect")
    def _connect(dialect: Any, _: Any, args: Any, settings: Any) -> Any:
        said = str(settings["connect_timeout"])
        if not said.isdigit() or int(said) == 0:  # psycopg has a sentence for what is no number; 0 means without end
            return dialect.connect(*args, **settings)
        connect = partial(dialect.connect, *args, **settings)
        return silence.heard(lambda seconds: within(seconds, connect), max(CONNECT, int(said)))

    # of what is asked before a connection is anybody's, by SQLAlchemy itself too, no event tells: it has one moment
    @event.listens_for(engine, "connect", insert=True)
    def _connected(connection: Any, record: Any) -> None:
        record.record_info["watched"] = watched = Watched(connection, silence)
        watched.begin(silence.left(ANSWER))
        _looker.add(watched)

    @event.listens_for(engine, "connect")
    def _ready(_: Any, record: Any) -> None:
        watched: Watched = record.record_info["watched"]
        watched.end()
        watched.ready = True

    @event.listens_for(engine, "checkout")
    def _taken(connection: Any, record: Any, _: Any) -> None:
        watched: Watched = record.record_info["watched"]
        before = record.record_info.pop("unanswered", False)
        watched.begin(silence.left(PING))
        try:
            with connection.cursor() as cursor:
                cursor.execute("SELECT 1")
            connection.rollback()
        except psycopg.Error:
            if before:  # of which SQLAlchemy would make an error that has no number
                raise psycopg.OperationalError("no connection: neither of two in a row answers") from None
            record.record_info["unanswered"] = True
            raise DisconnectionError from None  # another is made
        finally:
            watched.end()

    @event.listens_for(engine, "before_cursor_execute")
    def _asked(connection: Connection, *_: Any) -> None:
        _begin(connection)

    @event.listens_for(engine, "after_cursor_execute")
    def _answered(connection: Connection, *_: Any) -> None:
        _of(connection).end()

    @event.listens_for(engine, "commit")
    @event.listens_for(engine, "rollback")
    def _ending(connection: Connection) -> None:
        if not connection.invalidated:  # of one that was shut there is nothing to end
            _begin(connection)

    @event.listens_for(engine, "handle_error")
    def _failed(context: ExceptionContext) -> None:
        found = context.connection
        if found is None or found.invalidated:
            return
        watched = _of(found)
        if watched.gave_up and watched.ready:  # else it is a connection that could not be made
            raise Slow from None

    @event.listens_for(engine, "checkin")
    def _given_back(_: Any, record: Any) -> None:
        watched = record.record_info.get("watched")
        if watched is not None:
            watched.end()


def _begin(connection: Connection) -> None:
    _looker.wake()
    _of(connection).begin(connection.get_execution_options().get(WITHIN, ANSWER))


def _of(connection: Connection) -> Watched:
    record: Any = connection.connection.record_info  # ``info`` is none of a connection that is not ready
    found: Watched = record["watched"]
    return found
