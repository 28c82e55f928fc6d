"""Declarations, conversion with a full account, what-if completion, and which questions a table suits."""

from __future__ import annotations

from datetime import date

import numpy as np
import pandas as pd
import pytest

from dpcore.datasets import Column, Schema, apply, completed_from, load_sample, questions_for
from dpcore.errors import InvalidArgument


def text(**columns: list[str]) -> pd.DataFrame:
    return pd.DataFrame(columns, dtype="str")


HALF = "a\ud800"  # of a sign: JSON can name it, and no page can show it


@pytest.mark.parametrize(
    ("fields", "argument"),
    [
        ({"type": "colour"}, "type"),
        ({"type": "number", "low": 3.0, "high": 3.0}, "high"),
        ({"type": "number", "low": float("nan")}, "low"),
        ({"type": "number", "high": float("inf")}, "high"),
        ({"type": "number", "low": -1e308, "high": 7e307}, "low"),
        ({"type": "number", "low": 0.0, "high": 1.7e308}, "high"),
        ({"type": "number", "low": 0.0, "high": 5e-324}, "high"),
        ({"type": "number", "low": 1e15, "high": 1e15 + 1}, "high"),
        ({"type": "number", "low": 0.9999999999999999, "high": 1.0}, "high"),
        ({"type": "date", "earliest": date(2024, 1, 2), "latest": date(2024, 1, 1)}, "latest"),
        ({"type": "category", "categories": ("a", "a")}, "categories"),
        ({"type": "category", "categories": ("a",), "fill": "b"}, "fill"),
        ({"type": "number", "decimal": ";"}, "decimal"),
        ({"type": "number", "counts": True}, "counts"),
        ({"type": "integer", "fill": "many"}, "fill"),
        ({"type": "number", "fill": float("inf")}, "fill"),
        ({"type": "date", "fill": "yesterday"}, "fill"),
        ({"type": "date", "date_order": "ydm"}, "date_order"),
        ({"type": "integer", "sensitivity": 0.0}, "sensitivity"),
        ({"type": "integer", "better": "both"}, "better"),
        ({"type": "yes/no", "yes_words": ("x",), "no_words": ("x",)}, "no_words"),
        ({"type": "text", "about": HALF}, "about"),
        ({"type": "number", "unit": HALF}, "unit"),
        ({"type": "category", "categories": ("a", HALF)}, "categories"),
    ],
)
def test_a_wrong_declaration_is_refused_by_name(fields: dict[str, object], argument: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        Column(name="x", **fields)  # type: ignore[arg-type]
    assert caught.value.argument == argument


def test_a_wrong_schema_is_refused() -> None:
    x = Column(name="x", type="text")
    with pytest.raises(InvalidArgument, match="name must be text that can be written"):
        Column(name=HALF, type="text")
    with pytest.raises(InvalidArgument, match="unit must be text that can be written"):
        Schema(columns=(x,), unit=HALF)
    with pytest.raises(InvalidArgument, match="columns"):
        Schema(columns=())
    with pytest.raises(InvalidArgument, match="columns"):
        Schema(columns=(x, x))
    with pytest.raises(InvalidArgument, match="rows_per_person"):
        Schema(columns=(x,), rows_per_person=0)
    for wrong in ({"people": 0}, {"id_column": "y"}, {"id_column": "x", "each_row": "step"}):
        with pytest.raises(InvalidArgument, match=next(iter(wrong))):
            Schema(columns=(x,), **wrong)  # type: ignore[arg-type]
    assert Schema(columns=(x, Column(name="y", type="text")), id_column="y").only("x").id_column is None
    with pytest.raises(InvalidArgument, match="each_row"):
        Schema(columns=(x,), each_row="cell")  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument):
        apply(Schema(columns=(x,)), text(y=["1"]))


def test_every_cell_is_accounted_for() -> None:
    """Each cell is in exactly one heap: taken as it stands, missing, unreadable, unlisted, moved to a bound."""
    frame = text(
        n=["1,5", "x", "", "200", "-3", "NA"],
        i=["1", "2.5", "9007199254740993", "n/a", " 7 ", "-"],
        c=["a", "b", "z", "?", " a", "A"],
        b=["yes", "0", "maybe", "", "TRUE", "nein"],
        d=["01.02.2024", "31.02.2024", "", "01.01.1990", "5 Mar 2024", "2024-06-01"],
        t=["", "  x ", "null", "=1", "ok", "ok"],
    )
    schema = Schema(
        columns=(
            Column(name="n", type="number", low=0, high=100, decimal=","),
            Column(name="i", type="integer"),
            Column(name="c", type="category", categories=("a", "b", "unused")),
            Column(name="b", type="yes/no"),
            Column(name="d", type="date", date_order="dmy", earliest=date(2024, 1, 1), latest=date(2024, 12, 31)),
            Column(name="t", type="text"),
        )
    )
    applied = apply(schema, frame)
    got = {
        account.name: tuple(
            part.tolist() for part in (account.missing, account.unparsable, account.unlisted, account.outside)
        )
        for account in applied.accounts
    }
    assert got == {
        "n": ([2, 5], [1], [], [3, 4]),
        "i": ([3, 5], [1], [], []),
        "c": ([3], [], [2, 5], []),
        "b": ([3], [2], [], []),
        "d": ([2], [1], [], [3]),
        "t": ([0, 2], [], [], []),
    }
    assert [account.taken for account in applied.accounts] == [1, 3, 3, 4, 3, 4]
    assert applied.frame["n"].tolist()[3:5] == [100.0, 0.0]
    assert applied.frame["i"].tolist()[2] == 9007199254740993
    assert applied.frame["c"].cat.categories.tolist() == ["a", "b", "unused"]
    assert str(applied.frame["d"].iloc[3]) == "2024-01-01 00:00:00"
    assert [str(kind) for kind in applied.frame.dtypes] == [
        "float64", "Int64", "category", "boolean", "datetime64[s]", "str",
    ]  # fmt: skip


def test_missing_cells_take_the_declared_fill() -> None:
    frame = text(n=["1", ""], c=["a", ""], b=["yes", ""], d=["2024-05-01", ""], i=["3", ""], t=["x", ""])
    schema = Schema(
        columns=(
            Column(name="n", type="number", fill=2.5),
            Column(name="c", type="category", categories=("a", "none given"), fill="none given"),
            Column(name="b", type="yes/no", fill="no"),
            Column(name="d", type="date", fill="2024-01-01"),
            Column(name="i", type="integer", fill=4),
            Column(name="t", type="text", fill="-"),
        )
    )
    row = apply(schema, frame).frame.iloc[1]
    assert row.tolist() == [2.5, "none given", False, pd.Timestamp("2024-01-01"), 4, "-"]
    assert all(account.filled for account in apply(schema, frame).accounts)


def test_numbers_that_come_typed_are_taken_exactly() -> None:
    frame = pd.DataFrame({"x": [0.1, np.nan], "n": [2**53 + 1, 5]})
    schema = Schema(columns=(Column(name="x", type="number"), Column(name="n", type="integer")))
    applied = apply(schema, frame)
    assert applied.frame["x"].iloc[0] == 0.1
    assert applied.account("x").missing.tolist() == [1]
    assert applied.frame["n"].iloc[0] == 2**53 + 1


def test_what_is_read_from_the_file_is_marked() -> None:
    frame = text(n=["3", "97"], c=["b", "b"], d=["2024-01-05", "2024-02-01"], k=["7", "7"])
    schema = Schema(
        columns=(
            Column(name="n", type="integer"),
            Column(name="c", type="category"),
            Column(name="d", type="date"),
            Column(name="k", type="number"),
        )
    )
    whole = completed_from(schema, frame)
    assert all(column.bounded and column.from_file and not column.releasable for column in whole.columns)
    assert (whole.column("n").low, whole.column("n").high) == (0.0, 100.0)
    assert whole.column("c").categories == ("b",)
    assert whole.column("k").low < whole.column("k").high
    declared = Schema(columns=(Column(name="n", type="integer", low=0, high=50),))
    assert completed_from(declared, frame).column("n").releasable
    assert apply(schema, frame).schema.column("c").from_file


def test_a_table_gives_counts_codes_and_numbers() -> None:
    table = load_sample("clinic")
    assert table.counts("complaint").sum() == 316
    assert table.options("returned") == ("no", "yes")
    assert table.counts("returned").tolist() == [240, 76]
    assert table.numbers("age").dtype == np.float64
    assert table.only("age").schema.names == ("age",)
    assert table.only("age").fingerprint != table.fingerprint
    for wrong in ("age", "day"):
        with pytest.raises(InvalidArgument):
            table.counts(wrong)
    with pytest.raises(InvalidArgument):
        table.numbers("complaint")
    with pytest.raises(InvalidArgument):
        table.counts("nothing")


def kinds(schema: Schema) -> set[str]:
    return {f"{suited.question}/{suited.kind}" for suited in questions_for(schema)}


def test_numbers_of_rows_and_years_are_asked_about_last() -> None:
    schema = Schema(columns=tuple(Column(name=name, type="integer") for name in ("Obs", "year", "sales")))
    (median,) = (one for one in questions_for(schema) if one.kind == "quantile")
    assert median.choices("column") == ("sales", "Obs", "year")


def test_each_question_is_offered_where_its_columns_are() -> None:
    word, flag = Column(name="w", type="category", categories=("a", "b", "c")), Column(name="f", type="yes/no")
    number, other = (Column(name=name, type="number", low=0, high=1) for name in ("x", "y"))
    day, name = Column(name="d", type="date"), Column(name="t", type="text")
    assert kinds(Schema(columns=(name,))) == set()
    assert kinds(Schema(columns=(word,))) == {"selection/most_common", "thresholding/groups"}
    assert kinds(Schema(columns=(number,))) == {"selection/quantile"}
    assert kinds(Schema(columns=(day,))) == {"thresholding/days"}
    assert kinds(Schema(columns=(flag, number))) >= {"selection/rule", "training/classify", "thresholding/groups"}
    assert "training/regress" in kinds(Schema(columns=(number, other)))
    assert kinds(Schema(columns=(name, number), each_row="option")) == {"selection/scores"}
    assert kinds(Schema(columns=(number,), each_row="option")) == set()
    assert kinds(Schema(columns=(number, other, flag), each_row="step")) == {"thresholding/series", "experts/forecasts"}
    assert kinds(Schema(columns=(number, other), each_row="step")) == {"thresholding/series", "experts/values"}


def test_a_question_says_what_is_lacking_for_a_private_answer() -> None:
    open_ = Schema(columns=(Column(name="w", type="category"), Column(name="x", type="number")))
    assert all("before a private answer" in suited.lacking for suited in questions_for(open_))
    scores = Schema(columns=(Column(name="o", type="text"), Column(name="s", type="integer")), each_row="option")
    assert questions_for(scores)[0].lacking == "Declare the bounds of s before a private answer."
    bounded = Column(name="s", type="integer", low=0, high=9)
    assert questions_for(scores.with_column(bounded))[0].lacking == "", "the whole range is how far one person can move"
    read = Column(name="s", type="integer", low=0, high=9, sensitivity=1, from_file=True)
    assert questions_for(scores.with_column(read))[0].lacking != ""
    assert questions_for(scores)[0].choices("score") == ("s",)
    with pytest.raises(InvalidArgument):
        questions_for(scores)[0].choices("target")


@pytest.mark.parametrize(
    "name",
    [
        "id",
        "customer_id",
        "customerId",
        "Name",
        "full name",
        "E-mail",
        "patient ID",
        "phone number",
        "Order no.",
        "Surname",
    ],
)
def test_names_and_ids_are_no_options(name: str) -> None:
    """Nobody asks which name is most common, or for the median of an id."""
    word, number = Column(name=name, type="category"), Column(name=name, type="integer")
    beside = Column(name="ward", type="category")
    for schema in (Schema(columns=(word, beside)), Schema(columns=(number, beside))):
        assert all(name not in names for suited in questions_for(schema) for _, names in suited.columns)
    assert questions_for(Schema(columns=(word,))) == ()


@pytest.mark.parametrize("name", ["ward", "paid", "grid", "product name", "identity", "renamed", "phone type", "order"])
def test_other_names_stay_options(name: str) -> None:
    assert questions_for(Schema(columns=(Column(name=name, type="category"),))) != ()


def test_what_happened_is_asked_for() -> None:
    """A column of what happened is no forecaster, whether chances are declared yet or not; the page has to ask."""
    flag, day = Column(name="rain", type="yes/no"), Column(name="day", type="date")
    chances = tuple(Column(name=name, type="number") for name in ("Alma", "Bert"))
    found = {s.kind: s for s in questions_for(Schema(columns=(day, *chances, flag), each_row="step"))}["forecasts"]
    assert found.asks == ("outcome",)
    assert found.choices("outcome") == ("rain", "Alma", "Bert")
    assert found.choices("experts") == ("Alma", "Bert")
    actual = Column(name="actual temperature", type="number", low=-20, high=50)
    degrees = tuple(Column(name=name, type="number", low=-20, high=50) for name in ("Alma", "Bert"))
    found = {s.kind: s for s in questions_for(Schema(columns=(*degrees, actual), each_row="step"))}["forecasts"]
    assert found.choices("outcome")[0] == "actual temperature"
    assert found.choices("experts") == ("Alma", "Bert")
