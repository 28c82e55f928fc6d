"""What pandas notes in a Parquet or Arrow file of an index with a name that it writes as a rule and not as a column.

It does so where the numbers are one after the other. As soon as a row between two others is left out the index is a
column, so it is read as one either way: its owner gave it a name. Where the note does not fit the rows, as after
another program left some out, none is there: which number is whose row's is lost.
"""

from __future__ import annotations

import json
from typing import Any

NOTE = b"pandas"
"""Under which the metadata of such a file hold it."""
_LARGEST = 2**62


def stated(note: bytes, rows: int) -> list[tuple[str, range]]:
    """By its name each index of so many rows that is a rule. A note that none can read says nothing."""
    try:
        indexes = json.loads(note)["index_columns"]
        found = [(_written(one["name"]), _range(one)) for one in indexes if one["name"] is not None]
    except (ValueError, LookupError, TypeError, RecursionError):
        return []
    return [(name, numbers) for name, numbers in found if _many(numbers) == rows]


def _written(name: Any) -> str:
    """As pandas writes the name of a column: JSON has no tuples."""
    return str(tuple(name) if isinstance(name, list) else name)


def _range(told: dict[str, Any]) -> range:
    """Raises ValueError, LookupError or TypeError where it is none."""
    numbers = [told[name] for name in ("start", "stop", "step")]
    if any(abs(number) > _LARGEST for number in numbers):
        raise ValueError
    return range(*numbers)


def _many(numbers: range) -> int:
    return max(0, -((numbers.start - numbers.stop) // numbers.step))
