"""How many bytes a value holds in arrays and tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
import pandas as pd


def weight(value: Any) -> int:
    """Bytes of the arrays, tables and texts in ``value``, each counted once, however deep they lie in tuples, lists,
    mappings and dataclasses. All else counts as nothing, so what a function holds must be told beside it.
    """
    seen: set[int] = set()
    total, open_ = 0, [value]
    while open_:
        one = open_.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        if isinstance(one, np.ndarray):
            total += one.nbytes
        elif isinstance(one, pd.DataFrame | pd.Series):
            total += int(np.sum(one.memory_usage(deep=True)))
        elif hasattr(one, "indptr"):  # a sparse array
            open_ += [one.data, one.indices, one.indptr]
        elif isinstance(one, str | bytes):
            total += len(one)
        elif isinstance(one, Mapping):
            open_ += one.values()
        elif isinstance(one, tuple | list | set | frozenset):
            open_ += one
        elif is_dataclass(one):
            open_ += [getattr(one, field.name) for field in fields(one)]
    return total
