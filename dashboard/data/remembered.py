"""What was declared about people whose budget this server keeps: remembered beside the ledger, for the next session.

Only what a person chose or called right is written, of the form of their file too: no bounds or options that came out
of a file, no step that names a word of its rows, no column whose type its cells suggested as long as nobody called that
right, nothing before somebody did so of what one row is, nothing where steps rest on such a word, and no word about its
codebook. Each entry is found by a keyed name of the budget's people, the source's table and, where people log in, of
who declared it: so it is read by nobody who may not have answers charged to that budget, and a file is never looked up
by itself, only after a person has said whose data it is. What was said once a file had been seen stays marked so.
"""

from __future__ import annotations

import hmac
import json
import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Self

from dashboard.background import compute
from dashboard.data.template import template
from dashboard.people import login, visitors
from dpcore.datasets import Column, Template, loaded, saved
from dpcore.datasets.schema import unmoved
from dpcore.datasets.steps import rests_on_words
from dpcore.errors import InvalidArgument, LedgerError
from dpcore.ledger.files import beside

if TYPE_CHECKING:
    from dashboard.data.own_file import OwnFile
    from dpcore.ledger import Ledger

_EVERYBODY = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered:
    """``suggested`` are columns of which it was said how they are read once a file had been seen, ``confirmed`` those
    of them that a person called right; the ``template`` says it of rows and of about how many there are. What one row
    of a file is, and how many one person has, is said again of each."""

    template: Template
    suggested: tuple[str, ...]
    confirmed: tuple[str, ...]

    @classmethod
    def of(cls, own: OwnFile) -> Self:
        """What a person stated about a table so far."""
        facts, columns = _facts(own), own.columns
        told = tuple(one for one in facts.schema.columns if columns.after_looking(one))
        return cls(
            template=facts,
            suggested=tuple(one.name for one in told),
            confirmed=columns.told_of(told),
        )

    @classmethod
    def read(cls, text: str) -> Self:
        """Raises ValueError, KeyError, TypeError or InvalidArgument for anything but what ``written`` makes."""
        entry = json.loads(text)
        return cls(
            template=loaded(entry["declaration"]),
            suggested=tuple(map(str, entry["suggested"])),
            confirmed=tuple(map(str, entry["confirmed"])),
        )

    def written(self) -> str:
        return json.dumps(
            {"declaration": saved(self.template), "suggested": self.suggested, "confirmed": self.confirmed}
        )


def keep(own: OwnFile) -> None:
    """Remember what of the declared columns was called right, where there is a budget for these people, in place of
    what was before, once what one row is was called right, too; nothing where its steps rest on a word of the rows.
    What else of the file waits for that changes nothing: it hangs on a row. Raises OSError."""
    if rests_on_words(own.steps):
        forget(own)
        return
    if own.columns.declared is None or own.rows.open or not own.columns.spoken_of:
        return
    fresh = Remembered.of(own).written()
    for file in _files(own, writing=True):
        file.parent.parent.mkdir(mode=0o700, exist_ok=True)
        file.parent.mkdir(mode=0o700, exist_ok=True)
        handle, partial = tempfile.mkstemp(dir=file.parent)  # mode 600
        with os.fdopen(handle, "w", encoding="utf-8") as written:
            written.write(fresh)
        Path(partial).replace(file)


def known(own: OwnFile) -> Remembered | None:
    """What was declared about these people before; None where nothing was, or by others alone."""
    for file in _files(own, writing=False):
        try:
            return Remembered.read(file.read_text(encoding="utf-8"))
        except FileNotFoundError:
            continue
        except (OSError, ValueError, KeyError, TypeError, InvalidArgument):
            return None  # of another version, or not ours: then it is declared once more
    return None


def forget(own: OwnFile) -> None:
    """Forget what this person may write over. Raises OSError."""
    for file in _files(own, writing=True):
        file.unlink(missing_ok=True)


def forget_people(lineage: str) -> None:
    """Forget all that anybody declared about the people of a budget that was closed. Raises LedgerError, OSError."""
    ledger = compute.ledger()
    if ledger.journal_path is not None:
        folder = _folder(ledger, ledger.journal_path, lineage)
        for file in folder.glob("*") if folder.exists() else ():
            file.unlink(missing_ok=True)


def _facts(own: OwnFile) -> Template:
    columns = tuple(replace(_stated(column), about="") for column in unmoved(own.columns.spoken_of))
    whole = template(own)
    return replace(whole, schema=replace(whole.schema, columns=columns), suggested=(), confirmed=())


def _stated(column: Column) -> Column:
    """Without options that are words of the file; ``saved`` leaves out what was read from its values."""
    return replace(column, categories=(), words_from_file=False) if column.words_from_file else column


def _files(own: OwnFile, *, writing: bool) -> Iterator[Path]:
    """Where the declaration of these people is, the person's own before the one that an owner made for everybody."""
    if own.lineage is None or visitors.restricted():
        return
    try:
        ledger: Ledger = compute.ledger()
        if ledger.journal_path is None or own.lineage not in {one.lineage for one in ledger.chargeable()}:
            return
        terms = ledger.terms(own.lineage)
        if terms.ended:
            return
        folder = _folder(ledger, ledger.journal_path, own.lineage)
    except LedgerError:
        return  # without a ledger nobody's right can be told
    # what the owner of a folder, which has one table without a name, states of it is said of no file
    person, table = login.person(), "" if own.place is None else f"source:{own.place.table}"
    whose = [_EVERYBODY] if person is None else [person.subject]
    if person is not None and own.place is not None:
        owns = terms.at_least(person.subject, "own") and "owner" in compute.roles()
        whose += [_EVERYBODY] if owns or not writing else []
    for who in whose:
        yield folder / f"{_mark(ledger, table, who)}.json"


def _folder(ledger: Ledger, journal: Path, lineage: str) -> Path:
    return beside(journal, "declared") / _mark(ledger, lineage)


def _mark(ledger: Ledger, *parts: str) -> str:
    """A name that cannot be worked out without the server's key. Raises NotAllowed for who may bring no file."""
    return hmac.digest(ledger.sketch_key, json.dumps(["declared", *parts]).encode(), "sha256").hex()[:32]
