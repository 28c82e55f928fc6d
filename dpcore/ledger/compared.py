"""A file beside files that somebody else linked: nobody opens a second budget unseen, or guesses at rows.

Whoever asks may know all rows of such a file but one, and bring files of known rows with a guess. So the very same
file is not told from another, and no answer hangs on one row: how many marks must be shared is chosen by a keyed hash
of the file and the lineage, the same for the same file and another for every other (``Index.seems_like``). Every file
that is compared is on the record, every one that looks alike on that of the budget too, and a day takes a few.

At the best edge of shared marks that a file can have, a right guess is "alike" more often than a wrong one by 0.075 of
all times; a day of them, all at that edge, tells a right guess from a wrong one by 0.28 (total variation; computed in
``tests/ledger/test_ledger_compared.py``). docs/decisions/0028 says what else there is.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import replace
from datetime import timedelta

from sqlalchemy import Connection

from dpcore.errors import NotAllowed
from dpcore.ledger import history, schema
from dpcore.ledger.key import Key
from dpcore.ledger.people import Bringer, KnownFile, Resemblance, by_name, files, free, told
from dpcore.ledger.records import canonical, lately
from dpcore.ledger.roles import PEOPLE
from dpcore.ledger.store import Store
from dpcore.sketches import APART, MOST_MORE, Index, Sketch

MOST_FILES, DAY = 20, timedelta(days=1)
"""Different files of one person that are compared with others' people in a day; of several without a name, files from
one network, for whoever wants more has another browser."""
TOO_MANY = (
    f"{MOST_FILES} different files of yours were compared with files of others within a day, and no more are for now: "
    "explore this one, and bring it again tomorrow to open a budget for its people."
)
TOO_MANY_OF_NETWORK = TOO_MANY.replace("different files of yours", "files from your network, as this server sees it,")


def alike(
    store: Store, fingerprint: str, sketch: Sketch | None, among: Collection[str], by: str, *, who: Bringer
) -> list[Resemblance]:
    """The lineages ``among`` that a file of this person seems to be about, by name, on the record; by files alone that
    may not be compared freely (``people.free`` for ``who``).

    Raises NotAllowed with ``TOO_MANY``, or ``TOO_MANY_OF_NETWORK``.
    """
    if sketch is None:
        return []
    # what stands without copies is for files of the same person: where copies begin can hang on one row, and whoever
    # brings a guess of all rows would be on the same side of that edge
    sketch = replace(sketch, bare=None)
    # all that the answer hangs on: the same again is no other question, and is answered by the same coins
    content = (fingerprint, sketch.to_text())
    coins = store.key.mark("compared", by, *content)
    # of several without a name another mark for each: nothing hangs on what somebody else has brought, no record, no
    # count and no time; and the coins are the same, since whoever wants other ones has another browser
    file = store.key.mark("compared", who.own, *content) if who.several else coins
    by = _counted(store.key, by, who)
    with store.reading() as connection:
        there = files(connection, among)
        mine = {one.mark for one in free(connection, who, there)}
        known = [one for one in there if one.mark not in mine]
        before, upto = file in _compared(connection, by), history.last(connection, None)
        if known and not before:
            _must_be_few(connection, by, who)
    index = Index(sketch)
    said = told(store, file, known, lambda one, other: _seems_like(store.key, coins, index, one, other))
    if not said:
        return []
    found = {one.lineage: Resemblance(lineage=one.lineage, name=one.name) for one in known if said.get(one.mark, False)}
    with store.reading() as connection:  # what others compared with these people makes no writer wait
        noted = {lineage for lineage in found if before and _is_noted(connection, lineage, file)}
    with store.writing() as connection:  # on the record before anything is told
        if file not in _compared(connection, by):
            _must_be_few(connection, by, who)
            store.append(connection, "compare", lineage=PEOPLE + by, body={"by": by, "file": file})
        for lineage in found:
            if lineage not in noted and not _is_noted(connection, lineage, file, after=upto):
                store.append(connection, "alike", lineage=lineage, body={"by": by, "file": file})
    return by_name(found.values())


def _counted(key: Key, by: str, who: Bringer) -> str:
    """In whose name a file is on the record, and counts: of several without a name, that of all who come from where
    they do, which only the server's key can tell."""
    return f"{by} {key.mark('network', who.network)}" if who.several and who.network else by


def _compared(connection: Connection, by: str) -> set[str]:
    """The files of this person that were compared before."""
    return {str(record.content["file"]) for record in history.records(connection, "compare", PEOPLE + by)}


def _is_noted(connection: Connection, lineage: str, file: str, after: int = 0) -> bool:
    """Whether a record of the lineage behind this number says that the file looked alike."""
    says = history.says(connection, f'"file":{canonical(file)}')
    return bool(history.records(connection, "alike", lineage, says, schema.records.c.seq > after))


def _must_be_few(connection: Connection, by: str, who: Bringer) -> None:
    since, until = lately(DAY)
    if (
        sum(since < record.time <= until for record in history.records(connection, "compare", PEOPLE + by))
        >= MOST_FILES
    ):
        raise NotAllowed(TOO_MANY_OF_NETWORK if who.several else TOO_MANY)


def _seems_like(key: Key, coins: str, index: Index, known: KnownFile, sketch: Sketch) -> bool:
    """By two coins that only the server's key can tell: one for the new file and the lineage, one for the known file.

    The first differs from file to file: were it one for all files, known rows would tell where it is. The second is one
    for all combinations of the known file. Were it another for each, columns that say the same twice, of which one row
    moves all combinations at once, would be as many draws of one question, or of one for each choice of columns. It
    hangs on who the people are and on the foremost tuple of the widest combination alone (``Sketch.foremost``): were it
    another for whoever links the same file, for each of its saves or for a guess of it, one row could be asked about as
    often as files are linked."""
    more = _coin(key, MOST_MORE + 1, "more", known.lineage, coins)
    apart = APART[_coin(key, len(APART), "apart", known.lineage, str(sketch.foremost))]
    return index.seems_like(sketch, more=more, apart=apart)


def _coin(key: Key, sides: int, purpose: str, *parts: str) -> int:
    """A whole number from 0 to ``sides`` - 1, distributed as ``up_to`` says."""
    drawn = int(key.mark(purpose, *parts), 16) / 2.0**128
    return next((number for number in range(sides - 1) if drawn < up_to(number, sides)), sides - 1)


def up_to(number: int, sides: int) -> float:
    """The chance that a coin of so many sides shows ``number`` or less.

    With a chance of sin² each side turns the answer's distribution by the same angle, so that no edge tells more than
    another however often it is tried (Hellinger distance): with equal sides the first would, which a wrong guess never
    reaches.
    """
    return math.sin(math.pi * (number + 1) / (2 * sides)) ** 2
