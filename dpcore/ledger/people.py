"""Which people a file is about: fingerprints of files known to be about the same people, and sketches of their rows.

A fingerprint is one file's (the data package works it out so that the order of rows and columns, line ends and blanks
do not matter). A sketch lets a file that was changed a little be recognised, so that the owner can be asked: the
smallest keyed hashes of its rows, enough to estimate which share of rows two files have in common (bottom-k MinHash;
Broder 1997, Thorup 2013). Nothing in it can be read back without guessing whole rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sqlalchemy import Connection, insert, select

from dpcore.errors import InvalidArgument
from dpcore.ledger import accounts, schema
from dpcore.ledger.store import Store
from dpcore.ledger.words import label

if TYPE_CHECKING:
    import pandas as pd

SKETCH_SIZE = 256
_KEY = "epsilon-lab rows"  # 16 bytes, as the hash wants


@dataclass(frozen=True, slots=True, kw_only=True)
class Resemblance:
    """A known lineage whose rows a new file shares; ``share`` of the rows of both together, estimated."""

    lineage: str
    name: str
    share: float


def sketch(frame: pd.DataFrame) -> tuple[int, ...]:
    """The ``SKETCH_SIZE`` smallest row hashes of a table, rising; fewer for a small one.

    Blanks around and between words, capitals, and the order of rows and columns do not matter.
    """
    from pandas.util import hash_array

    columns = sorted(frame.columns, key=str)
    total = np.zeros(len(frame), dtype=np.uint64)
    for column in columns:
        words = frame[column].astype("string").fillna("").str.split().str.join(" ").str.casefold()
        named = str(column).strip().casefold() + "=" + words
        values = named.to_numpy(dtype=object)
        total += hash_array(values, hash_key=_KEY, categorize=True)  # wraps around, on purpose
    return tuple(int(value) for value in np.unique(total)[:SKETCH_SIZE])


def resemblance(one: tuple[int, ...], other: tuple[int, ...]) -> float:
    """The estimated share of rows that two sketched tables have in common, of all in either; 0 when one is empty."""
    if not one or not other:
        return 0.0
    merged = sorted(set(one) | set(other))[: min(SKETCH_SIZE, max(len(one), len(other)))]
    both = set(one) & set(other)
    return sum(value in both for value in merged) / len(merged)


def link(store: Store, fingerprint: str, lineage: str, rows: tuple[int, ...]) -> None:
    """See ``Ledger.link``."""
    label(fingerprint=fingerprint)
    if any(not isinstance(value, int) for value in rows) or len(rows) > SKETCH_SIZE:
        raise InvalidArgument("rows", "must be a sketch")
    with store.writing() as connection:
        accounts.get(connection, lineage)
        known = lineage_of(connection, fingerprint)
        if known == lineage:
            return
        if known is not None:
            raise InvalidArgument("fingerprint", "belongs to other people already, and stays with them")
        text = " ".join(format(value, "x") for value in rows)
        row: dict[str, Any] = {"fingerprint": fingerprint, "sketch": text}
        store.append(connection, "link", lineage=lineage, body=row)
        connection.execute(insert(schema.fingerprints).values({**row, "lineage": lineage}))


def lineage_of(connection: Connection, fingerprint: str) -> str | None:
    """The lineage that a file is known to be about."""
    query = select(schema.fingerprints.c.lineage).where(schema.fingerprints.c.fingerprint == fingerprint)
    found: str | None = connection.execute(query).scalar()
    return found


def similar(connection: Connection, rows: tuple[int, ...], least: float) -> list[Resemblance]:
    """See ``Ledger.similar``."""
    query = select(schema.fingerprints.c.lineage, schema.fingerprints.c.sketch, schema.lineages.c.name).join(
        schema.lineages, schema.lineages.c.lineage == schema.fingerprints.c.lineage
    )
    best: dict[str, Resemblance] = {}
    for lineage, text, name in connection.execute(query):
        share = resemblance(rows, tuple(int(value, 16) for value in text.split()))
        if share >= least and (lineage not in best or share > best[lineage].share):
            best[lineage] = Resemblance(lineage=lineage, name=name, share=share)
    return sorted(best.values(), key=lambda one: -one.share)
