"""Which files a process that reads somebody's file may open: what its libraries are made of, and a folder of its own.

Landlock, as Linux has it from 5.13 on: what is not named is refused, whoever the process belongs to. Files that were
open before stay so. It has no word about modes and owners: those calls are refused by ``calls``.
https://www.kernel.org/doc/html/latest/userspace-api/landlock.html
"""

from __future__ import annotations

import ctypes
import os
import struct
import sys
import sysconfig
from collections.abc import Iterable
from pathlib import Path

import dpcore

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446  # on every kind of processor
_VERSION, _BENEATH = 1, 1
_EXECUTE, _READ_FILE, _READ_FOLDER = 1 << 0, 1 << 2, 1 << 3
_READ = _EXECUTE | _READ_FILE | _READ_FOLDER
_WRITE = 1 << 1 | 1 << 8 | 1 << 14  # into files; make and cut off such
# By the version that brought them: all of the first; moving between folders; cutting off; commands to devices.
_KNOWN = {1: (1 << 13) - 1, 2: 1 << 13, 3: 1 << 14, 5: 1 << 15}
_SYSTEM = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/usr/share/zoneinfo", "/etc/localtime",
           "/etc/ld.so.cache", "/dev/null", "/dev/urandom", "/proc/cpuinfo", "/proc/meminfo", "/sys/devices/system",
           "/sys/fs/cgroup",
           *(f"/proc/self/{one}" for one in ("cgroup", "fd", "maps", "stat", "statm", "status")))  # fmt: skip
"""Of a process's own there is more: who is connected to this computer, and what is mounted there."""


def version() -> int:
    """What this kernel has of it, 0 where it has nothing."""
    return max(0, _call(_CREATE_RULESET, 0, 0, _VERSION))


def only_libraries(room: Path) -> None:
    """From now on this process, which has no thread but its first and gains no rights, opens what its libraries need,
    and files that it makes in the folder ``room``; nothing else. It takes none away and makes no folder: whoever looks
    into that one sees all that it holds. A kernel without it changes nothing.
    """
    found = version()
    if found == 0:
        return
    handled = sum(rights for since, rights in _KNOWN.items() if since <= found)
    attributes = ctypes.create_string_buffer(struct.pack("=Q", handled), 8)
    rules = _call(_CREATE_RULESET, ctypes.addressof(attributes), 8, 0)
    if rules < 0:
        return
    try:
        for place in {*_libraries(), *_SYSTEM}:
            _allow(rules, place, _READ)
        _allow(rules, str(room), (_READ | _WRITE) & handled)
        _call(_RESTRICT_SELF, rules, 0)
    finally:
        os.close(rules)


def _libraries() -> Iterable[str]:
    """Where Python, this package and what it needs lie."""
    yield from (sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib"))
    yield from (place for place in sys.path if Path(place).name in ("site-packages", "dist-packages", "lib-dynload"))
    yield str(Path(sys.base_prefix) / "lib")
    yield from dpcore.__path__


def _allow(rules: int, place: str, rights: int) -> None:
    try:
        opened = os.open(place, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return  # there is no such thing on this computer
    try:
        rights = rights if Path(place).is_dir() else _EXECUTE | _READ_FILE
        rule = ctypes.create_string_buffer(struct.pack("=Qi", rights, opened), 12)
        _call(_ADD_RULE, rules, _BENEATH, ctypes.addressof(rule), 0)
    finally:
        os.close(opened)


def _call(number: int, *arguments: int) -> int:
    call = ctypes.CDLL(None, use_errno=True).syscall
    call.restype = ctypes.c_long
    found: int = call(ctypes.c_long(number), *map(ctypes.c_ulong, arguments))
    return found
