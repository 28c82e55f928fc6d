"""Which people a file is about: keyed marks of files known to be about them, and what was said of those who look alike.

All marks are keyed with the server's secret (``key``), which is in neither the ledger nor its journal: without it
nothing in them can be tested against a guess of the data. With another key nothing is recognised.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, insert, select

from dpcore.errors import InvalidArgument
from dpcore.ledger import accounts, history, schema
from dpcore.ledger.store import Store
from dpcore.ledger.words import label
from dpcore.sketches import Sketch

LEAST_WORDS = 12  # characters of a sentence


@dataclass(frozen=True, slots=True, kw_only=True)
class Resemblance:
    """A known lineage that a new file looks like. How much is not told: that could be tested against a guess."""

    lineage: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """Somebody's reason, on the record, why people who look alike are others: ``lineage`` than ``than``."""

    lineage: str
    than: str
    because: str
    time: str


def link(store: Store, fingerprint: str, lineage: str, sketch: Sketch | None, by: str = "") -> None:
    """See ``Ledger.link``."""
    label(fingerprint=fingerprint)
    if sketch is not None and not isinstance(sketch, Sketch):
        raise InvalidArgument("sketch", "must be a Sketch")
    mark, text = store.key.mark("file", fingerprint), "" if sketch is None else sketch.to_text()
    with store.writing() as connection:
        accounts.get(connection, lineage)
        known = _lineage_of(connection, mark)
        if known == lineage:
            return
        if known is not None:
            raise InvalidArgument("fingerprint", "belongs to other people already, and stays with them")
        row: dict[str, Any] = {"fingerprint": mark, "sketch": text}
        store.append(connection, "link", lineage=lineage, body={**row, **({"by": by} if by else {})})
        connection.execute(insert(schema.fingerprints).values({**row, "lineage": lineage}))


def _lineage_of(connection: Connection, mark: str) -> str | None:
    query = select(schema.fingerprints.c.lineage).where(schema.fingerprints.c.fingerprint == mark)
    found: str | None = connection.execute(query).scalar()
    return found


def similar(store: Store, fingerprint: str, sketch: Sketch | None, among: Collection[str]) -> list[Resemblance]:
    """See ``Ledger.similar``."""
    mark = store.key.mark("file", fingerprint)
    query = (
        select(schema.fingerprints, schema.lineages.c.name)
        .join(schema.lineages, schema.lineages.c.lineage == schema.fingerprints.c.lineage)
        .where(schema.fingerprints.c.lineage.in_(list(among)))
    )
    found: dict[str, Resemblance] = {}
    with store.reading() as connection:
        for row in connection.execute(query).mappings():
            lineage = row["lineage"]
            if lineage in found:
                continue
            known = Sketch.from_text(row["sketch"])
            if row["fingerprint"] == mark or (sketch is not None and known is not None and sketch.is_like(known)):
                found[lineage] = Resemblance(lineage=lineage, name=row["name"])
    return sorted(found.values(), key=lambda one: (one.name, one.lineage))


def say_others(store: Store, lineage: str, than: str, because: str, by: str = "") -> Statement:
    """See ``Ledger.say_others``."""
    label(lineage=lineage)
    sentence = label(because=because, longest=1000).strip()
    if len(sentence) < LEAST_WORDS or " " not in sentence:
        raise InvalidArgument("because", "must be a sentence")
    if lineage == than:
        raise InvalidArgument("than", "must be other people")
    with store.writing() as connection:
        accounts.get(connection, than)
        body = {"than": than, "because": sentence, **({"by": by} if by else {})}
        store.append(connection, "others", lineage=lineage, body=body)
        return _statements(connection, lineage)[-1]


def statements(store: Store, lineage: str | None) -> list[Statement]:
    """See ``Ledger.statements``."""
    with store.reading() as connection:
        return _statements(connection, lineage)


def _statements(connection: Connection, lineage: str | None) -> list[Statement]:
    return [
        Statement(
            lineage=record.lineage,
            than=record.content["than"],
            because=record.content["because"],
            time=record.time,
        )
        for record in history.records(connection, "others", lineage)
    ]
