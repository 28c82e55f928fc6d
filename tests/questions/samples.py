"""Samples as questions get them, without a page."""

from __future__ import annotations

from functools import cache

from dashboard.case import Case, Source
from dpcore.datasets import Declaration, Table, load_sample, sample_rows, samples
from dpcore.memory import Memory

_MEMORY, _LARGE = Memory(3000, room=1 << 30), Memory(32, room=1 << 30)
KEYS = tuple(known.key for known in samples() if not known.needs_network)


@cache
def table(key: str) -> Table:
    return load_sample(key)


def sample_case(key: str, epsilon: float = 0.5) -> Case:
    """A bundled sample, as in Demo mode: what was computed of it once is not computed again, as on a server."""
    found = table(key)
    source = Source(
        key=key,
        title=key,
        mode="demo",
        table=found,
        lineage=found.lineage,
        practice=True,
        declared=Declaration.of(found.schema),
        rows=lambda: sample_rows(key),
    )
    return Case(source=source, epsilon=epsilon, memo=_MEMORY, large=_LARGE)
