"""CSV files too large for memory: what is asked of them where they are, and a folder of Parquet made of them, against
DuckDB's own queries of the same files.

``python -m benchmarks.lines`` measures 10⁷ rows; ``--full`` takes 10⁸, which needs 3 GB of disk. Goals, in processor
seconds and in turn: at most 1.5 times DuckDB's own query, which is told the columns and takes the cells as quoted (and
twice for what a rule of two columns needs); to make Parquet, at most 3 times its own copy, which fails on the first
cell that does not fit; and 1 GB of memory, in processes of their own. Exits with 1 when a goal is missed.
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

from benchmarks.in_place import questions
from benchmarks.reading import peak
from dpcore.datasets.importing import import_csv
from dpcore.datasets.in_place import Form, open_lines

MOST_RATIO = {"options": 1.5, "histogram": 1.5, "together": 2.0, "sum": 1.5, "rows": 1.5, "import": 3.0}
MOST_MEMORY, REPEATS, IMPORTS = 1024.0, 5, 3
PART = 5_000_000
FORM = Form(columns=(("person", "integer"), ("ward", "text"), ("ill", "text"), ("age", "number")))
TYPES = "{'person': 'BIGINT', 'ward': 'VARCHAR', 'ill': 'BOOLEAN', 'age': 'DOUBLE'}"


def write(folder: Path, rows: int) -> None:
    with duckdb.connect(config={"threads": 2}) as made:
        made.execute("SET enable_progress_bar = false")
        made.execute("SELECT setseed(0.5)")
        for place in range(rows // PART):
            rows_of = (
                f"SELECT floor(random() * {rows // 4})::BIGINT AS person, "  # noqa: S608
                "'Ward ' || floor(random() * 40)::INTEGER AS ward, random() < 0.1 AS ill, "
                f"round(random() * 130 - 10, 1) AS age FROM range({PART})"
            )
            made.execute(f"COPY ({rows_of}) TO '{folder}/part-{place:03}.csv' (HEADER)")


def measure(folder: Path, to: Connection) -> None:
    """Ratios pair by pair, our processor seconds, and the largest memory of this process before DuckDB's own."""
    stored = open_lines(folder, FORM)
    source = _source(f"{folder}/*.csv")
    asked = questions(stored, source) | {"rows": (stored.rows, f"SELECT count(*) FROM {source}")}  # noqa: S608
    for ours, _ in asked.values():
        ours()
    memory = peak()
    own = duckdb.connect(config={"threads": 2})
    own.execute("SET enable_progress_bar = false")
    found: dict[str, tuple[float, float, float]] = {}
    for name, (ours, theirs) in asked.items():
        ratios, seconds, clock = [], [], []
        for _ in range(REPEATS):
            start = time.process_time()
            own.execute(theirs).fetchall()
            between, began = time.process_time(), time.perf_counter()
            ours()
            clock.append(time.perf_counter() - began)
            seconds.append(time.process_time() - between)
            ratios.append(seconds[-1] / (between - start))
        found[name] = statistics.median(ratios), statistics.median(seconds), statistics.median(clock)
    to.send((found, memory))


def measure_import(folder: Path, to: Connection) -> None:
    """As ``measure``, of one file made into Parquet."""
    source, made = folder / "part-000.csv", folder / "made"
    types = {"ill": "yes/no"} | {name: kind for name, kind in FORM.columns if kind != "text"}
    import_csv([source], made / "0", types=types)
    memory = peak()
    own = duckdb.connect(config={"threads": 2})
    own.execute("SET enable_progress_bar = false")
    copied = f"COPY (FROM {_source(source)}) TO '{made}/copied.parquet' (COMPRESSION zstd)"
    ratios, seconds, clock = [], [], []
    for turn in range(1, IMPORTS + 1):
        start = time.process_time()
        own.execute(copied)
        between, began = time.process_time(), time.perf_counter()
        import_csv([source], made / str(turn), types=types)
        clock.append(time.perf_counter() - began)
        seconds.append(time.process_time() - between)
        ratios.append(seconds[-1] / (between - start))
    to.send(({"import": (statistics.median(ratios), statistics.median(seconds), statistics.median(clock))}, memory))


def _source(files: Path | str) -> str:
    return f"read_csv('{files}', header = true, auto_detect = false, delim = ',', quote = '\"', columns = {TYPES})"


def _alone(
    work: Callable[[Path, Connection], None], folder: Path
) -> tuple[dict[str, tuple[float, float, float]], float]:
    """In a process of its own."""
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe(duplex=False)
    process = context.Process(target=work, args=(folder, there))
    process.start()
    there.close()  # so that its end is told where it fails
    found = here.recv()
    process.join()
    return found  # type: ignore[no-any-return]


def main(arguments: list[str]) -> int:
    rows = 10**8 if "--full" in arguments else 10**7
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        write(folder, rows)
        size = sum(file.stat().st_size for file in folder.iterdir()) / 2**20
        found, memory = _alone(measure, folder)
        (folder / "made").mkdir()
        imported, more = _alone(measure_import, folder)
    print(f"{rows:,} rows of CSV, {size:,.0f} MB, median of {REPEATS} pairs")
    found |= imported
    for name, (ratio, seconds, clock) in found.items():
        print(f"  {name:10} {clock:6.2f} s, {seconds:6.2f} of processor  {ratio:5.2f} × those of DuckDB's own query")
    print(f"  (import: of {PART:,} of the rows, {IMPORTS} pairs)")
    print(f"  most memory {memory:.0f} MB, while importing {more:.0f} MB")
    missed = sum(ratio > MOST_RATIO[name] for name, (ratio, *_) in found.items()) + (max(memory, more) > MOST_MEMORY)
    print("every goal met" if not missed else f"{missed} goals missed")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
