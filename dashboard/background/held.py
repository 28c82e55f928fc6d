"""What a session holds of work beside the page: its jobs, and what was computed from a person's own data."""

from __future__ import annotations

from dashboard import machine_memory
from dashboard.background import large_turns
from dashboard.background.in_use import InUse
from dashboard.background.shelf import Jobs, Shelf
from dashboard.session import Slot
from dpcore.memory import Memory, Room

PRIVATE, LARGE_PRIVATE = 400, 6
"""Values that one session remembers of a person's own data."""
PRIVATE_ROOM, LARGE_ROOM, SHELF_ROOM = 64 << 20, 300 << 20, 64 << 20
"""Bytes that they hold together, that the large ones of them do, and what its simulations found: for who asks again,
and as its pages show it, which is mostly the same."""
ANSWERS = Room(machine_memory.for_answers)
"""For all that the server remembers, of samples and in all sessions."""


OWN_SHELF: Slot[Shelf] = Slot("_own_shelf", lambda: Shelf(room=SHELF_ROOM, within=ANSWERS), own=lambda shelf: None)
JOBS: Slot[Jobs] = Slot("_jobs", lambda: Jobs(room=SHELF_ROOM, within=ANSWERS), own=Jobs.forget_all)
MEMORY: Slot[Memory] = Slot("_memory", lambda: Memory(PRIVATE, room=PRIVATE_ROOM, within=ANSWERS), own=Memory.forget)
"""What was computed from a person's own data."""
LARGE_MEMORY: Slot[InUse] = Slot(
    "_large", lambda: InUse(Memory(LARGE_PRIVATE, room=LARGE_ROOM, within=ANSWERS), large_turns.OWN), own=InUse.forget
)
"""As ``MEMORY``, for a few large things."""
