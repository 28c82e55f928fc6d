"""Whatever a column holds that nobody declared, a file can be looked at and asked, about it too; and what is offered of
what was declared is what it would be beside any other cells, also where these data give no picture."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import date
from typing import Any

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from streamlit.testing.v1 import AppTest

from dashboard import catalogue, offering
from dashboard.case import Case, Source
from dashboard.controls import Setting
from dashboard.data import bulk, editor
from dashboard.data.suits import choices
from dashboard.question import CannotAsk, Offer
from dpcore.datasets import Column, Declaration, PrivateRows, Schema, apply, completed_from
from dpcore.datasets.schema import ColumnType, EachRow
from dpcore.release import question_digest
from tests.dashboard.test_data_page import declare, drop, held, look, shown
from tests.datasets.test_completion import days, numbers, whole

ROWS = 40
DECLARED = {
    "colour": Column(name="colour", type="category", categories=("red", "blue")),
    "age": Column(name="age", type="integer", low=0, high=100),
}
HERE = {"colour": [("red", "blue", "red")[n % 3] for n in range(ROWS)], "age": [str(20 + n) for n in range(ROWS)]}
NONE = {"colour": [""] * ROWS, "age": [""] * ROWS}
"""Nobody has a colour or an age, so that there is no picture."""
SIMULATED = ("predict",)
"""Questions whose pictures wait for what workers simulate."""
USUAL: dict[ColumnType, Callable[[int], str]] = {
    "number": lambda n: f"{n}.5",
    "integer": lambda n: f"{n % 7}",
    "date": lambda n: f"2024-01-{n % 28 + 1:02}",
}
CASES: dict[str, tuple[ColumnType, Callable[[int], str]]] = {
    "a day at the end": ("date", lambda n: "9999-12-31" if n == 7 else USUAL["date"](n)),
    "the last day alone": ("date", lambda n: "9999-12-31" if n == 7 else ""),
    "the first day alone": ("date", lambda n: "0001-01-01"),
    "one large number alone": ("number", lambda n: "1e20" if n == 7 else ""),
    "one beyond what can be declared": ("number", lambda n: "1e120" if n == 7 else f"{n}.5"),
    "the largest and the least": ("number", lambda n: {7: "1.7e308", 8: "-1.7e308"}.get(n, f"{n}.5")),
    "the smallest": ("number", lambda n: "5e-324" if n == 7 else "0"),
    "the same large number": ("integer", lambda n: "4000123412341234"),
    "large numbers side by side": ("integer", lambda n: f"{4000123412341234 + n % 30}"),
    "all of 64 bits": ("integer", lambda n: str(2**63 - 1 if n % 2 else -(2**63))),
}


def source_of(kind: ColumnType, cells: list[str], others: dict[str, list[str]], each_row: EachRow) -> Source:
    frame = pd.DataFrame({**others, "z": cells}, dtype="str")
    schema = Schema(columns=(*DECLARED.values(), Column(name="z", type=kind)), each_row=each_row)
    return Source(
        key="own-x",
        title="file",
        mode="what_if",
        table=apply(completed_from(schema, frame), frame).table(fingerprint=repr((cells, others)), lineage=""),
        lineage="people",
        practice=False,
        declared=Declaration.of(schema.only(*DECLARED)),
        rows=lambda: PrivateRows(frame),
    )


def offers(source: Source) -> dict[str, str]:
    """What every question offers, begun as a page begins it; none of them fails, nor any about "z" itself."""
    found = {}
    for _, kind in catalogue.every():
        for way in kind.ways(source.table.schema.led_by("z")):
            try:
                asked = offering.ask(kind, Case(source=source, epsilon=0.01), Setting(dict(choices(way, source.key))))
            except CannotAsk:
                continue
            for axis in () if kind.key in SIMULATED else asked.question.view.axes:
                asked.question.view.picture(axis)
        try:
            offer = offering.ask(kind, Case(source=source, epsilon=0.5), Setting()).question.offer
        except CannotAsk:
            continue
        if isinstance(offer, Offer):
            found[kind.key] = question_digest(offer.request)
    return found


def check(kind: ColumnType, cells: list[str], others: dict[str, list[str]], each_row: EachRow = "record") -> None:
    found = offers(source_of(kind, cells, others, each_row))
    assert found == offers(source_of(kind, [USUAL[kind](n) for n in range(ROWS)], others, each_row))
    assert found


@pytest.mark.parametrize("others", [HERE, NONE], ids=["a picture", "no picture"])
@pytest.mark.parametrize("name", CASES)
def test_no_cell_of_another_column_decides_what_is_offered(name: str, others: dict[str, list[str]]) -> None:
    kind, cells = CASES[name]
    check(kind, [cells(n) for n in range(ROWS)], others)


@pytest.mark.thorough
@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_nor_do_any_extreme_cells(data: st.DataObject) -> None:
    kind = data.draw(st.sampled_from(tuple(USUAL)))
    each = data.draw(st.sampled_from(("record", "step", "option")))
    drawn = data.draw(st.lists({"number": numbers, "integer": whole, "date": days}[kind], min_size=1, max_size=4))
    usual = data.draw(st.booleans())
    cells = [drawn[n] if n < len(drawn) else USUAL[kind](n) if usual else drawn[n % len(drawn)] for n in range(ROWS)]
    check(kind, cells, data.draw(st.sampled_from((HERE, NONE))), each)  # type: ignore[arg-type]


def test_bounds_read_from_a_file_and_called_declared_are_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """As it was: the stand-in for rows without a picture had the file's own least and largest values."""
    kind, cells = CASES["one beyond what can be declared"]
    source = source_of(kind, [cells(n) for n in range(ROWS)], NONE, "record")
    z = replace(source.table.schema.column("z"), low=0.0, high=1e120)
    seen = replace(source, table=replace(source.table, schema=source.table.schema.with_column(z)))
    assert offers(seen) == offers(source)
    monkeypatch.setattr(offering, "_filled", lambda column: replace(column, from_file=False))
    with pytest.raises(Exception, match="must lie between"):
        offers(seen)


PAGE = {
    "a day at the end": lambda n: "9999-12-31" if n == 7 else USUAL["date"](n),
    "one large number": lambda n: "1e20" if n == 7 else "",
    "the largest and the least": lambda n: {7: "1.7e308", 8: "-1.7e308"}.get(n, f"{n}.5"),
}


@pytest.mark.parametrize("name", PAGE)
def test_a_file_with_such_a_cell_can_be_looked_at(name: str, open_app: Any) -> None:
    rows = "".join(f"{('red', 'blue', 'red')[n % 3]},{PAGE[name](n)}\n" for n in range(60))
    app = drop(open_app("data"), f"colour,z\n{rows}".encode())
    app.number_input(key="own-rows-None").set_value(1).run()
    declare(app, "colour", categories="red\nblue", public=True)
    look(app)
    assert held(app).use == "what_if"
    assert shown(app).declared is not None


def with_days(open_app: Any, *stated: str) -> AppTest:
    """The Data page where a declaration states the first day of all, or the last, too."""
    rows = "".join(f"{('red', 'blue', 'red')[n % 3]},{USUAL['date'](n)},{n % 7}\n" for n in range(60))
    app = drop(open_app("data"), f"colour,z,n\n{rows}".encode())
    ends = {"earliest": date.min, "latest": date.max}
    own = held(app)
    z = replace(own.schema.column("z"), **{name: ends[name] for name in stated})
    app.session_state["_own_file"] = own.decide(replace(own.decisions, schema=own.schema.with_column(z)))
    app.run()
    if not app.exception:
        app.selectbox(key="own-column").set_value("z").run()
    return app


STATED = {"the form of several": ("earliest",), "its own form": ("earliest", "latest")}


@pytest.mark.parametrize("form", STATED)
def test_days_at_the_ends_can_be_declared(form: str, open_app: Any) -> None:
    app = with_days(open_app, *STATED[form])
    assert not app.exception
    assert any(box.value == date.min for box in app.date_input)


@pytest.mark.defects
@pytest.mark.parametrize("form", STATED)
def test_days_beyond_those_that_a_form_offers_are_found_out(
    form: str, open_app: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As it was: such a declaration left no page to look at."""
    for module in (bulk, editor):
        monkeypatch.setattr(module, "days_offered", lambda column: {"min_value": date(1700, 1, 1)})
    assert with_days(open_app, *STATED[form]).exception


@pytest.mark.parametrize("mode", ["what_if", "twin"])
@pytest.mark.parametrize(
    ("low", "high"),
    [(-1e100, 1e100), (0.0, 1e100), (-1e100, 0.0), (9e99, 1e100), (0.0, 1e15), (-1e15, 1e15), (0.0, 1e14)],
)
def test_an_alarm_at_the_ends_of_numbers_is_drawn_or_says_why_not(mode: Any, low: float, high: float) -> None:
    """It was called a failure of the program's: where one person's entry moves beyond what an answer can be, and where
    no noise is reckoned with for it."""
    kind = next(kind for _, kind in catalogue.every() if kind.key == "alarm")
    frame = pd.DataFrame({"z": [f"{one!r}" for one in [low, high] * 6]}, dtype="str")
    schema = Schema(columns=(Column(name="z", type="number", low=low, high=high),), each_row="step")
    source = replace(
        source_of("number", ["1"] * ROWS, HERE, "step"),
        mode=mode,
        table=apply(schema, frame).table(fingerprint=repr((low, high)), lineage=""),
        declared=Declaration.of(schema),
        rows=lambda: PrivateRows(frame),
    )
    case = Case(source=source, epsilon=0.5)
    if max(abs(low), abs(high)) == 1e100:
        with pytest.raises(CannotAsk, match="This cannot be watched: "):
            offering.ask(kind, case, Setting())
        return
    question = offering.ask(kind, case, Setting()).question
    for axis in question.view.axes:
        question.view.picture(axis)
    for one in question.tabs:
        assert list(one.blocks())
