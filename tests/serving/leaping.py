"""A loop for what waits: no test waits with it."""

from __future__ import annotations

import asyncio
from typing import Any


class Leaping(asyncio.SelectorEventLoop):
    """A loop whose clock waits for nothing: it leaps to what comes next."""

    def __init__(self) -> None:
        super().__init__()
        self._now, selector = 0.0, self._selector  # type: ignore[attr-defined]
        look = selector.select

        def leap(timeout: float | None = None) -> Any:
            self._now += timeout or 0.0
            return look(0)

        selector.select = leap

    def time(self) -> float:
        return self._now

    def leap(self, seconds: float) -> None:
        """Nothing happens meanwhile."""
        self._now += seconds
