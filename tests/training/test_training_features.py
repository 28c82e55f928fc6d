"""From tables to rows: everyone in the unit ball, and one sentence for everything no model can be trained on."""

from __future__ import annotations

from datetime import date

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpcore.datasets import Column, Schema, apply
from dpcore.errors import InvalidArgument
from dpcore.training import Encoding, Features, StatisticalQueries, accuracy

COLUMNS = (
    Column(name="age", type="integer", low=0, high=100),
    Column(name="height", type="number", low=1.0, high=2.2),
    Column(name="job", type="category", categories=("office", "farm", "school")),
    Column(name="smokes", type="yes/no"),
    Column(name="since", type="date", earliest=date(2000, 1, 1), latest=date(2020, 1, 1)),
    Column(name="note", type="text"),
    Column(name="ill", type="yes/no"),
)


def table(n: int = 60, columns=COLUMNS, **changed):
    """A table of n rows, as text like from a file, with some columns replaced by lists."""
    rng = np.random.Generator(np.random.SFC64(8))
    cells = {
        "age": rng.integers(0, 101, n).astype(str),
        "height": rng.uniform(1.0, 2.2, n).round(3).astype(str),
        "job": rng.choice(["office", "farm", "school"], n),
        "smokes": rng.choice(["yes", "no"], n),
        "since": [f"20{k % 20:02d}-0{k % 9 + 1}-11" for k in range(n)],
        "note": ["said something"] * n,
        "ill": np.resize(["yes", "no", "no"], n),
    } | changed
    frame = pd.DataFrame({name: [str(cell) for cell in values] for name, values in cells.items()})
    return apply(Schema(columns=columns), frame).table(fingerprint="f", lineage="l")


def with_column(column: Column) -> tuple[Column, ...]:
    return tuple(column if old.name == column.name else old for old in COLUMNS)


def refusal(run, argument: str) -> str:
    with pytest.raises(InvalidArgument) as caught:
        run()
    assert caught.value.argument == argument
    message = str(caught.value)
    assert "\n" not in message
    assert 20 < len(message) < 220
    return message


def test_rows_are_in_the_unit_ball_by_public_constants() -> None:
    """Text is left out, one-hot and scaled columns and the intercept are divided by √(columns + 1)."""
    data = table()
    features = Features.of(data.schema, target="ill")
    assert [column.name for column in features.columns] == ["age", "height", "job", "smokes", "since"]
    assert features.names == (
        *("age", "height", "job: office", "job: farm", "job: school", "smokes", "since", "intercept"),
    )
    ready = features.prepare(data)
    assert ready.X.shape == (60, 8)
    assert np.linalg.norm(ready.X, axis=1).max() <= 1.0
    assert features.scale == np.sqrt(6)
    np.testing.assert_array_equal(ready.y, np.where(data.frame["ill"], 1.0, -1.0))
    low, high = features.bounds
    assert (np.array(low) - 1e-12 <= ready.X).all()
    assert (np.array(high) + 1e-12 >= ready.X).all()
    assert ready.notes == ()


@settings(max_examples=60, deadline=None)
@given(
    number=st.floats(allow_nan=True, allow_infinity=True),
    word=st.text(max_size=8),
    truth=st.one_of(st.booleans(), st.none(), st.text(max_size=4)),
)
def test_any_record_is_in_the_unit_ball(number, word, truth) -> None:
    """Whatever a cell holds: infinities are moved to a bound, unknown words count as none of the categories."""
    features = Features.of(Schema(columns=COLUMNS), target="ill")
    values = {"age": number, "height": -number, "job": word, "smokes": truth, "since": word}
    row = features.rows([column.plain([values[column.name]]) for column in features.columns])
    assert np.linalg.norm(row) <= 1.0 + 1e-12


def test_typed_and_plain_values_give_the_same_rows() -> None:
    data = table()
    features = Features.of(data.schema, target="ill")
    typed = features.rows([column.typed(data.frame[column.name]) for column in features.columns])
    plain = features.rows([column.plain(data.frame[column.name].tolist()) for column in features.columns])
    np.testing.assert_allclose(plain, typed, atol=1e-12)


def test_a_number_to_predict_and_back() -> None:
    features = Features.of(Schema(columns=COLUMNS), target="height", columns=["age"])
    assert not features.two_classes
    ready = features.prepare(table())
    assert np.abs(ready.y).max() <= 1.0
    np.testing.assert_allclose(features.target.unscaled(np.array([-1.0, 0.0, 1.0, 7.0])), [1.0, 1.6, 2.2, 2.2])


def test_one_category_against_the_rest() -> None:
    features = Features.of(Schema(columns=COLUMNS), target="job", columns=["age"], positive="farm")
    data = table()
    np.testing.assert_array_equal(features.prepare(data).y > 0, data.frame["job"] == "farm")
    assert "category" in refusal(lambda: Features.of(data.schema, target="job", columns=["age"]), "positive")
    no = Features.of(data.schema, target="ill", columns=["age"], positive="no")
    np.testing.assert_array_equal(no.prepare(data).y > 0, ~data.frame["ill"].astype(bool))


def test_rows_with_missing_values_stay_out_and_are_counted() -> None:
    data = table(
        age=["" if k < 3 else str(k) for k in range(60)],
        ill=["" if k == 10 else ["yes", "no"][k % 2] for k in range(60)],
    )
    ready = Features.of(data.schema, target="ill").prepare(data)
    assert (ready.n, ready.incomplete, ready.without_answer) == (56, 3, 1)
    assert len(ready.notes) == 2
    assert ready.notes[0].startswith("1 row has no value")


def test_the_target_among_the_features() -> None:
    message = refusal(lambda: Features.of(Schema(columns=COLUMNS), target="ill", columns=["age", "ill"]), "columns")
    assert "the column to predict" in message


def test_a_constant_column() -> None:
    data = table(age=["40"] * 60)
    assert "same value in every row" in refusal(lambda: Features.of(data.schema, target="ill").prepare(data), "columns")
    one = with_column(Column(name="job", type="category", categories=("office",)))
    message = refusal(lambda: Features.of(Schema(columns=one), target="ill", columns=["job"]), "columns")
    assert "only one category" in message


def test_one_class() -> None:
    data = table(ill=["no"] * 60)
    assert "only one class" in refusal(lambda: Features.of(data.schema, target="ill").prepare(data), "target")
    number = table(height=["1.5"] * 60)
    features = Features.of(number.schema, target="height", columns=["age"])
    assert "same value" in refusal(lambda: features.prepare(number), "target")


def test_ten_thousand_categories() -> None:
    many = tuple(f"street {k}" for k in range(10_000))
    schema = Schema(columns=with_column(Column(name="job", type="category", categories=many)))
    message = refusal(lambda: Features.of(schema, target="ill", columns=["job"]), "columns")
    assert "10,000 categories" in message
    assert "group them" in message
    assert "choose another" in refusal(lambda: Features.of(schema, target="job", positive="street 1"), "target")


def test_too_many_features_in_all() -> None:
    wide = tuple(
        Column(name=f"c{k}", type="category", categories=tuple(str(word) for word in range(400))) for k in range(6)
    )
    schema = Schema(columns=(*wide, COLUMNS[-1]))
    assert "2,401 features" in refusal(lambda: Features.of(schema, target="ill"), "columns")


def test_missing_labels() -> None:
    data = table(ill=[""] * 60)
    assert "no value in any row" in refusal(lambda: Features.of(data.schema, target="ill").prepare(data), "target")


def test_more_features_than_rows() -> None:
    words = tuple(f"w{k}" for k in range(40))
    data = table(
        30, with_column(Column(name="job", type="category", categories=words)), job=[words[k] for k in range(30)]
    )
    features = Features.of(data.schema, target="ill", columns=["job"])
    assert "more than the 30 rows" in refusal(lambda: features.prepare(data), "columns")


def test_a_handful_of_rows() -> None:
    data = table(12)
    assert "12 rows" in refusal(lambda: Features.of(data.schema, target="ill").prepare(data), "columns")


def test_text_declared_as_a_number() -> None:
    data = table(age=["forty"] * 60)
    message = refusal(lambda: Features.of(data.schema, target="ill").prepare(data), "columns")
    assert "none of its cells is a number" in message
    text = refusal(lambda: Features.of(data.schema, target="ill", columns=["note"]), "columns")
    assert "free text" in text
    assert "free text" in refusal(lambda: Features.of(data.schema, target="note", columns=["age"]), "target")


def test_bounds_that_are_not_declared() -> None:
    schema = Schema(columns=with_column(Column(name="age", type="integer")))
    assert "lowest and highest" in refusal(lambda: Features.of(schema, target="ill", columns=["age"]), "columns")
    assert "lowest and highest" in refusal(lambda: Features.of(schema, target="age", columns=["job"]), "target")
    days = Schema(columns=with_column(Column(name="since", type="date")))
    assert "first and last" in refusal(lambda: Features.of(days, target="ill", columns=["since"]), "columns")
    assert "age" not in [column.name for column in Features.of(schema, target="ill").columns]


def test_nothing_to_predict_from_and_columns_named_twice() -> None:
    schema = Schema(columns=COLUMNS)
    assert "at least one column" in refusal(lambda: Features.of(schema, target="ill", columns=[]), "columns")
    assert "different" in refusal(lambda: Features.of(schema, target="ill", columns=["age", "age"]), "columns")
    refusal(lambda: Encoding(name="x", kind="number", low=2.0, high=2.0), "columns")


def test_naive_bayes_uses_the_public_bounds(rng) -> None:
    """With almost no noise it finds what one-hot columns say, prior included: here 3 of 4 classes' rows."""
    n = 2000
    jobs = rng.choice(["office", "farm", "school"], n, p=[0.5, 0.3, 0.2])
    ill = np.where(rng.random(n) < np.select([jobs == "farm", jobs == "school"], [0.9, 0.2], 0.1), "yes", "no")
    data = table(n, job=jobs, ill=ill)
    features = Features.of(data.schema, target="ill", columns=["job"])
    ready = features.prepare(data)
    low, high = features.bounds
    fit = StatisticalQueries(epsilon=1000.0, low=low, high=high, intercept=True).fit(ready.X, ready.y, rng, 3)
    best = ((jobs == "farm") == (ill == "yes")).mean()
    np.testing.assert_allclose(accuracy(fit, ready.X, ready.y), best)
