"""What fails in our own code is said to be ours, with a reference in the log; valid files never get there."""

from __future__ import annotations

import logging
import re

import pytest

from dpcore.datasets import read_table
from dpcore.datasets.reading import reader
from dpcore.defects import as_defects
from dpcore.errors import Defect, InvalidArgument, UnreadableFile

CANARY = "kanarienvogel"
FORMS = {
    "a running number with a comma": [f"1,{i:03}" for i in range(1, 40)],
    "a running number with a point": [f"1.{i:03}" for i in range(1, 40)],
    "unique with a comma": [f"{2 + i % 7},{i * 7:03}" for i in range(1, 40)],
    "unique with a point": [f"{2 + i % 7}.{i * 7:03}" for i in range(1, 40)],
    "repeated with a comma": ["1,234", "5,678"] * 20,
    "plain and running": [str(i) for i in range(1000, 1040)],
    "fractions": [f"{i}.5" for i in range(40)],
    "days, either order": [f"0{1 + i % 9}/0{1 + i // 9}/2024" for i in range(36)],
    "years, months, days": [f"202401{1 + i % 28:02}" for i in range(40)],
    "with words between": ["1,234", "x"] * 20,
    "with a currency": [f"€ {1 + i}.{i:03}" for i in range(40)],
    "of large numbers": [f"{2**63 + i}" for i in range(40)],
    "a mix of both marks": ["1,234", "1.234"] * 20,
}
NAMES = ("id", "customer_id", "phone", "number", "date", "day", "x", "Nr", "zip", "score")


@pytest.mark.parametrize("form", FORMS)
def test_no_valid_column_is_a_defect(form: str) -> None:
    """Every form of cells under every telling name, each column in another order."""
    cells = FORMS[form]
    rows = ["\t".join(["ab"[i % 2], *(cells[i - 3 * place] for place in range(len(NAMES)))]) for i in range(len(cells))]
    reading = read_table(("\t".join(["k", *NAMES]) + "\n" + "\n".join(rows)).encode())
    for name in NAMES:
        column = reading.column(name)
        assert len(column.readings) != 1
        assert all(each.label and each.examples for each in column.readings)


def test_a_grouped_number_that_runs_on_offers_both_readings() -> None:
    for cells, mark in ((FORMS["a running number with a comma"], ","), (FORMS["a running number with a point"], ".")):
        reading = read_table(("k;id\n" + "".join(f"a;{cell}\n" for cell in cells)).encode())
        shown = {each.label: each.examples[0] for each in reading.column("id").readings}
        assert shown["names or numbers of rows, kept as text"] == (cells[0], cells[0])
        assert shown[f"the {'comma' if mark == ',' else 'point'} marks decimals"] == (cells[0], "1.001")


@pytest.mark.defects
@pytest.mark.parametrize("broken", ["fingerprint", "read_columns", "table_of"])
def test_a_failure_of_ours_says_so(
    broken: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A mutant in each stage of reading: the sentence names a reference, the log holds it without any value."""

    def fails(*_: object, **__: object) -> object:
        raise KeyError(CANARY)

    monkeypatch.setattr(reader, broken, fails)
    with caplog.at_level(logging.ERROR, "dpcore"), pytest.raises(Defect) as caught:
        _ = read_table(f"a,b\n{CANARY},1\n".encode()).fingerprint
    sentence = str(caught.value)
    found = re.search(r"reference ([0-9A-F]{8})\.$", sentence)
    assert found is not None
    assert "not at fault" in sentence
    assert "damaged" not in sentence
    assert found[1] in caplog.text
    assert "KeyError" in caplog.text
    assert "fails" in caplog.text  # the place
    assert CANARY not in caplog.text + sentence
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


@pytest.mark.parametrize("meant", [UnreadableFile("a"), InvalidArgument("a", "b"), MemoryError()])
def test_what_is_raised_on_purpose_passes(meant: Exception) -> None:
    def raises() -> None:
        raise meant

    with pytest.raises(type(meant)) as caught:
        as_defects("trying", raises)
    assert caught.value is meant
