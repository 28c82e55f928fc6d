"""Change one row: what a column's draw goes by in two worlds that differ in one row, and the laws it then has."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from dpcore.experts.linear.choice import as_costs
from dpcore.experts.linear.vertices import SENSITIVITY, VertexExponential, VertexPermuteAndFlip
from dpcore.selection.worlds import choice_worlds
from dpcore.two_worlds import TwoWorlds
from dpcore.validate import FloatArray, Neighbours, one_of, whole


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class OneRow:
    """Scores in both worlds, (columns,) each: less the costs of all rows, counted from −1 up. The best is largest.

    ``row`` is the place of the changed row, None where one comes.
    """

    before: FloatArray
    after: FloatArray
    row: int | None

    @property
    def moved(self) -> FloatArray:
        """How far each column's score moved, within ±2; all one way where a row comes."""
        return self.after - self.before


def one_row(costs: ArrayLike, column: int, relation: Neighbours) -> OneRow:
    """``costs`` (rows, columns) in [−1, 1] before and after one row that is cheapest by ``column`` and dearest else.

    With ``add_remove`` that row comes; its costs, counted from −1 up, lie in [0, 2] and lower every score or none: no
    row moves a total by more (Δ = 2, one way). With ``replace_one`` it takes the place of the row of the table by
    which ``column`` was dearest beside the others (Δ = 2, either way). Raises InvalidArgument.

    >>> one_row([[0.0, 0.5], [1.0, -1.0]], 0, "replace_one").moved.tolist()
    [2.0, -2.0]
    """
    table = as_costs(costs)
    place = whole(0, table.shape[1] - 1, column=column)
    comes = one_of(("add_remove", "replace_one"), relation=relation) == "add_remove"
    before = -(table.sum(axis=0) + len(table))
    row = np.full(table.shape[1], SENSITIVITY)
    row[place] = 0.0
    if comes:
        return OneRow(before=before, after=before - row, row=None)
    worst = int(np.argmax(table.shape[1] * table[:, place] - table.sum(axis=1)))
    return OneRow(before=before, after=before + (1.0 + table[worst]) - row, row=worst)


def row_worlds(method: VertexExponential | VertexPermuteAndFlip, rows: OneRow) -> TwoWorlds:
    """The exact laws of ``method`` in both worlds of ``rows``; no log-ratio may exceed its ε.

    Neighbours are those of ``method``: one row more or less with its ``one_way``, else one changed row. Sources:
    McSherry and Talwar, FOCS 2007; McKenna and Sheldon, NeurIPS 2020. That ``rows`` are of that relation is for the
    caller to see to: a changed row under the smaller noise shows the promise broken. Raises InvalidArgument.
    """
    drawn = method.mechanism(epsilon=method.epsilon, sensitivity=SENSITIVITY, monotonic=method.one_way)
    return choice_worlds(drawn, rows.before, rows.after)
