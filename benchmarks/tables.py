"""Real tables out of well-kept packages, from file to first aggregate: ``python -m benchmarks.tables [--write]``.

Each is read by ``read_table``, its suggested types and its first suggested question are taken as they are, and the
first aggregate of that question is computed. Beside it, in the same run, DuckDB reads the same file and counts one
column, where it can. ``--write`` puts the table into docs/data.md. Exits with 1 when a table ends in anything but an
aggregate or one clear sentence, or when the median table takes longer than 20 s.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import statistics
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import duckdb

from benchmarks.document import plain, put
from dpcore.datasets import Reading, Schema, Suited, UnreadableFile, questions_for, read_table
from dpcore.errors import Defect

DOCUMENT = Path(__file__).parents[1] / "docs" / "data.md"
SLOWEST_MEDIAN = 20.0
INTRODUCTION = """
Written by `python -m benchmarks.tables --write`; nothing here is typed by hand. Each file is read as it lies in its
package, with no answer given to any question about it; the first suggested question is the one shown. “To ask” is how
many points the file alone cannot decide. “× DuckDB” is the time from file to first aggregate, checks and types
included, over DuckDB's own read and one count of the same file in the same run; for a small file both are mostly the
start of an engine. Sources of the server that are too large to be read, or may not be, are counted where they are:
[sources.md](sources.md).
"""
ENDINGS = (".csv", ".tsv", ".json", ".dta", ".gz")


@dataclass(frozen=True, slots=True, kw_only=True)
class Package:
    """Where a package keeps its tables; ``licence`` is its own statement."""

    name: str
    module: str
    folder: str
    licence: str
    leave_out: tuple[str, ...] = ()


PACKAGES = (
    Package(
        name="statsmodels",
        module="statsmodels",
        folder="datasets",
        licence="BSD 3-clause",
        leave_out=("/src/", "/tests/"),
    ),
    Package(name="vega-datasets", module="vega_datasets", folder="_data", licence="MIT"),
    Package(name="palmerpenguins", module="palmerpenguins", folder="data", licence="MIT; data CC0"),
    Package(name="causaldata", module="causaldata", folder=".", licence="MIT"),
    Package(
        name="scikit-learn", module="sklearn", folder="datasets/data", licence="BSD 3-clause", leave_out=("digits",)
    ),
    Package(name="plotly", module="plotly", folder="package_data/datasets", licence="MIT"),
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    package: Package
    file: str
    size: str
    each_row: str
    question: str
    ask: int
    seconds: float
    ratio: float | None
    problem: bool


def files(package: Package) -> list[Path]:
    found = importlib.util.find_spec(package.module)
    if found is None or found.origin is None:
        return []
    folder = Path(found.origin).parent / package.folder
    return sorted(
        file
        for file in folder.rglob("*")
        if file.suffix in ENDINGS and not any(part in file.as_posix() for part in package.leave_out)
    )


def aggregate(reading: Reading, schema: Schema, suited: Suited) -> None:
    """The first numbers that the question's page draws from."""
    name = suited.columns[0][1][0]
    table = reading.table(schema.only(name))
    if schema.column(name).type in ("category", "yes/no"):
        table.counts(name).sum()
    elif schema.column(name).is_numeric:
        table.numbers(name).sum()
    else:
        table.frame[name].value_counts()


def by_duckdb(file: Path) -> float | None:
    """Seconds of DuckDB's own read with one count, or None for a kind that it does not read."""
    text = f"'{str(file).replace(chr(39), chr(39) * 2)}'"
    kind = "read_json" if ".json" in file.name else "read_csv"
    connection = duckdb.connect(config={"threads": 2})
    start = time.perf_counter()
    try:
        connection.execute(f"CREATE TABLE t AS SELECT * FROM {kind}({text})")  # noqa: S608
        name = connection.execute("DESCRIBE t").fetchall()[0][0]
        connection.execute(f'SELECT "{name}", count(*) FROM t GROUP BY 1').fetchall()  # noqa: S608
    except duckdb.Error:
        return None
    finally:
        connection.close()
    return time.perf_counter() - start


def measure(package: Package, file: Path) -> Measured:
    start = time.perf_counter()
    each_row, question, ask, size, problem = "", "", 0, "", False
    try:
        reading = read_table(file, name=file.name)
        schema = reading.suggested()
        suited = questions_for(schema)
        if suited:
            aggregate(reading, schema, suited[0])
        question = suited[0].sentence.rstrip(".") + "?" if suited else "none: what a column is must be said first"
        report = reading.report
        ask = len(report.doubtful) + sum(not column.certain for column in reading.columns)
        each_row, size = schema.each_row, f"{reading.rows:,} × {len(reading.columns)}"
    except UnreadableFile as error:
        question = str(error)
    except Defect as error:
        question, problem = str(error), True
    seconds = time.perf_counter() - start
    theirs = None if file.suffix == ".dta" else by_duckdb(file)
    return Measured(
        package=package,
        file=file.name,
        size=size,
        each_row=each_row,
        question=question,
        ask=ask,
        seconds=seconds,
        ratio=None if theirs is None else seconds / theirs,
        problem=problem,
    )


def document(found: list[Measured]) -> str:
    ratios = [each.ratio for each in found if each.ratio is not None]
    packages = {each.package.name: each.package for each in found}
    lines = [
        "# Real tables, from file to first aggregate",
        "",
        *INTRODUCTION.strip().splitlines(),
        "",
        f"{len(found)} tables; median {statistics.median(each.seconds for each in found) * 1000:.0f} ms, "
        f"median {statistics.median(ratios):.1f} × DuckDB; "
        f"{sum(not each.size for each in found)} ended in a sentence instead of a table.",
        "",
        "| package | version | licence | tables |",
        "|---|---|---|---|",
        *(
            f"| {name} | {importlib.metadata.version(name)} | {package.licence} | "
            f"{sum(each.package.name == name for each in found)} |"
            for name, package in packages.items()
        ),
        "",
        "| package | file | rows × columns | one row is a | first question | to ask | × DuckDB |",
        "|---|---|---|---|---|---|---|",
        *(
            f"| {each.package.name} | {each.file} | {each.size or '–'} | {each.each_row or '–'} | "
            f"{plain(each.question)} | {each.ask} | {'–' if each.ratio is None else f'{each.ratio:.1f}'} |"
            for each in found
        ),
        "",
    ]  # fmt: skip
    return "\n".join(lines)


def main(arguments: list[str]) -> int:
    read_table(b"a,b\n1,x\n2,y\n")  # imports are not part of reading
    found = [measure(package, file) for package in PACKAGES for file in files(package)]
    if len(found) < 40:
        print("Fewer than 40 tables: install the packages of the dev group first.")
        return 1
    print(document(found))
    if "--write" in arguments:
        put(DOCUMENT, document(found))
    median = statistics.median(each.seconds for each in found)
    broken = [each for each in found if each.problem]
    print(f"median {median:.2f} s, {len(broken)} defects")
    return 1 if broken or median > SLOWEST_MEDIAN else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
