"""What the classifier and the regressor share: columns as declared, a table as codes, and the random generator."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted, validate_data

from dpcore.errors import InvalidArgument
from dpcore.training.choosing_pairs import CHOSEN, MOST_PAIRS, PAIRS_SHARE, choose_pairs
from dpcore.training.choosing_ways import BOUGHT, COARSE, FREE, PAIRED, PICK_SHARE, TRIAL_STEPS
from dpcore.training.chosen_steps import ChosenSteps, score
from dpcore.training.coded import CodedRows
from dpcore.training.declared import Declared
from dpcore.training.encoding import coded
from dpcore.training.paid_cuts import CUTS_SHARE
from dpcore.training.pairable import candidate_pairs
from dpcore.training.pairs import Pair, all_pairs, declared_pairs
from dpcore.training.scaled_descent import ScaledDescent, ScaledFit
from dpcore.training.scorecard import Scorecard
from dpcore.validate import FloatArray, IntArray, whole

if TYPE_CHECKING:
    from numpy.random import Generator


@dataclass(frozen=True, slots=True)
class Setting:
    """What can be tried: the learning rate, how many levels of cuts, from the coarsest on, columns have, whether cuts
    are bought, and how many pairs are."""

    rate: float | None = None
    levels: int | None = None
    bought: bool = False
    pairs: int = 0


ONE_WAY = Setting()
WAYS = {FREE: ONE_WAY, COARSE: Setting(levels=1), BOUGHT: Setting(bought=True), PAIRED: Setting(pairs=CHOSEN)}


@dataclass(frozen=True, slots=True, eq=False)
class Built:
    """A private model of one setting: its columns, with the cuts that were bought, its pairs, its rows, and what was
    fitted on them."""

    columns: dict[Any, Declared]
    pairs: tuple[Pair, ...]
    rows: CodedRows
    fitted: ScaledFit


def cuts_share(declared: Mapping[Any, Declared]) -> float:
    """What buying cuts takes of 1/σ²."""
    return CUTS_SHARE if any(column.paid for column in declared.values()) else 0.0


def pairs_share(pairs: Any) -> float:
    """What choosing pairs takes of 1/σ²: nothing where they are declared."""
    return PAIRS_SHARE if isinstance(pairs, int) else 0.0


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
            array = check_array(
                X, dtype=None, ensure_all_finite=False, ensure_min_samples=0, ensure_min_features=0, estimator=self
            )
            validate_data(self, array, reset=reset, skip_check_array=True)
            if array.shape[1] == 0:
                raise InvalidArgument("X", f"has 0 feature(s) (shape={array.shape}) while a minimum of 1 is required.")
            return pd.DataFrame(array, columns=range(array.shape[1]))
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
    def _bought(
        frame: pd.DataFrame, declared: Mapping[Any, Declared], method: ScaledDescent, rng: Generator
    ) -> dict[Any, Declared]:
        """The columns with their paid cuts, all bought in one Gaussian release with the method's ``cuts_share``."""
        paid = sum(column.paid for column in declared.values())
        return {
            name: column.bought(frame[name], noise=method.cuts_noise, columns=paid, rng=rng) if column.paid else column
            for name, column in declared.items()
        }

    def _built(
        self,
        frame: pd.DataFrame,
        declared: Mapping[Any, Declared],
        kept: IntArray,
        y: FloatArray,
        method: ScaledDescent,
        rng: Generator,
        setting: Setting = ONE_WAY,
    ) -> Built:
        """A model of one setting by all of the ``method``'s budget, on the ``kept`` rows with answers ``y``."""
        columns = {name: column.to_be_bought() for name, column in declared.items()} if setting.bought else declared
        share = pairs_share(setting.pairs or self.pairs)
        own = replace(method, rate=setting.rate, cuts_share=cuts_share(columns), pairs_share=share)
        cut = self._bought(frame, columns, own, rng)
        cut = {name: column.at_levels(setting.levels) for name, column in cut.items()}
        rows, pairs = self._coded(frame, cut, kept, y, own, rng, setting.pairs or self.pairs)
        return Built(cut, pairs, rows, own.fit(rows, y, rng))

    def _way(
        self,
        frame: pd.DataFrame,
        declared: Mapping[Any, Declared],
        kept: IntArray,
        y: FloatArray,
        method: ScaledDescent,
        rng: Generator,
    ) -> Built:
        """The way that does best, drawn and then built, each with its part of 1/σ²: see ``ChosenSteps``."""
        fields = ("epsilon", "delta", "loss", "steps", "classes", "neighbours")
        choice = ChosenSteps(**{name: getattr(method, name) for name in fields})
        ways = _ways(declared)
        share = choice.ways_share * (1.0 - PICK_SHARE) / len(ways)
        scores = []
        for setting in ways.values():
            trial = replace(choice.with_share(share).descent(), steps=min(method.steps, TRIAL_STEPS))
            built = self._built(frame, declared, kept, y, trial, rng, setting)
            margins = built.rows.margins(built.fitted.weights[0]).astype(np.float64) * built.fitted.factors[0]
            scores.append(score(method.loss, margins, y))
        drawn = int(choice.mechanism.sample(np.array(scores), rng, 1)[0])
        self.way_ = list(ways)[drawn]
        return self._built(
            frame, declared, kept, y, choice.with_share(1.0 - choice.ways_share).descent(), rng, ways[self.way_]
        )

    def _coded(
        self,
        frame: pd.DataFrame,
        declared: Mapping[Any, Declared],
        kept: IntArray,
        y: FloatArray,
        method: ScaledDescent,
        rng: Generator,
        asked: Any,
    ) -> tuple[CodedRows, tuple[Pair, ...]]:
        """The ``kept`` rows as codes, with answers ``y``, and the pairs in them: declared, or as many as ``asked`` for
        chosen with ``pairs_share`` of the method."""
        columns = [column.encoding for column in declared.values()]
        typed = [column.typed(frame[name])[kept] for name, column in declared.items()]
        if method.pairs_share:
            pairs = choose_pairs(method, columns, typed, y, many=asked, rng=rng)
        else:
            pairs = declared_pairs(columns, [[str(name) for name in pair] for pair in self._pairs()])
        return coded(columns, typed, pairs=pairs), pairs

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
        if len(_ways(declared)) < 2:
            raise InvalidArgument("columns", "leave only one way to build the model: there is nothing to choose")

    def _check_pairs(self, declared: Mapping[Any, Declared]) -> None:
        """Refuses pairs that cannot be, before anything is spent; numbers whose cuts are to be bought have few steps.

        Raises InvalidArgument.
        """
        columns = [column.encoding for column in declared.values()]
        declared_pairs(columns, [[str(name) for name in pair] for pair in self._pairs()])
        if pairs_share(self.pairs) and len(declared) < 2:
            raise InvalidArgument("pairs", "need at least two columns")
        if pairs_share(self.pairs) and not any(column.paid for column in declared.values()):
            candidate_pairs(columns)

    def _pairs(self) -> list[list[Any]]:
        """The pairs that are declared; none where they are to be chosen. Raises InvalidArgument."""
        given = self.pairs
        if given is None:
            return []
        if isinstance(given, int) and not isinstance(given, bool):
            whole(1, MOST_PAIRS, pairs=given)
            return []
        if not isinstance(given, (list, tuple)) or any(not isinstance(pair, (list, tuple)) for pair in given):
            raise InvalidArgument("pairs", "must be how many to choose, or a list such as [(“age”, “education”)]")
        return [list(pair) for pair in given]

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


def _ways(declared: Mapping[Any, Declared]) -> dict[str, Setting]:
    """The ways that the declarations allow."""
    columns = [column.encoding for column in declared.values()]
    cut = [len(column.levels) for column in columns]
    possible = {FREE: True, COARSE: any(many > 1 for many in cut), BOUGHT: any(cut), PAIRED: bool(all_pairs(columns))}
    return {way: setting for way, setting in WAYS.items() if possible[way]}


def answers(y: Any, rows: int) -> pd.Series:
    """y as a series of one entry a row; its shape is looked at, its values are not."""
    if y is None:
        raise InvalidArgument("y", "is needed: requires y to be passed, but the target y is None")
    values = np.asarray(y) if not isinstance(y, pd.Series) else y
    if values.ndim == 2 and values.shape[1] == 1:
        import warnings

        from sklearn.exceptions import DataConversionWarning

        warnings.warn("A column-vector y was passed when a 1d array was expected.", DataConversionWarning, stacklevel=3)
        values = np.asarray(values)[:, 0]
    if values.ndim != 1 or values.shape[0] != rows:
        raise InvalidArgument("y", "must be a list with one entry for every row of X")
    return pd.Series(values).reset_index(drop=True)


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    raise InvalidArgument("columns", "must have options and classes that are texts, numbers or true and false")
