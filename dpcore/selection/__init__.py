"""Choosing one of many privately: mechanisms with their exact laws, and the questions a person asks of them."""

from __future__ import annotations

from dpcore.discovery import discover
from dpcore.selection.exponential import Exponential
from dpcore.selection.finite_class import FiniteClass
from dpcore.selection.finite_class_problem import FiniteClassProblem
from dpcore.selection.free_gap import FreeGap
from dpcore.selection.how_many import people_curves
from dpcore.selection.laws import Selector, Summary, expected_loss, laws, summaries, times_in_hundred
from dpcore.selection.learning import (
    crossover,
    exact_agnostic_size,
    exact_realizable_size,
    learning_bound,
    learning_constant,
    learning_size,
    query_size,
    query_tolerance,
    realizable_size,
    sharp_bound,
    sharp_size,
)
from dpcore.selection.most_common import MostCommon
from dpcore.selection.naive_laplace import NaiveLaplace
from dpcore.selection.noisy_max import NoisyMaxLaplace
from dpcore.selection.noisy_rounding import NoisyRounding
from dpcore.selection.permute_and_flip import PermuteAndFlip
from dpcore.selection.places import Intervals
from dpcore.selection.quantile import Quantile, true_quantile
from dpcore.selection.quantile_problem import QuantileProblem
from dpcore.selection.rules import Categories, Cuts, Rule, RuleClass
from dpcore.selection.worlds import choice_worlds, quantile_worlds


def catalog() -> dict[str, type[Selector]]:
    """Mechanisms that choose among scored candidates, by ``key``, in the order pages show them."""
    return dict(discover("dpcore.selection"))


__all__ = [
    "Categories",
    "Cuts",
    "Exponential",
    "FiniteClass",
    "FiniteClassProblem",
    "FreeGap",
    "Intervals",
    "MostCommon",
    "NaiveLaplace",
    "NoisyMaxLaplace",
    "NoisyRounding",
    "PermuteAndFlip",
    "Quantile",
    "QuantileProblem",
    "Rule",
    "RuleClass",
    "Selector",
    "Summary",
    "catalog",
    "choice_worlds",
    "crossover",
    "exact_agnostic_size",
    "exact_realizable_size",
    "expected_loss",
    "laws",
    "learning_bound",
    "learning_constant",
    "learning_size",
    "people_curves",
    "quantile_worlds",
    "query_size",
    "query_tolerance",
    "realizable_size",
    "sharp_bound",
    "sharp_size",
    "summaries",
    "times_in_hundred",
    "true_quantile",
]
