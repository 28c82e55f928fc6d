"""The question which fixed choice costs least."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from scipy.special import ndtri

from dpcore.about import About
from dpcore.discovery import discover
from dpcore.errors import InvalidArgument
from dpcore.experts.linear.choice import LinearMethod, as_costs
from dpcore.experts.theory import linear_excess
from dpcore.tradeoff import Estimate, Metric, Problem, keyed
from dpcore.validate import FloatArray, Neighbours, in_range, one_of, positive, probability, whole

THEORY = "theory"
ABOUT_THEORY = About(
    name="What theory promises the linear learner",
    plain="what the textbook's theorem is sure of",
    how=(
        "A theorem says how much more than the best column the linear learner's answer may cost, when rows are "
        "independent draws. It must hold for the worst costs, so the truth is better."
    ),
    source="Dwork and Roth, 2014, Theorem 11.6, with its constants worked out.",
)
THEORY_DRAW = "theory_draw"
ABOUT_THEORY_DRAW = About(
    name="What theory promises one draw",
    plain="what is sure of choosing once by total cost",
    how=(
        "A theorem about the exponential mechanism says how much more than the best column its choice may cost on "
        "average, whatever the costs are. Permute and flip is never worse. The truth is better than both."
    ),
    formula=r"\frac{\ln d + 1}{a n}, \quad a = \frac{\varepsilon}{2} \text{ or } \frac{\varepsilon}{4}",
    source="McSherry and Talwar, FOCS 2007, its chance of a loss added up over all losses.",
)
METRICS = keyed(
    Metric(
        key="excess",
        name="Extra cost per row",
        title="extra cost per row, % of the declared range",
        better="lower",
        factor=50.0,
        unit=" %",
    )
)
LONGEST = 10**8  # rows × columns that one evaluation may run over


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LinearProblem(Problem):
    """How much more the private choice costs per row than the best single column; n is the number of rows.

    ``costs`` (rows, columns) within [−1, 1]. An n below the table's own takes its first n rows; above, the table is
    repeated. With ``relation`` ``add_remove`` one row more or less is hidden instead of a changed one; then the methods
    that need the number of rows to be public are left out. Methods: the catalogue of ``dpcore.experts.linear``,
    ``theory_draw`` (see ``draw_bound``) and ``theory`` (the linear learner's, see ``linear_bound``). Metric
    ``excess``: the expected average cost of the choice over those rows less that of the best column, exact; ``low`` and
    ``high`` hold about the share ``band`` of answers (mean and exact deviation). Raises InvalidArgument.

    >>> import numpy as np
    >>> table = LinearProblem(costs=np.tile([[0.5, -0.5]], (20, 1)), band=0.0)
    >>> table.evaluate("vertex_exponential", "excess", np.array([0.5]), np.array([20.0])).value.round(3).tolist()
    [0.076]
    """

    costs: FloatArray
    delta: float = 1e-6
    beta: float = 0.05
    band: float = 0.8
    relation: Neighbours = "replace_one"

    def __post_init__(self) -> None:
        table = as_costs(self.costs).copy()
        whole(2, rows=table.shape[0])
        whole(2, columns=table.shape[1])
        probability(delta=self.delta)
        probability(beta=self.beta)
        in_range(0.0, 1.0, open_high=True, band=self.band)
        one_of(("add_remove", "replace_one"), relation=self.relation)
        table.setflags(write=False)
        object.__setattr__(self, "costs", table)

    @property
    def n(self) -> int:
        """Rows in the table."""
        return int(self.costs.shape[0])

    @property
    def columns(self) -> int:
        return int(self.costs.shape[1])

    @property
    def longest(self) -> int:
        """The largest n that can be evaluated."""
        return LONGEST // self.columns

    @property
    def abouts(self) -> Mapping[str, About]:
        """What of the catalogue hides what ``relation`` says, and the theorems."""
        kinds: Mapping[str, Any] = discover("dpcore.experts.linear")
        draws = {key: kind.about for key, kind in kinds.items() if self._fits(kind)} | {THEORY_DRAW: ABOUT_THEORY_DRAW}
        return draws if self._one_way else draws | {THEORY: ABOUT_THEORY}

    @property
    def _one_way(self) -> bool:
        return self.relation == "add_remove"

    def _fits(self, kind: type[Any]) -> bool:
        return not self._one_way or "one_way" in {field.name for field in fields(kind)}

    @property
    def metrics(self) -> Mapping[str, Metric]:
        return METRICS

    @property
    def central(self) -> LinearProblem:
        """The same without bands."""
        return replace(self, band=0.0)

    def method(self, method: str, epsilon: float, rows: int | None = None) -> LinearMethod:
        """The way to choose behind ``method``. Raises InvalidArgument."""
        kinds: Mapping[str, Any] = discover("dpcore.experts.linear")
        kind = kinds[one_of(tuple(key for key in kinds if self._fits(kinds[key])), method=method)]
        found: LinearMethod = kind.at(
            epsilon=positive(epsilon=epsilon),
            delta=self.delta,
            rows=self.n if rows is None else rows,
            columns=self.columns,
        )
        return replace(found, one_way=True) if self._one_way else found  # type: ignore[type-var]

    def evaluate(self, method: str, metric: str, epsilon: FloatArray, n: FloatArray) -> Estimate:
        """See ``tradeoff.Problem``; ``epsilon`` and ``n`` of shape (m,). Raises InvalidArgument."""
        one_of(tuple(self.metrics), metric=metric)
        one_of(self.methods, method=method)
        sizes = np.maximum(np.rint(np.asarray(n, dtype=np.float64)), 1.0)
        if not (sizes <= self.longest).all():
            raise InvalidArgument("n", f"must be at most {self.longest:,} rows for this many columns")
        rows = [int(size) for size in sizes]
        if method == THEORY_DRAW:
            return Estimate.bound(draw_bound(sizes, self.columns, np.asarray(epsilon, dtype=np.float64), self._one_way))
        if method == THEORY:
            pairs = zip(epsilon, rows, strict=True)
            bound = [linear_bound(size, self.columns, level, self.delta, self.beta) for level, size in pairs]
            return Estimate.bound(np.array(bound))
        runs = [self.method(method, level, size) for level, size in zip(epsilon, rows, strict=True)]
        table = self.costs if max(rows) <= self.n else np.resize(self.costs, (max(rows), self.columns))
        found = type(runs[0]).excess(runs, table[: max(rows)])
        reach = ndtri((1 + self.band) / 2) * found.deviation
        return Estimate.exact(found.mean, np.clip(found.mean - reach, 0.0, 2.0), np.clip(found.mean + reach, 0.0, 2.0))


def draw_bound(rows: FloatArray, columns: int, epsilon: FloatArray, one_way: bool = False) -> FloatArray:
    """Average excess cost of one draw by the exponential mechanism or permute-and-flip at most, shape of ``rows``.

    A total that is more than (ln d + s)/a above the best is chosen with probability at most e^−s (McSherry & Talwar,
    FOCS 2007), so the mean is at most (ln d + 1)/a; a = ε/2, or ε/4 where a changed row is hidden. Costs lie in
    [−1, 1], so never above 2.
    """
    slope = epsilon / (2.0 if one_way else 4.0)
    bound: FloatArray = np.minimum((math.log(columns) + 1.0) / (slope * rows), 2.0)
    return bound


def linear_bound(rows: int, columns: int, epsilon: float, delta: float, beta: float = 0.05) -> float:
    """Excess cost that the linear learner exceeds with probability at most β when rows are independent draws.

    Dwork & Roth 2014, Theorem 11.6, gives the rate √(ln(1/δ)) ln(d/β)/(ε√n); the constants are worked out here: regret
    by Theorem 11.3, and three sums of n bounded steps (plays, rows, the best column) by Azuma at β/3 each. Costs lie in
    [−1, 1]; judged on the distribution the rows come from, where no choice exceeds 2. Raises InvalidArgument.
    """
    return float(linear_excess(rows, columns, epsilon, delta, beta))
