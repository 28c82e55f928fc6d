"""How a file arrives: taken from the uploader, read beside the page, and held by the session."""

from __future__ import annotations

import hashlib
import weakref
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.typing import UploadedFile

from dashboard import all_held, limits, session, words
from dashboard.background import compute, garbage
from dashboard.background.readers import READERS
from dashboard.budget import drawn, tracker
from dashboard.data import actions, declared_before, naming, source
from dashboard.data.actions import start
from dashboard.data.decisions import read_so
from dashboard.data.held import (
    OWN_BEFORE,
    OWN_COLUMNS,
    OWN_CONFIRMED,
    OWN_PENDING,
    OWN_ROUND,
    OWN_SOURCE,
)
from dashboard.data.own_file import OwnFile, Pending, sketched
from dashboard.data.people import may_see
from dashboard.data.read_again import are_others, opened
from dashboard.data.reading_threads import Piece, threads
from dashboard.data.task import Say, Task, asking, counting
from dashboard.data.template import template
from dashboard.people import visitors
from dashboard.serving import typed
from dashboard.words import data as said
from dpcore.datasets import Fits, Size, Template, recognised
from dpcore.datasets.template import form_for, without_rows
from dpcore.errors import InvalidArgument, LedgerError, NoRoom, NotAllowed, UnreadableFile

if TYPE_CHECKING:
    from dpcore.datasets import Reading
    from dpcore.datasets.reading import Choices
    from dpcore.datasets.reading.reader import Tables
    from dpcore.datasets.reading.tabulate import Tabulated

OF_A_PART = frozenset(
    ("header_rows", "header_line", "columns", "keep_footer", "breaks", "merged", "objects", "coded", "uneven")
)
"""What is chosen of one sheet of a workbook, or one file of an archive, and says nothing of another."""


def pending() -> Pending | None:
    return OWN_PENDING.get()


def receive(key: str) -> None:
    """A file was dropped into the uploader ``key``; a browser that reports it twice is heard once."""
    file: UploadedFile | None = session.entered(key, None)
    if isinstance(file, UploadedFile):
        OWN_ROUND.put(int(OWN_ROUND.get()) + 1)
        read(file.name, taken(file), (), again=False)


def let_go() -> None:
    """Forget a file that could not be read."""
    OWN_PENDING.forget()
    garbage.soon()


def paste(key: str) -> None:
    """A table was pasted into the text box ``key``, which is empty again afterwards."""
    text = str(session.entered(key, "") or "")
    session.leave(key)
    if not text.strip():
        if not typed.refusal():  # which the page says
            session.say("own", said.NOTHING_PASTED)
        return
    OWN_ROUND.put(int(OWN_ROUND.get()) + 1)
    read(said.PASTED, text.encode("utf-8", "replace"), (), again=False)  # as ``dpcore.datasets.read_pasted``


def taken(file: UploadedFile) -> bytes:
    """The bytes of an uploaded file; Streamlit's own copy, which would stay until the session ends, is dropped."""
    data, context = file.getvalue(), get_script_run_ctx()
    if context is not None and isinstance(context.uploaded_file_mgr, MemoryUploadedFileManager):
        context.uploaded_file_mgr.remove_file(session_id=context.session_id, file_id=file.file_id)
    return data


def read(
    name: str,
    data: bytes,
    choices: tuple[tuple[str, Any], ...],
    *,
    again: bool,
    counted: all_held.Waiting | None = None,
    declared: Template | None = None,
    then: Callable[[], None] | None = None,
    otherwise: Callable[[], None] | None = None,
) -> None:
    """Start reading, and finish at once when it is quick. ``counted`` is a file that is here already.

    With ``declared`` the table that is read must be one that it declares; ``then`` is called when the file has been
    read so, ``otherwise`` where it cannot be and stays as it was.

    Somebody without the right to, or for whose file there is no room while it waits, gets a sentence.
    """
    if no_files := compute.no_files():
        session.say("own", no_files)
        return
    whose = visitors.address()
    try:
        counted = counted or all_held.waiting(len(data), whose)
    except UnreadableFile as error:
        session.say("own", words.sentence(error))
        return
    OWN_PENDING.put(Pending(name=name, data=data, choices=choices, again=again, counted=counted))
    key = _key()
    last = () if again else _present()
    known = (*declared_before.known(), *last) if declared is None else (declared,)
    here, held = limits.limits(), _held(data)
    before = source.own_file() if again else None
    stated = frozenset() if before is None or before.reading is None else before.reading.stated

    def work(say: Say) -> Any:
        limits.check(data, held, here)
        with all_held.AtWork(whose) as work:
            reading = _read(name, data, dict(choices), say, work)
            limits.check(data, held, here, reading)
            work.takes(all_held.beside(reading.frame))
            fits = counting(work, limits.room(data, reading, held, here))
            reading = all_held.note(reading.after((), fits, names=stated), whose, data, counted)
            told = _told(reading, known, say, key, fits)
        if declared is not None and not told[2]:
            raise UnreadableFile(said.NOT_IN_FORM)
        return told

    def end(task: Task) -> None:
        if task.problem and otherwise is not None:
            OWN_PENDING.forget()
            otherwise()
            return
        _installed(task, last)
        if then is not None and task.problem != "":
            then()

    start(work, "Reading the file", end)


def read_again(**choices: Any) -> None:
    """Read the present or the refused file with other choices (None takes one back)."""
    at, own = pending(), source.own_file()
    if at is not None and at.problem:
        name, data, known, again, counted = at.name, at.data, dict(at.choices), at.again, at.counted
    elif own is not None:
        name, data, known, again = own.name, own.data, dict(own.choices), True
        counted = all_held.waiting(0, visitors.address())  # it counts with the table that was read of it
    else:
        return
    merged = {key: value for key, value in chosen(known, choices).items() if value is not None}
    read(name, data, tuple(sorted(merged.items())), again=again, counted=counted)


def chosen(known: Mapping[str, Any], choices: Mapping[str, Any]) -> dict[str, Any]:
    """How the file is read with these ``choices`` beside what was ``known``: of another part of it nothing holds that
    was said of one, nor what a form still shows of that."""
    if choices.get("part", known.get("part")) == known.get("part"):
        return {**known, **choices}
    kept = {name: value for name, value in known.items() if name not in OF_A_PART}
    fresh = {name: one for name, one in choices.items() if name not in OF_A_PART or one != known.get(name)}
    return kept | fresh


def read_in_form(declared: Template, then: Callable[[], None], otherwise: Callable[[], None]) -> None:
    """Read the present file as a declaration states; ``then`` follows, or ``otherwise`` where it cannot be read so.

    It is not read once more where it was read so without being told.
    """
    own = source.own_file()
    if own is None:
        return
    header = () if own.as_read is None else own.as_read.frame.columns
    choices = tuple(sorted((dict(own.choices) | form_for(declared, header)).items()))
    read_already = own.as_read is not None and read_so(own.as_read, dict(choices)) is not None
    if choices == own.choices or own.reading is None or read_already:
        then()
        return

    def follow(do: Callable[[], None]) -> None:
        present = source.own_file()
        if present is not None and present.data is own.data:
            do()

    counted = all_held.waiting(0, visitors.address())  # it counts with the table that was read of it
    read(
        own.name,
        own.data,
        choices,
        again=True,
        counted=counted,
        declared=declared,
        then=partial(follow, then),
        otherwise=partial(follow, otherwise),
    )


def _read(name: str, data: bytes, choices: dict[str, Any], say: Say, work: all_held.AtWork) -> Reading:
    from dpcore.datasets import read_table  # loads DuckDB

    return read_table(
        data,
        name=name,
        **choices,
        progress=lambda part, what: say(0.8 * part, what),
        tables=counted_tables(work),
    )


def counted_tables(work: all_held.AtWork) -> Tables:
    """Reads the cells of a file; while they are looked at they count, with what that takes beside."""

    def tables(data: bytes, choices: Choices, progress: Callable[[float, str], None]) -> Tabulated:
        table = READERS.table_of(data, choices, progress)
        work.takes(Size.of(table.frame).bytes + all_held.beside(table.frame))
        return table

    return tables


def _held(data: bytes) -> int:
    """Bytes that the session holds beside ``data`` while it is read: whatever it does not let go of before the end.

    That are the present file with its table and what pages show of it, whether it is replaced or read once more, the
    one before, and samples.
    """
    present, before, shown = source.own_file(), OWN_BEFORE.get(), OWN_SOURCE.get()
    same = len(data) if any(own is not None and own.data is data for own in (present, before)) else 0
    tables = limits.loaded([] if shown is None else [shown.table])
    return actions.weight(present, before) + tables - same


def _told(reading: Reading, known: tuple[Template, ...], say: Say, key: bytes | None, fits: Fits) -> Any:
    """The reading, its marks, the declarations that it is known by, and why one that fits cannot be done.

    Its fingerprint takes as long as reading: it is taken here, rather than in somebody's click, where there is anybody
    whom the file could be about, and beside the first look at it where there is nobody yet (``_take_fingerprint``).
    """
    marks = None
    if key is not None:
        say(0.85, "Comparing with earlier files")
        _ = reading.fingerprint
        marks = sketched(reading, key)
    what = "Looking for what it needs"
    reading.suggest(lambda: say(0.95, what))
    try:
        fits = asking(say, 0.95, what, fits)
        return reading, marks, recognised(reading, known, fits), ""
    except NoRoom as error:
        return reading, marks, (), str(error)


def _key() -> bytes | None:
    """What a sketch is keyed with; None where the ledger knows nobody that a new file could be about."""
    try:
        return compute.ledger().sketch_key if may_see() else None
    except LedgerError:
        return None


def _present() -> tuple[Template, ...]:
    """What was declared about the table that is there now, which may be last month's, as far as it may come along."""
    present = source.own_file()
    if present is None or present.columns.declared is None:
        return ()
    try:
        return (without_rows(template(present)),)
    except InvalidArgument:
        return ()


def _installed(task: Task, last: tuple[Template, ...]) -> None:
    """``last`` was declared about the table before; of the others those are known that nobody forgot meanwhile."""
    at = pending()
    if at is None:
        return
    if task.problem is not None:
        OWN_PENDING.put(replace(at, problem=task.problem) if task.problem else None)
        return
    OWN_PENDING.forget()
    OWN_COLUMNS.forget()
    reading, marks, known, too_large = task.result
    kept = {*declared_before.known(), *last}
    present = source.own_file()
    before = present if at.again else None
    others = before is not None and are_others(before, reading)
    own = _with_people(opened(at.name, at.data, at.choices, reading, marks, before), anew=others)
    confirmed = hashlib.sha256(at.data).hexdigest() in OWN_CONFIRMED.get()
    again = "again " if at.again else ""
    own = replace(
        own,
        confirmed=confirmed,
        known=() if at.again else tuple(one for one in known if one in kept),
        too_large=too_large,
    ).noted(f"The whole file was read {again}for the preview, the suggested types and its fingerprint.")
    problem = actions.no_room(own, actions.before() if at.again else present)
    if problem:
        OWN_PENDING.put(replace(at, problem=problem))
        return
    if present is not None and not at.again:
        OWN_BEFORE.put(present)
        drawn.put_aside()
        source.keep(None)
        session.forget_own()
    elif others:
        with drawn.staying():
            session.forget_own()  # another sheet is another table: no answer about the one stands on its pages
        naming.another()
    source.keep(own)


def asked_about(own: OwnFile) -> OwnFile:
    """The same file, with whose data they are where it came while the ledger was closed and that is open now."""
    if own.lineage is not None or own.as_read is None or tracker.trouble() is not None:
        return own
    own = _with_people(own)
    source.keep(own)
    return own


def _with_people(own: OwnFile, *, anew: bool = False) -> OwnFile:
    """Whose data these are, as far as the ledger knows; ``anew`` where another table of a file was read: that its
    people are others than some was said of the one before, so it is asked where this one looks like them."""
    if own.as_read is None:
        return own
    uncompared = ""
    try:
        ledger = compute.ledger()
        seen = set(may_see())
        if not seen:
            _take_fingerprint(own.as_read)
            return replace(own, lineage=own.lineage or ledger.new_lineage(), alike=(), uncompared="")
        fingerprint = own.as_read.fingerprint
        try:
            alike = ledger.similar(fingerprint, own.sketch, among=seen)
        except NotAllowed as error:  # with what is theirs it is compared all the same
            uncompared = words.sentence(error)
            alike = ledger.similar(fingerprint, own.sketch, among=seen, own=True)
    except LedgerError:
        return replace(own, lineage=None)
    lineage = own.lineage or ledger.new_lineage()
    if anew and any(one.lineage != lineage for one in alike):
        return replace(own, lineage=ledger.new_lineage(), alike=tuple(alike), uncompared=uncompared)
    if lineage in seen:
        return replace(own, lineage=lineage, alike=(), uncompared="")
    return replace(own, lineage=lineage, alike=tuple(alike), uncompared=uncompared)


def _take_fingerprint(reading: Reading) -> Future[Any]:
    """Beside the page, for whoever opens a budget soon; a file that is forgotten meanwhile is not held for it. Where
    there is no room it is taken when somebody asks for it."""
    file, whose = weakref.ref(reading), visitors.address()

    def take() -> None:
        if (present := file()) is not None:
            with suppress(UnreadableFile), all_held.AtWork(whose) as work:
                work.takes(all_held.beside(present.original))
                _ = present.fingerprint

    return threads().submit(Piece(take, whose))
