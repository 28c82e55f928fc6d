"""A private classifier for anyone who knows scikit-learn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from typing import Any, Self

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, ClassifierMixin

from dpcore.costs import Cost
from dpcore.errors import InvalidArgument
from dpcore.training.class_names import NoisyClassNames
from dpcore.training.declared import places
from dpcore.training.estimators.shared import PrivateLinear, answers, cuts_share
from dpcore.training.scaled_descent import ScaledDescent
from dpcore.training.scorecard import chances, scorecard
from dpcore.validate import FloatArray

NAMES_SHARE, NAMES_DELTA = 0.1, 0.1  # of 1/σ² and of δ, where the classes are not declared


class PrivateClassifier(PrivateLinear, ClassifierMixin, BaseEstimator):  # type: ignore[misc] # no types there
    """Classes from numbers, dates and categories, (ε, δ)-differentially private for adding or removing one row.

    ``columns`` declares what is used, by name (for an array by position): ``(low, high)`` a number's or date's bounds,
    ``(low, high, "heavy")`` one that is mostly small and sometimes very large, ``(low, high, [cuts])`` own cuts,
    ``(low, high, "paid")`` cuts at private quantiles, which a tenth of 1/σ² buys for all such columns together, a list
    its options; one such pair instead of a dictionary holds for every column. All else has fixed defaults.

    The whole fit is private, by ``ScaledDescent`` on rows of codes: bounds, cuts and options are declared; a value
    beyond them moves to the bound, a missing or unknown one has a code of its own, row by row; the number of rows is
    only used through a noisy count. ``classes`` declares the classes (those of a pandas categorical y are declared by
    its type); else a tenth of 1/σ² and of δ find those that enough rows have (``NoisyClassNames``), and rows of others
    are left out. Nothing about values is refused, since a refusal would tell.

    Noise is drawn by NumPy in floating point: for models that leave the house use a release. ``random_state`` None
    draws it afresh from the operating system; a model fitted with a known seed is not private. Fitted: ``classes_``,
    ``scorecard_`` (points by step and option), ``cost_``. Raises InvalidArgument, a ValueError.
    """

    def __init__(
        self,
        epsilon: float = 1.0,
        delta: float = 1e-5,
        columns: Any = None,
        random_state: Any = None,
        *,
        classes: Any = None,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.columns = columns
        self.random_state = random_state
        self.classes = classes

    def fit(self, X: Any, y: Any) -> Self:
        """Train on a frame or array X and classes y, one entry a row."""
        frame = self._table(X, reset=True)
        labels = answers(y, len(frame))
        declared = self._declare(frame)
        rng = self._generator()
        names = _declared_classes(self.classes, y)
        unknown = names is None
        method = ScaledDescent(
            epsilon=self.epsilon,
            delta=self.delta * (1.0 - NAMES_DELTA * unknown),
            classes=2,
            names_share=NAMES_SHARE * unknown,
            cuts_share=cuts_share(declared),
        )
        if names is None:
            failure = NAMES_DELTA * self.delta / (1.0 + NAMES_DELTA * self.delta)
            finder = NoisyClassNames(noise=method.names_noise, failure=failure)
            names = finder.draw(Counter(name for name in labels.dropna().tolist() if isinstance(name, Hashable)), rng)
            if not names:
                raise InvalidArgument(
                    "classes",
                    "must be declared here: too few rows (such as 1 sample) at this epsilon to name one",
                )
        self.classes_ = _named(names)
        numbered = places(labels, names)
        kept = np.flatnonzero(~np.isnan(numbered))
        declared = self._bought(frame, declared, method, rng)
        rows = self._coded(frame, declared).take(kept)
        if len(names) < 2:
            weights, factor, people = np.zeros((rows.shape[1], 1)), 1.0, 0.0
        else:
            method = ScaledDescent(
                epsilon=method.epsilon,
                delta=method.delta,
                classes=len(names),
                names_share=method.names_share,
                cuts_share=method.cuts_share,
            )
            codes = numbered[kept]
            fitted = method.fit(rows, codes if len(names) > 2 else 2.0 * codes - 1.0, rng)
            weights, factor, people = fitted.weights[0], float(fitted.factors[0]), float(fitted.rows[0])
        self.cost_ = Cost(epsilon=float(self.epsilon), delta=float(self.delta))
        self.scorecard_ = scorecard(
            list(declared.values()),
            weights,
            classes=self.classes_.tolist(),
            factor=factor,
            about={"epsilon": float(self.epsilon), "delta": float(self.delta), "rows": round(people)},
        )
        return self

    def decision_function(self, X: Any) -> FloatArray:
        """Calibrated log-odds of the second of two classes, shape (n,); else points of every class, (n, classes)."""
        margins = self._margins(X)
        margins *= self.scorecard_.factor
        return np.asarray(margins[:, 0] if margins.shape[1] == 1 else margins)

    def predict_proba(self, X: Any) -> FloatArray:
        """The chance of every class in the order of ``classes_``, shape (n, classes)."""
        margins = self._margins(X)
        return chances(margins, self.scorecard_.factor, len(self.classes_))

    def predict(self, X: Any) -> Any:
        """The likeliest class of every row."""
        likeliest = self.predict_proba(X).argmax(axis=1)
        return self.classes_[likeliest]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.non_deterministic = self.random_state is None
        return tags


def _declared_classes(classes: Any, y: Any) -> list[Any] | None:
    """The classes that are public, in order, or None. Raises InvalidArgument."""
    if classes is not None:
        names = [name.item() if isinstance(name, np.generic) else name for name in classes]
        if len(names) < 2 or len(set(names)) != len(names):
            raise InvalidArgument("classes", "must name at least two different classes")
        return sorted(names, key=lambda name: (type(name).__name__, name))
    if isinstance(y, pd.Series) and isinstance(y.dtype, pd.CategoricalDtype) and len(y.dtype.categories) >= 2:
        return sorted(y.dtype.categories.tolist(), key=lambda name: (type(name).__name__, name))
    return None


def _named(names: list[Any]) -> Any:
    found = np.array(names)
    return found if found.tolist() == names else np.array(names, dtype=object)
