"""A database server that says nothing is given up after seconds, whatever it does with our connection.

One that works on a question is waited for, however long that takes it, so that no time-out of the question's tells the
two apart. Where a statement is not answered for some seconds another connection asks the server for next to nothing:
where that is answered the first goes on, else its socket is shut, upon which the waiting statement fails. For a moment
nobody else waits for the same database then; after it one asks, and nobody waits with them. Another database behind the
same address may answer all the while, where a proxy or a login waits for one alone.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from typing import Any

from sqlalchemy import URL, Connection, Engine, event

from dpcore.threads import NoThread, begun
from dpcore.waiting import Looker, TooLate, shut, within

CONNECT = 3.0
"""Seconds for a connection to be there, and to answer next to nothing."""
QUIET = 3.0
"""Seconds after which a server is asked whether it is there, and as long again between two times."""
ASK_AGAIN = 10.0
"""Seconds for which a server that said nothing is not asked by anybody."""
MOST = 3600.0
"""Seconds that one statement may take a server, or an engine in this process, unless the server itself says others."""
LOCKED = 5.0
"""Seconds for which it may wait for somebody who holds the table."""
_AFTER = 60.0
"""Seconds after a server should have given a statement up itself."""
_LOOK = 0.2
_CONNECTING = "source-connect"
_WORKS = 1  # libpq's name for a connection whose statement is not answered yet


class Server:
    """Whether a server answers about one database. Safe to share between threads."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._asked = self._silent_until = self._next = -ASK_AGAIN
        self._asking = self._said_nothing = False

    def is_silent(self) -> bool:
        """Whether it said nothing a moment ago."""
        return self._clock() < self._silent_until

    def may_be_asked(self) -> bool:
        """Whether whoever wants a connection may wait for it; of those who ask it again after a silence one may."""
        with self._lock:
            now = self._clock()
            if self._said_nothing and now < max(self._silent_until, self._next):
                return False
            self._next = now + ASK_AGAIN
            return True

    def said_nothing(self) -> None:
        self._said_nothing, self._silent_until = True, self._clock() + ASK_AGAIN

    def answered(self) -> None:
        self._said_nothing = False

    def ask(self, answers: Callable[[], bool]) -> None:
        """Have ``answers`` found out in a thread, if it was not a moment ago; where the system gives none, the next
        time."""
        with self._lock:
            if self._asking or self.is_silent() or self._clock() - self._asked < QUIET:
                return
            self._asking = True
        try:
            begun(partial(self._ask, answers), "source-ask")
        except NoThread:
            self._asking = False

    def _ask(self, answers: Callable[[], bool]) -> None:
        try:
            if not answers():
                self.said_nothing()
        finally:
            self._asked, self._asking = self._clock(), False


@lru_cache(maxsize=64)
def server_of(*where: str) -> Server:
    """One for each database and account, by what an address says of where it is."""
    return Server()


def _named(url: URL) -> Iterator[str]:
    yield from (url.host or "", str(url.port or ""), url.database or "", url.username or "")
    yield from (str(url.query.get(name, "")) for name in ("host", "hostaddr", "port", "dbname", "user"))


class Watched:
    """One connection (psycopg's), since when it waits, and for how long it may."""

    def __init__(self, connection: Any, server: Server, answers: Callable[[], bool]) -> None:
        self.connection, self._server, self._answers = connection, server, answers
        self.most = MOST + _AFTER
        self._since: float | None = None

    def look(self, now: float) -> bool:
        """Give it up if it waits in vain; False where there is nothing to look at any more."""
        if self.connection.closed:
            return False
        if self.connection.info.transaction_status != _WORKS:
            self._since = None
            return True
        self._since = now if self._since is None else self._since
        if now - self._since > self.most or (now - self._since > QUIET and self._server.is_silent()):
            shut(self.connection)
            return False
        if now - self._since > QUIET:
            self._server.ask(self._answers)
        return True


_looker = Looker("source-watch", _LOOK)


def watch(engine: Engine, tell: Callable[[Connection], float]) -> None:
    """Have every connection of ``engine`` (psycopg's, and of no pool) made in time, and watched from then on; ``tell``
    begins each transaction, and gives the seconds that one statement of it may take the server, 0 without end."""
    server, refused = server_of(*_named(engine.url)), engine.dialect.loaded_dbapi.OperationalError

    @event.listens_for(engine, "do_connect")
    def _connect(dialect: Any, _: Any, args: Any, settings: Any) -> Any:
        if not server.may_be_asked():
            raise refused("the server said nothing a moment ago")
        connect = partial(dialect.connect, *args, **settings)
        try:
            found = within(CONNECT, connect, _CONNECTING)
        except TooLate:
            server.said_nothing()
            raise refused("the server says nothing") from None
        except NoThread as missing:
            raise refused(missing.strerror) from None
        except Exception:  # it refuses one, which is an answer too
            server.answered()
            raise
        _looker.add(Watched(found, server, partial(_answers, connect)))
        return found

    @event.listens_for(engine, "begin")
    def _begun(connection: Connection) -> None:
        most = tell(connection)
        _looker.wake()
        watched = _looker.of(connection.connection.dbapi_connection)
        if isinstance(watched, Watched):
            watched.most = (most or MOST) + _AFTER
        server.answered()


def _answers(connect: Callable[[], Any]) -> bool:
    """Whether the server answers one more connection; that it refuses one is an answer too."""
    made: list[Any] = []

    def ask() -> None:
        made.append(connect())
        with made[0].cursor() as cursor:
            cursor.execute("SELECT 1")
        made[0].close()

    try:
        within(CONNECT, ask, _CONNECTING)
    except TooLate:
        for connection in made:
            shut(connection)
        return False
    except Exception as error:  # noqa: BLE001 - whatever a driver says
        return type(error).__name__ != "ConnectionTimeout"
    return True
