"""Rows made ready for training are bounded in bytes, whoever asks for whatever columns."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from dashboard.background import compute, held
from dashboard.case import Case, Source
from dashboard.questions.training import prepared_rows
from dashboard.words import predict as said
from dpcore.datasets import Column, Schema, Table, twin
from dpcore.errors import InvalidArgument
from dpcore.memory import Memory
from dpcore.weight import weight
from tests.questions.samples import sample_case

OPTIONS = tuple(f"o{place}" for place in range(20))
COLUMNS = tuple(f"c{place}" for place in range(5))


@pytest.fixture(scope="module")
def wide() -> Table:
    columns = [Column(name=name, type="category", categories=OPTIONS) for name in COLUMNS]
    schema = Schema(columns=(*columns, Column(name="yes", type="yes/no")))
    return twin(schema, rows=1_500, rng=np.random.Generator(np.random.PCG64(1)))


def asked(table: Table, large: Memory, **more: object) -> prepared_rows.Task:
    source = Source(key="own-x", title="t", mode="twin", table=table, lineage=None, practice=False)
    case = Case(source=source, epsilon=1.0, memo=Memory(100, room=1 << 30), large=large)
    return prepared_rows.prepared(case, "yes", COLUMNS, None, steps=True, **more)  # type: ignore[arg-type]


def test_other_pairs_of_columns_take_no_more_than_the_room(wide: Table) -> None:
    one = weight(asked(wide, Memory(1, room=1 << 30), pairs=(("c0", "c1"),)).rows)
    assert one > 1_500 * 400 * 8, "the rows as features are counted"
    room = Memory(100, room=3 * one)
    for pair in pairwise(COLUMNS):
        asked(wide, room, pairs=(pair,))
        assert room.bytes <= 3 * one
    assert 1 <= len(room) < 4


def test_what_takes_more_than_the_room_is_not_kept() -> None:
    room = Memory(100, room=1_000)
    for key in range(3):
        assert room((key,), lambda: np.zeros(200)).size == 200
    assert (len(room), room.bytes) == (0, 0)
    assert room(("small",), lambda: (np.zeros(10), {"a": [np.zeros(10)]}))[0].size == 10
    assert 160 < room.bytes < 1_000, "the arrays, and what they lie in"
    room.forget()
    assert room.bytes == 0


def test_rows_that_are_made_later_count_in_the_room_too() -> None:
    large = Memory(100, room=1 << 30)
    case = sample_case("town")
    columns = prepared_rows.usable(case.table.schema, prepared_rows.targets(case.table.schema)[0])
    target = prepared_rows.targets(case.table.schema)[0]
    task = prepared_rows.prepared(
        Case(source=case.source, epsilon=1.0, memo=Memory(100, room=1 << 30), large=large),
        target,
        columns,
        None,
        steps=True,
    )
    assert task.choosable is not None
    before = large.bytes
    first = task.choosable()
    assert large.bytes >= before + weight(first)
    assert task.choosable() is first, "made once"


def test_too_many_numbers_are_refused_before_they_are_made(wide: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prepared_rows, "MOST_NUMBERS", 1_500 * 300)
    made = Memory(10, room=1 << 30)
    asked(wide, made)
    with pytest.raises(InvalidArgument, match="choose fewer columns or pairs"):
        asked(wide, made, pairs=(("c0", "c1"),))
    assert len(made) == 1


def test_what_all_share_and_what_a_visitor_holds_are_bounded_in_bytes() -> None:
    most = 8 * prepared_rows.MOST_NUMBERS
    for memory in (compute.LARGE.memory, held.LARGE_MEMORY.once().memory):
        assert memory.room is not None
        assert most < memory.room <= 500 << 20


@pytest.mark.parametrize("most", [20_000, 1_000_000])
def test_where_pairs_of_columns_are_too_many_none_are_found_privately(
    most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A code for each row and pair of 498 columns of yes and no was 4.6 GB, and ended a server."""
    monkeypatch.setattr(prepared_rows, "MOST_NUMBERS", most)
    names = tuple(f"q{place}" for place in range(30))
    schema = Schema(columns=tuple(Column(name=name, type="yes/no") for name in (*names, "yes")))
    table = twin(schema, rows=100, rng=np.random.Generator(np.random.PCG64(1)))
    source = Source(key="own-x", title="t", mode="twin", table=table, lineage=None, practice=False)
    case = Case(source=source, epsilon=1.0, memo=Memory(100, room=1 << 30), large=Memory(9, room=1 << 30))
    task = prepared_rows.prepared(case, "yes", names, None, steps=True)
    assert task.few == (most > 100 * 435)
    assert (said.TOO_MANY_PAIRS in task.notes) != task.few
    assert (task.pairable is not None) == (task.choosable is not None) == (most > 200 * 435), "as for a stand-in"


@pytest.mark.parametrize("most", [100 * 39, 100 * 40])
def test_more_classes_than_are_made_ready_are_refused(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prepared_rows, "MOST_OF_CLASSES", most)
    options = tuple(f"o{place}" for place in range(40))
    columns = (Column(name="x", type="yes/no"), Column(name="kind", type="category", categories=options))
    table = twin(Schema(columns=columns), rows=100, rng=np.random.Generator(np.random.PCG64(1)))
    source = Source(key="own-x", title="t", mode="twin", table=table, lineage=None, practice=False)
    case = Case(source=source, epsilon=1.0, memo=Memory(100, room=1 << 30), large=Memory(9, room=1 << 30))
    if most < 100 * 40:
        with pytest.raises(InvalidArgument, match="has 40 different values"):
            prepared_rows.prepared(case, "kind", ("x",), None, steps=True, apart=True)
    else:
        assert prepared_rows.prepared(case, "kind", ("x",), None, steps=True, apart=True).features.outputs == 40
