"""Python that makes a report's data again, written from values: no text of a file is ever more than a quoted string."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from datetime import date, datetime
from typing import Any

from dashboard.case import Source
from dpcore.datasets import Relation, Step


def of_sample(key: str) -> str:
    """A bundled sample."""
    return f"source = sample_source({key!r})"


def of_file(source: Source, *, name: str, choices: Mapping[str, Any], steps: tuple[Step, ...]) -> str:
    """The person's own file, by its name: no digest, by which whoever knows all rows but one could test a guess."""
    return (
        "source = file_source(\n"
        f"    {name!r},\n"
        f"    key={source.key!r},\n"
        f"    choices={literal(dict(choices))},\n"
        f"    steps={literal(steps)},\n"
        f"    schema={literal(source.table.schema)},\n"
        f"    declared={literal(source.declared)},\n"
        ")"
    )


def of_twin(source: Source, *, rows: int, seed: int, relations: tuple[Relation, ...]) -> str:
    """Rows simulated from what was declared."""
    shown = ", shown=True" if source.shown else ""
    return (
        "source = twin_source(\n"
        f"    {literal(source.table.schema)},\n"
        f"    key={source.key!r}, rows={rows!r}, seed={seed!r}, relations={literal(relations)},\n"
        f"    declared={literal(source.declared)}{shown},\n"
        ")"
    )


def literal(value: Any) -> str:
    """A value as Python that makes it: values of dataclasses, tuples, days, numbers and text. Raises TypeError."""
    if is_dataclass(value) and not isinstance(value, type):
        given = [
            f"{field.name}={literal(getattr(value, field.name))}"
            for field in fields(value)
            if field.init and (field.default is MISSING or getattr(value, field.name) != field.default)
        ]
        return f"{type(value).__name__}({', '.join(given)})"
    if isinstance(value, tuple):
        return f"({', '.join(literal(one) for one in value)}{',' if len(value) == 1 else ''})"
    if isinstance(value, list):
        return f"[{', '.join(literal(one) for one in value)}]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{literal(key)}: {literal(one)}" for key, one in value.items()) + "}"
    if isinstance(value, date) and not isinstance(value, datetime):
        return f"date({value.year}, {value.month}, {value.day})"
    if value is None or isinstance(value, str | bool | int | float | frozenset):
        return ascii(value)
    raise TypeError(f"a script cannot hold a {type(value).__name__}")
