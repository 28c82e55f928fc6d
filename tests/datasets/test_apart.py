"""A reader that panics, crashes, grows or never ends takes nobody along and leaves nothing behind."""

from __future__ import annotations

import fcntl
import gc
import io
import json
import logging
import math
import mmap
import os
import platform
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from dpcore.datasets import ReadingCancelled, UnreadableFile, read_table
from dpcore.datasets.apart import Apart, Most, crossing, nursery, told
from dpcore.datasets.apart import apart as asked
from dpcore.datasets.apart import little as bounds
from dpcore.datasets.apart.calls import MACHINES
from dpcore.datasets.apart.counted import counted
from dpcore.datasets.apart.nursery import _MOST_THREADS, in_use, lying, threads
from dpcore.datasets.apart.own import own
from dpcore.datasets.reading import kinds
from dpcore.datasets.reading.choices import Choices
from dpcore.datasets.reading.container import kind_of
from dpcore.datasets.reading.kinds import table_of
from dpcore.errors import Defect, InvalidArgument
from tests.datasets.cases import CASES
from tests.datasets.unruly import CANARY, SPOKEN_IN_ALL, file

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere there are no limits of memory")
FILTERED = pytest.mark.skipif(platform.machine() not in MACHINES, reason="there is no such filter")
MOST = Most(memory=120 << 20, seconds=60, waiting=60.0)
KINDS = ("workbook: dates left", "columnar: Arrow, lz4", "labelled: SPSS", "packed: several tables", "json: half")


@pytest.fixture(scope="module")
def apart() -> Iterator[Apart]:
    made = Apart(MOST, also=["tests.datasets.unruly"])
    yield made
    made.close()


def said(apart: Apart, behaviour: str) -> str:
    with pytest.raises((UnreadableFile, Defect)) as caught:
        read_table(file(behaviour), tables=apart.table_of)
    sentence = str(caught.value)
    assert isinstance(caught.value, Defect) == ("your file is not at fault" in sentence)
    assert sentence.endswith(".")
    assert CANARY not in sentence
    return sentence


def alive(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def mapped() -> set[str]:
    """The tables (by inode) that readers left and this process still has in its memory, whichever test read them."""
    return {line.split()[4] for line in Path("/proc/self/maps").read_text().splitlines() if "memfd:epsilon-lab" in line}


def readers(process: int | None) -> list[int]:
    return [int(word) for word in Path(f"/proc/{process}/task/{process}/children").read_text().split()]


class Watch:
    """What ``progress`` was told, and the number of the reader once it has said it."""

    def __init__(self) -> None:
        self.words: list[tuple[float, str]] = []
        self.begun = threading.Event()
        self.reader = 0

    def __call__(self, part: float, words: str) -> None:
        self.words.append((part, words))
        if words.startswith("Reader "):
            self.reader = int(words.removeprefix("Reader "))
            self.begun.set()


@pytest.mark.parametrize("case", [case for case in CASES if str(case).startswith(KINDS) and not case.heavy], ids=str)
def test_a_file_is_read_as_in_this_process(apart: Apart, case: object) -> None:
    """Tables with labels, notices, alternatives, rows set aside and lines, to the last byte."""
    data = case.make()  # type: ignore[attr-defined]
    assert kind_of(data) != "text"
    try:
        here = read_table(data)
    except UnreadableFile as error:
        with pytest.raises(UnreadableFile, match=re.escape(str(error))):
            read_table(data, tables=apart.table_of)
        return
    others = mapped()
    there = read_table(data, tables=apart.table_of)
    its = mapped() - others
    assert its, "its cells lie where the reader wrote them"
    pd.testing.assert_frame_equal(there.frame, here.frame)
    assert there.lines.tolist() == here.lines.tolist()
    assert there.places.tolist() == here.places.tolist()
    assert (there.report, there.columns, there.records, there.key) == (
        here.report, here.columns, here.records, here.key,
    )  # fmt: skip
    del there
    gc.collect()
    assert not mapped() & its


TEXTS: dict[str, tuple[bytes, bool]] = {
    "empty lines": (b"a,b\n1,2\n" + b"\n" * 30_000_000, False),
    "blanks between cells": (b"a b\n" + b"1 2\n" * 400_000, True),
    "rows of one cell": (b"a\n" + b"1\n" * 20_000_000, False),
    "single marks inside words": (
        b"id,note\n" + b"".join(b"%d,a visit by Mr O'Brien\n" % n for n in range(200_000)),
        True,
    ),
    "returns": (b"a,b\r" + b"1,2\r" * 400_000, True),
    "one wide row and many short ones": (
        ",".join(f"c{n}" for n in range(500)).encode() + b"\n" + b"1,2\n" * 100_000,
        True,
    ),
    "one long line": (b"a b\n" + b"1 " * 4_000_000, False),
}


@pytest.mark.thorough
@pytest.mark.parametrize("name", TEXTS)
def test_a_text_takes_no_memory_and_no_time_of_this_process(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever stands in it; what is more than a reader may take is refused with a sentence."""
    data, takes = TEXTS[name]
    here: list[int] = []
    monkeypatch.setattr(kinds, "table_of", lambda data, *_: here.append(len(data)) or table_of(b"a\n1\n", *_))
    small = Apart(Most(text=(2 << 30) if takes else (400 << 20)))
    if takes:
        assert read_table(data, tables=small.table_of).rows > 1
    else:
        with pytest.raises(UnreadableFile, match=r"(rows or columns|never closed)\.$"):
            read_table(data, tables=small.table_of)
    small.close()
    assert not here
    monkeypatch.setattr(bounds, "LITTLE", len(data))
    monkeypatch.setattr(bounds, "FEW", 1 << 40)
    read_table(data, tables=small.table_of)
    assert here == [len(data)]


def test_a_little_text_is_read_here_and_a_wrong_choice_is_named(apart: Apart) -> None:
    never = Apart()
    assert read_table(b"a,b\n1,2\n", tables=never.table_of).rows == 1
    assert never.process is None
    with pytest.raises(InvalidArgument) as caught:
        read_table(b'[{"a": 1}]', encoding="klingon", tables=apart.table_of)
    assert caught.value.argument == "encoding"


@pytest.mark.defects
@pytest.mark.parametrize(
    ("behaviour", "kind"),
    [
        ("panics", "PanicException"),
        ("fails", "KeyError"),
        pytest.param("shares", "PermissionError", marks=FILTERED),
        pytest.param("seals", "PermissionError", marks=FILTERED),
        ("lies", "Garbled"),
    ],
)
def test_a_reader_that_breaks_is_a_defect_of_ours(
    apart: Apart, behaviour: str, kind: str, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    with caplog.at_level(logging.ERROR, "dpcore"):
        sentence = said(apart, behaviour)
    found = re.search(r"reference ([0-9A-F]{8})\.", sentence)
    assert found is not None
    assert f"{found[1]} while this file was read: {kind}" in caplog.text
    assert ("save the table as CSV" in sentence) == (behaviour == "panics")
    assert CANARY not in caplog.text + "".join(capfd.readouterr())
    assert apart.process is not None
    assert readers(apart.process) == []


FAULTS = [signal.SIGSEGV, signal.SIGBUS, signal.SIGABRT, signal.SIGFPE, signal.SIGILL, signal.SIGTRAP, signal.SIGSYS]
"""What the system ends a process by for what its own code did."""


@pytest.fixture
def log(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    """Of endings that earlier tests brought about nothing is noted."""
    asked._log_once.cache_clear()
    return caplog


@pytest.mark.parametrize(("behaviour", "number"), [("crashes", signal.SIGSEGV), ("aborts", signal.SIGABRT)])
def test_a_file_that_ends_its_reader_is_called_so(
    apart: Apart, behaviour: str, number: int, log: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    """And no defect of ours, of which whoever brings it again and again would fill the log."""
    sentences = {said(apart, behaviour) for _ in range(3)}
    assert sentences == {
        "This file made the program that reads such files end; it may be damaged. Save it anew, or save the table as "
        "CSV, and bring that."
    }
    assert len(log.messages) == 1
    assert str(number) in log.messages[0]
    assert CANARY not in "".join([*log.messages, *capfd.readouterr()])
    assert apart.process is not None
    assert readers(apart.process) == []


def why(ended: int | None, otherwise: str = "") -> Exception:
    return asked._why(asked._Answer(ended=ended), False, MOST, otherwise, own())


@pytest.mark.defects
def test_how_a_reader_ended_decides_what_is_said(log: pytest.LogCaptureFixture) -> None:
    """Of all signals there are: what its own code did, what took too long, what somebody else did; and of all codes."""
    for number in {*signal.valid_signals()} - {*FAULTS, signal.SIGXCPU}:
        assert "was ended from outside" in str(why(-number))
    assert "was ended from outside" in str(why(None))
    assert "takes longer than" in str(why(-signal.SIGXCPU))
    log.clear()
    for number in FAULTS * 3:
        assert str(why(-number)).endswith("may be damaged. Save it anew, and bring that."), "a text is one already"
    assert len(log.messages) == len(FAULTS)
    for code in (0, 1, 7):
        assert isinstance(why(code), Defect)


def test_these_tests_of_endings_can_fail(log: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    """A mutant that notes each file, and one for which only the kernel's kill is from outside."""
    monkeypatch.setattr(asked, "_log_once", asked._log_once.__wrapped__)
    for _ in range(3):
        why(-signal.SIGSEGV)
    assert len(log.messages) == 3
    monkeypatch.setattr(asked, "_FAULTS", {*signal.valid_signals()} - {signal.SIGKILL})
    assert "was ended from outside" not in str(why(-signal.SIGTERM))


@pytest.mark.defects
@pytest.mark.parametrize("behaviour", ["panics", "fails", "crashes", "aborts", "grows"])
def test_what_breaks_a_test_of_bytes_is_not_taken(
    apart: Apart, behaviour: str, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    """Pictures, say: the server's process decodes none, and goes on."""
    assert apart.takes(b"good", "tests.datasets.unruly:picture")
    assert not apart.takes(b"bad", "tests.datasets.unruly:picture")
    assert not apart.takes(behaviour.encode(), "tests.datasets.unruly:picture")
    assert CANARY not in caplog.text + "".join(capfd.readouterr())
    assert readers(apart.process) == []


@pytest.mark.parametrize("bounded", [True, False])
def test_two_tests_of_bytes_are_made_at_a_time_whoever_asks(bounded: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each page of many could once have a logo decoded in a process of its own, at the same time as all others."""
    asked, begun, go = 8, threading.Semaphore(0), threading.Event()

    def read(*_: object) -> bool:
        begun.release()
        return go.wait(60)

    here = Apart()
    monkeypatch.setattr(here, "_read", read)
    if not bounded:
        monkeypatch.setattr(here, "_tested", threading.Semaphore(asked))
    with ThreadPoolExecutor(asked) as pages:
        taken = [pages.submit(here.takes, b"", "module:function") for _ in range(asked)]
        at_once = 2 if bounded else asked
        assert all(begun.acquire(timeout=60) for _ in range(at_once))
        assert not begun.acquire(timeout=0.05)
        go.set()
        assert all(each.result() for each in taken)


@pytest.mark.skipif(sys.platform != "linux", reason="the system does not say")
def test_memory_that_could_be_shared_is_in_use_too() -> None:
    """A reader that was taken over filled the computer with it: what is resident and not shared leaves it out."""

    def resident_alone() -> int:
        _, resident, shared, *_ = Path("/proc/self/statm").read_text().split()
        return (int(resident) - int(shared)) * os.sysconf("SC_PAGE_SIZE")

    before, alone = in_use(os.getpid()), resident_alone()
    with mmap.mmap(-1, 64 << 20) as held:
        held.write(bytes(64 << 20))
        assert in_use(os.getpid()) - before > 60 << 20
        assert resident_alone() - alone < 60 << 20, "else this would show nothing"
    assert in_use(os.getpid()) - before < 30 << 20
    assert in_use(0) == 0


def test_a_reader_that_begins_threads_without_end_is_ended(apart: Apart) -> None:
    """It began as many as all servers of a computer may have: nobody's page was drawn any more."""
    sentence = said(apart, "multiplies")
    assert sentence.startswith("The reading of this file was ended from outside")
    assert threads(os.getpid()) < _MOST_THREADS
    assert threads(0) == 0


@pytest.mark.parametrize("behaviour", ["hides", "hides_by_its_name"])
def test_a_reader_of_which_the_system_says_nothing_is_ended(
    behaviour: str, apart: Apart, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its first thread was gone: it held 4 GB where 200 MB are allowed."""
    assert said(apart, behaviour).startswith("Reading this file takes more than 120 MB of memory")
    told = {"Threads": 2}
    monkeypatch.setattr(nursery, "counted", lambda *_: told)
    assert in_use(4711) == math.inf
    told["Threads"] = 1  # all of it is gone, and nobody asked how it ended yet
    assert in_use(4711) == 0


def test_a_reader_of_any_name_is_looked_at(apart: Apart) -> None:
    """One that was no text ended who looks at readers, and with that everybody's readings; then one with a sign in it
    at which Python ends a line."""
    read_table(file("waits_a_moment"), tables=apart.table_of)
    before = apart.process
    read_table(file("calls_itself"), tables=apart.table_of)
    assert apart.process == before


NAMED = """
import ctypes, sys
for line in sys.stdin:
    ctypes.CDLL(None).prctl(15, bytes.fromhex(line), 0, 0, 0)
    print(flush=True)
"""


def by_lines_of_text(process: int | str, names: Sequence[str]) -> dict[str, float]:
    """As it was once read, which shows that the test of it can fail."""
    lines = Path(f"/proc/{process}/status").read_text(errors="replace").splitlines()
    parts = (line.replace(":", " ").split() for line in lines)
    return {name: int(value) for name, value, *_ in (part for part in parts if len(part) > 1) if name in names}


@pytest.mark.parametrize("read", [counted, by_lines_of_text])
def test_no_name_of_a_process_is_a_line_of_what_the_system_counts(
    read: Callable[[int, Sequence[str]], dict[str, float]],
) -> None:
    """Whatever sign stands in it: what is resident, how many threads there are."""
    wrong = []
    command = [sys.executable, "-c", NAMED]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1) as named:
        assert named.stdin is not None
        assert named.stdout is not None
        for sign in (*map(chr, range(1, 256)), "\u2028", "\u2029"):
            for encoding in ("latin-1", "utf-8"):
                with suppress(UnicodeEncodeError):
                    named.stdin.write(f"{sign.encode(encoding).hex()}{b'Threadz: 7'.hex()}\n")
                    named.stdout.readline()
                    wrong += [sign] * (read(named.pid, ("Threads", "Threadz")) != {"Threads": 1})
        named.stdin.close()
    assert (not wrong) == (read is counted)


def test_what_is_counted_without_a_number_has_no_end(monkeypatch: pytest.MonkeyPatch) -> None:
    told = b"Name:\tThreads: 9\nThreads:\t3\nRssAnon:\t   12 kB\nRssShmem:\nVmData:\tx\nVmSize: -1 kB\n"
    monkeypatch.setattr("dpcore.datasets.apart.counted.Path.read_bytes", lambda _: told)
    names = ("Threads", "RssAnon", "RssShmem", "VmData", "VmSize", "VmPeak")
    assert counted(1, names) == {
        "Threads": 3, "RssAnon": 12, "RssShmem": math.inf, "VmData": math.inf, "VmSize": math.inf,
    }  # fmt: skip


def reader_of(
    process: int, room: ExitStack, folder: Path, told: int, life: int, how: int, most: float = 1 << 20
) -> nursery._Reader:
    return nursery._Reader(
        process=process, room=room, folder=folder, files=1 << 20, told=told, life=life, how=how, most=most
    )


@pytest.mark.parametrize("code", [0, 7, -signal.SIGKILL])
@pytest.mark.parametrize("full", [False, True])
def test_a_reader_that_ends_by_itself_had_not_too_much(
    full: bool, code: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """It is seen without its first thread for a moment: ten of twelve sentences about a file were lost like that. And
    how it ended is said where its own pipe is full."""
    told, telling = os.pipe()
    how, saying_how = os.pipe()
    watched, living = os.pipe()
    if full:
        os.set_blocking(telling, False)
        with suppress(BlockingIOError):
            while True:
                os.write(telling, b"\n" * 4096)
    with made_here(monkeypatch) as mother:
        way = ["kill -9 $$", f"exit {code}"][code >= 0]
        ended = os.posix_spawn("/bin/sh", ["sh", "-c", way], {})
        mother._readers[watched] = reader_of(ended, ExitStack(), tmp_path, telling, watched, saying_how)
        mother._poll.register(watched, 0)
        monkeypatch.setattr(nursery, "in_use", lambda _: math.inf)
        monkeypatch.setattr(nursery.os, "kill", lambda *_: None)
        mother._watch()
        os.waitid(os.P_PID, ended, os.WEXITED | os.WNOWAIT)
        mother._collect()
    lines = [json.loads(line) for line in os.read(how, 1 << 10).split(b"\n") if line]
    assert lines == [*([["memory"]] if code < 0 else []), ["ended", code]]
    for end in (told, how, living):
        os.close(end)


def test_how_a_reader_ended_is_said_by_who_made_it_alone() -> None:
    """Its own word for it counted where its pipe was full: a table of one that had crashed was taken."""
    answer = asked._Answer()
    for code in (0, -9, 7):
        asked._noted(answer, "ended", [code], own())
    assert answer.ended is None
    asked._noted_end(answer, "ended", [7])
    assert answer.ended == 7


@pytest.mark.defects
@pytest.mark.parametrize("behaviour", ["says_the_same", "says_nothing", "never_ends_a_line"])
@pytest.mark.parametrize("bounded", [True, False])
def test_a_reader_that_says_too_much_is_ended(
    behaviour: str, bounded: bool, apart: Apart, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """It wrote without end, at no cost of its own: the server's process was busy for an hour, and pages waited."""
    heard = 0
    pieces = asked._pieces

    def counting(pipe: int, patience: float | None) -> Iterator[bytes]:
        nonlocal heard
        for piece in pieces(pipe, patience):
            heard += len(piece)
            yield piece

    monkeypatch.setattr(asked, "_pieces", counting)
    if not bounded:
        monkeypatch.setattr(told, "MOST", 1 << 40)
        monkeypatch.setattr(told, "MOST_LINES", 1 << 40)
    with caplog.at_level(logging.ERROR, "dpcore"):
        assert "save the table as CSV" in said(apart, behaviour) or not bounded
    assert ("Endless" in caplog.text) == bounded
    if bounded:
        assert heard <= told.MOST + (1 << 18)
    else:
        assert heard >= SPOKEN_IN_ALL
    assert readers(apart.process) == []


@pytest.mark.parametrize("piece", [b"x", b"\n", b'["at", 0.5, "Done"]\n', b"x" * 4000])
def test_what_is_said_has_a_bound_however_it_comes(piece: bytes) -> None:
    """Each line and each piece is work of whoever listens."""
    lines, heard = told.Lines(), 0
    with suppress(told.TooMuch):
        while heard < 1 << 24:
            list(lines.of(piece))
            heard += len(piece)
    assert heard <= min(told.MOST, told.MOST_LINES * len(piece))
    with pytest.raises(told.TooMuch):
        list(lines.of(b'["done"]\n'))
    quiet = told.Lines()
    for _ in range(2 * told.MOST_LINES):
        assert not list(quiet.of(b"")), "nor does it speak who says nothing"


def test_a_reading_says_no_more_than_it_may_however_often_it_could() -> None:
    spoken: list[tuple[float, str]] = []
    say = told.sparingly(lambda part, words: spoken.append((part, words)))
    for words in ("Reading the records", "Checking the rows"):
        for step in range(100_000):
            say(step / 100_000, words)
    assert 100 < len(spoken) <= 2 * 101 < told.MOST_LINES / 10
    assert spoken[0] == (0.0, "Reading the records")


def test_who_gave_up_has_given_up_whatever_else_was_said() -> None:
    listened, spoken = os.pipe()
    how, saying_how = os.pipe()
    os.write(spoken, b'["at", 0.5, "Opening the file"]\n')

    def say(part: float, words: str) -> None:
        os.write(spoken, b"\n" * 2 * told.MOST_LINES)
        for end in (spoken, saying_how):
            os.close(end)
        raise ReadingCancelled

    with pytest.raises(ReadingCancelled):
        asked._heard(listened, how, asked._Life(os.dup(how)), say, 60.0, own())
    for end in (listened, how):
        os.close(end)


def test_the_first_sentence_about_a_file_stays() -> None:
    answer = asked._Answer()
    for what, *rest in (["at", "x"], ["unreadable", "The file is empty."], ["memory"], ["failed", "KeyError", []]):
        asked._noted(answer, what, rest, own())
    assert str(asked._why(answer, False, MOST, "", own())) == "The file is empty."


def test_all_that_lies_in_a_reader_s_folder_is_seen(tmp_path: Path) -> None:
    assert lying(tmp_path / "gone") == lying(tmp_path) == 0
    for number in range(3):
        (tmp_path / f"{number}").write_bytes(b"x" * (1 << 20))
    assert 3 << 20 <= lying(tmp_path) < 4 << 20
    (tmp_path / "folder").mkdir()
    assert lying(tmp_path) == math.inf
    (tmp_path / "folder").rmdir()
    for number in range(17):
        assert lying(tmp_path) < math.inf
        (tmp_path / f"{number}").touch()
    assert lying(tmp_path) == math.inf


@pytest.mark.parametrize(
    ("measure", "found", "ended", "memory"),
    [
        ("threads", 64, False, False),
        ("threads", 65, True, False),
        ("in_use", 1 << 20, False, False),
        ("in_use", (1 << 20) + 1, True, True),
        ("lying", 1 << 10, False, False),
        ("lying", math.inf, True, True),
    ],
)
def test_who_looks_at_a_reader_ends_one_that_has_too_much(
    measure: str, found: float, ended: bool, memory: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    killed: list[tuple[int, int]] = []
    with made_here(monkeypatch) as mother:
        monkeypatch.setattr(nursery.os, "kill", lambda *call: killed.append(call))
        for name in ("threads", "in_use", "lying"):
            monkeypatch.setattr(nursery, name, lambda _, name=name: found if name == measure else 0)
        mother._readers[9] = replace(reader_of(4711, ExitStack(), tmp_path, 8, 9, 10), files=1 << 10)
        mother._watch()
        assert killed == [(4711, signal.SIGKILL)] * ended
        assert mother._too_large == ({4711} if memory else set())


@pytest.mark.defects
def test_what_goes_wrong_about_one_reader_ends_no_other(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Whoever looks at readers ended at the first thing that it could not read, with all of them."""
    killed: list[int] = []

    def looked(process: int) -> int:
        if process == 4711:
            raise ValueError(CANARY)
        return 1

    def kill(process: int, number: int) -> None:
        killed.append(process)
        raise ProcessLookupError

    with made_here(monkeypatch) as mother:
        for name in ("threads", "in_use"):
            monkeypatch.setattr(nursery, name, looked)
        monkeypatch.setattr(nursery.os, "kill", kill)
        for process, life in ((4711, 901), (4712, 902)):
            mother._readers[life] = reader_of(process, ExitStack(), tmp_path, 903, life, 904)
        mother._watch()
        assert killed == [4711]
        mother._end(902)
        assert killed == [4711, 4712]
        mother._collect()
        assert not mother._readers, "though neither is a process that could be waited for"


@contextmanager
def made_here(monkeypatch: pytest.MonkeyPatch) -> Iterator[nursery.Nursery]:
    """What makes readers, in this process."""
    given, seen = socket.socketpair()
    with given, seen, monkeypatch.context() as inner:
        inner.setattr(nursery.signal, "set_wakeup_fd", lambda *_, **__: -1)
        inner.setattr(nursery.signal, "signal", lambda *_: None)
        yield nursery.Nursery(seen)


@pytest.mark.defects
def test_a_question_whose_files_had_no_room_ends_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    with made_here(monkeypatch) as mother:
        came = [os.open(os.devnull, os.O_RDONLY) for _ in range(2)]
        monkeypatch.setattr(nursery.socket, "recv_fds", lambda *_: (nursery.QUESTION.pack(1), came, 0, None))
        assert mother._asked()
        assert not mother._readers
    for each in came:
        with pytest.raises(OSError, match="Bad file"):
            os.fstat(each)


@pytest.mark.defects
@pytest.mark.parametrize("wrong", [RecursionError, OSError, ValueError])
def test_a_folder_that_nobody_can_remove_ends_no_other_reading(
    wrong: type[Exception], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A reader that made folders in folders, thousands deep, ended the process that makes readers, and with it all
    others: to remove them goes deeper than Python does. Where there is no Landlock it may make some still."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    told, telling = os.pipe()
    how, saying_how = os.pipe()
    watched, living = os.pipe()
    with made_here(monkeypatch) as mother:
        room = ExitStack()

        def deep() -> None:
            raise wrong

        room.callback(deep)
        ended = os.posix_spawn("/bin/true", ["true"], {})
        os.waitid(os.P_PID, ended, os.WEXITED | os.WNOWAIT)
        mother._readers[watched] = reader_of(ended, room, tmp_path, telling, watched, saying_how)
        mother._collect()
        assert not mother._readers
    assert b'"ended", 0' in os.read(how, 1 << 10)
    for end in (told, how, living):
        os.close(end)


@pytest.mark.parametrize("behaviour", ["grows", "leaps", "cannot_allocate", "swamps", "litters"])
def test_a_reader_without_bounds_is_stopped_by_its_own(apart: Apart, behaviour: str) -> None:
    before = in_use(os.getpid())
    assert "takes more than 120 MB of memory; keep fewer rows" in said(apart, behaviour)
    assert in_use(os.getpid()) - before < 30 << 20


def test_whoever_waits_too_long_is_told(apart: Apart, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apart, "most", replace(MOST, waiting=0.1))
    assert "takes longer than 0 minutes" in said(apart, "waits")


def test_a_reader_reaches_nothing(apart: Apart) -> None:
    """No connection, no program, no signal to another, no file of anybody else's; and pages go first."""
    watch = Watch()
    assert read_table(file("looks_around"), progress=watch, tables=apart.table_of).rows == 2
    assert f"5 files, nice {max(os.nice(0), 5)}" in [words for _, words in watch.words]
    assert len(list(Path(f"/proc/{apart.process}/task").iterdir())) == 1, "what has threads cannot be forked safely"


def test_two_are_read_at_once_and_one_that_is_killed_is_a_sentence(apart: Apart) -> None:
    """kill -9 in mid reading ends one, with a sentence; the other goes on, and so does the one that made both."""
    watches = Watch(), Watch()
    maker = apart.process

    def read(behaviour: str, watch: Watch) -> int:
        return read_table(file(behaviour), progress=watch, tables=apart.table_of).rows

    with ThreadPoolExecutor(2) as both:
        killed, other = both.submit(read, "waits", watches[0]), both.submit(read, "waits_a_moment", watches[1])
        assert all(watch.begun.wait(60) for watch in watches)
        assert set(readers(maker)) == {watch.reader for watch in watches}
        os.kill(watches[0].reader, signal.SIGKILL)
        with pytest.raises(UnreadableFile, match="ended from outside"):
            killed.result(60)
        assert other.result(60) == 2
    assert apart.process == maker
    assert not any(alive(watch.reader) for watch in watches)


@pytest.mark.parametrize("behaviour", ["waits", "holds_everything"])
def test_whoever_gives_up_ends_the_reader(apart: Apart, behaviour: str, tmp_path: Path) -> None:
    watch = Watch()
    with pytest.raises(ReadingCancelled):
        read_table(file(behaviour), progress=watch, cancel=watch.begun.is_set, tables=apart.table_of)
    assert not alive(watch.reader)


def written() -> bytes:
    file = io.BytesIO()
    crossing.write(table_of(b'[{"a": "one"}, {"a": "three"}]', Choices(), lambda *_: None), file)
    return file.getvalue()


@pytest.mark.thorough
@pytest.mark.defects
@pytest.mark.parametrize("sealed", [True, False])
def test_what_came_back_is_not_changed_any_more(sealed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """By a process that a reader left behind; the server would end as it looks at cells that are there no more."""
    if not sealed:  # what shows that this test can fail
        monkeypatch.setattr(fcntl, "F_ADD_SEALS", fcntl.F_GETFD)
    with asked._room() as room:
        room.write(written())
        with mmap.mmap(room.fileno(), 0):  # somebody still writes
            if sealed:
                with pytest.raises(Defect):
                    asked._table(room)
    with asked._room() as room:
        room.write(written())
        left = os.dup(room.fileno())
        table = asked._table(room)
        for change in (lambda: os.pwrite(left, b"x", 0), lambda: os.ftruncate(left, 0)):
            if sealed:
                with pytest.raises(PermissionError):
                    change()
            else:
                change()
        os.close(left)
        if sealed:
            assert table.frame["a"].tolist() == ["one", "three"]


LEFT: dict[str, Callable[[int], object]] = {
    "sound": lambda _: None,
    "not shorter": lambda room: fcntl.fcntl(room, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK),
    "not longer": lambda room: fcntl.fcntl(room, fcntl.F_ADD_SEALS, fcntl.F_SEAL_GROW),
    "not written to": lambda room: fcntl.fcntl(room, fcntl.F_ADD_SEALS, fcntl.F_SEAL_WRITE),
    "not written to from now on": lambda room: fcntl.fcntl(room, fcntl.F_ADD_SEALS, 0x10),
    "not sealed": lambda room: fcntl.fcntl(room, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SEAL),
    "all seals": lambda room: fcntl.fcntl(room, fcntl.F_ADD_SEALS, 0x0F),
    "written to at its end": lambda room: fcntl.fcntl(room, fcntl.F_SETFL, os.O_APPEND | os.O_NONBLOCK),
    "read from its end": lambda room: os.lseek(room, 0, os.SEEK_END),
    "longer than anything": lambda room: os.ftruncate(room, 1 << 40),
    "shorter than a length": lambda room: os.ftruncate(room, 5),
    "empty": lambda room: os.ftruncate(room, 0),
}
SOUND = {
    "sound",
    "not longer",
    "not written to",
    "not written to from now on",
    "written to at its end",
    "read from its end",
}


@pytest.mark.defects
@pytest.mark.parametrize("left", LEFT)
def test_however_a_reader_leaves_its_table_it_is_one_or_a_sentence(left: str) -> None:
    with asked._room() as room:
        room.write(written())
        LEFT[left](room.fileno())
        if left in SOUND:
            assert asked._table(room).frame["a"].tolist() == ["one", "three"]
        else:
            with pytest.raises(Defect, match="your file is not at fault"):
                asked._table(room)
    if left == "not shorter":
        with asked._room() as room:
            room.write(written())
            LEFT[left](room.fileno())
            with pytest.raises(PermissionError):  # what shows that the test can fail
                crossing.taken(room)
