"""Which sign stands between options, and which mark before decimals, is stated by the person who takes a step.

Two files that differ in one row, by which those would be guessed otherwise, are given the same clicks: the steps must
be the same ones, and what is asked of the tables after them must move by no more than was claimed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from dashboard.data import read_again
from dashboard.data.own_file import OwnFile
from dashboard.words import columns as said
from dpcore.audit.interference import spent
from dpcore.datasets import Column, Declaration, OneRowPer, ReadAsMissing, SplitOptions, Step, TicksToRows, read_csv
from dpcore.releases.quantile import QuantileValue
from tests.dashboard.conftest import text
from tests.dashboard.keys import key_of
from tests.dashboard.test_data_page import drop, held, press

Open = Callable[..., AppTest]

PAID = "person_id;amount\n" + "".join(f"p{n};1,{234 + n}\n" for n in range(60)) * 2
POINT, COMMA = (PAID + f"q1;{cell}\n" for cell in ("2.5", "2,5"))
NOT_SAVED = "cannot be saved: one of its steps puts rows, or numbers, of “patient_id” together"
LIKES = "nr\tlikes\n" + "".join(f"{n}\t{('Gym;Tea', *['Gym|Pool'] * 4)[n % 5]}\n" for n in range(50))
FIFTH, LESS = LIKES, LIKES + "50\tTea\n"  # the first sign of at least a fifth of the cells would be guessed


def at(app: AppTest, wanted: Callable[[Step], bool]) -> str:
    """The name of the line that offers such a step."""
    own = held(app)
    assert own.reading is not None
    offered = [step for step in own.reading.suggested_steps if step not in own.steps]
    return f"own-step-{next(place for place, step in enumerate(offered) if wanted(step))}"


def sums(step: Step) -> bool:
    return isinstance(step, OneRowPer) and step.how == "sum"


def test_a_sum_is_taken_by_the_mark_that_was_stated(open_app: Open) -> None:
    taken = []
    for data in (POINT, COMMA):
        app = drop(open_app("data"), data.encode())
        line = at(app, sums)
        assert all(button.key != line for button in app.button), "not without saying which"
        press(app, f"{line}-comma")
        taken.append(held(app).steps)
        assert "A comma marks the decimals of “amount”." in text(app).replace("\\", "")
        press(app, "own-step-back-0")
        press(app, f"{at(app, sums)}-point")
        taken.append(held(app).steps)
    comma = OneRowPer(by="person_id", of="amount", how="sum", decimal=",")
    assert taken == [(comma,), (replace(comma, decimal="."),)] * 2


def test_options_are_told_apart_by_the_sign_that_was_stated(open_app: Open) -> None:
    for data in (FIFTH, LESS):
        app = drop(open_app("data"), data.encode())
        line = key_of(app, "own-step-", "-sign").removesuffix("-sign")
        press(app, f"{line}-go")
        assert said.SAY_SIGN in text(app).replace("\\", "")
        assert held(app).steps == ()
        app.segmented_control(key=f"{line}-sign").set_value("|")
        app.text_area(key=f"{line}-options").set_value("Gym\nTea")
        press(app, f"{line}-go")
        assert held(app).steps == (SplitOptions(column="likes", separator="|", options=("Gym", "Tea")),)
        assert "A “|” stands between options." in text(app).replace("\\", "")


def test_options_are_counted_by_the_sign_that_was_stated(open_app: Open) -> None:
    app = drop(open_app("data"), LESS.encode())
    press(app, next(str(button.key) for button in app.button if "likes" in button.label and "common" in button.label))
    app.number_input(key=key_of(app, "own-ticks-", "-most")).set_value(2)
    press(app, "own-ticks-go")
    assert said.SAY_SIGN in text(app).replace("\\", "")
    assert held(app).steps == ()
    app.segmented_control(key=key_of(app, "own-ticks-", "-sign")).set_value(";")
    press(app, "own-ticks-go")
    assert held(app).steps == (TicksToRows(column="likes", separator=";", most=2),)


def asked(data: str, step: Step) -> OwnFile:
    """The sums of a table, declared by hand."""
    reading = read_csv(data.encode())
    own = read_again.worked(read_again.opened("a.csv", b"", (), reading, None, None), reading.after((step,)), (step,))
    column = Column(name="sum of amount", type="integer", low=0.0, high=5000.0)
    settled = own.decisions.settled | {column.name}
    schema = own.schema.with_column(column)
    return own.decide(replace(own.decisions, schema=schema, settled=settled, said_rows=True, said_row=True))


def used(marks: tuple[str, str]) -> float:
    """How much of ε a median of these sums uses up, where the two files are summed by these marks."""
    found = []
    for data, mark in zip((POINT, COMMA), marks, strict=True):
        own = asked(data, OneRowPer(by="person_id", of="amount", how="sum", decimal=mark))  # type: ignore[arg-type]
        assert own.columns.declared is not None
        assert own.reading is not None
        request = QuantileValue.of(Declaration.of(own.columns.declared), "sum of amount", epsilon=1.0)
        found.append((request, request.read(own.reading.private)))
    (one, first), (other, second) = found
    assert one == other
    return spent(one, first, second)


@pytest.mark.parametrize("mark", [".", ","])
def test_one_cell_moves_sums_by_no_more_than_claimed(mark: str) -> None:
    assert used((mark, mark)) <= 2.0 + 1e-9, "a cell that changes is one record less and another more"
    assert used((".", ",")) > 20.0, "by the mark that each file itself would suggest"


def test_a_declaration_that_would_put_together_other_rows_is_not_saved(open_app: Open) -> None:
    """The page says why, as long as it is so."""
    rows = "".join(f"{n % 40},{n % 30}\n" for n in range(90)) + "9999,10\n" * 3
    app = drop(open_app("data"), f"patient_id,amount\n{rows}".encode())
    press(app, at(app, lambda step: isinstance(step, ReadAsMissing)))
    assert NOT_SAVED not in text(app).replace("\\", "")
    press(app, at(app, lambda step: isinstance(step, OneRowPer) and step.how == "count"))
    assert [type(step) for step in held(app).steps] == [ReadAsMissing, OneRowPer]
    assert NOT_SAVED in text(app).replace("\\", "")
    press(app, "own-step-back-0")
    assert NOT_SAVED not in text(app).replace("\\", "")
