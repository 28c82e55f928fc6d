"""A reader that a file has taken over signals nobody, makes no process, and changes what no other may take."""

from __future__ import annotations

import errno
import json
import os
import platform
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from dpcore.datasets import UnreadableFile, read_table
from dpcore.datasets.apart import Apart, Most, calls, opened
from dpcore.datasets.apart import apart as asked
from dpcore.datasets.apart.calls import MACHINES, Machine, program
from tests.datasets.unruly import file

ROOT = Path(__file__).parents[2]
OWN, OTHER = 4711, 42
ALLOWED, REFUSED, UNKNOWN, DONE = 0x7FFF0000, 0x00050001, 0x00050026, 0x00050000
SHARED = {
    *("shmget", "shmat", "shmctl", "semget", "semop", "semctl", "semtimedop", "msgget", "msgsnd", "msgrcv", "msgctl"),
    *("mq_open", "mq_unlink", "add_key", "request_key", "keyctl", "unshare", "setns", "memfd_create", "memfd_secret"),
}
OPENAT2, CLOSE_RANGE = 437, 436
KEPT = {
    "socketpair",
    "vmsplice",
    "splice",
    "tee",
    "inotify_init1",
    "fanotify_init",
    "io_setup",
    "timer_create",
    "fallocate",
    "setsid",
    "landlock_create_ruleset",
    "landlock_add_rule",
    "landlock_restrict_self",
    "seccomp",
    "epoll_create1",
    "flock",
    "sendfile",
}
REACHING = {"setpgid", "migrate_pages", "move_pages", "kcmp", "get_robust_list", "syslog", "statmount", "listmount"}
THREAD = 0x003D0F00  # what the C library gives clone for a thread


def verdict(steps: list[calls.Step], machine: int, number: int, *arguments: int) -> int:
    """What the kernel does with a call by this program, whose steps are carried out as its own reader does."""
    given = {0: number, 4: machine} | {16 + 8 * place: value & 0xFFFFFFFF for place, value in enumerate(arguments)}
    at = held = 0
    while True:
        what, yes, no, value = steps[at]
        if what == 0x06:
            return value
        if what == 0x20:
            held = given.get(value, 0)
            at += 1
            continue
        holds = {0x15: held == value, 0x35: held >= value, 0x45: bool(held & value)}[what]
        at += 1 + (yes if holds else no)


def refused(machine: Machine) -> Iterator[tuple[int, ...]]:
    for number in machine.never.values():
        yield (number,)
    for number in machine.itself.values():
        for other in (OTHER, 0, -1, -OWN):
            yield number, other, 9
    for number in machine.own.values():
        yield number, OTHER
    yield machine.clone, 17
    yield machine.clone, 0x4111
    for bit in (0x00010000, 0x00000400, 0x00000200):  # a process, or a thread with files or a folder of its own
        yield machine.clone, THREAD & ~bit
    for command in (8, 10, 15, 1031, 6, 7, 37, 38, 1024, 1026, 1033, 1040):
        yield machine.fcntl, 3, command, OTHER
    for command in (0x8901, 0x8902, 0x5412, 0x541C, 0x40086602, 0x401C5820, 0x40305828, 0x4030582A, 0x40305839):
        yield machine.ioctl, 3, command
    for option in (1, 4, 22, 35, 36, 47, 53, 57, 59, 62, 67, 78, 79):
        yield machine.prctl, option, 0
    yield machine.madvise, 0, 4096, 12
    for how in (2, 4, 6, 0x10 | 2):
        yield machine.pwritev2, 3, 0, 1, 0, 0, how
    for number, place in machine.opening.items():
        for how in (0x00410002, 0x00404002, 0x00C10002, 0x00001002, 0x00101041):  # O_TMPFILE; O_DSYNC, O_SYNC
            yield number, *[OTHER] * place, how
    for flags in (0x21, 0x23, 0x8021, 0x40021, 0x100000000 | 0x21, 0x122, 0x20122, 0x102):
        yield machine.mmap, 0, 1 << 20, 3, flags, -1, 0
    yield 0x40000000 | machine.clone, THREAD


def let_through(machine: Machine) -> Iterator[tuple[int, ...]]:
    for number in machine.itself.values():
        yield number, OWN, OWN, 6
    for number in machine.own.values():
        yield number, 0
    yield machine.clone, THREAD
    yield machine.clone, THREAD | 0x00400000  # as another C library
    yield machine.fcntl, 3, 1030, 64
    yield machine.ioctl, 3, 0x5401
    for option in (15, 16, 0x53564D41):
        yield machine.prctl, option, 0
    for advice in (4, 14, 8):
        yield machine.madvise, 0, 4096, advice
    yield machine.pwritev2, 3, 0, 1, 0, 0, 0
    for flags in (0x22, 0x20022, 0x4022, 0x32, 0x01, 0x02, 0x8001, 0x812, 0x0):
        yield machine.mmap, 0, 1 << 20, 3, flags, 3, 0
    for number, place in machine.opening.items():
        for how in (0, 0x00010000, 0x000800C2, 0x00088241):
            yield number, *[-1] * place, how, 0o600
    used = {
        machine.clone,
        machine.clone3,
        OPENAT2,
        CLOSE_RANGE,
        *machine.never.values(),
        *machine.itself.values(),
        *machine.own.values(),
        *machine.done.values(),
        machine.membarrier,
    }
    yield from ((number,) for number in range(calls.NEWER) if number not in used | {machine.prctl})


@pytest.mark.parametrize("name", MACHINES)
def test_of_each_call_the_program_says_what_it_should(name: str) -> None:
    machine = MACHINES[name]
    steps = program(machine, OWN)
    assert all(verdict(steps, machine.audit, *call) == REFUSED for call in refused(machine))
    assert all(verdict(steps, machine.audit, *call) == ALLOWED for call in let_through(machine))
    assert verdict(steps, machine.audit, machine.clone3, 0, 0) == UNKNOWN
    assert verdict(steps, machine.audit, OPENAT2, 0, 0) == UNKNOWN
    assert verdict(steps, machine.audit, CLOSE_RANGE, 3, 4, 0) == UNKNOWN
    assert verdict(steps, machine.audit, machine.membarrier, 1, 0, 0) == UNKNOWN
    assert {verdict(steps, machine.audit, number) for number in range(calls.NEWER, calls.NEWER + 600)} == {UNKNOWN}
    assert {verdict(steps, machine.audit, number) for number in machine.done.values()} == {DONE}
    assert machine.done.keys() == {"sync", "syncfs", "fsync", "fdatasync", "msync", "sync_file_range"}
    assert verdict(steps, 0x40000003, 1) == REFUSED, "nor by the numbers of another kind of processor"
    kinds = {"kill", "tkill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo", "pidfd_send_signal"}
    assert kinds <= {*machine.never, *machine.itself}
    assert machine.never.keys() >= SHARED, "keys and memory of others"
    assert machine.never.keys() >= KEPT, "what the kernel keeps for who listens"
    assert machine.never.keys() >= REACHING, "what looks into another or moves it"
    weak = replace(machine, never={}, itself={"kill": machine.itself["kill"]})
    broken = [call for call in refused(machine) if verdict(program(weak, OWN), machine.audit, *call) == ALLOWED]
    assert len(broken) == len(machine.never) + 4 * (len(machine.itself) - 1), "the check can fail"


RIGHTS = """
import ctypes, os, struct, sys, tempfile
from pathlib import Path
from dpcore.datasets.apart import confined
held = ctypes.create_string_buffer(24)
if sys.argv[1] == "mutant":
    confined._give_up_rights = lambda: None
if sys.argv[1] != "free":
    confined.confine(1 << 30, 60, Path(tempfile.mkdtemp(dir=sys.argv[2])))
ctypes.CDLL(None).capget(struct.pack("II", 0x20080522, 0), held)
os.write(1, f"{max(struct.unpack('6I', held.raw)):x}".encode())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="there are no such rights")
def test_a_reader_of_a_server_that_runs_as_root_has_none_of_its_rights(tmp_path: Path) -> None:
    """It could set the computer's name and clock, and end it. As any other user it never had a right."""

    def rights(how: str) -> str:
        command = [sys.executable, "-c", RIGHTS, how, str(tmp_path)]
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout

    before = rights("free")
    assert rights("confined") in ("0", "4"), "but to look into a folder"
    assert rights("mutant") == before


@pytest.mark.skipif(sys.platform != "linux", reason="nothing is forked")
def test_readers_are_less_urgent_than_the_server_in_its_own_session() -> None:
    """In one of their own they had more of a processor than it, whatever their priority."""
    apart = Apart()
    try:
        apart.warm()
        assert apart.process is not None
        assert os.getsid(apart.process) == os.getsid(0)
        assert os.getpgid(apart.process) == apart.process != os.getpgid(0), "what is typed is not for them"
    finally:
        apart.close()


HIDDEN = """
import dataclasses, mmap, os, sys, tempfile
from pathlib import Path
from dpcore.datasets.apart import calls, confined
if sys.argv[1] == "mutant":
    calls.MACHINES = {name: dataclasses.replace(one, mmap=500) for name, one in calls.MACHINES.items()}
looked = os.open("/proc/self/status", os.O_RDONLY)
confined.confine(1 << 30, 60, Path(tempfile.mkdtemp(dir=sys.argv[2])))
before = os.pread(looked, 1 << 16, 0)
try:
    held = mmap.mmap(-1, 64 << 20)
except PermissionError:
    os.write(1, b"refused")
    os._exit(0)
for at in range(0, 64 << 20, 8 << 20):
    held[at : at + (8 << 20)] = b"x" * (8 << 20)
    held.madvise(mmap.MADV_DONTNEED, at, 8 << 20)
def shared(status):
    return int(status.split(b"RssShmem:")[1].split()[0])
seen = shared(os.pread(looked, 1 << 16, 0)) - shared(before)
os.write(1, b"held %d, seen %d" % (held[:].count(b"x") >> 20, seen >> 10))
"""


@pytest.mark.skipif(sys.platform != "linux" or platform.machine() not in MACHINES, reason="there is no such filter")
@pytest.mark.parametrize(("how", "said"), [("confined", "refused"), ("mutant", "held 64, seen 0")])
def test_a_reader_holds_no_memory_that_nobody_sees(how: str, said: str, tmp_path: Path) -> None:
    """What it could share stays full once it is let go of: two readers held a whole container's memory like that."""
    command = [sys.executable, "-c", HIDDEN, how, str(tmp_path)]
    assert subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout == said


CONNECTED = """
import os, sys, tempfile
from pathlib import Path
from dpcore.datasets.apart import confined, opened
if sys.argv[1] == "mutant":
    opened._SYSTEM += ("/proc/self",)
confined.confine(1 << 30, 60, Path(tempfile.mkdtemp(dir=sys.argv[2])))
seen = []
for name in ("status", "maps", "fd", "net/tcp", "net/unix", "net/arp", "mountinfo", "../net/tcp", "task"):
    try:
        os.close(os.open("/proc/self/" + name, os.O_RDONLY))
        seen.append(name)
    except PermissionError:
        pass
os.write(1, " ".join(seen).encode())
os._exit(0)
"""


@pytest.mark.skipif(sys.platform != "linux" or not opened.version(), reason="there is no Landlock")
@pytest.mark.parametrize(
    ("how", "said"),
    [("", "status maps fd"), ("mutant", "status maps fd net/tcp net/unix net/arp mountinfo ../net/tcp task")],
)
def test_a_reader_does_not_see_who_is_connected_to_this_computer(how: str, said: str, tmp_path: Path) -> None:
    command = [sys.executable, "-c", CONNECTED, how, str(tmp_path)]
    assert subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout == said


QUEUED = """
import ctypes, dataclasses, fcntl, os, socket, sys, tempfile, threading
from contextlib import suppress
from pathlib import Path
from dpcore.datasets.apart import calls, confined
if sys.argv[1] == "pairs":
    for one in calls.MACHINES.values():
        one.never["socketpair"] = 500
if sys.argv[1] == "larger":
    calls._LARGER = ()
if sys.argv[1] == "files":
    confined._FILES = 600
if sys.argv[1] == "threads":
    calls._CLOSE_RANGE = 500
confined.confine(1 << 30, 60, Path(tempfile.mkdtemp(dir=sys.argv[2])))
kept, queued, block = [], [], b"x" * 4096
def hold():
    if threading.current_thread() is not threading.main_thread():
        ctypes.CDLL(None).syscall(436, 1 << 20, 1 << 20, 2)  # files of its own
    for make in (socket.socketpair, os.pipe):
        with suppress(OSError):
            for _ in range(500):
                one, other = make()
                kept.append((one, other))
                into = other if isinstance(other, int) else other.fileno()
                os.set_blocking(into, False)
                with suppress(OSError):
                    fcntl.fcntl(into, 1031, 1 << 20)
                with suppress(BlockingIOError):
                    while True:
                        queued.append(os.write(into, block))
threads = [threading.Thread(target=hold) for _ in range(8)]
for each in threads:
    each.start()
    each.join()
hold()
os.write(1, b"%d" % (sum(queued) >> 20))
os._exit(0)
"""


@pytest.mark.skipif(sys.platform != "linux" or platform.machine() not in MACHINES, reason="there is no such filter")
@pytest.mark.parametrize(
    ("how", "least", "most"),
    [("", 0, 8), ("pairs", 9, 99), ("larger", 9, 99), ("files", 9, 99), ("threads", 9, 99)],
)
def test_the_kernel_holds_little_for_a_reader(how: str, least: int, most: int, tmp_path: Path) -> None:
    """What it writes to itself is in no memory of its own: four gigabytes were where 200 MB are allowed."""
    command = [sys.executable, "-c", QUEUED, how, str(tmp_path)]
    said = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert least <= int(said) <= most


UNCOUNTED = """
import ctypes, fcntl, json, mmap, os, platform, resource, select, signal, struct, sys, tempfile, threading
from contextlib import suppress
from pathlib import Path
signal.pthread_sigmask(signal.SIG_BLOCK, [40])  # of all threads that libraries begin
from dpcore.datasets.apart import calls, confined
library, machine = ctypes.CDLL(None, use_errno=True), calls.MACHINES[platform.machine()]
numbers, limit = dict(machine.never), confined._limit
if sys.argv[1] == "mutant":
    for name in "landlock_create_ruleset seccomp epoll_create epoll_create1 flock sendfile listmount".split():
        machine.never.pop(name, None)
    calls._ABOUT_ITSELF += (22, 78)
    calls._GROWING = 0
    calls._MERGED = ()
    calls._TELLING = ()
    kept = (resource.RLIMIT_SIGPENDING, resource.RLIMIT_MEMLOCK)
    confined._limit = lambda kind, *values: kind in kept or limit(kind, *values)
if sys.argv[1] == "free":
    library.prctl(38, 1, 0, 0, 0)
else:
    confined.confine(1 << 30, 60, Path(tempfile.mkdtemp(dir=sys.argv[2])))
def call(name, *values):
    given = (ctypes.c_long(value) if isinstance(value, int) else value for value in values)
    return library.syscall(numbers[name], *given)
def rules():
    return sum(call("landlock_create_ruleset", struct.pack("Q", 4), 8, 0) >= 0 for _ in range(5))
def watches():
    with suppress(OSError):
        watching, watched = select.epoll(), os.pipe()[0]
        for at in range(60, 80):
            os.dup2(watched, at)
            watching.register(at, 1)
            os.close(at)
        return 20
    return 0
def signals():
    for _ in range(50):
        with suppress(BlockingIOError):
            os.kill(os.getpid(), 40)
            signal.pthread_kill(threading.get_ident(), 40)
    return sum(signal.sigtimedwait([40], 0) is not None for _ in range(100)) - 1
def table():
    return library.prctl(78, 1, ctypes.c_ulong(1 << 16), 0, 0) == 0
def grown():
    library.mmap.restype, library.mmap.argtypes = ctypes.c_void_p, [ctypes.c_void_p, *[ctypes.c_long] * 5]
    return library.mmap(None, 3 << 30, 3, 0x122, -1, 0) != 2**64 - 1
def stays():
    page = mmap.mmap(-1, 4096, mmap.MAP_PRIVATE)
    return library.mlock(ctypes.byref(ctypes.c_char.from_buffer(page)), ctypes.c_long(4096)) == 0
def merged():
    with suppress(OSError):
        mmap.mmap(-1, 4096, mmap.MAP_PRIVATE).madvise(12)
        return 1
    return 0
def locks():
    with suppress(OSError), open(os.__file__) as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        return 1
    return 0
def news():
    with suppress(OSError):
        fcntl.fcntl(os.open(os.path.dirname(os.__file__), os.O_RDONLY), 1026, 0)
        return 1
    return 0
def pages():
    with suppress(OSError), open(os.__file__, "rb") as given:
        return os.sendfile(os.pipe()[1], given.fileno(), 0, 16)
    return 0
def mounts():
    asked, held = struct.pack("=IIQQ", 24, 0, 2**64 - 1, 0), ctypes.create_string_buffer(8 * 64)
    return call("listmount", asked, held, 64, 0) > 0
def filters():
    steps = struct.pack("HBBI", 6, 0, 0, 0x7FFF0000)
    filled = struct.pack("HxxxxxxP", 1, ctypes.addressof(held := ctypes.create_string_buffer(steps)))
    return (call("seccomp", 1, 0, filled) == 0) + (library.prctl(22, 2, filled, 0, 0) == 0)
tried = (rules, watches, signals, table, grown, stays, merged, locks, news, pages, mounts, filters)
os.write(1, json.dumps({each.__name__: int(each()) for each in tried}).encode())
os._exit(0)
"""
EVERYWHERE = {"watches", "signals", "grown", "stays", "locks", "pages", "filters"}


@pytest.mark.skipif(sys.platform != "linux" or platform.machine() not in MACHINES, reason="there is no such filter")
def test_the_kernel_keeps_nothing_for_a_reader_that_no_limit_counts(tmp_path: Path) -> None:
    """Rules of Landlock took a gigabyte, a table of locks any amount at one call; signals and watches were all that
    other processes of the server's user could have, whose timers failed."""

    def got(how: str) -> dict[str, int]:
        command = [sys.executable, "-c", UNCOUNTED, how, str(tmp_path)]
        found: dict[str, int] = json.loads(
            subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
        )
        return found

    confined, free = got("confined"), got("free")
    assert set(confined.values()) == {0}, confined
    assert {what for what, many in free.items() if many} >= EVERYWHERE, "and what this kernel has beside"
    assert got("mutant") == free


RESERVED = """
import ctypes, dataclasses, fcntl, os, struct, sys, tempfile
from contextlib import suppress
from pathlib import Path
from dpcore.datasets.apart import calls, confined
if sys.argv[1] == "fallocate":
    for one in calls.MACHINES.values():
        one.never["fallocate"] = 500
if sys.argv[1] == "ioctl":
    calls._RESERVING = ()
room = Path(tempfile.mkdtemp(dir=sys.argv[2]))
confined.confine(1 << 30, 60, room)
opened = os.open(room / "own", os.O_RDWR | os.O_CREAT, 0o600)
with suppress(OSError):
    os.posix_fallocate(opened, 0, 64 << 20)
for command in (0x40305828, 0x4030582A, 0x40305839):
    with suppress(OSError):
        fcntl.ioctl(opened, command, struct.pack("hhxxxxqqiI4i", 0, 0, 0, 64 << 20, 0, 0, 0, 0, 0, 0))
os.write(1, b"%d" % (os.fstat(opened).st_blocks * 512 >> 20))
os._exit(0)
"""


@pytest.mark.skipif(sys.platform != "linux" or platform.machine() not in MACHINES, reason="there is no such filter")
@pytest.mark.parametrize(("how", "least", "most"), [("", 0, 0), ("fallocate", 64, 65), ("ioctl", 64, 65)])
def test_a_reader_takes_no_room_on_a_disk_without_writing_to_it(
    how: str, least: int, most: int, tmp_path: Path
) -> None:
    """It took twenty gigabytes in a thirtieth of a second, sooner than anybody looked: the ledger had no room."""
    command = [sys.executable, "-c", RESERVED, how, str(tmp_path)]
    said = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert least <= int(said) <= most


@pytest.mark.thorough
@pytest.mark.skipif(sys.platform != "linux", reason="it is made otherwise")
@pytest.mark.parametrize("sealed", [True, False])
def test_the_files_that_a_reader_is_given_are_no_room_of_its_own(sealed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """But for its table, which is no larger than its memory: each held a gigabyte that nobody counted."""
    if not sealed:  # what shows that this test can fail
        monkeypatch.setattr(asked, "_no_larger", lambda room: None)
    said: list[str] = []
    apart = Apart(Most(memory=120 << 20, seconds=60, waiting=60.0), also=["tests.datasets.unruly"])
    try:
        read_table(file("fills"), progress=lambda _, words: said.append(words), tables=apart.table_of)
        assert apart.takes(b"fill", "tests.datasets.unruly:picture") == sealed, "what it was asked with"
    finally:
        apart.close()
    assert f"Held {1 if sealed else 120}, 120, 120" in said


@pytest.mark.thorough
def test_a_reader_opens_what_its_libraries_need_and_its_own_folder_alone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Not what the server's user can, and it knows no password that the server was given. A kernel without Landlock
    (or one that was told not to have it) leaves what is not marked otherwise open."""
    monkeypatch.setenv("EPSILON_LAB_LEDGER", "postgresql://somebody:secret@127.0.0.1/ledger")
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    (tmp_path / "others").touch()
    said: list[str] = []
    apart = Apart(Most(memory=120 << 20, seconds=60, waiting=60.0), also=["tests.datasets.unruly"])
    try:
        read_table(file("opens_files"), progress=lambda _, words: said.append(words), tables=apart.table_of)
    finally:
        apart.close()
    if opened.version():
        assert {one for one in said if one.startswith("Opened ")} == {"Opened nothing; knows nothing"}
    else:
        assert [one for one in said if one.startswith("Opened") and one.endswith("knows nothing")]
    left = {one.name for one in tmp_path.iterdir()}
    assert left == {"others"} or not opened.version(), "and nothing of its own is left"


@pytest.mark.thorough
def test_a_reader_that_is_ended_leaves_no_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    apart = Apart(Most(memory=120 << 20, seconds=60, waiting=60.0), also=["tests.datasets.unruly"])
    try:
        with pytest.raises(UnreadableFile, match="made the program that reads such files end"):
            read_table(file("aborts"), tables=apart.table_of)
    finally:
        apart.close()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.thorough
@pytest.mark.skipif(sys.platform != "linux" or platform.machine() not in MACHINES, reason="there is no such filter")
def test_a_reader_is_refused_each_call_that_others_may_make() -> None:
    said: list[str] = []
    apart = Apart(Most(memory=120 << 20, seconds=60, waiting=60.0), also=["tests.datasets.unruly"])
    try:
        reading = read_table(
            file("calls_the_system"), progress=lambda _, words: said.append(words), tables=apart.table_of
        )
        assert reading.rows == 2
    finally:
        apart.close()
    ask = "from tests.datasets.unruly import system_calls; print(*system_calls().values())"
    free = subprocess.run([sys.executable, "-c", ask], cwd=ROOT, capture_output=True, text=True, check=True)
    numbers = free.stdout.split()
    assert f"Calls {len(numbers)}, wrong " in said
    assert numbers.count("0") == len(numbers) - 1, "without the filter each goes through"
    assert numbers[-1] != str(errno.ENOSYS), "and the last by a kernel that knows it is called wrongly"
