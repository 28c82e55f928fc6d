"""Each entry that an estimator is given is read by itself: no other entry's type changes what it says."""

from __future__ import annotations

from collections import Counter
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dpcore.errors import InvalidArgument
from dpcore.training import (
    Declared,
    Encoding,
    NoisyClassNames,
    PrivateClassifier,
    PrivateRegressor,
    coded_rows,
    declared,
)
from dpcore.training.entries import day, known, named, number
from dpcore.training.estimators import shared
from dpcore.training.estimators.building import Building

COLUMNS = {0: (0, 10), 1: [0, 1], 2: ["a", "b"], 3: (date(2020, 1, 1), date(2021, 1, 1))}
ROWS = [[1.5, 0, "a", date(2020, 2, 3)], [7, 1, "b", date(2020, 9, 9)], [2, True, "a", date(2020, 2, 3)]] * 4
Y = [0, 1, 1] * 4


class Hostile:
    """Its every method raises."""

    def _no(self, *_: Any) -> Any:
        raise RuntimeError("no")

    __hash__ = __eq__ = __str__ = __repr__ = __float__ = __complex__ = __int__ = __index__ = __len__ = _no
    __bool__ = __iter__ = __array__ = _no


class Like(str):
    """A text whose own methods raise."""

    __slots__ = ()

    def __hash__(self) -> int:
        raise RuntimeError("no")

    def __str__(self) -> str:
        raise RuntimeError("no")


ODD = [
    None, "x", "", b"x", b"\xff", 10**400, -(10**400), float("nan"), float("inf"), 1j, 1 + 0j, True, Decimal("sNaN"),
    Decimal("1.0"), Fraction(1, 3), [], ([],), {}, {1: 2}, set(), frozenset(), [1], np.array([1, 2]), np.int8(1),
    np.float32(0.1), np.str_("a"), np.datetime64("2020-02-03"), np.timedelta64(5, "D"), pd.NA, pd.NaT,
    pd.Timestamp("2020-02-03", tz="Asia/Tokyo"), datetime(2020, 2, 3, 4), timedelta(1), pd.Interval(0, 1),
    pd.Period("2020-02"), pd.DataFrame({"a": [1]}), object(), Hostile, Hostile(), Like("a"), lambda: 1, "9" * 5000,
]  # fmt: skip


def placed(monkeypatch, rows: Any, y: Any, estimator: Any) -> tuple[list[Any], list[Any]]:
    """The codes of every row, and the answers, that a fit begins with."""
    seen: list[Any] = []

    def stop(self: Building, *_: Any) -> None:
        columns = list(self.declared.values())
        found = coded_rows(columns, [self.frame[name] for name in self.declared]).codes
        seen.extend([np.asarray(found)[self.kept], self.answers])
        raise KeyboardInterrupt

    monkeypatch.setattr(Building, "built", stop)
    with pytest.raises(KeyboardInterrupt):
        estimator.fit(rows, y)
    codes, answers = seen
    return codes.tolist(), answers.tolist()


@pytest.fixture(params=["classifier", "regressor"])
def estimator(request: pytest.FixtureRequest) -> Any:
    if request.param == "classifier":
        return PrivateClassifier(columns=COLUMNS, classes=[0, 1])
    return PrivateRegressor(columns=COLUMNS, target=(0, 1))


def stays(monkeypatch, estimator: Any, odd: list[Any]) -> bool:
    """Whether rows of such cells alone leave what all others are coded as."""
    base = placed(monkeypatch, ROWS, Y, estimator)
    codes, answers = placed(monkeypatch, [*ROWS, *([cell] * 4 for cell in odd)], [*Y, *odd], estimator)
    return (codes[: len(Y)], answers[: len(Y)]) == base


def test_one_row_of_any_type_leaves_all_others_as_they_are(monkeypatch, estimator) -> None:
    """One row or many, in a list, in rows that are tuples, and in a frame of objects."""
    for odd in (["x"], [0.5], [None], [[1]], [b"x"], [1j], [Hostile()], ODD):
        assert stays(monkeypatch, estimator, odd)
    base = placed(monkeypatch, ROWS, Y, estimator)
    column = pd.DataFrame({place: pd.Series([row[place] for row in ROWS], dtype=object) for place in range(4)})
    assert placed(monkeypatch, column, pd.Series(Y, dtype=object), estimator) == base
    assert placed(monkeypatch, tuple(tuple(row) for row in ROWS), tuple(Y), estimator) == base


def test_the_check_finds_answers_that_get_their_type_from_each_other(monkeypatch) -> None:
    """As it once was: NumPy made the type of a list, and an option was looked up as it stood."""
    monkeypatch.setattr(shared, "_untyped", lambda values: False)
    monkeypatch.setattr(declared, "known", lambda value: value)
    assert not stays(monkeypatch, PrivateClassifier(columns=COLUMNS, classes=[0, 1]), ["x"])


@pytest.mark.parametrize(("options", "values"), [
    ([0, 1], [0, 1, 1]),
    (["0", "1"], [0, 1, 1]),
    ([False, True], [False, True, True]),
    ([0.5, 2], [0.5, 2, 2]),
    ([pd.Timestamp("2020-01-02"), pd.Timestamp("2020-01-03")], [pd.Timestamp("2020-01-02")] * 3),
])  # fmt: skip
def test_an_option_is_the_same_in_whatever_type_an_entry_makes_of_its_column(options, values) -> None:
    """Among texts, missing ones and objects, as NumPy and pandas make them."""
    column = Declared.of("x", options)
    base = column.codes(pd.Series(values)).tolist()
    assert max(base) < len(options)
    for odd in ("x", None, 0.25, np.nan, pd.NaT, 7, True):
        made = [pd.Series([*values, odd]), pd.Series([*values, odd], dtype=object)]
        made += [pd.Series([*values, odd]).convert_dtypes(), pd.Series([*values, odd]).astype("category")]
        made += [pd.Series([str(value) for value in values] + ["x"])]
        if not isinstance(values[0], pd.Timestamp):
            made.append(pd.Series(np.array([*values, odd])))
        for series in made:
            assert column.codes(series).tolist()[:3] == base


NOT_HELD: tuple[tuple[list[Any], list[Any]], ...] = (
    ([2**53 + 1, 5], [2**53 + 1, 5]),
    ([2**53, 5], [2**53 + 1, 5]),
    ([-(2**53), 5], [-(2**53) - 1, 5]),
    ([float(2**60), 5], [2**60 + 1, 5]),
    ([str(2**53 + 1), "5"], [2**53 + 1, 5]),
    ([np.float32(0.1), np.float32(0.5)], [np.float32(0.1), np.float32(0.5)]),
)


@pytest.mark.parametrize(("options", "values"), NOT_HELD, ids=repr)
def test_options_that_another_row_s_type_makes_others_are_refused(options, values, monkeypatch) -> None:
    with pytest.raises(InvalidArgument, match="columns must list the numbers among the options of “x” as a 64-bit"):
        Declared.of("x", options)
    with pytest.raises(InvalidArgument, match="classes must name numbers as a 64-bit"):
        PrivateClassifier(columns=COLUMNS, classes=options).fit(ROWS, Y)
    plain = {"column": "x", "kind": "category", "options": [str(option) for option in options]}
    assert Declared.read(plain).options == tuple(plain["options"]), "a model that was made of texts is read"
    monkeypatch.setattr(declared, "held_exactly", lambda value: True)
    column = Declared.of("x", options)
    alone = [column.codes(pd.Series(np.array([*values, *more]))).tolist()[:2] for more in ([], [0.5], ["y"])]
    assert len(set(map(tuple, alone))) > 1, "one row more would have moved the others"


@pytest.mark.parametrize(
    "options", [[2**53 - 1, -(2**53) + 1], [0.1, 1e-300], [np.float64(0.1), 2], [np.float32(0.5), 2]]
)
def test_options_that_every_type_holds_are_taken(options) -> None:
    column = Declared.of("x", options)
    base = list(range(len(options)))
    for more in ([], [None], [0.25], ["y"]):
        assert column.codes(pd.Series([*options, *more])).tolist()[: len(base)] == base
        assert column.codes(pd.Series(np.array([*options, *more]))).tolist()[: len(base)] == base


def test_a_class_that_nobody_declared_and_no_type_holds_is_none() -> None:
    assert named(2**53 - 1) == ("number", 2**53 - 1)
    assert [named(value) for value in (2**53, 2**53 + 1, float(2**53), -(2**60))] == [None] * 4


def test_numbers_and_days_are_the_same_in_whatever_type() -> None:
    amount = Declared.of("x", (0, 9))
    for entries in ([1, 2, 8], [1.5, 2.25, 7.0], [True, False, True]):
        base = amount.codes(pd.Series(entries)).tolist()
        for kind in (object, str, "category", "Float64"):
            assert amount.codes(pd.Series(entries).astype(kind)).tolist() == base
    column = Declared.of("x", (date(2020, 1, 1), date(2021, 1, 1)))
    stamps = pd.Series(pd.to_datetime(["2020-02-03 23:30", "2020-05-06 00:30", "2020-11-12 00:00"]))
    base = column.typed(stamps).tolist()
    for zone in ("Asia/Tokyo", "America/Lima"):
        assert column.typed(stamps.dt.tz_localize(zone)).tolist() == base
        assert column.typed(stamps.dt.tz_localize(zone).astype(object)).tolist() == base
    assert column.typed(stamps.astype(object)).tolist() == column.typed(stamps.astype(str)).tolist() == base
    written = [20200203, 20200506]
    assert column.typed(pd.Series(written)).tolist() == column.typed(pd.Series([*written, None])).tolist()[:2]


def test_one_entry_by_itself() -> None:
    assert [known(value) for value in ("1", 1, 1.0, True, "1.0", "True", b"1", Decimal(1), 1 + 0j, np.int8(1))] == [
        1
    ] * 10
    assert known(2**53 + 1) == 2**53 + 1
    assert [number("9" * 5000), number(-(10**400))] == [np.inf, -np.inf]
    aware = datetime(2020, 1, 1, 23, tzinfo=timezone(timedelta(hours=-9)))
    assert day(aware) == day("2020-01-01") == day(20200101.0) == 18262.0
    for odd in ODD:
        known(odd), named(odd), number(odd), day(odd)
    for twice in ([1, "1"], [1, True], [1, None], [1, float("nan")], ["01", "1"]):
        with pytest.raises(InvalidArgument, match="once"):
            Declared.of("x", twice)
        with pytest.raises(InvalidArgument, match="classes"):
            PrivateClassifier(columns=COLUMNS, classes=twice).fit(ROWS, Y)


def test_how_one_row_writes_its_class_is_not_published(monkeypatch) -> None:
    """1, 1.0 and a NumPy 1 are one class, of one name; true is another; what has no order is no class."""
    rows = [[float(place % 7)] for place in range(300)]
    told = set()
    for first in (1, 1.0, np.int8(1), np.float32(1), Decimal(1), True, (1,), 1j, Hostile(), pd.Timestamp("2020-01-01")):
        estimator = PrivateClassifier(epsilon=20.0, columns=(0, 10), random_state=0)
        placed(monkeypatch, rows, [first, *[int(row[0] > 3) for row in rows[1:]]], estimator)
        told.add((str(estimator.classes_.dtype), repr(estimator.classes_.tolist())))
    assert told == {("int64", "[0, 1]")}
    drawn = NoisyClassNames(noise=1e-9, failure=1e-3).draw
    names = Counter({1j: 9, 2j: 9, (1, "a"): 9, ("a", 1): 9, 2: 9, 1.5: 9, "b": 9})
    assert drawn(names, np.random.default_rng(0))[:2] == [1j, 2j]


def test_rows_of_several_widths_are_refused() -> None:
    with pytest.raises(InvalidArgument, match="every row"):
        PrivateClassifier(columns=COLUMNS, classes=[0, 1]).fit([*ROWS, [1]], [*Y, 1])


def test_a_model_s_category_is_the_same_among_floats() -> None:
    column = Encoding(name="x", kind="category", categories=("1", "2"))
    assert column.plain([1, 2]).tolist() == column.plain([1.0, 2.0]).tolist() == column.plain(["1", "2"]).tolist()
