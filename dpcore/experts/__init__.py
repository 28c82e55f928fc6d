"""Following experts day after day without revealing any one day: strategies with exact regret, and linear costs."""

from __future__ import annotations

from dpcore.discovery import discover
from dpcore.experts.batched import Batched
from dpcore.experts.bounds import THEOREMS, RegretBound, held_bound, regret_bound
from dpcore.experts.doubling import DoublingLeader
from dpcore.experts.experts_problem import ExpertsProblem
from dpcore.experts.hedge import expected_regret
from dpcore.experts.linear import LinearLearner, LinearProblem
from dpcore.experts.losses import ExpertLosses, check_days, from_forecasts, from_losses, from_prices
from dpcore.experts.matrix_factorisation import MatrixFactorisation
from dpcore.experts.non_private import NonPrivate
from dpcore.experts.rates import RULES, hedge_rate, learning_rate
from dpcore.experts.scenarios import STORIES, Scenario, scenario_losses
from dpcore.experts.strategy import ASSUMPTIONS, Forecast, Strategy, running_regret
from dpcore.experts.textbook import TextbookMajority
from dpcore.experts.unknown_horizon import UnknownHorizon
from dpcore.experts.weighted_majority import WeightedMajority
from dpcore.experts.worlds import ChangedDay, changed_day


def catalog() -> dict[str, type[Strategy]]:
    """Strategies by ``key``, in the order pages show them."""
    return dict(discover("dpcore.experts"))


__all__ = [
    "ASSUMPTIONS",
    "RULES",
    "STORIES",
    "THEOREMS",
    "Batched",
    "ChangedDay",
    "DoublingLeader",
    "ExpertLosses",
    "ExpertsProblem",
    "Forecast",
    "LinearLearner",
    "LinearProblem",
    "MatrixFactorisation",
    "NonPrivate",
    "RegretBound",
    "Scenario",
    "Strategy",
    "TextbookMajority",
    "UnknownHorizon",
    "WeightedMajority",
    "catalog",
    "changed_day",
    "check_days",
    "expected_regret",
    "from_forecasts",
    "from_losses",
    "from_prices",
    "hedge_rate",
    "held_bound",
    "learning_rate",
    "regret_bound",
    "running_regret",
    "scenario_losses",
]
