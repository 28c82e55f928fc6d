"""Numbers as people write them: decimal comma or point, thousands, currency, percent, brackets for negatives.

Everything is vectorised over columns of text; every regular expression is linear in its input. What only some cells
need is done with these alone, so that how long a column is read does not tell of one.
"""

from __future__ import annotations

from decimal import ROUND_HALF_DOWN, ROUND_HALF_UP
from decimal import Decimal as Digits

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from dpcore.datasets.matching import at, fullmatch, instead, none_at, words
from dpcore.datasets.plain_words import plainly
from dpcore.datasets.schema import Decimal
from dpcore.validate import BoolArray, FloatArray, IntArray

_CODES = "EUR|USD|GBP|CHF|SEK|NOK|DKK|PLN|CZK|JPY|INR|BRL|ILS|NIS|SAR|AED|EGP|MAD|TRY|UAH|CNY|AUD|CAD|ZAR"
_CURRENCY = (
    rf"(?:[€$£¥₹₽₩₺¢₪₴₦₫₱฿₾₸]|R\$|US\$|{_CODES}|kr\.?|zł|Kč|Fr\.?"
    r"|ש[\"״]ח|ر\.س|د\.إ|ج\.م)"
)
_SPACES = ("\N{NO-BREAK SPACE}", "\N{NARROW NO-BREAK SPACE}", "\N{THIN SPACE}", "\N{FIGURE SPACE}")
PLAIN = r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,4})?"
_EXACT = 2.0**53
_WHOLE = 2.0**52
"""From here on every float is whole, whatever the digits say."""
_LEAST, _MOST = -(2**63), 2**63 - 1


def _pattern(decimal: Decimal) -> str:
    """A number whose decimal mark is ``decimal``; thousands marked by the other mark, a space or an apostrophe.

    At most one sign: in front, between currency and digits, behind, or as brackets. Thousands never begin with 0, so
    that 0.488 is no number where a comma marks decimals, and have no exponent, as 1.234e+07 has, whatever is stated.
    """
    point, comma = (r"\.", ",") if decimal == "." else (",", r"\.")
    grouped = "|".join(rf"[1-9][0-9]{{0,2}}(?:{mark}[0-9]{{3}})+" for mark in (comma, " ", "['’]"))
    indian = rf"[1-9][0-9]?(?:{comma}[0-9]{{2}})+{comma}[0-9]{{3}}"
    ungrouped = rf"(?:[0-9]+(?:{point}[0-9]*)?|{point}[0-9]+)(?:[eE][+-]?[0-9]{{1,4}})?"
    digits = rf"(?:(?:{grouped}|{indian})(?:{point}[0-9]*)?|{ungrouped})"
    before, after = rf"{_CURRENCY} ?", rf"(?: ?(?:%|{_CURRENCY}))?"
    bare = rf"(?:{before})?{digits}{after}"
    return rf"[+-]? ?{bare}|{before}[+-]{digits}{after}|{bare} ?-|\( ?{bare} ?\)"


_PATTERNS: dict[Decimal, str] = {".": _pattern("."), ",": _pattern(",")}


def tidy(text: pd.Series) -> pd.Series:
    """Text without padding, with ordinary spaces and an ordinary minus sign."""
    other = np.flatnonzero(~np.asarray(pc.string_is_ascii(words(text)), dtype=bool))
    return instead(text.str.strip(), other, _ordinary(at(text, other)))


def _ordinary(text: pd.Series) -> pd.Series:
    for space in _SPACES:
        text = text.str.replace(space, " ", regex=False)
    # Marks of the writing direction, which programs put around numbers in Hebrew and Arabic text.
    text = text.str.replace("[\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069]", "", regex=True)
    return text.str.strip().str.replace(r"^[−–‒]( ?[0-9.,])", r"-\1", regex=True)


def is_number(text: pd.Series, decimal: Decimal) -> BoolArray:
    """Which cells of tidied text are numbers when ``decimal`` is the decimal mark."""
    return fullmatch(text, _PATTERNS[decimal])


def canonical(text: pd.Series, decimal: Decimal) -> pd.Series:
    """Tidied text as a computer writes numbers ("-1234.5"), for cells where ``is_number`` or that say a whole number
    all the same (``plain_words``: "38.0" where a comma marks decimals); "" elsewhere.

    A percent sign is dropped, not divided by: 12 % reads as 12, as written.
    """
    plain = fullmatch(text, PLAIN if decimal == "." else r"[+-]?[0-9]+")
    other = np.flatnonzero(~plain)
    return instead(text, other, _as_computers_write(at(text, other), decimal))


def _as_computers_write(text: pd.Series, decimal: Decimal) -> pd.Series:
    read = np.array(is_number(text, decimal))
    unread = np.flatnonzero(~read)
    plainer = plainly(at(text, unread))
    read[unread] = fullmatch(plainer, "-?[0-9]+")
    rest = none_at(instead(text, unread, plainer), ~read).str.replace(_CURRENCY, "", regex=True)
    rest = rest.str.replace(r"[ '’%]", "", regex=True).str.replace("," if decimal == "." else ".", "", regex=False)
    rest = rest.str.replace(",", ".", regex=False)
    below = np.flatnonzero(rest.str.contains(r"^[(-]|-$", regex=True).to_numpy(dtype=bool))
    rest = rest.str.replace(r"^[(+-]+|[)-]$", "", regex=True)
    return instead(rest, below, "-" + at(rest, below))


def numbers(text: pd.Series, decimal: Decimal, *, plain: bool = False) -> FloatArray:
    """float64 values of tidied text; NaN where a cell is no number or lies beyond the range of a float.

    ``plain`` says that every cell is already known to be written as computers write numbers.
    """
    values = _floats(text if plain else canonical(text, decimal))
    # an array of its own, since one of Arrow may not be written to: whether it may hangs on the column's pieces
    return np.where(np.isfinite(values), values, np.nan) + 0.0  # −0 becomes 0


def bounded(text: pd.Series, decimal: Decimal) -> FloatArray:
    """As ``numbers``, with the largest float of its sign where a number lies beyond all of them: beside that a number
    one larger is not nothing."""
    return np.nan_to_num(_floats(canonical(text, decimal)), nan=np.nan) + 0.0


def _floats(clean: pd.Series) -> FloatArray:
    """float64 values of what a computer wrote, NaN for "", infinite beyond the range of a float."""
    held = words(clean)
    held = pc.if_else(pc.equal(held, ""), "nan", held)
    return np.asarray(pc.cast(held, pa.float64()), dtype=np.float64)


def integers(text: pd.Series, decimal: Decimal) -> tuple[IntArray, BoolArray]:
    """int64 values of tidied text, exact beyond 2⁵³, and which cells are whole numbers that fit; 0 elsewhere."""
    return whole(numbers(text, decimal), text, decimal)


def whole(values: FloatArray, text: pd.Series, decimal: Decimal) -> tuple[IntArray, BoolArray]:
    """As ``integers``, for ``values`` that ``numbers`` found; where a float is too short the digits are read again."""
    with np.errstate(invalid="ignore"):
        fits = np.isfinite(values) & (values == np.floor(values)) & (np.abs(values) <= 2.0**63)
        large = np.flatnonzero(fits & (np.abs(values) >= _EXACT))
    exact = np.where(fits & (np.abs(np.nan_to_num(values)) < _EXACT), values, 0).astype(np.int64)
    if large.size:
        for position, word in zip(large, canonical(text.iloc[large], decimal), strict=True):
            value = int(_exactly(word))
            fits[position] = _LEAST <= value <= _MOST
            exact[position] = value if fits[position] else 0
    return exact, fits


def _exactly(word: str) -> Digits:
    """The number that a computer wrote: with an exponent, from 2⁵³ on, the float's, which has other digits."""
    as_float = "e" in word.lower() and abs(float(word)) >= _EXACT
    return Digits(float(word)) if as_float else Digits(word)


def nearest(text: pd.Series, decimal: Decimal) -> tuple[IntArray, BoolArray]:
    """int64 values of tidied text, each the nearest whole number, and which cells are numbers; 0 elsewhere.

    Of a half it is the larger one, and beyond 64 bits the last that fits. A number that is moved by a whole number is
    read as moved by that, and by any other as moved no farther than the next whole one; up to there, and where it has
    an exponent up to 2⁵³.
    """
    values = bounded(text, decimal)
    there = ~np.isnan(values)
    as_it_is = there & (values == np.floor(values)) & (np.abs(values) < _WHOLE)
    found = np.where(as_it_is, values, 0).astype(np.int64)
    beyond = np.abs(np.nan_to_num(values)) > 2.0**63
    found[beyond] = np.where(values[beyond] < 0, _LEAST, _MOST)
    # By the digits: floats lie closer to each other below 8 than above, and of two they may lose what one has.
    rest = np.flatnonzero(there & ~as_it_is & ~beyond)
    for position, word in zip(rest, canonical(text.iloc[rest], decimal), strict=True):
        half = ROUND_HALF_DOWN if word.startswith("-") else ROUND_HALF_UP
        found[position] = min(max(int(_exactly(word).to_integral_value(half)), _LEAST), _MOST)
    return found, there
