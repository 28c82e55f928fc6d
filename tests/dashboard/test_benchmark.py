"""What the rerun benchmark measures in a process of its own is the pages, in the order in which it takes them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TAKEN = """
import sys
from pathlib import Path
from benchmarks import dashboard
bare, found = dashboard.script_times(Path(sys.argv[1]), ("start", "selection", "start"))
assert 0 < bare < min(found.values()), (bare, found)
assert list(found) == ["start", "selection"], found
"""


@pytest.mark.thorough
def test_pages_are_measured_one_after_the_other_in_one_process(tmp_path: Path) -> None:
    """A page says again what another one has said first; stand-ins of the server must know of it too."""
    done = subprocess.run(
        [sys.executable, "-c", TAKEN, str(tmp_path)], cwd=ROOT, env=dict(os.environ), capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-2000:]
