"""How long and how much memory a file takes, each in a process of its own: ``python -m benchmarks.reading``.

Goals, in DuckDB's own read with one count in the same run: 10⁶ rows × 10 columns up to the first aggregate, with all
columns understood, at most 1.2 of its processor seconds and 1.2 of its time (in turn, five times, the median); 600,000
rows with timestamps at most 2; the longest time without a look whether to stop, at most 1 read of the 10⁶ rows; every
file of the case table, at most 6 of them. And 1 GB of memory; the first word about progress within half a second; other
people's reruns at most 1.5 times as long while five such files are read (``benchmarks.visitors``); every file of the
case table read by the fast ways and the careful ones alike. Beside it Python's csv module alone reads the same bytes
into lists. Exits with 1 when a goal is missed.
"""

from __future__ import annotations

import csv
import io
import multiprocessing
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path

import duckdb
import numpy as np

from benchmarks.visitors import FILES, slowed
from benchmarks.yardsticks import Goals
from dpcore.datasets import UnreadableFile, read_csv, read_table
from tests.datasets.cases import CASES
from tests.datasets.test_fast_reading import careful, fast, outcome

CASE, MEMORY, RATIO, TIMESTAMPS, STOP = 6.0, 1024.0, 1.2, 2.0, 1.0  # reads by DuckDB, MB, reads, reads, reads
SLOWED, FIRST_WORD, TURNS = 1.5, 0.5, 5


def million() -> bytes:
    """10⁶ rows of ten columns of every kind."""
    rng = np.random.Generator(np.random.PCG64(1))
    size = 10**6
    days = [f"{day:02}/{month:02}/2024" for day in range(1, 29) for month in range(1, 13)]
    parts = [
        np.arange(size).astype(str),
        rng.integers(0, 100, size).astype(str),
        rng.choice(["Ann", "Bob", '"Cy, the 2nd"', "Dee"], size),
        np.char.mod("%.4f", rng.normal(size=size)),
        np.char.mod("%.2f", rng.normal(size=size) * 1000),
        rng.choice(days, size),
        rng.choice(["yes", "no"], size),
        rng.integers(0, 10**6, size).astype(str),
        rng.choice(["north", "south", "east", "west", ""], size),
        np.char.mod("%.6f", rng.random(size)),
    ]
    heading = "id,age,name,x,y,day,ill,income,place,z\n"
    return (heading + "\n".join(map(",".join, zip(*parts, strict=True))) + "\n").encode()


def by_us(data: bytes) -> str:
    try:
        reading = read_csv(data)
    except UnreadableFile:
        return "refused"
    return f"{len(reading.frame):,} × {reading.frame.shape[1]}"


def transactions() -> bytes:
    """600,000 rows with a customer, an ISO timestamp of its own and an amount."""
    rng = np.random.Generator(np.random.PCG64(4))
    size = 600_000
    times = np.datetime64("2023-01-01", "s") + rng.integers(0, 30_000_000, size)
    parts = [rng.integers(0, 50_000, size).astype(str), times.astype(str), np.char.mod("%.2f", rng.gamma(2, 20, size))]
    return ("customer,when,amount\n" + "\n".join(map(",".join, zip(*parts, strict=True))) + "\n").encode()


def to_first_aggregate(data: bytes) -> str:
    """Read, understood, with what the page suggests to do with it, and one column typed and added up."""
    reading = read_table(data)
    _ = reading.suggested_steps
    name = next(column.name for column in reading.columns if column.type in ("category", "number"))
    table = reading.table(reading.suggested().only(name))
    table.frame[name].value_counts()
    return f"{reading.rows:,} × {len(reading.columns)}"


def by_duckdb(data: bytes) -> str:
    """DuckDB's own read of the same bytes from a file, and one count."""
    with tempfile.NamedTemporaryFile(suffix=".csv") as file:
        file.write(data)
        file.flush()
        connection = duckdb.connect(config={"threads": 2})
        connection.execute("SET enable_progress_bar=false")
        connection.execute(f"CREATE TABLE t AS SELECT * FROM read_csv('{file.name}')")  # noqa: S608
        names = [row[0] for row in connection.execute("DESCRIBE t").fetchall()]
        connection.execute(f'SELECT "{names[2]}", count(*) FROM t GROUP BY 1').fetchall()  # noqa: S608
        rows = connection.execute("SELECT count(*) FROM t").fetchall()[0][0]
        connection.close()
    return f"{rows:,} × {len(names)}"


def longest_silence(data: bytes) -> str:
    """The longest time for which the reader did not look whether it was to stop."""
    looked = [time.perf_counter()]

    def cancel() -> bool:
        looked.append(time.perf_counter())
        return False

    read_table(data, cancel=cancel)
    looked.append(time.perf_counter())
    return f"{float(np.diff(looked).max()):.2f}"


def by_the_plain_loop(data: bytes) -> str:
    table = list(csv.reader(io.StringIO(data.decode())))
    return f"{len(table) - 1:,} × {len(table[0])}"


def read_otherwise() -> int:
    """How many files of the case table, whatever their size, the fast ways read otherwise than the careful ones."""
    found = 0
    for case in CASES:
        data = case.make()
        with fast():
            quick = outcome(data)
        with careful():
            found += quick != outcome(data)
    return found


def peak() -> float:
    """Largest memory of this process so far, MB. Linux keeps it per program; elsewhere a parent's may count too."""
    status = Path("/proc/self/status")
    if status.is_file():
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return float(line.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure(work: Callable[[bytes], str], data: bytes, to: Connection) -> None:
    by_us(b"a,b\n1,x\n2,y\n")  # imports are not part of reading
    start, spent = time.perf_counter(), time.process_time()
    shape = work(data)
    to.send((time.perf_counter() - start, peak(), shape, time.process_time() - spent))


def run(work: Callable[[bytes], str], data: bytes) -> tuple[float, float, str, float]:
    """Seconds, peak MB, the shape read and processor seconds, in a fresh process."""
    here, there = multiprocessing.get_context("spawn").Pipe(duplex=False)
    process = multiprocessing.get_context("spawn").Process(target=measure, args=(work, data, there))
    process.start()
    found: tuple[float, float, str, float] = here.recv()
    process.join()
    return found


def main() -> int:
    goals = Goals()
    timed = []
    for case in CASES:
        made = case.make()
        if case.heavy:
            seconds, memory, shape, _ = run(by_us, made)
        else:
            start = time.perf_counter()
            shape = by_us(made)
            seconds, memory = time.perf_counter() - start, peak()
        timed.append((seconds, memory, shape, case))
    print(f"{len(CASES)} cases; the slowest:")
    for seconds, memory, shape, case in sorted(timed, key=lambda each: -each[0])[:6]:
        print(f"  {seconds:6.2f} s  {memory:6.0f} MB  {shape:>12}  {case}")
    largest = max(timed, key=lambda each: each[1])
    print(f"  most memory: {largest[1]:.0f} MB, {largest[3]}")
    slowest = max(each[0] for each in timed)
    goals.at_most("MB of memory at most, any case", largest[1], MEMORY)
    unit = 0.0
    for what, data, most in (
        ("10⁶ rows × 10 columns", million(), RATIO),
        ("600,000 transactions", transactions(), TIMESTAMPS),
    ):
        pairs = [(run(to_first_aggregate, data), run(by_duckdb, data)) for _ in range(TURNS)]
        ours, theirs = (min((pair[side] for pair in pairs), key=lambda each: each[0]) for side in (0, 1))
        plain = run(by_the_plain_loop, data)
        silence = float(run(longest_silence, data)[2])
        unit = unit or theirs[0]
        print(f"{what}, {len(data) / 1e6:.0f} MB; the shortest of {TURNS}, and processor seconds")
        whose = ("up to the first aggregate", "DuckDB's read and one count", "csv module alone, into lists")
        for who, each in zip(whose, (ours, theirs, plain), strict=True):
            print(f"  {who:<28}  {each[0]:6.2f} s  {each[3]:6.2f} s  {each[1]:6.0f} MB  {each[2]}")
        spent, took = (statistics.median(one[of] / other[of] for one, other in pairs) for of in (3, 0))
        goals.at_most("processor seconds up to the first aggregate: times DuckDB's read", spent, most)
        goals.at_most("time up to the first aggregate: times DuckDB's read", took, most)
        goals.at_most("longest time without a look whether to stop, in reads of 10⁶ rows", silence / unit, STOP)
        goals.at_most("MB of memory at most", max(one[1] for one, _ in pairs), MEMORY)
    others = slowed(million())
    (quiet, quiet_most), (busy, busy_most) = others.quiet, others.busy
    print(f"A page's rerun, {1e3 * quiet:.0f} ms; {others.reruns} of them while {FILES} files of 10⁶ rows are read")
    goals.at_most(f"median ({1e3 * busy:.0f} ms): times one while nothing is read", busy / quiet, SLOWED)
    goals.at_most(f"nine in ten within ({1e3 * busy_most:.0f} ms): times that", busy_most / quiet_most, SLOWED)
    goals.at_most("seconds until a file says how far it is", others.first_word, FIRST_WORD)
    goals.at_most("files of the case table that the fast ways read otherwise", read_otherwise(), 0)
    goals.at_most("slowest case: times DuckDB's read of the 10⁶ rows", slowest / unit, CASE)
    return goals.end()


if __name__ == "__main__":
    sys.exit(main())
