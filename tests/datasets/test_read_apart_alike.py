"""Whether a file is read in the server's process or in one of its own, it becomes the same table or the same sentence:
which of the two it is hangs on its kind and size, and is nothing of the file's."""

from __future__ import annotations

import bz2
import gzip
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dpcore.datasets.apart import Apart, apart, crossing
from dpcore.datasets.reading.choices import Choices
from dpcore.datasets.reading.kinds import table_of
from dpcore.errors import DpcoreError, UnreadableFile
from tests.datasets import test_coded_columns as coded
from tests.datasets.cases import CASES
from tests.datasets.cases.kinds import zipped
from tests.datasets.test_no_row_left import FILES, WHOLE
from tests.datasets.test_rewritten_columns import in_bytes

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere files are read in this process alone")
LIGHT = [case for case in CASES if not case.heavy]
MARKS, ENDS = ",;\t ", ("", "\n", "\r")
NAMES = ("a", "a{0}b", "1{0}2", "column 1{0}", '"a"', '""', '"')
TEXTS = sorted({name.format(mark) + end for name in NAMES for mark in MARKS for end in ENDS})
BLANK = sorted({(mark + end) * times for mark in MARKS for end in ENDS[1:] for times in (1, 40)})
OF_JSON = ("[]", "{}", "[{}]", "[{}, {}]", "[[]]", "[null]", "null", '"a"', "1", '{"a": []}', '[["a", "b"]]',
           '[["a", "b"], []]', '[["a"], [null]]', '{"columns": ["a"], "data": []}', '[{"a": null}]', '{"a": null}',
           '{"a": {}}', '{"a": 1}\n{}')  # fmt: skip
BYTES = (b"", b"\0", b"\xff\xfe", b"\xff\xfea\0", b"\xef\xbb\xbf", b"\xef\xbb\xbfa,b\n", b"sep=;\n", b"sep=;\na;b\n",
         b"PAR1")  # fmt: skip
FRAMES = (WHOLE[:0], WHOLE[:1], pd.DataFrame({"C": [None] * 3, "N": [None] * 3}), pd.DataFrame(), WHOLE[[]])
Read = Callable[[bytes, Choices], Any]


@pytest.fixture(scope="module")
def one() -> Iterator[Apart]:
    made = Apart()
    yield made
    made.close()


def odd(folder: Path) -> Iterator[bytes]:
    """Files of next to nothing of all kinds: of names alone, of blank cells, of not even that, and packed."""
    plain = [*BYTES, *(text.encode() for text in (*TEXTS, *BLANK, *OF_JSON))]
    yield from plain
    for pack in (gzip.compress, bz2.compress, lambda data: zipped({"t.csv": data})):
        yield from map(pack, plain[::9])
    yield from (write(frame, folder) for frame in FRAMES for write, _ in FILES.values())


def outcome(read: Read, data: bytes, choices: Choices) -> Any:
    """All that becomes of it, as one value."""
    try:
        found = read(data, choices)
    except DpcoreError as error:
        return type(error), "no memory" if "MB of memory" in str(error) else str(error)
    except MemoryError:
        return UnreadableFile, "no memory"
    told = (found.report, dict(found.codebooks), dict(found.about), found.records, found.from_rows)
    places = np.arange(found.report.rows) if found.places is None else found.places
    return list(found.frame.columns), found.frame.to_numpy().tolist(), found.lines.tolist(), places.tolist(), *told


def differ(made: Iterator[bytes], by: Apart, choices: Choices) -> list[bytes]:
    def here(data: bytes, choices: Choices) -> Any:
        return table_of(data, choices, lambda *_: None)

    def there(data: bytes, choices: Choices) -> Any:
        return by.table_of(data, choices, lambda *_: None)

    return [data for data in made if outcome(here, data, choices) != outcome(there, data, choices)]


@pytest.fixture
def none_little(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apart, "little", lambda *_: False)


@pytest.mark.thorough
@pytest.mark.usefixtures("none_little")
@pytest.mark.parametrize("stated", [{}, {"header_rows": 0}, {"header_rows": 1, "header_line": 1}], ids=str)
def test_every_odd_small_file_is_the_same_both_ways(one: Apart, stated: dict[str, Any], tmp_path: Path) -> None:
    assert differ(odd(tmp_path), one, Choices(**stated)) == []


@pytest.mark.thorough
@pytest.mark.usefixtures("none_little")
def test_every_case_is_the_same_both_ways(one: Apart) -> None:
    assert differ((case.make() for case in LIGHT), one, Choices()) == []


def test_columns_are_read_by_their_codes_both_ways(one: Apart) -> None:
    case, made = coded.FILES["the ends of a scale, sav"]
    for names in ((), coded.MONTHS[:1], coded.MONTHS):
        assert differ(iter([made([*case.rows, case.more])]), one, Choices(coded=names)) == []


WITHOUT_ROWS = [b"a,b\n", b";\n" * 200_000, in_bytes(WHOLE[:0], "to_parquet"), zipped({"t.csv": b"a,b\n"})]


@pytest.mark.usefixtures("none_little")
def test_a_file_without_a_row_is_a_table_both_ways(one: Apart) -> None:
    for data in WITHOUT_ROWS:
        assert one.table_of(data, Choices(), lambda *_: None).report.rows == 0
    assert differ(iter(WITHOUT_ROWS), one, Choices()) == []


@pytest.mark.defects
@pytest.mark.usefixtures("none_little")
def test_a_way_back_that_refuses_it_is_found_out(one: Apart, monkeypatch: pytest.MonkeyPatch) -> None:
    really = crossing._check_said

    def refusing(known: Any) -> None:
        really(known)
        if not known.report.rows:
            raise crossing.Garbled

    monkeypatch.setattr(crossing, "_check_said", refusing)
    assert differ(iter([*WITHOUT_ROWS, b"a,b\n1,2\n"]), one, Choices()) == WITHOUT_ROWS
