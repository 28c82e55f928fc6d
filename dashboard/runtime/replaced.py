"""Methods in whose place ours stand while the server runs, by what has them and how they are called."""

from __future__ import annotations

from typing import Any

Methods = dict[tuple[Any, str], Any]


def there(ours: Methods) -> Methods:
    """What stands there now."""
    return {(owner, name): vars(owner)[name] for owner, name in ours}


def put(methods: Methods) -> None:
    """From now on, in this process. Again does nothing."""
    for (owner, name), method in methods.items():
        setattr(owner, name, method)
