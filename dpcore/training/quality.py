"""How good a model is on data it has not seen, where accuracy alone does not say. These look at the data: a model's
quality on the people it was trained on is not part of a release."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from dpcore.errors import InvalidArgument
from dpcore.validate import BoolArray, FloatArray, finite_vector, whole

if TYPE_CHECKING:
    import pandas as pd

STEPS = 10
"""Of the chances that a model gives, in a table of how far they can be believed."""


def area_under_curve(right: BoolArray, score: FloatArray) -> float:
    """AUC: the chance that a random row of the class has a higher ``score`` than one of the rest; ties count half.

    ``right`` (n,) says who is of the class. NaN where all are or none is. Raises InvalidArgument.
    """
    scores = finite_vector(score=score)
    members = np.asarray(right, dtype=bool)
    if members.shape != scores.shape:
        raise InvalidArgument("right", "must have one entry for every score")
    inside = int(members.sum())
    outside = members.size - inside
    if not inside or not outside:
        return float("nan")
    _, places, counts = np.unique(scores, return_inverse=True, return_counts=True)
    ranks = np.cumsum(counts) - (counts - 1) / 2.0
    return float((ranks[places][members].sum() - inside * (inside + 1) / 2.0) / (inside * outside))


def confusion_table(y: Sequence[Any], predicted: Sequence[Any], classes: Sequence[Any]) -> pd.DataFrame:
    """How many rows of every class (rows of the table) were told to be of each (its columns)."""
    import pandas as pd

    names = pd.Index(list(classes), dtype=object)
    if len(y) != len(predicted):
        raise InvalidArgument("predicted", "must have one entry for every row of y")
    places = [names.get_indexer(pd.Index(list(values), dtype=object)) for values in (y, predicted)]
    if any((own < 0).any() for own in places):
        raise InvalidArgument("classes", "must name every class that occurs")
    counts = np.bincount(places[0] * len(names) + places[1], minlength=len(names) ** 2)
    return pd.DataFrame(counts.reshape(len(names), -1), index=names, columns=names)


def balanced_accuracy(table: pd.DataFrame) -> float:
    """The mean over the classes that occur of the share of their rows told right, from a ``confusion_table``."""
    counts = table.to_numpy(dtype=np.float64)
    rows = counts.sum(axis=1)
    return float((np.diag(counts)[rows > 0] / rows[rows > 0]).mean())


def calibration_table(right: BoolArray, chance: FloatArray, bins: int = STEPS) -> pd.DataFrame:
    """By equal steps of the ``chance`` a model gives a class: ``rows``, their mean ``chance`` and the ``share`` that
    are of the class (``right``). Chances that can be believed have chance = share."""
    import pandas as pd

    given = finite_vector(chance=chance)
    members = np.asarray(right, dtype=np.float64)
    if members.shape != given.shape:
        raise InvalidArgument("right", "must have one entry for every chance")
    many = whole(1, bins=bins)
    places = np.minimum((given * many).astype(np.int64), many - 1)
    rows = np.bincount(places, minlength=many)
    kept = rows > 0
    sums = [np.bincount(places, values, minlength=many)[kept] / rows[kept] for values in (given, members)]
    return pd.DataFrame({"rows": rows[kept], "chance": sums[0], "share": sums[1]})


def mean_absolute_error(y: FloatArray, predicted: FloatArray) -> float:
    """How far predictions of a number are off on average, in its own unit."""
    return float(np.abs(finite_vector(y=y) - finite_vector(predicted=predicted)).mean())
