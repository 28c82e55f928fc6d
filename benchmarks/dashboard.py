"""The dashboard under people: script time of each page's default view, and many sessions at once.

Run as ``python -m benchmarks.dashboard``. The first table runs every page in this process with warm caches and gives
the median of the script's own time. The second starts a server as a person would and has ``SESSIONS`` sessions move ε
over 127.0.0.1 by the browser's own protocol (``benchmarks.people``), each thinking about ``THINKING`` seconds between
two moves; a rerun counts from the moved slider to the last message of the run. Exits with 1 when a goal is missed.
"""

from __future__ import annotations

import os
import resource
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

PAGES = ("start", "selection", "thresholding", "experts", "training", "data", "budget")
GOAL_SCRIPT_MS, GOAL_P95_MS, GOAL_MEMORY_MB = 50.0, 500.0, 1000.0
SESSIONS, THINKING, SECONDS = 200, 5.0, 40.0
PLACES = ("selection", "thresholding")


def script_times(folder: Path) -> dict[str, float]:
    """Median milliseconds of a warm rerun of each page at an ε it has seen before."""
    os.environ["EPSILON_LAB_LEDGER"] = f"sqlite:///{folder / 'script.db'}"
    os.environ.setdefault("EPSILON_LAB_KEY", str(folder / "ledger.key"))
    os.environ.setdefault("EPSILON_LAB_WARM_UP", "0")
    import streamlit.runtime.scriptrunner.script_runner as runner
    from streamlit.testing.v1 import AppTest

    from dpcore.ledger import Ledger

    Ledger.open(create=True).close()  # one that is named is never made in silence
    spent: list[float] = []
    inside = runner.ScriptRunner._run_script

    def timed(self: Any, *args: Any, **named: Any) -> Any:
        start = time.perf_counter()
        try:
            return inside(self, *args, **named)
        finally:
            spent.append(1000 * (time.perf_counter() - start))

    runner.ScriptRunner._run_script = timed
    app = str(Path(__file__).parents[1] / "dashboard" / "app.py")
    found = {}
    for page in PAGES:
        at = AppTest.from_file(app, default_timeout=120).run()
        if page != "start":
            at.switch_page(f"app_pages/{page}.py").run()
        for level in (0.5, 0.8):
            at.number_input(key="epsilon").set_value(level).run()
        spent.clear()
        for level in (0.5, 0.8) * 6:
            at.number_input(key="epsilon").set_value(level).run()
        found[page] = statistics.median(spent)
    runner.ScriptRunner._run_script = inside
    return found


def main() -> int:
    from benchmarks import people
    from tests.browser.server import running

    missed = False
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        print("Script time of the default view, warm, median of 12 reruns")
        for page, taken in script_times(folder).items():
            missed |= taken > GOAL_SCRIPT_MS
            told = "   MISSED" if taken > GOAL_SCRIPT_MS else ""
            print(f"  {page:14s} {taken:7.1f} ms   goal {GOAL_SCRIPT_MS:.0f} ms{told}")
        with running(folder) as server:
            found = people.live(server, PLACES, sessions=SESSIONS, thinking=THINKING, seconds=SECONDS)
    memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    p95 = float(np.percentile(found.milliseconds, 95)) if found.milliseconds else float("nan")
    missed |= not p95 <= GOAL_P95_MS or found.errors > 0 or memory > GOAL_MEMORY_MB
    count = len(found.milliseconds)
    print(f"\n{SESSIONS} sessions thinking {THINKING:.0f} s, on {' and '.join(PLACES)}")
    print(f"  {count} reruns in {SECONDS:.0f} s ({count / SECONDS:.0f} a second), {found.errors} errors")
    median = float(np.median(found.milliseconds)) if found.milliseconds else float("nan")
    print(f"  median {median:.0f} ms, 95 in 100 within {p95:.0f} ms   goal {GOAL_P95_MS:.0f} ms")
    print(f"  most memory {memory:.0f} MB   goal {GOAL_MEMORY_MB:.0f} MB")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
