"""No question takes more of a large file in the page's own process than a few of its columns, however it is set.

What it takes there beside what stays is counted nowhere: few pages do so at once
(``dashboard.background.large_turns``), and this is what bounds each.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from dashboard import catalogue
from dashboard.questions.training.prepared_rows import MOST_NUMBERS
from tests.questions.large_probe import SHAPES

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.skipif(sys.platform != "linux", reason="elsewhere no peak can be read"),
]
FEW = 64 << 20
ROW, ANSWERED = 250, 850
"""Bytes of each row, in a step of a page and in reading it for an answer: a column as text takes some thirty, as
numbers eight."""
A_MODEL, PARTS, LOADED = 16, 150 << 20, 16 << 20
"""Of each row and column what a model that is drawn keeps, as numbers and as codes; what parts of its rows take that
are written out, however many there are; and what the first look at a large table loads."""


def probed(shape: str, *keys: str) -> list[dict[str, Any]]:
    """What each question, or those of these ``keys``, took of a table of this shape."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.questions.large_probe", shape, *keys],
        capture_output=True,
        text=True,
        timeout=600,
        check=True,
        cwd=Path(__file__).parents[2],
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.parametrize("shape", ["long", "wide"])
def test_a_question_takes_no_more_than_a_few_columns(shape: str) -> None:
    rows, *columns = SHAPES[shape]
    # of many columns rows are made ready for training as features, a bounded number of them, and twice
    page, answer = ROW * rows if shape == "long" else 16 * MOST_NUMBERS, LOADED + ANSWERED * rows
    model = answer + A_MODEL * sum(columns) * rows + PARTS
    found = probed(shape)
    assert {one["kind"] for one in found} == {kind.key for _, kind in catalogue.every()}
    assert len(found) >= 3 * len(catalogue.every())
    most = {"predict": model}
    assert [one for one in found if one["bytes"] > page or one["answer"] > most.get(one["kind"], answer)] == []
    assert any(one["answer"] > FEW for one in found), "answers were read"
    never = {kind.key for _, kind in catalogue.every()} - {one["kind"] for one in found if one["asked"]}
    assert never == (set() if shape == "long" else {"follow"}), "or a question was held to nothing"


def test_how_often_a_model_is_right_takes_no_more_however_many_columns_it_has() -> None:
    rows = SHAPES["broad"][0]
    found = probed("broad", "hits")
    assert len(found) >= 3
    for one in found:
        assert one["asked"]
        assert one["bytes"] < LOADED + ROW * rows
        assert 0 < one["answer"] < LOADED + ANSWERED * rows
    assert 8 * sum(SHAPES["broad"][1:]) > ROW + LOADED / rows, "as numbers at once all columns would be more"
