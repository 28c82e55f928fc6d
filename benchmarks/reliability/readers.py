"""Files whose reading goes wrong in every way there is, two at once, and kill -9 of each process that takes part.

How a file behaves is said by ``tests.datasets.unruly``, which the readers load; the limits are those of a server, but
for the time.
"""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from benchmarks.reliability.outcome import Ground, Outcome, sentence
from dpcore.datasets import read_table
from dpcore.datasets.apart import Apart, Most
from dpcore.datasets.apart.nursery import in_use
from dpcore.errors import DpcoreError

ROOT = Path(__file__).parents[2]
UNRULY = "tests.datasets.unruly"
BREAK = ("panics", "fails", "crashes", "aborts", "lies", "leaps", "cannot_allocate", "swells", "works")
ROUNDS, KILLS = 10, 10
PATIENCE = 60.0
_GROWN = 50 << 20


def breaking(ground: Ground) -> Iterator[Outcome]:
    """The short form leaves them to ``tests/datasets/test_apart.py``."""
    if ground.short:
        good = (ROOT / "tests" / "datasets" / "test_apart.py").is_file()
        yield Outcome(check="readers", database="none", tried="left to the tests", found="test_apart.py", good=good)
        return
    apart, log = Apart(Most(seconds=2), also=[UNRULY]), logging.getLogger("dpcore")
    log.disabled = True  # a line for each
    try:
        yield _every_way(apart)
        yield _makers_killed(apart)
    finally:
        apart.close()
        log.disabled = False
    yield _servers_killed()


def _every_way(apart: Apart) -> Outcome:
    """A good file after each bad one; the server's memory stays as it was."""
    _read(apart, "good")
    maker, before, told = apart.process, in_use(os.getpid()), Counter[bool]()

    def try_both(behaviour: str) -> None:
        told[_told(apart, behaviour)] += 1
        told[_read(apart, "good") == 2] += 1

    with ThreadPoolExecutor(2) as both:
        list(both.map(try_both, BREAK * ROUNDS))
    grown, left = in_use(os.getpid()) - before, _children(maker)
    good = not told[False] and grown < _GROWN and not left and apart.process == maker
    return Outcome(
        check="readers that break",
        database="none",
        tried=f"{ROUNDS} times each of {len(BREAK)} ways, two at once",
        found=f"{told[True]} as they should, {told[False]} not; the server {grown >> 20} MB larger, {len(left)} left",
        good=good,
    )


def _makers_killed(apart: Apart) -> Outcome:
    """kill -9 of the process that makes readers while two of them read, and of a reader."""
    right = wrong = 0
    for number in range(KILLS):
        watches = _Watch(), _Watch()
        with ThreadPoolExecutor(2) as both:
            readings = [both.submit(_told, apart, "waits", watch) for watch in watches]
            for watch in watches:
                watch.begun.wait(PATIENCE)
            for process in [watch.reader for watch in watches] if number % 2 else [apart.process or 0]:
                os.kill(process, signal.SIGKILL)
            told = [reading.result(PATIENCE) for reading in readings]
        good = all(told) and _gone([watch.reader for watch in watches]) and _read(apart, "good") == 2
        right, wrong = right + good, wrong + (not good)
    return Outcome(
        check="readers killed",
        database="none",
        tried=f"kill -9 {KILLS} times, two being read",
        found=f"{right} times two sentences and the next file read, {wrong} times not",
        good=wrong == 0,
    )


_SERVER = f"""
import signal, sys, threading
from concurrent.futures import ThreadPoolExecutor
from dpcore.datasets import read_table
from dpcore.datasets.apart import Apart
from tests.datasets.unruly import file
apart = Apart(also=[{UNRULY!r}])
def say(part, words):
    if words.startswith("Reader "):
        print(words.split()[1], apart.process, flush=True)
def end(*_):
    print("ends", flush=True)
    sys.exit()
signal.signal(signal.SIGTERM, end)
both = ThreadPoolExecutor(2)
for way in sys.argv[1:]:
    both.submit(read_table, file(way), progress=say, tables=apart.table_of)
while True:
    signal.pause()
"""


def _servers_killed() -> Outcome:
    """kill -9 of a server in mid reading, one library of which never lets Python have its turn; and a server that is
    asked to end, which waits for its threads and they for nobody.
    """
    left: list[int] = []
    for ending in (signal.SIGKILL, signal.SIGTERM) * (KILLS // 2):
        command = [sys.executable, "-c", _SERVER, "waits", "holds_everything"]
        with subprocess.Popen(
            command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        ) as server:
            assert server.stdout is not None
            processes: set[int] = set()
            while len(processes) < 3:
                processes |= {int(word) for word in server.stdout.readline().split()}
            server.send_signal(ending)
        left += [] if _gone(sorted(processes)) else [process for process in processes if _alive(process)]
    return Outcome(
        check="server killed while it reads",
        database="none",
        tried=f"{KILLS} servers, two files each",
        found=f"{len(left)} processes left",
        good=not left,
    )


class _Watch:
    """The number of a reader, once it has said it."""

    def __init__(self) -> None:
        self.begun = threading.Event()
        self.reader = 0

    def __call__(self, part: float, words: str) -> None:
        if words.startswith("Reader ") and not self.begun.is_set():
            self.reader = int(words.removeprefix("Reader "))
            self.begun.set()


def _read(apart: Apart, behaviour: str, watch: _Watch | None = None) -> int:
    from tests.datasets.unruly import file

    data = b'[{"a": 1}, {"a": 2}]' if behaviour == "good" else file(behaviour)
    return read_table(data, progress=watch, tables=apart.table_of).rows


def _told(apart: Apart, behaviour: str, watch: _Watch | None = None) -> bool:
    """Whether a file that cannot be read gives a sentence without a word of it."""
    try:
        _read(apart, behaviour, watch)
    except DpcoreError as error:
        return sentence(error) and "canary" not in str(error)
    return False


def _children(process: int | None) -> list[str]:
    return Path(f"/proc/{process}/task/{process}/children").read_text().split()


def _alive(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def _gone(processes: Sequence[int]) -> bool:
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        if not any(map(_alive, processes)):
            return True
        time.sleep(0.05)
    return False
