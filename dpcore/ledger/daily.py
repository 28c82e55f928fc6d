"""How much one person writes into a ledger in a day: by what costs no budget (names, shares, limits, links, sentences),
and by answers about real people, of which each may cost a budget so little that it never ends.

Every record stays for good, so that what nobody bounds would fill the disk. Of several without a name (``several``) no
record says whose it is: what a browser, and what a network wrote is known in memory alone, so that a restart forgets
it. Whoever runs the program without a login is nobody's subject, and not bounded.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import timedelta
from types import MappingProxyType
from typing import Any, get_args

from sqlalchemy import ColumnElement, Connection, Select, and_, bindparam, func, select

from dpcore.errors import NotAllowed
from dpcore.ledger import history, schema
from dpcore.ledger.begun import Begun
from dpcore.ledger.records import Kind, lately

MOST, DAY = 600, timedelta(days=1)
"""Records of one person in a day, but those that are bounded otherwise; as many as of practice (``rate``)."""
MOST_ANSWERS = 200
"""Answers about real people that one person is charged for in a day: as many as one without a name (``rate``)."""
NEAR = 1000
"""Records that are looked at before the newest one that is too old."""
MOST_OF_NETWORK = 4 * MOST
"""Those of all together without a name who come from one network: whoever wants more has another browser."""
TOO_MANY = "You have changed as much in this ledger as one person can in a day; nothing was changed. Go on tomorrow."
TOO_MANY_OF_NETWORK = (
    "As much in this ledger was changed from your network, as this server sees it, as can be in a day; nothing was "
    "changed. Go on tomorrow."
)
TOO_MANY_ANSWERS = (
    "You have asked for as many private answers here as one person can in a day; nothing was charged. Go on tomorrow."
)
OTHERWISE: Mapping[Kind, str] = MappingProxyType(
    {
        "charge": "so many a day about real people (must_ask_few; of one without a name, rate), or is practice (rate)",
        "draw": "one for a charge",
        "answer": "one for a charge",
        "reset": "is practice (rate)",
        "undo": "is practice (rate)",
        "ask": "so many a day, and so many that wait (approvals)",
        "grant": "one for what was asked",
        "refuse": "one for what was asked",
        "close": "one for a budget",
        "compare": "so many files a day (compared)",
        "alike": "one for a file that was compared and a budget",
        "restore": "by who looks after the ledger",
        "renew": "by who looks after the ledger",
    }
)
"""What bounds the records of these kinds; all others are counted here, also those of a kind that is yet to come."""
_TIME = select(schema.records.c.time).where(schema.records.c.seq == bindparam("at"))
_NOTED = tuple(kind for kind in get_args(Kind) if kind not in {*OTHERWISE, "open", "link"})
"""Of these, those that say by whom they are as ``by``, and have an index by that."""


def must_be_few(connection: Connection, kind: Kind, body: Mapping[str, Any]) -> None:
    """Before a record is written. Raises NotAllowed."""
    by = body.get("by") or body.get("owner")
    if not by or kind in OTHERWISE:
        return
    kept = schema.records
    opened = and_(schema.of_kind(kept, "open"), history.named(connection, "owner", by))
    linked = and_(schema.of_kind(kept, "link"), history.begins(connection, by))
    noted = and_(schema.of_kind(kept, *_NOTED), history.named(connection, "by", by))
    if _today(connection, opened, linked, noted) >= MOST:
        raise NotAllowed(TOO_MANY)


def must_ask_few(connection: Connection, subject: str) -> None:
    """Before a person is charged for an answer about real people. Raises NotAllowed."""
    kept = schema.records
    charged = and_(schema.of_kind(kept, "charge"), history.named(connection, "subject", subject), history.ABOUT_PEOPLE)
    if _today(connection, charged) >= MOST_ANSWERS:
        raise NotAllowed(TOO_MANY_ANSWERS)


def _today(connection: Connection, *chosen: ColumnElement[bool]) -> int:
    """How many records of any of the ``chosen`` sorts, which have none in common, were written within a day."""
    kept, (since, until) = schema.records.c, lately(DAY)
    recent = kept.seq > _before(connection, since, until)  # a long ledger makes nobody wait
    found = select(func.count()).where(recent, kept.time > since, kept.time <= until)
    return sum(int(connection.execute(found.where(one)).scalar_one()) for one in chosen)


def take(written: Begun, token: str, network: str, records: int, *, replicas: int) -> None:
    """So many records, of one of several without a name, come to be now, if there are few of theirs. ``token`` is the
    secret of their browser, if any; all of whom it is not known from where they come are in one network. Of several
    ``replicas`` each sees its own visitors alone, so that it counts so often: for the network, and for the browser, of
    which three others have room beside it at any number of them. Raises NotAllowed."""
    browser, where = token and f"browser {hashlib.sha256(token.encode()).hexdigest()}", f"network {network}"
    counted = replicas * records
    if token and written.records(browser) + counted > MOST:
        raise NotAllowed(TOO_MANY)
    if written.records(where) + counted > MOST_OF_NETWORK:
        raise NotAllowed(TOO_MANY_OF_NETWORK)
    written.note(browser, counted)
    written.note(where, counted)


def _before(connection: Connection, since: str, until: str) -> int:
    """A record before which all are too old: one that is, before one that is not, unless ``NEAR`` before it one is not.
    Then a computer wrote it whose clock is behind, and it says nothing of the others."""
    kept = schema.records.c
    at = _old_one(connection, since, history.last(connection, None) + 1)
    while at:
        counts = [kept.seq < at, kept.seq >= at - NEAR, kept.time > since, kept.time <= until]
        earlier = _number(connection, select(func.min(kept.seq)).where(*counts))
        if not earlier:
            break
        at = _old_one(connection, since, earlier)
    return at


def _old_one(connection: Connection, since: str, below: int) -> int:
    """The number of a record that is too old, where the next is not or is ``below``; 0 where none is. By halves, so
    that a day in which many wrote much makes nobody wait."""
    old, recent = 0, below
    while recent - old > 1:
        middle = (old + recent) // 2
        if connection.execute(_TIME, {"at": middle}).scalar_one() <= since:
            old = middle
        else:
            recent = middle
    return old


def _number(connection: Connection, query: Select[Any]) -> int:
    return int(connection.execute(query).scalar() or 0)
