"""Figures handed to the browser as they are: numbers packed, and no second validation."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np
from plotly.basedatatypes import BaseFigure

from dashboard.charts.theme import Figure

_LEAVES = frozenset({str, float, int, bool, type(None)})
_PACKED = {"float32": "f4", "float64": "f8", "int32": "i4", "uint8": "u1"}


class Ready(BaseFigure):  # type: ignore[misc]
    """A figure known to be valid (a test builds each kind with validation), which Plotly would check for 10 ms more."""

    def __init__(self, figure: Figure) -> None:
        self.__dict__["_ready"] = figure

    @property
    def figure(self) -> Figure:
        """As it was given."""
        found: Figure = self.__dict__["_ready"]
        return found

    def to_dict(self) -> Figure:
        plain: Figure = packed(self.figure)
        return plain

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)


def packed(value: Any) -> Any:
    """A copy with every numeric array as Plotly's typed array: base64 of its bytes."""
    if isinstance(value, dict):
        return {key: part if type(part) in _LEAVES else packed(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [packed(part) for part in value] if _nested(value) else list(value)
    if isinstance(value, np.ndarray):
        code = _PACKED.get(value.dtype.name)
        if code is None or value.size == 0:
            return value.tolist()
        typed: dict[str, Any] = {
            "dtype": code,
            "bdata": base64.b64encode(np.ascontiguousarray(value).tobytes()).decode("ascii"),
        }
        if value.ndim > 1:
            typed["shape"] = ", ".join(str(size) for size in value.shape)
        return typed
    return value


def _nested(values: list[Any] | tuple[Any, ...]) -> bool:
    return not _LEAVES.issuperset(map(type, values))
