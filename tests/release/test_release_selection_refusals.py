"""What private choices refuse: public parameters by name, unusable data before any charge."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dpcore.errors import InvalidArgument
from dpcore.releases.choice import Choice
from dpcore.releases.selection import BestRule, BestScore, MostCommonOption, QuantileValue
from dpcore.selection import Categories, Cuts

OPTIONS = ("a", "b", "c", "d")
COLUMNS = (Cuts(column="x", low=0, high=1, count=3), Categories(column="c", values=("u", "v")))

BAD = [
    (MostCommonOption, {"options": OPTIONS}, {"options": ()}, "options"),
    (MostCommonOption, {"options": OPTIONS}, {"options": ("a", "a")}, "options"),
    (MostCommonOption, {"options": OPTIONS}, {"epsilon": 0.0}, "epsilon"),
    (MostCommonOption, {"options": OPTIONS}, {"epsilon": float("inf")}, "epsilon"),
    (MostCommonOption, {"options": OPTIONS}, {"neighbours": "x"}, "neighbours"),
    (MostCommonOption, {"options": OPTIONS}, {"rows_per_person": 0}, "rows_per_person"),
    (MostCommonOption, {"options": OPTIONS}, {"rule": "gumbel"}, "rule"),
    (BestScore, {"candidates": OPTIONS}, {"candidates": ()}, "candidates"),
    (BestScore, {"candidates": OPTIONS}, {"monotonic": True}, "monotonic"),
    (BestScore, {"candidates": OPTIONS}, {"sensitivity": 0.5}, "sensitivity"),
    (BestScore, {"candidates": OPTIONS}, {"resolution": 0.0}, "resolution"),
    (BestScore, {"candidates": OPTIONS}, {"sensitivity": -1.0, "resolution": 0.1}, "sensitivity"),
    (BestScore, {"candidates": OPTIONS}, {"sensitivity": 1e30, "resolution": 1e-9}, "resolution"),
    (BestScore, {"candidates": OPTIONS}, {"smallest": 1}, "smallest"),
    (QuantileValue, {"low": 0.0, "high": 1.0}, {"high": 0.0}, "high"),
    (QuantileValue, {"low": 0.0, "high": 1.0}, {"low": float("nan")}, "low"),
    (QuantileValue, {"low": 0.0, "high": 1.0}, {"q": 1.0}, "q"),
    (QuantileValue, {"low": 0.0, "high": 1.0}, {"q": 0.123456}, "q"),
    (QuantileValue, {"low": 0.0, "high": 1.0}, {"points": 1}, "points"),
    (QuantileValue, {"low": 1e15, "high": 1e15 + 1}, {"points": 1001}, "points"),
    (BestRule, {"columns": COLUMNS, "target": "y"}, {"columns": ()}, "columns"),
    (BestRule, {"columns": COLUMNS, "target": "y"}, {"target": "x"}, "target"),
]


@pytest.mark.parametrize(("kind", "good", "bad", "name"), BAD)
def test_bad_parameters_are_refused_by_name(kind: type, good: dict, bad: dict, name: str) -> None:
    with pytest.raises(InvalidArgument, match=rf"^{name} "):
        kind(**({"epsilon": 1.0} | good | bad))


@pytest.mark.parametrize(
    ("request_", "data"),
    [
        (MostCommonOption(epsilon=1.0, options=OPTIONS), "abc"),
        (MostCommonOption(epsilon=1.0, options=OPTIONS), {"a": 3}),
        (BestScore(epsilon=1.0, candidates=OPTIONS), [1, 2, 3]),
        (BestScore(epsilon=1.0, candidates=OPTIONS), [1, 2, 3, 4.5]),
        (BestScore(epsilon=1.0, candidates=OPTIONS), [1, 2, 3, float("nan")]),
        (QuantileValue(epsilon=1.0, low=0, high=1), [0.5, float("nan")]),
        (QuantileValue(epsilon=1.0, low=0, high=1), ["0.5"]),
        (BestRule(epsilon=1.0, columns=COLUMNS, target="y"), {"x": [0.1], "c": ["u"]}),
        (BestRule(epsilon=1.0, columns=COLUMNS, target="y"), {"x": [0.1], "y": [True]}),
        (BestRule(epsilon=1.0, columns=COLUMNS, target="y"), {"x": [float("nan")], "c": ["u"], "y": [True]}),
        (BestRule(epsilon=1.0, columns=COLUMNS, target="y"), {"x": [0.1], "c": ["u"], "y": [2]}),
    ],
)
def test_unusable_data_are_refused_before_any_charge(request_: Any, data: Any) -> None:
    with pytest.raises(InvalidArgument):
        request_.validate(data)


def test_one_noisy_maximum_checks_its_own_numbers() -> None:
    with pytest.raises(InvalidArgument):
        Choice(epsilon=1.0, sensitivity=0, monotonic=False, rule="exponential").draw(np.array([1, 2]))
