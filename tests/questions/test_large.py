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
"""Bytes of each row of fourteen columns, in a step of a page and in reading it for an answer: a column as text takes
some thirty, as numbers eight, and an answer by a model keeps all of them as numbers and as codes."""


@pytest.mark.parametrize("shape", ["long", "wide"])
def test_a_question_takes_no_more_than_a_few_columns(shape: str) -> None:
    rows = SHAPES[shape][0]
    # of many columns rows are made ready for training as features, a bounded number of them, and twice
    page, answer = (ROW * rows, ANSWERED * rows) if shape == "long" else (16 * MOST_NUMBERS, 16 * MOST_NUMBERS)
    done = subprocess.run(
        [sys.executable, "-m", "tests.questions.large_probe", shape],
        capture_output=True,
        text=True,
        timeout=600,
        check=True,
        cwd=Path(__file__).parents[2],
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
    )
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert {one["kind"] for one in found} == {kind.key for _, kind in catalogue.every()}
    assert len(found) >= 3 * len(catalogue.every())
    assert [one for one in found if one["bytes"] > page or one["answer"] > answer] == []
    assert any(one["answer"] > FEW for one in found), "answers were read"
