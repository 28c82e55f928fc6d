"""What private models are measured against: no privacy, and no model."""

from __future__ import annotations

import math
from dataclasses import replace
from types import MappingProxyType

import numpy as np
from scipy.special import logsumexp

from dpcore.about import About
from dpcore.accounting import Cost
from dpcore.errors import InvalidArgument
from dpcore.training.fit import Fit, checked_classes, checked_rows
from dpcore.training.losses import LOGISTIC, Loss
from dpcore.training.optimum import minimise
from dpcore.validate import FloatArray, finite_vector, non_negative, whole

NON_PRIVATE, MAJORITY = "non_private", "majority_class"
ABOUTS = MappingProxyType(
    {
        NON_PRIVATE: About(
            name="Without privacy",
            plain="the best model, nothing hidden",
            how="The model that fits the rows best, found without any noise. It shows what privacy costs.",
            source="The smallest mean loss, with a little ridge.",
        ),
        MAJORITY: About(
            name="Always the commonest",
            plain="always guess the commonest class",
            how="No model at all: everyone is guessed to be in the commonest class. A model worth having does better.",
            source="The share of the commonest class.",
        ),
    }
)


def non_private(X: FloatArray, y: FloatArray, loss: Loss = LOGISTIC, *, ridge: float = 0.01) -> Fit:
    """The best model without privacy; ``ridge`` is on the scale of the summed loss, (ridge/2)‖w‖².

    A little ridge keeps columns that few rows have from being learnt by heart. Raises InvalidArgument.
    """
    rows, answers = checked_rows(X, y, loss)
    ridged = replace(loss, ridge=loss.ridge + non_negative(ridge=ridge) / rows.shape[0])
    weights = minimise(ridged, rows, answers).weights
    return Fit(weights=weights[None], loss=loss, method=NON_PRIVATE, cost=Cost(epsilon=math.inf))


def non_private_classes(X: FloatArray, y: FloatArray, classes: int, *, ridge: float = 0.01) -> FloatArray:
    """The best softmax model without privacy of ``classes`` numbered from 0: weights (d, classes).

    ``ridge`` as in ``non_private``. Raises InvalidArgument.
    """
    from scipy.optimize import minimize

    rows, answers = checked_classes(X, y, whole(2, classes=classes))
    own = np.eye(classes)[answers.astype(np.int64)]
    shape = (rows.shape[1], classes)

    def loss(flat: FloatArray) -> tuple[float, FloatArray]:
        weights = flat.reshape(shape)
        margins = rows @ weights
        total = logsumexp(margins, axis=1)
        slopes = np.exp(margins - total[:, None]) - own
        value = float((total - (margins * own).sum(axis=1)).sum() + 0.5 * ridge * (flat**2).sum())
        return value / rows.shape[0], ((rows.T @ slopes + ridge * weights) / rows.shape[0]).ravel()

    found = minimize(loss, np.zeros(shape[0] * classes), jac=True, method="L-BFGS-B", options={"maxiter": 300})
    return np.asarray(found.x.reshape(shape))


def commonest_share(y: FloatArray) -> float:
    """How often always guessing the most frequent of several labels is right. Raises InvalidArgument."""
    return float(np.unique(finite_vector(y=y), return_counts=True)[1].max() / y.size)


def majority_share(y: FloatArray) -> float:
    """How often always guessing the more frequent of two labels −1 and 1 is right. Raises InvalidArgument."""
    answers = finite_vector(y=y)
    if not np.isin(answers, (-1.0, 1.0)).all():
        raise InvalidArgument("y", "must be −1 or 1 everywhere")
    share = float((answers > 0).mean())
    return max(share, 1.0 - share)
