"""What is looked at of a text that may be of any length.

To trim, lower or match a text takes as long as it has letters, and how long an answer takes would tell of one cell of
some million. So a text that is too long is told by its length, and nothing else is done with it.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow.compute as pc

from dpcore.datasets.matching import instead, words
from dpcore.datasets.schema import LONGEST, LONGEST_PERSON

TOO_LONG = "\N{DELETE}" * (LONGEST_PERSON + 1)
"""Stands for each text that is too long: no blank, nobody's name, no number, day or word that anyone would declare, and
of ASCII, so that the column is read as fast with it as without."""


def looked_at(text: pd.Series) -> pd.Series:
    """A column of texts, none of them missing, with ``TOO_LONG`` for each of more than ``LONGEST`` bytes."""
    long = np.flatnonzero(np.asarray(pc.greater(pc.binary_length(words(text)), LONGEST), dtype=bool))
    return instead(text, long, pd.Series([TOO_LONG] * long.size, dtype="str"))
