"""Every file of the case table gets the right reading, or one clear sentence; never another exception."""

from __future__ import annotations

import pytest

from dpcore.datasets import UnreadableFile, read_csv
from tests.datasets.cases import CASES, Case

pytestmark = pytest.mark.usefixtures("one_connection")
NAMED = {
    "encoding": 8, "dialect": 12, "header": 11, "numbers": 14, "other": 4, "degenerate": 8, "hostile": 9,
}  # fmt: skip


@pytest.mark.thorough
@pytest.mark.parametrize("case", CASES, ids=str)
def test_case(case: Case) -> None:
    data = case.make()
    if case.check is None:
        with pytest.raises(UnreadableFile) as caught:
            read_csv(data)
        sentence = str(caught.value)
        assert case.refusal in sentence
        assert sentence.endswith(".")
        assert "\n" not in sentence
        assert len(sentence) < 250
    else:
        reading = read_csv(data)
        assert reading.report.rows == len(reading.frame) == len(reading.lines)
        assert [column.name for column in reading.columns] == list(reading.frame.columns)
        case.check(reading)


def test_the_table_is_complete() -> None:
    """At least as many cases in each group as the specification names."""
    for group, count in NAMED.items():
        assert sum(case.group == group for case in CASES) >= count, group
