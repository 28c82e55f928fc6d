"""What ends who looks after the servers ends them too, whenever it comes; but for what cannot be seen, and faults."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from dashboard.serving.replicas import ENDS
from tests.browser.server import ROOT

FAULTS = {signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGSEGV, signal.SIGTRAP}
TRIAL = """
import json, os, queue, signal, subprocess, sys, time
from dashboard.serving import replicas

front, how, told, *ends = sys.argv[1:]
for one in (signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):  # whatever this is called by
    signal.signal(one, signal.SIG_DFL)
replicas.ENDS = [int(number) for number in ends] or replicas.ENDS
replicas.SimpleQueue = getattr(queue, told)

def served(ready):
    def noted(*given, **more):
        found = begin(*given, **more)
        os.write(ready, b"%d\\n" % found.pid)
        if how == "at each line":
            sys.settrace(told_there)
        return found

    begin, subprocess.Popen = subprocess.Popen, noted
    replicas.balancer, replicas.say, replicas._LOOK = lambda: front, lambda _: None, 0.01
    replicas.Replica.start = lambda _: None  # there is nothing to look after but what stands before them
    return replicas.serve(1, port=0, address="127.0.0.1", hosts=())

def told_there(_, event, __):
    if event == "line":
        signal.getsignal(signal.SIGTERM)(signal.SIGTERM, None)
    return told_there

def over(process, patience):
    until = time.monotonic() + patience
    while time.monotonic() < until:
        found, status = os.waitpid(process, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status) == 0
        time.sleep(0.01)
    os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)
    return False

def in_order(*signals):
    read, ready = os.pipe()
    server = os.fork()
    if not server:
        os._exit(served(ready))
    os.close(ready)
    with open(read) as begun:
        before = int(begun.readline())
    for each in signals:
        os.kill(server, each)
    well = over(server, 2.0 if told == "Queue" else 60.0)
    try:
        os.kill(before, signal.SIGKILL)
    except ProcessLookupError:
        return well
    return False

if how == "at each line":
    print(json.dumps(in_order()))
else:  # what ends nothing is followed by what does
    found = {one: in_order(one, signal.SIGCONT, signal.SIGTERM) for one in sorted(signal.valid_signals())}
    print(json.dumps([one for one, well in found.items() if not well]))
"""


def tried(folder: Path, how: str, *ends: int, told: str = "SimpleQueue") -> Any:
    """After which signals to what started them all had not ended in order, where these ``ends`` are looked out for; or
    whether all had, where one comes at each line of what looks after them."""
    front = folder / "front"
    front.write_text("#!/bin/sh\nexec sleep 600\n")
    front.chmod(0o700)
    command = [sys.executable, "-P", "-c", TRIAL, str(front), how, told, *(str(int(one)) for one in ends)]
    done = subprocess.run(command, cwd=ROOT, env={"PYTHONPATH": str(ROOT), "HOME": str(folder)}, capture_output=True)
    assert done.returncode == 0, done.stderr.decode()
    return json.loads(done.stdout)


@pytest.mark.thorough
def test_every_signal_that_would_end_who_looks_after_them_ends_them_all(tmp_path: Path) -> None:
    """A key at the terminal (Ctrl-\\) left all of them with nobody who looked after them, as did most of the real-time
    signals, which Python has no names for, and what supervisors send to whoever does not answer (ABRT)."""
    assert set(tried(tmp_path, "each")) == FAULTS | {signal.SIGKILL}


@pytest.mark.thorough
def test_whenever_a_signal_comes_all_end(tmp_path: Path) -> None:
    """One that came while another was told, or this was looked at, waited for good for a lock that was held there."""
    assert tried(tmp_path, "at each line") is True


@pytest.mark.thorough
def test_these_tests_can_fail(tmp_path: Path) -> None:
    named = set(signal.Signals) & ENDS
    assert ENDS - named
    assert set(tried(tmp_path, "each", *named)) - FAULTS == {signal.SIGKILL} | (ENDS - named)
    left = {signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGUSR1, signal.SIGRTMIN + 1}
    left |= {signal.SIGABRT, signal.SIGSYS}
    assert left <= set(tried(tmp_path, "each", signal.SIGTERM))
    assert tried(tmp_path, "at each line", told="Queue") is False
