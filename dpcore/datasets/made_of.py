"""What a folder of Parquet says of the text files that it was made of: how they were read, as its owner stated it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from dpcore.datasets.declaration import Stated

KEY = "epsilon_lab.form"
"""Under which the metadata of each Parquet file say it, in JSON."""


def told(form: Mapping[str, object]) -> str:
    """What is written there: each choice of ``read_table`` by which the files were read."""
    return json.dumps(dict(form))


def stated(notes: Iterable[bytes]) -> tuple[Stated, ...]:
    """What an answer from such files says of it: that cells could run over lines, where that was so for any of them, as
    one person's row could then take others along. What is none of these notes says nothing."""
    return ("lines in cells",) if any(_breaks(note) == "inside" for note in notes) else ()


def _breaks(note: bytes) -> object:
    try:
        found = json.loads(note)
    except (ValueError, RecursionError):
        return None
    return found.get("breaks") if isinstance(found, dict) else None
