"""How much practice a ledger takes from visitors: so much of one in a day, so much of all in an hour.

Every record stays for good, so that what nobody bounds would fill the disk. A charge that was made may always be drawn
and answered: only what begins something new is refused.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from sqlalchemy import Connection, func, select

from dpcore.ledger import schema

MOST_OF_ONE, DAY = 600, timedelta(days=1)
"""Records of one visitor in a day: about 200 answers, of three records each."""
MOST_OF_ALL, HOUR = 20_000, timedelta(hours=1)
"""Records of everybody in an hour: 200 people with 30 answers each."""
TOO_MANY_OF_ONE = (
    "You have practised here as much as one visitor can in a day; nothing was charged. Go on tomorrow, or start "
    "Epsilon Lab on your own computer."
)
TOO_MANY_OF_ALL = (
    "So much is practised on this server that its ledger takes no more for now; nothing was charged. Try again within "
    "an hour, or start Epsilon Lab on your own computer."
)


def refusal(connection: Connection, visitor: str, now: datetime | None = None) -> str:
    """Why this visitor can begin nothing new, in a sentence; "" where they can.

    ``visitor`` is the end of the lineages of their practice budgets.
    """
    then = now or datetime.now(UTC)
    records = schema.records.c
    mine = select(schema.lineages.c.lineage).where(
        schema.lineages.c.lineage.startswith("practice:"),
        schema.lineages.c.lineage.endswith(f":{visitor}", autoescape=True),
    )
    own = select(func.count()).where(records.lineage.in_(mine), records.time > _written(then - DAY))
    if int(connection.execute(own).scalar_one()) >= MOST_OF_ONE:
        return TOO_MANY_OF_ONE
    # the record that was written so many ago: where it is younger than an hour, so many were written since
    far = select(func.max(records.seq) - MOST_OF_ALL + 1).scalar_subquery()
    time = connection.execute(select(records.time).where(records.seq == far)).scalar()
    return TOO_MANY_OF_ALL if time is not None and time > _written(then - HOUR) else ""


def _written(time: datetime) -> str:
    """A time as records hold it, so that texts compare as times."""
    return time.isoformat(timespec="milliseconds").replace("+00:00", "Z")
