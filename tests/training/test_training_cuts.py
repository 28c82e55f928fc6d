"""Cuts are round numbers inside the declared bounds, and what is cut says the same as steps, codes and rows."""

from __future__ import annotations

import math
from datetime import date

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpcore.datasets.schema import Column, Schema
from dpcore.datasets.table import Table
from dpcore.errors import InvalidArgument
from dpcore.training import (
    Declared,
    Encoding,
    Features,
    LinearModel,
    calendar_cuts,
    coded_rows,
    cut,
    load_model,
    own_cuts,
    public_cuts,
)

SIZES = st.floats(min_value=1e-6, max_value=1e9)


def digits(value: float) -> float:
    """The leading digits of a number with all powers of ten taken out."""
    return 0.0 if value == 0.0 else float(f"{abs(value):.9e}".split("e")[0])


@settings(max_examples=25, deadline=None)
@given(low=st.floats(min_value=-1e6, max_value=1e6), span=SIZES, shape=st.sampled_from(["even", "heavy"]))
def test_cuts_lie_inside_rise_and_are_few(low, span, shape) -> None:
    high = low + span
    if not low < high:
        return
    levels = public_cuts(low, high, shape)
    assert 1 <= len(levels) <= 3
    for level in levels:
        assert all(low < value < high or len(level) == 1 for value in level)
        assert list(level) == sorted(set(level))
        assert len(level) <= (20 if shape == "even" else 1000)


def test_cuts_by_hand() -> None:
    """Decades, fives and 1-2-5, as a person would write them."""
    assert public_cuts(17, 90)[0] == (20.0, 40.0, 60.0, 80.0)
    assert public_cuts(17, 90)[1] == tuple(float(age) for age in range(20, 90, 5))
    decades, fine, equal = public_cuts(0, 100_000, "heavy")
    assert decades == (1.0, 10.0, 100.0, 1000.0, 10_000.0)
    assert fine[:5] == (1.0, 2.0, 5.0, 10.0, 20.0)
    assert (equal[0], equal[-1], len(equal)) == (100.0, 99_900.0, 999)
    assert public_cuts(-100, 100, "heavy")[0] == (-10.0, -1.0, -0.1, -0.01, -0.001, 0.0, 0.001, 0.01, 0.1, 1.0, 10.0)
    assert own_cuts(0, 10, [5, 2.5, 5]) == ((2.5, 5.0),)
    months = calendar_cuts(date(2013, 1, 1), date(2013, 12, 31))
    assert [len(level) for level in months] == [3, 11, 52]
    assert months[0][0] == (date(2013, 4, 1) - date(1970, 1, 1)).days
    assert [len(level) for level in calendar_cuts(date(1950, 5, 1), date(2013, 1, 1))] == [6, 63]


@settings(max_examples=25, deadline=None)
@given(low=st.integers(min_value=-1000, max_value=1000), span=st.integers(min_value=1, max_value=10**6))
def test_equal_cuts_are_multiples_of_a_round_step(low, span) -> None:
    for level in public_cuts(low, low + span):
        if len(level) > 1:
            step = level[1] - level[0]
            assert min(abs(digits(step) - one) for one in (1.0, 2.0, 5.0)) < 1e-6
            assert np.allclose(np.array(level) / step, np.round(np.array(level) / step), atol=1e-6)


@pytest.mark.parametrize("call", [
    lambda: public_cuts(1, 1),
    lambda: public_cuts(0, math.inf),
    lambda: public_cuts(0, 1, "wide"),
    lambda: own_cuts(0, 1, [0.0]),
    lambda: own_cuts(0, 1, []),
    lambda: calendar_cuts(date(2020, 1, 1), date(2020, 1, 1)),
    lambda: Encoding(name="a", kind="number", levels=((2.0, 1.0),)),
    lambda: Encoding(name="a", kind="yes/no", levels=((1.0,),)),
    lambda: cut(Encoding(name="a", kind="category", categories=("x", "y"))),
])  # fmt: skip
def test_what_cannot_be_cut_is_refused(call) -> None:
    with pytest.raises(InvalidArgument):
        call()


@settings(max_examples=25, deadline=None)
@given(values=st.lists(st.integers(-(10**7), 10**7).map(lambda n: n / 16) | st.just(math.nan), min_size=1, max_size=30))
def test_steps_codes_and_rows_agree(values) -> None:
    """A value at a cut belongs above it; whatever the value, a column's numbers have length at most 1.

    Values within rounding of a cut (1e-16 of the range) may fall on either side; sixteenths are not.
    """
    column = cut(Encoding(name="a", kind="number", low=-50.0, high=1000.0), "heavy")
    given_ = np.array([*values, *column.edges, -50.0, 1000.0])
    scaled = column.scaled(given_)
    rows, codes, basis = column.spread(scaled), column.codes(scaled), column.basis()
    missing = np.isnan(given_)
    np.testing.assert_allclose(rows * math.sqrt(len(column.levels)), basis[codes][:, :-1])
    np.testing.assert_array_equal(codes == len(column.edges) + 1, missing)
    lengths = (rows**2).sum(axis=1)
    np.testing.assert_allclose(lengths[~missing], 1.0)
    assert (lengths[missing] == 0.0).all()
    inside = np.clip(given_[~missing], -50.0, 1000.0)
    np.testing.assert_array_equal(codes[~missing], np.searchsorted(column.edges, inside, side="right"))
    assert rows.shape[1] == column.width == len(column.labels)


def _own(features: Features) -> list[tuple[int, int]]:
    """Where each column's own ones stand among the coded ones: all but its last, which says missing."""
    starts = np.cumsum([0, *(column.basis().shape[1] for column in features.columns)])
    return [(int(starts[k]), int(starts[k + 1]) - 1) for k in range(len(features.columns))]


def test_features_with_cuts_predict_the_same_from_a_file() -> None:
    """Cuts reach the rows, the names and the model's JSON; rows stay in the unit ball; other columns are as before."""
    schema = Schema(columns=(
        Column(name="age", type="integer", low=0, high=100),
        Column(name="day", type="date", earliest=date(2020, 1, 1), latest=date(2021, 1, 1)),
        Column(name="sex", type="category", categories=("f", "m")),
        Column(name="ill", type="yes/no"),
    ))  # fmt: skip
    plain = Features.of(schema, target="ill")
    features = Features.of(schema, target="ill", shapes={"age": "even", "day": "even"})
    assert [column.levels != () for column in features.columns] == [True, True, False]
    assert features.d > plain.d == 5
    frame = pd.DataFrame({
        "age": np.arange(60) % 90,
        "day": pd.to_datetime("2020-01-01") + pd.to_timedelta(np.arange(60) * 6, unit="D"),
        "sex": ["f", "m"] * 30,
        "ill": pd.array([True, False, False] * 20, dtype="boolean"),
    })  # fmt: skip
    prepared = features.prepare(Table(frame=frame, schema=schema, fingerprint="", lineage=""))
    assert prepared.X.shape == (60, features.d)
    assert np.linalg.norm(prepared.X, axis=1).max() <= 1.0 + 1e-12
    numbers = [column.typed(frame[column.name]) for column in features.columns]
    coded = features.coded(numbers).dense()
    ones = np.concatenate([coded[:, start:end] for start, end in _own(features)], axis=1)
    np.testing.assert_array_equal(ones > 0.0, prepared.X[:, :-1] > 0.0)
    with pytest.raises(InvalidArgument, match="levels"):
        plain.coded(numbers)
    model = LinearModel(features=features, weights=np.arange(features.d) / 7.0, about={})
    again = load_model(model.plain())
    assert again.features == features
    assert "age: 20 to below 40" in features.names
    records = [{"age": 33, "day": "2020-06-01", "sex": "m"}, {"age": None, "day": None, "sex": "x"}]
    np.testing.assert_allclose(again.margins(records), model.margins(records))


def test_a_row_s_codes_do_not_depend_on_other_rows() -> None:
    """Beyond the bounds moves to the bound; missing, unknown and mistyped has a code of its own; nothing is refused."""
    columns = [
        Declared.of("n", (0, 10)),
        Declared.of("c", [1, "b"]),
        Declared.of("t", (date(2020, 1, 1), date(2021, 1, 1))),
    ]
    frame = pd.DataFrame({
        "n": ["3", -5, 99, None, "many", np.inf, [1], 10**400],
        "c": ["b", 1, 1.0, None, "z", "1", ["b"], 2],
        "t": [
            *("01/02/2020", "1900-01-01", "2300-01-01", None, "soon", pd.Timestamp("2020-12-31")),
            *("2020-03-01T10:00:00+02:00", date(2020, 3, 1)),
        ],
    }, dtype=object)  # fmt: skip
    together = coded_rows(columns, [frame[name] for name in frame])
    for row in range(len(frame)):
        alone = coded_rows(columns, [frame[name].iloc[[row]] for name in frame])
        np.testing.assert_array_equal(alone.codes[0], together.codes[row])
    numbers, words, days = (together.codes[:, place].tolist() for place in range(3))
    last = len(columns[0].labels) - 1
    assert (numbers[1], numbers[2], numbers[5], numbers[3], numbers[4]) == (0, last - 1, last - 1, last, last)
    assert words == [1, 0, 0, 2, 2, 0, 2, 2], "“1” and 1 are one option"
    assert days[3] == days[4] == len(columns[2].labels) - 1
    assert days[1] == 0
    assert days[6] == days[7] < days[2]
    assert days[0] == days[3]
    for column in columns:
        assert Declared.read(column.plain()) == column
        assert len(column.labels) == column.encoding.basis().shape[0]


@pytest.mark.parametrize(
    "declaration", ["text", (1,), (2, 1), ("a", "b"), (0, 1, "wide"), ["a"], ["a", "a"], (0, None), 3]
)
def test_declarations_that_say_nothing_are_refused(declaration) -> None:
    with pytest.raises(InvalidArgument):
        Declared.of("a", declaration)
