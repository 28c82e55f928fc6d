"""What every test starts from."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from pathlib import Path

# Servers make workers and compiled loops ready when they start; the app of a test uses what it needs.
os.environ.setdefault("EPSILON_LAB_WARM_UP", "0")
# The key file of a server; tests have one of their own, and never touch the person's.
os.environ["EPSILON_LAB_KEY"] = str(Path(tempfile.mkdtemp(prefix="epsilon-lab-key-")) / "ledger.key")
atexit.register(shutil.rmtree, Path(os.environ["EPSILON_LAB_KEY"]).parent, ignore_errors=True)
