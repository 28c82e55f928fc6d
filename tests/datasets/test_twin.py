"""A twin follows the declaration and nothing else: the values of the file cannot reach it."""

from __future__ import annotations

import builtins
import inspect
import io
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from dpcore.datasets import Column, Relation, Schema, completed_from, sample, twin
from dpcore.errors import InvalidArgument

TOWN = sample("town").schema


class Untouchable(io.RawIOBase):
    """A file whose bytes, and a frame whose cells, raise when touched."""

    def _raise(self, *args: object, **options: object) -> object:
        raise AssertionError("the file was touched")

    read = readinto = readall = readline = seek = tell = getvalue = __iter__ = __len__ = __getitem__ = _raise  # type: ignore[assignment]


def make(rows: int = 2000, seed: int = 3, **options: object) -> pd.DataFrame:
    return twin(TOWN, rows=rows, rng=np.random.default_rng(seed), **options).frame  # type: ignore[arg-type]


def test_a_twin_has_no_way_to_the_values(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its arguments hold no data (a declaration, a size, a generator, statements, a look between columns), and while
    it runs, every way of reading a file raises: the uploaded file itself, open(), and pandas' and our own readers."""
    assert set(inspect.signature(twin).parameters) == {"schema", "rows", "rng", "relations", "turn"}
    import dpcore.datasets.reading as reading

    uploaded = Untouchable()
    for owner, name in (
        (builtins, "open"), (Path, "open"), (Path, "read_bytes"), (pd, "read_csv"), (pd, "read_parquet"),
        (pd.DataFrame, "__getitem__"), (reading, "read_csv"),
    ):  # fmt: skip
        monkeypatch.setattr(owner, name, uploaded._raise)
    table = twin(TOWN, rows=500, rng=np.random.default_rng(1))
    monkeypatch.undo()
    assert table.rows == 500
    with pytest.raises(AssertionError, match="touched"):
        uploaded.read()


def test_bounds_and_categories_read_from_the_file_are_refused() -> None:
    """They would carry the file's values into the twin by the back door."""
    read = completed_from(Schema(columns=(Column(name="x", type="number"),)), pd.DataFrame({"x": ["1", "2"]}))
    with pytest.raises(InvalidArgument, match="declared by a person"):
        twin(read, rows=10, rng=np.random.default_rng(0))


def test_a_twin_follows_the_declaration() -> None:
    frame = make()
    assert tuple(frame.columns) == TOWN.names
    for column in TOWN.columns:
        if column.is_numeric:
            assert frame[column.name].min() >= column.low
            assert frame[column.name].max() <= column.high
        if column.type == "category":
            assert tuple(frame[column.name].cat.categories) == column.categories
    clinic = sample("clinic").schema
    dated = twin(clinic, rows=300, rng=np.random.default_rng(2)).frame["day"]
    assert dated.is_monotonic_increasing
    assert dated.min().date() >= clinic.column("day").earliest
    assert dated.max().date() <= clinic.column("day").latest


def test_a_twin_repeats_with_its_seed_and_its_fingerprint_tells_seeds_apart() -> None:
    one, same, other = (twin(TOWN, rows=50, rng=np.random.default_rng(seed)) for seed in (1, 1, 2))
    assert one.frame.equals(same.frame)
    assert one.fingerprint == same.fingerprint != other.fingerprint
    assert one.lineage == "twin"


def test_a_stated_relation_holds() -> None:
    """About 30 % yes, more with age: the share is exact to a row, and the older half has clearly more."""
    stated = Relation(target="condition", share=0.3, driver="age", strength=0.6)
    frame = make(relations=(stated,))
    assert frame["condition"].mean() == pytest.approx(0.3, abs=1 / 2000)
    older = frame["age"] >= frame["age"].median()
    assert frame["condition"][older].mean() > 2 * frame["condition"][~older].mean()
    less = make(relations=(Relation(target="condition", share=0.3, driver="age", direction="less", strength=0.6),))
    assert less["condition"][less["age"] >= less["age"].median()].mean() < 0.3
    income = make(relations=(Relation(target="income", driver="age", strength=0.5),))
    assert np.corrcoef(income["age"].astype(float), income["income"].astype(float))[0, 1] > 0.5
    free = make()
    # Without a relation the correlation of 2,000 rows has standard error 0.022.
    assert abs(np.corrcoef(free["age"].astype(float), free["income"].astype(float))[0, 1]) < 0.09
    job = make(relations=(Relation(target="occupation", share=0.4),))
    # The share of the first category is a mean of 2,000 draws: standard error 0.011.
    assert (job["occupation"] == "Care").mean() == pytest.approx(0.4, abs=0.045)


@pytest.mark.parametrize(
    "relation",
    [
        {"target": "nothing"},
        {"target": "condition", "driver": "nothing"},
        {"target": "condition", "share": 1.5},
        {"target": "condition", "strength": -0.1},
        {"target": "condition", "direction": "up"},
        {"target": "condition", "driver": "condition"},
    ],
)
def test_wrong_relations_are_refused(relation: dict[str, object]) -> None:
    with pytest.raises(InvalidArgument):
        make(relations=(Relation(**relation),))  # type: ignore[arg-type]


def test_what_is_not_declared_is_asked_for() -> None:
    for column in (
        Column(name="x", type="number", low=0),
        Column(name="x", type="category"),
        Column(name="x", type="date"),
    ):
        with pytest.raises(InvalidArgument, match="schema"):
            twin(Schema(columns=(column,)), rows=5, rng=np.random.default_rng(0))
    with pytest.raises(InvalidArgument, match="rows"):
        twin(TOWN, rows=0, rng=np.random.default_rng(0))


@pytest.mark.parametrize(("low", "high"), [(0.0, 1e19), (-1e19, -1.0), (-1e30, 1e30), (2.0**62, 2.0**63)])
def test_whole_numbers_of_a_twin_lie_within_bounds_that_64_bits_do_not_hold(low: float, high: float) -> None:
    """They went round to the least number there is, far below what was declared."""
    schema = Schema(columns=(Column(name="n", type="integer", low=low, high=high),), unit="person")
    values = twin(schema, rows=2_000, rng=np.random.Generator(np.random.PCG64(1))).frame["n"]
    assert low <= int(values.min()) <= int(values.max()) <= high
