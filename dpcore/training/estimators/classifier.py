"""A private classifier for anyone who knows scikit-learn."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, ClassifierMixin

from dpcore.costs import Cost
from dpcore.errors import InvalidArgument
from dpcore.training.class_names import NoisyClassNames
from dpcore.training.declared import places, told_apart
from dpcore.training.entries import HELD, held_exactly, named
from dpcore.training.estimators.building import Building, Built, Setting, buy_cuts, cuts_share, pairs_share
from dpcore.training.estimators.shared import PrivateLinear, answers
from dpcore.training.pairs import Pair
from dpcore.training.scaled_descent import ScaledDescent
from dpcore.training.scorecard import chances, scorecard
from dpcore.training.tuning import LogarithmicTries
from dpcore.validate import FloatArray

if TYPE_CHECKING:
    from numpy.random import Generator

NAMES_SHARE, NAMES_DELTA = 0.1, 0.1  # of 1/σ² and of δ, where the classes are not declared


SETTINGS = tuple(Setting(rate, levels) for levels in (None, 1) for rate in (None, 1.0, 5.0))


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
    are left out; a class is a text, true or false, or a number, whichever type it comes in. Nothing about values is
    refused, since a refusal would tell.

    Each entry is read by itself (``entries``): in a list, and in an array or frame whose type one entry decided, an
    option or a declared class is what it is among numbers, texts or objects. What columns a frame has, how many entries
    a row has and whether numbers may be complex is public, as are the categories of a pandas categorical y.

    ``tries`` None takes the fixed settings. A number above 1 chooses among ``SETTINGS`` privately: so many tries on
    average, each with a setting at random, of which the one is kept whose noisy count of rows told right is highest.
    All tries together and the choice are (ε, δ)-DP (``LogarithmicTries``), so that each has about half of ε; classes
    must be declared. Seldom worth it: ``docs/benchmarks-tuning.md``.

    ``choose`` tries four ways to build the model with a tenth of 1/σ² and takes the one that a private choice finds
    best (``ChosenSteps``); ``way_`` names it. Where it is worth it: ``docs/benchmarks-tuning.md``.

    ``pairs`` lets columns act together: a list of pairs of names declares which, such as ``[("age", "education")]``; a
    number buys the choice of so many with a quarter of 1/σ² (``choose_pairs``). Worth it where there are many rows:
    ``docs/benchmarks-pairs.md``.

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
        tries: float | None = None,
        pairs: Any = None,
        choose: bool = False,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.columns = columns
        self.random_state = random_state
        self.classes = classes
        self.tries = tries
        self.pairs = pairs
        self.choose = choose

    def fit(self, X: Any, y: Any) -> Self:
        """Train on a frame or array X and classes y, one entry a row."""
        frame = self._table(X, reset=True)
        labels = answers(y, len(frame))
        declared = self._declare(frame)
        self._check_pairs(declared)
        rng = self._generator()
        names = _declared_classes(self.classes, y)
        unknown = names is None
        level = float(self.epsilon)
        if self.choose:
            self._check_choose(declared)
            if unknown:
                raise InvalidArgument("classes", "must be declared where the way is chosen")
            if self.tries is not None:
                raise InvalidArgument("tries", "must be left out where the way is chosen")
        if self.tries is not None:
            if unknown:
                raise InvalidArgument("classes", "must be declared where settings are tried")
            level = LogarithmicTries(mean=self.tries).one_try(self.epsilon, self.delta)
        method = ScaledDescent(
            epsilon=level,
            delta=self.delta * (1.0 - NAMES_DELTA * unknown),
            classes=2,
            names_share=NAMES_SHARE * unknown,
            cuts_share=cuts_share(declared),
            pairs_share=pairs_share(self.pairs),
        )
        if names is None:
            failure = NAMES_DELTA * self.delta / (1.0 + NAMES_DELTA * self.delta)
            finder = NoisyClassNames(noise=method.names_noise, failure=failure)
            written = [named(label) for label in labels]
            found = finder.draw(Counter(name for name in written if name), rng)
            if not found:
                raise InvalidArgument(
                    "classes",
                    "must be declared here: too few rows (such as 1 sample) at this epsilon to name one",
                )
            of_name: dict[Any, float] = {name: float(place) for place, name in enumerate(found)}
            names = [value for _, value in of_name]
            numbered = np.array([of_name.get(name, np.nan) for name in written], dtype=np.float64)
        else:
            numbered = places(labels, names)
        self.classes_ = _named(names)
        kept = np.flatnonzero(~np.isnan(numbered))
        if len(names) < 2:
            declared = buy_cuts(frame, declared, method, rng)
            pairs: tuple[Pair, ...] = ()
            weights = np.zeros((self._width(declared), 1))
            factor, people = 1.0, 0.0
        else:
            codes = numbered[kept]
            targets = codes if len(names) > 2 else 2.0 * codes - 1.0
            made = replace(method, classes=len(names))
            building = Building(frame, declared, kept, targets, self._pairs(), rng)
            if self.choose:
                self.way_, best = building.best(made)
            else:
                best = max((building.built(made, one) for one in self._settings(rng)), key=_told_right)
            declared, pairs, fitted = best.columns, best.pairs, best.fitted
            weights, factor, people = fitted.weights[0], float(fitted.factors[0]), float(fitted.rows[0])
        self.cost_ = Cost(epsilon=float(self.epsilon), delta=float(self.delta))
        self.scorecard_ = scorecard(
            list(declared.values()),
            weights,
            pairs=pairs,
            classes=self.classes_.tolist(),
            factor=factor,
            about={"epsilon": float(self.epsilon), "delta": float(self.delta), "rows": round(people)},
        )
        return self

    def _settings(self, rng: Generator) -> list[Setting]:
        """What is tried: the fixed setting, or a random number of random ones."""
        if self.tries is None:
            return [SETTINGS[0]]
        many = LogarithmicTries(mean=self.tries).draw(rng)
        return [SETTINGS[place] for place in rng.integers(len(SETTINGS), size=many)]

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


def _told_right(tried: Built) -> float:
    """The noisy number of training rows that a try tells right: a part of what the try gives out."""
    return float(tried.fitted.right[0])


def _declared_classes(classes: Any, y: Any) -> list[Any] | None:
    """The classes that are public, in order, or None. Raises InvalidArgument."""
    if classes is not None:
        given = list(classes)
    elif isinstance(y, pd.Series) and isinstance(y.dtype, pd.CategoricalDtype) and len(y.dtype.categories) >= 2:
        given = list(y.dtype.categories.to_numpy())
    else:
        return None
    names = [name.item() if isinstance(name, np.generic) else name for name in given]
    if len(names) < 2 or not told_apart(names):
        raise InvalidArgument("classes", "must name at least two different classes, none missing; “1” and 1 are one")
    if not all(map(held_exactly, given)):
        raise InvalidArgument("classes", f"must name numbers {HELD}")
    return sorted(names, key=lambda name: (type(name).__name__, name))


def _named(names: list[Any]) -> Any:
    found = np.array(names)
    return found if found.tolist() == names else np.array(names, dtype=object)
