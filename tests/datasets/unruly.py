"""Loaded by the readers of a test: files that say how the library that reads them is to behave."""

from __future__ import annotations

import ctypes
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable

import numpy as np

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
    return b"PAR1" + behaviour.encode() + b"PAR1"


def table_of(data: bytes, choices: Choices, say: _Say) -> Tabulated:
    behaviour = data[4:-4].decode("ascii", "ignore")
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


def crashes(say: _Say) -> None:
    ctypes.string_at(1)


def aborts(say: _Say) -> None:
    os.abort()


def grows(say: _Say) -> None:
    """To 144 MB in use, which only who watches it can see to be too much where 120 MB are allowed."""
    kept = [np.ones(2 << 20) for _ in range(9)]
    time.sleep(600)
    kept.clear()


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
    say(0.5, f"{len(os.listdir('/proc/self/fd')) - 1} files, nice {os.nice(0)}")


WAYS: dict[str, Callable[[_Say], None]] = {
    made.__name__: made
    for made in (
        panics, fails, crashes, aborts, grows, swells, leaps, cannot_allocate, works, waits, holds_everything,
        waits_a_moment, lies, looks_around,
    )
}  # fmt: skip
kinds.table_of = table_of


def picture(data: bytes) -> bool:
    """What a decoder says of a picture, or does with one that behaves."""
    behaviour = data.decode("ascii", "ignore")
    if behaviour in WAYS:
        print(CANARY, file=sys.stderr, flush=True)
        WAYS[behaviour](lambda *_: None)
    return behaviour == "good"
