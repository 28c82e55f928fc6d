"""A question about bytes that somebody brought, asked by the name of a function: the server names it, never a file."""

from __future__ import annotations

import importlib


def tested(data: bytes, test: str) -> bool:
    """What the function of this module and name ("package.module:function") says of the bytes."""
    module, _, name = test.partition(":")
    return bool(getattr(importlib.import_module(module), name)(data))
