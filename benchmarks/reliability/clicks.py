"""The release panel driven without a browser: double clicks, refreshes, two windows."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from benchmarks.reliability.outcome import Ground, Outcome

TESTS = Path("tests") / "dashboard" / "test_release_panel.py"


def clicking(ground: Ground) -> Iterator[Outcome]:
    """The tests of the release panel, each a person's habits: nothing charged twice, nothing lost by a refresh.

    The short form leaves them to the tests, which run them anyway.
    """
    if ground.short:
        tried, found, good = "left to the tests", f"{TESTS.name} is there", TESTS.is_file()
    else:
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(TESTS)],
            capture_output=True,
            text=True,
            check=False,
        )
        passed = re.search(r"(\d+) passed", done.stdout)
        tried, good = "double clicks, refreshes, two windows", done.returncode == 0 and passed is not None
        found = f"{passed.group(1) if passed else 0} habits, all charged once" if good else done.stdout[-300:]
    yield Outcome(check="clicks in the app", database="SQLite", tried=tried, found=found, good=good)
