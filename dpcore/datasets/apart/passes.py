"""A question about bytes that somebody brought, asked by the name of a function: the server names it, never a file."""

from __future__ import annotations

import importlib
from collections.abc import Callable


def asking(test: str) -> Callable[[bytes], object]:
    """The function of this module and name ("package.module:function"), loaded."""
    module, _, name = test.partition(":")
    found: Callable[[bytes], object] = getattr(importlib.import_module(module), name)
    return found


def passes(data: bytes, test: str) -> bool:
    """What the function of this name says of the bytes."""
    return bool(asking(test)(data))
