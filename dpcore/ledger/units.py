"""Amounts of budget as whole numbers: ε in 10⁻⁹, ρ in 10⁻¹², δ in 10⁻¹⁸. The ledger never adds floats.

A charge is rounded up and a cap down, after both are read to 15 significant digits, so that three charges of 0.1
fit a cap of 0.3 and a fourth of 10⁻⁹ does not.
"""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal

EPSILON_DIGITS, RHO_DIGITS, DELTA_DIGITS = 9, 12, 18

LARGEST_CAP = 10**6  # of ε; caps and sums of charges stay far inside 64 bits
TOO_MUCH = 4 * 10**18  # more than any cap; what an amount that no cap could hold is charged as


def charge_units(amount: float, digits: int) -> int:
    """A charge in units of 10^−digits, rounded up: at least 1, ``TOO_MUCH`` at most."""
    if not math.isfinite(amount):
        return TOO_MUCH
    units = _decimal(amount, digits).to_integral_value(ROUND_CEILING)
    return max(1, min(int(units), TOO_MUCH))


def cap_units(amount: float, digits: int) -> int:
    """A cap in units of 10^−digits, read to 15 digits and rounded down; a bound holds of what comes out of this."""
    return int(_decimal(amount, digits).to_integral_value(ROUND_FLOOR))


def amount(units: int, digits: int) -> float:
    """Units as a number."""
    return float(Decimal(units).scaleb(-digits))


def _decimal(value: float, digits: int) -> Decimal:
    return Decimal(format(value, ".15g")).scaleb(digits)
