"""Watching a series privately: when does it pass the line? Mechanisms with their exact laws, and what goes wrong."""

from __future__ import annotations

from dpcore.discovery import discover
from dpcore.thresholding.above_threshold import AboveThreshold
from dpcore.thresholding.accuracy import Design, best_design, select_instead
from dpcore.thresholding.broken import BrokenVariant, Verdict, broken_catalog
from dpcore.thresholding.laws import AlarmLaw, prepare, stop_laws
from dpcore.thresholding.noise import NoisePair, best_share
from dpcore.thresholding.numeric_sparse import NumericSparse
from dpcore.thresholding.runs import Trace
from dpcore.thresholding.sparse import Sparse


def catalog() -> dict[str, type]:
    """Mechanisms that watch a series of answers, by ``key``, in the order pages show them."""
    return dict(discover("dpcore.thresholding"))


__all__ = [
    "AboveThreshold",
    "AlarmLaw",
    "BrokenVariant",
    "Design",
    "NoisePair",
    "NumericSparse",
    "Sparse",
    "Trace",
    "Verdict",
    "best_design",
    "best_share",
    "broken_catalog",
    "catalog",
    "prepare",
    "select_instead",
    "stop_laws",
]
