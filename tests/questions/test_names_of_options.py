"""Which column says what an option is: one whose words nobody's answer changes, and none that is only the first."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from dashboard.questions.selection.most_common_request import most_common_request
from dpcore.datasets import Column, Declaration, PrivateRows
from dpcore.releases.selection import BestScore

VOTES = Column(name="votes", type="integer", low=0, high=100, sensitivity=1)
SHOP = Column(name="shop", type="text")
MOOD = Column(name="mood", type="category", categories=("good", "bad"))
KIND = Column(name="kind", type="category", categories=("old", "new"))
OPEN = Column(name="open", type="yes/no")
ROWS = PrivateRows(
    pd.DataFrame(
        {
            "mood": ["good", "bad"],
            "kind": ["old", "new"],
            "open": ["yes", "no"],
            "shop": ["x", "y"],
            "votes": ["5", "9"],
        },
        dtype="str",
    )
)


@pytest.mark.parametrize(
    ("columns", "named"),
    [
        ((MOOD, SHOP), "shop"),
        ((SHOP, MOOD, KIND, OPEN), "shop"),
        ((OPEN, KIND), "kind"),
        ((MOOD, KIND), None),
        ((SHOP, Column(name="mood", type="text")), None),
        ((OPEN,), ""),
    ],
)
def test_one_column_names_the_options_or_it_is_asked(columns: tuple[Column, ...], named: Any) -> None:
    found = most_common_request(
        Declaration(columns=(*columns, VOTES), each_row="option"),
        "votes",
        rows=lambda: ROWS,
        epsilon=1.0,
        neighbours="add_remove",
        rule="permute_and_flip",
    )
    if named:
        assert isinstance(found, BestScore)
        assert found.option == named
    else:
        assert isinstance(found, str)
        assert ("not said which column names the options" in found) == (named is None)
