"""What private choices refuse: declared facts and the person's own entries, by name; never what a file holds."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from dpcore.datasets import Column, Declaration
from dpcore.errors import InvalidArgument
from dpcore.releases.choice import Choice
from dpcore.releases.count import NoisyCount
from dpcore.releases.selection import BestRule, BestScore, LeastCost, MostCommonOption, QuantileValue

OPTION = Column(name="o", type="category", categories=("a", "b"))
NUMBER = Column(name="v", type="number", low=0, high=1)
PEOPLE = Declaration(
    columns=(
        OPTION,
        NUMBER,
        Column(name="w", type="number", low=0, high=1),
        Column(name="y", type="yes/no"),
        Column(name="open", type="number"),
        Column(name="words", type="category"),
        Column(name="text", type="text"),
    )
)
TABLE = Declaration(columns=(OPTION, NUMBER, Column(name="open", type="number")), each_row="option")

BAD: list[tuple[Any, dict[str, Any], dict[str, Any], str]] = [
    (MostCommonOption, {"column": "o"}, {"column": "words"}, "columns"),
    (MostCommonOption, {"column": "o"}, {"column": "v"}, "columns"),
    (MostCommonOption, {"column": "o"}, {"column": "nothing"}, "columns"),
    (MostCommonOption, {"column": "o"}, {"epsilon": 0.0}, "epsilon"),
    (MostCommonOption, {"column": "o"}, {"epsilon": float("inf")}, "epsilon"),
    (MostCommonOption, {"column": "o"}, {"epsilon": 1e-30}, "epsilon"),
    (MostCommonOption, {"column": "o"}, {"neighbours": "x"}, "neighbours"),
    (MostCommonOption, {"column": "o"}, {"rule": "noisy_max_laplace"}, "rule"),
    (MostCommonOption, {"column": "o"}, {"chosen_after_looking": ("epsilon",)}, "chosen_after_looking"),
    (BestScore, {"option": "o", "score": "v"}, {"score": "open"}, "sensitivity"),
    (BestScore, {"option": "o", "score": "v"}, {"score": "o"}, "columns"),
    (BestScore, {"option": "o", "score": "v"}, {"candidates": ("a",)}, "candidates"),
    (BestScore, {"option": "o", "score": "v"}, {"rule": "gumbel"}, "rule"),
    (QuantileValue, {"column": "v"}, {"column": "open"}, "columns"),
    (QuantileValue, {"column": "v"}, {"column": "y"}, "columns"),
    (QuantileValue, {"column": "v"}, {"q": 1.0}, "q"),
    (QuantileValue, {"column": "v"}, {"q": 0.123456}, "q"),
    (QuantileValue, {"column": "v"}, {"points": 1}, "points"),
    (BestRule, {"columns": ["v"], "target": "y"}, {"columns": []}, "columns"),
    (BestRule, {"columns": ["v"], "target": "y"}, {"columns": ["y"]}, "target"),
    (BestRule, {"columns": ["v"], "target": "y"}, {"positive": "perhaps"}, "positive"),
    (BestRule, {"columns": ["v"], "target": "y"}, {"columns": ["open"]}, "columns"),
    (LeastCost, {"columns": ["v", "w"]}, {"columns": ["v"]}, "columns"),
    (LeastCost, {"columns": ["v", "w"]}, {"columns": ["v", "v"]}, "columns"),
    (LeastCost, {"columns": ["v", "w"]}, {"columns": ["v", "open"]}, "columns"),
    (NoisyCount, {}, {"neighbours": "replace_one"}, "neighbours"),
]


@pytest.mark.parametrize(("kind", "good", "bad", "name"), BAD)
def test_bad_questions_are_refused_by_name(kind: Any, good: dict, bad: dict, name: str) -> None:
    declaration = TABLE if kind is BestScore else PEOPLE
    kind.of(declaration, **({"epsilon": 1.0} | good))
    with pytest.raises(InvalidArgument, match=rf"^{name} "):
        kind.of(declaration, **({"epsilon": 1.0} | good | bad))


def test_each_kind_of_table_has_its_questions() -> None:
    with pytest.raises(InvalidArgument, match="each_row"):
        BestScore.of(PEOPLE, option="o", score="v", epsilon=1.0)
    with pytest.raises(InvalidArgument, match="each_row"):
        NoisyCount.of(replace(PEOPLE, each_row="step"), epsilon=1.0)


def test_points_too_close_to_tell_apart_are_refused() -> None:
    far = Declaration(columns=(Column(name="v", type="number", low=1e15, high=1e15 + 2000),))
    with pytest.raises(InvalidArgument, match="points"):
        QuantileValue.of(far, "v", epsilon=1.0, points=100_000)


@pytest.mark.parametrize(
    "wrong", [{"sensitivity": 0}, {"rule": "noisy_max_laplace"}, {"epsilon": 0.0}, {"epsilon": 1e-30}]
)
def test_one_noisy_maximum_checks_its_own_numbers(wrong: dict) -> None:
    with pytest.raises(InvalidArgument):
        Choice(**({"epsilon": 1.0, "sensitivity": 1, "monotonic": False, "rule": "exponential"} | wrong))
    with pytest.raises(InvalidArgument):
        Choice(epsilon=1.0, sensitivity=1, monotonic=False, rule="exponential").draw(np.array([0.5, 2]))
