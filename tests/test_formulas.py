"""No cell of an export is a formula in any spreadsheet, whatever it takes for a separator."""

from __future__ import annotations

import csv
import io
import itertools
from collections.abc import Callable

import pandas as pd
import pytest

from dpcore import formulas
from dpcore.costs import Cost
from dpcore.datasets import text
from dpcore.formulas import disarmed
from dpcore.ledger import Ledger, export
from dpcore.ledger.export import to_csv

SIGNS = ("=", "+", "-", "@", "＝", "＋", "－", "＠")
BETWEEN = (";", "\t", "\n", "\r", "\r\n", "; ", ';"', '; " ', ";;", "\n ", " ;", "\u00a0;\u00a0", ";'\";")
CELLS = [f"a{between}{sign}1+1{after}b" for between, sign, after in itertools.product(BETWEEN, SIGNS, (";", '"', ""))]
CELLS += [f"{start}{sign}1" for start, sign in itertools.product(("", " ", ";", "\t", "\n", '";'), SIGNS)]
LEFT = (
    *(
        "",
        "a",
        "a; b",
        "a;b",
        "-5 degrees"[1:],
        "x=1; y=2",
        "3 - 2",
        "a-b;c-d",
        "who@lab.example; me",
        "1;2",
        "a,-b",
        ";",
        '";"',
    ),
    *('{"low": -1, "high": +1}', "[0, -1]", "C++; C", "line\nline", "a\tb"),
)


def cut(file: str) -> list[str]:
    """Every cell that any spreadsheet could make of a file: by any separator, with quotation marks and without."""
    found: list[str] = []
    for separator, quoting in itertools.product(",;\t", (csv.QUOTE_MINIMAL, csv.QUOTE_NONE)):
        for lines in (io.StringIO(file, newline=""), file.replace("\r", "\n").split("\n")):
            reader = csv.reader(lines, delimiter=separator, quoting=quoting)  # type: ignore[arg-type]
            found += itertools.chain.from_iterable(reader)
    return found


def formulae(file: str) -> list[str]:
    return [cell for cell in cut(file) if cell.strip('" \t\n\r\u00a0').startswith(SIGNS)]


def of_frame() -> str:
    frame = pd.DataFrame({"before": "x", "cell": CELLS, "after": CELLS[::-1]})
    return text.safe_csv(frame.rename(columns={"before": "a;=1+1"}))


def of_receipts() -> str:
    ledger = Ledger.open("sqlite://")
    ledger.open_budget("people", epsilon=1.0)
    for place, cell in enumerate([cell for cell in CELLS if cell.isprintable()][::7]):
        ledger.charge(f"r{place}", "people", Cost(epsilon=0.001), f"How many are {cell}?", neighbours="replace_one")
    return to_csv(ledger.receipts())


@pytest.mark.parametrize("made", [of_frame, of_receipts])
def test_no_cell_of_an_export_is_a_formula_by_whatever_separator(made: Callable[[], str]) -> None:
    """In a spreadsheet of a country whose decimal mark is a comma, ``a;=1+1;b`` was three cells, of which one ran."""
    assert formulae(made()) == []


@pytest.mark.parametrize("made", [of_frame, of_receipts])
def test_one_that_looks_at_where_cells_start_alone_is_found_out(
    made: Callable[[], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def before(words: str) -> str:
        return f"'{words}" if words.lstrip().startswith(formulas._START) else words

    monkeypatch.setattr(text, "disarmed", before)
    monkeypatch.setattr(export, "disarmed", before)
    assert formulae(made())


@pytest.mark.parametrize("words", LEFT)
def test_other_text_stays_as_it_is(words: str) -> None:
    assert disarmed(words) == words


def test_nothing_but_apostrophes_is_added() -> None:
    for cell in CELLS:
        assert disarmed(cell).replace("'", "") == cell.replace("'", "")
