"""A database server that says nothing is given up after seconds, whatever it does with our connection.

One that works on a question is waited for, however long that takes it, so that no time-out of the question's tells the
two apart. Where a statement is not answered for some seconds another connection is made: where it is, the first goes
on, else its socket is shut, upon which the waiting statement fails. Nothing is asked through it, for a pooler may have
no session for that, all of them at work. Until a transaction has begun, which takes a server nothing, there are some
seconds too, and no other statement is ended for one that has not: all sessions may be taken. For a moment nobody else
waits for the same database after either; after it, or an answer, one asks, and nobody waits with them. Another database
behind the same address may answer all the while, where a proxy or a login waits for one alone.
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
"""Seconds for a connection to be there."""
BEGUN = 6.0
"""Seconds for a transaction to have begun, which waits for a session of a pooler's."""
QUIET = 3.0
"""Seconds after which it is seen whether a server takes connections, and as long again between two times."""
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
        self._asked = self._silent_until = self._gone_until = self._next = -ASK_AGAIN
        self._asking = self._said_nothing = False

    def is_gone(self) -> bool:
        """Whether it took no connection a moment ago, and said nothing since: what is waited for will not come."""
        return self._clock() < self._gone_until

    def is_silent(self) -> bool:
        """Whether it said nothing a moment ago, be it to who began alone, and nothing since."""
        return self._said_nothing and self._clock() < self._silent_until

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

    def took_nobody(self) -> None:
        self._gone_until = self._clock() + ASK_AGAIN
        self.said_nothing()

    def answered(self) -> None:
        self._said_nothing, self._gone_until = False, self._clock()

    def ask(self, answers: Callable[[], bool]) -> None:
        """Have ``answers`` found out in a thread, if it was not a moment ago; where the system gives none, the next
        time."""
        with self._lock:
            if self._asking or self.is_gone() or self._clock() - self._asked < QUIET:
                return
            self._asking = True
        try:
            begun(partial(self._ask, answers), "source-ask")
        except NoThread:
            self._asking = False

    def _ask(self, answers: Callable[[], bool]) -> None:
        try:
            if not answers():
                self.took_nobody()
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
    """One connection (psycopg's), since when it waits, and for how long it may: until its transaction has begun as a
    whole, then for each statement."""

    def __init__(self, connection: Any, server: Server, answers: Callable[[], bool]) -> None:
        self.connection, self._server, self._answers = connection, server, answers
        self._most, self._begun = BEGUN, False
        self._since: float | None = None

    def has_begun(self, most: float) -> None:
        """From now on a statement may take the server so many seconds."""
        self._most, self._begun, self._since = most + _AFTER, True, None

    def look(self, now: float) -> bool:
        """Give it up if it waits in vain; False where there is nothing to look at any more."""
        if self.connection.closed:
            return False
        if self.connection.info.transaction_status != _WORKS:
            if self._begun:
                self._since = None
            return True
        since = self._since = now if self._since is None else self._since
        late = now - since > self._most
        if late and not self._begun:
            self._server.said_nothing()
        if late or (now - since > QUIET and self._server.is_gone()):
            shut(self.connection)
            return False
        if now - since > QUIET:
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
            server.took_nobody()
            raise refused("the server says nothing") from None
        except NoThread as missing:
            raise refused(missing.strerror) from None
        except Exception:  # it refuses one, which is an answer too
            server.answered()
            raise
        _looker.add(Watched(found, server, partial(_answers, connect)))
        return found

    # until one was begun in, SQLAlchemy lets one connection after the other through here, and no two at once
    @event.listens_for(engine, "connect", insert=True)
    def _made(*_: object) -> None:
        if server.is_silent():
            raise refused("the server said nothing to who came before")

    @event.listens_for(engine, "begin")
    def _begun(connection: Connection) -> None:
        _looker.wake()
        most = tell(connection)
        watched = _looker.of(connection.connection.dbapi_connection)
        if isinstance(watched, Watched):
            watched.has_begun(most or MOST)
        server.answered()

    @event.listens_for(engine, "rollback")
    def _ended(connection: Connection) -> None:
        if not connection.invalidated:
            server.answered()


def _answers(connect: Callable[[], Any]) -> bool:
    """Whether one more connection is made; that one is refused is an answer too."""
    try:
        within(CONNECT, connect, _CONNECTING).close()
    except TooLate:
        return False
    except Exception as error:  # noqa: BLE001 - whatever a driver says
        return type(error).__name__ != "ConnectionTimeout"
    return True
