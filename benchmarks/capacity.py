"""How many people two processes carry: ``python -m benchmarks.capacity [SECONDS [MORE]]``.

Two replicas behind HAProxy with one ledger, as ``make serve REPLICAS=2`` starts them. People arrive ``MORE`` at a time,
on two pages in turn, and move ε every ``THINKING`` s by the browser's own protocol (``benchmarks.people``); after each
arrival all of them are watched for ``SECONDS`` s. Capacity is where 95 in 100 reruns no longer come within ``WITHIN``
s, between the last number of people that were served and the first that were not. Those who ask run on the same
processors, so a server of its own carries more. What is printed holds for the machine; it is exact to about half of
``MORE``. Exits with 1 when a session fails or fewer than ``AIM`` people are carried.
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import websockets

from benchmarks.people import LEVELS, Person
from benchmarks.yardsticks import Goals

REPLICAS = 2
THINKING, WITHIN, AIM = 5.0, 0.5, 400
SECONDS, MORE, MOST = 30.0, 50, 1200
PAGES = ("selection", "thresholding")
PATIENCE = 120.0


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The replicas behind their balancer; yields its address once all of them are well."""
    from dashboard.serving.replicas import free_ports
    from dpcore.ledger import Ledger

    ledger = f"sqlite:///{folder / 'ledger.db'}"
    Ledger.open(ledger, create=True).close()
    port = free_ports(1)[0]
    command = [sys.executable, "-m", "dashboard", "serve", "--replicas", str(REPLICAS), "--port", str(port)]
    # all of them come from one address, which otherwise gets four fifths of the places
    places = {"EPSILON_LAB_SESSIONS": str(MOST), "EPSILON_LAB_SESSIONS_EACH": str(MOST)}
    with (folder / "server.log").open("w") as log:
        manager = subprocess.Popen(
            command,
            cwd=Path(__file__).parents[1],
            stdout=log,
            stderr=log,
            env=os.environ
            | places
            | {"EPSILON_LAB_LEDGER": ledger, "EPSILON_LAB_KEY": str(folder / "ledger.key"), "OMP_NUM_THREADS": "1"},
        )
    address = f"http://127.0.0.1:{port}"
    try:
        until = time.monotonic() + PATIENCE
        while not _is_well(address):
            if manager.poll() is not None or time.monotonic() > until:
                raise RuntimeError(f"the replicas did not start:\n{(folder / 'server.log').read_text()[-3000:]}")
            time.sleep(0.5)
        yield address
    finally:
        manager.send_signal(signal.SIGTERM)
        manager.wait(PATIENCE)


def _is_well(address: str) -> bool:
    try:
        with urllib.request.urlopen(f"{address}/_stcore/health", timeout=5) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


class Crowd:
    """People who move ε until they are told to go home; ``took`` are their reruns since it was last emptied."""

    def __init__(self, address: str) -> None:
        self._address = address
        self.took: list[float] = []
        self.failed = 0
        self._people: list[asyncio.Task[None]] = []
        self._over = asyncio.Event()

    def __len__(self) -> int:
        return len(self._people)

    async def arrive(self, more: int) -> None:
        """So many more people, one after the other."""
        for _ in range(more):
            number = len(self._people)
            person = Person(self._address, PAGES[number % len(PAGES)])
            await person.arrive()
            self._people.append(asyncio.create_task(self._live(person, number)))

    async def leave(self) -> None:
        self._over.set()  # each after the rerun that they wait for: one that is cut off leaves its messages unread
        await asyncio.gather(*self._people)

    async def _live(self, person: Person, number: int) -> None:
        rng = np.random.Generator(np.random.PCG64(number))
        try:
            while not await self._told_within(THINKING * float(0.5 + rng.random())):
                self.took.append(await person.move(float(rng.choice(LEVELS))))
        except (RuntimeError, TimeoutError, websockets.WebSocketException):
            self.failed += 1
        finally:
            await person.leave()

    async def _told_within(self, seconds: float) -> bool:
        """Whether it is over within so many seconds."""
        try:
            await asyncio.wait_for(self._over.wait(), seconds)
        except TimeoutError:
            return False
        return True


async def capacity(address: str, seconds: float, more: int, goals: Goals) -> float:
    """People at which 95 in 100 reruns take ``WITHIN`` s, between two numbers that were watched; ``MOST`` at most."""
    crowd, before, slow_before = Crowd(address), 0, 0.0
    try:
        while len(crowd) < MOST:
            await crowd.arrive(more)
            await asyncio.sleep(THINKING)  # until the new ones are among the others
            crowd.took.clear()
            await asyncio.sleep(seconds)
            slow = float(np.percentile(crowd.took or [float("nan")], 95))
            rate = len(crowd.took) / seconds
            print(
                f"  {len(crowd):5d} people: {rate:.0f} reruns a second, 95 in 100 within {1e3 * slow:.0f} ms",
                flush=True,
            )
            if crowd.failed or not slow <= WITHIN:
                share = (WITHIN - slow_before) / (slow - slow_before) if slow > slow_before else 0.0
                return before + share * (len(crowd) - before)
            before, slow_before = len(crowd), slow
        return float(len(crowd))
    finally:
        goals.at_most("sessions that failed", crowd.failed, 0)
        await crowd.leave()


def main(seconds: float = SECONDS, more: int = MORE) -> int:
    goals = Goals()
    print(f"{REPLICAS} replicas, people who think {THINKING:g} s, {seconds:g} s for each number of them")
    with tempfile.TemporaryDirectory() as name, served(Path(name)) as address:
        found = asyncio.run(capacity(address, seconds, more, goals))
    goals.at_least("people carried; an idle machine with two processors is to carry", found, AIM)
    return goals.end()


if __name__ == "__main__":
    sys.exit(main(*(kind(text) for kind, text in zip((float, int), sys.argv[1:3], strict=False))))
