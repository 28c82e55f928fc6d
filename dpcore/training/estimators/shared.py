"""What the classifier and the regressor share: columns as declared, a table as codes, and the random generator."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted, validate_data

from dpcore.errors import InvalidArgument
from dpcore.training.choosing_pairs import MOST_PAIRS
from dpcore.training.declared import Declared
from dpcore.training.estimators.building import ways
from dpcore.training.pairable import candidate_pairs
from dpcore.training.pairs import declared_pairs
from dpcore.training.scorecard import Scorecard
from dpcore.validate import whole

if TYPE_CHECKING:
    from numpy.random import Generator


class PrivateLinear:
    """Fitting and taking home, common to both. Every sentence about privacy is in ``PrivateClassifier``."""

    columns: Any
    pairs: Any
    random_state: Any
    way_: str
    scorecard_: Scorecard

    def _table(self, X: Any, *, reset: bool) -> pd.DataFrame:
        """X as a frame whose columns have the declared names; nothing here looks at values, only at types and shape."""
        if not isinstance(X, pd.DataFrame):
            X = _entry_by_entry(X)
            array = check_array(
                X, dtype=None, ensure_all_finite=False, ensure_min_samples=0, ensure_min_features=0, estimator=self
            )
            validate_data(self, array, reset=reset, skip_check_array=True)
            if array.shape[1] == 0:
                raise InvalidArgument("X", f"has 0 feature(s) (shape={array.shape}) while a minimum of 1 is required.")
            # as objects where they are: a type for words would refuse half a sign, and so tell of one row
            return pd.DataFrame(array, columns=range(array.shape[1]), dtype=array.dtype)
        validate_data(self, X, reset=reset, skip_check_array=True)
        if not X.columns.is_unique:
            raise InvalidArgument("X", "must have columns with different names")
        return X

    def _declare(self, frame: pd.DataFrame) -> dict[Any, Declared]:
        """Each used column's name in the frame and what is declared of it. Raises InvalidArgument."""
        given = self.columns
        if given is None:
            raise InvalidArgument(
                "columns",
                "must be declared, such as {“age”: (17, 90), “sex”: [“female”, “male”]}: bounds and options "
                "read from the data would give people in them away",
            )
        if isinstance(given, tuple):
            given = dict.fromkeys(frame.columns, given)
        if not isinstance(given, Mapping) or not given:
            raise InvalidArgument("columns", "must be a dictionary by column name, or one (low, high) for all columns")
        missing = [str(name) for name in given if name not in frame.columns]
        if missing:
            raise InvalidArgument("X", f"must have the declared column “{missing[0]}”")
        return {name: Declared.of(name, declaration) for name, declaration in given.items()}

    @staticmethod
    def _width(declared: Mapping[Any, Declared]) -> int:
        """How many ones a row may have without pairs, the constant among them."""
        return sum(int(column.encoding.basis().shape[1]) for column in declared.values()) + 1

    def _check_choose(self, declared: Mapping[Any, Declared]) -> None:
        """Refuses a choice among ways where pairs or cuts are to be bought anyway, or there is one way alone.

        Raises InvalidArgument.
        """
        if isinstance(self.pairs, int):
            raise InvalidArgument("pairs", "must be declared or left out where the way is chosen")
        if any(column.paid for column in declared.values()):
            raise InvalidArgument("columns", "must not have cuts to be bought where the way is chosen")
        if len(ways(declared)) < 2:
            raise InvalidArgument("columns", "leave only one way to build the model: there is nothing to choose")

    def _check_pairs(self, declared: Mapping[Any, Declared]) -> None:
        """Refuses pairs that cannot be, before anything is spent; numbers whose cuts are to be bought have few steps.

        Raises InvalidArgument.
        """
        columns = [column.encoding for column in declared.values()]
        pairs = self._pairs()
        if not isinstance(pairs, int):
            declared_pairs(columns, pairs)
        elif len(declared) < 2:
            raise InvalidArgument("pairs", "need at least two columns")
        elif not any(column.paid for column in declared.values()):
            candidate_pairs(columns)

    def _pairs(self) -> list[list[str]] | int:
        """The names of the pairs that are declared, or how many are to be chosen. Raises InvalidArgument."""
        given = self.pairs
        if given is None:
            return []
        if isinstance(given, int) and not isinstance(given, bool):
            return whole(1, MOST_PAIRS, pairs=given)
        if not isinstance(given, (list, tuple)) or any(not isinstance(pair, (list, tuple)) for pair in given):
            raise InvalidArgument("pairs", "must be how many to choose, or a list such as [(“age”, “education”)]")
        return [[str(name) for name in pair] for pair in given]

    def _margins(self, X: Any) -> Any:
        check_is_fitted(self, "scorecard_")
        frame = self._table(X, reset=False)
        names = list(self._declare(frame))
        return self.scorecard_.margins(frame[names].set_axis([str(name) for name in names], axis=1))

    def _generator(self) -> Generator:
        seed = self.random_state
        if isinstance(seed, np.random.Generator):
            return seed
        if isinstance(seed, np.random.RandomState):
            seed = seed.randint(0, 2**31 - 1, size=8).tolist()
        return np.random.Generator(np.random.SFC64(seed))

    def to_json(self) -> str:
        """The fitted model as JSON, cuts and all; ``dpcore.training.load_scorecard`` reads it without scikit-learn."""
        check_is_fitted(self, "scorecard_")
        return json.dumps(self.scorecard_.plain(), default=_plain, ensure_ascii=False)

    def card(self) -> str:
        """The fitted model's card in words, in Markdown."""
        check_is_fitted(self, "scorecard_")
        return self.scorecard_.card()


def answers(y: Any, rows: int) -> pd.Series:
    """y as a series of one entry a row; its shape is looked at, its values are not.

    What has no type of its own, such as a list, gets none from its entries: one would decide it for all.
    """
    if y is None:
        raise InvalidArgument("y", "is needed: requires y to be passed, but the target y is None")
    if _untyped(y):
        y = pd.Series(_objects([one[0] if isinstance(one, list) and len(one) == 1 else one for one in y]), dtype=object)
    values = np.asarray(y) if not isinstance(y, pd.Series) else y
    if values.ndim == 2 and values.shape[1] == 1:
        import warnings

        from sklearn.exceptions import DataConversionWarning

        warnings.warn("A column-vector y was passed when a 1d array was expected.", DataConversionWarning, stacklevel=3)
        values = np.asarray(values)[:, 0]
    if values.ndim != 1 or values.shape[0] != rows:
        raise InvalidArgument("y", "must be a list with one entry for every row of X")
    return pd.Series(values, dtype=object if values.dtype == object else None).reset_index(drop=True)


def _entry_by_entry(X: Any) -> Any:
    """A list of rows as an array of objects; what has a type of its own as it is. Raises InvalidArgument."""
    rows = list(X) if _untyped(X) else []
    if not rows or not all(_is_row(row) for row in rows):
        return X
    widths = {len(row) for row in rows}
    if len(widths) > 1:
        raise InvalidArgument("X", "must have as many entries in every row")
    return _objects([entry for row in rows for entry in row]).reshape(len(rows), widths.pop())


def _is_row(row: Any) -> bool:
    return isinstance(row, list | tuple) or (isinstance(row, np.ndarray) and row.ndim == 1)


def _untyped(values: Any) -> bool:
    """Whether it holds entries of whatever types, such as a list, and no type of its own for all of them."""
    own = ("dtype", "__array__", "__dataframe__")
    return isinstance(values, Iterable) and not isinstance(values, str) and not any(hasattr(values, one) for one in own)


def _objects(entries: list[Any]) -> Any:
    """One entry each, whatever it holds: NumPy would make a table of lists of one length."""
    return np.fromiter(entries, dtype=object, count=len(entries))


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    raise InvalidArgument("columns", "must have options and classes that are texts, numbers or true and false")
