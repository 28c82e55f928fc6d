"""The ledger's history as a chain: every record carries the hash of the one before it.

A record never changes. What the tables say can always be worked out again from the records alone (``verify``).
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, Literal

from dpcore import events
from dpcore.costs import Cost
from dpcore.errors import InvalidArgument

Kind = Literal[
    "open", "charge", "draw", "answer", "reset", "undo", "link", "others", "rename", "restore", "renew",
    "role", "share", "limit", "close", "ask", "grant", "refuse", "compare", "alike",
]  # fmt: skip
FIRST = "0" * 64  # what the first record follows
CLOCK = "clock_before"  # in the body of a record whose clock stood earlier than that of the record before
DEEPEST, MOST_DIGITS = 32, 640
"""How many lists and objects a record may hold within each other, and how many digits a number in it may have. Every
program reads so much, whatever it told Python of recursion and of digits (which are 640 at least); what one that allows
more would write, no other one could check any more."""
_SIGN, _MANY_DIGITS = re.compile(r"[][{}]"), re.compile(rf"[0-9]{{{MOST_DIGITS + 1}}}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One link of the chain. ``body`` is canonical JSON text; ``request_id`` is empty where there is none."""

    seq: int
    kind: Kind
    lineage: str
    request_id: str
    time: str
    body: str
    previous: str
    hash: str

    @property
    def content(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.body)
        return found

    def is_plain(self) -> bool:
        """Whether the body is the JSON that any program writes who reads it: no NaN, no name twice, no blank. Its names
        may be in another order, as of an answer by numbers that an earlier version wrote in that of the numbers."""
        return _text(self.content) == self.body

    def is_intact(self) -> bool:
        """Whether the hash fits what the record says."""
        return self.hash == _digest(self)

    def line(self) -> str:
        """The record as one line of the journal, without its end."""
        return canonical(asdict(self))

    @classmethod
    def from_line(cls, line: str) -> Record:
        """The record of one journal line. Raises ValueError for anything else."""
        found = json.loads(line)
        if not isinstance(found, dict) or set(found) != set(cls.__slots__):
            raise ValueError("not a record")
        if not isinstance(found["seq"], int) or not all(
            isinstance(found[name], str) for name in found if name != "seq"
        ):
            raise ValueError("not a record")
        return cls(**found)


def next_record(
    seq: int,
    previous: str,
    kind: Kind,
    *,
    lineage: str = "",
    request_id: str = "",
    body: dict[str, Any],
    last_time: str = "",
) -> Record:
    """The record that follows ``previous``, stamped with the present time (UTC).

    Where the clock stands earlier than at ``last_time``, the record before, the record says so. Raises as ``readable``,
    and InvalidArgument for what is no text.
    """
    for name, text in (("lineage", lineage), ("request_id", request_id)):
        if not isinstance(text, str):  # a database finds its text by a number too, and a journal would hold the number
            raise InvalidArgument(name, "must be text")
    time = written(datetime.now(UTC))
    if time < last_time:
        body = {**body, CLOCK: last_time}
    bare = Record(
        seq=seq,
        kind=kind,
        lineage=lineage,
        request_id=request_id,
        time=time,
        body=readable(body),
        previous=previous,
        hash="",
    )
    return sealed(bare)


def written(time: datetime) -> str:
    """A time as records hold it, so that texts compare as times."""
    return time.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def lately(length: timedelta, now: datetime | None = None) -> tuple[str, str]:
    """So long before now, and as long after it: what was written after the first and up to the second counts.

    A computer's clock is a little ahead of another's, so that what it just wrote is of a time that is yet to come. A
    record of a time beyond that, which a clock that was wrong wrote, does not count: it stays for good, and whoever was
    at a limit then would be at it until that time.
    """
    here = now or datetime.now(UTC)
    return written(here - length), written(here + length)


def sealed(record: Record) -> Record:
    """The record with the hash that fits what it says."""
    return replace(record, hash=_digest(record))


def _digest(record: Record) -> str:
    parts = [str(record.seq), record.kind, record.lineage, record.request_id, record.time, record.body, record.previous]
    return hashlib.sha256(json.dumps(parts, ensure_ascii=True, separators=(",", ":")).encode("ascii")).hexdigest()


_text = partial(json.dumps, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def canonical(value: Any) -> str:
    """JSON in one form only: keys sorted, no blanks, ASCII. Raises ValueError or TypeError where JSON cannot."""
    return _text(value, sort_keys=True)


def readable(value: Any) -> str:
    """``canonical``, of what every program can read again and write down, as that one writes it: names that are numbers
    are in the order of their texts. Raises TypeError, ValueError and RecursionError for anything else: what lies too
    deep, a number of too many digits, half a letter, a name twice."""
    text = canonical(value)
    if "\\ud" in text and not can_be_written(json.dumps(value, ensure_ascii=False)):
        raise ValueError("half a letter")
    bare = re.sub('"[^"]*"', "", text.replace("\\\\", "").replace('\\"', ""))
    depth = 0
    for sign in _SIGN.finditer(bare):
        depth += 1 if sign[0] in "[{" else -1
        if depth > DEEPEST:
            raise ValueError("too deep")
    if _MANY_DIGITS.search(bare):
        raise ValueError("too many digits")
    again = canonical(json.loads(text))
    if len(again) != len(text):
        raise ValueError("a name twice")
    return again


def can_be_written(text: str) -> bool:
    """Whether a text holds no half of a letter, which no file takes."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def writable(text: str) -> str:
    """A text in which half a letter, as records from before may hold one, is written as JSON escapes it."""
    return text.encode("utf-8", "backslashreplace").decode()


def cost_to_json(cost: Cost) -> dict[str, Any]:
    """A cost with its event; an infinite ρ or ε is null."""
    event = None if cost.event is None else {"type": type(cost.event).__name__, **asdict(cost.event)}
    return {
        "epsilon": _finite(cost.epsilon),
        "rho": _finite(cost.zcdp),
        "delta": float(cost.delta),
        "event": event,
    }


def same_cost(kept: dict[str, Any], asked: dict[str, Any]) -> bool:
    """Whether two costs as JSON take the same of a budget, by the same event, that is with the same noise, where both
    have one: a later program may know of none that a kind of answer has."""
    with_event = kept["event"] is not None and asked["event"] is not None
    return all(value == asked[name] for name, value in kept.items() if with_event or name != "event")


def cost_from_json(found: dict[str, Any]) -> Cost:
    """The inverse of ``cost_to_json``."""
    event = None
    if found["event"] is not None:
        fields = dict(found["event"])
        event = getattr(events, fields.pop("type"))(**fields)
    return Cost.kept(
        epsilon=math.inf if found["epsilon"] is None else found["epsilon"],
        rho=math.inf if found["rho"] is None else found["rho"],
        delta=found["delta"],
        event=event,
    )


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
