"""The dashboard under people: the rerun of every page against a bare Streamlit page, and many sessions at once.

Run as ``python -m benchmarks.dashboard``. A bare page (``benchmarks/bare_page.py``) has one slider and one Plotly
chart. The first table runs it and every page in this process with warm caches, in turn, and gives the median of the
script's own processor time and its ratio to the bare page's; a page that fails has none. The second starts a server as
a person would and has ``SESSIONS`` sessions move ε over 127.0.0.1 by the browser's own protocol
(``benchmarks.people``); a rerun counts from the moved slider to the last message of the run. How long they think
between two moves follows from what the bare page's server can do, so that the load is the same on any machine. Exits
with 1 when a goal is missed.
"""

from __future__ import annotations

import math
import os
import resource
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.yardsticks import Goals

ROOT = Path(__file__).parents[1]
BARE = ROOT / "benchmarks" / "bare_page.py"
RERUN, LIVE_MEDIAN, LIVE_P95, MEMORY_MB = 16.0, 15.0, 40.0, 1000.0
TRAINING = 32.0  # its curves are read off once more for the sentences
"""What is held; what is aimed at, and why it is not reached, is in docs/reruns.md."""
SESSIONS, SECONDS = 200, 40.0
THINKING = 10.0  # times the bare page's rerun at full load, for each session
PLACES = ("selection", "thresholding")
LEVELS = (0.5, 0.8)


def script_times(folder: Path) -> tuple[float, dict[str, float]]:
    """Median seconds of a warm rerun of the bare page and of each page, at an ε it has seen before."""
    os.environ["EPSILON_LAB_LEDGER"] = f"sqlite:///{folder / 'script.db'}"
    os.environ.setdefault("EPSILON_LAB_KEY", str(folder / "ledger.key"))
    os.environ.setdefault("EPSILON_LAB_WARM_UP", "0")
    import streamlit.runtime.scriptrunner.script_runner as runner
    from streamlit.testing.v1 import AppTest

    from dashboard import catalogue
    from dashboard.app import OWN_PAGES
    from dpcore.ledger import Ledger

    Ledger.open(create=True).close()  # one that is named is never made in silence
    spent: list[float] = []
    inside = runner.ScriptRunner._run_script

    def timed(self: Any, *args: Any, **named: Any) -> Any:
        start = time.thread_time()  # a script runs in a thread of its own
        try:
            return inside(self, *args, **named)
        finally:
            spent.append(time.thread_time() - start)

    def rerun(at: AppTest, kind: str) -> float:
        for level in LEVELS:
            getattr(at, kind)(key="epsilon").set_value(level).run()
        spent.clear()
        for level in LEVELS * 6:
            getattr(at, kind)(key="epsilon").set_value(level).run()
        return math.nan if at.exception else statistics.median(spent)

    runner.ScriptRunner._run_script = timed
    bare, found = [], {}
    for page in (*(key for key, _, _ in OWN_PAGES), *(page.key for page in catalogue.pages())):
        bare.append(rerun(AppTest.from_file(str(BARE), default_timeout=600).run(), "slider"))
        at = AppTest.from_file(str(ROOT / "dashboard" / "app.py"), default_timeout=600).run()
        if page != "start":
            at.switch_page(catalogue.address(page)).run()
        found[page] = rerun(at, "number_input")
    runner.ScriptRunner._run_script = inside
    return statistics.median(bare), found


def main() -> int:
    from benchmarks import people
    from tests.browser.server import running

    goals = Goals()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        bare, found = script_times(folder)
        print(f"Rerun of the default view, warm, median of 12; a bare page {1e3 * bare:.1f} ms")
        for page, seconds in found.items():
            most = TRAINING if page == "training" else RERUN
            goals.at_most(f"{page} ({1e3 * seconds:.1f} ms): times a bare page", seconds / bare, most)
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
