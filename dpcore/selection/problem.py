"""The three questions of selection, as problems that ``dpcore.tradeoff`` sweeps and inverts."""

from __future__ import annotations

from dpcore.selection.finite_class_problem import FiniteClassProblem
from dpcore.selection.most_common import MostCommon
from dpcore.selection.quantile_problem import QuantileProblem

__all__ = ["FiniteClassProblem", "MostCommon", "QuantileProblem"]
