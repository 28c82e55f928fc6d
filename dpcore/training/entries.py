"""What one entry of data says by itself: a number, a day, one of the options, a class.

An array, and a column of a frame, has one type for all of its entries, and one entry can decide it: a text among
numbers makes every 1 a "1", a missing one every 1 a 1.0. So an entry says the same in whichever of these types it
comes; otherwise one row would change what all others say. Nothing here fails, whatever an entry is.
"""

from __future__ import annotations

import re
from datetime import date, datetime
from typing import Any, Literal

import numpy as np

Known = int | float | str
_MIDNIGHT = re.compile(r"[T ]00:00:00(\.0+)?")
_TRUTH = {"True": 1, "False": 0}
_DAY = np.timedelta64(1, "D")
_HELD = 2**53
HELD = "as a 64-bit float holds them: whole numbers below 2⁵³, fractions as Python's own floats; name others by words"
"""How numbers must be that are options or classes."""


def number(value: Any) -> float:
    """The number that an entry says, true and false being 1 and 0; NaN for none."""
    found = known(value)
    if isinstance(found, str | None):
        return np.nan
    try:
        return float(found)
    except OverflowError:  # a whole number beyond all others
        return np.inf if found > 0 else -np.inf


def day(value: Any) -> float:
    """Days since 1970 of a date, or of a text in ISO 8601, by its own clock; NaN for none."""
    try:
        if isinstance(value, date):
            own = value.date() if isinstance(value, datetime) else value
        else:
            own = date.fromisoformat(str(known(value)).strip()[:10])
        return float((np.datetime64(own, "D") - np.datetime64(0, "D")) / _DAY)
    except (TypeError, ValueError, OverflowError):
        return np.nan


def known(value: Any) -> Known | None:
    """What an option is known by, and an entry that may be it: the number that it says, else its text; None if missing.

    "1", 1, 1.0 and true are one option, and so are a day and its midnight.
    """
    try:
        return _known(value)
    except Exception:  # noqa: BLE001 - whatever an object's own methods raise: it says nothing
        return None


def named(value: Any) -> tuple[Literal["number", "text", "yes/no"], Known] | None:
    """The class that an entry names where classes are not declared: a number, 1.0 being 1, a text as it stands, or
    true or false. None for all else, so that how one row writes its class is never published."""
    if isinstance(value, bool | np.bool_):
        return "yes/no", bool(value)
    if isinstance(value, str | bytes):
        return "text", _text(value)
    found = known(value)
    return None if isinstance(found, str | None) or not held_exactly(value) else ("number", found)


def held_exactly(value: Any) -> bool:
    """Whether it is what it is in every type that a column can get: a missing cell makes each whole number a 64-bit
    float, which holds those below 2⁵³, and a text makes of a shorter float the text of another number."""
    if isinstance(value, np.floating) and float(str(value)) != float(value):
        return False
    found = known(value)
    return not isinstance(found, int) or abs(found) < _HELD


def _known(value: Any) -> Known | None:
    if isinstance(value, str | bytes):
        text = _text(value)
        return _TRUTH[text] if text in _TRUTH else _read(text)
    if value is None:
        return None
    if isinstance(value, date | np.datetime64 | np.timedelta64):
        return _read(str(value))
    try:
        found = complex(value)
    except OverflowError:
        return int(value)
    except (TypeError, ValueError):
        return _read(str(value))
    if np.isnan(found) or found.imag:
        return None
    if isinstance(value, int | np.integer):
        return int(value)
    return int(found.real) if found.real.is_integer() else found.real


def _read(text: str) -> Known | None:
    """The number that a text says, or else the text, a midnight as its day."""
    if text in ("NaT", "<NA>"):
        return None
    try:
        return int(text)
    except ValueError:  # no whole number, or one of too many digits
        pass
    try:
        found = float(text)
    except ValueError:
        return _MIDNIGHT.sub("", text) if text[:4].isdigit() else text
    if np.isnan(found):
        return None
    return int(found) if found.is_integer() else found


def _text(value: str | bytes) -> str:
    """Its own characters, whatever a type that derives from text says of itself."""
    return value.decode(errors="replace") if isinstance(value, bytes) else str.__str__(value)
