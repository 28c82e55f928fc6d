"""Change one person: the law of a choice, or of a quantile, in two neighbouring worlds."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from dpcore.errors import InvalidArgument
from dpcore.rising import rising
from dpcore.selection.laws import Selector
from dpcore.selection.quantile import Quantile
from dpcore.two_worlds import TwoWorlds
from dpcore.validate import finite_vector


def choice_worlds(mechanism: Selector, scores: ArrayLike, neighbour: ArrayLike) -> TwoWorlds:
    """The exact laws of ``mechanism`` on ``scores`` and on a ``neighbour``'s (k,) each.

    Scores may move by at most the mechanism's sensitivity. That they all move one way where it is ``monotonic`` is not
    checked: with the smaller noise and a replaced row the picture shows the promise broken. Raises InvalidArgument.
    """
    first, second = finite_vector(scores=scores), finite_vector(neighbour=neighbour)
    if first.shape != second.shape:
        raise InvalidArgument("neighbour", "must have one score for each candidate")
    if float(np.abs(first - second).max()) > mechanism.sensitivity * (1.0 + 1e-12):
        raise InvalidArgument("neighbour", "must move no score by more than the sensitivity")
    return TwoWorlds(
        before=mechanism.probabilities(first), after=mechanism.probabilities(second), promised=mechanism.epsilon
    )


def quantile_worlds(quantile: Quantile, values: ArrayLike, neighbour: ArrayLike) -> TwoWorlds:
    """The densities of a private quantile of ``values`` and of a ``neighbour``'s, constant between common ``edges``.

    Values (n,) and (n,), or (n + 1,), (n − 1,) with ``relation`` add_remove; that only one person's values differ is
    for the caller to see to. Raises InvalidArgument.
    """
    laws = [quantile.law(values), quantile.law(neighbour)]
    edges = rising(np.concatenate([law.intervals.edges for law in laws]))
    middles = (edges[:-1] + edges[1:]) / 2.0
    densities = []
    for law in laws:
        place = np.clip(np.searchsorted(law.intervals.edges, middles, side="right") - 1, 0, law.density.size - 1)
        densities.append(law.density[place])
    return TwoWorlds(before=densities[0], after=densities[1], promised=quantile.epsilon, edges=edges)
