"""The question whom to follow: every strategy's regret on one run of losses."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Self

import numpy as np
from scipy.special import ndtri

from dpcore.about import About
from dpcore.discovery import discover
from dpcore.errors import InvalidArgument
from dpcore.experts.bounds import RegretBound, regret_bound
from dpcore.experts.hedge import Losses, as_losses, totals_at
from dpcore.experts.scenarios import Scenario
from dpcore.experts.strategy import ASSUMPTIONS, Assumption, Forecast, Strategy
from dpcore.tradeoff import Estimate, Metric, Problem, keyed
from dpcore.validate import FloatArray, IntArray, in_range, one_of, positive, probability, whole

THEORIES: MappingProxyType[str, str] = MappingProxyType(
    {
        "theory": "11.3",
        "theory_likely": "11.4",
        "theory_non_private": "hedge",
        "theory_non_private_textbook": "11.1",
    }
)
METRICS = keyed(
    Metric(
        key="regret_per_round",
        name="Points lost per 100 rounds",
        title="points lost more than the best, per 100 rounds",
        better="lower",
        factor=100.0,
        unit=" points per 100 rounds",
    ),
    Metric(
        key="regret",
        name="Points lost more than the best",
        title="points lost more than the best, in all",
        better="lower",
        unit=" points",
    ),
    Metric(key="total_loss", name="Points lost in all", title="points lost in all", better="lower", unit=" points"),
)
LONGEST = 10**8  # rounds × experts that one evaluation may run over


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ExpertsProblem(Problem):
    """How much worse a private strategy does than the best expert in hindsight; n is the number of rounds T.

    ``losses`` (rounds, experts) within [0, 1]. A T below the table's own takes its first T rounds; above, the table is
    repeated from its first round, or, with a ``scenario``, the simulation goes on. ``assumption`` is what the person
    is ready to assume and leaves out the strategies that need more: ``any`` losses; ``oblivious``: they do not react
    to what was played; ``independent``: oblivious, and rounds are independent draws from one distribution.

    Methods: strategies by key, but one that is simulated and cannot be for so large a table (``too_large``), and the
    theorems of ``THEORIES``. Metrics:
    ``regret_per_round``, ``regret`` and ``total_loss``, expectations over the plays. Exact but for matrix
    factorisation. ``low`` and ``high`` hold the share ``band`` of runs (from the exact variance, by the normal
    approximation); with ``band`` 0 they equal ``value``, or hold the simulation's error. Raises InvalidArgument.

    >>> import numpy as np
    >>> days = ExpertsProblem(losses=np.tile([[0, 1, 1]], (200, 1)), band=0.0)
    >>> found = days.evaluate("batched", "regret_per_round", np.array([0.5, 2.0]), np.array([200.0, 200.0]))
    >>> found.value.round(3).tolist(), found.kind
    ([0.171, 0.081], 'exact')
    """

    losses: Losses
    delta: float = 1e-6
    assumption: Assumption = "oblivious"
    scenario: Scenario | None = None
    beta: float = 0.05
    band: float = 0.8

    def __post_init__(self) -> None:
        table = as_losses(self.losses)
        whole(2, rounds=table.shape[0])
        whole(2, experts=table.shape[1])
        probability(delta=self.delta)
        one_of(ASSUMPTIONS, assumption=self.assumption)
        probability(beta=self.beta)
        in_range(0.0, 1.0, open_high=True, band=self.band)
        if table.flags.writeable:
            table = table.copy()
            table.setflags(write=False)
        object.__setattr__(self, "losses", table)

    @classmethod
    def simulated(cls, scenario: Scenario, rounds: int, **options: Any) -> Self:
        """The problem on ``rounds`` simulated rounds; longer runs go on with the same simulation."""
        return cls(losses=scenario.losses(rounds), scenario=scenario, **options)

    @property
    def n(self) -> int:
        """Rounds in the table."""
        return int(self.losses.shape[0])

    @property
    def experts(self) -> int:
        return int(self.losses.shape[1])

    @property
    def longest(self) -> int:
        """The largest n that can be evaluated; for some strategies it is less (``longest_for``)."""
        return LONGEST // self.experts

    def longest_for(self, *methods: str) -> int:
        """The largest n at which each of ``methods`` can be evaluated."""
        kinds = _kinds()
        largest = [getattr(kinds[method], "largest", LONGEST) for method in methods if method in kinds]
        return min([LONGEST, *largest]) // self.experts

    @property
    def beyond(self) -> str:
        """What a run longer than the table is made of, in a sentence."""
        if self.scenario is not None:
            return "Longer runs go on with the same simulation."
        return f"Longer runs repeat the {self.n:,} rounds of the table from the first one on."

    @property
    def abouts(self) -> Mapping[str, About]:
        """Strategies that ``assumption`` allows and the table is not too large for, and the theorems."""
        fitting = {key: about for key, about in self._allowed().items() if self.n <= self.longest_for(key)}
        return fitting | {
            "theory": _bound("What theory promises", "what the textbook's theorem is sure of", "Theorem 11.3"),
            "theory_likely": _bound(
                f"What theory promises {100 * (1 - self.beta):g} times in 100",
                "what the theorem is sure of, most of the time",
                "Theorem 11.4",
            ),
            "theory_non_private": _bound(
                "What theory promises without privacy",
                "what a theorem is sure of when nothing is hidden",
                "chapter 11, with the best constant (Cesa-Bianchi and Lugosi, 2006, Theorem 2.2)",
            ),
            "theory_non_private_textbook": _bound(
                "The same, in the textbook's form", "the textbook's theorem when nothing is hidden", "Theorem 11.1"
            ),
        }

    @property
    def too_large(self) -> dict[str, str]:
        """The strategies, with their names, that ``assumption`` allows but this table is too large for."""
        return {key: about.name for key, about in self._allowed().items() if self.n > self.longest_for(key)}

    def _allowed(self) -> dict[str, About]:
        allowed = ASSUMPTIONS[: ASSUMPTIONS.index(self.assumption) + 1]
        return {key: kind.about for key, kind in _kinds().items() if kind.assumption in allowed}

    @property
    def metrics(self) -> Mapping[str, Metric]:
        return METRICS

    @property
    def central(self) -> ExpertsProblem:
        """The same without bands, in less time."""
        return replace(self, band=0.0)

    def strategy(self, method: str, epsilon: float, rounds: int | None = None) -> Strategy:
        """The strategy behind ``method`` for ``rounds`` (the table's own unless given). Raises InvalidArgument."""
        return self._maker(method)(positive(epsilon=epsilon), self.n if rounds is None else rounds)

    def _maker(self, method: str) -> Callable[[float, int], Strategy]:
        """How to make the strategy behind ``method`` from ε and rounds."""
        if method in THEORIES:
            raise InvalidArgument("method", "must be a strategy, not a theorem")
        one_of(self.methods, method=method)
        fixed: dict[str, Any] = {"delta": self.delta, "experts": self.experts}
        kind, reacting = _kinds()[method], self.assumption == "any"
        return lambda level, rounds: kind.at(epsilon=level, rounds=rounds, reacting=reacting, **fixed)

    def promise(self, method: str, epsilon: float, rounds: int | None = None) -> RegretBound:
        """The bound behind one of ``THEORIES``. Raises InvalidArgument."""
        return regret_bound(
            THEORIES[one_of(tuple(THEORIES), method=method)],
            rounds=self.n if rounds is None else rounds,
            experts=self.experts,
            epsilon=epsilon,
            delta=self.delta,
            beta=self.beta,
        )

    def forecast(self, method: str, epsilon: FloatArray, n: FloatArray) -> Forecast:
        """The law's moments of a strategy's total loss at m settings. Raises InvalidArgument."""
        rounds = self._rounds(n)
        make = self._maker(method)
        runs = [make(positive(epsilon=level), int(size)) for level, size in zip(epsilon, rounds, strict=True)]
        return type(runs[0]).forecast(runs, self.run(int(rounds.max())), spread=self.band > 0.0)

    def run(self, rounds: int) -> Losses:
        """The losses of a run of ``rounds``: see ``beyond``. Raises InvalidArgument."""
        whole(1, self.longest, n=rounds)
        if rounds <= self.n:
            return self.losses[:rounds]
        if self.scenario is not None:
            return self.scenario.losses(rounds)
        return np.resize(self.losses, (rounds, self.experts))

    def evaluate(self, method: str, metric: str, epsilon: FloatArray, n: FloatArray) -> Estimate:
        """See ``tradeoff.Problem``; ``epsilon`` and ``n`` of shape (m,). Raises InvalidArgument."""
        one_of(tuple(self.metrics), metric=metric)
        one_of(self.methods, method=method)
        rounds = self._rounds(n)
        unit = rounds if metric == "regret_per_round" else np.ones(rounds.shape)
        if method in THEORIES:
            regret = [self.promise(method, level, int(size)).total for level, size in zip(epsilon, rounds, strict=True)]
            best = totals_at(self.run(int(rounds.max())), rounds).min(axis=1) if metric == "total_loss" else 0.0
            return Estimate.bound((np.array(regret) + best) / unit)
        found = self.forecast(method, epsilon, n)
        error = 1.96 * found.error if found.error is not None else np.zeros(rounds.shape)
        reach = np.hypot(error, ndtri((1 + self.band) / 2) * found.deviation)
        zero = 0.0 if metric == "total_loss" else found.best
        ends = (
            np.clip(total - zero, -zero, rounds - zero)
            for total in (found.mean, found.mean - reach, found.mean + reach)
        )
        value, low, high = (end / unit for end in ends)
        return Estimate(value=value, low=low, high=high, kind="exact" if found.error is None else "simulated")

    def _rounds(self, n: FloatArray) -> IntArray:
        sizes = np.maximum(np.rint(np.asarray(n, dtype=np.float64)), 1.0)
        if not (sizes <= self.longest).all():
            raise InvalidArgument("n", f"must be at most {self.longest:,} rounds for this many experts")
        return sizes.astype(np.int64)


def _bound(name: str, plain: str, theorem: str) -> About:
    """What a theorem of ``THEORIES`` says about itself."""
    return About(
        name=name,
        plain=plain,
        how=(
            "A theorem says how much more than the best expert may be lost, whatever the losses are. It must hold for "
            "the worst ones, so the truth is better."
        ),
        source=f"Dwork and Roth, 2014, {theorem}.",
    )


def _kinds() -> Mapping[str, Any]:
    """The catalogue of strategies."""
    kinds: Mapping[str, Any] = discover("dpcore.experts")
    return kinds
