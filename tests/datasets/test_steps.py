"""Steps on a table before it is declared: each is a sentence, is suggested where it fits, and can be taken back."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from dpcore.datasets import (
    LeaveOutTotals,
    MonthsToRows,
    OneRowPer,
    ReadAsMissing,
    Reading,
    SplitOptions,
    Step,
    TicksToRows,
    read_table,
)
from dpcore.errors import InvalidArgument

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
    with pytest.raises(InvalidArgument):
        table("k,x", "a,;", "b,;").after((step,))
