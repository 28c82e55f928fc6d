"""Whole numbers however a program wrote them: one row without a number makes its column one of decimals, in which every
"1" stands as "1.0".

A cell says the same in both, whatever the other rows made of its column. Where somebody declared "1.0" itself, it is
that.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from dpcore.datasets.different import among
from dpcore.datasets.matching import instead, words
from dpcore.validate import IntArray

WITH_ZEROS = r"(-?[0-9]+)(?:\.0+|,00?)"
"""A whole number with decimals that say nothing; three zeros after a comma are thousands."""
_PATTERN = re.compile(WITH_ZEROS)
WHOLE = re.compile(r"-?[0-9]+")


def plain(word: str) -> str:
    """A word without decimals that say nothing."""
    found = _PATTERN.fullmatch(word)
    return word if found is None else found[1]


def plainly(text: pd.Series) -> pd.Series:
    """``plain`` of every word."""
    held = words(text)
    may_be = pc.or_(pc.match_substring(held, ".0"), pc.match_substring(held, ",0"))
    other = np.flatnonzero(np.asarray(pc.fill_null(may_be, False), dtype=bool))
    found = pc.replace_substring_regex(held.take(pa.array(other)), rf"\A{WITH_ZEROS}\z", r"\1")
    return instead(text, other, pd.Series(pd.array(found, dtype=pd.StringDtype(na_value=np.nan))))


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
    if any(WHOLE.fullmatch(word) for word in known):
        none = np.flatnonzero(found < 0)
        found[none] = among(plainly(text.iloc[none]), tuple(known))
    return at[found]
