"""The dashboard under people: the rerun of every page against a bare Streamlit page, and many sessions at once.

Run as ``python -m benchmarks.dashboard``. A bare page (``benchmarks/bare_page.py``) has one slider and one Plotly
chart. The first table runs it and every page in this process with warm caches, in turn, and gives the median of the
script's own processor time and its ratio to the bare page's; a page that fails has none. The second starts a server
for the bare page and one for all others, and gives what a rerun takes of the server's processor time, reading and
sending included: it is what decides how many people a server carries. Then ``SESSIONS`` sessions move ε over 127.0.0.1
by the browser's own protocol (``benchmarks.people``); a rerun counts from the moved slider to the last message of the
run. How long they think between two moves follows from what the bare page's server can do, so that the load is the same
on any machine. Exits with 1 when a goal is missed.
"""

from __future__ import annotations

import asyncio
import math
import os
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.people import TYPED
from benchmarks.yardsticks import Goals

ROOT = Path(__file__).parents[1]
BARE = ROOT / "benchmarks" / "bare_page.py"
RERUN, LIVE_MEDIAN, LIVE_P95, MEMORY_MB = 6.0, 15.0, 40.0, 1000.0
"""Of the script alone, which in this process also pays for stand-ins of the server."""
SERVED = 2.0
"""Of the whole server, at an ε that this session has seen before."""
ANEW = 6.0
"""At one that it has not: what hangs on ε is worked out and drawn."""
ROUNDS = 10  # of two reruns each
NEW_LEVELS = (0.05, 0.06, 0.08, 0.12, 0.15, 0.25, 0.4, 0.6, 1.2, 2.5, 3.0, 4.0)
SESSIONS, SECONDS = 200, 40.0
THINKING = 10.0  # times the bare page's rerun at full load, for each session
PLACES = ("selection", "thresholding")
LEVELS = (0.5, 0.8)


def script_times(folder: Path, pages: Sequence[str]) -> tuple[float, dict[str, float]]:
    """Median seconds of a warm rerun of the bare page and of each of ``pages``, at an ε it has seen before."""
    os.environ["EPSILON_LAB_LEDGER"] = f"sqlite:///{folder / 'script.db'}"
    os.environ.setdefault("EPSILON_LAB_KEY", str(folder / "ledger.key"))
    os.environ.setdefault("EPSILON_LAB_WARM_UP", "0")
    import streamlit.runtime.scriptrunner.script_runner as runner
    from streamlit.runtime.state.common import TESTING_KEY
    from streamlit.testing.v1 import AppTest

    from dashboard import catalogue, replay
    from dashboard.runtime import looked_up, shortcuts
    from dpcore.ledger import Ledger

    Ledger.open(create=True).close()  # one that is named is never made in silence
    looked_up.guard()  # as in a server
    shortcuts.guard()
    replay.guard()
    spent: list[float] = []
    inside = runner.ScriptRunner._run_script

    def timed(self: Any, *args: Any, **named: Any) -> Any:
        start = time.thread_time()  # a script runs in a thread of its own
        try:
            return inside(self, *args, **named)
        finally:
            spent.append(time.thread_time() - start)

    def rerun(at: AppTest, kind: str, key: str) -> float:
        for level in LEVELS:
            getattr(at, kind)(key=key).set_value(level).run()
        spent.clear()
        for level in LEVELS * 6:
            getattr(at, kind)(key=key).set_value(level).run()
        return math.nan if at.exception else statistics.median(spent)

    runner.ScriptRunner._run_script = timed
    bare, found = [], {}
    made: dict[str, Any] = {}  # how options are called: a page looks that up of parts that another one said before it
    for page in pages:
        bare.append(rerun(AppTest.from_file(str(BARE), default_timeout=600).run(), "slider", "epsilon"))
        at = AppTest.from_file(str(ROOT / "dashboard" / "app.py"), default_timeout=600)
        at.session_state[TESTING_KEY] = made
        at.run()
        if page != "start":
            at.switch_page(catalogue.address(page)).run()
        found[page] = rerun(at, "number_input", TYPED)
    runner.ScriptRunner._run_script = inside
    return statistics.median(bare), found


def server_times(bare: str, product: str) -> dict[str, tuple[float, float, float]]:
    """Processor seconds of a warm rerun of the bare page and of each page, of the whole server, taken in turn; and of
    one that asks for an ε for the first time.
    """
    both = _process(bare), _process(product)
    return {
        page: asyncio.run(_server_times(bare, product, "" if page == "start" else page, both)) for page in all_pages()
    }


def all_pages() -> list[str]:
    from dashboard import catalogue
    from dashboard.shell import OWN_PAGES

    return [*(key for key, _, _ in OWN_PAGES), *(page.key for page in catalogue.pages())]


async def _server_times(bare: str, product: str, page: str, processes: tuple[int, int]) -> tuple[float, float, float]:
    from benchmarks import people

    seated = people.Person(bare, ""), people.Person(product, page)
    for person in seated:
        await person.arrive()
        for level in LEVELS:
            await person.until_done(level)
    spent = [0.0, 0.0]
    for _ in range(ROUNDS):
        for place, person in enumerate(seated):
            start = _seconds_of(processes[place])
            for level in LEVELS:
                await person.move(level)
            spent[place] += _seconds_of(processes[place]) - start
    start = _seconds_of(processes[1])
    for level in NEW_LEVELS:
        await seated[1].move(level)
    anew = (_seconds_of(processes[1]) - start) / len(NEW_LEVELS)
    for person in seated:
        await person.leave()
    reruns = ROUNDS * len(LEVELS)
    return spent[0] / reruns, spent[1] / reruns, anew


def _process(address: str) -> int:
    """The server at this address, which this process has started."""
    port = address.rsplit(":", 1)[1]
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if f"--server.port={port}".encode() in file.read_bytes().split(b"\0"):
                return int(file.parent.name)
        except OSError:
            continue  # it has ended meanwhile
    raise RuntimeError(f"no server listens at port {port}")


def _seconds_of(process: int) -> float:
    """Processor seconds of all threads of a process; Linux derives the clock's number from the process'."""
    return time.clock_gettime((~process << 3) | 2)


def main() -> int:
    from benchmarks import people
    from tests.browser.server import running

    goals = Goals()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        bare, found = script_times(folder, all_pages())
        print(f"Rerun of the default view, warm, median of 12; a bare page {1e3 * bare:.1f} ms")
        for page, seconds in found.items():
            goals.at_most(f"{page} ({1e3 * seconds:.1f} ms): times a bare page", seconds / bare, RERUN)
        with running(folder, BARE) as plain, running(folder, EPSILON_LAB_WARM_UP="0") as server:
            print("\nThe same by the processor time of the whole server, reading and sending included")
            for page, (least, taken, anew) in server_times(plain, server).items():
                told = f"{page} ({1e3 * taken:.1f} ms, bare {1e3 * least:.1f}): times a bare page"
                goals.at_most(told, taken / least, SERVED)
                goals.at_most(f"{page} ({1e3 * anew:.1f} ms), at an ε for the first time", anew / least, ANEW)
        with running(folder, BARE) as server:
            full = people.live(server, ("",), sessions=8, thinking=0.0, seconds=10.0)
        one = 10.0 / len(full.milliseconds)
        thinking = THINKING * one * SESSIONS
        print(f"\nA bare page, 8 sessions that never think: {1 / one:.0f} reruns a second, {full.errors} errors")
        with running(folder) as server:
            lived = people.live(server, PLACES, sessions=SESSIONS, thinking=thinking, seconds=SECONDS)
    count = len(lived.milliseconds)
    print(f"{SESSIONS} sessions thinking {thinking:.1f} s, on {' and '.join(PLACES)}")
    print(f"  {count} reruns in {SECONDS:.0f} s ({count / SECONDS:.0f} a second)")
    median, p95 = np.percentile(lived.milliseconds or [float("nan")], [50, 95]) / 1e3
    goals.at_most("sessions that failed", full.errors + lived.errors, 0)
    goals.at_most(f"median ({1e3 * median:.0f} ms): bare reruns at full load", median / one, LIVE_MEDIAN)
    goals.at_most(f"95 in 100 within ({1e3 * p95:.0f} ms): bare reruns at full load", p95 / one, LIVE_P95)
    goals.at_most("MB of memory at most", resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024, MEMORY_MB)
    return goals.end()


if __name__ == "__main__":
    sys.exit(main())
