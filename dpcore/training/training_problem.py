"""Training as a question of ``dpcore.tradeoff``, simulated."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from dpcore.about import About
from dpcore.discovery import discover
from dpcore.errors import InvalidArgument
from dpcore.tradeoff import Estimate, Metric, Problem, keyed
from dpcore.training.baselines import ABOUTS, MAJORITY, NON_PRIVATE
from dpcore.training.plan import RADIUS, Part, Sweep
from dpcore.training.proved import ProvedDescent
from dpcore.training.rates import RATES, rate
from dpcore.training.sweep import collect, run_slice
from dpcore.validate import FloatArray, one_of

BOUND = "bound_descent"
ABOUT_BOUND = About(
    name="theorem for descent as proved",
    plain="what is sure before the data are seen",
    how=(
        "A theorem says how far above the best model's the loss of descent with the proof's settings is at most, on "
        "average, whatever the rows are."
    ),
    formula=r"G R \left(\sqrt{1/T + d h^2 \sigma^2 / n^2} + 1/T\right)",
    source="Zinkevich, ICML 2003; Bassily, Smith and Thakurta, FOCS 2014; Balle and Wang, ICML 2018.",
)
METRICS = keyed(
    Metric(
        key="accuracy",
        name="Right predictions",
        title="right predictions in 100",
        better="higher",
        factor=100.0,
        unit=" in 100",
        narrow=True,
    ),
    Metric(
        key="found",
        name="Found of the second class",
        title="found of 100 in the second class",
        better="higher",
        factor=100.0,
        unit=" in 100",
    ),
    Metric(
        key="balanced",
        name="Right in both classes alike",
        title="right predictions in 100, both classes alike",
        better="higher",
        factor=100.0,
        unit=" in 100",
        narrow=True,
    ),
    Metric(
        key="squared_error",
        name="Squared error",
        title="mean squared error (range scaled to −1…1)",
        better="lower",
        narrow=True,
    ),
    Metric(
        key="excess_risk",
        name="Excess risk",
        title=f"excess risk: loss above the best model's, weights up to {RADIUS:g} long",
        better="lower",
    ),
)


def abouts(keys: Iterable[str]) -> dict[str, About]:
    """What these methods of the catalogue say about themselves."""
    kinds: Mapping[str, Any] = discover("dpcore.training")
    return {key: kinds[key].about for key in keys}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TrainingProblem(Problem):
    """A ``Sweep`` as a tradeoff problem: its methods, the baselines and the rates. Its own ε and sizes do not matter.

    Where ``proved_descent`` is among the methods, so is ``bound_descent``, what theory promises for it.

    Simulated afresh at every call with the sweep's ``seeds`` and seed: for slow methods use the slices of ``sweep``.

    >>> import numpy as np
    >>> X, y = np.repeat([[0.6], [-0.6]], 50, axis=0), np.repeat([1.0, -1.0], 50)
    >>> from dpcore.training.plan import Sweep
    >>> sweep = Sweep(X=X, y=y, X_test=X, y_test=y, methods=("output_perturbation",), epsilon=(1.0,), seeds=2)
    >>> problem = TrainingProblem(sweep=sweep)
    >>> problem.evaluate("non_private", "accuracy", np.array([1.0]), np.array([100.0])).value.tolist()
    [1.0]
    """

    sweep: Sweep

    @property
    def n(self) -> int:
        """Rows to train on."""
        return self.sweep.n

    @property
    def abouts(self) -> Mapping[str, About]:
        """The sweep's methods, the baselines, what is proved of one of them, and the rates."""
        proved = {BOUND: ABOUT_BOUND} if ProvedDescent.key in self.sweep.methods else {}
        return abouts(self.sweep.methods) | ABOUTS | proved | RATES

    @property
    def metrics(self) -> Mapping[str, Metric]:
        return keyed(*(METRICS[name] for name in self.sweep.metrics))

    def evaluate(self, method: str, metric: str, epsilon: FloatArray, n: FloatArray) -> Estimate:
        """See ``tradeoff.Problem``. What a method has no value for is NaN, such as the accuracy of a rate."""
        one_of(self.methods, method=method)
        one_of(tuple(self.metrics), metric=metric)
        if method == BOUND:
            if metric != "excess_risk":
                return Estimate.bound(np.full_like(epsilon, np.nan))
            return Estimate.bound(self._bound(epsilon, n))
        if method in RATES:
            d = int(self.sweep.X.shape[1])
            radius = self.sweep.radius
            steepest = self.sweep.loss.lipschitz(radius)
            value = rate(method, d=d, epsilon=epsilon, n=n, delta=self.sweep.delta, radius=radius, lipschitz=steepest)
            return Estimate.bound(value if metric == "excess_risk" else np.full_like(value, np.nan))
        value, low, high = (np.full_like(epsilon, np.nan) for _ in range(3))
        for size in np.unique(np.maximum(2, np.round(n))):
            here = np.flatnonzero(np.round(n) == size)
            levels = tuple(float(level) for level in epsilon[here])
            frame = self._frame(method, int(size), levels)
            part = frame[(frame["method"] == method) & (frame["metric"] == metric)].set_index("epsilon")
            for place, level in zip(here, levels, strict=True):
                if level in part.index:
                    value[place], low[place], high[place] = part.loc[level, ["value", "low", "high"]]
        kind: Literal["exact", "simulated"] = "exact" if method in (NON_PRIVATE, MAJORITY) else "simulated"
        return Estimate(value=value, low=low, high=high, kind=kind)

    def _bound(self, epsilon: FloatArray, n: FloatArray) -> FloatArray:
        found = []
        for level, size in zip(epsilon.tolist(), n.tolist(), strict=True):
            method = self.sweep.method(ProvedDescent.key, level)
            if not isinstance(method, ProvedDescent) or method.radius != self.sweep.radius:
                raise InvalidArgument("radius", "must be the same for the proved method and for the excess risk")
            found.append(method.excess_bound(max(2, round(size)), int(self.sweep.X.shape[1])))
        return np.array(found)

    def _frame(self, method: str, size: int, levels: tuple[float, ...]) -> Any:
        at = Sweep(
            **{
                name: getattr(self.sweep, name)
                for name in (
                    "X",
                    "y",
                    "X_test",
                    "y_test",
                    "methods",
                    "delta",
                    "loss",
                    "seeds",
                    "seed",
                    "options",
                    "radius",
                )
            },
            epsilon=tuple(sorted(set(levels))),
            sizes=(size,),
        )
        parts = [Part(method=NON_PRIVATE, size=size, epsilon=(), replicas=1, number=0)]
        if method not in (NON_PRIVATE, MAJORITY):
            parts.append(Part(method=method, size=size, epsilon=at.epsilon, replicas=at.seeds, number=0))
        return collect(at, [run_slice(at, part) for part in parts])
