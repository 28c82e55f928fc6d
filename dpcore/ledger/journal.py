"""The chain of records once more, in a text file beside the database that is only ever added to.

The database commits first and the journal follows within the same call, so the journal is never ahead of a sound
database: a database that lacks what the journal has is an older copy, and stays closed. What the journal lacks after
a crash is added from the database at the next call.
"""

from __future__ import annotations

import errno
import os
import secrets
import shutil
import stat
import tempfile
from array import array
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import chain, repeat
from pathlib import Path
from typing import BinaryIO

from dpcore.errors import LedgerUnsound
from dpcore.ledger.commands import NEW_JOURNAL, RESTORE
from dpcore.ledger.files import beside, create, real, sweep, sync_folder
from dpcore.ledger.held import is_held
from dpcore.ledger.records import FIRST, Record
from dpcore.ledger.renewal import is_old
from dpcore.ledger.verify import BROKEN_CHAIN

BEHIND = (
    "The ledger's database is older than its journal, so some spending would be forgotten; it stays closed: "
    f"run {RESTORE}, which brings it up to date from the journal."
)
DAMAGED = (
    "The ledger's journal is damaged and the ledger stays closed; if the database itself verifies, "
    f"{NEW_JOURNAL} writes a new one and keeps the damaged file."
)
MISSING = (
    "The ledger's journal is missing, so the ledger cannot tell whether it is complete and stays closed; put the "
    "journal file back where it was, or name it with `--journal`; only where it is lost, run "
    f"{NEW_JOURNAL}."
)
NO_JOURNAL = (
    "The file at the journal's place holds no record of a ledger, so it is left as it is and the ledger stays closed; "
    "put the journal back where it was, or name it with `--journal`; only where it is lost, move that file away and "
    f"run {NEW_JOURNAL}."
)
_BEGINS = b'{"body":"{'
"""How the line of every record begins, and so a journal."""
_SIGN = _BEGINS[:1]
"""What stands in a journal before its first record is committed, with zeros for all else that is committed with it: a
file that was lost, or emptied, has none."""
_LONGEST_LINE = 64 << 20
_PORTION = 8 << 20
_PAGE = 512
"""Bytes that a disk has written together or not at all, on the smallest of them."""
_SPARE = 64 << 10
"""Bytes left free on the journal's disk beside what is added: others write there too."""


class Journal:
    """A journal file and how far this process has read it. Not shared between threads without a lock."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.seq = 0
        self.hash = FIRST
        self._read_to = 0
        self._places = array("Q")  # where the line of each record begins
        self._end = 0  # of the file as it was read: behind ``_read_to`` lie lines that were not written to their end

    def exists(self) -> bool:
        return self.path.exists()

    def read_on(self, each: Callable[[Record], None] | None = None) -> None:
        """Read what was added since, checking the chain. What is not finished (``_is_torn``), and all behind it, is
        left for ``add``, which whoever adds asks about first (``ends_before``).

        Raises LedgerUnsound when the file is shorter than before, not one unbroken chain, or no journal.
        """
        self._end = self._read_to
        try:
            there = self.path.stat()
        except FileNotFoundError:
            if self._read_to:
                raise LedgerUnsound(MISSING) from None
            return
        if not stat.S_ISREG(there.st_mode) or is_held(self.path):  # which may have no end; or is a database
            raise LedgerUnsound(NO_JOURNAL)
        size = there.st_size
        if size < self._read_to:
            raise LedgerUnsound(DAMAGED)
        if size == self._read_to:
            return
        with self.path.open("rb") as file:
            if self.seq == 0 and not _may_become_one(file.read(len(_BEGINS))):
                raise LedgerUnsound(self.trouble())
            file.seek(self._read_to)
            while raw := _next_line(file):
                if _is_torn(raw):
                    self._end = file.seek(0, os.SEEK_END)
                    break
                record = _parse(raw)
                if record is None or not self._follows(record):
                    raise LedgerUnsound(self.trouble())
                self.seq, self.hash = record.seq, record.hash
                self._places.append(self._read_to)
                self._end = self._read_to = self._read_to + len(raw)
                if each is not None:
                    each(record)

    def trouble(self) -> str:
        """Why a file is not read as a journal: it is a damaged one, or none."""
        return DAMAGED if self.seq or holds_record(self.path) else NO_JOURNAL

    def is_finished(self) -> bool:
        """Whether nothing stands behind the last line that was written to its end."""
        return self._end == self._read_to

    def ends_before(self, records: Iterable[Record]) -> bool:
        """Whether what stands behind the last line that was written to its end is left of a process or a machine that
        died as it wrote these, the next ones that the database has, or before there was a first one (``must_fit``):
        zeros stand where it did not write. Else the file is none of the ledger's, or the database lacks what the
        journal began to say."""
        lines = (_line(record) for record in records)
        said = lines if self.seq else chain([next(lines, _SIGN)], lines)
        return all(_is_left_of(found, line) for found, line in self._beside(said))

    def _beside(self, lines: Iterator[bytes]) -> Iterator[tuple[bytes, bytes]]:
        """What stands behind the last line that was written to its end, in portions, each beside what ``lines`` say at
        its place: nothing behind their end. However much it is, little is in memory at once."""
        if self.is_finished():  # or there is no file
            return
        with self.path.open("rb") as file:
            file.seek(self._read_to)
            for line in chain(lines, repeat(b"")):
                if not (found := file.read(min(self._end - file.tell(), len(line) or _SPARE))):
                    return
                yield found, line

    def at(self, seq: int) -> Record | None:
        """The record of this number, as its one line in the file says now; None beyond what this process has read.

        Raises LedgerUnsound where the line is not what it was.
        """
        if not 0 < seq <= len(self._places):
            return None
        try:
            with self.path.open("rb") as file:
                file.seek(self._places[seq - 1])
                record = _parse(file.readline())
        except FileNotFoundError:
            raise LedgerUnsound(MISSING) from None
        if record is None or record.seq != seq or not record.is_intact():
            raise LedgerUnsound(DAMAGED)
        return record

    def _follows(self, record: Record) -> bool:
        return record.seq == self.seq + 1 and record.previous == self.hash and record.is_intact()

    def add(self, records: Iterable[Record]) -> None:
        """Add the next records, in the place of a line that is not finished, and wait until they are on disk. Raises
        LedgerUnsound for what is no chain with it, and OSError.

        The caller holds the lock, has read on, and knows whose that line is (``ends_before``).
        """
        for some in _portions(records):
            self._add(some)

    def catch_up(self, records: Iterable[Record]) -> None:
        """As ``add``, of what was committed before: each portion asks for its room first. Raises as ``must_fit``."""
        for some in _portions(records):
            self.must_fit(some)
            self._add(some)

    def must_fit(self, records: Iterable[Record]) -> None:
        """Asked before the database commits what the journal has to follow. Raises OSError where its disk is full, its
        owner may not have so much there or in one file, or the file may be read and not written; LedgerUnsound for what
        is no chain with it. The caller holds the lock and has read on.

        Another file is asked for the room, at the journal's end: whoever reads the journal meanwhile sees its lines
        alone. Before the first record its sign is written down, and how long all lines will be, or nobody could tell a
        journal that has none yet from one that was lost (``is_lost``).
        """
        needed = sum(len(record.line()) + 1 for record in self._linked(records))
        if needed == 0:
            return
        handle = self._opened()
        try:
            self._must_have_room(size := os.fstat(handle).st_size, needed)
            if self.seq == 0 and size == 0:
                os.write(handle, _SIGN)
                os.fsync(handle)  # zeros alone are no journal
            if self.seq == 0 and size < needed:
                os.ftruncate(handle, needed)
                os.fsync(handle)
        finally:
            os.close(handle)

    def must_fit_anew(self, records: Iterable[Record]) -> None:
        """As ``must_fit``, of all that ``write_anew`` is to put in this one's place: beside it, so that nothing is left
        here of what does not come to its end."""
        self._must_have_room(0, sum(len(record.line()) + 1 for record in records))

    def _must_have_room(self, start: int, needed: int) -> None:
        there = self.path if self.path.exists() else self.path.parent  # the file may be a link to another disk
        if shutil.disk_usage(there).free < needed + _SPARE:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self.path))
        with tempfile.TemporaryFile(dir=real(self.path).parent) as room:
            _take(room.fileno(), start, needed + _SPARE)

    def _linked(self, records: Iterable[Record]) -> Iterator[Record]:
        """``records`` as long as they go on with what is here and say what their hashes say: of a database that was
        changed nothing is written, or no computer would have it whole. Raises LedgerUnsound where they do not."""
        seq, digest = self.seq, self.hash
        for record in records:
            if record.seq != seq + 1 or record.previous != digest:
                raise LedgerUnsound(BEHIND)
            if not record.is_intact():
                raise LedgerUnsound(BROKEN_CHAIN)
            seq, digest = record.seq, record.hash
            yield record

    def _add(self, records: list[Record]) -> None:
        chosen = list(self._linked(records))
        lines = [_line(record) for record in chosen]
        data = b"".join(lines)
        handle = self._opened()
        try:
            os.lseek(handle, self._read_to, os.SEEK_SET)
            _write_all(handle, data)  # over an unfinished line of a process that died, which is never less than it was
            os.ftruncate(handle, self._read_to + len(data))
            os.fsync(handle)
        finally:
            os.close(handle)
        self.seq, self.hash = chosen[-1].seq, chosen[-1].hash
        for line in lines:
            self._places.append(self._read_to)
            self._end = self._read_to = self._read_to + len(line)

    def _opened(self) -> int:
        """The file, to be written to; one that is made now has a name that lasts. Raises OSError."""
        new = not self.path.exists()
        handle = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600)
        if new:
            sync_folder(self.path.parent)
        return handle

    def is_lost(self, records: Iterable[Record]) -> bool:
        """Whether a ledger of these records cannot be without what is missing here: the file, or all it held.

        A process that died before it had written the very first record leaves its sign at least, and as many bytes as
        the lines of all that were committed at once have (``must_fit``; one from before the sign alone, which says
        that it was one); ``add`` writes over them. Who comes to a ledger that others have begun writes all of it or
        nothing (``store.begin_journal``).
        """
        if self.seq > 0:
            return False
        room = self._end - self._read_to
        for record in records:
            size = len(_line(record))
            if room < (size if record.seq > 1 else 1):
                return True
            room -= size
        return False


def _take(handle: int, start: int, size: int) -> None:
    """Have so many bytes from ``start`` on, as far as the system can say it: quotas and limits are told by no count of
    free bytes. Raises OSError."""
    if not hasattr(os, "posix_fallocate"):
        return
    try:
        os.posix_fallocate(handle, start, size)
    except OSError as error:
        if error.errno not in (errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL):  # a disk that knows no such thing
            raise


def _portions(records: Iterable[Record]) -> Iterator[list[Record]]:
    """Records in portions, each at most ``_PORTION`` characters of what they say where one alone is not more: however
    many are to be written, few are in memory twice."""
    found, size = list[Record](), 0
    for record in records:
        if found and size + len(record.body) > _PORTION:
            yield found
            found, size = [], 0
        found.append(record)
        size += len(record.body)
    if found:
        yield found


def whole(path: Path) -> list[Record]:
    """Every record of the journal at ``path``, none where there is no file. Raises LedgerUnsound."""
    found: list[Record] = []
    if not read_from(path, found):
        raise LedgerUnsound(DAMAGED)
    return found


def read_from(path: Path, found: list[Record]) -> bool:
    """Put the records of the journal at ``path`` into ``found``, and whether these are all, but for one line that does
    not end: behind one that a machine left with zeros there may be others. Raises LedgerUnsound."""
    journal = Journal(path)
    journal.read_on(found.append)
    return not any(b"\n" in some for some, _ in journal._beside(iter(())))


def holds_record(path: Path) -> bool:
    """Whether any line of the file at ``path`` is a record as a journal holds it, sound or not: nothing else makes it
    one, nor do records as an auditor is given them (``export.records_to_lines``)."""
    if not path.is_file() or is_held(path):
        return False
    with path.open("rb") as file:
        return any(line.startswith(_BEGINS) and _parse(line) is not None for line in _lines(file))


def is_one(path: Path) -> bool:
    """Whether the file at ``path`` is a journal, sound or not, or what may become one: not there, or empty. However
    large another one is, it is read in portions, and of a journal little more than its beginning."""
    if not path.exists():
        return not real(path).is_symlink()  # one that leads to itself
    if not path.is_file() or is_held(path):
        return False
    with path.open("rb") as file:
        if _may_become_one(file.read(len(_BEGINS))) or file.seek(0, os.SEEK_END) == 0:
            return True
    return holds_record(path)


def begins_so(data: bytes) -> bool:
    """Whether a file that begins with ``data`` may be a journal."""
    return data.startswith(_BEGINS)


def _may_become_one(start: bytes) -> bool:
    """Whether a file that begins with ``start`` may be a journal, or what a process that died left of one: little of
    its first line, with zeros behind it where its machine died too."""
    left = start.rstrip(b"\0")
    return begins_so(start) or (left != b"" and _BEGINS.startswith(left))


def is_begun(path: Path) -> bool:
    """Whether the journal at ``path`` holds a whole line, as it does from its first record on; a file that is none
    does."""
    if not path.is_file() or is_held(path):
        return path.exists()
    with path.open("rb") as file:
        return file.readline(_LONGEST_LINE).endswith(b"\n")


def says_nothing(path: Path) -> bool:
    """Whether nothing was committed that a journal at ``path`` would say: it is not there, empty, or as it is before
    its first record (``Journal.must_fit``)."""
    if not path.is_file() or is_held(path):
        return not path.exists()
    with path.open("rb") as file:
        return file.read(1) in (b"", _SIGN) and not any(
            some.strip(b"\0") for some in iter(partial(file.read, _SPARE), b"")
        )


def first(path: Path) -> Record | None:
    """The first record of the journal at ``path``; None where there is none that says what its hash says."""
    if not path.is_file() or is_held(path):
        return None
    with path.open("rb") as file:
        return next(_intact(_lines(file)), None)


def _lines(file: BinaryIO) -> Iterator[bytes]:
    """What ends with a line's end, or is longer than any record is."""
    return iter(lambda: file.readline(_LONGEST_LINE), b"")


def starts_old(path: Path) -> bool:
    """Whether the journal at ``path`` is in the form from before (``renewal.is_old``); reads only its beginning."""
    if not path.is_file() or is_held(path):
        return False
    with path.open("rb") as file:
        return is_old(_intact(_lines(file)))


def _intact(lines: Iterable[bytes]) -> Iterator[Record]:
    for raw in lines:
        record = _parse(raw)
        if record is None or not record.is_intact():
            return
        yield record


def write_anew(path: Path, records: Iterable[Record]) -> Journal:
    """A journal of ``records`` in the place of the one at ``path``, or that a link there names: all of it or nothing,
    and on disk when done. The caller holds the lock, or nobody else knows the name."""
    path = real(path)
    sweep(path)
    partial = beside(path, f"{secrets.token_hex(8)}.partial")
    os.close(create(partial))
    try:
        journal = Journal(partial)
        journal.add(records)
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
    sync_folder(path.parent)
    journal.path = path
    return journal


def _line(record: Record) -> bytes:
    return record.line().encode("ascii") + b"\n"


def _next_line(file: BinaryIO) -> bytes:
    """The next line, or as much of it as tells that it is torn: what a machine left as zeros may be as long as all that
    was to be written. Empty at the file's end."""
    found = [file.readline(_SPARE)]
    while found[-1] and not found[-1].endswith(b"\n") and b"\0" not in found[-1]:
        found.append(file.readline(_SPARE))
    return b"".join(found)


def _is_left_of(found: bytes, line: bytes) -> bool:
    """Whether ``found`` says what ``line`` begins with, but for zeros, wherever they are. Letter by letter, which takes
    its time, only where a page has both."""
    pages = ((found[at : at + _PAGE], line[at : at + _PAGE]) for at in range(0, len(found), _PAGE))
    return all(
        not there.strip(b"\0")
        or said.startswith(there)
        or all(one in (0, other) for one, other in zip(there, said.ljust(len(there), b"\0"), strict=False))
        for there, said in pages
    )


def _is_torn(raw: bytes) -> bool:
    """Whether a line was not written to its end, or not all of its pages: no record has a zero in it."""
    return b"\0" in raw or not raw.endswith(b"\n")


def _parse(raw: bytes) -> Record | None:
    try:
        return Record.from_line(raw.decode("ascii"))
    except (ValueError, TypeError, RecursionError):  # RecursionError for endless nesting
        return None


def _write_all(handle: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(handle, view) :]
