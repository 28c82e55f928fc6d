"""What one group of people's budget allows: its cap, what is spent, and which charges still fit.

A budget counts in one way, chosen when it is opened, and every release on every page is counted in that way:

* **sum**: ε and δ add up like money. A release that is (ε₁, δ₁)-DP fits while the sums stay within the cap (ε, δ).
* **zcdp**: every release is counted as ρ, and fits while the sum stays within the ρ that implies (ε, δ). A release
  without a ρ of its own, of which only an ε with a δ is known, is refused.
* **both**: budgets of an (ε, δ) cap that were opened before there was a choice. Two accounts are kept side by side and
  a release fits while one of them holds after it: sums of ε and δ within (ε, δ/2), or ρ within what implies (ε, δ/2).

Each claim holds though every question is chosen after seeing the earlier answers. Let P and Q be the laws of all that
is seen on two neighbours; the budget is a rule that stops a way of questions and answers before it would be passed.

*Sum.* Write V(ε, δ) for: whatever is asked within (ε, δ), P(E) ≤ e^ε Q(E) + δ for every event E. By induction on the
number of releases (finite, since each costs at least one unit): let the first be (ε₁, δ₁)-DP, so that
P₁ ≤ min(P₁, e^ε₁ Q₁) + excess, with an excess of mass at most δ₁. What follows answer y is within (ε − ε₁, δ − δ₁)
whatever y is, so P(E | y) ≤ min(1, e^(ε−ε₁) Q(E | y)) + δ − δ₁, hence
P(E) = Σ P₁(y) P(E | y) ≤ δ₁ + Σ e^ε₁ Q₁(y) e^(ε−ε₁) Q(E | y) + δ − δ₁ = e^ε Q(E) + δ.
(Basic composition as a filter: Rogers, Roth, Ullman & Vadhan, NeurIPS 2016.)

*zCDP.* For every α > 1 likewise: the α-moment of P/Q under Q is at most exp(α(α−1)ρ₁) for the first release and, by
induction, exp(α(α−1)(ρ − ρ₁)) for what follows, whatever was answered; so ρ-zCDP together, which implies (ε, δ)
(Feldman & Zrnic, NeurIPS 2021; the conversion is ``conversions.zcdp_epsilon``).

*Both.* Let S₁ be the ways that end with the first account holding and S₂ those that end with only the second holding.
Accounts never recover, so S₁ lies among the ways of the same questions stopped where the first account would fail:
P(E ∩ S₁) ≤ e^ε Q(E ∩ S₁) + δ/2 by the first proof. S₂ lies among those stopped where the second would fail:
P(E ∩ S₂) ≤ e^ε Q(E ∩ S₂) + δ/2 by the second proof. Together (ε, δ). The second needs that nothing without a ρ is
counted in it: a release with a δ and no ρ fits the first account alone and closes the second for good. (Earlier
versions let the second account take such a release at ε²/2 and a δ/2 of its own. That is (ε, 3δ/2) and no more: a
Gaussian answer first, and a choice between the accounts by its loss, passes δ. Giving each of three parts δ/3 would be
right too, but would put budgets that had spent more than that over their caps; closing the account leaves every sum
and every receipt as it is. A budget that took such a release before stays within (ε, 3δ/2), and goes on by its first
account.)

A budget promises to hide one kind of difference: a row added or removed, or a row replaced. It is said when the budget
is opened or follows from the first charge, so that it never depends on an answer. Where rows are replaced, a release
that hides rows added or removed is counted as ``Cost.for_replaced_row``; the other way round there is no promise to
count, and the release is refused.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

from dpcore.calibration import zcdp_rho
from dpcore.costs import Cost, check_amounts
from dpcore.errors import InvalidArgument
from dpcore.ledger.units import (
    DELTA_DIGITS,
    EPSILON_DIGITS,
    LARGEST_CAP,
    RHO_DIGITS,
    TOO_MUCH,
    amount,
    cap_units,
    charge_units,
)
from dpcore.validate import in_range, one_of

BudgetKind = Literal["pure", "approximate"]
Counting = Literal["sum", "zcdp", "both"]
NEW_COUNTINGS = ("sum", "zcdp")
_MANY = 10**9
_ONE_DELTA = 10**DELTA_DIGITS


SPENT = ("spent_epsilon", "spent_delta", "beyond", "spent_rho", "loose_delta", "unfit")


@dataclass(frozen=True, slots=True, kw_only=True)
class Charge:
    """What one release adds to the sums, in units; those that the budget does not count with stay 0.

    ``beyond`` is 1 for a release that the sums of ε and δ cannot take (that account fails from then on), ``unfit`` the
    same for the sum of ρ. ``loose_delta`` is 0 but in charges from before counting was chosen.
    """

    spent_epsilon: int = 0
    spent_delta: int = 0
    beyond: int = 0
    spent_rho: int = 0
    loose_delta: int = 0
    unfit: int = 0

    def times(self, count: int) -> Charge:
        """The same charge ``count`` times."""
        return Charge(**{name: getattr(self, name) * count for name in SPENT})


@dataclass(frozen=True, slots=True, kw_only=True)
class Caps:
    """A cap in units, and how it is counted.

    ``total_delta`` is the δ of the promise, ``cap_delta`` what the δ of releases may add up to: all of it (sum), none
    (zcdp) or half (both). ``cap_rho`` is −1 where ρ is not counted. ``kind`` is pure without a δ.
    """

    kind: BudgetKind
    counting: Counting
    cap_epsilon: int
    cap_rho: int
    cap_delta: int
    total_delta: int

    @classmethod
    def of(cls, epsilon: float, delta: float, counting: str = "sum") -> Caps:
        """Raises InvalidArgument."""
        in_range(0.0, LARGEST_CAP, open_low=True, epsilon=epsilon)
        in_range(0.0, 1.0, open_high=True, delta=delta)
        one_of(get_args(Counting), counting=counting)
        cap = cap_units(epsilon, EPSILON_DIGITS)
        if cap < 1:
            raise InvalidArgument("epsilon", "must be at least 0.000000001")
        if delta == 0.0:
            if counting != "sum":
                raise InvalidArgument("counting", "in ρ needs a delta above 0; without one it must be sum")
            return cls(kind="pure", counting="sum", cap_epsilon=cap, cap_rho=-1, cap_delta=0, total_delta=0)
        if delta < 1e-15:
            raise InvalidArgument("delta", "must be 0 or at least 1e-15")
        total_delta = cap_units(delta, DELTA_DIGITS)
        if total_delta >= _ONE_DELTA:  # as it is counted: to 15 digits 0.9999999999999999 is 1, which is no promise
            raise InvalidArgument("delta", "must be at most 0.999999999999999")
        part = {"sum": 1.0, "zcdp": 0.0, "both": 0.5}[counting]
        rho = -1 if counting == "sum" else cap_units(zcdp_rho(epsilon, delta * (1.0 - part)), RHO_DIGITS)
        if rho == 0 and counting == "zcdp":
            raise InvalidArgument("epsilon", "must be larger with this delta: it comes to no ρ, so nothing would fit")
        return cls(
            kind="approximate",
            counting=counting,  # type: ignore[arg-type]  # checked above
            cap_epsilon=cap,
            cap_rho=rho,
            cap_delta=cap_units(delta * part, DELTA_DIGITS),
            total_delta=total_delta,
        )

    @property
    def delta(self) -> float:
        """The δ of the promise, always below 1: a budget of 1 may have been opened before that was refused."""
        return _chance(self.total_delta)

    def same_as(self, other: Caps) -> bool:
        """Whether both are the same (ε, δ), counted the same way; what that is worth in ρ may differ in its last digit
        between versions."""
        mine = (self.cap_epsilon, self.total_delta, self.counting)
        return mine == (other.cap_epsilon, other.total_delta, other.counting)


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """The state of one lineage's budget. Amounts in units; the properties give numbers."""

    lineage: str
    name: str
    practice: bool
    generation: int
    caps: Caps
    spent: Charge = Charge()
    neighbours: str = ""  # add_remove, replace_one, or not fixed yet

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Budget:
        return cls(
            lineage=row["lineage"],
            name=row["name"],
            practice=bool(row["practice"]),
            generation=row["generation"],
            caps=Caps(**{name: row[name] for name in Caps.__slots__}),
            spent=Charge(**{name: row[name] for name in SPENT}),
            neighbours=row["neighbours"],
        )

    @classmethod
    def planned(
        cls, *, epsilon: float, delta: float = 0.0, counting: str = "sum", neighbours: str = "", name: str = ""
    ) -> Budget:
        """A budget that is not opened, to ask what it would allow: ``answers_left`` of each kind of cost, for example.

        Raises InvalidArgument.
        """
        caps = Caps.of(epsilon, delta, counting)
        return cls(lineage="", name=name, practice=False, generation=1, caps=caps, neighbours=neighbours)

    @property
    def kind(self) -> BudgetKind:
        return self.caps.kind

    @property
    def counting(self) -> Counting:
        """How it counts: ``sum``, ``zcdp``, or ``both`` for an (ε, δ) budget from before that was chosen."""
        return self.caps.counting

    @property
    def cap(self) -> Cost:
        """The whole budget, as opened; ``rho`` is what it is worth where ρ is counted."""
        caps = self.caps
        return Cost(
            epsilon=amount(caps.cap_epsilon, EPSILON_DIGITS),
            rho=amount(caps.cap_rho, RHO_DIGITS) if caps.cap_rho >= 0 else None,
            delta=caps.delta,
        )

    @property
    def remaining(self) -> Cost:
        """What is left, in the way the budget counts.

        ``epsilon`` is the largest one more pure release that fits. Sum: ``delta`` is what is left of δ. zcdp: ``rho``
        is what is left of ρ, and ``delta`` the budget's own, which no release takes from. Both: the better account.
        """
        caps, spent = self.caps, self.spent
        left, rho, delta = 0.0, None, caps.delta
        if self._sums_hold():
            left = amount(caps.cap_epsilon - spent.spent_epsilon, EPSILON_DIGITS)
        if self.counting != "zcdp":
            used = min(spent.spent_delta, caps.cap_delta) if self._sums_hold() else caps.cap_delta
            delta = _chance(caps.total_delta - used)
        if self.counting != "sum":
            rho = amount(caps.cap_rho - spent.spent_rho, RHO_DIGITS) if self._rho_holds() else 0.0
            left = max(left, math.sqrt(2 * rho))
        return Cost(epsilon=left, rho=rho, delta=delta)

    @property
    def share_spent(self) -> float:
        """How full the budget is, 0 to 1; of two accounts in the one that leaves more."""
        caps, spent = self.caps, self.spent
        first = second = 1.0
        if self._sums_hold():
            first = max(spent.spent_epsilon / caps.cap_epsilon, _share(spent.spent_delta, caps.cap_delta))
        if self._rho_holds():
            second = _share(spent.spent_rho, caps.cap_rho)
        return min(first, second, 1.0)

    def share_of(self, cost: Cost, neighbours: str = "") -> float | None:
        """The part of the whole budget (0 to 1) that one more release of ``cost`` takes; None when it does not fit.

        Raises InvalidCost.
        """
        charge = self.charge_for(cost, neighbours)
        if charge is None or not self.after(charge).holds():
            return None
        return max(self.after(charge).share_spent - self.share_spent, 0.0)

    @property
    def untouched(self) -> Budget:
        """The same budget with nothing spent, whose ``share_of`` is what a release takes that does not fit any more."""
        return replace(self, spent=Charge())

    def request_delta(self, epsilon: float | None = None) -> float:
        """The δ that a release asks for unless told otherwise, so that δ is never what runs out first.

        A tenth of the budget's, or less: no larger a part of it than ``epsilon`` is of the budget's ε. 0 for a pure
        budget.
        """
        caps = self.caps
        whole = caps.total_delta if caps.counting == "zcdp" else caps.cap_delta
        units = whole // 10
        if epsilon is not None:
            units = min(units, whole * charge_units(epsilon, EPSILON_DIGITS) // caps.cap_epsilon)
        return amount(units, DELTA_DIGITS)

    def counted(self, cost: Cost, neighbours: str = "") -> Cost | None:
        """``cost`` as this budget counts it, for a release that hides ``neighbours``; None when that is none here.

        Without ``neighbours`` the cost is taken to be about what the budget hides.
        """
        if neighbours in ("", self.neighbours) or not self.neighbours:
            return cost
        return cost.for_replaced_row() if self.neighbours == "replace_one" else None

    def charge_for(self, cost: Cost, neighbours: str = "") -> Charge | None:
        """What ``cost`` adds to the accounts, or None when this budget cannot take such a release at all.

        Raises InvalidCost for a cost that is negative, not a number, has neither a finite ε nor a finite ρ, or is
        nothing at all.
        """
        check_amounts(cost)
        counted = self.counted(cost, neighbours)
        return None if counted is None else self._charge(counted)

    def _charge(self, cost: Cost) -> Charge | None:
        check_amounts(cost)
        sums, rho = self._in_sums(cost), self._in_rho(cost)
        if self.counting == "sum":
            return sums
        if self.counting == "zcdp":
            return rho
        first, second = sums or Charge(beyond=1), rho or Charge(unfit=1)
        return replace(first, spent_rho=second.spent_rho, unfit=second.unfit)

    def _in_sums(self, cost: Cost) -> Charge | None:
        """The charge as ε and δ; None when no such sums could ever take it."""
        epsilon = charge_units(cost.epsilon, EPSILON_DIGITS)
        delta = charge_units(cost.delta, DELTA_DIGITS) if cost.delta > 0.0 else 0
        if epsilon >= TOO_MUCH or (delta > 0 and self.kind == "pure"):
            return None
        if self.counting == "both" and (epsilon > self.caps.cap_epsilon or delta > self.caps.cap_delta):
            return None  # the account is passed over, rather than filled with what it cannot hold
        return Charge(spent_epsilon=epsilon, spent_delta=delta)

    def _in_rho(self, cost: Cost) -> Charge | None:
        """The charge as ρ; None for a release that has none (of which only an ε with a δ is known)."""
        if not math.isfinite(cost.zcdp):
            return None
        units = charge_units(cost.zcdp, RHO_DIGITS)
        return None if self.counting == "both" and units > self.caps.cap_rho else Charge(spent_rho=units)

    def after(self, charge: Charge) -> Budget:
        """The budget once ``charge`` is taken."""
        sums = {name: getattr(self.spent, name) + getattr(charge, name) for name in SPENT}
        return replace(self, spent=Charge(**sums))

    def holds(self) -> bool:
        """Whether the cap is kept; the same condition as the ledger's UPDATE."""
        return self._sums_hold() or self._rho_holds()

    def _sums_hold(self) -> bool:
        caps, spent = self.caps, self.spent
        within = spent.beyond == 0 and spent.spent_epsilon <= caps.cap_epsilon and spent.spent_delta <= caps.cap_delta
        return within and self.counting != "zcdp"

    def _rho_holds(self) -> bool:
        caps, spent = self.caps, self.spent
        within = spent.unfit == 0 and spent.loose_delta == 0 and spent.spent_rho <= caps.cap_rho
        return within and self.counting != "sum"

    def fits(self, cost: Cost, neighbours: str = "") -> bool:
        """Whether one more release of ``cost`` would be accepted now. Raises InvalidCost."""
        charge = self.charge_for(cost, neighbours)
        return charge is not None and self.after(charge).holds()

    def answers_left(self, cost: Cost, neighbours: str = "") -> int:
        """How many more releases of ``cost`` would be accepted. Raises InvalidCost."""
        one = self.charge_for(cost, neighbours)
        if one is None:
            return 0
        caps, spent = self.caps, self.spent
        first = second = 0
        if self._sums_hold() and one.beyond == 0:
            by_epsilon = _repeats(caps.cap_epsilon - spent.spent_epsilon, one.spent_epsilon)
            first = min(by_epsilon, _repeats(caps.cap_delta - spent.spent_delta, one.spent_delta))
        if self._rho_holds() and one.unfit == 0:
            second = _repeats(caps.cap_rho - spent.spent_rho, one.spent_rho)
        return max(first, second)


def _share(spent: int, cap: int) -> float:
    return spent / cap if cap > 0 else 0.0


def _chance(units: int) -> float:
    """δ as a number, which no promise has at 1."""
    return min(amount(units, DELTA_DIGITS), math.nextafter(1.0, 0.0))


def _repeats(left: int, each: int) -> int:
    return _MANY if each == 0 else left // each
