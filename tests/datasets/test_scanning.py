"""The survey in whole arrays agrees with Python's csv module wherever it does not give up."""

from __future__ import annotations

import csv

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpcore.datasets.reading import scanning, survey
from dpcore.datasets.reading.dialect import Dialect
from dpcore.errors import UnreadableFile

PLAIN = Dialect(delimiter=",")


def both(data: bytes, dialect: Dialect = PLAIN) -> tuple[object, object] | None:
    """What the scan and the csv module say of a file, or None where the scan gives up."""
    if scanning.scan(data, dialect, (survey.HEAD, survey.TAIL), lambda _: None) is None:
        return None
    fast = survey.survey(data, dialect, 3, lambda _: None)
    slow = survey._one_by_one(data, dialect, 3, lambda _: None)
    return tuple((s.counts.tolist(), s.lines.tolist(), s.blank.tolist(), s.head, s.tail) for s in (fast, slow))  # type: ignore[return-value]


@pytest.mark.parametrize("part", [1, 2, 5, 1 << 20])
@given(text=st.text(alphabet='a,"\n é', max_size=40))
def test_it_agrees_on_any_text(part: int, text: str) -> None:
    """Also where the parts that it looks at end in the middle of cells and marks."""
    kept, scanning._PART = scanning._PART, part
    try:
        data = text.encode()
        found = both(data)
    except UnreadableFile:
        found = None
    finally:
        scanning._PART = kept
    if found is not None:
        assert found[0] == found[1]


@pytest.mark.parametrize(
    "data",
    [
        b"a,b\n1,2\n",
        b"a,b\n1,2",
        b'a,"b\n1",2\n\n3,4,5\n',
        b'"a","b""c"\n"",""\n',
        b'"a"",",b\n\n\n"x"\n',
        b"\n" * 5 + b"a\n" + b",,,\n" * 300,
    ],
)
def test_plain_files_are_scanned(data: bytes) -> None:
    found = both(data)
    assert found is not None
    assert found[0] == found[1]


@pytest.mark.parametrize("data", [b'a,b "c"\n', b'a, "b"\n', b'"a"b,c\n', b'a,"b\n', b"x" * 200_000 + b"\n"])
def test_it_gives_up_where_marks_stand_elsewhere(data: bytes) -> None:
    assert both(data) is None


def test_a_mutant_that_counts_every_delimiter_is_caught() -> None:
    """Without the marks, delimiters inside quoted cells would count: the comparison above must see that."""
    data = b'a,"b,c"\n1,2\n'
    unquoted = survey.survey(data, Dialect(delimiter=",", quote=""), 1, lambda _: None)
    assert unquoted.counts.tolist() != [len(record) for record in csv.reader(data.decode().splitlines())]
    assert np.array_equal(survey.survey(data, PLAIN, 1, lambda _: None).counts, [2, 2])
