"""Whatever ends who looks after the servers ends them too, in order; but for what cannot be seen, and faults."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.browser.server import ROOT

FAULTS = {"SIGABRT", "SIGBUS", "SIGFPE", "SIGILL", "SIGSEGV", "SIGSYS", "SIGTRAP"}
TRIAL = """
import json, os, signal, subprocess, sys
from dashboard.serving import replicas

def served(ready):
    def noted(*given, **more):
        found = begin(*given, **more)
        os.write(ready, b"%d\\n" % found.pid)
        return found

    begin, subprocess.Popen = subprocess.Popen, noted
    replicas.balancer, replicas.say, replicas._LOOK = lambda: sys.argv[1], lambda _: None, 0.01
    replicas.Replica.start = lambda _: None  # there is nothing to look after but what stands before them
    return replicas.serve(1, port=0, address="127.0.0.1", hosts=())

for one in (signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):  # whatever this is called by
    signal.signal(one, signal.SIG_DFL)
if sys.argv[2:]:
    replicas.ENDS = [signal.Signals[name] for name in sys.argv[2:]]
found = {}
for one in sorted(signal.Signals):
    read, ready = os.pipe()
    server = os.fork()
    if not server:
        os._exit(served(ready))
    os.close(ready)
    with open(read) as told:
        before = int(told.readline())
    for each in (one, signal.SIGCONT, signal.SIGTERM):  # what ends nothing is followed by what does
        os.kill(server, each)
    _, status = os.waitpid(server, 0)
    left = True
    try:
        os.kill(before, signal.SIGKILL)
    except ProcessLookupError:
        left = False
    found[one.name] = os.waitstatus_to_exitcode(status) == 0 and not left
print(json.dumps(found))
"""


def in_order(folder: Path, *ends: str) -> dict[str, bool]:
    """After which signals to what started them all had ended, in order, where these ``ends`` are looked out for."""
    front = folder / "front"
    front.write_text("#!/bin/sh\nexec sleep 600\n")
    front.chmod(0o700)
    command = [sys.executable, "-P", "-c", TRIAL, str(front), *ends]
    done = subprocess.run(command, cwd=ROOT, env={"PYTHONPATH": str(ROOT), "HOME": str(folder)}, capture_output=True)
    assert done.returncode == 0, done.stderr.decode()
    found: dict[str, bool] = json.loads(done.stdout)
    return found


@pytest.mark.thorough
def test_every_signal_that_would_end_who_looks_after_them_ends_them_all(tmp_path: Path) -> None:
    """A key at the terminal (Ctrl-\\) left all of them with nobody who looked after them."""
    found = in_order(tmp_path)
    assert {name for name, well in found.items() if not well} == FAULTS | {"SIGKILL"}


@pytest.mark.thorough
def test_these_tests_can_fail(tmp_path: Path) -> None:
    found = in_order(tmp_path, "SIGTERM")
    assert found["SIGTERM"]
    assert not any(found[name] for name in ("SIGHUP", "SIGINT", "SIGQUIT", "SIGUSR1"))
