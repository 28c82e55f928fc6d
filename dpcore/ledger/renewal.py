"""Chains of records from before lineages were random names, in their new form.

They held digests of rows and of whole files that nobody needs a key to compute, so a guess of the data could be tested
against them, and so could every hash of the chain that is taken over them. ``renewed`` writes such a chain anew:
digests in names of people become keyed names, row digests are left out, and each record that somebody may hold a
receipt of gets a keyed mark of what it was, so that the receipt still confirms (while the key file is there). It is a
function of the chain and the key alone: a journal, a database and an old backup of one ledger become one chain again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from dpcore.ledger.key import Key
from dpcore.ledger.records import CLOCK, FIRST, Record, canonical, sealed

_DIGEST = re.compile(r"[0-9a-fA-F]{32,}")


def holds_digest(name: str) -> bool:
    """Whether a name may be a digest of data, against which a guess could be tested."""
    return _DIGEST.search(name) is not None


def is_old(records: Iterable[Record]) -> bool:
    """Whether a chain is in the form from before; every budget has said how it counts since."""
    for record in records:
        if record.kind == "open":
            return "counting" not in record.content["caps"]
    return False


def renewed(records: Sequence[Record], key: Key) -> list[Record]:
    """``records`` in the present form, sealed anew; unchanged when they are in it already."""
    if not is_old(records):
        return list(records)
    made: list[Record] = []
    previous, time = FIRST, ""
    for record in records:
        body = _RENEW.get(record.kind, _as_it_was)(record.content, key)
        if record.time < time:
            body[CLOCK] = time
        if record.kind in ("charge", "answer"):
            body["was"] = former(key, record)
        one = sealed(
            replace(record, lineage=person(record.lineage, key), body=canonical(body), previous=previous, hash="")
        )
        made.append(one)
        previous, time = one.hash, record.time
    return made


def former(key: Key, record: Record) -> str:
    """The keyed mark of a record as it was: of its lineage and its hash."""
    return key.mark("former", record.kind, record.lineage, record.hash)


def person(lineage: str, key: Key) -> str:
    """A lineage in its present form: one that held a digest gets a keyed name, all others keep theirs."""
    return f"people-{key.mark('lineage', lineage)[:16]}" if holds_digest(lineage) else lineage


def named(name: str, key: Key) -> str:
    """What people are called, where that held a digest."""
    return _DIGEST.sub(lambda found: person(found[0], key), name)


def counting_before(caps: dict[str, Any]) -> str:
    """How a budget counts that was opened before that was chosen."""
    return "sum" if caps["kind"] == "pure" else "both"


def _as_it_was(body: dict[str, Any], key: Key) -> dict[str, Any]:
    return body


def _open(body: dict[str, Any], key: Key) -> dict[str, Any]:
    caps = {**body["caps"], "counting": counting_before(body["caps"])}
    return {**_named(body, key), "caps": caps}


def _named(body: dict[str, Any], key: Key) -> dict[str, Any]:
    return {**body, "name": named(body["name"], key)}


def _link(body: dict[str, Any], key: Key) -> dict[str, Any]:
    """The file is still recognised as a whole; the digests of its rows are gone."""
    return {"fingerprint": key.mark("file", body["fingerprint"]), "sketch": ""}


_RENEW = {"open": _open, "rename": _named, "link": _link}


def was_receipt(key: Key, wanted: dict[str, Any], charge: Record, answer: Record | None) -> bool:
    """Whether ``wanted`` names a charge, and its answer if it has one, as they were before."""
    lineage = str(wanted.get("lineage", ""))
    for record, name in ((charge, "journal_hash"), (answer, "answer_hash")):
        if record is None:
            continue
        mark = key.mark("former", record.kind, lineage, str(wanted.get(name, "")))
        if json.loads(record.body).get("was") != mark:
            return False
    return True
