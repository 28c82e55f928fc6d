"""What the footers of Parquet files say of the values decides nothing: each row is read by itself.

Here footers lie: the cells are those of one table, what is said of them that of another. Whatever is folded, pruned,
gathered or shortened by footers' statistics gives another answer then than of the same cells without any.
"""

from __future__ import annotations

import ast
import struct
from collections.abc import Callable
from dataclasses import replace
from datetime import date, datetime, timedelta
from decimal import Decimal
from math import inf, nan
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dpcore.datasets import Column, Declaration
from dpcore.datasets.in_place import InPlace, PrivateSource, connection, open_database, open_folder, open_lines
from dpcore.datasets.in_place.form import Form
from dpcore.errors import UnreadableFile
from dpcore.releases.alarm import AlarmRun
from dpcore.releases.count import NoisyCount
from dpcore.releases.scaled_model import ScaledModel
from dpcore.releases.selection import BestRule, LeastCost, MostCommonOption, QuantileValue

ROOT = Path(__file__).parents[2]
FIRST = date(2024, 1, 1)
CELLS: dict[str, tuple[pa.DataType, list[Any], list[Any]]] = {
    "double": (pa.float64(), [1, nan, inf, -inf, 9, 500, None, -0.0], [1, 2, 2, 1, 1, 2, None, 1]),
    "single": (pa.float32(), [1, nan, inf, -inf, 9, 500, None, -0.0], [1, 2, 2, 1, 1, 2, None, 1]),
    "whole": (pa.int64(), [1, 7, 2**62, -(2**62), 3, 8, None, 9], [1, 2, 2, 1, 1, 2, None, 1]),
    "small": (pa.uint8(), [1, 7, 255, 0, 3, 8, None, 9], [1, 2, 2, 1, 1, 2, None, 1]),
    "decimal": (pa.decimal128(9, 2), [Decimal(cell) for cell in ("1", "9", "-5", "8", "7", "3", "2", "6")],
                [Decimal("1.5")] * 8),
    "ward": (pa.string(), ["a", "b", "c", "b", "c", None, "x", "b"], ["a", "a", "a", "a", "a", None, "a", "a"]),
    "ill": (pa.bool_(), [True, False, True, False, True, False, None, True], [True] * 6 + [None, True]),
    "who": (pa.string(), ["p", "q", "q", "r", "r", "s", None, "t"], ["p"] * 6 + [None, "p"]),
    "id": (pa.int64(), [1, 2, 2, 300, 300, 4, None, 5], [1] * 6 + [None, 1]),
    "day": (pa.date32(), [FIRST + timedelta(days=at) for at in (0, 1, 2, 3, 3, 700, 4, 1)], [FIRST] * 8),
    "time": (pa.timestamp("us"), [datetime(2024, 1, at) for at in (1, 2, 3, 4, 4, 29, 5, 2)],
             [datetime(2024, 1, 1)] * 8),
}  # fmt: skip


def table(of: int) -> pa.Table:
    return pa.table({name: pa.array(cells[of], cells[0]) for name, cells in CELLS.items()})


def written(file: Path, cells: pa.Table) -> bytes:
    pq.write_table(cells, file, compression="NONE", use_dictionary=False, store_schema=False)
    return file.read_bytes()


def lie(file: Path, *, none_missing: bool) -> None:
    """Write cells with the footer of others of the same size; it may also say that no cell is missing."""
    there, said = (written(file, table(of)) for of in (1, 2))
    at = [len(text) - 8 - struct.unpack("<i", text[-8:-4])[0] for text in (there, said)]
    assert at[0] == at[1]
    footer = said[at[1] :]
    for before in (
        (b"\x16", b"\x36") if none_missing else ()
    ):  # the field that says how many are missing, behind another one or none
        footer = footer.replace(before + b"\x02\x28", before + b"\x00\x28")
    file.write_bytes(there[: at[0]] + footer)
    group = pq.read_metadata(file).row_group(0)
    told = [group.column(place).statistics for place in range(group.num_columns)]
    assert all(one.has_min_max and one.null_count <= 1 - none_missing for one in told)


WARD = Column(name="ward", type="category", categories=("a", "b", "c"))
ILL = Column(name="ill", type="yes/no")
DAYS = [Column(name=name, type="date", earliest=FIRST, latest=FIRST + timedelta(days=5)) for name in ("day", "time")]
OF_NUMBERS = [
    Column(name=name, type="integer" if name in ("whole", "small") else "number", low=0, high=10)
    for name in ("double", "single", "whole", "small", "decimal")
]
PUBLIC = Declaration(columns=(*OF_NUMBERS, WARD, ILL, *DAYS))


def by(name: str) -> Declaration:
    return replace(PUBLIC, columns=(*PUBLIC.columns, Column(name=name, type="text")), id_column=name)


NAMES = [column.name for column in OF_NUMBERS]
PRIVATE: dict[str, Any] = {
    **{f"quantile of {name}": QuantileValue.of(PUBLIC, name, epsilon=1.0, points=11) for name in NAMES},
    **{f"rule by {name}": BestRule.of(PUBLIC, [name], target="ill", epsilon=1.0, cuts=3) for name in NAMES},
    "rule by ward": BestRule.of(PUBLIC, ["ward"], target="ill", epsilon=1.0),
    "costs": LeastCost.of(PUBLIC, NAMES, epsilon=1.0),
    "options": MostCommonOption.of(PUBLIC, "ward", epsilon=1.0),
    "options of each": MostCommonOption.of(by("who"), "ward", epsilon=1.0),
    "answers of each": MostCommonOption.of(by("id"), "ill", epsilon=1.0),
    "rows of each": NoisyCount.of(by("id"), epsilon=1.0),
    "alarm by day": AlarmRun.of(PUBLIC, "day", threshold=2, epsilon=1.0),
    "alarm by time": AlarmRun.of(PUBLIC, "time", where="ill", threshold=2, epsilon=1.0),
    "alarm by option": AlarmRun.of(PUBLIC, "ward", where="ill", threshold=2, epsilon=1.0),
}
MODEL = ScaledModel.of(PUBLIC, target="ill", columns=["double", "ward", "day"], epsilon=1.0, delta=1e-6)
LOOKS: dict[str, Callable[[InPlace], Any]] = {
    "rows": InPlace.rows,
    "words": lambda stored: sorted(stored.words("ward")),
    "sizes of groups": lambda stored: stored.group_sizes("id").tolist(),
    **{f"total of {column.name}": lambda stored, column=column: stored.total(column) for column in OF_NUMBERS},
    "histogram": lambda stored: stored.histogram(OF_NUMBERS[0], 4).tolist(),
    **{
        where: lambda stored, where=where: stored.run(f"SELECT count(*) FROM {stored.source} WHERE {where}")  # noqa: S608
        for where in ('"whole" > 5', '"double" > 5', "\"ward\" = 'b'", '"ward" IS NULL', "\"time\" > '2024-01-03'")
    },
    "largest": lambda stored: stored.run(f'SELECT "whole" FROM {stored.source} ORDER BY 1 DESC LIMIT 2'),  # noqa: S608
    "between": lambda stored: stored.run(f'SELECT min("whole"), max("day"), count("ward") FROM {stored.source}'),  # noqa: S608
}


def answers(place: Path) -> dict[str, str]:
    """Of everything that is asked of a folder, private or for looking."""
    stored = open_folder(place)
    private = PrivateSource(lambda: stored)
    asked: dict[str, Callable[[], Any]] = {
        **{name: lambda one=one: np.ravel(one.read(private)).tolist() for name, one in PRIVATE.items()},
        "model": lambda: MODEL.read(private).counts().tolist(),
        **{name: lambda look=look: look(stored) for name, look in LOOKS.items()},
    }
    found = {}
    for name, ask in asked.items():
        try:
            found[name] = repr(ask())
        except (UnreadableFile, IndexError):
            found[name] = "no answer"
    return found


def folders(place: Path, files: int, *, none_missing: bool = True) -> tuple[Path, Path]:
    """Of the same cells: with footers that lie, and with footers that say nothing."""
    lying, silent = place / "lying", place / "silent"
    for folder in (lying, silent):
        folder.mkdir()
    for number in range(files):
        lie(lying / f"{number}.parquet", none_missing=none_missing)
        pq.write_table(table(1), silent / f"{number}.parquet", write_statistics=False)
    return lying, silent


@pytest.mark.parametrize("files", [1, 2])
def test_what_footers_say_changes_no_answer(files: int, tmp_path: Path) -> None:
    lying, silent = folders(tmp_path, files)
    wanted = answers(silent)
    assert "no answer" not in wanted.values()
    assert answers(lying) == wanted


@pytest.mark.thorough
def test_what_believes_footers_is_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lying, silent = folders(tmp_path, 1, none_missing=False)  # DuckDB would read what is not there
    wanted = answers(silent)
    for left_on, moved in (
        (set(connection.BELIEVING), {"costs", "model", "total of double"}),
        ({"statistics_propagation"}, {"costs", "model", "total of double"}),
        ({"filter_pushdown"}, {'"whole" > 5', '"double" > 5', "\"ward\" = 'b'", "\"time\" > '2024-01-03'"}),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(connection, "BELIEVING", tuple(set(connection.BELIEVING) - left_on))
            found = answers(lying)
        wrong = {name for name in wanted if found[name] != wanted[name]}
        assert moved <= wrong, (left_on, wrong)


def test_every_source_of_duckdb_is_opened_so(tmp_path: Path) -> None:
    pq.write_table(table(1), tmp_path / "a.parquet")
    (tmp_path / "a.csv").write_text("x\n1\n")
    with duckdb.connect(str(tmp_path / "a.duckdb")) as made:
        made.execute("CREATE TABLE t (x INTEGER)")
    address = f"duckdb:///{tmp_path / 'a.duckdb'}"
    opened = (open_folder(tmp_path), open_lines(tmp_path, Form(columns=(("x", "integer"),))))
    for stored in (*opened, open_database(address, "t"), open_database(address, "t")):
        off, locked = stored.run(
            "SELECT current_setting('disabled_optimizers'), current_setting('lock_configuration')"
        )[0]
        assert set(str(off).split(",")) == set(connection.BELIEVING)
        assert locked


def opens_duckdb(text: str) -> bool:
    """Whether a file makes a connection of its own, or uses the one that DuckDB has for everybody."""
    for node in ast.walk(ast.parse(text)) if "duckdb" in text else ():
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "duckdb":
            names = [node.attr]
        elif isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "duckdb":
            names = [alias.name for alias in node.names]
        else:
            continue
        if any(name[0].islower() for name in names):
            return True
    return False


def test_there_is_one_place_where_sources_are_opened() -> None:
    places = {
        file.relative_to(ROOT).as_posix()
        for folder in ("dpcore", "dashboard")
        for file in (ROOT / folder).rglob("*.py")
        if opens_duckdb(file.read_text(encoding="utf-8"))
    }
    # the second reads the text of one file that a person brought: it has no footer
    assert places == {"dpcore/datasets/in_place/connection.py", "dpcore/datasets/reading/engine.py"}
    for forgetting in (
        "import duckdb\nduckdb.connect()",
        "from duckdb import connect",
        "import duckdb\nduckdb.sql('')",
    ):
        assert opens_duckdb(forgetting)
