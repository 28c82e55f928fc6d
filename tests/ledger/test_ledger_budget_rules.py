"""Every way of counting keeps (ε, δ)-DP, whatever an adversary asks after seeing answers: exactly, by the best one."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from scipy.stats import norm

from dpcore.accounting import Cost, gaussian_epsilon
from dpcore.calibration import zcdp_rho
from dpcore.errors import InvalidArgument, InvalidCost
from dpcore.ledger.budget import Budget, Caps, Charge

COUNTINGS = ("sum", "zcdp", "both")


def budget(epsilon: float, delta: float, counting: str = "sum", kind: type[Budget] = Budget) -> Budget:
    caps = Caps.of(epsilon, delta, counting)
    return kind(lineage="x", name="x", practice=False, generation=1, caps=caps)


class AsBefore(Budget):
    """The two accounts as they were: ρ takes a release without one, at ε²/2 and a δ/2 of its own. A mutant."""

    def _in_rho(self, cost: Cost) -> Charge | None:
        if math.isfinite(cost.zcdp):
            return Budget._in_rho(self, cost)
        counted = Budget._in_rho(self, Cost(epsilon=cost.epsilon))
        return None if counted is None else replace(counted, loose_delta=round(cost.delta * 10**18))

    def _charge(self, cost: Cost) -> Charge:
        first, second = self._in_sums(cost) or Charge(beyond=1), self._in_rho(cost) or Charge(unfit=1)
        return replace(first, spent_rho=second.spent_rho, loose_delta=second.loose_delta, unfit=second.unfit)

    def _rho_holds(self) -> bool:
        caps, spent = self.caps, self.spent
        return spent.unfit == 0 and spent.spent_rho <= caps.cap_rho and spent.loose_delta <= caps.cap_delta


# -- releases of finitely many answers: (cost, chance of each answer, its log-ratio to a neighbour) --------

Release = tuple[Cost, np.ndarray, np.ndarray]


def coin(size: float, reveal: float = 0.0) -> Release:
    """Randomised response, after all is revealed with chance ``reveal``: the worst (size, reveal)-DP release."""
    up = (1 - reveal) / (1 + math.exp(-size))
    cost = Cost(epsilon=size, delta=reveal) if reveal else Cost.pure(size)
    return cost, np.array([reveal, up, 1 - reveal - up]), np.array([math.inf, size, -size])


def gaussian(rho: float, delta: float, answers: int = 60) -> Release:
    """Gaussian noise of which only a rounded value is told, which the cost of the whole value covers."""
    shift = math.sqrt(2 * rho)
    cuts = np.linspace(-4.5, 4.5 + shift, answers - 1)
    one = np.diff(norm.cdf(cuts, loc=shift), prepend=0.0, append=1.0)
    other = np.diff(norm.cdf(cuts), prepend=0.0, append=1.0)
    return Cost.gaussian(1 / shift, delta), one, np.log(one) - np.log(other)


def worst(state: Budget, releases: list[Release], steps: int, losses: np.ndarray | None = None) -> np.ndarray:
    """The largest P(E) − e^ε Q(E) that can still be reached from each log-ratio in ``losses``, over P's chances.

    Whatever is asked next may depend on the log-ratio so far: the best of all releases that fit, up to ``steps`` more.
    """
    epsilon = state.cap.epsilon
    at = np.zeros(1) if losses is None else losses
    value = np.where(at > epsilon, -np.expm1(np.minimum(epsilon - at, 0.0)), 0.0)
    if steps == 0:
        return value
    for cost, chances, ratios in releases:
        charge = state.charge_for(cost)
        if charge is None or not state.after(charge).holds():
            continue
        after = worst(state.after(charge), releases, steps - 1, np.add.outer(at, ratios).ravel())
        value = np.maximum(value, after.reshape(at.size, -1) @ chances)
    return value


def escape(epsilon: float, delta: float, share: float) -> list[Release]:
    """What passes δ where loose releases are counted in ρ: Gaussian noise with all of the first account's δ, then by
    its loss the rest of ε, or a release that reveals all with a chance, and the rest of ρ."""
    rho = zcdp_rho(epsilon, delta / 2)
    first = rho * share
    rest = epsilon - gaussian_epsilon(1 / math.sqrt(2 * first), delta / 2)
    return [
        gaussian(first, delta / 2),
        coin(rest * (1 - 1e-6)),
        coin(1e-4, delta / 2),
        gaussian((rho - first) * (1 - 1e-6), delta / 2),
    ]


@pytest.mark.parametrize(("epsilon", "delta"), [(4.0, 1e-3), (4.0, 1e-2), (6.0, 1e-4)])
def test_the_best_choice_between_two_accounts_stays_within_delta(epsilon: float, delta: float) -> None:
    """With the very releases that earlier versions accepted; the mutant shows that passing δ would be found."""
    releases = escape(epsilon, delta, 0.08)
    assert worst(budget(epsilon, delta, "both"), releases, 3)[0] <= delta
    assert worst(budget(epsilon, delta, "both", AsBefore), releases, 3)[0] > 1.04 * delta
    for counting in ("sum", "zcdp"):
        assert worst(budget(epsilon, delta, counting), releases, 3)[0] <= delta


def test_what_did_hold_before_is_three_halves_of_delta() -> None:
    """As ``dpcore.ledger.budget`` says of budgets that took such a release."""
    for share in (0.02, 0.2):
        assert worst(budget(4.0, 1e-3, "both", AsBefore), escape(4.0, 1e-3, share), 3)[0] <= 1.5e-3


# -- long sequences of small coins: log-ratios are whole multiples of one step, so few states -------------------------


def longest(state: Budget, releases: list[tuple[Cost, int, float]], step: float, holds: object = Budget.holds) -> float:
    """As ``worst``, for as many releases as fit; each (cost, size in steps, chance to reveal all)."""
    epsilon = state.cap.epsilon

    @cache
    def best(spent: Charge, losses: int) -> float:
        value = max(0.0, -math.expm1(epsilon - losses * step))
        for cost, size, reveal in releases:
            now = replace(state, spent=spent)
            charge = now.charge_for(cost)
            after = None if charge is None else now.after(charge)
            if after is None or not holds(after):
                continue
            up = 1 / (1 + math.exp(-size * step))
            kept = up * best(after.spent, losses + size) + (1 - up) * best(after.spent, losses - size)
            value = max(value, reveal + (1 - reveal) * kept)
        return value

    return best(Charge(), 0)


def coins(step: float, *sizes: tuple[int, float]) -> list[tuple[Cost, int, float]]:
    return [
        (Cost(epsilon=size * step, delta=reveal) if reveal else Cost.pure(size * step), size, reveal)
        for size, reveal in sizes
    ]


PLANS = {
    "pure, two sizes": (1.0, 0.2, 0.25, ((1, 0.0), (2, 0.0))),
    "pure, small": (0.6, 0.3, 0.1, ((1, 0.0), (3, 0.0))),
    "with a chance to reveal": (1.0, 0.2, 0.25, ((1, 0.0), (1, 0.04))),
    "revealing much": (0.8, 0.4, 0.4, ((1, 0.0), (1, 0.1))),
}


@pytest.mark.parametrize("counting", COUNTINGS)
@pytest.mark.parametrize("plan", PLANS)
def test_no_adaptive_adversary_exceeds_delta(plan: str, counting: str) -> None:
    epsilon, delta, step, sizes = PLANS[plan]
    assert longest(budget(epsilon, delta, counting), coins(step, *sizes), step) <= delta


def test_an_adversary_catches_budgets_that_allow_too_much() -> None:
    """The test above has power: a ρ 20 times too large, and sums that are twice or four times theirs, are found."""

    def large_rho(state: Budget) -> bool:
        return state.spent.spent_rho <= 20 * state.caps.cap_rho

    def much_epsilon(state: Budget) -> bool:
        return state.spent.spent_epsilon <= 2 * state.caps.cap_epsilon

    def much_delta(state: Budget) -> bool:
        caps, spent = state.caps, state.spent
        return spent.spent_epsilon <= caps.cap_epsilon and spent.spent_delta <= 4 * caps.cap_delta

    small = coins(0.2, (1, 0.0))
    revealing = coins(0.2, (2, 0.0), (1, 0.15))
    for counting, delta, releases, holds in (
        ("zcdp", 0.01, small, large_rho),
        ("sum", 0.01, small, much_epsilon),
        ("sum", 0.2, revealing, much_delta),
    ):
        state = budget(0.8, delta, counting)
        assert longest(state, releases, 0.2, holds) > delta >= longest(state, releases, 0.2)


# -- what a budget says of itself -------------------------------------------------------------------------------------


def test_fits_and_answers_left_agree_with_charging() -> None:
    """answers_left counts exactly the charges that fits allows one after another, in every way of counting."""
    costs = (
        Cost.pure(0.07),
        Cost.bounded_range(0.03),
        Cost.gaussian(15.0, 1e-7),
        Cost(epsilon=0.05, delta=1e-6),
        Cost(epsilon=5.0),
        Cost(epsilon=math.inf, rho=0.001),
    )
    for cap in (budget(1.0, 0.0), *(budget(1.0, 1e-5, counting) for counting in COUNTINGS)):
        for cost in costs:
            state, count = cap, 0
            expected = cap.answers_left(cost)
            while state.fits(cost):
                share = state.share_of(cost)
                after = state.after(state.charge_for(cost))
                assert share == pytest.approx(max(after.share_spent - state.share_spent, 0.0))
                state, count = after, count + 1
                assert 0.0 <= state.share_spent <= 1.0
            assert count == expected, (cap.counting, cost)
            assert state.answers_left(cost) == 0
            assert state.share_of(cost) is None


@pytest.mark.parametrize("counting", COUNTINGS)
def test_remaining_is_what_fits(counting: str) -> None:
    """A pure release of the ε that is said to be left fits, and one a little larger does not."""
    state = budget(1.0, 1e-5, counting)
    for cost in (Cost.gaussian(60.0, 1e-7), Cost.bounded_range(0.05), Cost.pure(0.02), Cost(epsilon=0.1, delta=1e-6)):
        if not state.fits(cost):
            assert counting == "zcdp"
            continue
        state = state.after(state.charge_for(cost))
        left = state.remaining.epsilon
        assert state.fits(Cost.pure(left * (1 - 1e-6)))
        assert not state.fits(Cost.pure(left * (1 + 1e-6)))
    assert state.cap.epsilon == 1.0
    assert state.cap.delta == 1e-5


def test_delta_is_never_what_runs_out_first() -> None:
    """Releases with the δ that is offered can use up ε, whatever their sizes."""
    for each in (0.01, 0.07, 0.3, 1.0):
        state = budget(3.0, 1e-6)
        offered = state.request_delta(each)
        assert 0.0 < offered <= 1e-7
        assert state.answers_left(Cost(epsilon=each, delta=offered)) == math.floor(3.0 / each + 1e-9)
    assert budget(3.0, 1e-6).request_delta() == 1e-7
    assert budget(3.0, 0.0).request_delta(0.5) == 0.0
    assert budget(3.0, 1e-6, "zcdp").request_delta(3.0) == 1e-7


def test_a_loose_release_closes_the_second_of_two_accounts_and_no_other() -> None:
    """The account that cannot prove it passes it over for good; the first goes on."""
    state = budget(1.0, 1e-5, "both")
    state = state.after(state.charge_for(Cost(epsilon=0.1, delta=1e-6)))
    assert state.remaining.zcdp == 0.0
    assert state.remaining.epsilon == pytest.approx(0.9)
    spent_before = replace(state, spent=Charge(spent_epsilon=10**8, spent_delta=10**12, loose_delta=10**12))
    assert spent_before.remaining.zcdp == 0.0
    assert spent_before.fits(Cost.pure(0.9))


EDGES = (1e-9, 1.4e-9, 1.0, 999_999.9999999999, 1e6)
CHANCES = (1e-15, 1.0000000000000005e-15, 0.5, 0.999999999999999, 0.9999999999999994, 0.9999999999999996, 1 - 2**-53)


def broken(epsilon: float, delta: float, counting: str, refuse: bool = True) -> bool:
    """Whether a budget that is opened at the edge of what may be cannot be told, asked, or used at all."""
    try:
        caps = Caps.of(epsilon, delta, counting)
    except InvalidArgument:
        if refuse:
            return False
        caps = replace(Caps.of(epsilon, 0.5), total_delta=10**18, cap_delta=10**18)
    opened = replace(budget(1.0, 1e-6), caps=caps)
    try:
        assert 0.0 < opened.cap.delta < 1.0
        assert 0.0 < opened.remaining.delta < 1.0
        return opened.answers_left(Cost.pure(1e-9)) == 0
    except InvalidCost:
        return True


@pytest.mark.parametrize("counting", COUNTINGS)
def test_a_bound_of_a_cap_holds_of_what_is_counted(counting: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not any(broken(epsilon, delta, counting) for epsilon in EDGES for delta in CHANCES)
    # one that was opened as δ = 1 before that was refused is told all the same
    assert not broken(1.0, 1 - 2**-53, counting, refuse=False)
    # a mutant: bounds of what was said alone
    monkeypatch.setattr("dpcore.ledger.budget._ONE_DELTA", 10**19)
    monkeypatch.setattr("dpcore.ledger.budget._chance", lambda units: units / 10**18)
    assert broken(1.0, 1 - 2**-53, counting)
