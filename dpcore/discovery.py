"""How a package finds its mechanisms: every class with a ``key`` defined in one of its modules.

A new file is enough; there is no registry to edit.
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from types import MappingProxyType


@cache
def discover(package: str) -> MappingProxyType[str, type]:
    """Mechanism classes of ``package`` (a dotted name) by their class attribute ``key``, in order of ``rank``.

    A class counts when it is defined in the module itself and has a string ``key`` of its own. ``rank`` (a
    number, 100 unless given) orders pages and tables; ties are broken by key. Raises RuntimeError when two
    classes claim one key.
    """
    found: dict[str, type] = {}
    for info in pkgutil.iter_modules(importlib.import_module(package).__path__):
        module = importlib.import_module(f"{package}.{info.name}")
        for value in vars(module).values():
            if not isinstance(value, type) or value.__module__ != module.__name__:
                continue
            key = vars(value).get("key")
            if not isinstance(key, str):
                continue
            if found.get(key, value) is not value:
                raise RuntimeError(f"two mechanisms of {package} have the key {key!r}")
            found[key] = value
    ordered = sorted(found.items(), key=lambda item: (getattr(item[1], "rank", 100), item[0]))
    return MappingProxyType(dict(ordered))
