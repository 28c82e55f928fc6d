"""How much a ledger takes from visitors, in practice and for rooms: so much of one in a day, so much of all in an hour.

Every record stays for good, so that what nobody bounds would fill the disk. Only what begins something new is refused:
a charge that was made may always be drawn and answered, and a room that was opened may be played to its end.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from sqlalchemy import Connection, func, select

from dpcore.ledger import practice, rooms, schema

MOST_OF_ONE, DAY = 600, timedelta(days=1)
"""Records of one visitor in a day: about 200 answers, of three records each, in practice and in rooms together."""
MOST_OF_ALL, HOUR = 20_000, timedelta(hours=1)
"""Records of everybody in an hour: 200 people with 30 answers each."""
TOO_MANY_OF_ONE = (
    "You have practised and opened rooms here as much as one visitor can in a day; nothing was charged. Go on "
    "tomorrow, or start Epsilon Lab on your own computer."
)
TOO_MANY_OF_ALL = (
    "So much is asked of this server that its ledger takes no more for now; nothing was charged. Try again within an "
    "hour, or start Epsilon Lab on your own computer."
)


def refusal(connection: Connection, token: str, now: datetime | None = None) -> str:
    """Why the visitor with this secret can begin nothing new, in a sentence; "" where they can."""
    then = now or datetime.now(UTC)
    records = schema.records.c
    mine = [*practice.of(connection, token), *_rooms(connection, token, then - DAY)]
    own = select(func.count()).where(records.lineage.in_(mine), records.time > written(then - DAY))
    if int(connection.execute(own).scalar_one()) >= MOST_OF_ONE:
        return TOO_MANY_OF_ONE
    # the record that was written so many ago: where it is younger than an hour, so many were written since
    far = select(func.max(records.seq) - MOST_OF_ALL + 1).scalar_subquery()
    time = connection.execute(select(records.time).where(records.seq == far)).scalar()
    return TOO_MANY_OF_ALL if time is not None and time > written(then - HOUR) else ""


def _rooms(connection: Connection, token: str, since: datetime) -> list[str]:
    """The budgets of the rooms that this visitor has opened since then; one opens with its first answer."""
    known, records = schema.lineages.c.lineage, schema.records.c
    every = connection.execute(select(known).where(known.startswith(rooms.START))).scalars()
    mine = [lineage for lineage in every if rooms.opened_by(lineage, token)]
    opened = select(records.lineage).where(
        records.lineage.in_(mine), records.kind == "open", records.time > written(since)
    )
    return list(connection.execute(opened).scalars())


def written(time: datetime) -> str:
    """A time as records hold it, so that texts compare as times."""
    return time.isoformat(timespec="milliseconds").replace("+00:00", "Z")
