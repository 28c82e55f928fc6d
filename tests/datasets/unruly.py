"""Loaded by the readers of a test: files that say how the library that reads them is to behave."""

from __future__ import annotations

import ctypes
import errno
import fcntl
import json
import mmap
import os
import platform
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np

from dpcore.datasets.apart import calls
from dpcore.datasets.reading import kinds
from dpcore.datasets.reading.choices import Choices
from dpcore.datasets.reading.tabulate import Tabulated

CANARY = "canary-of-a-cell"
_Say = Callable[[float, str], None]
_really = kinds.table_of


class PanicException(BaseException):
    """As a Rust panic comes out of a library."""


def file(behaviour: str) -> bytes:
    """A file that makes a reader behave so; it passes for Parquet."""
    return b"PAR1\x15" + behaviour.encode() + b"PAR1"


def table_of(data: bytes, choices: Choices, say: _Say) -> Tabulated:
    behaviour = data[5:-4].decode("ascii", "ignore")
    if behaviour not in WAYS:
        return _really(data, choices, say)
    print(CANARY, file=sys.stderr, flush=True)
    say(0.25, f"Reader {os.getpid()}")
    WAYS[behaviour](say)
    return _really(b'[{"a": 1}, {"a": 2}]', choices, say)


def panics(say: _Say) -> None:
    raise PanicException(CANARY)


def fails(say: _Say) -> None:
    raise KeyError(CANARY)


def fills(say: _Say) -> None:
    """Into what libraries print into, its table and a file of its own."""
    own = os.open(Path(tempfile.gettempdir()) / "own", os.O_RDWR | os.O_CREAT, 0o600)
    say(0.5, f"Held {', '.join(map(str, filled(1, 5, own)))}")
    os.ftruncate(5, 0)


def filled(*files: int) -> list[int]:
    """MB that each of these files gets to hold, however it is asked."""
    for opened in files:
        with suppress(OSError):
            for at in range(300):
                os.pwrite(opened, b"x" * (1 << 20), at << 20)
        with suppress(OSError):
            for at in range(300):
                os.posix_fallocate(opened, at << 20, 1 << 20)
    return [os.fstat(opened).st_blocks * 512 >> 20 for opened in files]


def swamps(say: _Say) -> None:
    """Its folder, with files that none of is too large."""
    for number in range(1_000):
        (Path(tempfile.gettempdir()) / f"{number}").write_bytes(b"x" * (4 << 20))
        time.sleep(0.005)
    time.sleep(600)


def litters(say: _Say) -> None:
    """With many files of nothing."""
    for number in range(3_000):
        (Path(tempfile.gettempdir()) / f"{number}").touch()
    time.sleep(600)


def multiplies(say: _Say) -> None:
    """Into a hundred threads that do nothing, and take next to no memory."""
    threading.stack_size(1 << 16)
    for _ in range(100):
        threading.Thread(target=time.sleep, args=(600,), daemon=True).start()
    time.sleep(600)


def hides(say: _Say) -> None:
    """Behind a first thread that is gone, so that the system says nothing of what the others hold."""
    threading.Thread(target=time.sleep, args=(600,), daemon=True).start()
    ctypes.CDLL(None).syscall({"x86_64": 60, "aarch64": 93}[platform.machine()], 0)


def hides_by_its_name(say: _Say) -> None:
    """As well, under a name that says that it holds nothing."""
    ctypes.CDLL(None).prctl(15, b"x\x0cRssAnon: 0", 0, 0, 0)
    hides(say)


def calls_itself(say: _Say) -> None:
    """By names that are no text, or look as if the system counted something, until somebody has looked."""
    for name in (b"x\xff", b"\x0cThreads: x", b"\x0bThreads:", "\u2028Threads: x".encode(), b"\nThreads: x"):
        ctypes.CDLL(None).prctl(15, name, 0, 0, 0)
        time.sleep(0.3)


def crashes(say: _Say) -> None:
    ctypes.string_at(1)


def aborts(say: _Say) -> None:
    os.abort()


def grows(say: _Say) -> None:
    """To 144 MB in use, which only who watches it can see to be too much where 120 MB are allowed."""
    kept = [np.ones(2 << 20) for _ in range(9)]
    time.sleep(600)
    kept.clear()


def shares(say: _Say) -> None:
    """As much, of memory that it could share."""
    with mmap.mmap(-1, 144 << 20) as kept:
        kept.write(b"x" * len(kept))
        time.sleep(600)


def swells(say: _Say) -> None:
    """Past a gigabyte and more, in steps that are all used."""
    kept = [np.ones(4 << 20) for _ in range(64)]
    kept.clear()


def leaps(say: _Say) -> None:
    np.empty(1 << 29)  # 4 GB that are never used, which only the system can refuse


def cannot_allocate(say: _Say) -> None:
    """As Rust ends a process that has no memory."""
    print("memory allocation of 8589934592 bytes failed", file=sys.stderr, flush=True)
    os.abort()


def works(say: _Say) -> None:
    while True:
        sum(range(1000))


def waits(say: _Say) -> None:
    time.sleep(600)


def holds_everything(say: _Say) -> None:
    """A library that never lets Python have its turn; a signal of Python's own would not reach it."""
    ctypes.PyDLL(None).sleep(600)


def waits_a_moment(say: _Say) -> None:
    time.sleep(1)


def lies(say: _Say) -> None:
    told = b'garbled\n["done", ["at", {}]]\n["at", "x"]\n[]\n7\n' + b"x" * 100_000 + b'\n["done"]\n'
    while told:
        told = told[os.write(3, told) :]
    os._exit(0)


SPOKEN_IN_ALL = 8 << 20


def says_the_same(say: _Say) -> None:
    floods(b'["at", 0.5, "Opening the file"]\n')


def says_nothing(say: _Say) -> None:
    floods(b"\n")


def never_ends_a_line(say: _Say) -> None:
    floods(b"x")


def floods(what: bytes) -> None:
    """Whoever listens, at no cost of its own, and ends as one that is well."""
    told = what * (SPOKEN_IN_ALL // len(what)) + b'\n["done"]\n'
    while told:
        told = told[os.write(3, told[: 1 << 16]) :]
    os._exit(0)


def seals(say: _Say) -> None:
    """Its table, so that nobody takes anything off its end."""
    fcntl.fcntl(5, 1033, 2)


def looks_around(say: _Say) -> None:
    """Each of these must fail."""
    tried: dict[str, Callable[[], object]] = {
        "connects": lambda: socket.create_connection(("127.0.0.1", 9), timeout=1),
        "starts a program": lambda: subprocess.run(["/bin/true"], check=True),
        "ends another": lambda: os.kill(os.getppid(), signal.SIGTERM),
    }
    for name, act in tried.items():
        try:
            act()
        except PermissionError:
            continue
        raise AssertionError(name)
    say(0.5, f"{len(os.listdir('/proc/self/fd')) - 1} files, nice {os.getpriority(os.PRIO_PROCESS, 0)}")


def opens_files(say: _Say) -> None:
    """What it may open: none of anybody's, and none to write but in its own folder."""
    other = Path(__file__)
    tried: dict[str, Callable[[], object]] = {
        "reads": other.read_bytes,
        "looks into a folder": lambda: os.listdir(other.parent),
        "reads the system's": lambda: Path("/etc/passwd").read_bytes(),
        "sees who is connected": lambda: Path("/proc/self/net/tcp").read_bytes(),
        "sees what is mounted": lambda: Path("/proc/self/mountinfo").read_bytes(),
        "makes": lambda: (Path("/tmp") / f"unruly-{os.getpid()}").touch(),  # noqa: S108
        "writes to a device": lambda: Path(os.devnull).write_bytes(b"x"),
        "changes what it may read": lambda: os.chmod(os.__file__, 0o644),
        "takes away": lambda: os.unlink(Path(tempfile.gettempdir()).parent / "others"),
        "makes a folder": lambda: os.mkdir(Path(tempfile.gettempdir()) / "folder"),
        "makes what leads elsewhere": lambda: os.symlink("/", Path(tempfile.gettempdir()) / "link"),
        "makes a file without a name": lambda: os.open(tempfile.gettempdir(), os.O_TMPFILE | os.O_RDWR),
        "takes away the name of its own": lambda: os.unlink(Path(tempfile.gettempdir()) / "table"),
        "moves its own": lambda: os.rename(Path(tempfile.gettempdir()) / "table", Path(tempfile.gettempdir()) / "x"),
    }
    (Path(tempfile.gettempdir()) / "table").write_bytes(b"its own")
    done = []
    for name, act in tried.items():
        try:
            act()
        except PermissionError:
            continue
        except FileNotFoundError:
            done.append(f"{name} (not there)")
        else:
            done.append(name)
    secrets = [name for name in os.environ if "EPSILON_LAB" in name]
    say(0.5, f"Opened {', '.join(done) or 'nothing'}; knows {', '.join(secrets) or 'nothing'}")


def calls_the_system(say: _Say) -> None:
    """What the system says to each call that reaches another process or makes one, and to what libraries need."""
    threading.Thread(target=lambda: None).start()
    found = system_calls()
    wrong = [name for name, number in found.items() if number != WITHOUT_HARM.get(name, errno.EPERM)]
    say(0.5, f"Calls {len(found)}, wrong {', '.join(wrong)}")


WITHOUT_HARM = {"tgkill of itself": 0, "fcntl F_GETFL": 0, "prlimit64 of itself": 0, "clone3": errno.ENOSYS,
                "close_range": errno.ENOSYS, "membarrier": errno.ENOSYS, "fsync": 0,
                "mmap of its own": 0}  # fmt: skip
"""What the system says to these in a reader; to all others of the following that they are not permitted."""


def system_calls() -> dict[str, int]:
    """The error number of each, 0 where it went through; never one that does any harm if it does."""
    library = ctypes.CDLL(None, use_errno=True)
    numbers, other = calls.MACHINES[platform.machine()], os.getppid()
    named = {**numbers.never, **numbers.itself, **numbers.own}
    info = (ctypes.c_int * 32)(0, 0, -1)
    about = ctypes.create_string_buffer(1024)
    listened, spoken = os.pipe()
    program, lock = os.open(os.__file__, os.O_RDONLY), ctypes.create_string_buffer(64)
    place, queue = Path(tempfile.gettempdir()) / f"own-{other}", ctypes.c_ulong(0)
    own = os.open(place, os.O_RDWR | os.O_CREAT, 0o600)
    tried: dict[str, tuple[int, ...]] = {
        "kill": (named["kill"], other, 0),
        "kill of a group": (named["kill"], 0, 0),
        "tkill": (named["tkill"], other, 0),
        "tgkill": (named["tgkill"], other, other, 0),
        "tgkill of itself": (named["tgkill"], os.getpid(), threading.get_native_id(), 0),
        "rt_sigqueueinfo": (named["rt_sigqueueinfo"], other, 0, ctypes.addressof(info)),
        "rt_tgsigqueueinfo": (named["rt_tgsigqueueinfo"], other, other, 0, ctypes.addressof(info)),
        "pidfd_send_signal": (named["pidfd_send_signal"], os.pidfd_open(other), 0, 0, 0),
        "fcntl F_SETOWN": (numbers.fcntl, listened, 8, other),
        "fcntl F_SETSIG": (numbers.fcntl, listened, 10, signal.SIGIO),
        "fcntl F_GETFL": (numbers.fcntl, listened, 3, 0),
        "prlimit64": (named["prlimit64"], other, resource.RLIMIT_CORE, 0, 0),
        "prlimit64 of itself": (named["prlimit64"], 0, resource.RLIMIT_CORE, 0, 0),
        "setpriority": (named["setpriority"], os.PRIO_PROCESS, other, 5),
        "prctl PR_SET_PDEATHSIG": (numbers.prctl, 1, signal.SIGKILL, 0, 0, 0),
        "shmctl IPC_INFO": (named["shmctl"], 0, 3, ctypes.addressof(about)),
        "semctl IPC_INFO": (named["semctl"], 0, 0, 3, ctypes.addressof(about)),
        "msgctl IPC_INFO": (named["msgctl"], 0, 3, ctypes.addressof(about)),
        "memfd_create": (named["memfd_create"], ctypes.addressof(ctypes.create_string_buffer(b"x")), 0),
        "mmap of what could be shared": (numbers.mmap, 0, 4096, mmap.PROT_READ, mmap.MAP_SHARED | mmap.MAP_ANON, -1, 0),
        "mmap of its own": (numbers.mmap, 0, 4096, mmap.PROT_READ, mmap.MAP_PRIVATE | mmap.MAP_ANON, -1, 0),
        "socketpair": (named["socketpair"], socket.AF_UNIX, socket.SOCK_STREAM, 0, ctypes.addressof(about)),
        "fcntl F_SETPIPE_SZ": (numbers.fcntl, spoken, 1031, 1 << 17),
        "fcntl F_SETLK": (numbers.fcntl, program, 6, ctypes.addressof(lock)),
        "fcntl F_OFD_SETLK": (numbers.fcntl, program, 37, ctypes.addressof(lock)),
        "inotify_init1": (named["inotify_init1"], 0),
        "fallocate": (named["fallocate"], own, 0, 0, 4096),
        "io_setup": (named["io_setup"], 1, ctypes.addressof(queue)),
        "timer_create": (named["timer_create"], 1, 0, ctypes.addressof(about)),
        "close_range": (436, 1 << 20, 1 << 20, 2),
        "epoll_create1": (named["epoll_create1"], 0),
        "flock": (named["flock"], program, fcntl.LOCK_SH),
        "setpgid": (named["setpgid"], 0, os.getpgid(0)),
        "get_robust_list": (named["get_robust_list"], 0, ctypes.addressof(about), ctypes.addressof(about) + 8),
        "fcntl F_NOTIFY": (numbers.fcntl, os.open(os.path.dirname(os.__file__), os.O_RDONLY), 1026, 0),
        "prctl PR_SET_CHILD_SUBREAPER": (numbers.prctl, 36, 0, 0, 0, 0),
        "mmap of what grows": (numbers.mmap, 0, 4096, mmap.PROT_READ, mmap.MAP_PRIVATE | mmap.MAP_ANON | 0x100, -1, 0),
        "sendfile": (named["sendfile"], spoken, program, 0, 16),
        "membarrier": (numbers.membarrier, 0, 0, 0),
        "fsync": (numbers.done["fsync"], own),
        "splice": (named["splice"], listened, 0, spoken, 0, 0, 0),
        "tee": (named["tee"], listened, spoken, 0, 0),
        "vmsplice": (named["vmsplice"], spoken, ctypes.addressof(about), 0, 0),
        "fork": (named.get("fork", numbers.clone), *(() if "fork" in named else (signal.SIGCHLD, 0, 0, 0, 0))),
        "vfork": (numbers.clone, 0x4000 | signal.SIGCHLD, 0, 0, 0, 0),  # as one, that waits for the other
        "clone": (numbers.clone, signal.SIGCHLD, 0, 0, 0, 0),
        "clone3": (numbers.clone3, 0, 0),
    }
    library.syscall.restype = ctypes.c_long
    found, itself = {}, os.getpid()
    for name, call in tried.items():
        given = library.syscall(*map(ctypes.c_long, call))
        if os.getpid() != itself:
            os._exit(0)
        found[name] = ctypes.get_errno() if given < 0 else 0
    for file in (listened, spoken, program, own):
        os.close(file)
    with suppress(PermissionError):
        place.unlink()
    return found


FORGED = "".join(("Anna", "bel"))
"""A word that stands nowhere in this code: what is written here is the reader's own."""
SPOKEN: dict[str, list[object]] = {
    "forges_a_failure": [
        "failed",
        f"X\n2026-11-29 ERROR forged line: {FORGED}",
        [f"a\nTraceback (most recent call last): {FORGED}", FORGED] * 100,
    ],
    "forges_a_kind": ["failed", f"{FORGED}_1987", [f"kinds.py:1987 {FORGED}", "kinds.py:1 table_of", 7]],
    "forges_a_sentence": ["unreadable", f"[Log in again](https://evil.example/login) {FORGED} {'x' * 60_000}"],
    "forges_an_argument": ["invalid", FORGED, f"must be {FORGED}"],
    "forges_an_end": ["ended", 10**4000],
    "forges_progress": ["at", 0.5, f"Hello {FORGED}"],
    "forges_a_share": ["at", 10**400, "Opening the file"],
    "forges_no_share": ["at", float("nan"), "Opening the file"],
    "forges_nesting": ["at", [[[]]], {}],
}
"""What a reader says in words and numbers of its own."""


def speaks(line: object) -> Callable[[_Say], None]:
    def way(say: _Say) -> None:
        told = json.dumps(line).encode() + b"\n"
        while told:
            told = told[os.write(3, told) :]
        os._exit(0)

    return way


WAYS: dict[str, Callable[[_Say], None]] = {
    made.__name__: made
    for made in (
        panics, fails, fills, swamps, litters, multiplies, hides, hides_by_its_name,
        calls_itself, crashes, aborts, grows, shares, swells,
        leaps, cannot_allocate, works, waits, holds_everything, waits_a_moment, lies, looks_around, opens_files,
        calls_the_system, says_the_same, says_nothing, never_ends_a_line, seals,
    )
} | {name: speaks(line) for name, line in SPOKEN.items()}  # fmt: skip
kinds.table_of = table_of


def picture(data: bytes) -> bool:
    """What a decoder says of a picture, or does with one that behaves."""
    behaviour = data.decode("ascii", "ignore")
    if behaviour in WAYS:
        print(CANARY, file=sys.stderr, flush=True)
        WAYS[behaviour](lambda *_: None)
    return behaviour == "good" or (behaviour == "fill" and filled(4) == [0])
