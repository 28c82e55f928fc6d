"""Which columns of a Parquet or Arrow file pandas calls its index, which is no column of the table.

Numbers one after the other are only stated in the note that pandas leaves in the file; as soon as a row between two
others is left out the file holds them. And a program that sorts or filters rows keeps the note, so that what it states
is no longer whose row it was. So neither is read: what the file holds of an index is left out, as the note names it.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

NOTE = b"pandas"
"""Under which the metadata of such a file hold the note."""
_BYTES = re.compile(r"b(['\"])(.*)\1", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Noted:
    """What a note says of the index, and of the columns that the file had when pandas wrote it.

    ``levels`` is how many the index has, and ``names`` are those that have one, the same whether or not the file holds
    their cells. It holds them in the columns ``held``. All ``fields`` that it had end with these, so that of two that
    are called alike the last is the index.
    """

    levels: int
    names: tuple[str, ...]
    held: tuple[str, ...]
    fields: tuple[str, ...]

    def columns(self, fields: Sequence[str]) -> list[int]:
        """The places of those ``fields`` of a file that are no index: none that is called as a level is, but for as
        many as the file had besides. For a program that puts files together, or a column in place of the index, keeps
        the note of one of them, and whether that holds the cells hangs on one row."""
        levels, had = {*self.names, *self.held}, Counter(self.fields)
        had.subtract(self.held)
        kept = []
        for place, name in enumerate(fields):
            had[name] -= 1
            if name not in levels or had[name] >= 0:
                kept.append(place)
        return kept


def noted(note: bytes) -> Noted:
    """What a note says; one that none can read says nothing."""
    try:
        told = json.loads(note)
    except (ValueError, RecursionError):
        told = None
    levels = [one for one in _listed(told, "index_columns") if isinstance(one, str | dict)]
    fields = [
        one for one in _listed(told, "columns") if isinstance(one, dict) and isinstance(one.get("field_name"), str)
    ]
    called = {one["field_name"]: one.get("name") for one in fields}
    names = [one.get("name") if isinstance(one, dict) else called.get(one, one) for one in levels]
    return Noted(
        levels=len(levels),
        names=tuple(_written(name) for name in names if name is not None),
        held=tuple(one for one in levels if isinstance(one, str)),
        fields=tuple(one["field_name"] for one in fields),
    )


def _listed(told: Any, key: str) -> list[Any]:
    found = told.get(key) if isinstance(told, dict) else None
    return found if isinstance(found, list) else []


def _written(name: Any) -> str:
    """As pandas writes the name of a column: where it states an index by a rule, bytes are as Python writes them, and a
    tuple is a list."""
    if isinstance(name, list):
        return str(tuple(part if part is None else str(part) for part in name))
    found = _BYTES.fullmatch(str(name))
    return found[2] if found else str(name)
