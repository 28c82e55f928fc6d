"""For what a request asks, by its path: as the router behind the gate reads it, and never less.

The router looks for the path of a route with ``$`` at its end, which finds it before a last line break as well:
``/_stcore/metrics%0A`` is answered as ``/_stcore/metrics``, and does not end with it. So no path with a control
character goes any further, and what the gate looks for is looked for by the router's own pattern.
"""

from __future__ import annotations

import re

from starlette.routing import compile_path

from dashboard.serving.asgi import Scope

METRICS, HEALTH = "/_stcore/metrics", "/_stcore/health"
LONGEST = 2_000
"""Characters of a path: none of ours has a tenth of it, and to look for what a long one means takes five times as
long."""
_patterns: dict[str, re.Pattern[str]] = {}
"""Of our own routes alone."""
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


def has_control(scope: Scope) -> bool:
    """Whether a path, which was decoded before, has a control character. No path of ours and no browser's has one."""
    return _CONTROL.search(str(scope["path"])) is not None


def is_long(scope: Scope) -> bool:
    """Whether a path is longer than any of ours, or of a provider's that people come back from."""
    return len(str(scope["path"])) > LONGEST


def leads_to(scope: Scope, *routes: str) -> bool:
    """Whether the router may take a path for one of these, whatever stands before it (``server.baseUrlPath``)."""
    return any(_pattern(route).search(str(scope["path"])) for route in routes)


def _pattern(route: str) -> re.Pattern[str]:
    if route not in _patterns:
        _patterns[route] = re.compile(compile_path(route)[0].pattern.removeprefix("^"))
    return _patterns[route]
