"""A released model's file as a scikit-learn estimator: for pipelines, metrics and inspection. Nothing is trained."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from dpcore.errors import InvalidArgument
from dpcore.training.model import LinearModel, load_model
from dpcore.validate import FloatArray


class _Released:
    """What both share. ``model`` is a file of a released model, its text or contents, or a ``LinearModel``."""

    model: Any

    def fit(self, X: Any = None, y: Any = None) -> Self:
        """Reads the file again and changes nothing: a released model is trained already. X and y are not looked at."""
        self.loaded_ = self._loaded()
        return self

    def _loaded(self) -> LinearModel:
        found: LinearModel | None = getattr(self, "loaded_", None)
        if found is None:
            found = self.model if isinstance(self.model, LinearModel) else load_model(self.model)
        return found

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def _frame(self, X: Any) -> pd.DataFrame:
        if not isinstance(X, pd.DataFrame):
            raise InvalidArgument("X", "must be a frame with the columns that the model was released for")
        return X


class ReleasedClassifier(_Released, ClassifierMixin, BaseEstimator):  # type: ignore[misc] # no types there
    """Classes from a released model's file. Raises InvalidArgument, a ValueError."""

    def __init__(self, model: Any = None) -> None:
        self.model = model

    @property
    def classes_(self) -> Any:
        """The other class and the positive one, or all that are told apart."""
        return np.array(self._loaded().classes)

    def decision_function(self, X: Any) -> FloatArray:
        """Log-odds of the positive class, shape (n,), or of every class up to a constant, shape (n, classes)."""
        return self._loaded().margins(self._frame(X))

    def predict_proba(self, X: Any) -> FloatArray:
        """The chance of every class in the order of ``classes_``, shape (n, classes)."""
        positive = self._loaded().chances(self._frame(X))
        if positive.ndim == 2:
            return positive
        return np.column_stack([1.0 - positive, positive])

    def predict(self, X: Any) -> Any:
        """The likelier class of every row."""
        return np.array(self._loaded().predict(self._frame(X)))


class ReleasedRegressor(_Released, RegressorMixin, BaseEstimator):  # type: ignore[misc] # no types there
    """A number from a released model's file. Raises InvalidArgument, a ValueError."""

    def __init__(self, model: Any = None) -> None:
        self.model = model

    def predict(self, X: Any) -> FloatArray:
        """The number of every row, within the bounds that were declared, shape (n,)."""
        return np.asarray(self._loaded().predict(self._frame(X)), dtype=np.float64)


def released_estimator(model: Any) -> ReleasedClassifier | ReleasedRegressor:
    """The estimator that suits a released model: a file, its text or contents, or a ``LinearModel``.

    Raises InvalidArgument for anything else.
    """
    loaded = model if isinstance(model, LinearModel) else load_model(model)
    return ReleasedClassifier(loaded) if loaded.features.classifies else ReleasedRegressor(loaded)
