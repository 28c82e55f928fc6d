"""A theorem as a value: what it promises, with its constants, under which conditions, and how loose that is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from dpcore.errors import InvalidArgument
from dpcore.validate import FloatArray

_LEAST = {"k": 1.0, "queries": 1.0, "rounds": 1.0, "experts": 2.0, "rows": 1.0, "columns": 2.0}
_BELOW = {"beta": 1.0, "delta": 1.0}


def settings(**named: ArrayLike) -> tuple[FloatArray, ...]:
    """Each setting of a theorem as a float64 array, finite, above 0 and within its range. Raises InvalidArgument."""
    arrays = []
    for name, value in named.items():
        array = np.asarray(value, dtype=np.float64)
        fits = np.isfinite(array) & (array > 0.0) & (array >= _LEAST.get(name, 0.0))
        fits &= (array < _BELOW.get(name, np.inf)) & (array <= (1.0 if name == "alpha" else np.inf))
        if array.size == 0 or not fits.all():
            raise InvalidArgument(name, "must be greater than 0 and within its range everywhere")
        arrays.append(array)
    return tuple(arrays)


@dataclass(frozen=True, slots=True, kw_only=True)
class Conditions:
    """Under which a theorem holds, each in a few words to be read on a chart; empty where there is nothing to say.

    ``neighbours``: who may differ. ``range``: of losses, scores or answers. ``lipschitz`` and ``radius``: of a loss
    and of the weights. ``beta``: what the chance of failure is about. ``needs``: anything else it assumes.
    ``left_out``: what the number does not cover.
    """

    neighbours: str
    range: str = ""
    lipschitz: str = ""
    radius: str = ""
    beta: str = ""
    needs: str = ""
    left_out: str = ""

    def sentences(self) -> tuple[str, ...]:
        """Those that say something, each with its name."""
        named = {
            "Neighbours": self.neighbours,
            "Range": self.range,
            "Lipschitz constant": self.lipschitz,
            "Radius": self.radius,
            "β": self.beta,
            "Needs": self.needs,
            "Left out": self.left_out,
        }
        return tuple(f"{name}: {text}" for name, text in named.items() if text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Theorem:
    """``statement`` with all constants, ``conditions``, ``source``; ``formula`` computes it.

    ``kind`` is ``bound`` where the number is proved as it stands, ``rate`` where it holds up to a constant only and
    must be called so wherever it is drawn. ``settings`` names what ``value`` takes; every one may be an array, and
    arrays are broadcast together (rounds to 10⁶ and people to 10⁹ at once). ``quantity`` says what the number is.
    """

    key: str
    name: str
    quantity: str
    statement: str
    conditions: Conditions
    source: str
    settings: tuple[str, ...]
    formula: Callable[..., FloatArray]
    kind: Literal["bound", "rate"] = "bound"

    def value(self, **settings: Any) -> FloatArray:
        """What is promised at ``settings``, broadcast together. Raises InvalidArgument."""
        unknown = sorted(set(settings) - set(self.settings))
        if unknown:
            raise InvalidArgument(unknown[0], "is not a setting of this theorem: " + ", ".join(self.settings))
        return np.asarray(self.formula(**settings), dtype=np.float64)

    def loose_by(self, exact: ArrayLike, **settings: Any) -> FloatArray:
        """By which factor the promise is above the ``exact`` value; infinite where that is 0."""
        true = np.asarray(exact, dtype=np.float64)
        promised = self.value(**settings)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(np.where(true > 0.0, promised / true, np.inf))
