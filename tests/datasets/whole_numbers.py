"""Whole numbers as languages write them once their column holds decimals."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any


def scientific(value: float, *, sign: str = "e", plus: str = "", width: int = 1, whole: str = "") -> str:
    """The shortest digits of a double, one of them before the point; ``whole`` is what stands there for none behind."""
    digits, place = _digits(value)
    rest = digits[1:]
    return f"{_minus(value)}{digits[0]}{'.' + rest if rest else whole}{sign}{plus}{place:0{width}d}"


def fixed(value: float, whole: str) -> str:
    """Without an exponent, however large, and with ``whole`` behind a whole number."""
    return f"{int(value)}{whole}" if float(value).is_integer() else f"{value}"


def _digits(value: float) -> tuple[str, int]:
    _, digits, exponent = Decimal(repr(abs(float(value)))).as_tuple()
    place = len(digits) - 1 + int(exponent) if value else 0
    return "".join(map(str, digits)).rstrip("0") or "0", place


def _minus(value: float) -> str:
    return "-" if value < 0 else ""


def _from(first: float, otherwise: Callable[[float], str], **how: Any) -> Callable[[float], str]:
    """With an exponent from ``first`` on."""
    return lambda value: scientific(value, **how) if abs(value) >= first else otherwise(value)


def _in_r(value: float) -> str:
    """Whichever is shorter."""
    with_exponent, without = scientific(value, plus="+", width=2), fixed(value, "")
    return with_exponent if len(with_exponent) < len(without) else without


def _in_fortran(value: float) -> str:
    digits, place = _digits(value)
    return f"{_minus(value)}0.{digits}E+{place + 1 if value else 0:02d}"


def _decimal(value: float) -> str:
    """Of a column with seven decimals, the zeros at its end taken off; a zero keeps them."""
    return str(Decimal(repr(float(value))).normalize() if value else Decimal("0.0000000"))


def _with_point(value: float) -> str:
    return fixed(value, ".0")


WRITTEN: dict[str, Callable[[float], str]] = {
    "Python, DuckDB": _from(1e16, _with_point, plus="+", width=2),
    "SQLite, Ruby": _from(1e15, _with_point, plus="+", width=2, whole=".0"),
    "Java, Scala, Spark, Jackson": _from(1e7, _with_point, sign="E", whole=".0"),
    "Julia": _from(1e6, _with_point, whole=".0"),
    "Haskell, Erlang": _from(1e5, _with_point, whole=".0"),
    "PHP": _from(1e15, lambda value: fixed(value, ""), sign="E", plus="+", whole=".0"),
    ".NET": _from(1e15, lambda value: fixed(value, ""), sign="E", plus="+", width=2),
    "Rust, orjson, MySQL": _from(1e15, _with_point),
    "SAS, Delphi": _from(1e7, lambda value: fixed(value, ""), sign="E"),
    "Boost.JSON": lambda value: scientific(value, sign="E"),
    "R": _in_r,
    "Go, MATLAB": _from(1e5, lambda value: fixed(value, ""), plus="+", width=2),
    "C on Windows, Oracle": _from(1e5, lambda value: fixed(value, ""), plus="+", width=3),
    "NumPy's savetxt": lambda value: f"{value:.18e}",
    "JavaScript, ClickHouse": lambda value: fixed(value, ""),
    "OCaml, Scheme": lambda value: fixed(value, "."),
    "Fortran": _in_fortran,
    "Python's Decimal": _decimal,
    "Arrow's decimals": lambda value: fixed(value, ".0000000") if value else "0E-7",
}
"""By language, what it writes for a double; those of one language differ by their versions and libraries."""
