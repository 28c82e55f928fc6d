"""How far private models of one setting can be trusted, on rows they were not trained on. This looks at the data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np
from scipy.special import expit, softmax

from dpcore.errors import InvalidArgument
from dpcore.training.losses import Logistic
from dpcore.training.plan import Sweep
from dpcore.training.quality import STEPS, area_under_curve, calibration_table
from dpcore.training.sweep import trained
from dpcore.validate import FloatArray, whole

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Judged:
    """Of several private models of k classes: ``confusion`` (k, k) is the mean number of test rows of each class (in
    rows: of two classes the other, the positive) told to be of each; ``area`` and ``balanced`` (models,) are AUC and
    balanced accuracy, NaN where the test rows have one class only, the first as well for more than two classes;
    ``calibration`` is that of all models together: of the positive class, of several of the class that is told.
    """

    confusion: FloatArray
    area: FloatArray
    balanced: FloatArray
    calibration: pd.DataFrame

    @classmethod
    def together(cls, parts: Sequence[Judged]) -> Self:
        """Of the models of all ``parts``, which were judged on the same rows."""
        import pandas as pd

        models = np.array([part.area.size for part in parts])
        rows, chance, share = (
            np.concatenate([part.calibration[name].to_numpy(dtype=np.float64) for part in parts])
            for name in ("rows", "chance", "share")
        )
        steps = np.minimum((chance * STEPS).astype(np.int64), STEPS - 1)  # a mean lies within its step
        sizes, *sums = (
            np.bincount(steps, rows * each, minlength=STEPS) for each in (np.ones(rows.size), chance, share)
        )
        there = sizes > 0
        means = dict(zip(("chance", "share"), (one[there] / sizes[there] for one in sums), strict=True))
        return cls(
            confusion=np.average([part.confusion for part in parts], axis=0, weights=models),
            area=np.concatenate([part.area for part in parts]),
            balanced=np.concatenate([part.balanced for part in parts]),
            calibration=pd.DataFrame({"rows": sizes[there].astype(np.int64), **means}),
        )

    @property
    def gap(self) -> float:
        """How far a stated chance is from the share that is really so, on average over rows."""
        table = self.calibration
        return float(np.average(np.abs(table["chance"] - table["share"]), weights=table["rows"]))


def judge(sweep: Sweep, method: str, epsilon: float, *, models: int = 12, number: int = 0) -> Judged:
    """Train ``models`` private models of ``sweep``'s training rows and judge them on its test rows; those of another
    ``number`` are other ones.

    Chances are those that a model's file states: the logistic curve of the margin. Raises InvalidArgument for a number
    to predict.
    """
    if not isinstance(sweep.loss, Logistic):
        raise InvalidArgument("sweep", "must be about classes")
    margins = trained(sweep, method, epsilon, whole(1, models=models), number)
    if sweep.classes > 2:
        return _judge_classes(sweep, margins)
    members = sweep.y_test > 0.0
    told = margins > 0.0
    tables = np.array(
        [
            [[float(((members == own) & (one == said)).sum()) for said in (False, True)] for own in (False, True)]
            for one in told.T
        ]
    )
    sizes = tables.sum(axis=2)
    both = bool((sizes[0] > 0).all())
    shares = np.diagonal(tables, axis1=1, axis2=2) / np.maximum(sizes, 1.0)
    return Judged(
        confusion=tables.mean(axis=0),
        area=np.array([area_under_curve(members, one) for one in margins.T]),
        balanced=shares.mean(axis=1) if both else np.full(models, np.nan),
        calibration=calibration_table(np.tile(members, models), expit(margins.T.ravel())),
    )


def _judge_classes(sweep: Sweep, margins: FloatArray) -> Judged:
    """``margins`` are (test rows, models, classes)."""
    many, answers = sweep.classes, sweep.y_test.astype(np.int64)
    told = margins.argmax(axis=2)
    tables = np.array([np.bincount(answers * many + one, minlength=many**2).reshape(many, many) for one in told.T])
    sizes = tables.sum(axis=2)[0]
    there = sizes > 0
    shares = np.diagonal(tables, axis1=1, axis2=2)[:, there] / sizes[there]
    models = margins.shape[1]
    return Judged(
        confusion=tables.mean(axis=0),
        area=np.full(models, np.nan),
        balanced=shares.mean(axis=1) if there.sum() > 1 else np.full(models, np.nan),
        calibration=calibration_table((told == answers[:, None]).ravel(), softmax(margins, axis=2).max(axis=2).ravel()),
    )


def absolute_errors(sweep: Sweep, method: str, epsilon: float, *, models: int = 12, number: int = 0) -> FloatArray:
    """The mean absolute error of each of ``models`` private models of a number in −1..1 on the test rows, (models,);
    those of another ``number`` are other ones.

    Raises InvalidArgument for classes.
    """
    if isinstance(sweep.loss, Logistic):
        raise InvalidArgument("sweep", "must be about a number")
    margins = trained(sweep, method, epsilon, whole(1, models=models), number)
    return np.asarray(np.abs(np.clip(margins, -1.0, 1.0) - sweep.y_test[:, None]).mean(axis=0))
