"""One of several servers: a process of its own, that is asked whether it is well."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from contextlib import closing, suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException

from dashboard.serving.output import say
from dpcore.threads import WorkingThread

PYTHON = (sys.executable, "-P")
"""A replica takes no module from the folder that this is called in."""
HANGS, MISSED = 60.0, 5
"""Seconds without an answer, and questions in a row, after which a replica stands still for good: HAProxy has led its
visitors to others by then, and it would be missed until somebody looks."""
BEGINS = 300.0
"""Seconds in which one begins to answer, on however slow a computer."""
AGAIN = 3.0
"""Seconds between two starts of one."""
_PULSE, _PATIENCE = 5.0, 10.0
"""Seconds between two questions whether one is well, and for an answer."""


@dataclass(slots=True)
class Replica:
    """One server: its name, its port, and how it is started."""

    name: str
    port: int
    hosts: tuple[str, ...]
    environment: dict[str, str] = field(repr=False)
    process: subprocess.Popen[bytes] | None = None
    since: float = 0.0
    answered: float = 0.0
    """When it last said that it is well, since it was started; 0 for not yet."""
    missed: int = 0
    """Questions in a row that it has not answered so: one that stood still together with who asks missed none."""

    def start(self) -> None:
        """Start it, and say so in one line."""
        command = [*PYTHON, "-m", "dashboard", "serve", "--port", str(self.port)]
        for host in self.hosts:
            command += ["--host", host]
        self.since, self.answered, self.missed = time.monotonic(), 0.0, 0
        # not in the group of who starts it: an interrupt at a terminal would end it before its visitors are answered
        self.process = subprocess.Popen(command, env=self.environment, stdin=subprocess.DEVNULL, process_group=0)  # noqa: S603 - ourselves
        say(f"replica {self.name} at port {self.port} is process {self.process.pid}")

    def ended(self) -> bool:
        return self.process is None or self.process.poll() is not None

    def ask(self, patience: float = _PATIENCE) -> None:
        """Whether it is well; that it is not it says by no answer."""
        connection = HTTPConnection("127.0.0.1", self.port, timeout=patience)
        self.missed += 1
        with suppress(OSError, HTTPException), closing(connection):
            connection.request("GET", "/_stcore/health", headers={"Host": "localhost"})
            if connection.getresponse().status == HTTPStatus.OK:
                self.answered, self.missed = time.monotonic(), 0

    def hangs(self, after: float = HANGS) -> bool:
        """Whether it runs, and has not answered for so long that it will not again, or never will."""
        last = self.answered or self.since + BEGINS
        return not self.ended() and self.missed >= MISSED and last < time.monotonic() - after

    def keep(self) -> None:
        """End it where it stands still, and start it anew where it ended; where that fails, try again the next time."""
        if self.process is not None and self.hangs():
            self.process.kill()
            self.process.wait()
            say(f"replica {self.name} stood still and is started anew")
        if self.ended() and time.monotonic() > self.since + AGAIN:
            try:
                self.start()
            except OSError as error:  # too many processes, or no memory for one more
                say(f"replica {self.name} could not be started, and is tried again: {error.strerror}")


def asking(replica: Replica, stop: threading.Event) -> WorkingThread:
    """What asks it again and again, once it is woken, until all is to stop."""

    def ask() -> bool:
        if stop.wait(_PULSE):
            return False
        replica.ask()
        return True

    return WorkingThread(f"asks {replica.name}", ask)
