"""Samples as questions get them, without a page."""

from __future__ import annotations

from functools import cache, partial

from dashboard.case import Case, DrawnModel, Source
from dashboard.questions.training.prepared_rows import targets, usable
from dpcore.audit.drawn import RECEIPT, drawn_model
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
    return Case(source=source, epsilon=epsilon, models=models(key), memo=_MEMORY, large=_LARGE)


@cache
def models(key: str) -> tuple[DrawnModel, ...]:
    """A model of two classes as if it had been drawn, of public weights; none where no column has two classes."""
    schema = table(key).schema
    for target in targets(schema):
        column = schema.column(target)
        if column.type in ("yes/no", "category"):
            positive = column.categories[0] if len(column.categories) > 2 else None
            declared, columns = Declaration.of(schema), usable(schema, target)[:8]
            answer = partial(drawn_model, declared, target=target, columns=columns, positive=positive)
            return (DrawnModel(receipt=RECEIPT, answer=answer, when="2026-01-01 00:00:00 UTC", same=True, alone=True),)
    return ()
