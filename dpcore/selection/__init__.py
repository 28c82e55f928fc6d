"""Choosing one of many privately: mechanisms with their exact laws, and the questions a person asks of them."""

from __future__ import annotations

from dpcore.discovery import discover
from dpcore.selection.exponential import Exponential
from dpcore.selection.laws import Selector, Summary, expected_loss, laws, summaries, times_in_hundred
from dpcore.selection.naive_laplace import NaiveLaplace
from dpcore.selection.noisy_max import NoisyMaxLaplace
from dpcore.selection.permute_and_flip import PermuteAndFlip


def catalog() -> dict[str, type[Selector]]:
    """Mechanisms that choose among scored candidates, by ``key``, in the order pages show them."""
    return dict(discover("dpcore.selection"))


__all__ = [
    "Exponential",
    "NaiveLaplace",
    "NoisyMaxLaplace",
    "PermuteAndFlip",
    "Selector",
    "Summary",
    "catalog",
    "expected_loss",
    "laws",
    "summaries",
    "times_in_hundred",
]
