"""A replica that stands still for good is ended and started anew: HAProxy leads its visitors away, and nobody looks."""

from __future__ import annotations

import builtins
import errno
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator

import pytest

from dashboard.serving import replica as module
from dashboard.serving.replica import Replica, asking
from tests.browser.server import free_port
from tests.serving.test_left_sessions import until

WELL = """
import http.server, sys
class Well(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200 if self.path == "/_stcore/health" and self.headers["Host"] == "localhost" else 404)
        self.end_headers()
    def log_message(self, *_): pass
http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Well).serve_forever()
"""


@pytest.fixture
def replica() -> Iterator[Replica]:
    found = Replica(name="r1", port=free_port(), hosts=(), environment={})
    found.process = subprocess.Popen([sys.executable, "-c", WELL, str(found.port)])
    found.since = time.monotonic()
    yield found
    if not found.ended():
        found.process.kill()
        found.process.wait()


def well(replica: Replica) -> bool:
    replica.ask()
    return replica.answered > 0.0


def test_one_that_answers_goes_on_however_long_ago_it_began(replica: Replica) -> None:
    assert not replica.hangs(0.0), "one that has not begun yet is waited for"
    assert until(lambda: well(replica))
    replica.since -= 10_000.0
    replica.ask()
    assert not replica.hangs(30.0)


def test_one_that_stands_still_is_ended(replica: Replica, capsys: pytest.CaptureFixture[str]) -> None:
    assert until(lambda: well(replica))
    assert replica.process is not None
    replica.process.send_signal(signal.SIGSTOP)
    replica.ask(0.2)
    answered, replica.missed = replica.answered, 0
    for _ in range(module.MISSED):
        assert not replica.hangs(0.0), "one that misses few keeps its visitors"
        replica.ask(0.2)
    assert replica.answered == answered
    replica.keep()
    assert not replica.ended(), "nor one that is slow for a while"
    replica.answered -= module.HANGS
    replica.keep()
    assert replica.ended()
    assert not replica.hangs(0.0)
    assert "r1 stood still" in capsys.readouterr().out


def test_one_that_never_answers_is_ended_once_it_should_have_begun(
    replica: Replica, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It stood still while it began: a disk that was away, say."""
    assert replica.process is not None
    replica.missed = module.MISSED
    assert not replica.hangs(), "one that begins is waited for"
    replica.since -= module.BEGINS + module.HANGS
    assert replica.hangs()
    replica.missed -= 1
    assert not replica.hangs(), "nor is it over where nobody asked"
    replica.missed += 1
    monkeypatch.setattr(module, "AGAIN", 1e6)  # what comes in its place is not looked at here
    replica.keep()
    assert replica.ended()


class Started(Replica):
    """Its processes end at once, and whether there is one at all is said by a test."""

    def start(self) -> None:
        self.since = time.monotonic()
        raise OSError(errno.EAGAIN, "too many processes")


@pytest.mark.parametrize("output", ["there", "gone"])
def test_one_that_cannot_be_started_is_tried_again(
    output: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whatever became of what is printed: the others go on."""
    if output == "gone":
        monkeypatch.setattr(builtins, "print", broken)
    found = Started(name="r1", port=1, hosts=(), environment={}, since=-10_000.0)
    found.keep()
    first = found.since
    assert first > 0.0
    found.keep()
    assert found.since == first, "not at once"
    found.since -= module.AGAIN
    found.keep()
    assert found.since >= first
    assert capsys.readouterr().out.count("could not be started") == (2 if output == "there" else 0)


def broken(*_: object, **__: object) -> None:
    raise BrokenPipeError


def test_no_signal_for_who_starts_them_reaches_a_replica(monkeypatch: pytest.MonkeyPatch) -> None:
    """An interrupt at a terminal is for a whole group of processes: all would end before anybody is answered."""
    monkeypatch.setattr(module, "PYTHON", (sys.executable, "-c", "import time; time.sleep(60)"))
    found = Replica(name="r1", port=1, hosts=(), environment={})
    found.start()
    assert found.process is not None
    try:
        assert os.getpgid(found.process.pid) != os.getpgid(0)
    finally:
        found.process.kill()
        found.process.wait()


def test_what_answers_that_it_is_not_well_has_not_answered() -> None:
    """Nor does what says nothing, or nothing that is HTTP."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        found = Replica(name="r1", port=listening.getsockname()[1], hosts=(), environment={})

        def answer(said: bytes) -> None:
            client, _ = listening.accept()
            with client:
                client.recv(1000)
                client.sendall(said)

        for said in (b"HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n", b"", b"hello\r\n"):
            thread = threading.Thread(target=answer, args=(said,))
            thread.start()
            found.ask(5.0)
            thread.join()
            assert found.answered == 0.0, said
    found.ask(0.2)
    assert found.answered == 0.0


def test_it_is_asked_until_all_is_to_stop(replica: Replica, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_PULSE", 0.02)
    stop = threading.Event()
    thread = asking(replica, stop)
    thread.wake()
    assert until(lambda: replica.answered > 0.0)
    stop.set()
    thread.rest(20.0)
    assert not thread.works
