"""What every test starts from."""

from __future__ import annotations

import os

# Servers make workers and compiled loops ready when they start; the app of a test uses what it needs.
os.environ.setdefault("EPSILON_LAB_WARM_UP", "0")
