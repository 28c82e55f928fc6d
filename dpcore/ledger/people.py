"""Which people a file is about: keyed marks of files known to be about them, and what was said of those who look alike.

All marks are keyed with the server's secret (``key``), which is in neither the ledger nor its journal: without it
nothing in them can be tested against a guess of the data. With another key nothing is recognised.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, insert, select

from dpcore.errors import InvalidArgument
from dpcore.ledger import accounts, history, schema
from dpcore.ledger.key import Key
from dpcore.ledger.store import Store
from dpcore.ledger.words import label
from dpcore.sketches import Sketch

LEAST_WORDS = 12  # characters of a sentence
_SEALED = "sealed:"
"""How a sketch begins that was written so that equal marks of two files look different: else whoever reads the records
could bring files of guessed rows, and see by equal marks which guess was right. All are of one length, for how many
marks there are hangs on every row. Earlier versions wrote them plain, or as long as they were."""


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


def link(
    store: Store,
    fingerprint: str,
    lineage: str,
    sketch: Sketch | None,
    by: str = "",
    known_to: Collection[str] | None = None,
) -> None:
    """See ``Ledger.link``. ``known_to`` are the lineages that whoever links may ask about, None for all.

    That the file belongs to others too is told of these alone: else a guess of all rows could be tried here.
    """
    label(fingerprint=fingerprint)
    if sketch is not None and not isinstance(sketch, Sketch):
        raise InvalidArgument("sketch", "must be a Sketch")
    with store.writing() as connection:
        accounts.get(connection, lineage)
        known = _lineages_of(connection, store.key, fingerprint)
        if lineage in known:
            return
        if known if known_to is None else known & set(known_to):
            raise InvalidArgument("fingerprint", "belongs to other people already, and stays with them")
        text = "" if sketch is None else _SEALED + store.key.sealed("sketch", sketch.to_even_text())
        row: dict[str, Any] = {"fingerprint": store.key.mark("file", lineage, fingerprint), "sketch": text}
        store.append(connection, "link", lineage=lineage, body={**row, **({"by": by} if by else {})})
        connection.execute(insert(schema.fingerprints).values({**row, "lineage": lineage}))


def _lineages_of(connection: Connection, key: Key, fingerprint: str) -> set[str]:
    """All those that this very file was linked with."""
    rows = connection.execute(select(schema.fingerprints.c.fingerprint, schema.fingerprints.c.lineage)).all()
    return {lineage for mark, lineage in rows if mark in _marks(key, lineage, fingerprint)}


def _marks(key: Key, lineage: str, fingerprint: str) -> tuple[str, str]:
    """By what a file of these people is known: both together, or, as earlier versions wrote it, the file alone."""
    return key.mark("file", lineage, fingerprint), key.mark("file", fingerprint)


def similar(store: Store, fingerprint: str, sketch: Sketch | None, among: Collection[str]) -> list[Resemblance]:
    """See ``Ledger.similar``."""
    found: dict[str, Resemblance] = {}
    with store.reading() as connection:
        for row in files(connection, store.key, among):
            if row.lineage in found:
                continue
            same = row.mark in _marks(store.key, row.lineage, fingerprint)
            if same or (sketch is not None and row.sketch is not None and sketch.is_like(row.sketch)):
                found[row.lineage] = Resemblance(lineage=row.lineage, name=row.name)
    return by_name(found.values())


def by_name(found: Iterable[Resemblance]) -> list[Resemblance]:
    return sorted(found, key=lambda one: (one.name, one.lineage))


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownFile:
    """A file that the ledger knows: its keyed mark and sketch (None where none was carried over), and whose it is."""

    mark: str
    sketch: Sketch | None
    lineage: str
    name: str


def files(connection: Connection, key: Key, among: Collection[str]) -> Iterator[KnownFile]:
    """The known files of these lineages."""
    query = (
        select(schema.fingerprints, schema.lineages.c.name)
        .join(schema.lineages, schema.lineages.c.lineage == schema.fingerprints.c.lineage)
        .where(schema.fingerprints.c.lineage.in_(list(among)))
    )
    for row in connection.execute(query).mappings():
        text = row["sketch"]
        if text.startswith(_SEALED):
            text = key.unsealed("sketch", text.removeprefix(_SEALED)) or ""
        known = Sketch.from_text(text)
        yield KnownFile(mark=row["fingerprint"], sketch=known, lineage=row["lineage"], name=row["name"])


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
