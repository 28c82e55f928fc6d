"""The process that makes readers: it has loaded what they need, never sees a byte of a file, and forks one for each.

It waits for three things: to be asked, for somebody to give up (then it ends the reader), and for a reader to end.
Meanwhile it looks how much memory each has in use, and ends one that has more than it may. It
goes with the server, whose end of the socket the system closes however the server ends, and takes all readers along.
"""

from __future__ import annotations

import gc
import importlib
import math
import os
import select
import signal
import socket
import struct
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path

from dpcore.datasets.apart.confined import end_with_parent, largest_file
from dpcore.datasets.apart.counted import counted
from dpcore.datasets.apart.reader import TOLD, plain_signals, serve
from dpcore.datasets.apart.told import tell
from dpcore.datasets.temporary import private_folder

FILES = 6
"""Sent with each question: the pipe to speak into, the end of a pipe that closes when nobody waits, a pipe for how the
reader ended, which that one never has, what is asked, room for the table, and room for what libraries print."""
# What is loaded beforehand, where a process that has loaded it can be forked.
LOADED = ("dpcore.datasets.reading.kinds", "dpcore.datasets.apart.crossing", "python_calamine", "pyreadstat")


QUESTION = struct.Struct("<Q")
"""Bytes of memory that the reader may use."""
_TICK = 100  # milliseconds
_MOST_FILES, _BESIDE = 16, 8 << 20
"""In a reader's folder, which makes a few; and bytes there beside one file of the largest size."""
_MOST_THREADS = 64
"""Of a reader: its libraries begin some four, and all servers of a computer have some thousands together."""
_WRITTEN, _BEGUN = ("RssAnon", "RssShmem"), "Threads"


@dataclass(frozen=True, slots=True)
class _Reader:
    """``most`` is how many bytes the process may have in use that it shares with no file, ``files`` how many there may
    be in ``folder``, its own, which goes with ``room``."""

    process: int
    room: ExitStack
    folder: Path
    files: int
    told: int
    life: int
    how: int
    most: float


class Nursery:
    """See the module. ``control`` brings a byte with ``FILES`` open files for each question."""

    def __init__(self, control: socket.socket) -> None:
        self._control = control
        self._readers: dict[int, _Reader] = {}  # by the pipe that closes
        self._too_large = set[int]()
        self._poll = select.poll()
        self._poll.register(control, select.POLLIN)
        self._woken, waking = os.pipe()
        os.set_blocking(self._woken, False)
        os.set_blocking(waking, False)
        self._poll.register(self._woken, select.POLLIN)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(waking, warn_on_full_buffer=False)

    def run(self) -> None:
        """Until the server is gone."""
        while True:
            for file, _ in self._poll.poll(_TICK if self._readers else None):
                if file == self._woken:
                    self._drain()
                elif file in self._readers:
                    self._end(file)
                elif file == self._control.fileno() and not self._asked():
                    return
            self._collect()
            self._watch()

    def stop(self) -> None:
        for life in list(self._readers):
            self._end(life)

    def _asked(self) -> bool:
        question, files, *_ = socket.recv_fds(self._control, QUESTION.size, FILES)
        if not question:
            return False
        if len(files) == FILES:
            self._make(files, *QUESTION.unpack(question))
        else:  # no room for all of them: whoever asked hears nothing more, and says so
            for file in files:
                os.close(file)
        return True

    def _make(self, files: Sequence[int], memory: int) -> None:
        told, life, how, *others = files
        mother = os.getpid()
        most = in_use(mother) + memory  # it begins with all of ours
        room = ExitStack()
        try:
            folder = room.enter_context(private_folder())
            process = os.fork()
        except OSError:  # no room for another: whoever asked hears nothing more, and says so
            room.close()
            for file in files:
                os.close(file)
            return
        if process == 0:
            try:
                _be_reader(mother, [told, *others], folder)
            finally:
                os._exit(0)
        for file in others:
            os.close(file)
        self._readers[life] = _Reader(process, room, folder, largest_file(memory) + _BESIDE, told, life, how, most)
        self._poll.register(life, 0)  # told of its end alone

    def _end(self, life: int) -> None:
        with suppress(KeyError):  # it was ended before
            self._poll.unregister(life)
        _kill(self._readers[life])

    def _watch(self) -> None:
        for reader in self._readers.values():
            try:
                many = threads(reader.process) > _MOST_THREADS
                large = not many and (in_use(reader.process) > reader.most or lying(reader.folder) > reader.files)
            except Exception:  # noqa: BLE001 - of whom nobody can tell ends, and no other with it
                many, large = True, False
            if large:
                self._too_large.add(reader.process)
            if many or large:
                _kill(reader)

    def _drain(self) -> None:
        try:
            while os.read(self._woken, 512):
                pass
        except BlockingIOError:
            return

    def _collect(self) -> None:
        """Say of each reader that has ended how it did."""
        for life, reader in list(self._readers.items()):
            try:
                ended, status = os.waitpid(reader.process, os.WNOHANG)
            except ChildProcessError:  # it is gone, and nobody knows how
                ended, status = reader.process, signal.SIGKILL
            if not ended:
                continue
            del self._readers[life]
            with suppress(KeyError):  # it was ended from here
                self._poll.unregister(life)
            with suppress(Exception):  # it was made not to be removed, and nobody else waits for that
                reader.room.close()
            with suppress(Exception):
                self._say_how(reader, status)
            self._too_large.discard(reader.process)
            for file in (reader.told, reader.life, reader.how):
                with suppress(OSError):
                    os.close(file)

    def _say_how(self, reader: _Reader, status: int) -> None:
        """That it had too much in use only where it was ended for that: one that ends by itself is seen without its
        first thread for a moment, too. Nothing else is in this pipe, so that there is room for it."""
        code = os.waitstatus_to_exitcode(status)
        if reader.process in self._too_large and code == -signal.SIGKILL:
            tell(reader.how, "memory")
        tell(reader.how, "ended", code)


def _kill(reader: _Reader) -> None:
    with suppress(ProcessLookupError):  # it is gone
        os.kill(reader.process, signal.SIGKILL)


def in_use(process: int) -> float:
    """Bytes of memory that a process has written to and that are no file's, also where it could share them; 0 where the
    system does not say. Without end where its first thread is gone and others go on: then the system says nothing."""
    told = counted(process, (*_WRITTEN, _BEGUN))
    if not any(name in told for name in _WRITTEN) and told.get(_BEGUN, 0) > 1:
        return math.inf
    return sum(told.get(name, 0) for name in _WRITTEN) * 1024


def threads(process: int) -> float:
    """How many a process has; 0 where the system does not say."""
    return counted(process, (_BEGUN,)).get(_BEGUN, 0)


def lying(folder: Path) -> float:
    """Bytes of the files in a reader's folder; without end where there are too many, or folders, or nobody can see."""
    held = 0
    try:
        with os.scandir(folder) as found:
            for count, one in enumerate(found):
                if count >= _MOST_FILES or one.is_dir(follow_symlinks=False):
                    return math.inf
                held += one.stat(follow_symlinks=False).st_blocks * 512
    except FileNotFoundError:
        return held
    except OSError:
        return math.inf
    return held


def _be_reader(mother: int, files: Sequence[int], room: Path) -> None:
    """With the files of a reader and no others; what it prints goes into the last."""
    end_with_parent()
    if os.getppid() != mother:
        return
    plain_signals()
    *files, printed = (_moved(file) for file in files)
    for place, file in enumerate(files, start=TOLD):
        os.dup2(file, place)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for place, file in enumerate((nothing, printed, printed)):
        os.dup2(file, place)
    os.closerange(TOLD + len(files), os.sysconf("SC_OPEN_MAX"))
    serve(room)


def _moved(file: int) -> int:
    """The same file under a number that is out of the way."""
    import fcntl

    return fcntl.fcntl(file, fcntl.F_DUPFD, 64)


def main(control: int, names: Sequence[str]) -> None:
    """``names`` are modules to load first."""
    for name in names:
        importlib.import_module(name)
    gc.collect()
    gc.freeze()  # what is shared with every reader stays where it is
    nursery = Nursery(socket.socket(fileno=control))
    try:
        nursery.run()
    finally:
        nursery.stop()
    os._exit(0)  # what the libraries would tidy up is of no use to anybody
