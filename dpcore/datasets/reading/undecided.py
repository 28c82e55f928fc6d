"""Days and numbers spelled each cell by itself, whichever comes first, day or month, and whichever mark stands before
decimals: what one row of a column can decide for all the others is no part of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from dpcore.datasets.dates import MONTHS, dates
from dpcore.datasets.numerals import numbers, tidy
from dpcore.datasets.stopping import each

if TYPE_CHECKING:
    from numpy.typing import NDArray

_DIGIT = r"\d"  # every day and number has one
_LETTER, _MONTH = "^[A-Za-z]", f"^(?i:{'|'.join(MONTHS)})"  # no day begins with other letters than those of a month
_FIRST_DAY, _LAST_DAY = 19_000_101, 20_991_231  # of those that are written as whole numbers


def undecided(words: pd.Series) -> list[str]:
    """Of each word one spelling for all that it could say as a day or a number; "" where it is neither.

    Of two days it is the earlier one, of two numbers the larger: 03/04/1971 is 1971-03-04, 48,123 and 48.123 are 48123.
    """
    told = words.str.contains(_DIGIT, na=False).to_numpy(dtype=bool)
    if not told.all():
        spelled = iter(undecided(words[told]) if told.any() else [])
        return [next(spelled) if one else "" for one in told.tolist()]
    tidied = tidy(words)
    point, comma = numbers(tidied, "."), numbers(tidied, ",")
    values = np.where(np.isnan(point) | (np.abs(comma) > np.abs(point)), comma, point)
    found = ["" if np.isnan(value) else as_word(value) for value in each(values.tolist())]
    named = tidied.str.contains(_LETTER).to_numpy(dtype=bool) & ~tidied.str.contains(_MONTH).to_numpy(dtype=bool)
    could = np.flatnonzero(~named & (np.isnan(values) | ((values >= _FIRST_DAY) & (values <= _LAST_DAY))))
    moments = np.fmin(dates(tidied.iloc[could], "dmy"), dates(tidied.iloc[could], "mdy"))
    read = ~np.isnat(moments)
    for at, day in zip(could[read], as_words(moments[read]), strict=True):
        found[at] = day
    return found


def as_word(number: float) -> str:
    """A number, up to the digits that programs keep alike."""
    return format(number, ".12g")


def as_words(moments: NDArray[np.datetime64]) -> list[str]:
    """As "1971-03-04", with a clock time behind it where there is one."""
    words: list[str] = pd.Series(moments).astype("string").str.removesuffix(" 00:00:00").tolist()
    return words
