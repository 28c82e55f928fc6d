"""Names of a JSON document are bounded before they are put together, each of them with those around it."""

from __future__ import annotations

import json
import tracemalloc
from typing import Any

import pytest

from dpcore.datasets import UnreadableFile, read_table

_INNER = {str(place): 1 for place in range(400)}
BOMBS: dict[str, Any] = {
    "one long name around many": {"A" * 500_000: _INNER},
    "long names inside each other": {"A" * 9000: {"B" * 9000: {"C" * 9000: _INNER}}},
    "many names around many": {"A" * 5000: {f"{place}" + "B" * 4000: _INNER for place in range(100)}},
    "lists that are left out under a long name": {"A" * 500_000: {str(place): [{}] for place in range(400)}},
}


@pytest.mark.parametrize("name", BOMBS)
def test_names_are_refused_before_they_fill_the_memory(name: str) -> None:
    """From half a megabyte a reading took 1.1 GB."""
    data = json.dumps([BOMBS[name]]).encode()
    tracemalloc.start()
    try:
        with pytest.raises(UnreadableFile, match=r"no records|columns; up to 500"):
            read_table(data)
        assert tracemalloc.get_traced_memory()[1] < 12 << 20
    finally:
        tracemalloc.stop()


def test_lists_left_out_under_names_without_end_are_counted() -> None:
    records = [{"x": place, f"id{place}": [{}]} for place in range(2000)]
    found = read_table(json.dumps(records).encode())
    (notice,) = [each for each in found.report.notices if "Lists of records" in each.sentence]
    assert notice.count == found.rows == 2000
