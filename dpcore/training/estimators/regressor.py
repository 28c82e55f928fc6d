"""A private regressor for anyone who knows scikit-learn."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin

from dpcore.costs import Cost
from dpcore.errors import InvalidArgument
from dpcore.training.declared import numbers
from dpcore.training.estimators.building import Building, cuts_share, pairs_share
from dpcore.training.estimators.shared import PrivateLinear, answers
from dpcore.training.losses import SQUARED
from dpcore.training.scaled_descent import ScaledDescent
from dpcore.training.scorecard import scorecard
from dpcore.validate import FloatArray


class PrivateRegressor(PrivateLinear, RegressorMixin, BaseEstimator):  # type: ignore[misc] # no types there
    """A number within declared bounds ``target`` = (low, high); columns, ``pairs``, ``choose`` and privacy
    as ``PrivateClassifier``.

    Answers beyond the bounds move to them; rows without one are left out. Raises InvalidArgument, a ValueError.
    """

    def __init__(
        self,
        epsilon: float = 1.0,
        delta: float = 1e-5,
        columns: Any = None,
        target: tuple[float, float] | None = None,
        random_state: Any = None,
        *,
        pairs: Any = None,
        choose: bool = False,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.columns = columns
        self.target = target
        self.random_state = random_state
        self.pairs = pairs
        self.choose = choose

    def fit(self, X: Any, y: Any) -> Self:
        """Train on a frame or array X and numbers y, one entry a row."""
        frame = self._table(X, reset=True)
        given = answers(y, len(frame))
        low, high = _bounds(self.target)
        declared = self._declare(frame)
        self._check_pairs(declared)
        found = numbers(given)
        kept = np.flatnonzero(~np.isnan(found))
        scaled = np.clip(2.0 * (np.clip(found[kept], low, high) - low) / (high - low) - 1.0, -1.0, 1.0)
        method = ScaledDescent(
            epsilon=self.epsilon,
            delta=self.delta,
            loss=SQUARED,
            calibration_share=0.0,
            cuts_share=cuts_share(declared),
            pairs_share=pairs_share(self.pairs),
        )
        rng = self._generator()
        building = Building(frame, declared, kept, scaled, self._pairs(), rng)
        if self.choose:
            self._check_choose(declared)
            self.way_, best = building.best(method)
        else:
            best = building.built(method)
        declared, pairs, fitted = best.columns, best.pairs, best.fitted
        self.cost_ = Cost(epsilon=float(self.epsilon), delta=float(self.delta))
        self.scorecard_ = scorecard(
            list(declared.values()),
            fitted.weights[0],
            pairs=pairs,
            target=(low, high),
            about={
                "epsilon": float(self.epsilon),
                "delta": float(self.delta),
                "rows": round(float(fitted.rows[0])),
            },
        )
        return self

    def predict(self, X: Any) -> FloatArray:
        """The number of every row, within the target's bounds, shape (n,)."""
        low, high = _bounds(self.target)
        inside = np.clip(self._margins(X)[:, 0], -1.0, 1.0)
        return np.asarray(low + (inside + 1.0) / 2.0 * (high - low))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.non_deterministic = self.random_state is None
        return tags


def _bounds(target: tuple[float, float] | None) -> tuple[float, float]:
    if target is None:
        raise InvalidArgument("target", "must be declared as (low, high): bounds read from the data would give away")
    try:
        low, high = (float(bound) for bound in target)
    except (TypeError, ValueError, OverflowError):
        raise InvalidArgument("target", "must be two numbers, (low, high)") from None
    if not -np.inf < low < high < np.inf:
        raise InvalidArgument("target", "must be a finite lowest value below a finite highest one")
    return low, high
