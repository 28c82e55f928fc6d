"""Measures of a private choice, one file each; a new file is found by itself."""

from __future__ import annotations

from collections.abc import Mapping

from dpcore.discovery import discover
from dpcore.selection.measure import Measure


def measures() -> Mapping[str, type[Measure]]:
    """Every measure by its key, in order. Raises TypeError for one that lacks a member of ``Measure``."""
    found = discover("dpcore.selection.measures")
    for kind in found.values():
        lacking = [name for name in ("rank", "metric", "of_law", "promised") if not hasattr(kind, name)]
        if lacking:
            raise TypeError(
                f"the measure {kind.__name__} lacks {', '.join(lacking)}: see dpcore.selection.measure.Measure"
            )
    return found
