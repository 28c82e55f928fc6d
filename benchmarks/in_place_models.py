"""A private model of a source's rows: processor seconds for each million rows, and the most memory, as rows grow.

``python -m benchmarks.in_place_models`` trains on 10⁶ and 4·10⁶ rows of Parquet, ``--full`` on 10⁷ too. Each is a
process of its own. Goals: memory that does not follow the rows (at most 100 MB more for four times as many), and at
most 1 GB. Exits with 1 when a goal is missed.
"""

from __future__ import annotations

import multiprocessing
import sys
import tempfile
import time
from multiprocessing.connection import Connection
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import parquet as pq

from benchmarks.reading import peak
from dpcore.datasets import Column, Declaration
from dpcore.datasets.in_place import PrivateSource, open_folder
from dpcore.releases.scaled_model import ScaledModel

MOST_MORE, MOST_MEMORY = 100.0, 1024.0
PART = 500_000
WARDS = tuple(f"Ward {number}" for number in range(40))
DECLARED = Declaration(
    columns=(
        Column(name="ward", type="category", categories=WARDS),
        Column(name="ill", type="yes/no"),
        *(Column(name=name, type="number", low=0, high=120) for name in ("age", "wait", "cost")),
    )
)


def write(folder: Path, rows: int) -> None:
    rng = np.random.Generator(np.random.PCG64(2))
    for place in range(rows // PART):
        age = rng.normal(45, 20, PART).round(1)
        table = pa.table(
            {
                "ward": pa.DictionaryArray.from_arrays(rng.integers(0, 40, PART).astype(np.int32), list(WARDS)),
                "ill": pa.array(rng.random(PART) < 0.1 + 0.005 * np.clip(age, 0, 90)),
                "age": pa.array(age),
                "wait": pa.array(rng.exponential(20, PART).round(1)),
                "cost": pa.array(rng.uniform(0, 120, PART)),
            }
        )
        pq.write_table(table, folder / f"part-{place:03}.parquet")


def measure(folder: Path, to: Connection) -> None:
    """Processor seconds of reading and of training, and the largest memory of this process."""
    asked = ScaledModel.of(
        DECLARED, target="ill", columns=["ward", "age", "wait", "cost"], epsilon=1.0, delta=1e-7
    )  # 200 steps
    stored = open_folder(folder)
    start = time.process_time()
    ready = asked.read(PrivateSource(lambda: stored))
    between = time.process_time()
    asked.draw(ready)
    to.send((between - start, time.process_time() - between, peak()))


def main(arguments: list[str]) -> int:
    sizes = [10**6, 4 * 10**6, *([10**7] if "--full" in arguments else [])]
    context, memory = multiprocessing.get_context("spawn"), []
    for rows in sizes:
        with tempfile.TemporaryDirectory() as made:
            write(Path(made), rows)
            here, there = context.Pipe(duplex=False)
            process = context.Process(target=measure, args=(Path(made), there))
            process.start()
            reading, training, most = here.recv()
            process.join()
        memory.append(most)
        each = rows / 10**6
        print(
            f"{rows:12,} rows  {reading / each:5.2f} s to read and {training / each:6.2f} s to train for each million, "
            f"{most:5.0f} MB"
        )
    missed = (memory[1] > memory[0] + MOST_MORE) + (max(memory) > MOST_MEMORY)
    print("every goal met" if not missed else f"{missed} goals missed")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
