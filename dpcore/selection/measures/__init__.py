"""Measures of a private choice, one file each; a new file is found by itself."""

from __future__ import annotations

from collections.abc import Mapping

from dpcore.discovery import discover
from dpcore.selection.measure import Measure


def measures() -> Mapping[str, type[Measure]]:
    """Every measure by its key, in order."""
    return discover("dpcore.selection.measures")
