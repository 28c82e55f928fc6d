"""Numbers as sentences write them: to the last digit where somebody stated them, so that no two read the same.

What was worked out (more digits than anybody states) may be rounded, to the side on which it promises no more than it
is: what an answer costs up, what is left down.
"""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal

STATED = 15
"""Significant digits to which the ledger reads an amount; a number with more was worked out."""
_NOISE = 12
"""A number that was worked out and has so few digits once it is read to ``STATED`` is a sum of such, off by a float."""
TINY, CHANCE = 1e-6, 1e-3
"""Below these a number, or a chance such as δ, is written as a power of ten."""
_GROUPED, _LARGE = 5, 15  # digits before the point from which thousands are marked (a year is not), and powers written
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def exact(value: float, *, small: float = TINY) -> str:
    """The shortest text that names this very number.

    >>> exact(20_000_015.0), exact(1990), exact(0.1), exact(1e-7)
    ('20,000,015', '1990', '0.1', '10⁻⁷')
    """
    return _text(_decimal(value), small) if math.isfinite(value) else _without_end(value)


def hundredths(share: float) -> str:
    """A share as a number of 100: ``exact``, without the error of multiplying floats."""
    return _text(_decimal(share).scaleb(2), TINY)


def rounded_up(value: float, *, digits: int = 6, small: float = TINY) -> str:
    """As ``exact``; what was worked out to so many significant digits, never less than it is."""
    return _rounded(value, digits, small, ROUND_CEILING)


def rounded_down(value: float, *, digits: int = 6, small: float = TINY) -> str:
    """As ``exact``; what was worked out to so many significant digits, never more than it is."""
    return _rounded(value, digits, small, ROUND_FLOOR)


def _rounded(value: float, digits: int, small: float, rounding: str) -> str:
    if not math.isfinite(value):
        return _without_end(value)
    number = _decimal(value)
    if _digits(number) > STATED and _digits(read := Decimal(format(value, f".{STATED}g"))) <= _NOISE:
        return _text(read, small)
    if _digits(number) > STATED:
        number = number.quantize(Decimal(1).scaleb(number.adjusted() + 1 - digits), rounding)
    return _text(number, small)


def _digits(number: Decimal) -> int:
    return len(number.normalize().as_tuple().digits)


def _decimal(value: float) -> Decimal:
    return Decimal(int(value)) if isinstance(value, int) else Decimal(repr(float(value)))


def _without_end(value: float) -> str:
    return "not a number" if math.isnan(value) else "∞" if value > 0 else "-∞"


def _text(number: Decimal, small: float) -> str:
    if number == 0:
        return "0"
    if number.adjusted() >= _LARGE or abs(number) < Decimal(repr(small)):
        sign, digits, _ = number.as_tuple()
        known = "".join(map(str, digits)).lstrip("0").rstrip("0")
        first = known if len(known) == 1 else f"{known[0]}.{known[1:]}"
        power = f"10{str(number.adjusted()).translate(_RAISED)}"
        return f"{'-' * sign}{power if first == '1' else f'{first} × {power}'}"
    text = format(number, ",f" if number.adjusted() + 1 >= _GROUPED else "f")
    return text.rstrip("0").rstrip(".") if "." in text else text
