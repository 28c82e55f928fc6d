"""The best fixed choice for a linear cost: one of d columns, or a mix of them, with the least average cost."""

from __future__ import annotations

from dpcore.discovery import discover
from dpcore.experts.linear.choice import LinearMethod
from dpcore.experts.linear.learner import LinearLearner, PrintedAccount, PrintedLearner, printed_account
from dpcore.experts.linear.linear_problem import LinearProblem, linear_bound
from dpcore.experts.linear.one_row import OneRow, one_row, row_worlds
from dpcore.experts.linear.vertices import VertexExponential, VertexPermuteAndFlip


def catalog() -> dict[str, type[LinearMethod]]:
    """Ways to choose by ``key``, in the order pages show them."""
    return dict(discover("dpcore.experts.linear"))


__all__ = [
    "LinearLearner",
    "LinearMethod",
    "LinearProblem",
    "OneRow",
    "PrintedAccount",
    "PrintedLearner",
    "VertexExponential",
    "VertexPermuteAndFlip",
    "catalog",
    "linear_bound",
    "one_row",
    "printed_account",
    "row_worlds",
]
