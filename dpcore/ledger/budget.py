"""What one group of people's budget allows: its cap, what is spent, and which charges still fit.

Two kinds of cap, both valid when every question is chosen after seeing the earlier answers:

* **pure**: ε alone. Each release must be pure ε-DP; the ε add up (basic composition, a filter).
* **approximate**: (ε, δ), by two accounts kept side by side; a release fits when one of them still holds after it.
  The first adds up ε and δ and holds while they are within ε and δ/2 (basic composition). The second adds up ρ, and
  the δ of releases that have no ρ of their own (those enter with ε²/2), and holds while they are within δ/2 and the
  ρ that is worth (ε, δ/2) (zCDP as a filter; Feldman & Zrnic, NeurIPS 2021).

Why the two together are still (ε, δ)-DP: each (ε, δ) release is pure outside an event of chance δ. Of the ways the
questions and answers can go, those that end with the first account holding have a log-ratio of at most ε outside
these events. Those that end with the second holding are also ways of the same questions stopped where that account
would fail, whose log-ratio passes ε with a weight of at most δ/2 outside the events that account counts. On either
kind of way the events counted have a chance of at most δ/2, which makes δ in all.

A budget promises to hide one kind of difference: a row added or removed, or a row replaced. It is said when the budget
is opened or follows from the first charge, so that it never depends on an answer. Where rows are replaced, a release
that hides rows added or removed is counted as ``Cost.for_replaced_row``; the other way round there is no promise to
count, and the release is refused.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from dpcore.calibration import zcdp_rho
from dpcore.costs import Cost, check_cost
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
from dpcore.validate import in_range

BudgetKind = Literal["pure", "approximate"]
_MANY = 10**9


SPENT = ("spent_epsilon", "spent_delta", "beyond", "spent_rho", "loose_delta", "unfit")


@dataclass(frozen=True, slots=True, kw_only=True)
class Charge:
    """What one release adds to the two accounts, in units.

    ``beyond`` is 1 for a release that the first account cannot add up (it fails from then on), ``unfit`` the same for
    the second.
    """

    spent_epsilon: int = 0
    spent_delta: int = 0
    beyond: int = 0
    spent_rho: int = 0
    loose_delta: int = 0
    unfit: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Caps:
    """A cap in units. ``cap_delta`` is half of ``total_delta``, for the δ of releases. A pure cap has no ρ (−1)."""

    kind: BudgetKind
    cap_epsilon: int
    cap_rho: int
    cap_delta: int
    total_delta: int

    @classmethod
    def of(cls, epsilon: float, delta: float) -> Caps:
        """Raises InvalidArgument."""
        in_range(0.0, LARGEST_CAP, open_low=True, epsilon=epsilon)
        in_range(0.0, 1.0, open_high=True, delta=delta)
        cap = cap_units(epsilon, EPSILON_DIGITS)
        if cap < 1:
            raise InvalidArgument("epsilon", "must be at least 0.000000001")
        if delta == 0.0:
            return cls(kind="pure", cap_epsilon=cap, cap_rho=-1, cap_delta=0, total_delta=0)
        if delta < 1e-15:
            raise InvalidArgument("delta", "must be 0 or at least 1e-15")
        return cls(
            kind="approximate",
            cap_epsilon=cap,
            cap_rho=cap_units(zcdp_rho(epsilon, delta / 2), RHO_DIGITS),
            cap_delta=cap_units(delta / 2, DELTA_DIGITS),
            total_delta=cap_units(delta, DELTA_DIGITS),
        )

    def same_as(self, other: Caps) -> bool:
        """Whether both are the same (ε, δ); what that is worth in ρ may differ in its last digit between versions."""
        return (self.cap_epsilon, self.total_delta) == (other.cap_epsilon, other.total_delta)


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

    @property
    def kind(self) -> BudgetKind:
        return self.caps.kind

    @property
    def cap(self) -> Cost:
        """The whole budget, as opened."""
        return replace(self, spent=Charge()).remaining

    @property
    def remaining(self) -> Cost:
        """What is left. ``epsilon`` is the largest one more pure release that fits; ``delta`` what of δ is not used."""
        caps, spent = self.caps, self.spent
        left = amount(max(caps.cap_epsilon - spent.spent_epsilon, 0), EPSILON_DIGITS) if self._first_holds() else 0.0
        if self.kind == "pure":
            return Cost(epsilon=left)
        rho = amount(max(caps.cap_rho - spent.spent_rho, 0), RHO_DIGITS) if self._second_holds() else 0.0
        used = min(spent.spent_delta, caps.cap_delta) if self._first_holds() else spent.loose_delta
        return Cost(
            epsilon=max(left, math.sqrt(2 * rho)),
            rho=rho,
            delta=amount(max(caps.total_delta - used, 0), DELTA_DIGITS),
        )

    @property
    def share_spent(self) -> float:
        """How full the budget is, 0 to 1, in the account that leaves more."""
        caps, spent = self.caps, self.spent
        first = max(spent.spent_epsilon / caps.cap_epsilon, _share(spent.spent_delta, caps.cap_delta))
        second = max(_share(spent.spent_rho, caps.cap_rho), _share(spent.loose_delta, caps.cap_delta))
        return min(first if self._first_holds() else 1.0, second if self._second_holds() else 1.0, 1.0)

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
        check_cost(cost)
        counted = self.counted(cost, neighbours)
        return None if counted is None else self._charge(counted)

    def _charge(self, cost: Cost) -> Charge | None:
        check_cost(cost)
        epsilon = charge_units(cost.epsilon, EPSILON_DIGITS)
        if self.kind == "pure":
            can = cost.delta == 0.0 and epsilon < TOO_MUCH
            return Charge(spent_epsilon=epsilon) if can else None
        delta = charge_units(cost.delta, DELTA_DIGITS) if cost.delta > 0.0 else 0
        first = Charge(beyond=1)
        if epsilon <= self.caps.cap_epsilon and delta <= self.caps.cap_delta:
            first = Charge(spent_epsilon=epsilon, spent_delta=delta)
        rho, loose = cost.zcdp, 0
        if not math.isfinite(rho):
            rho, loose = cost.epsilon * cost.epsilon / 2, delta
        units = charge_units(rho, RHO_DIGITS)
        if units > self.caps.cap_rho or loose > self.caps.cap_delta:
            return replace(first, unfit=1)
        return replace(first, spent_rho=units, loose_delta=loose)

    def after(self, charge: Charge) -> Budget:
        """The budget once ``charge`` is taken."""
        sums = {name: getattr(self.spent, name) + getattr(charge, name) for name in SPENT}
        return replace(self, spent=Charge(**sums))

    def holds(self) -> bool:
        """Whether the cap is kept; the same condition as the ledger's UPDATE and the table's CHECK."""
        return self._first_holds() or self._second_holds()

    def _first_holds(self) -> bool:
        caps, spent = self.caps, self.spent
        return spent.beyond == 0 and spent.spent_epsilon <= caps.cap_epsilon and spent.spent_delta <= caps.cap_delta

    def _second_holds(self) -> bool:
        caps, spent = self.caps, self.spent
        return spent.unfit == 0 and spent.spent_rho <= caps.cap_rho and spent.loose_delta <= caps.cap_delta

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
        if self._first_holds() and one.beyond == 0:
            by_epsilon = _repeats(caps.cap_epsilon - spent.spent_epsilon, one.spent_epsilon)
            first = min(by_epsilon, _repeats(caps.cap_delta - spent.spent_delta, one.spent_delta))
        if self._second_holds() and one.unfit == 0:
            by_rho = _repeats(caps.cap_rho - spent.spent_rho, one.spent_rho)
            second = min(by_rho, _repeats(caps.cap_delta - spent.loose_delta, one.loose_delta))
        return max(first, second)


def _share(spent: int, cap: int) -> float:
    return spent / cap if cap > 0 else 0.0


def _repeats(left: int, each: int) -> int:
    return _MANY if each == 0 else left // each
