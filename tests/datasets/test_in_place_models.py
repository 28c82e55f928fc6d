"""A model of a source's rows: what it is drawn from is that of rows in memory, read once and a part at a time."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dpcore.audit.interference import check
from dpcore.audit.sources import question
from dpcore.datasets import Declaration, PrivateRows
from dpcore.datasets.in_place import PrivateSource, private
from dpcore.datasets.in_place.row_batches import placed_rows
from dpcore.errors import BudgetExceeded, InvalidArgument, ReleaseRefused, UnreadableFile
from dpcore.ledger import Ledger
from dpcore.release import COUNTS_ALONE, FAILED, release
from dpcore.releases import scaled_model, whole_classes, whole_codes
from dpcore.releases.model import PrivateModel
from dpcore.releases.scaled_model import ScaledModel
from dpcore.releases.whole_codes import clip_units, scale_units
from dpcore.training import load_model
from tests.datasets.test_in_place_private import (
    AGE,
    DAY,
    DECLARED,
    ILL,
    SHARE,
    WARD,
    WHO,
    in_folder,
    in_lines,
    in_sqlite,
    visits,
)

Make = Callable[[Path, pd.DataFrame], PrivateSource]
FILLED = replace(
    DECLARED,
    columns=(
        *(replace(WARD, fill="West"), replace(ILL, fill="yes"), replace(DAY, fill="2024-01-05")),
        *(replace(AGE, fill=40.0), replace(SHARE, fill=0.25)),
    ),
)
WHOSE = replace(DECLARED, columns=(*DECLARED.columns, WHO), id_column="who", rows_per_person=50)


def model(declared: Declaration, target: str, **how: Any) -> ScaledModel:
    columns = [name for name in ("ward", "ill", "day", "age", "share") if name != target]
    return ScaledModel.of(
        declared, target=target, columns=columns, epsilon=1.0, delta=1e-6, pairs=[columns[:2], columns[2:4]], **how
    )


ASKED = (
    model(DECLARED, "ill"),
    model(FILLED, "ward", positive="So'uth"),
    model(DECLARED, "ward", apart=True),
    model(FILLED, "age"),
    model(WHOSE, "share"),
)


@pytest.mark.thorough
@pytest.mark.parametrize("make", [in_folder, in_lines, in_sqlite])
def test_a_model_is_drawn_from_the_same_numbers_as_of_rows_in_memory(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Counts, clipped gradient sums and cells, whole number by whole number; parts of 64 rows, batches of 50."""
    frame = visits(230)
    stored, held = make(tmp_path, frame), PrivateRows(frame.astype("str").where(frame.notna(), ""))
    for kind in (whole_codes.WholeCodes, whole_classes.WholeClasses):
        monkeypatch.setattr(kind, "at_once", 64)
    monkeypatch.setattr(scaled_model, "BATCH", 50)
    rng = np.random.Generator(np.random.PCG64(1))
    for asked in ASKED:
        asked.probe(stored)
        there, here = asked.read(stored), asked.read(held)
        assert there.rows == here.rows > 100, asked.what
        assert there.counts().tolist() == here.counts().tolist(), asked.what
        assert there._codes.size == 0  # none of its rows are held
        outputs = asked.features.outputs
        weights = rng.standard_normal((here.d, outputs) if asked.features.apart else here.d)
        scales = scale_units(rng.uniform(0.5, 3.0, here.d))
        sums = [one.sums(weights, scales, clip_units(0.1)) for one in (there, here)]
        apart = np.abs(sums[0] - sums[1]).max()
        # a number is the nearest of 2²¹ parts there and rounded towards 0 here: a unit of slope for each row at most
        assert apart <= (0 if asked.features.classifies else scales.max() * here.rows)
        assert np.abs(sums[1]).max() > 10**6
        if asked.features.classifies:
            assert there.cells(weights).tolist() == here.cells(weights).tolist()
        assert there.most_ones == here.most_ones


def test_every_step_sees_the_rows_of_one_moment(tmp_path: Path) -> None:
    stored, asked = in_sqlite(tmp_path, visits(90)), model(DECLARED, "ill")
    ready = asked.read(stored)
    before = ready.counts()
    with closing(sqlite3.connect(tmp_path / "clinic.db")) as connection, connection:
        connection.execute("DELETE FROM visits WHERE ill = 1")
    assert ready.counts().tolist() == before.tolist() != asked.read(stored).counts().tolist()


def test_more_rows_of_a_person_than_count_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def all_of_them(stored: Any, cells: Any, whose: object, *, of_none: bool) -> Any:
        return placed_rows(stored, cells, None, of_none=of_none)

    monkeypatch.setattr(private, "placed_rows", all_of_them)
    asked = question("model on steps, counted, two rows by who, in place")
    assert not check(asked, most=0, from_bytes=0, every=4, ask=asked.ask).good


def test_it_is_paid_before_a_row_is_read_and_drawn_later_for_that_charge(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("rows", "other"):
        (tmp_path / name).mkdir()
    stored, asked = in_folder(tmp_path / "rows", visits(300)), replace(model(DECLARED, "ill"), steps=5)
    read = private.OpenSource.row_batches
    with Ledger.open(f"sqlite:///{tmp_path / 'ledger.db'}", journal=tmp_path / "journal") as ledger:
        ledger.open_budget("configured:a", epsilon=2.0, delta=1e-5)
        ledger.open_budget("configured:b", epsilon=2.0)
        with pytest.raises(BudgetExceeded):
            release(ledger, "no delta", "configured:b", asked, stored)
        linear = PrivateModel.of(DECLARED, target="ill", columns=["age"], epsilon=1.0, delta=1e-6)
        with pytest.raises(ReleaseRefused, match=COUNTS_ALONE):
            release(ledger, "held rows", "configured:a", linear, stored)
        day = model(DECLARED, "day")
        assert not day.in_batches
        with pytest.raises(ReleaseRefused, match=COUNTS_ALONE):
            release(ledger, "a day", "configured:a", day, stored)
        gone = in_folder(tmp_path / "other", visits(9).drop(columns="ward"))
        with pytest.raises((UnreadableFile, ReleaseRefused), match="no longer"):
            release(ledger, "gone", "configured:a", asked, gone)
        assert ledger.budget("configured:a").remaining.epsilon == 2.0

        def broken(self: Any, places: Any, size: int, *, of_none: bool = False) -> Iterator[Any]:
            yield from read(self, places, size, of_none=of_none)
            if not of_none:
                raise UnreadableFile("The source went away at canary.")

        monkeypatch.setattr(private.OpenSource, "row_batches", broken)
        with pytest.raises(ReleaseRefused) as caught:
            release(ledger, "one", "configured:a", asked, stored)
        assert str(caught.value) == FAILED
        charged = ledger.budget("configured:a").remaining.epsilon
        assert charged < 2.0
        monkeypatch.setattr(private.OpenSource, "row_batches", read)
        receipt = release(ledger, "one", "configured:a", asked, stored)
        assert ledger.budget("configured:a").remaining.epsilon == charged
    found = load_model(receipt.answer)
    assert found.features == asked.features
    assert found.predict([{"ward": "North", "ill": None, "day": "2024-01-03", "age": 30, "share": 1.0}])[0] in (
        "no",
        "yes",
    )


def test_before_the_charge_no_row_is_given(tmp_path: Path) -> None:
    stored = in_sqlite(tmp_path, visits(40))
    for asked in ASKED:
        wanted = scaled_model.places(asked.features)
        assert sum(len(rows) for rows in stored.opened(asked.reads).row_batches(wanted, 9, of_none=True)) == 0
        sizes = [len(rows) for rows in stored.opened(asked.reads).row_batches(wanted, 9)]
        assert max(sizes) == 9
        assert sum(sizes) <= 40
    held = PrivateRows(visits(3).astype("str"))
    for look in (held.row_batches, held.probe):
        with pytest.raises(InvalidArgument, match="are held here"):
            look(ASKED[0].reads, wanted, *((9,) if look == held.row_batches else ()))
