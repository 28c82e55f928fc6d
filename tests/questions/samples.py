"""Samples as questions get them, without a page."""

from __future__ import annotations

from functools import cache

from dashboard.case import Case, Source
from dpcore.datasets import Table, load_sample, samples

KEYS = tuple(known.key for known in samples() if not known.needs_network)


@cache
def table(key: str) -> Table:
    return load_sample(key)


def sample_case(key: str, epsilon: float = 0.5) -> Case:
    """A bundled sample, as in Demo mode."""
    found = table(key)
    source = Source(
        key=key,
        title=key,
        mode="demo",
        table=found,
        lineage=found.lineage,
        practice=True,
        declared=found.schema,
        released=lambda: found,
    )
    return Case(source=source, epsilon=epsilon)
