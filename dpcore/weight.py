"""How many bytes a value keeps in memory."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterable
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

import numpy as np

_LEAVES = frozenset({float, int, bool, type(None)})


class CountsItself:
    """What counts what it holds by itself: nothing that refers to it holds that too."""

    __slots__ = ()


_ELSEWHERE = (type, ModuleType, BuiltinFunctionType, CountsItself)
"""What is there once for the whole program, whoever refers to it, and what counts by itself."""


def weight(value: Any, *, beside: Iterable[object] = ()) -> int:
    """Bytes of ``value`` and of all that it holds on to, each object counted once (numbers alone at each place).

    What is ``beside`` it, what counts itself, and what it holds by such alone, is another's.

    However deep it lies, and whatever it lies in: an array counts as all that it is a view of, a function as what it
    closes over.
    """
    seen = set(map(id, beside))
    total, open_ = 0, [value]
    while open_:
        one = open_.pop()
        if type(one) in _LEAVES:
            total += sys.getsizeof(one)
            continue
        if id(one) in seen or isinstance(one, _ELSEWHERE):
            continue
        seen.add(id(one))
        module = type(one).__module__
        # a frame adds up all that it holds, which is counted once, below
        total += object.__sizeof__(one) if module.startswith("pandas") else sys.getsizeof(one, 0)
        if isinstance(one, np.ndarray):  # with its numbers, unless it is a view
            open_ += [one.base] if one.base is not None else one.ravel().tolist() if one.dtype.hasobject else []
        elif isinstance(one, FunctionType):  # its module is the program's
            open_ += [one.__closure__, one.__defaults__, one.__kwdefaults__]
        else:
            open_ += gc.get_referents(one)
    return total
