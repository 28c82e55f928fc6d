"""What a session holds of work beside the page: its jobs, and what was computed from a person's own data."""

from __future__ import annotations

from dashboard.background.memory import Memory
from dashboard.background.shelf import Jobs, Shelf
from dashboard.session import Slot

PRIVATE, LARGE_PRIVATE = 400, 6
"""Values that one session remembers of a person's own data."""
LARGE_ROOM = 300 << 20
"""Bytes that the large ones of them hold together."""


OWN_SHELF: Slot[Shelf] = Slot("_own_shelf", Shelf, own=lambda shelf: None)
JOBS: Slot[Jobs] = Slot("_jobs", Jobs, own=Jobs.forget_all)
MEMORY: Slot[Memory] = Slot("_memory", lambda: Memory(PRIVATE), own=Memory.forget)
"""What was computed from a person's own data."""
LARGE_MEMORY: Slot[Memory] = Slot("_large", lambda: Memory(LARGE_PRIVATE, room=LARGE_ROOM), own=Memory.forget)
"""As ``MEMORY``, for a few large things."""
