"""Private training: which model a budget buys, and how much accuracy and risk it costs.

Rows are numbers of length at most 1 (``Features`` makes them from a table by public constants), answers are −1 and 1
or numbers in [−1, 1]. Every class in ``catalog()`` trains private models by ``fit``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dpcore.discovery import discover
from dpcore.training.adassp import AdaSSP
from dpcore.training.ball import Ball
from dpcore.training.ball_problem import BallProblem
from dpcore.training.ball_world import BallWorld, approximate_excess, pure_excess
from dpcore.training.baselines import majority_share, non_private
from dpcore.training.book import BookGradientDescent
from dpcore.training.book_lessons import BookLesson, BookSplit, book_lesson, book_spend, book_split, count_not_positive
from dpcore.training.bought_steps import BoughtSteps
from dpcore.training.choosable import ChoosableRows
from dpcore.training.chosen_steps import ChosenSteps
from dpcore.training.class_names import NoisyClassNames
from dpcore.training.clipped_examples import ClippedExamples
from dpcore.training.coded import CodedRows
from dpcore.training.cuts import calendar_cuts, own_cuts, public_cuts
from dpcore.training.declared import Declared, coded_rows
from dpcore.training.dense_rows import DenseRows
from dpcore.training.encoding import Encoding, cut
from dpcore.training.features import Features, Prepared
from dpcore.training.fit import Fit, Method, accuracy, excess_risk, mean_squared_error, projected
from dpcore.training.gradient_descent import NoisyGradientDescent
from dpcore.training.inside import batch_curve, gradient_lengths, loss_curves, ridge_curve
from dpcore.training.judged import Judged, absolute_errors, judge
from dpcore.training.judges import judges
from dpcore.training.lessons import (
    Rows,
    TuningPrice,
    clipping_curve,
    steps_curve,
    tuning_price,
)
from dpcore.training.losses import Absolute, Distance, Logistic, Loss, Squared
from dpcore.training.mean import LaplaceMean, MeanByLoss
from dpcore.training.median import IntervalMedian, MedianByLoss
from dpcore.training.model import LinearModel, load_model, predict
from dpcore.training.objective_perturbation import ObjectivePerturbation, ObjectivePerturbation2012
from dpcore.training.one_person import SumWorlds
from dpcore.training.optimum import Optimum, minimise
from dpcore.training.output_perturbation import OutputPerturbation
from dpcore.training.pairable import PairableRows
from dpcore.training.paired_steps import PairedSteps
from dpcore.training.plan import RADIUS, Part, Sweep, build, suitable, usual_methods
from dpcore.training.proved import ProvedDescent
from dpcore.training.pure_perturbation import PureObjectivePerturbation
from dpcore.training.quality import (
    area_under_curve,
    balanced_accuracy,
    calibration_table,
    confusion_table,
    mean_absolute_error,
)
from dpcore.training.rates import RATES, descent_bound, proved_descent, rate
from dpcore.training.scaled_descent import ScaledDescent, ScaledFit
from dpcore.training.scaled_steps import ScaledSteps
from dpcore.training.scorecard import Scorecard, load_scorecard
from dpcore.training.sgd import DisjointBatches, DpSgd
from dpcore.training.simple_problems import LineProblem, OneNumberProblem
from dpcore.training.statistical_queries import StatisticalQueries, sample_size
from dpcore.training.sweep import PartResult, collect, reaching, run_slice, stream
from dpcore.training.trace import Trace, descent_trace
from dpcore.training.training_problem import TrainingProblem
from dpcore.training.uncut import UncutRows

if TYPE_CHECKING:
    from dpcore.training.estimators.classifier import PrivateClassifier
    from dpcore.training.estimators.regressor import PrivateRegressor
    from dpcore.training.estimators.released import released_estimator

__all__ = [
    "RADIUS",
    "RATES",
    "Absolute",
    "AdaSSP",
    "Ball",
    "BallProblem",
    "BallWorld",
    "BookGradientDescent",
    "BookLesson",
    "BookSplit",
    "BoughtSteps",
    "ChoosableRows",
    "ChosenSteps",
    "ClippedExamples",
    "CodedRows",
    "Declared",
    "DenseRows",
    "DisjointBatches",
    "Distance",
    "DpSgd",
    "Encoding",
    "Features",
    "Fit",
    "IntervalMedian",
    "Judged",
    "LaplaceMean",
    "LineProblem",
    "LinearModel",
    "Logistic",
    "Loss",
    "MeanByLoss",
    "MedianByLoss",
    "Method",
    "NoisyClassNames",
    "NoisyGradientDescent",
    "ObjectivePerturbation",
    "ObjectivePerturbation2012",
    "OneNumberProblem",
    "Optimum",
    "OutputPerturbation",
    "PairableRows",
    "PairedSteps",
    "Part",
    "PartResult",
    "Prepared",
    "PrivateClassifier",
    "PrivateRegressor",
    "ProvedDescent",
    "PureObjectivePerturbation",
    "Rows",
    "ScaledDescent",
    "ScaledFit",
    "ScaledSteps",
    "Scorecard",
    "Squared",
    "StatisticalQueries",
    "SumWorlds",
    "Sweep",
    "Trace",
    "TrainingProblem",
    "TuningPrice",
    "UncutRows",
    "absolute_errors",
    "accuracy",
    "approximate_excess",
    "area_under_curve",
    "balanced_accuracy",
    "batch_curve",
    "book_lesson",
    "book_spend",
    "book_split",
    "build",
    "calendar_cuts",
    "calibration_table",
    "catalog",
    "clipping_curve",
    "coded_rows",
    "collect",
    "confusion_table",
    "count_not_positive",
    "cut",
    "descent_bound",
    "descent_trace",
    "excess_risk",
    "gradient_lengths",
    "judge",
    "judges",
    "load_model",
    "load_scorecard",
    "loss_curves",
    "majority_share",
    "mean_absolute_error",
    "mean_squared_error",
    "minimise",
    "non_private",
    "own_cuts",
    "predict",
    "projected",
    "proved_descent",
    "public_cuts",
    "pure_excess",
    "rate",
    "reaching",
    "released_estimator",
    "ridge_curve",
    "run_slice",
    "sample_size",
    "steps_curve",
    "stream",
    "suitable",
    "tuning_price",
    "usual_methods",
]


def catalog() -> dict[str, type[Method]]:
    """Every private method by its key, in the order pages show them."""
    return dict(discover("dpcore.training"))


def __getattr__(name: str) -> Any:
    """The scikit-learn estimators, loaded when first asked for: scikit-learn is not needed for anything else."""
    if name == "PrivateClassifier":
        from dpcore.training.estimators.classifier import PrivateClassifier

        return PrivateClassifier
    if name == "PrivateRegressor":
        from dpcore.training.estimators.regressor import PrivateRegressor

        return PrivateRegressor
    if name == "released_estimator":
        from dpcore.training.estimators.released import released_estimator

        return released_estimator
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
