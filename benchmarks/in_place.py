"""Tables that stay where they are: the first aggregate of a folder of Parquet files against DuckDB's own GROUP BY.

``python -m benchmarks.in_place`` measures 10⁷ rows; ``--full`` takes 10⁸, which needs about 1 GB of disk and some
minutes to write. Goals: at most 1.5 times DuckDB's own query of the same files in the same run, and 1 GB of memory,
in a process of its own. Exits with 1 when a goal is missed.
"""

from __future__ import annotations

import multiprocessing
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
from pyarrow import parquet as pq

from benchmarks.reading import peak
from dpcore.datasets import Column, Declaration
from dpcore.datasets.in_place import InPlace, open_folder
from dpcore.datasets.in_place.private import OpenSource
from dpcore.validate import FloatArray

MOST_RATIO = 1.5  # of each question; the sum and the histogram also leave out what is not finite
MOST_MEMORY, REPEATS = 1024.0, 5
PART = 5_000_000
WARDS = tuple(f"Ward {number}" for number in range(40))


def write(folder: Path, rows: int) -> None:
    rng = np.random.Generator(np.random.PCG64(2))
    for place in range(rows // PART):
        table = pa.table(
            {
                "person": pa.array(rng.integers(0, rows // 4, PART)),
                "ward": pa.DictionaryArray.from_arrays(rng.integers(0, 40, PART).astype(np.int32), list(WARDS)),
                "ill": pa.array(rng.random(PART) < 0.1),
                "age": pa.array(rng.normal(45, 20, PART).round(1)),
            }
        )
        pq.write_table(table, folder / f"part-{place:03}.parquet")


def questions(stored: InPlace, source: str) -> dict[str, tuple[Callable[[], object], str]]:
    """What is asked of a table in place, and the same of its ``source`` in DuckDB's own words."""
    ward = Column(name="ward", type="category", categories=WARDS)
    age = Column(name="age", type="number", low=0, high=120)
    ill, cuts = Column(name="ill", type="yes/no"), np.arange(6.0, 120.0, 6.0)
    looks: dict[str, FloatArray | None] = {"ward": None, "age": cuts}
    reached = "CASE " + " ".join(f"WHEN age < {cut} THEN {place}" for place, cut in enumerate(cuts)) + " ELSE 19 END"
    rule = OpenSource(stored, Declaration(columns=(ward, age, ill)).reads("ward", "age", "ill"))
    return {
        "options": (lambda: stored.counts(ward), f"SELECT ward, count(*) FROM {source} GROUP BY ward"),  # noqa: S608
        "histogram": (
            lambda: stored.histogram(age, 120),
            f"SELECT floor(least(greatest(age, 0), 120))::INTEGER, count(*) FROM {source} GROUP BY 1",  # noqa: S608
        ),
        "together": (
            lambda: rule.crossed("ill", looks),
            f"SELECT ward, NULL, ill, count(*) FROM {source} GROUP BY ward, ill UNION ALL "  # noqa: S608
            f"SELECT NULL, {reached} AS a, ill, count(*) FROM {source} GROUP BY a, ill",
        ),
        "sum": (lambda: stored.total(age), f"SELECT sum(least(greatest(age, 0), 120)), count(*) FROM {source}"),  # noqa: S608
    }


def measure(folder: Path, to: Connection) -> None:
    """Ratios pair by pair, and the largest memory of this process."""
    asked = questions(open_folder(folder), f"read_parquet('{folder}/**/*.parquet')")
    plain = duckdb.connect(config={"threads": 2, "memory_limit": "800MB"})  # with all that makes it quicker
    found: dict[str, tuple[float, float]] = {}
    for name, (ours, theirs) in asked.items():
        ratios, seconds = [], []
        for _ in range(REPEATS):
            start = time.perf_counter()
            plain.execute(theirs).fetchall()
            between = time.perf_counter()
            ours()
            seconds.append(time.perf_counter() - between)
            ratios.append(seconds[-1] / (between - start))
        found[name] = statistics.median(ratios), statistics.median(seconds)
    to.send((found, peak()))


def main(arguments: list[str]) -> int:
    rows = 10**8 if "--full" in arguments else 10**7
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        write(folder, rows)
        context = multiprocessing.get_context("spawn")
        here, there = context.Pipe(duplex=False)
        process = context.Process(target=measure, args=(folder, there))
        process.start()
        found, memory = here.recv()
        process.join()
    print(f"{rows:,} rows of Parquet, median of {REPEATS} pairs")
    for name, (ratio, seconds) in found.items():
        print(f"  {name:10} {seconds:6.2f} s  {ratio:5.2f} × DuckDB's own query")
    print(f"  most memory {memory:.0f} MB")
    missed = sum(ratio > MOST_RATIO for ratio, _ in found.values()) + (memory > MOST_MEMORY)
    print("every goal met" if not missed else f"{missed} goals missed")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
