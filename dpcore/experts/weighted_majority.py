"""Randomised weighted majority with a fresh play every round."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

from dpcore.about import About
from dpcore.accounting import Cost
from dpcore.experts import strategy, stretches
from dpcore.experts.hedge import Losses
from dpcore.experts.rates import as_rule, capped_rate, draws_with_data, plays_cost
from dpcore.experts.strategy import Assumption, Chances, Forecast, check_private_run
from dpcore.experts.stretches import Stretch


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightedMajority:
    """Every round, follow expert i with probability ∝ exp(−η × losses of i so far).

    The exponential mechanism once a round (Dwork & Roth 2014, Algorithm 16). η is ``learning_rate(…, rule)``, never
    above the best rate without privacy: past that it would only lose (a fast learner then spends less than ε). With
    ``rule`` ``textbook`` or ``zcdp`` the guarantee holds for any losses; ``bounded_range`` needs losses that do not
    react to the plays. Raises InvalidArgument.

    >>> run = WeightedMajority.at(epsilon=1.0, delta=1e-6, rounds=100, experts=2)
    >>> losses = [[0, 1]] * 100  # the first expert is always right
    >>> round(run.expected_regret(losses), 1)
    25.6
    """

    key: ClassVar[str] = "weighted_majority"
    rank: ClassVar[int] = 1
    about: ClassVar[About] = About(
        name="Weighted majority",
        plain="follow better experts more often, drawn afresh each round",
        how=(
            "Every expert has a running total of losses. Each round one is drawn at random, with a chance that "
            "shrinks exponentially with its total, and slowly enough that no single round shows."
        ),
        formula=(
            r"\begin{gathered}\Pr[\text{follow } i \text{ in round } t] \propto e^{-\eta L_{i,t-1}} \\ \eta = "
            r"\min\bigl(\eta_{\text{private}}(\varepsilon, \delta, T),\ \sqrt{8 \ln k / T}\bigr)\end{gathered}"
        ),
        source=(
            "Dwork and Roth, 2014, Algorithm 16; rates by zCDP and by bounded range (Dong, Durfee and Rogers, ICML "
            "2020)."
        ),
        release="batched",
    )
    assumption: ClassVar[Assumption] = "any"

    epsilon: float
    delta: float
    rounds: int
    experts: int
    rule: str = "bounded_range"

    def __post_init__(self) -> None:
        check_private_run(self.epsilon, self.delta, self.rounds, self.experts)
        as_rule(self.rule)

    @classmethod
    def at(cls, *, epsilon: float, delta: float, rounds: int, experts: int, reacting: bool = False) -> Self:
        rule = "zcdp" if reacting else "bounded_range"
        return cls(epsilon=epsilon, delta=delta, rounds=rounds, experts=experts, rule=rule)

    @property
    def rate(self) -> float:
        """η."""
        return capped_rate(self.epsilon, self.delta, self.rounds, self.experts, rule=self.rule)

    @property
    def stretches(self) -> tuple[Stretch, ...]:
        return (Stretch(0, self.rounds, 1, self.rate),)

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
        """All plays together, by the account that ``rule`` permits; at most (ε, δ)."""
        reacting = self.rule != "bounded_range"
        return plays_cost(self.rate, draws_with_data(self.rounds), self.epsilon, self.delta, reacting=reacting)
