"""What a session holds of a person's own file, and of samples it has loaded."""

from __future__ import annotations

import secrets
from collections.abc import Callable

from dashboard.all_held import Waiting
from dashboard.case import Source
from dashboard.data.asked import Asked
from dashboard.data.own_file import OwnFile, Pending
from dashboard.data.task import Task
from dashboard.data.typed_columns import TypedColumns
from dashboard.session import Slot
from dpcore.datasets import Table, Template


def _nothing() -> None:
    """Nobody waits for anything."""


OWN_FILE: Slot[OwnFile | None] = Slot("_own_file", lambda: None, stays=True)
"""What this session holds of a person's own."""
OWN_NAME: Slot[str | None] = Slot("_own_name", lambda: None, stays=True)
OWN_SOURCE: Slot[Source | None] = Slot("_own_source", lambda: None, stays=True)
"""The person's own data as pages show them; None while they have no use."""
OWN_TAKEN: Slot[bool] = Slot("_own_taken", lambda: False)
"""Whether the pages showed a person's own data until their right to hold any was taken away; none take their place
before somebody chooses."""
OWN_WAITS: Slot[bool] = Slot("_own_waits", lambda: False)
"""Whether the file of this tab's last session is still there, while the ledger cannot be asked who may hold it."""
OWN_COLUMNS: Slot[TypedColumns | None] = Slot("_own_columns", lambda: None, stays=True)
OWN_TASK: Slot[Task | None] = Slot("_own_task", lambda: None, stays=True)
"""What is being read or prepared beside the page, and what takes it over when it is done."""
OWN_END: Slot[Callable[[], None]] = Slot("_own_end", lambda: _nothing, stays=True)
OWN_PENDING: Slot[Pending | None] = Slot("_own_pending", lambda: None, stays=True)
OWN_BEFORE: Slot[OwnFile | None] = Slot("_own_before", lambda: None, stays=True)
"""The file that was replaced or forgotten last, for bringing it back."""
OWN_CONFIRMED: Slot[frozenset[str]] = Slot("_own_confirmed", frozenset, stays=True)
OWN_LOOKED: Slot[bool] = Slot("_own_looked", lambda: False, stays=True)
"""Whether true pictures of a file were shown in this session. That stays so until it ends, whatever is forgotten, and
counts for every file of theirs from then on: another one may hold the same people, which nothing here can rule out."""
OWN_READ: Slot[bool] = Slot("_own_read", lambda: False, stays=True)
"""Whether a file was read in this session. That stays so until it ends, and whatever is stated later, of a table
without a file too, is stated by a person who had seen one."""
OWN_ASKED: Slot[Asked | None] = Slot("_own_asked", lambda: None, own=lambda _: None, stays=True)
"""The question that was chosen about the file, as long as it still needs something."""
NAMING: Slot[bytes] = Slot("_naming", lambda: secrets.token_bytes(32), stays=True)
"""The key of the names that pages call parts of the file by (``data/naming.py``): what was set is held by these."""
OWN_NUMBER: Slot[int] = Slot("_own_number", lambda: 0, stays=True)
"""How many tables this session held before the one that it holds now (``naming.about``)."""
OWN_ROUND: Slot[int] = Slot("_own_round", lambda: 0)
DECLARATIONS: Slot[tuple[Template, ...]] = Slot("_declarations", tuple, stays=True)
"""What was declared in this session about tables before, by which the next one is known again."""
SAVED: Slot[list[Template]] = Slot("_saved", list, stays=True)
"""The declaration that was saved since the last run, if any: a click on a file runs no page."""
DECLARED: Slot[Waiting | None] = Slot("_declared", lambda: None, stays=True)
"""Counts what is declared here among what all sessions hold."""
DESCRIBED_ROUND: Slot[int] = Slot("_described_round", lambda: 0)
LINKED_DATA: Slot[str] = Slot("_linked_data", lambda: "")
LOADED_SAMPLES: Slot[dict[str, Table]] = Slot("_loaded_samples", dict, stays=True)
"""Samples that are not part of this program, as this session has loaded them."""
SAMPLE_TASK: Slot[Task | None] = Slot("_sample_task", lambda: None)
SAMPLE_LOADING: Slot[str] = Slot("_sample_loading", lambda: "")
SAMPLE_ROUND: Slot[int] = Slot("_sample_round", lambda: 0)
