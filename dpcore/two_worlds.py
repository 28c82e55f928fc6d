"""Two worlds: the law of an answer with and without one person's row, and how far apart they are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpcore.errors import InvalidArgument
from dpcore.validate import FloatArray

_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TwoWorlds:
    """``before`` and ``after`` (m,): chances (or densities) of the same m outcomes in two neighbouring worlds.

    ``promised`` is the ε that no log-ratio may exceed, either way. ``edges`` (m+1,) where outcomes are intervals of
    numbers. ``log_before`` and ``log_after`` are exact where a chance is too small for a float. Raises InvalidArgument.
    """

    before: FloatArray
    after: FloatArray
    promised: float
    edges: FloatArray | None = None
    log_before: FloatArray | None = None
    log_after: FloatArray | None = None

    def __post_init__(self) -> None:
        if self.before.shape != self.after.shape or self.before.ndim != 1:
            raise InvalidArgument("after", "must have one entry for each of before")

    @property
    def log_ratio(self) -> FloatArray:
        """ln(before/after) of each outcome, shape (m,); infinite where only one world allows it, 0 where neither."""
        with np.errstate(divide="ignore", invalid="ignore"):
            first = np.log(self.before) if self.log_before is None else self.log_before
            second = np.log(self.after) if self.log_after is None else self.log_after
            return np.asarray(np.where((first == second), 0.0, first - second))

    @property
    def worst(self) -> int:
        """The outcome that tells the worlds apart best."""
        return int(np.argmax(np.abs(self.log_ratio)))

    @property
    def realised(self) -> float:
        """The largest |log-ratio|: what these two worlds really lose."""
        return float(np.abs(self.log_ratio).max())

    @property
    def holds(self) -> bool:
        """Whether the promise is kept here (to rounding); of neighbours it must be, of a broken variant it is not."""
        return self.realised <= self.promised * (1.0 + _ROUNDING) + _ROUNDING
