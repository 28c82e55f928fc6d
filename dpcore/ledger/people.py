"""Which people a file is about: keyed marks of files known to be about them, and what was said of those who look alike.

All marks are keyed with the server's secret (``key``), which is in neither the ledger nor its journal: without it
nothing in them can be tested against a guess of the data. With another key nothing is recognised.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, insert, select

from dpcore.errors import InvalidArgument
from dpcore.ledger import accounts, history, keyed, rooms, schema
from dpcore.ledger.key import Key
from dpcore.ledger.keyed import SEALED
from dpcore.ledger.records import Record
from dpcore.ledger.store import Store
from dpcore.ledger.words import label
from dpcore.sketches import Index, Sketch

AT_ONCE = 50
"""Sketches that are read together: each is 74 kB as it is written, and seven times as much to be compared."""
LEAST_WORDS = 12  # characters of a sentence
CONFIGURED = "configured:"
"""How the lineage of a source begins that is counted where it is."""
NO_PEOPLE = "must be a real budget: no file is about the people of a practice budget or of a room"


@dataclass(frozen=True, slots=True, kw_only=True)
class Resemblance:
    """A known lineage that a new file looks like. How much is not told: that could be tested against a guess."""

    lineage: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """Somebody's reason, on the record, why people of a file who look alike are others: ``lineage`` than ``than``."""

    lineage: str
    than: str
    because: str
    time: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Brought:
    """A file that is to be some people's. ``sketch`` is keyed with ``Ledger.sketch_key``; ``because`` is a sentence of
    whoever brings it, why nobody of the others that it looks like is in it, or empty."""

    fingerprint: str
    sketch: Sketch | None = None
    because: str = ""

    def __post_init__(self) -> None:
        label(fingerprint=self.fingerprint)
        if self.sketch is not None and not isinstance(self.sketch, Sketch):
            raise InvalidArgument("sketch", "must be a Sketch")


@dataclass(frozen=True, slots=True, kw_only=True)
class Bringer:
    """Who brings a file: a person who has logged in (``subject``), or whoever is at a server without a login, who may
    be one of ``several`` without a name. What is one's own of these goes by the secret of their browser (``token``),
    which nobody else has, and of which several browsers of one person are several; whose ``network`` can be told."""

    subject: str = ""
    several: bool = False
    token: str = ""
    network: str = ""

    def __post_init__(self) -> None:
        if self.several and not self.token:  # nothing is the own of somebody who cannot be told from anybody
            object.__setattr__(self, "token", os.urandom(16).hex())

    @property
    def own(self) -> str:
        """What marks of theirs alone are made with; empty for who is here alone."""
        return self.subject or (f"\n{self.token}" if self.several else "")  # no subject begins so


def link(store: Store, connection: Connection, file: Brought, lineage: str, who: Bringer) -> None:
    """See ``Ledger.link``. Only of files that this person has linked it is told that they are known, and to whom they
    belong; in the records nothing tells either: else a guess of all rows could be tried here. Raises LedgerUnsound
    where the ledger knows its files by another key than this server's."""
    by = who.subject
    if accounts.get(connection, lineage).practice or lineage.startswith(rooms.START):
        raise InvalidArgument("lineage", NO_PEOPLE)
    theirs = {one.lineage for one in _theirs(store.key, connection, file.fingerprint, who)}
    if lineage in theirs:
        return
    if theirs:
        raise InvalidArgument("fingerprint", "belongs to other people already, and stays with them")
    keyed.check(connection, store.key)
    # sealed, so that equal marks of two files look different: else whoever reads the records could bring files of
    # guessed rows, and see by equal marks which guess was right; of one length, for how many marks there are hangs on
    # every row; and where there are none too, so that a key shows whether it is the ledger's (``keyed``)
    text = SEALED + store.key.sealed("sketch", "" if file.sketch is None else file.sketch.to_even_text())
    # whoever links a file that somebody else has linked has a mark of their own; of several each with a source's people
    known = bool(_known(connection, store.key, file.fingerprint, who, [lineage]))
    apart = known or (who.several and lineage.startswith(CONFIGURED))
    mark = (
        _own_mark(store.key, lineage, file.fingerprint, who) if apart else _mark(store.key, lineage, file.fingerprint)
    )
    row: dict[str, Any] = {"fingerprint": mark, "sketch": text}
    private = (who.own or lineage) if lineage.startswith(CONFIGURED) else ""
    whose = {"by": by} if by else {history.BROUGHT: _as_brought(store.key, file.fingerprint, private)}
    store.append(connection, "link", lineage=lineage, body={**row, **whose})
    connection.execute(insert(schema.fingerprints).values({**row, "lineage": lineage}))


def owners_of(store: Store, connection: Connection, file: Brought, lineage: str, who: Bringer) -> set[str]:
    """Whose this very file is, so that ``link`` refuses it to ``lineage``: as far as this person linked it."""
    theirs = {one.lineage for one in _theirs(store.key, connection, file.fingerprint, who)}
    return set() if lineage in theirs else theirs


def is_linked(store: Store, connection: Connection, file: Brought, lineage: str, who: Bringer) -> bool:
    """Whether this person linked this very file with these people, so that ``link`` would note nothing."""
    return bool(_theirs(store.key, connection, file.fingerprint, who, [lineage]))


def _theirs(
    key: Key, connection: Connection, fingerprint: str, who: Bringer, among: Collection[str] | None = None
) -> list[KnownFile]:
    """This very file as this person linked it, with anybody or ``among`` these people: all that may be told of it."""
    linked = _linked_with(connection, key, fingerprint, who)
    known = _known(connection, key, fingerprint, who, linked if among is None else linked & set(among))
    mine = {one.mark for one in free(connection, who, known)}
    # of several also their own mark of this very file, which nobody else's can be
    return [
        one
        for one in known
        if one.mark in mine or (who.several and one.mark == _own_mark(key, one.lineage, fingerprint, who))
    ]


def _linked_with(connection: Connection, key: Key, fingerprint: str, who: Bringer) -> set[str]:
    """The people with whom this person may have linked this file. Without a login it is found by what was brought, by
    anybody or by them: nobody looks for it among the people of every budget that others open."""
    if who.subject:
        return set(history.linked_by(connection, who.subject).values())
    marks = {_as_brought(key, fingerprint, private) for private in ("", who.own)}
    found = history.linked_without_name(connection, *marks)
    return found if who.several else found | accounts.beginning(connection, CONFIGURED)


def _known(connection: Connection, key: Key, fingerprint: str, who: Bringer, among: Collection[str]) -> list[KnownFile]:
    """This very file, wherever it is known ``among`` these people: looked up by the marks that it would have there."""
    marks = {mark for lineage in among for mark in _marks(key, lineage, fingerprint, who)}
    return [one for one in _marked(connection, marks) if one.lineage in among]


def _marks(key: Key, lineage: str, fingerprint: str, who: Bringer) -> tuple[str, ...]:
    """By what a file of these people is known: both together, as this person's own, or, as earlier versions wrote it,
    the file alone."""
    return (
        _mark(key, lineage, fingerprint),
        _own_mark(key, lineage, fingerprint, who),
        key.mark("file", fingerprint),
    )


def _mark(key: Key, lineage: str, fingerprint: str) -> str:
    """Of the file with these people, whoever links it first."""
    return key.mark("file", lineage, fingerprint)


def _own_mark(key: Key, lineage: str, fingerprint: str, who: Bringer) -> str:
    """Of the file with these people as this person's, which is nobody else's."""
    return key.mark("file", lineage, fingerprint, who.own)


def _as_brought(key: Key, fingerprint: str, private: str) -> str:
    """Of the file alone, where nobody has a name: with whomever it was linked, all are told there that it is known. But
    of a source's people who linked it is told, and nobody else: there with what is theirs or the source's
    (``private``), so that no guess that somebody else links has the same."""
    return key.mark("brought", fingerprint, private)


def free(connection: Connection, who: Bringer, known: Sequence[KnownFile]) -> list[KnownFile]:
    """Those of the ``known`` files of which comparing tells nothing that this person did not have: those that they
    linked themselves. Without a login all, for everybody has all rights there.

    But none that another linked with the people of a source: whoever may ask it holds no row of it. Without a login
    those that a person linked who had logged in are another's, and where several are let in all of them may be.
    """
    if not known:
        return []
    if who.subject:
        mine = history.linked_by(connection, who.subject)
        return [one for one in known if one.mark in mine]
    of_sources = [one for one in known if one.lineage.startswith(CONFIGURED)]
    anothers = {one.mark for one in of_sources}
    if of_sources and not who.several:
        anothers &= history.linked_by_persons(connection, {one.lineage for one in of_sources})
    return [one for one in known if one.mark not in anothers]


def similar(
    store: Store, fingerprint: str, sketch: Sketch | None, among: Collection[str], who: Bringer
) -> list[Resemblance]:
    """The lineages ``among`` of which a file looks like this one that may be compared freely, by name."""
    with store.reading() as connection:
        same = _theirs(store.key, connection, fingerprint, who, among)
        found = {one.lineage: Resemblance(lineage=one.lineage, name=one.name) for one in same}
        rest = [] if sketch is None else _freely(connection, who, set(among) - found.keys())
    if sketch is not None:
        index = Index(sketch)
        # another mark for each person: how soon an answer comes tells nobody what others have brought
        file = store.key.mark("freely", who.own, fingerprint, sketch.to_text())
        said = told(store, file, rest, lambda _, other: index.is_like(other))
        found |= {one.lineage: Resemblance(lineage=one.lineage, name=one.name) for one in rest if said.get(one.mark)}
    return by_name(found.values())


def _freely(connection: Connection, who: Bringer, among: Collection[str]) -> list[KnownFile]:
    """The known files of these lineages that this person may compare freely (``free``)."""
    if who.subject:  # nothing that others linked is even looked at
        mine = history.linked_by(connection, who.subject)
        return [one for one in _marked(connection, mine.keys()) if one.lineage in among]
    return free(connection, who, files(connection, among))


def by_name(found: Iterable[Resemblance]) -> list[Resemblance]:
    return sorted(found, key=lambda one: (one.name, one.lineage))


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownFile:
    """A file that the ledger knows: its keyed mark, and whose it is."""

    mark: str
    lineage: str
    name: str


def files(connection: Connection, among: Collection[str]) -> list[KnownFile]:
    """The known files of these lineages."""
    return _files(connection, schema.fingerprints.c.lineage, among)


def _marked(connection: Connection, marks: Collection[str]) -> list[KnownFile]:
    """The known files that have these marks."""
    return _files(connection, schema.fingerprints.c.fingerprint, marks)


def _files(connection: Connection, column: ColumnElement[str], values: Collection[str]) -> list[KnownFile]:
    table = schema.fingerprints
    query = select(table.c.fingerprint.label("mark"), table.c.lineage, schema.lineages.c.name).join(
        schema.lineages, schema.lineages.c.lineage == table.c.lineage
    )
    chosen = query.where(schema.among(column, values, connection.dialect.name))
    return [KnownFile(**row) for row in connection.execute(chosen).mappings()]


def sketches(store: Store, known: Sequence[KnownFile]) -> Iterator[tuple[KnownFile, Sketch]]:
    """Their sketches, of those that have one this server's key can read; read some at a time, and none is kept."""
    table = schema.fingerprints.c
    for first in range(0, len(known), AT_ONCE):
        some = known[first : first + AT_ONCE]
        query = select(table.fingerprint, table.sketch).where(table.fingerprint.in_([one.mark for one in some]))
        with store.reading() as connection:
            texts = {row.fingerprint: row.sketch for row in connection.execute(query)}
        for one in some:
            text = texts.get(one.mark, "")
            if text.startswith(SEALED):  # earlier versions wrote them plain, or as long as they were
                text = store.key.unsealed("sketch", text.removeprefix(SEALED)) or ""
            found = Sketch.from_text(text)
            if found is not None:
                yield one, found


def told(
    store: Store, file: str, known: Sequence[KnownFile], says: Callable[[KnownFile, Sketch], bool]
) -> dict[str, bool]:
    """By the mark of each known file that has a sketch, what is said of it and the one with the mark ``file``. What was
    said before is not worked out again: it cannot be another, and hundreds of files take a second."""
    before = store.outcomes.of(file)
    new = [one for one in known if one.mark not in before]
    found = {one.mark: says(one, other) for one, other in sketches(store, new)}
    store.outcomes.note(file, found)
    return {one.mark: said for one in known if (said := {**before, **found}.get(one.mark)) is not None}


def say_others(store: Store, file: Brought, lineage: str, than: str, who: Bringer) -> Statement:
    """See ``Ledger.say_others``."""
    with store.writing() as connection:
        return _stated(note_others(store, connection, file, lineage, than, who))


def note_others(store: Store, connection: Connection, file: Brought, lineage: str, than: str, who: Bringer) -> Record:
    """``say_others`` within a transaction."""
    label(lineage=lineage)
    sentence = label(because=file.because, longest=1000).strip()
    if len(sentence) < LEAST_WORDS or " " not in sentence:
        raise InvalidArgument("because", "must be a sentence")
    if lineage == than:
        raise InvalidArgument("than", "must be other people")
    accounts.get(connection, than)
    said = {"than": than, "because": sentence, "file": _said_of(store.key, file, lineage, who.own)}
    by = {"by": who.subject} if who.subject else {}
    return store.append(connection, "others", lineage=lineage, body={**said, **by})


def said_others(store: Store, connection: Connection, file: Brought, lineage: str, who: Bringer) -> set[str]:
    """Those of whom this person said, of this very file, that the people of ``lineage`` are others. What was said of
    another file, or by another person, says nothing of who is in this one; nor do statements of earlier versions, which
    name no file."""
    mark = _said_of(store.key, file, lineage, who.own)
    return {str(record.content["than"]) for record in history.saying(connection, "others", "file", mark)}


def _said_of(key: Key, file: Brought, lineage: str, by: str) -> str:
    """By what a statement names its file: another mark for each person and these people, so that no records show which
    files of several are one."""
    return key.mark("said", lineage, file.fingerprint, by)


def statements(connection: Connection, lineage: str | None, *chosen: ColumnElement[bool]) -> list[Statement]:
    """See ``Ledger.statements``; those that are ``chosen``."""
    return [_stated(record) for record in history.records(connection, "others", lineage, *chosen)]


def _stated(record: Record) -> Statement:
    said = record.content
    return Statement(lineage=record.lineage, than=said["than"], because=said["because"], time=record.time)
