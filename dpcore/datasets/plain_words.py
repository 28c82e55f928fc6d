"""Words however a program wrote their column: one row without a number, or with a time of day, makes it write all
others of that column in another way.

A cell says the same in both, whatever the other rows made of its column. A number is told by its digits, without an
exponent. Where somebody declared "1.0" itself, it is that. What a program rounds on the way, as whole numbers beyond
2⁵³ that become decimals, is another cell: nothing of it is left that could say so. Nor is 1.50 taken for 1.5, as
programs do that guess numbers from words: it may be a version, or somebody's number. A code with a zero in front is no
number that a program wrote: "01,00" names two.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from dpcore.datasets.decimal_texts import fixed
from dpcore.datasets.different import among
from dpcore.datasets.matching import instead, words
from dpcore.validate import IntArray

_DAY, _SPAN, _CLOCK = "[0-9]{4}-[0-9]{2}-[0-9]{2}", "-?[0-9]+ days", "[0-9]{2}:[0-9]{2}:[0-9]{2}"
OFFSET = "(?:Z| ?[+-][0-9]{2}(?::?[0-9]{2})?)"
"""How a point in time says how far its clock is from UTC: Z, +01:00, +0100 or, as DuckDB writes whole hours, +01."""
_MOMENT, _ZONE = rf"(?:{_DAY}[Tt ]|{_SPAN} \+?){_CLOCK}", f"(?:z|{OFFSET})?"
SPELLINGS: tuple[tuple[str, str], ...] = (
    (r"(-?(?:0|[1-9][0-9]*))(?:\.0*|,00?)", r"\1"),  # three zeros after a comma are thousands
    (r"-0|-?0(?:[.,]0+)?[eE][+-]?[0-9]{1,3}", "0"),
    ("[Tt]rue|TRUE", "1"),
    ("[Ff]alse|FALSE", "0"),
    (rf"({_MOMENT})\.0+({_ZONE})|({_MOMENT}\.[0-9]*[1-9])0+({_ZONE})", r"\1\2\3\4"),
    (rf"({_DAY})[Tt ]00:00:00|({_SPAN}) \+?00:00:00", r"\1\2"),
)
"""Whole words that one row can make of others, and what they say, to be taken off in this order: decimals of a whole
number, a zero with a minus or an exponent, yes and no as words, parts of a second that are none, midnight. Every engine
reads these patterns alike."""
EXPONENT = (
    r"-?(?:[1-9](?:[.,][0-9]+)?|0[.,][1-9][0-9]*)[eE]"
    r"(?:\+0?[0-9]{1,2}|[1-9]?[0-9]|\+?(?:[12][0-9]{2}|30[0-8])|-(?:0?[0-9]{1,2}|[12][0-9]{2}|3[01][0-9]|32[0-4]))"
)
"""Numbers as programs write large and small ones, no larger or smaller than doubles are. None writes more digits in
front, more zeros than one, or a zero before the exponent without a sign: 12e4, 0.01e5 and 1e04 are codes. So a number's
size is told by its exponent, however many digits stand there: it is at least that power of ten by 0.1, and below 10."""
LARGEST = 2.0**63
"""Below it a whole number with an exponent is what that double is, 1.152921504606847e+18 is 2⁶⁰: so columns of whole
numbers become doubles. All others are the digits that stand there."""
_SPELLINGS = tuple((re.compile(rf"\A(?:{pattern})\Z"), by) for pattern, by in SPELLINGS)
_EXPONENT = re.compile(EXPONENT)
_PLAIN = re.compile(rf"-?[0-9]+(?:[.,][0-9]*[1-9])?|{_DAY}|{_SPAN}|{_MOMENT}(?:\.[0-9]+)?{_ZONE}")


def plain(word: str) -> str:
    """A word without what says nothing in it: "1" of "1.0", "True" or "1e+00", "0.00001" of "1e-05", "2024-01-31" of
    "2024-01-31 00:00:00"."""
    if _EXPONENT.fullmatch(word) is not None:
        value = float(word.replace(",", "."))
        return str(int(value)) if value.is_integer() and 1 <= abs(value) < LARGEST else _written_out(word)
    for pattern, by in _SPELLINGS:
        word = pattern.sub(by, word)
    return word


def _written_out(word: str) -> str:
    """A number with an exponent as its digits, with the decimal mark that it has."""
    return fixed(word.replace(",", ".")).replace(".", "," if "," in word else ".")


def plainly(text: pd.Series) -> pd.Series:
    """``plain`` of every word."""
    held = words(text)
    other = _which(held, r"[.,]0|\.\z|^-0\z|:|[0-9][eE][-+0-9]|^[Tt](?i:rue)$|^[Ff](?i:alse)$")
    found = held.take(pa.array(other))
    for pattern, by in SPELLINGS:
        found = pc.replace_substring_regex(found, rf"\A(?:{pattern})\z", by)
    large = _which(found, rf"\A(?:{EXPONENT})\z")
    values = np.asarray(pc.cast(pc.replace_substring(found.take(pa.array(large)), ",", "."), pa.float64()))
    whole = (values == np.floor(values)) & (np.abs(values) >= 1) & (np.abs(values) < LARGEST)
    digits = pc.cast(pa.array(values[whole].astype(np.int64)), pa.large_string())
    rest = [_written_out(word) for word in found.take(pa.array(large[~whole])).to_pylist()]
    plain_ones = instead(_series(found), large[whole], _series(digits))
    return instead(text, other, instead(plain_ones, large[~whole], _series(pa.array(rest, pa.large_string()))))


def _which(held: pa.Array, pattern: str) -> IntArray:
    return np.flatnonzero(np.asarray(pc.fill_null(pc.match_substring_regex(held, pattern), False), dtype=bool))


def _series(held: pa.Array) -> pd.Series:
    return pd.Series(pd.array(held, dtype=pd.StringDtype(na_value=np.nan)))


def told_by(listed: Iterable[str]) -> dict[str, int]:
    """Which of the words each is told by: by itself, and by the plain writing of it where no other word is that."""
    all_of_them = tuple(listed)
    known: dict[str, int] = {}
    for written in (all_of_them, map(plain, all_of_them)):
        for place, word in enumerate(written):
            known.setdefault(word, place)
    return known


def place(word: str, known: Mapping[str, int]) -> int:
    """Which of the words ``known`` (``told_by``) this one is: −1 for none."""
    return known.get(word, known.get(plain(word), -1))


def places(text: pd.Series, listed: Sequence[str]) -> IntArray:
    """``place`` of each word among those ``listed``, shape (words,)."""
    known = told_by(listed)
    at = np.array([*known.values(), -1], dtype=np.int64)
    found = among(text, tuple(known))
    if any(map(is_plain, known)):
        none = np.flatnonzero(found < 0)
        found[none] = among(plainly(text.iloc[none]), tuple(known))
    return at[found]


def is_plain(word: str) -> bool:
    """Whether it is what ``plain`` may make of other words."""
    return _PLAIN.fullmatch(word) is not None
