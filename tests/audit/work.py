"""How much work a reading is, counted and not timed: cells that go through each step of Arrow, pandas and NumPy, and
calls of Python. A step that all cells go through since one of them needs it would tell of that one by its time.
"""

from __future__ import annotations

import inspect
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from pandas.core.strings.accessor import StringMethods

CALLS = "calls of Python"
_OF_NUMPY = (
    *("unique", "isin", "sort", "argsort", "lexsort", "searchsorted", "where", "nonzero", "flatnonzero"),
    *("concatenate", "fromiter", "isfinite", "bincount", "repeat", "clip"),
)
_OF_PANDAS = (
    *("mask", "where", "copy", "__setitem__", "__getitem__", "map", "fillna", "astype", "isna", "take", "replace"),
    *("reset_index", "duplicated", "factorize", "isin", "unique", "dropna", "drop", "reindex"),
)


@contextmanager
def counted() -> Iterator[Counter[str]]:
    """Counts while it is open; single-threaded."""
    done: Counter[str] = Counter()
    before: list[tuple[Any, str, Any]] = []

    def watch(owner: Any, name: str, size: Callable[..., int]) -> None:
        found = getattr(owner, name)
        label = f"{getattr(owner, '__name__', owner)}.{name}"

        def through(*given: Any, **named: Any) -> Any:
            done[label] += size(*given)
            return found(*given, **named)

        before.append((owner, name, vars(owner).get(name)))
        setattr(owner, name, through)

    for name, found in list(vars(pc).items()):
        if not name.startswith("_") and callable(found) and not inspect.isclass(found):
            watch(pc, name, _taken if name == "take" else _largest)
    for name, found in list(vars(StringMethods).items()):
        if not name.startswith("_") and inspect.isfunction(found):
            watch(StringMethods, name, lambda here, *_: len(here._data))
    for kind in (pd.Series, pd.DataFrame):
        for name in _OF_PANDAS:
            if hasattr(kind, name):
                watch(kind, name, lambda here, *_: here.size)
    for name in _OF_NUMPY:
        watch(np, name, _largest)

    def called(_frame: object, event: str, _argument: object) -> None:
        if event in ("call", "c_call"):
            done[CALLS] += 1

    sys.setprofile(called)
    try:
        yield done
    finally:
        sys.setprofile(None)
        for owner, name, found in reversed(before):
            if found is None:
                delattr(owner, name)
            else:
                setattr(owner, name, found)


def _largest(*given: Any) -> int:
    return max((_size(one) for one in given[:3]), default=0)


def _taken(_of: Any, places: Any, *_: Any, **__: Any) -> int:
    return _size(places)


def _size(value: Any) -> int:
    if isinstance(value, np.ndarray | pd.Series | pd.DataFrame):
        return int(value.size)
    return len(value) if isinstance(value, pa.Array | pa.ChunkedArray | pd.Index) else 0


def apart(here: Counter[str], there: Counter[str], most: int) -> dict[str, int]:
    """By how many cells two readings differ, of what differs by more than ``most``; calls may by ten times as many."""
    found = {name: here[name] - there[name] for name in here | there}
    return {name: more for name, more in found.items() if abs(more) > (10 * most if name == CALLS else most)}
