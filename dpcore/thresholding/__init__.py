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
from dpcore.thresholding.theory import AlphaSplit, ErrorKinds, alpha_against_queries, alpha_split, error_kinds
from dpcore.thresholding.worlds import ProofStep, alarm_worlds, proof_step


def catalog() -> dict[str, type]:
    """Mechanisms that watch a series of answers, by ``key``, in the order pages show them."""
    return dict(discover("dpcore.thresholding"))


__all__ = [
    "AboveThreshold",
    "AlarmLaw",
    "AlphaSplit",
    "BrokenVariant",
    "Design",
    "ErrorKinds",
    "NoisePair",
    "NumericSparse",
    "ProofStep",
    "Sparse",
    "Trace",
    "Verdict",
    "alarm_worlds",
    "alpha_against_queries",
    "alpha_split",
    "best_design",
    "best_share",
    "broken_catalog",
    "catalog",
    "error_kinds",
    "prepare",
    "proof_step",
    "select_instead",
    "stop_laws",
]
