"""What the pages need is there before anybody comes, and the collector looks only through what came later."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
AFTER = """
import gc, sys, weakref
from dashboard.serving import loaded
loaded.beforehand()
assert gc.isenabled()
assert gc.get_freeze_count() > 100_000
there = set(sys.modules)

from streamlit.testing.v1 import AppTest
at = AppTest.from_file({app!r}, default_timeout=120).run()
from dashboard import catalogue
for page in catalogue.pages():
    at.switch_page(catalogue.address(page.key)).run()
assert not at.exception, at.exception
print(*sorted(name for name in set(sys.modules) - there if name.split(".")[0] == "dashboard"))

class Circle:
    pass

circle = Circle()
circle.itself = circle
left = weakref.ref(circle)
del circle
gc.collect()
assert left() is None
"""


def test_no_module_of_the_pages_is_loaded_while_somebody_waits(tmp_path: Path) -> None:
    script = AFTER.format(app=str(ROOT / "dashboard" / "app.py"))
    ledger = {"EPSILON_LAB_LEDGER": f"sqlite:///{tmp_path / 'ledger.db'}", "EPSILON_LAB_KEY": str(tmp_path / "key")}
    found = subprocess.run(
        [sys.executable, "-c", script],
        cwd=ROOT,
        env=os.environ | ledger | {"EPSILON_LAB_WARM_UP": "0", "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert found.returncode == 0, found.stderr[-3000:]
    assert found.stdout.split() == []
