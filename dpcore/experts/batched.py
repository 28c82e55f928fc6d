"""Weighted majority that holds each play for several rounds, so that fewer plays share the budget."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

from dpcore.about import About
from dpcore.accounting import Cost
from dpcore.calibration import zcdp_rho
from dpcore.experts import strategy, stretches
from dpcore.experts.hedge import Losses
from dpcore.experts.rates import best_hold, capped_rate, draws_with_data, plays_cost
from dpcore.experts.strategy import Assumption, Chances, Forecast, check_private_run
from dpcore.experts.stretches import Stretch
from dpcore.validate import one_of, whole


@dataclass(frozen=True, slots=True, kw_only=True)
class Batched:
    """Hedge that plays afresh only every ``hold`` rounds, with a higher η for the fewer draws.

    N = ⌈T/hold⌉ − 1 draws look at data, accounted by ``rule`` as in ``learning_rate``. Regret is at most
    η·hold·T/8 + ln k/η. Holding a play is harmless only when losses do not react to it. ``hold`` is chosen so that η is
    largest unless given. Raises InvalidArgument.

    >>> run = Batched.at(epsilon=1.0, delta=1e-6, rounds=100, experts=2)
    >>> losses = [[0, 1]] * 100  # the first expert is always right
    >>> round(run.expected_regret(losses), 1)
    12.0
    """

    key: ClassVar[str] = "batched"
    rank: ClassVar[int] = 2
    about: ClassVar[About] = About(
        name="Batched weighted majority",
        plain="follow better experts more often, changing rarely",
        how=(
            "Every expert has a running total of losses. One is drawn at random, better ones far likelier, and then "
            "followed for several rounds. Fewer draws share the privacy budget, so each can lean more clearly "
            "towards the better experts."
        ),
        formula=(
            r"\begin{gathered}\Pr[\text{follow } i \text{ in round } t] \propto e^{-\eta L_{i,t-1}} \\ \eta = "
            r"\min\bigl(\eta_{\text{private}}(\varepsilon, \delta, T),\ \sqrt{8 \ln k / T}\bigr)\end{gathered}"
        ),
        source=(
            "Dwork and Roth, 2014, Algorithm 16, each play held; rates by zCDP and by bounded range (Dong, Durfee "
            "and Rogers, ICML 2020)."
        ),
        release="batched",
    )
    assumption: ClassVar[Assumption] = "oblivious"

    epsilon: float
    delta: float
    rounds: int
    experts: int
    hold: int | None = None
    rule: str = "bounded_range"

    def __post_init__(self) -> None:
        check_private_run(self.epsilon, self.delta, self.rounds, self.experts)
        one_of(("zcdp", "bounded_range"), rule=self.rule)
        if self.hold is not None:
            whole(1, hold=self.hold)

    @classmethod
    def at(cls, *, epsilon: float, delta: float, rounds: int, experts: int, reacting: bool = False) -> Self:
        return cls(epsilon=epsilon, delta=delta, rounds=rounds, experts=experts)

    @property
    def held(self) -> int:
        """For how many rounds each play is held."""
        return self.hold or best_hold(zcdp_rho(self.epsilon, self.delta), self.rounds, self.experts)

    @property
    def rate(self) -> float:
        """η."""
        return capped_rate(self.epsilon, self.delta, self.rounds, self.experts, hold=self.held, rule=self.rule)

    @property
    def stretches(self) -> tuple[Stretch, ...]:
        return (Stretch(0, self.rounds, self.held, self.rate),)

    @classmethod
    def forecast(cls, runs: Sequence[Self], losses: Losses, *, spread: bool = True) -> Forecast:
        return stretches.forecast([run.stretches for run in runs], losses, spread=spread)

    def chances(self, losses: Losses) -> Chances:
        return stretches.chances(self.stretches, losses)

    expected_regret = strategy.expected_regret
    play = strategy.play
    weights = strategy.weights

    @property
    def cost(self) -> Cost:
        """All draws together, at most (ε, δ)."""
        draws = draws_with_data(self.rounds, self.held)
        return plays_cost(self.rate, draws, self.epsilon, self.delta, reacting=self.rule == "zcdp")
