"""Whatever becomes of a server's output, nobody waits for it, and nothing ends by it."""

from __future__ import annotations

import ast
import os
import pty
import select
import subprocess
import sys
import urllib.request
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from tests.browser.server import ROOT, free_port
from tests.test_threads import until

PATIENCE = 120.0
WRITES = """
import logging, os, subprocess, sys
from dashboard.serving import output
done = int(sys.argv[1])
if sys.argv[2] == "apart":
    output.apart()
print("as a program does that does not mind", flush=True)
for _ in range(3000):
    output.say("x" * 100)
    logging.error("y" * 100)
subprocess.run(["head", "-c", "300000", "/dev/zero"])
os.write(done, b"done")
"""


OUTPUTS: dict[str, Callable[[], tuple[int, int]]] = {"a pipe": os.pipe, "a terminal": pty.openpty}
"""What is read there, and where it is written."""


@pytest.mark.parametrize("how", ["apart", "as it was"])
@pytest.mark.parametrize("gone", [False, True], ids=["nobody reads", "gone"])
@pytest.mark.parametrize("output", OUTPUTS)
def test_nobody_waits_for_an_output_that_takes_no_more(output: str, gone: bool, how: str) -> None:
    """A line for the log stopped all servers where somebody held the terminal; where it was gone none could begin."""
    read, write = OUTPUTS[output]()
    heard, done = os.pipe()
    command = [sys.executable, "-P", "-c", WRITES, str(done), how]
    environment = {"PYTHONPATH": str(ROOT)}
    if gone:
        os.close(read)
    process = subprocess.Popen(command, stdout=write, stderr=write, cwd=ROOT, env=environment, pass_fds=[done])
    for each in (write, done):
        os.close(each)
    try:
        said = os.read(heard, 9) if how == "apart" or gone else None
        if said is None:
            assert not select.select([heard], [], [], 1.0)[0], "it waits"
        else:
            assert (said == b"done") == (how == "apart")
            process.wait(PATIENCE)  # though nobody ever read it
    finally:
        process.kill()
        process.wait()
        for each in (heard, *([] if gone else [read])):
            os.close(each)


def test_what_is_read_is_all_there_and_each_output_is_by_itself(tmp_path: Path) -> None:
    """Also what is said at the very end, and by a process that it started."""
    says = """
import subprocess, sys
from dashboard.serving import output
output.apart()
for number in range(300):
    print(number)
    print(-number, file=sys.stderr)
sys.stdout.flush()
subprocess.run(["echo", "another"])
sys.exit("the end")
"""
    command, environment = [sys.executable, "-P", "-c", says], {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stdout.split() == [*map(str, range(300)), "another"]
    assert done.stderr.splitlines() == [*(str(-number) for number in range(300)), "the end"]


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
def test_an_output_that_was_never_open_is_left_alone(closed: str, tmp_path: Path) -> None:
    """Its number is that of whatever file is opened next."""
    file = tmp_path / "mine"
    says = (
        f"from dashboard.serving import output\noutput.apart()\noutput.say('x')\nopen({str(file)!r}, 'w').write('mine')"
    )
    command = ["/bin/sh", "-c", f'exec "$0" -P -c "$1" {closed}', sys.executable, says]
    assert subprocess.run(command, cwd=ROOT, env={"PYTHONPATH": str(ROOT)}).returncode == 0
    assert file.read_text() == "mine"


PRINT = {
    "dashboard/serving/output.py": "the one home",
    "dashboard/__main__.py": "of the command line, which ends",
    "dashboard/report/again.py": "of a report's own program",
}


def test_no_server_prints_elsewhere() -> None:
    found = {
        file.relative_to(ROOT).as_posix()
        for file in (ROOT / "dashboard").rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "print"
    }
    assert found == set(PRINT)


@pytest.mark.thorough
@pytest.mark.parametrize("more", [(), ("--replicas", "1")], ids=["one", "replicas"])
def test_servers_begin_though_their_output_is_gone(more: tuple[str, ...], tmp_path: Path) -> None:
    read, write = os.pipe()
    os.close(read)
    port = free_port()
    environment = os.environ | {"HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path), "EPSILON_LAB_WORKERS": "1"}
    command = [sys.executable, "-P", "-m", "dashboard", "serve", *more, "--port", str(port)]
    process = subprocess.Popen(
        command, stdout=write, stderr=write, cwd=ROOT, env=environment | {"PYTHONPATH": str(ROOT)}
    )
    os.close(write)

    def answers() -> bool:
        with suppress(OSError), urllib.request.urlopen(f"http://127.0.0.1:{port}/_stcore/health") as said:
            return bool(said.status == 200)
        return False

    try:
        assert until(lambda: answers() or process.poll() is not None, PATIENCE)
        assert answers()
    finally:
        process.terminate()
        process.wait(PATIENCE)
