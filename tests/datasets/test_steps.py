"""Steps on a table before it is declared: each is a sentence, is suggested where it fits, and can be taken back."""

from __future__ import annotations

import functools
import json
import re
import shutil
import tracemalloc
from collections.abc import Callable
from dataclasses import fields, replace
from itertools import product
from pathlib import Path
from typing import get_args

import numpy as np
import pandas as pd
import pytest

from dpcore.datasets import (
    Column,
    Declaration,
    LeaveOutTotals,
    MonthsToRows,
    OneRowPer,
    ReadAsMissing,
    Reading,
    SplitOptions,
    Step,
    TicksToRows,
    read_table,
    steps,
)
from dpcore.datasets.report import ReadColumn
from dpcore.datasets.schema import Decimal, EachRow
from dpcore.datasets.template import loaded
from dpcore.errors import InvalidArgument, ReleaseRefused
from dpcore.ledger import Ledger
from dpcore.release import release
from dpcore.releases.plays import PrivatePlays

HOBBIES = ["Gym;Tea", "Gym", "Home office", "Tea; Gym", "Home office;Gym", "", "Gym;Tea;Home office", "Tea"] * 5


def table(*rows: str) -> Reading:
    return read_table("\n".join(rows).encode())


def hobbies() -> Reading:
    return table("k,x", *(f"{'ab'[i % 2]},{word}" for i, word in enumerate(HOBBIES)))


def subtotals() -> Reading:
    wards = [f"W{i},{i}" for i in range(12)]
    return table("ward,cases", *wards[:6], "Subtotal,15", *wards[6:], "Subtotal,51", "Z9,3", "Z8,4")


def stand_ins() -> Reading:
    return table(
        "k,age,income", *(f"a,{999 if i == 7 else 20 + i},{-99 if i % 9 == 0 else i * 100}" for i in range(30))
    )


def months() -> Reading:
    return table("ward,Jan 2024,Feb 2024,Mar 2024", "North,1,2,3", "South,4,5,6", "East,7,8,9", "West,1,1,1")


def payments() -> Reading:
    return table("customer_id,paid", *(f"c{i % 11},{i % 7}.5" for i in range(60)))


@pytest.mark.parametrize(
    ("make", "steps"),
    [
        (hobbies, (SplitOptions(column="x", separator=";"),)),
        (subtotals, (LeaveOutTotals(column="ward"),)),
        (stand_ins, (ReadAsMissing(column="age", word="999"), ReadAsMissing(column="income", word="-99"))),
        (months, (MonthsToRows(columns=("Jan 2024", "Feb 2024", "Mar 2024")),)),
        (payments, (OneRowPer(by="customer_id"), OneRowPer(by="customer_id", of="paid", how="sum"))),
        (lambda: table("customer_id,paid", *(f"c{i},{i % 7}" for i in range(30))), ()),
        (
            lambda: table("patient,stay", *(f"P{i % 140},{i % 7}.5" for i in range(300))),
            (OneRowPer(by="patient"), OneRowPer(by="patient", of="stay", how="sum")),
        ),
        (lambda: table("patients,stay", *(f"P{i % 140},{i % 7}.5" for i in range(300))), ()),
        (lambda: table("k,x", *(f"{'ab'[i % 2]},{i % 7}" for i in range(30))), ()),
        (lambda: table("k,x", *(f"a,Street {i}; Town {i}" for i in range(30))), ()),
        (lambda: table("k,age", *(f"a,{20 + i}" for i in range(70)), "a,99"), ()),
        (lambda: table("k;x", *(f"a;{i},{i % 10}" for i in range(30))), ()),
    ],
)
def test_each_is_suggested_where_it_fits(make: Callable[[], Reading], steps: tuple[Step, ...]) -> None:
    reading = make()
    assert reading.suggested_steps == steps
    for step in steps:
        assert step.sentence.endswith(".")
        assert step.sentence in [notice.sentence for notice in reading.after((step,)).report.notices]


def test_ticks_are_counted_per_option() -> None:
    """Counting whole cells makes "Home office" win here; counting ticks, Gym does."""
    reading = hobbies()
    split = reading.after((SplitOptions(column="x"),))
    options = ["Gym", "Home office", "Tea"]
    assert [name for name in split.frame.columns if name != "k"] == [f"x: {option}" for option in options]
    found = split.table(split.suggested())
    counts = {option: int(found.counts(f"x: {option}")[1]) for option in options}
    assert counts == {o: sum(o in [part.strip() for part in cell.split(";")] for cell in HOBBIES) for o in options}
    assert max(counts, key=lambda option: counts[option]) == "Gym"
    assert all(split.column(f"x: {option}").suggestion.from_file for option in options)
    declared = reading.after((SplitOptions(column="x", options=("Gym", "Chess")),))
    assert not declared.column("x: Gym").suggestion.from_file
    assert declared.frame["x: Chess"].tolist() == ["no"] * 40


def test_a_declared_number_of_options_bounds_what_one_cell_adds() -> None:
    split = hobbies().after((SplitOptions(column="x", most=1),)).frame.drop(columns="k")
    assert int((split == "yes").sum(axis=1).max()) == 1
    with pytest.raises(InvalidArgument, match="most"):
        SplitOptions(column="x", most=0)


def test_rows_keep_their_lines() -> None:
    after = subtotals().after((LeaveOutTotals(column="ward"),))
    assert len(after.frame) == 14
    assert "Subtotal" not in after.frame["ward"].tolist()
    assert after.lines.tolist()[5:7] == [7, 9]


def test_months_become_rows_in_order_of_time() -> None:
    after = months().after((MonthsToRows(columns=("Jan 2024", "Feb 2024", "Mar 2024"), value="cases"),))
    assert after.frame["month"].tolist()[::4] == ["2024-01-01", "2024-02-01", "2024-03-01"]
    assert after.frame["cases"].tolist() == ["1", "4", "7", "1", "2", "5", "8", "1", "3", "6", "9", "1"]
    assert after.column("month").type == "date"
    assert after.lines.tolist() == [2, 3, 4, 5] * 3


def test_transactions_become_people_or_days() -> None:
    rows = [f"C{i % 5},2024-01-0{1 + i % 3}T10:{i:02},{i}.5" for i in range(30)]
    reading = table("customer,when,amount", *rows, ",2024-01-01T09:00,3")
    people = reading.after((OneRowPer(by="customer", of="amount", how="sum"),))
    assert people.frame["customer"].tolist() == ["C0", "C1", "C2", "C3", "C4"]
    assert people.frame["sum of amount"].astype(float).tolist() == [
        sum(j + 0.5 for j in range(i, 30, 5)) for i in range(5)
    ]
    days = reading.after((OneRowPer(by="when", day=True),))
    assert days.frame.to_numpy().tolist() == [["2024-01-01", "11"], ["2024-01-02", "10"], ["2024-01-03", "10"]]
    assert days.suggested().each_row == "step"
    with pytest.raises(InvalidArgument, match="of"):
        OneRowPer(by="when", how="sum")


def test_steps_are_taken_back_by_leaving_them_out() -> None:
    reading = stand_ins()
    both = reading.suggested_steps
    assert reading.after(both).column("age").missing == 1
    assert reading.after(both[1:]).column("age").missing == 0
    assert reading.after(()) is reading
    keys = {reading.key, reading.after(both).key, reading.after(both[1:]).key}
    assert len(keys) == 3
    assert reading.after(both).fingerprint == reading.fingerprint
    assert [step.holds_values for step in both] == [True, True]


@pytest.mark.parametrize(
    "step",
    [
        SplitOptions(column="absent"),
        ReadAsMissing(column="absent", word="9"),
        LeaveOutTotals(column="absent"),
        MonthsToRows(columns=("absent", "x")),
        OneRowPer(by="absent"),
    ],
)
def test_a_column_that_is_not_there_is_refused(step: Step) -> None:
    with pytest.raises(InvalidArgument):
        hobbies().after((step,))


def test_every_option_that_a_cell_names_becomes_a_row() -> None:
    """The first of a cell count, each once; rows that name nothing are left out; what wins is what was named most."""
    step = TicksToRows(column="x", separator=";", most=2)
    after = hobbies().after((step,))
    words = [dict.fromkeys(part.strip() for part in word.split(";") if part.strip()) for word in HOBBIES]
    expected = [word for cell in words for word in list(cell)[:2]]
    assert after.frame["x"].tolist() == expected
    assert after.suggested_steps == ()
    assert after.frame["x"].value_counts().idxmax() == "Gym"
    assert table("k,x", "a,Tea;Tea;Gym", "b,Gym").after((step,)).frame["x"].tolist() == ["Tea", "Gym", "Gym"]
    with pytest.raises(InvalidArgument):
        TicksToRows(column="x", most=0)
    assert table("k,x", "a,;", "b,;").after((step,)).frame.shape == (0, 2)


@pytest.mark.parametrize(
    ("separator", "decimal", "named"),
    [(",", ",", ["1"]), (",", ".", ["1", "0"]), (";", ",", ["1,0"]), (";", ".", ["1,0"])],
)
def test_a_number_with_decimals_names_one_option_where_the_sign_marks_them(
    separator: str, decimal: Decimal, named: list[str]
) -> None:
    """As a program writes whole numbers once a row has none; cells of several options are as they were, codes with a
    zero in front too, and receipts say by which sign they were read."""
    told = table("k\tx", "a\t1,0", "b\t1,2", "c\t1,00", "d\tGym, Tea", "e\t01,00", "f\t01,0", "g\t00,0")
    ticks = TicksToRows(column="x", most=2, separator=separator, decimal=decimal)
    after = told.after((ticks,)).frame
    assert after.loc[after["k"] == "a", "x"].tolist() == named
    several = {"b": "1,2", "d": "Gym, Tea", "e": "01,00", "f": "01,0", "g": "00,0"}
    for key, cell in several.items():
        parts = [part.strip() for part in cell.split(separator)]
        assert after.loc[after["k"] == key, "x"].tolist() == parts
    split = SplitOptions(column="x", separator=separator, decimal=decimal, options=("0", "1", "2", "Tea"))
    yes = told.after((split,)).frame.set_index("k").eq("yes").loc["a"]
    assert yes["x: 1"]
    assert yes["x: 0"] == ("0" in named)
    both = separator == decimal
    assert both == ("“1,0” is the option 1" in ticks.sentence) == ("“1,0” is the option 1" in split.sentence)
    assert (ticks.done == replace(ticks, decimal=".").done) == (not both), "questions of before are the same"


OTHER = {
    "column": "other", "columns": ("a", "b"), "by": "other", "of": "other", "word": "other", "separator": "|",
    "most": 7, "how": "mean", "day": True, "decimal": ",", "time": "other", "value": "other",
}  # fmt: skip
SAID_ELSEWHERE = {"options": "typed by the person", "missing_words": "declared of the column"}
EVERY_KIND = (
    LeaveOutTotals(column="x"), ReadAsMissing(column="x", word="9"), SplitOptions(column="x"),
    TicksToRows(column="x", most=2), MonthsToRows(columns=("Jan", "Feb")), OneRowPer(by="x", of="y", how="sum"),
)  # fmt: skip


@pytest.mark.parametrize("step", EVERY_KIND, ids=lambda step: type(step).__name__)
def test_the_sentence_says_all_that_rows_are_read_by(step: Step) -> None:
    """Whoever clicks on it states it: a field that no sentence names would be decided by something else."""
    step = replace(step, separator=OTHER["decimal"]) if hasattr(step, "separator") else step  # where a mark matters
    for field in fields(step):
        if field.name not in SAID_ELSEWHERE:
            assert replace(step, **{field.name: OTHER[field.name]}).sentence != step.sentence, field.name  # type: ignore[arg-type]
    assert {type(one) for one in EVERY_KIND} == set(steps.KINDS.values())


@functools.cache
def seven_tables() -> list[Reading]:
    """The same columns; signs between options and marks before decimals are others in each."""
    names, found = "customer_id\tpaid\tlikes", []
    for sign, mark in product((";", "|", ","), (".", ",")):
        rows = [f"c{i % 11}\t{i % 7}{mark}5\t{'Gym' if i % 3 else f'Tea{sign}Gym'}" for i in range(60)]
        found.append(table(names, *rows))
    doubtful = [f"c{i % 11}\t1,{234 + i}\t{'Gym' if i % 3 else 'Tea;Gym'}" for i in range(60)]
    return [*found, table(names, *doubtful)]


def offered_otherwise() -> set[tuple[str, ...]]:
    """Which steps these tables are offered in more than one way."""
    ways: dict[tuple[str, ...], set[Step]] = {}
    for reading in seven_tables():
        for step in steps.suggested(reading.frame, reading.columns):
            ways.setdefault((type(step).__name__, *sorted(steps.names_in(step) & {"paid", "likes"})), set()).add(step)
    assert set(ways) == {("SplitOptions", "likes"), ("OneRowPer",), ("OneRowPer", "paid")}
    return {step for step, found in ways.items() if len(found) > 1}


def test_a_step_is_offered_alike_whatever_sign_or_mark_the_cells_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    assert offered_otherwise() == set()
    usual = steps.suggested

    def by_cells(frame: pd.DataFrame, columns: tuple[ReadColumn, ...]) -> tuple[Step, ...]:
        found = {column.name: column for column in columns}
        return tuple(
            replace(step, separator=steps.several_in(frame[step.column]) or ";")
            if isinstance(step, SplitOptions)
            else replace(step, decimal=found[step.of].suggestion.decimal)
            if isinstance(step, OneRowPer) and step.of
            else step
            for step in usual(frame, columns)
        )

    monkeypatch.setattr(steps, "suggested", by_cells)
    assert offered_otherwise() == {("SplitOptions", "likes"), ("OneRowPer", "paid")}, "guessed from the cells"


RECORDS = [
    Column(name="region", type="text"),
    Column(name="a", type="integer", low=0.0, high=1.0),
    Column(name="b", type="integer", low=0.0, high=1.0),
]


def with_row(name: str, a: str = "0") -> Reading:
    rows = [(f"n{number}", f"{number % 2}", f"{(number + 1) % 2}") for number in range(40)]
    rows[5] = (name, a, "1")
    return read_table(("region,a,b\n" + "\n".join(",".join(map(str, row)) for row in rows) + "\n").encode())


@pytest.mark.parametrize(
    ("step", "plain", "gone"),
    [
        (TicksToRows(column="region", most=1), "n5", ""),
        (OneRowPer(by="region"), "n5", "n6"),
    ],
)
def test_rows_that_a_step_moves_are_not_asked_in_order(step: Step, plain: str, gone: str) -> None:
    """What one row holds would move all later ones, or be told by how many there are."""
    declared = Declaration(columns=tuple(RECORDS), hidden="replace_one")
    for name in (plain, gone):
        rows = with_row(name).after((step,)).private
        with pytest.raises(InvalidArgument, match="private in number"):
            rows.public_size(declared)
        for read in (rows.check, rows.opened):
            with pytest.raises(InvalidArgument, match="private in number"):
                read(declared.reads("a", in_place=True))
        rows.check(declared.reads("a"))  # as a question without an order it can be asked


@pytest.mark.parametrize("each_row", ["option", "step"])
def test_rows_put_together_have_no_public_number_or_names(each_row: EachRow) -> None:
    declared = Declaration(columns=(RECORDS[0], Column(name="rows", type="integer", low=0, high=9)), each_row=each_row)
    for step in (OneRowPer(by="region"), OneRowPer(by="region", day=True), TicksToRows(column="region", most=1)):
        rows = with_row("n5").after((step,)).private
        with pytest.raises(InvalidArgument, match="private in number"):
            rows.public_size(declared)
        with pytest.raises(InvalidArgument, match="private in number"):
            rows.public_names(declared, "region")


@pytest.mark.parametrize("each_row", get_args(EachRow))
def test_rows_that_are_left_out_keep_their_place(each_row: EachRow) -> None:
    """For every kind of row, by whatever column: neither how many rows there are nor where they stand is told."""
    declared = Declaration(columns=tuple(RECORDS), each_row=each_row, hidden="replace_one")
    for column in ("region", "a"):
        step = LeaveOutTotals(column=column)
        one, other = (with_row(*row).after((step,)).private for row in (("n5", "0"), ("Total", "Total")))
        reads = declared.reads("a", in_place=True)
        values = [np.nan_to_num(rows.opened(reads).numbers("a"), nan=-1.0) for rows in (one, other)]
        assert np.flatnonzero(values[0] != values[1]).tolist() == [5]
        assert one.public_size(declared) == other.public_size(declared) == 40


def test_rows_are_named_only_where_names_alone_leave_them_out() -> None:
    """A total among named rows is told apart by its public name; by another cell it must not be."""
    declared = Declaration(columns=tuple(RECORDS), each_row="option")
    names = with_row("Total").after((LeaveOutTotals(column="region"),)).private.public_names(declared, "region")
    assert names[4:7] == ("n4", "", "n6")
    months = MonthsToRows(columns=("a", "b"), time="a", value="value")
    for name in ("0", "Total"):
        for chain in ((LeaveOutTotals(column="b"),), (LeaveOutTotals(column="a"), months)):
            rows = with_row("n5", name).after(chain).private
            with pytest.raises(InvalidArgument, match="private in name"):
                rows.public_names(declared, "region")
            if months in chain:
                with pytest.raises(InvalidArgument, match="private in name"):
                    rows.public_names(Declaration(columns=(Column(name="a", type="text"),), each_row="option"), "a")


def test_a_refused_order_charges_nothing(empty_ledger: Path, tmp_path: Path) -> None:
    file = shutil.copy(empty_ledger, tmp_path / "ledger.db")
    rows = with_row("Total").after((TicksToRows(column="region", most=1),)).private
    declared = Declaration(columns=tuple(RECORDS), hidden="replace_one")
    asked = PrivatePlays.of(declared, ["a", "b"], rounds=40, epsilon=1.0, way="from_now_on")
    with Ledger.open(f"sqlite:///{file}", journal=tmp_path / "journal") as ledger:
        ledger.open_budget("people", epsilon=2.0)
        with pytest.raises(ReleaseRefused, match="nothing was charged"):
            release(ledger, "one", "people", asked, rows)
        assert ledger.budget("people").remaining.epsilon == 2.0


@pytest.mark.parametrize(
    ("steps", "look"),
    [
        ((ReadAsMissing(column="a", word="9"),), "b"),
        ((LeaveOutTotals(column="region"),), "b"),
        ((SplitOptions(column="region", options=("n1",)),), "b"),
        ((MonthsToRows(columns=("a", "b")),), "value"),
        (
            (ReadAsMissing(column="a", word="9"), MonthsToRows(columns=("a", "b")), LeaveOutTotals(column="region")),
            "value",
        ),
    ],
)
def test_what_was_set_aside_goes_on_having_its_place(steps: tuple[Step, ...], look: str) -> None:
    """A row without anything in it is set aside; after a step it would else have moved the others up."""
    lines = [
        "region,a,b",
        *(f"{'Total' if number == 7 else f'n{number}'},{number},{number + 20}" for number in range(12)),
    ]
    blank = [*lines[:4], ",,", *lines[5:]]
    there, gone = (read_table("\n".join([*each, ""]).encode()).after(steps).private for each in (lines, blank))
    declared = Declaration(columns=(Column(name=look, type="integer", low=0, high=99),), each_row="step")
    values, others = (
        np.nan_to_num(rows.opened(declared.reads(look)).numbers(look), nan=-1.0).tolist() for rows in (there, gone)
    )
    assert len(values) == len(others) == there.public_size(declared)
    moved = [(one, other) for one, other in zip(values, others, strict=True) if one != other]
    assert moved
    assert all(one in (3.0, 23.0) and other == -1.0 for one, other in moved)


def test_a_word_for_a_total_is_looked_for_wherever_it_may_stand() -> None:
    """What is looked for first in all cells is in each word that the pattern takes."""
    words = [
        *("Total", "TOTALS", "Subtotal", "sub-total", "Grand total: all", "North total", "total of the year", "Summe"),
        *("Zwischensumme Nord", "gesamt", "Gesamtsumme", "Sous-total A", "Total général", "TOTAL GENERAL", "subtotaal"),
        *("suma", "SUMA", "ИТОГО за год", "Всего", "totalis", "somme", "sum", "tot", "", "42"),
    ]
    for word in words:
        taken = steps._TOTAL.fullmatch(word) is not None
        found = steps.is_total(pd.Series(["North", word, "7"], dtype="str"))
        assert found.tolist() == [False, taken, False], word
        assert not taken or re.search(steps._OF_TOTALS, word, re.IGNORECASE)


def test_options_of_a_cell_are_found_in_different_words() -> None:
    few = ["a, b", "b, c", "a", "c, a", ", b"] * 40
    assert steps.several_in(pd.Series(few, dtype="str")) == ","
    for other in (["a, 2nd", "b", "c"] * 40, ["1,5", "2,5"] * 40, ["a"] * 40, [], ["a;b"] * 5, [";", "", "a"] * 20):
        old = _by_all_cells(pd.Series(other, dtype="str"))
        assert steps.several_in(pd.Series(other, dtype="str")) == old, other
    for sign in steps.SEPARATORS:
        for empty in ([], ["", "a"] * 3, [f" {sign}{sign} "] * 5):
            assert steps.several_in(pd.Series([sign] * 12 + empty, dtype="str")) is None, "they hold no option"
    rng = np.random.default_rng(3)
    for size in (1, 2, 3, 8):
        for _ in range(30):
            cells = pd.Series(["".join(rng.choice(list("ab;,|1 "), 4)) for _ in range(size)] * 15, dtype="str")
            assert steps.several_in(cells) == _by_all_cells(cells), cells.tolist()


def test_steps_make_no_more_columns_than_a_file_may_have() -> None:
    """A declaration of 2 kB made 12,000 columns, each of which the page looked at."""
    names = [f"c{n}" for n in range(4)]
    reading = read_table(("\n".join([",".join(names), *["a;b,a,b,a"] * 3]) + "\n").encode(), delimiter=",")
    options = tuple(f"o{n}" for n in range(130))
    split = tuple(SplitOptions(column=name, options=options) for name in names)
    assert reading.after(split[:3]).frame.shape[1] == 391
    with pytest.raises(InvalidArgument, match="500 columns"):
        reading.after(split)


def test_no_month_is_named_twice() -> None:
    """One step of a declaration named a column 240,000 times, each of which made a table of its own."""
    with pytest.raises(InvalidArgument, match="different"):
        MonthsToRows(columns=("2024-01", "2024-02", "2024-01"))
    step, column = {"step": "MonthsToRows", "columns": ["2024-01"] * 1000}, {"name": "a", "type": "text"}
    declared = {"epsilon-lab declaration": 1, "columns": [column], "steps": [step], "choices": {}}
    with pytest.raises(InvalidArgument, match="different"):
        loaded(json.dumps(declared))


def test_options_of_long_cells_are_looked_for_without_holding_all_of_their_parts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A Parquet file of 21 kB, of long cells that each name the same option ten thousand times, ended the server."""
    cells = pd.Series([f"o{n % 9};" + "ab;" * 10_000 for n in range(40)], dtype="str")
    size = int(cells.str.len().sum())

    def taken() -> int:
        tracemalloc.start()
        assert steps.several_in(cells) == ";"
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return peak

    assert taken() < 2 * size
    whole = lambda words, sign: {part for part in [p for w in words for p in w.split(sign)] if part}  # noqa: E731
    monkeypatch.setattr(steps, "_few_short", whole)
    assert taken() > 4 * size, "this test can fail"


def _by_all_cells(cells: pd.Series) -> str | None:
    """The same by taking each cell apart."""
    words = cells.str.strip()
    words = words[words != ""]
    for separator in steps.SEPARATORS:
        if len(words) < 10 or words.str.contains(separator, regex=False).mean() < 0.2:
            continue
        parts = words.str.split(separator).explode().str.strip()
        counts = parts[parts != ""].value_counts()
        if not 2 <= len(counts) <= 40 or len(counts) > 0.5 * len(parts) or counts.index.str.len().max() > 60:
            continue
        numbers = [steps.is_number(counts.index.to_series(), mark).all() for mark in (".", ",")]
        return None if any(numbers) else separator
    return None


@pytest.mark.parametrize("step", [
    LeaveOutTotals(column="who"), ReadAsMissing(column="n", word="9"), SplitOptions(column="ticks", options=("x", "y")),
    TicksToRows(column="ticks", most=3), MonthsToRows(columns=("jan", "feb")), OneRowPer(by="who"),
    *(OneRowPer(by="who", of="n", how=how) for how in ("sum", "mean", "largest")), OneRowPer(by="day", day=True),
], ids=repr)  # fmt: skip
def test_a_column_in_pieces_is_worked_as_one_in_one(step: Step) -> None:
    """How many pieces Arrow holds a column in hangs on how many rows there are, and on steps before."""
    text = pd.StringDtype(na_value=np.nan)
    whole = pd.DataFrame(
        {
            "who": ["a", "b", "a", "total"],
            "n": ["1", "9", "2,5", ""],
            "ticks": ["x;y", "", "x", "y"],
            "jan": ["1", "2", "3", "4"],
            "feb": ["5", "6", "7", "8"],
            "day": ["2020-01-01", "2020-01-01T10:00", "", "2020-01-02"],
        },
        dtype=text,
    )
    pieces = pd.concat([whole.iloc[:1], whole.iloc[1:3], whole.iloc[3:]], ignore_index=True)
    lines = np.arange(len(whole))
    pd.testing.assert_frame_equal(step.apply(pieces, lines).frame, step.apply(whole, lines).frame)


def test_a_day_is_cut_from_any_cell_by_its_length_alone() -> None:
    """By one rule that looks no further than the first sign of a time."""
    frame = pd.DataFrame({"d": ["T" * 300_000 + "\nx\nx", "2020-01-01 10:00", "2020-01-01T11:00", "2020-01-02"]})
    found = OneRowPer(by="d", day=True, how="count").apply(frame, np.arange(4)).frame
    assert found["d"].tolist() == ["2020-01-01", "2020-01-02"]
