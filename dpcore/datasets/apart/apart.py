"""Asking for a file to be read in a process of its own, and what becomes of the answer.

A library that panics, crashes or takes memory without end then ends one reading with a sentence, and not the server.
"""

from __future__ import annotations

import atexit
import json
import mmap
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from typing import IO, TYPE_CHECKING, Any, TypeVar

from dpcore.datasets import temporary
from dpcore.datasets.apart.little import little
from dpcore.datasets.apart.own import Own, failure, own
from dpcore.datasets.apart.passes import passes
from dpcore.datasets.apart.told import Lines, TooMuch
from dpcore.defects import defect, logged
from dpcore.errors import Defect, InvalidArgument, ReadingCancelled, UnreadableFile

if TYPE_CHECKING:  # they load DuckDB
    from dpcore.datasets.reading.choices import Choices
    from dpcore.datasets.reading.tabulate import Tabulated

Say = Callable[[float, str], None]
Result = TypeVar("Result")
# Modules are looked for where the server finds its own, in the same order.
_START = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from dpcore.datasets.apart.nursery import main; main(int(sys.argv[2]), sys.argv[3:])"
)
_TESTED, _OF_A_TEST = 2, 200 << 20
"""Tests of bytes at the same time, whoever asks, and bytes of memory of each: they run beside the files that are
read."""
_TICK = 200  # milliseconds after which somebody who gives up is noticed
_PATIENCE = 10.0  # seconds for a reader that was ended to be gone
_PRINTED, _ROOM_TO_PRINT = 1 << 16, 1 << 20
"""Bytes of what libraries print that are looked at, and that there is room for."""
_NO_MEMORY = (b"memory allocation of", b"bad_alloc", b"out of memory", b"memoryerror", b"allocate memory")
"""In small letters: each library has its own way to write them."""
_GIVEN_BACK = 1 << 20
"""Bytes from which on glibc has the system give each piece of memory, and gives it back at once. Arrow asks for as much
for each column as a piece of the file is large: what is left between those counted as memory, gigabytes of it."""
_CRASH = "Until it is mended, save the table as CSV and bring that."
_UNREAD = "This file cannot be read as a table; save it as CSV, and bring that."
_AS_TEXT = ", or save the table as CSV"
_DOING = "this file was read"


@dataclass(frozen=True, slots=True, kw_only=True)
class Most:
    """What one reading may take: bytes of memory beyond the bare program's, for ``text`` that is no little, of which a
    row takes as much whatever it was in the file, and for all else; seconds of processor, and of waiting."""

    memory: int = 1 << 30
    text: int = 2 << 30
    seconds: int = 600
    waiting: float = 3600.0


@dataclass(slots=True)
class _Answer:
    """What a reader has said; ``ended`` is its exit code, negative for a signal, None where nobody could tell."""

    done: bool = False
    refused: list[Any] = field(default_factory=list)
    ended: int | None = None


class Apart:
    """Reads files in processes of their own, several at once. Thread-safe.

    The process that makes them starts when it is first needed, or at ``warm``, and anew when it has ended. On Windows,
    where no process can be forked, files are read in this one, as without an ``Apart``.

    ``also`` names modules for the readers to load, ``forked`` is whether what all of them load is loaded before they
    are made (a reader then begins in about 10 ms; elsewhere than on Linux what a library begins does not outlive a
    fork, so each loads its own).
    """

    def __init__(self, most: Most | None = None, *, also: Sequence[str] = (), forked: bool | None = None) -> None:
        self.most = most or Most()
        self._also = tuple(also)
        self._forked = sys.platform == "linux" if forked is None else forked
        self._lock = threading.Lock()
        self._tested = threading.BoundedSemaphore(_TESTED)
        self._control: socket.socket | None = None
        self._nursery: subprocess.Popen[bytes] | None = None

    def table_of(self, data: bytes, choices: Choices, say: Say) -> Tabulated:
        """As ``dpcore.datasets.reading.kinds.table_of``: a little text in this process, all else in one of its own.

        What a text takes of memory, and for how long nothing else of this process goes on, hangs on what is in it.

        Raises UnreadableFile also for a file that takes too much memory or time, or has a library crash, Defect where
        the reader fails otherwise, and whatever ``say`` raises, which ends the reading at once.
        """
        from dpcore.datasets.reading import kinds
        from dpcore.datasets.reading.container import kind_of

        text = kind_of(data, choices.encoding, is_text=choices.delimiter is not None) == "text"
        if not hasattr(os, "fork") or (text and little(data, choices)):
            return kinds.table_of(data, choices, say)
        most = replace(self.most, memory=self.most.text) if text else self.most
        return self._read(data, {"choices": asdict(choices)}, say, _table, most, "" if text else _AS_TEXT)

    def takes(self, data: bytes, test: str) -> bool:
        """Whether a function takes these bytes (a picture, say), asked in a process of its own; ``test`` is its module
        and its name, "package.module:function". What breaks it, or takes too much of anything, it does not take.
        Two are asked at a time, and the others wait.
        """
        if not hasattr(os, "fork"):
            return passes(data, test)
        try:
            with self._tested:
                most = replace(self.most, memory=min(self.most.memory, _OF_A_TEST))
                return self._read(data, {"test": test}, lambda *_: None, lambda _: True, most)
        except (UnreadableFile, Defect):
            return False

    def warm(self) -> None:
        """Start the process that makes readers; nothing waits for it."""
        if hasattr(os, "fork"):
            with self._lock:
                self._started()

    @property
    def process(self) -> int | None:
        """The number of the process that makes readers, None before there is one."""
        return None if self._nursery is None else self._nursery.pid

    def close(self) -> None:
        """End that process, and with it everything that is being read."""
        with self._lock:
            control, nursery = self._control, self._nursery
            self._control = self._nursery = None
        atexit.unregister(self.close)
        if control is not None:
            control.close()
        if nursery is not None:
            nursery.wait(_PATIENCE)

    def _started(self) -> socket.socket:
        if self._nursery is not None and self._nursery.poll() is not None and self._control is not None:
            logged(f"the process that makes readers ended with {self._nursery.returncode}; there is a new one")
            self._control.close()
            self._control = self._nursery = None
        if self._control is None:
            ours, theirs = socket.socketpair()
            with theirs:
                self._nursery = subprocess.Popen(  # noqa: S603 - this Python with a module of ours
                    [sys.executable, "-P", "-c", _START, json.dumps(sys.path), str(theirs.fileno()), *self._names()],
                    stdin=subprocess.DEVNULL,
                    pass_fds=[theirs.fileno()],
                    # What is typed at the server's terminal is not for it. In a session of their own readers would have
                    # as much of a processor as the server, however urgent they are, where Linux shares it by sessions.
                    process_group=0,
                    env=_environment(),
                )
            self._control = ours
            atexit.register(self.close)
        return self._control

    def _names(self) -> tuple[str, ...]:
        from dpcore.datasets.apart.nursery import LOADED

        return (*LOADED, *self._also) if self._forked else self._also

    def _ask(self, files: Sequence[int], memory: int) -> None:
        with self._lock:
            for _ in range(2):
                try:
                    socket.send_fds(self._started(), [_question(memory)], files)
                except (BrokenPipeError, ConnectionResetError):  # it ended this very moment
                    if self._nursery is not None:
                        self._nursery.wait(_PATIENCE)
                else:
                    return
        raise defect(_DOING, "NoReader", ())

    def _read(
        self,
        data: bytes,
        what: dict[str, Any],
        say: Say,
        made: Callable[[IO[bytes]], Result],
        most: Most,
        otherwise: str = "",
    ) -> Result:
        """``otherwise`` is what else a person can do where it takes too much."""
        words = own(self._also)
        say(0.0, "Opening the file")
        with ExitStack() as until_the_end:
            found, printed = (until_the_end.enter_context(_room()) for _ in range(2))
            printed.truncate(_ROOM_TO_PRINT)
            _no_larger(printed)
            with _room() as asked:
                told, how, life = self._begun(data, what, [asked, found, printed], until_the_end, most)
            ended = False
            try:
                answer = _heard(told, how, life, say, most.waiting, words)
                ended = answer.ended == 0
            finally:
                if not ended:
                    temporary.sweep()  # a process that was ended leaves its copy of the file
            if answer.done and ended:
                return made(found)
            raise _why(answer, _no_memory(printed), most, otherwise, words)

    def _begun(
        self, data: bytes, what: dict[str, Any], rooms: Sequence[IO[bytes]], until_the_end: ExitStack, most: Most
    ) -> tuple[int, int, _Life]:
        """What the reader says, how it ended, and what it lives by."""
        asked = rooms[0]
        question = {
            **what,
            "size": len(data),
            "memory": most.memory,
            "seconds": most.seconds,
        }
        asked.write(json.dumps(question).encode() + b"\n")
        if asked.write(data) != len(data):
            raise MemoryError
        asked.seek(0)
        _no_larger(asked)
        told, telling = os.pipe()
        until_the_end.callback(os.close, told)
        how, saying_how = os.pipe()
        until_the_end.callback(os.close, how)
        watched, living = os.pipe()
        life = _Life(living)
        until_the_end.callback(life.end)
        try:
            self._ask([telling, watched, saying_how, *(room.fileno() for room in rooms)], most.memory)
        finally:
            for end in (telling, watched, saying_how):
                os.close(end)
        return told, how, life


def _question(memory: int) -> bytes:
    from dpcore.datasets.apart.nursery import QUESTION

    return QUESTION.pack(memory)


class _Life:
    """The end of a pipe by which a reader lives: once it is closed the reader is ended."""

    def __init__(self, file: int) -> None:
        self._file: int | None = file

    def end(self) -> None:
        file, self._file = self._file, None
        if file is not None:
            os.close(file)


def _heard(told: int, how: int, life: _Life, say: Say, waiting: float, words: Own) -> _Answer:
    """All that a reader says until it has ended, which it has once it said too much; whatever ``say`` raises ends it,
    and is raised once it is gone."""
    answer, lines = _Answer(), Lines()
    last: tuple[float, str] = (0.0, "Opening the file")
    until = time.monotonic() + waiting
    try:
        for piece in _pieces(told, None):
            for what, *rest in lines.of(piece):
                last = _noted(answer, what, rest, words) or last
            if not threading.main_thread().is_alive():  # the server ends, and waits for its threads
                raise ReadingCancelled("The server ends.")
            if time.monotonic() > until:
                answer.refused = ["waiting"]
                break
            say(*last)
    except TooMuch:
        answer.done, answer.refused = False, ["endless"]
    finally:
        life.end()
        with suppress(TooMuch):
            for piece in _pieces(told, _PATIENCE):
                for what, *rest in lines.of(piece):
                    _noted(answer, what, rest, words)
        for what, *rest in Lines().of(b"".join(_pieces(how, _PATIENCE))):
            _noted_end(answer, what, rest)
    return answer


def _noted(answer: _Answer, what: Any, rest: list[Any], own: Own) -> tuple[float, str] | None:
    match [what, *rest]:
        case ["at", float(part) | int(part), str(words)] if 0 <= part <= 1 and own.says(words):
            return float(part), words
        case ["done"]:
            answer.done = True
        case ["unreadable" | "invalid" | "failed" | "memory", *_] if not answer.refused:
            answer.refused = [what, *rest]
    return None


def _noted_end(answer: _Answer, what: Any, rest: list[Any]) -> None:
    """What the process that makes readers says of one that is gone."""
    match [what, *rest]:
        case ["ended", int(code)]:
            answer.ended = code
        case ["memory"] if not answer.refused:
            answer.refused = [what]


def _pieces(told: int, patience: float | None) -> Iterator[bytes]:
    """What comes through the pipe until its other end is closed, with b"" every so often; or as long as one waits."""
    poll = select.poll()
    poll.register(told, select.POLLIN)
    until = None if patience is None else time.monotonic() + patience
    while until is None or time.monotonic() < until:
        if not poll.poll(_TICK):
            yield b""
            continue
        piece = os.read(told, 1 << 16)
        if not piece:
            return
        yield piece


def _why(answer: _Answer, no_memory: bool, most: Most, otherwise: str, words: Own) -> Exception:
    """What to say of a reading that brought no table: nothing in words that are not the program's own."""
    match answer.refused:
        case ["unreadable", str(sentence)]:
            return UnreadableFile(sentence if words.says(sentence) else _UNREAD)
        case ["invalid", str(argument), str(problem)] if words.names(argument) and words.says(problem):
            return InvalidArgument(argument, problem)
        case ["failed", str(kind), list(places)] if not no_memory:
            panic = _CRASH if kind == "PanicException" else ""
            return defect(_DOING, failure(kind), [words.place(str(place)) for place in places[-_PLACES:]], panic)
        case ["memory"]:
            no_memory = True
        case ["waiting"]:
            return UnreadableFile(_too_long(most.waiting, otherwise))
        case ["endless"]:
            return defect(_DOING, "Endless", (), _CRASH)
    if no_memory:
        return UnreadableFile(
            f"Reading this file takes more than {-(-most.memory >> 20):,} MB of memory; keep fewer rows or "
            f"columns{otherwise}."
        )
    if answer.ended == -_XCPU:
        return UnreadableFile(_too_long(most.seconds, otherwise))
    if answer.ended is not None and -answer.ended in _FAULTS:
        _log_once(-answer.ended)
        return UnreadableFile(
            f"This file made the program that reads such files end; it may be damaged. Save it anew{otherwise}, and "
            "bring that."
        )
    if answer.ended is None or answer.ended < 0:
        logged(f"a reader was ended from outside ({answer.ended})")
        return UnreadableFile(
            "The reading of this file was ended from outside, as where the computer has no memory left; try it again, "
            "or keep fewer rows or columns."
        )
    return defect(_DOING, f"exit {answer.ended}", (), _CRASH)


_XCPU, _PLACES = 24, 20
_FAULTS = {getattr(signal, f"SIG{name}", None) for name in ("SEGV", "BUS", "ABRT", "FPE", "ILL", "TRAP", "SYS")}
"""By which the system ends a process for what its own code did; Windows has not all of them."""


@cache
def _log_once(number: int) -> None:
    """That a library ended its process by this signal: once, however often such a file is brought."""
    logged(f"a file had a library end its reader by signal {number}; others that do are not noted")


def _too_long(seconds: float, otherwise: str) -> str:
    return f"Reading this file takes longer than {seconds / 60:,.0f} minutes; keep fewer rows or columns{otherwise}."


def _no_memory(printed: IO[bytes]) -> bool:
    """Whether a library said, before it ended its process, that there was no memory. Its words go no further."""
    printed.seek(0)
    words = printed.read(_PRINTED).lower()
    return any(mark in words for mark in _NO_MEMORY)


def _table(found: IO[bytes]) -> Tabulated:
    """Raises Defect for what is none, also where the reader left the file so that nothing can be taken off its end."""
    from dpcore.datasets.apart import crossing

    try:
        told = crossing.taken(found)
        return crossing.read(_for_good(found), told)
    except (crossing.Garbled, ValueError, OSError):
        raise defect(_DOING, "Garbled", ()) from None


def _for_good(found: IO[bytes]) -> mmap.mmap | bytes:
    """What a reader wrote, so that nothing it left running changes it once it was checked: the server would end as soon
    as it looks where the memory was cut off. Raises ValueError where somebody can still write to it.
    """
    if not hasattr(os, "memfd_create"):
        return os.pread(found.fileno(), os.fstat(found.fileno()).st_size, 0)
    import fcntl  # not on Windows

    seals = fcntl.F_SEAL_WRITE | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL
    try:
        fcntl.fcntl(found.fileno(), fcntl.F_ADD_SEALS, seals)
    except OSError:  # it is mapped for writing by something else
        raise ValueError("what a reader wrote can still be changed") from None
    return mmap.mmap(found.fileno(), 0, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ)


def _no_larger(room: IO[bytes]) -> None:
    """From now on nobody makes this file longer: its memory is no process's, and counts as nobody's."""
    if hasattr(os, "memfd_create"):
        import fcntl  # not on Windows

        fcntl.fcntl(room.fileno(), fcntl.F_ADD_SEALS, fcntl.F_SEAL_GROW)


@contextmanager
def _room() -> Iterator[IO[bytes]]:
    """A file without a name that only this process and whom it is given to can open; what is mapped of it stays."""
    if hasattr(os, "memfd_create"):
        made = os.memfd_create("epsilon-lab", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        with open(made, "w+b", buffering=0) as file:
            yield file
    else:
        with tempfile.TemporaryFile(buffering=0) as file:
            yield file


_KEPT = {"HOME", "LANG", "LANGUAGE", "PATH", "SYSTEMROOT", "TEMP", "TMP", "TMPDIR", "TZ", "USERPROFILE"}
_KEPT_ALL = ("DYLD_", "LC_", "LD_", "PYTHON")


def _environment() -> dict[str, str]:
    """One thread where a process is to be forked, and allocators that ask the system for no more than they need.

    Nothing else of the server's own but what Python and its libraries ask for: passwords and keys stand there too.
    """
    kept = {name: value for name, value in os.environ.items() if name in _KEPT or name.startswith(_KEPT_ALL)}
    return kept | {
        "OPENBLAS_NUM_THREADS": "1",
        "OMP_NUM_THREADS": "1",
        "ARROW_DEFAULT_MEMORY_POOL": "system",
        "MALLOC_MMAP_THRESHOLD_": str(_GIVEN_BACK),
        "JE_ARROW_MALLOC_CONF": "background_thread:false",
    }
