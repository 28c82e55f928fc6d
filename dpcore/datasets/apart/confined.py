"""What a process that reads somebody's file may take and do: memory, time, files, and no way out.

Called in the process itself, before it has seen a byte of the file. Linux keeps all of it; elsewhere the limits that
there are hold, and memory is not among them.
"""

from __future__ import annotations

import ctypes
import os
import platform
import resource
import signal
import struct
import sys
from pathlib import Path

from dpcore.datasets.apart import calls, opened
from dpcore.datasets.apart.counted import counted

_NICE = 5
_LARGEST_FILE = 1 << 30
_FILES = 128
"""Open at once. Each may hold memory of the kernel, as a pipe does; a reading opens some twenty."""
_RESERVED = 4 << 30
"""Address space beyond what may be written to: threads and allocators reserve far more than they use."""
_UNUSED = 2
"""One part in so many of what a process may use may be kept beside it unused, by pools of Arrow, DuckDB and glibc."""
_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_SECCOMP, _PR_SET_NO_NEW_PRIVS = 1, 4, 22, 38
_SECCOMP_FILTER = 2
_CAPABILITIES, _DAC_READ_SEARCH = 0x20080522, 1 << 2
"""By which form the kernel is told of them, and the one by which root looks into everybody's folders."""


def confine(memory: int, seconds: int, room: Path) -> None:
    """Seconds of processor time, bytes of memory beyond what the process began with (no file is larger either), and a
    folder to write to.

    That limit holds at every moment, but leaves room for what allocators keep and do not use (half as much again);
    whoever made the process looks every tenth of a second whether it has more than ``memory`` in use.
    """
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # a core would hold rows
    _limit(resource.RLIMIT_CPU, seconds, seconds + 5)
    _limit(resource.RLIMIT_FSIZE, largest_file(memory), largest_file(memory))
    _limit(resource.RLIMIT_NOFILE, _FILES, _FILES)
    os.nice(max(0, _NICE - os.nice(0)))  # pages of other people go first
    if sys.platform != "linux":
        return
    taken = {name: int(size) << 10 for name, size in counted("self", ("VmData", "VmSize")).items()}
    # What may be written to can fill the memory, at once; space that is only reserved cannot.
    written = memory + memory // _UNUSED
    _limit(resource.RLIMIT_DATA, taken["VmData"] + written, taken["VmData"] + written)
    _limit(resource.RLIMIT_AS, taken["VmSize"] + written + _RESERVED, taken["VmSize"] + written + _RESERVED)
    for kind in (resource.RLIMIT_SIGPENDING, resource.RLIMIT_MEMLOCK, resource.RLIMIT_MSGQUEUE):
        _limit(kind, 0, 0)  # signals and messages that wait are one number for all of the server's user
    for kind in (resource.RLIMIT_NICE, resource.RLIMIT_RTPRIO):
        _limit(kind, 0, 0)  # a user may be allowed to be more urgent than others
    _first_to_go()
    _give_up_rights()
    _prctl(_PR_SET_DUMPABLE, 0)
    if _prctl(_PR_SET_NO_NEW_PRIVS, 1) == 0:
        opened.only_libraries(room)
        _no_way_out()


def largest_file(memory: int) -> int:
    """Bytes of a file that a process may write which may use so much memory."""
    return min(_LARGEST_FILE, memory)


def end_with_parent() -> None:
    """On Linux the system ends this process when the one that started it has ended."""
    if sys.platform == "linux":
        _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _limit(kind: int, soft: int, hard: int) -> None:
    """Never above what this process has been given."""
    most = resource.getrlimit(kind)[1]
    if most != resource.RLIM_INFINITY:
        soft, hard = min(soft, most), min(hard, most)
    resource.setrlimit(kind, (soft, hard))


def _first_to_go() -> None:
    """Where the computer's memory is full, this process ends rather than the server."""
    try:
        Path("/proc/self/oom_score_adj").write_text("1000")
    except OSError:  # /proc is read-only in some containers; the limits above hold all the same
        return


def _give_up_rights() -> None:
    """What a server that runs as root may do beside what anybody may: name the computer, set its clock, end it. It may
    still look where its own libraries are, which are another's sometimes."""
    library = ctypes.CDLL(None, use_errno=True)
    given, held = struct.pack("II", _CAPABILITIES, 0), ctypes.create_string_buffer(24)
    if library.capget(given, held) == 0:
        _, permitted, *_ = struct.unpack("6I", held.raw)
        kept = permitted & _DAC_READ_SEARCH
        library.capset(given, struct.pack("6I", kept, kept, 0, 0, 0, 0))


def _no_way_out() -> None:
    """No connection, no other program or process, no signal to another, no look into it (seccomp, filter mode).

    A kernel without it refuses, and the reading goes on without: no library here does any of these by itself.
    """
    machine = calls.MACHINES.get(platform.machine())
    if machine is None:
        return
    steps = calls.program(machine, os.getpid())
    program = ctypes.create_string_buffer(calls.written(steps))
    filled = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(steps), ctypes.addressof(program)))
    _prctl(_PR_SET_SECCOMP, _SECCOMP_FILTER, ctypes.addressof(filled))


def _prctl(option: int, first: int, second: int = 0) -> int:
    call = ctypes.CDLL(None, use_errno=True).prctl
    call.argtypes = [ctypes.c_int, *[ctypes.c_ulong] * 4]
    found: int = call(option, first, second, 0, 0)
    return found
