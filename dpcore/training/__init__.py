"""Private training: which model a budget buys, and how much accuracy and risk it costs.

Rows are numbers of length at most 1 (``Features`` makes them from a table by public constants), answers are −1 and 1
or numbers in [−1, 1]. Every class in ``catalog()`` trains private models by ``fit``.
"""

from __future__ import annotations

from dpcore.discovery import discover
from dpcore.training.adassp import AdaSSP
from dpcore.training.ball import Ball
from dpcore.training.baselines import majority_share, non_private
from dpcore.training.book import BookGradientDescent
from dpcore.training.clipped_examples import ClippedExamples
from dpcore.training.fit import Fit, Method, accuracy, excess_risk, mean_squared_error
from dpcore.training.gradient_descent import NoisyGradientDescent
from dpcore.training.losses import Absolute, Distance, Logistic, Loss, Squared
from dpcore.training.mean import LaplaceMean, MeanByLoss
from dpcore.training.median import IntervalMedian, MedianByLoss
from dpcore.training.objective_perturbation import ObjectivePerturbation, ObjectivePerturbation2012
from dpcore.training.optimum import Optimum, minimise
from dpcore.training.output_perturbation import OutputPerturbation
from dpcore.training.pure_perturbation import PureObjectivePerturbation
from dpcore.training.sgd import DisjointBatches, DpSgd
from dpcore.training.statistical_queries import StatisticalQueries, sample_size

__all__ = [
    "Absolute",
    "AdaSSP",
    "Ball",
    "BookGradientDescent",
    "ClippedExamples",
    "DisjointBatches",
    "Distance",
    "DpSgd",
    "Fit",
    "IntervalMedian",
    "LaplaceMean",
    "Logistic",
    "Loss",
    "MeanByLoss",
    "MedianByLoss",
    "Method",
    "NoisyGradientDescent",
    "ObjectivePerturbation",
    "ObjectivePerturbation2012",
    "Optimum",
    "OutputPerturbation",
    "PureObjectivePerturbation",
    "Squared",
    "StatisticalQueries",
    "accuracy",
    "catalog",
    "excess_risk",
    "majority_share",
    "mean_squared_error",
    "minimise",
    "non_private",
    "sample_size",
]


def catalog() -> dict[str, type[Method]]:
    """Every private method by its key, in the order pages show them."""
    return dict(discover("dpcore.training"))
