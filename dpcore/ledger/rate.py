"""How much a ledger takes in practice and for rooms: so much of one person in a day, so much of all in an hour.

A person is whoever has a cookie, or where there is a login a subject. One network has four fifths of what all have in
an hour (``begun``): whoever drops their cookie again and again, or has many logins, leaves room for others; and one
person of it a quarter of that. Whose a room is is known in memory alone (``rooms``): after a restart nobody has opened
any.

Every record stays for good, so that what nobody bounds would fill the disk. Only what begins something new is refused:
a charge that was made may always be drawn and answered, and a room that was opened may be played to its end.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from datetime import datetime, timedelta

from sqlalchemy import func, or_, select

from dpcore.errors import LedgerError
from dpcore.ledger import practice, schema
from dpcore.ledger.daily import TOO_MANY_ANSWERS
from dpcore.ledger.records import lately
from dpcore.ledger.rooms import START as ROOM
from dpcore.ledger.store import Store

MOST_OF_ONE, DAY = 600, timedelta(days=1)
"""Records of one person in a day: about 200 answers, of three records each, in practice and in rooms together."""
MOST_OF_ALL, HOUR = 20_000, timedelta(hours=1)
"""Records of everybody in an hour: 200 people with 30 answers each."""
_LOOKED_AT = 500_000
"""Records among which those of practice and rooms are counted: more than a server writes in an hour."""
_PRACTISED = or_(*(schema.records.c.lineage.startswith(start, autoescape=True) for start in (practice.START, ROOM)))
EACH = 0.8
"""The share of them that may come from one network (a school behind one address has the same)."""
EACH_OF_NETWORK = 0.25
"""The share of that which one person may begin: of what many replicas share less than one has in a day."""
ANSWER, CHANGE = 3, 1
"""Records that come of what is begun: charge, draw and answer; a budget, its name."""
TOO_MANY_OF_ONE = (
    "You have practised and opened rooms here as much as one person can in a day; nothing was charged. Go on "
    "tomorrow, or start Epsilon Lab on your own computer."
)
TOO_MANY_OF_ONE_NOW = (
    "You have practised and opened rooms here as much as one person can in an hour; nothing was charged. Try again "
    "within an hour, or start Epsilon Lab on your own computer."
)
TOO_MANY_OF_ALL = (
    "So much is asked of this server that its ledger takes no more for now; nothing was charged. Try again within an "
    "hour, or start Epsilon Lab on your own computer."
)
TOO_MANY_OF_NETWORK = (
    "So much is asked from your network that this server's ledger takes no more from there for now; nothing was "
    "charged. Try again within an hour, or start Epsilon Lab on your own computer."
)
_UNKNOWN = "unknown"
"""In place of a network, of all of whom it is not known from where they come."""


def spend(store: Store, token: str, *, network: str, replicas: int) -> Callable[[], None]:
    """Before an answer about a real budget is charged, by one without a name: what counts its records once it is.

    A browser may write as many a day as in practice, a network as many in an hour, beside those of practice that it has
    begun; all of whom it is not known from where they come are in one. That everybody together writes much keeps no
    real answer back. Raises LedgerError.
    """
    where, browser = network or _UNKNOWN, f"answers {hashlib.sha256(token.encode()).hexdigest()}" if token else ""
    counted = replicas * ANSWER  # each replica sees its own visitors alone, and who is one chooses which
    if browser and store.written.records(browser) + counted > MOST_OF_ONE:
        raise LedgerError(TOO_MANY_ANSWERS)
    if store.begun.records(where) + counted > EACH * MOST_OF_ALL:
        raise LedgerError(TOO_MANY_OF_NETWORK)

    def count() -> None:
        store.written.note(browser, counted)
        store.begun.note(where, counted, token)

    return count


def room(answers: int) -> int:
    """Records that come of a room: its budget, and each of the ``answers`` that it may give."""
    return CHANGE + ANSWER * answers


def begin(store: Store, token: str, records: int, *, network: str, replicas: int) -> None:
    """Something new that comes to so many ``records`` begins now, from this network; of several ``replicas`` each sees
    its own visitors alone, so that it counts so often. Raises LedgerError where it cannot."""
    more = replicas * max(records, 1)
    of_network = store.begun.records(network) + more
    of_one = store.begun.of_one(network, token) + more if network else 0
    told = refusal(store, token, records, of_network=of_network, of_one=of_one)
    if told:
        raise LedgerError(told)
    # one person can write no more in a day: what is begun and comes to nothing uses up nobody else's
    store.begun.note(network, replicas * records, token, replicas * MOST_OF_ONE)


def refusal(
    store: Store, token: str, records: int = 0, now: datetime | None = None, *, of_network: int = 0, of_one: int = 0
) -> str:
    """Why the person with this secret can begin nothing new that comes to so many ``records``, in a sentence; "" where
    they can.

    ``of_network`` are the records that were begun from where they are within the hour, and these; ``of_one`` their own
    of them. It reads what is this person's own, however much is others'.
    """
    more = max(records, 1)
    if of_network > EACH * MOST_OF_ALL:
        return TOO_MANY_OF_NETWORK
    (day, until), (hour, _) = lately(DAY, now), lately(HOUR, now)
    kept, opened = schema.records.c, store.rooms.opened_by(token)
    with store.reading() as connection:
        mine = [*practice.of(connection, token), *opened]
        own = select(func.count()).where(kept.lineage.in_(mine), kept.time > day, kept.time <= until)
        # a room that was not played wrote nothing, and is kept in mind
        if max(int(connection.execute(own).scalar_one()), len(opened)) + more > MOST_OF_ONE:
            return TOO_MANY_OF_ONE
        if of_one > EACH_OF_NETWORK * EACH * MOST_OF_ALL:
            return TOO_MANY_OF_ONE_NOW
        # the record that was written so many ago: where it is younger than an hour, so many were written since
        last = int(connection.execute(select(func.max(kept.seq))).scalar() or 0)
        time = connection.execute(select(kept.time).where(kept.seq == last - MOST_OF_ALL + more)).scalar()
        if time is None or not hour < time <= until:
            return ""
        # real answers have bounds of their own, and keep nobody from practice
        of_these = select(kept.time).where(_PRACTISED, kept.seq > last - _LOOKED_AT).order_by(kept.seq.desc())
        time = connection.execute(of_these.offset(MOST_OF_ALL - more).limit(1)).scalar()
    return TOO_MANY_OF_ALL if time is not None and hour < time <= until else ""
