"""Of a person with very many rows few are looked at, and these were picked before anything whose time is recorded."""

from __future__ import annotations

import inspect

import numpy as np
import pandas as pd
import pytest

from dashboard.widgets import release as release_widget
from dpcore import release as releasing
from dpcore.audit.interference import spent
from dpcore.datasets import Column, Declaration, PrivateRows, private_rows
from dpcore.ledger import Ledger
from dpcore.releases.selection import MostCommonOption

WHO, COLOUR = Column(name="who", type="text"), Column(name="colour", type="category", categories=("blue", "red"))
DECLARED = Declaration(columns=(WHO, COLOUR), rows_per_person=3, id_column="who")


def table(of_one: int, others: int = 40, colour: str = "red") -> PrivateRows:
    rows = [(f"u{place % others}", ("blue", "red")[place % 2]) for place in range(5 * others)]
    return PrivateRows(pd.DataFrame([*rows, *[("victim", colour)] * of_one], columns=["who", "colour"], dtype="str"))


def asked(rows: PrivateRows, request: MostCommonOption) -> np.ndarray:
    rows.ready(request.reads)
    return request.read(rows)


@pytest.fixture
def request_() -> MostCommonOption:
    return MostCommonOption.of(DECLARED, "colour", epsilon=0.5)


def test_what_an_answer_looks_at_is_bounded_for_each_person(request_: MostCommonOption) -> None:
    """150,000 rows of one moved the time between two records by seven ticks."""
    looked: list[int] = []
    real = private_rows.OpenRows.__init__

    def noted(self: private_rows.OpenRows, text: object, rows: int, *others: object, **named: object) -> None:
        looked.append(rows)
        real(self, text, rows, *others, **named)  # type: ignore[arg-type]

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(private_rows.OpenRows, "__init__", noted)
        for of_one in (0, 10, 50_000):
            asked(table(of_one), request_)
        assert looked == [200, 210, 200 + private_rows.MOST_LOOKED_AT]
        patched.setattr(private_rows, "MOST_LOOKED_AT", 10**9)
        asked(table(50_000), request_)
    assert looked[-1] == 50_200, "without the bound they all are"


def test_others_keep_their_rows_whoever_has_many(request_: MostCommonOption) -> None:
    plain = asked(table(0), request_)
    for of_one in (3, 999, 1_000, 1_001, 20_000):
        for colour in ("blue", "red"):
            rows = table(of_one, colour=colour)
            assert (asked(rows, request_) - plain).tolist() == ([3, 0] if colour == "blue" else [0, 3])
            assert spent(request_, plain, asked(rows, request_)) <= 1 + 1e-9


def test_a_click_picks_them_before_its_first_record() -> None:
    """Between the record that links a file with its people and the charge it told of 150,000 rows."""
    drawing = inspect.getsource(release_widget._draw)
    assert 0 < drawing.index("make_ready(") < drawing.index(".join()") < drawing.index("= release(")


def test_where_more_count_more_are_looked_at() -> None:
    many = Declaration(columns=(WHO, COLOUR), rows_per_person=4_000, id_column="who")
    request = MostCommonOption.of(many, "colour", epsilon=0.5)
    assert (asked(table(20_000), request) - asked(table(0), request)).tolist() == [0, 4_000]


def test_they_are_picked_once_and_before_the_charge(monkeypatch: pytest.MonkeyPatch) -> None:
    happened: list[str] = []
    real = private_rows._people

    def noted(*args: object) -> object:
        happened.append("people")
        return real(*args)  # type: ignore[arg-type]

    class Noting(Ledger):
        def charge(self, *args: object, **named: object) -> object:  # type: ignore[override]
            happened.append("charge")
            return super().charge(*args, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(private_rows, "_people", noted)
    ledger = Noting.open("sqlite://", create=True)
    ledger.open_budget("lineage", epsilon=9.0, delta=0.0, name="People")
    rows = table(5_000)
    for place in range(2):
        question = MostCommonOption.of(DECLARED, "colour", epsilon=0.5 + place)
        releasing.release(ledger, f"r{place}", "lineage", question, rows)
    # each answer looks at those that were left once more
    assert happened == ["people", "charge", "people", "charge", "people"]
