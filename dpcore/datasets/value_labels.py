"""Labels that a file gives to the codes of a column, as those of SPSS and Stata do: which cell counts as which number.

A cell with a label reads as that label, whatever else the file labels: many programs write down just the labels that
occur. Where a column is declared to hold numbers, as a scale of which the ends alone are named, such a cell counts as
its code. Both follow from the label of that cell alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from types import MappingProxyType

import numpy as np
import pandas as pd

from dpcore.datasets.different import among
from dpcore.datasets.numerals import numbers, tidy
from dpcore.datasets.schema import Decimal
from dpcore.validate import BoolArray

Codes = Mapping[str, str]
"""By label, the code that it stands for."""
NO_CODES: Mapping[str, Codes] = MappingProxyType({})
"""By column, of a table in which nothing is labelled."""


def codes_of(labels: Mapping[str, str]) -> Codes:
    """The codes of these labels, given by code, but of a blank one and of one that several codes have: of a cell that
    says it nothing tells which of these numbers it had, so that it is missing among numbers, and stays its word."""
    times = Counter(labels.values())
    return {label: code for code, label in labels.items() if label.strip() and times[label] == 1}


def common(several: Iterable[Codes]) -> Codes:
    """Of columns that become one: the codes of labels that stand for one code wherever they are known."""
    pairs = {(code, label) for each in several for label, code in each.items()}
    times = Counter(label for _, label in pairs)
    return {label: code for code, label in sorted(pairs) if times[label] == 1}


def as_codes(text: pd.Series, codes: Codes, decimal: Decimal, missing: BoolArray) -> pd.Series:
    """Cells with a label as its code, where it is no number itself and the cell is not ``missing``, shape (rows,)."""
    places = among(text, list(codes))
    stays = (places < 0) | missing | ~np.isnan(numbers(tidy(text), decimal))
    found = pd.Series(list(codes.values()), dtype=text.dtype).reindex(places).set_axis(text.index)
    return text.where(stays, found)
