"""Whole words against a pattern, by Arrow.

As ``Series.str.fullmatch``, which reads the pattern anew in Python each time to see whether Arrow can take it.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from dpcore.validate import BoolArray


def fullmatch(text: pd.Series, pattern: str) -> BoolArray:
    r"""Which words match as a whole. The pattern holds nothing of which Arrow and Python think otherwise: no \\d, \\s,
    \\w or \\b, nothing that looks ahead or back, and neither end marked.
    """
    found = pc.match_substring_regex(pa.array(text, pa.large_string()), f"^(?:{pattern})$")
    return np.asarray(found, dtype=bool)
