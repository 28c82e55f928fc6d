"""What the footer of an uploaded Parquet file says of the values decides nothing: each cell is read by itself."""

from __future__ import annotations

import io
from math import inf, nan
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dpcore.datasets import Column, Declaration, read_table
from dpcore.datasets.reading import engine
from dpcore.releases.count import NoisyCount
from tests.datasets.test_in_place_footers import lie, table

pytestmark = pytest.mark.usefixtures("one_connection")
ODD = (1e300, -1e300, inf, -inf, nan, 9e15, 9.5e15, -9.5e15, 1.5, 0.0, -0.0, 5e-324, None)
KINDS = (pa.float64(), pa.float32(), pa.float16())


def rows(odd: tuple[float | None, ...], kind: pa.DataType) -> bytes:
    """Numbers and cells that are none, and behind them one more row, or none."""
    stream = io.BytesIO()
    with np.errstate(over="ignore"):
        cells = pa.array([*[1.0, 2.0, nan] * 20, *odd], pa.float64())
    pq.write_table(pa.table({"dose": cells.cast(kind, safe=False)}), stream)
    return stream.getvalue()


def moved(kind: pa.DataType) -> list[float | None]:
    """The odd rows by which another one's cell is read as something else, or counts."""
    count = NoisyCount.of(Declaration(columns=(Column(name="dose", type="number", low=0, high=9),)), epsilon=1.0)
    alone = read_table(rows((), kind))
    cells, counted = alone.frame["dose"].tolist(), int(np.sum(count.read(alone.private)))
    found = []
    for odd in ODD:
        beside = read_table(rows((odd,), kind))
        more = int(np.sum(count.read(beside.private))) - counted
        if beside.frame["dose"].tolist()[: len(cells)] != cells or more not in (0, 1):
            found.append(odd)
    return found


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_one_number_decides_of_no_other_cell(kind: pa.DataType) -> None:
    assert moved(kind) == []


def test_what_lies_in_the_footer_changes_no_cell(tmp_path: Path) -> None:
    lie(tmp_path / "lying.parquet", none_missing=False)
    pq.write_table(table(1), tmp_path / "silent.parquet", write_statistics=False, use_dictionary=False)
    lying, silent = (read_table((tmp_path / f"{name}.parquet").read_bytes()) for name in ("lying", "silent"))
    assert lying.frame.equals(silent.frame)


def test_a_reader_that_believes_footers_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "BELIEVING", ())
    monkeypatch.setattr(engine, "_SHARED", type(engine._SHARED)("alone", default=None))
    assert inf in moved(pa.float64())
