"""Three replicas and one PostgreSQL ledger under people, outsiders and accidents, for half an hour.

People move ε on every page. Outsiders send files, links and messages that no page sends. A process releases by the same
ledger all the while. Each replica is killed in turn, PostgreSQL stands still for a while, and is killed and started
again. Afterwards: no traceback and no defect in the log, no failed rerun of anybody who sent what a page sends, every
answer charged once and every charge in the journal.
"""

from __future__ import annotations

import asyncio
import os
import re
import signal
import subprocess
import sys
import threading
import time
import urllib.request
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from unittest.mock import patch

import numpy as np

from benchmarks.people import LEVELS, Person
from benchmarks.reliability.outcome import Ground, Heads, Outcome, sentence
from benchmarks.reliability.outsiders import TROUBLE, Outsider
from dashboard.serving.replicas import COOKIE, free_ports
from dpcore.errors import LedgerError
from dpcore.ledger import Ledger
from dpcore.release import _release

ROOT = Path(__file__).parents[2]
REPLICAS, PEOPLE, OUTSIDERS = 3, 6, 4
SIZE, NANO = 1e-5, 10**4  # ε of one answer, and as the ledger counts it
SIGNS = ("Traceback", "defect ", "Uncaught", "Exception in ASGI", "Error deserializing")
FROZEN = 10.0  # seconds
PATIENCE = 120.0  # seconds for all replicas to be there
PAGES = ("selection", "thresholding", "experts", "training", "data", "budget")


@dataclass(slots=True)
class Seen:
    """What happened to everybody."""

    sent: Counter[str] = field(default_factory=Counter)
    reruns: int = 0
    again: int = 0  # connections that were lost and made anew
    failed: list[str] = field(default_factory=list)
    shown: dict[str, int] = field(default_factory=dict)  # answers by request
    sentences: int = 0
    killed: list[str] = field(default_factory=list)


def troubles(log: str) -> list[str]:
    """The lines of a server's log that must not be there; of a traceback its last places and what was raised."""
    lines, found = log.splitlines(), []
    for place, line in enumerate(lines):
        if not any(sign in line for sign in SIGNS):
            continue
        rest = lines[place + 1 :]
        length = next((number for number, one in enumerate(rest) if one[:1] != " "), len(rest))
        places = [one.strip() for one in rest[:length] if one.startswith("  File")]
        found.append(" | ".join([line, *places[-3:], *rest[length : length + 1]]))
    return found


def soaking(ground: Ground) -> Iterator[Outcome]:
    """``ground.minutes`` long. The short form leaves it to ``tests/serving``, which tries each of these once."""
    if ground.short:
        names = ("test_gate.py", "test_replicas.py")
        good = all((ROOT / "tests" / "serving" / name).is_file() for name in names)
        yield Outcome(check="soak", database="PostgreSQL", tried="left to the tests", found=", ".join(names), good=good)
        return
    folder = ground.folder / "soak"
    folder.mkdir()
    seen, url = Seen(), ground.server.new_schema()
    place = {"XDG_DATA_HOME": str(folder), "EPSILON_LAB_LEDGER": url, "EPSILON_LAB_WARM_UP": "0"}
    with patch.dict(os.environ, place):
        with Ledger.open(url, create=True) as ledger:
            ledger.open_budget("people", epsilon=10.0)
        with replicas(folder / "log", *free_ports(1)) as address:
            asyncio.run(_together(ground, address, folder / "log", seen))
        log = (folder / "log").read_text(errors="replace")
        with Ledger.open(url) as ledger:
            kept = {receipt.request_id: receipt.answer for receipt in ledger.history("people")}
            spent = ledger.budget("people").spent.spent_epsilon
            ledger.verify()
    wrong = troubles(log)
    lost = [name for name, count in seen.shown.items() if kept.get(name) != {"count": count}]
    for line in [*wrong, *seen.failed][:20]:
        print(f"     {line}", flush=True)
    busy = all(seen.sent[kind] for kind in ("link", "message", "value", "file", "unasked file"))
    yield Outcome(
        check="soak",
        database="PostgreSQL",
        tried=f"{ground.minutes:g} min, {len(seen.killed)} replicas killed, PostgreSQL frozen and killed; "
        f"{seen.reruns:,} reruns, {len(seen.shown):,} answers, {sum(seen.sent.values()):,} bad files, links, messages",
        found=f"{len(wrong)} troubles in the log, {len(seen.failed)} failed reruns, {seen.again} connected anew, "
        f"{len(lost)} answers without a record, {seen.sentences} told in a sentence",
        good=not wrong
        and not seen.failed
        and not lost
        and spent == len(kept) * NANO
        and bool(seen.shown)
        and seen.reruns > PEOPLE
        and len(seen.killed) == REPLICAS
        and busy,
    )


@contextmanager
def replicas(log: Path, port: int) -> Iterator[str]:
    """The replicas behind their balancer, as the command line starts them."""
    command = [sys.executable, "-m", "dashboard", "serve", "--replicas", str(REPLICAS), "--port", str(port)]
    with log.open("w") as opened:
        manager = subprocess.Popen(command, cwd=ROOT, stdout=opened, stderr=opened)
    address = f"http://127.0.0.1:{port}"
    try:
        until = time.monotonic() + PATIENCE
        while len({_replica_at(address) for _ in range(2 * REPLICAS)} - {""}) < REPLICAS:
            if manager.poll() is not None or time.monotonic() > until:
                raise RuntimeError(f"the replicas did not start:\n{log.read_text(errors='replace')[-3000:]}")
            time.sleep(0.5)
        yield address
    finally:
        manager.terminate()
        manager.wait(120)


def _replica_at(address: str) -> str:
    """By which replica a new visitor is answered; "" where there is none."""
    try:
        with urllib.request.urlopen(address, timeout=10) as answer:
            found = re.search(rf"{COOKIE}=(\w+)", answer.headers.get("Set-Cookie", ""))
    except OSError:
        return ""
    return found.group(1) if found else ""


async def _together(ground: Ground, address: str, log: Path, seen: Seen) -> None:
    until = time.monotonic() + 60 * ground.minutes
    stop = threading.Event()
    releasing = threading.Thread(target=_releases, args=(seen, stop))
    releasing.start()
    try:
        await asyncio.gather(
            *(_person(address, PAGES[number % len(PAGES)], number, until, seen) for number in range(PEOPLE)),
            *(_outsider(address, number, until, seen) for number in range(OUTSIDERS)),
            _accidents(ground, log, until, seen),
        )
    finally:
        stop.set()
        await asyncio.to_thread(releasing.join)


async def _person(address: str, page: str, number: int, until: float, seen: Seen) -> None:
    rng = np.random.Generator(np.random.PCG64(number))
    while time.monotonic() < until:
        person = Person(address, page)
        try:
            await person.arrive()
            while time.monotonic() < until:
                await person.move(float(rng.choice(LEVELS)))
                seen.reruns += 1
                await asyncio.sleep(float(rng.random()))
            await person.leave()
        except TROUBLE:
            seen.again += 1
            await asyncio.sleep(0.5)
        except RuntimeError as error:
            seen.failed.append(f"{page}: {error}")
            await asyncio.sleep(1.0)


async def _outsider(address: str, number: int, until: float, seen: Seen) -> None:
    rng = np.random.Generator(np.random.PCG64(100 + number))
    while time.monotonic() < until:
        outsider = Outsider(address, "start", rng, seen.sent)
        try:
            await outsider.arrive()
            while time.monotonic() < until:
                await outsider.bother()
                await asyncio.sleep(float(rng.random()))
            await outsider.leave()
        except (*TROUBLE, RuntimeError):
            await asyncio.sleep(0.5)


async def _accidents(ground: Ground, log: Path, until: float, seen: Seen) -> None:
    """Each replica killed in turn, then the database frozen, then killed and started again, at even distances."""
    pause = (until - time.monotonic()) / (REPLICAS + 3)
    for name in (f"r{number}" for number in range(1, REPLICAS + 1)):
        await asyncio.sleep(pause)
        found = re.findall(rf"replica {name} at port \d+ is process (\d+)", log.read_text(errors="replace"))
        os.kill(int(found[-1]), signal.SIGKILL)
        seen.killed.append(name)
    await asyncio.sleep(pause)
    with ground.server.frozen():
        await asyncio.sleep(min(FROZEN, pause / 2))
    await asyncio.sleep(pause)
    await asyncio.to_thread(ground.server.kill)
    await asyncio.sleep(min(FROZEN, pause / 4))
    await asyncio.to_thread(ground.server.start_again)


def _releases(seen: Seen, stop: threading.Event) -> None:
    """Release after release by the same ledger, each asked again until there is an answer."""
    number = 0
    with Ledger.open() as ledger:
        while not stop.is_set():
            try:
                receipt = _release(ledger, f"soak-{number}", "people", Heads(epsilon=SIZE), [1] * 50, None)
            except LedgerError as error:
                seen.sentences += sentence(error)
                stop.wait(0.5)
                continue
            seen.shown[receipt.request_id] = receipt.answer["count"]
            number += 1
            stop.wait(0.1)
