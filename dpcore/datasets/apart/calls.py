"""Which system calls a process that reads somebody's file is refused, as a program that the kernel runs for each.

What opens a connection, starts a program or a process, sends a signal to another, looks into it, moves its memory, or
changes what it may take; what changes whose a file is, who may open it and since when it is so; what reaches keys of
the server's user, or memory and queues that programs share by a name, which would outlive the reader; memory in files,
and such as a process could share with those that it makes, which its limits do not count and which may be full though
no process holds it; what the kernel keeps for whoever listens (two ends of a connection, news of files, watches), rules
and filters for a process itself, pipes larger than they are made, pages that a pipe takes over, locks of files and of
their parts, of which there is no end, memory that grows as a stack does, which is in no limit of what may be written
to, files of each thread's own, and queues for files and timers, of which the computer or the server's user has one
number for all; room on a disk that takes no time to take; a session or a group of its own choice, of which each session
may have as much of a processor; files that have no name, so that nobody sees how large they are; what interrupts all
processors, or has the kernel compare what lies in memory; and what looks into the kernel, or says what is mounted.
Signals have many ways: calls of their own, and files that send one when something happens to them.

What writes to a disk at once is answered as if it had: nobody needs what a reader wrote once it is gone, and what
others write waits for the same disk. Of what a process asks for about itself (prctl) that is let through which
libraries use: one of the others takes any amount of the kernel's memory (a table of locks), another keeps cores from
everybody else. Calls that are newer than this list are unknown, as to an older kernel.
https://www.kernel.org/doc/html/latest/userspace-api/seccomp_filter.html
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

Step = tuple[int, int, int, int]
"""One step of the program: what to do, how many steps to leave out where it holds and where not, and a number."""
_LOAD, _EQUAL, _AT_LEAST, _HAS, _GIVE = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _REFUSE, _UNKNOWN, _DONE = 0x7FFF0000, 0x00050000 | 1, 0x00050000 | 38, 0x00050000  # EPERM, ENOSYS, 0
_NUMBER, _MACHINE, _ARGUMENTS = 0, 4, 16
"""Where the kernel says which call it is, for which kind of processor, and with what: 8 bytes each, the low 4 first."""
_OPENAT2 = 437  # which says how where a filter cannot look
_OTHER_NUMBERS = 0x40000000  # x86_64 has a second set of them
NEWER = 470
"""The first number of a call that this list does not know, on every kind of processor."""
_CLOSE_RANGE = 436  # which gives a thread files of its own, as many again as a process may have
_OF_A_THREAD = (0x00010000, 0x00000400, 0x00000200)  # CLONE_THREAD, with the files and folders of all: _FILES, _FS
# By which commands of fcntl and ioctl a file signals another process or types for it.
_SIGNALLING = (8, 10, 15)  # F_SETOWN, F_SETSIG, F_SETOWN_EX
_OWNED = (0x8901, 0x8902, 0x5412, 0x541C)  # FIOSETOWN, SIOCSPGRP, TIOCSTI, TIOCLINUX
_LARGER = (1031,)  # F_SETPIPE_SZ
_LOCKING = (6, 7, 37, 38, 1024, 1040)  # F_SETLK, F_SETLKW, those of open files, F_SETLEASE, F_SETDELEG
_TELLING, _SEALING = (1026,), (1033,)  # F_NOTIFY; F_ADD_SEALS, which whoever made the files does
_FLAGS = (0x40086602, 0x40046602, 0x401C5820)  # FS_IOC_SETFLAGS, its 32 bits, FS_IOC_FSSETXATTR
_RESERVING = (0x40305828, 0x4030582A, 0x40305839)  # FS_IOC_RESVSP, its 64 bits, FS_IOC_ZERO_RANGE: as fallocate
_NAMELESS = 0x00400000  # __O_TMPFILE
_AT_ONCE = 0x00101000  # O_DSYNC and __O_SYNC: each write waits for the disk
_WRITTEN_AT_ONCE = 0x02 | 0x04  # RWF_DSYNC, RWF_SYNC
_ABOUT_ITSELF = (2, 3, 15, 16, 21, 23, 30, 39, 41, 42, 51, 56, 64, 0x53564D41)
"""PR_GET_PDEATHSIG, PR_GET_DUMPABLE, its name set and told, PR_GET_SECCOMP, PR_CAPBSET_READ, PR_GET_TIMERSLACK,
PR_GET_NO_NEW_PRIVS, large pages set and told, how long the registers of ARM are, and names of memory."""
_SHARED, _OF_NO_FILE = 0x01, 0x20  # MAP_SHARED (MAP_SHARED_VALIDATE has its bit too), MAP_ANONYMOUS
_GROWING = 0x0100  # MAP_GROWSDOWN
_MERGED = (12,)  # MADV_MERGEABLE


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """The numbers of calls on one kind of processor, whose name is ``audit`` (AUDIT_ARCH).

    ``never`` are refused whatever they are called with; ``itself`` where the first argument is another number than the
    process's own, ``own`` where it is not 0, which means the process as well; ``done`` are answered as if they had
    been carried out.
    """

    audit: int
    never: Mapping[str, int]
    itself: Mapping[str, int]
    own: Mapping[str, int]
    done: Mapping[str, int]
    clone: int
    clone3: int
    fcntl: int
    ioctl: int
    prctl: int
    mmap: int
    madvise: int
    membarrier: int
    pwritev2: int
    opening: Mapping[int, int]
    """By which calls files are opened, and which argument of each says how."""


_EVERYWHERE = {"pidfd_send_signal": 424, "io_uring_setup": 425, "io_uring_enter": 426, "io_uring_register": 427,
               "pidfd_getfd": 438, "process_madvise": 440, "quotactl_fd": 443, "landlock_create_ruleset": 444,
               "landlock_add_rule": 445, "landlock_restrict_self": 446, "memfd_secret": 447, "process_mrelease": 448,
               "fchmodat2": 452, "map_shadow_stack": 453, "statmount": 457, "listmount": 458, "setxattrat": 463,
               "removexattrat": 466, "file_setattr": 469}  # fmt: skip
MACHINES = {
    "x86_64": Machine(
        audit=0xC000003E,
        never=_EVERYWHERE
        | {"shmget": 29, "shmat": 30, "shmctl": 31, "semget": 64, "semop": 65, "semctl": 66, "shmdt": 67, "msgget": 68,
           "msgsnd": 69, "msgrcv": 70, "msgctl": 71, "semtimedop": 220, "mq_open": 240, "mq_unlink": 241,
           "mq_timedsend": 242, "mq_timedreceive": 243, "mq_notify": 244, "mq_getsetattr": 245, "add_key": 248,
           "request_key": 249, "keyctl": 250, "unshare": 272, "setns": 308}
        | {"perf_event_open": 298, "memfd_create": 319, "bpf": 321, "userfaultfd": 323}
        | {"setpgid": 109, "setsid": 112, "io_setup": 206, "timer_create": 222, "fallocate": 285}
        | {"sendfile": 40, "flock": 73, "epoll_create": 213, "epoll_create1": 291, "seccomp": 317}
        | {"syslog": 103, "migrate_pages": 256, "get_robust_list": 274, "move_pages": 279, "kcmp": 312, "quotactl": 179}
        | {"socketpair": 53, "inotify_init": 253, "splice": 275, "tee": 276, "vmsplice": 278, "inotify_init1": 294,
           "fanotify_init": 300}
        | {"chmod": 90, "fchmod": 91, "chown": 92, "fchown": 93, "lchown": 94, "utime": 132, "mknod": 133,
           "setxattr": 188, "lsetxattr": 189, "fsetxattr": 190, "removexattr": 197, "lremovexattr": 198,
           "fremovexattr": 199, "utimes": 235, "mknodat": 259, "fchownat": 260, "futimesat": 261, "fchmodat": 268,
           "utimensat": 280, "open_by_handle_at": 304}
        | {"socket": 41, "connect": 42, "fork": 57, "vfork": 58, "execve": 59, "ptrace": 101, "rt_sigqueueinfo": 129,
           "setpriority": 141, "ioprio_set": 251, "rt_tgsigqueueinfo": 297, "process_vm_readv": 310,
           "process_vm_writev": 311, "execveat": 322},
        itself={"kill": 62, "tkill": 200, "tgkill": 234},
        own={"sched_setparam": 142, "sched_setscheduler": 144, "sched_setaffinity": 203, "prlimit64": 302,
             "sched_setattr": 314},
        done={"msync": 26, "fsync": 74, "fdatasync": 75, "sync": 162, "sync_file_range": 277, "syncfs": 306},
        clone=56,
        clone3=435,
        fcntl=72,
        ioctl=16,
        prctl=157,
        mmap=9,
        madvise=28,
        membarrier=324,
        pwritev2=328,
        opening={2: 1, 257: 2},
    ),
    "aarch64": Machine(
        audit=0xC00000B7,
        never=_EVERYWHERE
        | {"unshare": 97, "mq_open": 180, "mq_unlink": 181, "mq_timedsend": 182, "mq_timedreceive": 183,
           "mq_notify": 184, "mq_getsetattr": 185, "msgget": 186, "msgctl": 187, "msgrcv": 188, "msgsnd": 189,
           "semget": 190, "semctl": 191, "semtimedop": 192, "semop": 193, "shmget": 194, "shmctl": 195, "shmat": 196,
           "shmdt": 197, "add_key": 217, "request_key": 218, "keyctl": 219, "setns": 268}
        | {"perf_event_open": 241, "memfd_create": 279, "bpf": 280, "userfaultfd": 282}
        | {"io_setup": 0, "fallocate": 47, "timer_create": 107, "setpgid": 154, "setsid": 157}
        | {"epoll_create1": 20, "flock": 32, "sendfile": 71, "seccomp": 277}
        | {"get_robust_list": 100, "syslog": 116, "migrate_pages": 238, "move_pages": 239, "kcmp": 272, "quotactl": 60}
        | {"inotify_init1": 26, "vmsplice": 75, "splice": 76, "tee": 77, "socketpair": 199, "fanotify_init": 262}
        | {"setxattr": 5, "lsetxattr": 6, "fsetxattr": 7, "removexattr": 14, "lremovexattr": 15, "fremovexattr": 16,
           "mknodat": 33, "fchmod": 52, "fchmodat": 53, "fchownat": 54, "fchown": 55, "utimensat": 88,
           "open_by_handle_at": 265}
        | {"ioprio_set": 30, "ptrace": 117, "rt_sigqueueinfo": 138, "setpriority": 140, "socket": 198, "connect": 203,
           "execve": 221, "rt_tgsigqueueinfo": 240, "process_vm_readv": 270, "process_vm_writev": 271,
           "execveat": 281},
        itself={"kill": 129, "tkill": 130, "tgkill": 131},
        own={"sched_setparam": 118, "sched_setscheduler": 119, "sched_setaffinity": 122, "prlimit64": 261,
             "sched_setattr": 274},
        done={"sync": 81, "fsync": 82, "fdatasync": 83, "sync_file_range": 84, "msync": 227, "syncfs": 267},
        clone=220,
        clone3=435,
        fcntl=25,
        ioctl=29,
        prctl=167,
        mmap=222,
        madvise=233,
        membarrier=283,
        pwritev2=287,
        opening={56: 2},
    ),
}  # fmt: skip


def program(machine: Machine, process: int) -> list[Step]:
    """For the process of this number. What a library does to itself goes on: it aborts, and begins threads, by the
    older of two calls, since what the newer one begins stands where a filter cannot look.
    """
    return [
        (_LOAD, 0, 0, _MACHINE),
        (_EQUAL, 1, 0, machine.audit),
        (_GIVE, 0, 0, _REFUSE),
        (_LOAD, 0, 0, _NUMBER),
        (_AT_LEAST, 0, 1, _OTHER_NUMBERS),
        (_GIVE, 0, 0, _REFUSE),
        (_AT_LEAST, 0, 1, NEWER),
        (_GIVE, 0, 0, _UNKNOWN),
        *_rules(machine, process),
        (_GIVE, 0, 0, _ALLOW),
    ]


def written(steps: list[Step]) -> bytes:
    """As the kernel reads it."""
    return b"".join(struct.pack("HBBI", *step) for step in steps)


def _rules(machine: Machine, process: int) -> Iterator[Step]:
    for number in machine.never.values():
        yield from _of(number, [(_GIVE, 0, 0, _REFUSE)])
    for number in machine.itself.values():
        yield from _of(number, _only(process))
    for number in machine.own.values():
        yield from _of(number, _only(0))
    for number in machine.done.values():
        yield from _of(number, [(_GIVE, 0, 0, _DONE)])
    yield from _of(machine.clone, _with_all(_OF_A_THREAD))
    for number in (machine.clone3, machine.membarrier, _OPENAT2, _CLOSE_RANGE):
        yield from _of(number, [(_GIVE, 0, 0, _UNKNOWN)])
    for number, place in machine.opening.items():
        yield from _of(number, _without(place, _NAMELESS | _AT_ONCE))
    yield from _of(machine.pwritev2, _without(5, _WRITTEN_AT_ONCE))
    yield from _of(machine.fcntl, _but(1, (*_SIGNALLING, *_LARGER, *_LOCKING, *_TELLING, *_SEALING)))
    yield from _of(machine.ioctl, _but(1, (*_OWNED, *_FLAGS, *_RESERVING)))
    yield from _of(machine.prctl, _one_of(0, _ABOUT_ITSELF))
    yield from _of(machine.madvise, _but(2, _MERGED))
    yield from _of(machine.mmap, _nor_both(3, _GROWING, _OF_NO_FILE, _SHARED))


def _of(number: int, steps: list[Step]) -> Iterator[Step]:
    """``steps`` decide about the call of this number, whatever comes."""
    yield (_EQUAL, 0, len(steps), number)
    yield from steps


def _only(value: int) -> list[Step]:
    """It goes through where its first argument is this."""
    return [(_LOAD, 0, 0, _ARGUMENTS), (_EQUAL, 0, 1, value), (_GIVE, 0, 0, _ALLOW), (_GIVE, 0, 0, _REFUSE)]


def _with_all(bits: tuple[int, ...]) -> list[Step]:
    """It goes through where its first argument has each of these bits."""
    tests = [(_HAS, 0, len(bits) - at, bit) for at, bit in enumerate(bits)]
    return [(_LOAD, 0, 0, _ARGUMENTS), *tests, (_GIVE, 0, 0, _ALLOW), (_GIVE, 0, 0, _REFUSE)]


def _but(place: int, values: tuple[int, ...]) -> list[Step]:
    """It goes through where the argument is none of these."""
    tests = [(_EQUAL, len(values) - at, 0, value) for at, value in enumerate(values)]
    return [(_LOAD, 0, 0, _ARGUMENTS + 8 * place), *tests, (_GIVE, 0, 0, _ALLOW), (_GIVE, 0, 0, _REFUSE)]


def _one_of(place: int, values: tuple[int, ...]) -> list[Step]:
    """It goes through where the argument is one of these."""
    tests = [(_EQUAL, len(values) - at, 0, value) for at, value in enumerate(values)]
    return [(_LOAD, 0, 0, _ARGUMENTS + 8 * place), *tests, (_GIVE, 0, 0, _REFUSE), (_GIVE, 0, 0, _ALLOW)]


def _without(place: int, bits: int) -> list[Step]:
    """It goes through where the argument lacks all of these bits."""
    return [(_LOAD, 0, 0, _ARGUMENTS + 8 * place), (_HAS, 0, 1, bits), (_GIVE, 0, 0, _REFUSE), (_GIVE, 0, 0, _ALLOW)]


def _nor_both(place: int, never: int, one: int, other: int) -> list[Step]:
    """It goes through where the argument lacks the first bit, and one of the two others."""
    tests = [(_HAS, 3, 0, never), (_HAS, 0, 1, one), (_HAS, 1, 0, other)]
    return [(_LOAD, 0, 0, _ARGUMENTS + 8 * place), *tests, (_GIVE, 0, 0, _ALLOW), (_GIVE, 0, 0, _REFUSE)]
